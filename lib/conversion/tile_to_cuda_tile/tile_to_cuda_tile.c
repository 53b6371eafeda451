// convert-tile-to-cuda-tile: tile kernels become kernels of CUDA Tile IR. Expects: tile kernels as a person,
// convert-tt-to-tile or convert-linalg-to-tile writes them, without layouts. Leaves: a cuda_tile.entry for each, whose
// accesses have no tokens yet (tile-order-by-tokens), and nothing of the host. An op, type or size that CUDA Tile IR
// does not have is an error.
// Why: NVIDIA's compiler, and whoever else reads that bytecode, then compiles our kernels and Triton's. Cost: linear.
//
// The engine is lib/conversion/kernel_export; this is its vocabulary. With the option `bare`, for kernels that were
// Triton's, a memref of one open size is a pointer alone, and nobody checks indices.
#include "lib/conversion/tile_to_cuda_tile/cuda_tile_export.h"

#include "dialects/tile/combiner.h"
#include "lib/ir/pass.h"
#include "upstream/builtin.h"
#include "upstream/scf.h"

MlirAttribute cudaTileI64(ExportKernel *k, int64_t value) { return tileBuildEnum(&k->b, 64, value); }
MlirAttribute cudaTileSign(ExportKernel *k, bool isSigned) { return exportWord(k, isSigned ? "signed" : "unsigned"); }

//===--- types ----------------------------------------------------------------------------===//

static MlirType element(MlirType old) {
  return cudaTileSimpleTag(old) >= 0 && !cudaTileTypeIsAToken(old) ? old : (MlirType){NULL};
}

static MlirType tile(intptr_t rank, const int64_t *sizes, MlirType element) {
  return mlirRankedTensorTypeGet(rank, sizes, element, mlirAttributeGetNull());
}

//===--- values ---------------------------------------------------------------------------===//

static MlirValue fill(ExportKernel *k, MlirType type, MlirAttribute element) {
  return cudaTileConstantOpBuild(&k->b, mlirDenseElementsAttrSplatGet(type, element));
}
static MlirValue constant(ExportKernel *k, MlirAttribute elements) { return cudaTileConstantOpBuild(&k->b, elements); }
static MlirValue iota(ExportKernel *k, MlirType line) { return cudaTileIotaOpBuild(&k->b, line); }
static MlirValue reshape(ExportKernel *k, MlirType type, MlirValue x) { return cudaTileReshapeOpBuild(&k->b, type, x); }

static MlirValue splat(ExportKernel *k, MlirValue scalar, MlirType type) {
  int64_t ones[ExportMaxRank];
  for (intptr_t i = 0; i < ExportMaxRank; ++i)
    ones[i] = 1;
  MlirType element = exportElement(mlirValueGetType(scalar));
  MlirType thin = tile(exportRank(type), ones, element), full = exportShaped(k, type, element);
  MlirValue one = reshape(k, thin, scalar);
  return mlirTypeEqual(thin, full) ? one : cudaTileBroadcastOpBuild(&k->b, full, one);
}

static MlirValue id(ExportKernel *k, int64_t axis, bool isCount) {
  MlirType i32 = tile(0, NULL, exportInteger(k, 32));
  MlirOperation made = isCount ? cudaTileGetNumTileBlocksOpBuild(&k->b, i32, i32, i32)
                               : cudaTileGetTileBlockIdOpBuild(&k->b, i32, i32, i32);
  return mlirOperationGetResult(made, axis);
}

static void check(ExportKernel *k, MlirValue condition, MlirAttribute message) {
  cudaTileAssertOpBuild(&k->b, condition, message);
}

//===--- regions --------------------------------------------------------------------------===//

static MlirOperation loop(ExportKernel *k, MlirOperation op, intptr_t count, MlirValue *values, MlirRegion region) {
  MlirAttribute isUnsigned = scfForOpHasUnsignedCmp(op) ? mlirUnitAttrGet(k->b.context) : mlirAttributeGetNull();
  return cudaTileForOpCreate(&k->b, values[0], values[1], values[2], count - 3, values + 3, isUnsigned, region);
}

static void end(ExportKernel *k, ExportEnd kind, intptr_t count, const MlirValue *values) {
  if (kind == ExportEnd_Loop)
    cudaTileContinueOpBuild(&k->b, count, values);
  else
    cudaTileYieldOpBuild(&k->b, count, values);
}

// The two elements of an input beside each other.
static intptr_t argument(intptr_t i, intptr_t count) { return i < count ? 2 * i : 2 * (i - count) + 1; }

static MlirValue choose(ExportKernel *k, MlirValue condition, MlirValue yes, MlirValue no) {
  return cudaTileSelectOpBuild(&k->b, condition, yes, no);
}

static bool identities(ExportKernel *k, MlirOperation op, intptr_t count, MlirAttribute *list) {
  MlirAttribute parts[ExportMaxCombined];
  for (intptr_t i = 0; i < count; ++i) {
    MlirAttribute neutral = tileCombinerNeutralOf(op, i);
    if (mlirAttributeIsNull(neutral))
      return tileError(op, "does not say what is neutral, expected `neutral`");
    bool isIndex = mlirTypeIsAIndex(mlirAttributeGetType(neutral));
    parts[i] = isIndex ? cudaTileI64(k, mlirIntegerAttrGetValueInt(neutral)) : neutral;
  }
  *list = mlirArrayAttrGet(k->b.context, count, parts);
  return true;
}

