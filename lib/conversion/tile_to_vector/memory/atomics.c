// Atomics: one LLVM operation per element, on the address of the place; where the element shares its word with others
// (packed views, fewer than 8 bits) or the machine cannot combine it, a loop that exchanges words. Floats that are not
// added travel as integers of their width. `scope` is the whole machine on a CPU; orders are LLVM's.
#include "lib/conversion/tile_to_vector/memory/places.h"
#include "lib/ir/emit/atomic.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <string.h>

//===--- elements and orders ---------------------------------------------------------------------===//

bool vecExpectAtomic(const VecReached *reached) {
  MlirType word = tileBitsType(reached->access ? reached->access->storage : vecStorageOf(reached->element));
  int64_t bits = mlirIntegerTypeGetWidth(word);
  if (bits <= 8 || bits == 16 || bits == 32 || bits == 64)
    return true;
  return tileError(reached->op, "not lowered to the CPU yet: atomics on elements of %d bits", (int)bits);
}

static TileWord wordOf(const VecCell *cell, MlirStringRef order) {
  return (TileWord){cell->pointer, cell->word, vecBytesOf(cell->word), tileAtomicOrdering(order), ""};
}

// An element as the word of its cell, where it is alone, and back.
static MlirValue toWord(TileBuilder *builder, const VecCell *cell, MlirValue value) {
  return tileBuildIntegerCast(builder, tileBuildBits(builder, value), cell->word, false);
}

static MlirValue fromWord(TileBuilder *builder, MlirValue word, MlirType element) {
  return tileBuildNumberOfBits(builder, tileBuildIntegerCast(builder, word, tileBitsType(element), false), element);
}

//===--- elements that share a word, or that no instruction combines --------------------------------===//

static MlirValue elementInWord(TileBuilder *builder, const VecCell *cell, MlirValue word, MlirType element) {
  return fromWord(builder, mlirValueIsNull(cell->shift) ? word : arithShRUIOpBuild(builder, word, cell->shift),
                  element);
}

static MlirValue wordWith(TileBuilder *builder, const VecCell *cell, MlirValue word, MlirValue element) {
  MlirValue bits = toWord(builder, cell, element), ones = tileBuildInteger(builder, cell->word, -1);
  unsigned width = mlirIntegerTypeGetWidth(tileBitsType(mlirValueGetType(element)));
  if (width == mlirIntegerTypeGetWidth(cell->word))
    return bits;
  MlirValue mask = tileBuildInteger(builder, cell->word, (int64_t)(UINT64_MAX >> (64 - width)));
  if (!mlirValueIsNull(cell->shift)) {
    bits = arithShLIOpBuild(builder, bits, cell->shift);
    mask = arithShLIOpBuild(builder, mask, cell->shift);
  }
  word = arithAndIOpBuild(builder, word, arithXOrIOpBuild(builder, mask, ones));
  return arithOrIOpBuild(builder, word, bits);
}

// A cell's change; with `compare`: to `value` where it is there.
typedef struct Change {
  const VecCell *cell;
  TileUpstream op; // None: `value` replaces what is there
  MlirValue compare, value;
} Change;

static MlirValue changed(TileBuilder *builder, MlirValue word, const void *data) {
  const Change *change = data;
  MlirValue value = change->value, old = elementInWord(builder, change->cell, word, mlirValueGetType(value));
  if (!mlirValueIsNull(change->compare)) {
    MlirValue bits = tileBuildBits(builder, old), same = tileBuildBits(builder, change->compare);
    value = arithSelectOpBuild(builder, arithCmpIOpBuild(builder, bits, same, ArithCmpI_Eq), value, old);
  } else if (change->op != TileUpstream_None) {
    value = tileBuildBinary(builder, change->op, old, value);
  }
  return wordWith(builder, change->cell, word, value);
}

static MlirValue exchangeUntilDone(TileBuilder *builder, MlirStringRef order, const Change *change) {
  TileWord word = wordOf(change->cell, order);
  MlirValue old = tileBuildExchangeUntilDone(builder, &word, changed, change);
  return elementInWord(builder, change->cell, old, mlirValueGetType(change->value));
}

// bf16 and narrower floats are added in f32, which atomicrmw would round by an instruction that flushes subnormals, or
// does not know at all.
static bool isAlone(const VecCell *cell, MlirValue value, bool isNumber) {
  MlirType element = mlirValueGetType(value), bits = tileBitsType(element);
  return mlirTypeEqual(bits, cell->word) &&
         !(isNumber && (mlirTypeIsABF16(element) || mlirIntegerTypeGetWidth(bits) < 16));
}

