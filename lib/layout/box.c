// Boxes of a tensor as a buffer holds them. See box.h.
#include "lib/layout/box.h"

#include <string.h>

enum { PieceBits = 4, RowBits = 7, LeastBytes = 16 }; // bytes: a piece is 2^4, the rows of a pattern begin at 2^7

bool tileLayoutUnswizzle(const TileLayout *layout, uint32_t elementBytes, uint32_t swizzleBytes, TileLayout *result,
                         TileError *error) {
  uint32_t elementBits = (uint32_t)__builtin_ctz(elementBytes), bits = layout->bits[TileLayoutOffset];
  if (layout->padAmount)
    return tileErrorSet(error, 0, 0, "the buffer is padded");
  *result = *layout;
  for (uint32_t i = 0; i < 3 && swizzleBytes >> (PieceBits + 1 + i); ++i) {
    uint32_t piece = PieceBits - elementBits + i, row = RowBits - elementBits + i;
    if (row >= bits)
      break; // no row of the buffer has this bit
    for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
      result->steps[row].at[axis] ^= layout->steps[piece].at[axis];
  }
  return true;
}

// The step moves along this axis alone, by `by`.
static bool walks(const TileLayout *layout, uint32_t bit, uint32_t axis, uint32_t by) {
  for (uint32_t other = 0; other < TILE_LAYOUT_MAX_AXES; ++other)
    if (layout->steps[bit].at[other] != (other == axis ? by : 0))
      return false;
  return true;
}

// The box in which the first bits of the offset walk the axes one after the other. The odd factors are boxes.
static bool planOne(const TileLayout *memory, const uint32_t *axes, uint32_t rank, uint32_t elementBytes, uint32_t most,
                    uint32_t swizzleBytes, TileBoxPlan *plan, TileError *error) {
  *plan = (TileBoxPlan){.swizzleBytes = swizzleBytes};
  if (!tileLayoutUnswizzle(memory, elementBytes, swizzleBytes, &plan->unswizzled, error))
    return false;
  uint32_t bit = 0, bits = memory->bits[TileLayoutOffset];
  for (uint32_t i = 0; i < TILE_LAYOUT_MAX_AXES; ++i)
    plan->box[i] = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    uint32_t *size = &plan->box[axes[i]], limit = i || !swizzleBytes ? most : swizzleBytes / elementBytes;
    while (bit < bits && *size * 2 <= limit && walks(&plan->unswizzled, bit, axes[i], *size)) {
      *size *= 2;
      ++bit;
    }
    if (i)
      continue;
    uint32_t row = *size * elementBytes;
    if (row < LeastBytes || (swizzleBytes && row != swizzleBytes))
      return tileErrorSet(error, 0, 0,
                          "no box of a tensor fills it: %u neighbours along d%u lie together, expected a multiple of "
                          "16 bytes or a swizzle of 32, 64 or 128 bytes",
                          *size, axes[0]);
  }
  plan->elements = UINT64_C(1) << bit;
  plan->bytes = plan->elements * elementBytes;
  plan->count = tileLayoutDimSize(memory, TileLayoutOffset) >> bit;
  return true;
}

bool tileBoxPlan(const TileLayout *memory, const uint32_t *axes, uint32_t rank, uint32_t elementBytes, uint32_t most,
                 TileBoxPlan *plan, TileError *error) {
  static const uint32_t modes[] = {0, 128, 64, 32};
  bool isFound = false;
  for (uint32_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
    TileBoxPlan one;
    TileError later;
    if (planOne(memory, axes, rank, elementBytes, most, modes[i], &one, isFound || i ? &later : error) &&
        (!isFound || one.elements > plan->elements)) {
      *plan = one;
      isFound = true;
    }
  }
  return isFound;
}

TileLayoutPoint tileBoxOrigin(const TileBoxPlan *plan, uint64_t n) {
  TileLayoutPoint at = {{(uint32_t)(n * plan->elements)}};
  return tileLayoutApply(&plan->unswizzled, at);
}

uint32_t tileBoxAlignment(const TileBoxPlan *plan) { return plan->swizzleBytes ? 8 * plan->swizzleBytes : 128; }
