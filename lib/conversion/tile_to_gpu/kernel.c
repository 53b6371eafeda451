// A kernel as a device function: its ABI (docs/gpu.md), ids, and its ops one by one. Each file of the room lists what
// it lowers; what the table calls elementwise is computed on every register.
#include "lib/conversion/tile_to_gpu/asynchronous.h"

#include "dialects/tile/discardable.h"
#include "lib/support/integer.h"

#include "dialects/tile/questions.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "upstream/gpu.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <stdio.h>
#include <stdlib.h>

bool gpuRefuse(MlirOperation op, const char *why) { return tileError(op, "not converted to a GPU yet: %s", why); }

bool gpuFindAtom(const Gpu *g, MlirOperation product, char name[GpuAtomName], TileMachineAtom *atom, TileError *error) {
  MlirStringRef text = tileKeywordOf(product, "atom");
  snprintf(name, GpuAtomName, "%.*s", (int)text.length, text.data);
  return tileMachineFindAtom(g->machine, name, atom, error);
}

//===--- ops ----------------------------------------------------------------------------===//

// What the hardware's register holds is below: both dialects' ops take the range.
void gpuLimitId(Gpu *g, MlirValue word, int64_t below) {
  if (below > 0 && below <= INT32_MAX)
    mlirOperationSetAttributeByName(tileDefiningOp(word), tileString("range"),
                                    llvmConstantRangeAttr(&g->builder, 0, below));
}

static bool lowerId(Gpu *g, MlirOperation op) {
  int axis = (int)mlirIntegerAttrGetValueInt(tileOpAttribute(op, "axis"));
  bool isId = tileProgramIdOpIsA(op);
  MlirValue word = isId ? g->vocabulary->programId(&g->builder, axis) : g->vocabulary->numPrograms(&g->builder, axis);
  gpuRecordScalar(g, tileOnlyResult(op), gpuCast(g, word, g->index, false));
  return true;
}

static const GpuRow idRows[] = {{TileOp_ProgramId, lowerId}, {TileOp_NumPrograms, lowerId}, {.lower = NULL}};

static const GpuRow *findRow(MlirOperation op) {
  static const GpuRow *const own[] = {idRows,           gpuMemoryRows,    gpuAccessRows,  gpuShapeRows,
                                      gpuComputeRows,   gpuScheduledRows, gpuBarrierRows, gpuProductRows,
                                      gpuPartitionRows, gpuAtomicRows,    gpuGatherRows,  gpuReportRows};
  static const GpuRow *const upstream[] = {gpuControlRows, gpuMemrefRows, gpuElementRows};
  int kind = tileOpKind(op);
  bool isOwn = kind != TileOp_None;
  kind = isOwn ? kind : tileUpstreamKind(op);
  for (size_t i = 0; i < (isOwn ? sizeof own / sizeof *own : sizeof upstream / sizeof *upstream); ++i)
    for (const GpuRow *row = isOwn ? own[i] : upstream[i]; row->lower; ++row)
      if (row->kind == kind)
        return row;
  return NULL;
}

static bool hasLayouts(const Gpu *g, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    if (!gpuIsTile(tileResultType(op, i)))
      continue;
    if (mlirAttributeIsNull(tileTypeGetLayout(tileResultType(op, i))))
      return tileError(op,
                       "gives a tile without a layout, expected a scheduled kernel (tile-assign-layouts makes one)");
    if (g->warps & (g->warps - 1))
      return gpuRefuse(op, "a tile of warps whose number is not a power of two");
  }
  return true;
}

void gpuTakeShared(Gpu *g, int64_t offset, int64_t bytes) {
  g->sharedBytes = offset + bytes > g->sharedBytes ? offset + bytes : g->sharedBytes;
}

static bool lowerByRow(Gpu *g, MlirOperation op) {
  const GpuRow *row = findRow(op);
  if (row)
    return (!row->needsEngines || gpuEngines(g, op)) && row->lower(g, op);
  if (tileOpIsElementwise(op) && mlirOperationGetNumRegions(op) == 0)
    return gpuLowerElementwise(g, op);
  MlirStringRef name = tileOpName(op);
  return tileError(op, "not converted to a GPU yet: '%.*s'", (int)name.length, name.data);
}

