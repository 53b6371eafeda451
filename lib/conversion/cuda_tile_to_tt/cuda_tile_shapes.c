// Constants, ids, and ops that move elements: shapes, subtiles, bytes.
#include "lib/conversion/cuda_tile_to_tt/cuda_tile_kernel.h"

#include "upstream/arith.h"

static bool set(CudaTileKernel *k, MlirOperation op, MlirValue value) {
  cudaTileSet(k, tileOnlyResult(op), value);
  return true;
}

static MlirType sized(intptr_t rank, const int64_t *sizes, MlirType element) {
  return mlirRankedTensorTypeGet(rank, sizes, element, mlirAttributeGetNull());
}

//===--- constants ----------------------------------------------------------------------===//

// tf32 is f32 from here on.
static MlirAttribute asF32(MlirAttribute value, MlirType type) {
  int64_t count = mlirElementsAttrGetNumElements(value);
  if (count > 1 && !mlirDenseElementsAttrIsSplat(value))
    return mlirAttributeGetNull();
  double number = mlirFloatAttrGetValueDouble(mlirDenseElementsAttrGetSplatValue(value));
  return mlirDenseElementsAttrFloatSplatGet(type, (float)number);
}

static bool constant(CudaTileKernel *k, MlirOperation op) {
  MlirAttribute value = cudaTileConstantOpGetValue(op);
  MlirType old = tileOnlyResultType(op), type = cudaTileConvertType(old);
  if (!mlirAttributeIsADenseElements(value) || mlirTypeIsNull(type))
    return tileError(op, "has no elements that can be read");
  if (mlirTypeIsATF32(cudaTileElement(old))) {
    value = asF32(value, mlirTypeIsARankedTensor(type) ? type : sized(0, NULL, type));
    if (mlirAttributeIsNull(value))
      return tileError(op, "has several elements of tf32, which has no conversion to tt");
  }
  if (!mlirTypeIsARankedTensor(type))
    value = mlirDenseElementsAttrGetSplatValue(value);
  return set(k, op, tileBuildConstant(&k->b, value));
}

MlirValue cudaTileAlong(CudaTileKernel *k, MlirValue line, intptr_t rank, const int64_t *sizes, intptr_t axis) {
  MlirType element = cudaTileElement(mlirValueGetType(line));
  int64_t shape[CudaTileMaxRank];
  bool repeats = false;
  for (intptr_t i = 0; i < rank; ++i) {
    shape[i] = i == axis ? sizes[i] : 1;
    repeats |= shape[i] != sizes[i];
  }
  if (rank > 1)
    line = ttReshapeOpBuild(&k->b, sized(rank, shape, element), line);
  return repeats ? ttBroadcastOpBuild(&k->b, sized(rank, sizes, element), line) : line;
}

MlirValue cudaTileRange(CudaTileKernel *k, intptr_t rank, const int64_t *sizes, intptr_t axis, unsigned bits) {
  MlirType i32 = mlirIntegerTypeGet(k->b.context, 32), element = mlirIntegerTypeGet(k->b.context, bits);
  MlirValue range =
      ttMakeRangeOpBuild(&k->b, sized(1, &sizes[axis], i32), cudaTileI32(k, 0), cudaTileI32(k, sizes[axis]));
  range = cudaTileAlong(k, range, rank, sizes, axis);
  if (bits == 32)
    return range;
  return tileBuildCast(&k->b, bits > 32 ? ArithOp_ExtSI : ArithOp_TruncI, range, sized(rank, sizes, element));
}

static bool iota(CudaTileKernel *k, MlirOperation op) {
  MlirExtShape shape;
  mlirExtTypeGetShape(tileOnlyResultType(op), &shape);
  if (shape.rank != 1)
    return tileError(op, "has %ld dimensions, expected 1", (long)shape.rank);
  return set(k, op, cudaTileRange(k, 1, shape.sizes, 0, mlirIntegerTypeGetWidth(shape.element)));
}

//===--- ids --------------------------------------------------------------------------------===//

