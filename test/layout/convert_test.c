// Conversions between layouts: plans are carried out by a small simulator of warps and of shared memory, on layouts
// with any steps, copies and odd factors, and must deliver the converted tile exactly. Swizzles are checked by counting
// the words that each bank gives, phase by phase, lane by lane.
#include "lib/layout/convert.h"

#include "test/layout/layouts.h"

enum { MOST_REGISTERS = 512, MOST_THREADS = 512, MOST_OFFSETS = 1 << 17 };

typedef struct {
  int64_t shape[3];
  uint32_t rank;
} Shape;

static uint32_t elementNumber(const TileLayout *layout, const Shape *shape, uint32_t reg, uint32_t thread) {
  uint32_t lanes = (uint32_t)tileLayoutDimSize(layout, TileLayoutLane), number = 0;
  TileLayoutPoint at = tileLayoutApply(layout, (TileLayoutPoint){{reg, thread % lanes, thread / lanes}});
  for (uint32_t axis = 0; axis < shape->rank; ++axis)
    number = number * (uint32_t)shape->shape[axis] + at.at[axis];
  return number;
}

// The machine: values of all registers of all threads of a block.
typedef struct {
  uint32_t value[MOST_THREADS][MOST_REGISTERS];
} Block;

static Block source, result;

static void turn(Block *block, const TileConversionTurn *turns, uint32_t count, uint32_t registers, uint32_t threads) {
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t t = 0; t < threads; ++t)
      for (uint32_t r = 0; __builtin_parity(t & turns[i].mask) && r < registers; ++r)
        if (r < (r ^ turns[i].step)) {
          uint32_t other = block->value[t][r ^ turns[i].step];
          block->value[t][r ^ turns[i].step] = block->value[t][r];
          block->value[t][r] = other;
        }
}

static void exchange(const TileConversion *plan, uint32_t threads) {
  uint32_t lanes = 1u << plan->laneBits;
  turn(&source, plan->before, plan->beforeCount, plan->sourceRegisters, threads);
  memset(&result, 0xff, sizeof result);
  for (uint32_t word = 0; word < tileConversionWordCount(plan); ++word)
    for (uint32_t slot = 0; slot < 1u << plan->wordBits; ++slot) {
      uint32_t r = tileConversionWordRegister(plan, word, slot), from = tileConversionSourceRegister(plan, r);
      CHECK(r < plan->resultRegisters && from < plan->sourceRegisters, "register %u from %u", r, from);
      CHECK(tileConversionLaneXor(plan, r) == tileConversionLaneXor(plan, tileConversionWordRegister(plan, word, 0)),
            "two lanes in one word");
      for (uint32_t t = 0; t < threads; ++t) {
        uint32_t lane = tileConversionLaneXor(plan, r);
        for (uint32_t i = 0; i < plan->laneBits + plan->warpBits; ++i)
          lane ^= t >> i & 1 ? (uint32_t)plan->laneStep[i] : 0;
        CHECK(lane < lanes, "lane %u", lane);
        CHECK(!tileConversionIsOwn(plan, r) || lane == t % lanes, "not its own lane");
        result.value[t][r] = source.value[t / lanes * lanes + lane][from];
      }
    }
  // Copies before the turns, which may exchange a copy with what it copies.
  for (uint32_t t = 0; t < threads; ++t)
    for (uint32_t r = 0; r < plan->resultRegisters; ++r)
      result.value[t][r] = result.value[t][r & ~plan->copyMask];
  turn(&result, plan->after, plan->afterCount, plan->resultRegisters, threads);
}

// The most words that one bank gives in one phase, minus one, summed over phases: numerics.md's definition, by hand.
static uint64_t countConflicts(const TileAccess *access, uint32_t lanes, const TileAccessLimits *limits) {
  uint32_t bytes = limits->elementBytes << access->vectorBits, word = limits->bankBytes;
  uint32_t served = limits->banks * word / (bytes > word ? bytes : word);
  uint64_t conflicts = 0;
  served = served > lanes ? lanes : served;
  for (uint32_t n = 0; n < access->count; ++n)
    for (uint32_t first = 0; first < lanes; first += served) {
      uint32_t most = 0;
      for (uint32_t bank = 0; bank < limits->banks; ++bank) {
        uint64_t seen[256];
        uint32_t count = 0;
        for (uint32_t lane = first; lane < first + served; ++lane)
          for (uint32_t byte = 0; byte < bytes; byte += word) {
            uint64_t at = (tileAccessOffset(access, n, lane) * limits->elementBytes + byte) / word;
            uint32_t i = 0;
            while (i < count && seen[i] != at)
              ++i;
            if (at % limits->banks == bank && i == count)
              seen[count++] = at;
          }
        most = count > most ? count : most;
      }
      conflicts += most - 1;
    }
  return conflicts;
}

