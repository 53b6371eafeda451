// The element types of matrix instructions, as bits, to and from the numbers the emulator computes with.
// Why here again: the emulator judges what the compiler made, so it states what it needs itself.
// Sources: PTX ISA 9.0 §9.7.15 (mma), OCP 8-bit floating point 1.0, AMD CDNA3 and RDNA4 ISA documents (FNUZ types).
//
//   float x = tessera_lane_type_to_f32(TESSERA_LANE_E4M3, 0x38);   // 1
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tessera_lane_type_t {
  TESSERA_LANE_F16,
  TESSERA_LANE_BF16,
  TESSERA_LANE_TF32, // an f32 whose low 13 bits are not looked at
  TESSERA_LANE_XF32, // AMD's: an f32 rounded to 10 bits of fraction
  TESSERA_LANE_F32,
  TESSERA_LANE_F64,
  TESSERA_LANE_E4M3, // OCP: no infinity, nan 0x7f
  TESSERA_LANE_E5M2,
  TESSERA_LANE_E4M3_FNUZ, // gfx940, gfx942: bias 8, nan 0x80
  TESSERA_LANE_E5M2_FNUZ, // bias 16, nan 0x80
  TESSERA_LANE_E2M3,      // OCP's of 6 and 4 bits have no infinity and no nan
  TESSERA_LANE_E3M2,
  TESSERA_LANE_E2M1,
  TESSERA_LANE_S8,
  TESSERA_LANE_U8,
  TESSERA_LANE_S4,
  TESSERA_LANE_U4,
  TESSERA_LANE_B1,
  TESSERA_LANE_S32,
  TESSERA_LANE_COUNT
} tessera_lane_type_t;

int tessera_lane_type_bits(tessera_lane_type_t type);         // in a register: tf32 and xf32 take 32
const char *tessera_lane_type_name(tessera_lane_type_t type); // "f16"
bool tessera_lane_type_is_integer(tessera_lane_type_t type);  // b1 too

// Any float type but f64. In place: `values` holds the bits on entry and f32 bits after.
void tessera_lane_values_to_f32(tessera_lane_type_t type, size_t count, uint32_t *values);
float tessera_lane_type_to_f32(tessera_lane_type_t type, uint32_t bits);
// f16, bf16, f32: to nearest, ties to even.
uint32_t tessera_lane_type_from_f32(tessera_lane_type_t type, float value);

// Element `index` of packed bits, lowest bits first, not extended. Up to 32 bits each.
uint32_t tessera_lane_type_get(tessera_lane_type_t type, const void *packed, size_t index);
void tessera_lane_type_set(tessera_lane_type_t type, void *packed, size_t index, uint32_t bits);
int32_t tessera_lane_type_to_i32(tessera_lane_type_t type, uint32_t bits); // sign- or zero-extended
