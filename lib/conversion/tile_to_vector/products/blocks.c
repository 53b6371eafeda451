// tile.mma: a block of the result in registers, k outside, one fused multiply-add per row and vector of columns. A
// result that fits registers is one block; a larger one is held in memory and walked block by block. Operands that lie
// in memory as the nest reads them are read where they are; others are packed first, with padding, so that the loop
// over k has no masks. Four steps of k per iteration.
//
// The order of summation is k = 0, 1, 2, … into one accumulator per element, fused. An accumulator that is a tile just
// loaded from a view is prefetched first and added last, when it has arrived: a load before the loop over k would wait
// for the outer caches (measured at 1024³: 0.84 against 1.00 of OpenBLAS).
//
// Where neighbours along k are multiplied together (products/groups.c) a step is one group of them. Fewer columns than
// a vector has lanes, of operands that both lie along k, are summed lane by lane along k, the lanes last.
#include "lib/conversion/tile_to_vector/products/blocks.h"
#include "upstream/vector.h"

#include <string.h>

enum { MostVectors = 8, MaxLanes = 64 };

//===--- operands -------------------------------------------------------------------===//

static bool isReadInPlace(const VecMma *mma, const VecRecord *record, bool inVectors) {
  if (!vecIsRead(record) || vecAccessMayLeave(record->access) || !mlirTypeEqual(record->shape.element, mma->element))
    return false;
  return !inVectors || vecAccessIsContiguous(record->access, record->shape.rank - 1, mma->lowering->widths.lanes);
}

static void clearSigns(VecBody *body, VecRecord *source, const VecAccess *target, const VecCoord *coords, int64_t width,
                       void *bits) {
  TileBuilder *builder = &body->lowering->builder;
  intptr_t axis = target->shape.rank - 1;
  MlirValue value = vecEvaluate(body, source, coords, axis, width);
  MlirValue mask = tileBuildInteger(builder, mlirValueGetType(value), ((int64_t)1 << *(int64_t *)bits) - 1);
  vecAccessStore(body, target, coords, axis, width, arithAndIOpBuild(builder, value, mask));
}

// Unsigned integers of fewer bits than the sums.
static VecRecord *prepareUnsigned(const VecMma *mma, VecRecord *record) {
  int64_t bits = vecBitsOf(record->shape.element);
  VecAccess *wide = vecMaterialize(mma->lowering, record, mma->element);
  vecForEachVector(mma->lowering, vecRecordOfAccess(mma->lowering, wide), wide, clearSigns, &bits);
  return vecRecordOfAccess(mma->lowering, wide);
}

static VecRecord *prepareOperand(const VecMma *mma, VecRecord *record, bool inVectors) {
  if (isReadInPlace(mma, record, inVectors)) {
    VecAccess *moved = vecAccessFromOrigin(mma->lowering, record->access);
    return moved ? vecRecordOfAccess(mma->lowering, moved) : record;
  }
  return vecRecordOfAccess(mma->lowering, vecMaterialize(mma->lowering, record, mma->element));
}

//===--- one block ---------------------------------------------------------------------===//

static int64_t widthOf(const VecBlock *block, int64_t vector) {
  return vector == block->vectors - 1 ? block->lastWidth : block->width;
}

void vecMmaCoords(const VecMma *mma, VecCoord row, VecCoord column, VecCoord *coords) {
  memcpy(coords, mma->at, mma->batch * sizeof *coords);
  coords[mma->batch] = row;
  coords[mma->batch + 1] = column;
}

MlirValue vecMultiplyAdd(const VecMma *mma, MlirValue a, MlirValue b, MlirValue c) {
  TileBuilder *builder = &mma->lowering->builder;
  if (mlirTypeIsAFloat(mma->element))
    return vectorFMAOpBuild(builder, a, b, c);
  return arithAddIOpBuild(builder, c, arithMulIOpBuild(builder, a, b));
}

