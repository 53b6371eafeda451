// Scans, and reductions by a region or over several operands, element by element in the order of the axes.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "mlir-c/BuiltinAttributes.h"

enum { MaxStates = 8 };

typedef struct Fold {
  VecLowering *lowering;
  MlirOperation op;
  MlirAttribute operation, neutral; // null: none
  MlirRegion body;                  // combines where there is no operation
  bool isReverse, isExclusive;      // scans
  intptr_t count;                   // of states
  VecRecord *sources[MaxStates];
  MlirValue states[MaxStates];
  bool folded[MaxRank]; // dimensions that the state runs over
  VecAccess *results[MaxStates];
  VecAccess *finals[MaxStates];
  bool inside;
  VecCoord coords[MaxRank]; // in the sources
} Fold;

//===--- one step ---------------------------------------------------------------------===//

static void applyRegion(Fold *fold, const MlirValue *elements) {
  VecLowering *lowering = fold->lowering;
  MlirBlock block = mlirRegionGetFirstBlock(fold->body);
  for (intptr_t i = 0; i < fold->count; ++i) {
    vecRecordScalar(lowering, mlirBlockGetArgument(block, i), fold->states[i]);
    vecRecordScalar(lowering, mlirBlockGetArgument(block, fold->count + i), elements[i]);
  }
  vecLowerBlock(lowering, block);
  MlirOperation yield = mlirBlockGetTerminator(block);
  for (intptr_t i = 0; i < fold->count; ++i)
    fold->states[i] = vecScalarOf(lowering, tileYieldOpGetValues(yield, i));
}

static void applyNamed(Fold *fold, const MlirValue *elements) {
  TileUpstream operation = tileUpstreamKindOfName(mlirStringAttrGetValue(fold->operation));
  for (intptr_t i = 0; i < fold->count; ++i)
    fold->states[i] = tileBuildBinary(&fold->lowering->builder, operation, fold->states[i], elements[i]);
}

static void storeStates(Fold *fold, VecAccess *const *targets, const VecCoord *coords) {
  VecBody body = vecBodyBegin(fold->lowering, true);
  for (intptr_t i = 0; i < fold->count; ++i)
    vecAccessStore(&body, targets[i], coords, -1, 0, fold->states[i]);
  vecBodyEnd(&body);
}

static void step(Fold *fold) {
  MlirValue elements[MaxStates];
  VecBody body = vecBodyBegin(fold->lowering, fold->inside);
  for (intptr_t i = 0; i < fold->count; ++i)
    elements[i] = vecEvaluate(&body, fold->sources[i], fold->coords, -1, 0);
  vecBodyEnd(&body);
  bool isScan = fold->results[0] != NULL;
  if (isScan && fold->isExclusive)
    storeStates(fold, fold->results, fold->coords);
  if (mlirAttributeIsNull(fold->operation))
    applyRegion(fold, elements);
  else
    applyNamed(fold, elements);
  if (isScan && !fold->isExclusive)
    storeStates(fold, fold->results, fold->coords);
}

//===--- loops ----------------------------------------------------------------------------===//

// Position `n` of dimension d: from the other end in a reverse scan.
static VecCoord coordOfStep(Fold *fold, intptr_t d, MlirValue n) {
  if (!fold->isReverse)
    return vecCoordOf(n);
  MlirValue last = tileBuildIndex(&fold->lowering->builder, fold->sources[0]->shape.sizes[d] - 1);
  return vecCoordOf(tileBuildSub(&fold->lowering->builder, last, n));
}

