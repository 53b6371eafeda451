// Planning vector accesses and counting bank conflicts. See access.h.
// How: composed with the memory's inverse, the layout of values says at which offset each register of each thread lies;
// a vector is a set of registers whose offsets are the numbers from 0 on, which is a question of span over GF(2).
#include "lib/layout/access.h"

#include "lib/layout/algebra.h"
#include "lib/layout/bit_matrix.h"
#include "lib/support/integer.h"

#include <string.h>

//===--- accesses by element --------------------------------------------------===//

// The dimensions after reg are one index, the thread; blocks have a memory each, so they do not count.
static void fillSteps(const TileLayout *place, TileAccess *access) {
  access->registerBits = place->bits[TileLayoutReg];
  access->threadBits = place->bits[TileLayoutLane] + place->bits[TileLayoutWarp];
  for (uint32_t i = 0; i < access->registerBits; ++i)
    access->registerStep[i] = place->steps[i].at[TileLayoutOffset];
  for (uint32_t i = 0; i < access->threadBits; ++i)
    access->threadStep[i] = place->steps[access->registerBits + i].at[TileLayoutOffset];
  for (uint32_t i = 0; i < place->repeatCount; ++i) {
    access->digitSize[i] = place->repeats[i].count;
    access->digitStep[i] = place->repeats[i].axis == TILE_LAYOUT_COPIES ? 0 : place->repeats[i].stride;
  }
  access->digitCount = place->repeatCount;
}

// Threads whose steps others can make already hold copies.
static void fillCopies(TileAccess *access) {
  TileBitSpan span = {.size = 0};
  for (uint32_t i = 0; i < access->registerBits; ++i) {
    tileBitSpanAdd(&span, access->registerStep[i]);
    access->copyMask |= access->registerStep[i] ? 0 : 1u << i;
  }
  for (uint32_t i = 0; i < access->threadBits; ++i)
    access->ownerMask |= tileBitSpanAdd(&span, access->threadStep[i]) ? 0 : 1u << i;
}

// log2 of the widest vector that every thread and every odd factor leaves aligned.
static uint32_t alignedBits(const TileAccess *access, uint32_t most) {
  uint64_t used = (uint64_t)access->padAmount | access->padEvery;
  for (uint32_t i = 0; i < access->threadBits; ++i)
    used |= access->threadStep[i];
  for (uint32_t i = 0; i < access->digitCount; ++i)
    used |= access->digitStep[i];
  return used ? tessera_min(most, (uint32_t)__builtin_ctzll(used)) : most;
}

static void fillSlots(TileAccess *access, uint32_t most) {
  TileBitMatrix steps = {.rows = 64, .columns = access->registerBits};
  TileBitSpan slots = {.size = 0};
  uint32_t fixed = access->copyMask;
  uint64_t recipe;
  for (uint32_t i = 0; i < access->registerBits; ++i)
    steps.column[i] = access->registerStep[i];
  for (; access->vectorBits < most; ++access->vectorBits) {
    if (!tileBitMatrixSolve(&steps, UINT64_C(1) << access->vectorBits, &recipe))
      break;
    access->slotStep[access->vectorBits] = (uint32_t)recipe;
    tileBitSpanAdd(&slots, recipe);
  }
  for (uint32_t i = 0; i < access->registerBits; ++i)
    fixed |= slots.value[i] ? 1u << i : 0;
  access->registerMask = (uint32_t)((UINT64_C(1) << access->registerBits) - 1) & ~fixed;
}

bool tileAccessPlanByInverse(const TileLayout *values, const TileLayout *memory, const TileLayout *inverse,
                             const TileAccessLimits *limits, TileAccess *access, TileError *error) {
  TileLayout place;
  if (!tileLayoutCompose(inverse, values, &place, error))
    return false;
  *access = (TileAccess){.padAmount = memory->padAmount, .padEvery = memory->padEvery};
  fillSteps(&place, access);
  fillCopies(access);
  fillSlots(access, alignedBits(access, tessera_log2(limits->vectorBytes / limits->elementBytes)));
  access->count = 1u << __builtin_popcount(access->registerMask);
  for (uint32_t i = 0; i < access->digitCount; ++i)
    access->count *= access->digitSize[i];
  return true;
}

