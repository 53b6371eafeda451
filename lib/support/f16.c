// f16.c - f16 and bf16 conversions on the bits of the f32.
// Why not _Float16: gcc 12 has no bf16, other machines neither, and results must not depend on it.
// Expects: nothing. Leaves: the correctly rounded value (test/support/f16_test.c checks every boundary).
#include "lib/support/f16.h"

#include <string.h>

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// |value| / 2^|shift|, to nearest, ties to even; shift in 1..31.
static uint32_t shift_to_nearest_even(uint32_t value, int shift) {
  uint32_t kept = value >> shift, rest = value << (32 - shift), half = UINT32_C(1) << 31;
  return kept + (rest > half || (rest == half && (kept & 1)));
}

uint16_t tessera_f16_from_f32(float value) {
  uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  int exponent = (int)(magnitude >> 23) - 127;
  if (magnitude > 0x7f800000)
    return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x1ff));
  if (exponent > 15)
    return (uint16_t)(sign | 0x7c00);
  if (exponent < -25) // below half the smallest subnormal
    return (uint16_t)sign;
  if (exponent < -14) // a subnormal: fraction with its leading one, in units of 2^-24
    return (uint16_t)(sign | shift_to_nearest_even((magnitude & 0x7fffff) | 0x800000, -1 - exponent));
  // Rounding may carry into the exponent, up to infinity: just what is wanted.
  return (uint16_t)(sign | shift_to_nearest_even(magnitude - ((127 - 15) << 23), 13));
}

float tessera_f16_to_f32(uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 31)
    return float_of(sign | 0x7f800000 | (fraction ? 0x400000 | fraction << 13 : 0));
  if (exponent == 0) // zero or a subnormal: exact in f32
    return float_of(sign | bits_of((float)fraction * 0x1p-24f));
  return float_of(sign | (exponent + 127 - 15) << 23 | fraction << 13);
}

uint16_t tessera_bf16_from_f32(float value) {
  uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)(bits >> 31 << 15 | shift_to_nearest_even(bits & 0x7fffffff, 16));
}

float tessera_bf16_to_f32(uint16_t bits) { return float_of((uint32_t)bits << 16); }

float tessera_f8e4m3fn_to_f32(uint8_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x80) << 24, exponent = bits >> 3 & 15, fraction = bits & 7;
  if ((bits & 0x7f) == 0x7f)
    return float_of(sign | 0x7fc00000);
  if (exponent == 0)
    return float_of(sign | bits_of((float)fraction * 0x1p-9f));
  return float_of(sign | (exponent + 127 - 7) << 23 | fraction << 20);
}

float tessera_f8e5m2_to_f32(uint8_t bits) { return tessera_f16_to_f32((uint16_t)(bits << 8)); }

float tessera_f8e8m0fnu_to_f32(uint8_t bits) {
  if (bits == 0xff)
    return float_of(0x7fc00000);
  return bits ? float_of((uint32_t)bits << 23) : 0x1p-127f;
}