static uint32_t memory[MOST_OFFSETS];

static void throughMemory(const TileConversion *plan, uint32_t threads) {
  const TileConversionScratch *scratch = &plan->shared;
  memset(memory, 0xee, sizeof memory);
  for (int load = 0; load < 2; ++load) {
    const TileAccess *access = load ? &scratch->load : &scratch->store;
    for (uint32_t n = 0; n < access->count; ++n)
      for (uint32_t t = 0; t < threads; ++t) {
        uint64_t offset = tileAccessOffset(access, n, t);
        CHECK(offset % (1u << access->vectorBits) == 0, "offset %u is not aligned", (uint32_t)offset);
        CHECK((offset + (1u << access->vectorBits)) * scratch->elementBytes <= scratch->bytes, "beyond the scratch");
        for (uint32_t slot = 0; slot < 1u << access->vectorBits; ++slot) {
          uint32_t r = tileAccessRegister(access, n, slot);
          if (load)
            result.value[t][r] = memory[offset + slot];
          else if (!(t & access->ownerMask))
            memory[offset + slot] = source.value[t][r];
        }
      }
  }
  for (uint32_t t = 0; t < threads; ++t)
    for (uint32_t r = 0; r < plan->resultRegisters; ++r)
      result.value[t][r] = result.value[t][r & ~scratch->load.copyMask];
}

static void carryOut(const TileLayout *from, const TileLayout *to, const Shape *shape, const TileConversion *plan) {
  uint32_t threads = 1u << (plan->laneBits + plan->warpBits), wrong = 0;
  for (uint32_t t = 0; t < threads; ++t)
    for (uint32_t r = 0; r < plan->sourceRegisters; ++r)
      source.value[t][r] = elementNumber(from, shape, r, t);
  memset(&result, 0xff, sizeof result);
  if (plan->kind == TileConversionShared)
    throughMemory(plan, threads);
  else
    exchange(plan, threads);
  for (uint32_t t = 0; t < threads; ++t)
    for (uint32_t r = 0; r < plan->resultRegisters; ++r)
      wrong += result.value[t][r] != elementNumber(to, shape, r, t);
  CHECK(!wrong, "%u wrong after %s: %s TO %s", wrong, tileConversionKindName(plan->kind), printed(from).text,
        printed(to).text);
}

static TileConversionTarget targetOf(uint32_t elementBits) {
  TileConversionTarget target = {.elementBits = elementBits, .shuffleBits = 32};
  target.shared = (TileAccessLimits){.elementBytes = 1, .vectorBytes = 16, .banks = 32, .bankBytes = 4};
  return target;
}

static TileConversion planned(const TileLayout *from, const TileLayout *to, const Shape *shape,
                              const TileConversionTarget *target) {
  TileConversion plan = {.kind = TileConversionNone};
  TileError error = {.text = ""};
  CHECK(tileConversionPlan(from, to, shape->shape, shape->rank, target, &plan, &error), "%s: %s TO %s", error.text,
        printed(from).text, printed(to).text);
  return plan;
}

