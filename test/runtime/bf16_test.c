// bf16_test.c - rounding to bf16: every bf16, the middle of each two, and their neighbours in f32 and f64.
#include "lib/runtime/bf16.h"

#include "test/check.h"

#include <math.h>
#include <stdint.h>
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

// |value| lies between the bf16 of |below| and the next one away from 0; |side|: -1, 0, 1 below, in, above their
// middle.
static void check_between(double value, uint32_t below, int side) {
  uint32_t wanted = side < 0 || (side == 0 && below % 2 == 0) ? below : below + 1;
  CHECK(bits_of(__truncdfbf2(value)) == wanted);
  if ((float)value == value)
    CHECK(bits_of(__truncsfbf2((float)value)) == wanted);
}

static void check_all(uint32_t sign) {
  for (uint32_t below = sign; below < sign + 0x7f80; ++below) {
    double exact = float_of(below << 16), middle = float_of(below << 16 | 0x8000);
    double away = sign ? -INFINITY : INFINITY;
    check_between(exact, below, -1);
    check_between(nextafter(exact, away), below, -1);
    check_between(nextafter(middle, 0), below, -1);
    check_between(nextafterf((float)middle, 0), below, -1);
    check_between(middle, below, 0);
    check_between(nextafter(middle, away), below, 1);
    check_between(nextafterf((float)middle, (float)away), below, 1);
  }
}

int main(void) {
  check_all(0);
  check_all(0x8000);
  CHECK(bits_of(__truncsfbf2(INFINITY)) == 0x7f80 && bits_of(__truncdfbf2(-INFINITY)) == 0xff80);
  CHECK(bits_of(__truncdfbf2(1e300)) == 0x7f80 && bits_of(__truncdfbf2(-1e-300)) == 0x8000);
  CHECK(bits_of(__truncsfbf2(float_of(0x7f800001))) == 0x7fc0 && bits_of(__truncsfbf2(float_of(0xffa00000))) == 0xffe0);
  CHECK((bits_of(__truncdfbf2(NAN)) & 0x7fff) > 0x7f80);
  return checkResult(100000);
}