static bool lowerOp(Gpu *g, MlirOperation op) {
  g->builder.location = mlirOperationGetLocation(op);
  return hasLayouts(g, op) && lowerByRow(g, op) && !g->hasFailed;
}

bool gpuLowerBlock(Gpu *g, MlirBlock block) {
  MlirOperation terminator = mlirBlockGetTerminator(block);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, terminator);
       op = mlirOperationGetNextInBlock(op))
    if (!lowerOp(g, op))
      return false;
  return true;
}

//===--- the function -----------------------------------------------------------------------===//

static MlirStringRef nameOf(MlirOperation kernel) {
  return mlirStringAttrGetValue(tileOpAttribute(kernel, "sym_name"));
}

static MlirOperation buildFunction(Gpu *g, MlirBlock *entry) {
  MlirBlock body = mlirRegionGetFirstBlock(tileKernelOpGetBody(g->kernel));
  MlirLocation location = mlirOperationGetLocation(g->kernel);
  intptr_t numParameters = mlirBlockGetNumArguments(body), count = 0;
  MlirType *types = gpuAllocate(g, (size_t)numParameters * (1 + 2 * MaxRank) * sizeof *types);
  for (intptr_t i = 0; i < numParameters; ++i)
    count += gpuParameterTypes(g, mlirValueGetType(mlirBlockGetArgument(body, i)), types + count);
  MlirLocation *locations = gpuAllocate(g, (size_t)count * sizeof *locations);
  for (intptr_t i = 0; i < count; ++i)
    locations[i] = location;
  *entry = mlirBlockCreate(count, types, locations);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, *entry);
  MlirType type = mlirLLVMFunctionTypeGet(mlirLLVMVoidTypeGet(g->context), count, types, false);
  TileBuilder builder = tileBuilderAtEnd(tileOnlyBlock(gpuGPUModuleOpGetBodyRegion(g->module)), location);
  MlirAttribute name = mlirStringAttrGet(g->context, nameOf(g->kernel));
  MlirOperation function = llvmLLVMFuncOpBuild(&builder, name, mlirTypeAttrGet(type), region);
  mlirOperationSetAttributeByName(function, tileString("gpu.kernel"), mlirUnitAttrGet(g->context));
  return function;
}

//===--- shared memory ------------------------------------------------------------------------===//

static void sharedName(Gpu *g, char *text, size_t capacity) {
  MlirStringRef name = nameOf(g->kernel);
  snprintf(text, capacity, "%.*s_shared", (int)name.length, name.data);
}

static void nameShared(Gpu *g) {
  char name[256];
  sharedName(g, name, sizeof name);
  g->shared = llvmAddressOfOpBuild(&g->builder, mlirLLVMPointerTypeGet(g->context, SharedSpace),
                                   mlirFlatSymbolRefAttrGet(g->context, tileString(name)));
}

MlirOperation gpuGlobal(TileBuilder *builder, const char *name, MlirType type) {
  MlirAttribute internal = mlirLLVMLinkageAttrGet(builder->context, MlirLLVMLinkageInternal);
  return llvmGlobalOpBuild(builder, mlirTypeAttrGet(type), mlirStringAttrGet(builder->context, tileString(name)),
                           internal, mlirRegionCreate());
}

// One global for all buffers and exchanges; none where nothing needs it.
static bool buildShared(Gpu *g) {
  char name[256];
  int64_t limit = INT64_MAX;
  tileMachineGetInteger(g->machine, "shared.per_block.bytes", &limit);
  if (g->sharedBytes > limit)
    return tileError(g->kernel, "needs %lld bytes of shared memory, expected at most %s's %lld",
                     (long long)g->sharedBytes, tileMachineGetName(g->machine), (long long)limit);
  sharedName(g, name, sizeof name);
  if (!g->sharedBytes) {
    mlirOperationDestroy(mlirOpResultGetOwner(g->shared));
    return true;
  }
  TileBuilder builder = tileBuilderBefore(g->function);
  MlirType bytes = mlirLLVMArrayTypeGet(g->i8, (unsigned)g->sharedBytes);
  MlirOperation global = gpuGlobal(&builder, name, bytes);
  llvmGlobalOpSetAddrSpace(global, mlirIntegerAttrGet(g->i32, SharedSpace));
  llvmGlobalOpSetAlignment(global, mlirIntegerAttrGet(g->i64, SharedAlign));
  return true;
}

