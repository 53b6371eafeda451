// Loops over experts with a select: each step multiplies all rows by one matrix, and a row keeps what its own matrix
// gave.
//
//   for e: y = f(x · w[e]);  acc = select(id == e, y, acc)   →   y = f(grouped_matmul x, w by id);  select(id < n, y,
//   acc)
//
// The ops of a step move before the loop; products take the lists of the rows. Nothing is changed unless every op of
// the step either is the same in each step, or gives row r of its results by row r of its operands.
#include "dialects/sparse/ops.h"
#include "lib/analysis/product.h"
#include "lib/analysis/sparsity/masked_values.h"
#include "lib/support/grow.h"
#include "lib/transforms/sparsify/group_rows.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/Dialect/Linalg.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

MlirValue sparseBuildFilled(TileBuilder *b, MlirValue empty, MlirValue number) {
  MlirType type = mlirValueGetType(empty);
  MlirOperation fill = linalgFillOpBuild(b, 1, &type, 1, &number, 1, &empty, mlirRegionCreate());
  mlirLinalgFillBuiltinNamedOpRegion(fill);
  return tileOnlyResult(fill);
}

// A loop, the op at its end that selects, and what that op compares.
typedef struct ExpertLoop {
  MlirOperation loop, last, compare;
  MlirBlock body;
  MlirValue step, accumulator, numbers;
  int64_t experts;
} ExpertLoop;

//===--- the select ---------------------------------------------------------===//

static intptr_t argumentOf(MlirBlock body, MlirValue value) {
  bool isOurs = mlirValueIsABlockArgument(value) && mlirBlockEqual(mlirBlockArgumentGetOwner(value), body);
  return isOurs ? mlirBlockArgumentGetArgNumber(value) : -1;
}

static MlirAffineMap mapOf(MlirOperation op, intptr_t operand) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(mlirLinalgGetIndexingMapsAttribute(op), operand));
}

// The number of the step as an integer.
static bool isStep(const ExpertLoop *found, MlirValue value) {
  MlirOperation cast = tileDefiningOp(value);
  return mlirValueEqual(value, found->step) ||
         (arithIndexCastOpIsA(cast) && mlirValueEqual(tileOnlyOperand(cast), found->step));
}

static bool isFirstAxis(MlirAffineMap map) {
  MlirAffineExpr expr = mlirAffineMapGetResult(map, 0);
  return mlirAffineMapGetNumResults(map) == 1 && mlirAffineExprIsADim(expr) && mlirAffineDimExprGetPosition(expr) == 0;
}

// An element of the row's number, perhaps cast to an index.
static bool matchNumber(ExpertLoop *found, MlirBlock body, MlirValue value) {
  MlirOperation cast = tileDefiningOp(value);
  intptr_t operand = argumentOf(body, arithIndexCastOpIsA(cast) ? tileOnlyOperand(cast) : value);
  if (operand < 0 || !isFirstAxis(mapOf(found->last, operand)))
    return false;
  found->numbers = mlirOperationGetOperand(found->last, operand);
  unsigned width = tileElementWidth(mlirShapedTypeGetElementType(mlirValueGetType(found->numbers)));
  return (width == 32 || width == 64) && !tileIsDefinedIn(found->numbers, found->body);
}

static bool matchCompare(ExpertLoop *found, MlirBlock body, MlirValue condition) {
  found->compare = tileDefiningOp(condition);
  if (!arithCmpIOpIsA(found->compare) || arithCmpIOpGetPredicateValue(found->compare) != ArithCmpI_Eq)
    return false;
  MlirValue lhs = tileBinaryLhs(found->compare), rhs = tileBinaryRhs(found->compare);
  return (isStep(found, rhs) && matchNumber(found, body, lhs)) || (isStep(found, lhs) && matchNumber(found, body, rhs));
}

static bool isAccumulator(const ExpertLoop *found, MlirBlock body, MlirValue value) {
  intptr_t operand = argumentOf(body, value);
  return operand >= 0 && mlirValueEqual(mlirOperationGetOperand(found->last, operand), found->accumulator) &&
         mlirAffineMapIsIdentity(mapOf(found->last, operand));
}

