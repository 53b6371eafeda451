// Conversions within a warp, as turns, shuffles and turns. See convert.h for what these steps are.
// How: result(r, t) = source(P(r, t)) with P linear. P is chosen so that as much as possible stays in its thread, then
// factored as P = U(X) S U(Y): U(Y) XORs registers by a function Y of the thread, S reads a fixed register of a lane
// that is linear in register and thread, U(X) XORs again at the source. S exists as soon as the lanes that the threads
// read tell all threads apart that read different registers; Y is the smallest correction that makes it so (at most the
// rank that the lanes lack), X then follows. docs/layouts.md has the proof. Cost: a few eliminations of 64 bits.
#include "lib/layout/warp_exchange.h"

#include <string.h>

#include "lib/layout/bit_matrix.h"

// Vectors are source indices: registers lowest, then the thread (lane, warp). `from` and `to` are coordinates.
typedef struct {
  uint32_t registers, lanes, warps;    // bits of the source
  uint32_t results;                    // register bits of the result
  uint64_t from[64], to[64], pull[64]; // columns: registers, lanes, warps
  uint64_t kernel[64];                 // source indices that hold what index 0 holds
  uint32_t kernelCount;
  uint64_t turnX[64], turnY[64]; // per bit of the thread: XOR of the register
} Exchange;

void tileExchangeColumns(const TileLayout *layout, const uint32_t *width, uint64_t *columns) {
  for (uint32_t i = 0, bits = tileLayoutBitCount(layout); i < bits; ++i) {
    uint32_t first = 0;
    columns[i] = 0;
    for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; first += width[axis++])
      columns[i] |= width[axis] ? (uint64_t)layout->steps[i].at[axis] << first : 0;
  }
}

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
    moved |= plan->laneStep[i] ^ (i < plan->laneBits ? 1u << i : 0);
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

bool tileExchangePlan(const TileLayout *from, const TileLayout *to, uint32_t shuffleBits, uint32_t elementBits,
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
  tileExchangeColumns(from, width, exchange.from);
  tileExchangeColumns(to, width, exchange.to);
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
