// convert-sparse-to-sparse-tensor: sparse programs as programs of upstream's sparse_tensor dialect, for mlir-opt
// --sparsifier.
//
// Expects: func.func on tensors. Leaves: every sparse op as an op of sparse_tensor or a linalg.generic on encoded
// tensors, in functions and scf too. A format without a level list (levels.h), an op or a semiring without a
// counterpart are errors at the op, and nothing is changed. Cost: linear. Only add_mul has one: elsewhere what is not
// stored takes no part, in linalg it is a zero.
#include "dialects/sparse/ops.h"
#include "dialects/sparse/sparse.h"
#include "lib/capi/conversion.h"
#include "lib/conversion/sparse_tensor_to_sparse/levels.h"
#include "lib/conversion/sparse_tensor_to_sparse/sparse_tensor_to_sparse.h"
#include "lib/ir/pass.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "upstream/arith.h"
#include "upstream/bufferization.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/sparse_tensor.h"
#include "upstream/tensor.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

//===--- what has a counterpart -------------------------------------------------===//

static bool isOurs(MlirType type) { return !mlirAttributeIsNull(sparseTypeGetEncoding(type)); }

static bool isKeyword(MlirOperation op, const char *name, const char *wanted) {
  MlirAttribute value = tileOpAttribute(op, name);
  return mlirAttributeIsNull(value) || tileStringEquals(mlirStringAttrGetValue(value), wanted);
}

static bool supportsOp(MlirOperation op) {
  MlirStringRef name = tileOpName(op);
  switch (sparseOpKind(op)) {
  case SparseOp_Assemble:
    return mlirShapedTypeHasStaticShape(sparseAssembleOpGetResultType(op)) ||
           tileError(op, "makes a tensor of open sizes, which sparse_tensor.assemble cannot");
  case SparseOp_Convert:
    return isKeyword(op, "duplicates", "sum") ||
           tileError(op, "refuses duplicates, which sparse_tensor.convert cannot");
  case SparseOp_Reduce:
    return isKeyword(op, "combine", "add") ||
           tileError(op, "combines stored entries only, which linalg can say of add alone");
  case SparseOp_Spmm:
  case SparseOp_Spmv:
  case SparseOp_Add:
  case SparseOp_Mul:
    return isKeyword(op, "semiring", "add_mul") ||
           tileError(op, "combines stored entries only, which linalg can say of add_mul alone");
  case SparseOp_Pack:
  case SparseOp_Unpack:
  case SparseOp_Disassemble:
    return true;
  default:
    return tensorDimOpIsA(op) || tileOpIsOfDialect(op, "func") || tileOpIsOfDialect(op, "scf") ||
           tileError(op, "'%.*s' of sparse tensors has no counterpart in sparse_tensor", (int)name.length, name.data);
  }
}

static bool supportsType(MlirOperation op, MlirType type) {
  char text[192];
  return !isOurs(type) || !mlirTypeIsNull(sparseTypeToLevels(type)) ||
         tileError(op, "%s has no level list in sparse_tensor", tileTypeText(type, text, sizeof text));
}

static bool touches(MlirOperation op) {
  bool found = tileOpIsOfDialect(op, "sparse") && !sparseYieldOpIsA(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    found |= isOurs(tileOperandType(op, i));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    found |= isOurs(tileResultType(op, i));
  if (!funcFuncOpIsA(op))
    return found;
  MlirType type = mlirTypeAttrGetValue(tileOpAttribute(op, "function_type"));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); ++i)
    found |= isOurs(mlirFunctionTypeGetInput(type, i));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); ++i)
    found |= isOurs(mlirFunctionTypeGetResult(type, i));
  return found;
}

static bool supports(MlirOperation op) {
  bool ok = true;
  if (!touches(op))
    return true;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && ok; ++i)
    ok = supportsType(op, tileOperandType(op, i));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op) && ok; ++i)
    ok = supportsType(op, tileResultType(op, i));
  if (ok && funcFuncOpIsA(op)) {
    MlirType type = mlirTypeAttrGetValue(tileOpAttribute(op, "function_type"));
    for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type) && ok; ++i)
      ok = supportsType(op, mlirFunctionTypeGetInput(type, i));
    for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type) && ok; ++i)
      ok = supportsType(op, mlirFunctionTypeGetResult(type, i));
  }
  return ok && supportsOp(op);
}

static MlirWalkResult survey(MlirOperation op, void *ok) {
  *(bool *)ok &= supports(op);
  return tileOpIsOfDialect(op, "sparse") ? MlirWalkResultSkip : MlirWalkResultAdvance;
}

//===--- generics -----------------------------------------------------------------===//

// The dimensions of a linalg.generic, and which of them each operand's axes are.
typedef struct Dims {
  intptr_t parallel, reductions;
  struct {
    intptr_t rank, dims[2];
  } operands[3];
} Dims;

