// tile-insert-barriers: every barrier that a kernel needs between its threads becomes a tile.sync in it.
// Expects: scheduled kernels after tile-plan-shared-memory. Leaves: `ordered` on the kernel, and a tile.sync before
// each
//   op that reads or writes what other threads may still use: global memory and local buffers, which a program
//   accesses in program order (docs/numerics.md, section 6); bytes of shared memory that pass from one owner to
//   another; and around atomics that release or acquire. Where programs of a cluster reach each other's memory, a
//   tile.sync cluster stands behind the making of barriers and at the kernel's end. A tile.sync before which nothing
//   was accessed since the last one, on every path, is removed. Shared buffers are ordered by the program's own
//   tile.sync. A kernel that is ordered already stays as it is.
// Why: a barrier that stands in the kernel can be read, moved and removed; a conversion to a GPU adds none.
// Method: accesses since the last barrier flow forward; at the head of a loop what comes in joins what comes round,
//   until nothing is new. Parameters may share memory unless one is marked llvm.noalias. A partition of warps is
//   synchronized by the tile.sync in it; partitions among each other, by their barriers in memory. Two accesses to one
//   tile of a view in one layout need no barrier: each thread meets its own elements.
// Source: the membar analysis of Triton, with places instead of allocations. Cost: linear in the ops for each round.
#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/analysis/scratch.h"
#include "lib/capi/op.h"
#include "lib/ir/enclosing.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/ir/support.h"
#include "lib/support/grow.h"
#include "lib/transforms/pipeline/lifetimes.h"
#include "lib/transforms/pipeline/pipeline.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <stdlib.h>

//===--- accesses ---------------------------------------------------------------===//

// What an op of a scheduled kernel does to memory that other threads of the kernel see, and what a list of such
// accesses means for the next one.

// Program order holds within one program instance, across its threads too, for global memory and local buffers. A
// shared buffer is ordered by the program's own tile.sync and tile.wait; only what passes its place on is ordered here.
typedef enum AccessTo {
  Access_Global, // root: the parameter; null: any memory
  Access_Local,  // root: the alloc's result
  Access_Place,  // bytes of shared memory; root: the alloc's result
  Access_Order,  // an atomic that acquires: what stands behind it waits for it
} AccessTo;

typedef struct MemoryAccess {
  AccessTo kind;
  MlirValue root;
  bool isWrite;
  int64_t offset, bytes;
  MlirOperation op; // a load or store of a view's tile whose elements one thread each accesses, or a store of a scalar;
                    // null: not known
} MemoryAccess;

typedef struct Accesses {
  MemoryAccess *items;
  intptr_t count;
} Accesses;

// What the op itself accesses, regions left out, and what it needs around it.
typedef struct OpAccesses {
  Accesses accesses;
  bool needsBefore; // an atomic that releases: for every access
  bool needsAfter;  // barriers in memory that one thread has made
} OpAccesses;

//===--- lists ----------------------------------------------------------------------------------------===//

static bool isSame(const MemoryAccess *a, const MemoryAccess *b) {
  return a->kind == b->kind && mlirValueEqual(a->root, b->root) && a->isWrite == b->isWrite && a->offset == b->offset &&
         a->bytes == b->bytes && mlirOperationEqual(a->op, b->op);
}

static void accessesAdd(Accesses *accesses, MemoryAccess access) {
  for (intptr_t i = 0; i < accesses->count; ++i)
    if (isSame(&accesses->items[i], &access))
      return;
  accesses->items = tessera_grow(accesses->items, accesses->count, sizeof *accesses->items);
  accesses->items[accesses->count++] = access;
}

static void accessesJoin(Accesses *accesses, const Accesses *more) {
  for (intptr_t i = 0; i < more->count; ++i)
    accessesAdd(accesses, more->items[i]);
}

static void accessesFree(Accesses *accesses) {
  free(accesses->items);
  *accesses = (Accesses){.items = NULL};
}

// Indices of the loop have other values then.
static void accessesNextRound(Accesses *accesses, MlirOperation loop) {
  Accesses next = {.items = NULL};
  for (intptr_t i = 0; i < accesses->count; ++i) {
    MemoryAccess access = accesses->items[i];
    if (!mlirOperationIsNull(access.op) && !memrefStoreOpIsA(access.op) && !tileAreOperandsOutside(loop, access.op))
      access.op = (MlirOperation){NULL};
    accessesAdd(&next, access);
  }
  accessesFree(accesses);
  *accesses = next;
}

