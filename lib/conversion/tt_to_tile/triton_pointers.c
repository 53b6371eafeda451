// Pointers, and what is read and written through them. A tile of pointers is a tile of places in a memref; a pointer
// made from a number is an address. Where a mask without another value is false, a load gives poison.
#include "lib/conversion/tt_to_tile/triton.h"

#include "dialects/foreign/tt/ops.h"
#include "dialects/tile/ops.h"
#include "upstream/arith.h"
#include "upstream/memref.h"
#include "upstream/scf.h"
#include "upstream/ub.h"

static MlirType pointeeOf(MlirType old) { return ttPointerTypeGetPointee(ttTypeGetElement(old)); }

// A pointer in memory is an i64.
static MlirType storedType(Triton *t, MlirType pointee) {
  return ttTypeIsAPointer(pointee) ? mlirIntegerTypeGet(t->b.context, 64) : pointee;
}

static bool isTile(MlirValue value) { return mlirTypeIsARankedTensor(mlirValueGetType(value)); }

static MlirType shapedAs(MlirValue like, MlirType element) {
  return tritonWithElement(mlirValueGetType(like), element);
}

static MlirValue optional(Triton *t, MlirValue old, bool *ok) {
  MlirValue value = mlirValueIsNull(old) ? old : tritonPlain(t, old);
  *ok = *ok && mlirValueIsNull(old) == mlirValueIsNull(value);
  return value;
}

static bool getPointer(Triton *t, MlirOperation op, MlirValue old, TritonValue *pointer) {
  *pointer = tritonGet(t, old);
  if (pointer->kind == Triton_None || pointer->kind == Triton_Pointer)
    return pointer->kind == Triton_Pointer;
  return tileError(op, "goes through a pointer that is not defined on every way here");
}

//===--- pointers -----------------------------------------------------------------===//

// Numbers of `bits` bits, sign extended.
static MlirValue toI64(Triton *t, MlirValue integer) {
  MlirType i64 = mlirIntegerTypeGet(t->b.context, 64), type = shapedAs(integer, i64);
  MlirType element = tritonShape(mlirValueGetType(integer)).element;
  if (mlirTypeEqual(element, i64))
    return integer;
  return mlirTypeIsAIndex(element) ? arithIndexCastOpBuild(&t->b, type, integer)
                                   : tileBuildCast(&t->b, ArithOp_ExtSI, integer, type);
}

static int64_t bytesOfElement(Triton *t, MlirType pointee) { return (tileMemoryBits(storedType(t, pointee)) + 7) / 8; }

static MlirValue bytesOf(Triton *t, MlirValue count, MlirType pointee) {
  MlirValue wide = toI64(t, count);
  int64_t bytes = bytesOfElement(t, pointee);
  MlirValue size = tileBuildInteger(&t->b, mlirIntegerTypeGet(t->b.context, 64), bytes);
  return tileBuildBinary(&t->b, ArithOp_MulI, wide, tritonSplat(t, size, mlirValueGetType(wide)));
}

void tritonToAddress(Triton *t, TritonValue *pointer) {
  if (mlirValueIsNull(pointer->base))
    return;
  MlirType i64 = mlirIntegerTypeGet(t->b.context, 64);
  MlirValue start = arithIndexCastOpBuild(&t->b, i64, memrefExtractAlignedPointerAsIndexOpBuild(&t->b, pointer->base));
  MlirValue offset = bytesOf(t, pointer->value, pointer->pointee);
  pointer->value = tileBuildBinary(&t->b, ArithOp_AddI, tritonSplat(t, start, mlirValueGetType(offset)), offset);
  pointer->base = (MlirValue){NULL};
}

static bool addPointer(Triton *t, MlirOperation op) {
  TritonValue pointer;
  MlirValue offset = tritonPlain(t, ttAddPtrOpGetOffset(op));
  if (mlirValueIsNull(offset) || !getPointer(t, op, ttAddPtrOpGetPtr(op), &pointer))
    return false;
  offset = mlirValueIsNull(pointer.base) ? bytesOf(t, offset, pointer.pointee) : tritonIndex(t, offset);
  int64_t zero;
  bool isFirst = !isTile(pointer.value) && tileConstantIndex(pointer.value, &zero) && zero == 0 &&
                 mlirTypeEqual(mlirValueGetType(pointer.value), mlirValueGetType(offset));
  pointer.value = isFirst ? offset : tileBuildBinary(&t->b, ArithOp_AddI, pointer.value, offset);
  tritonSet(t, ttAddPtrOpGetResult(op), pointer);
  return true;
}

