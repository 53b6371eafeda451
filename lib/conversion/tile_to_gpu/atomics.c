// Atomics, with their orders and scopes, and what a store or scatter combines. A tile's elements are taken by one of
// the threads that hold them; the old values reach the others through shared memory. Orders are the program's, not a
// thread's: what releases waits for all threads' writes, what acquires holds them all back.
#include "lib/conversion/tile_to_gpu/accesses.h"
#include "lib/conversion/tile_to_gpu/places.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

//===--- one element --------------------------------------------------------------------------===//

// LLVM's numbers.
enum { OrderRelaxed = 2, OrderAcquire = 4, OrderRelease = 5, OrderAcquireRelease = 6 };
enum {
  BinXchg,
  BinAdd,
  BinAnd = 3,
  BinOr = 5,
  BinXor,
  BinMax,
  BinMin,
  BinUmax,
  BinUmin,
  BinFadd,
  BinFmaximum = 19, // nan wins, as in arith.maximumf
  BinFminimum,
};

typedef struct Kind {
  const char *name;
  int onIntegers, onFloats; // -1: not defined
} Kind;

static const Kind kinds[] = {{"add", BinAdd, BinFadd},     {"fadd", -1, BinFadd}, {"max", BinMax, BinFmaximum},
                             {"min", BinMin, BinFminimum}, {"umax", BinUmax, -1}, {"umin", BinUmin, -1},
                             {"and", BinAnd, -1},          {"or", BinOr, -1},     {"xor", BinXor, -1},
                             {"xchg", BinXchg, BinXchg}};

static int binaryOf(MlirStringRef name, MlirType element) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (tileStringEquals(name, kinds[i].name))
      return mlirTypeIsAFloat(element) ? kinds[i].onFloats : kinds[i].onIntegers;
  return -1;
}

static bool expectAtomic(MlirOperation op, MlirType element) {
  unsigned bits = gpuBits(element);
  char text[64];
  bool isKnown = !gpuIsSmallFloat(element) && (bits == 16 || bits == 32 || bits == 64 || bits == 8);
  return isKnown ||
         tileError(op, "not converted to a GPU yet: atomics on %s", tileTypeText(element, text, sizeof text));
}

typedef struct Ordering {
  int order;
  const char *scope;
} Ordering;

static MlirAttribute scopeAttribute(Gpu *g, const char *scope) {
  return *scope ? mlirStringAttrGet(g->context, tileString(scope)) : (MlirAttribute){NULL};
}

static MlirValue atomicRmw(Gpu *g, int binary, MlirType element, MlirValue value, MlirValue address,
                           Ordering ordering) {
  MlirValue operands[] = {address, gpuToStored(g, value, element)};
  TileAttributeEntry attributes[] = {{"bin_op", mlirIntegerAttrGet(g->i64, binary)},
                                     {"ordering", mlirIntegerAttrGet(g->i64, ordering.order)},
                                     {"syncscope", scopeAttribute(g, ordering.scope)},
                                     {"alignment", mlirIntegerAttrGet(g->i64, gpuStoredBytes(element))},
                                     {NULL}};
  MlirValue old = tileBuildValue(&g->builder, "llvm.atomicrmw", mlirValueGetType(operands[1]), 2, operands, attributes);
  return gpuFromStored(g, old, element);
}

static MlirValue asBits(Gpu *g, MlirValue value, MlirType element) {
  MlirValue stored = gpuToStored(g, value, element);
  if (!mlirTypeIsAFloat(mlirValueGetType(stored)))
    return stored;
  return gpuOp(g, "arith.bitcast", mlirIntegerTypeGet(g->context, gpuBits(element)), stored);
}

bool gpuCombineInMemory(Gpu *g, MlirOperation op, MlirType element, MlirValue value, MlirValue address) {
  int binary = binaryOf(mlirStringAttrGetValue(tileOpAttribute(op, "combine")), element);
  if (!expectAtomic(op, element))
    return false;
  if (binary < 0)
    return gpuRefuse(op, "this combination on this type");
  atomicRmw(g, binary, element, value, address, (Ordering){OrderRelaxed, g->vocabulary->scope(tileString("device"))});
  return true;
}

