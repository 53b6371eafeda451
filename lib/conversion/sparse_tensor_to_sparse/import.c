// convert-sparse-tensor-to-sparse: programs of upstream's sparse_tensor dialect as programs of ours.
//
// Expects: func.func on tensors. Leaves: every function all of whose encoded values have a format here (levels.h) and
// whose ops on them are known (below) in sparse ops; the others, with those they call or that call them, become kernels
// that walk levels (convert-sparse-tensor-to-tile). What that pass does not know goes through upstream's sparsifier to
// loops on buffers, with a remark at the op that asked for it (unsupported = upstream), or is an error there
// (unsupported = error). `lowerable` walks levels also where convert-sparse-to-tile has no kernel. Both are found out
// on a copy. Cost: linear, some times over. Known: assemble, disassemble, convert, positions, coordinates, values,
// number_of_entries; linalg's matrix products of one encoded matrix and a dense one, sampled products; tensor.dim;
// functions and scf. What they mean: https://mlir.llvm.org/docs/Dialects/SparseTensorOps/.
#include "dialects/sparse/ops.h"
#include "dialects/sparse/sparse.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/product.h"
#include "lib/capi/conversion.h"
#include "lib/conversion/sparse_tensor_to_sparse/levels.h"
#include "lib/conversion/sparse_tensor_to_sparse/sparse_tensor_to_sparse.h"
#include "lib/ir/canonicalize.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "upstream/arith.h"
#include "upstream/bufferization.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/memref.h"
#include "upstream/sparse_tensor.h"
#include "upstream/tensor.h"

#include <stdio.h>
#include <stdlib.h>

enum { Taken, Walked, Left };

//===--- sampled products -------------------------------------------------------===//

// out += sample ∘ (lhs · rhs): which operands they are.
typedef struct Sampled {
  intptr_t sample, lhs, rhs;
  bool transposeLhs, transposeRhs;
} Sampled;

// Counts the uses of each argument in a tree of products; false for anything else in it.
static bool countFactors(MlirBlock body, MlirValue value, int depth, int counts[3]) {
  if (mlirValueIsABlockArgument(value)) {
    intptr_t number = mlirBlockArgumentGetArgNumber(value);
    bool isOurs = mlirBlockEqual(mlirBlockArgumentGetOwner(value), body) && number < 3;
    counts[isOurs ? number : 0] += 1;
    return isOurs;
  }
  MlirOperation op = tileDefiningOp(value);
  return depth < 3 && (arithMulFOpIsA(op) || arithMulIOpIsA(op)) &&
         countFactors(body, tileBinaryLhs(op), depth + 1, counts) &&
         countFactors(body, tileBinaryRhs(op), depth + 1, counts);
}

static bool addsProductOfThree(MlirBlock body) {
  int counts[3] = {0};
  if (mlirBlockIsNull(body) || mlirBlockGetNumArguments(body) != 4)
    return false;
  MlirOperation sum = tileDefiningOp(tileOnlyOperand(mlirBlockGetTerminator(body)));
  if (!arithAddFOpIsA(sum) && !arithAddIOpIsA(sum))
    return false;
  MlirValue accumulator = mlirBlockGetArgument(body, 3);
  MlirValue left = tileBinaryLhs(sum), right = tileBinaryRhs(sum);
  MlirValue product = mlirValueEqual(left, accumulator) ? right : left;
  return (mlirValueEqual(left, accumulator) || mlirValueEqual(right, accumulator)) &&
         countFactors(body, product, 0, counts) && counts[0] == 1 && counts[1] == 1 && counts[2] == 1;
}

static bool readPair(MlirAttribute maps, intptr_t i, intptr_t pair[2]) {
  MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
  if (mlirAffineMapGetNumResults(map) != 2 || mlirAffineMapGetNumDims(map) != 3)
    return false;
  for (intptr_t k = 0; k < 2; ++k) {
    MlirAffineExpr result = mlirAffineMapGetResult(map, k);
    if (!mlirAffineExprIsADim(result))
      return false;
    pair[k] = mlirAffineDimExprGetPosition(result);
  }
  return pair[0] != pair[1];
}

static bool has(const intptr_t pair[2], intptr_t dim) { return pair[0] == dim || pair[1] == dim; }

