// A compiled gpu.module: its code, its kernels, and what its code points to. See program.c.
#pragma once

#include "lib/emulator/compile/build.h"
#include "lib/jit/jit.h"

// A block of memory that lives as long as the program.
typedef struct EmulatorKept {
  struct EmulatorKept *next;
  const tessera_matrix_t *matrix; // has places to free; or null
  _Alignas(16) char bytes[];
} EmulatorKept;

struct TileEmulatorProgram {
  TileJit *jit;
  tessera_emulator_t *machine;
  TileEmulatorOptions options;
  MlirContext context;
  TileEmulatorKernel *kernels;
  EmulatorSite *sites; // sites[0] is no site
  EmulatorGlobal *globals;
  intptr_t kernelCount, siteCount, globalCount;
  bool hasMessages; // some op reads atomically what another thread may have written
  EmulatorKept *kept;
};

TileEmulatorProgram *emulatorProgramCreate(const TileEmulatorOptions *options, MlirContext context);
// Notes a kernel by its llvm.func, before that is changed.
bool emulatorAddKernel(EmulatorBuild *build, MlirOperation function);
bool emulatorAddGlobal(EmulatorBuild *build, MlirOperation global);
// Where code and globals lie: after the JIT is there.
bool emulatorBindKernels(TileEmulatorProgram *program, tessera_error_t *error);
