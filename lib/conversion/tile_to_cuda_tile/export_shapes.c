// Constants, ids, ops that move elements, assumptions, prints and assertions.
#include "lib/conversion/tile_to_cuda_tile/export_kernel.h"

#include "upstream/arith.h"
#include "upstream/ub.h"

//===--- constants, ids -------------------------------------------------------------------===//

// Scalars are tiles of rank 0, and indices are i64.
static bool constant(ExportKernel *k, MlirOperation op) {
  MlirAttribute value = arithConstantOpGetValue(op);
  MlirType old = tileOnlyResultType(op), type = exportType(op, old);
  if (mlirTypeIsNull(type))
    return false;
  bool isTile = mlirTypeIsARankedTensor(old);
  bool isIndex = mlirTypeIsAIndex(isTile ? mlirShapedTypeGetElementType(old) : old);
  if (isTile && !mlirAttributeIsADenseElements(value))
    return tileError(op, "has no elements that can be read");
  if (isTile && !isIndex)
    return exportSetResult(k, op, cudaTileConstantOpBuild(&k->b, value));
  if (isTile && !mlirDenseElementsAttrIsSplat(value))
    return tileError(op, "has several indices, which has no conversion to cuda_tile");
  MlirAttribute one = isTile ? mlirDenseElementsAttrGetSplatValue(value) : value;
  if (isIndex)
    return exportSetResult(k, op, exportFill(k, type, mlirIntegerAttrGetValueInt(one)));
  return exportSetResult(k, op, cudaTileConstantOpBuild(&k->b, mlirDenseElementsAttrSplatGet(type, one)));
}

// An element that the program never looks at may be any.
static bool poison(ExportKernel *k, MlirOperation op) {
  MlirType type = exportType(op, tileOnlyResultType(op));
  if (mlirTypeIsNull(type))
    return false;
  bool isFloat = mlirTypeIsAFloat(mlirShapedTypeGetElementType(type));
  return exportSetResult(k, op, isFloat ? exportFillFloat(k, type, 0) : exportFill(k, type, 0));
}

static bool id(ExportKernel *k, MlirOperation op, int64_t axis, bool isCount) {
  MlirType i32 = exportSized(0, NULL, exportInteger(k, 32));
  MlirOperation made = isCount ? cudaTileGetNumTileBlocksOpBuild(&k->b, i32, i32, i32)
                               : cudaTileGetTileBlockIdOpBuild(&k->b, i32, i32, i32);
  return exportSetResult(k, op, exportWiden(k, mlirOperationGetResult(made, axis)));
}

static bool iota(ExportKernel *k, MlirOperation op) {
  MlirType type = exportType(op, tileOnlyResultType(op));
  MlirValue from;
  if (mlirTypeIsNull(type) || !exportGetOptional(k, tileIotaOpGetFrom(op), &from))
    return false;
  MlirExtShape shape;
  mlirExtTypeGetShape(type, &shape);
  intptr_t dim = tileIotaOpGetDimValue(op);
  MlirValue line = cudaTileIotaOpBuild(&k->b, exportSized(1, &shape.sizes[dim], shape.element));
  MlirValue value = exportAlong(k, line, shape.rank, shape.sizes, dim);
  return exportSetResult(k, op,
                         mlirValueIsNull(from) ? value : cudaTileAddIOpBuild(&k->b, value, exportSplat(k, from, type)));
}

//===--- shapes ---------------------------------------------------------------------------===//

// The axes that the result has more than the input.
static bool broadcast(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileBroadcastOpGetInput(op));
  MlirType type = exportType(op, tileOnlyResultType(op));
  MlirAttribute axes = tileBroadcastOpGetAxes(op);
  int64_t sizes[CudaTileMaxRank];
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
  MlirType thin = exportSized(shape.rank, sizes, shape.element);
  if (!mlirTypeEqual(mlirValueGetType(x), thin))
    x = cudaTileReshapeOpBuild(&k->b, thin, x);
  return exportSetResult(k, op, mlirTypeEqual(thin, type) ? x : cudaTileBroadcastOpBuild(&k->b, type, x));
}

