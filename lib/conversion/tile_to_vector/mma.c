// tile.mma: a block of the result in registers, k outside, one fused multiply-add per row and vector of columns. A
// result that fits registers is one block; a larger one is held in memory and walked block by block. Operands that lie
// in memory as the nest reads them are read where they are; others are packed first, with padding, so that the loop
// over k has no masks. Four steps of k per iteration.
//
// The order of summation is k = 0, 1, 2, … into one accumulator per element, fused. An accumulator that is a tile just
// loaded from a view is prefetched first and added last, when it has arrived: a load before the loop over k would wait
// for the outer caches (measured at 1024³: 0.84 against 1.00 of OpenBLAS).
//
// Where neighbours along k are multiplied together (dot.c) a step is one group of them. Fewer columns than a vector has
// lanes, of operands that both lie along k, are summed lane by lane along k, the lanes last.
#include "lib/conversion/tile_to_vector/mma.h"

#include <string.h>

enum { BlockRows = 8, BlockVectors = 2, MostVectors = 8, Unroll = 4, MaxLanes = 64 };

//===--- operands -------------------------------------------------------------------===//

static bool isReadInPlace(const Mma *mma, const Record *record, bool inVectors) {
  if (!isRead(record) || accessMayLeave(record->access) || !mlirTypeEqual(record->shape.element, mma->element))
    return false;
  return !inVectors || accessIsContiguous(record->access, record->shape.rank - 1, mma->lowering->lanes);
}

static Record *prepareOperand(const Mma *mma, Record *record, bool inVectors) {
  if (isReadInPlace(mma, record, inVectors)) {
    Access *moved = accessFromOrigin(mma->lowering, record->access);
    return moved ? recordOfAccess(mma->lowering, moved) : record;
  }
  return recordOfAccess(mma->lowering, materialize(mma->lowering, record, mma->element));
}

//===--- one block ---------------------------------------------------------------------===//

static int64_t widthOf(const Block *block, int64_t vector) {
  return vector == block->vectors - 1 ? block->lastWidth : block->width;
}

void mmaCoords(const Mma *mma, Coord row, Coord column, Coord *coords) {
  memcpy(coords, mma->at, mma->batch * sizeof *coords);
  coords[mma->batch] = row;
  coords[mma->batch + 1] = column;
}

static MlirValue multiplyAdd(const Mma *mma, MlirValue a, MlirValue b, MlirValue c) {
  TileBuilder *builder = &mma->lowering->builder;
  if (mlirTypeIsAFloat(mma->element))
    return tileBuildValue(builder, "vector.fma", mlirValueGetType(c), 3, (MlirValue[]){a, b, c}, NULL);
  return buildBinary(builder, "arith.addi", c, buildBinary(builder, "arith.muli", a, b));
}

// values += lhs[row.., k] * rhs[k, column..]; k counts groups where neighbours are multiplied together.
static void stepBlock(const Mma *mma, Block *block, Coord k) {
  if (mma->group > 1) {
    stepGroup(mma, block, k);
    return;
  }
  TileBuilder *builder = &mma->lowering->builder;
  Body body = bodyBegin(mma->lowering, true);
  MlirValue columns[MaxRegisters];
  Coord coords[MaxRank];
  for (int64_t v = 0; v < block->vectors; ++v) {
    mmaCoords(mma, k, coordPlus(block->column, v * block->width), coords);
    columns[v] = evaluate(&body, mma->rhs, coords, mma->batch + 1, widthOf(block, v));
  }
  for (int64_t r = 0; r < block->rows; ++r) {
    mmaCoords(mma, coordPlus(block->row, r), k, coords);
    MlirValue scalar = evaluate(&body, mma->lhs, coords, -1, 0), splat = {NULL};
    for (int64_t v = 0; v < block->vectors; ++v) {
      if (v == 0 || widthOf(block, v) != widthOf(block, v - 1))
        splat = buildSplat(builder, scalar, widthOf(block, v));
      MlirValue *value = &block->values[r * block->vectors + v];
      *value = multiplyAdd(mma, splat, columns[v], *value);
    }
  }
  bodyEnd(&body);
}

