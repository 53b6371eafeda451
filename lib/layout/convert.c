// Choosing the plan of a conversion. See convert.h; registers and shuffles are in warp_exchange.c, memory in swizzle.c.
// Cost model: cycles of one core for a block, every warp issuing one instruction a cycle. A shuffle or a wavefront of
//   shared memory moves one row of banks a cycle; selects issue twice as fast; a barrier is some 16 cycles of waiting.
//   The rates are those of NVIDIA's "Throughput of Native Arithmetic Instructions" (32 shuffles, 64 selects a cycle).
// Expects: any two layouts of values. Leaves: a plan, or the reason why there is none.
#include "lib/layout/convert.h"

#include <inttypes.h>
#include <string.h>

#include "lib/layout/warp_exchange.h"

static const double SELECT_CYCLES = 0.5, BARRIER_CYCLES = 16.0;

const char *tileConversionKindName(TileConversionKind kind) {
  static const char *const names[] = {"none", "registers", "shuffles", "shared"};
  return names[kind];
}

static uint32_t combine(const uint32_t *steps, uint32_t index) {
  uint32_t sum = 0;
  for (; index; index &= index - 1)
    sum ^= steps[__builtin_ctz(index)];
  return sum;
}

static uint32_t linearPart(const TileConversion *plan, uint32_t reg) {
  return reg & (uint32_t)((UINT64_C(1) << plan->registerBits) - 1);
}

// The digits of the result register place it on its axes; the source's digits are read off those places. `widths` of
// the axes need not be known: strides are multiples of the first stride of their axis on either side.
static uint32_t sourceDigits(const TileConversion *plan, uint32_t digits) {
  uint64_t place[TILE_LAYOUT_MAX_AXES] = {0};
  uint32_t result = 0, weight = 1;
  for (uint32_t i = 0; i < plan->digitCount; digits /= plan->digits[i++].count)
    if (plan->digits[i].axis != TILE_LAYOUT_COPIES)
      place[plan->digits[i].axis] += (uint64_t)(digits % plan->digits[i].count) * plan->digits[i].stride;
  for (uint32_t i = 0; i < plan->sourceDigitCount; weight *= plan->sourceDigits[i++].count)
    if (plan->sourceDigits[i].axis != TILE_LAYOUT_COPIES)
      result +=
          (uint32_t)(place[plan->sourceDigits[i].axis] / plan->sourceDigits[i].stride % plan->sourceDigits[i].count) *
          weight;
  return result;
}

uint32_t tileConversionSourceRegister(const TileConversion *plan, uint32_t resultRegister) {
  return combine(plan->registerStep, linearPart(plan, resultRegister)) |
         sourceDigits(plan, resultRegister >> plan->registerBits) << plan->sourceBits;
}

uint32_t tileConversionLaneXor(const TileConversion *plan, uint32_t resultRegister) {
  return combine(plan->registerLane, linearPart(plan, resultRegister));
}

bool tileConversionIsOwn(const TileConversion *plan, uint32_t resultRegister) {
  uint32_t moved = tileConversionLaneXor(plan, resultRegister);
  for (uint32_t i = 0; i < plan->laneBits + plan->warpBits; ++i)
    moved |= plan->laneStep[i] ^ (i < plan->laneBits ? 1u << i : 0);
  return !moved;
}

// Register bits that number the words: those that neither copy nor lead a slot (its highest bit, as slots are made).
static uint32_t wordMask(const TileConversion *plan) {
  uint32_t mask = (uint32_t)((UINT64_C(1) << plan->registerBits) - 1) & ~plan->copyMask;
  for (uint32_t i = 0; i < plan->wordBits; ++i)
    mask &= ~(1u << (31 - __builtin_clz(plan->wordStep[i])));
  return mask;
}

uint32_t tileConversionWordCount(const TileConversion *plan) {
  return (plan->resultRegisters >> plan->registerBits) << __builtin_popcount(wordMask(plan));
}

uint32_t tileConversionWordRegister(const TileConversion *plan, uint32_t word, uint32_t slot) {
  uint32_t reg = combine(plan->wordStep, slot);
  for (uint32_t mask = wordMask(plan); mask; mask &= mask - 1, word >>= 1)
    reg ^= word & 1 ? mask & -mask : 0;
  return reg | word << plan->registerBits;
}

// Prices.

static uint32_t shuffleWavefronts(const TileConversion *plan, const TileConversionTarget *target) {
  uint32_t row = target->shared.banks * target->shared.bankBytes;
  uint32_t bytes = (1u << plan->laneBits) * target->shuffleBits / 8;
  return row && bytes > row ? bytes / row : 1;
}

static void priceExchange(const TileConversionTarget *target, TileConversion *plan) {
  TileConversionCost *cost = &plan->cost;
  uint32_t parts =
      target->elementBits > target->shuffleBits && target->shuffleBits ? target->elementBits / target->shuffleBits : 1;
  for (uint32_t word = 0, count = tileConversionWordCount(plan); word < count; ++word)
    if (!tileConversionIsOwn(plan, tileConversionWordRegister(plan, word, 0)))
      cost->shuffles += parts;
  cost->moves = plan->kind == TileConversionNone ? 0 : plan->resultRegisters;
  cost->selects = parts * (plan->beforeCount * plan->sourceRegisters + plan->afterCount * plan->resultRegisters);
  cost->cycles = (double)(1u << plan->warpBits) *
                 (cost->shuffles * shuffleWavefronts(plan, target) + cost->selects * SELECT_CYCLES);
}

