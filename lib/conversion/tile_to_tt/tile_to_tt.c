// convert-tile-to-tt: tile kernels become kernels of Triton (TTIR). Expects: tile kernels as a person or
// convert-linalg-to-tile writes them, without layouts. Leaves: a public tt.func for each kernel, and nothing of the
// host. An op, type or size that TTIR does not have is an error.
// Why: Triton then compiles our kernels for its own targets. Cost: linear in the ops.
//
// The engine is lib/conversion/kernel_export; this is its vocabulary. A view's tile is read and written through
// pointers, with a mask; with the option `descriptors`, through a descriptor where that can say it.
#include "lib/conversion/tile_to_tt/ttir_export.h"

#include "lib/ir/pass.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/scf.h"

MlirAttribute ttirI32(ExportKernel *k, int64_t value) { return tileBuildEnum(&k->b, 32, value); }

//===--- types ----------------------------------------------------------------------------===//

static MlirType tile(intptr_t rank, const int64_t *sizes, MlirType element) {
  return rank ? mlirRankedTensorTypeGet(rank, sizes, element, mlirAttributeGetNull()) : element;
}

//===--- values ---------------------------------------------------------------------------===//

static MlirValue splat(ExportKernel *k, MlirValue scalar, MlirType type) {
  return ttSplatOpBuild(&k->b, exportShaped(k, type, mlirValueGetType(scalar)), scalar);
}

static MlirValue fill(ExportKernel *k, MlirType type, MlirAttribute element) {
  return exportSplat(k, tileBuildConstant(&k->b, element), type);
}

static MlirValue constant(ExportKernel *k, MlirAttribute elements) { return tileBuildConstant(&k->b, elements); }

MlirValue ttirResize(ExportKernel *k, MlirValue x, MlirType type, bool isSigned) {
  unsigned from = tileElementWidth(exportElement(mlirValueGetType(x))), to = tileElementWidth(exportElement(type));
  if (from == to)
    return x;
  return tileBuildCast(&k->b, from > to ? ArithOp_TruncI : isSigned ? ArithOp_ExtSI : ArithOp_ExtUI, x, type);
}

// Ranges are of i32.
static MlirValue iota(ExportKernel *k, MlirType line) {
  MlirType type = exportShaped(k, line, exportInteger(k, 32));
  MlirValue range = ttMakeRangeOpBuild(&k->b, type, ttirI32(k, 0), ttirI32(k, exportShape(line).sizes[0]));
  return ttirResize(k, range, line, true);
}

static MlirValue id(ExportKernel *k, int64_t axis, bool isCount) {
  return (isCount ? ttGetNumProgramsOpBuild : ttGetProgramIdOpBuild)(&k->b, ttirI32(k, axis));
}

static MlirValue reshape(ExportKernel *k, MlirType type, MlirValue x) {
  if (exportRank(type) == 0)
    return tileOnlyResult(ttUnsplatOpCreate(&k->b, x));
  bool fromScalar = exportRank(mlirValueGetType(x)) == 0;
  return fromScalar ? ttSplatOpBuild(&k->b, type, x) : ttReshapeOpBuild(&k->b, type, x);
}

static bool combine(ExportKernel *k, TileUpstream kind, MlirValue x, MlirValue y, MlirValue *result) {
  if (kind == TileUpstream_None)
    return false;
  *result = tileBuildBinary(&k->b, kind, x, y);
  return true;
}

static MlirValue compare(ExportKernel *k, ArithCmpI predicate, MlirValue x, MlirValue y) {
  return arithCmpIOpBuild(&k->b, x, y, predicate);
}

static MlirValue choose(ExportKernel *k, MlirValue condition, MlirValue yes, MlirValue no) {
  return arithSelectOpBuild(&k->b, condition, yes, no);
}

static void check(ExportKernel *k, MlirValue condition, MlirAttribute message) {
  ttAssertOpBuild(&k->b, condition, message);
}

//===--- regions --------------------------------------------------------------------------===//