static void loopOverDepth(const Mma *mma, Block *block, int64_t whole) {
  Lowering *lowering = mma->lowering;
  TileBuilder *builder = &lowering->builder;
  intptr_t count = block->rows * block->vectors;
  MlirBlock body;
  MlirOperation loop = tileBuildFor(builder, tileBuildIndex(builder, 0), tileBuildIndex(builder, whole),
                                    tileBuildIndex(builder, Unroll), count, block->values, &body);
  TileBuilder before = enter(lowering, body);
  for (intptr_t i = 0; i < count; ++i)
    block->values[i] = mlirBlockGetArgument(body, i + 1);
  for (int64_t t = 0; t < Unroll; ++t)
    stepBlock(mma, block, coordPlus(coordOf(mlirBlockGetArgument(body, 0)), t));
  tileBuildYield(&lowering->builder, count, block->values);
  lowering->builder = before;
  for (intptr_t i = 0; i < count; ++i)
    block->values[i] = mlirOperationGetResult(loop, i);
}

static void multiplyBlock(const Mma *mma, Block *block) {
  int64_t steps = mma->depth / mma->group, whole = steps / Unroll * Unroll;
  if (whole == Unroll)
    whole = 0;
  if (whole)
    loopOverDepth(mma, block, whole);
  for (int64_t k = whole; k < steps; ++k)
    stepBlock(mma, block, coordConstant(k));
}

//===--- lanes along k -------------------------------------------------------------------------------------===//

// The right operand by columns, if both lie along k where the nest reads them and the columns fill no vector; else
// null.
static Record *columnsAlongDepth(const Mma *mma, const Record *left, const Record *right) {
  Lowering *lowering = mma->lowering;
  int64_t lanes = lowering->lanes;
  bool isTurned = right->kind == Record_Lazy && tileOpIs(right->op, "tile.transpose") && right->shape.rank == 2;
  if (!isTurned || mma->columns >= lanes || lanes > MaxLanes || mma->depth < lanes ||
      mma->rows * mma->columns > MaxRegisters)
    return NULL;
  Record *columns = recordOf(lowering, mlirOperationGetOperand(right->op, 0));
  MlirAttribute permutation = tileOpAttribute(right->op, "permutation");
  bool isRead = mlirDenseI64ArrayGetElement(permutation, 0) == 1 && isReadInPlace(mma, left, true) &&
                isReadInPlace(mma, columns, true);
  return isRead ? columns : NULL;
}

static MlirValue lanesOrZero(const Mma *mma, MlirValue vector, MlirValue lanes) {
  TileBuilder *builder = &mma->lowering->builder;
  return lanes.ptr ? buildSelect(builder, lanes, vector, buildZero(builder, mlirValueGetType(vector))) : vector;
}

// values[row, column] += lhs[row, k..] * rhs[k.., column] in `lanes` (null: all of them).
static void stepAlongDepth(const Mma *mma, Coord k, MlirValue lanes, MlirValue *values) {
  Lowering *lowering = mma->lowering;
  Body body = bodyBegin(lowering, true);
  MlirValue columns[MaxRegisters];
  for (int64_t c = 0; c < mma->columns; ++c)
    columns[c] = lanesOrZero(mma, evaluate(&body, mma->rhs, (Coord[]){coordConstant(c), k}, 1, lowering->lanes), lanes);
  for (int64_t r = 0; r < mma->rows; ++r) {
    MlirValue row = evaluate(&body, mma->lhs, (Coord[]){coordConstant(r), k}, 1, lowering->lanes);
    row = lanesOrZero(mma, row, lanes);
    for (int64_t c = 0; c < mma->columns; ++c) {
      MlirValue *value = &values[r * mma->columns + c];
      *value = multiplyAdd(mma, row, columns[c], *value);
    }
  }
  bodyEnd(&body);
}

