// llvm's memory operations: every access asks the machine first and goes where it says.
// Loads and stores keep their form, so that the optimizer still knows them; only the pointer changes.
#include "lib/emulator/compile/memory_ops.h"

#include "lib/emulator/compile/private_memory.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"

enum { WIDEST_ACCESS = 64, WIDEST_INSTRUCTION = 16, NOT_ATOMIC = 0 };

//===--- questions ------------------------------------------------------------===//

// Memory of the thread's own where the program shows which: an alloca, also behind address arithmetic.
static bool isPrivate(MlirValue pointer) { return llvmAllocaOpIsA(tileDefiningOp(emulatorRoot(pointer))); }

static uint32_t spaceOf(MlirValue pointer) {
  switch (mlirLLVMPointerTypeGetAddressSpace(mlirValueGetType(pointer))) {
  case 1:
  case 4: // constant
    return TESSERA_EMU_GLOBAL;
  case 3:
    return TESSERA_EMU_SHARED;
  case 7:
    return TESSERA_EMU_CLUSTER;
  default:
    return 0;
  }
}

// What a GPU's instruction needs: the stated alignment or the type's own, at most one instruction's width.
static uint32_t alignmentOf(MlirOperation op, uint64_t bytes) {
  uint64_t natural = 1;
  while (natural < bytes && natural < WIDEST_INSTRUCTION)
    natural *= 2;
  uint64_t stated = (uint64_t)emulatorInteger(op, "alignment", 0);
  if (!stated)
    return (uint32_t)natural;
  return (uint32_t)(stated < natural ? stated : natural);
}

// LLVM's orderings: monotonic 2, acquire 4, release 5, acq_rel 6, seq_cst 7.
static tessera_emu_order_t orderOf(int64_t ordering) {
  static const tessera_emu_order_t orders[] = {TESSERA_EMU_RELAXED,         TESSERA_EMU_RELAXED,   TESSERA_EMU_RELAXED,
                                               TESSERA_EMU_RELAXED,         TESSERA_EMU_ACQUIRE,   TESSERA_EMU_RELEASE,
                                               TESSERA_EMU_ACQUIRE_RELEASE, TESSERA_EMU_SEQUENTIAL};
  return orders[ordering & 7];
}

// NVPTX's "block", "cluster", "device" and AMDGPU's "workgroup", "agent", … each with or without "-one-as".
static tessera_emu_scope_t scopeOf(MlirOperation op) {
  static const char *const narrow[] = {"block", "workgroup", "wavefront", "singlethread"};
  static const char *const device[] = {"device", "agent", "cluster"};
  for (int i = 0; i < 4; ++i)
    if (emulatorSays(op, "syncscope", narrow[i]))
      return TESSERA_EMU_SCOPE_BLOCK;
  for (int i = 0; i < 3; ++i)
    if (emulatorSays(op, "syncscope", device[i]))
      return TESSERA_EMU_SCOPE_DEVICE;
  return TESSERA_EMU_SCOPE_SYSTEM;
}

//===--- plain accesses -----------------------------------------------------------===//

static void setAlignment(EmulatorBuild *build, MlirOperation op, int64_t alignment) {
  mlirOperationSetAttributeByName(op, tileString("alignment"), mlirIntegerAttrGet(build->i64, alignment));
}

// A pointer that the function was given.
static bool isParameter(EmulatorBuild *build, MlirValue value) {
  return mlirValueIsABlockArgument(value) &&
         mlirBlockEqual(mlirBlockArgumentGetOwner(value),
                        mlirRegionGetFirstBlock(mlirOperationGetRegion(build->function, 0)));
}

MlirValue emulatorAccess(EmulatorBuild *build, TileBuilder *b, MlirOperation op, MlirValue pointer, uint64_t bytes,
                         uint32_t what) {
  MlirValue root = emulatorRoot(pointer);
  if (bytes <= WIDEST_INSTRUCTION && !(spaceOf(pointer) & TESSERA_EMU_SHARED) && isParameter(build, root) &&
      !mlirValueEqual(root, pointer)) {
    MlirValue operands[] = {emulatorFlat(build, b, root), emulatorFlat(build, b, pointer),
                            emulatorI32(build, b, (int64_t)bytes), emulatorI32(build, b, what | spaceOf(pointer))};
    return emulatorCallAt(build, b, op, "tessera_emu_access_from", build->pointer, 4, operands);
  }
  const char *callee = bytes > WIDEST_INSTRUCTION ? "tessera_emu_access_wide" : "tessera_emu_access";
  MlirValue operands[] = {emulatorFlat(build, b, pointer), emulatorI32(build, b, (int64_t)bytes),
                          emulatorI32(build, b, what | spaceOf(pointer))};
  return emulatorCallAt(build, b, op, callee, build->pointer, 3, operands);
}

