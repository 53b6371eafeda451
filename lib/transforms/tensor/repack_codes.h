// Codes that share bytes in constants, laid in another order along k at compile time.
//
//   %u = linalg.generic (%p : tensor<4096x2048xi8>, [0, 4]) … (p >> shift) & 15 …  : tensor<4096x2048x2xi8>
//   %c = tensor.collapse_shape %u [[0], [1, 2]]                                     : tensor<4096x4096xi8>
// in the order offset [2:d0*64, 64:d0] becomes
//   %u = linalg.generic (%p' : tensor<4096x32x64xi8>, [0, 4]) … : tensor<4096x32x2x64xi8>
//   %c = tensor.collapse_shape %u [[0], [1, 2, 3]]
// with the same %c: shift 0 of a byte gives code k, shift 4 gives code k + 64.
#pragma once

#include "lib/analysis/low_bit/factor.h"
#include "lib/layout/layout.h"

// The op that unpacks a factor's codes from a constant; null with the reason.
MlirOperation tileUnpackOfFactor(const TileFactor *factor, const char **why);
// Codes of one word of the constant that the op unpacks.
int tileUnpackCount(MlirOperation unpack);
// The elements along the packed axis that follow each other in blocks of `period` lie in this order from now on: the
// constant is packed again, and `unpack`, which is destroyed, is replaced. False with the reason, and nothing changed.
bool tileRepackCodes(MlirOperation unpack, const TileLayout *order, const char **why);
// The code at place j is the one of place places[j] from now on; `unpack` stays. False with the reason, and nothing
// changed.
bool tilePermuteCodes(MlirOperation unpack, const int64_t *places, int64_t count, const char **why);
// A constant with its elements along `axis` in this order; null where there is no memory.
MlirValue tilePermuteConstant(MlirValue constant, int axis, const int64_t *places);
