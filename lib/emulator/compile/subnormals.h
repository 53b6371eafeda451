// Rounding to bf16 as GPUs do it, in code for the host.
#pragma once

#include "lib/support/status.h"
#include "llvm-c/Core.h"

// Changes the module's functions, and adds those that the code generator will call.
bool emulatorKeepSubnormals(LLVMModuleRef module, tessera_error_t *error);