// Threads that store to one place are in no order: one of them stays, whole.
void gpuStoreOneOf(Gpu *g, MlirType element, MlirValue value, MlirValue address) {
  const char *scope = g->vocabulary->scope(tileString("device"));
  MlirValue operands[] = {asBits(g, value, element), address};
  TileAttributeEntry attributes[] = {{"ordering", mlirIntegerAttrGet(g->i64, OrderRelaxed)},
                                     {"syncscope", scopeAttribute(g, scope)},
                                     {"alignment", mlirIntegerAttrGet(g->i64, gpuStoredBytes(element))},
                                     {NULL}};
  tileBuild(&g->builder, "llvm.store", 2, operands, 0, NULL, attributes, 0, NULL);
}

typedef struct Combining {
  MlirOperation op;
  bool *ok;
} Combining;

static void combineOne(Gpu *g, const Window *window, MlirValue value, MlirValue address, const void *data) {
  const Combining *combining = data;
  *combining->ok = *combining->ok && gpuCombineInMemory(g, combining->op, window->element, value, address);
}

bool gpuStoreCombining(Gpu *g, MlirOperation op, const Window *window, const TileLayout *layout,
                       const MlirValue *registers) {
  bool ok = true;
  gpuVisitWindow(g, window, layout, registers, combineOne, &(Combining){op, &ok});
  return ok;
}

//===--- orders -----------------------------------------------------------------------------------===//

static Ordering orderingOf(Gpu *g, MlirOperation op) {
  static const char *const names[] = {"relaxed", "acquire", "release", "acq_rel"};
  static const int orders[] = {OrderRelaxed, OrderAcquire, OrderRelease, OrderAcquireRelease};
  Ordering ordering = {OrderRelaxed, g->vocabulary->scope(tileKeywordOf(op, "scope"))};
  for (int i = 0; i < 4; ++i)
    if (tileKeywordIs(op, "order", names[i]))
      ordering.order = orders[i];
  return ordering;
}

static bool acquires(Ordering ordering) {
  return ordering.order == OrderAcquire || ordering.order == OrderAcquireRelease;
}
static bool releases(Ordering ordering) {
  return ordering.order == OrderRelease || ordering.order == OrderAcquireRelease;
}

//===--- values that the others want ----------------------------------------------------------------===//

// What the owners read reaches every thread that holds a copy.
static void spread(Gpu *g, const GpuReach *reach, MlirValue *registers) {
  if (!gpuIsTile(reach->type)) {
    int64_t bytes = gpuStoredBytes(reach->element);
    MlirValue scratch = gpuScratch(g, bytes);
    GpuIf first = gpuIf(g, gpuCompare(g, Compare_Equal, g->thread, gpuI32(g, 0)), 0, NULL);
    gpuStoreElements(g, reach->element, 1, registers, scratch, bytes);
    gpuEndIf(g, &first, 0, NULL, NULL);
    gpuScratchReady(g);
    gpuLoadElements(g, reach->element, 1, scratch, bytes, registers);
    gpuScratchDone(g);
    return;
  }
  bool hasCopies = gpuIsOwner(g, &reach->layout).ptr != NULL;
  for (intptr_t reg = 0; reg < gpuReachCount(reach); ++reg)
    hasCopies |= gpuIsFreeRegister(&reach->layout, reg);
  if (!hasCopies)
    return;
  MlirValue scratch = gpuScratch(g, gpuTileBytes(reach->type));
  gpuWriteDense(g, reach->type, registers, scratch);
  gpuScratchReady(g);
  gpuReadDense(g, reach->type, scratch, registers);
  gpuScratchDone(g);
}

static bool isUsed(MlirValue value) { return !mlirOpOperandIsNull(mlirValueGetFirstUse(value)); }

static void give(Gpu *g, MlirValue result, const MlirValue *registers) {
  if (!gpuIsTile(mlirValueGetType(result))) {
    gpuRecordScalar(g, result, registers[0]);
    return;
  }
  MlirValue *tile = gpuRecordTile(g, result);
  for (intptr_t reg = 0; reg < gpuRegisters(mlirValueGetType(result)); ++reg)
    tile[reg] = registers[reg];
}

