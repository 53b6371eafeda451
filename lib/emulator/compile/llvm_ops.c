// Rows for the llvm dialect: what cannot stay as it is. All other llvm ops mean on the host what they mean on a GPU.
#include "lib/emulator/compile/matrix_ops.h"
#include "lib/emulator/compile/memory_ops.h"

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

static bool erase(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  (void)build;
  (void)row;
  emulatorReplace(op, (MlirValue){NULL});
  return true;
}

static bool refuseAssembly(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  char text[128];
  MlirAttribute code = tileOpAttribute(op, "asm_string");
  (void)row;
  return emulatorRefuse(build, op, "is not known to the emulator: %s", tileAttributeText(code, text, sizeof text));
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
    {llvmAddressOfOpName, lowerAddressOf, NULL, 0},
    {llvmCallOpName, emulatorLowerCall, NULL, 0},
    {llvmInvokeOpName, refuse, NULL, 0},
    {llvmInlineAsmOpName, refuseAssembly, NULL, 0},
    {llvmCallIntrinsicOpName, emulatorLowerMmaIntrinsic, NULL, 0},
    {llvmTrapOpName, lowerTrap, llvmTrapOpName, 0},
    {llvmDebugTrapOpName, lowerTrap, llvmDebugTrapOpName, 0},
    {llvmUBSanTrapOpName, lowerTrap, llvmUBSanTrapOpName, 0},
    {llvmPrefetchOpName, erase, NULL, 0},
    {NULL, NULL, NULL, 0},
};
