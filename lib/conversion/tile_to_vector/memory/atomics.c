// Atomics: one LLVM operation per element, on the address of the place; where the element shares its word with others
// (packed views, fewer than 8 bits) or the machine cannot combine it, a loop that exchanges words. Floats that are not
// added travel as integers of their width. `scope` is the whole machine on a CPU; orders are LLVM's.
#include "lib/conversion/tile_to_vector/memory/places.h"
#include "upstream/llvm.h"
#include "upstream/scf.h"

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

static LlvmAtomicOrdering orderingOf(MlirStringRef order) {
  static const struct {
    const char *name;
    LlvmAtomicOrdering ordering;
  } orders[] = {{"relaxed", LlvmAtomicOrdering_Monotonic},
                {"acquire", LlvmAtomicOrdering_Acquire},
                {"release", LlvmAtomicOrdering_Release},
                {"acq_rel", LlvmAtomicOrdering_AcqRel}};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i)
    if (tileStringEquals(order, orders[i].name))
      return orders[i].ordering;
  return LlvmAtomicOrdering_SeqCst;
}

static MlirValue loadWord(TileBuilder *builder, LlvmAtomicOrdering order, const VecCell *cell) {
  MlirAttribute none = mlirAttributeGetNull(), alignment = tileBuildEnum(builder, 64, vecBytesOf(cell->word));
  MlirOperation load = llvmLoadOpCreate(builder, cell->word, cell->pointer, alignment, none, none, none, none,
                                        tileBuildEnum(builder, 64, order), none, none, none, none, none, none);
  return llvmLoadOpGetRes(load);
}

static void storeWord(TileBuilder *builder, LlvmAtomicOrdering order, const VecCell *cell, MlirValue word) {
  MlirAttribute none = mlirAttributeGetNull(), alignment = tileBuildEnum(builder, 64, vecBytesOf(cell->word));
  llvmStoreOpCreate(builder, word, cell->pointer, alignment, none, none, none, tileBuildEnum(builder, 64, order), none,
                    none, none, none, none);
}

// An element as the word of its cell, where it is alone, and back.
static MlirValue toWord(TileBuilder *builder, const VecCell *cell, MlirValue value) {
  return tileBuildIntegerCast(builder, tileBuildBits(builder, value), cell->word, false);
}

static MlirValue fromWord(TileBuilder *builder, MlirValue word, MlirType element) {
  return tileBuildNumberOfBits(builder, tileBuildIntegerCast(builder, word, tileBitsType(element), false), element);
}

//===--- read, modify, write ------------------------------------------------------------------------===//

// How a kind of tile.atomic_rmw, or a combination, combines integers and floats: llvm.atomicrmw's word (-1: none) and
// the op on two numbers (None: the value replaces the old one).
typedef struct Combination {
  const char *name;
  int word, floatWord;
  TileUpstream op, floatOp;
} Combination;

static const Combination combinations[] = {
    {"add", LlvmAtomicBinOp_Add, LlvmAtomicBinOp_Fadd, ArithOp_AddI, ArithOp_AddF},
    {"fadd", -1, LlvmAtomicBinOp_Fadd, TileUpstream_None, ArithOp_AddF},
    {"max", LlvmAtomicBinOp_Max, LlvmAtomicBinOp_Fmaximum, ArithOp_MaxSI, ArithOp_MaximumF},
    {"min", LlvmAtomicBinOp_Min, LlvmAtomicBinOp_Fminimum, ArithOp_MinSI, ArithOp_MinimumF},
    {"umax", LlvmAtomicBinOp_Umax, -1, ArithOp_MaxUI, TileUpstream_None},
    {"umin", LlvmAtomicBinOp_Umin, -1, ArithOp_MinUI, TileUpstream_None},
    {"and", LlvmAtomicBinOp_And, -1, ArithOp_AndI, TileUpstream_None},
    {"or", LlvmAtomicBinOp_Or, -1, ArithOp_OrI, TileUpstream_None},
    {"xor", LlvmAtomicBinOp_Xor, -1, ArithOp_XOrI, TileUpstream_None},
    {"xchg", LlvmAtomicBinOp_Xchg, LlvmAtomicBinOp_Xchg, TileUpstream_None, TileUpstream_None},
};

static const Combination *combinationOf(MlirStringRef kind) {
  const Combination *combination = combinations;
  while (!tileStringEquals(kind, combination->name))
    ++combination;
  return combination;
}