static const struct {
  const char *from, *to;
  Shape shape;
  uint32_t elementBits;
  TileConversionKind kind;
  uint32_t shuffles, selects;
} known[] = {
    // Registers renamed; a fragment repeated in another order.
    {"reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]",
     "reg [2:d0*8, 2:d1], lane [4:d1*2, 8:d0]",
     {{16, 8}, 2},
     32,
     TileConversionRegisters,
     0,
     0},
    {"reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]",
     "reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]",
     {{16, 8}, 2},
     32,
     TileConversionNone,
     0,
     0},
    // The accumulator of one mma as the A operand of the next: no traffic (Flash attention's P).
    {"reg [2:d1, 2:d0*8, 2:d1*8], lane [4:d1*2, 8:d0]",
     "reg [2:d1, 2:d0*8, 2:d1*8], lane [4:d1*2, 8:d0]",
     {{16, 16}, 2},
     16,
     TileConversionNone,
     0,
     0},
    // A 32x32 transpose in one warp: 32 butterflies, as many selects as 5 turns on either side make; memory is cheaper.
    {"reg [32:d0], lane [32:d1]", "reg [32:d1], lane [32:d0]", {{32, 32}, 2}, 32, TileConversionShared, 0, 0},
    // Two registers exchanged with the neighbouring lane: half of them stay.
    {"reg [2:d0], lane [2:d0*2, 16:d0*4]",
     "reg [2:d0*2], lane [2:d0, 16:d0*4]",
     {{64}, 1},
     32,
     TileConversionShuffles,
     1,
     4},
    // Lanes renamed: every register moves; f16 pairs share a shuffle.
    {"reg [4:d1], lane [8:d0, 4:d1*4]",
     "reg [4:d1], lane [4:d1*4, 8:d0]",
     {{8, 16}, 2},
     32,
     TileConversionShuffles,
     4,
     0},
    {"reg [4:d1], lane [8:d0, 4:d1*4]",
     "reg [4:d1], lane [4:d1*4, 8:d0]",
     {{8, 16}, 2},
     16,
     TileConversionShuffles,
     2,
     0},
    // All lanes have all: each picks its own, without talking.
    {"reg [4:d0], lane [32:_]", "lane [4:d0, 8:_]", {{4}, 1}, 32, TileConversionShuffles, 0, 8},
    // Back again: four broadcasts are cheaper than three shuffles and the selects around them.
    {"lane [4:d0, 8:_]", "reg [4:d0], lane [32:_]", {{4}, 1}, 32, TileConversionShuffles, 4, 0},
    // Warps exchange: only shared memory will do.
    {"reg [2:d0], lane [32:d0*2], warp [2:d0*64]",
     "reg [2:d0*64], lane [32:d0], warp [2:d0*32]",
     {{128}, 1},
     32,
     TileConversionShared,
     0,
     0},
};

static void testKnown(void) {
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    TileLayout from = parsed(known[i].from), to = parsed(known[i].to);
    TileConversionTarget target = targetOf(known[i].elementBits);
    TileConversion plan = planned(&from, &to, &known[i].shape, &target);
    CHECK(plan.kind == known[i].kind, "%s -> %s is %s", known[i].from, known[i].to, tileConversionKindName(plan.kind));
    CHECK(plan.cost.shuffles == known[i].shuffles, "%s -> %s: %u shuffles", known[i].from, known[i].to,
          plan.cost.shuffles);
    CHECK(plan.cost.selects == known[i].selects, "%s -> %s: %u selects", known[i].from, known[i].to, plan.cost.selects);
    carryOut(&from, &to, &known[i].shape, &plan);
  }
}

// A random layout that covers the shape: unit steps and copies, shuffled, some XORed onto others, dealt to registers,
// lanes and warps. Without `mix` the steps stay units.
static TileLayout covering(uint64_t *seed, const Shape *shape, uint32_t laneBits, uint32_t warpBits, bool mix) {
  TileLayoutPoint steps[32] = {{{0}}};
  uint32_t count = 0;
  TileLayout layout = tileLayoutEmpty(TileLayoutValues);
  for (uint32_t axis = 0; axis < shape->rank; ++axis)
    for (uint32_t bit = 0; bit < (uint32_t)__builtin_ctzll((uint64_t)shape->shape[axis]); ++bit)
      steps[count++].at[axis] = 1u << bit;
  count += (uint32_t)(checkRandom(seed) % 3); // copies
  count = count < laneBits + warpBits ? laneBits + warpBits : count;
  for (uint32_t i = count; i-- > 1;) {
    uint32_t j = (uint32_t)(checkRandom(seed) % (i + 1));
    TileLayoutPoint other = steps[j];
    steps[j] = steps[i];
    steps[i] = other;
  }
  for (uint32_t n = 0; mix && n < count; ++n) {
    uint32_t i = (uint32_t)(checkRandom(seed) % count), j = (uint32_t)(checkRandom(seed) % count);
    for (uint32_t axis = 0; i != j && axis < shape->rank; ++axis)
      steps[i].at[axis] ^= steps[j].at[axis];
  }
  for (uint32_t i = 0; i < count; ++i)
    tileLayoutAppendBit(&layout,
                        i < laneBits              ? TileLayoutLane
                        : i < laneBits + warpBits ? TileLayoutWarp
                                                  : TileLayoutReg,
                        steps[i], NULL);
  for (uint32_t i = 0, first = (uint32_t)(checkRandom(seed) % shape->rank); i < shape->rank; ++i) {
    uint32_t axis = (first + i) % shape->rank, width = (uint32_t)__builtin_ctzll((uint64_t)shape->shape[axis]);
    TileLayoutRepeat odd = {.count = (uint32_t)(shape->shape[axis] >> width), .axis = (int32_t)axis};
    odd.stride = 1u << width;
    tileLayoutAppendRepeat(&layout, odd, NULL);
  }
  return layout;
}

