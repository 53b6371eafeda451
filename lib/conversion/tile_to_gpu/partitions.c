// Partitions of warps with programs of their own, and the barriers in shared memory by which they wait for each other.
// A partition is a branch by the warp's number, equal in all its lanes. A partition has its own barrier, its own thread
// numbers, and places computed where it begins. `threads(1)` runs it in one thread.
// Use k of a ring of barriers is stage k mod stages in round k div stages, whose parity a wait names. One lane of each
// warp arrives once all lanes have got there: what they did before is then over.
#include "lib/conversion/tile_to_gpu/asynchronous.h"

#include "dialects/tile/questions.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>

//===--- questions ----------------------------------------------------------------------------===//

static bool isOneThread(MlirOperation op, intptr_t partition) {
  return tileArrayCount(op, "threads") && tileArrayAt(op, "threads", partition) == 1;
}

static bool expectThreads(MlirOperation op, intptr_t partition) {
  MlirOperation divided = isOneThread(op, partition) ? tilePartitionDividedOp(op, partition) : (MlirOperation){NULL};
  return mlirOperationIsNull(divided) ||
         tileError(divided, "divides elements among threads, but its partition has `threads(1)`; remove that");
}

//===--- registers ----------------------------------------------------------------------------===//

// How many partitions from this one on share a group of warps, which changes its registers as a whole: together they
// are one group and have equal registers. Else 1.
static intptr_t sharersOf(Gpu *g, MlirOperation op, intptr_t partition, int64_t first) {
  int64_t group = 1, warps = 0,
          registers = tileArrayCount(op, "registers") ? tileArrayAt(op, "registers", partition) : 0;
  tileMachineGetInteger(g->machine, "warps.per_partition", &group);
  intptr_t next = partition;
  for (; next < mlirOperationGetNumRegions(op) && registers && warps < group; ++next) {
    if (tileArrayAt(op, "registers", next) != registers)
      return 1;
    warps += tileArrayAt(op, "warps", next);
  }
  return first % group == 0 && warps == group ? next - partition : 1;
}

// `isShared`: with other partitions of its group of warps.
static bool expectRegisters(Gpu *g, MlirOperation op, intptr_t partition, int64_t first, bool isShared) {
  enum { Least, Most, Grain, NumLimits };
  int64_t registers = tileArrayCount(op, "registers") ? tileArrayAt(op, "registers", partition) : 0;
  int64_t limits[NumLimits], group = 1, warps = tileArrayAt(op, "warps", partition);
  if (!registers)
    return true;
  if (!tileHas(g->kernel, "registers"))
    return tileError(g->kernel,
                     "registers: none; a kernel whose partitions change their registers needs the number that "
                     "they start with");
  size_t count = tileMachineGetIntegers(g->machine, "registers.partition", limits, NumLimits);
  if (count != NumLimits)
    return tileError(op,
                     "gives partition #%d %lld registers a thread, but the machine key registers.partition of %s has "
                     "%d numbers; expected the least, the most and their grain",
                     (int)partition, (long long)registers, tileMachineGetName(g->machine), (int)count);
  if (registers % limits[Grain] || registers < limits[Least] || registers > limits[Most])
    return tileError(op, "gives partition #%d %lld registers a thread; expected a multiple of %lld from %lld to %lld",
                     (int)partition, (long long)registers, (long long)limits[Grain], (long long)limits[Least],
                     (long long)limits[Most]);
  tileMachineGetInteger(g->machine, "warps.per_partition", &group);
  return (first % group == 0 && warps % group == 0) || isShared ||
         tileError(op,
                   "gives partition #%d, which begins at warp %lld and has %lld, registers of its own; expected whole "
                   "groups of %lld warps, or partitions of one group with equal registers",
                   (int)partition, (long long)first, (long long)warps, (long long)group);
}

static void setRegisters(Gpu *g, MlirOperation op, intptr_t partition) {
  int64_t registers = tileArrayCount(op, "registers") ? tileArrayAt(op, "registers", partition) : 0;
  int64_t before = 0;
  tileIntegerOf(g->kernel, "registers", &before);
  if (registers && registers != before)
    g->vocabulary->engines->setRegisters(&g->builder, registers, registers > before);
}

