// Layouts of values made for a purpose: coalesced memory accesses, matrix instructions, multiply-adds, broadcasts.
// Why: these are where a choice of layouts starts; everything else follows from them by algebra.h.
// Expects: shapes of any sizes: what is no power of two becomes an outermost repetition of registers, unless the shape
// is rounded up first (tileLayoutRoundShape). A tile with fewer elements than threads has copies (`_`). Leaves: layouts
// that cover their shape over exactly the lanes and warps asked.
//
//   TileLayout wide;                             // 128x32 f16, rows contiguous, 16 bytes a lane, 4 warps
//   tileLayoutBlocked(shape, 2, NULL, NULL, 8, 32, 4, &wide, &error);
//   → reg [8:d1, 4:d0*32], lane [4:d1*8, 8:d0], warp [4:d0*8]
#pragma once

#include "lib/layout/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// Lanes side by side along the axes in `order` (order[0] fastest; NULL: the last axis), each with `vector` elements of
// order[0]; then warps along `warpOrder` (NULL: as lanes), then registers. `vector`, `lanes` and `warps` are powers of
// two.
bool tileLayoutBlocked(const int64_t *shape, uint32_t rank, const uint32_t *order, const uint32_t *warpOrder,
                       uint32_t vector, uint32_t lanes, uint32_t warps, TileLayout *result, TileError *error);

// Sizes to lay a shape out by, where its own have too few powers of two for the threads: each at least the shape's and
// less than twice it (tileLayoutHolds), a multiple of 2^least[axis] where its axis is as large as that (`least` may be
// NULL), with 2^bits in all of them together, or as near as the shape allows; of those the fewest elements.
void tileLayoutRoundShape(const int64_t *shape, uint32_t rank, const uint32_t *least, uint32_t bits, int64_t *extents);

// A product of matrices: [batch x] M x N with K, and how warps share it: 2^warpBitsM along M, 2^warpBitsN along N. Of
// 2^warpBits warps the others take batches, or hold copies.
typedef struct TileProductShape {
  int64_t batch, m, n, k; // batch 0: rank 2
  uint32_t warpBits, warpBitsM, warpBitsN;
} TileProductShape;

// The layouts of A, B and the accumulator: an atom's three fragments, repeated over the shape. Sizes must be multiples
// of the fragments'; fails where warps do not fit into them.
bool tileLayoutProductOperands(const TileLayout fragments[3], const TileProductShape *shape, TileLayout results[3],
                               TileError *error);

// One of them, `operand` as they are numbered above: of a factor that holds less than k, too, which `shape` then has.
bool tileLayoutProductOperand(const TileLayout *fragment, const TileProductShape *shape, uint32_t operand,
                              TileLayout *result, TileError *error);

// The layout of A (operand 0) or B (operand 1) for multiply-adds without a matrix instruction: each thread has all of
// k for the rows (columns) of its accumulators. `rank` is the accumulator's, 2 or 3.
bool tileLayoutMultiplyAdd(const TileLayout *accumulator, uint32_t operand, uint32_t rank, int64_t k,
                           TileLayout *result, TileError *error);

// A layout with a new axis of this size such that tileLayoutRemoveAxis gives `narrow` back: lanes and warps that hold
// copies take the axis first, registers the rest.
bool tileLayoutExpandAxis(const TileLayout *narrow, uint32_t axis, int64_t size, TileLayout *result, TileError *error);

#ifdef __cplusplus
}
#endif
