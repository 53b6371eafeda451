// What works by itself beside the threads from sm_90 on: barriers in memory (mbarrier), the engine that copies boxes of
// tensors (TMA), products of warpgroups (wgmma), and warps with different programs (named barriers, setmaxnreg).
// As ops of the nvvm dialect. What that dialect cannot say is one text of assembly: a wait whose sums LLVM may not read
// before it.
#include "lib/conversion/tile_to_nvvm/nvvm.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"
#include "upstream/nvvm.h"

#include <stdio.h>
#include <stdlib.h>

enum { ClusterSpace = 7, WaitNanoseconds = 10000000 };

static MlirType i32Type(const TileBuilder *builder) { return mlirIntegerTypeGet(builder->context, 32); }

static MlirValue word(TileBuilder *builder, int64_t value) {
  return tileBuildInteger(builder, i32Type(builder), value);
}

static MlirAttribute wordAttribute(TileBuilder *builder, int64_t value) {
  return mlirIntegerAttrGet(i32Type(builder), value);
}

//===--- barriers in memory -------------------------------------------------------------------===//

static void barrierCreate(TileBuilder *builder, MlirValue barrier, int64_t arrivals) {
  nvvmMBarrierInitOpBuild(builder, barrier, word(builder, arrivals), (MlirValue){NULL});
}

static void barriersCreated(TileBuilder *builder) { nvvmFenceMbarrierInitOpBuild(builder); }

static void barrierArrive(TileBuilder *builder, MlirValue barrier, int64_t count) {
  nvvmMBarrierArriveOpBuild(builder, (MlirType){NULL}, barrier, count == 1 ? (MlirValue){NULL} : word(builder, count));
}

static void barrierExpect(TileBuilder *builder, MlirValue barrier, int64_t bytes) {
  nvvmMBarrierArriveExpectTxOpBuild(builder, (MlirType){NULL}, barrier, word(builder, bytes), (MlirValue){NULL});
}

static void barrierWait(TileBuilder *builder, MlirValue barrier, MlirValue parity) {
  nvvmMBarrierTryWaitParityOpBuild(builder, barrier, parity, word(builder, WaitNanoseconds));
}

//===--- copies of boxes ----------------------------------------------------------------------===//

static void copyBoxIn(TileBuilder *builder, MlirValue shared, MlirValue map, intptr_t rank, const MlirValue *at,
                      MlirValue barrier) {
  MlirType cluster = mlirLLVMPointerTypeGet(builder->context, ClusterSpace);
  MlirValue none = {NULL};
  nvvmCpAsyncBulkTensorGlobalToSharedClusterOpBuild(builder, llvmAddrSpaceCastOpBuild(builder, cluster, shared), map,
                                                    rank, at, barrier, 0, NULL, none, none, none);
}

static void copyBoxOut(TileBuilder *builder, MlirValue map, MlirValue shared, intptr_t rank, const MlirValue *at) {
  MlirValue none = {NULL};
  nvvmCpAsyncBulkTensorSharedCTAToGlobalOpBuild(builder, map, shared, rank, at, none, none);
}

static void commitBoxes(TileBuilder *builder) { nvvmCpAsyncBulkCommitGroupOpBuild(builder); }

static void waitBoxes(TileBuilder *builder, int64_t pending) {
  nvvmCpAsyncBulkWaitGroupOpBuild(builder, wordAttribute(builder, pending));
}

// What threads wrote is there before an engine reads it.
static void fenceEngines(TileBuilder *builder) {
  MlirOperation fence = nvvmFenceProxyOpBuild(builder, tileBuildAttribute(builder, "#nvvm.proxy_kind<async.shared>"));
  nvvmFenceProxyOpSetSpace(fence, tileBuildAttribute(builder, "#nvvm.shared_space<cta>"));
}

//===--- products of warpgroups ---------------------------------------------------------------===//

static void beginProducts(TileBuilder *builder) { nvvmWgmmaFenceAlignedOpBuild(builder); }

static void commitProducts(TileBuilder *builder) { nvvmWgmmaGroupSyncAlignedOpBuild(builder); }

typedef struct ElementName {
  bool (*is)(MlirType type);
  const char *name;
} ElementName;

static bool isI8(MlirType type) { return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 8; }
static bool isI32(MlirType type) { return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 32; }