// As `layout`, with its registers and lanes mixed anew: such conversions stay within warps.
static TileLayout mixedWithinWarps(uint64_t *seed, const TileLayout *layout) {
  TileLayout mixed = *layout;
  uint32_t count = layout->bits[TileLayoutReg] + layout->bits[TileLayoutLane];
  for (uint32_t n = 0; count > 1 && n < 2 * count; ++n) {
    uint32_t i = (uint32_t)(checkRandom(seed) % count), j = (uint32_t)(checkRandom(seed) % count);
    TileLayoutPoint other = mixed.steps[i];
    bool swap = checkRandom(seed) % 2;
    for (uint32_t axis = 0; !swap && i != j && axis < TILE_LAYOUT_MAX_AXES; ++axis)
      mixed.steps[j].at[axis] ^= other.at[axis];
    if (swap) {
      mixed.steps[i] = mixed.steps[j];
      mixed.steps[j] = other;
    }
  }
  return mixed;
}

static const Shape shapes[] = {{{64}, 1},     {{16, 32}, 2}, {{96, 24}, 2},  {{1}, 1},        {{8, 4, 16}, 3},
                               {{45, 16}, 2}, {{7, 64}, 2},  {{128, 16}, 2}, {{3, 5, 64}, 3}, {{32, 64}, 2}};

static void testRandom(void) {
  uint64_t seed = 11;
  uint32_t kinds[4] = {0};
  for (uint32_t i = 0; i < 1500; ++i) {
    const Shape *shape = &shapes[i % (sizeof shapes / sizeof shapes[0])];
    uint32_t laneBits = 5 + (uint32_t)(checkRandom(&seed) % 2), warpBits = (uint32_t)(checkRandom(&seed) % 3);
    uint32_t bits = 8u << checkRandom(&seed) % 4;
    TileLayout from = covering(&seed, shape, laneBits, warpBits, i % 3 == 0), to;
    bool within = i % 2;
    to = within ? mixedWithinWarps(&seed, &from) : covering(&seed, shape, laneBits, warpBits, i % 3 == 0);
    TileConversionTarget target = targetOf(bits);
    target.forbidShared = within;
    TileConversion plan = planned(&from, &to, shape, &target);
    if (plan.sourceRegisters > MOST_REGISTERS || plan.resultRegisters > MOST_REGISTERS)
      continue;
    ++kinds[plan.kind];
    carryOut(&from, &to, shape, &plan);
    if (plan.kind != TileConversionShared)
      continue;
    target.shared.elementBytes = bits / 8;
    const TileAccess *sides[] = {&plan.shared.store, &plan.shared.load};
    for (int k = 0; k < 2; ++k) {
      TileAccessTraffic traffic = tileAccessTraffic(sides[k], 1u << laneBits, &target.shared);
      uint64_t counted = countConflicts(sides[k], 1u << laneBits, &target.shared);
      CHECK(traffic.conflicts == counted, "%u conflicts by rank, %u counted", (uint32_t)traffic.conflicts,
            (uint32_t)counted);
    }
  }
  CHECK(kinds[TileConversionShuffles] > 200 && kinds[TileConversionShared] > 200, "%u by shuffles, %u by memory",
        kinds[TileConversionShuffles], kinds[TileConversionShared]);
}

