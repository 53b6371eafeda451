// tile-order-shared-loads{ahead=N}: loads from shared memory stand shortly before the work that first needs them.
//
//   %a = llvm.load %p …                          %a = llvm.load %p …
//   %b = llvm.load %q …                          %x = fma %a …        } N ops of work
//   %x = fma %a …; … many …                  →   …
//   %y = fma %b …                                %b = llvm.load %q …
//                                                … N ops of work, then %y = fma %b …
//
// Why: a product's factors are loaded for all of a step of k before its first multiply-add. They would need hundreds of
// registers, and a warp would first load and then compute, though one warp's loads and multiply-adds can overlap. A
// chip's assembler moves loads in the same way; where nobody does, the order of the program is the order of execution.
// Expects: llvm in a gpu.module, at the end of a pipeline. Leaves: the same ops in another order. A load goes down past
// ops without memory effects and past other loads, together with the llvm.extractelement ops that take it apart, no
// further than N ops of work ahead of its first use. Loads of global memory stay where they are: their latency is
// longer than a step. Cost: linear.
#include "lib/capi/op.h"
#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "lib/support/grow.h"
#include "lib/transforms/pipeline/pipeline.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"

#include <stdlib.h>

enum { SharedSpace = 3 };

//===--- questions -----------------------------------------------------------------------------------===//

static bool isPlainLoad(MlirOperation op) {
  return llvmLoadOpIsA(op) && !llvmLoadOpHasVolatile(op) &&
         (mlirAttributeIsNull(llvmLoadOpGetOrdering(op)) || !mlirIntegerAttrGetValueInt(llvmLoadOpGetOrdering(op)));
}

static bool isSharedLoad(MlirOperation op) {
  return isPlainLoad(op) && mlirLLVMPointerTypeGetAddressSpace(llvmLoadOpGetAddrType(op)) == SharedSpace;
}

// Ops that a load may go past.
static bool isPassed(MlirOperation op) { return isPlainLoad(op) || mlirExtOperationIsPure(op); }

// Takes an element out of what a load of the same block loaded.
static bool isPart(MlirOperation op) {
  MlirOperation load =
      llvmExtractElementOpIsA(op) ? tileDefiningOp(llvmExtractElementOpGetVector(op)) : (MlirOperation){NULL};
  return !mlirOperationIsNull(load) && isSharedLoad(load) &&
         mlirBlockEqual(mlirOperationGetBlock(load), mlirOperationGetBlock(op));
}

//===--- a run of ops without effects ----------------------------------------------------------------===//

// A load, or a part of the load before it in the list that is not a part.
typedef struct Item {
  MlirOperation op;
  intptr_t place, use; // the next work when it stood there; the first work that needs it, -1: none in the run
  struct Item *load;   // null: it is one
} Item;

// Ops between two that may change memory. Work is what is neither a load from shared memory nor a part of one.
typedef struct Run {
  TileOps work;
  Item **items;
  intptr_t count;
  TileTable itemOf; // loads and parts
} Run;

static void addItem(Run *run, MlirOperation op, Item *load) {
  Item *item = malloc(sizeof *item);
  *item = (Item){op, run->work.count, -1, load};
  run->items = tessera_grow(run->items, run->count, sizeof *run->items);
  run->items[run->count++] = item;
  tileTableSet(&run->itemOf, op.ptr, item);
}

static void addWork(Run *run, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirOperation from = tileDefiningOp(mlirOperationGetOperand(op, i));
    Item *item = mlirOperationIsNull(from) ? NULL : tileTableFind(&run->itemOf, from.ptr);
    item = item && item->load ? item->load : item;
    if (item && item->use < 0)
      item->use = run->work.count;
  }
  tileOpsAppend(&run->work, op);
}

static void add(Run *run, MlirOperation op) {
  Item *load = isPart(op) ? tileTableFind(&run->itemOf, tileDefiningOp(llvmExtractElementOpGetVector(op)).ptr) : NULL;
  if (isSharedLoad(op) || load)
    addItem(run, op, load);
  else
    addWork(run, op);
}

// Ops of one place keep their order, as they move there one after another. Returns how many loads moved.
static uint64_t order(Run *run, int64_t ahead) {
  uint64_t moved = 0;
  for (intptr_t i = 0; i < run->count; ++i) {
    const Item *item = run->items[i], *load = item->load ? item->load : item;
    intptr_t target = load->use - ahead;
    if (target <= load->place || item->place > target)
      continue;
    mlirOperationMoveBefore(item->op, run->work.items[target]);
    moved += !item->load;
  }
  return moved;
}

static void empty(Run *run) {
  for (intptr_t i = 0; i < run->count; ++i)
    free(run->items[i]);
  free(run->items);
  tileOpsFree(&run->work);
  tileTableFree(&run->itemOf);
  *run = (Run){{NULL}};
}

//===--- the pass ------------------------------------------------------------------------------------===//

static uint64_t orderBlock(MlirBlock block, int64_t ahead) {
  Run run = {{NULL}};
  uint64_t moved = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block), next; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (isPassed(op)) {
      add(&run, op);
      continue;
    }
    moved += order(&run, ahead);
    empty(&run);
  }
  moved += order(&run, ahead);
  empty(&run);
  return moved;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  int64_t ahead = mlirExtPassGetInteger(pass, "ahead");
  if (ahead < 1)
    return tileError(module, "ahead: %lld; accepts 1 and more", (long long)ahead);
  TileOps functions = tileCollectOps(module, llvmLLVMFuncOpIsA);
  for (intptr_t i = 0; i < functions.count; ++i)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(functions.items[i], 0));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      mlirExtPassAddStatistic(pass, 0, orderBlock(block, ahead));
  tileOpsFree(&functions);
  return true;
}

const MlirExtPassDefinition tileOrderSharedLoadsPass = {
    .argument = "tile-order-shared-loads",
    .summary = "Load from shared memory shortly before the work that first needs what is loaded",
    .options =
        (const MlirExtPassOption[]){
            {"ahead", "ops of work between a load and its first use", MlirExtOption_Integer, "24"}, {NULL}},
    .statistics = (const char *const[]){"moved: loads that stand later", NULL},
    .run = run,
};
