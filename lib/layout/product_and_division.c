// Product and division: a layout as a tiling of a smaller one. See algebra.h.
// How: inner's bits come first in every dimension; outer's coordinates count inner tiles, so its steps are shifted by
// inner's extents, which must be powers of two where outer moves.
#include <inttypes.h>

#include "lib/layout/algebra.h"

typedef struct {
  uint32_t log2[TILE_LAYOUT_MAX_AXES];
  uint64_t extent[TILE_LAYOUT_MAX_AXES];
} Tile;

static Tile tileOf(const TileLayout *inner) {
  Tile tile;
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis) {
    tile.extent[axis] = tileLayoutExtent(inner, axis);
    tile.log2[axis] = 0;
    while (UINT64_C(1) << tile.log2[axis] < tile.extent[axis])
      ++tile.log2[axis];
  }
  return tile;
}

static bool canMove(const Tile *tile, uint32_t axis, TileError *error) {
  if (tile->extent[axis] == UINT64_C(1) << tile->log2[axis])
    return true;
  return tileErrorSet(error, 0, 0,
                      "a tile of extent %" PRIu64 " on axis %u cannot be repeated along it: not a power of two",
                      tile->extent[axis], axis);
}

static bool scaled(const Tile *tile, const TileLayoutPoint *step, TileLayoutPoint *result, TileError *error) {
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis) {
    uint64_t value = (uint64_t)step->at[axis] << tile->log2[axis];
    if (value && !canMove(tile, axis, error))
      return false;
    if (value > INT32_MAX)
      return tileErrorSet(error, 0, 0, "coordinates on axis %u would reach 2^31", axis);
    result->at[axis] = (uint32_t)value;
  }
  return true;
}

static bool appendOuter(const Tile *tile, const TileLayout *outer, TileLayout *product, TileError *error) {
  const TileLayoutPoint *step = outer->steps;
  TileLayoutPoint moved;
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim)
    for (uint32_t bit = 0; bit < outer->bits[dim]; ++bit, ++step)
      if (!scaled(tile, step, &moved, error) || !tileLayoutAppendBit(product, dim, moved, error))
        return false;
  for (uint32_t i = 0; i < outer->repeatCount; ++i) {
    TileLayoutRepeat repeat = outer->repeats[i];
    if (repeat.axis != TILE_LAYOUT_COPIES) {
      uint64_t stride = (uint64_t)repeat.stride << tile->log2[repeat.axis];
      if (!canMove(tile, (uint32_t)repeat.axis, error))
        return false;
      if (stride * repeat.count > INT32_MAX)
        return tileErrorSet(error, 0, 0, "coordinates on axis %d would reach 2^31", repeat.axis);
      repeat.stride = (uint32_t)stride;
    }
    if (!tileLayoutAppendRepeat(product, repeat, error))
      return false;
  }
  return true;
}

bool tileLayoutProduct(const TileLayout *inner, const TileLayout *outer, TileLayout *result, TileError *error) {
  if (inner->kind != outer->kind)
    return tileErrorSet(error, 0, 0, "a product needs two layouts of values or two of memory");
  if (outer->padEvery)
    return tileErrorSet(error, 0, 0, "the outer layout of a product cannot be padded");
  Tile tile = tileOf(inner);
  TileLayout product = *inner;
  if (!appendOuter(&tile, outer, &product, error) || !tileLayoutCheck(&product, NULL, error))
    return false;
  *result = product;
  return true;
}

static bool startsWith(const TileLayout *layout, const TileLayout *inner, TileError *error) {
  const TileLayoutPoint *step = layout->steps, *wanted = inner->steps;
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; step += layout->bits[dim++]) {
    const char *name = tileLayoutDimName(inner->kind, dim);
    if (layout->bits[dim] < inner->bits[dim])
      return tileErrorSet(error, 0, 0, "%s has 2^%u positions, the tile needs 2^%u", name, layout->bits[dim],
                          inner->bits[dim]);
    for (uint32_t bit = 0; bit < inner->bits[dim]; ++bit, ++wanted)
      for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
        if (step[bit].at[axis] != wanted->at[axis])
          return tileErrorSet(error, 0, 0, "bit %u of %s steps by %u along axis %u, the tile's steps by %u", bit, name,
                              step[bit].at[axis], axis, wanted->at[axis]);
  }
  return true;
}

static bool divided(const Tile *tile, uint32_t axis, uint32_t step, uint32_t *result, TileError *error) {
  *result = step >> tile->log2[axis];
  if (*result << tile->log2[axis] == step)
    return true;
  return tileErrorSet(error, 0, 0, "a step of %u along axis %u does not move by whole tiles of %" PRIu64, step, axis,
                      tile->extent[axis]);
}

