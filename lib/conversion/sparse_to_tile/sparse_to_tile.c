// convert-sparse-to-tile: sparse tensors become their components, sparse ops tile kernels on them. After nmSPARSE
// (MLSys 2023) and Sputnik (SC 2020): rows that share what they keep share loads; formats are expanded before
// bufferization, which would drop their encodings. Expects: a verified module of tensors. Leaves: no encoding of ours,
// in functions and control flow neither; the sizes that a type left open follow its components. What has no lowering
// yet is an error at the op, and nothing is changed. Tiles and forms of kernels are those of the machine (the option
// chip). Cost: linear in the module.
#include "lib/conversion/sparse_to_tile/sparse_to_tile.h"

#include "dialects/sparse/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/conversion/sparse_to_tile/lists.h"
#include "lib/ir/pass.h"
#include "upstream/builtin.h"
#include "upstream/func.h"

// Only matrices are lowered.
static bool isLowered(MlirOperation op, MlirType type) {
  char text[192];
  return mlirShapedTypeGetRank(type) == 2 ||
         tileError(op, "is not lowered yet for %s", tileTypeText(type, text, sizeof text));
}

bool sparseSupportsEntries(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!mlirAttributeIsNull(sparseTypeGetEncoding(tileOperandType(op, i))) && !isLowered(op, tileOperandType(op, i)))
      return false;
  MlirType result = tileOnlyResultType(op);
  return mlirAttributeIsNull(sparseTypeGetEncoding(result)) || isLowered(op, result);
}

// By SparseOp. Ops without a row are converted below, or go with the op around them.
static const struct {
  SparseSupports supports; // null: always
  SparseLower lower;
} rows[] = {
    [SparseOp_Pack] = {sparseSupportsEntries, sparseLowerPack},
    [SparseOp_Unpack] = {sparseSupportsEntries, sparseLowerUnpack},
    [SparseOp_Assemble] = {NULL, sparseLowerAssemble},
    [SparseOp_Transpose] = {sparseSupportsEntries, sparseLowerTranspose},
    [SparseOp_Convert] = {sparseSupportsEntries, sparseLowerConvert},
    [SparseOp_Spmm] = {sparseSupportsProduct, sparseLowerSpmm},
    [SparseOp_Spmv] = {sparseSupportsProduct, sparseLowerSpmv},
    [SparseOp_Sddmm] = {sparseSupportsEntries, sparseLowerSddmm},
    [SparseOp_Spgemm] = {sparseSupportsEntries, sparseLowerSpgemm},
    [SparseOp_Add] = {sparseSupportsEntries, sparseLowerAdd},
    [SparseOp_Mul] = {sparseSupportsEntries, sparseLowerMul},
    [SparseOp_Map] = {sparseSupportsEntries, sparseLowerMap},
    [SparseOp_Select] = {sparseSupportsEntries, sparseLowerSelect},
    [SparseOp_Reduce] = {sparseSupportsEntries, sparseLowerReduce},
    [SparseOp_Softmax] = {sparseSupportsSoftmax, sparseLowerSoftmax},
    [SparseOp_Detect] = {NULL, sparseLowerDetect},
    [SparseOp_Sread] = {NULL, sparseLowerSread},
    [SparseOp_Swrite] = {NULL, sparseLowerSwrite},
    [SparseOp_Group] = {NULL, sparseLowerGroup},
    [SparseOp_GroupedMatmul] = {sparseSupportsGroupedMatmul, sparseLowerGroupedMatmul},
};
enum { NumRows = sizeof rows / sizeof *rows };

static bool isOurs(MlirOperation op) { return sparseOpKind(op) != SparseOp_None; }
static bool hasRow(MlirOperation op) {
  SparseOp kind = sparseOpKind(op);
  return kind != SparseOp_None && (int)kind < NumRows && rows[kind].lower;
}

//===--- types ------------------------------------------------------------------===//

static bool convertType(MlirType type, MlirExtTypeList types, void *unused) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  if (mlirAttributeIsNull(sparseTypeGetEncoding(type)))
    return false;
  intptr_t count = sparseTypeGetComponents(type, parts);
  for (intptr_t i = 0; i < count; ++i)
    mlirExtTypeListAppend(types, parts[i].type);
  for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
    if (mlirShapedTypeIsDynamicDim(type, axis))
      mlirExtTypeListAppend(types, mlirIndexTypeGet(mlirTypeGetContext(type)));
  return true;
}

