// Scans, and reductions by a region or over several operands: element by element, in the order of the axes.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdio.h>

enum { MaxStates = 8 };

typedef struct Fold {
  Lowering *lowering;
  MlirOperation op;
  intptr_t count; // of states
  Record *sources[MaxStates];
  MlirValue states[MaxStates];
  bool folded[MaxRank]; // dimensions that the state runs over
  Access *results[MaxStates];
  Access *finals[MaxStates];
  bool inside;
  Coord coords[MaxRank]; // in the sources
} Fold;

//===--- one step ---------------------------------------------------------------------===//

static void applyRegion(Fold *fold, const MlirValue *elements) {
  Lowering *lowering = fold->lowering;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(fold->op, 0));
  for (intptr_t i = 0; i < fold->count; ++i) {
    recordScalar(lowering, mlirBlockGetArgument(block, i), fold->states[i]);
    recordScalar(lowering, mlirBlockGetArgument(block, fold->count + i), elements[i]);
  }
  lowerBlock(lowering, block);
  MlirOperation yield = mlirBlockGetTerminator(block);
  for (intptr_t i = 0; i < fold->count; ++i)
    fold->states[i] = scalarOf(lowering, mlirOperationGetOperand(yield, i));
}

static void applyNamed(Fold *fold, const MlirValue *elements) {
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(fold->op, "operation"));
  char text[64];
  snprintf(text, sizeof text, "%.*s", (int)name.length, name.data);
  for (intptr_t i = 0; i < fold->count; ++i)
    fold->states[i] = buildBinary(&fold->lowering->builder, text, fold->states[i], elements[i]);
}

static void storeStates(Fold *fold, Access *const *targets, const Coord *coords) {
  Body body = bodyBegin(fold->lowering, true);
  for (intptr_t i = 0; i < fold->count; ++i)
    accessStore(&body, targets[i], coords, -1, 0, fold->states[i]);
  bodyEnd(&body);
}

static void step(Fold *fold) {
  MlirValue elements[MaxStates];
  Body body = bodyBegin(fold->lowering, fold->inside);
  for (intptr_t i = 0; i < fold->count; ++i)
    elements[i] = evaluate(&body, fold->sources[i], fold->coords, -1, 0);
  bodyEnd(&body);
  bool isScan = fold->results[0] != NULL, exclusive = tileOpAttribute(fold->op, "exclusive").ptr;
  if (isScan && exclusive)
    storeStates(fold, fold->results, fold->coords);
  if (tileOpAttribute(fold->op, "operation").ptr)
    applyNamed(fold, elements);
  else
    applyRegion(fold, elements);
  if (isScan && !exclusive)
    storeStates(fold, fold->results, fold->coords);
}

//===--- loops ----------------------------------------------------------------------------===//

// Position `n` of dimension d: from the other end in a reverse scan.
static Coord coordOfStep(Fold *fold, intptr_t d, MlirValue n) {
  if (!tileOpAttribute(fold->op, "reverse").ptr)
    return coordOf(n);
  MlirValue last = tileBuildIndex(&fold->lowering->builder, fold->sources[0]->shape.sizes[d] - 1);
  return coordOf(tileBuildSub(&fold->lowering->builder, last, n));
}

// Loops over the folded dimensions from d on, carrying the states.
static void foldFrom(Fold *fold, intptr_t d) {
  Lowering *lowering = fold->lowering;
  while (d < fold->sources[0]->shape.rank && !fold->folded[d])
    ++d;
  if (d == fold->sources[0]->shape.rank) {
    step(fold);
    return;
  }
  MlirBlock body;
  TileBuilder *builder = &lowering->builder;
  MlirValue end = tileBuildIndex(builder, fold->sources[0]->shape.sizes[d]);
  MlirOperation loop = tileBuildFor(builder, tileBuildIndex(builder, 0), end, tileBuildIndex(builder, 1), fold->count,
                                    fold->states, &body);
  TileBuilder before = enter(lowering, body);
  fold->coords[d] = coordOfStep(fold, d, mlirBlockGetArgument(body, 0));
  for (intptr_t i = 0; i < fold->count; ++i)
    fold->states[i] = mlirBlockGetArgument(body, i + 1);
  foldFrom(fold, d + 1);
  tileBuildYield(&lowering->builder, fold->count, fold->states);
  lowering->builder = before;
  for (intptr_t i = 0; i < fold->count; ++i)
    fold->states[i] = mlirOperationGetResult(loop, i);
}

// The state to begin with at `coords` of the dimensions that stay; null: there is none.
static bool startStates(Fold *fold, const Coord *coords) {
  Lowering *lowering = fold->lowering;
  Body body = bodyBegin(lowering, fold->inside);
  bool hasInitial = mlirOperationGetNumOperands(fold->op) > fold->count, ok = true;
  for (intptr_t i = 0; i < fold->count; ++i) {
    if (hasInitial)
      fold->states[i] = evaluateOperand(&body, mlirOperationGetOperand(fold->op, fold->count + i), coords, -1, 0);
    else
      fold->states[i] = neutralElement(&lowering->builder, fold->op, i, fold->sources[i]->shape.element);
    ok = ok && fold->states[i].ptr;
  }
  bodyEnd(&body);
  return ok;
}

