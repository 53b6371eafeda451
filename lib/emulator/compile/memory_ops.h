// Lowering of llvm's memory operations: what the rows of llvm_ops.c name.
#pragma once

#include "lib/emulator/compile/build.h"

// The pointer to use for an access of `op`; `what`: TESSERA_EMU_LOAD or STORE and more, the space is added.
MlirValue emulatorAccess(EmulatorBuild *build, TileBuilder *b, MlirOperation op, MlirValue pointer, uint64_t bytes,
                         uint32_t what);

bool emulatorLowerLoad(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerStore(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerAtomic(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerFence(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerCopy(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerMaskedLoad(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerMaskedStore(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
