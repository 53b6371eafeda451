// LLVM's default pipeline without some of its passes, which LLVM's C API cannot say: LLVMRunPasses takes a text, and a
// text has no way to give all parameters that the default pipeline gives.
#pragma once

#include "lib/capi/common.h"
#include "llvm-c/TargetMachine.h"

MLIR_EXT_BEGIN
// Runs default<O…> for `level` 0 to 3 on the module. `without` is the class name of a pass that is left out.
void mlirExtOptimizeWithout(LLVMModuleRef module, LLVMTargetMachineRef machine, int level, const char *without);
MLIR_EXT_END
