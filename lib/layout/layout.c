// Questions about a linear layout: sizes, the map itself, equality, coverage. Building is in build.c, text in text.c.
// Expects: layouts made by this room (canonical). Leaves: its arguments alone.
#include "lib/layout/layout.h"

#include <inttypes.h>
#include <string.h>

#include "lib/layout/bit_matrix.h"

const char *tileLayoutDimName(TileLayoutKind kind, uint32_t dim) {
  static const char *const values[] = {"reg", "lane", "warp", "block"};
  static const char *const coordinates[] = {"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"};
  if (kind == TileLayoutValues)
    return dim < 4 ? values[dim] : NULL;
  if (kind == TileLayoutMemory)
    return dim == TileLayoutOffset ? "offset" : NULL;
  return dim < TILE_LAYOUT_MAX_DIMS ? coordinates[dim] : NULL;
}

uint64_t tileLayoutDimSize(const TileLayout *layout, uint32_t dim) {
  uint64_t size = 1ull << layout->bits[dim];
  for (uint32_t i = 0; i < layout->repeatCount; ++i)
    if (layout->repeats[i].dim == dim)
      size *= layout->repeats[i].count;
  return size;
}

uint32_t tileLayoutBitCount(const TileLayout *layout) {
  uint32_t count = 0;
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim)
    count += layout->bits[dim];
  return count;
}

uint32_t tileLayoutAxisWidth(const TileLayout *layout, uint32_t axis) {
  uint32_t used = 0, width = 0;
  for (uint32_t i = 0, count = tileLayoutBitCount(layout); i < count; ++i)
    used |= layout->steps[i].at[axis];
  while (used >> width)
    ++width;
  return width;
}

uint32_t tileLayoutRepeatsOfAxis(const TileLayout *layout, uint32_t axis, TileLayoutRepeat *sorted) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < layout->repeatCount; ++i) {
    if (layout->repeats[i].axis != (int32_t)axis)
      continue;
    uint32_t place = count++;
    for (; place > 0 && sorted[place - 1].stride > layout->repeats[i].stride; --place)
      sorted[place] = sorted[place - 1];
    sorted[place] = layout->repeats[i];
  }
  return count;
}

uint32_t tileLayoutRank(const TileLayout *layout) {
  uint32_t rank = 0;
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
    if (tileLayoutAxisWidth(layout, axis) > 0)
      rank = axis + 1;
  for (uint32_t i = 0; i < layout->repeatCount; ++i)
    if (layout->repeats[i].axis >= (int32_t)rank)
      rank = (uint32_t)layout->repeats[i].axis + 1;
  return rank;
}

// Dependent steps cannot set all the bits they use, so the largest coordinate may be below 2^width - 1: of a subspace
// the largest vector is found from the top, by whatever basis vector sets the next bit.
static uint64_t largestByBits(const TileLayout *layout, uint32_t axis) {
  uint64_t largest = 0;
  TileBitSpan span = {.size = 0};
  for (uint32_t i = 0, count = tileLayoutBitCount(layout); i < count; ++i)
    tileBitSpanAdd(&span, layout->steps[i].at[axis]);
  for (uint32_t bit = 32; span.size && bit-- > 0;)
    largest ^= span.value[bit] && !(largest >> bit & 1) ? span.value[bit] : 0;
  return largest;
}

uint64_t tileLayoutExtent(const TileLayout *layout, uint32_t axis) {
  uint64_t largest = largestByBits(layout, axis);
  for (uint32_t i = 0; i < layout->repeatCount; ++i)
    if (layout->repeats[i].axis == (int32_t)axis)
      largest += (uint64_t)(layout->repeats[i].count - 1) * layout->repeats[i].stride;
  return largest + 1;
}

static void addRepeats(const TileLayout *layout, uint32_t dim, uint64_t digits, TileLayoutPoint *point) {
  for (uint32_t i = 0; i < layout->repeatCount; ++i) {
    const TileLayoutRepeat *repeat = &layout->repeats[i];
    if (repeat->dim != dim)
      continue;
    if (repeat->axis != TILE_LAYOUT_COPIES)
      point->at[repeat->axis] += (uint32_t)(digits % repeat->count) * repeat->stride;
    digits /= repeat->count;
  }
}

TileLayoutPoint tileLayoutApply(const TileLayout *layout, TileLayoutPoint index) {
  TileLayoutPoint point = {{0}};
  const TileLayoutPoint *step = layout->steps;
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim)
    for (uint32_t bit = 0; bit < layout->bits[dim]; ++bit, ++step)
      if ((uint64_t)index.at[dim] >> bit & 1)
        for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
          point.at[axis] ^= step->at[axis];
  // Added last: an odd factor is outermost, above every bit of its axis.
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim)
    addRepeats(layout, dim, (uint64_t)index.at[dim] >> layout->bits[dim], &point);
  return point;
}

uint64_t tileLayoutPaddedOffset(const TileLayout *layout, uint64_t offset) {
  return layout->padEvery ? offset + offset / layout->padEvery * layout->padAmount : offset;
}

uint64_t tileLayoutPaddedSize(const TileLayout *layout) {
  return tileLayoutPaddedOffset(layout, tileLayoutDimSize(layout, TileLayoutOffset) - 1) + 1;
}

bool tileLayoutEquals(const TileLayout *left, const TileLayout *right) {
  uint32_t bits = tileLayoutBitCount(left);
  bool same = left->kind == right->kind && left->repeatCount == right->repeatCount &&
              left->padAmount == right->padAmount && left->padEvery == right->padEvery &&
              !memcmp(left->bits, right->bits, sizeof left->bits) &&
              !memcmp(left->steps, right->steps, bits * sizeof left->steps[0]);
  for (uint32_t i = 0; same && i < left->repeatCount; ++i) {
    const TileLayoutRepeat *a = &left->repeats[i], *b = &right->repeats[i];
    same = a->dim == b->dim && a->count == b->count && a->stride == b->stride && a->axis == b->axis;
  }
  return same;
}