// values += lhs[row.., k] * rhs[k, column..]; k counts groups where neighbours are multiplied together.
static void stepBlock(const VecMma *mma, VecBlock *block, VecCoord k) {
  if (mma->group > 1) {
    vecStepGroup(mma, block, k);
    return;
  }
  TileBuilder *builder = &mma->lowering->builder;
  VecBody body = vecBodyBegin(mma->lowering, true);
  MlirValue columns[MaxRegisters];
  VecCoord coords[MaxRank];
  for (int64_t v = 0; v < block->vectors; ++v) {
    vecMmaCoords(mma, k, vecCoordPlus(block->column, v * block->width), coords);
    columns[v] = vecEvaluate(&body, mma->rhs, coords, mma->batch + 1, widthOf(block, v));
  }
  for (int64_t r = 0; r < block->rows; ++r) {
    vecMmaCoords(mma, vecCoordPlus(block->row, r), k, coords);
    MlirValue scalar = vecEvaluate(&body, mma->lhs, coords, -1, 0), splat = {NULL};
    for (int64_t v = 0; v < block->vectors; ++v) {
      if (v == 0 || widthOf(block, v) != widthOf(block, v - 1))
        splat = vecBuildSplat(builder, scalar, widthOf(block, v));
      MlirValue *value = &block->values[r * block->vectors + v];
      *value = vecMultiplyAdd(mma, splat, columns[v], *value);
    }
  }
  vecBodyEnd(&body);
}

static void loopOverDepth(const VecMma *mma, VecBlock *block, int64_t whole) {
  VecLowering *lowering = mma->lowering;
  TileBuilder *builder = &lowering->builder;
  intptr_t count = (block->rows + block->hasBias) * block->vectors;
  MlirBlock body;
  MlirOperation loop = tileBuildFor(builder, tileBuildIndex(builder, 0), tileBuildIndex(builder, whole),
                                    tileBuildIndex(builder, lowering->widths.unroll), count, block->values, &body);
  TileBuilder before = vecEnter(lowering, body);
  for (intptr_t i = 0; i < count; ++i)
    block->values[i] = mlirBlockGetArgument(body, i + 1);
  for (int64_t t = 0; t < lowering->widths.unroll; ++t)
    stepBlock(mma, block, vecCoordPlus(vecCoordOf(mlirBlockGetArgument(body, 0)), t));
  tileBuildYield(&lowering->builder, count, block->values);
  lowering->builder = before;
  for (intptr_t i = 0; i < count; ++i)
    block->values[i] = mlirOperationGetResult(loop, i);
}

static void multiplyBlock(const VecMma *mma, VecBlock *block) {
  int64_t steps = mma->depth / mma->group, unroll = mma->lowering->widths.unroll, whole = steps / unroll * unroll;
  if (whole == unroll)
    whole = 0;
  if (whole)
    loopOverDepth(mma, block, whole);
  for (int64_t k = whole; k < steps; ++k)
    stepBlock(mma, block, vecCoordConstant(k));
}

// As above, of left factors that are made unsigned: what that adds is taken away again.
static void multiplyBiased(const VecMma *mma, VecBlock *block) {
  TileBuilder *builder = &mma->lowering->builder;
  intptr_t count = block->rows * block->vectors;
  for (int64_t v = 0; v < block->vectors; ++v)
    block->values[count + v] = vecBuildZero(builder, mlirValueGetType(block->values[v]));
  block->hasBias = true;
  multiplyBlock(mma, block);
  for (intptr_t i = 0; i < count; ++i)
    block->values[i] = arithSubIOpBuild(builder, block->values[i], block->values[count + i % block->vectors]);
}

//===--- lanes along k -------------------------------------------------------------------------------------===//

// The right operand by columns, if both lie along k where the nest reads them and the columns fill no vector; else
// null.
static VecRecord *columnsAlongDepth(const VecMma *mma, const VecRecord *left, const VecRecord *right) {
  VecLowering *lowering = mma->lowering;
  int64_t lanes = lowering->widths.lanes;
  bool isTurned = right->kind == VecRecord_Lazy && tileTransposeOpIsA(right->op) && right->shape.rank == 2;
  if (!isTurned || mma->columns >= lanes || lanes > MaxLanes || mma->depth < lanes ||
      mma->rows * mma->columns > MaxRegisters)
    return NULL;
  VecRecord *columns = vecRecordOf(lowering, tileTransposeOpGetInput(right->op));
  MlirAttribute permutation = tileTransposeOpGetPermutation(right->op);
  bool isRead = mlirDenseI64ArrayGetElement(permutation, 0) == 1 && isReadInPlace(mma, left, true) &&
                isReadInPlace(mma, columns, true);
  return isRead ? columns : NULL;
}

