// Atomics: one LLVM operation per element, on the address of the place. Floats that are not added travel as integers
// of their width. `scope` is the whole machine on a CPU; orders are LLVM's.
#include "dialects/tile/questions.h"
#include "lib/conversion/tile_to_vector/places.h"
#include "lib/ir/op_format.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <string.h>

//===--- elements and orders ---------------------------------------------------------------------===//

bool expectAtomic(const Reached *reached) {
  MlirType element = reached->element;
  if (reached->access && reached->access->packing)
    return tileError(reached->op, "not lowered to the CPU yet: atomics on a packed view");
  int64_t bits = mlirTypeIsAInteger(element) ? mlirIntegerTypeGetWidth(element)
                 : mlirTypeIsAFloat(element) ? mlirFloatTypeGetWidth(element)
                                             : 64;
  if (bits == 8 || bits == 16 || bits == 32 || bits == 64)
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

static MlirType bitsOf(MlirType element) {
  return mlirIntegerTypeGet(mlirTypeGetContext(element), (unsigned)bytesOf(element) * 8);
}

static MlirValue toBits(TileBuilder *builder, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (mlirTypeIsAIndex(type))
    return buildUnary(builder, "arith.index_cast", bitsOf(type), value);
  return mlirTypeIsAFloat(type) ? buildUnary(builder, "arith.bitcast", bitsOf(type), value) : value;
}

static MlirValue fromBits(TileBuilder *builder, MlirValue bits, MlirType element) {
  if (mlirTypeIsAIndex(element))
    return buildUnary(builder, "arith.index_cast", element, bits);
  return mlirTypeIsAFloat(element) ? buildUnary(builder, "arith.bitcast", element, bits) : bits;
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

MlirValue combineAtomically(TileBuilder *builder, MlirStringRef kind, MlirStringRef order, MlirValue pointer,
                            MlirValue value) {
  MlirType element = mlirValueGetType(value);
  bool isExchange = tileStringEquals(kind, "xchg"), isNumber = mlirTypeIsAFloat(element) && !isExchange;
  MlirValue operands[] = {pointer, isNumber ? value : toBits(builder, value)};
  TileAttributeEntry attributes[] = {
      {"bin_op", number(builder, operationOf(kind, isNumber))}, {"ordering", number(builder, orderingOf(order))}, {0}};
  MlirValue old = tileBuildValue(builder, "llvm.atomicrmw", mlirValueGetType(operands[1]), 2, operands, attributes);
  return isNumber ? old : fromBits(builder, old, element);
}

static MlirValue exchangeWhereEqual(TileBuilder *builder, MlirStringRef order, MlirValue pointer, MlirValue compare,
                                    MlirValue value) {
  MlirType element = mlirValueGetType(value), bits = bitsOf(element);
  bool acquires = tileStringEquals(order, "acquire") || tileStringEquals(order, "acq_rel");
  MlirType fields[] = {bits, mlirIntegerTypeGet(builder->context, 1)};
  MlirType type = mlirLLVMStructTypeLiteralGet(builder->context, 2, fields, false);
  MlirValue operands[] = {pointer, toBits(builder, compare), toBits(builder, value)};
  TileAttributeEntry attributes[] = {{"success_ordering", number(builder, orderingOf(order))},
                                     {"failure_ordering", number(builder, acquires ? 4 : 2)},
                                     {0}};
  MlirValue pair = tileBuildValue(builder, "llvm.cmpxchg", type, 3, operands, attributes);
  int64_t first = 0;
  TileAttributeEntry position[] = {{"position", mlirDenseI64ArrayGet(builder->context, 1, &first)}, {0}};
  return fromBits(builder, tileBuildValue(builder, "llvm.extractvalue", bits, 1, &pair, position), element);
}

//===--- tiles and scalars ---------------------------------------------------------------------------===//

typedef struct Atomic {
  MlirOperation op;
  Reached reached;
  MlirValue value, compare, mask; // of the kernel; null: none
  Access *old;                    // null: nothing is read
} Atomic;

static MlirValue loadAtomically(TileBuilder *builder, const Atomic *atomic, MlirStringRef order, MlirValue pointer) {
  MlirType element = atomic->reached.element;
  TileAttributeEntry attributes[] = {
      {"ordering", number(builder, orderingOf(order))}, {"alignment", number(builder, bytesOf(element))}, {0}};
  return fromBits(builder, tileBuildValue(builder, "llvm.load", bitsOf(element), 1, &pointer, attributes), element);
}

static void storeAtomically(TileBuilder *builder, MlirStringRef order, MlirValue pointer, MlirValue value) {
  MlirValue operands[] = {toBits(builder, value), pointer};
  TileAttributeEntry attributes[] = {{"ordering", number(builder, orderingOf(order))},
                                     {"alignment", number(builder, bytesOf(mlirValueGetType(value)))},
                                     {0}};
  tileBuild(builder, "llvm.store", 2, operands, 0, NULL, attributes, 0, NULL);
}

// What was there; null after a store.
static MlirValue applyAtomic(Body *body, const Atomic *atomic, const Place *place, const Coord *coords) {
  TileBuilder *builder = &body->lowering->builder;
  MlirStringRef order = tileKeywordOf(atomic->op, "order");
  MlirValue pointer = placePointer(builder, place);
  if (!atomic->value.ptr)
    return loadAtomically(builder, atomic, order, pointer);
  MlirValue value = elementAt(body, atomic->value, coords);
  if (atomic->compare.ptr)
    return exchangeWhereEqual(builder, order, pointer, elementAt(body, atomic->compare, coords), value);
  if (atomic->old)
    return combineAtomically(builder, tileKeywordOf(atomic->op, "kind"), order, pointer, value);
  storeAtomically(builder, order, pointer, value);
  return (MlirValue){NULL};
}

static void keepOld(Lowering *lowering, const Atomic *atomic, const Coord *coords, MlirValue old) {
  Body body = bodyBegin(lowering, true);
  accessStore(&body, atomic->old, coords, -1, 0, old);
  bodyEnd(&body);
}

// Where the mask is false, or the place outside a view, nothing happens and 0 was there.
static void visitPlace(Body *outer, const Coord *coords, void *data) {
  const Atomic *atomic = data;
  Lowering *lowering = outer->lowering;
  if (atomic->old)
    keepOld(lowering, atomic, coords, buildZero(&lowering->builder, atomic->reached.element));
  MlirValue mask = atomic->mask.ptr ? elementAt(outer, atomic->mask, coords) : (MlirValue){NULL};
  TileBuilder beforeMask = openIf(lowering, mask);
  Body body = bodyBegin(lowering, false);
  Place place = placeReached(&body, &atomic->reached, coords);
  trapOutside(lowering, &place);
  bodyEnd(&body);
  TileBuilder beforeAccess = openIf(lowering, place.inside);
  body = bodyBegin(lowering, false);
  MlirValue old = applyAtomic(&body, atomic, &place, coords);
  if (atomic->old)
    keepOld(lowering, atomic, coords, old);
  bodyEnd(&body);
  closeIf(lowering, place.inside, beforeAccess);
  closeIf(lowering, mask, beforeMask);
}

static void recordOld(Lowering *lowering, const Atomic *atomic) {
  MlirValue result = mlirOperationGetResult(atomic->op, 0);
  if (isTile(mlirValueGetType(result))) {
    recordMemory(lowering, result, atomic->old);
    return;
  }
  Body body = bodyBegin(lowering, true);
  Coord none[MaxRank] = {{{NULL}, 0}};
  recordScalar(lowering, result, accessLoad(&body, atomic->old, none, -1, 0));
  bodyEnd(&body);
}

bool lowerAtomic(Lowering *lowering, MlirOperation op) {
  bool isLoad = tileOpIs(op, "tile.atomic_load"), isCas = tileOpIs(op, "tile.atomic_cas");
  Atomic atomic = {.op = op};
  if (!isLoad)
    atomic.value = tileOpOperand(op, "value");
  if (isCas)
    atomic.compare = tileOpOperand(op, "compare");
  if (isCas || tileOpIs(op, "tile.atomic_rmw"))
    atomic.mask = tileOpOperand(op, "mask");
  Shape shape = shapeOfValue(isLoad ? mlirOperationGetResult(op, 0) : atomic.value);
  if (!reach(lowering, op, tileOpOperand(op, "memory"), shape.element, &atomic.reached) ||
      !expectAtomic(&atomic.reached))
    return false;
  if (!tileOpIs(op, "tile.atomic_store"))
    atomic.old = bufferNew(lowering, &shape);
  intptr_t mark = spillOperands(lowering, op);
  forEachElement(lowering, &shape, visitPlace, &atomic);
  unspill(lowering, mark);
  if (atomic.old)
    recordOld(lowering, &atomic);
  return true;
}
