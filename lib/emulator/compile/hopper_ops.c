// Rows for what is new from sm_90 on: clusters of blocks, and what runs by itself beside the threads: barriers in
// memory, copies of boxes of tensors (TMA), products of warpgroups (wgmma: products_ops.c).
#include "lib/emulator/compile/products_ops.h"

#include "mlir-c/BuiltinTypes.h"
#include "upstream/llvm.h"
#include "upstream/nvvm.h"

static const MlirType none;
static const MlirValue nothing;

// Where the instruction's memory is, or nowhere when its predicate is false.
static MlirValue predicated(EmulatorBuild *build, TileBuilder *b, MlirValue address, MlirValue predicate) {
  address = emulatorFlat(build, b, address);
  if (mlirValueIsNull(predicate))
    return address;
  return llvmSelectOpBuild(b, predicate, address, emulatorAddress(build, b, TESSERA_EMU_OFF));
}

//===--- clusters -------------------------------------------------------------------------===//

static bool lowerMapa(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  MlirValue operands[] = {emulatorFlat(build, &b, nvvmMapaOpGetA(op)), nvvmMapaOpGetB(op)};
  MlirValue there = emulatorCallAt(build, &b, op, "tessera_emu_mapa", build->pointer, 2, operands);
  MlirType type = nvvmMapaOpGetResType(op);
  emulatorReplace(op, mlirTypeEqual(type, build->pointer) ? there : llvmAddrSpaceCastOpBuild(&b, type, there));
  return true;
}

// `number`: relaxed.
static bool lowerClusterArrive(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue relaxed = emulatorI32(build, &b, row->number);
  emulatorCallAt(build, &b, op, "tessera_emu_cluster_arrive", none, 1, &relaxed);
  emulatorReplace(op, nothing);
  return true;
}

//===--- barriers in memory ----------------------------------------------------------===//

static bool lowerInit(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  MlirValue operands[] = {predicated(build, &b, nvvmMBarrierInitOpGetAddr(op), nvvmMBarrierInitOpGetPredicate(op)),
                          nvvmMBarrierInitOpGetCount(op)};
  emulatorCallAt(build, &b, op, "tessera_emu_mbarrier_init", none, 2, operands);
  emulatorReplace(op, nothing);
  return true;
}

static int64_t howOf(MlirOperation op, int64_t more) {
  return more | (emulatorInteger(op, "relaxed", 0) ? TESSERA_EMU_MBARRIER_RELAXED : 0) |
         (emulatorSays(op, "scope", "cluster") ? TESSERA_EMU_MBARRIER_CLUSTER : 0);
}

static bool arrive(EmulatorBuild *build, TileBuilder *b, MlirOperation op, MlirValue address, MlirValue count,
                   MlirValue bytes, int64_t how) {
  MlirValue operands[] = {address, mlirValueIsNull(count) ? emulatorI32(build, b, 1) : count,
                          mlirValueIsNull(bytes) ? emulatorI32(build, b, 0) : bytes, emulatorI32(build, b, how)};
  MlirValue phase = emulatorCallAt(build, b, op, "tessera_emu_mbarrier_arrive", build->i64, 4, operands);
  emulatorReplace(op, mlirOperationGetNumResults(op) ? phase : nothing);
  return true;
}

// mbarrier.arrive, arrive_drop, arrive.nocomplete, which have their operands in one order; `number`: how.
static bool lowerArrive(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  return arrive(build, &b, op, emulatorFlat(build, &b, nvvmMBarrierArriveOpGetAddr(op)),
                nvvmMBarrierArriveOpGetCount(op), nothing, howOf(op, row->number));
}

static bool lowerArriveExpect(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  MlirValue address =
      predicated(build, &b, nvvmMBarrierArriveExpectTxOpGetAddr(op), nvvmMBarrierArriveExpectTxOpGetPredicate(op));
  return arrive(build, &b, op, address, nothing, nvvmMBarrierArriveExpectTxOpGetTxcount(op), howOf(op, 0));
}

// mbarrier.expect_tx, complete_tx; `number`: 1 or -1.
static bool lowerExpect(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue bytes = llvmZExtOpBuild(&b, build->i64, nvvmMBarrierExpectTxOpGetTxcount(op));
  MlirValue operands[] = {emulatorFlat(build, &b, nvvmMBarrierExpectTxOpGetAddr(op)),
                          llvmMulOpBuild(&b, bytes, emulatorI64(build, &b, row->number))};
  emulatorCallAt(build, &b, op, "tessera_emu_mbarrier_expect", none, 2, operands);
  emulatorReplace(op, nothing);
  return true;
}

