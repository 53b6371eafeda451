// convert-tile-to-cuda-tile: tile kernels become kernels of CUDA Tile IR. Expects: tile kernels as a person,
// convert-tt-to-tile or convert-linalg-to-tile writes them, without layouts. Leaves: a cuda_tile.entry for each, whose
// accesses have no tokens yet (tile-order-by-tokens), and nothing of the host. An op, type or size that CUDA Tile IR
// does not have is an error.
// Why: NVIDIA's compiler, and whoever else reads that bytecode, then compiles our kernels and Triton's. Cost: linear.
//
// Parameters keep their order. A memref is a pointer, followed by an i64 for each size and then each stride that its
// type leaves open. With the option `bare`, for kernels that were Triton's, a memref of one open size is a pointer
// alone, parameters have the order of the function launch_K, and nobody checks indices. A view is a partition_view, or
// a strided_view from version 13.3 on; what those cannot say goes through tiles of pointers with masks.
#include "lib/conversion/tile_to_cuda_tile/export_kernel.h"

#include "lib/ir/pass.h"
#include "upstream/builtin.h"

//===--- values -----------------------------------------------------------------------===//

static void freeKernel(ExportKernel *k) {
  tileArenaFree(&k->arena);
  tileTableFree(&k->values);
  tileTableFree(&k->memories);
}

void exportSet(ExportKernel *k, MlirValue old, MlirValue value) {
  tileTableSet(&k->values, old.ptr, (void *)value.ptr);
}

bool exportSetResult(ExportKernel *k, MlirOperation op, MlirValue value) {
  exportSet(k, tileOnlyResult(op), value);
  return true;
}

MlirValue exportGet(ExportKernel *k, MlirValue old) {
  MlirValue value = {tileTableFind(&k->values, old.ptr)};
  if (mlirValueIsNull(value))
    tileErrorAt(k->b.location, "takes a value of type %s, which has no conversion to cuda_tile",
                tileTypeText(mlirValueGetType(old), (char[128]){0}, 128));
  return value;
}

bool exportGetOptional(ExportKernel *k, MlirValue old, MlirValue *value) {
  *value = mlirValueIsNull(old) ? old : exportGet(k, old);
  return mlirValueIsNull(old) == mlirValueIsNull(*value);
}

bool exportGetAll(ExportKernel *k, MlirOperation op, intptr_t first, MlirValue *values, intptr_t *count) {
  *count = 0;
  for (intptr_t i = first; i < mlirOperationGetNumOperands(op); ++i)
    if (mlirValueIsNull(values[(*count)++] = exportGet(k, mlirOperationGetOperand(op, i))))
      return false;
  return true;
}

ExportMemory *exportNewMemory(ExportKernel *k, MlirValue old) {
  ExportMemory *memory = tileArenaAllocate(&k->arena, sizeof *memory);
  tileTableSet(&k->memories, old.ptr, memory);
  return memory;
}

ExportMemory *exportMemory(ExportKernel *k, MlirValue old) {
  ExportMemory *memory = tileTableFind(&k->memories, old.ptr);
  if (!memory)
    tileErrorAt(k->b.location, "accesses memory that is no part of a parameter, which has no conversion to cuda_tile");
  return memory;
}

//===--- types --------------------------------------------------------------------------===//

intptr_t exportRank(MlirType type) { return mlirShapedTypeGetRank(type); }

MlirType exportSized(intptr_t rank, const int64_t *sizes, MlirType element) {
  return mlirRankedTensorTypeGet(rank, sizes, element, mlirAttributeGetNull());
}

MlirType exportShaped(MlirType like, MlirType element) {
  MlirExtShape shape;
  mlirExtTypeGetShape(like, &shape);
  return exportSized(shape.rank, shape.sizes, element);
}

MlirType exportInteger(ExportKernel *k, unsigned bits) { return mlirIntegerTypeGet(k->b.context, bits); }

static bool isElement(MlirType type) { return cudaTileSimpleTag(type) >= 0 && !cudaTileTypeIsAToken(type); }

MlirType exportType(MlirOperation at, MlirType old) {
  bool isTile = mlirTypeIsARankedTensor(old);
  MlirType element = isTile ? mlirShapedTypeGetElementType(old) : old;
  if (mlirTypeIsAIndex(element))
    element = mlirIntegerTypeGet(mlirTypeGetContext(old), 64);
  if (!isElement(element) || (isTile && !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(old)))) {
    tileError(at, "has the type %s, which CUDA Tile IR does not have", tileTypeText(old, (char[128]){0}, 128));
    return (MlirType){NULL};
  }
  if (!isTile)
    return exportSized(0, NULL, element);
  MlirExtShape shape;
  mlirExtTypeGetShape(old, &shape);
  for (intptr_t i = 0; i < shape.rank; ++i)
    if (shape.sizes[i] & (shape.sizes[i] - 1)) {
      tileError(at, "has a tile of size %ld along dimension %ld, expected a power of two", (long)shape.sizes[i],
                (long)i);
      return (MlirType){NULL};
    }
  return exportSized(shape.rank, shape.sizes, element);
}