//===--- conflicts ------------------------------------------------------------------------------------===//

static MlirType tileOf(MlirOperation access) {
  return tileLoadOpIsA(access) ? tileLoadOpGetResultType(access) : tileStoreOpGetValueType(access);
}

// Two accesses to the same tile of a view in the same layout: each thread meets its own elements. Scalars are all
// stored by the first thread.
static bool isOfSameThreads(MlirOperation a, MlirOperation b) {
  if (mlirOperationIsNull(a) || mlirOperationIsNull(b))
    return false;
  if (memrefStoreOpIsA(a) || memrefStoreOpIsA(b))
    return memrefStoreOpIsA(a) && memrefStoreOpIsA(b);
  intptr_t first = tileStoreOpIsA(a), second = tileStoreOpIsA(b), count = mlirOperationGetNumOperands(a) - first;
  if (mlirOperationGetNumOperands(b) - second != count || !mlirTypeEqual(tileOf(a), tileOf(b)))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    if (!mlirValueEqual(mlirOperationGetOperand(a, i + first), mlirOperationGetOperand(b, i + second)))
      return false;
  return true;
}

// `a` is the earlier one.
static bool conflicts(const MemoryAccess *a, const MemoryAccess *b) {
  if (a->kind == Access_Order && b->kind == Access_Global)
    return true;
  if (a->kind != b->kind)
    return false;
  bool isUnknown = mlirValueIsNull(a->root) || mlirValueIsNull(b->root);
  switch (a->kind) {
  case Access_Global:
    return (a->isWrite || b->isWrite) && (isUnknown || tileParametersMayOverlap(a->root, b->root)) &&
           !isOfSameThreads(a->op, b->op);
  case Access_Local:
    return (a->isWrite || b->isWrite) && mlirValueEqual(a->root, b->root) && !isOfSameThreads(a->op, b->op);
  case Access_Place: // the owner's own accesses are the program's to order
    return !mlirValueEqual(a->root, b->root) && a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
  case Access_Order:
    return false;
  }
  return true;
}

// Whether an access must wait until all threads are through with an earlier one.
static bool accessesConflict(const Accesses *earlier, const Accesses *later) {
  for (intptr_t i = 0; i < earlier->count; ++i)
    for (intptr_t j = 0; j < later->count; ++j)
      if (conflicts(&earlier->items[i], &later->items[j]))
        return true;
  return false;
}

//===--- ops ------------------------------------------------------------------------------------------===//

// The parameter behind a memref or view; null: not known.
static MlirValue rootOf(MlirValue memory) {
  MlirValue root = tileRootOf(memory);
  return !mlirValueIsNull(root) && mlirValueIsABlockArgument(root) ? root : (MlirValue){NULL};
}

// Local buffers, and memrefs unless they lie in the memory space "shared".
static bool isOrderedHere(MlirType type) {
  return mlirTypeIsAMemRef(type) ? mlirAttributeIsNull(mlirMemRefTypeGetMemorySpace(type))
                                 : tileStringEquals(tileBufferTypeGetLevel(type), "local");
}

// `op`: as in MemoryAccess.
static void addBuffer(const Lifetimes *lifetimes, MlirValue buffer, bool isWrite, MlirOperation op,
                      Accesses *accesses) {
  const BufferPlace *place = tilePlaceOf(lifetimes, buffer);
  if (!place || place->level != Level_Shared)
    return;
  MlirValue root = tileAllocOpGetResult(place->alloc);
  accessesAdd(accesses, (MemoryAccess){Access_Place, root, true, place->offset, place->bytes});
  if (isOrderedHere(mlirValueGetType(root)))
    accessesAdd(accesses, (MemoryAccess){Access_Local, root, isWrite, 0, 0, op});
}

static uint32_t warpsOf(MlirOperation op) {
  int64_t warps = tileWarpsOf(op);
  return warps ? (uint32_t)warps : 1;
}

// A load or store of a tile of a view, each of whose elements one thread has; a store of a scalar.
static bool isExact(const Lifetimes *lifetimes, MlirOperation op) {
  if (memrefStoreOpIsA(op))
    return true;
  if (!lifetimes->lanes || (!tileLoadOpIsA(op) && !tileStoreOpIsA(op)) || !tileTypeIsATile(tileOf(op)) ||
      mlirAttributeIsNull(tileTypeGetLayout(tileOf(op))))
    return false;
  TileLayout layout = tileLayoutAttrGetLayout(tileTypeGetLayout(tileOf(op)));
  return !tileHasCopies(&layout, lifetimes->lanes, warpsOf(op));
}

