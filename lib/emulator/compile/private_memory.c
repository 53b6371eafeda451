// Private memory: beside each alloca lies a record with a byte for each of its bytes, which tells whether that byte was
// written. An access whose alloca is known becomes a call that compares (tessera_emu_private). Any other access asks
// the machine, which looks among the records of the thread's allocas that live (tessera_emu_access).
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

//===--- allocas --------------------------------------------------------------===//

// The record lies behind its alloca on the stack, so that one in a loop has a record each time.
static void addPrivate(EmulatorBuild *build, MlirOperation op) {
  MlirType element = mlirTypeAttrGetValue(llvmAllocaOpGetElemType(op));
  MlirValue count = llvmAllocaOpGetArraySize(op), address = llvmAllocaOpGetRes(op);
  TileBuilder b = tileBuilderAfter(op);
  if (!mlirTypeEqual(mlirValueGetType(count), build->i64))
    count = llvmZExtOpBuild(&b, build->i64, count);
  MlirValue each = emulatorI64(build, &b, (int64_t)emulatorBytes(element));
  MlirValue bytes = tileBuildBinary(&b, LlvmOp_Mul, count, each);
  MlirValue head = emulatorI64(build, &b, sizeof(tessera_emu_private_t));
  MlirValue whole = tileBuildBinary(&b, LlvmOp_Add, bytes, head);
  MlirOperation record = llvmAllocaOpCreate(&b, build->pointer, whole, mlirIntegerAttrGet(build->i64, 8),
                                            mlirTypeAttrGet(build->i8), (MlirAttribute){NULL});
  MlirValue own = llvmAllocaOpGetRes(record);
  MlirValue operands[] = {build->self, own, emulatorFlat(build, &b, address), bytes};
  emulatorCall(build, &b, "tessera_emu_private_begins", (MlirType){NULL}, 4, operands);
  if (build->numPrivates < EmulatorMostPrivates)
    build->privates[build->numPrivates++] = (EmulatorPrivate){address, own};
}

static void endPrivates(EmulatorBuild *build, MlirOperation back, MlirValue last) {
  TileBuilder b = tileBuilderBefore(back);
  MlirValue operands[] = {build->self, last};
  emulatorCall(build, &b, "tessera_emu_privates_end", (MlirType){NULL}, 2, operands);
}

void emulatorAddPrivates(EmulatorBuild *build, const TileOps *ops) {
  MlirValue last = {NULL};
  build->numPrivates = 0;
  for (intptr_t i = 0; i < ops->count && build->options->checks; ++i) {
    if (!llvmAllocaOpIsA(ops->items[i]))
      continue;
    if (mlirValueIsNull(last)) {
      TileBuilder b = tileBuilderAfter(build->frame);
      last = emulatorCall(build, &b, "tessera_emu_privates", build->pointer, 1, &build->self);
    }
    addPrivate(build, ops->items[i]);
  }
  for (intptr_t i = 0; i < ops->count && !mlirValueIsNull(last); ++i)
    if (llvmReturnOpIsA(ops->items[i]))
      endPrivates(build, ops->items[i], last);
}

//===--- accesses -------------------------------------------------------------===//

MlirValue emulatorPrivateAccess(EmulatorBuild *build, TileBuilder *b, MlirOperation op, MlirValue pointer,
                                MlirValue bytes, uint32_t what) {
  MlirValue root = emulatorRoot(pointer);
  for (int i = 0; i < build->numPrivates; ++i) {
    if (!mlirValueEqual(build->privates[i].address, root))
      continue;
    MlirValue operands[] = {build->privates[i].own, emulatorFlat(build, b, pointer), bytes,
                            emulatorI32(build, b, what)};
    return emulatorCallAt(build, b, op, "tessera_emu_private", build->pointer, 4, operands);
  }
  return (MlirValue){NULL};
}
