// Layouts made from layouts: single axes, composition, inverses, product and division. See algebra.h.
// Expects: canonical layouts. Leaves: a canonical result, or false with the reason. Cost: one application per bit, for
// inverses an elimination of 64 bits.
#include "lib/layout/algebra.h"

#include "lib/layout/bit_matrix.h"

#include <inttypes.h>

//===--- single dimensions and axes -------------------------------------------===//

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

void tileLayoutColumns(const TileLayout *layout, const uint32_t *width, uint64_t *columns) {
  for (uint32_t i = 0, bits = tileLayoutBitCount(layout); i < bits; ++i) {
    uint32_t first = 0;
    columns[i] = 0;
    for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; first += width[axis++])
      columns[i] |= width[axis] ? (uint64_t)layout->steps[i].at[axis] << first : 0;
  }
}

//===--- composition ----------------------------------------------------------===//

// How: a step of the result is outer applied to a step of inner. An odd factor of inner must run through odd factors of
// outer; it is split where those change. Cost: one application per bit.

static bool stepFits(const TileLayout *outer, const TileLayoutPoint *step, TileError *error) {
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim) {
    if ((uint64_t)step->at[dim] >> outer->bits[dim] == 0)
      continue;
    const char *name = tileLayoutDimName(outer->kind, dim);
    if (step->at[dim] < tileLayoutDimSize(outer, dim))
      return tileErrorSet(error, 0, 0, "index %u of %s lies in an odd factor of the outer layout: not linear",
                          step->at[dim], name ? name : "a dimension");
    return tileErrorSet(error, 0, 0,
                        "the inner layout reaches index %u of dimension %u (%s), which has %" PRIu64 " positions",
                        step->at[dim], dim, name ? name : "absent", tileLayoutDimSize(outer, dim));
  }
  return true;
}

static bool composeBits(const TileLayout *outer, const TileLayout *inner, TileLayout *result, TileError *error) {
  const TileLayoutPoint *step = inner->steps;
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim)
    for (uint32_t bit = 0; bit < inner->bits[dim]; ++bit, ++step)
      if (!stepFits(outer, step, error) || !tileLayoutAppendBit(result, dim, tileLayoutApply(outer, *step), error))
        return false;
  return true;
}

// For the outer digit that begins at position `start`, the part that a walk of `left` steps of `stride` uses; 0 = none.
static uint32_t digitsShared(const TileLayoutRepeat *digit, uint64_t start, uint64_t stride, uint32_t left) {
  if (stride < start || stride % start || stride / start >= digit->count || digit->count % (stride / start))
    return 0;
  uint32_t available = digit->count / (uint32_t)(stride / start);
  if (left % available == 0)
    return available;
  return available % left == 0 ? left : 0;
}

// One odd factor of inner, whose axis is dimension walk.axis of outer.
static bool composeRepeat(const TileLayout *outer, TileLayoutRepeat walk, TileLayout *result, TileError *error) {
  uint32_t dim = (uint32_t)walk.axis, left = walk.count;
  uint64_t start = UINT64_C(1) << outer->bits[dim], stride = walk.stride;
  for (uint32_t i = 0; i < outer->repeatCount && left > 1; ++i) {
    const TileLayoutRepeat *digit = &outer->repeats[i];
    if (digit->dim != dim)
      continue;
    uint32_t taken = digitsShared(digit, start, stride, left);
    if (taken) {
      TileLayoutRepeat part = {.dim = walk.dim, .count = taken, .axis = digit->axis};
      part.stride = (uint32_t)(stride / start) * digit->stride;
      if (!tileLayoutAppendRepeat(result, part, error))
        return false;
      left /= taken;
      stride *= taken;
    }
    start *= digit->count;
  }
  return left == 1 ||
         tileErrorSet(error, 0, 0,
                      "%u steps of %u through dimension %u of the outer layout do not meet an odd factor there",
                      walk.count, walk.stride, dim);
}

bool tileLayoutCompose(const TileLayout *outer, const TileLayout *inner, TileLayout *result, TileError *error) {
  TileLayout composed = tileLayoutEmpty(inner->kind);
  composed.padAmount = inner->padAmount;
  composed.padEvery = inner->padEvery;
  if (!composeBits(outer, inner, &composed, error))
    return false;
  for (uint32_t i = 0; i < inner->repeatCount; ++i) {
    bool copies = inner->repeats[i].axis == TILE_LAYOUT_COPIES;
    if (copies ? !tileLayoutAppendRepeat(&composed, inner->repeats[i], error)
               : !composeRepeat(outer, inner->repeats[i], &composed, error))
      return false;
  }
  if (!tileLayoutCheck(&composed, NULL, error))
    return false;
  *result = composed;
  return true;
}

