// Small pieces of LLVM dialect. See build.h.
#include "lib/emulator/compile/build.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

//===--- constants ------------------------------------------------------------===//

static MlirValue buildConstant(TileBuilder *b, MlirType type, int64_t value) {
  return llvmConstantOpBuild(b, type, mlirIntegerAttrGet(type, value));
}

MlirValue emulatorI32(EmulatorBuild *build, TileBuilder *b, int64_t value) {
  return buildConstant(b, build->i32, (int32_t)value);
}

MlirValue emulatorI64(EmulatorBuild *build, TileBuilder *b, int64_t value) {
  return buildConstant(b, build->i64, value);
}

MlirValue emulatorAddress(EmulatorBuild *build, TileBuilder *b, const void *address) {
  return llvmIntToPtrOpBuild(b, build->pointer, emulatorI64(build, b, (int64_t)(intptr_t)address));
}

//===--- conversions ------------------------------------------------------------===//

MlirValue emulatorFlat(EmulatorBuild *build, TileBuilder *b, MlirValue pointer) {
  if (mlirTypeEqual(mlirValueGetType(pointer), build->pointer))
    return pointer;
  return llvmAddrSpaceCastOpBuild(b, build->pointer, pointer);
}

static MlirType integerOf(EmulatorBuild *build, uint64_t bits) {
  return mlirIntegerTypeGet(build->context, (unsigned)bits);
}

// Exact, also for i1; a pointer's is 64.
static uint64_t bitsOf(MlirType type) {
  return mlirTypeIsAInteger(type) ? mlirIntegerTypeGetWidth(type) : 8 * emulatorBytes(type);
}

MlirValue emulatorToBits(EmulatorBuild *build, TileBuilder *b, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  uint64_t bits = bitsOf(type);
  if (mlirTypeIsALLVMPointerType(type))
    return llvmPtrToIntOpBuild(b, build->i64, value);
  if (!mlirTypeIsAInteger(type))
    value = llvmBitcastOpBuild(b, integerOf(build, bits), value);
  if (bits == 32 || bits == 64)
    return value;
  return llvmZExtOpBuild(b, bits < 32 ? build->i32 : build->i64, value);
}

MlirValue emulatorFromBits(EmulatorBuild *build, TileBuilder *b, MlirValue value, MlirType type) {
  uint64_t bits = bitsOf(type), have = mlirIntegerTypeGetWidth(mlirValueGetType(value));
  if (mlirTypeIsALLVMPointerType(type))
    return llvmIntToPtrOpBuild(b, type, value);
  if (bits < have)
    value = llvmTruncOpBuild(b, integerOf(build, bits), value);
  return mlirTypeIsAInteger(type) ? value : llvmBitcastOpBuild(b, type, value);
}

//===--- calls ------------------------------------------------------------------===//

static MlirAttribute symbol(EmulatorBuild *build, const char *name) {
  return mlirFlatSymbolRefAttrGet(build->context, tileString(name));
}

// The functions declared so far stand at the start of the module, the youngest first.
static bool isDeclared(EmulatorBuild *build, const char *name) {
  MlirOperation op = mlirBlockGetFirstOperation(build->body);
  for (int64_t i = 0; i < build->declaredCount; ++i, op = mlirOperationGetNextInBlock(op))
    if (tileStringEquals(mlirStringAttrGetValue(tileOpAttribute(op, "sym_name")), name))
      return true;
  return false;
}

static void declare(EmulatorBuild *build, const char *name, MlirType result, intptr_t count,
                    const MlirValue *operands) {
  MlirType types[24];
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(operands[i]);
  MlirType returned = mlirTypeIsNull(result) ? mlirLLVMVoidTypeGet(build->context) : result;
  MlirAttribute functionType = mlirTypeAttrGet(mlirLLVMFunctionTypeGet(returned, count, types, false));
  TileBuilder b = tileBuilderAtStart(build->body, mlirLocationUnknownGet(build->context));
  llvmLLVMFuncOpBuild(&b, mlirStringAttrGet(build->context, tileString(name)), functionType, mlirRegionCreate());
  ++build->declaredCount;
}

MlirValue emulatorCall(EmulatorBuild *build, TileBuilder *b, const char *callee, MlirType result, intptr_t count,
                       const MlirValue *operands) {
  if (!isDeclared(build, callee))
    declare(build, callee, result, count, operands);
  return emulatorCallDefined(build, b, callee, result, count, operands);
}