//===--- rmw and cas ----------------------------------------------------------------------------------===//

// Compared bit for bit, so on integers.
static MlirValue compareAndSwap(Gpu *g, MlirType element, MlirValue expected, MlirValue value, MlirValue address,
                                Ordering ordering) {
  MlirValue operands[] = {address, asBits(g, expected, element), asBits(g, value, element)};
  MlirType bits = mlirValueGetType(operands[1]), fields[] = {bits, g->i1};
  MlirType pair = mlirLLVMStructTypeLiteralGet(g->context, 2, fields, false);
  int failure = acquires(ordering) ? OrderAcquire : OrderRelaxed;
  TileAttributeEntry attributes[] = {{"success_ordering", mlirIntegerAttrGet(g->i64, ordering.order)},
                                     {"failure_ordering", mlirIntegerAttrGet(g->i64, failure)},
                                     {"syncscope", scopeAttribute(g, ordering.scope)},
                                     {"alignment", mlirIntegerAttrGet(g->i64, gpuStoredBytes(element))},
                                     {NULL}};
  MlirValue both = tileBuildValue(&g->builder, "llvm.cmpxchg", pair, 3, operands, attributes);
  int64_t position = 0;
  TileAttributeEntry first[] = {{"position", mlirDenseI64ArrayGet(g->context, 1, &position)}, {NULL}};
  MlirValue old = tileBuildValue(&g->builder, "llvm.extractvalue", bits, 1, &both, first);
  MlirType stored = gpuStoredType(g, element);
  if (mlirTypeIsAFloat(stored))
    old = gpuOp(g, "arith.bitcast", stored, old);
  return gpuFromStored(g, old, element);
}

static MlirValue exchange(Gpu *g, const GpuReach *reach, intptr_t reg, MlirValue address, Ordering ordering,
                          int binary) {
  MlirValue value = gpuRegisterOf(g, tileOpOperand(reach->op, "value"), reg);
  if (!tileOpIs(reach->op, "tile.atomic_cas"))
    return atomicRmw(g, binary, reach->element, value, address, ordering);
  MlirValue expected = gpuRegisterOf(g, tileOpOperand(reach->op, "compare"), reg);
  return compareAndSwap(g, reach->element, expected, value, address, ordering);
}

// By the owners; a masked element leaves an old value that nobody may look at: 0.
static void exchangeAll(Gpu *g, const GpuReach *reach, Ordering ordering, int binary, MlirValue *registers) {
  MlirValue mask = tileOpOperand(reach->op, "mask");
  MlirType held = gpuHeldType(g, reach->element);
  MlirValue owner =
      gpuIsTile(reach->type) ? gpuIsOwner(g, &reach->layout) : gpuCompare(g, Compare_Equal, g->thread, gpuI32(g, 0));
  for (intptr_t reg = 0; reg < gpuReachCount(reach); ++reg) {
    registers[reg] = gpuZero(g, reach->element);
    if (gpuIsFreeRegister(&reach->layout, reg))
      continue;
    GpuPlace place = gpuPlaceOf(g, reach, reg);
    MlirValue wanted = gpuBoth(g, owner, gpuIsWanted(g, reach, mask, reg));
    wanted = gpuBoth(g, wanted, place.inside);
    GpuIf branch = gpuIf(g, wanted, 1, &held);
    MlirValue old = exchange(g, reach, reg, place.address, ordering, binary), none = registers[reg];
    registers[reg] = old;
    if (wanted.ptr) {
      gpuElse(g, &branch, 1, &old);
      gpuEndIf(g, &branch, 1, &none, &registers[reg]);
    }
  }
}

