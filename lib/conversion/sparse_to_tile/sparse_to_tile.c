// convert-sparse-to-tile: sparse tensors become their components, sparse ops tile kernels on them. After nmSPARSE
// (MLSys 2023) and Sputnik (SC 2020): rows that share what they keep share loads; formats are expanded before
// bufferization, which would drop their encodings. Expects: a verified module of tensors. Leaves: no encoding of ours,
// in functions and control flow neither; the sizes that a type left open follow its components. What has no lowering
// yet is an error at the op, and nothing is changed. Tiles and forms of kernels are those of the machine (the option
// chip). Cost: linear in the module.
#include "lib/conversion/sparse_to_tile/sparse_to_tile.h"

#include "dialects/tile/tile.h"
#include "lib/analysis/target.h"
#include "lib/conversion/sparse_to_tile/lowerings.h"
#include "lib/ir/pass.h"

typedef struct Row {
  const char *op;
  SparseSupports supports; // null: always
  SparseLower lower;
} Row;

static const Row rows[] = {
    {"sparse.pack", sparseSupportsEntries, sparseLowerPack},
    {"sparse.unpack", sparseSupportsEntries, sparseLowerUnpack},
    {"sparse.assemble", NULL, sparseLowerAssemble},
    {"sparse.transpose", sparseSupportsEntries, sparseLowerTranspose},
    {"sparse.convert", sparseSupportsEntries, sparseLowerConvert},
    {"sparse.spmm", sparseSupportsProduct, sparseLowerSpmm},
    {"sparse.spmv", sparseSupportsProduct, sparseLowerSpmv},
    {"sparse.sddmm", sparseSupportsEntries, sparseLowerSddmm},
    {"sparse.spgemm", sparseSupportsEntries, sparseLowerSpgemm},
    {"sparse.add", sparseSupportsEntries, sparseLowerAdd},
    {"sparse.mul", sparseSupportsEntries, sparseLowerMul},
    {"sparse.map", sparseSupportsEntries, sparseLowerMap},
    {"sparse.select", sparseSupportsEntries, sparseLowerSelect},
    {"sparse.reduce", sparseSupportsEntries, sparseLowerReduce},
    {"sparse.detect", NULL, sparseLowerDetect},
    {"sparse.sread", NULL, sparseLowerSread},
    {"sparse.swrite", NULL, sparseLowerSwrite},
};
enum { NUM_ROWS = sizeof rows / sizeof *rows };

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

static MlirType keepType(MlirType type, void *unused) { return type; }

static bool hasEncoding(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (sparseTypeGetEncoding(tileOperandType(op, i)).ptr)
      return true;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (sparseTypeGetEncoding(tileResultType(op, i)).ptr)
      return true;
  return false;
}

// sparse.yield goes with the op around it.
static bool isLegal(MlirOperation op, void *unused) {
  return !hasEncoding(op) && (!tileOpNameStartsWith(op, "sparse.") || tileOpIs(op, "sparse.yield"));
}

//===--- patterns ---------------------------------------------------------------===//

typedef struct Conversion {
  const Row *row;
  SparseKernels *kernels;
  const TileTarget *target;
  SparseSplit split;
} Conversion;

static MlirLogicalResult convertOp(MlirOperation op, intptr_t count, const MlirExtValueRange *operands,
                                   MlirPatternRewriter rewriter, MlirExtTypeConverter converter, void *data) {
  const Conversion *conversion = data;
  SparseLowering lowering = {
      op, operands, tileBuilderInPattern(rewriter, op), conversion->kernels, conversion->target, conversion->split};
  SparseResult result;
  if (!conversion->row->lower(&lowering, &result))
    return mlirLogicalResultFailure();
  MlirExtValueRange ranges[SPARSE_MAX_VALUES] = {{result.count, result.values}};
  intptr_t results = mlirOperationGetNumResults(op);
  for (intptr_t i = 0; results > 1 && i < results; ++i)
    ranges[i] = (MlirExtValueRange){1, &result.values[i]};
  mlirExtRewriterReplaceOpWithMultiple(rewriter, op, results, ranges);
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult convertDisassemble(MlirOperation op, intptr_t count, const MlirExtValueRange *operands,
                                            MlirPatternRewriter rewriter, MlirExtTypeConverter converter, void *data) {
  SparseLowering lowering = {op, operands, tileBuilderInPattern(rewriter, op), NULL};
  MlirValue values[SPARSE_MAX_VALUES];
  MlirExtValueRange ranges[SPARSE_MAX_VALUES];
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
  SparseLowering lowering = {op, operands, tileBuilderInPattern(rewriter, op), NULL};
  int64_t axis;
  tileConstantIndex(mlirOperationGetOperand(op, 1), &axis);
  MlirValue size = sparseSize(&lowering, 0, axis);
  const MlirExtValueRange range = {1, &size};
  mlirExtRewriterReplaceOpWithMultiple(rewriter, op, 1, &range);
  return mlirLogicalResultSuccess();
}

//===--- the pass ---------------------------------------------------------------===//

static bool isStructural(MlirOperation op) {
  static const char *const starts[] = {"func.", "scf."};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; ++i)
    if (tileOpNameStartsWith(op, starts[i]))
      return true;
  return tileOpIs(op, "sparse.disassemble") || tileOpIs(op, "sparse.yield");
}

