// tile-specialize-stores: what walks over tiles hands each finished tile to a warp that only stores.
//
//   partition "multiply" { for n { …; sync; store %t, %o; fence; sync; copy %o to %C; wait } }   →
//   partition "store"    { for n { wait %written[n]; copy %o to %C; wait; arrive %taken[n] } }
//   partition "multiply" { for n { …; wait %taken[n - 1]; store %t, %o; fence; arrive %written[n] } }
//
// Why: the copy out is one thread's work. The warps that multiply need not wait until the engine has read the tile, and
//   none of their threads branches alone. If one does in the loop, ptxas computes descriptors and addresses in every
//   lane instead of once for the warp.
// Expects: kernels of partitions after tile-assign-layouts. One partition walks over tiles in a loop, as
//   tile-make-persistent makes it; the loop's end stores a tile into a buffer and copies the buffer to a view by an
//   engine. A second partition's work is that of one thread.
// Leaves: a third partition, which takes half of the second one's warps and copies. Two barriers order the partitions:
//   `written` when the tile is in the buffer, `taken` when the engine has read the buffer.
// A kernel stays as it is if the walk accesses other shared memory itself, if anything follows the copy that the copy's
//   end orders, if the third partition cannot compute what is copied where, or if the elements that threads exchange
//   need the buffer's memory.
// Sources: CUTLASS's epilogues, which store by a warp of their own from sm_100 on (sm100_gemm_tma_warpspecialized.hpp).
// Cost: linear in the ops.
#include "lib/analysis/accesses.h"
#include "lib/transforms/pipeline/pipeline.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "lib/machine/machine.h"
#include "lib/transforms/pipeline/create_partitions.h"
#include "lib/transforms/pipeline/loops.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

static const char *const statistics[] = {"stores: kernels of which a partition only stores", NULL};

// How the walk's body ends, from the last op on. Before: a tile.sync ahead of the store; it may be missing.
typedef enum Act { Wait, Copy, Sync, Fence, Store, Before, NumActs } Act;

typedef struct Split {
  MlirOperation kernel, partitions; // the tile.warp_specialize
  intptr_t walker, helper;          // the partition that stores now, and the one that gives warps away
  MlirOperation loop;               // over tiles
  MlirOperation acts[NumActs];
} Split;

//===--- questions ----------------------------------------------------------------------------===//