static void priceShared(const TileAccessLimits *limits, TileConversion *plan) {
  TileConversionCost *cost = &plan->cost;
  TileAccessTraffic store = tileAccessTraffic(&plan->shared.store, 1u << plan->laneBits, limits);
  TileAccessTraffic load = tileAccessTraffic(&plan->shared.load, 1u << plan->laneBits, limits);
  cost->stores = (uint32_t)store.instructions;
  cost->loads = (uint32_t)load.instructions;
  cost->conflicts = (uint32_t)(store.conflicts + load.conflicts);
  cost->wavefronts = (uint32_t)(store.phases + load.phases) + cost->conflicts;
  cost->barriers = 2;
  cost->cycles = (double)(1u << plan->warpBits) * cost->wavefronts + cost->barriers * BARRIER_CYCLES;
}

static bool planShared(const TileLayout *from, const TileLayout *to, const int64_t *shape, uint32_t rank,
                       const TileConversionTarget *target, TileConversion *plan, TileError *error) {
  TileAccessLimits limits = target->shared;
  TileConversionScratch *scratch = &plan->shared;
  limits.elementBytes = target->elementBits <= 8 ? 1 : target->elementBits / 8;
  scratch->elementBytes = limits.elementBytes;
  if (!tileLayoutSwizzle(from, to, shape, rank, &limits, &scratch->memory, error) ||
      !tileAccessPlan(from, &scratch->memory, shape, rank, &limits, &scratch->store, error) ||
      !tileAccessPlan(to, &scratch->memory, shape, rank, &limits, &scratch->load, error))
    return false;
  scratch->bytes = tileLayoutPaddedSize(&scratch->memory) * limits.elementBytes;
  priceShared(&limits, plan);
  plan->kind = TileConversionShared;
  return true;
}

// Questions about the arguments.

static bool sameBlocks(const TileLayout *from, const TileLayout *to) {
  uint32_t before[2] = {tileLayoutBitCount(from), tileLayoutBitCount(to)}, bits = from->bits[TileLayoutBlock];
  return to->bits[TileLayoutBlock] == bits &&
         !memcmp(&from->steps[before[0] - bits], &to->steps[before[1] - bits], bits * sizeof from->steps[0]);
}

// Both reach equally far; `extents` receives how far.
static bool areEqual(const TileLayout *from, const TileLayout *to, const int64_t *shape, uint32_t rank,
                     int64_t *extents, TileError *error) {
  int64_t after[TILE_LAYOUT_MAX_AXES];
  if (!tileLayoutHolds(from, shape, rank, extents, error) || !tileLayoutHolds(to, shape, rank, after, error))
    return false;
  for (uint32_t axis = 0; axis < rank; ++axis)
    if (extents[axis] != after[axis])
      return tileErrorSet(error, 0, 0, "the layouts reach to %" PRId64 " and %" PRId64 " on axis %u", extents[axis],
                          after[axis], axis);
  return true;
}

static bool areConvertible(const TileLayout *from, const TileLayout *to, const int64_t *shape, uint32_t rank,
                           int64_t *extents, TileError *error) {
  if (from->kind != TileLayoutValues || to->kind != TileLayoutValues)
    return tileErrorSet(error, 0, 0, "a conversion needs two layouts of values");
  for (uint32_t dim = TileLayoutLane; dim <= TileLayoutWarp; ++dim)
    if (from->bits[dim] != to->bits[dim])
      return tileErrorSet(error, 0, 0, "the layouts have %" PRIu64 " and %" PRIu64 " positions of %s",
                          tileLayoutDimSize(from, dim), tileLayoutDimSize(to, dim),
                          tileLayoutDimName(TileLayoutValues, dim));
  if (!areEqual(from, to, shape, rank, extents, error))
    return false;
  return sameBlocks(from, to) || tileErrorSet(error, 0, 0, "the layouts place elements in different blocks");
}

bool tileConversionPlan(const TileLayout *from, const TileLayout *to, const int64_t *shape, uint32_t rank,
                        const TileConversionTarget *target, TileConversion *plan, TileError *error) {
  int64_t extents[TILE_LAYOUT_MAX_AXES]; // what is void travels along
  if (!areConvertible(from, to, shape, rank, extents, error))
    return false;
  TileConversion empty = {.laneBits = from->bits[TileLayoutLane], .warpBits = from->bits[TileLayoutWarp]};
  empty.sourceRegisters = (uint32_t)tileLayoutDimSize(from, TileLayoutReg);
  empty.resultRegisters = (uint32_t)tileLayoutDimSize(to, TileLayoutReg);
  TileConversion within = empty, shared = empty;
  uint32_t packedBits = target->elementBits < 8 ? 8 : target->elementBits;
  bool stays = tileExchangePlan(from, to, target->shuffleBits, packedBits, &within);
  stays = stays && (within.kind <= TileConversionRegisters || target->shuffleBits);
  if (stays)
    priceExchange(target, &within);
  if (stays && (within.cost.cycles == 0 || target->forbidShared)) {
    *plan = within;
    return true;
  }
  if (target->forbidShared)
    return tileErrorSet(error, 0, 0, "elements change warps, which needs shared memory");
  if (!planShared(from, to, extents, rank, target, &shared, error))
    return false;
  *plan = stays && within.cost.cycles <= shared.cost.cycles ? within : shared;
  return true;
}
