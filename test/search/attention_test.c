// Attention's tiles: what the model says follows from the machine and the sizes as theory has it.
#include "lib/search/attention.h"

#include <stdio.h>
#include <stdlib.h>

static int failures;

static void expect(bool holds, const char *what) {
  if (!holds)
    printf("wrong: %s\n", what);
  failures += !holds;
}

static TileSearchTarget targetOf(const char *chip, const char *type) {
  TileError error = {.text = ""};
  TileSearchTarget target;
  TileMachine *machine = tileMachineLoad(chip, NULL, NULL, 0, &error);
  if (!machine || !tileSearchReadTarget(machine, &target, &error)) {
    printf("%s: %s\n", chip, error.text);
    exit(1);
  }
  TileOperator op = tileOperatorProduct(512, 512, 64, type, type[1] == '1' ? 16 : 32, 32);
  tileSearchSetOperator(machine, &op, &target);
  tileMachineDestroy(machine);
  return target;
}

// Both products at the machine's rate.
static double productSeconds(const TileSearchTarget *t, const TileAttentionSizes *s) {
  double operations = 2.0 * (double)(s->heads * s->queries * s->keys) * (double)(s->depth + s->channels);
  return operations / (t->rate * t->clock * (double)t->cores);
}

static void testChip(const char *chip) {
  TileSearchTarget target = targetOf(chip, "f32");
  TileAttentionSizes sizes = {.heads = 64, .queries = 512, .keys = 512, .depth = 64, .channels = 64, .bytes = 4};
  TileSearchAttention all = tileSearchAttention(&target, &sizes, 1);
  expect(all.queries > 0 && all.keys > 0 && (all.queries & (all.queries - 1)) == 0, "a block that fits");
  expect(all.fused >= productSeconds(&target, &sizes), "no kernel is faster than its multiply-adds");
  expect(all.apart > 1, "apart, softmax comes on top of the products");
  expect(all.evaluations > 0 && all.evaluations < 5000, "fewer than 5000 evaluations");

  TileAttentionSizes causal = sizes;
  causal.numBounds = 1;
  causal.bounds[0] = (TileAttentionBound){.isUpper = true, .slope = 1, .constant = 1};
  TileSearchAttention half = tileSearchAttention(&target, &causal, 1);
  expect(half.fused < 0.8 * all.fused && half.fused > 0.4 * all.fused, "a causal mask leaves about half");

  TileAttentionSizes near = causal;
  near.numBounds = 2;
  near.bounds[1] = (TileAttentionBound){.isUpper = false, .slope = 1, .constant = -31};
  expect(tileSearchAttention(&target, &near, 1).fused < half.fused, "a window of 32 leaves less");

  TileAttentionSizes masked = sizes;
  masked.mostKeys = 16;
  expect(!target.isGpu || tileSearchAttention(&target, &masked, 1).keys == 16,
         "blocks as small as the mask's are kept");

  TileAttentionSizes odd = sizes;
  odd.queries = 13;
  odd.keys = 7;
  odd.depth = 3;
  odd.channels = 5;
  expect(tileSearchAttention(&target, &odd, 1).queries > 0, "odd sizes have a block");
}

// On a CPU a vector of queries is the least: one query costs as many.
static void testFewQueries(void) {
  TileSearchTarget target = targetOf("x86-64-v4", "f32");
  TileAttentionSizes sizes = {.heads = 64, .queries = 16, .keys = 512, .depth = 64, .channels = 64, .bytes = 4};
  double full = tileSearchAttention(&target, &sizes, 1).fused;
  sizes.queries = 1;
  double one = tileSearchAttention(&target, &sizes, 1).fused;
  expect(one > 0.9 * full && one <= full, "one query costs as much as a vector of them");
  // Keys and values of a head beyond the second cache: where that is slower, so is the kernel.
  sizes.queries = 64;
  sizes.keys = 4096;
  double fast = tileSearchAttention(&target, &sizes, 1).fused;
  for (int level = 1; level < target.numLevels; ++level)
    target.levels[level].latency *= 8;
  expect(tileSearchAttention(&target, &sizes, 1).fused > fast, "slower caches make a slower kernel");
}