static bool ids(CudaTileKernel *k, MlirOperation op, bool isCount) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirType type = cudaTileConvertType(tileResultType(op, i));
    MlirAttribute axis = cudaTileI32(k, i);
    if (mlirTypeIsNull(type) || !mlirTypeIsAInteger(type) || mlirIntegerTypeGetWidth(type) != 32)
      return tileError(op, "gives %s, expected tile<i32>", tileTypeText(tileResultType(op, i), (char[64]){0}, 64));
    cudaTileSet(k, mlirOperationGetResult(op, i),
                isCount ? ttGetNumProgramsOpBuild(&k->b, axis) : ttGetProgramIdOpBuild(&k->b, axis));
  }
  return true;
}

//===--- shapes -------------------------------------------------------------------------------===//

static bool hasAsMany(MlirOperation op, MlirType from, MlirType to) {
  MlirExtShape a, b;
  mlirExtTypeGetShape(from, &a);
  mlirExtTypeGetShape(to, &b);
  int64_t first = 1, second = 1;
  for (intptr_t i = 0; i < a.rank; ++i)
    first *= a.sizes[i];
  for (intptr_t i = 0; i < b.rank; ++i)
    second *= b.sizes[i];
  return first == second || tileError(op, "makes %ld elements of %ld, expected as many", (long)second, (long)first);
}

// A tile of one element is reached from a scalar, and left to one, by an op of its own.
static bool reshape(CudaTileKernel *k, MlirOperation op) {
  MlirType from = tileOnlyOperandType(op), to = tileOnlyResultType(op), type = cudaTileConvertType(to);
  MlirValue x = cudaTileGet(k, tileOnlyOperand(op));
  if (mlirValueIsNull(x) || !hasAsMany(op, from, to))
    return false;
  if (mlirTypeEqual(mlirValueGetType(x), type))
    return set(k, op, x);
  if (!mlirTypeIsARankedTensor(mlirValueGetType(x)))
    return set(k, op, ttSplatOpBuild(&k->b, type, x));
  if (mlirTypeIsARankedTensor(type))
    return set(k, op, ttReshapeOpBuild(&k->b, type, x));
  return set(k, op, tileOnlyResult(ttUnsplatOpCreate(&k->b, x)));
}

static bool broadcast(CudaTileKernel *k, MlirOperation op) {
  MlirType type = cudaTileConvertType(tileOnlyResultType(op));
  MlirValue x = cudaTileGet(k, tileOnlyOperand(op));
  if (mlirValueIsNull(x) || mlirTypeEqual(mlirValueGetType(x), type))
    return !mlirValueIsNull(x) && set(k, op, x);
  bool fromScalar = !mlirTypeIsARankedTensor(mlirValueGetType(x));
  return set(k, op, fromScalar ? ttSplatOpBuild(&k->b, type, x) : ttBroadcastOpBuild(&k->b, type, x));
}

static bool permute(CudaTileKernel *k, MlirOperation op) {
  MlirValue x = cudaTileGet(k, tileOnlyOperand(op));
  return !mlirValueIsNull(x) && set(k, op,
                                    ttTransOpBuild(&k->b, cudaTileConvertType(tileOnlyResultType(op)), x,
                                                   cudaTilePermuteOpGetPermutation(op)));
}

