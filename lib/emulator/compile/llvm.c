// Rows for the llvm dialect: what cannot stay as it is. All other llvm ops mean on the host what they mean on a GPU.
#include "lib/emulator/compile/matrix.h"
#include "lib/emulator/compile/memory.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

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
  MlirType type = tileResultType(op, 0);
  emulatorReplace(op,
                  mlirTypeEqual(type, build->pointer) ? place : emulatorUnary(&b, "llvm.addrspacecast", type, place));
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
    {"llvm.load", emulatorLowerLoad, NULL, 0},
    {"llvm.store", emulatorLowerStore, NULL, 0},
    {"llvm.atomicrmw", emulatorLowerAtomic, NULL, 0},
    {"llvm.cmpxchg", emulatorLowerAtomic, NULL, 0},
    {"llvm.fence", emulatorLowerFence, NULL, 0},
    {"llvm.intr.memcpy", emulatorLowerCopy, NULL, 0},
    {"llvm.intr.memcpy.inline", emulatorLowerCopy, NULL, 0},
    {"llvm.intr.memmove", emulatorLowerCopy, NULL, 0},
    {"llvm.intr.memset", emulatorLowerCopy, NULL, 0},
    {"llvm.intr.masked.load", emulatorLowerMaskedLoad, NULL, 0},
    {"llvm.intr.masked.store", emulatorLowerMaskedStore, NULL, 0},
    {"llvm.intr.masked.gather", refuse, NULL, 0},
    {"llvm.intr.masked.scatter", refuse, NULL, 0},
    {"llvm.intr.masked.expandload", refuse, NULL, 0},
    {"llvm.intr.masked.compressstore", refuse, NULL, 0},
    {"llvm.mlir.addressof", lowerAddressOf, NULL, 0},
    {"llvm.call", emulatorLowerCall, NULL, 0},
    {"llvm.invoke", refuse, NULL, 0},
    {"llvm.inline_asm", refuseAssembly, NULL, 0},
    {"llvm.call_intrinsic", emulatorLowerMmaIntrinsic, NULL, 0},
    {"llvm.intr.trap", lowerTrap, "llvm.intr.trap", 0},
    {"llvm.intr.debugtrap", lowerTrap, "llvm.intr.debugtrap", 0},
    {"llvm.intr.ubsantrap", lowerTrap, "llvm.intr.ubsantrap", 0},
    {"llvm.intr.prefetch", erase, NULL, 0},
    {NULL, NULL, NULL, 0},
};