bool tileLayoutConvert(const TileLayout *from, const TileLayout *to, const int64_t *shape, uint32_t rank,
                       TileLayout *result, TileError *error) {
  TileLayout inverse;
  return tileLayoutCovers(from, shape, rank, NULL, error) && tileLayoutRightInverse(to, shape, rank, &inverse, error) &&
         tileLayoutCompose(&inverse, from, result, error);
}

static int64_t elementCount(const int64_t *shape, uint32_t rank) {
  int64_t count = 1;
  for (uint32_t i = 0; i < rank; ++i)
    count *= shape[i];
  return count;
}

bool tileLayoutReshape(const TileLayout *layout, const int64_t *from, uint32_t fromRank, const int64_t *to,
                       uint32_t toRank, TileLayout *result, TileError *error) {
  TileLayout source, target, place;
  if (elementCount(from, fromRank) != elementCount(to, toRank))
    return tileErrorSet(error, 0, 0, "a reshape keeps the number of elements: %" PRId64 " are not %" PRId64,
                        elementCount(from, fromRank), elementCount(to, toRank));
  return tileLayoutDense(from, fromRank, NULL, &source, error) && tileLayoutDense(to, toRank, NULL, &target, error) &&
         tileLayoutConvert(layout, &source, from, fromRank, &place, error) &&
         tileLayoutCompose(&target, &place, result, error);
}

bool tileLayoutIsReshapeLinear(const int64_t *from, uint32_t fromRank, const int64_t *to, uint32_t toRank) {
  TileLayout inRegisters, reshaped;
  // Offsets and registers are both dimension 0 and may both have odd factors.
  if (!tileLayoutDense(from, fromRank, NULL, &inRegisters, NULL))
    return false;
  inRegisters.kind = TileLayoutValues;
  return tileLayoutReshape(&inRegisters, from, fromRank, to, toRank, &reshaped, NULL);
}

//===--- inverses -------------------------------------------------------------===//

// How: the bits are a matrix over GF(2) whose rows are the coordinate bits, axis after axis; odd factors lie outside
// all bits on both sides, so they are inverted one by one.

// Where each axis begins among the rows of the matrix, and how many rows it has.
typedef struct {
  uint32_t first[TILE_LAYOUT_MAX_AXES], width[TILE_LAYOUT_MAX_AXES];
} Rows;

static bool matrixOf(const TileLayout *layout, Rows *rows, TileBitMatrix *matrix, TileError *error) {
  *matrix = (TileBitMatrix){.columns = tileLayoutBitCount(layout)};
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis) {
    rows->first[axis] = matrix->rows;
    if (matrix->rows + rows->width[axis] > TILE_BIT_MATRIX_MAX)
      return tileErrorSet(error, 0, 0, "coordinates of more than %d bits cannot be inverted", TILE_BIT_MATRIX_MAX);
    for (uint32_t i = 0; rows->width[axis] && i < matrix->columns; ++i)
      matrix->column[i] |= (uint64_t)layout->steps[i].at[axis] << matrix->rows;
    matrix->rows += rows->width[axis];
  }
  return true;
}

// A vector of index bits as an index: one number per dimension.
static TileLayoutPoint unpackIndex(const TileLayout *layout, uint64_t bits) {
  TileLayoutPoint index = {{0}};
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim) {
    uint32_t width = layout->bits[dim];
    index.at[dim] = (uint32_t)(bits & ((UINT64_C(1) << width) - 1));
    bits >>= width;
  }
  return index;
}

// The digit i of its dimension is worth this many positions.
static uint64_t digitWeight(const TileLayout *layout, const TileLayoutRepeat *repeat) {
  uint64_t weight = UINT64_C(1) << layout->bits[repeat->dim];
  for (const TileLayoutRepeat *other = layout->repeats; other != repeat; ++other)
    weight *= other->dim == repeat->dim ? other->count : 1;
  return weight;
}