static MlirValue lanesOrZero(const VecMma *mma, MlirValue vector, MlirValue lanes) {
  TileBuilder *builder = &mma->lowering->builder;
  return !mlirValueIsNull(lanes)
             ? arithSelectOpBuild(builder, lanes, vector, vecBuildZero(builder, mlirValueGetType(vector)))
             : vector;
}

// values[row, column] += lhs[row, k..] * rhs[k.., column] in `lanes` (null: all of them).
static void stepAlongDepth(const VecMma *mma, VecCoord k, MlirValue lanes, MlirValue *values) {
  VecLowering *lowering = mma->lowering;
  VecBody body = vecBodyBegin(lowering, true);
  MlirValue columns[MaxRegisters];
  for (int64_t c = 0; c < mma->columns; ++c)
    columns[c] = lanesOrZero(
        mma, vecEvaluate(&body, mma->rhs, (VecCoord[]){vecCoordConstant(c), k}, 1, lowering->widths.lanes), lanes);
  for (int64_t r = 0; r < mma->rows; ++r) {
    MlirValue row = vecEvaluate(&body, mma->lhs, (VecCoord[]){vecCoordConstant(r), k}, 1, lowering->widths.lanes);
    row = lanesOrZero(mma, row, lanes);
    for (int64_t c = 0; c < mma->columns; ++c) {
      MlirValue *value = &values[r * mma->columns + c];
      *value = vecMultiplyAdd(mma, row, columns[c], *value);
    }
  }
  vecBodyEnd(&body);
}

// The last `count` of the lanes.
static MlirValue lastLanes(const VecMma *mma, int64_t count) {
  TileBuilder *builder = &mma->lowering->builder;
  MlirType bit = mlirIntegerTypeGet(builder->context, 1);
  MlirAttribute lanes[MaxLanes];
  for (int64_t i = 0; i < mma->lowering->widths.lanes; ++i)
    lanes[i] = mlirBoolAttrGet(builder->context, i >= mma->lowering->widths.lanes - count);
  MlirType type = vecVectorOf(bit, mma->lowering->widths.lanes);
  return tileBuildConstant(builder, mlirDenseElementsAttrGet(type, mma->lowering->widths.lanes, lanes));
}

static MlirValue sumOfLanes(const VecMma *mma, MlirValue vector) {
  return vecBuildReduction(&mma->lowering->builder, mma->element, vector, VectorCombiningKind_Add);
}

// Rows of the block, each a vector of its columns. The rest of k is in the last lanes of the last vector.
static void multiplyAlongDepth(const VecMma *mma, VecBlock *block) {
  VecLowering *lowering = mma->lowering;
  int64_t lanes = lowering->widths.lanes, whole = mma->depth / lanes * lanes;
  intptr_t count = mma->rows * mma->columns;
  MlirValue values[MaxRegisters], none = {NULL};
  MlirBlock body;
  for (intptr_t i = 0; i < count; ++i)
    values[i] = vecBuildZero(&lowering->builder, vecVectorOf(mma->element, lanes));
  MlirOperation loop =
      tileBuildFor(&lowering->builder, tileBuildIndex(&lowering->builder, 0), tileBuildIndex(&lowering->builder, whole),
                   tileBuildIndex(&lowering->builder, lanes), count, values, &body);
  TileBuilder before = vecEnter(lowering, body);
  for (intptr_t i = 0; i < count; ++i)
    values[i] = mlirBlockGetArgument(body, i + 1);
  stepAlongDepth(mma, vecCoordOf(mlirBlockGetArgument(body, 0)), none, values);
  tileBuildYield(&lowering->builder, count, values);
  lowering->builder = before;
  for (intptr_t i = 0; i < count; ++i)
    values[i] = mlirOperationGetResult(loop, i);
  if (whole < mma->depth)
    stepAlongDepth(mma, vecCoordConstant(mma->depth - lanes), lastLanes(mma, mma->depth - whole), values);
  for (intptr_t i = 0; i < count; ++i)
    values[i] = sumOfLanes(mma, values[i]);
  for (int64_t r = 0; r < mma->rows; ++r)
    block->values[r] = vectorFromElementsOpBuild(&lowering->builder, vecVectorOf(mma->element, mma->columns),
                                                 mma->columns, &values[r * mma->columns]);
}

