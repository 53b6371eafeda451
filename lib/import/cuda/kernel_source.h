// A source file of CUDA C++ or HIP as a module: its device code, which clang compiles, is a gpu.module of llvm.funcs.
// For each kernel K there is a function launch_K of the host: K's parameters (a pointer is an array, memref<?xT>),
// three sizes of the grid, three of the block, and bytes of dynamic shared memory.
//
//   if (cudaFileIsSource(path)) module = cudaImport(context, path, "sm_80", &error);   // null after diagnostics
#pragma once

#include "lib/support/status.h"
#include "mlir-c/IR.h"

// By the name's end: .cu or .hip.
bool cudaFileIsSource(const char *path);
// `chip`: sm_… (compiled as CUDA C++) or gfx… (as HIP); null is an error. Clang's own messages go to stderr.
MlirModule cudaImport(MlirContext context, const char *path, const char *chip, tessera_error_t *error);
