// Left and right inverses of a layout. See algebra.h for which is which.
// How: the bits are a matrix over GF(2) whose rows are the coordinate bits, axis after axis; odd factors lie outside
// all bits on both sides, so they are inverted one by one.
#include <inttypes.h>

#include "lib/layout/algebra.h"
#include "lib/layout/bit_matrix.h"

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
