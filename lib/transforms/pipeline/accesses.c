// See accesses.h.
#include "lib/transforms/pipeline/accesses.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/scratch.h"
#include "lib/capi/op.h"
#include "lib/ir/op_query.h"
#include "lib/ir/support.h"
#include "lib/transforms/pipeline/loops.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/memref.h"

#include <stdlib.h>

//===--- lists ----------------------------------------------------------------------------------------===//

static bool isSame(const MemoryAccess *a, const MemoryAccess *b) {
  return a->kind == b->kind && mlirValueEqual(a->root, b->root) && a->isWrite == b->isWrite && a->offset == b->offset &&
         a->bytes == b->bytes && mlirOperationEqual(a->op, b->op);
}

void tileAccessesAdd(Accesses *accesses, MemoryAccess access) {
  for (intptr_t i = 0; i < accesses->count; ++i)
    if (isSame(&accesses->items[i], &access))
      return;
  if (accesses->count == accesses->capacity) {
    accesses->capacity = accesses->capacity ? 2 * accesses->capacity : 8;
    accesses->items = realloc(accesses->items, (size_t)accesses->capacity * sizeof *accesses->items);
  }
  accesses->items[accesses->count++] = access;
}

void tileAccessesJoin(Accesses *accesses, const Accesses *more) {
  for (intptr_t i = 0; i < more->count; ++i)
    tileAccessesAdd(accesses, more->items[i]);
}

void tileAccessesKeepPlaces(Accesses *accesses) {
  intptr_t kept = 0;
  for (intptr_t i = 0; i < accesses->count; ++i)
    if (accesses->items[i].kind == Access_Place)
      accesses->items[kept++] = accesses->items[i];
  accesses->count = kept;
}

void tileAccessesNextRound(Accesses *accesses, MlirOperation loop) {
  Accesses next = {.items = NULL};
  for (intptr_t i = 0; i < accesses->count; ++i) {
    MemoryAccess access = accesses->items[i];
    if (!mlirOperationIsNull(access.op) && !tileAreOperandsInvariant(loop, access.op))
      access.op = (MlirOperation){NULL};
    tileAccessesAdd(&next, access);
  }
  tileAccessesFree(accesses);
  *accesses = next;
}

void tileAccessesFree(Accesses *accesses) {
  free(accesses->items);
  *accesses = (Accesses){.items = NULL};
}

//===--- conflicts ------------------------------------------------------------------------------------===//

static MlirType tileOf(MlirOperation access) {
  return tileLoadOpIsA(access) ? tileLoadOpGetResultType(access) : tileStoreOpGetValueType(access);
}

// Two accesses to the same tile of a view in the same layout: each thread meets its own elements.
static bool isOfSameThreads(MlirOperation a, MlirOperation b) {
  if (mlirOperationIsNull(a) || mlirOperationIsNull(b))
    return false;
  intptr_t first = tileStoreOpIsA(a), second = tileStoreOpIsA(b), count = mlirOperationGetNumOperands(a) - first;
  if (mlirOperationGetNumOperands(b) - second != count || !mlirTypeEqual(tileOf(a), tileOf(b)))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    if (!mlirValueEqual(mlirOperationGetOperand(a, i + first), mlirOperationGetOperand(b, i + second)))
      return false;
  return true;
}

static bool conflicts(const MemoryAccess *a, const MemoryAccess *b) {
  if (a->kind != b->kind)
    return false;
  bool isUnknown = mlirValueIsNull(a->root) || mlirValueIsNull(b->root);
  switch (a->kind) {
  case Access_Global:
    return (a->isWrite || b->isWrite) && (isUnknown || tileParametersMayOverlap(a->root, b->root)) &&
           !isOfSameThreads(a->op, b->op);
  case Access_Local:
    return (a->isWrite || b->isWrite) && mlirValueEqual(a->root, b->root);
  case Access_Place: // the owner's own accesses are the program's to order
    return (isUnknown || !mlirValueEqual(a->root, b->root)) && a->offset < b->offset + b->bytes &&
           b->offset < a->offset + a->bytes;
  }
  return true;
}

bool tileAccessesConflict(const Accesses *earlier, const Accesses *later) {
  for (intptr_t i = 0; i < earlier->count; ++i)
    for (intptr_t j = 0; j < later->count; ++j)
      if (conflicts(&earlier->items[i], &later->items[j]))
        return true;
  return false;
}

