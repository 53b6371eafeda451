// Atomics: one LLVM operation per element, on the address of the place; where the element shares its word with others
// (packed views, fewer than 8 bits) or the machine cannot combine it, a loop that exchanges words. Floats that are not
// added travel as integers of their width. `scope` is the whole machine on a CPU; orders are LLVM's.
#include "lib/conversion/tile_to_vector/memory/places.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <string.h>

//===--- elements and orders ---------------------------------------------------------------------===//

bool vecExpectAtomic(const VecReached *reached) {
  MlirType word = vecBitsTypeOf(reached->access ? reached->access->storage : vecStorageOf(reached->element));
  int64_t bits = mlirIntegerTypeGetWidth(word);
  if (bits <= 8 || bits == 16 || bits == 32 || bits == 64)
    return true;
  return tileError(reached->op, "not lowered to the CPU yet: atomics on elements of %d bits", (int)bits);
}

// LLVM's numbers.
static int64_t orderingOf(MlirStringRef order) {
  static const struct {
    const char *name;
    int64_t number;
  } orders[] = {{"relaxed", 2}, {"acquire", 4}, {"release", 5}, {"acq_rel", 6}};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i)
    if (tileStringEquals(order, orders[i].name))
      return orders[i].number;
  return 7;
}

static MlirAttribute number(TileBuilder *builder, int64_t value) {
  return mlirIntegerAttrGet(mlirIntegerTypeGet(builder->context, 64), value);
}

// An element as the word of its cell, where it is alone, and back.
static MlirValue toWord(TileBuilder *builder, const VecCell *cell, MlirValue value) {
  return vecIntegerCast(builder, vecBitsOfValue(builder, value), cell->word, false);
}

static MlirValue fromWord(TileBuilder *builder, MlirValue word, MlirType element) {
  return vecValueOfBits(builder, vecIntegerCast(builder, word, vecBitsTypeOf(element), false), element);
}

//===--- read, modify, write ------------------------------------------------------------------------===//

