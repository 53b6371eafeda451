// Products: of floats, of integers with and without a sign, and of factors with a scale for each block.
#include "lib/conversion/cuda_tile_to_tt/cuda_tile_kernel.h"

#include "upstream/arith.h"

typedef struct Product {
  MlirOperation op;
  MlirValue a, b, c; // of tt
} Product;

static bool take(CudaTileKernel *k, Product *product, MlirValue a, MlirValue b, MlirValue c) {
  product->a = cudaTileGet(k, a);
  product->b = cudaTileGet(k, b);
  product->c = cudaTileGet(k, c);
  return !mlirValueIsNull(product->a) && !mlirValueIsNull(product->b) && !mlirValueIsNull(product->c);
}

static MlirValue dot(CudaTileKernel *k, MlirValue a, MlirValue b, MlirValue c, int64_t precision) {
  return tileOnlyResult(ttDotOpCreate(&k->b, a, b, c, cudaTileI32(k, precision), mlirAttributeGetNull()));
}

static bool ofFloats(CudaTileKernel *k, MlirOperation op) {
  MlirValue a = cudaTileMmaFOpGetLhs(op);
  Product product = {.op = op};
  bool isTf32 = mlirTypeIsATF32(cudaTileElement(mlirValueGetType(a)));
  if (!take(k, &product, a, cudaTileMmaFOpGetRhs(op), cudaTileMmaFOpGetAcc(op)))
    return false;
  cudaTileSet(k, tileOnlyResult(op),
              dot(k, product.a, product.b, product.c, isTf32 ? TtPrecision_Tf32 : TtPrecision_Ieee));
  return true;
}

//===--- integers -------------------------------------------------------------------------===//

// 1 where an i8 that has no sign is 128 or more: as a number with a sign it is 256 too small there.
static MlirValue upperHalf(CudaTileKernel *k, MlirValue x) {
  MlirType type = mlirValueGetType(x);
  MlirValue zero = cudaTileSplat(k, tileBuildInteger(&k->b, cudaTileElement(type), 0), type);
  return tileBuildCast(&k->b, ArithOp_ExtUI, arithCmpIOpBuild(&k->b, x, zero, ArithCmpI_Slt), type);
}

// sum + 256 * (a * b)
static MlirValue addHigh(CudaTileKernel *k, MlirValue sum, MlirValue a, MlirValue b) {
  MlirType type = mlirValueGetType(sum), element = cudaTileElement(type);
  MlirValue zero = cudaTileSplat(k, tileBuildInteger(&k->b, element, 0), type);
  MlirValue scale = cudaTileSplat(k, tileBuildInteger(&k->b, element, 256), type);
  MlirValue high = tileBuildBinary(&k->b, ArithOp_MulI, dot(k, a, b, zero, TtPrecision_Ieee), scale);
  return tileBuildBinary(&k->b, ArithOp_AddI, sum, high);
}

// tt multiplies integers with signs: a = a' + 256 u, b = b' + 256 v, so that a b = a' b' + 256 (u b' + a' v) + 65536 u
// v.
static bool ofIntegers(CudaTileKernel *k, MlirOperation op) {
  Product product = {.op = op};
  if (!take(k, &product, cudaTileMmaIOpGetLhs(op), cudaTileMmaIOpGetRhs(op), cudaTileMmaIOpGetAcc(op)))
    return false;
  bool isLeft = cudaTileWordIs(cudaTileMmaIOpGetSignednessLhs(op), "unsigned");
  bool isRight = cudaTileWordIs(cudaTileMmaIOpGetSignednessRhs(op), "unsigned");
  MlirType element = cudaTileElement(mlirValueGetType(product.a));
  if ((isLeft || isRight) && tileElementWidth(element) != 8)
    return tileError(op, "multiplies unsigned %s, expected i8", tileTypeText(element, (char[32]){0}, 32));
  MlirValue sum = dot(k, product.a, product.b, product.c, TtPrecision_Ieee), left = {NULL}, right = {NULL};
  if (isLeft)
    sum = addHigh(k, sum, left = upperHalf(k, product.a), product.b);
  if (isRight)
    sum = addHigh(k, sum, product.a, right = upperHalf(k, product.b));
  if (isLeft && isRight) {
    MlirType type = mlirValueGetType(sum);
    MlirValue zero = cudaTileSplat(k, tileBuildInteger(&k->b, cudaTileElement(type), 0), type);
    MlirValue both = addHigh(k, zero, left, right);
    MlirValue scale = cudaTileSplat(k, tileBuildInteger(&k->b, cudaTileElement(type), 256), type);
    sum = tileBuildBinary(&k->b, ArithOp_AddI, sum, tileBuildBinary(&k->b, ArithOp_MulI, both, scale));
  }
  cudaTileSet(k, tileOnlyResult(op), sum);
  return true;
}

//===--- scales ---------------------------------------------------------------------------===//

// tt has a row of scales for each column of the right factor.
static bool ofScaled(CudaTileKernel *k, MlirOperation op) {
  Product product = {.op = op};
  MlirValue left = cudaTileGet(k, cudaTileMmaFScaledOpGetLhsScale(op));
  MlirValue right = cudaTileGet(k, cudaTileMmaFScaledOpGetRhsScale(op));
  if (mlirValueIsNull(left) || mlirValueIsNull(right) ||
      !take(k, &product, cudaTileMmaFScaledOpGetLhs(op), cudaTileMmaFScaledOpGetRhs(op),
            cudaTileMmaFScaledOpGetAcc(op)))
    return false;
  int64_t kinds[] = {ttScaledOf(cudaTileElement(mlirValueGetType(product.a))),
                     ttScaledOf(cudaTileElement(mlirValueGetType(product.b)))};
  MlirExtShape shape;
  bool isMatrix = mlirExtTypeGetShape(mlirValueGetType(right), &shape) && shape.rank == 2;
  if (kinds[0] < 0 || kinds[1] < 0 || !isMatrix)
    return tileError(op, "multiplies %s by %s, expected matrices of e4m3, e5m2 or e2m1",
                     tileTypeText(mlirValueGetType(product.a), (char[64]){0}, 64),
                     tileTypeText(mlirValueGetType(product.b), (char[64]){0}, 64));
  int64_t turned[] = {shape.sizes[1], shape.sizes[0]};
  int32_t order[] = {1, 0};
  right = ttTransOpBuild(&k->b, mlirRankedTensorTypeGet(2, turned, shape.element, mlirAttributeGetNull()), right,
                         mlirDenseI32ArrayGet(k->b.context, 2, order));
  cudaTileSet(k, tileOnlyResult(op),
              ttDotScaledOpBuild(&k->b, product.a, product.b, product.c, left, right, cudaTileI32(k, kinds[0]),
                                 cudaTileI32(k, kinds[1]), mlirBoolAttrGet(k->b.context, false)));
  return true;
}

bool cudaTileProducts(void *kernel, MlirOperation op, bool *isKnown) {
  CudaTileKernel *k = kernel;
  *isKnown = true;
  switch (cudaTileOpKind(op)) {
  case CudaTileOp_MmaF:
    return ofFloats(k, op);
  case CudaTileOp_MmaI:
    return ofIntegers(k, op);
  case CudaTileOp_MmaFScaled:
    return ofScaled(k, op);
  default:
    *isKnown = false;
    return true;
  }
}
