// tile-plan-shared-memory{chip=NAME}: every buffer gets its place in shared memory.
// Expects: scheduled kernels without calls, after tile-exchange-in-shared-memory. Leaves: `at OFFSET` on each
//   tile.alloc. Buffers lie apart as far as that costs no block on a core; beyond, those that live at different times
//   may lie in the same place: the largest are placed first, each at the lowest offset that no other of its time has
//   (greedy by size, Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020). What is
//   placed already stays. Memories of different levels are planned apart.
// Cost: linear in the ops times the buffers.
// When buffers live is asked by other passes, too: lifetimes.h.
#include "lib/analysis/accesses.h"
#include "lib/transforms/pipeline/pipeline.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/analysis/scratch.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/machine/machine.h"
#include "lib/support/grow.h"
#include "lib/support/integer.h"
#include "lib/transforms/pipeline/lifetimes.h"
#include "upstream/scf.h"

#include <stdio.h>
#include <stdlib.h>

enum { DeepestToken = 16, BarrierBytes = 8, EngineAlign = 1024 }; // bytes

typedef struct Times {
  const void *op;
  Life span;
} Times;

static bool isFor(MlirOperation op) { return scfForOpIsA(op); }

static bool isLoop(MlirOperation op) { return isFor(op) || scfWhileOpIsA(op); }

//===--- time -----------------------------------------------------------------------------------------===//

typedef struct Numbering {
  Times *times;
  intptr_t count;
  int64_t now;
} Numbering;

static void numberBlock(Numbering *numbering, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    numbering->times = tessera_grow(numbering->times, numbering->count, sizeof *numbering->times);
    intptr_t own = numbering->count++;
    ++numbering->now;
    numbering->times[own] = (Times){op.ptr, {numbering->now, numbering->now}};
    for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
      for (MlirBlock inner = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i)); !mlirBlockIsNull(inner);
           inner = mlirBlockGetNextInRegion(inner))
        numberBlock(numbering, inner);
    numbering->times[own].span.last = numbering->now;
  }
}

static int byAddress(const void *a, const void *b) {
  const Times *x = a, *y = b;
  return (x->op > y->op) - (x->op < y->op);
}

static Life spanOf(const Lifetimes *lifetimes, MlirOperation op) {
  Times key = {.op = op.ptr};
  const Times *found = bsearch(&key, lifetimes->times, (size_t)lifetimes->numTimes, sizeof key, byAddress);
  return found ? found->span : (Life){0, INT64_MAX};
}

bool tileLivesMeet(Life a, Life b) {
  if (a.partition && a.partition == b.partition)
    return a.firstInside <= b.lastInside && b.firstInside <= a.lastInside;
  return a.first <= b.last && b.first <= a.last;
}

// The life of what only the op's partition uses: other partitions run at the same time.
static Life inPartition(const Lifetimes *lifetimes, MlirOperation op, Life life) {
  for (; !tileKernelOpIsA(op); op = mlirOperationGetParentOperation(op)) {
    MlirOperation around = mlirOperationGetParentOperation(op);
    if (!tileWarpSpecializeOpIsA(around))
      continue;
    Life whole = spanOf(lifetimes, around);
    const void *region = mlirBlockGetParentRegion(mlirOperationGetBlock(op)).ptr;
    return (Life){whole.first, whole.last, region, life.first, life.last};
  }
  return life;
}

Life tileLifeOf(const Lifetimes *lifetimes, MlirOperation op) {
  int64_t now = spanOf(lifetimes, op).first;
  return inPartition(lifetimes, op, (Life){now, now});
}

//===--- lives ----------------------------------------------------------------------------------------===//

static void live(BufferPlace *place, Life life) {
  place->life.first = life.first < place->life.first ? life.first : place->life.first;
  place->life.last = life.last > place->life.last ? life.last : place->life.last;
}

