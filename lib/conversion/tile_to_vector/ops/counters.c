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

static void visitCounter(VecBody *body, const VecCoord *coords, void *data) {
  const Random *random = data;
  VecLowering *lowering = body->lowering;
  TileBuilder *builder = &lowering->builder;
  MlirType i64 = mlirIntegerTypeGet(lowering->context, 64);
  MlirValue counter = tileBuildIntegerCast(builder, vecElementAt(body, random->counter, coords), i64, false), words[4];
  tileBuildPhilox(builder, vecScalarOf(lowering, random->seed), counter, words);
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
  MlirValue value = tileBuildIntegerCast(builder, vecElementAt(body, histogram->input, coords), i64, false);
  MlirValue bins = tileBuildInteger(builder, i64, histogram->counts->shape.sizes[0]);
  MlirValue counts = arithCmpIOpBuild(builder, value, bins, ArithCmpI_Ult);
  if (!mlirValueIsNull(histogram->mask))
    counts = vecBuildAnd(builder, counts, vecElementAt(body, histogram->mask, coords));
  TileBuilder before = vecOpenIf(lowering, counts);
  VecBody inner = vecBodyBegin(lowering, true);
  VecCoord bin = vecCoordOf(tileBuildIntegerCast(builder, value, mlirIndexTypeGet(lowering->context), false));
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