//===--- a partition --------------------------------------------------------------------------===//

static void capture(Gpu *g, MlirOperation op, MlirBlock block) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    gpuRecordAlias(g, mlirBlockGetArgument(block, i), gpuRecord(g, mlirOperationGetOperand(op, i)));
}

// Code that all the partition's later code comes behind, as at the function's entry.
static void beginHere(Gpu *g) {
  TileBuilder plain = g->builder;
  plain.memo = NULL; // which gives constants at the function's entry
  MlirValue marker = tileBuildInteger(&plain, g->i32, 0);
  g->entry = tileBuilderBefore(mlirOpResultGetOwner(marker));
  g->entry.memo = g->builder.memo;
}

static bool lowerBody(Gpu *g, MlirOperation op, intptr_t partition, int64_t first) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, partition));
  Gpu around = *g;
  g->maps = NULL;
  g->numMaps = 0;
  g->isOneThread = isOneThread(op, partition);
  g->firstWarp = first;
  g->partition = partition + 1;
  g->warps = g->isOneThread ? 1 : tileArrayAt(op, "warps", partition);
  g->warpBits = tessera_log2((uint64_t)g->warps);
  g->threads = g->warps * g->width;
  g->exchange.warps = (uint32_t)g->warps;
  MlirValue thread = gpuSub(g, g->thread, gpuI32(g, first * g->width));
  GpuIf only =
      gpuIf(g, g->isOneThread ? gpuCompare(g, ArithCmpI_Eq, thread, gpuI32(g, 0)) : (MlirValue){NULL}, 0, NULL);
  beginHere(g);
  g->thread = thread;
  capture(g, op, block);
  bool ok = gpuLowerBlock(g, block);
  gpuEndIf(g, &only, 0, NULL, NULL);
  free(g->maps);
  g->maps = around.maps;
  g->numMaps = around.numMaps;
  g->isOneThread = around.isOneThread;
  g->firstWarp = around.firstWarp;
  g->partition = around.partition;
  g->warps = around.warps;
  g->warpBits = around.warpBits;
  g->threads = around.threads;
  g->exchange.warps = around.exchange.warps;
  g->thread = around.thread;
  g->entry = around.entry;
  return ok;
}

static int64_t warpsOf(MlirOperation op, intptr_t from, intptr_t to) {
  int64_t warps = 0;
  for (intptr_t i = from; i < to; ++i)
    warps += tileArrayAt(op, "warps", i);
  return warps;
}

// Warps that run one or more of the partitions.
typedef struct Range {
  intptr_t from, to; // partitions
  int64_t first;     // warp
  int64_t end;       // warps below this one get here
  bool isInGroup;    // each partition has a branch of its own, but changes no registers
} Range;

static bool expectPartitions(Gpu *g, MlirOperation op, const Range *range) {
  for (intptr_t i = range->from; i < range->to; ++i) {
    int64_t warps = tileArrayAt(op, "warps", i), first = range->first + warpsOf(op, range->from, i);
    if (warps & (warps - 1))
      return gpuRefuse(op, "a partition of warps whose number is not a power of two");
    if (!expectThreads(op, i) || !expectRegisters(g, op, i, first, range->to - range->from > 1))
      return false;
  }
  return true;
}

static bool lowerRange(Gpu *g, MlirOperation op, MlirValue warp, Range range);

static bool lowerGroup(Gpu *g, MlirOperation op, MlirValue warp, Range range) {
  if (!range.isInGroup && !expectPartitions(g, op, &range))
    return false;
  if (!range.isInGroup)
    setRegisters(g, op, range.from);
  if (range.to - range.from == 1)
    return lowerBody(g, op, range.from, range.first);
  range.isInGroup = true;
  return lowerRange(g, op, warp, range);
}

