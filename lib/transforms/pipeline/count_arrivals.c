// How partitions run, for the conversion to obey. See count_arrivals.h.
// Leaves: `threads(1)` on a partition that neither holds tiles nor divides copies among threads; `arrivals` on
// barriers:
//   the type's number of partitions times the most warps of one that arrives, which the warps of the others divide; the
//   kernel's `registers` if partitions change theirs: an equal share, because the machine moves only what is free.
// Cost: linear in the ops, for each barrier in its uses.
#include "lib/transforms/pipeline/count_arrivals.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/search/target.h"
#include "lib/support/integer.h"

enum { MostPartitions = 16 };

//===--- threads ------------------------------------------------------------------------------===//

static MlirWalkResult stopAtThreads(MlirOperation op, void *found) {
  bool divides = tileCopyOpIsA(op) || (tileCopyAsyncOpIsA(op) && !tileKeywordIs(op, "engine", "tma"));
  *(bool *)found |= tileOpHasTiles(op) || divides;
  return *(bool *)found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

// One thread can do for all what involves no tile, whose elements the threads share, and no copy that they divide.
static bool suitsOneThread(MlirOperation partitions, intptr_t partition) {
  bool found = false;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(partitions, partition));
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op) && !found;
       op = mlirOperationGetNextInBlock(op))
    mlirOperationWalk(op, stopAtThreads, &found, MlirWalkPreOrder);
  return !found;
}

static void chooseThreads(MlirOperation partitions) {
  int64_t threads[MostPartitions] = {0}, any = 0;
  intptr_t count = mlirOperationGetNumRegions(partitions);
  if (tileArrayCount(partitions, "threads") || count > MostPartitions)
    return;
  for (intptr_t i = 0; i < count; ++i)
    any |= threads[i] = suitsOneThread(partitions, i);
  if (any)
    tileWarpSpecializeOpSetThreads(partitions,
                                   mlirDenseI64ArrayGet(mlirOperationGetContext(partitions), count, threads));
}

//===--- arrivals -----------------------------------------------------------------------------===//

static int64_t arrivingWarps(MlirOperation op) {
  intptr_t partition;
  MlirOperation partitions = tilePartitionAround(op, &partition);
  bool isOneThread =
      partition >= 0 && tileArrayCount(partitions, "threads") && tileArrayAt(partitions, "threads", partition) == 1;
  return isOneThread ? 1 : tessera_max(tileWarpsOf(op), 1);
}

static int64_t mostArriving(MlirValue barrier) {
  int64_t most = 1;
  for (MlirOpOperand use = mlirValueGetFirstUse(barrier); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    intptr_t number = mlirOpOperandGetOperandNumber(use);
    if (tileBarrierArriveOpIsA(user))
      most = tessera_max(most, arrivingWarps(user));
    for (intptr_t i = 0; tileWarpSpecializeOpIsA(user) && i < mlirOperationGetNumRegions(user); ++i) {
      MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(user, i));
      most = tessera_max(most, mostArriving(mlirBlockGetArgument(block, number)));
    }
  }
  return most;
}

static void countBarrier(MlirOperation alloc) {
  MlirType type = tileAllocOpGetResultType(alloc), i64 = mlirIntegerTypeGet(mlirOperationGetContext(alloc), 64);
  if (tileTypeIsABarrier(type) && mlirAttributeIsNull(tileAllocOpGetArrivals(alloc)))
    tileAllocOpSetArrivals(
        alloc, mlirIntegerAttrGet(i64, tileBarrierTypeGetArrivals(type) * mostArriving(tileAllocOpGetResult(alloc))));
}

//===--- registers ----------------------------------------------------------------------------===//

static bool chooseRegisters(MlirOperation kernel, const TileMachine *machine) {
  TileSearchTarget target;
  TileError error;
  if (!tileSearchReadTarget(machine, &target, &error))
    return tileError(kernel, "%s", error.text);
  MlirType i32 = mlirIntegerTypeGet(mlirOperationGetContext(kernel), 32);
  int64_t registers = tileSearchEqualRegisters(&target, tessera_max(tileWarpsOf(kernel), 1));
  mlirOperationSetAttributeByName(kernel, tileString("registers"), mlirIntegerAttrGet(i32, registers));
  return true;
}

//===--- the kernel ---------------------------------------------------------------------------===//

static bool countPartitions(MlirOperation kernel, MlirExtPass pass, const TileOps *partitions) {
  bool changesRegisters = false;
  for (intptr_t i = 0; i < partitions->count; ++i) {
    chooseThreads(partitions->items[i]);
    changesRegisters |= tileArrayCount(partitions->items[i], "registers") > 0;
  }
  if (!changesRegisters || tileHas(kernel, "registers"))
    return true;
  TileMachine *machine = tileNamedMachineOf(kernel, pass, NULL);
  bool ok = machine && chooseRegisters(kernel, machine);
  tileMachineDestroy(machine);
  return ok;
}

bool tileCountArrivals(MlirOperation kernel, MlirExtPass pass) {
  TileOps partitions = tileCollectOps(kernel, tileWarpSpecializeOpIsA), allocs = tileCollectOps(kernel, tileAllocOpIsA);
  bool ok = countPartitions(kernel, pass, &partitions);
  for (intptr_t i = 0; ok && i < allocs.count; ++i)
    countBarrier(allocs.items[i]);
  tileOpsFree(&partitions);
  tileOpsFree(&allocs);
  return ok;
}