static void addOperand(const Lifetimes *lifetimes, MlirOperation op, MlirValue memory, bool isWrite,
                       Accesses *accesses) {
  MlirType type = mlirValueGetType(memory);
  MlirValue root = tileRootOf(memory);
  if (tileAllocOpIsA(tileDefiningOp(root)) && !tileTypeIsABarrier(mlirValueGetType(root)))
    addBuffer(lifetimes, root, isWrite, memrefStoreOpIsA(op) ? op : (MlirOperation){NULL}, accesses);
  else if (mlirTypeIsAMemRef(type) || tileTypeIsAView(type))
    accessesAdd(accesses, (MemoryAccess){Access_Global, rootOf(memory), isWrite, 0, 0,
                                         isExact(lifetimes, op) ? op : (MlirOperation){NULL}});
}

typedef struct Adding {
  const Lifetimes *lifetimes;
  Accesses *accesses;
} Adding;

// What an ordered atomic says of all memory concerns barriers only, as tile.sync does.
static void addEffect(MlirOperation op, TileEffect effect, void *data) {
  Adding *adding = data;
  bool isWrite = effect.kind == MlirExtEffect_Write && !tileAtomicLoadOpIsA(op); // which says so to stay apart
  if ((!isWrite && effect.kind != MlirExtEffect_Read) || effect.resource != MlirExtResource_Memory)
    return;
  if (mlirValueIsNull(effect.value))
    accessesAdd(adding->accesses, (MemoryAccess){.isWrite = isWrite});
  else
    addOperand(adding->lifetimes, op, effect.value, isWrite, adding->accesses);
}

// Copies land by then: at the places that they were under way to, and in local buffers as writes.
static void addLanding(const Lifetimes *lifetimes, MlirOperation wait, OpAccesses *result) {
  Life now = tileLifeOf(lifetimes, wait);
  for (intptr_t i = 0; i < lifetimes->numPlaces; ++i) {
    const BufferPlace *place = &lifetimes->places[i];
    if (place->isCopiedInto && tileLivesMeet(place->life, now))
      addBuffer(lifetimes, tileAllocOpGetResult(place->alloc), true, (MlirOperation){NULL}, &result->accesses);
  }
}

// One thread makes barriers in memory, and one warp allocates tensor memory. Behind the last of several in a row, all
// threads see them.
static bool isInTensorMemory(MlirOperation op) {
  MlirType type = tileAllocOpIsA(op) ? tileAllocOpGetResultType(op) : (MlirType){NULL};
  return !mlirTypeIsNull(type) && tileTypeIsABuffer(type) && tileStringEquals(tileBufferTypeGetLevel(type), "tmem");
}

static bool makesBarrier(MlirOperation op) {
  return !mlirOperationIsNull(op) && tileAllocOpIsA(op) &&
         (tileTypeIsABarrier(tileAllocOpGetResultType(op)) || isInTensorMemory(op));
}

static bool isOrdered(MlirOperation op, const char *order) {
  return tileKeywordIs(op, "order", order) || tileKeywordIs(op, "order", "acq_rel");
}

static void accessesOf(const Lifetimes *lifetimes, MlirOperation op, OpAccesses *result) {
  if (!tileAtomicWaitOpIsA(op)) // only the thread that signals looks
    tileOpVisitEffects(op, addEffect, &(Adding){lifetimes, &result->accesses});
  if (tileWaitOpIsA(op))
    addLanding(lifetimes, op, result);
  bool isAtomic = tileAtomicRmwOpIsA(op) || tileAtomicCasOpIsA(op);
  result->needsBefore = (isAtomic || tileAtomicStoreOpIsA(op)) && isOrdered(op, "release");
  if ((isAtomic || tileAtomicLoadOpIsA(op) || tileAtomicWaitOpIsA(op)) && isOrdered(op, "acquire"))
    accessesAdd(&result->accesses, (MemoryAccess){.kind = Access_Order});
  result->needsAfter = makesBarrier(op) && !makesBarrier(mlirOperationGetNextInBlock(op));
}

//===--- places of barriers ------------------------------------------------------===//

enum { Inserted, Removed };