//===--- the kernel -------------------------------------------------------------------------------===//

// The verifier lets them stand in the kernel's own block only.
static bool hasPartitions(MlirOperation kernel) {
  MlirBlock body = mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel));
  MlirOperation op = mlirBlockGetFirstOperation(body);
  while (!mlirOperationIsNull(op) && !tileWarpSpecializeOpIsA(op))
    op = mlirOperationGetNextInBlock(op);
  return !mlirOperationIsNull(op);
}

static bool readThreads(Gpu *g) {
  g->warps = 1;
  tileIntegerOf(g->kernel, "warps", &g->warps);
  if (!tileMachineGetInteger(g->machine, "warp.width", &g->width))
    return tileError(g->kernel, "machine %s has no warp.width", tileMachineGetName(g->machine));
  if (!tessera_is_power_of_two(g->warps) && !hasPartitions(g->kernel))
    return gpuRefuse(g->kernel, "a number of warps that is not a power of two");
  g->laneBits = tessera_log2(g->width);
  g->warpBits = tessera_log2(g->warps);
  g->threads = g->warps * g->width;
  g->exchange = (TileExchange){g->machine, (uint32_t)g->width, (uint32_t)g->warps};
  return true;
}

static void begin(Gpu *g, MlirBlock entry) {
  g->builder = tileBuilderAtEnd(entry, mlirOperationGetLocation(g->kernel));
  g->thread = g->vocabulary->threadId(&g->builder);
  gpuLimitId(g, g->thread, g->threads);
  nameShared(g);
  MlirValue marker = gpuI32(g, 0);
  g->entry = tileBuilderBefore(mlirOpResultGetOwner(marker));
  g->memo = g->entry.memo = g->builder.memo = tileMemoCreate(entry);
}

// The passes ask the kernel for its machine.
static void nameMachine(Gpu *g) {
  MlirAttribute machine = tileMachineStated(g->kernel);
  MlirStringRef name = tileString(tileMachineGetName(g->machine));
  if (mlirAttributeIsNull(machine) || !mlirStringRefEqual(tileMachineAttrGetName(machine), name))
    tileKernelOpSetMachine(g->kernel, tileMachineAttrGet(g->context, name, mlirAttributeGetNull()));
}

// A kernel whose barriers are not ops yet gets places, barriers, waits and widths as the pipelines give them.
static bool order(Gpu *g) {
  static const char passes[] = "tile-exchange-in-shared-memory,tile-plan-shared-memory,tile-insert-barriers,"
                               "tile-count-waits,tile-choose-accesses";
  if (tileKernelOpHasOrdered(g->kernel))
    return true;
  nameMachine(g);
  return tileRunPipeline(g->kernel, passes);
}

//===--- clusters ---------------------------------------------------------------------------------===//

static MlirAttribute oneBlock(const Gpu *g) {
  const int64_t sizes[] = {1, 1, 1};
  return mlirDenseI64ArrayGet(g->context, 3, sizes);
}

// What all launches say; where there are none, what the kernel says.
static bool findCluster(Gpu *g, MlirAttribute *cluster) {
  TileOps launches = tileCollectOps(mlirOperationGetParentOperation(g->kernel), tileLaunchOpIsA);
  bool ok = true, isFirst = true;
  *cluster = tileOpAttribute(g->kernel, "cluster");
  for (intptr_t i = 0; i < launches.count && ok; ++i) {
    MlirAttribute stated = tileLaunchOpGetCluster(launches.items[i]);
    if (!tileLaunches(launches.items[i], g->kernel))
      continue;
    ok = (isFirst && mlirAttributeIsNull(*cluster)) || mlirAttributeEqual(*cluster, stated) ||
         tileError(launches.items[i], "has another cluster than the kernel or its other launches; expected one");
    isFirst = false;
    *cluster = stated;
  }
  tileOpsFree(&launches);
  if (ok && !mlirAttributeIsNull(*cluster) && !mlirAttributeIsADenseI64Array(*cluster))
    return tileError(g->kernel, "has a cluster that is no array of i64");
  return ok;
}

