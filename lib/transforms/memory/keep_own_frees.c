// tile-keep-own-frees: what a function frees by itself is left to it.
//
//   memref.dealloc %m  →  memref.dealloc %m {bufferization.manual_deallocation}, and so its memref.alloc
//
// Why: upstream's ownership-based deallocation refuses a function that frees memory, unless that mark is there.
// Expects: func.func on buffers, reallocations expanded, before deallocation. Leaves: the same ops. Where a free does
// not show its allocation (a loop carries the buffer), no allocation of the function is freed but by the function: what
// the function forgets then is not freed. Cost: linear, times the frees that show no allocation.
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/transforms/memory/memory.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/func.h"
#include "upstream/memref.h"

// The memref.alloc that the buffer is a view of; null where that is not seen.
static MlirOperation allocationOf(MlirValue buffer) {
  MlirOperation op = tileDefiningOp(tileMemoryRoot(buffer));
  return memrefAllocOpIsA(op) ? op : (MlirOperation){NULL};
}

// Upstream's deallocation leaves what carries this mark to the program.
static void leaveToProgram(MlirOperation op) {
  mlirOperationSetDiscardableAttributeByName(op, tileString("bufferization.manual_deallocation"),
                                             mlirUnitAttrGet(mlirOperationGetContext(op)));
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps frees = tileCollectOps(function, memrefDeallocOpIsA),
          allocations = tileCollectOps(function, memrefAllocOpIsA);
  for (intptr_t i = 0; i < frees.count; ++i) {
    MlirOperation allocation = allocationOf(memrefDeallocOpGetMemref(frees.items[i]));
    leaveToProgram(frees.items[i]);
    if (!mlirOperationIsNull(allocation))
      leaveToProgram(allocation);
    for (intptr_t k = 0; k < allocations.count && mlirOperationIsNull(allocation); ++k)
      leaveToProgram(allocations.items[k]);
  }
  tileOpsFree(&allocations);
  mlirExtPassAddStatistic(pass, 0, (uint64_t)frees.count);
  tileOpsFree(&frees);
  return true;
}

const MlirExtPassDefinition tileKeepOwnFreesPass = {
    .argument = "tile-keep-own-frees",
    .summary = "Leave the buffers that a function frees by itself to the function",
    .anchor = funcFuncOpName,
    .statistics = (const char *const[]){"frees: deallocations of the program's own", NULL},
    .run = run,
};
