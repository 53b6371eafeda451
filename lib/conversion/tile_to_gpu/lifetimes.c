// Which buffers of a kernel may lie in the same shared memory: those that live at different times.
// Time: ops numbered in the order in which they are written; a buffer lives from its first use to its last, or to the
//   wait for its last copy. A use in a loop that the buffer was not made in counts for the whole loop.
// Places: the largest first, each at the lowest offset that no other of its time has (greedy by size, as in Pisarchyk
//   and Lee, "Efficient memory management for deep neural net inference", 2020). Exchanges take what is free when they
//   come (shared.c). Where memory passes from one to the other a barrier stands between: hazards.c.
#include "lib/conversion/tile_to_gpu/engine.h"

#include "dialects/tile/questions.h"

#include <stdlib.h>

enum { BufferAlign = 128, DeepestToken = 16 };

typedef struct Times {
  const void *op;
  int64_t first, last;
} Times;

// One buffer of the plan.
typedef struct Place {
  const void *alloc; // op; null: of a called function, for good
  int64_t bytes, offset, first, last;
  bool isCopiedInto; // asynchronously
} Place;

typedef struct Lifetimes {
  Times *times; // by op, in the order of their addresses once numbered
  intptr_t numTimes, maxTimes;
  Place *places;
  intptr_t numPlaces, maxPlaces;
} Lifetimes;

//===--- time -------------------------------------------------------------------------------------===//

static void numberBlock(Lifetimes *lifetimes, MlirBlock block, int64_t *now) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); op.ptr; op = mlirOperationGetNextInBlock(op)) {
    if (lifetimes->numTimes == lifetimes->maxTimes) {
      lifetimes->maxTimes = lifetimes->maxTimes ? 2 * lifetimes->maxTimes : 256;
      lifetimes->times = realloc(lifetimes->times, (size_t)lifetimes->maxTimes * sizeof *lifetimes->times);
    }
    intptr_t own = lifetimes->numTimes++;
    lifetimes->times[own] = (Times){op.ptr, ++*now, *now};
    for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
      for (MlirBlock inner = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i)); inner.ptr;
           inner = mlirBlockGetNextInRegion(inner))
        numberBlock(lifetimes, inner, now);
    lifetimes->times[own].last = *now;
  }
}

static int byAddress(const void *a, const void *b) {
  const Times *x = a, *y = b;
  return (x->op > y->op) - (x->op < y->op);
}

static const Times *timesOf(const Lifetimes *lifetimes, MlirOperation op) {
  Times key = {.op = op.ptr};
  return bsearch(&key, lifetimes->times, (size_t)lifetimes->numTimes, sizeof key, byAddress);
}

//===--- lives --------------------------------------------------------------------------------------===//

static void live(Place *place, int64_t first, int64_t last) {
  place->first = first < place->first ? first : place->first;
  place->last = last > place->last ? last : place->last;
}

static void liveForGood(Place *place) { live(place, 0, INT64_MAX); }

static bool isLoop(MlirOperation op) { return tileOpIs(op, "scf.for") || tileOpIs(op, "scf.while"); }

// At the op, and all through the loops around it up to the block of the buffer's tile.alloc.
static void liveAt(const Lifetimes *lifetimes, Place *place, MlirBlock home, MlirOperation op) {
  const Times *times = timesOf(lifetimes, op);
  live(place, times->first, times->last);
  for (; !mlirBlockEqual(mlirOperationGetBlock(op), home); op = mlirOperationGetParentOperation(op)) {
    MlirOperation around = mlirOperationGetParentOperation(op);
    if (tileOpIs(around, "tile.kernel")) // the alloc's block is not around: control flow of another kind
      return liveForGood(place);
    times = timesOf(lifetimes, around);
    if (isLoop(around))
      live(place, times->first, times->last);
  }
}

