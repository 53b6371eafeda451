// Matches products whose matrix a row chooses. See row_choice.h.
#include "lib/analysis/sparsity/row_choice.h"

#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

enum { MaxAxes = 4, None = -1 };

// An op with its maps; dims[i] of an operand: the dimension that indexes axis i.
typedef struct Product {
  MlirOperation op;
  MlirBlock body;
  intptr_t numInputs;
  intptr_t row[MaxAxes]; // dimensions of the result's rows
  intptr_t axes, n, k;
} Product;

//===--- maps ---------------------------------------------------------------===//

static MlirAffineMap mapOf(const Product *product, intptr_t operand) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(linalgGenericOpGetIndexingMaps(product->op), operand));
}

static intptr_t dimAt(MlirAffineMap map, intptr_t axis) {
  MlirAffineExpr expr = mlirAffineMapGetResult(map, axis);
  return mlirAffineExprIsADim(expr) ? mlirAffineDimExprGetPosition(expr) : None;
}

// The result is indexed by its rows, then n; k is the one dimension that is left.
static bool readResult(Product *product) {
  MlirAffineMap map = mapOf(product, product->numInputs);
  intptr_t rank = mlirAffineMapGetNumResults(map), dims = mlirAffineMapGetNumDims(map), sum = dims * (dims - 1) / 2;
  if (rank < 2 || rank > MaxAxes + 1 || dims != rank + 1)
    return false;
  for (intptr_t axis = 0; axis < rank; ++axis) {
    intptr_t dim = dimAt(map, axis);
    if (dim == None)
      return false;
    for (intptr_t before = 0; before < axis; ++before)
      if (dimAt(map, before) == dim)
        return false;
    sum -= dim;
    if (axis + 1 < rank)
      product->row[axis] = dim;
  }
  product->axes = rank - 1;
  product->n = dimAt(map, rank - 1);
  product->k = sum;
  return true;
}

// The map is of the first `count` dimensions of rows, then `last` (None: nothing).
static bool isOfRows(const Product *product, MlirAffineMap map, intptr_t count, intptr_t last) {
  if (mlirAffineMapGetNumResults(map) != count + (last != None))
    return false;
  for (intptr_t axis = 0; axis < count; ++axis)
    if (dimAt(map, axis) != product->row[axis])
      return false;
  return last == None || dimAt(map, count) == last;
}

//===--- the body -----------------------------------------------------------===//

static intptr_t argumentOf(const Product *product, MlirValue value) {
  bool isOurs = mlirValueIsABlockArgument(value) && mlirBlockEqual(mlirBlockArgumentGetOwner(value), product->body);
  return isOurs ? mlirBlockArgumentGetArgNumber(value) : None;
}

static bool isIndex(MlirValue value, intptr_t dim) {
  MlirOperation op = tileDefiningOp(value);
  return linalgIndexOpIsA(op) && mlirIntegerAttrGetValueInt(linalgIndexOpGetDim(op)) == dim;
}

static bool isOutside(const Product *product, MlirValue value) { return !tileIsDefinedIn(value, product->body); }

// An operand of the op, or a tensor that the body extracts from by the row's indices.
static bool matchNumbers(const Product *product, MlirValue index, MlirValue *numbers) {
  MlirOperation cast = tileDefiningOp(index);
  if (!arithIndexCastOpIsA(cast))
    return false;
  MlirValue number = tileOnlyOperand(cast);
  intptr_t operand = argumentOf(product, number);
  if (operand != None) {
    *numbers = mlirOperationGetOperand(product->op, operand);
    return operand < product->numInputs && isOfRows(product, mapOf(product, operand), product->axes, None);
  }
  MlirOperation extract = tileDefiningOp(number);
  if (!tensorExtractOpIsA(extract) || tensorExtractOpGetNumIndices(extract) != product->axes)
    return false;
  for (intptr_t axis = 0; axis < product->axes; ++axis)
    if (!isIndex(tensorExtractOpGetIndices(extract, axis), product->row[axis]))
      return false;
  *numbers = tensorExtractOpGetTensor(extract);
  return isOutside(product, *numbers);
}