// select(c, y, acc), or acc + select(c, y, 0) where acc begins at zero.
static bool matchSelect(ExpertLoop *found) {
  MlirBlock body = tileOnlyBlock(linalgGenericOpGetRegion(found->last));
  MlirOperation op = tileDefiningOp(tileOnlyOperand(mlirBlockGetTerminator(body)));
  bool adds = arithAddFOpIsA(op) || arithAddIOpIsA(op);
  if (adds) {
    bool isLeft = isAccumulator(found, body, tileBinaryLhs(op));
    if ((!isLeft && !isAccumulator(found, body, tileBinaryRhs(op))) ||
        !sparseIsZero(scfForOpGetInitArgs(found->loop, 0)))
      return false;
    op = tileDefiningOp(isLeft ? tileBinaryRhs(op) : tileBinaryLhs(op));
  }
  return arithSelectOpIsA(op) &&
         (adds ? sparseIsZero(arithSelectOpGetFalseValue(op))
               : isAccumulator(found, body, arithSelectOpGetFalseValue(op))) &&
         matchCompare(found, body, arithSelectOpGetCondition(op));
}

static bool hasOneUser(MlirValue value, MlirOperation user) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (!mlirOperationEqual(mlirOpOperandGetOwner(use), user))
      return false;
  return true;
}

static bool matchLoop(MlirOperation loop, ExpertLoop *found) {
  int64_t first, end, by;
  *found = (ExpertLoop){.loop = loop, .body = tileOnlyBlock(scfForOpGetRegion(loop))};
  if (mlirOperationGetNumResults(loop) != 1 || !tileConstantIndex(scfForOpGetLowerBound(loop), &first) ||
      !tileConstantIndex(scfForOpGetUpperBound(loop), &end) || !tileConstantIndex(scfForOpGetStep(loop), &by) ||
      first != 0 || by != 1 || end < 1)
    return false;
  found->experts = end;
  found->step = mlirBlockGetArgument(found->body, 0);
  found->accumulator = mlirBlockGetArgument(found->body, 1);
  found->last = tileDefiningOp(tileOnlyOperand(mlirBlockGetTerminator(found->body)));
  return linalgGenericOpIsA(found->last) && tileIsDefinedIn(tileOnlyResult(found->last), found->body) &&
         hasOneUser(found->accumulator, found->last) && matchSelect(found);
}

//===--- the step -----------------------------------------------------------===//

// The matrix of the step: a slice of all matrices, read by right factors of products alone.
static bool isMatrixOfStep(const ExpertLoop *found, MlirOperation op) {
  if (!tensorExtractSliceOpIsA(op) || tensorExtractSliceOpGetNumOffsets(op) != 1 ||
      tensorExtractSliceOpGetNumSizes(op) || tensorExtractSliceOpGetNumStrides(op) ||
      !mlirValueEqual(tensorExtractSliceOpGetOffsets(op, 0), found->step))
    return false;
  MlirType from = tensorExtractSliceOpGetSourceType(op), to = tensorExtractSliceOpGetResultType(op);
  MlirAttribute offsets = tensorExtractSliceOpGetStaticOffsets(op), sizes = tensorExtractSliceOpGetStaticSizes(op);
  if (mlirShapedTypeGetRank(from) != 3 || mlirShapedTypeGetRank(to) != 2 || !mlirShapedTypeHasStaticShape(from) ||
      mlirShapedTypeGetDimSize(from, 0) != found->experts ||
      tileIsDefinedIn(tensorExtractSliceOpGetSource(op), found->body))
    return false;
  for (intptr_t axis = 1; axis < 3; ++axis)
    if (mlirDenseI64ArrayGetElement(offsets, axis) != 0 ||
        mlirDenseI64ArrayGetElement(sizes, axis) != mlirShapedTypeGetDimSize(from, axis) ||
        mlirShapedTypeGetDimSize(to, axis - 1) != mlirShapedTypeGetDimSize(from, axis))
      return false;
  return !mlirShapedTypeIsDynamicSize(mlirDenseI64ArrayGetElement(sizes, 0)) &&
         mlirDenseI64ArrayGetElement(sizes, 0) == 1;
}

