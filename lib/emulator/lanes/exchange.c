// Lane numbers of shuffles and permutations. See exchange.h.
#include "lib/emulator/lanes/exchange.h"

#include <math.h>
#include <string.h>

int tessera_shuffle_source(tessera_shuffle_t kind, int lane, uint32_t b, uint32_t c, bool *in_range) {
  int offset = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  int last = (lane & segment) | (clamp & ~segment), first = lane & segment, source = lane;
  switch (kind) {
  case TESSERA_SHUFFLE_UP:
    source = lane - offset;
    *in_range = source >= last; // for up, c's clamp is the first lane
    break;
  case TESSERA_SHUFFLE_DOWN:
    source = lane + offset;
    *in_range = source <= last;
    break;
  case TESSERA_SHUFFLE_BUTTERFLY:
    source = lane ^ offset;
    *in_range = source <= last;
    break;
  case TESSERA_SHUFFLE_INDEX:
    source = first | (offset & ~segment);
    *in_range = source <= last;
    break;
  }
  return *in_range ? source : lane;
}

//===--- reductions -----------------------------------------------------------===//

static uint32_t float_redux(bool maximum, bool absolute, bool nan, uint32_t a, uint32_t b) {
  uint32_t mask = absolute ? 0x7fffffff : 0xffffffff;
  float x, y;
  a &= mask;
  b &= mask;
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  if (isnan(x) || isnan(y))
    return nan ? 0x7fffffff : isnan(x) ? b : a;
  bool a_is_less = x < y || (x == y && signbit(x) && !signbit(y));
  return a_is_less == maximum ? b : a;
}

uint32_t tessera_redux(tessera_redux_t kind, bool absolute, bool nan, uint32_t a, uint32_t b) {
  switch (kind) {
  case TESSERA_REDUX_ADD:
    return a + b;
  case TESSERA_REDUX_AND:
    return a & b;
  case TESSERA_REDUX_OR:
    return a | b;
  case TESSERA_REDUX_XOR:
    return a ^ b;
  case TESSERA_REDUX_MIN:
    return (int32_t)a < (int32_t)b ? a : b;
  case TESSERA_REDUX_MAX:
    return (int32_t)a > (int32_t)b ? a : b;
  case TESSERA_REDUX_UMIN:
    return a < b ? a : b;
  case TESSERA_REDUX_UMAX:
    return a > b ? a : b;
  default:
    return float_redux(kind == TESSERA_REDUX_FMAX, absolute, nan, a, b);
  }
}

//===--- AMD ------------------------------------------------------------------===//

int tessera_swizzle_source(uint32_t offset, int lane) {
  if (offset >= 0xc000) // rotate and FFT
    return TESSERA_NO_LANE;
  if (offset & 0x8000)
    return (lane & ~3) | (offset >> 2 * (lane % 4) & 3);
  int within = ((lane & offset & 31) | (offset >> 5 & 31)) ^ (offset >> 10 & 31);
  return (lane & 32) | within;
}

int tessera_bpermute_source(uint32_t index, int width) { return (int)(index / 4 % (uint32_t)width); }

static int in_row(int lane, int position) {
  return position < 0 || position > 15 ? TESSERA_NO_LANE : (lane & ~15) | position;
}

static int in_wave(int lane, int width) { return lane < 0 || lane >= width ? TESSERA_NO_LANE : lane; }

// The whole-wave shifts and the broadcasts of CDNA.
static int wave_source(uint32_t control, int lane, int width) {
  switch (control) {
  case 0x130:
    return in_wave(lane + 1, width);
  case 0x134:
    return (lane + 1) % width;
  case 0x138:
    return in_wave(lane - 1, width);
  case 0x13c:
    return (lane + width - 1) % width;
  case 0x140:
    return in_row(lane, 15 - lane % 16);
  case 0x141:
    return in_row(lane, (lane & 8) + 7 - lane % 8);
  case 0x142:
    return lane < 16 ? TESSERA_NO_LANE : (lane & ~15) - 1;
  case 0x143:
    return lane < 32 ? TESSERA_NO_LANE : 31;
  default:
    return TESSERA_DPP_UNKNOWN;
  }
}

int tessera_dpp_source(uint32_t control, int lane, int width) {
  int amount = control & 15, position = lane % 16;
  if (control < 0x100)
    return (lane & ~3) | (control >> 2 * (lane % 4) & 3);
  switch (amount ? control >> 4 : 0) {
  case 0x10: // row_shl: from the lane above
    return in_row(lane, position + amount);
  case 0x11:
    return in_row(lane, position - amount);
  case 0x12:
    return in_row(lane, (position + 16 - amount) % 16);
  default:
    break;
  }
  if (control >> 4 == 0x15) // row_newbcast, row_share
    return in_row(lane, amount);
  if (control >> 4 == 0x16) // row_xmask
    return in_row(lane, position ^ amount);
  return wave_source(control, lane, width);
}

int tessera_permlanex16_source(uint32_t low, uint32_t high, int lane) {
  uint32_t selector = lane & 8 ? high : low;
  return ((lane & ~15) ^ 16) | (selector >> 4 * (lane % 8) & 15);
}
