// What works by itself beside the threads from sm_90 on: barriers in memory (mbarrier), the engine that copies boxes of
// tensors (TMA), products of warpgroups (wgmma), and warps with different programs (named barriers, setmaxnreg).
// As ops of the nvvm dialect. What that dialect cannot say is a text of assembly: products whose left factor is in
// registers, and fences and waits through which registers go, so that LLVM moves nothing across them.
#include "lib/conversion/tile_to_nvvm/nvvm.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/arith.h"
#include "upstream/llvm.h"
#include "upstream/nvvm.h"
#include "upstream/scf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ClusterSpace = 7, TensorSpace = 6, WaitNanoseconds = 10000000 };

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

//===--- clusters -----------------------------------------------------------------------------===//

static MlirType clusterPointer(const TileBuilder *builder) {
  return mlirLLVMPointerTypeGet(builder->context, ClusterSpace);
}

static void setCluster(MlirOperation function, const int64_t sizes[3]) {
  const int32_t words[] = {(int32_t)sizes[0], (int32_t)sizes[1], (int32_t)sizes[2]};
  mlirOperationSetAttributeByName(function, tileString("nvvm.cluster_dim"),
                                  mlirDenseI32ArrayGet(mlirOperationGetContext(function), 3, words));
}

static MlirValue clusterPlace(TileBuilder *builder, int axis) {
  MlirType type = i32Type(builder);
  return axis == 0   ? nvvmBlockInClusterIdXOpBuild(builder, type)
         : axis == 1 ? nvvmBlockInClusterIdYOpBuild(builder, type)
                     : nvvmBlockInClusterIdZOpBuild(builder, type);
}

static void clusterBarrier(TileBuilder *builder) {
  nvvmClusterArriveOpBuild(builder);
  nvvmClusterWaitOpBuild(builder);
}

// Scope cluster costs a fence of all memory.
static void barrierArriveAt(TileBuilder *builder, MlirValue barrier, MlirValue block, int64_t count,
                            bool ordersMemory) {
  MlirValue there = nvvmMapaOpBuild(builder, clusterPointer(builder), barrier, block);
  MlirOperation arrival = nvvmMBarrierArriveOpBuild(builder, (MlirType){NULL}, there,
                                                    count == 1 ? (MlirValue){NULL} : word(builder, count));
  if (ordersMemory)
    nvvmMBarrierArriveOpSetScope(arrival, nvvmMemScopeKindAttr(builder, NvvmMemScopeKind_Cluster));
}

// nvvm's op for the whole wait knows threads of the block only: so a loop of single looks.
static void barrierWaitForBlocks(TileBuilder *builder, MlirValue barrier, MlirValue parity) {
  MlirType i1 = mlirIntegerTypeGet(builder->context, 1);
  MlirRegion before = mlirRegionCreate(), after = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(before, mlirBlockCreate(0, NULL, NULL));
  mlirRegionAppendOwnedBlock(after, mlirBlockCreate(0, NULL, NULL));
  TileBuilder looking = tileBuilderAtEnd(mlirRegionGetFirstBlock(before), builder->location),
              again = tileBuilderAtEnd(mlirRegionGetFirstBlock(after), builder->location);
  MlirValue over = nvvmMBarrierTryWaitOpBuild(&looking, i1, barrier, parity, word(&looking, WaitNanoseconds));
  nvvmMBarrierTryWaitOpSetScope(tileDefiningOp(over), nvvmMemScopeKindAttr(builder, NvvmMemScopeKind_Cluster));
  MlirValue waits = arithXOrIOpBuild(&looking, over, tileBuildInteger(&looking, i1, 1));
  scfConditionOpBuild(&looking, waits, 0, NULL);
  tileBuildYield(&again, 0, NULL);
  scfWhileOpBuild(builder, 0, NULL, 0, NULL, before, after);
}

//===--- copies of boxes ----------------------------------------------------------------------===//