// A product of rows by the matrix of the step, and by nothing else of the step but rows.
static bool isProductOfStep(const ExpertLoop *found, MlirOperation op, TileMatrixProduct *product) {
  if (!tileMatchMatrixProduct(op, product) || product->isVector || product->transposeLhs)
    return false;
  MlirOperation slice = tileDefiningOp(mlirOperationGetOperand(op, product->rhs));
  MlirType element = mlirShapedTypeGetElementType(tileOnlyResultType(op));
  return isMatrixOfStep(found, slice) &&
         !isMatrixOfStep(found, tileDefiningOp(mlirOperationGetOperand(op, product->lhs))) &&
         !isMatrixOfStep(found, tileDefiningOp(mlirOperationGetOperand(op, product->init))) &&
         tileElementWidth(element) >= (mlirTypeIsAFloat(element) ? 16 : 8);
}

// What differs from step to step.
typedef struct Differing {
  MlirValue *values;
  intptr_t count;
} Differing;

static bool differs(const Differing *differing, MlirValue value) {
  for (intptr_t i = 0; i < differing->count; ++i)
    if (mlirValueEqual(differing->values[i], value))
      return true;
  return false;
}

static bool isRow(MlirAffineMap map) {
  for (intptr_t i = 0; i < mlirAffineMapGetNumResults(map); ++i) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, i);
    bool isFirst = mlirAffineExprIsADim(expr) && mlirAffineDimExprGetPosition(expr) == 0;
    if (isFirst != (i == 0) || !mlirAffineExprIsADim(expr))
      return false;
  }
  return mlirAffineMapGetNumResults(map) > 0;
}

// Row r of what the op gives depends on row r of what differs alone.
static bool isRowWise(MlirOperation op, const Differing *differing) {
  if (!linalgGenericOpIsA(op))
    return false;
  MlirBlock body = tileOnlyBlock(linalgGenericOpGetRegion(op));
  for (MlirOperation inner = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(inner);
       inner = mlirOperationGetNextInBlock(inner)) {
    if (mlirOperationGetNumRegions(inner))
      return false;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(inner); ++i)
      if (differs(differing, mlirOperationGetOperand(inner, i)))
        return false;
  }
  intptr_t count = mlirOperationGetNumOperands(op), outputs = mlirOperationGetNumResults(op);
  for (intptr_t i = 0; i < count; ++i)
    if ((i >= count - outputs || differs(differing, mlirOperationGetOperand(op, i))) && !isRow(mapOf(op, i)))
      return false;
  return true;
}

static bool readsDiffering(MlirOperation op, const Differing *differing) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (differs(differing, mlirOperationGetOperand(op, i)))
      return true;
  return false;
}

// Ops that are the same in every step may move: pure ones, whose regions read nothing of the step.
static bool mayMove(MlirOperation op) {
  return tensorEmptyOpIsA(op) || linalgFillOpIsA(op) || arithConstantOpIsA(op) || tensorDimOpIsA(op);
}

static bool isOfStep(const ExpertLoop *found, MlirOperation op, Differing *differing) {
  TileMatrixProduct product;
  if (arithIndexCastOpIsA(op) && mlirValueEqual(tileOnlyOperand(op), found->step))
    return true; // goes with the comparison; another reader is found out below
  if (isMatrixOfStep(found, op))
    return true;
  if (!isProductOfStep(found, op, &product) &&
      !(readsDiffering(op, differing) ? isRowWise(op, differing) : mayMove(op)))
    return false;
  if (!mayMove(op))
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
      differing->values = tessera_grow(differing->values, (uint64_t)differing->count, sizeof *differing->values);
      differing->values[differing->count++] = mlirOperationGetResult(op, i);
    }
  return true;
}

