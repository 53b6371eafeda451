// Barriers in shared memory. Use k of a ring is stage k mod stages in round k div stages, whose parity a wait names.
// One lane of each warp arrives once all lanes have got there: what they did before is then over.
#include "lib/conversion/tile_to_gpu/asynchronous.h"

#include "dialects/tile/questions.h"
#include "lib/support/integer.h"

#include "mlir-c/BuiltinAttributes.h"

const GpuEngines *gpuEngines(Gpu *g, MlirOperation op) {
  const GpuEngines *engines = g->vocabulary->engines;
  if (engines && tileMachineListHas(g->machine, "engines", "tma"))
    return engines;
  MlirStringRef name = tileOpName(op);
  tileError(op, "'%.*s' needs a machine with barriers in memory (engine \"tma\"); %s has none", (int)name.length,
            name.data, tileMachineGetName(g->machine));
  return NULL;
}

//===--- making them --------------------------------------------------------------------------===//

// The most warps of those that arrive anywhere: all rounds count in shares of these.
static int64_t mostArriving(Gpu *g, MlirValue barrier) {
  int64_t most = 1;
  for (MlirOpOperand use = mlirValueGetFirstUse(barrier); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    intptr_t number = mlirOpOperandGetOperandNumber(use);
    if (tileBarrierArriveOpIsA(user))
      most = tessera_max(most, gpuArrivingWarps(g, user));
    for (intptr_t i = 0; tileWarpSpecializeOpIsA(user) && i < mlirOperationGetNumRegions(user); ++i) {
      MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(user, i));
      most = tessera_max(most, mostArriving(g, mlirBlockGetArgument(block, number)));
    }
  }
  return most;
}

static bool makesBarrier(MlirOperation op) {
  return !mlirOperationIsNull(op) && tileAllocOpIsA(op) && tileTypeIsABarrier(tileAllocOpGetResultType(op));
}

// The first thread makes them; after the last of several in a row all others see them.
bool gpuMakeBarrier(Gpu *g, MlirOperation op) {
  const GpuEngines *engines = gpuEngines(g, op);
  int64_t offset;
  if (!engines)
    return false;
  if (!tileKernelOpIsA(mlirOperationGetParentOperation(op)))
    return gpuRefuse(op, "a barrier that is made in control flow");
  MlirType type = tileAllocOpGetResultType(op);
  BarrierRing *ring = gpuRecordNew(g, tileAllocOpGetResult(op), Record_Barrier)->ring = gpuAllocate(g, sizeof *ring);
  *ring = (BarrierRing){.stages = tileBarrierTypeGetCount(type), .arrivals = tileBarrierTypeGetArrivals(type)};
  if (!gpuPlaceAlloc(g, op, ring->stages * BarrierBytes, &offset, &ring->base))
    return false;
  ring->share = mostArriving(g, tileAllocOpGetResult(op));
  GpuIf first = gpuIf(g, gpuIsElected(g), 0, NULL);
  for (int64_t stage = 0; stage < ring->stages; ++stage)
    engines->barrierCreate(&g->builder, gpuAddress(g, ring->base, gpuI32(g, stage * BarrierBytes)),
                           ring->arrivals * ring->share);
  bool isLast = !makesBarrier(mlirOperationGetNextInBlock(op));
  if (isLast)
    engines->barriersCreated(&g->builder);
  gpuEndIf(g, &first, 0, NULL, NULL);
  if (isLast)
    gpuBarrier(g);
  return true;
}

//===--- rounds -------------------------------------------------------------------------------===//

// Uses are counted in 32 bits: none is reached that takes more.
static MlirValue quotient(Gpu *g, MlirValue use, int64_t stages, bool isRest) {
  int64_t constant;
  if (tileConstantIndex(use, &constant) && constant >= 0)
    return gpuI32(g, isRest ? constant % stages : constant / stages);
  MlirValue word = gpuCast(g, use, g->i32, true);
  return gpuBinary(g, isRest ? ArithOp_RemUI : ArithOp_DivUI, word, gpuI32(g, stages));
}

MlirValue gpuStageOf(Gpu *g, MlirValue use, int64_t stages) {
  return stages == 1 ? gpuI32(g, 0) : quotient(g, use, stages, true);
}

MlirValue gpuBarrierOf(Gpu *g, MlirValue barrier, MlirValue use) {
  const BarrierRing *ring = gpuRecord(g, barrier)->ring;
  MlirValue stage = gpuStageOf(g, gpuScalar(g, use), ring->stages);
  return gpuAddress(g, ring->base, gpuMul(g, stage, gpuI32(g, BarrierBytes)));
}

