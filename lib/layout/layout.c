// A linear layout: how it is built bit by bit, and questions about it (sizes, the map itself, equality, coverage).
// Expects: a layout begun with tileLayoutEmpty. Leaves: it canonical (neighbouring odd factors merged), or unchanged on
// error. Questions leave their arguments alone. Text is in text.c, layouts made from layouts in algebra.c.
#include "lib/layout/layout.h"

#include "lib/layout/bit_matrix.h"

#include <inttypes.h>
#include <string.h>

//===--- building -------------------------------------------------------------===//

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
  uint32_t total = tileLayoutBitCount(layout), place = 0;
  if (hasRepeat(layout, dim))
    return tileErrorSet(error, 0, 0, "an odd factor of %s must be its last mode", tileLayoutDimName(layout->kind, dim));
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

//===--- questions ------------------------------------------------------------===//

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
  uint64_t largest = 0, all = 0, isMixed = 0;
  for (uint32_t i = 0, count = tileLayoutBitCount(layout); i < count; ++i) {
    uint64_t step = layout->steps[i].at[axis];
    all |= step;
    isMixed |= step & (step - 1);
  }
  if (!isMixed) // single bits, as most steps are
    return all;
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

TileLayoutPoint tileLayoutStepOf(const TileLayout *layout, uint32_t dim, uint32_t bit) {
  uint32_t before = 0;
  for (uint32_t d = 0; d < dim; ++d)
    before += layout->bits[d];
  return bit < layout->bits[dim] ? layout->steps[before + bit] : (TileLayoutPoint){{0}};
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