//===--- a result in registers ------------------------------------------------------------===//

static bool comesFromView(const VecRecord *record) {
  return record->kind == VecRecord_Lazy && tileLoadOpIsA(record->op) && !mlirValueIsNull(record->access->root);
}

static bool areHalves(const VecMma *mma) { return mma->dot && mma->dot->isByHalves; }

static void startAtZero(const VecMma *mma, VecBlock *block) {
  TileBuilder *builder = &mma->lowering->builder;
  for (int64_t i = 0; i < block->rows * block->vectors; ++i) {
    int64_t width = widthOf(block, i % block->vectors) * (areHalves(mma) ? mma->group : 1);
    block->values[i] = vecBuildZero(builder, vecVectorOf(mma->element, width));
  }
}

static void addLast(const VecMma *mma, VecBlock *block, const MlirValue *sums) {
  TileUpstream add = mlirTypeIsAFloat(mma->element) ? ArithOp_AddF : ArithOp_AddI;
  for (int64_t i = 0; i < block->rows * block->vectors; ++i)
    block->values[i] = tileBuildBinary(&mma->lowering->builder, add, block->values[i], sums[i]);
}

static void addAccumulator(VecMma *mma, VecBlock *block) {
  addLast(mma, block, vecEvaluateRegisters(mma->lowering, mma->accumulator));
}

// The sums of halves start from 0 and become the columns' sums.
static void multiplyByHalves(const VecMma *mma, VecBlock *block) {
  startAtZero(mma, block);
  multiplyBlock(mma, block);
  for (int64_t i = 0; i < block->rows * block->vectors; ++i)
    block->values[i] = vecSumOfHalves(mma, block->values[i]);
}

static void multiplyInRegisters(VecMma *mma, MlirValue result) {
  VecLowering *lowering = mma->lowering;
  int64_t lanes = lowering->widths.lanes, vectors = (mma->columns + lanes - 1) / lanes;
  VecBlock block = {.rows = mma->rows, .vectors = vectors, .width = lanes};
  block.lastWidth = mma->columns - (vectors - 1) * lanes;
  intptr_t count = block.rows * vectors;
  bool isLast = mma->isAlongDepth || areHalves(mma) || comesFromView(mma->accumulator);
  if (comesFromView(mma->accumulator))
    vecAccessPrefetch(lowering, mma->accumulator->access, true);
  if (mma->isAlongDepth) {
    multiplyAlongDepth(mma, &block);
  } else if (areHalves(mma)) {
    multiplyByHalves(mma, &block);
  } else {
    if (isLast)
      startAtZero(mma, &block);
    else
      memcpy(block.values, vecEvaluateRegisters(lowering, mma->accumulator), count * sizeof *block.values);
    multiplyBlock(mma, &block);
  }
  if (isLast)
    addAccumulator(mma, &block);
  VecRecord *record = vecRecordNew(lowering, result, VecRecord_Registers);
  record->registers = vecLoweringAllocate(lowering, count * sizeof *record->registers);
  memcpy(record->registers, block.values, count * sizeof *record->registers);
}

//===--- a result in memory -----------------------------------------------------------------===//

static void moveBlock(const VecMma *mma, VecBlock *block, const VecAccess *target, bool inside) {
  VecBody body = vecBodyBegin(mma->lowering, inside);
  for (int64_t i = 0; i < block->rows * block->vectors; ++i) {
    int64_t r = i / block->vectors, v = i % block->vectors;
    VecCoord coords[MaxRank];
    vecMmaCoords(mma, vecCoordPlus(block->row, r), vecCoordPlus(block->column, v * block->width), coords);
    if (target)
      vecAccessStore(&body, target, coords, mma->batch + 1, widthOf(block, v), block->values[i]);
    else
      block->values[i] = vecEvaluate(&body, mma->accumulator, coords, mma->batch + 1, widthOf(block, v));
  }
  vecBodyEnd(&body);
}