static bool matchSampled(MlirOperation op, Sampled *sampled) {
  intptr_t pairs[4][2], sample = -1;
  MlirAttribute maps = tileOpAttribute(op, "indexing_maps");
  if (!linalgGenericOpIsA(op) || mlirOperationGetNumOperands(op) != 4 || mlirOperationGetNumResults(op) != 1 ||
      !addsProductOfThree(tileOnlyBlock(mlirOperationGetRegion(op, 0))))
    return false;
  for (intptr_t i = 0; i < 4; ++i)
    if (!readPair(maps, i, pairs[i]))
      return false;
  for (intptr_t i = 0; i < 3; ++i)
    if (sparseTensorIsEncoded(tileOperandType(op, i))) {
      if (sample >= 0)
        return false;
      sample = i;
    }
  intptr_t row = pairs[3][0], column = pairs[3][1], depth = 3 - row - column;
  if (sample < 0 || pairs[sample][0] != row || pairs[sample][1] != column)
    return false;
  *sampled = (Sampled){.sample = sample, .lhs = -1, .rhs = -1};
  for (intptr_t i = 0; i < 3; ++i)
    if (i != sample && has(pairs[i], row) && has(pairs[i], depth)) {
      sampled->lhs = i;
      sampled->transposeLhs = pairs[i][0] == depth;
    } else if (i != sample && has(pairs[i], column) && has(pairs[i], depth)) {
      sampled->rhs = i;
      sampled->transposeRhs = pairs[i][1] == depth;
    }
  return sampled->lhs >= 0 && sampled->rhs >= 0;
}

// A sparse output must start empty, and have the sample's type.
static bool startsEmpty(MlirOperation op, const Sampled *sampled) {
  MlirValue output = linalgGenericOpGetOutputs(op, 0);
  MlirType type = mlirValueGetType(output);
  return !sparseTensorIsEncoded(type) ||
         (tensorEmptyOpIsA(tileDefiningOp(output)) && mlirTypeEqual(type, tileOperandType(op, sampled->sample)));
}

//===--- what is taken ------------------------------------------------------------===//

// Why not, in words for "'op' …"; null if it is taken.
static const char *whyNotType(MlirType type) {
  return sparseTensorIsEncoded(type) && mlirTypeIsNull(sparseTypeFromLevels(type))
             ? "stores a sparse tensor in levels that no format here has"
             : NULL;
}

static const char *whyNotLinalg(MlirOperation op) {
  TileMatrixProduct product;
  Sampled sampled;
  if (matchSampled(op, &sampled))
    return startsEmpty(op, &sampled) ? NULL : "samples a product into a sparse tensor that is not empty";
  if (!tileMatchMatrixProduct(op, &product))
    return "is not a product of a sparse matrix and a dense one, nor a sampled one";
  if (sparseTensorIsEncoded(tileOperandType(op, product.init)))
    return "makes a sparse tensor whose entries are not known before";
  bool both = sparseTensorIsEncoded(tileOperandType(op, product.lhs)) ==
              sparseTensorIsEncoded(tileOperandType(op, product.rhs));
  return both || (product.isVector && !sparseTensorIsEncoded(tileOperandType(op, product.lhs)))
             ? "is a product of two sparse tensors"
             : NULL;
}

static bool isConstantDim(MlirOperation op) {
  int64_t axis;
  return tensorDimOpIsA(op) && tileConstantIndex(tensorDimOpGetIndex(op), &axis);
}

static const char *whyNotMemref(MlirOperation op) {
  MlirType type = tileOnlyResultType(op), encoded = tileOnlyOperandType(op);
  MlirAttribute level = tileOpAttribute(op, "level");
  intptr_t axis;
  if (mlirTypeIsAMemRef(type) && mlirShapedTypeGetRank(type) == 1 &&
      !mlirAttributeIsAStridedLayout(mlirMemRefTypeGetLayout(type)) &&
      (mlirAttributeIsNull(level) || sparseLevelPositions(encoded, mlirIntegerAttrGetValueInt(level)) >= 0 ||
       sparseLevelCoordinates(encoded, mlirIntegerAttrGetValueInt(level), &axis) >= 0))
    return NULL;
  return "asks for what is stored in a way that is not known here";
}

static bool isStructural(MlirOperation op) { return tileOpIsOfDialect(op, "func") || tileOpIsOfDialect(op, "scf"); }

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *whyNotConvert(MlirOperation op) {
  MlirType from = tileOnlyOperandType(op), to = tileOnlyResultType(op);
  if (!mlirTypeEqual(mlirShapedTypeGetElementType(from), mlirShapedTypeGetElementType(to)))
    return "converts the elements too";
  return mlirAttributeIsNull(tileListedConstant(tileOnlyOperand(op))) ? NULL : "stores what a constant lists";
}