// llvm.atomicrmw's number for a kind of tile.atomic_rmw or a combination, on floats or integers; -1: none.
static int64_t operationOf(MlirStringRef kind, bool isFloat) {
  static const struct {
    const char *name;
    int64_t integers, floats;
  } kinds[] = {{"add", 1, 11},   {"fadd", -1, 11}, {"max", 7, 19}, {"min", 8, 20}, {"umax", 9, -1},
               {"umin", 10, -1}, {"and", 3, -1},   {"or", 5, -1},  {"xor", 6, -1}, {"xchg", 0, 0}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (tileStringEquals(kind, kinds[i].name))
      return isFloat ? kinds[i].floats : kinds[i].integers;
  return -1;
}

static MlirValue exchange(TileBuilder *builder, MlirStringRef order, const VecCell *cell, MlirValue compare,
                          MlirValue value) {
  bool acquires = tileStringEquals(order, "acquire") || tileStringEquals(order, "acq_rel");
  MlirType fields[] = {cell->word, mlirIntegerTypeGet(builder->context, 1)};
  MlirType type = mlirLLVMStructTypeLiteralGet(builder->context, 2, fields, false);
  MlirValue operands[] = {cell->pointer, compare, value};
  TileAttributeEntry attributes[] = {{"success_ordering", number(builder, orderingOf(order))},
                                     {"failure_ordering", number(builder, acquires ? 4 : 2)},
                                     {0}};
  return tileBuildValue(builder, "llvm.cmpxchg", type, 3, operands, attributes);
}

static MlirValue fieldOf(TileBuilder *builder, MlirValue pair, int64_t field, MlirType type) {
  TileAttributeEntry position[] = {{"position", mlirDenseI64ArrayGet(builder->context, 1, &field)}, {0}};
  return tileBuildValue(builder, "llvm.extractvalue", type, 1, &pair, position);
}

//===--- elements that share a word, or that no instruction combines --------------------------------===//

// What `kind` makes of two numbers; the enumeration is operationOf's.
static MlirValue combined(TileBuilder *builder, MlirStringRef kind, MlirValue old, MlirValue value) {
  static const struct {
    const char *name, *integers, *floats;
  } kinds[] = {{"add", "arith.addi", "arith.addf"},
               {"fadd", NULL, "arith.addf"},
               {"max", "arith.maxsi", "arith.maximumf"},
               {"min", "arith.minsi", "arith.minimumf"},
               {"umax", "arith.maxui", NULL},
               {"umin", "arith.minui", NULL},
               {"and", "arith.andi", NULL},
               {"or", "arith.ori", NULL},
               {"xor", "arith.xori", NULL}};
  bool isFloat = mlirTypeIsAFloat(mlirValueGetType(value));
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (tileStringEquals(kind, kinds[i].name))
      return vecBuildBinary(builder, isFloat ? kinds[i].floats : kinds[i].integers, old, value);
  return value; // xchg
}

static MlirValue elementInWord(TileBuilder *builder, const VecCell *cell, MlirValue word, MlirType element) {
  return fromWord(builder, cell->shift.ptr ? vecBuildBinary(builder, "arith.shrui", word, cell->shift) : word, element);
}

static MlirValue wordWith(TileBuilder *builder, const VecCell *cell, MlirValue word, MlirValue element) {
  MlirValue bits = toWord(builder, cell, element), ones = tileBuildInteger(builder, cell->word, -1);
  unsigned width = mlirIntegerTypeGetWidth(vecBitsTypeOf(mlirValueGetType(element)));
  if (width == mlirIntegerTypeGetWidth(cell->word))
    return bits;
  MlirValue mask = tileBuildInteger(builder, cell->word, (int64_t)(UINT64_MAX >> (64 - width)));
  if (cell->shift.ptr) {
    bits = vecBuildBinary(builder, "arith.shli", bits, cell->shift);
    mask = vecBuildBinary(builder, "arith.shli", mask, cell->shift);
  }
  word = vecBuildBinary(builder, "arith.andi", word, vecBuildBinary(builder, "arith.xori", mask, ones));
  return vecBuildBinary(builder, "arith.ori", word, bits);
}

// Reads, combines (with `compare`: writes where it is there) and exchanges until nobody came between.
static MlirValue exchangeUntilDone(TileBuilder *builder, MlirStringRef kind, MlirStringRef order, const VecCell *cell,
                                   MlirValue compare, MlirValue value) {
  MlirType element = mlirValueGetType(value), bit = mlirIntegerTypeGet(builder->context, 1);
  TileAttributeEntry relaxed[] = {
      {"ordering", number(builder, 2)}, {"alignment", number(builder, vecBytesOf(cell->word))}, {0}};
  MlirValue first = tileBuildValue(builder, "llvm.load", cell->word, 1, &cell->pointer, relaxed);
  MlirRegion regions[] = {mlirRegionCreate(), mlirRegionCreate()};
  MlirBlock before = mlirBlockCreate(1, &cell->word, &builder->location);
  MlirBlock after = mlirBlockCreate(1, &cell->word, &builder->location);
  mlirRegionAppendOwnedBlock(regions[0], before);
  mlirRegionAppendOwnedBlock(regions[1], after);
  TileBuilder inside = tileBuilderAtEnd(before, builder->location);
  MlirValue word = mlirBlockGetArgument(before, 0), old = elementInWord(&inside, cell, word, element), wanted = value;
  if (compare.ptr) {
    MlirValue bits = vecBitsOfValue(&inside, old), same = vecBitsOfValue(&inside, compare);
    wanted = vecBuildSelect(&inside, vecCompareIntegers(&inside, CompareEqual, bits, same), value, old);
  } else {
    wanted = combined(&inside, kind, old, value);
  }
  MlirValue pair = exchange(&inside, order, cell, word, wordWith(&inside, cell, word, wanted));
  MlirValue seen = fieldOf(&inside, pair, 0, cell->word), done = fieldOf(&inside, pair, 1, bit);
  MlirValue again = vecBuildBinary(&inside, "arith.xori", done, tileBuildInteger(&inside, bit, 1));
  tileBuild(&inside, "scf.condition", 2, (MlirValue[]){again, seen}, 0, NULL, NULL, 0, NULL);
  inside = tileBuilderAtEnd(after, builder->location);
  MlirValue argument = mlirBlockGetArgument(after, 0);
  tileBuildYield(&inside, 1, &argument);
  MlirOperation loop = tileBuild(builder, "scf.while", 1, &first, 1, &cell->word, NULL, 2, regions);
  return elementInWord(builder, cell, mlirOperationGetResult(loop, 0), element);
}

// bf16 and narrower floats are added in f32, which atomicrmw would round by an instruction that flushes subnormals, or
// does not know at all.
static bool isAlone(const VecCell *cell, MlirValue value, bool isNumber) {
  MlirType element = mlirValueGetType(value), bits = vecBitsTypeOf(element);
  return mlirTypeEqual(bits, cell->word) &&
         !(isNumber && (mlirTypeIsABF16(element) || mlirIntegerTypeGetWidth(bits) < 16));
}

MlirValue vecCombineAtomically(TileBuilder *builder, MlirStringRef kind, MlirStringRef order, const VecCell *cell,
                               MlirValue value) {
  MlirType element = mlirValueGetType(value);
  if (mlirTypeIsAIndex(element)) {
    value = vecIntegerCast(builder, value, cell->word, true);
    return vecIntegerCast(builder, vecCombineAtomically(builder, kind, order, cell, value), element, true);
  }
  bool isExchange = tileStringEquals(kind, "xchg"), isNumber = mlirTypeIsAFloat(element) && !isExchange;
  if (!isAlone(cell, value, isNumber))
    return exchangeUntilDone(builder, kind, order, cell, (MlirValue){NULL}, value);
  MlirValue operands[] = {cell->pointer, isNumber ? value : vecBitsOfValue(builder, value)};
  TileAttributeEntry attributes[] = {
      {"bin_op", number(builder, operationOf(kind, isNumber))}, {"ordering", number(builder, orderingOf(order))}, {0}};
  MlirValue old = tileBuildValue(builder, "llvm.atomicrmw", mlirValueGetType(operands[1]), 2, operands, attributes);
  return isNumber ? old : vecValueOfBits(builder, old, element);
}

static MlirValue exchangeWhereEqual(TileBuilder *builder, MlirStringRef order, const VecCell *cell, MlirValue compare,
                                    MlirValue value) {
  MlirType element = mlirValueGetType(value);
  if (mlirTypeIsAIndex(element)) {
    compare = vecIntegerCast(builder, compare, cell->word, true);
    value = vecIntegerCast(builder, value, cell->word, true);
    return vecIntegerCast(builder, exchangeWhereEqual(builder, order, cell, compare, value), element, true);
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
  TileAttributeEntry attributes[] = {
      {"ordering", number(builder, orderingOf(order))}, {"alignment", number(builder, vecBytesOf(cell->word))}, {0}};
  MlirValue word = tileBuildValue(builder, "llvm.load", cell->word, 1, &cell->pointer, attributes);
  return mlirTypeIsAIndex(element) ? vecIntegerCast(builder, word, element, true) : fromWord(builder, word, element);
}

static void storeAtomically(TileBuilder *builder, MlirStringRef order, const VecCell *cell, MlirValue value) {
  MlirValue operands[] = {toWord(builder, cell, value), cell->pointer};
  TileAttributeEntry attributes[] = {
      {"ordering", number(builder, orderingOf(order))}, {"alignment", number(builder, vecBytesOf(cell->word))}, {0}};
  tileBuild(builder, "llvm.store", 2, operands, 0, NULL, attributes, 0, NULL);
}

// What was there; null after a store.
static MlirValue applyAtomic(VecBody *body, const Atomic *atomic, const VecPlace *place, const VecCoord *coords) {
  TileBuilder *builder = &body->lowering->builder;
  MlirStringRef order = mlirStringAttrGetValue(atomic->order);
  VecCell cell = vecPlaceCell(builder, place);
  if (!atomic->value.ptr)
    return loadAtomically(builder, atomic, order, &cell);
  MlirValue value = vecElementAt(body, atomic->value, coords);
  if (atomic->compare.ptr)
    return exchangeWhereEqual(builder, order, &cell, vecElementAt(body, atomic->compare, coords), value);
  if (atomic->old)
    return vecCombineAtomically(builder, mlirStringAttrGetValue(atomic->kind), order, &cell, value);
  storeAtomically(builder, order, &cell, value);
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
  MlirValue mask = atomic->mask.ptr ? vecElementAt(outer, atomic->mask, coords) : (MlirValue){NULL};
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