static bool toPointer(Triton *t, MlirOperation op) {
  MlirValue address = tritonPlain(t, ttIntToPtrOpGetSrc(op));
  tritonSet(t, ttIntToPtrOpGetResult(op),
            (TritonValue){.kind = mlirValueIsNull(address) ? Triton_None : Triton_Pointer,
                          .value = address,
                          .pointee = pointeeOf(ttIntToPtrOpGetResultType(op))});
  return !mlirValueIsNull(address);
}

static bool toInteger(Triton *t, MlirOperation op) {
  TritonValue pointer;
  if (!getPointer(t, op, ttPtrToIntOpGetSrc(op), &pointer))
    return false;
  tritonToAddress(t, &pointer);
  tritonSetPlain(t, ttPtrToIntOpGetResult(op), pointer.value);
  return true;
}

static bool bitcast(Triton *t, MlirOperation op) {
  MlirType result = ttBitcastOpGetResultType(op);
  TritonValue pointer;
  if (!ttTypeIsPointerLike(result)) {
    MlirValue value = tritonPlain(t, ttBitcastOpGetSrc(op));
    if (mlirValueIsNull(value))
      return false;
    bool isSame = mlirTypeEqual(mlirValueGetType(value), tritonType(result));
    tritonSetPlain(t, ttBitcastOpGetResult(op),
                   isSame ? value : tileBuildCast(&t->b, ArithOp_Bitcast, value, tritonType(result)));
    return true;
  }
  if (!getPointer(t, op, ttBitcastOpGetSrc(op), &pointer))
    return false;
  MlirType pointee = pointeeOf(result);
  if (bytesOfElement(t, pointee) != bytesOfElement(t, pointer.pointee))
    tritonToAddress(t, &pointer);
  pointer.pointee = pointee;
  tritonSet(t, ttBitcastOpGetResult(op), pointer);
  return true;
}

//===--- elements of another type -----------------------------------------------------//
// A pointer to i8 may point into an array of i1, one to i32 into an array of f32. Loads and stores convert elements.

// What lies in memory there.
static MlirType elementAt(Triton *t, const TritonValue *pointer) {
  return mlirValueIsNull(pointer->base) ? storedType(t, pointer->pointee)
                                        : mlirShapedTypeGetElementType(mlirValueGetType(pointer->base));
}

static bool isCast(Triton *t, const TritonValue *pointer) {
  return !mlirTypeEqual(elementAt(t, pointer), storedType(t, pointer->pointee));
}

// Keeps the bits and makes the type `element`. A boolean is a byte, 0 or 1.
static MlirValue recast(Triton *t, MlirValue value, MlirType element) {
  MlirType type = shapedAs(value, element), old = tritonShape(mlirValueGetType(value)).element;
  unsigned from = tileElementWidth(old), to = tileElementWidth(element);
  if (mlirTypeEqual(old, element))
    return value;
  if (to == from)
    return tileBuildCast(&t->b, ArithOp_Bitcast, value, type);
  MlirType byte = mlirIntegerTypeGet(t->b.context, 8);
  if (to > from)
    return recast(t, tileBuildCast(&t->b, ArithOp_ExtUI, value, shapedAs(value, byte)), element);
  value = recast(t, value, byte);
  MlirValue zero = tritonSplat(t, tileBuildInteger(&t->b, byte, 0), mlirValueGetType(value));
  return arithCmpIOpBuild(&t->b, value, zero, ArithCmpI_Ne);
}

// Atomics change the bits that are there.
static void toAtomicPlace(Triton *t, TritonValue *pointer) {
  if (isCast(t, pointer))
    tritonToAddress(t, pointer);
}

// The one element at an address, as a memref.
static void atAddress(Triton *t, TritonValue *pointer) {
  if (!mlirValueIsNull(pointer->base) || isTile(pointer->value))
    return;
  int64_t one = 1;
  MlirType type = mlirMemRefTypeContiguousGet(storedType(t, pointer->pointee), 1, &one, mlirAttributeGetNull());
  pointer->base = tileMemrefAtOpBuild(&t->b, type, pointer->value, 0, NULL, 0, NULL);
  pointer->value = tileBuildIndex(&t->b, 0);
}

// What gathers, scatters and atomics reach, and their indices.
static MlirValue memoryOf(const TritonValue *pointer, intptr_t *count) {
  *count = !mlirValueIsNull(pointer->base);
  return *count ? pointer->base : pointer->value;
}

//===--- load and store -------------------------------------------------------------===//

