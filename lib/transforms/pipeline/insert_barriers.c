// tile-insert-barriers: every barrier that a kernel needs between its threads becomes a tile.sync in it.
// Expects: scheduled kernels after tile-plan-shared-memory. Leaves: `ordered` on the kernel, and a tile.sync before
// each
//   op that reads or writes what other threads may still use: global memory and local buffers, which a program
//   accesses in program order (docs/numerics.md, section 6); bytes of shared memory that pass from one owner to
//   another; and around atomics that release or acquire. A tile.sync before which nothing was accessed since the last
//   one, on every path, is removed. Shared buffers are ordered by the program's own tile.sync. A kernel that is ordered
//   already stays as it is.
// Why: a barrier that stands in the kernel can be read, moved and removed; a conversion to a GPU adds none.
// Method: accesses since the last barrier flow forward; at the head of a loop what comes in joins what comes round,
//   until nothing is new. Parameters may share memory unless one is marked llvm.noalias. A partition of warps is
//   synchronized by the tile.sync in it; partitions among each other, by their barriers in memory. Two accesses to one
//   tile of a view in one layout need no barrier: each thread meets its own elements.
// Source: the membar analysis of Triton, with places instead of allocations. Cost: linear in the ops for each round.
#include "lib/transforms/pipeline/pipeline.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/ir/pass.h"
#include "lib/transforms/pipeline/accesses.h"
#include "upstream/scf.h"

enum { Inserted, Removed };

static const char *const statistics[] = {"inserted: barriers that the kernels lacked",
                                         "removed: barriers that nothing needs", NULL};

typedef struct Order {
  MlirExtPass pass;
  const Lifetimes *lifetimes;
  Accesses open; // since the last barrier
  int depth;     // rounds of loops that are only followed, to find out what comes round
} Order;

static void close(Order *order) { order->open.count = 0; }

static Accesses copyOf(const Accesses *accesses) {
  Accesses copy = {.items = NULL};
  tileAccessesJoin(&copy, accesses);
  return copy;
}

static void become(Order *order, Accesses accesses) {
  tileAccessesFree(&order->open);
  order->open = accesses;
}

static MlirBlock blockOf(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

//===--- ops ------------------------------------------------------------------------------------------===//

static bool changesIr(const Order *order) { return order->depth == 0; }

static void insertSync(Order *order, TileBuilder builder) {
  if (changesIr(order)) {
    tileSyncOpCreate(&builder);
    mlirExtPassAddStatistic(order->pass, Inserted, 1);
  }
  close(order);
}

static void visitSync(Order *order, MlirOperation op) {
  if (!order->open.count && changesIr(order)) {
    mlirOperationDestroy(op);
    mlirExtPassAddStatistic(order->pass, Removed, 1);
  }
  close(order);
}

static void visitPlain(Order *order, MlirOperation op) {
  OpAccesses own = {.hasBarrier = false};
  tileAccessesOf(order->lifetimes, op, &own);
  bool mustWait = tileAccessesConflict(&order->open, &own.accesses) || (own.needsBefore && order->open.count);
  if (mustWait)
    insertSync(order, tileBuilderBefore(op));
  if (own.hasBarrier)
    close(order);
  if (own.isOverAtBarrier)
    tileAccessesKeepPlaces(&own.accesses);
  tileAccessesJoin(&order->open, &own.accesses);
  if (own.needsAfter)
    insertSync(order, tileBuilderAfter(op));
  tileAccessesFree(&own.accesses);
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
    tileAccessesNextRound(&order->open, op);
    tileAccessesJoin(&head, &order->open);
  } while (head.count != before);
  --order->depth;
  become(order, copyOf(&head));
  for (intptr_t i = 0; i < regions; ++i) {
    visitBlock(order, blockOf(op, i));
    if (i == 0)
      tileAccessesJoin(&after, &order->open);
  }
  tileAccessesNextRound(&after, op); // behind the loop its indices are gone
  if (regions == 1)                  // a loop that runs not at all leaves what came in
    tileAccessesJoin(&after, &head);
  tileAccessesFree(&head);
  become(order, after);
}

static void visitChoice(Order *order, MlirOperation op) {
  Accesses before = copyOf(&order->open), after = {.items = NULL};
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i) {
    become(order, copyOf(&before));
    if (!mlirBlockIsNull(blockOf(op, i)))
      visitBlock(order, blockOf(op, i));
    tileAccessesJoin(&after, &order->open);
  }
  tileAccessesFree(&before);
  become(order, after);
}

static void visit(Order *order, MlirOperation op) {
  if (tileSyncOpIsA(op))
    visitSync(order, op);
  else if (scfForOpIsA(op))
    visitLoop(order, op, 1);
  else if (scfWhileOpIsA(op))
    visitLoop(order, op, 2);
  else if (scfIfOpIsA(op) || tileWarpSpecializeOpIsA(op))
    visitChoice(order, op);
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

static void readThreads(MlirOperation kernel, MlirExtPass pass, Lifetimes *lifetimes) {
  MlirAttribute attribute;
  TileMachine *machine = tileMachineOf(kernel, pass, &attribute);
  int64_t width = 0, warps = 1;
  if (machine && !mlirAttributeIsNull(attribute))
    tileMachineGetInteger(machine, "warp.width", &width);
  tileMachineDestroy(machine);
  tileIntegerOf(kernel, "warps", &warps);
  lifetimes->lanes = (uint32_t)width;
  lifetimes->warps = (uint32_t)warps;
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
    visitBlock(&order, body);
    tileAccessesFree(&order.open);
    tileKernelOpSetOrdered(kernel, mlirUnitAttrGet(mlirOperationGetContext(kernel)));
  }
  tileLifetimesDestroy(lifetimes);
  return ok;
}

const MlirExtPassDefinition tileInsertBarriersPass = {
    .argument = "tile-insert-barriers",
    .summary = "Insert the barriers that a kernel needs between its threads; remove those it does not need",
    .anchor = "tile.kernel",
    .statistics = statistics,
    .run = run,
};
