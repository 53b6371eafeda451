// tile-move-scales-out: a factor of a product whose elements are all multiplied by one number is multiplied by it
// after the sum, where the program permits another rounding (fastmath<reassoc> on the multiplication).
//
//   %w = linalg.generic … (code · scale) · %t {reassoc} …     c[m, n] += sum over k of x[m, k] · w[n, k]
//   becomes  %w = linalg.generic … code · scale …             c[m, n] += (sum over k of x[m, k] · w[n, k]) · %t
//
// NVFP4 has one number for each tensor, besides the scales of its blocks. Without this number the factors are exact,
// and tile-find-low-bit lets instructions multiply the codes. Expects: linalg.generic on tensors (after
// tile-generalize-named-ops), before tile-find-low-bit. Leaves: products whose factors or sums are not f32; factors
// that others read too; a multiplication without `reassoc`, since its result is rounded. Cost: linear in the code.
//
// Source: Ladder (OSDI 2024); the order of NVFP4's products in NVIDIA's libraries.
#include "lib/transforms/quantize/quantize.h"

#include "lib/ir/support.h"
#include "lib/transforms/quantize/forms.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <stdlib.h>

//===--- questions ------------------------------------------------------------------------------===//

static MlirBlock bodyOf(MlirOperation generic) { return tileOnlyBlock(linalgGenericOpGetRegion(generic)); }

static bool hasReductions(MlirOperation generic) {
  MlirAttribute kinds = linalgGenericOpGetIteratorTypes(generic);
  for (intptr_t d = 0; d < mlirArrayAttrGetNumElements(kinds); ++d)
    if (linalgIteratorTypeOf(mlirArrayAttrGetElement(kinds, d)) == LinalgIteratorType_Reduction)
      return true;
  return false;
}

static bool isSingle(MlirValue tensor) {
  MlirType type = mlirValueGetType(tensor);
  return mlirTypeIsARankedTensor(type) && mlirTypeIsAF32(mlirShapedTypeGetElementType(type));
}

// A sum of products of two tensors of f32.
static bool isProduct(MlirOperation op) {
  int lhs, rhs;
  return linalgGenericOpIsA(op) && linalgGenericOpGetNumInputs(op) == 2 &&
         linalgGenericOpGetNumResultTensors(op) == 1 && hasReductions(op) &&
         isSingle(linalgGenericOpGetInputs(op, 0)) && isSingle(linalgGenericOpGetInputs(op, 1)) &&
         isSingle(linalgGenericOpGetOutputs(op, 0)) && tileBodyMatchMultiplyAdd(bodyOf(op), &lhs, &rhs);
}

// The elementwise op that makes a factor, through reshapes, for this factor alone; null: something else does.
static MlirOperation makerOf(MlirValue factor) {
  MlirOperation op = tileDefiningOp(factor);
  while (tileHasOneUse(factor) && (tensorCollapseShapeOpIsA(op) || tensorExpandShapeOpIsA(op))) {
    factor = tensorCollapseShapeOpIsA(op) ? tensorCollapseShapeOpGetSrc(op) : tensorExpandShapeOpGetSrc(op);
    op = tileDefiningOp(factor);
  }
  bool isOurs = tileHasOneUse(factor) && linalgGenericOpIsA(op) && linalgGenericOpGetNumResultTensors(op) == 1;
  return isOurs && !hasReductions(op) && isSingle(factor) ? op : (MlirOperation){NULL};
}

// All indices of the input are 0.
static bool isOneNumber(MlirOperation generic, intptr_t input) {
  MlirAffineMap map =
      mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(linalgGenericOpGetIndexingMaps(generic), input));
  for (intptr_t axis = 0; axis < mlirAffineMapGetNumResults(map); ++axis)
    if (!mlirAffineExprIsAConstant(mlirAffineMapGetResult(map, axis)))
      return false;
  return true;
}