static MlirBlock bodyOf(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

// The last ops of the block ahead of its end, index arithmetic left out, the last one first. Null where there are
// fewer.
static void lastActs(MlirBlock block, MlirOperation acts[NumActs]) {
  MlirOperation end = mlirBlockGetTerminator(block);
  for (int i = 0; i < NumActs; ++i)
    acts[i] = (MlirOperation){NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    if (tileIsIndexArithmetic(op))
      continue;
    for (int i = NumActs - 1; i; --i)
      acts[i] = acts[i - 1];
    acts[0] = op;
  }
}

static bool isCopyOut(MlirOperation op) {
  return tileIsCopyOfBoxes(op) && mlirOperationGetNumResults(op) == 1 &&
         tileTypeIsABuffer(tileCopyAsyncOpGetSourceType(op)) && tileTypeIsAView(tileCopyAsyncOpGetDestinationType(op));
}

static bool isPlainSync(MlirOperation op) {
  return !mlirOperationIsNull(op) && tileSyncOpIsA(op) && !tileHas(op, "scope");
}

// The walk's body ends in: store, fence, sync, copy, wait. Ahead of the store there may be one more sync.
static bool readEnd(Split *split) {
  MlirOperation *acts = split->acts;
  lastActs(bodyOf(split->loop, 0), acts);
  if (!isPlainSync(acts[Before]))
    acts[Before] = (MlirOperation){NULL};
  bool isEnd = !mlirOperationIsNull(acts[Store]) && tileWaitOpIsA(acts[Wait]) && isCopyOut(acts[Copy]) &&
               isPlainSync(acts[Sync]) && tileFenceOpIsA(acts[Fence]) && tileKeywordIs(acts[Fence], "kind", "async") &&
               tileStoreOpIsA(acts[Store]);
  return isEnd && tileWaitOpGetNumTokens(acts[Wait]) == 1 &&
         mlirValueEqual(tileWaitOpGetTokens(acts[Wait], 0), tileCopyAsyncOpGetToken(acts[Copy])) &&
         tileHasOneUse(tileCopyAsyncOpGetToken(acts[Copy])) &&
         mlirValueEqual(tileStoreOpGetDestination(acts[Store]), tileCopyAsyncOpGetSource(acts[Copy]));
}

static bool isOfStore(const Split *split, MlirOperation op) {
  for (int i = 0; i < NumActs; ++i)
    if (mlirOperationEqual(split->acts[i], op))
      return true;
  return false;
}

static bool isOfMachine(MlirOperation op) {
  return tileMmaAsyncOpIsA(op) || tileMmaWaitOpIsA(op) || tileBarrierWaitOpIsA(op) || tileBarrierArriveOpIsA(op);
}

typedef struct Checking {
  const Split *split;
  bool isBad;
} Checking;

// Whether the walk's own threads may do this without the two barriers that go: memory of other parameters than the one
// that the copy writes, and tiles of views that are read ahead of it.
static MlirWalkResult check(MlirOperation op, void *data) {
  Checking *checking = data;
  const Split *split = checking->split;
  if (isOfStore(split, op) || isOfMachine(op) || scfForOpIsA(op) || !tileOpHasEffects(op))
    return MlirWalkResultAdvance;
  MlirValue written = tileRootOf(tileCopyAsyncOpGetDestination(split->acts[Copy]));
  bool isStore = tileStoreOpIsA(op) && tileTypeIsAView(tileStoreOpGetDestinationType(op)),
       isLoad = tileLoadOpIsA(op) && tileTypeIsAView(tileLoadOpGetSourceType(op));
  MlirValue other = isStore ? tileRootOf(tileStoreOpGetDestination(op)) : written;
  bool isApart = isStore && !mlirValueIsNull(written) && !mlirValueIsNull(other) &&
                 mlirValueIsABlockArgument(written) && mlirValueIsABlockArgument(other) &&
                 !tileParametersMayOverlap(written, other);
  checking->isBad |= !isLoad && !isApart && !tileReduceOpIsA(op);
  return MlirWalkResultAdvance;
}

static bool isWalkPlain(const Split *split) {
  Checking checking = {split, false};
  mlirOperationWalk(split->loop, check, &checking, MlirWalkPreOrder);
  return !checking.isBad;
}

// Whether the partition that stores can compute the value: from the tile's number and from what is outside.
static bool isKnownToStores(const Split *split, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  MlirBlock partition = bodyOf(split->partitions, split->walker);
  if (mlirOperationIsNull(op))
    return mlirValueEqual(value, mlirBlockGetArgument(bodyOf(split->loop, 0), 0)) ||
           mlirBlockEqual(mlirBlockArgumentGetOwner(value), partition);
  if (!tileIsIndexArithmetic(op))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!isKnownToStores(split, mlirOperationGetOperand(op, i)))
      return false;
  return true;
}

static bool isCopyKnown(const Split *split) {
  bool isKnown = isKnownToStores(split, scfForOpGetUpperBound(split->loop)) &&
                 isKnownToStores(split, tileCopyAsyncOpGetDestination(split->acts[Copy]));
  for (intptr_t i = 0; i < tileCopyAsyncOpGetNumIndices(split->acts[Copy]); ++i)
    isKnown = isKnown && isKnownToStores(split, tileCopyAsyncOpGetIndices(split->acts[Copy], i));
  return isKnown;
}

static intptr_t usesOf(MlirValue value) {
  intptr_t uses = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    ++uses;
  return uses;
}

// A captured buffer that the store and the copy alone use.
static bool isOwnBuffer(const Split *split) {
  MlirValue buffer = tileCopyAsyncOpGetSource(split->acts[Copy]), outside = tileCapturedValue(buffer);
  if (!mlirValueIsABlockArgument(buffer) || !tileAllocOpIsA(tileDefiningOp(outside)) || usesOf(outside) != 1 ||
      usesOf(buffer) != 2)
    return false;
  intptr_t number = mlirBlockArgumentGetArgNumber(buffer);
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(split->partitions); ++i)
    if (i != split->walker && usesOf(mlirBlockGetArgument(bodyOf(split->partitions, i), number)))
      return false;
  return true;
}

static bool hasName(const Split *split, const char *name) {
  MlirAttribute names = tileWarpSpecializeOpGetNames(split->partitions);
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(names); ++i)
    if (tileStringEquals(mlirStringAttrGetValue(mlirArrayAttrGetElement(names, i)), name))
      return true;
  return false;
}

