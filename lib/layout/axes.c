// Work on single dimensions and axes of a layout: restrict, remove, insert, transpose. See algebra.h.
#include "lib/layout/algebra.h"

// Each copies its argument bit by bit through an edit of the steps; appends cannot fail, since nothing grows.
static bool isZero(const TileLayoutPoint *step) {
  uint32_t any = 0;
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
    any |= step->at[axis];
  return !any;
}

static void keepPad(const TileLayout *from, TileLayout *to) {
  if (!from->padEvery || from->padEvery >= tileLayoutDimSize(to, TileLayoutOffset))
    return;
  to->padEvery = from->padEvery;
  to->padAmount = from->padAmount;
}

void tileLayoutRestrict(const TileLayout *layout, uint32_t dimMask, TileLayout *result) {
  TileLayout kept = tileLayoutEmpty(layout->kind);
  const TileLayoutPoint *step = layout->steps;
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; step += layout->bits[dim++])
    for (uint32_t bit = 0; dimMask >> dim & 1 && bit < layout->bits[dim]; ++bit)
      tileLayoutAppendBit(&kept, dim, step[bit], NULL);
  for (uint32_t i = 0; i < layout->repeatCount; ++i)
    if (dimMask >> layout->repeats[i].dim & 1)
      tileLayoutAppendRepeat(&kept, layout->repeats[i], NULL);
  keepPad(layout, &kept);
  *result = kept;
}

static TileLayoutPoint withoutAxis(const TileLayoutPoint *step, uint32_t removed) {
  TileLayoutPoint result = {{0}};
  for (uint32_t axis = 0; axis + 1 < TILE_LAYOUT_MAX_AXES; ++axis)
    result.at[axis] = step->at[axis < removed ? axis : axis + 1];
  return result;
}

// Registers and memory need no copies of a reduced value; other threads do, since each asks only itself.
static bool vanishes(const TileLayout *layout, uint32_t dim) {
  return layout->kind != TileLayoutCoordinates && dim == 0;
}

void tileLayoutRemoveAxis(const TileLayout *layout, uint32_t axis, TileLayout *result) {
  TileLayout kept = tileLayoutEmpty(layout->kind);
  const TileLayoutPoint *step = layout->steps;
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim)
    for (uint32_t bit = 0; bit < layout->bits[dim]; ++bit, ++step) {
      TileLayoutPoint rest = withoutAxis(step, axis);
      if (!(vanishes(layout, dim) && step->at[axis] && isZero(&rest)))
        tileLayoutAppendBit(&kept, dim, rest, NULL);
    }
  for (uint32_t i = 0; i < layout->repeatCount; ++i) {
    TileLayoutRepeat repeat = layout->repeats[i];
    if (repeat.axis == (int32_t)axis && vanishes(layout, repeat.dim))
      continue;
    if (repeat.axis >= (int32_t)axis)
      repeat.axis = repeat.axis == (int32_t)axis ? TILE_LAYOUT_COPIES : repeat.axis - 1;
    tileLayoutAppendRepeat(&kept, repeat, NULL);
  }
  keepPad(layout, &kept);
  *result = kept;
}

// Axis i of the result is axis source[i] of the layout, or new where source[i] is out of range.
static void renameAxes(const TileLayout *layout, const uint32_t *source, TileLayout *result) {
  TileLayout renamed = *layout;
  for (uint32_t i = 0, count = tileLayoutBitCount(layout); i < count; ++i)
    for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
      renamed.steps[i].at[axis] = source[axis] < TILE_LAYOUT_MAX_AXES ? layout->steps[i].at[source[axis]] : 0;
  for (uint32_t i = 0; i < layout->repeatCount; ++i)
    for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
      if (layout->repeats[i].axis != TILE_LAYOUT_COPIES && source[axis] == (uint32_t)layout->repeats[i].axis)
        renamed.repeats[i].axis = (int32_t)axis;
  *result = renamed;
}

bool tileLayoutInsertAxis(const TileLayout *layout, uint32_t axis, TileLayout *result, TileError *error) {
  uint32_t source[TILE_LAYOUT_MAX_AXES];
  if (axis >= TILE_LAYOUT_MAX_AXES || tileLayoutRank(layout) == TILE_LAYOUT_MAX_AXES)
    return tileErrorSet(error, 0, 0, "a layout has at most %d axes", TILE_LAYOUT_MAX_AXES);
  for (uint32_t i = 0; i < TILE_LAYOUT_MAX_AXES; ++i)
    source[i] = i < axis ? i : i == axis ? TILE_LAYOUT_MAX_AXES : i - 1;
  renameAxes(layout, source, result);
  return true;
}

bool tileLayoutTranspose(const TileLayout *layout, const uint32_t *order, uint32_t rank, TileLayout *result,
                         TileError *error) {
  uint32_t source[TILE_LAYOUT_MAX_AXES], seen = 0;
  for (uint32_t i = 0; i < TILE_LAYOUT_MAX_AXES; ++i) {
    source[i] = i < rank ? order[i] : i;
    seen |= source[i] < TILE_LAYOUT_MAX_AXES ? 1u << source[i] : 0;
  }
  if (rank > TILE_LAYOUT_MAX_AXES || seen != (1u << TILE_LAYOUT_MAX_AXES) - 1)
    return tileErrorSet(error, 0, 0, "the order is not a permutation of %u axes", rank);
  renameAxes(layout, source, result);
  return true;
}
