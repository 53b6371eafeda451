// bf16.c - rounding to bf16 by integers. See bf16.h.
#include "lib/runtime/bf16.h"

#include <stdint.h>
#include <string.h>

static float nearest(uint32_t bits) {
  uint32_t above = bits >> 16, quiet = 64;
  int is_nan = (bits & 0x7fffffff) > 0x7f800000;
  uint32_t rounded = is_nan ? above | quiet : (bits + 0x7fff + (above & 1)) >> 16;
  float result;
  memcpy(&result, &rounded, sizeof result);
  return result;
}

float __truncsfbf2(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return nearest(bits);
}

// By way of f32, whose last bit is made odd where it is inexact: the second rounding is then the only one.
float __truncdfbf2(double value) {
  float near = (float)value;
  uint32_t bits;
  memcpy(&bits, &near, sizeof bits);
  double size = value < 0 ? -value : value, near_size = near < 0 ? -(double)near : (double)near;
  if (near_size > size)
    --bits;
  if (near_size != size && value == value)
    bits |= 1;
  return nearest(bits);
}
