// tile.sort and tile.topk: per row, keys of 64 bits in the order of docs/numerics.md §3, the runtime's order of them
// (lib/runtime/sort.h), and every operand read by that order.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

typedef struct Sort {
  intptr_t axis, numInputs;
  bool isDescending;
  MlirValue *inputs; // of the kernel; the first holds what is compared
  int64_t count, wanted;
  VecAccess *keys, *order, *scratch; // of rank 1
  VecAccess **results;
} Sort;

//===--- keys -----------------------------------------------------------------------------------------===//

static MlirType wordType(VecLowering *lowering) { return mlirIntegerTypeGet(lowering->context, 64); }

// Floats: as f64 their bits, negative ones reversed; -0 becomes 0 and nan the greatest.
static MlirValue keyOfFloat(TileBuilder *builder, MlirValue value) {
  MlirType word = mlirIntegerTypeGet(builder->context, 64), wide = mlirF64TypeGet(builder->context);
  value = arithAddFOpBuild(builder, vecConvertElement(builder, value, wide, 0), vecBuildZero(builder, wide));
  MlirValue bits = arithBitcastOpBuild(builder, word, value);
  MlirValue sign = arithShRSIOpBuild(builder, bits, tileBuildInteger(builder, word, 63));
  MlirValue flips = arithAndIOpBuild(builder, sign, tileBuildInteger(builder, word, INT64_MAX));
  MlirValue key = arithXOrIOpBuild(builder, bits, flips);
  MlirValue isNan = arithCmpFOpBuild(builder, value, value, ArithCmpF_Uno);
  return arithSelectOpBuild(builder, isNan, tileBuildInteger(builder, word, INT64_MAX), key);
}

// Integers are signed: of i1 true is -1 and the smaller.
static MlirValue keyOf(TileBuilder *builder, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (mlirTypeIsAFloat(type))
    return keyOfFloat(builder, value);
  return tileBuildIntegerCast(builder, value, mlirIntegerTypeGet(builder->context, 64), true);
}

static void writeKeys(VecBody *body, const Sort *sort, const VecCoord *row) {
  VecLowering *lowering = body->lowering;
  VecCoord at[MaxRank];
  memcpy(at, row, sizeof at);
  TileBuilder before = vecOpenElements(lowering, sort->count, &at[sort->axis]);
  VecBody inner = vecBodyBegin(lowering, false);
  MlirValue key = keyOf(&lowering->builder, vecElementAt(&inner, sort->inputs[0], at));
  vecAccessStore(&inner, sort->keys, &at[sort->axis], -1, 0, key);
  vecBodyEnd(&inner);
  vecCloseElements(lowering, sort->count, before);
}

//===--- rows -------------------------------------------------------------------------------------------===//

static void askForOrder(VecLowering *lowering, const Sort *sort) {
  TileBuilder *builder = &lowering->builder;
  MlirType word = wordType(lowering);
  MlirValue operands[] = {
      vecPointerOfBuffer(builder, sort->keys->memref),    vecPointerOfBuffer(builder, sort->order->memref),
      vecPointerOfBuffer(builder, sort->scratch->memref), tileBuildInteger(builder, word, sort->count),
      tileBuildInteger(builder, word, sort->wanted),      tileBuildInteger(builder, word, sort->isDescending)};
  vecCallRuntime(lowering, "tessera_sort_order", 6, operands);
}

static void moveByOrder(VecBody *body, const Sort *sort, const VecCoord *row) {
  VecLowering *lowering = body->lowering;
  VecCoord from[MaxRank], to[MaxRank];
  memcpy(from, row, sizeof from);
  memcpy(to, row, sizeof to);
  TileBuilder before = vecOpenElements(lowering, sort->wanted, &to[sort->axis]);
  VecBody inner = vecBodyBegin(lowering, false);
  MlirValue position = vecAccessLoad(&inner, sort->order, &to[sort->axis], -1, 0);
  from[sort->axis] =
      vecCoordOf(tileBuildIntegerCast(&lowering->builder, position, mlirIndexTypeGet(lowering->context), true));
  for (intptr_t i = 0; i < sort->numInputs; ++i) {
    MlirValue element = vecElementAt(&inner, sort->inputs[i], from);
    vecAccessStore(&inner, sort->results[i], to, -1, 0, element);
  }
  vecBodyEnd(&inner);
  vecCloseElements(lowering, sort->wanted, before);
}

static void sortRow(VecBody *body, const VecCoord *coords, void *data) {
  const Sort *sort = data;
  writeKeys(body, sort, coords);
  askForOrder(body->lowering, sort);
  moveByOrder(body, sort, coords);
}

static VecAccess *wordsNew(VecLowering *lowering, int64_t count) {
  VecShape shape = {.rank = 1, .sizes = {count}, .element = wordType(lowering)};
  return vecBufferNew(lowering, &shape);
}

static bool lowerSorted(VecLowering *lowering, MlirOperation op, Sort *sort) {
  MlirValue sorted = tileSortOpIsA(op) ? tileSortOpGetResults(op, 0) : tileTopkOpGetResults(op, 0);
  VecShape source = vecShapeOf(mlirValueGetType(tileSortKeys(op))), result = vecShapeOf(mlirValueGetType(sorted));
  sort->numInputs = mlirOperationGetNumOperands(op);
  sort->count = source.sizes[sort->axis];
  sort->wanted = result.sizes[sort->axis];
  sort->keys = wordsNew(lowering, sort->count);
  sort->order = wordsNew(lowering, sort->count);
  sort->scratch = wordsNew(lowering, sort->count);
  sort->inputs = vecLoweringAllocate(lowering, sort->numInputs * sizeof *sort->inputs);
  sort->results = vecLoweringAllocate(lowering, sort->numInputs * sizeof *sort->results);
  for (intptr_t i = 0; i < sort->numInputs; ++i) {
    VecShape shape = vecShapeOf(tileResultType(op, i));
    sort->inputs[i] = mlirOperationGetOperand(op, i);
    sort->results[i] = vecBufferNew(lowering, &shape);
  }
  intptr_t mark = vecSpillOperands(lowering, op);
  if (vecShapeCount(&result) > 0)
    vecForEachElementBut(lowering, &source, sort->axis, sortRow, sort);
  vecUnspill(lowering, mark);
  for (intptr_t i = 0; i < sort->numInputs; ++i)
    vecRecordMemory(lowering, mlirOperationGetResult(op, i), sort->results[i]);
  return true;
}

bool vecLowerSort(VecLowering *lowering, MlirOperation op) {
  Sort sort = {.axis = tileSortOpGetAxisValue(op), .isDescending = tileSortOpHasDescending(op)};
  return lowerSorted(lowering, op, &sort);
}

// The first few of the sorted order.
bool vecLowerTopk(VecLowering *lowering, MlirOperation op) {
  Sort sort = {.axis = tileTopkOpGetAxisValue(op), .isDescending = tileTopkOpHasDescending(op)};
  return lowerSorted(lowering, op, &sort);
}