static MlirAttribute mapsOf(MlirContext context, intptr_t count, const Dims *dims) {
  MlirAttribute maps[3];
  for (intptr_t i = 0; i < count; ++i) {
    MlirAffineExpr axes[2];
    for (intptr_t axis = 0; axis < dims->operands[i].rank; ++axis)
      axes[axis] = mlirAffineDimExprGet(context, dims->operands[i].dims[axis]);
    maps[i] = mlirAffineMapAttrGet(
        mlirAffineMapGet(context, dims->parallel + dims->reductions, 0, dims->operands[i].rank, axes));
  }
  return mlirArrayAttrGet(context, count, maps);
}

// A linalg.generic that sums over the reductions: out = out + the product of the inputs, or without reductions their
// `op`.
static MlirValue buildGeneric(TileBuilder *builder, intptr_t count, const MlirValue *operands, const Dims *dims,
                              TileUpstream op, TileUpstream reduce) {
  MlirType type = mlirValueGetType(operands[count - 1]), elements[4];
  for (intptr_t i = 0; i < count; ++i)
    elements[i] = mlirShapedTypeGetElementType(mlirValueGetType(operands[i]));
  MlirRegion region;
  TileBuilder body = tileBuilderInRegion(builder, &region, count, elements);
  MlirType sum = elements[count - 1];
  TileUpstream widen = mlirTypeIsAFloat(sum) ? ArithOp_ExtF : ArithOp_ExtSI;
  MlirValue values[4];
  for (intptr_t i = 0; i < count; ++i) {
    values[i] = mlirBlockGetArgument(body.block, i);
    if (!mlirTypeEqual(elements[i], sum))
      values[i] = tileBuildCast(&body, widen, values[i], sum);
  }
  MlirValue result = values[0];
  if (count == 3)
    result = tileBuildBinary(&body, op, values[0], values[1]);
  if (reduce != TileUpstream_None)
    result = tileBuildBinary(&body, reduce, values[count - 1], result);
  linalgYieldOpBuild(&body, 1, &result);
  MlirOperation made = linalgGenericOpBuild(builder, 1, &type, count - 1, operands, 1, &operands[count - 1],
                                            mapsOf(builder->context, count, dims),
                                            tileBuildIteratorTypes(builder, dims->parallel, dims->reductions), region);
  return tileOnlyResult(made);
}

static TileUpstream arith(MlirValue like, TileUpstream ofFloats, TileUpstream ofIntegers) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(like));
  return mlirTypeIsAFloat(element) ? ofFloats : ofIntegers;
}

//===--- patterns -----------------------------------------------------------------===//

// pack, unpack, convert: one op there.
SPARSE_PATTERN(exportConvert) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirType type = mlirExtTypeConverterConvertType(converter, tileOnlyResultType(op));
  MlirValue result = sparseTensorConvertOpBuild(&builder, type, operands[0]);
  return sparseReplaceWith(rewriter, op, 1, &result);
}

SPARSE_PATTERN(exportAssemble) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirType ours = sparseAssembleOpGetResultType(op), theirs = sparseTypeToLevels(ours);
  SparseLevelTensors stored = sparseLevelsFromComponents(&builder, theirs, ours, operands);
  MlirValue result = sparseTensorAssembleOpBuild(&builder, theirs, stored.count, stored.levels, stored.values);
  return sparseReplaceWith(rewriter, op, 1, &result);
}

// What is stored, as one of upstream's three ops gives it, as a tensor.
static MlirValue asTensor(TileBuilder *builder, MlirValue buffer) {
  const int64_t sizes[] = {mlirShapedTypeGetDynamicSize()};
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(buffer));
  MlirType row = mlirRankedTensorTypeGet(1, sizes, element, mlirAttributeGetNull());
  return bufferizationToTensorOpGetResult(
      bufferizationToTensorOpCreate(builder, row, buffer, mlirUnitAttrGet(builder->context), mlirAttributeGetNull()));
}

SPARSE_PATTERN(exportDisassemble) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirType ours = sparseDisassembleOpGetInputType(op), theirs = mlirValueGetType(operands[0]);
  SparseLevelTensors stored = {.count = 0};
  MlirValue components[SPARSE_MAX_COMPONENTS];
  intptr_t axis;
  for (int64_t level = 0; level < SparseMaxLevelTensors; ++level) {
    intptr_t positions = sparseLevelPositions(theirs, level), place = sparseLevelCoordinates(theirs, level, &axis);
    MlirAttribute number = mlirIntegerAttrGet(mlirIndexTypeGet(builder.context), level);
    if (positions >= 0)
      stored.levels[positions] = asTensor(&builder, sparseTensorToPositionsOpBuild(&builder, operands[0], number));
    if (place >= 0)
      stored.levels[place] = asTensor(&builder, sparseTensorToCoordinatesOpBuild(&builder, operands[0], number));
  }
  stored.values = asTensor(&builder, sparseTensorToValuesOpBuild(&builder, operands[0]));
  sparseComponentsFromLevels(&builder, theirs, ours, &stored, components);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    components[i] = sparseCastTo(&builder, components[i], tileResultType(op, i));
  return sparseReplaceWith(rewriter, op, mlirOperationGetNumResults(op), components);
}