MlirValue vecCombineAtomically(TileBuilder *builder, MlirStringRef kind, MlirStringRef order, const VecCell *cell,
                               MlirValue value) {
  MlirType element = mlirValueGetType(value);
  if (mlirTypeIsAIndex(element)) {
    value = tileBuildIntegerCast(builder, value, cell->word, true);
    return tileBuildIntegerCast(builder, vecCombineAtomically(builder, kind, order, cell, value), element, true);
  }
  bool isExchange = tileStringEquals(kind, "xchg"), isNumber = mlirTypeIsAFloat(element) && !isExchange;
  const TileAtomicKind *named = tileAtomicKind(kind, element);
  Change change = {cell, mlirTypeIsAFloat(element) ? named->floatOp : named->integerOp, {NULL}, value};
  if (!isAlone(cell, value, isNumber))
    return exchangeUntilDone(builder, order, &change);
  MlirValue operand = isNumber ? value : tileBuildBits(builder, value);
  TileWord word = wordOf(cell, order);
  MlirValue old = tileBuildAtomicRmw(builder, &word, isNumber ? named->onFloats : named->onIntegers, operand);
  return isNumber ? old : tileBuildNumberOfBits(builder, old, element);
}

static MlirValue exchangeWhereEqual(TileBuilder *builder, MlirStringRef order, const VecCell *cell, MlirValue compare,
                                    MlirValue value) {
  MlirType element = mlirValueGetType(value);
  if (mlirTypeIsAIndex(element)) {
    compare = tileBuildIntegerCast(builder, compare, cell->word, true);
    value = tileBuildIntegerCast(builder, value, cell->word, true);
    return tileBuildIntegerCast(builder, exchangeWhereEqual(builder, order, cell, compare, value), element, true);
  }
  if (!isAlone(cell, value, false))
    return exchangeUntilDone(builder, order, &(Change){cell, TileUpstream_None, compare, value});
  TileWord word = wordOf(cell, order);
  compare = toWord(builder, cell, compare);
  return fromWord(builder, tileBuildCompareAndSwap(builder, &word, compare, toWord(builder, cell, value), NULL),
                  element);
}

//===--- tiles and scalars ---------------------------------------------------------------------------===//

typedef struct Atomic {
  MlirOperation op;
  VecReached reached;
  MlirValue value, compare, mask; // of the kernel; null: none
  MlirAttribute order, kind;
  MlirValue result; // of the kernel; null: a store, which reads nothing
  VecAccess *old;
} Atomic;

static MlirValue loadAtomically(TileBuilder *builder, const Atomic *atomic, MlirStringRef order, const VecCell *cell) {
  MlirType element = atomic->reached.element;
  TileWord at = wordOf(cell, order);
  MlirValue word = tileBuildAtomicLoad(builder, &at);
  return mlirTypeIsAIndex(element) ? tileBuildIntegerCast(builder, word, element, true)
                                   : fromWord(builder, word, element);
}

// What was there; null after a store.
static MlirValue applyAtomic(VecBody *body, const Atomic *atomic, const VecPlace *place, const VecCoord *coords) {
  TileBuilder *builder = &body->lowering->builder;
  MlirStringRef order = mlirStringAttrGetValue(atomic->order);
  VecCell cell = vecPlaceCell(builder, place);
  if (mlirValueIsNull(atomic->value))
    return loadAtomically(builder, atomic, order, &cell);
  MlirValue value = vecElementAt(body, atomic->value, coords);
  if (!mlirValueIsNull(atomic->compare))
    return exchangeWhereEqual(builder, order, &cell, vecElementAt(body, atomic->compare, coords), value);
  if (atomic->old)
    return vecCombineAtomically(builder, mlirStringAttrGetValue(atomic->kind), order, &cell, value);
  TileWord word = wordOf(&cell, order);
  (tileAtomicWaitOpIsA(atomic->op) ? tileBuildAtomicWait : tileBuildAtomicStore)(builder, &word,
                                                                                 toWord(builder, &cell, value));
  return (MlirValue){NULL};
}

static void keepOld(VecLowering *lowering, const Atomic *atomic, const VecCoord *coords, MlirValue old) {
  VecBody body = vecBodyBegin(lowering, true);
  vecAccessStore(&body, atomic->old, coords, -1, 0, old);
  vecBodyEnd(&body);
}