static void copyBoxIn(TileBuilder *builder, MlirValue shared, MlirValue map, intptr_t rank, const MlirValue *at,
                      MlirValue barrier, MlirValue blocks) {
  MlirValue none = {NULL};
  nvvmCpAsyncBulkTensorGlobalToSharedClusterOpBuild(builder,
                                                    llvmAddrSpaceCastOpBuild(builder, clusterPointer(builder), shared),
                                                    map, rank, at, barrier, 0, NULL, blocks, none, none);
}

static void copyBoxOut(TileBuilder *builder, MlirValue map, MlirValue shared, intptr_t rank, const MlirValue *at) {
  MlirValue none = {NULL};
  nvvmCpAsyncBulkTensorSharedCTAToGlobalOpBuild(builder, map, shared, rank, at, none, none);
}

static void commitBoxes(TileBuilder *builder) { nvvmCpAsyncBulkCommitGroupOpBuild(builder); }

static void waitBoxes(TileBuilder *builder, int64_t pending, bool isForReads) {
  MlirAttribute reads = isForReads ? mlirUnitAttrGet(builder->context) : mlirAttributeGetNull();
  nvvmCpAsyncBulkWaitGroupOpCreate(builder, wordAttribute(builder, pending), reads);
}

// What threads wrote is there before an engine reads it.
static void fenceEngines(TileBuilder *builder) {
  MlirOperation fence = nvvmFenceProxyOpBuild(builder, NvvmProxyKind_AsyncShared);
  nvvmFenceProxyOpSetSpace(fence, nvvmSharedSpaceAttr(builder, NvvmSharedSpace_Cta));
}

//===--- products of warpgroups ---------------------------------------------------------------===//

static void commitProducts(TileBuilder *builder) { nvvmWgmmaGroupSyncAlignedOpBuild(builder); }

typedef struct ElementName {
  bool (*is)(MlirType type);
  const char *ptx;
  NvvmWGMMATypes type;
} ElementName;

static bool isI8(MlirType type) { return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 8; }
static bool isI32(MlirType type) { return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 32; }