static void liveForGood(BufferPlace *place) { live(place, (Life){0, INT64_MAX}); }

// At the op, and all through the loops and partitions around it up to the block of the buffer's tile.alloc.
static void liveAt(const Lifetimes *lifetimes, BufferPlace *place, MlirBlock home, MlirOperation op) {
  live(place, spanOf(lifetimes, op));
  for (; !mlirBlockEqual(mlirOperationGetBlock(op), home); op = mlirOperationGetParentOperation(op)) {
    MlirOperation around = mlirOperationGetParentOperation(op);
    if (tileKernelOpIsA(around)) // the block of the alloc is not around: control flow of another kind
      return liveForGood(place);
    if (isLoop(around) || tileWarpSpecializeOpIsA(around))
      live(place, spanOf(lifetimes, around));
  }
}

// To the waits for a token, wherever it goes; for good where that cannot be followed.
static void liveToWaits(const Lifetimes *lifetimes, BufferPlace *place, MlirBlock home, MlirValue token, int depth) {
  bool isWaitedFor = false;
  for (MlirOpOperand use = mlirValueGetFirstUse(token); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use), around = mlirOperationGetParentOperation(op);
    intptr_t number = mlirOpOperandGetOperandNumber(use);
    isWaitedFor = true;
    liveAt(lifetimes, place, home, op);
    if (tileWaitOpIsA(op))
      continue;
    if (depth == DeepestToken)
      return liveForGood(place);
    if (tileJoinOpIsA(op)) {
      liveToWaits(lifetimes, place, home, tileJoinOpGetToken(op), depth + 1);
    } else if (isFor(op)) {
      MlirBlock body = mlirRegionGetFirstBlock(scfForOpGetRegion(op));
      liveToWaits(lifetimes, place, home, mlirBlockGetArgument(body, number - 2), depth + 1);
      liveToWaits(lifetimes, place, home, mlirOperationGetResult(op, number - 3), depth + 1);
    } else if (scfYieldOpIsA(op) && isFor(around)) {
      // The waits of the loop's argument are in the loop, through which the buffer lives as long as its result's.
      live(place, spanOf(lifetimes, around));
      liveToWaits(lifetimes, place, home, mlirOperationGetResult(around, number), depth + 1);
    } else {
      return liveForGood(place);
    }
  }
  // A result of a loop that nobody waits for: the waits in the loop do.
  if (!isWaitedFor && depth == 0)
    liveForGood(place);
}

static void liveByUses(const Lifetimes *lifetimes, BufferPlace *place, MlirBlock home, MlirValue buffer) {
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    liveAt(lifetimes, place, home, op);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
      MlirValue result = mlirOperationGetResult(op, i);
      if (tileTypeIsABuffer(mlirValueGetType(result)) || mlirValueEqual(tileOpViewedMemory(op), buffer))
        liveByUses(lifetimes, place, home, result);
      if (tileTypeIsAToken(mlirValueGetType(result))) {
        place->isCopiedInto = true;
        liveToWaits(lifetimes, place, home, result, 0);
      }
    }
  }
}

//===--- all ------------------------------------------------------------------------------------------===//

Level tileLevelOf(MlirType type) {
  if (!tileTypeIsABuffer(type))
    return Level_Shared;
  return tileStringEquals(tileBufferTypeGetLevel(type), "tmem") ? Level_Tensor : Level_Shared;
}

// Whether an engine that copies boxes, or multiplies by itself, reaches the buffer: its swizzle counts from addresses.
static bool isForEngines(MlirValue buffer) {
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    if (tileMmaAsyncOpIsA(op) || tileIsCopyOfBoxes(op))
      return true;
    if (tileSlotOpIsA(op) && isForEngines(tileSlotOpGetResult(op)))
      return true;
    for (intptr_t i = 0; tileWarpSpecializeOpIsA(op) && i < mlirOperationGetNumRegions(op); ++i)
      if (isForEngines(mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i)),
                                            mlirOpOperandGetOperandNumber(use))))
        return true;
  }
  return false;
}