static bool hasEncoding(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!mlirAttributeIsNull(sparseTypeGetEncoding(tileOperandType(op, i))))
      return true;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!mlirAttributeIsNull(sparseTypeGetEncoding(tileResultType(op, i))))
      return true;
  return false;
}

// sparse.yield goes with the op around it.
static bool isLegal(MlirOperation op, void *unused) {
  return !hasEncoding(op) && (!isOurs(op) || sparseYieldOpIsA(op));
}

//===--- patterns ---------------------------------------------------------------===//

typedef struct Conversion {
  SparseKernels *kernels;
  const TileTarget *target;
  SparseSplit split;
} Conversion;

static MlirLogicalResult convertOp(MlirOperation op, intptr_t count, const MlirExtValueRange *operands,
                                   MlirPatternRewriter rewriter, MlirExtTypeConverter converter, void *data) {
  const Conversion *conversion = data;
  if (!hasRow(op))
    return mlirLogicalResultFailure();
  SparseLowering lowering = {
      op, operands, tileBuilderInPattern(rewriter, op), conversion->kernels, conversion->target, conversion->split};
  SparseResult result;
  if (!rows[sparseOpKind(op)].lower(&lowering, &result))
    return mlirLogicalResultFailure();
  MlirExtValueRange ranges[SparseMaxValues] = {{result.count, result.values}};
  intptr_t results = mlirOperationGetNumResults(op);
  for (intptr_t i = 0; results > 1 && i < results; ++i)
    ranges[i] = (MlirExtValueRange){1, &result.values[i]};
  mlirExtRewriterReplaceOpWithMultiple(rewriter, op, results, ranges);
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult convertDisassemble(MlirOperation op, intptr_t count, const MlirExtValueRange *operands,
                                            MlirPatternRewriter rewriter, MlirExtTypeConverter converter, void *data) {
  if (!sparseDisassembleOpIsA(op))
    return mlirLogicalResultFailure();
  SparseLowering lowering = {op, operands, tileBuilderInPattern(rewriter, op), NULL};
  MlirValue values[SparseMaxValues];
  MlirExtValueRange ranges[SparseMaxValues];
  intptr_t results = mlirOperationGetNumResults(op);
  for (intptr_t i = 0; i < results; ++i) {
    values[i] = sparseCast(&lowering, operands[0].values[i], tileResultType(op, i));
    ranges[i] = (MlirExtValueRange){1, &values[i]};
  }
  mlirExtRewriterReplaceOpWithMultiple(rewriter, op, results, ranges);
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult convertDim(MlirOperation op, intptr_t count, const MlirExtValueRange *operands,
                                    MlirPatternRewriter rewriter, MlirExtTypeConverter converter, void *data) {
  int64_t axis;
  if (!tensorDimOpIsA(op))
    return mlirLogicalResultFailure();
  SparseLowering lowering = {op, operands, tileBuilderInPattern(rewriter, op), NULL};
  tileConstantIndex(tensorDimOpGetIndex(op), &axis);
  MlirValue size = sparseSize(&lowering, 0, axis);
  const MlirExtValueRange range = {1, &size};
  mlirExtRewriterReplaceOpWithMultiple(rewriter, op, 1, &range);
  return mlirLogicalResultSuccess();
}

//===--- the pass ---------------------------------------------------------------===//

static bool isStructural(MlirOperation op) {
  return tileOpIsOfDialect(op, "func") || tileOpIsOfDialect(op, "scf") || sparseDisassembleOpIsA(op) ||
         sparseYieldOpIsA(op);
}

// Every op is asked before any op is changed.
static bool isSupported(MlirOperation op) {
  int64_t axis;
  MlirStringRef name = tileOpName(op);
  if (!isOurs(op) && !hasEncoding(op))
    return true;
  if (hasRow(op))
    return !rows[sparseOpKind(op)].supports || rows[sparseOpKind(op)].supports(op);
  if (tensorDimOpIsA(op))
    return (tileConstantIndex(tensorDimOpGetIndex(op), &axis) && axis >= 0 &&
            axis < mlirShapedTypeGetRank(mlirValueGetType(tensorDimOpGetSource(op)))) ||
           tileError(op, "asks a sparse tensor for the size of a dimension that is not constant");
  return isStructural(op) || tileError(op, "of sparse tensors is not lowered yet: '%.*s'", (int)name.length, name.data);
}

typedef struct Survey {
  bool isSupported, isNeeded, hasScores, hasProducts;
} Survey;

static MlirWalkResult survey(MlirOperation op, void *data) {
  Survey *found = data;
  found->isSupported &= isSupported(op);
  found->isNeeded |= isOurs(op) || hasEncoding(op);
  found->hasScores |= sparseSddmmOpIsA(op);
  found->hasProducts |= sparseSpmmOpIsA(op);
  if (!funcFuncOpIsA(op))
    return MlirWalkResultAdvance;
  MlirType type = mlirTypeAttrGetValue(funcFuncOpGetFunctionType(op));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); ++i)
    found->isNeeded |= !mlirAttributeIsNull(sparseTypeGetEncoding(mlirFunctionTypeGetInput(type, i)));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); ++i)
    found->isNeeded |= !mlirAttributeIsNull(sparseTypeGetEncoding(mlirFunctionTypeGetResult(type, i)));
  return MlirWalkResultAdvance;
}

