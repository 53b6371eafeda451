// Rows for the llvm dialect: what cannot stay as it is. All other llvm ops mean on the host what they mean on a GPU.
#include "lib/emulator/compile/matrix_ops.h"
#include "lib/emulator/compile/memory_ops.h"
#include "lib/emulator/compile/products_ops.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"

// The address of a global: in the block's shared memory, or the host's own.
static bool lowerAddressOf(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(tileOpAttribute(op, "global_name"));
  const EmulatorGlobal *global = emulatorGlobal(build, name);
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  if (!global)
    return emulatorRefuse(build, op, "takes the address of a function");
  if (!global->isShared)
    return true;
  MlirValue place = emulatorOffset(build, &b, build->shared, global->offset);
  MlirType type = tileOnlyResultType(op);
  emulatorReplace(op, mlirTypeEqual(type, build->pointer) ? place : llvmAddrSpaceCastOpBuild(&b, type, place));
  return true;
}

static bool lowerTrap(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue operands[] = {build->self, emulatorI32(build, &b, emulatorSite(build, op)),
                          emulatorAddress(build, &b, row->callee)};
  emulatorCall(build, &b, "tessera_emu_trap", (MlirType){NULL}, 3, operands);
  emulatorReplace(op, (MlirValue){NULL});
  return true;
}

// A trap of the emulator's own in front: execution must not come here.
static bool lowerUnreachable(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue operands[] = {build->self, emulatorI32(build, &b, emulatorSite(build, op)),
                          emulatorAddress(build, &b, row->callee)};
  emulatorCall(build, &b, "tessera_emu_trap", (MlirType){NULL}, 3, operands);
  return true;
}

// A divisor for which the quotient is defined: the one given, or 1 after a finding.
static MlirValue safeDivisor(EmulatorBuild *build, TileBuilder *b, MlirOperation op, MlirValue dividend,
                             MlirValue divisor, bool isSigned) {
  MlirType type = mlirValueGetType(divisor);
  unsigned width = mlirIntegerTypeGetWidth(type);
  MlirValue wide[2] = {dividend, divisor};
  for (int i = 0; i < 2 && width < 64; ++i)
    wide[i] = isSigned ? llvmSExtOpBuild(b, build->i64, wide[i]) : llvmZExtOpBuild(b, build->i64, wide[i]);
  MlirValue operands[] = {wide[0], wide[1], emulatorI32(build, b, isSigned ? (int64_t)width : 0)};
  MlirValue safe = emulatorCallAt(build, b, op, "tessera_emu_divisor", build->i64, 3, operands);
  return width < 64 ? llvmTruncOpBuild(b, type, safe) : safe;
}

static MlirValue safeDivisors(EmulatorBuild *build, TileBuilder *b, MlirOperation op, bool isSigned) {
  MlirValue dividends = tileBinaryLhs(op), divisors = tileBinaryRhs(op);
  int64_t count = mlirShapedTypeGetDimSize(mlirValueGetType(divisors), 0);
  for (int64_t i = 0; i < count; ++i) {
    MlirValue at = emulatorI64(build, b, i);
    MlirValue dividend = llvmExtractElementOpBuild(b, dividends, at);
    MlirValue divisor = llvmExtractElementOpBuild(b, divisors, at);
    divisor = safeDivisor(build, b, op, dividend, divisor, isSigned);
    divisors = llvmInsertElementOpBuild(b, divisors, divisor, at);
  }
  return divisors;
}

// A constant divisor needs no call.
static bool lowerDivision(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  MlirValue divisor = tileBinaryRhs(op);
  MlirType type = mlirValueGetType(divisor),
           element = mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type;
  bool isSigned = row->number;
  int64_t constant = 0;
  bool isKnown = emulatorConstant(divisor, &constant) && constant != 0 && (constant != -1 || !isSigned);
  if (isKnown || !mlirTypeIsAInteger(element) || mlirIntegerTypeGetWidth(element) > 64)
    return true;
  TileBuilder b = tileBuilderBefore(op);
  divisor = mlirTypeIsAVector(type) ? safeDivisors(build, &b, op, isSigned)
                                    : safeDivisor(build, &b, op, tileBinaryLhs(op), divisor, isSigned);
  mlirOperationSetOperand(op, mlirOperationGetNumOperands(op) - 1, divisor);
  return true;
}