static BufferPlace placeFor(const Lifetimes *lifetimes, MlirOperation alloc) {
  MlirValue buffer = tileAllocOpGetResult(alloc);
  MlirType type = mlirValueGetType(buffer);
  BufferPlace place = {.alloc = alloc, .level = tileLevelOf(type), .life = {INT64_MAX, 0}, .align = TileBufferAlign};
  place.isPlaced = tileIntegerOf(alloc, "offset", &place.offset);
  if (tileTypeIsABarrier(type)) {
    place.bytes = tessera_round_up(tileBarrierTypeGetCount(type) * BarrierBytes, TileBufferAlign);
    liveForGood(&place);
    return place;
  }
  place.bytes =
      mlirTypeIsAMemRef(type) ? tessera_round_up(tileDenseBytes(type), TileBufferAlign) : tileBufferBytes(type);
  if (isForEngines(buffer))
    place.align = EngineAlign;
  liveByUses(lifetimes, &place, mlirOperationGetBlock(alloc), buffer);
  if (place.life.first <= place.life.last)
    place.life = inPartition(lifetimes, alloc, place.life);
  return place;
}

// Where the machine writes the address of all buffers in tensor memory, stated on the first of them.
static void addAddress(Lifetimes *lifetimes) {
  for (intptr_t i = 0; i < lifetimes->numPlaces; ++i) {
    if (lifetimes->places[i].level != Level_Tensor)
      continue;
    BufferPlace place = {.alloc = lifetimes->places[i].alloc, .bytes = TileBufferAlign, .align = TileBufferAlign};
    place.isAddress = true;
    MlirAttribute address = tileAllocOpGetAddress(place.alloc);
    if ((place.isPlaced = !mlirAttributeIsNull(address)))
      place.offset = mlirIntegerAttrGetValueInt(address);
    liveForGood(&place);
    lifetimes->places[lifetimes->numPlaces++] = place;
    return;
  }
}

Lifetimes *tileLifetimes(MlirOperation kernel) {
  Lifetimes *lifetimes = calloc(1, sizeof *lifetimes);
  Numbering numbering = {.times = NULL};
  numberBlock(&numbering, mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel)));
  qsort(numbering.times, (size_t)numbering.count, sizeof *numbering.times, byAddress);
  lifetimes->times = numbering.times;
  lifetimes->numTimes = numbering.count;
  TileOps allocs = tileCollectOps(kernel, tileAllocOpIsA);
  lifetimes->places = calloc((size_t)allocs.count + 2, sizeof *lifetimes->places);
  for (intptr_t i = 0; i < allocs.count; ++i)
    lifetimes->places[lifetimes->numPlaces++] = placeFor(lifetimes, allocs.items[i]);
  addAddress(lifetimes);
  tileOpsFree(&allocs);
  return lifetimes;
}

void tileLifetimesDestroy(Lifetimes *lifetimes) {
  free(lifetimes->times);
  free(lifetimes->places);
  free(lifetimes);
}

const BufferPlace *tilePlaceOf(const Lifetimes *lifetimes, MlirValue buffer) {
  MlirOperation op = tileDefiningOp(tileRootOf(buffer));
  for (intptr_t i = 0; !mlirOperationIsNull(op) && i < lifetimes->numPlaces; ++i)
    if (mlirOperationEqual(lifetimes->places[i].alloc, op) && !lifetimes->places[i].isAddress)
      return &lifetimes->places[i];
  return NULL;
}

int64_t tileLowestFree(const Lifetimes *lifetimes, Level level, int64_t bytes, int64_t align, Life life) {
  int64_t offset = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (intptr_t i = 0; i < lifetimes->numPlaces; ++i) {
      const BufferPlace *other = &lifetimes->places[i];
      if (other->isPlaced && other->level == level && tileLivesMeet(other->life, life) &&
          other->offset < offset + bytes && offset < other->offset + other->bytes) {
        offset = tessera_round_up(other->offset + other->bytes, align);
        moved = true;
      }
    }
  }
  return offset;
}