// To the waits for a token, wherever it goes; for good where that cannot be followed.
static void liveToWaits(const Lifetimes *lifetimes, Place *place, MlirBlock home, MlirValue token, int depth) {
  bool isWaitedFor = false;
  for (MlirOpOperand use = mlirValueGetFirstUse(token); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use), around = mlirOperationGetParentOperation(op);
    intptr_t number = mlirOpOperandGetOperandNumber(use);
    isWaitedFor = true;
    liveAt(lifetimes, place, home, op);
    if (tileOpIs(op, "tile.wait"))
      continue;
    if (depth == DeepestToken)
      return liveForGood(place);
    if (tileOpIs(op, "tile.join")) {
      liveToWaits(lifetimes, place, home, mlirOperationGetResult(op, 0), depth + 1);
    } else if (tileOpIs(op, "scf.for")) {
      MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
      liveToWaits(lifetimes, place, home, mlirBlockGetArgument(body, number - 2), depth + 1);
      liveToWaits(lifetimes, place, home, mlirOperationGetResult(op, number - 3), depth + 1);
    } else if (tileOpIs(op, "scf.yield") && tileOpIs(around, "scf.for")) {
      // The argument's waits are in the loop, through which the buffer lives as long as its result's.
      live(place, timesOf(lifetimes, around)->first, timesOf(lifetimes, around)->last);
      liveToWaits(lifetimes, place, home, mlirOperationGetResult(around, number), depth + 1);
    } else {
      return liveForGood(place);
    }
  }
  // A result of a loop that nobody waits for: the loop's own waits do.
  if (!isWaitedFor && depth == 0)
    liveForGood(place);
}

static void liveByUses(const Lifetimes *lifetimes, Place *place, MlirBlock home, MlirValue buffer) {
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    if (tileOpIs(op, "tile.call")) // what the callee does with it is not known here
      liveForGood(place);
    liveAt(lifetimes, place, home, op);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
      MlirValue result = mlirOperationGetResult(op, i);
      if (tileTypeIsABuffer(mlirValueGetType(result)))
        liveByUses(lifetimes, place, home, result);
      if (tileTypeIsAToken(mlirValueGetType(result))) {
        place->isCopiedInto = true;
        liveToWaits(lifetimes, place, home, result, 0);
      }
    }
  }
}

//===--- places ---------------------------------------------------------------------------------------===//

static Place *newPlace(Lifetimes *lifetimes) {
  if (lifetimes->numPlaces == lifetimes->maxPlaces) {
    lifetimes->maxPlaces = lifetimes->maxPlaces ? 2 * lifetimes->maxPlaces : 16;
    lifetimes->places = realloc(lifetimes->places, (size_t)lifetimes->maxPlaces * sizeof *lifetimes->places);
  }
  return &lifetimes->places[lifetimes->numPlaces++];
}

static int64_t roundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// The lowest offset for so many bytes that no place of `others` living between `first` and `last` has.
static int64_t lowestFree(Place *const *others, intptr_t count, int64_t bytes, int64_t first, int64_t last) {
  int64_t offset = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (intptr_t i = 0; i < count; ++i) {
      const Place *other = others[i];
      bool meets = other->first <= last && first <= other->last && other->offset < offset + bytes &&
                   offset < other->offset + other->bytes;
      if (!meets)
        continue;
      offset = roundUp(other->offset + other->bytes, BufferAlign);
      moved = true;
    }
  }
  return offset;
}

static int bySize(const void *a, const void *b) {
  const Place *x = *(Place *const *)a, *y = *(Place *const *)b;
  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  return (x->first > y->first) - (x->first < y->first);
}

static void placeAll(Gpu *g, Lifetimes *lifetimes) {
  Place **sorted = gpuAllocate(g, (size_t)(lifetimes->numPlaces + 1) * sizeof *sorted);
  for (intptr_t i = 0; i < lifetimes->numPlaces; ++i)
    sorted[i] = &lifetimes->places[i];
  qsort(sorted, (size_t)lifetimes->numPlaces, sizeof *sorted, bySize);
  for (intptr_t i = 0; i < lifetimes->numPlaces; ++i) {
    sorted[i]->offset = lowestFree(sorted, i, sorted[i]->bytes, sorted[i]->first, sorted[i]->last);
    int64_t end = sorted[i]->offset + sorted[i]->bytes;
    g->sharedBytes = end > g->sharedBytes ? end : g->sharedBytes;
    g->apartBytes += sorted[i]->bytes;
  }
}

