// Parameters, and kernels one by one. Parameters keep their order: a memref is a pointer, followed by an i64 for each
// size and then each stride that its type leaves open. With `isBare` a memref of one open size is a pointer alone, and
// parameters have the order of the function launch_K.
#include "lib/conversion/kernel_export/export.h"

#include "upstream/builtin.h"

//===--- parameters ---------------------------------------------------------------------------===//

static MlirValue addParameter(ExportKernel *k, MlirType element) {
  return mlirBlockAddArgument(k->b.block, exportSized(k, 0, NULL, element), k->b.location);
}

static ExportSize known(int64_t number) { return (ExportSize){.isKnown = true, .number = number}; }
static ExportSize given(MlirValue value) { return (ExportSize){.value = value}; }

static ExportSize product(ExportKernel *k, ExportSize *a, ExportSize *b) {
  if (a->isKnown && b->isKnown)
    return known(a->number * b->number);
  if ((a->isKnown && a->number == 1) || (b->isKnown && b->number == 1))
    return a->isKnown ? *b : *a;
  return given(exportCombine(k, ArithOp_MulI, exportSizeValue(k, a), exportSizeValue(k, b)));
}

// Memory without a layout has the strides of rows that stand one behind another.
static bool takeMemref(ExportKernel *k, MlirOperation kernel, MlirValue old) {
  MlirType type = mlirValueGetType(old), i64 = exportInteger(k, 64),
           element = exportStored(k, mlirShapedTypeGetElementType(type));
  ExportMemory *memory = exportNewMemory(k, old);
  int64_t strides[ExportMaxRank], offset = 0;
  memory->rank = mlirShapedTypeGetRank(type);
  if (memory->rank > ExportMaxRank || mlirTypeIsNull(element))
    return tileError(kernel, "has a parameter of type %s, which %s does not have",
                     tileTypeText(type, (char[128]){0}, 128), k->v->language);
  memory->base = addParameter(k, k->v->pointerTo(element));
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
  MlirType made = exportType(k, kernel, type);
  if (mlirTypeIsNull(made))
    return false;
  if (exportRank(made))
    return tileError(kernel, "has a tile as a parameter, which %s does not have", k->v->language);
  exportSet(k, old, mlirBlockAddArgument(k->b.block, made, k->b.location));
  return true;
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

MlirAttribute exportFunctionType(ExportKernel *k, MlirBlock block) {
  intptr_t count = mlirBlockGetNumArguments(block);
  MlirType *types = tileArenaAllocate(&k->arena, sizeof *types * (size_t)(count + 1));
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(mlirBlockGetArgument(block, i));
  return mlirTypeAttrGet(mlirFunctionTypeGet(k->b.context, count, types, 0, NULL));
}

static bool convertKernel(MlirOperation kernel, const ExportKernel *options) {
  MlirBlock old = mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel));
  TileBuilder b = tileBuilderBefore(kernel);
  ExportKernel k = *options;
  MlirRegion body;
  if (mlirBlockIsNull(old))
    return tileError(kernel, "has no body");
  k.b = tileBuilderInRegion(&b, &body, 0, NULL);
  MlirBlock block = k.b.block;
  bool ok = takeParameters(&k, kernel, old) && exportConvertBlock(&k, old);
  if (ok) {
    k.v->finish(&k, &b, kernel, block, body);
    mlirOperationDestroy(kernel);
  } else {
    mlirRegionDestroy(body);
  }
  tileArenaFree(&k.arena);
  tileTableFree(&k.values);
  tileTableFree(&k.memories);
  return ok;
}

bool exportModule(MlirOperation module, const ExportKernel *options) {
  MlirBlock block = mlirRegionGetFirstBlock(builtinModuleOpGetBodyRegion(module));
  TileOps kernels = tileCollectOps(module, tileKernelOpIsA);
  bool ok = kernels.count || tileError(module, "has no tile.kernel");
  MlirOperation first = mlirBlockGetFirstOperation(block);
  TileOps host = {0};
  for (MlirOperation op = first; ok && !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (!tileKernelOpIsA(op))
      tileOpsAppend(&host, op);
  for (intptr_t i = 0; ok && i < kernels.count; ++i)
    ok = convertKernel(kernels.items[i], options);
  for (intptr_t i = 0; ok && i < host.count; ++i)
    mlirOperationDestroy(host.items[i]);
  tileOpsFree(&host);
  tileOpsFree(&kernels);
  return ok && mlirOperationVerify(module);
}