MlirValue emulatorCallDefined(EmulatorBuild *build, TileBuilder *b, const char *callee, MlirType result, intptr_t count,
                              const MlirValue *operands) {
  MlirOperation call =
      llvmCallOpBuild(b, result, count, operands, 0, NULL, mlirDenseI32ArrayGet(build->context, 0, NULL));
  llvmCallOpSetCallee(call, symbol(build, callee));
  return !mlirTypeIsNull(result) ? tileOnlyResult(call) : (MlirValue){NULL};
}

MlirValue emulatorCallAt(EmulatorBuild *build, TileBuilder *b, MlirOperation op, const char *callee, MlirType result,
                         intptr_t count, const MlirValue *operands) {
  MlirValue all[24] = {build->self};
  for (intptr_t i = 0; i < count; ++i)
    all[i + 1] = operands[i];
  all[count + 1] = emulatorI32(build, b, emulatorSite(build, op));
  return emulatorCall(build, b, callee, result, count + 2, all);
}

static MlirValue fullMask(EmulatorBuild *build) {
  if (mlirValueIsNull(build->fullMask)) { // in the entry block, for all
    TileBuilder b = tileBuilderAfter(build->frame);
    build->fullMask = emulatorCall(build, &b, "tessera_emu_full_mask", build->i64, 1, &build->self);
  }
  return build->fullMask;
}

static void meet(EmulatorBuild *build, TileBuilder *b, MlirOperation op, int64_t strictness,
                 tessera_emu_meaning_t meaning, const void *parameter, MlirValue contribution) {
  MlirValue operands[] = {fullMask(build), emulatorI32(build, b, strictness),
                          emulatorAddress(build, b, (const void *)(intptr_t)meaning),
                          emulatorAddress(build, b, parameter), contribution};
  emulatorCallAt(build, b, op, "tessera_emu_collective", (MlirType){NULL}, 5, operands);
}

void emulatorCollective(EmulatorBuild *build, TileBuilder *b, MlirOperation op, tessera_emu_meaning_t meaning,
                        const void *parameter, MlirValue contribution) {
  meet(build, b, op, TESSERA_EMU_ALIGNED, meaning, parameter, contribution);
}

void emulatorOrderedCollective(EmulatorBuild *build, TileBuilder *b, MlirOperation op, tessera_emu_meaning_t meaning,
                               MlirValue contribution) {
  meet(build, b, op, TESSERA_EMU_ALIGNED | TESSERA_EMU_ORDERS, meaning, NULL, contribution);
}

//===--- memory -----------------------------------------------------------------===//

MlirValue emulatorOffset(EmulatorBuild *build, TileBuilder *b, MlirValue pointer, int64_t offset) {
  int32_t index = (int32_t)offset;
  if (!offset)
    return pointer;
  return llvmGEPOpBuild(b, mlirValueGetType(pointer), pointer, 0, NULL, mlirDenseI32ArrayGet(build->context, 1, &index),
                        mlirTypeAttrGet(build->i8));
}

MlirValue emulatorFrame(EmulatorBuild *build, TileBuilder *b, uint32_t offset, uint32_t bytes) {
  if (offset + bytes > build->frameBytes)
    build->frameBytes = offset + bytes;
  return emulatorOffset(build, b, llvmAllocaOpGetRes(build->frame), offset);
}

void emulatorStore(EmulatorBuild *build, TileBuilder *b, MlirValue value, MlirValue pointer) {
  llvmStoreOpSetAlignment(llvmStoreOpBuild(b, value, pointer), mlirIntegerAttrGet(build->i64, 1));
}

MlirValue emulatorLoad(EmulatorBuild *build, TileBuilder *b, MlirType type, MlirValue pointer) {
  MlirValue value = llvmLoadOpBuild(b, type, pointer);
  llvmLoadOpSetAlignment(mlirOpResultGetOwner(value), mlirIntegerAttrGet(build->i64, 1));
  return value;
}

uint32_t emulatorStoreOperands(EmulatorBuild *build, TileBuilder *b, MlirOperation op, intptr_t first, intptr_t count,
                               uint32_t offset) {
  for (intptr_t i = first; i < first + count; ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    uint32_t bytes = (uint32_t)emulatorBytes(mlirValueGetType(operand));
    emulatorStore(build, b, operand, emulatorFrame(build, b, offset, bytes));
    offset += bytes;
  }
  return offset;
}

