// Partitions of warps with programs of their own: a branch by the warp's number, equal in all its lanes. A partition
// has its own barrier, its own thread numbers, and places computed where it begins. One whose work is to start copies
// runs in one thread.
#include "lib/conversion/tile_to_gpu/asynchronous.h"

#include "dialects/tile/questions.h"
#include "lib/support/integer.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>

enum { GroupWarps = 4, RegisterGrain = 8, FewestRegisters = 24, MostRegisters = 256, Barriers = 16 };

//===--- questions ----------------------------------------------------------------------------===//

static MlirWalkResult stopAtPartitions(MlirOperation op, void *found) {
  *(bool *)found |= tileWarpSpecializeOpIsA(op);
  return *(bool *)found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

bool gpuHasPartitions(MlirOperation kernel) {
  bool found = false;
  mlirOperationWalk(kernel, stopAtPartitions, &found, MlirWalkPreOrder);
  return found;
}

// What one thread can do for all: nothing on tiles, whose elements the threads share, and no copy that they divide.
static bool needsThreads(MlirOperation op) {
  return tileOpHasTiles(op) || tileCopyOpIsA(op) || (tileCopyAsyncOpIsA(op) && !gpuIsCopyOfBoxes(op));
}

static MlirWalkResult stopAtThreads(MlirOperation op, void *found) {
  *(bool *)found |= needsThreads(op);
  return *(bool *)found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

static bool isForOneThread(MlirOperation op, intptr_t partition) {
  bool found = false;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, partition));
  for (MlirOperation inner = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(inner) && !found;
       inner = mlirOperationGetNextInBlock(inner))
    mlirOperationWalk(inner, stopAtThreads, &found, MlirWalkPreOrder);
  return !found;
}

static intptr_t partitionOf(MlirOperation op, MlirBlock block) {
  intptr_t i = 0;
  while (i < mlirOperationGetNumRegions(op) &&
         !mlirBlockEqual(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i)), block))
    ++i;
  return i;
}

int64_t gpuArrivingWarps(Gpu *g, MlirOperation op) {
  for (MlirOperation around = op; !tileKernelOpIsA(around); around = op) {
    MlirBlock block = mlirOperationGetBlock(around);
    op = mlirOperationGetParentOperation(around);
    if (!tileWarpSpecializeOpIsA(op))
      continue;
    intptr_t partition = partitionOf(op, block);
    return isForOneThread(op, partition) ? 1 : tileArrayAt(op, "warps", partition);
  }
  int64_t warps = 1;
  tileIntegerOf(g->kernel, "warps", &warps);
  return warps;
}

//===--- registers ----------------------------------------------------------------------------===//

static MlirWalkResult findRegisters(MlirOperation op, void *found) {
  *(bool *)found |= tileWarpSpecializeOpIsA(op) && tileArrayCount(op, "registers");
  return MlirWalkResultAdvance;
}

// Partitions that change their registers start with an equal share: the machine moves what is free only.
int64_t gpuEntryRegisters(Gpu *g) {
  int64_t registers = 0, all = 0, most = MostRegisters;
  bool changes = false;
  if (tileIntegerOf(g->kernel, "registers", &registers))
    return registers;
  mlirOperationWalk(g->kernel, findRegisters, &changes, MlirWalkPreOrder);
  if (!changes || !tileMachineGetInteger(g->machine, "registers.per_core", &all))
    return 0;
  tileMachineGetInteger(g->machine, "registers.per_thread", &most);
  int64_t warps = 1;
  tileIntegerOf(g->kernel, "warps", &warps);
  return tessera_min(all / (warps * g->width), most) / RegisterGrain * RegisterGrain;
}

static bool expectRegisters(MlirOperation op, intptr_t partition, int64_t first) {
  int64_t registers = tileArrayCount(op, "registers") ? tileArrayAt(op, "registers", partition) : 0;
  if (!registers)
    return true;
  if (registers % RegisterGrain || registers < FewestRegisters || registers > MostRegisters)
    return tileError(op, "gives partition #%d %lld registers a thread; expected a multiple of %d from %d to %d",
                     (int)partition, (long long)registers, RegisterGrain, FewestRegisters, MostRegisters);
  return (first % GroupWarps == 0 && tileArrayAt(op, "warps", partition) % GroupWarps == 0) ||
         tileError(op,
                   "gives partition #%d, which begins at warp %lld and has %lld, registers of its own; expected whole "
                   "groups of %d warps",
                   (int)partition, (long long)first, (long long)tileArrayAt(op, "warps", partition), GroupWarps);
}

static void setRegisters(Gpu *g, MlirOperation op, intptr_t partition) {
  int64_t registers = tileArrayCount(op, "registers") ? tileArrayAt(op, "registers", partition) : 0;
  int64_t before = gpuEntryRegisters(g);
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
  g->isOneThread = isForOneThread(op, partition);
  g->partition = partition + 1;
  g->warps = g->isOneThread ? 1 : tileArrayAt(op, "warps", partition);
  g->warpBits = tessera_log2((uint64_t)g->warps);
  g->threads = g->warps * g->width;
  g->exchange.warps = (uint32_t)g->warps;
  setRegisters(g, op, partition);
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
  g->partition = around.partition;
  g->warps = around.warps;
  g->warpBits = around.warpBits;
  g->threads = around.threads;
  g->exchange.warps = around.exchange.warps;
  g->thread = around.thread;
  g->entry = around.entry;
  return ok;
}

static bool lowerPartition(Gpu *g, MlirOperation op, intptr_t partition, int64_t first, MlirValue warp) {
  int64_t warps = tileArrayAt(op, "warps", partition), all = 1;
  tileIntegerOf(g->kernel, "warps", &all);
  if (warps & (warps - 1))
    return gpuRefuse(op, "a partition of warps whose number is not a power of two");
  if (!expectRegisters(op, partition, first))
    return false;
  MlirValue is = {NULL};
  if (first)
    is = gpuCompare(g, ArithCmpI_Uge, warp, gpuI32(g, first));
  if (first + warps < all)
    is = gpuBoth(g, is, gpuCompare(g, ArithCmpI_Ult, warp, gpuI32(g, first + warps)));
  GpuIf branch = gpuIf(g, is, 0, NULL);
  bool ok = lowerBody(g, op, partition, first);
  gpuEndIf(g, &branch, 0, NULL, NULL);
  return ok;
}

static bool lowerWarpSpecialize(Gpu *g, MlirOperation op) {
  intptr_t partitions = mlirOperationGetNumRegions(op);
  if (!gpuEngines(g, op))
    return false;
  if (partitions >= Barriers)
    return tileError(op, "has %d partitions; %s has barriers for %d", (int)partitions, tileMachineGetName(g->machine),
                     Barriers - 1);
  MlirValue warp = g->vocabulary->shuffleFrom(&g->builder, gpuShiftRight(g, g->thread, g->laneBits), gpuI32(g, 0));
  int64_t first = 0;
  for (intptr_t i = 0; i < partitions; ++i) {
    if (!lowerPartition(g, op, i, first, warp))
      return false;
    first += tileArrayAt(op, "warps", i);
  }
  if (!mlirOperationEqual(mlirOperationGetNextInBlock(op), mlirBlockGetTerminator(mlirOperationGetBlock(op))))
    gpuBarrier(g); // the op ends when all partitions have
  return true;
}

const GpuRow gpuPartitionRows[] = {{TileOp_WarpSpecialize, lowerWarpSpecialize}, {.lower = NULL}};