// An address in shared memory that went through 32 bits, as PTX's instructions take it: the one of that ending that is
// nearest to the block's shared memory.
static bool lowerIntToPtr(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  MlirValue given = tileOnlyOperand(op);
  MlirType type = tileOnlyResultType(op);
  (void)row;
  if (!mlirTypeEqual(mlirValueGetType(given), build->i32) || !mlirTypeIsALLVMPointerType(type) ||
      mlirLLVMPointerTypeGetAddressSpace(type) != 3)
    return true;
  TileBuilder b = tileBuilderBefore(op);
  MlirValue start = llvmPtrToIntOpBuild(&b, build->i64, build->shared);
  MlirValue wide = llvmZExtOpBuild(&b, build->i64, given), minusOne = emulatorI64(build, &b, -1);
  MlirValue back = llvmMulOpBuild(&b, start, minusOne);
  MlirValue distance = llvmTruncOpBuild(&b, build->i32, llvmAddOpBuild(&b, wide, back));
  MlirValue address = llvmAddOpBuild(&b, start, llvmSExtOpBuild(&b, build->i64, distance));
  emulatorReplace(op, llvmIntToPtrOpBuild(&b, type, address));
  return true;
}

static bool erase(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  (void)build;
  (void)row;
  emulatorReplace(op, (MlirValue){NULL});
  return true;
}

static bool refuse(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  (void)row;
  return emulatorRefuse(build, op, "is not known to the emulator");
}

const EmulatorRow emulatorLlvmRows[] = {
    {llvmLoadOpName, emulatorLowerLoad, NULL, 0},
    {llvmStoreOpName, emulatorLowerStore, NULL, 0},
    {llvmAtomicRMWOpName, emulatorLowerAtomic, NULL, 0},
    {llvmAtomicCmpXchgOpName, emulatorLowerAtomic, NULL, 0},
    {llvmFenceOpName, emulatorLowerFence, NULL, 0},
    {llvmMemcpyOpName, emulatorLowerCopy, NULL, 0},
    {llvmMemcpyInlineOpName, emulatorLowerCopy, NULL, 0},
    {llvmMemmoveOpName, emulatorLowerCopy, NULL, 0},
    {llvmMemsetOpName, emulatorLowerCopy, NULL, 0},
    {llvmMaskedLoadOpName, emulatorLowerMaskedLoad, NULL, 0},
    {llvmMaskedStoreOpName, emulatorLowerMaskedStore, NULL, 0},
    {llvmMaskedGatherOpName, refuse, NULL, 0},
    {llvmMaskedScatterOpName, refuse, NULL, 0},
    {llvmMaskedExpandloadOpName, refuse, NULL, 0},
    {llvmMaskedCompressstoreOpName, refuse, NULL, 0},
    {llvmIntToPtrOpName, lowerIntToPtr, NULL, 0},
    {llvmAddressOfOpName, lowerAddressOf, NULL, 0},
    {llvmCallOpName, emulatorLowerCall, NULL, 0},
    {llvmInvokeOpName, refuse, NULL, 0},
    {llvmInlineAsmOpName, emulatorLowerAssembly, NULL, 0},
    {llvmCallIntrinsicOpName, emulatorLowerMmaIntrinsic, NULL, 0},
    {llvmTrapOpName, lowerTrap, llvmTrapOpName, 0},
    {llvmDebugTrapOpName, lowerTrap, llvmDebugTrapOpName, 0},
    {llvmUBSanTrapOpName, lowerTrap, llvmUBSanTrapOpName, 0},
    {llvmUnreachableOpName, lowerUnreachable, llvmUnreachableOpName, 0},
    {llvmSDivOpName, lowerDivision, NULL, 1},
    {llvmSRemOpName, lowerDivision, NULL, 1},
    {llvmUDivOpName, lowerDivision, NULL, 0},
    {llvmURemOpName, lowerDivision, NULL, 0},
    {llvmPrefetchOpName, erase, NULL, 0},
    {NULL, NULL, NULL, 0},
};