bool tileAccessPlan(const TileLayout *values, const TileLayout *memory, const int64_t *shape, uint32_t rank,
                    const TileAccessLimits *limits, TileAccess *access, TileError *error) {
  TileLayout inverse;
  return tileLayoutCovers(values, shape, rank, NULL, error) &&
         tileLayoutRightInverse(memory, shape, rank, &inverse, error) &&
         tileAccessPlanByInverse(values, memory, &inverse, limits, access, error);
}

// Spreads the low bits of n over the set bits of the mask; what is left of n are the odd digits.
static uint32_t spread(uint32_t mask, uint32_t *n) {
  uint32_t spreaded = 0;
  for (; mask; mask &= mask - 1, *n >>= 1)
    spreaded |= *n & 1 ? mask & -mask : 0;
  return spreaded;
}

static uint64_t combine(const uint64_t *steps, uint32_t index) {
  uint64_t sum = 0;
  for (; index; index &= index - 1)
    sum ^= steps[__builtin_ctz(index)];
  return sum;
}

uint32_t tileAccessRegister(const TileAccess *access, uint32_t n, uint32_t slot) {
  uint32_t base = spread(access->registerMask, &n);
  // The base register may itself lie inside its vector: slots count from the vector's beginning.
  slot ^= (uint32_t)combine(access->registerStep, base) & ((1u << access->vectorBits) - 1);
  uint32_t result = base;
  for (uint32_t i = 0; i < access->vectorBits; ++i)
    result ^= slot >> i & 1 ? access->slotStep[i] : 0;
  return result | n << access->registerBits;
}

void tileAccessOffsetParts(const TileAccess *access, uint32_t n, uint64_t *linear, uint64_t *odd) {
  uint32_t base = spread(access->registerMask, &n);
  *linear = combine(access->registerStep, base) >> access->vectorBits << access->vectorBits;
  *odd = 0;
  for (uint32_t i = 0; i < access->digitCount; n /= access->digitSize[i++])
    *odd += n % access->digitSize[i] * access->digitStep[i];
}

uint64_t tileAccessOffset(const TileAccess *access, uint32_t n, uint32_t thread) {
  uint64_t linear, odd;
  tileAccessOffsetParts(access, n, &linear, &odd);
  uint64_t offset = (linear ^ combine(access->threadStep, thread)) + odd;
  return access->padEvery ? offset + offset / access->padEvery * access->padAmount : offset;
}

// Lanes that one row of banks serves.
static uint32_t phaseLanes(const TileAccess *access, uint32_t lanes, const TileAccessLimits *limits) {
  uint32_t bytes = limits->elementBytes << access->vectorBits;
  uint32_t served = limits->banks * limits->bankBytes / (bytes > limits->bankBytes ? bytes : limits->bankBytes);
  return served < 1 ? 1 : tessera_min(served, lanes);
}

// Linear memory: the words of a phase are a subspace, and each bank gives equally many of them.
static uint32_t conflictsByRank(const TileAccess *access, uint32_t lanes, const TileAccessLimits *limits) {
  TileBitSpan words = {.size = 0}, banks = {.size = 0};
  uint32_t phaseBits = tessera_min(tessera_log2(lanes), access->threadBits);
  for (uint32_t i = 0; i < phaseBits + access->vectorBits; ++i) {
    uint64_t offset = i < phaseBits ? access->threadStep[i] : UINT64_C(1) << (i - phaseBits);
    uint64_t word = offset * limits->elementBytes / limits->bankBytes;
    tileBitSpanAdd(&words, word);
    tileBitSpanAdd(&banks, word % limits->banks);
  }
  return (1u << (words.size - banks.size)) - 1;
}

enum { MOST_WORDS = 256 };

// Any memory: the words of one phase, each once, counted bank by bank.
static uint32_t conflictsByCount(const TileAccess *access, uint32_t n, uint32_t firstLane, uint32_t lanes,
                                 const TileAccessLimits *limits) {
  uint64_t words[MOST_WORDS];
  uint32_t count = 0, most = 0, perLane = (limits->elementBytes << access->vectorBits) / limits->bankBytes;
  for (uint32_t i = 0; i < lanes * (perLane ? perLane : 1); ++i) {
    uint32_t lane = firstLane + i % lanes, seen = 0;
    uint64_t word = tileAccessOffset(access, n, lane) * limits->elementBytes / limits->bankBytes + i / lanes;
    while (seen < count && words[seen] != word)
      ++seen;
    if (seen == count && count < MOST_WORDS)
      words[count++] = word;
  }
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t same = 0;
    for (uint32_t j = 0; j < count; ++j)
      same += words[j] % limits->banks == words[i] % limits->banks;
    most = same > most ? same : most;
  }
  return most - 1;
}