// Asked of every op before any is changed.
static bool isSupported(MlirOperation op) {
  int64_t axis;
  MlirStringRef name = tileOpName(op);
  if (!tileOpNameStartsWith(op, "sparse.") && !hasEncoding(op))
    return true;
  for (int i = 0; i < NUM_ROWS; ++i)
    if (tileOpIs(op, rows[i].op))
      return !rows[i].supports || rows[i].supports(op);
  if (tileOpIs(op, "tensor.dim"))
    return (tileConstantIndex(mlirOperationGetOperand(op, 1), &axis) && axis >= 0 &&
            axis < mlirShapedTypeGetRank(tileOperandType(op, 0))) ||
           tileError(op, "asks a sparse tensor for the size of a dimension that is not constant");
  return isStructural(op) || tileError(op, "of sparse tensors is not lowered yet: '%.*s'", (int)name.length, name.data);
}

typedef struct Survey {
  bool isSupported, isNeeded;
} Survey;

static MlirWalkResult survey(MlirOperation op, void *data) {
  Survey *found = data;
  MlirAttribute function = tileOpAttribute(op, "function_type");
  found->isSupported &= isSupported(op);
  found->isNeeded |= tileOpNameStartsWith(op, "sparse.") || hasEncoding(op);
  if (mlirAttributeIsNull(function) || !tileOpIs(op, "func.func"))
    return MlirWalkResultAdvance;
  MlirType type = mlirTypeAttrGetValue(function);
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); ++i)
    found->isNeeded |= sparseTypeGetEncoding(mlirFunctionTypeGetInput(type, i)).ptr != NULL;
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); ++i)
    found->isNeeded |= sparseTypeGetEncoding(mlirFunctionTypeGetResult(type, i)).ptr != NULL;
  return MlirWalkResultAdvance;
}

static bool convert(MlirOperation module, SparseKernels *kernels, const TileTarget *target, SparseSplit split) {
  MlirContext context = mlirOperationGetContext(module);
  Conversion conversions[NUM_ROWS];
  MlirExtConversionTarget legal = mlirExtConversionTargetCreate(context);
  MlirExtTypeConverter converter = mlirExtTypeConverterCreate();
  MlirRewritePatternSet patterns = mlirRewritePatternSetCreate(context);
  mlirExtTypeConverterAddConversion(converter, keepType, NULL);
  mlirExtTypeConverterAdd1ToNConversion(converter, convertType, NULL);
  mlirExtConversionTargetMarkUnknownOpDynamicallyLegal(legal, isLegal, NULL);
  for (int i = 0; i < NUM_ROWS; ++i) {
    conversions[i] = (Conversion){&rows[i], kernels, target, split};
    mlirRewritePatternSetAdd(
        patterns, mlirExtOpConversion1ToNPatternCreate(rows[i].op, 1, context, converter, convertOp, &conversions[i]));
  }
  mlirRewritePatternSetAdd(patterns, mlirExtOpConversion1ToNPatternCreate("sparse.disassemble", 1, context, converter,
                                                                          convertDisassemble, NULL));
  mlirRewritePatternSetAdd(patterns,
                           mlirExtOpConversion1ToNPatternCreate("tensor.dim", 1, context, converter, convertDim, NULL));
  mlirExtPopulateFuncTypeConversion(patterns, converter, legal);
  mlirExtPopulateScfTypeConversion(patterns, converter, legal);
  MlirFrozenRewritePatternSet frozen = mlirFreezeRewritePattern(patterns);
  MlirLogicalResult result = mlirExtApplyPartialConversion(module, legal, frozen);
  mlirFrozenRewritePatternSetDestroy(frozen);
  mlirRewritePatternSetDestroy(patterns);
  mlirExtTypeConverterDestroy(converter);
  mlirExtConversionTargetDestroy(legal);
  return mlirLogicalResultIsSuccess(result);
}

static bool readSplit(MlirOperation module, MlirExtPass pass, SparseSplit *split) {
  static const char *const names[] = {"model", "rows", "entries", "run-time"}; // in the order of SparseSplit
  MlirStringRef name = mlirExtPassGetString(pass, "split");
  for (int i = 0; i < 4; ++i)
    if (tileStringEquals(name, names[i])) {
      *split = (SparseSplit)i;
      return true;
    }
  return tileError(module, "split is '%.*s', want rows, entries, model or run-time", (int)name.length, name.data);
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
  SparseKernels kernels = {.module = module};
  bool ok = convert(module, &kernels, &target, split);
  tileMachineDestroy(target.machine);
  mlirExtPassAddStatistic(pass, 0, kernels.count);
  sparseKernelsEnd(&kernels);
  return ok;
}

static void dependents(MlirDialectRegistry registry) {
  tileRegisterDialect(registry);
  sparseRegisterDialect(registry);
  tileInsertDialects(registry,
                     (const char *const[]){"arith", "math", "scf", "memref", "tensor", "linalg", "func", NULL});
}

static const MlirExtPassOption options[] = {
    TILE_CHIP_OPTION,
    {"split",
     "how products of csr are shared among programs: rows, entries (merge path), model (entries where constant row "
     "lengths "
     "and the machine's cores ask for it) or run-time (as model; row lengths that are not constant are looked at when "
     "they come)",
     MlirExtOption_String, "model"},
};

const MlirExtPassDefinition sparseToTilePass = {
    .argument = "convert-sparse-to-tile",
    .summary = "Turn sparse tensors into their components and sparse ops into tile kernels",
    .anchor = "builtin.module",
    .numOptions = 2,
    .options = options,
    .statistics = (const char *const[]){"kernels: kernels made of sparse ops", NULL},
    .dependentDialects = dependents,
    .run = run,
};
