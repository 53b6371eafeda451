// The CPU target: a module in the LLVM dialect (what --tile-to-cpu-pipeline leaves) -> code in this process.
#ifndef TESSERA_TARGET_CPU_H
#define TESSERA_TARGET_CPU_H

#include "lib/jit/jit.h"
#include "mlir-c/IR.h"

// Translates, optimizes and compiles `module`, with a packed entry (lib/jit/jit.h) for function `entry`. Null after
// writing to `error`.
TileJit *tileCpuCompile(MlirOperation module, const char *entry, tessera_error_t *error);

#endif