// A partition of one thread's work with two warps or more.
static bool findHelper(Split *split) {
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(split->partitions); ++i) {
    int64_t warps = tileArrayAt(split->partitions, "warps", i);
    split->helper = i;
    if (i != split->walker && warps >= 2 && warps % 2 == 0 &&
        mlirOperationIsNull(tilePartitionDividedOp(split->partitions, i)))
      return true;
  }
  return false;
}

static bool findWalker(Split *split) {
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(split->partitions); ++i) {
    split->walker = i;
    split->loop = tilePartitionWalk(bodyOf(split->partitions, i));
    if (!mlirOperationIsNull(split->loop) && readEnd(split))
      return isWalkPlain(split) && isCopyKnown(split) && isOwnBuffer(split) && findHelper(split);
  }
  return false;
}

static bool readKernel(Split *split, const TileMachine *machine) {
  split->partitions = tilePartitionsOf(split->kernel);
  return !mlirOperationIsNull(split->partitions) &&
         mlirOperationGetNumRegions(split->partitions) < TileMostPartitions &&
         !tileArrayCount(split->partitions, "threads") && !hasName(split, "store") && findWalker(split) &&
         tileSharedMemoryLeft(split->kernel, machine, split->acts[Store]) >= 0;
}

//===--- the third partition ------------------------------------------------------------------===//

typedef struct Copies {
  TileBuilder *builder;
  MlirBlock partition, loop; // what stands in them is made anew
  TileTable table;
} Copies;

