// Lowering of matrix instructions: what the rows of nvvm_ops.c and rocdl_ops.c name.
#pragma once

#include "lib/emulator/compile/build.h"

bool emulatorLowerMmaSync(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerMmaSparse(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
// llvm.call_intrinsic of an llvm.nvvm.mma.…; any other is refused.
bool emulatorLowerMmaIntrinsic(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerWarpLoad(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerWarpStore(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerWarpMma(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerMfma(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerMfmaScale(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerSmfmac(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerWmma(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