static bool reshape(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileReshapeOpGetInput(op));
  MlirType type = mlirValueIsNull(x) ? (MlirType){NULL} : exportType(op, tileOnlyResultType(op));
  return !mlirTypeIsNull(type) && exportSetResult(k, op, cudaTileReshapeOpBuild(&k->b, type, x));
}

static bool transpose(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileTransposeOpGetInput(op));
  MlirType type = mlirValueIsNull(x) ? (MlirType){NULL} : exportType(op, tileOnlyResultType(op));
  MlirAttribute permutation = tileTransposeOpGetPermutation(op);
  int32_t order[CudaTileMaxRank];
  intptr_t rank = mlirDenseArrayGetNumElements(permutation);
  if (mlirTypeIsNull(type))
    return false;
  for (intptr_t i = 0; i < rank; ++i)
    order[i] = (int32_t)mlirDenseI64ArrayGetElement(permutation, i);
  return exportSetResult(k, op,
                         cudaTilePermuteOpBuild(&k->b, type, x, mlirDenseI32ArrayGet(k->b.context, rank, order)));
}

// Two by two, from the left: each result is a tile, so its size is a power of two.
static bool concatenate(ExportKernel *k, MlirOperation op) {
  int64_t axis = tileCatOpGetAxisValue(op);
  MlirValue all = exportGet(k, tileCatOpGetInputs(op, 0));
  for (intptr_t i = 1; i < tileCatOpGetNumInputs(op); ++i) {
    MlirValue next = exportGet(k, tileCatOpGetInputs(op, i));
    MlirExtShape shape, other;
    int64_t sizes[CudaTileMaxRank];
    if (mlirValueIsNull(all) || mlirValueIsNull(next))
      return false;
    mlirExtTypeGetShape(mlirValueGetType(all), &shape);
    mlirExtTypeGetShape(mlirValueGetType(next), &other);
    for (intptr_t d = 0; d < shape.rank; ++d)
      sizes[d] = shape.sizes[d] + (d == axis ? other.sizes[d] : 0);
    if (sizes[axis] & (sizes[axis] - 1))
      return tileError(op, "joins tiles to one of size %ld, expected a power of two", (long)sizes[axis]);
    all = cudaTileCatOpBuild(&k->b, exportSized(shape.rank, sizes, shape.element), all, next, exportI64(k, axis));
  }
  return exportSetResult(k, op, all);
}

// A part that begins at a multiple of its size is one of the parts that `extract` numbers.
static bool slice(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileSliceOpGetInput(op)), indices[CudaTileMaxRank];
  MlirType type = mlirValueIsNull(x) ? (MlirType){NULL} : exportType(op, tileOnlyResultType(op));
  MlirAttribute offsets = tileSliceOpGetStaticOffsets(op);
  MlirExtShape shape;
  if (mlirTypeIsNull(type) || tileSliceOpGetNumOffsets(op))
    return !mlirTypeIsNull(type) &&
           tileError(op, "begins at a place known only at run time, which has no conversion to cuda_tile");
  mlirExtTypeGetShape(type, &shape);
  for (intptr_t i = 0; i < shape.rank; ++i) {
    int64_t offset = mlirDenseI64ArrayGetElement(offsets, i);
    if (offset % shape.sizes[i])
      return tileError(op, "begins at %ld along dimension %ld, expected a multiple of its size, %ld", (long)offset,
                       (long)i, (long)shape.sizes[i]);
    indices[i] = exportFill(k, exportSized(0, NULL, exportInteger(k, 32)), offset / shape.sizes[i]);
  }
  return exportSetResult(k, op, cudaTileExtractOpBuild(&k->b, type, x, shape.rank, indices));
}

static bool bitcast(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileBitcastOpGetInput(op));
  MlirType type = mlirValueIsNull(x) ? (MlirType){NULL} : exportType(op, tileOnlyResultType(op));
  if (mlirTypeIsNull(type))
    return false;
  unsigned from = tileElementWidth(mlirShapedTypeGetElementType(mlirValueGetType(x)));
  if (from != tileElementWidth(mlirShapedTypeGetElementType(type)))
    return tileError(op, "makes elements of another width, which has no conversion to cuda_tile");
  return exportSetResult(k, op, cudaTileBitcastOpBuild(&k->b, type, x));
}