// A branch for the first partitions, which share a group of warps, and in its `else` the rest: no warp goes from one
// partition's code to another one's. ptxas then keeps in uniform registers what is equal in all lanes.
static bool lowerRange(Gpu *g, MlirOperation op, MlirValue warp, Range range) {
  if (range.from == range.to)
    return true;
  intptr_t next = range.from + (range.isInGroup ? 1 : sharersOf(g, op, range.from, range.first));
  int64_t end = range.first + warpsOf(op, range.from, next);
  Range group = range, rest = range;
  group.to = rest.from = next;
  group.end = rest.first = end;
  GpuIf branch =
      gpuIf(g, end < range.end ? gpuCompare(g, ArithCmpI_Ult, warp, gpuI32(g, end)) : (MlirValue){NULL}, 0, NULL);
  bool ok = lowerGroup(g, op, warp, group);
  gpuElse(g, &branch, 0, NULL);
  ok = ok && lowerRange(g, op, warp, rest);
  gpuEndIf(g, &branch, 0, NULL, NULL);
  return ok;
}

static bool lowerWarpSpecialize(Gpu *g, MlirOperation op) {
  int64_t barriers = 1, warps = 1;
  intptr_t partitions = mlirOperationGetNumRegions(op);
  tileMachineGetInteger(g->machine, "barriers.per_block", &barriers);
  tileIntegerOf(g->kernel, "warps", &warps);
  if (partitions >= barriers)
    return tileError(op, "has %d partitions; %s has barriers for %d", (int)partitions, tileMachineGetName(g->machine),
                     (int)barriers - 1);
  MlirValue warp = g->vocabulary->shuffleFrom(&g->builder, gpuShiftRight(g, g->thread, g->laneBits), gpuI32(g, 0));
  return lowerRange(g, op, warp, (Range){.to = partitions, .end = warps});
}

const GpuRow gpuPartitionRows[] = {{TileOp_WarpSpecialize, lowerWarpSpecialize, true}, {.lower = NULL}};

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

// Whether an arrival orders memory of several blocks, here or in a partition that the barrier is given to.
static bool isReached(MlirValue barrier) {
  for (MlirOpOperand use = mlirValueGetFirstUse(barrier); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (tileBarrierArriveOpIsA(user) && !tileBarrierArriveOpHasReads(user) &&
        (!mlirValueIsNull(tileBarrierArriveOpGetRank(user)) || tileHas(user, "multicast")))
      return true;
    for (intptr_t i = 0; tileWarpSpecializeOpIsA(user) && i < mlirOperationGetNumRegions(user); ++i)
      if (isReached(mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(user, i)),
                                         mlirOpOperandGetOperandNumber(use))))
        return true;
  }
  return false;
}

// The first thread makes them. A tile.sync behind the last of several in a row shows them to the others.
bool gpuMakeBarrier(Gpu *g, MlirOperation op) {
  const GpuEngines *engines = gpuEngines(g, op);
  int64_t offset;
  if (!engines)
    return false;
  if (!tileKernelOpIsA(mlirOperationGetParentOperation(op)))
    return gpuRefuse(op, "a barrier that is made in control flow");
  MlirAttribute arrivals = tileAllocOpGetArrivals(op);
  if (mlirAttributeIsNull(arrivals))
    return tileError(op,
                     "arrivals: none; a barrier needs the number that completes a round (tile-count-waits writes it)");
  MlirType type = tileAllocOpGetResultType(op);
  BarrierRing *ring = gpuRecordNew(g, tileAllocOpGetResult(op), Record_Barrier)->ring = gpuAllocate(g, sizeof *ring);
  *ring = (BarrierRing){.stages = tileBarrierTypeGetCount(type),
                        .share = mlirIntegerAttrGetValueInt(arrivals) / tileBarrierTypeGetArrivals(type),
                        .isReached = isReached(tileAllocOpGetResult(op))};
  if (!gpuPlaceAlloc(g, op, ring->stages * BarrierBytes, &offset, &ring->base))
    return false;
  GpuIf first = gpuIf(g, gpuIsElected(g), 0, NULL);
  for (int64_t stage = 0; stage < ring->stages; ++stage)
    engines->barrierCreate(&g->builder, gpuAddress(g, ring->base, gpuI32(g, stage * BarrierBytes)),
                           mlirIntegerAttrGetValueInt(arrivals));
  if (tileSyncOpIsA(mlirOperationGetNextInBlock(op)))
    engines->barriersCreated(&g->builder);
  gpuEndIf(g, &first, 0, NULL, NULL);
  return true;
}

//===--- rounds -------------------------------------------------------------------------------===//

