// Building a layout bit by bit and checking what the text form cannot express. See layout.h.
// Expects: a layout begun with tileLayoutEmpty. Leaves: it canonical (neighbouring odd factors merged), or unchanged on
// error.
#include <inttypes.h>
#include <string.h>

#include "lib/layout/layout.h"

TileLayout tileLayoutEmpty(TileLayoutKind kind) {
  TileLayout layout;
  memset(&layout, 0, sizeof layout);
  layout.kind = kind;
  return layout;
}

static bool hasRepeat(const TileLayout *layout, uint32_t dim) {
  for (uint32_t i = 0; i < layout->repeatCount; ++i)
    if (layout->repeats[i].dim == dim)
      return true;
  return false;
}

static bool tooBig(const TileLayout *layout, uint32_t dim, TileError *error) {
  const char *name = tileLayoutDimName(layout->kind, dim);
  return tileErrorSet(error, 0, 0, "%s would have more than 2^%d positions", name, TILE_LAYOUT_MAX_DIM_BITS);
}

bool tileLayoutAppendBit(TileLayout *layout, uint32_t dim, TileLayoutPoint step, TileError *error) {
  const char *name = tileLayoutDimName(layout->kind, dim);
  uint32_t total = tileLayoutBitCount(layout), place = 0;
  if (hasRepeat(layout, dim))
    return tileErrorSet(error, 0, 0, "an odd factor of %s must be its last mode", name);
  if (layout->bits[dim] == TILE_LAYOUT_MAX_DIM_BITS)
    return tooBig(layout, dim, error);
  if (total == TILE_LAYOUT_MAX_BITS)
    return tileErrorSet(error, 0, 0, "a layout has at most %d bits in all its dimensions", TILE_LAYOUT_MAX_BITS);
  for (uint32_t before = 0; before <= dim; ++before)
    place += layout->bits[before];
  memmove(&layout->steps[place + 1], &layout->steps[place], (total - place) * sizeof step);
  layout->steps[place] = step;
  ++layout->bits[dim];
  return true;
}

static bool continues(const TileLayoutRepeat *last, const TileLayoutRepeat *next) {
  if (last->dim != next->dim || last->axis != next->axis)
    return false;
  return last->axis == TILE_LAYOUT_COPIES || (uint64_t)last->stride * last->count == next->stride;
}

bool tileLayoutAppendRepeat(TileLayout *layout, TileLayoutRepeat repeat, TileError *error) {
  uint32_t place = 0;
  if (repeat.count == 1)
    return true;
  if (layout->kind == TileLayoutValues && repeat.dim != TileLayoutReg)
    return tileErrorSet(error, 0, 0,
                        "only reg and offset may have a size that is not a power of two, %s got a factor %u",
                        tileLayoutDimName(layout->kind, repeat.dim), repeat.count);
  if (tileLayoutDimSize(layout, repeat.dim) * repeat.count > 1ull << TILE_LAYOUT_MAX_DIM_BITS)
    return tooBig(layout, repeat.dim, error);
  if (repeat.axis == TILE_LAYOUT_COPIES)
    repeat.stride = 0;
  while (place < layout->repeatCount && layout->repeats[place].dim <= repeat.dim)
    ++place;
  if (place > 0 && continues(&layout->repeats[place - 1], &repeat)) {
    layout->repeats[place - 1].count *= repeat.count;
    return true;
  }
  if (layout->repeatCount == TILE_LAYOUT_MAX_REPEATS)
    return tileErrorSet(error, 0, 0, "a layout has at most %d odd factors", TILE_LAYOUT_MAX_REPEATS);
  memmove(&layout->repeats[place + 1], &layout->repeats[place], (layout->repeatCount - place) * sizeof repeat);
  layout->repeats[place] = repeat;
  ++layout->repeatCount;
  return true;
}

bool tileLayoutAppendWalk(TileLayout *layout, uint32_t dim, uint64_t size, int32_t axis, uint64_t stride,
                          TileError *error) {
  if (size < 1)
    return tileErrorSet(error, 0, 0, "a mode has at least 1 position, not 0");
  if (axis != TILE_LAYOUT_COPIES && (size > INT32_MAX || stride > INT32_MAX || (size - 1) * stride > INT32_MAX))
    return tileErrorSet(error, 0, 0, "%" PRIu64 " steps of %" PRIu64 " along axis %d leave the range of 2^31", size,
                        stride, axis);
  for (; size % 2 == 0; size /= 2, stride *= 2) {
    TileLayoutPoint step = {{0}};
    if (axis != TILE_LAYOUT_COPIES)
      step.at[axis] = (uint32_t)stride;
    if (!tileLayoutAppendBit(layout, dim, step, error))
      return false;
  }
  if (size > UINT32_MAX)
    return tooBig(layout, dim, error);
  TileLayoutRepeat repeat = {.dim = dim, .count = (uint32_t)size, .axis = axis, .stride = (uint32_t)stride};
  return tileLayoutAppendRepeat(layout, repeat, error);
}

static bool repeatIsOutermost(const TileLayout *layout, uint32_t number, TileError *error) {
  const TileLayoutRepeat *repeat = &layout->repeats[number];
  if (repeat->axis == TILE_LAYOUT_COPIES)
    return true;
  uint64_t below = 1ull << tileLayoutAxisWidth(layout, (uint32_t)repeat->axis);
  for (uint32_t i = 0; i < layout->repeatCount; ++i) {
    const TileLayoutRepeat *other = &layout->repeats[i];
    bool inside = other->stride < repeat->stride || (other->stride == repeat->stride && i < number);
    if (i != number && other->axis == repeat->axis && inside && (uint64_t)other->stride * other->count > below)
      below = (uint64_t)other->stride * other->count;
  }
  if (repeat->stride >= below)
    return true;
  return tileErrorSet(
      error, 0, 0,
      "an odd factor must be outermost on its axis: the stride along d%d is %u, what lies inside it needs "
      "%" PRIu64,
      repeat->axis, repeat->stride, below);
}

bool tileLayoutCheck(const TileLayout *layout, uint32_t *culprit, TileError *error) {
  for (uint32_t i = 0; i < layout->repeatCount; ++i) {
    if (culprit)
      *culprit = i;
    if (!repeatIsOutermost(layout, i, error))
      return false;
  }
  return true;
}

bool tileLayoutDense(const int64_t *shape, uint32_t rank, const uint32_t *order, TileLayout *layout, TileError *error) {
  TileLayout result = tileLayoutEmpty(TileLayoutMemory);
  for (uint32_t i = 0; i < rank; ++i) {
    uint32_t axis = order ? order[i] : rank - 1 - i;
    if (axis >= rank || rank > TILE_LAYOUT_MAX_AXES || shape[axis] < 1)
      return tileErrorSet(error, 0, 0,
                          "no dense layout: a rank from 0 to %d, an order of its axes and positive sizes are "
                          "needed",
                          TILE_LAYOUT_MAX_AXES);
    if (!tileLayoutAppendWalk(&result, TileLayoutOffset, (uint64_t)shape[axis], (int32_t)axis, 1, error))
      return false;
  }
  *layout = result;
  return true;
}