// Layouts as passes make them: nothing stands in the way, so no conflict may be left. An accumulator's vectors are the
// columns that follow each other in registers: wider ones would have to be put together by moves.
static const struct {
  const char *store, *load;
  Shape shape;
  uint32_t elementBytes, storeBits, loadBits;
} swizzled[] = {
    {"reg [8:d1, 16:d0*8], lane [16:d1*8, 2:d0], warp [4:d0*2]",
     "reg [2:d1, 2:d0*8, 8:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:d1*64]",
     {{128, 128}, 2},
     2,
     3,
     1},
    {"reg [2:d1, 2:d0*8, 8:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:d1*64]",
     "reg [4:d1, 32:d0*4], lane [32:d1*4], warp [4:d0]",
     {{128, 128}, 2},
     4,
     1,
     2},
    {"reg [8:d1, 2:d0*64], lane [4:d1*8, 16:d0], warp [4:d0*16]",
     "reg [4:d1, 4:d1*8, 2:d0*32], lane [32:d0, 2:d1*4], warp [2:d0*64, 2:_]",
     {{128, 32}, 2},
     2,
     2,
     3},
    {"reg [32:d0], lane [32:d1]", "reg [32:d1], lane [32:d0]", {{32, 32}, 2}, 4, 2, 0},
};

static void testSwizzles(void) {
  for (size_t i = 0; i < sizeof swizzled / sizeof swizzled[0]; ++i) {
    TileLayout store = parsed(swizzled[i].store), load = parsed(swizzled[i].load), chosen;
    TileAccessLimits limits = targetOf(8).shared;
    TileError error = {.text = ""};
    TileAccess access[2];
    limits.elementBytes = swizzled[i].elementBytes;
    limits.isOfRegisters = true;
    CHECK(tileLayoutSwizzle(&store, &load, swizzled[i].shape.shape, 2, &limits, &chosen, &error), "%s", error.text);
    for (int k = 0; k < 2; ++k) {
      const TileLayout *side = k ? &load : &store;
      uint32_t wanted = k ? swizzled[i].loadBits : swizzled[i].storeBits, lanes = 1u << side->bits[TileLayoutLane];
      CHECK(tileAccessPlan(side, &chosen, swizzled[i].shape.shape, 2, &limits, &access[k], &error), "%s", error.text);
      CHECK(countConflicts(&access[k], lanes, &limits) == 0, "case %zu side %d has conflicts in %s", i, k,
            printed(&chosen).text);
      CHECK(access[k].vectorBits == wanted, "case %zu side %d moves 2^%u elements in %s", i, k, access[k].vectorBits,
            printed(&chosen).text);
    }
  }
}

static void testRefusals(void) {
  TileLayout wide = parsed("reg [2:d0], lane [32:d0*2]"), narrow = parsed("lane [32:d0], warp [2:d0*32]");
  TileLayout other = parsed("reg [2:d0*32], lane [32:d0]"), block = parsed("lane [32:d0], block [2:d0*32]");
  TileLayout moved = parsed("lane [32:d0*2], block [2:d0]");
  TileConversionTarget target = targetOf(32);
  TileConversion plan;
  TileError error;
  int64_t shape[] = {64}, longer[] = {128};
  CHECK(!tileConversionPlan(&wide, &narrow, shape, 1, &target, &plan, &error), "different warps");
  CHECK(!strcmp(error.text, "the layouts have 1 and 2 positions of warp"), "%s", error.text);
  CHECK(!tileConversionPlan(&wide, &other, longer, 1, &target, &plan, &error), "half the shape");
  CHECK(strstr(error.text, "ends at coordinate 63"), "%s", error.text);
  CHECK(!tileConversionPlan(&block, &moved, shape, 1, &target, &plan, &error), "different blocks");
  CHECK(!strcmp(error.text, "the layouts place elements in different blocks"), "%s", error.text);
  TileLayout left = parsed("lane [32:d0], warp [2:d0*32]"), right = parsed("lane [32:d0*2], warp [2:d0]");
  target.forbidShared = true;
  CHECK(!tileConversionPlan(&left, &right, shape, 1, &target, &plan, &error), "warps exchange");
  CHECK(!strcmp(error.text, "elements change warps, which needs shared memory"), "%s", error.text);
}

int main(void) {
  testKnown();
  testRandom();
  testSwizzles();
  testRefusals();
  return checkResult(3000);
}
