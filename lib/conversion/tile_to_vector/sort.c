// tile.sort and tile.topk: per row, keys of 64 bits in the order of docs/numerics.md §3, the runtime's order of them
// (lib/runtime/sort.h), and every operand read by that order.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "dialects/tile/tile.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

typedef struct Sort {
  MlirOperation op;
  intptr_t axis;
  int64_t count, wanted;
  Access *keys, *order, *scratch; // of rank 1
  Access **results;
} Sort;

//===--- keys -----------------------------------------------------------------------------------------===//

static MlirType wordType(Lowering *lowering) { return mlirIntegerTypeGet(lowering->context, 64); }

// Floats: as f64 their bits, negative ones reversed; -0 becomes 0 and nan the greatest.
static MlirValue keyOfFloat(TileBuilder *builder, MlirValue value) {
  MlirType word = mlirIntegerTypeGet(builder->context, 64), wide = mlirF64TypeGet(builder->context);
  MlirType bit = mlirIntegerTypeGet(builder->context, 1);
  value = buildBinary(builder, "arith.addf", convertElement(builder, value, wide, 0), buildZero(builder, wide));
  MlirValue bits = buildUnary(builder, "arith.bitcast", word, value);
  MlirValue sign = buildBinary(builder, "arith.shrsi", bits, tileBuildInteger(builder, word, 63));
  MlirValue flips = buildBinary(builder, "arith.andi", sign, tileBuildInteger(builder, word, INT64_MAX));
  MlirValue key = buildBinary(builder, "arith.xori", bits, flips);
  TileAttributeEntry unordered[] = {{"predicate", mlirIntegerAttrGet(word, 14)}, {0}};
  MlirValue isNan = tileBuildValue(builder, "arith.cmpf", bit, 2, (MlirValue[]){value, value}, unordered);
  return buildSelect(builder, isNan, tileBuildInteger(builder, word, INT64_MAX), key);
}

// Integers are signed: of i1 true is -1 and the smaller.
static MlirValue keyOf(TileBuilder *builder, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (mlirTypeIsAFloat(type))
    return keyOfFloat(builder, value);
  return integerCast(builder, value, mlirIntegerTypeGet(builder->context, 64), true);
}

static void writeKeys(Body *body, const Sort *sort, const Coord *row) {
  Lowering *lowering = body->lowering;
  Coord at[MaxRank];
  memcpy(at, row, sizeof at);
  TileBuilder before = openElements(lowering, sort->count, &at[sort->axis]);
  Body inner = bodyBegin(lowering, false);
  MlirValue key = keyOf(&lowering->builder, elementAt(&inner, mlirOperationGetOperand(sort->op, 0), at));
  accessStore(&inner, sort->keys, &at[sort->axis], -1, 0, key);
  bodyEnd(&inner);
  closeElements(lowering, sort->count, before);
}

//===--- rows -------------------------------------------------------------------------------------------===//

static void askForOrder(Lowering *lowering, const Sort *sort) {
  TileBuilder *builder = &lowering->builder;
  MlirType word = wordType(lowering);
  bool descending = tileOpAttribute(sort->op, "descending").ptr;
  MlirValue operands[] = {
      pointerOfBuffer(builder, sort->keys->memref),    pointerOfBuffer(builder, sort->order->memref),
      pointerOfBuffer(builder, sort->scratch->memref), tileBuildInteger(builder, word, sort->count),
      tileBuildInteger(builder, word, sort->wanted),   tileBuildInteger(builder, word, descending)};
  callRuntime(lowering, "tessera_sort_order", 6, operands);
}

static void moveByOrder(Body *body, const Sort *sort, const Coord *row) {
  Lowering *lowering = body->lowering;
  Coord from[MaxRank], to[MaxRank];
  memcpy(from, row, sizeof from);
  memcpy(to, row, sizeof to);
  TileBuilder before = openElements(lowering, sort->wanted, &to[sort->axis]);
  Body inner = bodyBegin(lowering, false);
  MlirValue position = accessLoad(&inner, sort->order, &to[sort->axis], -1, 0);
  from[sort->axis] = coordOf(integerCast(&lowering->builder, position, mlirIndexTypeGet(lowering->context), true));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(sort->op); ++i) {
    MlirValue element = elementAt(&inner, mlirOperationGetOperand(sort->op, i), from);
    accessStore(&inner, sort->results[i], to, -1, 0, element);
  }
  bodyEnd(&inner);
  closeElements(lowering, sort->wanted, before);
}

static void sortRow(Body *body, const Coord *coords, void *data) {
  const Sort *sort = data;
  writeKeys(body, sort, coords);
  askForOrder(body->lowering, sort);
  moveByOrder(body, sort, coords);
}

static Access *wordsNew(Lowering *lowering, int64_t count) {
  Shape shape = {.rank = 1, .sizes = {count}, .element = wordType(lowering)};
  return bufferNew(lowering, &shape);
}

// Both ops: topk is the first few of the sorted order.
bool lowerSort(Lowering *lowering, MlirOperation op) {
  Shape source = shapeOf(tileOperandType(op, 0)), result = shapeOf(tileResultType(op, 0));
  intptr_t count = mlirOperationGetNumOperands(op);
  Sort sort = {.op = op, .axis = integerAttribute(op, "axis")};
  sort.count = source.sizes[sort.axis];
  sort.wanted = result.sizes[sort.axis];
  sort.keys = wordsNew(lowering, sort.count);
  sort.order = wordsNew(lowering, sort.count);
  sort.scratch = wordsNew(lowering, sort.count);
  sort.results = loweringAllocate(lowering, count * sizeof *sort.results);
  for (intptr_t i = 0; i < count; ++i) {
    Shape shape = shapeOf(tileResultType(op, i));
    sort.results[i] = bufferNew(lowering, &shape);
  }
  intptr_t mark = spillOperands(lowering, op);
  if (shapeCount(&result) > 0)
    forEachElementBut(lowering, &source, sort.axis, sortRow, &sort);
  unspill(lowering, mark);
  for (intptr_t i = 0; i < count; ++i)
    recordMemory(lowering, mlirOperationGetResult(op, i), sort.results[i]);
  return true;
}