//===--- words, numbers -------------------------------------------------------------------===//

MlirAttribute exportWord(ExportKernel *k, const char *word) {
  return mlirStringAttrGet(k->b.context, tileString(word));
}
bool exportIs(MlirAttribute word, const char *text) {
  return !mlirAttributeIsNull(word) && tileStringEquals(mlirStringAttrGetValue(word), text);
}
MlirAttribute exportI64(ExportKernel *k, int64_t value) { return tileBuildEnum(&k->b, 64, value); }
MlirAttribute exportSign(ExportKernel *k, bool isSigned) { return exportWord(k, isSigned ? "signed" : "unsigned"); }

static MlirValue fill(ExportKernel *k, MlirType type, MlirAttribute element) {
  return cudaTileConstantOpBuild(&k->b, mlirDenseElementsAttrSplatGet(type, element));
}
MlirValue exportFill(ExportKernel *k, MlirType type, int64_t value) {
  return fill(k, type, mlirIntegerAttrGet(mlirShapedTypeGetElementType(type), value));
}
MlirValue exportFillFloat(ExportKernel *k, MlirType type, double value) {
  return fill(k, type, mlirFloatAttrDoubleGet(k->b.context, mlirShapedTypeGetElementType(type), value));
}
MlirValue exportNumber(ExportKernel *k, int64_t value) {
  return exportFill(k, exportSized(0, NULL, exportInteger(k, 64)), value);
}

// A known number is made where it is needed: a value made elsewhere may not be visible there.
MlirValue exportSizeValue(ExportKernel *k, const ExportSize *size) {
  if (!size->isKnown && mlirValueIsNull(size->value))
    tileErrorAt(k->b.location, "takes the size of memory of which only a pointer is known");
  return size->isKnown ? exportNumber(k, size->number) : size->value;
}

MlirValue exportSplat(ExportKernel *k, MlirValue scalar, MlirType type) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(scalar));
  int64_t ones[CudaTileMaxRank];
  for (intptr_t i = 0; i < CudaTileMaxRank; ++i)
    ones[i] = 1;
  if (exportRank(type) == 0)
    return scalar;
  MlirType thin = exportSized(exportRank(type), ones, element), full = exportShaped(type, element);
  MlirValue one = cudaTileReshapeOpBuild(&k->b, thin, scalar);
  return mlirTypeEqual(thin, full) ? one : cudaTileBroadcastOpBuild(&k->b, full, one);
}

MlirValue exportAlong(ExportKernel *k, MlirValue line, intptr_t rank, const int64_t *sizes, intptr_t axis) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(line));
  int64_t shape[CudaTileMaxRank];
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = i == axis ? sizes[i] : 1;
  MlirType thin = exportSized(rank, shape, element), full = exportSized(rank, sizes, element);
  MlirValue value = rank == 1 ? line : cudaTileReshapeOpBuild(&k->b, thin, line);
  return mlirTypeEqual(thin, full) ? value : cudaTileBroadcastOpBuild(&k->b, full, value);
}

MlirValue exportRange(ExportKernel *k, intptr_t rank, const int64_t *sizes, intptr_t axis) {
  return exportAlong(k, cudaTileIotaOpBuild(&k->b, exportSized(1, &sizes[axis], exportInteger(k, 64))), rank, sizes,
                     axis);
}

MlirValue exportWiden(ExportKernel *k, MlirValue integer) {
  MlirType type = mlirValueGetType(integer);
  unsigned bits = tileElementWidth(mlirShapedTypeGetElementType(type));
  return bits == 64
             ? integer
             : cudaTileExtIOpBuild(&k->b, exportShaped(type, exportInteger(k, 64)), integer, exportSign(k, true));
}

//===--- ops ------------------------------------------------------------------------------===//

static bool convertOp(ExportKernel *k, MlirOperation op) {
  static const ExportConvert conversions[] = {exportArithmetic, exportShapes, exportViews, exportElements,
                                              exportControl};
  k->b.location = mlirOperationGetLocation(op);
  for (size_t i = 0; i < sizeof conversions / sizeof *conversions; ++i) {
    bool isKnown;
    bool ok = conversions[i](k, op, &isKnown);
    if (isKnown || !ok)
      return ok;
  }
  return tileError(op, "has no conversion to cuda_tile");
}

