// tile-plan-shared-memory{chip=NAME}: every buffer, and every op that combines elements across threads, gets its place
// in shared memory. Expects: scheduled kernels without calls, after tile-exchange-in-shared-memory. Leaves: `at OFFSET`
//   on each tile.alloc, and `tile.scratch = array<i64: OFFSET, BYTES>` on each op whose threads exchange what they have
//   computed so far: reductions, scans, sorts, atomics whose result all threads get. Buffers that live at different
//   times may lie in the same place: the largest are placed first, each at the lowest offset that no other of its time
//   has (greedy by size, Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020). Scratch
//   takes the lowest place that no buffer has at the op. What is placed already stays. Memories of different levels are
//   planned apart.
// Cost: linear in the ops times the buffers.
#include "lib/transforms/pipeline/pipeline.h"

#include "dialects/tile/discardable.h"
#include "lib/support/integer.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/analysis/scratch.h"
#include "lib/ir/pass.h"
#include "lib/machine/machine.h"
#include "lib/transforms/pipeline/lifetimes.h"

#include <stdio.h>
#include <stdlib.h>

enum { Buffers, Exchanges, SharedBytes, ApartBytes };

static const char *const statistics[] = {
    "buffers: buffers placed",
    "exchanges: ops that exchange elements through shared memory",
    "shared_bytes: shared memory that a block of each kernel needs, all kernels together",
    "shared_bytes_apart: the same if every buffer, and the largest exchange, had memory of its own",
    NULL,
};

typedef struct Plan {
  MlirOperation kernel;
  TileExchange exchange;
  Lifetimes *lifetimes;
  int64_t end, apart, scratch; // shared memory in use; of all buffers; the most of an exchange
  uint64_t buffers, exchanges;
} Plan;

static MlirAttribute integer(MlirOperation op, int64_t value) {
  return mlirIntegerAttrGet(mlirIntegerTypeGet(mlirOperationGetContext(op), 64), value);
}

//===--- buffers --------------------------------------------------------------------------------------===//

static int bySize(const void *a, const void *b) {
  const BufferPlace *x = *(BufferPlace *const *)a, *y = *(BufferPlace *const *)b;
  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  return (x->life.first > y->life.first) - (x->life.first < y->life.first);
}

static void placeBuffers(Plan *plan) {
  Lifetimes *lifetimes = plan->lifetimes;
  BufferPlace **sorted = calloc((size_t)lifetimes->numPlaces + 1, sizeof *sorted);
  for (intptr_t i = 0; i < lifetimes->numPlaces; ++i)
    sorted[i] = &lifetimes->places[i];
  qsort(sorted, (size_t)lifetimes->numPlaces, sizeof *sorted, bySize);
  for (intptr_t i = 0; i < lifetimes->numPlaces; ++i) {
    BufferPlace *place = sorted[i];
    if (!place->isPlaced) {
      place->offset = tileLowestFree(lifetimes, place->level, place->bytes, place->align, place->life);
      place->isPlaced = true;
      tileAllocOpSetOffset(place->alloc, integer(place->alloc, place->offset));
      ++plan->buffers;
    }
    if (place->level != Level_Shared)
      continue;
    plan->end = tessera_max(plan->end, place->offset + place->bytes);
    plan->apart += place->bytes;
  }
  free(sorted);
}

//===--- scratch --------------------------------------------------------------------------------------===//

static void placeScratch(Plan *plan, MlirOperation op) {
  MlirAttribute known = tileOpGetScratch(op);
  int64_t place[2] = {0, 0};
  if (!mlirAttributeIsNull(known)) {
    place[0] = mlirDenseI64ArrayGetElement(known, 0);
    place[1] = mlirDenseI64ArrayGetElement(known, 1);
  } else {
    place[1] = tileScratchBytes(&plan->exchange, op);
    if (!place[1])
      return;
    Life life = tileLifeOf(plan->lifetimes, op);
    place[0] = tileLowestFree(plan->lifetimes, Level_Shared, place[1], TileBufferAlign, life);
    tileOpSetScratch(op, mlirDenseI64ArrayGet(mlirOperationGetContext(op), 2, place));
  }
  ++plan->exchanges;
  plan->end = tessera_max(plan->end, place[0] + place[1]);
  plan->scratch = tessera_max(plan->scratch, place[1]);
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  Plan *plan = data;
  plan->exchange.warps = (uint32_t)tessera_max(tileWarpsOf(op), 1);
  placeScratch(plan, op);
  return MlirWalkResultAdvance;
}

//===--- the pass -------------------------------------------------------------------------------------===//

static bool readKernel(Plan *plan) {
  int64_t width = 0;
  const TileMachine *machine = plan->exchange.machine;
  if (!tileMachineGetInteger(machine, "warp.width", &width))
    return tileError(plan->kernel, "machine %s has no warp.width; shared memory is planned for GPUs only",
                     tileMachineGetName(machine));
  plan->exchange.lanes = (uint32_t)width;
  TileOps calls = tileCollectOps(plan->kernel, tileCallOpIsA);
  bool hasCalls = calls.count > 0;
  if (hasCalls)
    tileError(calls.items[0],
              "is a call in a scheduled kernel; calls must be inlined first (tile-assign-layouts does)");
  tileOpsFree(&calls);
  return !hasCalls;
}

static bool planKernel(Plan *plan, MlirExtPass pass) {
  if (!readKernel(plan))
    return false;
  plan->lifetimes = tileLifetimes(plan->kernel);
  placeBuffers(plan);
  mlirOperationWalk(plan->kernel, visit, plan, MlirWalkPreOrder);
  tileLifetimesDestroy(plan->lifetimes);
  mlirExtPassAddStatistic(pass, Buffers, plan->buffers);
  mlirExtPassAddStatistic(pass, Exchanges, plan->exchanges);
  mlirExtPassAddStatistic(pass, SharedBytes, (uint64_t)plan->end);
  mlirExtPassAddStatistic(pass, ApartBytes, (uint64_t)(plan->apart + plan->scratch));
  return true;
}

static bool run(MlirOperation kernel, MlirExtPass pass) {
  if (mlirBlockIsNull(mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel))))
    return true;
  MlirAttribute attribute;
  TileMachine *machine = tileMachineOf(kernel, pass, &attribute);
  Plan plan = {.kernel = kernel, .exchange = {.machine = machine}};
  bool ok =
      machine && (mlirAttributeIsNull(attribute)
                      ? tileError(kernel, "has no machine; the kernel, the module or the option chip must name one")
                      : planKernel(&plan, pass));
  tileMachineDestroy(machine);
  return ok;
}

const MlirExtPassDefinition tilePlanSharedMemoryPass = {
    .argument = "tile-plan-shared-memory",
    .summary = "Place the buffers and exchanges of a kernel in shared memory, by their lifetimes",
    .anchor = tileKernelOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION, {NULL}},
    .statistics = statistics,
    .run = run,
};