// Where the mask is false, or the place outside a view, nothing happens and 0 was there.
static void visitPlace(VecBody *outer, const VecCoord *coords, void *data) {
  const Atomic *atomic = data;
  VecLowering *lowering = outer->lowering;
  if (atomic->old)
    keepOld(lowering, atomic, coords, vecBuildZero(&lowering->builder, atomic->reached.element));
  MlirValue mask = !mlirValueIsNull(atomic->mask) ? vecElementAt(outer, atomic->mask, coords) : (MlirValue){NULL};
  TileBuilder beforeMask = vecOpenIf(lowering, mask);
  VecBody body = vecBodyBegin(lowering, false);
  VecPlace place = vecPlaceReached(&body, &atomic->reached, coords);
  vecTrapOutside(lowering, &place);
  vecBodyEnd(&body);
  TileBuilder beforeAccess = vecOpenIf(lowering, place.inside);
  body = vecBodyBegin(lowering, false);
  MlirValue old = applyAtomic(&body, atomic, &place, coords);
  if (atomic->old)
    keepOld(lowering, atomic, coords, old);
  vecBodyEnd(&body);
  vecCloseIf(lowering, place.inside, beforeAccess);
  vecCloseIf(lowering, mask, beforeMask);
}

static void recordOld(VecLowering *lowering, const Atomic *atomic) {
  if (vecIsTile(mlirValueGetType(atomic->result))) {
    vecRecordMemory(lowering, atomic->result, atomic->old);
    return;
  }
  VecBody body = vecBodyBegin(lowering, true);
  VecCoord none[MaxRank] = {{{NULL}, 0}};
  vecRecordScalar(lowering, atomic->result, vecAccessLoad(&body, atomic->old, none, -1, 0));
  vecBodyEnd(&body);
}

static bool lowerAtomic(VecLowering *lowering, Atomic *atomic, MlirValue memory, intptr_t firstIndex) {
  VecShape shape = vecShapeOfValue(mlirValueIsNull(atomic->value) ? atomic->result : atomic->value);
  atomic->reached = (VecReached){.op = atomic->op, .base = memory, .first = firstIndex, .element = shape.element};
  if (!vecReach(lowering, &atomic->reached) || !vecExpectAtomic(&atomic->reached))
    return false;
  if (!mlirValueIsNull(atomic->result))
    atomic->old = vecBufferNew(lowering, &shape);
  vecForEachElementOf(lowering, atomic->op, &shape, visitPlace, atomic);
  if (atomic->old)
    recordOld(lowering, atomic);
  return true;
}

bool vecLowerAtomicRmw(VecLowering *lowering, MlirOperation op) {
  Atomic atomic = {.op = op, .value = tileAtomicRmwOpGetValue(op), .mask = tileAtomicRmwOpGetMask(op)};
  atomic.order = tileAtomicRmwOpGetOrder(op);
  atomic.kind = tileAtomicRmwOpGetKind(op);
  atomic.result = tileAtomicRmwOpGetOld(op);
  return lowerAtomic(lowering, &atomic, tileAtomicRmwOpGetMemory(op), tileAtomicRmwOpGetIndicesBegin(op));
}

bool vecLowerAtomicCas(VecLowering *lowering, MlirOperation op) {
  Atomic atomic = {.op = op, .value = tileAtomicCasOpGetValue(op), .mask = tileAtomicCasOpGetMask(op)};
  atomic.compare = tileAtomicCasOpGetCompare(op);
  atomic.order = tileAtomicCasOpGetOrder(op);
  atomic.result = tileAtomicCasOpGetOld(op);
  return lowerAtomic(lowering, &atomic, tileAtomicCasOpGetMemory(op), tileAtomicCasOpGetIndicesBegin(op));
}

bool vecLowerAtomicLoad(VecLowering *lowering, MlirOperation op) {
  Atomic atomic = {.op = op, .order = tileAtomicLoadOpGetOrder(op), .result = tileAtomicLoadOpGetResult(op)};
  return lowerAtomic(lowering, &atomic, tileAtomicLoadOpGetMemory(op), tileAtomicLoadOpGetIndicesBegin(op));
}

bool vecLowerAtomicStore(VecLowering *lowering, MlirOperation op) {
  Atomic atomic = {.op = op, .value = tileAtomicStoreOpGetValue(op), .order = tileAtomicStoreOpGetOrder(op)};
  return lowerAtomic(lowering, &atomic, tileAtomicStoreOpGetMemory(op), tileAtomicStoreOpGetIndicesBegin(op));
}

bool vecLowerAtomicWait(VecLowering *lowering, MlirOperation op) {
  Atomic atomic = {.op = op, .value = tileAtomicWaitOpGetLeast(op), .order = tileAtomicWaitOpGetOrder(op)};
  return lowerAtomic(lowering, &atomic, tileAtomicWaitOpGetMemory(op), tileAtomicWaitOpGetIndicesBegin(op));
}