// Keys and values of 16 heads stay in the second-level cache: narrow blocks of keys, which rescale the sums more often,
// gain nothing. Measured, H100, without products of warpgroups: 64 x 64 and 64 x 128 take 0.78 to 0.84 of the time of
// 128 x 16 and 128 x 32.
static void testMeasuredBlocks(void) {
  TileSearchTarget target = targetOf("sm_90a", "f16");
  for (int64_t depth = 64; depth <= 128; depth *= 2) {
    TileAttentionSizes sizes = {
        .heads = 16, .queries = 4096, .keys = 4096, .depth = depth, .channels = depth, .bytes = 2};
    target.hasGroupAtom = false;
    TileSearchAttention block = tileSearchAttention(&target, &sizes, 1);
    expect(block.queries == 64 && block.keys >= 64, "a block that was fast on an H100");
    // FlashAttention-3's block: keys and values of a head come half as often.
    target.hasGroupAtom = true;
    TileSearchAttention groups = tileSearchAttention(&target, &sizes, 1);
    expect(groups.queries == 128 && groups.keys == 128, "two groups of warps take 128 queries and 128 keys");
    expect(groups.fused < block.fused, "products of warpgroups are faster");
    sizes.depth -= 1; // rows that no engine takes
    expect(tileSearchAttention(&target, &sizes, 1).queries == 64, "rows of odd bytes go without");
  }
}

// Pairs of programs of a head share keys and values where they visit the same blocks, and the copies take time.
static void testClusters(void) {
  TileSearchTarget target = targetOf("sm_90a", "f16"), old = targetOf("sm_80", "f16");
  const TileAttentionSizes sizes = {
      .heads = 16, .queries = 4096, .keys = 4096, .depth = 128, .channels = 128, .bytes = 2};
  expect(tileSearchAttention(&target, &sizes, 1).cluster == 2, "two programs of a head form a cluster");
  expect(tileSearchAttention(&old, &sizes, 1).cluster == 0, "a machine without clusters has none");
  TileAttentionSizes odd = sizes, causal = sizes, masked = sizes, open = sizes;
  odd.queries = 4096 - 128;
  expect(tileSearchAttention(&target, &odd, 1).cluster == 0, "an odd number of programs makes no pairs");
  causal.numBounds = 1;
  causal.bounds[0] = (TileAttentionBound){.isUpper = true, .slope = 1, .constant = 1};
  expect(tileSearchAttention(&target, &causal, 1).cluster == 0, "programs of other rounds share nothing");
  masked.mostKeys = 128;
  expect(tileSearchAttention(&target, &masked, 1).cluster == 0, "nor do those that a mask sends elsewhere");
  open.isOpen = true;
  expect(tileSearchAttention(&target, &open, 1).cluster == 0, "a grid that is not known may be odd");
  for (int level = target.shared + 1; level < target.numLevels; ++level)
    target.levels[level].bandwidth *= 100;
  expect(tileSearchAttention(&target, &sizes, 1).cluster == 0, "copies that take no time are not shared");
}

// Programs of later queries see more keys: heads are visited side by side, as many as half of the cache holds.
static void testOrder(void) {
  TileSearchTarget target = targetOf("sm_90a", "f16");
  TileAttentionSizes sizes = {.heads = 16, .queries = 4096, .keys = 4096, .depth = 128, .channels = 128, .bytes = 2};
  expect(tileSearchAttention(&target, &sizes, 1).heads == 0, "programs of one length keep their order");
  sizes.numBounds = 1;
  sizes.bounds[0] = (TileAttentionBound){.isUpper = true, .slope = 1, .constant = 1};
  expect(tileSearchAttention(&target, &sizes, 1).heads == 8,
         "eight heads are in half of the cache, and divide sixteen");
  sizes.heads = 7;
  expect(tileSearchAttention(&target, &sizes, 1).heads == 7, "all heads that fit");
  sizes.keys = 1 << 20;
  expect(tileSearchAttention(&target, &sizes, 1).heads == 1, "one head at least");
  sizes.numBounds = 2; // a window: all see as many
  sizes.bounds[1] = (TileAttentionBound){.isUpper = false, .slope = 1, .constant = -99};
  expect(tileSearchAttention(&target, &sizes, 1).heads == 0, "programs of a window keep their order");
}

int main(void) {
  testChip("x86-64-v4");
  testChip("sm_80");
  testChip("gfx942");
  testFewQueries();
  testMeasuredBlocks();
  testOrder();
  testClusters();
  printf("%d failures\n", failures);
  return failures ? 1 : 0;
}