//===--- assumptions, prints and assertions ---------------------------------------------------===//

// The greatest power of two in a divisor.
static MlirValue assumeDivisible(ExportKernel *k, MlirValue value, int64_t divisor) {
  int64_t power = divisor & -divisor;
  CudaTileAssumption says = {.kind = CudaTileAssumption_DivBy, .divisor = power};
  return power > 1 ? cudaTileAssumeOpBuild(&k->b, value, cudaTileAssumptionAttrGet(k->b.context, &says)) : value;
}

static MlirValue assumeRange(ExportKernel *k, MlirValue value, MlirAttribute range) {
  CudaTileAssumption says = {.kind = CudaTileAssumption_Bounded,
                             .hasFirst = true,
                             .hasSecond = true,
                             .first = mlirDenseI64ArrayGetElement(range, 0),
                             .second = mlirDenseI64ArrayGetElement(range, 1)};
  return cudaTileAssumeOpBuild(&k->b, value, cudaTileAssumptionAttrGet(k->b.context, &says));
}

static void assumeSizes(ExportKernel *k, intptr_t rank, ExportSize *sizes, MlirAttribute divisors) {
  for (intptr_t i = 0; !mlirAttributeIsNull(divisors) && i < rank; ++i) {
    int64_t divisor = mlirDenseI64ArrayGetElement(divisors, i);
    if (!sizes[i].isKnown && !mlirValueIsNull(sizes[i].value) && divisor > 0)
      sizes[i].value = assumeDivisible(k, sizes[i].value, divisor);
  }
}

static bool assumeOfMemory(ExportKernel *k, MlirOperation op, MlirValue old) {
  const ExportMemory *source = exportMemory(k, old);
  if (!source)
    return false;
  ExportMemory *memory = exportNewMemory(k, tileOnlyResult(op));
  *memory = *source;
  if (!mlirAttributeIsNull(tileAssumeOpGetAlign(op)))
    memory->base = assumeDivisible(k, memory->base, mlirIntegerAttrGetValueInt(tileAssumeOpGetAlign(op)));
  assumeSizes(k, memory->rank, memory->sizes, tileAssumeOpGetSizes(op));
  assumeSizes(k, memory->rank, memory->strides, tileAssumeOpGetStrides(op));
  return true;
}

static bool assume(ExportKernel *k, MlirOperation op) {
  MlirValue old = tileAssumeOpGetValue(op);
  if (mlirTypeIsAMemRef(mlirValueGetType(old)))
    return assumeOfMemory(k, op, old);
  MlirValue value = exportGet(k, old);
  if (mlirValueIsNull(value))
    return false;
  if (!mlirAttributeIsNull(tileAssumeOpGetDivisible(op)))
    value = assumeDivisible(k, value, mlirIntegerAttrGetValueInt(tileAssumeOpGetDivisible(op)));
  if (!mlirAttributeIsNull(tileAssumeOpGetRange(op)))
    value = assumeRange(k, value, tileAssumeOpGetRange(op));
  return exportSetResult(k, op, value);
}

static bool check(ExportKernel *k, MlirOperation op) {
  MlirValue condition = exportGet(k, tileAssertOpGetCondition(op));
  if (mlirValueIsNull(condition))
    return false;
  cudaTileAssertOpBuild(&k->b, condition, tileAssertOpGetMessage(op));
  return true;
}

bool exportShapes(ExportKernel *k, MlirOperation op, bool *isKnown) {
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
  case TileOp_Cat:
    return concatenate(k, op);
  case TileOp_Slice:
    return slice(k, op);
  case TileOp_Bitcast:
    return bitcast(k, op);
  case TileOp_Assume:
    return assume(k, op);
  case TileOp_Assert:
    return check(k, op);
  default:
    *isKnown = false;
    return true;
  }
}