static const char *nameOf(MlirType type) {
  static const ElementName names[] = {
      {mlirTypeIsAF16, "f16"},
      {mlirTypeIsABF16, "bf16"},
      {mlirTypeIsATF32, "tf32"},
      {mlirTypeIsAF32, "f32"},
      {mlirTypeIsAFloat8E4M3FN, "e4m3"},
      {mlirTypeIsAFloat8E5M2, "e5m2"},
      {isI8, "s8"},
      {isI32, "s32"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (names[i].is(type))
      return names[i].name;
  return NULL;
}

static MlirAttribute typeAttribute(TileBuilder *builder, const char *name) {
  char text[48];
  snprintf(text, sizeof text, "#nvvm.wgmma_type<%s>", name);
  return tileBuildAttribute(builder, text);
}

static MlirAttribute orderAttribute(TileBuilder *builder, bool isAlongDepth) {
  return tileBuildAttribute(builder, isAlongDepth ? "#nvvm.mma_layout<row>" : "#nvvm.mma_layout<col>");
}

static MlirType structOf(TileBuilder *builder, intptr_t count, const MlirValue *values) {
  MlirType *types = malloc((size_t)count * sizeof *types);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(values[i]);
  MlirType type = mlirLLVMStructTypeLiteralGet(builder->context, count, types, false);
  free(types);
  return type;
}

static MlirValue joined(TileBuilder *builder, MlirType type, intptr_t count, const MlirValue *values) {
  MlirValue all = llvmPoisonOpBuild(builder, type);
  for (intptr_t i = 0; i < count; ++i) {
    int64_t at = i;
    all = llvmInsertValueOpBuild(builder, all, values[i], mlirDenseI64ArrayGet(builder->context, 1, &at));
  }
  return all;
}

static void parted(TileBuilder *builder, MlirValue all, intptr_t count, MlirValue *values) {
  for (intptr_t i = 0; i < count; ++i) {
    int64_t at = i;
    values[i] = llvmExtractValueOpBuild(builder, mlirValueGetType(values[i]), all,
                                        mlirDenseI64ArrayGet(builder->context, 1, &at));
  }
}

static bool multiplyAsync(TileBuilder *builder, MlirOperation at, const GpuAsyncProduct *product) {
  const char *names[3];
  const TileMachineAtom *atom = product->atom;
  char shape[64];
  for (int i = 0; i < 3; ++i) {
    names[i] = nameOf(product->element[i]);
    if (!names[i])
      return tileError(at, "not converted to nvvm yet: atom \"%s\" on these types", product->name);
  }
  snprintf(shape, sizeof shape, "#nvvm.shape<m = %d, n = %d, k = %d>", (int)atom->m, (int)atom->n, (int)atom->k);
  MlirType type = structOf(builder, product->count, product->sums);
  MlirValue all = joined(builder, type, product->count, product->sums);
  MlirAttribute one = tileBuildAttribute(builder, "#nvvm.wgmma_scale_in<one>");
  MlirValue result = nvvmWgmmaMmaAsyncOpBuild(
      builder, type, all, product->descriptor[0], product->descriptor[1], tileBuildAttribute(builder, shape),
      typeAttribute(builder, names[0]), typeAttribute(builder, names[1]), typeAttribute(builder, names[2]),
      tileBuildAttribute(builder, "#nvvm.wgmma_scale_out<one>"), one, one,
      orderAttribute(builder, product->isAlongDepth[0]), orderAttribute(builder, !product->isAlongDepth[1]));
  parted(builder, result, product->count, product->sums);
  return true;
}

// "=f,=f,0,1": the sums go through the wait, so that nothing that reads them moves above it.
static char *tiedConstraints(intptr_t count, const MlirValue *sums) {
  size_t capacity = (size_t)count * 16 + 1, length = 0;
  char *text = malloc(capacity);
  text[0] = '\0';
  for (intptr_t i = 0; i < count; ++i)
    length += (size_t)snprintf(text + length, capacity - length, "%s=%s", i ? "," : "",
                               mlirTypeIsAF32(mlirValueGetType(sums[i])) ? "f" : "r");
  for (intptr_t i = 0; i < count; ++i)
    length += (size_t)snprintf(text + length, capacity - length, ",%d", (int)i);
  return text;
}

static void waitProducts(TileBuilder *builder, int64_t pending, intptr_t count, MlirValue *sums) {
  char text[64];
  char *constraints = tiedConstraints(count, sums);
  MlirContext context = builder->context;
  snprintf(text, sizeof text, "wgmma.wait_group.sync.aligned %lld;", (long long)pending);
  MlirOperation wait = llvmInlineAsmOpBuild(builder, structOf(builder, count, sums), count, sums,
                                            mlirStringAttrGet(context, tileString(text)),
                                            mlirStringAttrGet(context, tileString(constraints)));
  llvmInlineAsmOpSetHasSideEffects(wait, mlirUnitAttrGet(context));
  free(constraints);
  parted(builder, llvmInlineAsmOpGetRes(wait), count, sums);
}

//===--- partitions ---------------------------------------------------------------------------===//

static void partitionBarrier(TileBuilder *builder, int64_t number, int64_t threads) {
  nvvmBarrierOpBuild(builder, (MlirType){NULL}, word(builder, number), word(builder, threads), (MlirValue){NULL});
}

static void warpBarrier(TileBuilder *builder) { nvvmSyncWarpOpBuild(builder, word(builder, -1)); }

static void setRegisters(TileBuilder *builder, int64_t registers, bool isMore) {
  const char *action = isMore ? "#nvvm<action increase>" : "#nvvm<action decrease>";
  nvvmSetMaxRegisterOpBuild(builder, wordAttribute(builder, registers), tileBuildAttribute(builder, action));
}

const GpuEngines tileNvvmEngines = {
    .barrierCreate = barrierCreate,
    .barriersCreated = barriersCreated,
    .barrierArrive = barrierArrive,
    .barrierExpect = barrierExpect,
    .barrierWait = barrierWait,
    .copyBoxIn = copyBoxIn,
    .copyBoxOut = copyBoxOut,
    .commitBoxes = commitBoxes,
    .waitBoxes = waitBoxes,
    .fenceEngines = fenceEngines,
    .beginProducts = beginProducts,
    .multiplyAsync = multiplyAsync,
    .commitProducts = commitProducts,
    .waitProducts = waitProducts,
    .partitionBarrier = partitionBarrier,
    .warpBarrier = warpBarrier,
    .setRegisters = setRegisters,
};