// A pointer that is loaded is an address.
static void setLoaded(Triton *t, MlirValue result, MlirValue value, MlirType pointee) {
  bool isPointer = ttTypeIsAPointer(pointee);
  tritonSet(t, result,
            (TritonValue){.kind = isPointer ? Triton_Pointer : Triton_Plain,
                          .value = value,
                          .pointee = isPointer ? ttPointerTypeGetPointee(pointee) : pointee});
}

static MlirValue loadElement(Triton *t, TritonValue pointer, MlirValue mask, MlirValue other) {
  if (mlirValueIsNull(mask)) {
    atAddress(t, &pointer);
    return memrefLoadOpBuild(&t->b, pointer.base, 1, &pointer.value);
  }
  TileBuilder outer = t->b;
  MlirRegion regions[2];
  t->b = tileBuilderInRegion(&outer, &regions[0], 0, NULL);
  atAddress(t, &pointer);
  MlirValue loaded = memrefLoadOpBuild(&t->b, pointer.base, 1, &pointer.value);
  MlirType type = mlirValueGetType(loaded);
  scfYieldOpBuild(&t->b, 1, &loaded);
  t->b = tileBuilderInRegion(&outer, &regions[1], 0, NULL);
  if (mlirValueIsNull(other))
    other = ubPoisonOpBuild(&t->b, type);
  scfYieldOpBuild(&t->b, 1, &other);
  t->b = outer;
  return tileOnlyResult(scfIfOpBuild(&t->b, 1, &type, mask, regions[0], regions[1]));
}

static bool load(Triton *t, MlirOperation op) {
  TritonValue pointer;
  bool ok = true;
  MlirValue mask = optional(t, ttLoadOpGetMask(op), &ok), other = {NULL};
  if (!ok || !getPointer(t, op, ttLoadOpGetPtr(op), &pointer))
    return false;
  if (ttTypeIsAPointer(pointer.pointee) && !mlirValueIsNull(ttLoadOpGetOther(op)))
    return tileError(op, "loads pointers with another pointer where the mask is false");
  other = optional(t, ttLoadOpGetOther(op), &ok);
  if (!ok)
    return false;
  MlirValue loaded, instead = {NULL};
  if (isCast(t, &pointer)) {
    instead = other;
    other = (MlirValue){NULL};
  }
  if (isTile(pointer.value)) {
    intptr_t count;
    MlirType type = shapedAs(pointer.value, elementAt(t, &pointer));
    MlirValue memory = memoryOf(&pointer, &count);
    if (!mlirValueIsNull(mask) && mlirValueIsNull(other))
      other = ubPoisonOpBuild(&t->b, type);
    loaded = tileGatherOpBuild(&t->b, type, memory, count, &pointer.value, mask, other, tritonWord(t, "trap"));
  } else {
    loaded = loadElement(t, pointer, mask, other);
  }
  loaded = recast(t, loaded, storedType(t, pointer.pointee));
  if (!mlirValueIsNull(instead))
    loaded = arithSelectOpBuild(&t->b, mask, loaded, instead);
  setLoaded(t, ttLoadOpGetResult(op), loaded, pointer.pointee);
  return true;
}

// The scalar's mask, if there is one, guards what `build` makes.
static void storeElement(Triton *t, TritonValue pointer, MlirValue value, MlirValue mask) {
  TileBuilder outer = t->b;
  MlirRegion regions[2];
  if (!mlirValueIsNull(mask))
    t->b = tileBuilderInRegion(&outer, &regions[0], 0, NULL);
  atAddress(t, &pointer);
  memrefStoreOpBuild(&t->b, value, pointer.base, 1, &pointer.value);
  if (mlirValueIsNull(mask))
    return;
  scfYieldOpBuild(&t->b, 0, NULL);
  t->b = outer;
  regions[1] = mlirRegionCreate();
  scfIfOpBuild(&t->b, 0, NULL, mask, regions[0], regions[1]);
}

static bool store(Triton *t, MlirOperation op) {
  TritonValue pointer;
  bool ok = true;
  MlirValue mask = optional(t, ttStoreOpGetMask(op), &ok);
  if (!ok || !getPointer(t, op, ttStoreOpGetPtr(op), &pointer))
    return false;
  if (ttTypeIsAPointer(pointer.pointee))
    return tileError(op, "stores a pointer: expected numbers");
  MlirValue value = tritonPlain(t, ttStoreOpGetValue(op));
  if (mlirValueIsNull(value))
    return false;
  value = recast(t, value, elementAt(t, &pointer));
  if (!isTile(pointer.value)) {
    storeElement(t, pointer, value, mask);
    return true;
  }
  intptr_t count;
  MlirValue memory = memoryOf(&pointer, &count);
  tileScatterOpBuild(&t->b, value, memory, count, &pointer.value, mask, tritonWord(t, "trap"));
  return true;
}