static const char *whyNotOp(MlirOperation op) {
  if (sparseTensorConvertOpIsA(op))
    return whyNotConvert(op);
  if (sparseTensorAssembleOpIsA(op) || sparseTensorDisassembleOpIsA(op) || sparseTensorNumberOfEntriesOpIsA(op))
    return NULL;
  if (sparseTensorToPositionsOpIsA(op) || sparseTensorToCoordinatesOpIsA(op) || sparseTensorToValuesOpIsA(op))
    return whyNotMemref(op);
  if (tileOpIsStructured(op))
    return whyNotLinalg(op);
  return isStructural(op) || isConstantDim(op) || tensorEmptyOpIsA(op)
             ? NULL
             : "is not known here to take or give sparse tensors";
}

// Functions and blocks hold encoded types that no operand shows.
static bool signatureHasEncoding(MlirOperation function, const char **why) {
  MlirType type = mlirTypeAttrGetValue(tileOpAttribute(function, "function_type"));
  bool found = false;
  intptr_t inputs = mlirFunctionTypeGetNumInputs(type), results = mlirFunctionTypeGetNumResults(type);
  for (intptr_t i = 0; i < inputs + results; ++i) {
    MlirType here = i < inputs ? mlirFunctionTypeGetInput(type, i) : mlirFunctionTypeGetResult(type, i - inputs);
    found |= sparseTensorIsEncoded(here);
    *why = *why ? *why : whyNotType(here);
  }
  return found;
}

static bool touchesEncoding(MlirOperation op, const char **why) {
  bool found = tileOpIsOfDialect(op, "sparse_tensor");
  intptr_t operands = mlirOperationGetNumOperands(op), results = mlirOperationGetNumResults(op);
  for (intptr_t i = 0; i < operands + results; ++i) {
    MlirType type = i < operands ? tileOperandType(op, i) : tileResultType(op, i - operands);
    found |= sparseTensorIsEncoded(type);
    *why = *why ? *why : whyNotType(type);
  }
  return funcFuncOpIsA(op) ? signatureHasEncoding(op, why) : found;
}

//===--- functions ------------------------------------------------------------------===//

// Functions that call each other share a fate: `group` is the number of the first of them.
typedef struct Function {
  MlirOperation op, first, culprit; // the first op on sparse tensors, the one that is not taken; or null
  const char *why;
  intptr_t group;
  bool isSparse, isWalked, isLeft; // walked: by kernels of convert-sparse-tensor-to-tile; left: to upstream
} Function;

typedef struct Functions {
  Function *items;
  intptr_t count;
} Functions;

static MlirStringRef nameOf(MlirOperation function) {
  return mlirStringAttrGetValue(tileOpAttribute(function, "sym_name"));
}

static void joinGroups(Functions *functions, intptr_t a, intptr_t b) {
  intptr_t from = functions->items[b].group, to = functions->items[a].group;
  for (intptr_t i = 0; i < functions->count; ++i)
    if (functions->items[i].group == from)
      functions->items[i].group = to;
}

static void joinCallees(Functions *functions, intptr_t caller) {
  TileOps calls = tileCollectOps(functions->items[caller].op, funcCallOpIsA);
  for (intptr_t i = 0; i < calls.count; ++i) {
    MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(tileOpAttribute(calls.items[i], "callee"));
    for (intptr_t k = 0; k < functions->count; ++k)
      if (mlirStringRefEqual(callee, nameOf(functions->items[k].op)))
        joinGroups(functions, caller, k);
  }
  tileOpsFree(&calls);
}

static MlirWalkResult examine(MlirOperation op, void *data) {
  Function *function = data;
  const char *why = NULL;
  if (!touchesEncoding(op, &why))
    return MlirWalkResultAdvance;
  function->isSparse = true;
  if (mlirOperationIsNull(function->first) && !mlirOperationEqual(op, function->op))
    function->first = op;
  why = why ? why : whyNotOp(op);
  if (!why)
    return MlirWalkResultAdvance;
  function->culprit = op;
  function->why = why;
  return MlirWalkResultInterrupt;
}

static Functions collect(MlirOperation module) {
  TileOps ops = tileCollectOps(module, funcFuncOpIsA);
  Functions functions = {calloc((size_t)ops.count + 1, sizeof *functions.items), 0};
  for (intptr_t i = 0; i < ops.count && functions.items; ++i)
    functions.items[functions.count++] = (Function){.op = ops.items[i], .group = i};
  for (intptr_t i = 0; i < functions.count; ++i) {
    joinCallees(&functions, i);
    mlirOperationWalk(functions.items[i].op, examine, &functions.items[i], MlirWalkPreOrder);
  }
  tileOpsFree(&ops);
  return functions;
}

//===--- patterns -----------------------------------------------------------------===//

