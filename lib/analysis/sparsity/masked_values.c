// Matches selects by mask tensors. See masked_values.h.
#include "lib/analysis/sparsity/masked_values.h"

#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/Linalg.h"

static bool isMatrixOf(MlirType type, bool isMask) {
  return mlirTypeIsARankedTensor(type) && mlirShapedTypeGetRank(type) == 2 &&
         mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)) &&
         (!isMask || (mlirTypeIsAInteger(mlirShapedTypeGetElementType(type)) &&
                      mlirIntegerTypeGetWidth(mlirShapedTypeGetElementType(type)) == 1));
}

// d, or d floordiv c: along axis d of the matrix tiles of c elements.
static bool matchTile(MlirAffineExpr expr, intptr_t axis, int64_t *size) {
  *size = 1;
  if (mlirAffineExprIsAFloorDiv(expr)) {
    MlirAffineExpr by = mlirAffineBinaryOpExprGetRHS(expr);
    if (!mlirAffineExprIsAConstant(by))
      return false;
    *size = mlirAffineConstantExprGetValue(by);
    expr = mlirAffineBinaryOpExprGetLHS(expr);
  }
  return *size >= 1 && mlirAffineExprIsADim(expr) && mlirAffineDimExprGetPosition(expr) == axis;
}

static bool matchTiles(MlirAffineMap map, int64_t tile[2]) {
  return mlirAffineMapGetNumDims(map) == 2 && mlirAffineMapGetNumResults(map) == 2 &&
         matchTile(mlirAffineMapGetResult(map, 0), 0, &tile[0]) &&
         matchTile(mlirAffineMapGetResult(map, 1), 1, &tile[1]);
}

bool sparseIsZero(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  MlirAttribute constant = arithConstantOpIsA(op) ? arithConstantOpGetValue(op) : mlirAttributeGetNull();
  if (!mlirAttributeIsNull(constant) && mlirAttributeIsADenseElements(constant) &&
      mlirDenseElementsAttrIsSplat(constant))
    constant = mlirDenseElementsAttrGetSplatValue(constant);
  if (mlirAttributeIsNull(constant))
    return linalgFillOpIsA(op) && sparseIsZero(linalgFillOpGetInputs(op, 0));
  return mlirAttributeIsAFloat(constant)     ? mlirFloatAttrGetValueDouble(constant) == 0
         : mlirAttributeIsAInteger(constant) ? mlirIntegerAttrGetValueInt(constant) == 0
                                             : false;
}

// The operand of the op that an argument of its body is an element of; -1: the value is none.
static intptr_t operandOf(MlirBlock body, MlirValue value) {
  bool isOurs = mlirValueIsABlockArgument(value) && mlirBlockEqual(mlirBlockArgumentGetOwner(value), body);
  return isOurs ? mlirBlockArgumentGetArgNumber(value) : -1;
}

static bool isParallel(MlirOperation op) {
  MlirAttribute kinds = tileOpAttribute(op, "iterator_types");
  for (intptr_t i = 0; !mlirAttributeIsNull(kinds) && i < mlirArrayAttrGetNumElements(kinds); ++i) {
    char text[64];
    if (!strstr(tileAttributeText(mlirArrayAttrGetElement(kinds, i), text, sizeof text), "parallel"))
      return false;
  }
  return !mlirAttributeIsNull(kinds) && mlirArrayAttrGetNumElements(kinds) == 2;
}

bool sparseMatchMaskedValues(MlirValue value, SparseMaskedValues *masked) {
  MlirOperation op = tileDefiningOp(value);
  if (!linalgGenericOpIsA(op) || mlirOperationGetNumResults(op) != 1 || !isMatrixOf(mlirValueGetType(value), false) ||
      !isParallel(op))
    return false;
  MlirBlock body = tileOnlyBlock(mlirOperationGetRegion(op, 0));
  MlirOperation select = tileDefiningOp(linalgYieldOpGetValues(mlirBlockGetTerminator(body), 0));
  if (!arithSelectOpIsA(select))
    return false;
  intptr_t inputs = mlirOperationGetNumOperands(op) - 1;
  intptr_t condition = operandOf(body, arithSelectOpGetCondition(select));
  intptr_t stays = operandOf(body, arithSelectOpGetTrueValue(select));
  intptr_t zero = operandOf(body, arithSelectOpGetFalseValue(select));
  bool hides = zero >= 0 && zero < inputs ? sparseIsZero(mlirOperationGetOperand(op, zero))
                                          : sparseIsZero(arithSelectOpGetFalseValue(select));
  if (condition < 0 || stays < 0 || condition >= inputs || stays >= inputs || !hides)
    return false;
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  MlirValue mask = mlirOperationGetOperand(op, condition), values = mlirOperationGetOperand(op, stays);
  *masked = (SparseMaskedValues){.select = op, .mask = mask, .values = values};
  return isMatrixOf(mlirValueGetType(mask), true) && isMatrixOf(mlirValueGetType(values), false) &&
         matchTiles(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, condition)), masked->tile) &&
         mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, stays))) &&
         mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, inputs)));
}