enum { Buffers, SharedBytes, ApartBytes };

static const char *const statistics[] = {
    "buffers: buffers placed",
    "shared_bytes: shared memory that a block of each kernel needs, all kernels together",
    "shared_bytes_apart: the same if every buffer had memory of its own",
    NULL,
};

typedef struct Plan {
  MlirOperation kernel;
  TileMachine *machine;
  Lifetimes *lifetimes;
  int64_t end, apart; // shared memory in use; of all buffers
  int64_t free;       // that a block may take at no cost
  uint64_t buffers;
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

// Bytes that every block may take while as many blocks as the warps allow are resident on a core.
static int64_t freeBytes(const Plan *plan) {
  int64_t warps = 1, perCore = 0, blocks = INT64_MAX, shared = 0;
  tileIntegerOf(plan->kernel, "warps", &warps);
  tileMachineGetInteger(plan->machine, "warps.per_core", &perCore);
  tileMachineGetInteger(plan->machine, "blocks.per_core", &blocks);
  tileMachineGetInteger(plan->machine, "shared.bytes", &shared);
  return shared / tessera_max(tessera_min(perCore / warps, blocks), 1);
}

// Apart from all others where that costs no resident block: what passes its place on needs a barrier.
static int64_t offsetFor(const Plan *plan, const BufferPlace *place) {
  const Life always = {0, INT64_MAX};
  int64_t apart = tileLowestFree(plan->lifetimes, place->level, place->bytes, place->align, always);
  if (place->level == Level_Shared && apart + place->bytes <= tessera_max(plan->free, plan->end))
    return apart;
  return tileLowestFree(plan->lifetimes, place->level, place->bytes, place->align, place->life);
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
      place->offset = offsetFor(plan, place);
      place->isPlaced = true;
      (place->isAddress ? tileAllocOpSetAddress : tileAllocOpSetOffset)(place->alloc,
                                                                        integer(place->alloc, place->offset));
      plan->buffers += !place->isAddress;
    }
    if (place->level != Level_Shared)
      continue;
    plan->end = tessera_max(plan->end, place->offset + place->bytes);
    plan->apart += place->bytes;
  }
  free(sorted);
}

//===--- the pass -------------------------------------------------------------------------------------===//

static bool readKernel(Plan *plan) {
  int64_t width = 0;
  if (!tileMachineGetInteger(plan->machine, "warp.width", &width))
    return tileError(plan->kernel, "machine %s has no warp.width; shared memory is planned for GPUs only",
                     tileMachineGetName(plan->machine));
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
  plan->free = freeBytes(plan);
  placeBuffers(plan);
  tileLifetimesDestroy(plan->lifetimes);
  mlirExtPassAddStatistic(pass, Buffers, plan->buffers);
  mlirExtPassAddStatistic(pass, SharedBytes, (uint64_t)plan->end);
  mlirExtPassAddStatistic(pass, ApartBytes, (uint64_t)plan->apart);
  return true;
}

static bool run(MlirOperation kernel, MlirExtPass pass) {
  if (mlirBlockIsNull(mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel))))
    return true;
  Plan plan = {.kernel = kernel, .machine = tileNamedMachineOf(kernel, pass, NULL)};
  bool ok = plan.machine && planKernel(&plan, pass);
  tileMachineDestroy(plan.machine);
  return ok;
}

const MlirExtPassDefinition tilePlanSharedMemoryPass = {
    .argument = "tile-plan-shared-memory",
    .summary = "Place the buffers of a kernel in shared memory, by their lifetimes",
    .anchor = tileKernelOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION, {NULL}},
    .statistics = statistics,
    .run = run,
};