bool exportConvertBlock(ExportKernel *k, MlirBlock block) {
  MlirOperation op = mlirBlockGetFirstOperation(block), end = mlirBlockGetTerminator(block);
  for (; !mlirOperationIsNull(op) && !mlirOperationEqual(op, end); op = mlirOperationGetNextInBlock(op))
    if (!convertOp(k, op))
      return false;
  return true;
}

//===--- parameters ---------------------------------------------------------------------------===//

static MlirValue addParameter(ExportKernel *k, MlirType element) {
  return mlirBlockAddArgument(k->b.block, exportSized(0, NULL, element), k->b.location);
}

static ExportSize known(int64_t number) { return (ExportSize){.isKnown = true, .number = number}; }
static ExportSize given(MlirValue value) { return (ExportSize){.value = value}; }

static ExportSize product(ExportKernel *k, ExportSize *a, ExportSize *b) {
  if (a->isKnown && b->isKnown)
    return known(a->number * b->number);
  if ((a->isKnown && a->number == 1) || (b->isKnown && b->number == 1))
    return a->isKnown ? *b : *a;
  return given(cudaTileMulIOpBuild(&k->b, exportSizeValue(k, a), exportSizeValue(k, b)));
}

// Memory without a layout has the strides of rows that stand one behind another.
static bool takeMemref(ExportKernel *k, MlirOperation kernel, MlirValue old) {
  MlirType type = mlirValueGetType(old), i64 = exportInteger(k, 64), element = mlirShapedTypeGetElementType(type);
  ExportMemory *memory = exportNewMemory(k, old);
  int64_t strides[CudaTileMaxRank], offset = 0;
  memory->rank = mlirShapedTypeGetRank(type);
  if (memory->rank > CudaTileMaxRank || !isElement(element))
    return tileError(kernel, "has a parameter of type %s, which CUDA Tile IR does not have",
                     tileTypeText(type, (char[128]){0}, 128));
  memory->base = addParameter(k, cudaTilePointerTypeGet(element));
  bool isBare = k->isBare && memory->rank == 1;
  for (intptr_t i = 0; i < memory->rank; ++i)
    memory->sizes[i] = !mlirShapedTypeIsDynamicDim(type, i) ? known(mlirShapedTypeGetDimSize(type, i))
                       : isBare                             ? given((MlirValue){NULL})
                                                            : given(addParameter(k, i64));
  bool isStrided = !mlirAttributeIsAAffineMap(mlirMemRefTypeGetLayout(type));
  if (isStrided && mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)))
    return tileError(kernel, "has a parameter of a layout without strides");
  if (isStrided && offset)
    return tileError(kernel, "has a parameter that begins at an offset, expected 0");
  for (intptr_t i = 0; isStrided && i < memory->rank; ++i)
    memory->strides[i] =
        strides[i] == mlirShapedTypeGetDynamicStrideOrOffset() ? given(addParameter(k, i64)) : known(strides[i]);
  return true;
}

static void addStrides(ExportKernel *k, MlirValue old) {
  ExportMemory *memory = exportMemory(k, old);
  if (mlirAttributeIsAAffineMap(mlirMemRefTypeGetLayout(mlirValueGetType(old))))
    for (intptr_t i = memory->rank; i-- > 0;)
      memory->strides[i] =
          i == memory->rank - 1 ? known(1) : product(k, &memory->strides[i + 1], &memory->sizes[i + 1]);
}

static bool takeParameter(ExportKernel *k, MlirOperation kernel, MlirValue old) {
  MlirType type = mlirValueGetType(old);
  if (mlirTypeIsAMemRef(type))
    return takeMemref(k, kernel, old);
  MlirType made = exportType(kernel, type);
  if (mlirTypeIsNull(made))
    return false;
  if (exportRank(made))
    return tileError(kernel, "has a tile as a parameter, which CUDA Tile IR does not have");
  exportSet(k, old, mlirBlockAddArgument(k->b.block, made, k->b.location));
  return true;
}

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

static MlirWalkResult findLaunch(MlirOperation op, void *launch) {
  if (!tileLaunchOpIsA(op))
    return MlirWalkResultAdvance;
  *(MlirOperation *)launch = op;
  return MlirWalkResultInterrupt;
}

