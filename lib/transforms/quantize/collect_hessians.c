// tile-collect-hessians: the function returns Xᵀ·X of the rows x of each product by constant weights too.
//
//   %c = linalg.matmul ins(%x, %w)      →   also  h[k, l] = sum over m of x[m, k] · x[m, l], a further result
// What GPTQ needs to know of the inputs (tile-quantize-weights): run the program on typical rows, and keep the results
// after the function's own in a .npz file.
// Expects: func.func on tensors with one return; products in its own block. Leaves: results in the products' order. A
// product inside of a loop or a branch is an error: its rows would be those of the last round. Cost: linear in the
// code. Paper: GPTQ (Frantar et al., ICLR 2023).
#include "lib/transforms/quantize/quantize.h"

#include "dialects/tile/tile.h"
#include "lib/ir/builder.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <stdlib.h>

static MlirAttribute mapOf(const TileBuilder *b, int numDims, int count, const int *dims) {
  MlirAffineExpr results[2];
  for (int i = 0; i < count; ++i)
    results[i] = mlirAffineDimExprGet(b->context, dims[i]);
  return mlirAffineMapAttrGet(mlirAffineMapGet(b->context, numDims, 0, count, results));
}

static MlirValue buildZeros(TileBuilder *b, MlirType type) {
  MlirType f32 = mlirF32TypeGet(b->context);
  MlirValue zero = tileBuildFloat(b, f32, 0), empty = tensorEmptyOpBuild(b, type, 0, NULL);
  MlirAttribute maps[] = {mapOf(b, 2, 0, NULL), mapOf(b, 2, 2, (int[]){0, 1})}, none = {NULL};
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(b, &region, 2, (MlirType[]){f32, f32});
  MlirValue yielded = mlirBlockGetArgument(inside.block, 0);
  linalgYieldOpBuild(&inside, 1, &yielded);
  return tileOnlyResult(linalgGenericOpCreate(b, 1, &type, 1, &zero, 1, &empty, mlirArrayAttrGet(b->context, 2, maps),
                                              tileBuildIteratorTypes(b, 2, 0), none, none, region));
}

static MlirValue buildHessian(TileBuilder *b, const TileWeightedProduct *weighted) {
  MlirType f32 = mlirF32TypeGet(b->context);
  int64_t shape[2] = {weighted->depth, weighted->depth};
  MlirType type = mlirRankedTensorTypeGet(2, shape, f32, mlirAttributeGetNull());
  MlirValue x = mlirOperationGetOperand(weighted->op, weighted->product.lhs), zeros = buildZeros(b, type);
  bool isTransposed = weighted->product.transposeLhs;
  MlirAttribute none = {NULL},
                maps[3] = {mapOf(b, 3, 2, isTransposed ? (int[]){0, 2} : (int[]){2, 0}),
                           mapOf(b, 3, 2, isTransposed ? (int[]){1, 2} : (int[]){2, 1}), mapOf(b, 3, 2, (int[]){0, 1})};
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(b, &region, 3, (MlirType[]){f32, f32, f32});
  MlirValue term =
      arithMulFOpBuild(&inside, mlirBlockGetArgument(inside.block, 0), mlirBlockGetArgument(inside.block, 1));
  MlirValue sum = arithAddFOpBuild(&inside, mlirBlockGetArgument(inside.block, 2), term);
  linalgYieldOpBuild(&inside, 1, &sum);
  return tileOnlyResult(linalgGenericOpCreate(b, 1, &type, 2, (MlirValue[]){x, x}, 1, &zeros,
                                              mlirArrayAttrGet(b->context, 3, maps), tileBuildIteratorTypes(b, 2, 1),
                                              none, none, region));
}

// Gives the function these results after its own.
static void returnAlso(MlirOperation function, MlirOperation terminator, intptr_t count, const MlirValue *values) {
  MlirType type = funcFuncOpGetFunctionTypeValue(function);
  intptr_t inputs = mlirFunctionTypeGetNumInputs(type), own = mlirFunctionTypeGetNumResults(type), all = own + count;
  MlirType *types = malloc((size_t)(inputs + all + 1) * sizeof *types);
  MlirValue *operands = malloc((size_t)(all + 1) * sizeof *operands);
  for (intptr_t i = 0; types && i < inputs; ++i)
    types[i] = mlirFunctionTypeGetInput(type, i);
  for (intptr_t i = 0; types && operands && i < all; ++i) {
    operands[i] = i < own ? mlirOperationGetOperand(terminator, i) : values[i - own];
    types[inputs + i] = mlirValueGetType(operands[i]);
  }
  if (types && operands) {
    mlirOperationSetOperands(terminator, all, operands);
    MlirType returning = mlirFunctionTypeGet(mlirOperationGetContext(function), inputs, types, all, types + inputs);
    funcFuncOpSetFunctionType(function, mlirTypeAttrGet(returning));
  }
  free(types);
  free(operands);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileWeightedProducts products = tileCollectWeightedProducts(function);
  MlirValue *hessians = malloc((size_t)(products.count + 1) * sizeof *hessians);
  MlirRegion region = mlirOperationGetRegion(function, 0);
  MlirBlock block = mlirRegionGetFirstBlock(region);
  bool ok = hessians || tileError(function, "out of memory");
  for (intptr_t i = 0; ok && i < products.count; ++i) {
    MlirOperation op = products.items[i].op;
    if (!mlirBlockEqual(mlirOperationGetBlock(op), block) || !mlirBlockIsNull(mlirBlockGetNextInRegion(block))) {
      ok = tileError(op, "is inside of a loop or branch; Hessians of products there are not collected");
      continue;
    }
    TileBuilder b = tileBuilderBefore(op);
    hessians[i] = buildHessian(&b, &products.items[i]);
  }
  if (ok && products.count)
    returnAlso(function, mlirBlockGetTerminator(block), products.count, hessians);
  mlirExtPassAddStatistic(pass, 0, ok ? (uint64_t)products.count : 0);
  free(hessians);
  free(products.items);
  return ok;
}

const MlirExtPassDefinition tileCollectHessiansPass = {
    .argument = "tile-collect-hessians",
    .summary = "Return what GPTQ needs to know of the inputs of products by constant weights",
    .anchor = funcFuncOpName,
    .statistics = (const char *const[]){"hessians: results that were added", NULL},
    .dialects = (const char *const[]){"arith", "linalg", "tensor", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
