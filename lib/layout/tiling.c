// Layouts of values made for a purpose. See tiling.h.
// How: the powers of two of each axis are dealt out bit by bit; the odd factors follow as outermost registers.
#include "lib/layout/tiling.h"

#include "lib/support/integer.h"

#include <inttypes.h>

#include "lib/layout/algebra.h"

//===--- rounded shapes -----------------------------------------------------------------------===//

// `size` up to the next multiple of 2^bits.
static int64_t roundedTo(int64_t size, uint32_t bits) { return (((size - 1) >> bits) + 1) << bits; }

static uint32_t powersIn(int64_t size) { return (uint32_t)__builtin_ctzll((uint64_t)size); }

enum { MaxRoundedBits = 31 };

// Axis by axis, the fewest elements for every number of powers of two (at most `bits` are counted).
typedef struct {
  double elements; // 0: not to be had
  int64_t extent;  // of the last axis
  uint32_t before; // the powers of two of the axes before
} Rounded;

static void roundAxis(int64_t size, uint32_t least, uint32_t bits, const Rounded *before, Rounded *after) {
  uint32_t most = size > 1 ? tessera_log2((uint64_t)size - 1) + 1 : 0;
  for (uint32_t more = least < most ? least : most; more <= most; ++more) {
    int64_t extent = roundedTo(size, more);
    for (uint32_t had = 0; had <= bits; ++had) {
      uint32_t sum = had + powersIn(extent);
      Rounded *best = &after[sum < bits ? sum : bits];
      double elements = before[had].elements * (double)extent;
      if (elements > 0 && (best->elements == 0 || elements < best->elements))
        *best = (Rounded){elements, extent, had};
    }
  }
}

void tileLayoutRoundShape(const int64_t *shape, uint32_t rank, const uint32_t *least, uint32_t bits, int64_t *extents) {
  Rounded table[TILE_LAYOUT_MAX_AXES + 1][MaxRoundedBits + 1] = {{{0, 0, 0}}};
  bits = bits < MaxRoundedBits ? bits : MaxRoundedBits;
  table[0][0].elements = 1;
  for (uint32_t axis = 0; axis < rank; ++axis)
    roundAxis(shape[axis], least ? least[axis] : 0, bits, table[axis], table[axis + 1]);
  uint32_t at = bits;
  while (at > 0 && table[rank][at].elements == 0)
    --at;
  for (uint32_t axis = rank; axis-- > 0; at = table[axis + 1][at].before)
    extents[axis] = table[axis + 1][at].extent;
}

//===--- blocks -----------------------------------------------------------------------------------===//

// What of a shape is not yet dealt out: per axis, the next stride and how many bits are left.
typedef struct {
  uint32_t rank, left[TILE_LAYOUT_MAX_AXES], stride[TILE_LAYOUT_MAX_AXES];
  uint32_t odd[TILE_LAYOUT_MAX_AXES], oddStride[TILE_LAYOUT_MAX_AXES];
} Supply;

static bool supplyOf(const int64_t *shape, uint32_t rank, Supply *supply, TileError *error) {
  *supply = (Supply){.rank = rank};
  if (rank > TILE_LAYOUT_MAX_AXES)
    return tileErrorSet(error, 0, 0, "rank %u is more than the %d axes a layout can have", rank, TILE_LAYOUT_MAX_AXES);
  for (uint32_t axis = 0; axis < rank; ++axis) {
    if (shape[axis] < 1 || shape[axis] > INT32_MAX)
      return tileErrorSet(error, 0, 0, "axis %u has size %" PRId64 "; a layout covers sizes from 1 to 2^31-1", axis,
                          shape[axis]);
    supply->left[axis] = (uint32_t)__builtin_ctzll((uint64_t)shape[axis]);
    supply->stride[axis] = 1;
    supply->odd[axis] = (uint32_t)(shape[axis] >> supply->left[axis]);
    supply->oddStride[axis] = 1u << supply->left[axis];
  }
  return true;
}

// Gives at most `bits` bits of the axis to the dimension; returns how many it gave.
static uint32_t deal(Supply *supply, uint32_t axis, uint32_t bits, uint32_t dim, TileLayout *layout) {
  uint32_t given = 0;
  for (; given < bits && supply->left[axis]; ++given, --supply->left[axis], supply->stride[axis] *= 2) {
    TileLayoutPoint step = {{0}};
    step.at[axis] = supply->stride[axis];
    if (!tileLayoutAppendBit(layout, dim, step, NULL))
      break;
  }
  return given;
}