static MlirOperation reduce(ExportKernel *k, MlirOperation op, intptr_t count, const MlirType *types,
                            const MlirValue *inputs, int64_t axis, MlirRegion region) {
  MlirAttribute neutral;
  if (!identities(k, op, count, &neutral)) {
    mlirRegionDestroy(region);
    return (MlirOperation){NULL};
  }
  return cudaTileReduceOpBuild(&k->b, count, types, count, inputs, cudaTileI64(k, axis), neutral, region);
}

static MlirOperation scan(ExportKernel *k, MlirOperation op, intptr_t count, const MlirType *types,
                          const MlirValue *inputs, MlirRegion region) {
  MlirAttribute neutral;
  if (!identities(k, op, count, &neutral)) {
    mlirRegionDestroy(region);
    return (MlirOperation){NULL};
  }
  return cudaTileScanOpBuild(&k->b, count, inputs, cudaTileI64(k, tileScanOpGetAxisValue(op)),
                             mlirBoolAttrGet(k->b.context, tileScanOpHasReverse(op)), neutral, region);
}

//===--- the kernel -----------------------------------------------------------------------===//

// A pointer keeps the attributes of its memref's parameter: tile-order-by-tokens reads llvm.noalias.
static MlirAttribute parameterAttributes(ExportKernel *k, MlirOperation kernel, MlirBlock old, MlirBlock made) {
  MlirAttribute all = tileOpAttribute(kernel, "arg_attrs"), none = mlirDictionaryAttrGet(k->b.context, 0, NULL);
  intptr_t count = mlirBlockGetNumArguments(made), next = 0;
  MlirAttribute *parts = tileArenaAllocate(&k->arena, sizeof *parts * (size_t)(count + 1));
  if (mlirAttributeIsNull(all))
    return all;
  for (intptr_t i = 0; i < count; ++i)
    parts[i] = none;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(old); ++i) {
    const ExportMemory *memory = tileTableFind(&k->memories, mlirBlockGetArgument(old, i).ptr);
    MlirAttribute own = mlirArrayAttrGetElement(all, i);
    MlirAttribute mark = mlirDictionaryAttrGetElementByName(own, tileString(cudaTileNoAlias));
    if (!memory || mlirAttributeIsNull(mark))
      continue;
    next = mlirBlockArgumentGetArgNumber(memory->base);
    MlirNamedAttribute entry = {mlirIdentifierGet(k->b.context, tileString(cudaTileNoAlias)), mark};
    parts[next] = mlirDictionaryAttrGet(k->b.context, 1, &entry);
  }
  return mlirArrayAttrGet(k->b.context, count, parts);
}

static void finish(ExportKernel *k, TileBuilder *b, MlirOperation kernel, MlirBlock block, MlirRegion body) {
  MlirBlock old = mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel));
  cudaTileReturnOpBuild(&k->b, 0, NULL);
  cudaTileEntryOpCreate(b, mlirAttributeGetNull(), tileKernelOpGetSymName(kernel), mlirAttributeGetNull(),
                        exportFunctionType(k, block), parameterAttributes(k, kernel, old, block),
                        mlirAttributeGetNull(), body);
}

static const TileConvertOp conversions[] = {cudaTileExportArithmetic, cudaTileExportParts, cudaTileExportStandIns,
                                            NULL};

static const ExportVocabulary vocabulary = {
    .dialect = "cuda_tile",
    .language = "CUDA Tile IR",
    .own = conversions,
    .element = element,
    .tile = tile,
    .pointerTo = cudaTilePointerTypeGet,
    .fill = fill,
    .constant = constant,
    .iota = iota,
    .id = id,
    .splat = splat,
    .broadcast = cudaTileBroadcastOpBuild,
    .reshape = reshape,
    .permute = cudaTilePermuteOpBuild,
    .combine = cudaTileCombine,
    .compare = cudaTileCompare,
    .choose = choose,
    .resize = cudaTileResize,
    .offset = cudaTileOffsetOpBuild,
    .toPointer = cudaTileIntToPtrOpBuild,
    .toInteger = cudaTilePtrToIntOpBuild,
    .load = cudaTileLoad,
    .store = cudaTileStore,
    .atomic = cudaTileAtomic,
    .swap = cudaTileSwap,
    .atomicLoad = cudaTileAtomicLoad,
    .atomicStore = cudaTileAtomicStore,
    .check = check,
    .print = cudaTilePrint,
    .cut = cudaTileCut,
    .loadView = cudaTileLoadView,
    .storeView = cudaTileStoreView,
    .loop = loop,
    .branch = cudaTileIfOpBuild,
    .end = end,
    .argument = argument,
    .reduce = reduce,
    .scan = scan,
    .finish = finish,
};

static bool run(MlirOperation module, MlirExtPass pass) {
  int64_t version = mlirExtPassGetInteger(pass, "version");
  if (version < CudaTileOldest || version > CudaTileNewest)
    return tileError(module, "convert-tile-to-cuda-tile: version is %ld, expected %d to %d", (long)version,
                     CudaTileOldest, CudaTileNewest);
  const ExportKernel options = {
      .v = &vocabulary, .version = version, .isBare = mlirExtPassGetBool(pass, "bare"), .hasViews = true};
  return exportModule(module, &options);
}

const MlirExtPassDefinition tileToCudaTilePass = {
    .argument = "convert-tile-to-cuda-tile",
    .summary = "Convert tile kernels to kernels of CUDA Tile IR",
    .anchor = builtinModuleOpName,
    .options =
        (const MlirExtPassOption[]){
            {"version", "the program may use what version 13.N has", MlirExtOption_Integer, "5"},
            {"bare", "memrefs of one open size are pointers alone, as kernels of Triton have them", MlirExtOption_Bool,
             "false"},
            {NULL},
        },
    .registerDialects = cudaTileRegisterDialect,
    .run = run,
};