static void multiplyAt(const VecMma *mma, const VecAccess *target, VecCoord row, int64_t rows, VecCoord column,
                       int64_t columns) {
  int64_t lanes = mma->lowering->widths.lanes, vectors = (columns + lanes - 1) / lanes;
  VecBlock block = {.row = row, .column = column, .rows = rows, .vectors = vectors, .width = lanes};
  block.lastWidth = columns - (vectors - 1) * lanes;
  moveBlock(mma, &block, NULL, !vecMayLeave(mma->lowering, mma->accumulator));
  if (areHalves(mma)) {
    MlirValue start[MaxRegisters];
    memcpy(start, block.values, sizeof start);
    multiplyByHalves(mma, &block);
    addLast(mma, &block, start);
  } else if (mma->isBiased) {
    multiplyBiased(mma, &block);
  } else {
    multiplyBlock(mma, &block);
  }
  moveBlock(mma, &block, target, true);
}

void vecEachBlock(const VecMma *mma, const VecAccess *target, int64_t total, int64_t size, VecCoord outer,
                  int64_t outerSize, VecBlockVisitor visit) {
  VecLowering *lowering = mma->lowering;
  TileBuilder *builder = &lowering->builder;
  int64_t whole = total / size * size;
  if (whole == size)
    visit(mma, target, outer, outerSize, vecCoordConstant(0), size);
  else if (whole) {
    MlirBlock body = vecBuildLoop(builder, tileBuildIndex(builder, 0), tileBuildIndex(builder, whole), size);
    TileBuilder before = vecEnter(lowering, body);
    visit(mma, target, outer, outerSize, vecCoordOf(mlirBlockGetArgument(body, 0)), size);
    tileBuildYield(&lowering->builder, 0, NULL);
    lowering->builder = before;
  }
  if (whole < total)
    visit(mma, target, outer, outerSize, vecCoordConstant(whole), total - whole);
}

static void visitBlock(const VecMma *mma, const VecAccess *target, VecCoord column, int64_t columns, VecCoord row,
                       int64_t rows) {
  multiplyAt(mma, target, row, rows, column, columns);
}

static void visitPanel(const VecMma *mma, const VecAccess *target, VecCoord outer, int64_t outerSize, VecCoord column,
                       int64_t columns) {
  (void)outer, (void)outerSize;
  vecEachBlock(mma, target, mma->rows, mma->lowering->widths.rows, column, columns, visitBlock);
}

// Few rows take more columns: as many accumulators as a full block has hide the latency of the multiply-add.
static int64_t vectorsPerBlock(const VecMma *mma) {
  const VecWidths *widths = &mma->lowering->widths;
  int64_t rows = mma->rows < widths->rows ? mma->rows : widths->rows;
  int64_t vectors = widths->rows * (widths->columns / widths->lanes) / rows;
  return vectors < MostVectors ? vectors : MostVectors;
}

static bool isByTiles(const VecMma *mma) { return mma->dot && mma->dot->isByTiles; }

static void eachBatch(VecMma *mma, const VecAccess *target, intptr_t d) {
  VecLowering *lowering = mma->lowering;
  TileBuilder *builder = &lowering->builder;
  if (d == mma->batch && isByTiles(mma)) {
    vecMultiplyTiles(mma, target);
    return;
  }
  if (d == mma->batch) {
    vecEachBlock(mma, target, mma->columns, vectorsPerBlock(mma) * lowering->widths.lanes, vecCoordConstant(0), 0,
                 visitPanel);
    return;
  }
  MlirValue size = tileBuildIndex(builder, target->shape.sizes[d]);
  MlirBlock body = vecBuildLoop(builder, tileBuildIndex(builder, 0), size, 1);
  TileBuilder before = vecEnter(lowering, body);
  mma->at[d] = vecCoordOf(mlirBlockGetArgument(body, 0));
  eachBatch(mma, target, d + 1);
  tileBuildYield(&lowering->builder, 0, NULL);
  lowering->builder = before;
}

// The machine's instruction on vectors for the types of one on tile registers; null: multiply-adds.
static const TileDot *dotOfVectors(const VecMma *mma) {
  for (int i = 0; i < TileNumDots; ++i)
    if (!tileDots[i].isByTiles && mma->lowering->widths.hasDot[i] &&
        tileDotTakes(&tileDots[i], mma->rhs->shape.element, mma->element))
      return &tileDots[i];
  return NULL;
}