// The last `count` of the lanes.
static MlirValue lastLanes(const Mma *mma, int64_t count) {
  TileBuilder *builder = &mma->lowering->builder;
  MlirType bit = mlirIntegerTypeGet(builder->context, 1);
  MlirAttribute lanes[MaxLanes];
  for (int64_t i = 0; i < mma->lowering->lanes; ++i)
    lanes[i] = mlirBoolAttrGet(builder->context, i >= mma->lowering->lanes - count);
  MlirType type = vectorOf(bit, mma->lowering->lanes);
  TileAttributeEntry value[] = {{"value", mlirDenseElementsAttrGet(type, mma->lowering->lanes, lanes)}, {0}};
  return tileBuildValue(builder, "arith.constant", type, 0, NULL, value);
}

static MlirValue sumOfLanes(const Mma *mma, MlirValue vector) {
  TileBuilder *builder = &mma->lowering->builder;
  TileAttributeEntry attributes[] = {{"kind", namedAttribute(builder->context, "#vector.kind<add>")},
                                     {"fastmath", namedAttribute(builder->context, "#arith.fastmath<reassoc>")},
                                     {0}};
  return tileBuildValue(builder, "vector.reduction", mma->element, 1, &vector, attributes);
}

// Rows of the block, each a vector of its columns. The rest of k is in the last lanes of the last vector.
static void multiplyAlongDepth(const Mma *mma, Block *block) {
  Lowering *lowering = mma->lowering;
  int64_t lanes = lowering->lanes, whole = mma->depth / lanes * lanes;
  intptr_t count = mma->rows * mma->columns;
  MlirValue values[MaxRegisters], none = {NULL};
  MlirBlock body;
  for (intptr_t i = 0; i < count; ++i)
    values[i] = buildZero(&lowering->builder, vectorOf(mma->element, lanes));
  MlirOperation loop =
      tileBuildFor(&lowering->builder, tileBuildIndex(&lowering->builder, 0), tileBuildIndex(&lowering->builder, whole),
                   tileBuildIndex(&lowering->builder, lanes), count, values, &body);
  TileBuilder before = enter(lowering, body);
  for (intptr_t i = 0; i < count; ++i)
    values[i] = mlirBlockGetArgument(body, i + 1);
  stepAlongDepth(mma, coordOf(mlirBlockGetArgument(body, 0)), none, values);
  tileBuildYield(&lowering->builder, count, values);
  lowering->builder = before;
  for (intptr_t i = 0; i < count; ++i)
    values[i] = mlirOperationGetResult(loop, i);
  if (whole < mma->depth)
    stepAlongDepth(mma, coordConstant(mma->depth - lanes), lastLanes(mma, mma->depth - whole), values);
  for (intptr_t i = 0; i < count; ++i)
    values[i] = sumOfLanes(mma, values[i]);
  for (int64_t r = 0; r < mma->rows; ++r)
    block->values[r] = tileBuildValue(&lowering->builder, "vector.from_elements", vectorOf(mma->element, mma->columns),
                                      mma->columns, &values[r * mma->columns], NULL);
}

//===--- a result in registers ------------------------------------------------------------===//

static bool comesFromView(const Record *record) {
  return record->kind == Record_Lazy && tileOpIs(record->op, "tile.load") && record->access->root.ptr;
}

static void startAtZero(Mma *mma, Block *block) {
  TileBuilder *builder = &mma->lowering->builder;
  for (int64_t i = 0; i < block->rows * block->vectors; ++i)
    block->values[i] = buildZero(builder, vectorOf(mma->element, widthOf(block, i % block->vectors)));
}

static void addAccumulator(Mma *mma, Block *block) {
  Lowering *lowering = mma->lowering;
  const char *add = mlirTypeIsAFloat(mma->element) ? "arith.addf" : "arith.addi";
  MlirValue *loaded = evaluateRegisters(lowering, mma->accumulator);
  for (int64_t i = 0; i < block->rows * block->vectors; ++i)
    block->values[i] = buildBinary(&lowering->builder, add, block->values[i], loaded[i]);
}