// The kernel's parameters in the order of launch_K's, which passes each of its own on; else in their own.
static void orderParameters(ExportKernel *k, MlirOperation kernel, intptr_t count, intptr_t *order) {
  MlirStringRef name = mlirStringAttrGetValue(tileKernelOpGetSymName(kernel));
  const char *launcherName = tileArenaPrintf(&k->arena, "launch_%.*s", (int)name.length, name.data);
  MlirOperation launcher = k->isBare ? tileFindSymbol(kernel, launcherName) : (MlirOperation){NULL}, launch = {NULL};
  for (intptr_t i = 0; i < count; ++i)
    order[i] = i;
  if (!mlirOperationIsNull(launcher))
    mlirOperationWalk(launcher, findLaunch, &launch, MlirWalkPreOrder);
  if (mlirOperationIsNull(launch))
    return;
  intptr_t numInputs = tileLaunchOpGetNumInputs(launch);
  intptr_t *places = tileArenaAllocate(&k->arena, sizeof *places * (size_t)(count + 1));
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue given = i < numInputs ? tileLaunchOpGetInputs(launch, i) : tileLaunchOpGetOutputs(launch, i - numInputs);
    if (!mlirValueIsABlockArgument(given))
      return;
    places[i] = mlirBlockArgumentGetArgNumber(given);
  }
  for (intptr_t i = 0; i < count; ++i) {
    intptr_t before = 0;
    for (intptr_t j = 0; j < count; ++j)
      before += places[j] < places[i];
    order[before] = i;
  }
}

static bool takeParameters(ExportKernel *k, MlirOperation kernel, MlirBlock old) {
  intptr_t count = mlirBlockGetNumArguments(old);
  intptr_t *order = tileArenaAllocate(&k->arena, sizeof *order * (size_t)(count + 1));
  orderParameters(k, kernel, count, order);
  bool ok = true;
  for (intptr_t i = 0; ok && i < count; ++i)
    ok = takeParameter(k, kernel, mlirBlockGetArgument(old, order[i]));
  for (intptr_t i = 0; ok && i < count; ++i)
    if (mlirTypeIsAMemRef(mlirValueGetType(mlirBlockGetArgument(old, i))))
      addStrides(k, mlirBlockGetArgument(old, i));
  return ok;
}

static bool convertKernel(MlirOperation kernel, int64_t version, bool isBare) {
  MlirBlock old = mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel));
  TileBuilder b = tileBuilderBefore(kernel);
  ExportKernel k = {.b = b, .version = version, .isBare = isBare};
  MlirRegion body;
  if (mlirBlockIsNull(old))
    return tileError(kernel, "has no body");
  k.b = tileBuilderInRegion(&b, &body, 0, NULL);
  bool ok = takeParameters(&k, kernel, old);
  MlirBlock block = k.b.block;
  ok = ok && exportConvertBlock(&k, old);
  if (ok) {
    intptr_t count = mlirBlockGetNumArguments(block);
    MlirType *types = tileArenaAllocate(&k.arena, sizeof *types * (size_t)(count + 1));
    for (intptr_t i = 0; i < count; ++i)
      types[i] = mlirValueGetType(mlirBlockGetArgument(block, i));
    cudaTileReturnOpBuild(&k.b, 0, NULL);
    cudaTileEntryOpCreate(&b, mlirAttributeGetNull(), tileKernelOpGetSymName(kernel), mlirAttributeGetNull(),
                          mlirTypeAttrGet(mlirFunctionTypeGet(b.context, count, types, 0, NULL)),
                          parameterAttributes(&k, kernel, old, block), mlirAttributeGetNull(), body);
    mlirOperationDestroy(kernel);
  } else {
    mlirRegionDestroy(body);
  }
  freeKernel(&k);
  return ok;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  MlirBlock block = mlirRegionGetFirstBlock(builtinModuleOpGetBodyRegion(module));
  TileOps kernels = tileCollectOps(module, tileKernelOpIsA);
  int64_t version = mlirExtPassGetInteger(pass, "version");
  bool ok = kernels.count || tileError(module, "has no tile.kernel");
  if (ok && (version < CudaTileOldest || version > CudaTileNewest))
    ok = tileError(module, "convert-tile-to-cuda-tile: version is %ld, expected %d to %d", (long)version,
                   CudaTileOldest, CudaTileNewest);
  for (intptr_t i = 0; ok && i < kernels.count; ++i)
    ok = convertKernel(kernels.items[i], version, mlirExtPassGetBool(pass, "bare"));
  for (MlirOperation op = mlirBlockGetFirstOperation(block), next; ok && !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (!cudaTileEntryOpIsA(op))
      mlirOperationDestroy(op); // the host's
  }
  tileOpsFree(&kernels);
  return ok && mlirOperationVerify(module);
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
