// Lowerings that both vendors' rows name. See common.h.
#include "lib/emulator/compile/common.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"

#include <stdio.h>

// Ids may be i32 or i64.
static MlirValue resized(EmulatorBuild *build, TileBuilder *b, MlirValue value, MlirType type) {
  if (mlirTypeEqual(type, build->i32))
    return value;
  bool wide = mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) > 32;
  return wide ? llvmZExtOpBuild(b, type, value) : llvmTruncOpBuild(b, type, value);
}

bool emulatorLowerField(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue base = build->self;
  int64_t offset = row->number;
  if (offset >= EMULATOR_OF_BLOCK) {
    base =
        emulatorLoad(build, &b, build->pointer, emulatorOffset(build, &b, base, offsetof(tessera_emu_thread_t, block)));
    offset -= EMULATOR_OF_BLOCK;
  }
  MlirValue value = emulatorLoad(build, &b, build->i32, emulatorOffset(build, &b, base, offset));
  emulatorReplace(op, resized(build, &b, value, tileOnlyResultType(op)));
  return true;
}

bool emulatorLowerNumber(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  emulatorReplace(op, resized(build, &b, emulatorI32(build, &b, row->number), tileOnlyResultType(op)));
  return true;
}

bool emulatorLowerNothing(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  (void)build;
  (void)row;
  emulatorReplace(op, (MlirValue){NULL});
  return true;
}

static MlirType bitsType(EmulatorBuild *build, MlirType type) {
  return emulatorBytes(type) > 4 ? build->i64 : build->i32;
}

bool emulatorLowerDirect(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue operands[8];
  MlirType none = {NULL};
  intptr_t count = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    bool isPointer = mlirTypeIsALLVMPointerType(mlirValueGetType(operand));
    operands[i] = isPointer ? emulatorFlat(build, &b, operand) : emulatorToBits(build, &b, operand);
  }
  bool returns = mlirOperationGetNumResults(op) > 0;
  MlirType type = returns ? bitsType(build, tileOnlyResultType(op)) : none;
  MlirValue result = emulatorCallAt(build, &b, op, row->callee, type, count, operands);
  emulatorReplace(op, returns ? emulatorFromBits(build, &b, result, tileOnlyResultType(op)) : (MlirValue){NULL});
  return true;
}

bool emulatorLowerBarrier0(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  MlirValue operands[] = {emulatorI32(build, &b, 0), emulatorI32(build, &b, 0)};
  emulatorCallAt(build, &b, op, "tessera_emu_barrier", (MlirType){NULL}, 2, operands);
  emulatorReplace(op, (MlirValue){NULL});
  return true;
}

bool emulatorLowerMath(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirType type = tileOnlyResultType(op);
  MlirValue operand = tileOnlyOperand(op);
  char symbol[48];
  bool isDouble = mlirTypeIsAF64(type), isSingle = mlirTypeIsAF32(type);
  snprintf(symbol, sizeof symbol, "%s%s", row->callee, isDouble ? "" : "f");
  if (!isDouble && !isSingle)
    operand = llvmFPExtOpBuild(&b, build->f32, operand);
  MlirValue result = emulatorCall(build, &b, symbol, isDouble ? build->f64 : build->f32, 1, &operand);
  emulatorReplace(op, isDouble || isSingle ? result : llvmFPTruncOpBuild(&b, type, result));
  return true;
}

MlirValue emulatorPair(EmulatorBuild *build, TileBuilder *b, MlirType type, MlirValue first, MlirValue second) {
  MlirValue pair = llvmPoisonOpBuild(b, type), fields[] = {first, second};
  for (int64_t i = 0; i < 2; ++i) {
    MlirAttribute position = mlirDenseI64ArrayGet(build->context, 1, &i);
    pair = llvmInsertValueOpBuild(b, pair, fields[i], position);
  }
  return pair;
}