// begin … op … end around an atomic of any kind; its address becomes what begin returns.
static bool lowerAtomic(EmulatorBuild *build, MlirOperation op, intptr_t pointerAt, uint64_t bytes, uint32_t what,
                        int64_t ordering) {
  TileBuilder before = tileBuilderBefore(op), after = tileBuilderAfter(op);
  MlirValue pointer = mlirOperationGetOperand(op, pointerAt);
  what |= spaceOf(pointer) | TESSERA_EMU_ALIGN(bytes);
  MlirValue operands[] = {emulatorFlat(build, &before, pointer), emulatorI32(build, &before, (int64_t)bytes),
                          emulatorI32(build, &before, what), emulatorI32(build, &before, orderOf(ordering)),
                          emulatorI32(build, &before, scopeOf(op))};
  MlirValue there = emulatorCallAt(build, &before, op, "tessera_emu_atomic_begin", build->pointer, 5, operands);
  mlirOperationSetOperand(op, pointerAt, there);
  mlirOperationRemoveAttributeByName(op, tileString("syncscope"));
  setAlignment(build, op, (int64_t)bytes);
  emulatorCall(build, &after, "tessera_emu_atomic_end", (MlirType){NULL}, 1, &build->self);
  return true;
}

static bool lowerPrivate(EmulatorBuild *build, MlirOperation op, intptr_t pointerAt, uint64_t bytes, uint32_t what) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue pointer = mlirOperationGetOperand(op, pointerAt);
  MlirValue there = emulatorPrivateAccess(build, &b, op, pointer, emulatorI64(build, &b, (int64_t)bytes), what);
  if (!mlirValueIsNull(there)) {
    mlirOperationSetOperand(op, pointerAt, there);
    setAlignment(build, op, 1);
  }
  return true;
}

static bool lowerAccess(EmulatorBuild *build, MlirOperation op, intptr_t pointerAt, MlirType type, uint32_t what) {
  MlirValue pointer = mlirOperationGetOperand(op, pointerAt);
  uint64_t bytes = emulatorBytes(type);
  int64_t ordering = emulatorInteger(op, "ordering", NOT_ATOMIC);
  if (!bytes || bytes > WIDEST_ACCESS)
    return emulatorRefuse(build, op, "accesses %llu bytes; the emulator takes 1 to %d", (unsigned long long)bytes,
                          WIDEST_ACCESS);
  if (isPrivate(pointer))
    return lowerPrivate(build, op, pointerAt, bytes, what);
  if (emulatorHas(op, "volatile_"))
    what |= TESSERA_EMU_VOLATILE;
  if (ordering != NOT_ATOMIC)
    return lowerAtomic(build, op, pointerAt, bytes, what, ordering);
  what |= TESSERA_EMU_ALIGN(alignmentOf(op, bytes));
  TileBuilder b = tileBuilderBefore(op);
  mlirOperationSetOperand(op, pointerAt, emulatorAccess(build, &b, op, pointer, bytes, what));
  setAlignment(build, op, 1); // a finding, not a crash, tells what is misaligned
  return true;
}

bool emulatorLowerLoad(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  (void)row;
  return lowerAccess(build, op, 0, llvmLoadOpGetResType(op), TESSERA_EMU_LOAD);
}

bool emulatorLowerStore(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  (void)row;
  return lowerAccess(build, op, 1, llvmStoreOpGetValueType(op), TESSERA_EMU_STORE);
}

bool emulatorLowerAtomic(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  bool isExchange = llvmAtomicCmpXchgOpIsA(op);
  MlirType type = isExchange ? llvmAtomicCmpXchgOpGetValType(op) : llvmAtomicRMWOpGetValType(op);
  (void)row;
  if (isPrivate(isExchange ? llvmAtomicCmpXchgOpGetPtr(op) : llvmAtomicRMWOpGetPtr(op)))
    return lowerPrivate(build, op, 0, emulatorBytes(type), TESSERA_EMU_LOAD | TESSERA_EMU_STORE);
  return lowerAtomic(build, op, 0, emulatorBytes(type), TESSERA_EMU_LOAD | TESSERA_EMU_STORE,
                     emulatorInteger(op, isExchange ? "success_ordering" : "ordering", 7));
}

bool emulatorLowerFence(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  MlirValue operands[] = {emulatorI32(build, &b, orderOf(emulatorInteger(op, "ordering", 7))),
                          emulatorI32(build, &b, scopeOf(op))};
  emulatorCallAt(build, &b, op, "tessera_emu_fence", (MlirType){NULL}, 2, operands);
  emulatorReplace(op, (MlirValue){NULL});
  return true;
}

//===--- many bytes -----------------------------------------------------------------===//