int64_t gpuBufferBytes(MlirType type) {
  TileLayout layout = tileLayoutAttrGetLayout(tileBufferTypeGetLayout(type));
  int64_t stages = tileBufferTypeGetStages(type);
  int64_t bytes = (int64_t)tileLayoutPaddedSize(&layout) * gpuStoredBytes(tileTypeGetElement(type));
  return roundUp(bytes, BufferAlign) * (stages ? stages : 1);
}

void gpuPlanShared(Gpu *g) {
  Lifetimes *lifetimes = g->lifetimes = calloc(1, sizeof *lifetimes);
  TileOps allocs = tileCollect(g->kernel, "tile.alloc");
  int64_t now = 0;
  numberBlock(lifetimes, mlirRegionGetFirstBlock(mlirOperationGetRegion(g->kernel, 0)), &now);
  qsort(lifetimes->times, (size_t)lifetimes->numTimes, sizeof *lifetimes->times, byAddress);
  for (intptr_t i = 0; i < allocs.count; ++i) {
    MlirOperation op = allocs.items[i];
    MlirValue buffer = mlirOperationGetResult(op, 0);
    if (!tileTypeIsABuffer(mlirValueGetType(buffer)))
      continue;
    Place place = {.alloc = op.ptr, .bytes = gpuBufferBytes(mlirValueGetType(buffer)), .first = INT64_MAX};
    liveByUses(lifetimes, &place, mlirOperationGetBlock(op), buffer);
    *newPlace(lifetimes) = place;
  }
  tileOpsFree(&allocs);
  placeAll(g, lifetimes);
}

void gpuForgetShared(Gpu *g) {
  if (!g->lifetimes)
    return;
  free(g->lifetimes->times);
  free(g->lifetimes->places);
  free(g->lifetimes);
}

//===--- asking ---------------------------------------------------------------------------------------===//

void gpuReachOp(Gpu *g, MlirOperation op) {
  const Times *times = timesOf(g->lifetimes, op);
  g->now = times ? times->first : g->now; // ops of called functions: the call's time
}

intptr_t gpuBufferNumber(Gpu *g, MlirOperation alloc, int64_t *offset) {
  Lifetimes *lifetimes = g->lifetimes;
  for (intptr_t i = 0; i < lifetimes->numPlaces; ++i)
    if (lifetimes->places[i].alloc == alloc.ptr) {
      *offset = lifetimes->places[i].offset;
      return i;
    }
  // Of a called function: behind everything that was there so far.
  *offset = roundUp(g->sharedBytes, BufferAlign);
  Place *place = newPlace(lifetimes);
  *place = (Place){.offset = *offset, .bytes = gpuBufferBytes(tileResultType(alloc, 0)), .last = INT64_MAX};
  place->isCopiedInto = true;
  g->sharedBytes = *offset + place->bytes;
  g->apartBytes += place->bytes;
  return lifetimes->numPlaces - 1;
}

static int64_t freePlace(const Gpu *g, int64_t bytes) {
  const Lifetimes *lifetimes = g->lifetimes;
  Place **others = malloc((size_t)(lifetimes->numPlaces + 1) * sizeof *others);
  for (intptr_t i = 0; i < lifetimes->numPlaces; ++i)
    others[i] = &lifetimes->places[i];
  int64_t offset = lowestFree(others, lifetimes->numPlaces, bytes, g->now, g->now);
  free(others);
  return offset;
}