TileAccessTraffic tileAccessTraffic(const TileAccess *access, uint32_t lanes, const TileAccessLimits *limits) {
  TileAccessTraffic traffic = {.instructions = access->count, .phases = access->count};
  if (!limits->banks)
    return traffic;
  uint32_t served = phaseLanes(access, lanes, limits), phases = lanes / served;
  traffic.phases *= phases;
  if (!access->padEvery) {
    traffic.worst = conflictsByRank(access, served, limits);
    traffic.conflicts = traffic.phases * traffic.worst;
    return traffic;
  }
  for (uint32_t n = 0; n < access->count; ++n)
    for (uint32_t phase = 0; phase < phases; ++phase) {
      uint32_t found = conflictsByCount(access, n, phase * served, served, limits);
      traffic.conflicts += found;
      traffic.worst = found > traffic.worst ? found : traffic.worst;
    }
  return traffic;
}

// log2 of the largest power of two that divides the value and is at most 2^most; 0 divides by all.
static uint32_t dividing(uint64_t value, uint32_t most) {
  return value ? tessera_min(most, (uint32_t)__builtin_ctzll(value)) : most;
}

// Whether a step is one element along the axis times 2^bit, and nothing else.
static bool isUnit(const TileLayoutPoint *step, uint32_t axis, uint32_t bit) {
  for (uint32_t i = 0; i < TILE_LAYOUT_MAX_AXES; ++i)
    if (step->at[i] != (i == axis ? 1u << bit : 0))
      return false;
  return true;
}

uint32_t tileAccessWidest(const TileLayout *values, const TileMemoryFacts *facts, const TileAccessLimits *limits,
                          uint32_t *slotStep) {
  uint32_t width = dividing(facts->bound, tessera_log2(limits->vectorBytes / limits->elementBytes)), found = 0,
           taken = 0;
  uint64_t elements = facts->alignment / limits->elementBytes;
  width = facts->alignment % limits->elementBytes || !elements ? 0 : dividing(elements, width);
  for (uint32_t i = 0; i < values->repeatCount; ++i)
    if (values->repeats[i].axis == (int32_t)facts->axis)
      width = dividing(values->repeats[i].stride, width);
  for (; found < width; ++found) {
    uint32_t reg = 0;
    while (reg < values->bits[TileLayoutReg] && !isUnit(&values->steps[reg], facts->axis, found))
      ++reg;
    if (reg == values->bits[TileLayoutReg])
      break;
    taken |= 1u << reg;
    if (slotStep)
      slotStep[found] = 1u << reg;
  }
  // Every other step must leave the vector whole: any bit below the width in one cuts it there.
  for (uint32_t i = 0, bits = tileLayoutBitCount(values); i < bits; ++i)
    if (i >= values->bits[TileLayoutReg] || !(taken >> i & 1))
      found = dividing(values->steps[i].at[facts->axis], found);
  return 1u << found;
}

int64_t tileLayoutStrideAlong(const TileLayout *layout, uint32_t axis) {
  TileError error;
  TileLayout inverse;
  int64_t extents[TILE_LAYOUT_MAX_AXES], stride = 0;
  uint32_t rank = tileLayoutRank(layout);
  for (uint32_t a = 0; a < rank; ++a)
    extents[a] = (int64_t)tileLayoutExtent(layout, a);
  if (axis >= rank || extents[axis] == 1 || !tileLayoutRightInverse(layout, extents, rank, &inverse, &error))
    return axis >= rank || extents[axis] == 1;
  for (int64_t at = 1; at < extents[axis]; ++at) {
    TileLayoutPoint point = {{0}};
    point.at[axis] = (uint32_t)at;
    int64_t offset = (int64_t)tileLayoutPaddedOffset(layout, tileLayoutApply(&inverse, point).at[0]);
    stride = at == 1 ? offset : stride;
    if (offset != at * stride)
      return 0;
  }
  return stride;
}

//===--- matrices of rows -----------------------------------------------------===//

// How: a row's 16 bytes are a word's elements and four words. Plain, those are the lowest registers and lane bits 0 and
// 1, rows are lane bits 2 to 4; transposed, columns are lane bits 2 to 4 and rows a register and lane bits 0 and 1.
// Which register bits make a word is not the fragment's to say: the lowest ones do, as in every mma's operands.

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