// The step's number, and slices by it, are read where they may be.
static bool isReadRightly(const ExpertLoop *found, MlirValue value, bool isMatrix) {
  TileMatrixProduct product;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    if (isMatrix ? !isProductOfStep(found, op, &product)
                 : !mlirOperationEqual(op, found->compare) && !isMatrixOfStep(found, op) && !arithIndexCastOpIsA(op))
      return false;
    if (!isMatrix && arithIndexCastOpIsA(op) && !hasOneUser(tileOnlyResult(op), found->compare))
      return false;
  }
  return true;
}

static bool matchStep(const ExpertLoop *found) {
  Differing differing = {NULL};
  bool ok = isReadRightly(found, found->step, false);
  int products = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(found->body);
       ok && !mlirOperationEqual(op, mlirBlockGetTerminator(found->body)); op = mlirOperationGetNextInBlock(op)) {
    TileMatrixProduct product;
    products += isProductOfStep(found, op, &product);
    ok = mlirOperationEqual(op, found->last) || isOfStep(found, op, &differing);
    if (ok && isMatrixOfStep(found, op))
      ok = isReadRightly(found, tileOnlyResult(op), true);
  }
  ok = ok && products > 0 && isRowWise(found->last, &differing);
  free(differing.values);
  return ok;
}

//===--- the rewriting ------------------------------------------------------===//

static void groupProduct(const ExpertLoop *found, MlirOperation op, const TileMatrixProduct *product) {
  TileBuilder builder = tileBuilderBefore(op), *b = &builder;
  MlirAttribute none = mlirAttributeGetNull(), unit = mlirUnitAttrGet(b->context);
  MlirValue matrices = tensorExtractSliceOpGetSource(tileDefiningOp(mlirOperationGetOperand(op, product->rhs)));
  MlirOperation lists = sparseBuildGroups(b, mlirOperationGetLocation(op), op, found->numbers, matrices, true);
  MlirOperation made = sparseGroupedMatmulOpCreate(
      b, mlirOperationGetOperand(op, product->lhs), matrices, sparseGroupOpGetPositions(lists),
      sparseGroupOpGetCoordinates(lists), mlirOperationGetOperand(op, product->init),
      mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), 1), unit, product->transposeRhs ? unit : none);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), tileOnlyResult(made));
  mlirOperationDestroy(op);
}

// Replaces `id == step` by `id < experts`, without signs: true for the ids for which the loop has a step.
static void replaceCompare(const ExpertLoop *found) {
  TileBuilder builder = tileBuilderBefore(found->compare), *b = &builder;
  bool isLeft = !isStep(found, tileBinaryLhs(found->compare));
  MlirValue number = isLeft ? tileBinaryLhs(found->compare) : tileBinaryRhs(found->compare);
  MlirType type = mlirValueGetType(number);
  MlirValue experts =
      mlirTypeIsAIndex(type) ? tileBuildIndex(b, found->experts) : tileBuildInteger(b, type, found->experts);
  MlirValue is = arithCmpIOpBuild(b, number, experts, ArithCmpI_Ult);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(found->compare), is);
  mlirOperationDestroy(found->compare);
}

static bool readsStep(const ExpertLoop *found, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (mlirValueEqual(mlirOperationGetOperand(op, i), found->step))
      return true;
  return false;
}

uint64_t sparseGroupLoop(MlirOperation loop) {
  ExpertLoop found;
  TileMatrixProduct product;
  uint64_t products = 0;
  if (!matchLoop(loop, &found) || !matchStep(&found))
    return 0;
  MlirOperation end = mlirBlockGetTerminator(found.body), next;
  for (MlirOperation op = mlirBlockGetFirstOperation(found.body); !mlirOperationEqual(op, end); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (isProductOfStep(&found, op, &product)) {
      groupProduct(&found, op, &product);
      ++products;
    }
  }
  replaceCompare(&found);
  mlirValueReplaceAllUsesOfWith(found.accumulator, scfForOpGetInitArgs(loop, 0));
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(loop), tileOnlyResult(found.last));
  for (MlirOperation op = mlirBlockGetFirstOperation(found.body); !mlirOperationEqual(op, end); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (!readsStep(&found, op))
      mlirOperationMoveBefore(op, loop);
  }
  mlirOperationDestroy(loop);
  return products;
}
