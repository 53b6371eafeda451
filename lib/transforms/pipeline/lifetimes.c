// See lifetimes.h.
#include "lib/transforms/pipeline/lifetimes.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/scratch.h"
#include "lib/ir/op_query.h"
#include "lib/support/grow.h"
#include "lib/support/integer.h"
#include "upstream/scf.h"

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

Life tileLifeOf(const Lifetimes *lifetimes, MlirOperation op) {
  Life life = {spanOf(lifetimes, op).first, spanOf(lifetimes, op).first};
  for (; !tileKernelOpIsA(op); op = mlirOperationGetParentOperation(op))
    if (tileWarpSpecializeOpIsA(op)) // partitions run at the same time
      life = spanOf(lifetimes, op);
  return life;
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
    if (tileMmaAsyncOpIsA(op) || (tileCopyAsyncOpIsA(op) && tileKeywordIs(op, "engine", "tma")))
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
  return place;
}

Lifetimes *tileLifetimes(MlirOperation kernel) {
  Lifetimes *lifetimes = calloc(1, sizeof *lifetimes);
  Numbering numbering = {.times = NULL};
  numberBlock(&numbering, mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel)));
  qsort(numbering.times, (size_t)numbering.count, sizeof *numbering.times, byAddress);
  lifetimes->times = numbering.times;
  lifetimes->numTimes = numbering.count;
  TileOps allocs = tileCollectOps(kernel, tileAllocOpIsA);
  lifetimes->places = calloc((size_t)allocs.count + 1, sizeof *lifetimes->places);
  for (intptr_t i = 0; i < allocs.count; ++i)
    lifetimes->places[lifetimes->numPlaces++] = placeFor(lifetimes, allocs.items[i]);
  tileOpsFree(&allocs);
  return lifetimes;
}

void tileLifetimesDestroy(Lifetimes *lifetimes) {
  free(lifetimes->times);
  free(lifetimes->places);
  free(lifetimes);
}

MlirValue tileRootOf(MlirValue memory) {
  for (;;) {
    memory = tileMemoryRoot(memory);
    MlirValue outside = mlirValueIsNull(memory) ? memory : tileCapturedValue(memory);
    if (mlirValueEqual(outside, memory))
      return memory;
    memory = outside;
  }
}

const BufferPlace *tilePlaceOf(const Lifetimes *lifetimes, MlirValue buffer) {
  MlirOperation op = tileDefiningOp(tileRootOf(buffer));
  for (intptr_t i = 0; !mlirOperationIsNull(op) && i < lifetimes->numPlaces; ++i)
    if (mlirOperationEqual(lifetimes->places[i].alloc, op))
      return &lifetimes->places[i];
  return NULL;
}

int64_t tileLowestFree(const Lifetimes *lifetimes, Level level, int64_t bytes, int64_t align, Life life) {
  int64_t offset = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (intptr_t i = 0; i < lifetimes->numPlaces; ++i) {
      const BufferPlace *other = &lifetimes->places[i];
      if (other->isPlaced && other->level == level && other->life.first <= life.last &&
          life.first <= other->life.last && other->offset < offset + bytes && offset < other->offset + other->bytes) {
        offset = tessera_round_up(other->offset + other->bytes, align);
        moved = true;
      }
    }
  }
  return offset;
}