// i1; null: it always does.
static MlirValue exists(Gpu *g, MlirValue use) {
  if (tileIndexFacts(use).low >= 0)
    return (MlirValue){NULL};
  MlirValue scalar = gpuScalar(g, use);
  return gpuCompare(g, ArithCmpI_Sge, scalar, tileBuildIndex(&g->builder, 0));
}

static bool lowerArrive(Gpu *g, MlirOperation op) {
  const GpuEngines *engines = gpuEngines(g, op);
  if (!engines)
    return false;
  if (tileHas(op, "cluster") || !mlirValueIsNull(tileBarrierArriveOpGetRank(op)))
    return gpuRefuse(op, "an arrival at a barrier of another block");
  MlirValue barrier = tileBarrierArriveOpGetBarrier(op), use = tileBarrierArriveOpGetUse(op);
  int64_t share = gpuRecord(g, barrier)->ring->share, warps = gpuArrivingWarps(g, op), bytes = 0;
  bool expects = tileIntegerOf(op, "expect", &bytes);
  MlirValue address = gpuBarrierOf(g, barrier, use), isFirstLane = {NULL};
  if (!g->isOneThread) {
    engines->warpBarrier(&g->builder);
    isFirstLane = gpuCompare(g, ArithCmpI_Eq, gpuAnd(g, g->thread, g->width - 1), gpuI32(g, 0));
  }
  GpuIf arriving = gpuIf(g, gpuBoth(g, exists(g, use), isFirstLane), 0, NULL);
  GpuIf first = gpuIf(g, expects ? gpuIsElected(g) : (MlirValue){NULL}, 0, NULL);
  if (expects)
    engines->barrierExpect(&g->builder, address, bytes);
  if (share / warps > expects)
    engines->barrierArrive(&g->builder, address, share / warps - expects);
  gpuEndIf(g, &first, 0, NULL, NULL);
  if (expects && warps > 1) {
    GpuIf others = gpuIf(g, gpuNot(g, gpuIsElected(g)), 0, NULL);
    engines->barrierArrive(&g->builder, address, share / warps);
    gpuEndIf(g, &others, 0, NULL, NULL);
  }
  gpuEndIf(g, &arriving, 0, NULL, NULL);
  return true;
}

// Rounds before the first have parity 1, and on a new barrier the wait for it goes on at once: so do the waits of a
// pipeline that begins, use - C of a loop with C stages at most, without a branch.
static bool isJustBelow(MlirValue use, int64_t stages, int64_t *below) {
  MlirOperation op = tileDefiningOp(use);
  if (mlirOperationIsNull(op) || !arithSubIOpIsA(op) || !tileConstantIndex(tileBinaryRhs(op), below))
    return false;
  return *below >= 0 && *below <= stages && tileIndexFacts(tileBinaryLhs(op)).low >= 0;
}

static bool lowerBarrierWait(Gpu *g, MlirOperation op) {
  const GpuEngines *engines = gpuEngines(g, op);
  if (!engines)
    return false;
  MlirValue barrier = tileBarrierWaitOpGetBarrier(op), use = tileBarrierWaitOpGetUse(op), count = gpuScalar(g, use);
  const BarrierRing *ring = gpuRecord(g, barrier)->ring;
  int64_t below;
  bool isShifted = isJustBelow(use, ring->stages, &below);
  if (isShifted)
    count = tileBuildAdd(&g->builder, count, tileBuildIndex(&g->builder, ring->stages));
  MlirValue stage = gpuStageOf(g, count, ring->stages);
  MlirValue address = gpuAddress(g, ring->base, gpuMul(g, stage, gpuI32(g, BarrierBytes)));
  MlirValue parity = gpuAnd(g, quotient(g, count, ring->stages, false), 1);
  if (isShifted)
    parity = gpuXor(g, parity, gpuI32(g, 1));
  GpuIf waiting = gpuIf(g, isShifted ? (MlirValue){NULL} : exists(g, use), 0, NULL);
  engines->barrierWait(&g->builder, address, parity);
  gpuEndIf(g, &waiting, 0, NULL, NULL);
  return true;
}

const GpuRow gpuBarrierRows[] = {
    {TileOp_BarrierArrive, lowerArrive}, {TileOp_BarrierWait, lowerBarrierWait}, {.lower = NULL}};