// llvm.intr.memcpy, memmove (to, from, length); memset (to, byte, length); memcpy.inline keeps the length as attribute.
bool emulatorLowerCopy(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  bool isSet = llvmMemsetOpIsA(op);
  MlirValue to, second, length;
  const MlirValue none = {NULL};
  (void)row;
  if (isSet) {
    to = llvmMemsetOpGetDst(op), second = llvmMemsetOpGetVal(op), length = llvmMemsetOpGetLen(op);
  } else if (llvmMemcpyInlineOpIsA(op)) {
    to = llvmMemcpyInlineOpGetDst(op), second = llvmMemcpyInlineOpGetSrc(op);
    length = emulatorI64(build, &b, mlirIntegerAttrGetValueInt(llvmMemcpyInlineOpGetLen(op)));
  } else if (llvmMemmoveOpIsA(op)) {
    to = llvmMemmoveOpGetDst(op), second = llvmMemmoveOpGetSrc(op), length = llvmMemmoveOpGetLen(op);
  } else {
    to = llvmMemcpyOpGetDst(op), second = llvmMemcpyOpGetSrc(op), length = llvmMemcpyOpGetLen(op);
  }
  if (!mlirTypeEqual(mlirValueGetType(length), build->i64))
    length = llvmZExtOpBuild(&b, build->i64, length);
  MlirValue own = isPrivate(to) ? emulatorPrivateAccess(build, &b, op, to, length, TESSERA_EMU_STORE) : none;
  to = mlirValueIsNull(own) ? to : own;
  own = !isSet && isPrivate(second) ? emulatorPrivateAccess(build, &b, op, second, length, TESSERA_EMU_LOAD) : none;
  second = mlirValueIsNull(own) ? second : own;
  MlirValue operands[] = {emulatorFlat(build, &b, to),
                          isSet ? llvmZExtOpBuild(&b, build->i32, second) : emulatorFlat(build, &b, second), length};
  emulatorCallAt(build, &b, op, isSet ? "tessera_emu_set" : "tessera_emu_copy", (MlirType){NULL}, 3, operands);
  emulatorReplace(op, (MlirValue){NULL});
  return true;
}

// The bits of a vector<Nxi1>, N at most 64, as an i64.
static MlirValue maskBits(EmulatorBuild *build, TileBuilder *b, MlirValue mask) {
  unsigned count = (unsigned)mlirShapedTypeGetDimSize(mlirValueGetType(mask), 0);
  MlirValue bits = llvmBitcastOpBuild(b, mlirIntegerTypeGet(build->context, count), mask);
  return count == 64 ? bits : llvmZExtOpBuild(b, build->i64, bits);
}

static bool lowerMasked(EmulatorBuild *build, MlirOperation op, MlirType type, MlirValue pointer, MlirValue mask,
                        const char *callee) {
  TileBuilder b = tileBuilderBefore(op);
  uint64_t element = emulatorBytes(mlirShapedTypeGetElementType(type));
  MlirValue operands[] = {emulatorFlat(build, &b, pointer), maskBits(build, &b, mask),
                          emulatorI32(build, &b, (int64_t)element),
                          emulatorI32(build, &b, mlirShapedTypeGetDimSize(type, 0)),
                          emulatorFrame(build, &b, 0, (uint32_t)emulatorBytes(type))};
  emulatorCallAt(build, &b, op, callee, (MlirType){NULL}, 5, operands);
  bool loads = mlirOperationGetNumResults(op) > 0;
  emulatorReplace(op, loads ? emulatorLoadPacked(build, &b, type, 0) : (MlirValue){NULL});
  return true;
}

static bool fitsMask(MlirType type) {
  return mlirShapedTypeGetDimSize(type, 0) <= 64 && emulatorBytes(mlirShapedTypeGetElementType(type)) <= 16;
}

// (pointer, mask, what the lanes that are off have)
bool emulatorLowerMaskedLoad(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  MlirType type = llvmMaskedLoadOpGetResType(op);
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  if (!fitsMask(type))
    return emulatorRefuse(build, op, "is wider than 64 elements");
  MlirValue off = llvmMaskedLoadOpGetPassThru(op);
  if (mlirValueIsNull(off))
    off = llvmZeroOpBuild(&b, type);
  emulatorStore(build, &b, off, emulatorFrame(build, &b, 0, (uint32_t)emulatorBytes(type)));
  return lowerMasked(build, op, type, llvmMaskedLoadOpGetData(op), llvmMaskedLoadOpGetMask(op),
                     "tessera_emu_masked_load");
}

// (value, pointer, mask)
bool emulatorLowerMaskedStore(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  MlirType type = llvmMaskedStoreOpGetValueType(op);
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  if (!fitsMask(type))
    return emulatorRefuse(build, op, "is wider than 64 elements");
  emulatorStore(build, &b, llvmMaskedStoreOpGetValue(op), emulatorFrame(build, &b, 0, (uint32_t)emulatorBytes(type)));
  return lowerMasked(build, op, type, llvmMaskedStoreOpGetData(op), llvmMaskedStoreOpGetMask(op),
                     "tessera_emu_masked_store");
}