static void multiplyInRegisters(Mma *mma, MlirValue result) {
  Lowering *lowering = mma->lowering;
  int64_t lanes = lowering->lanes, vectors = (mma->columns + lanes - 1) / lanes;
  Block block = {.rows = mma->rows, .vectors = vectors, .width = lanes};
  block.lastWidth = mma->columns - (vectors - 1) * lanes;
  intptr_t count = block.rows * vectors;
  bool isLast = mma->isAlongDepth || comesFromView(mma->accumulator);
  if (comesFromView(mma->accumulator))
    accessPrefetch(lowering, mma->accumulator->access, true);
  if (mma->isAlongDepth) {
    multiplyAlongDepth(mma, &block);
  } else {
    if (isLast)
      startAtZero(mma, &block);
    else
      memcpy(block.values, evaluateRegisters(lowering, mma->accumulator), count * sizeof *block.values);
    multiplyBlock(mma, &block);
  }
  if (isLast)
    addAccumulator(mma, &block);
  Record *record = recordNew(lowering, result, Record_Registers);
  record->registers = loweringAllocate(lowering, count * sizeof *record->registers);
  memcpy(record->registers, block.values, count * sizeof *record->registers);
}

//===--- a result in memory -----------------------------------------------------------------===//

static void moveBlock(const Mma *mma, Block *block, const Access *target, bool inside) {
  Body body = bodyBegin(mma->lowering, inside);
  for (int64_t i = 0; i < block->rows * block->vectors; ++i) {
    int64_t r = i / block->vectors, v = i % block->vectors;
    Coord coords[MaxRank];
    mmaCoords(mma, coordPlus(block->row, r), coordPlus(block->column, v * block->width), coords);
    if (target)
      accessStore(&body, target, coords, mma->batch + 1, widthOf(block, v), block->values[i]);
    else
      block->values[i] = evaluate(&body, mma->accumulator, coords, mma->batch + 1, widthOf(block, v));
  }
  bodyEnd(&body);
}

static void multiplyAt(const Mma *mma, const Access *target, Coord row, int64_t rows, Coord column, int64_t columns) {
  int64_t lanes = mma->lowering->lanes, vectors = (columns + lanes - 1) / lanes;
  Block block = {.row = row, .column = column, .rows = rows, .vectors = vectors, .width = lanes};
  block.lastWidth = columns - (vectors - 1) * lanes;
  moveBlock(mma, &block, NULL, !mayLeave(mma->lowering, mma->accumulator));
  multiplyBlock(mma, &block);
  moveBlock(mma, &block, target, true);
}

typedef void (*BlockVisitor)(const Mma *mma, const Access *target, Coord outer, int64_t outerSize, Coord at,
                             int64_t size);

// Blocks of `size` along an axis of `total`, then the rest.
static void eachBlock(const Mma *mma, const Access *target, int64_t total, int64_t size, Coord outer, int64_t outerSize,
                      BlockVisitor visit) {
  Lowering *lowering = mma->lowering;
  TileBuilder *builder = &lowering->builder;
  int64_t whole = total / size * size;
  if (whole == size)
    visit(mma, target, outer, outerSize, coordConstant(0), size);
  else if (whole) {
    MlirBlock body = buildLoop(builder, tileBuildIndex(builder, 0), tileBuildIndex(builder, whole), size);
    TileBuilder before = enter(lowering, body);
    visit(mma, target, outer, outerSize, coordOf(mlirBlockGetArgument(body, 0)), size);
    tileBuildYield(&lowering->builder, 0, NULL);
    lowering->builder = before;
  }
  if (whole < total)
    visit(mma, target, outer, outerSize, coordConstant(whole), total - whole);
}

static void visitBlock(const Mma *mma, const Access *target, Coord column, int64_t columns, Coord row, int64_t rows) {
  multiplyAt(mma, target, row, rows, column, columns);
}