static bool lowerWait(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  MlirValue operands[] = {emulatorFlat(build, &b, nvvmMBarrierTryWaitParityOpGetAddr(op)),
                          nvvmMBarrierTryWaitParityOpGetPhase(op)};
  emulatorCallAt(build, &b, op, "tessera_emu_mbarrier_wait", none, 2, operands);
  emulatorReplace(op, nothing);
  return true;
}

// mbarrier.test.wait, try_wait: of a state, 64 bits, or a parity.
static bool lowerTest(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue phase = nvvmMBarrierTestWaitOpGetStateOrPhase(op);
  (void)row;
  if (!mlirTypeEqual(mlirValueGetType(phase), build->i64))
    phase = llvmZExtOpBuild(&b, build->i64, phase);
  MlirValue operands[] = {emulatorFlat(build, &b, nvvmMBarrierTestWaitOpGetAddr(op)), phase,
                          emulatorI32(build, &b, howOf(op, 0))};
  MlirValue result = emulatorCallAt(build, &b, op, "tessera_emu_mbarrier_test", build->i32, 3, operands);
  emulatorReplace(op, emulatorFromBits(build, &b, result, build->i1));
  return true;
}

//===--- copies of boxes of tensors -----------------------------------------------------===//

static bool isTiled(EmulatorBuild *build, MlirOperation op) {
  return !emulatorHas(op, "mode") || emulatorSays(op, "mode", "tile") ||
         emulatorRefuse(build, op, "copies in another mode than tiles, which the emulator does not know");
}

// The coordinates, i32, one after another in the frame.
static MlirValue storeCoordinates(EmulatorBuild *build, TileBuilder *b, intptr_t count, const MlirValue *at) {
  MlirValue place = emulatorFrame(build, b, 0, (uint32_t)count * 4);
  for (intptr_t i = 0; i < count; ++i)
    emulatorStore(build, b, at[i], emulatorFrame(build, b, (uint32_t)i * 4, 4));
  return place;
}

enum { MostCoordinates = 5 };

static bool lowerLoadBox(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue at[MostCoordinates];
  intptr_t rank = nvvmCpAsyncBulkTensorGlobalToSharedClusterOpGetNumCoordinates(op);
  (void)row;
  if (!isTiled(build, op))
    return false;
  if (rank > MostCoordinates)
    return false;
  for (intptr_t i = 0; i < rank; ++i)
    at[i] = nvvmCpAsyncBulkTensorGlobalToSharedClusterOpGetCoordinates(op, i);
  MlirValue operands[] = {predicated(build, &b, nvvmCpAsyncBulkTensorGlobalToSharedClusterOpGetDstMem(op),
                                     nvvmCpAsyncBulkTensorGlobalToSharedClusterOpGetPredicate(op)),
                          emulatorFlat(build, &b, nvvmCpAsyncBulkTensorGlobalToSharedClusterOpGetTmaDescriptor(op)),
                          emulatorFlat(build, &b, nvvmCpAsyncBulkTensorGlobalToSharedClusterOpGetMbar(op)),
                          storeCoordinates(build, &b, rank, at),
                          emulatorI32(build, &b, rank),
                          nothing};
  MlirValue mask = nvvmCpAsyncBulkTensorGlobalToSharedClusterOpGetMulticastMask(op);
  bool isMulticast = !mlirValueIsNull(mask);
  if (isMulticast)
    operands[5] = llvmZExtOpBuild(&b, build->i32, mask);
  emulatorCallAt(build, &b, op, isMulticast ? "tessera_emu_bulk_multicast" : "tessera_emu_bulk_load", none,
                 isMulticast ? 6 : 5, operands);
  emulatorReplace(op, nothing);
  return true;
}

static bool lowerStoreBox(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue at[MostCoordinates];
  intptr_t rank = nvvmCpAsyncBulkTensorSharedCTAToGlobalOpGetNumCoordinates(op);
  (void)row;
  if (!isTiled(build, op) || rank > MostCoordinates)
    return false;
  for (intptr_t i = 0; i < rank; ++i)
    at[i] = nvvmCpAsyncBulkTensorSharedCTAToGlobalOpGetCoordinates(op, i);
  MlirValue operands[] = {emulatorFlat(build, &b, nvvmCpAsyncBulkTensorSharedCTAToGlobalOpGetTmaDescriptor(op)),
                          predicated(build, &b, nvvmCpAsyncBulkTensorSharedCTAToGlobalOpGetSrcMem(op),
                                     nvvmCpAsyncBulkTensorSharedCTAToGlobalOpGetPredicate(op)),
                          storeCoordinates(build, &b, rank, at), emulatorI32(build, &b, rank)};
  emulatorCallAt(build, &b, op, "tessera_emu_bulk_store", none, 4, operands);
  emulatorReplace(op, nothing);
  return true;
}

