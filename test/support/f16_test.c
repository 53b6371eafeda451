// f16_test.c - every value of the 16-bit types, and for every two neighbours the f32 halfway and those beside it: as
// rounding is monotonic, that decides every f32. NaN apart. With the argument "all" f16 also against the compiler's
// _Float16 on all 2^32 f32.
#include "lib/support/f16.h"

#include "test/check.h"

#include <math.h>

typedef struct format_t {
  uint16_t (*from)(float);
  float (*to)(uint16_t);
  uint16_t infinity;
} format_t;

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// The definition, in doubles: sign, exponent and fraction.
static double by_definition(uint16_t bits, int fraction_bits) {
  int exponent_bits = 15 - fraction_bits, bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = (bits & 0x7fff) >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
  double magnitude = exponent ? ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits)
                              : ldexp(fraction, 1 - bias - fraction_bits);
  return bits >> 15 ? -magnitude : magnitude;
}

static void check_values(const format_t *format, int fraction_bits) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = format->to((uint16_t)bits);
    uint32_t magnitude = bits & 0x7fff;
    if (magnitude > format->infinity) {
      CHECK(isnan(value) && (format->from(value) & 0x7fff) > format->infinity, "bits %04x", bits);
      continue;
    }
    CHECK(format->from(value) == bits, "bits %04x", bits);
    CHECK(magnitude == format->infinity ? isinf(value) : value == by_definition((uint16_t)bits, fraction_bits),
          "bits %04x", bits);
  }
}

// Halfway between two neighbours goes to the even one, what is beside it to the nearer.
static void check_halfway(const format_t *format, int fraction_bits) {
  for (uint32_t low = 0; low < format->infinity; ++low) {
    double a = by_definition((uint16_t)low, fraction_bits), b = by_definition((uint16_t)(low + 1), fraction_bits);
    float half = (float)((a + b) / 2);
    uint32_t even = low & 1 ? low + 1 : low;
    for (uint32_t sign = 0; sign <= 0x8000; sign += 0x8000) {
      float s = sign ? -1.0f : 1.0f;
      CHECK(format->from(s * half) == (sign | even), "halfway above %04x", low);
      CHECK(format->from(s * nextafterf(half, 0)) == (sign | low), "below halfway above %04x", low);
      CHECK(format->from(s * nextafterf(half, INFINITY)) == (sign | (low + 1)), "above halfway above %04x", low);
    }
  }
}

// Every NaN stays one: one payload bit at a time, and the extremes.
static void check_nans(const format_t *format) {
  for (int bit = 0; bit < 23; ++bit)
    for (uint32_t sign = 0; sign < 2; ++sign) {
      uint16_t got = format->from(float_of(sign << 31 | 0x7f800000 | 1u << bit));
      CHECK((got & 0x7fff) > format->infinity && got >> 15 == sign, "payload bit %d", bit);
    }
  CHECK((format->from(float_of(0x7fffffff)) & 0x7fff) > format->infinity);
}

// All 256 values of the 8-bit floats by their definition (docs/numerics.md §1).
static double defined_f8(int bits, int fraction_bits, int bias) {
  int exponent = (bits & 127) >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
  double magnitude = ldexp(fraction, 1 - bias - fraction_bits);
  if (exponent)
    magnitude = ldexp(1 + ldexp(fraction, -fraction_bits), exponent - bias);
  return bits & 128 ? -magnitude : magnitude;
}

static void check_f8(void) {
  for (int bits = 0; bits < 256; ++bits) {
    double e4m3 = tessera_f8e4m3fn_to_f32((uint8_t)bits), e5m2 = tessera_f8e5m2_to_f32((uint8_t)bits);
    double e8m0 = tessera_f8e8m0fnu_to_f32((uint8_t)bits);
    int low = bits & 127;
    CHECK(low == 0x7f ? isnan(e4m3) : e4m3 == defined_f8(bits, 3, 7), "f8E4M3FN %02x: %g", (unsigned)bits, e4m3);
    CHECK(low > 0x7c    ? isnan(e5m2)
          : low == 0x7c ? isinf(e5m2)
                        : e5m2 == defined_f8(bits, 2, 15),
          "f8E5M2 %02x: %g", (unsigned)bits, e5m2);
    CHECK(bits == 0xff ? isnan(e8m0) : e8m0 == ldexp(1, bits - 127), "f8E8M0FNU %02x: %g", (unsigned)bits, e8m0);
  }
}

#if defined(__FLT16_MAX__)
static void check_all_against_compiler(void) {
  uint32_t bits = 0;
  do {
    float value = float_of(bits);
    _Float16 wanted = (_Float16)value;
    uint16_t wanted_bits, got = tessera_f16_from_f32(value);
    memcpy(&wanted_bits, &wanted, sizeof wanted_bits);
    if (got != wanted_bits && !isnan(value))
      CHECK(got == wanted_bits, "f32 %08x: %04x, wanted %04x", bits, got, wanted_bits);
  } while (++bits);
}
#else
static void check_all_against_compiler(void) {}
#endif

int main(int argc, char **argv) {
  static const format_t f16 = {tessera_f16_from_f32, tessera_f16_to_f32, 0x7c00};
  static const format_t bf16 = {tessera_bf16_from_f32, tessera_bf16_to_f32, 0x7f80};
  check_values(&f16, 10);
  check_values(&bf16, 7);
  check_halfway(&f16, 10);
  check_halfway(&bf16, 7);
  check_nans(&f16);
  check_nans(&bf16);
  check_f8();
  if (argc > 1 && strcmp(argv[1], "all") == 0)
    check_all_against_compiler();
  return checkResult(500000);
}