// Uses are counted in 32 bits: none is reached that takes more.
static MlirValue quotient(Gpu *g, MlirValue use, int64_t stages, bool isRest) {
  int64_t constant;
  if (tileConstantIndex(use, &constant) && constant >= 0)
    return gpuI32(g, isRest ? constant % stages : constant / stages);
  MlirValue word = gpuCast(g, use, g->i32, true);
  uint32_t bits = tessera_log2((uint64_t)stages);
  if (tessera_is_power_of_two(stages))
    return isRest ? gpuAnd(g, word, stages - 1) : gpuShiftRight(g, word, bits);
  // The factor is 2^(32 + bits) / stages, rounded up: exact for uses below 2^31. (Hacker's Delight, 10-9.)
  int64_t factor = (int64_t)(((UINT64_C(1) << (32 + bits)) + (uint64_t)stages - 1) / (uint64_t)stages);
  MlirValue product = gpuMul(g, gpuCast(g, word, g->i64, false), gpuInteger(g, g->i64, factor));
  MlirValue whole = gpuCast(g, gpuShiftRight(g, product, 32 + bits), g->i32, true);
  return isRest ? gpuSub(g, word, gpuMul(g, whole, gpuI32(g, stages))) : whole;
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
  return gpuCompare(g, ArithCmpI_Sge, gpuCast(g, gpuScalar(g, use), g->i32, true), gpuI32(g, 0));
}

static bool isAlong(MlirOperation op, int axis) {
  for (intptr_t i = 0; i < tileArrayCount(op, "multicast"); ++i)
    if (tileArrayAt(op, "multicast", i) == axis)
      return true;
  return false;
}

// Lanes below *count have one block each, whose number comes back: those in this one's row along `multicast`.
static MlirValue blockOfLane(Gpu *g, MlirOperation op, MlirValue lane, int64_t *count) {
  MlirValue block = {NULL};
  int64_t stride = 1, all = 1;
  for (int axis = 0; axis < 3; ++axis)
    all *= isAlong(op, axis) ? g->cluster[axis] : 1;
  *count = 1;
  for (int axis = 0; axis < 3; stride *= g->cluster[axis++]) {
    MlirValue place = lane;
    if (g->cluster[axis] == 1)
      continue;
    if (!isAlong(op, axis))
      place = g->vocabulary->engines->clusterPlace(&g->builder, axis);
    else if (*count > 1)
      place = gpuBinary(g, ArithOp_DivUI, place, gpuI32(g, *count));
    *count *= isAlong(op, axis) ? g->cluster[axis] : 1;
    if (isAlong(op, axis) && *count < all)
      place = gpuBinary(g, ArithOp_RemUI, place, gpuI32(g, g->cluster[axis]));
    block = gpuAdd(g, block, gpuMul(g, place, gpuI32(g, stride)));
  }
  return mlirValueIsNull(block) ? gpuI32(g, 0) : block;
}

// One lane of each warp for each block.
static bool lowerArriveAtRow(Gpu *g, MlirOperation op) {
  const GpuEngines *engines = g->vocabulary->engines;
  MlirValue barrier = tileBarrierArriveOpGetBarrier(op), use = tileBarrierArriveOpGetUse(op);
  int64_t share = gpuRecord(g, barrier)->ring->share, count;
  if (g->isOneThread)
    return gpuRefuse(op, "an arrival of one thread at several blocks' barriers");
  if (share % g->warps)
    return tileError(op, "arrivals: %lld of each partition cannot be divided among the %lld warps that arrive here",
                     (long long)share, (long long)g->warps);
  MlirValue lane = gpuAnd(g, g->thread, g->width - 1), block = blockOfLane(g, op, lane, &count);
  engines->warpBarrier(&g->builder);
  MlirValue isArriving = gpuCompare(g, ArithCmpI_Ult, lane, gpuI32(g, count)), address = gpuBarrierOf(g, barrier, use);
  GpuIf arriving = gpuIf(g, gpuBoth(g, exists(g, use), isArriving), 0, NULL);
  engines->barrierArriveAt(&g->builder, address, block, share / g->warps, !tileBarrierArriveOpHasReads(op));
  gpuEndIf(g, &arriving, 0, NULL, NULL);
  return true;
}