//===--- atomics ----------------------------------------------------------------------===//

static MlirAttribute orderOf(Triton *t, MlirAttribute semantic) {
  static const char *const words[] = {[TtSemantic_Relaxed] = "relaxed",
                                      [TtSemantic_Acquire] = "acquire",
                                      [TtSemantic_Release] = "release",
                                      [TtSemantic_AcquireRelease] = "acq_rel"};
  return tritonWord(t, words[mlirIntegerAttrGetValueInt(semantic)]);
}

static MlirAttribute scopeOf(Triton *t, MlirAttribute scope) {
  static const char *const words[] = {[TtScope_Gpu] = "device", [TtScope_Cta] = "block", [TtScope_System] = "system"};
  return tritonWord(t, words[mlirIntegerAttrGetValueInt(scope)]);
}

static bool combine(Triton *t, MlirOperation op) {
  static const char *const kinds[] = {
      [TtRmw_And] = "and", [TtRmw_Or] = "or",   [TtRmw_Xor] = "xor",   [TtRmw_Add] = "add",   [TtRmw_FAdd] = "fadd",
      [TtRmw_Max] = "max", [TtRmw_Min] = "min", [TtRmw_UMax] = "umax", [TtRmw_UMin] = "umin", [TtRmw_Xchg] = "xchg"};
  TritonValue pointer;
  bool ok = true;
  MlirValue mask = optional(t, ttAtomicRMWOpGetMask(op), &ok);
  if (!ok || !getPointer(t, op, ttAtomicRMWOpGetPtr(op), &pointer))
    return false;
  MlirValue value = tritonPlain(t, ttAtomicRMWOpGetVal(op));
  if (mlirValueIsNull(value))
    return false;
  intptr_t count;
  toAtomicPlace(t, &pointer);
  MlirValue memory = memoryOf(&pointer, &count);
  MlirAttribute kind = tritonWord(t, kinds[mlirIntegerAttrGetValueInt(ttAtomicRMWOpGetAtomicRmwOp(op))]);
  MlirValue old = tileAtomicRmwOpBuild(&t->b, value, memory, count, &pointer.value, mask, kind,
                                       orderOf(t, ttAtomicRMWOpGetSem(op)), scopeOf(t, ttAtomicRMWOpGetScope(op)));
  tritonSetPlain(t, ttAtomicRMWOpGetResult(op), old);
  return true;
}

static bool exchange(Triton *t, MlirOperation op) {
  TritonValue pointer;
  MlirValue compare = tritonPlain(t, ttAtomicCASOpGetCmp(op)), value = tritonPlain(t, ttAtomicCASOpGetVal(op));
  if (mlirValueIsNull(compare) || mlirValueIsNull(value) || !getPointer(t, op, ttAtomicCASOpGetPtr(op), &pointer))
    return false;
  intptr_t count;
  toAtomicPlace(t, &pointer);
  MlirValue memory = memoryOf(&pointer, &count);
  MlirValue old = tileAtomicCasOpBuild(&t->b, compare, value, memory, count, &pointer.value, (MlirValue){NULL},
                                       orderOf(t, ttAtomicCASOpGetSem(op)), scopeOf(t, ttAtomicCASOpGetScope(op)));
  tritonSetPlain(t, ttAtomicCASOpGetResult(op), old);
  return true;
}

static bool getElement(Triton *t, MlirOperation op, MlirValue old, MlirValue mask, TritonValue *pointer) {
  if (!getPointer(t, op, old, pointer))
    return false;
  atAddress(t, pointer);
  return (!isTile(pointer->value) && mlirValueIsNull(mask)) ||
         tileError(op, "has tiles of pointers or a mask: expected one pointer");
}

static bool atomicLoad(Triton *t, MlirOperation op) {
  TritonValue pointer;
  if (!getElement(t, op, ttAtomicLoadOpGetPtr(op), ttAtomicLoadOpGetMask(op), &pointer))
    return false;
  MlirValue loaded =
      tileAtomicLoadOpBuild(&t->b, elementAt(t, &pointer), pointer.base, 1, &pointer.value,
                            orderOf(t, ttAtomicLoadOpGetSem(op)), scopeOf(t, ttAtomicLoadOpGetScope(op)));
  loaded = recast(t, loaded, storedType(t, pointer.pointee));
  setLoaded(t, ttAtomicLoadOpGetResult(op), loaded, pointer.pointee);
  return true;
}

