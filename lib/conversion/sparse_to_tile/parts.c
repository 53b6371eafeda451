// Parts of kernels that differ from one use to another: what the hooks of the templates in kernels/ build.
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/conversion/sparse_to_tile/lowerings.h"

static bool isFloat(MlirType type) {
  return mlirTypeIsAFloat(mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type);
}

static MlirValue binary(TileBuilder *b, const char *op, MlirValue lhs, MlirValue rhs) {
  return tileBuildValue(b, op, mlirValueGetType(lhs), 2, (MlirValue[]){lhs, rhs}, NULL);
}

//===--- arithmetic -------------------------------------------------------------===//

static MlirValue buildStep(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const SparseSemiring *semiring = data;
  MlirValue acc = operands[0], lhs = operands[1], rhs = operands[2];
  if (semiring->isSum && isFloat(result))
    return tileBuildValue(b, "math.fma", result, 3, (MlirValue[]){lhs, rhs, acc}, NULL);
  return binary(b, semiring->add, acc, binary(b, semiring->multiply, lhs, rhs));
}

TileHook sparseHookStep(const SparseSemiring *semiring) { return (TileHook){buildStep, semiring}; }

static MlirValue buildFinish(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const SparseSemiring *semiring = data;
  MlirValue count = operands[1];
  bool isShaped = mlirTypeIsAShaped(result);
  MlirType element = isShaped ? mlirShapedTypeGetElementType(result) : result;
  if (!semiring->isMean)
    return operands[0];
  if (!mlirTypeEqual(element, mlirValueGetType(count)))
    count = tileBuildValue(b, isFloat(element) ? "arith.sitofp" : "arith.trunci", element, 1, &count, NULL);
  if (isShaped)
    count =
        mlirOperationGetResult(tileBroadcastOpCreate(b, result, count, mlirDenseI64ArrayGet(b->context, 0, NULL)), 0);
  return binary(b, isFloat(element) ? "arith.divf" : "arith.divsi", operands[0], count);
}

TileHook sparseHookFinish(const SparseSemiring *semiring) { return (TileHook){buildFinish, semiring}; }

static MlirValue buildDiffers(TileBuilder *b, MlirType result, const MlirValue *operands, const void *unused) {
  enum { Ne = 1, Une = 13 };
  bool isOfFloats = isFloat(mlirValueGetType(operands[0]));
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  const TileAttributeEntry predicate[] = {{"predicate", mlirIntegerAttrGet(i64, isOfFloats ? Une : Ne)}, {NULL}};
  return tileBuildValue(b, isOfFloats ? "arith.cmpf" : "arith.cmpi", result, 2, operands, predicate);
}

const TileHook sparseHookDiffers = {buildDiffers, NULL};

//===--- memory -----------------------------------------------------------------===//

static MlirValue buildPut(TileBuilder *b, MlirType none, const MlirValue *operands, const void *data) {
  int axis = *(const int *)data;
  const MlirValue all[] = {operands[0], operands[1], operands[2 + axis], operands[3 - axis]};
  tileBuild(b, "memref.store", 4, all, 0, NULL, NULL, 0, NULL);
  return (MlirValue){NULL};
}

TileHook sparseHookPut(const int *axis) { return (TileHook){buildPut, axis}; }

MlirValue sparseBuildLoad(TileBuilder *b, MlirType result, MlirValue source, intptr_t count, const int64_t *fixed,
                          const MlirValue *indices, MlirValue tile) {
  const int64_t size = mlirShapedTypeGetDimSize(result, 0);
  const TileViewSpec spec = {.rank = 1, .shape = &size, .element = mlirShapedTypeGetElementType(result)};
  MlirAttribute axes = mlirDenseI64ArrayGet(b->context, count, fixed);
  MlirOperation view = tileViewOpCreate(b, tileViewTypeGet(b->context, &spec), source, count, indices, axes);
  return mlirOperationGetResult(tileLoadOpCreate(b, result, mlirOperationGetResult(view, 0), 1, &tile), 0);
}