static bool appendDigits(const TileLayout *layout, uint32_t axis, TileLayout *inverse, TileError *error) {
  for (uint64_t stride = UINT64_C(1) << inverse->bits[axis];;) {
    const TileLayoutRepeat *next = NULL;
    for (uint32_t i = 0; i < layout->repeatCount; ++i)
      if (layout->repeats[i].axis == (int32_t)axis && layout->repeats[i].stride == stride)
        next = &layout->repeats[i];
    if (!next)
      return true;
    TileLayoutRepeat digit = {.dim = axis, .count = next->count, .axis = (int32_t)next->dim};
    digit.stride = (uint32_t)digitWeight(layout, next);
    if (!tileLayoutAppendRepeat(inverse, digit, error))
      return false;
    stride *= next->count;
  }
}

static bool layoutOf(const TileLayout *layout, const TileBitMatrix *matrix, const Rows *rows, TileLayout *inverse,
                     TileError *error) {
  TileLayout result = tileLayoutEmpty(TileLayoutCoordinates);
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis) {
    for (uint32_t bit = 0; bit < rows->width[axis]; ++bit) {
      TileLayoutPoint step = unpackIndex(layout, matrix->column[rows->first[axis] + bit]);
      if (!tileLayoutAppendBit(&result, axis, step, error))
        return false;
    }
    if (!appendDigits(layout, axis, &result, error))
      return false;
  }
  *inverse = result;
  return true;
}

static bool overflows(const TileLayout *layout, TileError *error) {
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim)
    if (tileLayoutDimSize(layout, dim) > UINT64_C(1) << 31)
      return !tileErrorSet(error, 0, 0, "a dimension of more than 2^31 positions cannot be inverted");
  return false;
}

bool tileLayoutRightInverse(const TileLayout *layout, const int64_t *shape, uint32_t rank, TileLayout *inverse,
                            TileError *error) {
  Rows rows;
  TileBitMatrix matrix, inverted;
  if (overflows(layout, error) || !tileLayoutCovers(layout, shape, rank, NULL, error))
    return false;
  // Covered: an axis is 2^width times its odd factors, which begin where the bits end.
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
    rows.width[axis] = axis < rank ? (uint32_t)__builtin_ctzll((uint64_t)shape[axis]) : 0;
  if (!matrixOf(layout, &rows, &matrix, error))
    return false;
  if (!tileBitMatrixRightInverse(&matrix, &inverted))
    return tileErrorSet(error, 0, 0, "the layout has no right inverse");
  return layoutOf(layout, &inverted, &rows, inverse, error);
}

// The width of each axis up to its first odd factor, which must be a power of two away; the further ones must follow
// closely.
static bool widthsOf(const TileLayout *layout, Rows *rows, TileError *error) {
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis) {
    TileLayoutRepeat repeats[TILE_LAYOUT_MAX_REPEATS];
    uint32_t count = tileLayoutRepeatsOfAxis(layout, axis, repeats);
    rows->width[axis] = count ? (uint32_t)__builtin_ctz(repeats[0].stride) : tileLayoutAxisWidth(layout, axis);
    uint64_t next = UINT64_C(1) << rows->width[axis];
    for (uint32_t i = 0; i < count; next *= repeats[i++].count)
      if (repeats[i].stride != next)
        return tileErrorSet(error, 0, 0, "a stride of %u along axis %u leaves a gap that no linear layout can invert",
                            repeats[i].stride, axis);
  }
  return true;
}

bool tileLayoutLeftInverse(const TileLayout *layout, TileLayout *inverse, TileError *error) {
  Rows rows;
  TileBitMatrix matrix, inverted;
  for (uint32_t i = 0; i < layout->repeatCount; ++i)
    if (layout->repeats[i].axis == TILE_LAYOUT_COPIES)
      return tileErrorSet(error, 0, 0, "the layout has no left inverse: elements lie in %u places",
                          layout->repeats[i].count);
  if (overflows(layout, error) || !widthsOf(layout, &rows, error) || !matrixOf(layout, &rows, &matrix, error))
    return false;
  if (!tileBitMatrixLeftInverse(&matrix, &inverted))
    return tileErrorSet(error, 0, 0, "the layout has no left inverse: elements lie in %" PRIu64 " places",
                        UINT64_C(1) << (matrix.columns - tileBitMatrixRank(&matrix)));
  return layoutOf(layout, &inverted, &rows, inverse, error);
}

//===--- product and division -------------------------------------------------===//

// How: inner's bits come first in every dimension; outer's coordinates count inner tiles, so its steps are shifted by
// inner's extents, which must be powers of two where outer moves.

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
