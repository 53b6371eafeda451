// LLVM's default pipeline without some of its work, which LLVM's C API cannot say: LLVMRunPasses takes a text, and a
// text has no way to give all parameters that the default pipeline gives.
#pragma once

#include "lib/capi/common.h"
#include "llvm-c/TargetMachine.h"

MLIR_EXT_BEGIN
// What the pipeline leaves out.
typedef struct {
  const char *pass;           // the class name of a pass that never runs
  unsigned unrolled_loop;     // loops of more instructions than this are not unrolled as a whole
  unsigned unrolled_function; // in functions of more instructions than this no loop is unrolled in part
} MlirExtOptimizeLimits;

// Runs default<O…> for `level` 0 to 3 on the module.
void mlirExtOptimizeWithin(LLVMModuleRef module, LLVMTargetMachineRef machine, int level,
                           const MlirExtOptimizeLimits *limits);
MLIR_EXT_END