SPARSE_PATTERN(convertAssemble) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirType theirs = tileOnlyResultType(op), ours = sparseTypeFromLevels(theirs);
  SparseLevelTensors stored = {.count = count - 1, .values = operands[count - 1]};
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  MlirValue components[SPARSE_MAX_COMPONENTS];
  for (intptr_t i = 0; i < stored.count; ++i)
    stored.levels[i] = operands[i];
  sparseComponentsFromLevels(&builder, theirs, ours, &stored, components);
  MlirOperation made =
      sparseAssembleOpCreate(&builder, ours, sparseTypeGetComponents(ours, parts), components, 0, NULL);
  MlirValue result = tileOnlyResult(made);
  return sparseReplaceWith(rewriter, op, 1, &result);
}

// Our components of a converted value.
static void takeApart(TileBuilder *builder, MlirValue value, MlirValue components[SPARSE_MAX_COMPONENTS]) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  MlirType types[SPARSE_MAX_COMPONENTS];
  intptr_t count = sparseTypeGetComponents(mlirValueGetType(value), parts);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = parts[i].type;
  MlirOperation op = sparseDisassembleOpCreate(builder, count, types, value);
  for (intptr_t i = 0; i < count; ++i)
    components[i] = mlirOperationGetResult(op, i);
}

static SparseLevelTensors levelsOf(TileBuilder *builder, MlirType theirs, MlirValue value) {
  MlirValue components[SPARSE_MAX_COMPONENTS];
  takeApart(builder, value, components);
  return sparseLevelsFromComponents(builder, theirs, mlirValueGetType(value), components);
}

// `part` at the beginning of `whole`.
static MlirValue insertAtStart(TileBuilder *builder, MlirValue part, MlirValue whole) {
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(whole)), open = 0;
  int64_t offsets[2] = {0}, sizes[2], strides[2] = {1, 1};
  MlirValue operands[4] = {part, whole};
  for (intptr_t i = 0; i < rank; ++i) {
    sizes[i] = mlirShapedTypeGetDimSize(mlirValueGetType(part), i);
    if (mlirShapedTypeIsDynamicSize(sizes[i]))
      operands[2 + open++] = tileBuildSize(builder, part, i);
  }
  MlirAttribute unit = mlirDenseI64ArrayGet(builder->context, rank, strides);
  return tensorInsertSliceOpBuild(builder, operands[0], operands[1], 0, NULL, open, operands + 2, 0, NULL,
                                  mlirDenseI64ArrayGet(builder->context, rank, offsets),
                                  mlirDenseI64ArrayGet(builder->context, rank, sizes), unit);
}

// The caller's buffers with what is stored at their beginnings, then how many elements each holds of it.
SPARSE_PATTERN(convertDisassemble) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  SparseLevelTensors stored = levelsOf(&builder, sparseTensorDisassembleOpGetTensorType(op), operands[0]);
  MlirValue results[2 * (SparseMaxLevelTensors + 1)];
  for (intptr_t i = 0; i <= stored.count; ++i) {
    MlirValue part = i < stored.count ? stored.levels[i] : stored.values;
    MlirValue length = tileBuildSize(&builder, part, 0);
    if (mlirShapedTypeGetRank(mlirValueGetType(part)) == 2)
      length = tileBuildMul(&builder, length, tileBuildSize(&builder, part, 1));
    results[i] = insertAtStart(&builder, part, operands[1 + i]);
    results[stored.count + 1 + i] = length;
  }
  return sparseReplaceWith(rewriter, op, 2 * (stored.count + 1), results);
}

SPARSE_PATTERN(convertConvert) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirType from = mlirValueGetType(operands[0]),
           to = mlirExtTypeConverterConvertType(converter, tileOnlyResultType(op));
  bool isFromSparse = !mlirAttributeIsNull(sparseTypeGetEncoding(from));
  bool isToSparse = !mlirAttributeIsNull(sparseTypeGetEncoding(to));
  MlirValue result = operands[0];
  if (isFromSparse && isToSparse)
    result = tileOnlyResult(sparseConvertOpCreate(&builder, to, operands[0], mlirAttributeGetNull()));
  else if (isToSparse)
    result = tileOnlyResult(sparsePackOpCreate(&builder, to, operands[0]));
  else if (isFromSparse)
    result = tileOnlyResult(sparseUnpackOpCreate(&builder, to, operands[0]));
  return sparseReplaceWith(rewriter, op, 1, &result);
}

