// tile-keep-own-frees: what a function frees by itself is left to it.
//
//   memref.dealloc %m  →  memref.dealloc %m {bufferization.manual_deallocation}, and so its memref.alloc
//
// Why: upstream's ownership-based deallocation refuses a function that frees memory, unless that mark is there.
// A free that does not show its allocation is removed: of what a call gives, a loop carries or the caller passed.
// Ownership knows when such a buffer is dead and frees it there. So is a free in a loop of what is allocated ahead of
// the loop: buffer-loop-hoisting moves allocations out of loops and leaves their frees behind. Expects: func.func on
// buffers, reallocations expanded, before deallocation. Cost: linear.
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/transforms/memory/memory.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/func.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

enum { Statistic_Frees, Statistic_Removed };

// The memref.alloc that the buffer is a view of; null where that is not seen.
static MlirOperation allocationOf(MlirValue buffer) {
  MlirOperation op = tileDefiningOp(tileMemoryRoot(buffer));
  return memrefAllocOpIsA(op) ? op : (MlirOperation){NULL};
}

static bool isLoop(MlirOperation op) {
  return scfForOpIsA(op) || scfWhileOpIsA(op) || scfParallelOpIsA(op) || scfForallOpIsA(op);
}

// In each round of a loop the free would meet memory that is freed already.
static bool isFreedInLoop(MlirOperation allocation, MlirOperation dealloc) {
  MlirOperation home = mlirOperationGetParentOperation(allocation);
  for (MlirOperation op = mlirOperationGetParentOperation(dealloc); !mlirOperationIsNull(op);
       op = mlirOperationGetParentOperation(op)) {
    if (mlirOperationEqual(op, home))
      return false;
    if (isLoop(op))
      return true;
  }
  return false;
}

// Upstream's deallocation leaves what carries this mark to the program.
static void leaveToProgram(MlirOperation op) {
  mlirOperationSetDiscardableAttributeByName(op, tileString("bufferization.manual_deallocation"),
                                             mlirUnitAttrGet(mlirOperationGetContext(op)));
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps frees = tileCollectOps(function, memrefDeallocOpIsA);
  for (intptr_t i = 0; i < frees.count; ++i) {
    MlirOperation allocation = allocationOf(memrefDeallocOpGetMemref(frees.items[i]));
    bool isSeen = !mlirOperationIsNull(allocation) && !isFreedInLoop(allocation, frees.items[i]);
    mlirExtPassAddStatistic(pass, isSeen ? Statistic_Frees : Statistic_Removed, 1);
    if (isSeen) {
      leaveToProgram(frees.items[i]);
      leaveToProgram(allocation);
    } else {
      mlirOperationDestroy(frees.items[i]);
    }
  }
  tileOpsFree(&frees);
  return true;
}

const MlirExtPassDefinition tileKeepOwnFreesPass = {
    .argument = "tile-keep-own-frees",
    .summary = "Leave the buffers that a function frees by itself to the function",
    .anchor = funcFuncOpName,
    .statistics = (const char *const[]){"frees: deallocations of the program's own",
                                        "removed: deallocations that ownership does instead", NULL},
    .needs = (const char *const[]){memrefDeallocOpName, NULL},
    .run = run,
};
