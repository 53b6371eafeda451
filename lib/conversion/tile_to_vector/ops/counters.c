// tile.random: Philox4x32-10 (docs/numerics.md §8), four words per counter. tile.histogram: counts in a buffer.
// Both write a buffer element by element. The words of a counter depend on that counter only, so LLVM vectorizes them.
#include "lib/conversion/tile_to_vector/lowering.h"

#include <string.h>

//===--- Philox -------------------------------------------------------------------------------===//

typedef struct Random {
  MlirValue seed, counter; // of the kernel
  VecAccess *words;
  intptr_t rank; // of the counter
} Random;

// The low or high 32 bits of a 64-bit word.
static MlirValue halfOf(TileBuilder *builder, MlirValue word, bool high) {
  MlirType i32 = mlirIntegerTypeGet(builder->context, 32), i64 = mlirValueGetType(word);
  if (high)
    word = arithShRUIOpBuild(builder, word, tileBuildInteger(builder, i64, 32));
  return arithTruncIOpBuild(builder, i32, word);
}

static MlirValue buildXor(TileBuilder *builder, MlirValue a, MlirValue b) { return arithXOrIOpBuild(builder, a, b); }

// factor * word as 64 bits.
static MlirValue wideProduct(TileBuilder *builder, int64_t factor, MlirValue word) {
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  MlirValue wide = arithExtUIOpBuild(builder, i64, word);
  return arithMulIOpBuild(builder, wide, tileBuildInteger(builder, i64, factor));
}

static void philoxRound(TileBuilder *builder, MlirValue *c, const MlirValue *key) {
  MlirValue a = wideProduct(builder, 0xD2511F53, c[0]), b = wideProduct(builder, 0xCD9E8D57, c[2]);
  MlirValue next[4] = {
      buildXor(builder, buildXor(builder, halfOf(builder, b, true), c[1]), key[0]), halfOf(builder, b, false),
      buildXor(builder, buildXor(builder, halfOf(builder, a, true), c[3]), key[1]), halfOf(builder, a, false)};
  memcpy(c, next, sizeof next);
}

static void philox(TileBuilder *builder, MlirValue seed, MlirValue *c) {
  MlirType i32 = mlirIntegerTypeGet(builder->context, 32);
  MlirValue key[2] = {halfOf(builder, seed, false), halfOf(builder, seed, true)};
  MlirValue steps[2] = {tileBuildInteger(builder, i32, (int32_t)0x9E3779B9),
                        tileBuildInteger(builder, i32, (int32_t)0xBB67AE85)};
  for (int round = 0; round < 10; ++round) {
    philoxRound(builder, c, key);
    for (int i = 0; i < 2; ++i)
      key[i] = arithAddIOpBuild(builder, key[i], steps[i]);
  }
}

static void visitCounter(VecBody *body, const VecCoord *coords, void *data) {
  const Random *random = data;
  VecLowering *lowering = body->lowering;
  TileBuilder *builder = &lowering->builder;
  MlirType i32 = mlirIntegerTypeGet(lowering->context, 32), i64 = mlirIntegerTypeGet(lowering->context, 64);
  MlirValue counter = vecIntegerCast(builder, vecElementAt(body, random->counter, coords), i64, false);
  MlirValue zero = tileBuildInteger(builder, i32, 0);
  MlirValue words[4] = {halfOf(builder, counter, false), halfOf(builder, counter, true), zero, zero};
  philox(builder, vecScalarOf(lowering, random->seed), words);
  VecCoord at[MaxRank];
  memcpy(at, coords, random->rank * sizeof *at);
  for (int64_t i = 0; i < 4; ++i) {
    at[random->rank] = vecCoordConstant(i);
    vecAccessStore(body, random->words, at, -1, 0, words[i]);
  }
}

bool vecLowerRandom(VecLowering *lowering, MlirOperation op) {
  MlirValue result = tileRandomOpGetResult(op);
  VecShape shape = vecShapeOf(mlirValueGetType(result));
  Random random = {tileRandomOpGetSeed(op), tileRandomOpGetCounter(op), vecBufferNew(lowering, &shape), shape.rank - 1};
  VecShape counters = vecShapeOfValue(random.counter);
  vecForEachElementOf(lowering, op, &counters, visitCounter, &random);
  vecRecordMemory(lowering, result, random.words);
  return true;
}

//===--- histogram ------------------------------------------------------------------------------===//

typedef struct Histogram {
  MlirValue input, mask; // mask null: all count
  VecAccess *counts;
} Histogram;

static void clearCount(VecBody *body, const VecCoord *coords, void *data) {
  const Histogram *histogram = data;
  MlirValue zero = tileBuildInteger(&body->lowering->builder, histogram->counts->shape.element, 0);
  vecAccessStore(body, histogram->counts, coords, -1, 0, zero);
}

// Values as unsigned numbers; those beyond the bins are dropped.
static void countElement(VecBody *body, const VecCoord *coords, void *data) {
  const Histogram *histogram = data;
  VecLowering *lowering = body->lowering;
  TileBuilder *builder = &lowering->builder;
  MlirType i64 = mlirIntegerTypeGet(lowering->context, 64), element = histogram->counts->shape.element;
  MlirValue value = vecIntegerCast(builder, vecElementAt(body, histogram->input, coords), i64, false);
  MlirValue bins = tileBuildInteger(builder, i64, histogram->counts->shape.sizes[0]);
  MlirValue counts = arithCmpIOpBuild(builder, value, bins, ArithCmpI_Ult);
  if (!mlirValueIsNull(histogram->mask))
    counts = vecBuildAnd(builder, counts, vecElementAt(body, histogram->mask, coords));
  TileBuilder before = vecOpenIf(lowering, counts);
  VecBody inner = vecBodyBegin(lowering, true);
  VecCoord bin = vecCoordOf(vecIntegerCast(builder, value, mlirIndexTypeGet(lowering->context), false));
  MlirValue old = vecAccessLoad(&inner, histogram->counts, &bin, -1, 0);
  MlirValue more = arithAddIOpBuild(builder, old, tileBuildInteger(builder, element, 1));
  vecAccessStore(&inner, histogram->counts, &bin, -1, 0, more);
  vecBodyEnd(&inner);
  vecCloseIf(lowering, counts, before);
}

bool vecLowerHistogram(VecLowering *lowering, MlirOperation op) {
  MlirValue result = tileHistogramOpGetResult(op), values = tileHistogramOpGetInput(op);
  VecShape shape = vecShapeOf(mlirValueGetType(result)), input = vecShapeOf(mlirValueGetType(values));
  Histogram histogram = {values, tileHistogramOpGetMask(op), vecBufferNew(lowering, &shape)};
  intptr_t mark = vecSpillOperands(lowering, op);
  vecForEachElement(lowering, &shape, clearCount, &histogram);
  vecForEachElement(lowering, &input, countElement, &histogram);
  vecUnspill(lowering, mark);
  vecRecordMemory(lowering, result, histogram.counts);
  return true;
}
