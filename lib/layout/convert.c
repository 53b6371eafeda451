// Choosing the plan of a conversion: nothing, registers, shuffles or shared memory. See convert.h; the layout of the
// shared memory is in swizzle.c.
// Cost model: cycles of one core for a block, every warp issuing one instruction a cycle. A shuffle or a wavefront of
//   shared memory moves one row of banks a cycle; selects issue twice as fast; a barrier is some 16 cycles of waiting.
//   The rates are those of NVIDIA's "Throughput of Native Arithmetic Instructions" (32 shuffles, 64 selects a cycle).
// Expects: any two layouts of values. Leaves: a plan, or the reason why there is none.
#include "lib/layout/convert.h"

#include "lib/layout/algebra.h"
#include "lib/layout/bit_matrix.h"

#include <inttypes.h>
#include <string.h>

//===--- exchange within a warp -----------------------------------------------===//

// How: result(r, t) = source(P(r, t)) with P linear. P is chosen so that as much as possible stays in its thread, then
// factored as P = U(X) S U(Y): U(Y) XORs registers by a function Y of the thread, S reads a fixed register of a lane
// that is linear in register and thread, U(X) XORs again at the source. S exists as soon as the lanes that the threads
// read tell all threads apart that read different registers; Y is the smallest correction that makes it so (at most the
// rank that the lanes lack), X then follows. docs/layouts.md has the proof. Cost: a few eliminations of 64 bits.

// Vectors are source indices: registers lowest, then the thread (lane, warp). `from` and `to` are coordinates.
typedef struct {
  uint32_t registers, lanes, warps;    // bits of the source
  uint32_t results;                    // register bits of the result
  uint64_t from[64], to[64], pull[64]; // columns: registers, lanes, warps
  uint64_t kernel[64];                 // source indices that hold what index 0 holds
  uint32_t kernelCount;
  uint64_t turnX[64], turnY[64]; // per bit of the thread: XOR of the register
} Exchange;

static uint32_t threadBits(const Exchange *exchange) { return exchange->lanes + exchange->warps; }

static uint64_t threadOf(const Exchange *exchange, uint64_t index) { return index >> exchange->registers; }

static uint64_t registerOf(const Exchange *exchange, uint64_t index) {
  return index & ((UINT64_C(1) << exchange->registers) - 1);
}

// The columns of registers, or of registers and lanes, as a matrix: solutions are source indices.
static TileBitMatrix sourceOf(const Exchange *exchange, bool lanes) {
  TileBitMatrix matrix = {.rows = 64, .columns = exchange->registers + (lanes ? exchange->lanes : 0)};
  memcpy(matrix.column, exchange->from, matrix.columns * sizeof matrix.column[0]);
  return matrix;
}

static void findKernel(Exchange *exchange) {
  TileBitMatrix seen = {.rows = 64};
  for (uint32_t i = 0; i < exchange->registers + exchange->lanes; ++i) {
    uint64_t recipe;
    // Dependent columns stay in the matrix: a recipe uses independent ones only, and bit numbers stay source bits.
    if (tileBitMatrixSolve(&seen, exchange->from[i], &recipe))
      exchange->kernel[exchange->kernelCount++] = recipe | UINT64_C(1) << i;
    seen.column[seen.columns++] = exchange->from[i];
  }
}

// P, preferring the own thread, then the own warp. A warp bit must stay what it is.
static bool choosePull(Exchange *exchange) {
  TileBitMatrix own = sourceOf(exchange, false), warp = sourceOf(exchange, true);
  for (uint32_t i = 0; i < exchange->results + threadBits(exchange); ++i) {
    bool isRegister = i < exchange->results;
    uint32_t thread = i - exchange->results;
    uint64_t stay = isRegister ? 0 : UINT64_C(1) << (exchange->registers + thread);
    uint64_t there = isRegister ? 0 : exchange->from[exchange->registers + thread];
    if (tileBitMatrixSolve(&own, exchange->to[i] ^ there, &exchange->pull[i])) {
      exchange->pull[i] |= stay;
      continue;
    }
    if (!isRegister && thread < exchange->lanes)
      stay = there = 0;
    if (!tileBitMatrixSolve(&warp, exchange->to[i] ^ there, &exchange->pull[i]))
      return false;
    exchange->pull[i] |= stay;
  }
  return true;
}

// What the threads read so far: an echelon by the thread read, each entry with its register.
typedef struct {
  uint64_t value[64];
} Readers;

static uint64_t reduceReader(const Exchange *exchange, const Readers *readers, uint64_t index) {
  for (uint64_t rest = threadOf(exchange, index); rest;) {
    uint32_t bit = 63u - (uint32_t)__builtin_clzll(rest);
    index ^= readers->value[bit];
    rest = threadOf(exchange, index) & ((UINT64_C(1) << bit) - 1);
  }
  return index;
}

static bool addReader(const Exchange *exchange, Readers *readers, uint64_t index) {
  index = reduceReader(exchange, readers, index);
  uint64_t thread = threadOf(exchange, index);
  if (!thread)
    return false;
  readers->value[63 - __builtin_clzll(thread)] = index;
  return true;
}