// Loops over the folded dimensions from d on, carrying the states.
static void foldFrom(Fold *fold, intptr_t d) {
  VecLowering *lowering = fold->lowering;
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
  TileBuilder before = vecEnter(lowering, body);
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
static bool startStates(Fold *fold, const VecCoord *coords) {
  VecLowering *lowering = fold->lowering;
  VecBody body = vecBodyBegin(lowering, fold->inside);
  bool hasInitial = mlirOperationGetNumOperands(fold->op) > fold->count, ok = true;
  for (intptr_t i = 0; i < fold->count; ++i) {
    if (hasInitial)
      fold->states[i] = vecEvaluateOperand(&body, mlirOperationGetOperand(fold->op, fold->count + i), coords, -1, 0);
    else
      fold->states[i] =
          vecNeutralElement(&lowering->builder, fold->neutral, fold->operation, i, fold->sources[i]->shape.element);
    ok = ok && !mlirValueIsNull(fold->states[i]);
  }
  vecBodyEnd(&body);
  return ok;
}

// Loops over the dimensions that stay, from d on; `kept` has their coordinates so far.
static bool eachPlace(Fold *fold, intptr_t d, VecCoord *kept, intptr_t numKept) {
  VecLowering *lowering = fold->lowering;
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
  MlirBlock body = vecBuildLoop(builder, tileBuildIndex(builder, 0), end, 1);
  TileBuilder before = vecEnter(lowering, body);
  kept[numKept] = fold->coords[d] = vecCoordOf(mlirBlockGetArgument(body, 0));
  bool ok = eachPlace(fold, d + 1, kept, numKept + 1);
  tileBuildYield(&lowering->builder, 0, NULL);
  lowering->builder = before;
  return ok;
}

//===--- the ops ---------------------------------------------------------------------------===//

static VecAccess *targetOf(Fold *fold, MlirValue result) {
  if (!vecIsTile(mlirValueGetType(result)))
    return NULL;
  VecShape shape = vecShapeOf(mlirValueGetType(result));
  VecAccess *target = vecBufferNew(fold->lowering, &shape);
  vecRecordMemory(fold->lowering, result, target);
  return target;
}

static bool run(Fold *fold) {
  VecLowering *lowering = fold->lowering;
  fold->inside = true;
  intptr_t mark = lowering->numSpilled;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(fold->op); ++i) {
    VecRecord *operand = vecRecordOf(lowering, mlirOperationGetOperand(fold->op, i));
    if (i < fold->count)
      fold->sources[i] = operand;
    vecSpill(lowering, operand, false);
    fold->inside = fold->inside && !vecMayLeave(lowering, operand);
  }
  VecCoord kept[MaxRank];
  bool ok = eachPlace(fold, 0, kept, 0);
  vecUnspill(lowering, mark);
  return ok;
}

// Results that are scalars are the states after everything.
static void recordScalars(Fold *fold, intptr_t firstResult) {
  for (intptr_t i = 0; i < fold->count; ++i) {
    MlirValue result = mlirOperationGetResult(fold->op, firstResult + i);
    if (!vecIsTile(mlirValueGetType(result)))
      vecRecordScalar(fold->lowering, result, fold->states[i]);
  }
}

static bool hasStates(const Fold *fold, const char *what) {
  return (fold->count >= 1 && fold->count <= MaxStates) ||
         tileError(fold->op, "not lowered to the CPU yet: %s of %d tiles; 1 to %d are", what, (int)fold->count,
                   MaxStates);
}

bool vecLowerReduceByElement(VecLowering *lowering, MlirOperation op) {
  Fold fold = {.lowering = lowering, .op = op, .count = tileReduceOpGetNumInputs(op), .body = tileReduceOpGetBody(op)};
  fold.operation = tileReduceOpGetOperation(op);
  fold.neutral = tileReduceOpGetNeutral(op);
  if (!hasStates(&fold, "a reduction"))
    return false;
  MlirAttribute axes = tileReduceOpGetAxes(op);
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(axes); ++i)
    fold.folded[mlirDenseI64ArrayGetElement(axes, i)] = true;
  for (intptr_t i = 0; i < fold.count; ++i)
    fold.finals[i] = targetOf(&fold, tileReduceOpGetResults(op, i));
  if (!run(&fold))
    return false;
  recordScalars(&fold, 0);
  return true;
}

bool vecLowerScan(VecLowering *lowering, MlirOperation op) {
  intptr_t numResults = tileScanOpGetNumResults(op);
  Fold fold = {.lowering = lowering, .op = op, .count = tileScanOpGetNumInputs(op), .body = tileScanOpGetBody(op)};
  fold.operation = tileScanOpGetOperation(op);
  fold.neutral = tileScanOpGetNeutral(op);
  fold.isReverse = tileScanOpHasReverse(op);
  fold.isExclusive = tileScanOpHasExclusive(op);
  if (!hasStates(&fold, "a scan"))
    return false;
  fold.folded[tileScanOpGetAxisValue(op)] = true;
  for (intptr_t i = 0; i < fold.count; ++i)
    fold.results[i] = targetOf(&fold, tileScanOpGetResults(op, i));
  for (intptr_t i = fold.count; i < numResults; ++i)
    fold.finals[i - fold.count] = targetOf(&fold, tileScanOpGetResults(op, i));
  if (!run(&fold))
    return false;
  if (numResults > fold.count)
    recordScalars(&fold, fold.count);
  return true;
}
