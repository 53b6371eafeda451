// What clang writes for a GPU becomes the ops that the emulator has rows for, before anything else looks at a module:
// llvm.call_intrinsic by a table of intrinsics, llvm.inline_asm of PTX by a table of instructions. What no table has
// stays, and is refused later by name.
#pragma once

#include "lib/emulator/compile/build.h"

void emulatorExpandIntrinsics(EmulatorBuild *build);
// inline_ptx.c: one llvm.inline_asm. Returns an llvm.call_intrinsic (which the caller expands) or null.
MlirOperation emulatorExpandAssembly(MlirOperation op);
// llvm.call_intrinsic of that name, with the result types of `like`, in its place.
MlirOperation emulatorCallIntrinsic(MlirOperation like, const char *name, intptr_t count, const MlirValue *operands);