static const char *const statistics[] = {"inserted: barriers that the kernels lacked",
                                         "removed: barriers that nothing needs", NULL};

typedef struct Order {
  MlirExtPass pass;
  const Lifetimes *lifetimes;
  Accesses open;    // since the last barrier
  bool isClustered; // programs reach each other's memory
  int depth;        // rounds of loops that are only followed, to find out what comes round
} Order;

static void close(Order *order) { order->open.count = 0; }

static Accesses copyOf(const Accesses *accesses) {
  Accesses copy = {.items = NULL};
  accessesJoin(&copy, accesses);
  return copy;
}

static void become(Order *order, Accesses accesses) {
  accessesFree(&order->open);
  order->open = accesses;
}

static MlirBlock blockOf(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

//===--- ops ------------------------------------------------------------------------------------------===//

static bool changesIr(const Order *order) { return order->depth == 0; }

static void insertSync(Order *order, TileBuilder builder) {
  if (changesIr(order)) {
    tileSyncOpBuild(&builder);
    mlirExtPassAddStatistic(order->pass, Inserted, 1);
  }
  close(order);
}

static void insertClusterSync(Order *order, TileBuilder builder) {
  if (changesIr(order)) {
    tileSyncOpSetScope(tileSyncOpBuild(&builder), mlirStringAttrGet(builder.context, tileString("cluster")));
    mlirExtPassAddStatistic(order->pass, Inserted, 1);
  }
  close(order);
}

static void visitSync(Order *order, MlirOperation op) {
  if (!order->open.count && changesIr(order) && !tileHas(op, "scope")) {
    mlirOperationDestroy(op);
    mlirExtPassAddStatistic(order->pass, Removed, 1);
  }
  close(order);
}

static bool isClusterSync(MlirOperation op) {
  return !mlirOperationIsNull(op) && tileSyncOpIsA(op) && tileHas(op, "scope");
}

static void visitPlain(Order *order, MlirOperation op) {
  OpAccesses own = {.needsAfter = false};
  accessesOf(order->lifetimes, op, &own);
  bool mustWait = accessesConflict(&order->open, &own.accesses) || (own.needsBefore && order->open.count);
  if (mustWait)
    insertSync(order, tileBuilderBefore(op));
  accessesJoin(&order->open, &own.accesses);
  if (own.needsAfter && order->isClustered && !isClusterSync(mlirOperationGetNextInBlock(op)))
    insertClusterSync(order, tileBuilderAfter(op));
  else if (own.needsAfter && !order->isClustered)
    insertSync(order, tileBuilderAfter(op));
  accessesFree(&own.accesses);
}

//===--- control flow ---------------------------------------------------------------------------------===//

static void visitBlock(Order *order, MlirBlock block);

// Regions in this order make a round: a `for` has one, a `while` two and is left behind the first.
static void visitLoop(Order *order, MlirOperation op, intptr_t regions) {
  intptr_t before;
  Accesses head = copyOf(&order->open), after = {.items = NULL};
  ++order->depth;
  do {
    before = head.count;
    become(order, copyOf(&head));
    for (intptr_t i = 0; i < regions; ++i)
      visitBlock(order, blockOf(op, i));
    accessesNextRound(&order->open, op);
    accessesJoin(&head, &order->open);
  } while (head.count != before);
  --order->depth;
  become(order, copyOf(&head));
  for (intptr_t i = 0; i < regions; ++i) {
    visitBlock(order, blockOf(op, i));
    if (i == 0)
      accessesJoin(&after, &order->open);
  }
  accessesNextRound(&after, op); // behind the loop its indices are gone
  if (regions == 1)              // a loop that runs not at all leaves what came in
    accessesJoin(&after, &head);
  accessesFree(&head);
  become(order, after);
}

static void visitChoice(Order *order, MlirOperation op) {
  Accesses before = copyOf(&order->open), after = {.items = NULL};
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i) {
    become(order, copyOf(&before));
    if (!mlirBlockIsNull(blockOf(op, i)))
      visitBlock(order, blockOf(op, i));
    accessesJoin(&after, &order->open);
  }
  accessesFree(&before);
  become(order, after);
}

// The op ends when all partitions have. At the kernel's end nothing waits for that.
static void visitPartitions(Order *order, MlirOperation op) {
  visitChoice(order, op);
  bool isLast = mlirOperationEqual(mlirOperationGetNextInBlock(op), mlirBlockGetTerminator(mlirOperationGetBlock(op)));
  if (!isLast || !tileKernelOpIsA(mlirOperationGetParentOperation(op)))
    insertSync(order, tileBuilderAfter(op));
}

