// tile.random: Philox4x32-10 (docs/numerics.md §8), four words per counter. tile.histogram: counts in a buffer.
// Both run element by element into a buffer; the words of a counter depend on nothing else, so LLVM makes vectors.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "lib/ir/op_format.h"

#include <string.h>

//===--- Philox -------------------------------------------------------------------------------===//

typedef struct Random {
  MlirValue seed, counter; // of the kernel
  Access *words;
  intptr_t rank; // of the counter
} Random;

// The low or high 32 bits of a 64-bit word.
static MlirValue halfOf(TileBuilder *builder, MlirValue word, bool high) {
  MlirType i32 = mlirIntegerTypeGet(builder->context, 32), i64 = mlirValueGetType(word);
  if (high)
    word = buildBinary(builder, "arith.shrui", word, tileBuildInteger(builder, i64, 32));
  return buildUnary(builder, "arith.trunci", i32, word);
}

static MlirValue buildXor(TileBuilder *builder, MlirValue a, MlirValue b) {
  return buildBinary(builder, "arith.xori", a, b);
}

// factor * word as 64 bits.
static MlirValue wideProduct(TileBuilder *builder, int64_t factor, MlirValue word) {
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  MlirValue wide = buildUnary(builder, "arith.extui", i64, word);
  return buildBinary(builder, "arith.muli", wide, tileBuildInteger(builder, i64, factor));
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
      key[i] = buildBinary(builder, "arith.addi", key[i], steps[i]);
  }
}

static void visitCounter(Body *body, const Coord *coords, void *data) {
  const Random *random = data;
  Lowering *lowering = body->lowering;
  TileBuilder *builder = &lowering->builder;
  MlirType i32 = mlirIntegerTypeGet(lowering->context, 32), i64 = mlirIntegerTypeGet(lowering->context, 64);
  MlirValue counter = integerCast(builder, elementAt(body, random->counter, coords), i64, false);
  MlirValue zero = tileBuildInteger(builder, i32, 0);
  MlirValue words[4] = {halfOf(builder, counter, false), halfOf(builder, counter, true), zero, zero};
  philox(builder, scalarOf(lowering, random->seed), words);
  Coord at[MaxRank];
  memcpy(at, coords, random->rank * sizeof *at);
  for (int64_t i = 0; i < 4; ++i) {
    at[random->rank] = coordConstant(i);
    accessStore(body, random->words, at, -1, 0, words[i]);
  }
}

bool lowerRandom(Lowering *lowering, MlirOperation op) {
  MlirValue result = mlirOperationGetResult(op, 0);
  Shape shape = shapeOf(mlirValueGetType(result));
  Random random = {mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1), bufferNew(lowering, &shape),
                   shape.rank - 1};
  Shape counters = shapeOfValue(random.counter);
  forEachElementOf(lowering, op, &counters, visitCounter, &random);
  recordMemory(lowering, result, random.words);
  return true;
}

//===--- histogram ------------------------------------------------------------------------------===//

typedef struct Histogram {
  MlirValue input, mask; // mask null: all count
  Access *counts;
} Histogram;

static void clearCount(Body *body, const Coord *coords, void *data) {
  const Histogram *histogram = data;
  MlirValue zero = tileBuildInteger(&body->lowering->builder, histogram->counts->shape.element, 0);
  accessStore(body, histogram->counts, coords, -1, 0, zero);
}

// Values as unsigned numbers; those beyond the bins are dropped.
static void countElement(Body *body, const Coord *coords, void *data) {
  const Histogram *histogram = data;
  Lowering *lowering = body->lowering;
  TileBuilder *builder = &lowering->builder;
  MlirType i64 = mlirIntegerTypeGet(lowering->context, 64), element = histogram->counts->shape.element;
  MlirValue value = integerCast(builder, elementAt(body, histogram->input, coords), i64, false);
  MlirValue bins = tileBuildInteger(builder, i64, histogram->counts->shape.sizes[0]);
  MlirValue counts = compareIntegers(builder, CompareUnsignedLess, value, bins);
  if (histogram->mask.ptr)
    counts = buildAnd(builder, counts, elementAt(body, histogram->mask, coords));
  TileBuilder before = openIf(lowering, counts);
  Body inner = bodyBegin(lowering, true);
  Coord bin = coordOf(integerCast(builder, value, mlirIndexTypeGet(lowering->context), false));
  MlirValue old = accessLoad(&inner, histogram->counts, &bin, -1, 0);
  MlirValue more = buildBinary(builder, "arith.addi", old, tileBuildInteger(builder, element, 1));
  accessStore(&inner, histogram->counts, &bin, -1, 0, more);
  bodyEnd(&inner);
  closeIf(lowering, counts, before);
}

bool lowerHistogram(Lowering *lowering, MlirOperation op) {
  MlirValue result = mlirOperationGetResult(op, 0);
  Shape shape = shapeOf(mlirValueGetType(result)), input = shapeOf(tileOperandType(op, 0));
  Histogram histogram = {mlirOperationGetOperand(op, 0), tileOpOperand(op, "mask"), bufferNew(lowering, &shape)};
  intptr_t mark = spillOperands(lowering, op);
  forEachElement(lowering, &shape, clearCount, &histogram);
  forEachElement(lowering, &input, countElement, &histogram);
  unspill(lowering, mark);
  recordMemory(lowering, result, histogram.counts);
  return true;
}
