// Which lane each lane of a warp reads from in shuffles and permutations, and what reductions of a warp give. Pure
// functions of lane numbers. Sources: PTX ISA 9.0 §9.7.9 (shfl, vote, match, redux); AMD "MI300" and "RDNA3" ISA
// documents (ds_swizzle, ds_bpermute, DPP, permlanex16); RDNA lanes come in rows of 16.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { TESSERA_NO_LANE = -1 }; // there is no such lane to read from

typedef enum tessera_shuffle_t {
  TESSERA_SHUFFLE_BUTTERFLY,
  TESSERA_SHUFFLE_UP,
  TESSERA_SHUFFLE_DOWN,
  TESSERA_SHUFFLE_INDEX
} tessera_shuffle_t;
// shfl.sync of `lane` with operands b (offset) and c (clamp and segment mask). Out of its segment a lane reads itself;
// *in_range is the predicate PTX returns.
int tessera_shuffle_source(tessera_shuffle_t kind, int lane, uint32_t b, uint32_t c, bool *in_range);

typedef enum tessera_redux_t {
  TESSERA_REDUX_ADD,
  TESSERA_REDUX_AND,
  TESSERA_REDUX_OR,
  TESSERA_REDUX_XOR,
  TESSERA_REDUX_MIN,
  TESSERA_REDUX_MAX,
  TESSERA_REDUX_UMIN,
  TESSERA_REDUX_UMAX,
  TESSERA_REDUX_FMIN,
  TESSERA_REDUX_FMAX
} tessera_redux_t;
// `absolute`, `nan`: of the float ones; without nan the number wins over a nan. -0 is below +0.
uint32_t tessera_redux(tessera_redux_t kind, bool absolute, bool nan, uint32_t a, uint32_t b);

// ds_swizzle_b32: quad permutation (bit 15 set) or and/or/xor masks within 32 lanes. No lane for the FFT and rotate
// modes of later chips.
int tessera_swizzle_source(uint32_t offset, int lane);
// ds_bpermute_b32: four times the lane, in `index`.
int tessera_bpermute_source(uint32_t index, int width);
// DPP: no lane when the row or the wave ends before it. TESSERA_DPP_UNKNOWN for a control that is none.
enum { TESSERA_DPP_UNKNOWN = -2 };
int tessera_dpp_source(uint32_t control, int lane, int width);
// permlanex16: from the other row of 16 in the same 32 lanes, by the lane's 4 bits in the 64-bit selector.
int tessera_permlanex16_source(uint32_t low, uint32_t high, int lane);
