// LLVM module -> machine code: the target machine, the optimizer, an object file. What the JIT and ahead-of-time
// programs share.
//
//   LLVMTargetMachineRef machine = tileCodegenMachineCreate("x86-64-v3", "", LLVMCodeModelDefault, &error);
//   LLVMMemoryBufferRef object;
//   if (machine && tileCodegenOptimize(module, machine, 3, &error) &&
//       tileCodegenObjectCreate(module, machine, &object, &error)) …   // LLVMDisposeMemoryBuffer(object)
//   LLVMDisposeTargetMachine(machine);
#pragma once

#include "lib/support/status.h"
#include "llvm-c/Core.h"
#include "llvm-c/Error.h"
#include "llvm-c/TargetMachine.h"

// Position-independent code for this machine's operating system and `cpu`, LLVM's name of a processor, with `features`
// beyond its own ("+avx512bf16,+amx-tile"). `cpu` null is the one we run on, with all it has. Null after writing to
// `error`.
LLVMTargetMachineRef tileCodegenMachineCreate(const char *cpu, const char *features, LLVMCodeModel model,
                                              tessera_error_t *error);
// Makes the module the machine's: triple and data layout.
void tileCodegenPrepare(LLVMModuleRef module, LLVMTargetMachineRef machine);
// Prepares and optimizes; `level`: 0 to 3, as clang's -O.
bool tileCodegenOptimize(LLVMModuleRef module, LLVMTargetMachineRef machine, int level, tessera_error_t *error);
// Makes one of internal functions that are alike; best before optimizing, which then has less to do.
bool tileCodegenMergeFunctions(LLVMModuleRef module, LLVMTargetMachineRef machine, tessera_error_t *error);
bool tileCodegenObjectCreate(LLVMModuleRef module, LLVMTargetMachineRef machine, LLVMMemoryBufferRef *object,
                             tessera_error_t *error);

// "Tessera 0.1.0, LLVM 22.1.8". Returns `text`.
char *tileCodegenDescribe(char *text, size_t size);

// Consumes `failure`: writes LLVM's message and returns true if there was one.
bool tileCodegenFailed(LLVMErrorRef failure, const char *doing, tessera_error_t *error);
