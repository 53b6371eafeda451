// What engines ask of a buffer: boxes of a tensor (box.h), and the canonical layouts of matrix operands, matched with
// the buffer's (descriptor.h).
#include "lib/layout/descriptor.h"

#include "lib/layout/algebra.h"
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

enum { PieceBytes = 16, GroupRows = 8, MostOffset = 1 << 18 };

static uint64_t elementAt(const TileDescriptorPlan *plan, uint32_t row, uint32_t k) {
  TileLayoutPoint at = {{0}};
  at.at[plan->rowAxis] = row;
  at.at[1 - plan->rowAxis] = k;
  return tileLayoutApply(&plan->offsets, at).at[0];
}

uint64_t tileDescriptorOffset(const TileDescriptorPlan *plan, uint32_t row, uint32_t k) {
  return elementAt(plan, row, k) * plan->elementBytes;
}

uint32_t tileDescriptorAlignment(const TileDescriptorPlan *plan) {
  return plan->swizzleBytes ? GroupRows * plan->swizzleBytes : 128;
}

// An index in three digits: below `low`, below `middle`, and the rest. Distances are in elements.
typedef struct Digits {
  uint32_t low, middle;
  uint64_t lowBy, middleBy, highBy;
} Digits;

static uint64_t placeOf(const Digits *digits, uint32_t i) {
  return i % digits->low * digits->lowBy + i / digits->low % digits->middle * digits->middleBy +
         (uint64_t)(i / digits->low / digits->middle) * digits->highBy;
}

static bool isLike(const TileDescriptorPlan *plan, const TileDescriptorShape *shape, const Digits *rows,
                   const Digits *depth) {
  for (uint32_t i = 0; i < shape->rows; ++i)
    if (elementAt(plan, i, 0) != placeOf(rows, i))
      return false;
  for (uint32_t k = 0; k < shape->depth; ++k)
    if (elementAt(plan, 0, k) != placeOf(depth, k))
      return false;
  return true;
}

// The distance at an index that the operand may be too small for.
static uint64_t distance(const TileDescriptorPlan *plan, const TileDescriptorShape *shape, uint32_t row, uint32_t k) {
  return row < shape->rows && k < shape->depth ? elementAt(plan, row, k) : 0;
}

static bool isAlongDepth(TileDescriptorPlan *plan, const TileDescriptorShape *shape) {
  uint32_t piece = PieceBytes / shape->elementBytes, pieces = plan->swizzleBytes ? plan->swizzleBytes / PieceBytes : 1;
  uint64_t stride = distance(plan, shape, GroupRows, 0);
  uint64_t leading = plan->swizzleBytes ? piece : distance(plan, shape, 0, piece);
  Digits rows = {GroupRows, UINT32_MAX, (uint64_t)pieces * piece, stride, 0};
  Digits depth = {piece, UINT32_MAX, 1, leading, 0};
  plan->isRowMajor = false;
  plan->stride = (uint32_t)(stride * shape->elementBytes);
  plan->leading = plan->swizzleBytes ? PieceBytes : (uint32_t)(leading * shape->elementBytes); // no meaning: as CUTLASS
  return isLike(plan, shape, &rows, &depth);
}

static bool isAlongRows(TileDescriptorPlan *plan, const TileDescriptorShape *shape) {
  uint32_t piece = PieceBytes / shape->elementBytes, pieces = plan->swizzleBytes ? plan->swizzleBytes / PieceBytes : 1;
  uint64_t byRows = distance(plan, shape, pieces * piece, 0), byDepth = distance(plan, shape, 0, GroupRows);
  Digits rows = {pieces * piece, UINT32_MAX, 1, byRows, 0};
  Digits depth = {GroupRows, UINT32_MAX, (uint64_t)pieces * piece, byDepth, 0};
  plan->isRowMajor = true;
  plan->leading = (uint32_t)((plan->swizzleBytes ? byRows : byDepth) * shape->elementBytes);
  plan->stride = (uint32_t)((plan->swizzleBytes ? byDepth : byRows) * shape->elementBytes);
  return shape->elementBytes == 2 && shape->rows % (pieces * piece) == 0 && isLike(plan, shape, &rows, &depth);
}

// What lies beyond one instruction lies at sums of distances, in whole patterns of the swizzle.
static bool isTiled(const TileDescriptorPlan *plan, const int64_t *sizes, const TileDescriptorShape *shape) {
  for (int64_t row = shape->rows; row < sizes[shape->rowAxis]; row += shape->rows) {
    uint64_t at = tileDescriptorOffset(plan, (uint32_t)row, 0);
    if (at % (plan->swizzleBytes ? GroupRows * plan->swizzleBytes : PieceBytes))
      return false;
    for (int64_t k = shape->depth; k < sizes[1 - shape->rowAxis]; k += shape->depth)
      if (tileDescriptorOffset(plan, (uint32_t)row, (uint32_t)k) != at + tileDescriptorOffset(plan, 0, (uint32_t)k))
        return false;
  }
  return true;
}

// Layout types of wgmma: none 0, 128 bytes 1, 64 bytes 2, 32 bytes 3.
static uint64_t bitsOf(const TileDescriptorPlan *plan) {
  uint64_t type = plan->swizzleBytes == 128 ? 1 : plan->swizzleBytes == 64 ? 2 : plan->swizzleBytes == 32 ? 3 : 0;
  return (uint64_t)(plan->leading >> 4) << 16 | (uint64_t)(plan->stride >> 4) << 32 | type << 62;
}

// Layout types of tcgen05: none 0, 128 bytes 2, 64 bytes 4, 32 bytes 6. Bit 46: the first version.
static uint64_t tensorBitsOf(const TileDescriptorPlan *plan) {
  uint64_t type = plan->swizzleBytes == 128 ? 2 : plan->swizzleBytes == 64 ? 4 : plan->swizzleBytes == 32 ? 6 : 0;
  return (uint64_t)(plan->leading >> 4) << 16 | (uint64_t)(plan->stride >> 4) << 32 | UINT64_C(1) << 46 | type << 61;
}

bool tileDescriptorPlan(const TileLayout *memory, const int64_t *sizes, const TileDescriptorShape *shape,
                        TileDescriptorPlan *plan, TileError *error) {
  static const uint32_t modes[] = {128, 64, 32, 0};
  if (sizes[shape->rowAxis] % shape->rows || sizes[1 - shape->rowAxis] % shape->depth)
    return tileErrorSet(error, 0, 0, "its sizes are no multiples of the instruction's %u and %u", shape->rows,
                        shape->depth);
  for (uint32_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
    TileLayout unswizzled;
    *plan =
        (TileDescriptorPlan){.swizzleBytes = modes[i], .rowAxis = shape->rowAxis, .elementBytes = shape->elementBytes};
    if (!tileLayoutUnswizzle(memory, shape->elementBytes, modes[i], &unswizzled, error) ||
        !tileLayoutRightInverse(&unswizzled, sizes, 2, &plan->offsets, error))
      return false;
    if ((!isAlongDepth(plan, shape) && !isAlongRows(plan, shape)) || !isTiled(plan, sizes, shape) ||
        plan->leading >= MostOffset || plan->stride >= MostOffset)
      continue;
    plan->bits = bitsOf(plan);
    plan->tensorBits = tensorBitsOf(plan);
    return true;
  }
  return tileErrorSet(error, 0, 0,
                      "no descriptor says its layout: expected rows of 16, 32, 64 or 128 bytes along k%s, in groups "
                      "of 8, swizzled as a tensor's boxes are",
                      shape->elementBytes == 2 ? " or along the other axis" : "");
}