static bool matchMatrices(const Product *product, MlirValue value, SparseRowChoice *choice) {
  MlirOperation extract = tileDefiningOp(value);
  if (!tensorExtractOpIsA(extract) || tensorExtractOpGetNumIndices(extract) != 3)
    return false;
  MlirValue first = tensorExtractOpGetIndices(extract, 1), second = tensorExtractOpGetIndices(extract, 2);
  choice->extract = extract;
  choice->matrices = tensorExtractOpGetTensor(extract);
  choice->isTransposed = isIndex(first, product->n) && isIndex(second, product->k);
  return (choice->isTransposed || (isIndex(first, product->k) && isIndex(second, product->n))) &&
         isOutside(product, choice->matrices) &&
         matchNumbers(product, tensorExtractOpGetIndices(extract, 0), &choice->numbers);
}

static bool matchRows(const Product *product, MlirValue value, SparseRowChoice *choice) {
  intptr_t operand = argumentOf(product, value);
  if (operand == None || operand >= product->numInputs)
    return false;
  choice->rows = mlirOperationGetOperand(product->op, operand);
  for (intptr_t shared = product->axes; shared >= 1 && shared >= product->axes - 1; --shared) {
    choice->sharedAxes = shared;
    if (isOfRows(product, mapOf(product, operand), shared, product->k))
      return true;
  }
  return false;
}

static bool matchBody(const Product *product, SparseRowChoice *choice) {
  MlirOperation end = mlirBlockGetTerminator(product->body);
  MlirOperation sum = tileDefiningOp(tileOnlyOperand(end));
  bool isFloat = arithAddFOpIsA(sum);
  if (!isFloat && !arithAddIOpIsA(sum))
    return false;
  bool isLeft = argumentOf(product, tileBinaryLhs(sum)) == product->numInputs;
  MlirOperation times = tileDefiningOp(isLeft ? tileBinaryRhs(sum) : tileBinaryLhs(sum));
  if (argumentOf(product, isLeft ? tileBinaryLhs(sum) : tileBinaryRhs(sum)) != product->numInputs ||
      !(isFloat ? arithMulFOpIsA : arithMulIOpIsA)(times))
    return false;
  MlirValue a = tileBinaryLhs(times), b = tileBinaryRhs(times);
  return (matchRows(product, a, choice) && matchMatrices(product, b, choice)) ||
         (matchRows(product, b, choice) && matchMatrices(product, a, choice));
}

//===--- types --------------------------------------------------------------===//

static bool isElement(MlirType type) {
  return mlirTypeIsAFloat(type)
             ? mlirFloatTypeGetWidth(type) >= 16
             : mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) >= 8 && mlirIntegerTypeGetWidth(type) <= 64;
}

static bool hasTypes(SparseRowChoice *choice) {
  MlirType matrices = mlirValueGetType(choice->matrices), numbers = mlirValueGetType(choice->numbers);
  MlirType number = mlirShapedTypeGetElementType(numbers);
  choice->each = choice->sharedAxes == choice->axes ? 1 : mlirShapedTypeGetDimSize(numbers, choice->axes - 1);
  return mlirTypeIsARankedTensor(matrices) && mlirTypeIsARankedTensor(numbers) &&
         isElement(mlirShapedTypeGetElementType(matrices)) && mlirTypeIsAInteger(number) &&
         (mlirIntegerTypeGetWidth(number) == 32 || mlirIntegerTypeGetWidth(number) == 64) &&
         !mlirShapedTypeIsDynamicSize(choice->each) && choice->each >= 1;
}

bool sparseMatchRowChoice(MlirOperation op, SparseRowChoice *choice) {
  if (!linalgGenericOpIsA(op) || mlirOperationGetNumResults(op) != 1 ||
      !mlirTypeIsARankedTensor(tileOnlyResultType(op)))
    return false;
  Product product = {.op = op, .body = tileOnlyBlock(linalgGenericOpGetRegion(op))};
  product.numInputs = mlirOperationGetNumOperands(op) - 1;
  *choice = (SparseRowChoice){.init = mlirOperationGetOperand(op, product.numInputs)};
  if (!readResult(&product) || !matchBody(&product, choice))
    return false;
  choice->axes = product.axes;
  return hasTypes(choice);
}