static bool reachesBlocks(const Gpu *g) {
  TileOps syncs = tileCollectOps(g->kernel, tileSyncOpIsA);
  bool found = false;
  for (intptr_t i = 0; i < syncs.count; ++i)
    found |= tileHas(syncs.items[i], "scope");
  tileOpsFree(&syncs);
  return found;
}

static bool readCluster(Gpu *g) {
  MlirAttribute cluster;
  int64_t blocks = 1, most = 1;
  tileMachineGetInteger(g->machine, "cluster.blocks", &most);
  if (!findCluster(g, &cluster))
    return false;
  if (mlirAttributeIsNull(cluster) && reachesBlocks(g))
    return tileError(g->kernel, "reaches other programs of its cluster, but no launch and no attribute says how many "
                                "programs are in a cluster");
  cluster = mlirAttributeIsNull(cluster) ? oneBlock(g) : cluster;
  for (intptr_t axis = 0; axis < 3; ++axis) {
    bool isGiven = axis < mlirDenseArrayGetNumElements(cluster);
    g->cluster[axis] = isGiven ? mlirDenseI64ArrayGetElement(cluster, axis) : 1;
    blocks *= g->cluster[axis];
  }
  return blocks <= most || tileError(g->kernel, "has clusters of %lld programs; %s has clusters of at most %lld",
                                     (long long)blocks, tileMachineGetName(g->machine), (long long)most);
}

static bool lowerKernel(Gpu *g) {
  MlirBlock entry, body = mlirRegionGetFirstBlock(tileKernelOpGetBody(g->kernel));
  g->function = buildFunction(g, &entry);
  g->body = entry;
  begin(g, entry);
  bool ok = gpuParameters(g, body, entry) && gpuLowerBlock(g, body);
  if (g->tensor.columns)
    gpuGiveBackTensor(g);
  llvmReturnOpBuild(&g->builder, (MlirValue){NULL});
  gpuFinishTensorMaps(g);
  g->vocabulary->markKernel(g->function, g->threads);
  if (g->cluster[0] * g->cluster[1] * g->cluster[2] > 1)
    g->vocabulary->engines->setCluster(g->function, g->cluster);
  int64_t registers = 0;
  if (tileIntegerOf(g->kernel, "registers", &registers) && g->vocabulary->limitRegisters)
    g->vocabulary->limitRegisters(g->function, registers);
  if (!mlirAttributeIsNull(tileOpAttribute(g->kernel, "cooperative")))
    mlirOperationSetAttributeByName(g->function, tileString("cooperative"), mlirUnitAttrGet(g->context));
  return ok && buildShared(g);
}

bool gpuConvertKernel(MlirOperation kernel, MlirOperation module, const TileMachine *machine,
                      const GpuVocabulary *vocabulary, GpuCounts *counts) {
  MlirContext context = mlirOperationGetContext(kernel);
  Gpu g = {.machine = machine, .vocabulary = vocabulary, .context = context, .kernel = kernel, .module = module};
  g.i1 = mlirIntegerTypeGet(context, 1);
  g.i8 = mlirIntegerTypeGet(context, 8);
  g.i32 = mlirIntegerTypeGet(context, 32);
  g.i64 = mlirIntegerTypeGet(context, 64);
  g.index = mlirIndexTypeGet(context);
  bool ok = readThreads(&g) && order(&g) && readCluster(&g) && lowerKernel(&g);
  counts->kernels += ok;
  counts->sharedBytes += g.sharedBytes;
  counts->apartBytes += g.apartBytes;
  tileTableFree(&g.records);
  tileArenaFree(&g.arena);
  free(g.maps);
  tileMemoDestroy(g.memo);
  return ok;
}
