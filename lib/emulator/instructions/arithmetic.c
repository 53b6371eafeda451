// Arithmetic of single threads that LLVM has no op for. See instructions.h.
#include "lib/emulator/instructions/instructions.h"

#include "lib/support/f16.h"

#include <math.h>

//===--- bits ---------------------------------------------------------------------===//

// PTX ISA, prmt: byte i of the result is this nibble's byte; bit 3 replicates its sign.
static uint32_t selected_byte(uint64_t pool, uint32_t nibble) {
  uint32_t byte = (uint32_t)(pool >> 8 * (nibble & 7)) & 0xff;
  return nibble & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}

static uint32_t mode_nibble(uint32_t mode, uint32_t selector, uint32_t i) {
  uint32_t s = selector & 3;
  switch (mode) {
  case 1: // f4e
    return s + i;
  case 2: // b4e
    return (s + 8 - i) & 7;
  case 3: // rc8
    return s;
  case 4: // ecl
    return i > s ? i : s;
  case 5: // ecr
    return i < s ? i : s;
  case 6: // rc16
    return 2 * (s & 1) + (i & 1);
  default:
    return selector >> 4 * i & 15;
  }
}

uint32_t tessera_emu_prmt(uint32_t low, uint32_t high, uint32_t selector, uint32_t mode) {
  uint64_t pool = (uint64_t)high << 32 | low;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i)
    result |= selected_byte(pool, mode_nibble(mode, selector, i)) << 8 * i;
  return result;
}

uint32_t tessera_emu_tf32(uint32_t bits, uint32_t ties_away) {
  if ((bits & 0x7f800000) == 0x7f800000)
    return bits & 0x7fffff ? 0x7fffffff : bits;
  uint32_t rounding = ties_away ? 0x1000 : 0xfff + (bits >> 13 & 1);
  return (bits + rounding) & ~UINT32_C(0x1fff);
}

uint32_t tessera_emu_lanemask(tessera_emu_thread_t *self, uint32_t kind) {
  uint32_t equal = UINT32_C(1) << self->lane, below = equal - 1;
  const uint32_t masks[] = {equal, equal | below, below, ~below, ~(equal | below)};
  return masks[kind];
}

static int32_t part(uint32_t word, int index, int bits, bool is_signed) {
  uint32_t value = word << (32 - bits - bits * index);
  return is_signed ? (int32_t)value >> (32 - bits) : (int32_t)(value >> (32 - bits));
}

uint32_t tessera_emu_dp4a(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
  for (int i = 0; i < 4; ++i)
    c += (uint32_t)(part(a, i, 8, how & 1) * part(b, i, 8, how & 2));
  return c;
}

uint32_t tessera_emu_dp2a(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
  for (int i = 0; i < 2; ++i)
    c += (uint32_t)(part(a, i, 16, how & 1) * part(b, i + (how & 4 ? 2 : 0), 8, how & 2));
  return c;
}

//===--- math -----------------------------------------------------------------===//

double tessera_emu_powi(double x, int32_t n) { return pow(x, n); }
float tessera_emu_powif(float x, int32_t n) { return (float)pow(x, n); }
int32_t tessera_emu_isnan(double x) { return isnan(x); }
int32_t tessera_emu_isnanf(float x) { return isnan(x); }
int32_t tessera_emu_isinf(double x) { return isinf(x) != 0; }
int32_t tessera_emu_isinff(float x) { return isinf(x) != 0; }
int32_t tessera_emu_isfinite(double x) { return isfinite(x) != 0; }
int32_t tessera_emu_isfinitef(float x) { return isfinite(x) != 0; }
float tessera_emu_rsqrtf(float x) { return (float)(1.0 / sqrt((double)x)); }
double tessera_emu_rsqrt(double x) { return 1.0 / sqrt(x); }
float tessera_emu_rcbrtf(float x) { return (float)(1.0 / cbrt((double)x)); }
double tessera_emu_rcbrt(double x) { return (double)(1 / cbrtl(x)); }
float tessera_emu_cbrtf(float x) { return (float)cbrt((double)x); }
double tessera_emu_cbrt(double x) { return (double)cbrtl(x); }
float tessera_emu_erfcf(float x) { return (float)erfc((double)x); }
double tessera_emu_erfc(double x) { return (double)erfcl(x); }
// Reduced first: pi times a large number has lost what matters.
double tessera_emu_sinpi(double x) { return sin(M_PI * remainder(x, 2.0)); }
float tessera_emu_sinpif(float x) { return (float)tessera_emu_sinpi(x); }
double tessera_emu_cospi(double x) { return cos(M_PI * remainder(x, 2.0)); }
float tessera_emu_cospif(float x) { return (float)tessera_emu_cospi(x); }

float tessera_emu_median(float a, float b, float c) { return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c)); }

//===--- small floats ---------------------------------------------------------------===//

float tessera_emu_from_small(uint32_t word, uint32_t byte, uint32_t type) {
  return tessera_lane_type_to_f32((tessera_lane_type_t)type, word >> 8 * byte & 0xff);
}

// The code of the nearest value, ties to even codes: codes of one sign are in the order of their values.
static uint32_t nearest_code(float value, tessera_lane_type_t type) {
  uint32_t sign = signbit(value) ? 0x80 : 0, best = 0;
  float magnitude = fabsf(value);
  if (isnan(value))
    return type == TESSERA_LANE_E4M3_FNUZ || type == TESSERA_LANE_E5M2_FNUZ ? 0x80 : sign | 0x7f;
  for (uint32_t code = 1; code < 128; ++code) {
    float here = tessera_lane_type_to_f32(type, code), there = tessera_lane_type_to_f32(type, best);
    if (!isfinite(here))
      break;
    float to_here = fabsf(here - magnitude), to_there = fabsf(there - magnitude);
    if (to_here < to_there || (to_here == to_there && !(code & 1)))
      best = code;
  }
  bool has_no_minus_zero = type == TESSERA_LANE_E4M3_FNUZ || type == TESSERA_LANE_E5M2_FNUZ;
  return !best && has_no_minus_zero ? 0 : sign | best;
}

uint32_t tessera_emu_to_small(float low, float high, uint32_t type) {
  return nearest_code(low, (tessera_lane_type_t)type) | nearest_code(high, (tessera_lane_type_t)type) << 8;
}

static uint16_t toward_zero(float value) {
  uint16_t bits = tessera_f16_from_f32(value);
  if (isfinite(value) && fabsf(tessera_f16_to_f32(bits)) > fabsf(value))
    --bits; // the next toward zero, from infinity the largest
  return bits;
}

uint32_t tessera_emu_pkrtz(float low, float high) { return toward_zero(low) | (uint32_t)toward_zero(high) << 16; }