static bool lowerCommitBoxes(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  emulatorCall(build, &b, "tessera_emu_bulk_commit", none, 1, &build->self);
  emulatorReplace(op, nothing);
  return true;
}

static bool lowerWaitBoxes(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  MlirValue operands[] = {emulatorI32(build, &b, emulatorInteger(op, "group", 0)),
                          emulatorI32(build, &b, emulatorHas(op, "read"))};
  emulatorCallAt(build, &b, op, "tessera_emu_bulk_wait", none, 2, operands);
  emulatorReplace(op, nothing);
  return true;
}

// fence.proxy: other kinds order no accesses that the emulator tells apart.
static bool lowerFenceProxy(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  if (emulatorSays(op, "kind", "async") && !emulatorSays(op, "kind", "async.global"))
    emulatorCallAt(build, &b, op, "tessera_emu_fence_proxy", none, 0, NULL);
  emulatorReplace(op, nothing);
  return true;
}

const EmulatorRow emulatorHopperRows[] = {
    {nvvmMapaOpName, lowerMapa, NULL, 0},
    {nvvmClusterArriveOpName, lowerClusterArrive, NULL, 0},
    {nvvmClusterArriveRelaxedOpName, lowerClusterArrive, NULL, 1},
    {nvvmClusterWaitOpName, emulatorLowerDirect, "tessera_emu_cluster_wait", 0},
    {nvvmMBarrierInitOpName, lowerInit, NULL, 0},
    {nvvmMBarrierInvalOpName, emulatorLowerDirect, "tessera_emu_mbarrier_inval", 0},
    {nvvmMBarrierArriveOpName, lowerArrive, NULL, 0},
    {nvvmMBarrierArriveDropOpName, lowerArrive, NULL, TESSERA_EMU_MBARRIER_DROPS},
    {nvvmMBarrierArriveNocompleteOpName, lowerArrive, NULL, TESSERA_EMU_MBARRIER_STAYS},
    {nvvmMBarrierArriveExpectTxOpName, lowerArriveExpect, NULL, 0},
    {nvvmMBarrierExpectTxOpName, lowerExpect, NULL, 1},
    {nvvmMBarrierCompleteTxOpName, lowerExpect, NULL, -1},
    {nvvmMBarrierTryWaitParityOpName, lowerWait, NULL, 0},
    {nvvmMBarrierTestWaitOpName, lowerTest, NULL, 0},
    {nvvmMBarrierTryWaitOpName, lowerTest, NULL, 0},
    {nvvmFenceMbarrierInitOpName, emulatorLowerDirect, "tessera_emu_fence_mbarrier_init", 0},
    {nvvmFenceProxyOpName, lowerFenceProxy, NULL, 0},
    {nvvmCpAsyncBulkTensorGlobalToSharedClusterOpName, lowerLoadBox, NULL, 0},
    {nvvmCpAsyncBulkTensorSharedCTAToGlobalOpName, lowerStoreBox, NULL, 0},
    {nvvmCpAsyncBulkTensorPrefetchOpName, emulatorLowerNothing, NULL, 0},
    {nvvmCpAsyncBulkPrefetchOpName, emulatorLowerNothing, NULL, 0},
    {nvvmCpAsyncBulkCommitGroupOpName, lowerCommitBoxes, NULL, 0},
    {nvvmCpAsyncBulkWaitGroupOpName, lowerWaitBoxes, NULL, 0},
    {nvvmWgmmaFenceAlignedOpName, emulatorLowerFenceProducts, NULL, 0},
    {nvvmWgmmaMmaAsyncOpName, emulatorLowerProduct, NULL, 0},
    {nvvmWgmmaGroupSyncAlignedOpName, emulatorLowerCommitProducts, NULL, 0},
    {nvvmWgmmaWaitGroupSyncOpName, emulatorLowerWaitProducts, NULL, 0},
    {NULL, NULL, NULL, 0},
};