// Fills `bits` bits of the dimension from the axes in order, then with copies.
static bool dealAll(Supply *supply, const uint32_t *order, uint32_t bits, uint32_t dim, TileLayout *layout,
                    TileError *error) {
  uint32_t given = 0;
  for (uint32_t i = 0; i < supply->rank && given < bits; ++i)
    given += deal(supply, order ? order[i] : supply->rank - 1 - i, bits - given, dim, layout);
  return tileLayoutAppendWalk(layout, dim, UINT64_C(1) << (bits - given), TILE_LAYOUT_COPIES, 0, error);
}

static bool dealRest(Supply *supply, const uint32_t *order, TileLayout *layout, TileError *error) {
  for (uint32_t i = 0; i < supply->rank; ++i)
    deal(supply, order ? order[i] : supply->rank - 1 - i, 32, TileLayoutReg, layout);
  for (uint32_t i = 0; i < supply->rank; ++i) {
    uint32_t axis = order ? order[i] : supply->rank - 1 - i;
    TileLayoutRepeat odd = {.dim = TileLayoutReg, .count = supply->odd[axis], .axis = (int32_t)axis};
    odd.stride = supply->oddStride[axis];
    if (!tileLayoutAppendRepeat(layout, odd, error))
      return false;
  }
  return true;
}

bool tileLayoutBlocked(const int64_t *shape, uint32_t rank, const uint32_t *order, const uint32_t *warpOrder,
                       uint32_t vector, uint32_t lanes, uint32_t warps, TileLayout *result, TileError *error) {
  Supply supply;
  TileLayout layout = tileLayoutEmpty(TileLayoutValues);
  if (!supplyOf(shape, rank, &supply, error))
    return false;
  if (rank)
    deal(&supply, order ? order[0] : rank - 1, tessera_log2(vector), TileLayoutReg, &layout);
  if (!dealAll(&supply, order, tessera_log2(lanes), TileLayoutLane, &layout, error) ||
      !dealAll(&supply, warpOrder ? warpOrder : order, tessera_log2(warps), TileLayoutWarp, &layout, error) ||
      !dealRest(&supply, order, &layout, error))
    return false;
  *result = layout;
  return true;
}

// Warps along M come before those along N in every operand; where an operand lacks the axis they hold copies.
static bool appendWarps(Supply *supply, uint32_t axis, uint32_t bits, uint32_t copies, TileLayout *outer,
                        TileError *error) {
  uint32_t strideBefore = supply->stride[axis];
  if (bits > supply->left[axis])
    return tileErrorSet(error, 0, 0, "2^%u warps do not fit into the 2^%u fragments of axis %u", bits,
                        supply->left[axis], axis);
  // Warps take the highest bits: registers of a warp stay together.
  supply->left[axis] -= bits;
  for (uint32_t bit = 0; bit < bits; ++bit) {
    TileLayoutPoint step = {{0}};
    step.at[axis] = strideBefore << (supply->left[axis] + bit);
    if (!tileLayoutAppendBit(outer, TileLayoutWarp, step, error))
      return false;
  }
  return tileLayoutAppendWalk(outer, TileLayoutWarp, UINT64_C(1) << copies, TILE_LAYOUT_COPIES, 0, error);
}

bool tileLayoutProductOperand(const TileLayout *fragment, const TileProductShape *shape, uint32_t number,
                              TileLayout *result, TileError *error) {
  bool isRank3 = shape->batch > 0;
  const int64_t sizes[3][2] = {{shape->m, shape->k}, {shape->k, shape->n}, {shape->m, shape->n}};
  // The axes in the order in which registers walk: k, then n, then m.
  const uint32_t orders[3][2] = {{1, 0}, {0, 1}, {1, 0}};
  uint32_t wm = shape->warpBitsM, wn = shape->warpBitsN, first = isRank3 ? 1 : 0;
  int64_t counts[3] = {shape->batch, 0, 0};
  TileLayout atom = *fragment, outer = tileLayoutEmpty(TileLayoutValues);
  Supply supply;
  if (shape->warpBitsM + shape->warpBitsN > shape->warpBits)
    return tileErrorSet(error, 0, 0, "the axes take 2^%u warps of 2^%u", shape->warpBitsM + shape->warpBitsN,
                        shape->warpBits);
  if (isRank3 && !tileLayoutInsertAxis(fragment, 0, &atom, error))
    return false;
  for (uint32_t i = 0; i < 2; ++i) {
    uint64_t extent = tileLayoutExtent(&atom, first + i);
    if (sizes[number][i] < 1 || (uint64_t)sizes[number][i] % extent)
      return tileErrorSet(error, 0, 0, "size %" PRId64 " is not a multiple of the fragment's %" PRIu64,
                          sizes[number][i], extent);
    counts[first + i] = sizes[number][i] / (int64_t)extent;
  }
  if (!supplyOf(counts, first + 2, &supply, error))
    return false;
  uint32_t rows = number == 1 ? 0 : wm, columns = number == 0 ? 0 : wn;
  if (!appendWarps(&supply, first, rows, wm - rows, &outer, error) ||
      !appendWarps(&supply, first + 1, columns, wn - columns, &outer, error))
    return false;
  uint32_t rest = shape->warpBits - wm - wn, batches = isRank3 ? supply.left[0] : 0;
  batches = rest < batches ? rest : batches;
  if (!appendWarps(&supply, 0, batches, rest - batches, &outer, error))
    return false;
  uint32_t order[3] = {first + orders[number][0], first + orders[number][1], 0};
  return dealRest(&supply, order, &outer, error) && tileLayoutProduct(&atom, &outer, result, error);
}