//===--- ops ------------------------------------------------------------------------------------------===//

// The parameter behind a memref or view; null: not known.
static MlirValue rootOf(MlirValue memory) {
  MlirValue root = tileMemoryRoot(memory);
  return !mlirValueIsNull(root) && mlirValueIsABlockArgument(root) ? root : (MlirValue){NULL};
}

static void addBuffer(const Lifetimes *lifetimes, MlirValue buffer, bool isWrite, Accesses *accesses) {
  const BufferPlace *place = tilePlaceOf(lifetimes, buffer);
  if (!place || place->level != Level_Shared)
    return;
  MlirValue root = tileAllocOpGetResult(place->alloc);
  tileAccessesAdd(accesses, (MemoryAccess){Access_Place, root, true, place->offset, place->bytes});
  if (tileStringEquals(tileBufferTypeGetLevel(mlirValueGetType(root)), "local"))
    tileAccessesAdd(accesses, (MemoryAccess){Access_Local, root, isWrite, 0, 0});
}

// A load or store of a tile of a view, each of whose elements one thread has.
static bool isExact(const Lifetimes *lifetimes, MlirOperation op) {
  if (!lifetimes->lanes || (!tileLoadOpIsA(op) && !tileStoreOpIsA(op)) || !mlirTypeIsATensor(tileOf(op)))
    return false;
  TileLayout layout = tileLayoutAttrGetLayout(tileTypeGetLayout(tileOf(op)));
  return !tileHasCopies(&layout, lifetimes->lanes, lifetimes->warps);
}

static void addOperand(const Lifetimes *lifetimes, MlirOperation op, MlirValue memory, bool isWrite,
                       Accesses *accesses) {
  MlirType type = mlirValueGetType(memory);
  MlirValue root = tileMemoryRoot(memory);
  if (tileTypeIsABuffer(mlirValueGetType(root)))
    addBuffer(lifetimes, root, isWrite, accesses);
  else if (mlirTypeIsAMemRef(type) || tileTypeIsAView(type))
    tileAccessesAdd(accesses, (MemoryAccess){Access_Global, rootOf(memory), isWrite, 0, 0,
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
    tileAccessesAdd(adding->accesses, (MemoryAccess){.isWrite = isWrite});
  else
    addOperand(adding->lifetimes, op, effect.value, isWrite, adding->accesses);
}

static void addScratch(MlirOperation op, OpAccesses *result) {
  MlirAttribute scratch = tileOpGetScratch(op);
  if (mlirAttributeIsNull(scratch))
    return;
  result->hasBarrier = true;
  tileAccessesAdd(&result->accesses,
                  (MemoryAccess){Access_Place, (MlirValue){NULL}, true, mlirDenseI64ArrayGetElement(scratch, 0),
                                 mlirDenseI64ArrayGetElement(scratch, 1)});
}

// Copies land by then: at the places that they were under way to, and in local buffers as writes.
static void addLanding(const Lifetimes *lifetimes, MlirOperation wait, OpAccesses *result) {
  Life now = tileLifeOf(lifetimes, wait);
  for (intptr_t i = 0; i < lifetimes->numPlaces; ++i) {
    const BufferPlace *place = &lifetimes->places[i];
    if (place->isCopiedInto && place->life.first <= now.last && now.first <= place->life.last)
      addBuffer(lifetimes, tileAllocOpGetResult(place->alloc), true, &result->accesses);
  }
}

static bool isOrdered(MlirOperation op, const char *order) {
  return tileKeywordIs(op, "order", order) || tileKeywordIs(op, "order", "acq_rel");
}

void tileAccessesOf(const Lifetimes *lifetimes, MlirOperation op, OpAccesses *result) {
  addScratch(op, result);
  tileOpVisitEffects(op, addEffect, &(Adding){lifetimes, &result->accesses});
  if (tileWaitOpIsA(op))
    addLanding(lifetimes, op, result);
  TileExchange exchange = {.lanes = lifetimes->lanes, .warps = lifetimes->warps};
  result->isOverAtBarrier = result->hasBarrier && tileSpreadsResult(&exchange, op);
  if (tileAtomicRmwOpIsA(op) || tileAtomicCasOpIsA(op) || tileAtomicStoreOpIsA(op)) {
    result->needsBefore = isOrdered(op, "release");
    result->needsAfter = isOrdered(op, "acquire") && !tileAtomicStoreOpIsA(op) && !result->isOverAtBarrier;
  }
}
