// Private memory: each alloca gets a byte beside each of its bytes that tells whether the byte was written, and each
// access of it a call that compares (tessera_emu_private). Where the alloca's address goes elsewhere (into a call, into
// memory, through a block's arguments) nobody knows who writes, so there only the bounds count.
#include "lib/emulator/compile/private_memory.h"

#include "upstream/llvm.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>

//===--- questions ------------------------------------------------------------===//

static bool passesOn(MlirOperation op) {
  return llvmGEPOpIsA(op) || llvmAddrSpaceCastOpIsA(op) || llvmBitcastOpIsA(op);
}

MlirValue emulatorRoot(MlirValue pointer) {
  for (MlirOperation op = tileDefiningOp(pointer); passesOn(op); op = tileDefiningOp(pointer))
    pointer = llvmGEPOpIsA(op) ? llvmGEPOpGetBase(op) : tileOnlyOperand(op);
  return pointer;
}

static bool isAccess(MlirOperation op, MlirValue pointer) {
  if (llvmStoreOpIsA(op))
    return !mlirValueEqual(llvmStoreOpGetValue(op), pointer);
  return llvmLoadOpIsA(op) || llvmMemcpyOpIsA(op) || llvmMemcpyInlineOpIsA(op) || llvmMemmoveOpIsA(op) ||
         llvmMemsetOpIsA(op) || llvmAtomicRMWOpIsA(op) || llvmAtomicCmpXchgOpIsA(op) || llvmLifetimeStartOpIsA(op) ||
         llvmLifetimeEndOpIsA(op);
}

static bool isKnownEverywhere(MlirValue pointer) {
  for (MlirOpOperand use = mlirValueGetFirstUse(pointer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!(passesOn(user) ? isKnownEverywhere(tileOnlyResult(user)) : isAccess(user, pointer)))
      return false;
  }
  return true;
}

//===--- allocas --------------------------------------------------------------===//

static bool addPrivate(EmulatorBuild *build, MlirOperation op) {
  MlirType element = mlirTypeAttrGetValue(llvmAllocaOpGetElemType(op));
  MlirValue count = llvmAllocaOpGetArraySize(op), address = llvmAllocaOpGetRes(op);
  uint64_t bytes = emulatorBytes(element);
  if (!bytes || build->numPrivates == EmulatorMostPrivates)
    return true;
  EmulatorPrivate *record = &build->privates[build->numPrivates++];
  bool isTracked = isKnownEverywhere(address);
  TileBuilder b = tileBuilderAfter(op);
  if (!mlirTypeEqual(mlirValueGetType(count), build->i64))
    count = llvmZExtOpBuild(&b, build->i64, count);
  *record = (EmulatorPrivate){.address = address,
                              .bytes = tileBuildBinary(&b, LlvmOp_Mul, count, emulatorI64(build, &b, (int64_t)bytes))};
  record->written = emulatorAddress(build, &b, NULL);
  if (isTracked) {
    record->written = llvmAllocaOpBuild(&b, build->pointer, record->bytes, mlirTypeAttrGet(build->i8));
    MlirValue operands[] = {record->written, record->bytes};
    emulatorCall(build, &b, "tessera_emu_private_begins", (MlirType){NULL}, 2, operands);
  }
  return true;
}

bool emulatorAddPrivates(EmulatorBuild *build, const TileOps *ops) {
  build->numPrivates = 0;
  for (intptr_t i = 0; i < ops->count; ++i)
    if (llvmAllocaOpIsA(ops->items[i]) && !addPrivate(build, ops->items[i]))
      return false;
  return true;
}

//===--- accesses -------------------------------------------------------------===//

MlirValue emulatorPrivateAccess(EmulatorBuild *build, TileBuilder *b, MlirOperation op, MlirValue pointer,
                                MlirValue bytes, uint32_t what) {
  MlirValue root = emulatorRoot(pointer);
  for (int i = 0; i < build->numPrivates && build->options->checks; ++i) {
    const EmulatorPrivate *record = &build->privates[i];
    if (!mlirValueEqual(record->address, root))
      continue;
    MlirValue operands[] = {emulatorFlat(build, b, record->address), record->bytes, record->written,
                            emulatorFlat(build, b, pointer),         bytes,         emulatorI32(build, b, what)};
    return emulatorCallAt(build, b, op, "tessera_emu_private", build->pointer, 6, operands);
  }
  return (MlirValue){NULL};
}