bool tileLayoutProductOperands(const TileLayout fragments[3], const TileProductShape *shape, TileLayout results[3],
                               TileError *error) {
  for (uint32_t i = 0; i < 3; ++i)
    if (!tileLayoutProductOperand(&fragments[i], shape, i, &results[i], error))
      return false;
  return true;
}

bool tileLayoutMultiplyAdd(const TileLayout *accumulator, uint32_t operand, uint32_t rank, int64_t k,
                           TileLayout *result, TileError *error) {
  TileLayout kept;
  // A is [batch x] M x K: the accumulator without N, with K in its place. B is [batch x] K x N: without M.
  uint32_t axis = operand == 0 ? rank - 1 : rank - 2;
  tileLayoutRemoveAxis(accumulator, axis, &kept);
  if (!tileLayoutInsertAxis(&kept, axis, &kept, error))
    return false;
  // K walks in the lowest registers, below what the accumulator has.
  TileLayout walk = tileLayoutEmpty(TileLayoutValues);
  uint64_t bits = (uint64_t)k & -(uint64_t)k;
  if (k < 1 || !tileLayoutAppendWalk(&walk, TileLayoutReg, bits, (int32_t)axis, 1, error))
    return tileErrorSet(error, 0, 0, "k is %" PRId64 ", expected at least 1", k);
  const TileLayoutPoint *step = kept.steps;
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim)
    for (uint32_t bit = 0; bit < kept.bits[dim]; ++bit, ++step)
      if (!tileLayoutAppendBit(&walk, dim, *step, error))
        return false;
  TileLayoutRepeat odd = {.dim = TileLayoutReg, .count = (uint32_t)((uint64_t)k / bits), .axis = (int32_t)axis};
  odd.stride = (uint32_t)bits;
  if (!tileLayoutAppendRepeat(&walk, odd, error))
    return false;
  for (uint32_t i = 0; i < kept.repeatCount; ++i)
    if (!tileLayoutAppendRepeat(&walk, kept.repeats[i], error))
      return false;
  *result = walk;
  return true;
}

static bool isCopies(const TileLayoutPoint *step) {
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
    if (step->at[axis])
      return false;
  return true;
}

bool tileLayoutExpandAxis(const TileLayout *narrow, uint32_t axis, int64_t size, TileLayout *result, TileError *error) {
  TileLayout source, wide = tileLayoutEmpty(TileLayoutValues);
  if (size < 1 || !tileLayoutInsertAxis(narrow, axis, &source, error))
    return tileErrorSet(error, 0, 0, "no axis of size %" PRId64 " can be added", size);
  uint32_t left = (uint32_t)__builtin_ctzll((uint64_t)size), stride = 1;
  const TileLayoutPoint *step = source.steps;
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim)
    for (uint32_t bit = 0; bit < source.bits[dim]; ++bit, ++step) {
      TileLayoutPoint moved = *step;
      if (dim != TileLayoutReg && isCopies(step) && left) {
        moved.at[axis] = stride;
        stride *= 2;
        --left;
      }
      if (!tileLayoutAppendBit(&wide, dim, moved, error))
        return false;
    }
  for (; left; --left, stride *= 2) {
    TileLayoutPoint moved = {{0}};
    moved.at[axis] = stride;
    if (!tileLayoutAppendBit(&wide, TileLayoutReg, moved, error))
      return false;
  }
  for (uint32_t i = 0; i < source.repeatCount; ++i)
    if (!tileLayoutAppendRepeat(&wide, source.repeats[i], error))
      return false;
  TileLayoutRepeat odd = {.dim = TileLayoutReg, .count = (uint32_t)(size / stride), .axis = (int32_t)axis};
  odd.stride = stride;
  if (!tileLayoutAppendRepeat(&wide, odd, error))
    return false;
  *result = wide;
  return true;
}
