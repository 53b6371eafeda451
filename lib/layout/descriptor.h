// Descriptors: how a matrix instruction (NVIDIA's wgmma and tcgen05) reads an operand from a buffer, if it can.
// Why: the instruction takes one 64-bit word instead of addresses: where the operand begins, two distances, and the
//   swizzle. Whether a buffer's layout is one of those that a descriptor says, and which, is computed here.
// Expects: the layout of one stage of a buffer of two axes. Leaves: plain values.
// Source: PTX ISA, "Matrix descriptor"; the canonical layouts of CUTLASS, cute/atom/mma_traits_sm90_gmma.hpp. With T
//   elements of 16 bytes and a swizzle of c pieces of 16 bytes (none: c = 1):
//     rows along k:   (8, m) x (T, 2)     lie at  (cT, S) x (1, T), without a swizzle (T, S) x (1, L)
//     rows along m/n: (T, c, m) x (8, k)  lie at  (1, T, L) x (cT, S), without a swizzle (1, -, S) x (T, L)
//   where L and S are the descriptor's leading and stride byte offsets.
//
//   TileDescriptorPlan plan; TileError error;
//   TileDescriptorShape shape = {.rowAxis = 0, .rows = 64, .depth = 16, .elementBytes = 2};
//   if (!tileDescriptorPlan(&memory, sizes, &shape, &plan, &error)) return report(&error);
//   the descriptor of rows r and sums k: plan.bits | ((address + tileDescriptorOffset(&plan, r, k)) & 0x3ffff) >> 4
#pragma once

#include "lib/layout/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// What one instruction reads of the operand.
typedef struct TileDescriptorShape {
  uint32_t rowAxis;      // of the buffer: m of the left factor, n of the right one
  uint32_t rows, depth;  // along it, and along k
  uint32_t elementBytes; // 1, 2, 4
} TileDescriptorShape;

typedef struct TileDescriptorPlan {
  uint64_t bits;         // of wgmma's descriptor, without the address
  uint64_t tensorBits;   // of tcgen05's
  uint32_t swizzleBytes; // 0: none
  uint32_t leading, stride;
  bool isRowMajor;    // neighbours in the buffer are neighbours along m or n, not along k
  TileLayout offsets; // from coordinates
  uint32_t rowAxis, elementBytes;
} TileDescriptorPlan;

bool tileDescriptorPlan(const TileLayout *memory, const int64_t *sizes, const TileDescriptorShape *shape,
                        TileDescriptorPlan *plan, TileError *error);
// Bytes from the buffer's begin to where the descriptor for these rows and sums points.
uint64_t tileDescriptorOffset(const TileDescriptorPlan *plan, uint32_t row, uint32_t k);
// Buffers begin at multiples of so many bytes.
uint32_t tileDescriptorAlignment(const TileDescriptorPlan *plan);

#ifdef __cplusplus
}
#endif
