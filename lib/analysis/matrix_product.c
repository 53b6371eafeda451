// Recognizes products of matrices in linalg ops. See matrix_product.h.
#include "lib/analysis/matrix_product.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/Dialect/Linalg.h"
#include "upstream/arith.h"

//===--- the body -----------------------------------------------------------===//

// The argument that `value` is, seen through a widening; -1 for anything else.
static int argumentOf(MlirBlock body, MlirValue value, TileUpstream widen) {
  MlirOperation op = tileDefiningOp(value);
  if (tileUpstreamKind(op) == widen)
    value = tileOnlyOperand(op);
  bool isOurs = mlirValueIsABlockArgument(value) && mlirBlockEqual(mlirBlockArgumentGetOwner(value), body);
  return isOurs ? (int)mlirBlockArgumentGetArgNumber(value) : -1;
}

bool tileBodyMatchMultiplyAdd(MlirBlock body, int *lhs, int *rhs) {
  if (mlirBlockIsNull(body) || mlirBlockGetNumArguments(body) != 3 ||
      mlirOperationGetNumOperands(mlirBlockGetTerminator(body)) != 1)
    return false;
  MlirValue accumulator = mlirBlockGetArgument(body, 2);
  MlirOperation sum = tileDefiningOp(tileOnlyOperand(mlirBlockGetTerminator(body)));
  bool isFloat = arithAddFOpIsA(sum);
  if (!isFloat && !arithAddIOpIsA(sum))
    return false;
  bool isLeft = mlirValueEqual(tileBinaryLhs(sum), accumulator);
  MlirOperation product = tileDefiningOp(isLeft ? tileBinaryRhs(sum) : tileBinaryLhs(sum));
  if (!mlirValueEqual(isLeft ? tileBinaryLhs(sum) : tileBinaryRhs(sum), accumulator) ||
      !(isFloat ? arithMulFOpIsA : arithMulIOpIsA)(product))
    return false;
  TileUpstream widen = isFloat ? ArithOp_ExtF : ArithOp_ExtSI;
  *lhs = argumentOf(body, tileBinaryLhs(product), widen);
  *rhs = argumentOf(body, tileBinaryRhs(product), widen);
  return *lhs + *rhs == 1 && *lhs >= 0 && *rhs >= 0;
}

//===--- the maps -----------------------------------------------------------===//

enum { MaxAxes = 2, None = -1 };

// Which dimension of the loop nest indexes each axis of an operand.
typedef struct Axes {
  intptr_t rank;
  intptr_t dims[MaxAxes];
} Axes;

static bool readAxes(MlirAffineMap map, Axes *axes) {
  axes->rank = mlirAffineMapGetNumResults(map);
  for (intptr_t i = 0; i < axes->rank && axes->rank <= MaxAxes; ++i) {
    MlirAffineExpr result = mlirAffineMapGetResult(map, i);
    if (!mlirAffineExprIsADim(result))
      return false;
    axes->dims[i] = mlirAffineDimExprGetPosition(result);
  }
  return axes->rank >= 1 && axes->rank <= MaxAxes;
}

static bool uses(const Axes *axes, intptr_t dim) {
  for (intptr_t i = 0; i < axes->rank; ++i)
    if (axes->dims[i] == dim)
      return true;
  return false;
}

// The dimension that `in` and `also` have and `without` has not, if there is exactly one; else None.
static intptr_t shared(const Axes *in, const Axes *also, const Axes *without) {
  intptr_t found = None;
  for (intptr_t i = 0; i < in->rank; ++i)
    if (uses(also, in->dims[i]) && !uses(without, in->dims[i])) {
      if (found != None)
        return None;
      found = in->dims[i];
    }
  return found;
}

// lhs (m, k) · rhs (k, n) into (m, n), or (k) into (m).
static bool matchAxes(const Axes *lhs, const Axes *rhs, const Axes *out, TileMatrixProduct *product) {
  intptr_t k = shared(lhs, rhs, out), m = shared(lhs, out, rhs), n = shared(rhs, out, lhs);
  product->isVector = rhs->rank == 1;
  if (k == None || m == None || lhs->rank != 2 || out->rank != rhs->rank || out->dims[0] != m)
    return false;
  if (!product->isVector && (n == None || out->dims[1] != n))
    return false;
  product->transposeLhs = lhs->dims[0] == k;
  product->transposeRhs = !product->isVector && rhs->dims[1] == k;
  return true;
}

bool tileMatchMatrixProduct(MlirOperation op, TileMatrixProduct *product) {
  Axes axes[3];
  MlirType elements[3];
  int lhs, rhs;
  if (!tileOpNameStartsWith(op, "linalg.") || mlirOperationGetNumOperands(op) != 3 ||
      mlirOperationGetNumResults(op) != 1 || mlirOperationGetNumRegions(op) != 1)
    return false;
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  if (mlirAttributeIsNull(maps) || mlirArrayAttrGetNumElements(maps) != 3)
    return false;
  for (intptr_t i = 0; i < 3; ++i) {
    MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
    if (!mlirTypeIsARankedTensor(tileOperandType(op, i)) || mlirAffineMapGetNumDims(map) > 3 ||
        !readAxes(map, &axes[i]))
      return false;
    elements[i] = mlirShapedTypeGetElementType(tileOperandType(op, i));
  }
  if (!mlirTypeEqual(elements[0], elements[1]) ||
      !tileBodyMatchMultiplyAdd(tileOnlyBlock(mlirOperationGetRegion(op, 0)), &lhs, &rhs))
    return false;
  *product = (TileMatrixProduct){.lhs = 0, .rhs = 1, .init = 2};
  if (matchAxes(&axes[0], &axes[1], &axes[2], product))
    return true;
  *product = (TileMatrixProduct){.lhs = 1, .rhs = 0, .init = 2}; // products of numbers commute
  return matchAxes(&axes[1], &axes[0], &axes[2], product);
}