static void visit(Order *order, MlirOperation op) {
  if (tileSyncOpIsA(op))
    visitSync(order, op);
  else if (scfForOpIsA(op))
    visitLoop(order, op, 1);
  else if (scfWhileOpIsA(op))
    visitLoop(order, op, 2);
  else if (scfIfOpIsA(op))
    visitChoice(order, op);
  else if (tileWarpSpecializeOpIsA(op))
    visitPartitions(order, op);
  else
    visitPlain(order, op);
}

static void visitBlock(Order *order, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block), next; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    visit(order, op);
  }
}

//===--- the pass -------------------------------------------------------------------------------------===//

static bool arePlaced(const Lifetimes *lifetimes) {
  for (intptr_t i = 0; i < lifetimes->numPlaces; ++i)
    if (!lifetimes->places[i].isPlaced)
      return tileError(lifetimes->places[i].alloc, "has no offset; run tile-plan-shared-memory first");
  return true;
}

// Copies that other programs of the cluster receive, arrivals at their barriers.
static MlirWalkResult findReaching(MlirOperation op, void *found) {
  bool arrives = tileBarrierArriveOpIsA(op) && !mlirValueIsNull(tileBarrierArriveOpGetRank(op));
  bool reaches = arrives || ((tileCopyAsyncOpIsA(op) || tileBarrierArriveOpIsA(op)) && tileHas(op, "multicast"));
  *(bool *)found |= reaches;
  return reaches ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

// A tile.sync before the end, for who gives back memory that all have used.
static void syncAtEnd(Order *order, MlirBlock body) {
  MlirOperation end = mlirBlockGetTerminator(body), last = mlirBlockGetFirstOperation(body);
  while (!mlirOperationEqual(mlirOperationGetNextInBlock(last), end))
    last = mlirOperationGetNextInBlock(last);
  if (!tileSyncOpIsA(last))
    insertSync(order, tileBuilderBefore(end));
}

// No program ends while others may reach its memory.
static void meetAtEnd(Order *order, MlirBlock body) {
  MlirOperation end = mlirBlockGetTerminator(body), last = mlirBlockGetFirstOperation(body);
  while (!mlirOperationEqual(mlirOperationGetNextInBlock(last), end))
    last = mlirOperationGetNextInBlock(last);
  if (!isClusterSync(last))
    insertClusterSync(order, tileBuilderBefore(end));
}

static void readThreads(MlirOperation kernel, MlirExtPass pass, Lifetimes *lifetimes) {
  MlirAttribute attribute;
  TileMachine *machine = tileMachineOf(kernel, pass, &attribute);
  int64_t width = 0;
  if (machine && !mlirAttributeIsNull(attribute))
    tileMachineGetInteger(machine, "warp.width", &width);
  tileMachineDestroy(machine);
  lifetimes->lanes = (uint32_t)width;
}

static bool run(MlirOperation kernel, MlirExtPass pass) {
  MlirBlock body = mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel));
  if (mlirBlockIsNull(body) || tileKernelOpHasOrdered(kernel))
    return true;
  Lifetimes *lifetimes = tileLifetimes(kernel);
  bool ok = arePlaced(lifetimes);
  readThreads(kernel, pass, lifetimes);
  if (ok) {
    Order order = {.pass = pass, .lifetimes = lifetimes};
    mlirOperationWalk(kernel, findReaching, &order.isClustered, MlirWalkPreOrder);
    visitBlock(&order, body);
    TileOps tensors = tileCollectOps(kernel, isInTensorMemory);
    if (tensors.count)
      syncAtEnd(&order, body);
    tileOpsFree(&tensors);
    if (order.isClustered)
      meetAtEnd(&order, body);
    accessesFree(&order.open);
    tileKernelOpSetOrdered(kernel, mlirUnitAttrGet(mlirOperationGetContext(kernel)));
  }
  tileLifetimesDestroy(lifetimes);
  return ok;
}

const MlirExtPassDefinition tileInsertBarriersPass = {
    .argument = "tile-insert-barriers",
    .summary = "Insert the barriers that a kernel needs between its threads; remove those it does not need",
    .anchor = tileKernelOpName,
    .statistics = statistics,
    .run = run,
};