static MlirValue exchange(TileBuilder *builder, MlirStringRef order, const VecCell *cell, MlirValue compare,
                          MlirValue value) {
  bool acquires = tileStringEquals(order, "acquire") || tileStringEquals(order, "acq_rel");
  LlvmAtomicOrdering failure = acquires ? LlvmAtomicOrdering_Acquire : LlvmAtomicOrdering_Monotonic;
  return llvmAtomicCmpXchgOpBuild(builder, cell->pointer, compare, value, orderingOf(order), failure);
}

static MlirValue fieldOf(TileBuilder *builder, MlirValue pair, int64_t field, MlirType type) {
  MlirAttribute position = mlirDenseI64ArrayGet(builder->context, 1, &field);
  return llvmExtractValueOpBuild(builder, type, pair, position);
}

//===--- elements that share a word, or that no instruction combines --------------------------------===//

static MlirValue combined(TileBuilder *builder, MlirStringRef kind, MlirValue old, MlirValue value) {
  const Combination *combination = combinationOf(kind);
  TileUpstream op = mlirTypeIsAFloat(mlirValueGetType(value)) ? combination->floatOp : combination->op;
  return op == TileUpstream_None ? value : tileBuildBinary(builder, op, old, value);
}

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

// Reads, combines (with `compare`: writes where it is there) and exchanges until nobody came between.
static MlirValue exchangeUntilDone(TileBuilder *builder, MlirStringRef kind, MlirStringRef order, const VecCell *cell,
                                   MlirValue compare, MlirValue value) {
  MlirType element = mlirValueGetType(value), bit = mlirIntegerTypeGet(builder->context, 1);
  MlirValue first = loadWord(builder, LlvmAtomicOrdering_Monotonic, cell);
  MlirRegion regions[] = {mlirRegionCreate(), mlirRegionCreate()};
  MlirBlock before = mlirBlockCreate(1, &cell->word, &builder->location);
  MlirBlock after = mlirBlockCreate(1, &cell->word, &builder->location);
  mlirRegionAppendOwnedBlock(regions[0], before);
  mlirRegionAppendOwnedBlock(regions[1], after);
  TileBuilder inside = tileBuilderAtEnd(before, builder->location);
  MlirValue word = mlirBlockGetArgument(before, 0), old = elementInWord(&inside, cell, word, element), wanted = value;
  if (!mlirValueIsNull(compare)) {
    MlirValue bits = tileBuildBits(&inside, old), same = tileBuildBits(&inside, compare);
    wanted = arithSelectOpBuild(&inside, arithCmpIOpBuild(&inside, bits, same, ArithCmpI_Eq), value, old);
  } else {
    wanted = combined(&inside, kind, old, value);
  }
  MlirValue pair = exchange(&inside, order, cell, word, wordWith(&inside, cell, word, wanted));
  MlirValue seen = fieldOf(&inside, pair, 0, cell->word), done = fieldOf(&inside, pair, 1, bit);
  MlirValue again = arithXOrIOpBuild(&inside, done, tileBuildInteger(&inside, bit, 1));
  scfConditionOpBuild(&inside, again, 1, &seen);
  inside = tileBuilderAtEnd(after, builder->location);
  MlirValue argument = mlirBlockGetArgument(after, 0);
  tileBuildYield(&inside, 1, &argument);
  MlirOperation loop = scfWhileOpBuild(builder, 1, &cell->word, 1, &first, regions[0], regions[1]);
  return elementInWord(builder, cell, tileOnlyResult(loop), element);
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
  if (!isAlone(cell, value, isNumber))
    return exchangeUntilDone(builder, kind, order, cell, (MlirValue){NULL}, value);
  const Combination *combination = combinationOf(kind);
  int word = isNumber ? combination->floatWord : combination->word;
  MlirValue operand = isNumber ? value : tileBuildBits(builder, value);
  MlirValue old = llvmAtomicRMWOpBuild(builder, cell->pointer, operand, (LlvmAtomicBinOp)word, orderingOf(order));
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
    return exchangeUntilDone(builder, tileString("xchg"), order, cell, compare, value);
  MlirValue pair = exchange(builder, order, cell, toWord(builder, cell, compare), toWord(builder, cell, value));
  return fromWord(builder, fieldOf(builder, pair, 0, cell->word), element);
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
  MlirValue word = loadWord(builder, orderingOf(order), cell);
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
  storeWord(builder, orderingOf(order), &cell, toWord(builder, &cell, value));
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