static MlirOperation loop(ExportKernel *k, MlirOperation op, intptr_t count, MlirValue *values, MlirRegion region) {
  MlirAttribute isUnsigned = scfForOpHasUnsignedCmp(op) ? mlirUnitAttrGet(k->b.context) : mlirAttributeGetNull();
  return scfForOpCreate(&k->b, values[0], values[1], values[2], count - 3, values + 3, isUnsigned, region);
}

static void end(ExportKernel *k, ExportEnd kind, intptr_t count, const MlirValue *values) {
  if (kind == ExportEnd_Reduce)
    ttReduceReturnOpBuild(&k->b, count, values);
  else if (kind == ExportEnd_Scan)
    ttScanReturnOpBuild(&k->b, count, values);
  else
    tileBuildYield(&k->b, count, values);
}

// All left elements, then all right ones, as in tile.
static intptr_t argument(intptr_t i, intptr_t count) { return i; }

static MlirOperation reduce(ExportKernel *k, MlirOperation op, intptr_t count, const MlirType *types,
                            const MlirValue *inputs, int64_t axis, MlirRegion region) {
  return ttReduceOpBuild(&k->b, count, types, count, inputs, ttirI32(k, axis), region);
}

static MlirOperation scan(ExportKernel *k, MlirOperation op, intptr_t count, const MlirType *types,
                          const MlirValue *inputs, MlirRegion region) {
  return ttScanOpBuild(&k->b, count, types, count, inputs, ttirI32(k, tileScanOpGetAxisValue(op)),
                       mlirBoolAttrGet(k->b.context, tileScanOpHasReverse(op)), region);
}

//===--- the kernel -----------------------------------------------------------------------===//

static void finish(ExportKernel *k, TileBuilder *b, MlirOperation kernel, MlirBlock block, MlirRegion body) {
  ttReturnOpBuild(&k->b, 0, NULL);
  ttFuncOpCreate(b, tileKernelOpGetSymName(kernel), exportWord(k, "public"), exportFunctionType(k, block),
                 mlirAttributeGetNull(), mlirAttributeGetNull(), body);
}

static const TileConvertOp conversions[] = {ttirFloats, ttirCompute, NULL};

static const ExportVocabulary vocabulary = {
    .dialect = "tt",
    .language = "TTIR",
    .own = conversions,
    .element = ttirElement,
    .tile = tile,
    .pointerTo = ttPointerTypeGet,
    .fill = fill,
    .constant = constant,
    .iota = iota,
    .id = id,
    .splat = splat,
    .broadcast = ttBroadcastOpBuild,
    .reshape = reshape,
    .permute = ttTransOpBuild,
    .combine = combine,
    .compare = compare,
    .choose = choose,
    .resize = ttirResize,
    .offset = ttAddPtrOpBuild,
    .toPointer = ttIntToPtrOpBuild,
    .toInteger = ttPtrToIntOpBuild,
    .load = ttirLoad,
    .store = ttirStore,
    .atomic = ttirAtomic,
    .swap = ttirSwap,
    .atomicLoad = ttirAtomicLoad,
    .atomicStore = ttirAtomicStore,
    .check = check,
    .print = ttirPrint,
    .cut = ttirCut,
    .loadView = ttirLoadView,
    .storeView = ttirStoreView,
    .loop = loop,
    .branch = scfIfOpBuild,
    .end = end,
    .argument = argument,
    .reduce = reduce,
    .scan = scan,
    .finish = finish,
};

static bool run(MlirOperation module, MlirExtPass pass) {
  const ExportKernel options = {.v = &vocabulary, .hasViews = mlirExtPassGetBool(pass, "descriptors")};
  return exportModule(module, &options);
}

const MlirExtPassDefinition tileToTtPass = {
    .argument = "convert-tile-to-tt",
    .summary = "Convert tile kernels to kernels of Triton (TTIR)",
    .anchor = builtinModuleOpName,
    .options =
        (const MlirExtPassOption[]){
            {"descriptors", "tiles of views are blocks of descriptors", MlirExtOption_Bool, "false"}, {NULL}},
    .dialects = (const char *const[]){"scf", "arith", "math", NULL},
    .registerDialects = ttRegisterDialect,
    .run = run,
};