static bool atomicStore(Triton *t, MlirOperation op) {
  TritonValue pointer;
  MlirValue value = tritonPlain(t, ttAtomicStoreOpGetValue(op));
  if (mlirValueIsNull(value) || !getElement(t, op, ttAtomicStoreOpGetPtr(op), ttAtomicStoreOpGetMask(op), &pointer))
    return false;
  value = recast(t, value, elementAt(t, &pointer));
  tileAtomicStoreOpBuild(&t->b, value, pointer.base, 1, &pointer.value, orderOf(t, ttAtomicStoreOpGetSem(op)),
                         scopeOf(t, ttAtomicStoreOpGetScope(op)));
  return true;
}

// Looks until the value is there. A timeout is how often it looks at most: a look takes longer than a nanosecond.
static bool poll(Triton *t, MlirOperation op) {
  TritonValue pointer;
  bool ok = true;
  MlirValue expected = tritonPlain(t, ttAtomicPollOpGetExpected(op));
  MlirValue timeout = optional(t, ttAtomicPollOpGetTimeout(op), &ok);
  if (!ok || mlirValueIsNull(expected) || !getElement(t, op, ttAtomicPollOpGetPtr(op), (MlirValue){NULL}, &pointer))
    return false;
  MlirType i1 = mlirIntegerTypeGet(t->b.context, 1), i64 = mlirIntegerTypeGet(t->b.context, 64), types[] = {i1, i64};
  intptr_t count = !mlirValueIsNull(timeout);
  TileBuilder outer = t->b;
  MlirRegion regions[2];
  t->b = tileBuilderInRegion(&outer, &regions[0], count, &i64);
  MlirValue seen = tileAtomicLoadOpBuild(&t->b, elementAt(t, &pointer), pointer.base, 1, &pointer.value,
                                         orderOf(t, ttAtomicPollOpGetSem(op)), scopeOf(t, ttAtomicPollOpGetScope(op)));
  seen = recast(t, seen, mlirValueGetType(expected));
  MlirValue passed[] = {arithCmpIOpBuild(&t->b, seen, expected, ArithCmpI_Eq), {NULL}};
  MlirValue goes = arithCmpIOpBuild(&t->b, seen, expected, ArithCmpI_Ne);
  if (count) {
    passed[1] = mlirBlockGetArgument(t->b.block, 0);
    MlirValue isEarly = arithCmpIOpBuild(&t->b, passed[1], tileBuildInteger(&t->b, i64, 0), ArithCmpI_Sgt);
    goes = tileBuildBinary(&t->b, ArithOp_AndI, goes, isEarly);
  }
  scfConditionOpBuild(&t->b, goes, 1 + count, passed);
  t->b = tileBuilderInRegion(&outer, &regions[1], 1 + count, types);
  MlirValue left = {NULL};
  if (count)
    left = tileBuildBinary(&t->b, ArithOp_SubI, mlirBlockGetArgument(t->b.block, 1), tileBuildInteger(&t->b, i64, 1));
  scfYieldOpBuild(&t->b, count, &left);
  t->b = outer;
  MlirOperation loop = scfWhileOpBuild(&t->b, 1 + count, types, count, &timeout, regions[0], regions[1]);
  tritonSetPlain(t, ttAtomicPollOpGetResult(op), scfWhileOpGetResults(loop, 0));
  return true;
}

bool tritonMemory(void *kernel, MlirOperation op, bool *isKnown) {
  Triton *t = kernel;
  *isKnown = true;
  switch (ttOpKind(op)) {
  case TtOp_AddPtr:
    return addPointer(t, op);
  case TtOp_IntToPtr:
    return toPointer(t, op);
  case TtOp_PtrToInt:
    return toInteger(t, op);
  case TtOp_Bitcast:
    return bitcast(t, op);
  case TtOp_Load:
    *isKnown = !ttTypeIsABlockPointer(ttLoadOpGetPtrType(op));
    return !*isKnown || load(t, op);
  case TtOp_Store:
    *isKnown = !ttTypeIsABlockPointer(ttStoreOpGetPtrType(op));
    return !*isKnown || store(t, op);
  case TtOp_AtomicRMW:
    return combine(t, op);
  case TtOp_AtomicCAS:
    return exchange(t, op);
  case TtOp_AtomicLoad:
    return atomicLoad(t, op);
  case TtOp_AtomicStore:
    return atomicStore(t, op);
  case TtOp_AtomicPoll:
    return poll(t, op);
  default:
    *isKnown = false;
    return true;
  }
}
