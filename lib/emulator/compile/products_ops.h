// Rows' lowerings for products of warpgroups, and what their sums need of all other ops. See products_ops.c.
#pragma once

#include "lib/emulator/compile/common.h"

bool emulatorLowerProduct(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerFenceProducts(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerCommitProducts(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerWaitProducts(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerAssembly(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row); // llvm.inline_asm
bool emulatorLowerTensorWait(EmulatorBuild *build,
                             MlirOperation op); // the text of tcgen05.wait::ld, through which loads go
// Before the ops of a function are lowered: those that look at sums which may be under way ask for them first.
void emulatorAskForSums(EmulatorBuild *build, const TileOps *ops);