// Loops over the dimensions that stay, from d on; `kept` has their coordinates so far.
static bool eachPlace(Fold *fold, intptr_t d, Coord *kept, intptr_t numKept) {
  Lowering *lowering = fold->lowering;
  while (d < fold->sources[0]->shape.rank && fold->folded[d])
    ++d;
  if (d == fold->sources[0]->shape.rank) {
    if (!startStates(fold, kept))
      return tileError(fold->op, "not lowered to the CPU yet: a combination without a neutral element");
    foldFrom(fold, 0);
    if (fold->finals[0])
      storeStates(fold, fold->finals, kept);
    return true;
  }
  TileBuilder *builder = &lowering->builder;
  MlirValue end = tileBuildIndex(builder, fold->sources[0]->shape.sizes[d]);
  MlirBlock body = buildLoop(builder, tileBuildIndex(builder, 0), end, 1);
  TileBuilder before = enter(lowering, body);
  kept[numKept] = fold->coords[d] = coordOf(mlirBlockGetArgument(body, 0));
  bool ok = eachPlace(fold, d + 1, kept, numKept + 1);
  tileBuildYield(&lowering->builder, 0, NULL);
  lowering->builder = before;
  return ok;
}

//===--- the ops ---------------------------------------------------------------------------===//

static Access *targetOf(Fold *fold, MlirValue result) {
  if (!isTile(mlirValueGetType(result)))
    return NULL;
  Shape shape = shapeOf(mlirValueGetType(result));
  Access *target = bufferNew(fold->lowering, &shape);
  recordMemory(fold->lowering, result, target);
  return target;
}

static bool run(Fold *fold) {
  Lowering *lowering = fold->lowering;
  fold->inside = true;
  intptr_t mark = lowering->numSpilled;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(fold->op); ++i) {
    Record *operand = recordOf(lowering, mlirOperationGetOperand(fold->op, i));
    if (i < fold->count)
      fold->sources[i] = operand;
    spill(lowering, operand, false);
    fold->inside = fold->inside && !mayLeave(lowering, operand);
  }
  Coord kept[MaxRank];
  bool ok = eachPlace(fold, 0, kept, 0);
  unspill(lowering, mark);
  return ok;
}

// Results that are scalars are the states after everything.
static void recordScalars(Fold *fold, intptr_t firstResult) {
  for (intptr_t i = 0; i < fold->count; ++i) {
    MlirValue result = mlirOperationGetResult(fold->op, firstResult + i);
    if (!isTile(mlirValueGetType(result)))
      recordScalar(fold->lowering, result, fold->states[i]);
  }
}

bool lowerReduceByElement(Lowering *lowering, MlirOperation op) {
  Fold fold = {.lowering = lowering, .op = op, .count = mlirOperationGetNumOperands(op)};
  if (fold.count < 1 || fold.count > MaxStates)
    return tileError(op, "not lowered to the CPU yet: a reduction of no tile or of more than %d", MaxStates);
  MlirAttribute axes = tileOpAttribute(op, "axes");
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(axes); ++i)
    fold.folded[mlirDenseI64ArrayGetElement(axes, i)] = true;
  for (intptr_t i = 0; i < fold.count; ++i)
    fold.finals[i] = targetOf(&fold, mlirOperationGetResult(op, i));
  if (!run(&fold))
    return false;
  recordScalars(&fold, 0);
  return true;
}

bool lowerScan(Lowering *lowering, MlirOperation op) {
  intptr_t numResults = mlirOperationGetNumResults(op), numOperands = mlirOperationGetNumOperands(op);
  Fold fold = {.lowering = lowering, .op = op, .count = numOperands};
  MlirAttribute segments = tileOpAttribute(op, "operandSegmentSizes");
  if (segments.ptr)
    fold.count = mlirDenseI32ArrayGetElement(segments, 0);
  if (fold.count < 1 || fold.count > MaxStates)
    return tileError(op, "not lowered to the CPU yet: a scan of no tile or of more than %d", MaxStates);
  fold.folded[integerAttribute(op, "axis")] = true;
  for (intptr_t i = 0; i < fold.count; ++i)
    fold.results[i] = targetOf(&fold, mlirOperationGetResult(op, i));
  for (intptr_t i = fold.count; i < numResults; ++i)
    fold.finals[i - fold.count] = targetOf(&fold, mlirOperationGetResult(op, i));
  if (!run(&fold))
    return false;
  if (numResults > fold.count)
    recordScalars(&fold, fold.count);
  return true;
}