static bool quotientBits(const Tile *tile, const TileLayout *layout, const TileLayout *inner, TileLayout *outer,
                         TileError *error) {
  const TileLayoutPoint *step = layout->steps;
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim)
    for (uint32_t bit = 0; bit < layout->bits[dim]; ++bit, ++step) {
      TileLayoutPoint moved = {{0}};
      if (bit < inner->bits[dim])
        continue;
      for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
        if (!divided(tile, axis, step->at[axis], &moved.at[axis], error))
          return false;
      if (!tileLayoutAppendBit(outer, dim, moved, error))
        return false;
    }
  return true;
}

// Neighbouring odd factors are merged in canonical layouts, so inner's last may be the beginning of a larger one.
static bool beginsWith(const TileLayoutRepeat *repeat, const TileLayoutRepeat *wanted) {
  return wanted->dim == repeat->dim && repeat->count % wanted->count == 0 && wanted->axis == repeat->axis &&
         wanted->stride == repeat->stride;
}

// The odd factors of each dimension must begin with inner's; the others are the quotient's.
static bool quotientRepeats(const Tile *tile, const TileLayout *layout, const TileLayout *inner, TileLayout *outer,
                            TileError *error) {
  uint32_t matched = 0;
  for (uint32_t i = 0; i < layout->repeatCount; ++i) {
    TileLayoutRepeat repeat = layout->repeats[i];
    const TileLayoutRepeat *wanted = matched < inner->repeatCount ? &inner->repeats[matched] : NULL;
    if (wanted && beginsWith(&repeat, wanted)) {
      ++matched;
      repeat.count /= wanted->count;
      repeat.stride *= wanted->count;
      if (repeat.count == 1)
        continue;
    }
    if (repeat.axis != TILE_LAYOUT_COPIES &&
        !divided(tile, (uint32_t)repeat.axis, repeat.stride, &repeat.stride, error))
      return false;
    if (!tileLayoutAppendRepeat(outer, repeat, error))
      return false;
  }
  return matched == inner->repeatCount ||
         tileErrorSet(error, 0, 0, "the tile's odd factor %u is not in the layout", inner->repeats[matched].count);
}

bool tileLayoutDivide(const TileLayout *layout, const TileLayout *inner, TileLayout *outer, TileError *error) {
  if (layout->kind != inner->kind)
    return tileErrorSet(error, 0, 0, "a division needs two layouts of values or two of memory");
  Tile tile = tileOf(inner);
  TileLayout quotient = tileLayoutEmpty(layout->kind), product;
  if (!startsWith(layout, inner, error) || !quotientBits(&tile, layout, inner, &quotient, error) ||
      !quotientRepeats(&tile, layout, inner, &quotient, error) || !tileLayoutProduct(inner, &quotient, &product, error))
    return false;
  if (!tileLayoutEquals(&product, layout))
    return tileErrorSet(error, 0, 0, "the layout is not a tiling of the tile: their padding or odd factors differ");
  *outer = quotient;
  return true;
}

bool tileLayoutTile(const TileLayout *fragment, const int64_t *shape, uint32_t rank, const uint32_t *order,
                    TileLayout *result, TileError *error) {
  TileLayout outer = tileLayoutEmpty(fragment->kind);
  uint64_t odd[TILE_LAYOUT_MAX_AXES], bits[TILE_LAYOUT_MAX_AXES];
  if (rank > TILE_LAYOUT_MAX_AXES || tileLayoutRank(fragment) > rank)
    return tileErrorSet(error, 0, 0, "the tile has rank %u, the shape %u", tileLayoutRank(fragment), rank);
  for (uint32_t i = 0; i < rank; ++i) {
    uint32_t axis = order ? order[i] : rank - 1 - i;
    uint64_t extent = axis < rank ? tileLayoutExtent(fragment, axis) : 1;
    if (axis >= rank || shape[axis] < 1 || (uint64_t)shape[axis] % extent)
      return tileErrorSet(error, 0, 0, "size %" PRId64 " of axis %u is not a multiple of the tile's %" PRIu64,
                          axis < rank ? shape[axis] : 0, axis, extent);
    uint64_t count = (uint64_t)shape[axis] / extent;
    bits[axis] = UINT64_C(1) << __builtin_ctzll(count);
    odd[axis] = count / bits[axis];
    if (!tileLayoutAppendWalk(&outer, 0, bits[axis], (int32_t)axis, 1, error))
      return false;
  }
  // Odd factors go last: outermost in the dimension.
  for (uint32_t i = 0; i < rank; ++i) {
    uint32_t axis = order ? order[i] : rank - 1 - i;
    if (!tileLayoutAppendWalk(&outer, 0, odd[axis], (int32_t)axis, bits[axis], error))
      return false;
  }
  return tileLayoutProduct(fragment, &outer, result, error);
}
