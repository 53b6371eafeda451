// random.c - SplitMix64 addressed by position, so that filling needs no state and any order gives the same data.
// Why not libc's: results are quoted in papers and tests; they must be the same everywhere.
// Expects: an array of array.h. Leaves: every element written.
#include "lib/support/random.h"

#include "lib/support/f16.h"

#include <string.h>

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

uint64_t tessera_random_bits(uint64_t seed, uint64_t argument, uint64_t index) {
  uint64_t stream = mix(mix(seed + GOLDEN) + (argument + 1) * GOLDEN);
  return mix(stream + (index + 1) * GOLDEN);
}

// A multiple of 2^(1 - digits) in [-1, 1): exact in a type with |digits| binary digits.
static double unit(uint64_t bits, int digits) {
  return (double)(int64_t)(bits >> (64 - digits)) / (double)(INT64_C(1) << (digits - 1)) - 1;
}

// A number that the 8-bit type has as a normal one, or zero.
static uint8_t f8_from_exact(float value, int fraction, int bias) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint32_t exponent = (bits >> 23 & 0xff) - 127 + (uint32_t)bias;
  uint32_t magnitude = value == 0 ? 0 : exponent << fraction | (bits & 0x7fffff) >> (23 - fraction);
  return (uint8_t)(bits >> 31 << 7 | magnitude);
}

static void store(void *data, tessera_element_t element, int64_t i, uint64_t bits) {
  int64_t high = (int64_t)(bits >> 60); // 0 to 15
  switch (element) {
  case TESSERA_BOOL:
    ((uint8_t *)data)[i] = (uint8_t)(high & 1);
    break;
  case TESSERA_I8:
    ((int8_t *)data)[i] = (int8_t)(high - 8);
    break;
  case TESSERA_I16:
    ((int16_t *)data)[i] = (int16_t)(high - 8);
    break;
  case TESSERA_I32:
    ((int32_t *)data)[i] = (int32_t)(high - 8);
    break;
  case TESSERA_I64:
    ((int64_t *)data)[i] = high - 8;
    break;
  case TESSERA_U8:
    ((uint8_t *)data)[i] = (uint8_t)high;
    break;
  case TESSERA_U16:
    ((uint16_t *)data)[i] = (uint16_t)high;
    break;
  case TESSERA_U32:
    ((uint32_t *)data)[i] = (uint32_t)high;
    break;
  case TESSERA_U64:
    ((uint64_t *)data)[i] = (uint64_t)high;
    break;
  case TESSERA_F16:
    ((uint16_t *)data)[i] = tessera_f16_from_f32((float)unit(bits, 11));
    break;
  case TESSERA_BF16:
    ((uint16_t *)data)[i] = tessera_bf16_from_f32((float)unit(bits, 8));
    break;
  case TESSERA_F32:
    ((float *)data)[i] = (float)unit(bits, 24);
    break;
  case TESSERA_F64:
    ((double *)data)[i] = unit(bits, 53);
    break;
  case TESSERA_F8E4M3FN: // 4 binary digits
    ((uint8_t *)data)[i] = f8_from_exact((float)unit(bits, 4), 3, 7);
    break;
  case TESSERA_F8E5M2:
    ((uint8_t *)data)[i] = f8_from_exact((float)unit(bits, 3), 2, 15);
    break;
  case TESSERA_F8E8M0FNU: // 1/16 to 8
    ((uint8_t *)data)[i] = (uint8_t)(127 - 4 + (high >> 1));
    break;
  case TESSERA_ELEMENT_COUNT:
    break;
  }
}

void tessera_random_fill(tessera_array_t *array, uint64_t seed, uint64_t argument) {
  for (int64_t i = 0; array->packing.type && i < tessera_array_elements(array); ++i)
    tessera_packed_set(array, i, (int64_t)(tessera_random_bits(seed, argument, (uint64_t)i) >> 56));
  for (int64_t i = 0; !array->packing.type && i < array->count; ++i)
    store(array->data, array->element, i, tessera_random_bits(seed, argument, (uint64_t)i));
}