static VecMma withoutTiles(const VecMma *mma) {
  VecMma byVectors = *mma;
  byVectors.dot = dotOfVectors(mma);
  byVectors.isBiased = byVectors.dot && mma->group == 4 && mma->isUnsigned[0] == mma->isUnsigned[1];
  byVectors.isSwapped = byVectors.dot && mma->group == 4 && mma->isUnsigned[1];
  return byVectors;
}

// By tile registers where the process may use them, by vectors elsewhere.
static void multiplyByTiles(VecMma *mma, const VecAccess *target) {
  VecLowering *lowering = mma->lowering;
  VecMma byVectors = withoutTiles(mma);
  MlirBlock branches[2];
  vecBuildIf(&lowering->builder, vecMayUseTiles(mma), 0, NULL, &branches[0], &branches[1]);
  for (int i = 0; i < 2; ++i) {
    TileBuilder before = vecEnter(lowering, branches[i]);
    if (i == 0)
      vecBeginTiles(mma, target);
    eachBatch(i == 0 ? mma : &byVectors, target, 0);
    if (i == 0)
      vecEndTiles(mma);
    tileBuildYield(&lowering->builder, 0, NULL);
    lowering->builder = before;
  }
}

static void multiplyInMemory(VecMma *mma, MlirOperation op) {
  VecLowering *lowering = mma->lowering;
  intptr_t mark = vecSpill(lowering, mma->accumulator, false);
  VecAccess *target = vecInPlaceTarget(lowering, tileMmaOpGetAccumulator(op));
  if (!target) {
    VecShape shape = vecShapeOf(mlirValueGetType(tileMmaOpGetResult(op)));
    target = vecBufferNew(lowering, &shape);
  }
  if (isByTiles(mma))
    multiplyByTiles(mma, target);
  else
    eachBatch(mma, target, 0);
  vecUnspill(lowering, mark);
  vecRecordMemory(lowering, tileMmaOpGetResult(op), target);
}

static void setSizes(VecMma *mma, const VecShape *lhs, const VecShape *result) {
  mma->element = result->element;
  mma->batch = result->rank - 2;
  mma->rows = result->sizes[mma->batch];
  mma->columns = result->sizes[mma->batch + 1];
  mma->depth = lhs->sizes[mma->batch + 1];
  mma->group = 1;
}

void vecMultiplyInto(VecLowering *lowering, VecRecord *lhs, VecRecord *rhs, VecRecord *sum) {
  VecMma mma = {.lowering = lowering, .lhs = lhs, .rhs = rhs, .accumulator = sum};
  setSizes(&mma, &lhs->shape, &sum->shape);
  eachBatch(&mma, sum->access, 0);
}

bool vecLowerMma(VecLowering *lowering, MlirOperation op) {
  VecRecord *left = vecRecordOf(lowering, tileMmaOpGetLhs(op)), *right = vecRecordOf(lowering, tileMmaOpGetRhs(op));
  VecShape result = vecShapeOf(mlirValueGetType(tileMmaOpGetResult(op)));
  VecMma mma = {.lowering = lowering};
  setSizes(&mma, &left->shape, &result);
  mma.accumulator = vecRecordOf(lowering, tileMmaOpGetAccumulator(op));
  bool isGrouped = vecPrepareGroups(&mma, op, left, right);
  if (isByTiles(&mma) && !vecPrepareTiles(&mma))
    mma = withoutTiles(&mma);
  bool isInRegisters = result.rank == 2 && vecFitsRegisters(lowering, &result) && !isByTiles(&mma) && !mma.isBiased;
  VecRecord *columns = isInRegisters && !isGrouped && !tileDotOf(op) ? columnsAlongDepth(&mma, left, right) : NULL;
  mma.isAlongDepth = columns != NULL;
  if (columns) {
    mma.lhs = prepareOperand(&mma, left, true);
    mma.rhs = prepareOperand(&mma, columns, true);
  } else if (!isGrouped) {
    const TileDot *dot = tileDotOf(op);
    mma.lhs = dot && dot->isUnsigned[0] ? prepareUnsigned(&mma, left) : prepareOperand(&mma, left, false);
    mma.rhs = dot && dot->isUnsigned[1] ? prepareUnsigned(&mma, right) : prepareOperand(&mma, right, true);
  }
  if (isInRegisters)
    multiplyInRegisters(&mma, tileMmaOpGetResult(op));
  else
    multiplyInMemory(&mma, op);
  return true;
}