// A number that multiplies all elements, in the body of their maker.
typedef struct Scale {
  MlirOperation multiply, widening; // null: it is no narrower than the product
  MlirValue rest;                   // what it multiplies
  intptr_t input;
} Scale;

static bool readScale(MlirOperation maker, MlirValue value, Scale *scale) {
  MlirOperation op = tileDefiningOp(value);
  scale->widening = !mlirOperationIsNull(op) && arithExtFOpIsA(op) ? op : (MlirOperation){NULL};
  MlirValue argument = mlirOperationIsNull(scale->widening) ? value : tileOnlyOperand(op);
  if (!tileHasOneUse(value) || !mlirValueIsABlockArgument(argument) || !tileHasOneUse(argument) ||
      !mlirBlockEqual(mlirBlockArgumentGetOwner(argument), bodyOf(maker)))
    return false;
  scale->input = mlirBlockArgumentGetArgNumber(argument);
  return scale->input < linalgGenericOpGetNumInputs(maker) && isOneNumber(maker, scale->input);
}

// The scale among the multiplications that lead to `value`. Each of them permits another order.
static bool findScale(MlirOperation maker, MlirValue value, Scale *scale) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op) || !arithMulFOpIsA(op) || !tileHasOneUse(value) ||
      !tileOpAllows(op, TileFastMath_Reassociate))
    return false;
  MlirValue sides[] = {arithMulFOpGetLhs(op), arithMulFOpGetRhs(op)};
  scale->multiply = op;
  for (int i = 0; i < 2; ++i)
    if (readScale(maker, sides[i], scale)) {
      scale->rest = sides[1 - i];
      return true;
    }
  return findScale(maker, sides[0], scale) || findScale(maker, sides[1], scale);
}

//===--- the change -----------------------------------------------------------------------------===//

// The maker without this scale in its place. Returns the scale's tensor.
static MlirValue takeScale(MlirOperation maker, const Scale *scale) {
  TileBuilder b = tileBuilderBefore(maker);
  MlirBlock body = bodyOf(maker);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(scale->multiply), scale->rest);
  mlirOperationDestroy(scale->multiply);
  if (!mlirOperationIsNull(scale->widening))
    mlirOperationDestroy(scale->widening);
  mlirBlockEraseArgument(body, (unsigned)scale->input);
  intptr_t all = linalgGenericOpGetNumInputs(maker), count = 0;
  MlirValue *inputs = malloc((size_t)all * sizeof *inputs), taken = linalgGenericOpGetInputs(maker, scale->input);
  MlirAttribute *maps = malloc((size_t)(all + 1) * sizeof *maps), absent = {NULL};
  for (intptr_t i = 0; i <= all; ++i) {
    if (i == scale->input)
      continue;
    if (i < all)
      inputs[count] = linalgGenericOpGetInputs(maker, i);
    maps[count++] = mlirArrayAttrGetElement(linalgGenericOpGetIndexingMaps(maker), i);
  }
  MlirRegion region = mlirRegionCreate();
  mlirRegionTakeBody(region, linalgGenericOpGetRegion(maker));
  MlirType type = tileOnlyResultType(maker);
  MlirValue start = linalgGenericOpGetOutputs(maker, 0);
  MlirOperation made =
      linalgGenericOpCreate(&b, 1, &type, count - 1, inputs, 1, &start, mlirArrayAttrGet(b.context, count, maps),
                            linalgGenericOpGetIteratorTypes(maker), absent, absent, region);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(maker), tileOnlyResult(made));
  mlirOperationDestroy(maker);
  free(maps);
  free(inputs);
  return taken;
}

static MlirValue emptyLike(TileBuilder *b, MlirValue tensor) {
  MlirType type = mlirValueGetType(tensor);
  MlirValue open[MaxFormRank];
  intptr_t count = 0;
  for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
    if (mlirShapedTypeIsDynamicDim(type, axis))
      open[count++] = tileBuildDim(b, tensor, axis);
  return tensorEmptyOpBuild(b, type, count, open);
}