static void swap(intptr_t dims[2]) {
  intptr_t first = dims[0];
  dims[0] = dims[1];
  dims[1] = first;
}

static bool has(MlirOperation op, const char *name) { return !mlirAttributeIsNull(tileOpAttribute(op, name)); }

SPARSE_PATTERN(exportProduct) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  Dims ofVector = {1, 1, {{2, {0, 1}}, {1, {1}}, {1, {0}}}};       // i, k
  Dims ofMatrix = {2, 1, {{2, {0, 2}}, {2, {2, 1}}, {2, {0, 1}}}}; // i, j, k
  if (has(op, "transpose"))
    swap(ofVector.operands[0].dims);
  if (has(op, "transpose_lhs"))
    swap(ofMatrix.operands[0].dims);
  if (has(op, "transpose_rhs"))
    swap(ofMatrix.operands[1].dims);
  MlirValue result =
      buildGeneric(&builder, 3, operands, sparseSpmvOpIsA(op) ? &ofVector : &ofMatrix,
                   arith(operands[2], ArithOp_MulF, ArithOp_MulI), arith(operands[2], ArithOp_AddF, ArithOp_AddI));
  return sparseReplaceWith(rewriter, op, 1, &result);
}

SPARSE_PATTERN(exportReduce) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  static const Dims alongRows = {1, 1, {{2, {0, 1}}, {1, {0}}}}, alongColumns = {1, 1, {{2, {1, 0}}, {1, {0}}}};
  bool isAlongRows = mlirIntegerAttrGetValueInt(tileOpAttribute(op, "axis")) == 1;
  MlirValue result = buildGeneric(&builder, 2, operands, isAlongRows ? &alongRows : &alongColumns, TileUpstream_None,
                                  arith(operands[1], ArithOp_AddF, ArithOp_AddI));
  return sparseReplaceWith(rewriter, op, 1, &result);
}

// add and mul of matrices: into an empty tensor of their format.
SPARSE_PATTERN(exportElementwise) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  static const Dims dims = {2, 0, {{2, {0, 1}}, {2, {0, 1}}, {2, {0, 1}}}};
  MlirType type = mlirValueGetType(operands[0]);
  bool adds = sparseAddOpIsA(op);
  if (mlirShapedTypeGetRank(type) != 2)
    return mlirLogicalResultFailure();
  MlirValue into = tileBuildEmptyLike(&builder, type, operands[0]);
  MlirValue result = buildGeneric(
      &builder, 3, (MlirValue[]){operands[0], operands[1], into}, &dims,
      adds ? arith(into, ArithOp_AddF, ArithOp_AddI) : arith(into, ArithOp_MulF, ArithOp_MulI), TileUpstream_None);
  return sparseReplaceWith(rewriter, op, 1, &result);
}

SPARSE_PATTERN(exportDim) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirValue size = tensorDimOpBuild(&builder, operands[0], operands[1]);
  return sparseReplaceWith(rewriter, op, 1, &size);
}

//===--- the pass -------------------------------------------------------------------===//

static MlirType convertType(MlirType type, void *unused) {
  return isOurs(type) ? sparseTypeToLevels(type) : (MlirType){NULL};
}
static bool isLegal(MlirOperation op, void *unused) { return !touches(op); }

static bool convert(MlirOperation module) {
  static const SparseConversionRow rows[] = {{sparsePackOpIsA, exportConvert},
                                             {sparseUnpackOpIsA, exportConvert},
                                             {sparseConvertOpIsA, exportConvert},
                                             {sparseAssembleOpIsA, exportAssemble},
                                             {sparseDisassembleOpIsA, exportDisassemble},
                                             {sparseSpmmOpIsA, exportProduct},
                                             {sparseSpmvOpIsA, exportProduct},
                                             {sparseReduceOpIsA, exportReduce},
                                             {sparseAddOpIsA, exportElementwise},
                                             {sparseMulOpIsA, exportElementwise},
                                             {tensorDimOpIsA, exportDim}};
  return sparseConvertOps(module, COUNT(rows), rows, convertType, isLegal);
}

static bool run(MlirOperation module, MlirExtPass pass) {
  bool ok = true;
  mlirOperationWalk(module, survey, &ok, MlirWalkPreOrder);
  return ok && convert(module);
}

const MlirExtPassDefinition sparseToSparseTensorPass = {
    .argument = "convert-sparse-to-sparse-tensor",
    .summary = "Turn sparse programs into programs of upstream's sparse_tensor dialect",
    .anchor = builtinModuleOpName,
    .dialects = (const char *const[]){"arith", "bufferization", "linalg", "memref", "sparse_tensor", "tensor", NULL},
    .registerDialects = sparseRegisterDialect,
    .run = run,
};
