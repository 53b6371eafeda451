// The CPU target: a module in the LLVM dialect (what --tile-to-cpu-pipeline leaves) -> code in this process, or LLVM
// IR, an object file, a program (a shared object for tile-exec and C callers).
#pragma once

#include "lib/jit/jit.h"
#include "lib/target/target.h"

extern const TileCodeTarget tileCpuTarget;

// The code reads constants of more than 1 KB where the module has them: the module's context must outlive the code.
// Translates, optimizes and compiles `module`, with a packed entry (lib/jit/jit.h) for function `entry`. Null after
// writing to `error`.
TileJit *tileCpuCompile(MlirOperation module, const char *entry, tessera_error_t *error);