static TileFormOperand operandOf(MlirValue value, bool isNumber) {
  TileFormOperand operand = {.value = value};
  if (mlirTypeIsARankedTensor(mlirValueGetType(value)))
    operand.rank = (int)mlirShapedTypeGetRank(mlirValueGetType(value));
  for (int axis = 0; axis < operand.rank; ++axis)
    operand.dims[axis] = isNumber ? -1 : axis;
  return operand;
}

// The product from zero, times the scales, added to what it began with.
static void scaleSum(MlirOperation product, int count, const MlirValue *scales) {
  TileBuilder b = tileBuilderAfter(product), inside;
  MlirValue start = linalgGenericOpGetOutputs(product, 0), sum = tileOnlyResult(product);
  bool isFromZero = tileIsPlusZero(start);
  TileFormOperand operands[5];
  int inputs = 0;
  operands[inputs++] = operandOf(sum, false);
  for (int i = 0; i < count; ++i)
    operands[inputs++] = operandOf(scales[i], true);
  if (!isFromZero)
    operands[inputs++] = operandOf(start, false);
  operands[inputs] = operandOf(emptyLike(&b, start), false);
  MlirOperation scaled = tileFormGeneric(&b, operands[0].rank, 0, inputs, operands, &inside);
  MlirAttribute reassoc = tileFastMathAttr(b.context, TileFastMath_Reassociate);
  MlirType f32 = mlirF32TypeGet(b.context);
  MlirValue x = mlirBlockGetArgument(inside.block, 0);
  for (int i = 0; i < count; ++i) {
    MlirValue scale = mlirBlockGetArgument(inside.block, 1 + i);
    if (!mlirTypeIsAF32(mlirValueGetType(scale)))
      scale = arithExtFOpBuild(&inside, f32, scale);
    x = tileOnlyResult(arithMulFOpCreate(&inside, x, scale, reassoc));
  }
  if (!isFromZero)
    x = arithAddFOpBuild(&inside, mlirBlockGetArgument(inside.block, inputs - 1), x);
  linalgYieldOpBuild(&inside, 1, &x);
  mlirValueReplaceAllUsesExcept(sum, tileOnlyResult(scaled), 1, &scaled);
  if (isFromZero)
    return;
  TileBuilder before = tileBuilderBefore(product);
  MlirValue zeros = tileFormFilled(&before, emptyLike(&before, start), tileBuildFloat(&before, f32, 0));
  mlirOperationSetOperand(product, linalgGenericOpGetOutputsBegin(product), zeros);
}

static int moveScales(MlirOperation product) {
  MlirValue scales[2];
  int count = 0;
  for (int side = 0; side < 2; ++side) {
    MlirOperation maker = makerOf(linalgGenericOpGetInputs(product, side));
    Scale scale;
    if (!mlirOperationIsNull(maker) && findScale(maker, tileOnlyOperand(mlirBlockGetTerminator(bodyOf(maker))), &scale))
      scales[count++] = takeScale(maker, &scale);
  }
  if (count)
    scaleSum(product, count, scales);
  return count;
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps products = tileCollectOps(function, isProduct);
  for (intptr_t i = 0; i < products.count; ++i)
    mlirExtPassAddStatistic(pass, 0, (uint64_t)moveScales(products.items[i]));
  tileOpsFree(&products);
  return true;
}

const MlirExtPassDefinition tileMoveScalesOutPass = {
    .argument = "tile-move-scales-out",
    .summary = "Multiply sums, not all elements of a factor, by one number, where fastmath<reassoc> permits it",
    .anchor = funcFuncOpName,
    .statistics = (const char *const[]){"moved: numbers that multiply a sum in place of a factor's elements", NULL},
    .dialects = (const char *const[]){"tensor", "linalg", "arith", NULL},
    .run = run,
};