static bool lowerAtomic(Gpu *g, MlirOperation op) {
  MlirValue result = mlirOperationGetResult(op, 0);
  bool isCas = tileOpIs(op, "tile.atomic_cas");
  GpuReach reach;
  if (!gpuReachOf(g, op, "memory", mlirValueGetType(result), &reach) || !expectAtomic(op, reach.element))
    return false;
  int binary = isCas ? 0 : binaryOf(tileKeywordOf(op, "kind"), reach.element);
  if (binary < 0)
    return gpuRefuse(op, "this kind on this type");
  Ordering ordering = orderingOf(g, op);
  MlirValue *registers = gpuAllocate(g, (size_t)gpuReachCount(&reach) * sizeof *registers);
  gpuWritesGlobal(g, gpuRootOf(reach.memory));
  if (releases(ordering))
    gpuBarrier(g);
  exchangeAll(g, &reach, ordering, binary, registers);
  if (isUsed(result))
    spread(g, &reach, registers);
  if (acquires(ordering))
    gpuBarrier(g);
  give(g, result, registers);
  return true;
}

//===--- load and store -------------------------------------------------------------------------------===//

static bool lowerAtomicLoad(Gpu *g, MlirOperation op) {
  const Memory *memory = gpuRecord(g, mlirOperationGetOperand(op, 0))->memory;
  MlirType element = memory->element, stored = gpuStoredType(g, element);
  GpuReach reach = {.op = op, .element = element, .type = element};
  Ordering ordering = orderingOf(g, op);
  if (!expectAtomic(op, element))
    return false;
  gpuReadsGlobal(g, gpuRootOf(mlirOperationGetOperand(op, 0)));
  MlirValue address = gpuElementAddress(g, memory, op, 1), value;
  TileAttributeEntry attributes[] = {{"ordering", mlirIntegerAttrGet(g->i64, ordering.order)},
                                     {"syncscope", scopeAttribute(g, ordering.scope)},
                                     {"alignment", mlirIntegerAttrGet(g->i64, gpuStoredBytes(element))},
                                     {NULL}};
  // One thread's look is the program's: all take the same way afterwards.
  MlirType held = gpuHeldType(g, element);
  GpuIf first = gpuIf(g, gpuCompare(g, Compare_Equal, g->thread, gpuI32(g, 0)), 1, &held);
  value = gpuFromStored(g, tileBuildValue(&g->builder, "llvm.load", stored, 1, &address, attributes), element);
  MlirValue none;
  gpuElse(g, &first, 1, &value);
  none = gpuZero(g, element);
  gpuEndIf(g, &first, 1, &none, &value);
  spread(g, &reach, &value);
  gpuRecordScalar(g, mlirOperationGetResult(op, 0), value);
  return true;
}

static bool lowerAtomicStore(Gpu *g, MlirOperation op) {
  const Memory *memory = gpuRecord(g, mlirOperationGetOperand(op, 1))->memory;
  MlirType element = memory->element;
  Ordering ordering = orderingOf(g, op);
  if (!expectAtomic(op, element))
    return false;
  gpuWritesGlobal(g, gpuRootOf(mlirOperationGetOperand(op, 1)));
  if (releases(ordering))
    gpuBarrier(g);
  GpuIf first = gpuIf(g, gpuCompare(g, Compare_Equal, g->thread, gpuI32(g, 0)), 0, NULL);
  TileAttributeEntry attributes[] = {{"ordering", mlirIntegerAttrGet(g->i64, ordering.order)},
                                     {"syncscope", scopeAttribute(g, ordering.scope)},
                                     {"alignment", mlirIntegerAttrGet(g->i64, gpuStoredBytes(element))},
                                     {NULL}};
  MlirValue operands[] = {gpuToStored(g, gpuScalar(g, mlirOperationGetOperand(op, 0)), element),
                          gpuElementAddress(g, memory, op, 2)};
  tileBuild(&g->builder, "llvm.store", 2, operands, 0, NULL, attributes, 0, NULL);
  gpuEndIf(g, &first, 0, NULL, NULL);
  return true;
}

const GpuRow gpuAtomicRows[] = {{"tile.atomic_rmw", lowerAtomic},
                                {"tile.atomic_cas", lowerAtomic},
                                {"tile.atomic_load", lowerAtomicLoad},
                                {"tile.atomic_store", lowerAtomicStore},
                                {NULL}};