bool gpuSharedFits(Gpu *g, int64_t bytes) {
  int64_t limit = INT64_MAX;
  tileMachineGetInteger(g->options->machine, "shared.per_block.bytes", &limit);
  return freePlace(g, bytes) + bytes <= limit;
}

int64_t gpuFreeShared(Gpu *g, int64_t bytes) {
  int64_t offset = freePlace(g, bytes);
  g->sharedBytes = offset + bytes > g->sharedBytes ? offset + bytes : g->sharedBytes;
  g->scratchBytes = bytes > g->scratchBytes ? bytes : g->scratchBytes;
  return offset;
}

//===--- who may still be at a place ------------------------------------------------------------------===//

enum { Scratch = -1 };

static bool meetsRange(const Touched *touched, int64_t offset, int64_t bytes) {
  return touched->offset < offset + bytes && (touched->bytes == INT64_MAX || offset < touched->offset + touched->bytes);
}

static void addTouched(Hazards *hazards, Touched touched) {
  for (intptr_t i = 0; i < hazards->numTouched; ++i) {
    const Touched *known = &hazards->touched[i];
    if (known->owner == touched.owner && known->offset == touched.offset && known->bytes == touched.bytes &&
        known->first == touched.first && known->last == touched.last)
      return;
  }
  if (hazards->numTouched == MaxTouched) // anything, by anyone
    hazards->touched[hazards->numTouched = 0] = (Touched){Scratch, 0, INT64_MAX, 0, INT64_MAX};
  else
    hazards->touched[hazards->numTouched] = touched;
  ++hazards->numTouched;
}

void gpuJoinTouched(Hazards *hazards, const Hazards *other) {
  for (intptr_t i = 0; i < other->numTouched; ++i)
    addTouched(hazards, other->touched[i]);
}

void gpuTouchScratch(Gpu *g, int64_t offset, int64_t bytes) {
  addTouched(&g->hazards, (Touched){Scratch, offset, bytes, g->now, g->now});
}

bool gpuIsTouched(Gpu *g, int64_t offset, int64_t bytes) {
  for (intptr_t i = 0; i < g->hazards.numTouched; ++i)
    if (meetsRange(&g->hazards.touched[i], offset, bytes))
      return true;
  return false;
}

static void touchBuffer(Gpu *g, intptr_t number) {
  const Place *place = &g->lifetimes->places[number];
  addTouched(&g->hazards, (Touched){number, place->offset, place->bytes, place->first, place->last});
}

// An exchange somewhere in a loop did not meet a buffer that lived all through it.
static bool mayBeAt(const Touched *touched, intptr_t number, const Place *place) {
  bool isAnywhere = touched->bytes == INT64_MAX;
  if (touched->owner == number || (isAnywhere && place->first <= touched->first && touched->last <= place->last))
    return false;
  return meetsRange(touched, place->offset, place->bytes);
}

void gpuTouchBuffer(Gpu *g, intptr_t number) {
  for (intptr_t i = 0; i < g->hazards.numTouched; ++i)
    if (mayBeAt(&g->hazards.touched[i], number, &g->lifetimes->places[number])) {
      gpuBarrier(g);
      break;
    }
  touchBuffer(g, number);
}

void gpuTouchCopies(Gpu *g) {
  for (intptr_t i = 0; i < g->lifetimes->numPlaces; ++i) {
    const Place *place = &g->lifetimes->places[i];
    if (place->isCopiedInto && place->first <= g->now && g->now <= place->last)
      touchBuffer(g, i);
  }
}

void gpuTouchLoop(Gpu *g, MlirOperation loop) {
  const Times *times = timesOf(g->lifetimes, loop);
  int64_t first = times ? times->first : 0, last = times ? times->last : INT64_MAX;
  for (intptr_t i = 0; i < g->lifetimes->numPlaces; ++i)
    if (g->lifetimes->places[i].first <= last && first <= g->lifetimes->places[i].last)
      touchBuffer(g, i);
  addTouched(&g->hazards, (Touched){Scratch, 0, INT64_MAX, first, last});
}