uint64_t tileLayoutContiguity(const TileLayout *layout, uint32_t dim, uint32_t axis) {
  uint32_t first = 0, run = 0;
  for (uint32_t before = 0; before < dim; ++before)
    first += layout->bits[before];
  for (; run < layout->bits[dim]; ++run) {
    TileLayoutPoint unit = {{0}};
    unit.at[axis] = 1u << run;
    if (memcmp(&layout->steps[first + run], &unit, sizeof unit))
      break;
  }
  return 1ull << run;
}

// One axis of a shape: its odd factors must continue, without a gap, where its bits end, and fill it exactly.
static bool axisFits(const TileLayout *layout, uint32_t axis, uint64_t size, uint32_t *width, TileError *error) {
  TileLayoutRepeat repeats[TILE_LAYOUT_MAX_REPEATS];
  uint32_t count = tileLayoutRepeatsOfAxis(layout, axis, repeats);
  uint64_t extent = tileLayoutExtent(layout, axis);
  if (extent > size)
    return tileErrorSet(error, 0, 0, "the layout reaches coordinate %" PRIu64 " of axis %u, which has size %" PRIu64,
                        extent - 1, axis, size);
  if (extent < size)
    return tileErrorSet(error, 0, 0, "the layout ends at coordinate %" PRIu64 " of axis %u, which has size %" PRIu64,
                        extent - 1, axis, size);
  uint64_t inner = size;
  for (uint32_t i = count; i-- > 0; inner /= repeats[i].count)
    if (inner % repeats[i].count || inner / repeats[i].count != repeats[i].stride)
      return tileErrorSet(error, 0, 0, "%u steps of %u along axis %u do not fill its size %" PRIu64, repeats[i].count,
                          repeats[i].stride, axis, size);
  if (!inner || inner & (inner - 1))
    return tileErrorSet(error, 0, 0, "the layout skips some of the %" PRIu64 " coordinates of axis %u", size, axis);
  *width = (uint32_t)__builtin_ctzll(inner);
  return true;
}

static uint64_t copiesByRepeats(const TileLayout *layout) {
  uint64_t copies = 1;
  for (uint32_t i = 0; i < layout->repeatCount; ++i)
    copies *= layout->repeats[i].axis == TILE_LAYOUT_COPIES ? layout->repeats[i].count : 1;
  return copies;
}

// Rank of the matrix whose rows are the used bits of all axes; up to 8 axes x 32 bits are first packed into 64.
static bool rankOfSteps(const TileLayout *layout, const uint32_t *width, uint32_t *rank, TileError *error) {
  TileBitMatrix matrix = {.columns = tileLayoutBitCount(layout)};
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; matrix.rows += width[axis++]) {
    if (matrix.rows + width[axis] > TILE_BIT_MATRIX_MAX)
      return tileErrorSet(error, 0, 0, "the shape has more than 2^%d elements", TILE_BIT_MATRIX_MAX);
    for (uint32_t i = 0; width[axis] && i < matrix.columns; ++i)
      matrix.column[i] |= (uint64_t)layout->steps[i].at[axis] << matrix.rows;
  }
  *rank = tileBitMatrixRank(&matrix);
  if (*rank == matrix.rows)
    return true;
  return tileErrorSet(error, 0, 0, "the layout holds only 1 of every %" PRIu64 " elements of the shape",
                      UINT64_C(1) << (matrix.rows - *rank));
}

bool tileLayoutHolds(const TileLayout *layout, const int64_t *shape, uint32_t rank, int64_t *extents,
                     TileError *error) {
  int64_t sizes[TILE_LAYOUT_MAX_AXES];
  if (rank > TILE_LAYOUT_MAX_AXES)
    return tileErrorSet(error, 0, 0, "rank %u is more than the %d axes a layout can have", rank, TILE_LAYOUT_MAX_AXES);
  for (uint32_t axis = 0; axis < rank; ++axis) {
    int64_t extent = (int64_t)tileLayoutExtent(layout, axis);
    sizes[axis] = extent > shape[axis] && extent < 2 * shape[axis] ? extent : shape[axis];
    if (extents)
      extents[axis] = sizes[axis];
  }
  return tileLayoutCovers(layout, sizes, rank, NULL, error);
}

bool tileLayoutCovers(const TileLayout *layout, const int64_t *shape, uint32_t rank, uint64_t *copies,
                      TileError *error) {
  if (rank > TILE_LAYOUT_MAX_AXES)
    return tileErrorSet(error, 0, 0, "rank %u is more than the %d axes a layout can have", rank, TILE_LAYOUT_MAX_AXES);
  uint32_t width[TILE_LAYOUT_MAX_AXES] = {0}, found;
  for (uint32_t axis = 0; axis < rank; ++axis) {
    if (shape[axis] < 1 || shape[axis] > INT32_MAX)
      return tileErrorSet(error, 0, 0, "axis %u has size %" PRId64 "; a layout covers sizes from 1 to 2^31-1", axis,
                          shape[axis]);
    if (!axisFits(layout, axis, (uint64_t)shape[axis], &width[axis], error))
      return false;
  }
  uint32_t moved = tileLayoutRank(layout);
  if (moved > rank)
    return tileErrorSet(error, 0, 0, "the layout moves along axis %u, but the shape has rank %u", moved - 1, rank);
  if (!rankOfSteps(layout, width, &found, error))
    return false;
  if (copies)
    *copies = copiesByRepeats(layout) << (tileLayoutBitCount(layout) - found);
  return true;
}