SPARSE_PATTERN(convertMemref) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirType theirs = tileOnlyOperandType(op), type = tileOnlyResultType(op);
  SparseLevelTensors stored = levelsOf(&builder, theirs, operands[0]);
  MlirAttribute level = tileOpAttribute(op, "level");
  intptr_t axis;
  MlirValue value = stored.values;
  if (sparseTensorToPositionsOpIsA(op))
    value = stored.levels[sparseLevelPositions(theirs, mlirIntegerAttrGetValueInt(level))];
  else if (sparseTensorToCoordinatesOpIsA(op))
    value = stored.levels[sparseLevelCoordinates(theirs, mlirIntegerAttrGetValueInt(level), &axis)];
  const int64_t sizes[] = {mlirShapedTypeGetDimSize(type, 0)};
  MlirType tensor = mlirRankedTensorTypeGet(1, sizes, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  value = sparseCastTo(&builder, value, tensor);
  value = bufferizationToBufferOpGetBuffer(
      bufferizationToBufferOpCreate(&builder, type, value, mlirUnitAttrGet(builder.context)));
  return sparseReplaceWith(rewriter, op, 1, &value);
}

SPARSE_PATTERN(convertNumberOfEntries) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  SparseLevelTensors stored = levelsOf(&builder, sparseTensorNumberOfEntriesOpGetTensorType(op), operands[0]);
  MlirValue n = tileBuildSize(&builder, stored.values, 0);
  return sparseReplaceWith(rewriter, op, 1, &n);
}

SPARSE_PATTERN(convertDim) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirValue size = tensorDimOpBuild(&builder, operands[0], operands[1]);
  return sparseReplaceWith(rewriter, op, 1, &size);
}

// An empty sparse tensor is a packed one of zeros; where only a product started from it, nobody uses it any more.
SPARSE_PATTERN(convertEmpty) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirType type = mlirExtTypeConverterConvertType(converter, tileOnlyResultType(op));
  MlirType element = mlirShapedTypeGetElementType(type);
  MlirValue zero =
      mlirTypeIsAFloat(element) ? tileBuildFloat(&builder, element, 0) : tileBuildInteger(&builder, element, 0);
  MlirType dense = sparseTypeWithEncoding(type, mlirAttributeGetNull());
  MlirValue zeros = tensorSplatOpBuild(&builder, dense, zero, count, operands);
  MlirValue packed = tileOnlyResult(sparsePackOpCreate(&builder, type, zeros));
  return sparseReplaceWith(rewriter, op, 1, &packed);
}

//===--- products -------------------------------------------------------------------===//

static MlirAttribute unitIf(MlirContext context, bool condition) {
  return condition ? mlirUnitAttrGet(context) : mlirAttributeGetNull();
}

static MlirValue buildSum(TileBuilder *builder, MlirValue a, MlirValue b) {
  MlirType type = mlirValueGetType(a), element = mlirShapedTypeGetElementType(type);
  MlirValue operands[] = {a, b, tileBuildEmptyLike(builder, type, a)};
  MlirRegion region;
  TileBuilder body = tileBuilderInRegion(builder, &region, 3, (MlirType[]){element, element, element});
  MlirValue terms[] = {mlirBlockGetArgument(body.block, 0), mlirBlockGetArgument(body.block, 1)};
  MlirValue sum = tileBuildBinary(&body, mlirTypeIsAFloat(element) ? ArithOp_AddF : ArithOp_AddI, terms[0], terms[1]);
  linalgYieldOpBuild(&body, 1, &sum);
  MlirOperation op = linalgAddOpBuild(builder, 1, &type, 2, operands, 1, &operands[2], region);
  return tileOnlyResult(op);
}

static MlirLogicalResult convertSampled(MlirOperation op, const Sampled *sampled, const MlirValue *operands,
                                        MlirPatternRewriter rewriter) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirAttribute none = mlirAttributeGetNull();
  MlirValue sample = operands[sampled->sample];
  MlirOperation product = sparseSddmmOpCreate(&builder, operands[sampled->lhs], operands[sampled->rhs], sample, none,
                                              unitIf(builder.context, sampled->transposeLhs),
                                              unitIf(builder.context, sampled->transposeRhs));
  MlirOperation scaled = sparseMulOpCreate(&builder, tileOnlyResult(product), sample, none);
  MlirValue result = tileOnlyResult(scaled);
  if (mlirAttributeIsNull(sparseTypeGetEncoding(mlirValueGetType(operands[3])))) {
    MlirType dense = sparseTypeWithEncoding(mlirValueGetType(sample), none);
    result = tileOnlyResult(sparseUnpackOpCreate(&builder, dense, result));
    result = buildSum(&builder, operands[3], sparseCastTo(&builder, result, mlirValueGetType(operands[3])));
  }
  return sparseReplaceWith(rewriter, op, 1, &result);
}

