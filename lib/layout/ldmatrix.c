// Fragments as 8x8 matrices of rows in memory. See ldmatrix.h.
// How: a row's 16 bytes are a word's elements and four words. Plain, those are the lowest registers and lane bits 0 and
// 1, rows are lane bits 2 to 4; transposed, columns are lane bits 2 to 4 and rows a register and lane bits 0 and 1.
// Which register bits make a word is not the fragment's to say: the lowest ones do, as in every mma's operands.
#include "lib/layout/ldmatrix.h"

#include <string.h>

enum { LaneBits = 5, RowBytesBits = 4, WordBytesBits = 2 };

// Which bits of the fragment, by number (registers first), become which of the rows' layout.
typedef struct {
  uint32_t slotBits, rowBits, matrixBits;
  uint32_t row[RowBytesBits], lane[LaneBits], laneCount; // bits inside a row, bits that name rows, then matrices
} Parts;

static bool partsOf(const TileLayout *fragment, uint32_t elementBytes, bool transposed, Parts *parts,
                    TileError *error) {
  uint32_t registers = fragment->bits[TileLayoutReg], elementBits = (uint32_t)__builtin_ctz(elementBytes);
  *parts = (Parts){.slotBits = transposed ? 1 : WordBytesBits - elementBits, .rowBits = RowBytesBits - elementBits};
  if (fragment->bits[TileLayoutLane] != LaneBits)
    return tileErrorSet(error, 0, 0, "a warp that moves matrices has 32 lanes, not 2^%u",
                        fragment->bits[TileLayoutLane]);
  if (elementBytes > 4 || (transposed && elementBytes != 2))
    return tileErrorSet(error, 0, 0, "elements of %u bytes do not travel as %smatrices", elementBytes,
                        transposed ? "transposed " : "");
  if (registers < parts->slotBits)
    return tileErrorSet(error, 0, 0, "2^%u registers are not a whole word", registers);
  for (uint32_t i = 0; i < parts->slotBits && !transposed; ++i)
    parts->row[i] = i;
  for (uint32_t i = 0; i < parts->rowBits - (transposed ? 0 : parts->slotBits); ++i)
    parts->row[(transposed ? 0 : parts->slotBits) + i] = registers + (transposed ? 2 : 0) + i;
  for (uint32_t i = 0; i < 3; ++i)
    parts->lane[i] = transposed ? (i == 0 ? 0 : registers + i - 1) : registers + 2 + i;
  for (parts->laneCount = 3; parts->matrixBits < 2 && parts->slotBits + parts->matrixBits < registers;
       ++parts->matrixBits)
    parts->lane[parts->laneCount++] = parts->slotBits + parts->matrixBits;
  return true;
}

static bool appendBits(const TileLayout *fragment, const uint32_t *bits, uint32_t count, uint32_t dim, TileLayout *rows,
                       TileError *error) {
  for (uint32_t i = 0; i < count; ++i)
    if (!tileLayoutAppendBit(rows, dim, fragment->steps[bits[i]], error))
      return false;
  return true;
}

bool tileMatrixRows(const TileLayout *fragment, uint32_t elementBytes, bool transposed, TileLayout *result,
                    TileError *error) {
  Parts parts;
  TileLayout rows = tileLayoutEmpty(TileLayoutValues);
  if (!partsOf(fragment, elementBytes, transposed, &parts, error) ||
      !appendBits(fragment, parts.row, parts.rowBits, TileLayoutReg, &rows, error))
    return false;
  for (uint32_t i = parts.slotBits + parts.matrixBits; i < fragment->bits[TileLayoutReg]; ++i)
    if (!tileLayoutAppendBit(&rows, TileLayoutReg, fragment->steps[i], error))
      return false;
  if (!appendBits(fragment, parts.lane, parts.laneCount, TileLayoutLane, &rows, error) ||
      !tileLayoutAppendWalk(&rows, TileLayoutLane, UINT64_C(1) << (LaneBits - parts.laneCount), TILE_LAYOUT_COPIES, 0,
                            error))
    return false;
  for (uint32_t i = 0; i < fragment->bits[TileLayoutWarp]; ++i)
    if (!tileLayoutAppendBit(&rows, TileLayoutWarp,
                             fragment->steps[fragment->bits[TileLayoutReg] + fragment->bits[TileLayoutLane] + i],
                             error))
      return false;
  for (uint32_t i = 0; i < fragment->repeatCount; ++i)
    if (!tileLayoutAppendRepeat(&rows, fragment->repeats[i], error))
      return false;
  *result = rows;
  return true;
}

// Rows lie together if the access by rows is whole rows, each in the order of its registers.
static bool areRowsWhole(const TileMatrixAccess *plan, TileError *error) {
  bool whole = plan->rows.vectorBits == plan->rowBits;
  for (uint32_t i = 0; whole && i < plan->rowBits; ++i)
    whole = plan->rows.slotStep[i] == 1u << i;
  return whole || tileErrorSet(error, 0, 0, "rows of 16 bytes do not lie together in the buffer");
}

static bool planOne(const TileLayout *fragment, const TileLayout *memory, const int64_t *shape, uint32_t rank,
                    uint32_t elementBytes, bool transposed, TileMatrixAccess *plan, TileError *error) {
  Parts parts;
  TileLayout rows;
  TileAccessLimits limits = {.elementBytes = elementBytes, .vectorBytes = 16};
  if (!partsOf(fragment, elementBytes, transposed, &parts, error) ||
      !tileMatrixRows(fragment, elementBytes, transposed, &rows, error))
    return false;
  *plan = (TileMatrixAccess){.transposed = transposed, .matrixBits = parts.matrixBits, .slotBits = parts.slotBits};
  plan->rowBits = parts.rowBits;
  plan->fragmentBits = fragment->bits[TileLayoutReg];
  if (!tileAccessPlan(&rows, memory, shape, rank, &limits, &plan->rows, error) || !areRowsWhole(plan, error))
    return false;
  for (uint32_t i = 0; i < parts.slotBits; ++i)
    plan->slotStep[i] = 1u << i;
  for (uint32_t i = 0; i < parts.matrixBits; ++i)
    plan->matrixStep[i] = 1u << (parts.slotBits + i);
  for (uint32_t i = 0; parts.slotBits + parts.matrixBits + i < plan->fragmentBits; ++i)
    plan->registerStep[i] = 1u << (parts.slotBits + parts.matrixBits + i);
  return true;
}

bool tileMatrixAccessPlan(const TileLayout *fragment, const TileLayout *memory, const int64_t *shape, uint32_t rank,
                          uint32_t elementBytes, TileMatrixAccess *plan, TileError *error) {
  return planOne(fragment, memory, shape, rank, elementBytes, false, plan, error) ||
         planOne(fragment, memory, shape, rank, elementBytes, true, plan, error);
}

uint32_t tileMatrixRegister(const TileMatrixAccess *plan, uint32_t n, uint32_t matrix, uint32_t slot) {
  uint32_t row = tileAccessRegister(&plan->rows, n, 0), result = 0;
  for (uint32_t i = 0; i < plan->slotBits; ++i)
    result ^= slot >> i & 1 ? plan->slotStep[i] : 0;
  for (uint32_t i = 0; i < plan->matrixBits; ++i)
    result ^= matrix >> i & 1 ? plan->matrixStep[i] : 0;
  for (uint32_t bit = plan->rowBits; bit < plan->rows.registerBits; ++bit)
    result ^= row >> bit & 1 ? plan->registerStep[bit - plan->rowBits] : 0;
  return result | row >> plan->rows.registerBits << plan->fragmentBits;
}