static void visitPanel(const Mma *mma, const Access *target, Coord outer, int64_t outerSize, Coord column,
                       int64_t columns) {
  (void)outer, (void)outerSize;
  eachBlock(mma, target, mma->rows, BlockRows, column, columns, visitBlock);
}

// Few rows take more columns: as many accumulators as a full block has hide the latency of the multiply-add.
static int64_t vectorsPerBlock(const Mma *mma) {
  int64_t rows = mma->rows < BlockRows ? mma->rows : BlockRows, vectors = BlockRows * BlockVectors / rows;
  return vectors < MostVectors ? vectors : MostVectors;
}

static void eachBatch(Mma *mma, const Access *target, intptr_t d) {
  Lowering *lowering = mma->lowering;
  TileBuilder *builder = &lowering->builder;
  if (d == mma->batch) {
    eachBlock(mma, target, mma->columns, vectorsPerBlock(mma) * lowering->lanes, coordConstant(0), 0, visitPanel);
    return;
  }
  MlirValue size = tileBuildIndex(builder, target->shape.sizes[d]);
  MlirBlock body = buildLoop(builder, tileBuildIndex(builder, 0), size, 1);
  TileBuilder before = enter(lowering, body);
  mma->at[d] = coordOf(mlirBlockGetArgument(body, 0));
  eachBatch(mma, target, d + 1);
  tileBuildYield(&lowering->builder, 0, NULL);
  lowering->builder = before;
}

static void multiplyInMemory(Mma *mma, MlirOperation op) {
  Lowering *lowering = mma->lowering;
  intptr_t mark = spill(lowering, mma->accumulator, false);
  Access *target = inPlaceTarget(lowering, mlirOperationGetOperand(op, 2));
  if (!target) {
    Shape shape = shapeOf(tileResultType(op, 0));
    target = bufferNew(lowering, &shape);
  }
  eachBatch(mma, target, 0);
  unspill(lowering, mark);
  recordMemory(lowering, mlirOperationGetResult(op, 0), target);
}

static void setSizes(Mma *mma, const Shape *lhs, const Shape *result) {
  mma->element = result->element;
  mma->batch = result->rank - 2;
  mma->rows = result->sizes[mma->batch];
  mma->columns = result->sizes[mma->batch + 1];
  mma->depth = lhs->sizes[mma->batch + 1];
  mma->group = 1;
}

void multiplyInto(Lowering *lowering, Record *lhs, Record *rhs, Record *sum) {
  Mma mma = {.lowering = lowering, .lhs = lhs, .rhs = rhs, .accumulator = sum};
  setSizes(&mma, &lhs->shape, &sum->shape);
  eachBatch(&mma, sum->access, 0);
}

bool lowerMma(Lowering *lowering, MlirOperation op) {
  Shape lhs = shapeOf(tileOperandType(op, 0)), result = shapeOf(tileResultType(op, 0));
  Mma mma = {.lowering = lowering};
  setSizes(&mma, &lhs, &result);
  mma.accumulator = recordOf(lowering, mlirOperationGetOperand(op, 2));
  Record *left = recordOf(lowering, mlirOperationGetOperand(op, 0));
  Record *right = recordOf(lowering, mlirOperationGetOperand(op, 1));
  bool isInRegisters = result.rank == 2 && fitsRegisters(lowering, &result);
  bool isGrouped = prepareGroups(&mma, op, left, right);
  Record *columns = isInRegisters && !isGrouped ? columnsAlongDepth(&mma, left, right) : NULL;
  mma.isAlongDepth = columns != NULL;
  if (columns) {
    mma.lhs = prepareOperand(&mma, left, true);
    mma.rhs = prepareOperand(&mma, columns, true);
  } else if (!isGrouped) {
    mma.lhs = prepareOperand(&mma, left, false);
    mma.rhs = prepareOperand(&mma, right, true);
  }
  if (isInRegisters)
    multiplyInRegisters(&mma, mlirOperationGetResult(op, 0));
  else
    multiplyInMemory(&mma, op);
  return true;
}