static MlirValue copyOf(Copies *copies, MlirValue value) {
  void *known = tileTableFind(&copies->table, value.ptr);
  MlirOperation op = tileDefiningOp(value);
  if (known)
    return (MlirValue){known};
  if (mlirOperationIsNull(op) || (!mlirBlockEqual(mlirOperationGetBlock(op), copies->partition) &&
                                  !mlirBlockEqual(mlirOperationGetBlock(op), copies->loop)))
    return value;
  MlirOperation clone = mlirOperationClone(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirOperationSetOperand(clone, i, copyOf(copies, mlirOperationGetOperand(op, i)));
  tileBuilderInsert(copies->builder, clone);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    tileTableSet(&copies->table, mlirOperationGetResult(op, i).ptr, (void *)mlirOperationGetResult(clone, i).ptr);
  return copyOf(copies, value);
}

// for n: what the walk copied, once it is written.
static void buildStores(const Split *split, TileBuilder builder, MlirValue written, MlirValue taken) {
  MlirOperation copy = split->acts[Copy];
  MlirBlock old = bodyOf(split->loop, 0), body;
  Copies copies = {.builder = &builder, .partition = mlirOperationGetBlock(split->loop), .loop = old};
  MlirValue indices[TILE_LAYOUT_MAX_AXES], none = {NULL}, end = copyOf(&copies, scfForOpGetUpperBound(split->loop));
  intptr_t count = tileCopyAsyncOpGetNumIndices(copy);
  tileBuildFor(&builder, tileBuildIndex(&builder, 0), end, tileBuildIndex(&builder, 1), 0, NULL, &body);
  TileBuilder inner = tileBuilderAtEnd(body, builder.location);
  MlirValue tile = mlirBlockGetArgument(body, 0);
  copies.builder = &inner;
  tileTableSet(&copies.table, mlirBlockGetArgument(old, 0).ptr, (void *)tile.ptr);
  for (intptr_t i = 0; i < count; ++i)
    indices[i] = copyOf(&copies, tileCopyAsyncOpGetIndices(copy, i));
  MlirValue view = copyOf(&copies, tileCopyAsyncOpGetDestination(copy));
  tileBarrierWaitOpBuild(&inner, written, tile);
  MlirOperation out = tileCopyAsyncOpBuild(&inner, tileTokenTypeGet(inner.context), tileCopyAsyncOpGetSource(copy),
                                           view, count, indices, none, none);
  tileCopyAsyncOpSetEngine(out, tileCopyAsyncOpGetEngine(copy));
  MlirValue token = tileCopyAsyncOpGetToken(out);
  tileWaitOpBuild(&inner, 1, &token);
  tileBarrierArriveOpBuild(&inner, taken, tile, none);
  tileBuildYield(&inner, 0, NULL);
  tileYieldOpCreate(&builder, 0, NULL);
  tileTableFree(&copies.table);
}

// The walk waits for its buffer, and says when the buffer holds a tile.
static void changeWalk(const Split *split, MlirValue written, MlirValue taken) {
  MlirValue tile = mlirBlockGetArgument(bodyOf(split->loop, 0), 0), none = {NULL};
  TileBuilder before = tileBuilderBefore(split->acts[Store]), after = tileBuilderAfter(split->acts[Fence]);
  MlirValue last = arithSubIOpBuild(&before, tile, tileBuildIndex(&before, 1));
  tileBarrierWaitOpBuild(&before, taken, last);
  tileBarrierArriveOpBuild(&after, written, tile, none);
  const Act gone[] = {Wait, Copy, Sync, Before};
  for (size_t i = 0; i < sizeof gone / sizeof *gone; ++i)
    if (!mlirOperationIsNull(split->acts[gone[i]]))
      mlirOperationDestroy(split->acts[gone[i]]);
}

//===--- the kernel ---------------------------------------------------------------------------===//

// The list with one more entry: the helper's share behind the helper, which keeps the rest.
static MlirAttribute listWith(const Split *split, const char *name, bool isDivided) {
  int64_t list[TileMostPartitions];
  intptr_t count = tileArrayCount(split->partitions, name);
  if (!count)
    return (MlirAttribute){NULL};
  for (intptr_t i = 0, j = 0; i < count; ++i) {
    int64_t share = tileArrayAt(split->partitions, name, i) / (isDivided && i == split->helper ? 2 : 1);
    list[j++] = share;
    if (i == split->helper)
      list[j++] = share;
  }
  return mlirDenseI64ArrayGet(mlirOperationGetContext(split->kernel), count + 1, list);
}

static MlirAttribute namesWith(const Split *split) {
  MlirAttribute old = tileWarpSpecializeOpGetNames(split->partitions), names[TileMostPartitions];
  MlirContext context = mlirOperationGetContext(split->kernel);
  intptr_t count = mlirArrayAttrGetNumElements(old), j = 0;
  for (intptr_t i = 0; i < count; ++i) {
    names[j++] = mlirArrayAttrGetElement(old, i);
    if (i == split->helper)
      names[j++] = mlirStringAttrGet(context, tileString("store"));
  }
  return mlirArrayAttrGet(context, j, names);
}

static void splitStores(const Split *split) {
  MlirOperation old = split->partitions;
  MlirRegion taken[TileMostPartitions], regions[TileMostPartitions];
  intptr_t count = mlirOperationGetNumRegions(old), j = 0;
  // A wait tells a round from the one before. Groups that alternate wait for every second tile: in a stage of its own.
  int64_t stages = tileSchedulesTurns(split->kernel) ? 2 : 1;
  MlirValue isWritten = tilePartitionsAddBarrier(split->kernel, old, 1),
            isTaken = tilePartitionsAddBarrier(split->kernel, old, stages);
  TileBuilder builder = tileBuilderBefore(old);
  builder.location = mlirOperationGetLocation(split->acts[Copy]);
  tilePartitionsTake(old, taken);
  for (intptr_t i = 0; i < count; ++i) {
    regions[j++] = taken[i];
    if (i == split->helper)
      buildStores(split, tileBuilderInRegion(&builder, &regions[j++], 0, NULL), isWritten, isTaken);
  }
  changeWalk(split, isWritten, isTaken);
  builder.location = mlirOperationGetLocation(old);
  tilePartitionsCreate(&builder, namesWith(split), listWith(split, "warps", true), listWith(split, "registers", false),
                       (MlirAttribute){NULL}, (int)j, regions);
  mlirOperationDestroy(old);
}

//===--- the pass -----------------------------------------------------------------------------===//

static bool run(MlirOperation kernel, MlirExtPass pass) {
  MlirAttribute attribute;
  Split split = {.kernel = kernel};
  if (mlirBlockIsNull(bodyOf(kernel, 0)) || tileKernelOpHasOrdered(kernel))
    return true;
  TileMachine *machine = tileMachineOf(kernel, pass, &attribute);
  if (!machine)
    return false;
  if (!mlirAttributeIsNull(attribute) && readKernel(&split, machine)) {
    splitStores(&split);
    mlirExtPassAddStatistic(pass, 0, 1);
  }
  tileMachineDestroy(machine);
  return true;
}

const MlirExtPassDefinition tileSpecializeStoresPass = {
    .argument = "tile-specialize-stores",
    .summary = "Let warps of their own store what others compute tile by tile",
    .anchor = tileKernelOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION, {NULL}},
    .statistics = statistics,
    .dialects = (const char *const[]){"arith", "scf", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
