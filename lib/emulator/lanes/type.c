// Conversions of element types. See type.h.
// Every small float is sign, exponent, fraction: shifted into an f32's place and multiplied by a power of two it has
// its value, subnormals included, exactly. The loops have no branch, so they vectorize.
#include "lib/emulator/lanes/type.h"

#include "lib/support/f16.h"

#include <string.h>

typedef struct element_row_t {
  const char *name;
  uint8_t bits;
  bool is_integer, is_signed;
  uint8_t fraction;   // bits of fraction, 0: not a small float
  int16_t bias;       // of the exponent
  uint32_t first_nan; // magnitudes from here on are inf (if equal to `infinity`) or nan
  uint32_t infinity;  // 0: none
} element_row_t;

static const element_row_t rows[TESSERA_LANE_COUNT] = {
    [TESSERA_LANE_F16] = {"f16", 16, false, true, 10, 15, 0x7c00, 0x7c00},
    [TESSERA_LANE_BF16] = {"bf16", 16, false, true, 7, 127, 0x7f80, 0x7f80},
    [TESSERA_LANE_TF32] = {"tf32", 32, false, true, 0, 0, 0, 0},
    [TESSERA_LANE_XF32] = {"xf32", 32, false, true, 0, 0, 0, 0},
    [TESSERA_LANE_F32] = {"f32", 32, false, true, 0, 0, 0, 0},
    [TESSERA_LANE_F64] = {"f64", 64, false, true, 0, 0, 0, 0},
    [TESSERA_LANE_E4M3] = {"e4m3", 8, false, true, 3, 7, 0x7f, 0},
    [TESSERA_LANE_E5M2] = {"e5m2", 8, false, true, 2, 15, 0x7c, 0x7c},
    [TESSERA_LANE_E4M3_FNUZ] = {"e4m3fnuz", 8, false, true, 3, 8, 0x80, 0},
    [TESSERA_LANE_E5M2_FNUZ] = {"e5m2fnuz", 8, false, true, 2, 16, 0x80, 0},
    [TESSERA_LANE_E2M3] = {"e2m3", 6, false, true, 3, 1, 0x40, 0},
    [TESSERA_LANE_E3M2] = {"e3m2", 6, false, true, 2, 3, 0x40, 0},
    [TESSERA_LANE_E2M1] = {"e2m1", 4, false, true, 1, 1, 0x10, 0},
    [TESSERA_LANE_S8] = {"s8", 8, true, true, 0, 0, 0, 0},
    [TESSERA_LANE_U8] = {"u8", 8, true, false, 0, 0, 0, 0},
    [TESSERA_LANE_S4] = {"s4", 4, true, true, 0, 0, 0, 0},
    [TESSERA_LANE_U4] = {"u4", 4, true, false, 0, 0, 0, 0},
    [TESSERA_LANE_B1] = {"b1", 1, true, false, 0, 0, 0, 0},
    [TESSERA_LANE_S32] = {"s32", 32, true, true, 0, 0, 0, 0},
};

int tessera_lane_type_bits(tessera_lane_type_t type) { return rows[type].bits; }
const char *tessera_lane_type_name(tessera_lane_type_t type) { return rows[type].name; }
bool tessera_lane_type_is_integer(tessera_lane_type_t type) { return rows[type].is_integer; }

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

// A FNUZ nan is the sign bit alone: -0 does not exist. Its row's first_nan no magnitude reaches. Types without nan have
// a larger one.
static bool is_fnuz(const element_row_t *row) { return row->first_nan == UINT32_C(1) << (row->bits - 1); }

static void small_to_f32(const element_row_t *row, size_t count, uint32_t *values) {
  const uint32_t sign = UINT32_C(1) << (row->bits - 1), infinity = row->infinity, first_nan = row->first_nan;
  const int up = 23 - row->fraction, to_sign = 32 - row->bits;
  // bf16's bias is f32's: no scaling. The scale of the others is a normal f32.
  const float scale = float_of((uint32_t)(127 + 127 - row->bias) << 23);
  for (size_t i = 0; i < count; ++i) {
    uint32_t raw = values[i], magnitude = raw & (sign - 1);
    uint32_t finite = bits_of(float_of(magnitude << up) * scale);
    uint32_t special = magnitude == infinity ? 0x7f800000 : 0x7fc00000;
    values[i] = (magnitude >= first_nan ? special : finite) | (raw & sign) << to_sign;
  }
  if (is_fnuz(row))
    for (size_t i = 0; i < count; ++i)
      values[i] = values[i] == UINT32_C(0x80000000) ? 0x7fc00000 : values[i];
}

// To 10 bits of fraction, to nearest, ties to even; inf and nan stay.
static uint32_t round_xf32(uint32_t bits) {
  uint32_t rounded = bits + 0xfff + (bits >> 13 & 1);
  return ((bits & 0x7f800000) == 0x7f800000 ? bits : rounded) & ~UINT32_C(0x1fff);
}

void tessera_lane_values_to_f32(tessera_lane_type_t type, size_t count, uint32_t *values) {
  if (rows[type].fraction)
    small_to_f32(&rows[type], count, values);
  else if (type == TESSERA_LANE_TF32)
    for (size_t i = 0; i < count; ++i)
      values[i] &= ~UINT32_C(0x1fff);
  else if (type == TESSERA_LANE_XF32)
    for (size_t i = 0; i < count; ++i)
      values[i] = round_xf32(values[i]);
}

float tessera_lane_type_to_f32(tessera_lane_type_t type, uint32_t bits) {
  tessera_lane_values_to_f32(type, 1, &bits);
  return float_of(bits);
}

uint32_t tessera_lane_type_from_f32(tessera_lane_type_t type, float value) {
  if (type == TESSERA_LANE_F16)
    return tessera_f16_from_f32(value);
  return type == TESSERA_LANE_BF16 ? tessera_bf16_from_f32(value) : bits_of(value);
}

uint32_t tessera_lane_type_get(tessera_lane_type_t type, const void *packed, size_t index) {
  const unsigned char *bytes = packed;
  int bits = rows[type].bits;
  uint32_t value = 0;
  if (bits < 8) {
    size_t first = index * bits / 8, last = ((index + 1) * bits - 1) / 8; // one of 6 bits may end in the next byte
    value = bytes[first] | (uint32_t)(last > first ? bytes[last] : 0) << 8;
    return value >> index * bits % 8 & ((1u << bits) - 1);
  }
  memcpy(&value, bytes + index * bits / 8, bits / 8 < 4 ? bits / 8 : 4);
  return value;
}

void tessera_lane_type_set(tessera_lane_type_t type, void *packed, size_t index, uint32_t bits) {
  unsigned char *bytes = packed;
  int width = rows[type].bits;
  if (width >= 8) {
    memcpy(bytes + index * width / 8, &bits, width / 8 < 4 ? width / 8 : 4);
    return;
  }
  int shift = (int)(index * width % 8);
  unsigned mask = (1u << width) - 1;
  unsigned char *byte = bytes + index * width / 8;
  *byte = (unsigned char)((*byte & ~(mask << shift)) | (bits & mask) << shift);
}

int32_t tessera_lane_type_to_i32(tessera_lane_type_t type, uint32_t bits) {
  int unused = 32 - rows[type].bits;
  if (unused <= 0)
    return (int32_t)bits;
  return rows[type].is_signed ? (int32_t)(bits << unused) >> unused : (int32_t)(bits << unused >> unused);
}