static const ElementName *nameOf(MlirType type) {
  static const ElementName names[] = {
      {mlirTypeIsAF16, "f16", NvvmWGMMATypes_F16},
      {mlirTypeIsABF16, "bf16", NvvmWGMMATypes_Bf16},
      {mlirTypeIsATF32, "tf32", NvvmWGMMATypes_Tf32},
      {mlirTypeIsAF32, "f32", NvvmWGMMATypes_F32},
      {mlirTypeIsAFloat8E4M3FN, "e4m3", NvvmWGMMATypes_E4m3},
      {mlirTypeIsAFloat8E5M2, "e5m2", NvvmWGMMATypes_E5m2},
      {isI8, "s8", NvvmWGMMATypes_S8},
      {isI32, "s32", NvvmWGMMATypes_S32},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (names[i].is(type))
      return &names[i];
  return NULL;
}

static NvvmMMALayout orderOf(bool isAlongDepth) { return isAlongDepth ? NvvmMMALayout_Row : NvvmMMALayout_Col; }

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

static MlirValue buildProduct(TileBuilder *builder, const GpuAsyncProduct *product, const ElementName *const *names,
                              MlirType type) {
  const TileMachineAtom *atom = product->atom;
  MlirValue all =
      product->isFromZero ? llvmPoisonOpBuild(builder, type) : joined(builder, type, product->count, product->sums);
  return nvvmWgmmaMmaAsyncOpBuild(builder, type, all, product->descriptor[0], product->descriptor[1],
                                  nvvmMMAShapeAttr(builder, atom->m, atom->n, atom->k), names[0]->type, names[1]->type,
                                  names[2]->type, product->isFromZero ? NvvmWGMMAScaleOut_Zero : NvvmWGMMAScaleOut_One,
                                  NvvmWGMMAScaleIn_One, NvvmWGMMAScaleIn_One, orderOf(product->isAlongDepth[0]),
                                  orderOf(!product->isAlongDepth[1]));
}

//===--- texts of assembly: what nvvm has no op for -------------------------------------------===//

// "{$0, $1, $2}"
static void addList(tessera_text_t *text, intptr_t first, intptr_t count) {
  for (intptr_t i = 0; i < count; ++i)
    tessera_text_format(text, "%s$%d", i ? ", " : "{", (int)(first + i));
  tessera_text_format(text, "}");
}

// `count` values go through the assembly, "=f,=f,0,1"; `more` are read, by the constraints in `suffix`.
static void buildTied(TileBuilder *builder, const char *text, intptr_t count, MlirValue *values, intptr_t more,
                      const MlirValue *read, const char *suffix) {
  MlirContext context = builder->context;
  tessera_text_t constraints = {NULL};
  MlirValue *operands = malloc((size_t)(count + more) * sizeof *operands);
  for (intptr_t i = 0; i < count; ++i)
    tessera_text_format(&constraints, "%s=%s", i ? "," : "", mlirTypeIsAF32(mlirValueGetType(values[i])) ? "f" : "r");
  for (intptr_t i = 0; i < count; ++i)
    tessera_text_format(&constraints, ",%d", (int)i);
  tessera_text_format(&constraints, "%s", suffix);
  memcpy(operands, values, (size_t)count * sizeof *operands);
  if (more)
    memcpy(operands + count, read, (size_t)more * sizeof *operands);
  MlirOperation assembly = llvmInlineAsmOpBuild(builder, structOf(builder, count, values), count + more, operands,
                                                mlirStringAttrGet(context, tileString(text)),
                                                mlirStringAttrGet(context, tileString(constraints.data)));
  llvmInlineAsmOpSetHasSideEffects(assembly, mlirUnitAttrGet(context));
  tessera_text_free(&constraints);
  free(operands);
  parted(builder, llvmInlineAsmOpGetRes(assembly), count, values);
}

static void beginProducts(TileBuilder *builder, intptr_t count, MlirValue *values) {
  if (count)
    buildTied(builder, "wgmma.fence.sync.aligned;", count, values, 0, NULL, "");
  else
    nvvmWgmmaFenceAlignedOpBuild(builder);
}

// Sums go through the wait, so that nothing that reads them moves above it.
static void waitProducts(TileBuilder *builder, int64_t pending, intptr_t count, MlirValue *sums) {
  char text[64];
  snprintf(text, sizeof text, "wgmma.wait_group.sync.aligned %lld;", (long long)pending);
  buildTied(builder, text, count, sums, 0, NULL, "");
}

// PTX ISA, "wgmma.mma_async": A in registers. Scales are for floats, the order of B for elements of 16 bits.
static void multiplyRegisters(TileBuilder *builder, const GpuAsyncProduct *product, const ElementName *const *names) {
  const TileMachineAtom *atom = product->atom;
  intptr_t count = product->count, words = product->numWords;
  tessera_text_t text = {NULL}, suffix = {NULL};
  MlirValue *read = malloc((size_t)(words + 1) * sizeof *read);
  tessera_text_format(
      &text, "{\n.reg .pred p;\nsetp.ne.b32 p, %d, 0;\nwgmma.mma_async.sync.aligned.m%dn%dk%d.%s.%s.%s ",
      !product->isFromZero, (int)atom->m, (int)atom->n, (int)atom->k, names[2]->ptx, names[0]->ptx, names[1]->ptx);
  for (intptr_t i = 0; i < count && product->isFromZero; ++i)
    product->sums[i] = llvmPoisonOpBuild(builder, mlirValueGetType(product->sums[i]));
  addList(&text, 0, count);
  tessera_text_format(&text, ", ");
  addList(&text, 2 * count, words);
  tessera_text_format(&text, ", $%d, p", (int)(2 * count + words));
  if (names[2]->ptx[0] != 's')
    tessera_text_format(&text, ", 1, 1");
  if (names[0]->type == NvvmWGMMATypes_F16 || names[0]->type == NvvmWGMMATypes_Bf16)
    tessera_text_format(&text, ", %d", !product->isAlongDepth[1]);
  tessera_text_format(&text, ";\n}");
  memcpy(read, product->words, (size_t)words * sizeof *read);
  read[words] = product->descriptor[1];
  for (intptr_t i = 0; i < words; ++i)
    tessera_text_format(&suffix, ",r");
  tessera_text_format(&suffix, ",l");
  buildTied(builder, text.data, count, product->sums, words + 1, read, suffix.data);
  tessera_text_free(&text);
  tessera_text_free(&suffix);
  free(read);
}

//===--- tensor memory ------------------------------------------------------------------------===//

static MlirType tensorPointer(const TileBuilder *builder) {
  return mlirLLVMPointerTypeGet(builder->context, TensorSpace);
}

static MlirValue tensorAt(TileBuilder *builder, MlirValue address) {
  return llvmIntToPtrOpBuild(builder, tensorPointer(builder), address);
}

static void tensorAllocate(TileBuilder *builder, MlirValue place, int64_t columns) {
  nvvmTcgen05AllocOpBuild(builder, place, word(builder, columns));
  nvvmTcgen05RelinquishAllocPermitOpBuild(builder);
}

static void tensorGiveBack(TileBuilder *builder, MlirValue address, int64_t columns) {
  nvvmTcgen05DeallocOpBuild(builder, tensorAt(builder, address), word(builder, columns));
}

static void tensorFence(TileBuilder *builder, bool isAfter) {
  nvvmTcgen05FenceOpBuild(builder, isAfter ? NvvmTcgen05FenceKind_After : NvvmTcgen05FenceKind_Before);
}

static void tensorLoad(TileBuilder *builder, MlirValue address, int64_t columns, MlirValue *words) {
  MlirType type = i32Type(builder);
  MlirValue all = nvvmTcgen05LdOpBuild(builder, columns > 1 ? mlirVectorTypeGet(1, &columns, type) : type,
                                       tensorAt(builder, address), (MlirValue){NULL}, NvvmTcgen05LdStShape_Shape32x32b);
  for (int64_t i = 0; i < columns; ++i)
    words[i] = columns > 1 ? llvmExtractElementOpBuild(builder, all, word(builder, i)) : all;
}

// Loads go through the wait, so that nothing that reads them moves above it.
static void tensorWait(TileBuilder *builder, intptr_t count, MlirValue *words) {
  buildTied(builder, "tcgen05.wait::ld.sync.aligned;", count, words, 0, NULL, "");
}

static void tensorStore(TileBuilder *builder, MlirValue address, int64_t columns, const MlirValue *words) {
  MlirValue all = columns > 1 ? llvmPoisonOpBuild(builder, mlirVectorTypeGet(1, &columns, i32Type(builder))) : words[0];
  for (int64_t i = 0; columns > 1 && i < columns; ++i)
    all = llvmInsertElementOpBuild(builder, all, words[i], word(builder, i));
  nvvmTcgen05StOpBuild(builder, tensorAt(builder, address), all, (MlirValue){NULL}, NvvmTcgen05LdStShape_Shape32x32b);
}

static void tensorWaitStores(TileBuilder *builder) { nvvmTcgen05WaitOpBuild(builder, NvvmTcgen05WaitKind_Store); }

static void tensorCommit(TileBuilder *builder, MlirValue barrier) {
  nvvmTcgen05CommitOpBuild(builder, barrier, (MlirValue){NULL});
}

// PTX ISA, "Instruction descriptor": where its fields begin.
enum { SumsAt = 4, LeftAt = 7, RightAt = 10, LeftAlongRowsAt = 15, RightAlongRowsAt = 16, ColumnsAt = 17, RowsAt = 24 };

typedef struct TensorName {
  bool (*is)(MlirType type);
  NvvmTcgen05MMAKind kind;
  int64_t code, sums;
} TensorName;

static const TensorName *tensorNameOf(MlirType type) {
  static const TensorName names[] = {
      {mlirTypeIsAF16, NvvmTcgen05MMAKind_F16, 0, 1},
      {mlirTypeIsABF16, NvvmTcgen05MMAKind_F16, 1, 1},
      {mlirTypeIsATF32, NvvmTcgen05MMAKind_Tf32, 2, 1},
      {mlirTypeIsAFloat8E4M3FN, NvvmTcgen05MMAKind_F8f6f4, 0, 1},
      {mlirTypeIsAFloat8E5M2, NvvmTcgen05MMAKind_F8f6f4, 1, 1},
      {isI8, NvvmTcgen05MMAKind_I8, 1, 2},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (names[i].is(type))
      return &names[i];
  return NULL;
}

static bool multiplyInTensor(TileBuilder *builder, MlirOperation at, const GpuAsyncProduct *product) {
  const TensorName *left = tensorNameOf(product->element[0]), *right = tensorNameOf(product->element[1]);
  if (!left || !right || left->kind != right->kind)
    return tileError(at, "not converted to nvvm yet: atom \"%s\" on these types", product->name);
  int64_t descriptor = left->sums << SumsAt | left->code << LeftAt | right->code << RightAt |
                       (int64_t)!product->isAlongDepth[0] << LeftAlongRowsAt |
                       (int64_t)!product->isAlongDepth[1] << RightAlongRowsAt | product->atom->n / 8 << ColumnsAt |
                       product->atom->m / 16 << RowsAt;
  MlirValue factor = mlirValueIsNull(product->left) ? product->descriptor[0] : tensorAt(builder, product->left);
  nvvmTcgen05MMAOpBuild(builder, tensorAt(builder, product->address), factor, product->descriptor[1],
                        word(builder, descriptor), product->adds, (MlirValue){NULL}, (MlirValue){NULL}, left->kind,
                        NvvmCTAGroupKind_Cta1);
  return true;
}

static bool multiplyAsync(TileBuilder *builder, MlirOperation at, const GpuAsyncProduct *product) {
  if (!mlirValueIsNull(product->address))
    return multiplyInTensor(builder, at, product);
  const ElementName *names[3];
  for (int i = 0; i < 3; ++i) {
    names[i] = nameOf(product->element[i]);
    if (!names[i] || (i == 2 && mlirTypeIsAF16(product->element[i])))
      return tileError(at, "not converted to nvvm yet: atom \"%s\" on these types", product->name);
  }
  if (product->numWords) {
    multiplyRegisters(builder, product, names);
    return true;
  }
  MlirType type = structOf(builder, product->count, product->sums);
  parted(builder, buildProduct(builder, product, names, type), product->count, product->sums);
  return true;
}

//===--- partitions ---------------------------------------------------------------------------===//

static void partitionBarrier(TileBuilder *builder, int64_t number, int64_t threads) {
  nvvmBarrierOpBuild(builder, (MlirType){NULL}, word(builder, number), word(builder, threads), (MlirValue){NULL});
}

static void warpBarrier(TileBuilder *builder) { nvvmSyncWarpOpBuild(builder, word(builder, -1)); }

static void setRegisters(TileBuilder *builder, int64_t registers, bool isMore) {
  nvvmSetMaxRegisterOpBuild(builder, wordAttribute(builder, registers),
                            isMore ? NvvmSetMaxRegisterAction_Increase : NvvmSetMaxRegisterAction_Decrease);
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
    .setCluster = setCluster,
    .clusterPlace = clusterPlace,
    .clusterBarrier = clusterBarrier,
    .barrierArriveAt = barrierArriveAt,
    .barrierWaitForBlocks = barrierWaitForBlocks,
    .tensorAllocate = tensorAllocate,
    .tensorGiveBack = tensorGiveBack,
    .tensorFence = tensorFence,
    .tensorLoad = tensorLoad,
    .tensorWait = tensorWait,
    .tensorStore = tensorStore,
    .tensorWaitStores = tensorWaitStores,
    .tensorCommit = tensorCommit,
};