SPARSE_PATTERN(convertGeneric) {
  Sampled sampled;
  TileMatrixProduct product;
  if (matchSampled(op, &sampled))
    return convertSampled(op, &sampled, operands, rewriter);
  if (!tileMatchMatrixProduct(op, &product))
    return mlirLogicalResultFailure();
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirAttribute none = mlirAttributeGetNull(), left = unitIf(builder.context, product.transposeLhs);
  MlirAttribute right = unitIf(builder.context, product.transposeRhs);
  MlirValue lhs = operands[product.lhs], rhs = operands[product.rhs], init = operands[product.init];
  MlirOperation made = product.isVector ? sparseSpmvOpCreate(&builder, lhs, rhs, init, none, left)
                                        : sparseSpmmOpCreate(&builder, lhs, rhs, init, none, left, right);
  MlirValue result = tileOnlyResult(made);
  return sparseReplaceWith(rewriter, op, 1, &result);
}

//===--- the conversion -------------------------------------------------------------===//

static MlirType convertType(MlirType type, void *unused) {
  return sparseTensorIsEncoded(type) ? sparseTypeFromLevels(type) : (MlirType){NULL};
}

static bool isLegal(MlirOperation op, void *unused) {
  const char *why = NULL;
  return !touchesEncoding(op, &why);
}

static bool convert(MlirOperation module) {
  static const SparseConversionRow rows[] = {{sparseTensorAssembleOpIsA, convertAssemble},
                                             {sparseTensorDisassembleOpIsA, convertDisassemble},
                                             {sparseTensorConvertOpIsA, convertConvert},
                                             {sparseTensorToPositionsOpIsA, convertMemref},
                                             {sparseTensorToCoordinatesOpIsA, convertMemref},
                                             {sparseTensorToValuesOpIsA, convertMemref},
                                             {sparseTensorNumberOfEntriesOpIsA, convertNumberOfEntries},
                                             {tensorDimOpIsA, convertDim},
                                             {tensorEmptyOpIsA, convertEmpty},
                                             {linalgGenericOpIsA, convertGeneric}};
  bool ok = sparseConvertOps(module, COUNT(rows), rows, convertType, isLegal);
  TileOps packs = tileCollectOps(module, sparsePackOpIsA);
  for (intptr_t i = 0; i < packs.count; ++i)
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(packs.items[i]))))
      mlirOperationDestroy(packs.items[i]);
  tileOpsFree(&packs);
  return ok;
}

//===--- copies -----------------------------------------------------------------------===//

static MlirModule emptyModule(MlirOperation like) { return mlirModuleCreateEmpty(mlirOperationGetLocation(like)); }

static void moveTo(MlirModule module, MlirOperation function) {
  mlirOperationRemoveFromParent(function);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(module), function);
}

// What a trial says is for nobody.
static MlirLogicalResult ignore(MlirDiagnostic diagnostic, void *unused) { return mlirLogicalResultSuccess(); }

static bool lowersToTile(MlirOperation copy) {
  return convert(copy) && tileRunPipeline(copy, "convert-sparse-to-tile");
}

// Upstream's rewrites of printing, of reshapes and of conditions in linalg's bodies, then kernels.
static const char *const expand = "pre-sparsification-rewrite,func.func(linalg-generalize-named-ops)";
static const char *const walk = "convert-sparse-tensor-to-tile";
static bool walksLevels(MlirOperation copy) { return tileRunPipeline(copy, expand) && tileRunPipeline(copy, walk); }

// Whether the group can go that way, tried on a copy of it.
static bool canGo(Functions *functions, intptr_t group, bool (*goes)(MlirOperation copy)) {
  MlirOperation first = functions->items[group].op;
  MlirModule copy = emptyModule(first);
  for (intptr_t i = 0; i < functions->count; ++i)
    if (functions->items[i].group == group)
      mlirBlockAppendOwnedOperation(mlirModuleGetBody(copy), mlirOperationClone(functions->items[i].op));
  MlirContext context = mlirOperationGetContext(first);
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(context, ignore, NULL, NULL);
  bool ok = goes(mlirModuleGetOperation(copy));
  mlirContextDetachDiagnosticHandler(context, handler);
  mlirModuleDestroy(copy);
  return ok;
}

//===--- upstream's way ---------------------------------------------------------------===//