// A thread bit whose reads fall on lanes that others read already, but on other registers: let it read another result
// register first (turned back afterwards), or a copy of the element elsewhere.
static bool correctReader(Exchange *exchange, Readers *readers, uint32_t thread) {
  uint64_t *index = &exchange->pull[exchange->results + thread];
  for (uint32_t i = 0; i < exchange->results; ++i)
    if (threadOf(exchange, reduceReader(exchange, readers, *index ^ exchange->pull[i]))) {
      exchange->turnY[thread] = UINT64_C(1) << i;
      return addReader(exchange, readers, *index ^ exchange->pull[i]);
    }
  for (uint32_t i = 0; i < exchange->kernelCount; ++i)
    if (threadOf(exchange, reduceReader(exchange, readers, *index ^ exchange->kernel[i]))) {
      *index ^= exchange->kernel[i];
      return addReader(exchange, readers, *index);
    }
  return false;
}

// A thread bit that reads what some register and other threads read together is a copy: the turn makes it one.
static bool isCopy(Exchange *exchange, const Readers *readers, uint32_t thread) {
  TileBitMatrix known = {.rows = 64};
  uint64_t recipe;
  memcpy(known.column, exchange->pull, exchange->results * sizeof known.column[0]);
  known.columns = exchange->results;
  for (uint32_t i = 0; i < threadBits(exchange); ++i)
    if (readers->value[i])
      known.column[known.columns++] = readers->value[i];
  if (!tileBitMatrixSolve(&known, exchange->pull[exchange->results + thread], &recipe))
    return false;
  exchange->turnY[thread] = recipe & ((UINT64_C(1) << exchange->results) - 1);
  return true;
}

// Y. First the threads that are told apart as they are, so that few need a correction.
static bool chooseReaders(Exchange *exchange, Readers *readers) {
  uint64_t deferred = 0;
  for (uint32_t i = threadBits(exchange); i-- > 0;) {
    uint64_t index = exchange->pull[exchange->results + i];
    bool fine = addReader(exchange, readers, index) || !reduceReader(exchange, readers, index);
    deferred |= fine ? 0 : UINT64_C(1) << i;
  }
  for (; deferred; deferred &= deferred - 1) {
    uint32_t thread = (uint32_t)__builtin_ctzll(deferred);
    if (reduceReader(exchange, readers, exchange->pull[exchange->results + thread]) &&
        !isCopy(exchange, readers, thread) && !correctReader(exchange, readers, thread))
      return false;
  }
  return true;
}

// X: the register that each thread read is asked for, extended by 0 to threads that nobody reads.
static void chooseTurnX(Exchange *exchange, const Readers *readers) {
  for (uint32_t i = 0; i < threadBits(exchange); ++i) {
    uint64_t unit = UINT64_C(1) << (exchange->registers + i);
    exchange->turnX[i] = registerOf(exchange, reduceReader(exchange, readers, unit));
  }
}

static uint64_t turned(const uint64_t *turn, uint64_t thread) {
  uint64_t step = 0;
  for (; thread; thread &= thread - 1)
    step ^= turn[__builtin_ctzll(thread)];
  return step;
}

// A turn by thread as a few turns by parity, as many as its rank.
static uint32_t stagesOf(const uint64_t *turn, uint32_t threads, TileConversionTurn *stages) {
  TileBitMatrix steps = {.rows = 64};
  for (uint32_t i = 0; i < threads; ++i) {
    uint64_t recipe;
    if (!tileBitMatrixSolve(&steps, turn[i], &recipe)) {
      if (steps.columns == TILE_CONVERSION_MAX_TURNS)
        return TILE_CONVERSION_MAX_TURNS + 1;
      recipe = UINT64_C(1) << steps.columns;
      stages[steps.columns] = (TileConversionTurn){.step = (uint32_t)turn[i]};
      steps.column[steps.columns++] = turn[i];
    }
    for (uint32_t stage = 0; stage < steps.columns; ++stage)
      stages[stage].mask |= recipe >> stage & 1 ? 1u << i : 0;
  }
  return steps.columns;
}

// S: registers and lanes of the shuffle, with the turns taken out on both sides.
static void fillShuffle(const Exchange *exchange, TileConversion *plan) {
  for (uint32_t i = 0; i < exchange->results; ++i) {
    uint64_t thread = threadOf(exchange, exchange->pull[i]);
    plan->registerLane[i] = (uint32_t)thread;
    plan->registerStep[i] = (uint32_t)(registerOf(exchange, exchange->pull[i]) ^ turned(exchange->turnX, thread));
    plan->copyMask |= exchange->pull[i] ? 0 : 1u << i;
  }
  for (uint32_t i = 0; i < threadBits(exchange); ++i) {
    uint64_t index = exchange->pull[exchange->results + i];
    for (uint64_t y = exchange->turnY[i]; y; y &= y - 1)
      index ^= exchange->pull[__builtin_ctzll(y)];
    plan->laneStep[i] = (uint32_t)threadOf(exchange, index) & ((1u << exchange->lanes) - 1);
  }
}