static bool convert(MlirOperation module, SparseKernels *kernels, const TileTarget *target, SparseSplit split) {
  Conversion data = {kernels, target, split};
  const MlirExtConversion1ToNCallback converts[] = {convertOp, convertDisassemble, convertDim};
  const TileDialectConversion conversion = {
      .spreadType = convertType, .isLegal = isLegal, .numSpreads = 3, .spreads = converts, .userData = &data};
  return tileConvertDialect(module, &conversion);
}

static bool readSplit(MlirOperation module, MlirExtPass pass, SparseSplit *split) {
  static const char *const names[] = {"model", "rows", "entries", "run-time"}; // in the order of SparseSplit
  MlirStringRef name = mlirExtPassGetString(pass, "split");
  for (int i = 0; i < 4; ++i)
    if (tileStringEquals(name, names[i])) {
      *split = (SparseSplit)i;
      return true;
    }
  return tileError(module, "split is '%.*s', expected rows, entries, model or run-time", (int)name.length, name.data);
}

static bool run(MlirOperation module, MlirExtPass pass) {
  Survey found = {.isSupported = true};
  SparseSplit split;
  if (!readSplit(module, pass, &split))
    return false;
  mlirOperationWalk(module, survey, &found, MlirWalkPreOrder);
  if (!found.isSupported || !found.isNeeded)
    return found.isSupported;
  TileTarget target;
  if (!tileTargetOfPass(module, pass, &target))
    return false;
  SparseKernels kernels = {.module = module, .attends = found.hasScores && found.hasProducts};
  bool ok =
      (!kernels.attends || sparseAttendHeads(module, &kernels, &target)) && convert(module, &kernels, &target, split);
  tileTargetFree(&target);
  mlirExtPassAddStatistic(pass, 0, kernels.count);
  sparseKernelsEnd(&kernels);
  return ok;
}

static void registerDialects(MlirDialectRegistry registry) {
  tileRegisterDialect(registry);
  sparseRegisterDialect(registry);
}

const MlirExtPassDefinition sparseToTilePass = {
    .argument = "convert-sparse-to-tile",
    .summary = "Turn sparse tensors into their components and sparse ops into tile kernels",
    .anchor = builtinModuleOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION,
                                           {"split",
                                            "how products of csr are shared among programs: rows, entries (merge "
                                            "path), model (entries where constant row "
                                            "lengths "
                                            "and the machine's cores ask for it) or run-time (as model; row lengths "
                                            "that are not constant are looked at when "
                                            "they come)",
                                            MlirExtOption_String, "model"},
                                           {NULL}},
    .statistics = (const char *const[]){"kernels: kernels made of sparse ops", NULL},
    .dialects = (const char *const[]){"arith", "math", "scf", "memref", "tensor", "linalg", "func", NULL},
    .registerDialects = registerDialects,
    .run = run,
};