// The caller's tensors stay as they are.
static void protectArguments(MlirOperation function) {
  MlirContext context = mlirOperationGetContext(function);
  MlirType type = mlirTypeAttrGetValue(tileOpAttribute(function, "function_type"));
  intptr_t count = mlirFunctionTypeGetNumInputs(type);
  MlirAttribute *attributes = calloc((size_t)count + 1, sizeof *attributes);
  MlirNamedAttribute no = mlirNamedAttributeGet(mlirIdentifierGet(context, tileString("bufferization.writable")),
                                                mlirBoolAttrGet(context, false));
  for (intptr_t i = 0; i < count && attributes; ++i) {
    bool isDense = mlirTypeIsATensor(mlirFunctionTypeGetInput(type, i)) &&
                   !sparseTensorIsEncoded(mlirFunctionTypeGetInput(type, i));
    attributes[i] = mlirDictionaryAttrGet(context, isDense, &no);
  }
  if (count && attributes)
    mlirOperationSetAttributeByName(function, tileString("arg_attrs"), mlirArrayAttrGet(context, count, attributes));
  free(attributes);
}

static const char *const upstream = "sparsification-and-bufferization,"
                                    "sparse-storage-specifier-to-llvm,"
                                    "func.func(" TILE_CANONICALIZE TILE_CANONICALIZE_OPTIONS ")";

// What LLVM 22.1's sparsifier crashes at, or does not end on. False after an error at such ops.
//   sparse_tensor.expand outside of what the sparsifier makes: https://github.com/llvm/llvm-project/issues/204712
//   sparse_tensor.new of one level: its loop over levels does not end.
//   sparse_tensor.foreach whose body yields an argument of its own: it looks for the op that makes the value.
static bool yieldsArgument(MlirOperation foreach) {
  MlirOperation yield = mlirBlockGetTerminator(tileOnlyBlock(mlirOperationGetRegion(foreach, 0)));
  bool yields = false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(yield); ++i)
    yields |=
        mlirValueIsABlockArgument(mlirOperationGetOperand(yield, i)) &&
        mlirBlockEqual(mlirBlockArgumentGetOwner(mlirOperationGetOperand(yield, i)), mlirOperationGetBlock(yield));
  return yields;
}

static bool isFit(MlirOperation op) {
  if (sparseTensorExpandOpIsA(op))
    return tileError(op, "upstream's sparsifier crashes at this op; a linalg op on the tensor is accepted");
  if (sparseTensorNewOpIsA(op) && mlirShapedTypeGetRank(sparseTensorNewOpGetResultType(op)) == 1)
    return tileError(op, "upstream's sparsifier does not end on a vector (rank 1); rank 2 or more is accepted");
  if (sparseTensorForeachOpIsA(op) && yieldsArgument(op))
    return tileError(op, "upstream's sparsifier crashes at a body that yields its own argument; a value that an op "
                         "computes is accepted");
  return true;
}

static bool isFitForUpstream(MlirOperation root) {
  bool ok = true;
  TileOps ops = tileCollect(root, NULL);
  for (intptr_t i = 0; i < ops.count; ++i)
    ok &= isFit(ops.items[i]);
  tileOpsFree(&ops);
  return ok;
}

