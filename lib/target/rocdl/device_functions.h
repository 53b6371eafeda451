// What kernels call and no library gives them.
#pragma once

#include "lib/support/status.h"
#include "mlir-c/IR.h"
#include "llvm-c/Core.h"

// False after a diagnostic at each op of the module that no AMD GPU has code for: f64 functions, calls of what nobody
// has.
bool tileRocdlExpectCode(MlirOperation module, tessera_error_t *error);
// Gives the functions that the module may call their bodies.
bool tileRocdlDefineFunctions(LLVMModuleRef module, tessera_error_t *error);