bool gpuTellProducts(Gpu *g, MlirOperation op, MlirValue barrier, MlirValue use) {
  if (mlirValueIsNull(barrier))
    return true;
  int64_t share = gpuRecord(g, barrier)->ring->share;
  if (share != 1)
    return tileError(op, "arrivals: %lld of each partition; products arrive once", (long long)share);
  GpuIf arriving = gpuIf(g, exists(g, use), 0, NULL);
  g->vocabulary->engines->tensorCommit(&g->builder, gpuBarrierOf(g, barrier, use));
  gpuEndIf(g, &arriving, 0, NULL, NULL);
  return true;
}

static bool lowerArriveByProducts(Gpu *g, MlirOperation op) {
  if (!gpuExpectTensors(g, op))
    return false;
  GpuIf one = gpuIf(g, g->isOneThread ? (MlirValue){NULL} : gpuIsElected(g), 0, NULL);
  bool ok = gpuTellProducts(g, op, tileBarrierArriveOpGetBarrier(op), tileBarrierArriveOpGetUse(op));
  gpuEndIf(g, &one, 0, NULL, NULL);
  return ok;
}

// Where one lane of each warp arrives, the address depends on the lane. Else ptxas computes the address of shared
// memory in all lanes, because a branch of one lane uses it, and with it all that is computed from that address.
static bool lowerArrive(Gpu *g, MlirOperation op) {
  const GpuEngines *engines = g->vocabulary->engines;
  if (tileHas(op, "multicast"))
    return lowerArriveAtRow(g, op);
  if (tileBarrierArriveOpHasProducts(op))
    return lowerArriveByProducts(g, op);
  MlirValue block = tileBarrierArriveOpGetRank(op);
  MlirValue barrier = tileBarrierArriveOpGetBarrier(op), use = tileBarrierArriveOpGetUse(op);
  MlirAttribute expected = tileBarrierArriveOpGetExpect(op);
  int64_t share = gpuRecord(g, barrier)->ring->share;
  bool expects = !mlirAttributeIsNull(expected);
  if (expects && !mlirValueIsNull(block))
    return gpuRefuse(op, "an arrival at a barrier of another block that expects bytes");
  if (share % g->warps)
    return tileError(op, "arrivals: %lld of each partition cannot be divided among the %lld warps that arrive here",
                     (long long)share, (long long)g->warps);
  MlirValue address = gpuBarrierOf(g, barrier, use), isFirstLane = {NULL};
  if (!g->isOneThread) {
    engines->warpBarrier(&g->builder);
    MlirValue lane = gpuAnd(g, g->thread, g->width - 1);
    isFirstLane = gpuCompare(g, ArithCmpI_Eq, lane, gpuI32(g, 0));
    address = gpuAddress(g, address, lane); // 0 where it arrives
  }
  GpuIf arriving = gpuIf(g, gpuBoth(g, exists(g, use), isFirstLane), 0, NULL);
  GpuIf first = gpuIf(g, expects ? gpuIsElected(g) : (MlirValue){NULL}, 0, NULL);
  if (expects)
    engines->barrierExpect(&g->builder, address, mlirIntegerAttrGetValueInt(expected));
  if (!mlirValueIsNull(block))
    engines->barrierArriveAt(&g->builder, address, gpuCast(g, gpuScalar(g, block), g->i32, false), share / g->warps,
                             !tileBarrierArriveOpHasReads(op));
  else if (share / g->warps > expects)
    engines->barrierArrive(&g->builder, address, share / g->warps - expects);
  gpuEndIf(g, &first, 0, NULL, NULL);
  if (expects && g->warps > 1) {
    GpuIf others = gpuIf(g, gpuNot(g, gpuIsElected(g)), 0, NULL);
    engines->barrierArrive(&g->builder, address, share / g->warps);
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
  const GpuEngines *engines = g->vocabulary->engines;
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
  (ring->isReached ? engines->barrierWaitForBlocks : engines->barrierWait)(&g->builder, address, parity);
  gpuEndIf(g, &waiting, 0, NULL, NULL);
  return true;
}

const GpuRow gpuBarrierRows[] = {
    {TileOp_BarrierArrive, lowerArrive, true}, {TileOp_BarrierWait, lowerBarrierWait, true}, {.lower = NULL}};