static bool staysInThread(const TileConversion *plan) {
  uint32_t moved = 0;
  for (uint32_t i = 0; i < plan->registerBits; ++i)
    moved |= plan->registerLane[i];
  for (uint32_t i = 0; i < plan->laneBits + plan->warpBits; ++i)
    moved |= (uint32_t)plan->laneStep[i] ^ (i < plan->laneBits ? 1u << i : 0);
  return !moved;
}

// Result registers that read the same lane may share a shuffle: combinations of register bits whose lanes cancel.
static void fillWords(TileConversion *plan, uint32_t most) {
  TileBitMatrix lanes = {.rows = 64};
  uint32_t source[64];
  for (uint32_t i = 0; i < plan->registerBits && plan->wordBits < most; ++i) {
    uint64_t recipe;
    if (plan->copyMask >> i & 1)
      continue;
    if (tileBitMatrixSolve(&lanes, plan->registerLane[i], &recipe)) {
      uint32_t step = 1u << i;
      for (; recipe; recipe &= recipe - 1)
        step ^= 1u << source[__builtin_ctzll(recipe)];
      plan->wordStep[plan->wordBits++] = step;
    }
    // Also dependent columns, so that numbers stay in step; a recipe never uses them.
    source[lanes.columns] = i;
    lanes.column[lanes.columns++] = plan->registerLane[i];
  }
}

static void fillDigits(const TileLayout *from, const TileLayout *to, TileConversion *plan) {
  plan->registerBits = to->bits[TileLayoutReg];
  plan->sourceBits = from->bits[TileLayoutReg];
  plan->digitCount = to->repeatCount;
  plan->sourceDigitCount = from->repeatCount;
  memcpy(plan->digits, to->repeats, sizeof plan->digits);
  memcpy(plan->sourceDigits, from->repeats, sizeof plan->sourceDigits);
}

static bool isIdentity(const TileConversion *plan) {
  bool same = plan->registerBits == plan->sourceBits && plan->digitCount == plan->sourceDigitCount;
  for (uint32_t r = 0; same && r < plan->resultRegisters; ++r)
    same = tileConversionSourceRegister(plan, r) == r;
  return same;
}

// Fills the plan's fields for registers and shuffles, kind included; false if an element would have to change warps.
// Expects equally many lanes and warps, and that both layouts cover one shape.
static bool planExchange(const TileLayout *from, const TileLayout *to, uint32_t shuffleBits, uint32_t elementBits,
                         TileConversion *plan) {
  Exchange exchange = {.registers = from->bits[TileLayoutReg], .lanes = from->bits[TileLayoutLane]};
  Readers readers = {{0}};
  uint32_t width[TILE_LAYOUT_MAX_AXES], perWord = elementBits < shuffleBits ? shuffleBits / elementBits : 1;
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis) {
    uint32_t other = tileLayoutAxisWidth(to, axis);
    width[axis] = tileLayoutAxisWidth(from, axis);
    width[axis] = other > width[axis] ? other : width[axis];
  }
  exchange.warps = from->bits[TileLayoutWarp];
  exchange.results = to->bits[TileLayoutReg];
  tileLayoutColumns(from, width, exchange.from);
  tileLayoutColumns(to, width, exchange.to);
  findKernel(&exchange);
  fillDigits(from, to, plan);
  if (!choosePull(&exchange) || !chooseReaders(&exchange, &readers))
    return false;
  chooseTurnX(&exchange, &readers);
  plan->beforeCount = stagesOf(exchange.turnX, threadBits(&exchange), plan->before);
  plan->afterCount = stagesOf(exchange.turnY, threadBits(&exchange), plan->after);
  if (plan->beforeCount > TILE_CONVERSION_MAX_TURNS || plan->afterCount > TILE_CONVERSION_MAX_TURNS)
    return false;
  fillShuffle(&exchange, plan);
  bool inThread = staysInThread(plan);
  plan->kind = !inThread || plan->beforeCount + plan->afterCount ? TileConversionShuffles : TileConversionRegisters;
  if (plan->kind == TileConversionRegisters && isIdentity(plan))
    plan->kind = TileConversionNone;
  fillWords(plan, inThread ? 0 : (uint32_t)__builtin_ctz(perWord));
  return true;
}

//===--- the plan -------------------------------------------------------------===//

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
    moved |= (uint32_t)plan->laneStep[i] ^ (i < plan->laneBits ? 1u << i : 0);
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
  limits.isOfRegisters = true;
  scratch->elementBytes = limits.elementBytes;
  TileLayout inverse;
  if (!tileLayoutSwizzle(from, to, shape, rank, &limits, &scratch->memory, error) ||
      !tileLayoutRightInverse(&scratch->memory, shape, rank, &inverse, error) ||
      !tileAccessPlanByInverse(from, &scratch->memory, &inverse, &limits, &scratch->store, error) ||
      !tileAccessPlanByInverse(to, &scratch->memory, &inverse, &limits, &scratch->load, error))
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
  bool stays = planExchange(from, to, target->shuffleBits, packedBits, &within);
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