// join makes a new last dimension of size 2, which moves before dimension `dim` and becomes one with it.
static bool concatenate(CudaTileKernel *k, MlirOperation op) {
  MlirValue lhs = cudaTileGet(k, cudaTileCatOpGetLhs(op)), rhs = cudaTileGet(k, cudaTileCatOpGetRhs(op));
  int64_t dim = cudaTileCatOpGetDimValue(op), joined[CudaTileMaxRank], moved[CudaTileMaxRank];
  int32_t order[CudaTileMaxRank];
  if (mlirValueIsNull(lhs) || mlirValueIsNull(rhs))
    return false;
  MlirExtShape shape = {0};
  if (!mlirTypeEqual(mlirValueGetType(lhs), mlirValueGetType(rhs)) ||
      !mlirExtTypeGetShape(mlirValueGetType(lhs), &shape) || shape.rank >= TtMaxRank || dim < 0 || dim >= shape.rank)
    return tileError(op, "concatenates %s and %s along dimension %ld, expected tiles of one type that have it",
                     tileTypeText(mlirValueGetType(lhs), (char[64]){0}, 64),
                     tileTypeText(mlirValueGetType(rhs), (char[64]){0}, 64), (long)dim);
  for (intptr_t i = 0; i < shape.rank; ++i)
    joined[i] = shape.sizes[i];
  joined[shape.rank] = 2;
  for (intptr_t i = 0, from = 0; i <= shape.rank; ++i)
    order[i] = i == dim ? (int32_t)shape.rank : (int32_t)from++;
  for (intptr_t i = 0; i <= shape.rank; ++i)
    moved[i] = joined[order[i]];
  MlirValue value = ttJoinOpBuild(&k->b, sized(shape.rank + 1, joined, shape.element), lhs, rhs);
  value = ttTransOpBuild(&k->b, sized(shape.rank + 1, moved, shape.element), value,
                         mlirDenseI32ArrayGet(k->b.context, shape.rank + 1, order));
  return set(k, op, ttReshapeOpBuild(&k->b, cudaTileConvertType(tileOnlyResultType(op)), value));
}

// Along each dimension the places index * size … of the source.
static bool extract(CudaTileKernel *k, MlirOperation op) {
  MlirValue x = cudaTileGet(k, cudaTileExtractOpGetSource(op)), indices[CudaTileMaxRank];
  MlirExtShape from, to;
  mlirExtTypeGetShape(cudaTileExtractOpGetSourceType(op), &from);
  mlirExtTypeGetShape(tileOnlyResultType(op), &to);
  if (mlirValueIsNull(x) ||
      !cudaTileGetAll(k, cudaTileExtractOpGetNumIndices(op), cudaTileExtractOpGetIndices, op, indices))
    return false;
  if (from.rank != to.rank || cudaTileExtractOpGetNumIndices(op) != from.rank || from.rank > TtMaxRank)
    return tileError(op, "has %ld indices, expected one for each of %ld dimensions",
                     (long)cudaTileExtractOpGetNumIndices(op), (long)from.rank);
  int64_t sizes[CudaTileMaxRank];
  for (intptr_t i = 0; i < from.rank; ++i)
    sizes[i] = from.sizes[i];
  MlirType element = cudaTileElement(mlirValueGetType(x));
  for (intptr_t axis = 0; axis < from.rank; ++axis) {
    if (from.sizes[axis] % to.sizes[axis])
      return tileError(op, "cuts %ld places into %ld, expected a divisor", (long)from.sizes[axis],
                       (long)to.sizes[axis]);
    if (from.sizes[axis] == to.sizes[axis])
      continue;
    sizes[axis] = to.sizes[axis];
    MlirValue range = cudaTileRange(k, from.rank, sizes, axis, 32), index = cudaTileWiden(k, indices[axis], 32);
    MlirValue first =
        tileBuildBinary(&k->b, ArithOp_MulI, index, tileBuildInteger(&k->b, mlirValueGetType(index), to.sizes[axis]));
    range = tileBuildBinary(&k->b, ArithOp_AddI, range, cudaTileSplat(k, first, mlirValueGetType(range)));
    x = ttGatherOpBuild(&k->b, sized(from.rank, sizes, element), x, range, cudaTileI32(k, axis));
  }
  return set(k, op, x);
}

bool cudaTileShapes(void *kernel, MlirOperation op, bool *isKnown) {
  CudaTileKernel *k = kernel;
  *isKnown = true;
  switch (cudaTileOpKind(op)) {
  case CudaTileOp_Constant:
    return constant(k, op);
  case CudaTileOp_Iota:
    return iota(k, op);
  case CudaTileOp_GetTileBlockId:
    return ids(k, op, false);
  case CudaTileOp_GetNumTileBlocks:
    return ids(k, op, true);
  case CudaTileOp_Reshape:
    return reshape(k, op);
  case CudaTileOp_Broadcast:
    return broadcast(k, op);
  case CudaTileOp_Permute:
    return permute(k, op);
  case CudaTileOp_Cat:
    return concatenate(k, op);
  case CudaTileOp_Extract:
    return extract(k, op);
  default:
    *isKnown = false;
    return true;
  }
}