// Everything in one module goes to the end of another.
static void moveAll(MlirModule from, MlirOperation to) {
  MlirBlock source = mlirModuleGetBody(from), target = mlirRegionGetFirstBlock(mlirOperationGetRegion(to, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(source); !mlirOperationIsNull(op);
       op = mlirBlockGetFirstOperation(source)) {
    mlirOperationRemoveFromParent(op);
    mlirBlockAppendOwnedOperation(target, op);
  }
  mlirModuleDestroy(from);
}

// Functions left go to a module of their own and come back as loops on buffers, with the helpers they call.
static bool leaveToUpstream(MlirOperation module, Functions *functions, MlirExtPass pass) {
  MlirModule own = emptyModule(module);
  MlirOperation root = mlirModuleGetOperation(own);
  for (intptr_t i = 0; i < functions->count; ++i)
    if (functions->items[i].isLeft) {
      protectArguments(functions->items[i].op);
      moveTo(own, functions->items[i].op);
      mlirExtPassAddStatistic(pass, Left, 1);
    }
  bool ok = isFitForUpstream(root) && tileRunPipeline(root, upstream);
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(own)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    mlirOperationRemoveAttributeByName(op, tileString("arg_attrs"));
  moveAll(own, module);
  return ok;
}

// The functions that walk levels, out of the way of the conversion to sparse ops, and ready for theirs.
static MlirModule takeWalked(MlirOperation module, Functions *functions, MlirExtPass pass, bool *ok) {
  MlirModule own = emptyModule(module);
  intptr_t count = 0;
  for (intptr_t i = 0; i < functions->count; ++i)
    if (functions->items[i].isWalked) {
      moveTo(own, functions->items[i].op);
      count += functions->items[i].isSparse;
    }
  mlirExtPassAddStatistic(pass, Walked, (uint64_t)count);
  *ok = count == 0 || tileRunPipeline(mlirModuleGetOperation(own), expand);
  return own;
}

//===--- the pass -----------------------------------------------------------------------===//

static void remarkLeft(const Functions *functions, intptr_t group) {
  for (intptr_t i = 0; i < functions->count; ++i)
    if (functions->items[i].group == group && !mlirOperationIsNull(functions->items[i].first)) {
      tileRemark(functions->items[i].first, "begins what has no kernel here: left to upstream's sparsifier");
      return;
    }
}

// Says why a group is left to upstream: a remark, or an error where nothing may be left.
static bool explain(const Functions *functions, intptr_t group, bool isError) {
  bool ok = true, isExplained = false;
  for (intptr_t i = 0; i < functions->count; ++i) {
    const Function *function = &functions->items[i];
    if (function->group != group || !function->why)
      continue;
    isExplained = true;
    if (isError)
      ok = tileError(function->culprit, "%s", function->why);
    else
      tileRemark(function->culprit, "%s: left to upstream's sparsifier", function->why);
  }
  if (!isExplained)
    remarkLeft(functions, group);
  return ok;
}

// Marks the groups that hold what is not taken.
static bool decide(Functions *functions, bool isError, bool mustLower) {
  bool ok = true;
  for (intptr_t g = 0; g < functions->count; ++g) {
    bool isSparse = false, isOther = false;
    for (intptr_t i = 0; i < functions->count; ++i)
      if (functions->items[i].group == g) {
        isSparse |= functions->items[i].isSparse;
        isOther |= functions->items[i].why != NULL;
      }
    if (!isSparse || (!isOther && (!mustLower || isError || canGo(functions, g, lowersToTile))))
      continue;
    bool isWalked = canGo(functions, g, walksLevels);
    if (!isWalked)
      ok &= explain(functions, g, isError);
    for (intptr_t i = 0; i < functions->count; ++i)
      if (functions->items[i].group == g) {
        functions->items[i].isWalked = isWalked;
        functions->items[i].isLeft = !isWalked;
      }
  }
  return ok;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  MlirStringRef unsupported = mlirExtPassGetString(pass, "unsupported");
  bool isError = tileStringEquals(unsupported, "error"), isSparse = false, isLeft = false;
  if (!isError && !tileStringEquals(unsupported, "upstream"))
    return tileError(module, "unsupported is '%.*s', expected upstream or error", (int)unsupported.length,
                     unsupported.data);
  Functions functions = collect(module);
  for (intptr_t i = 0; i < functions.count; ++i)
    isSparse |= functions.items[i].isSparse;
  free(functions.items);
  if (!isSparse)
    return true;
  if (!tileRunPipeline(module, "func.func(tile-generalize-named-ops)"))
    return false;
  functions = collect(module);
  bool ok = decide(&functions, isError, mlirExtPassGetBool(pass, "lowerable"));
  for (intptr_t i = 0; i < functions.count; ++i) {
    isLeft |= functions.items[i].isLeft;
    mlirExtPassAddStatistic(pass, Taken,
                            functions.items[i].isSparse && !functions.items[i].isLeft && !functions.items[i].isWalked);
  }
  if (ok) {
    MlirModule walked = takeWalked(module, &functions, pass, &ok);
    ok = ok && (!isLeft || leaveToUpstream(module, &functions, pass)) && convert(module);
    moveAll(walked, module);
    ok = ok && tileRunPipeline(module, walk);
  }
  free(functions.items);
  return ok;
}

static void registerDialects(MlirDialectRegistry registry) {
  tileRegisterDialect(registry);
  sparseRegisterDialect(registry);
}

const MlirExtPassDefinition sparseTensorToSparsePass = {
    .argument = "convert-sparse-tensor-to-sparse",
    .summary = "Turn programs of upstream's sparse_tensor dialect into programs of ours",
    .anchor = builtinModuleOpName,
    .options =
        (const MlirExtPassOption[]){
            {"unsupported", "what becomes of functions that are not known here: upstream (its sparsifier) or error",
             MlirExtOption_String, "upstream"},
            {"lowerable", "leave to upstream also what convert-sparse-to-tile does not lower", MlirExtOption_Bool,
             "false"},
            {NULL}},
    .statistics = (const char *const[]){"taken: functions on sparse tensors that became ours",
                                        "walked: functions whose kernels walk levels",
                                        "left: functions left to upstream's sparsifier", NULL},
    .dialects = (const char *const[]){"affine", "arith", "bufferization", "func", "linalg", "llvm", "math", "memref",
                                      "scf", "sparse_tensor", "tensor", "vector", NULL},
    .registerDialects = registerDialects,
    .run = run,
};
