// LLVM IR as a module of the dialects llvm and nvvm: upstream's importer, which mlir-c does not have.
#pragma once

#include "lib/capi/common.h"
#include "llvm-c/Types.h"

MLIR_EXT_BEGIN
// Takes `module` over, whose context must live until this returns. Null after diagnostics.
MlirModule mlirExtTranslateLLVMIRToModule(LLVMModuleRef module, MlirContext context);
MLIR_EXT_END
