// Constants, ids, ops that move elements, assertions.
#include "lib/conversion/kernel_export/export.h"

#include "upstream/arith.h"
#include "upstream/ub.h"

//===--- constants, ids -------------------------------------------------------------------===//

// Scalars are tiles of rank 0, and indices are i64.
static bool constant(ExportKernel *k, MlirOperation op) {
  MlirAttribute value = arithConstantOpGetValue(op);
  MlirType old = tileOnlyResultType(op), type = exportType(k, op, old);
  if (mlirTypeIsNull(type))
    return false;
  bool isTile = mlirTypeIsARankedTensor(old), isIndex = mlirTypeIsAIndex(exportElement(old));
  if (isTile && !mlirAttributeIsADenseElements(value))
    return tileError(op, "has no elements that can be read");
  bool isPadded = exportIsPadded(old);
  if (isTile && !isIndex && !isPadded)
    return exportSetResult(k, op, k->v->constant(k, value));
  if (isTile && !mlirDenseElementsAttrIsSplat(value))
    return tileError(op, "has several %s, which has no conversion to %s",
                     isIndex ? "indices" : "elements in a tile whose sizes are no powers of two", k->v->dialect);
  MlirAttribute one = isTile ? mlirDenseElementsAttrGetSplatValue(value) : value;
  if (isIndex)
    return exportSetResult(k, op, exportFill(k, type, mlirIntegerAttrGetValueInt(one)));
  return exportSetResult(k, op, k->v->fill(k, type, one));
}

// An element that the program never looks at may be any.
static bool poison(ExportKernel *k, MlirOperation op) {
  MlirType type = exportType(k, op, tileOnlyResultType(op));
  if (mlirTypeIsNull(type))
    return false;
  bool isFloat = mlirTypeIsAFloat(exportElement(type));
  return exportSetResult(k, op, isFloat ? exportFillFloat(k, type, 0) : exportFill(k, type, 0));
}

static bool id(ExportKernel *k, MlirOperation op, int64_t axis, bool isCount) {
  return exportSetResult(k, op, exportWiden(k, k->v->id(k, axis, isCount)));
}

static bool iota(ExportKernel *k, MlirOperation op) {
  MlirType type = exportType(k, op, tileOnlyResultType(op));
  MlirValue from;
  if (mlirTypeIsNull(type) || !exportGetOptional(k, tileIotaOpGetFrom(op), &from))
    return false;
  MlirExtShape shape = exportShape(type);
  if (!mlirTypeIsAInteger(shape.element))
    return tileError(op, "counts in floats, which has no conversion to %s", k->v->dialect);
  intptr_t dim = tileIotaOpGetDimValue(op);
  MlirValue line = k->v->iota(k, exportSized(k, 1, &shape.sizes[dim], shape.element));
  MlirValue value = exportAlong(k, line, shape.rank, shape.sizes, dim);
  return exportSetResult(
      k, op, mlirValueIsNull(from) ? value : exportCombine(k, ArithOp_AddI, value, exportSplat(k, from, type)));
}

//===--- shapes ---------------------------------------------------------------------------===//

// The axes that the result has more than the input.
static bool broadcast(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileBroadcastOpGetInput(op));
  MlirType type = exportType(k, op, tileOnlyResultType(op));
  MlirAttribute axes = tileBroadcastOpGetAxes(op);
  int64_t sizes[ExportMaxRank];
  MlirExtShape shape;
  if (mlirValueIsNull(x) || mlirTypeIsNull(type))
    return false;
  if (exportRank(mlirValueGetType(x)) == 0)
    return exportSetResult(k, op, exportSplat(k, x, type));
  mlirExtTypeGetShape(type, &shape);
  for (intptr_t i = 0; i < shape.rank; ++i)
    sizes[i] = shape.sizes[i];
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(axes); ++i)
    sizes[mlirDenseI64ArrayGetElement(axes, i)] = 1;
  MlirType thin = exportSized(k, shape.rank, sizes, shape.element);
  if (!mlirTypeEqual(mlirValueGetType(x), thin))
    x = k->v->reshape(k, thin, x);
  return exportSetResult(k, op, mlirTypeEqual(thin, type) ? x : k->v->broadcast(&k->b, type, x));
}

static bool reshape(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileReshapeOpGetInput(op));
  MlirType type = mlirValueIsNull(x) ? (MlirType){NULL} : exportType(k, op, tileOnlyResultType(op));
  return !mlirTypeIsNull(type) && exportSetResult(k, op, k->v->reshape(k, type, x));
}

static bool transpose(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileTransposeOpGetInput(op));
  MlirType type = mlirValueIsNull(x) ? (MlirType){NULL} : exportType(k, op, tileOnlyResultType(op));
  MlirAttribute permutation = tileTransposeOpGetPermutation(op);
  int32_t order[ExportMaxRank];
  intptr_t rank = mlirDenseArrayGetNumElements(permutation);
  if (mlirTypeIsNull(type))
    return false;
  for (intptr_t i = 0; i < rank; ++i)
    order[i] = (int32_t)mlirDenseI64ArrayGetElement(permutation, i);
  return exportSetResult(k, op, k->v->permute(&k->b, type, x, mlirDenseI32ArrayGet(k->b.context, rank, order)));
}

static bool check(ExportKernel *k, MlirOperation op) {
  MlirValue condition = exportGet(k, tileAssertOpGetCondition(op));
  if (mlirValueIsNull(condition))
    return false;
  k->v->check(k, condition, tileAssertOpGetMessage(op));
  return true;
}

bool exportIsPlaceholder(MlirStringRef message, size_t at) {
  return at + 2 <= message.length && message.data[at] == '{' && message.data[at + 1] == '}';
}

static bool print(ExportKernel *k, MlirOperation op) {
  MlirValue values[ExportMaxPrinted];
  intptr_t count = tilePrintOpGetNumValues(op);
  if (!mlirAttributeIsNull(tilePrintOpGetStop(op))) // prints nothing
    return true;
  if (count > ExportMaxPrinted)
    return tileError(op, "prints %ld values, expected at most %d", (long)count, (int)ExportMaxPrinted);
  for (intptr_t i = 0; i < count; ++i)
    if (mlirValueIsNull(values[i] = exportGet(k, tilePrintOpGetValues(op, i))))
      return false;
  return k->v->print(k, tilePrintOpGetMessageValue(op), count, values);
}

bool exportShapes(void *kernel, MlirOperation op, bool *isKnown) {
  ExportKernel *k = kernel;
  *isKnown = true;
  if (arithConstantOpIsA(op))
    return constant(k, op);
  if (ubPoisonOpIsA(op))
    return poison(k, op);
  switch (tileOpKind(op)) {
  case TileOp_ProgramId:
    return id(k, op, tileProgramIdOpGetAxisValue(op), false);
  case TileOp_NumPrograms:
    return id(k, op, tileNumProgramsOpGetAxisValue(op), true);
  case TileOp_Iota:
    return iota(k, op);
  case TileOp_Broadcast:
    return broadcast(k, op);
  case TileOp_Reshape:
    return reshape(k, op);
  case TileOp_Transpose:
    return transpose(k, op);
  case TileOp_Assert:
    return check(k, op);
  case TileOp_Print:
    return print(k, op);
  default:
    *isKnown = false;
    return true;
  }
}