static MlirValue loadStruct(EmulatorBuild *build, TileBuilder *b, MlirType type, uint32_t offset) {
  MlirValue whole = llvmPoisonOpBuild(b, type);
  for (int64_t i = 0; i < mlirLLVMStructTypeGetNumElementTypes(type); ++i) {
    MlirType field = mlirLLVMStructTypeGetElementType(type, i);
    uint32_t bytes = (uint32_t)emulatorBytes(field);
    MlirValue value = emulatorLoad(build, b, field, emulatorFrame(build, b, offset, bytes));
    whole = llvmInsertValueOpBuild(b, whole, value, mlirDenseI64ArrayGet(build->context, 1, &i));
    offset += bytes;
  }
  return whole;
}

MlirValue emulatorLoadPacked(EmulatorBuild *build, TileBuilder *b, MlirType type, uint32_t offset) {
  if (mlirTypeIsALLVMStructType(type))
    return loadStruct(build, b, type, offset);
  return emulatorLoad(build, b, type, emulatorFrame(build, b, offset, (uint32_t)emulatorBytes(type)));
}

void emulatorReplace(MlirOperation op, MlirValue value) {
  if (mlirOperationGetNumResults(op) && !mlirValueIsNull(value))
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), value);
  mlirOperationDestroy(op);
}

//===--- questions ----------------------------------------------------------------===//

static uint64_t structBytes(MlirType type) {
  uint64_t bytes = 0, widest = 1;
  for (intptr_t i = 0; i < mlirLLVMStructTypeGetNumElementTypes(type); ++i) {
    uint64_t field = emulatorBytes(mlirLLVMStructTypeGetElementType(type, i));
    uint64_t alignment = mlirLLVMStructTypeIsPacked(type) ? 1 : field & -field; // good enough for scalars and vectors
    alignment = alignment > 16 ? 16 : alignment ? alignment : 1;
    widest = alignment > widest ? alignment : widest;
    bytes = (bytes + alignment - 1) / alignment * alignment + field;
  }
  return (bytes + widest - 1) / widest * widest;
}

static uint64_t arrayBytes(MlirType type) {
  int64_t count = tileLlvmArraySize(type);
  return count < 0 ? 0 : (uint64_t)count * emulatorBytes(mlirLLVMArrayTypeGetElementType(type));
}

uint64_t emulatorBytes(MlirType type) {
  if (mlirTypeIsAInteger(type))
    return (mlirIntegerTypeGetWidth(type) + 7) / 8;
  if (mlirTypeIsAFloat(type))
    return (mlirFloatTypeGetWidth(type) + 7) / 8;
  if (mlirTypeIsAVector(type)) {
    MlirType element = mlirShapedTypeGetElementType(type);
    uint64_t count = (uint64_t)mlirShapedTypeGetDimSize(type, 0);
    if (mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) < 8)
      return (count * mlirIntegerTypeGetWidth(element) + 7) / 8;
    return count * emulatorBytes(element);
  }
  if (mlirTypeIsALLVMPointerType(type))
    return 8;
  if (mlirTypeIsALLVMStructType(type))
    return structBytes(type);
  return arrayBytes(type);
}

int64_t emulatorInteger(MlirOperation op, const char *attribute, int64_t otherwise) {
  MlirAttribute value = tileOpAttribute(op, attribute);
  if (mlirAttributeIsNull(value))
    return otherwise;
  if (mlirAttributeIsABool(value))
    return mlirBoolAttrGetValue(value);
  return mlirAttributeIsAInteger(value) ? mlirIntegerAttrGetValueInt(value) : otherwise;
}

bool emulatorHas(MlirOperation op, const char *attribute) {
  return !mlirAttributeIsNull(tileOpAttribute(op, attribute));
}

bool emulatorSays(MlirOperation op, const char *attribute, const char *text) {
  char written[256];
  MlirAttribute value = tileOpAttribute(op, attribute);
  return !mlirAttributeIsNull(value) && strstr(tileAttributeText(value, written, sizeof written), text);
}

bool emulatorConstant(MlirValue value, int64_t *constant) {
  MlirOperation op = tileDefiningOp(value);
  if (!llvmConstantOpIsA(op))
    return false;
  MlirAttribute attribute = tileOpAttribute(op, "value");
  if (mlirAttributeIsADenseElements(attribute) && mlirDenseElementsAttrIsSplat(attribute))
    attribute = mlirDenseElementsAttrGetSplatValue(attribute);
  if (!mlirAttributeIsAInteger(attribute))
    return false;
  *constant = mlirIntegerAttrGetValueInt(attribute);
  return true;
}

bool emulatorRefuse(EmulatorBuild *build, MlirOperation op, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  build->failed = true;
  return tileError(op, "%s", text);
}
