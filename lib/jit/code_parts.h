// LLVM modules -> object files, in as many threads. What the JIT and ahead-of-time programs share.
//
//   TilePart parts[2] = {{first, firstContext, machine}, {second, secondContext, otherMachine}};
//   LLVMMemoryBufferRef objects[2];
//   if (tilePartsCompile(parts, 2, 3, objects, &error)) …   // LLVMDisposeMemoryBuffer(objects[i])
//   tilePartDispose(&parts[0]); …
#pragma once

#include "lib/support/status.h"
#include "llvm-c/Core.h"
#include "llvm-c/TargetMachine.h"

// A module in a context of its own, and a machine that nobody else uses.
typedef struct TilePart {
  LLVMModuleRef module;
  LLVMContextRef context;
  LLVMTargetMachineRef machine;
} TilePart;

// Optimizes each module (`level`: 0 to 3, as clang's -O) and writes its object. False after writing to `error`; then
// there is no object. The optimized modules stay the caller's.
bool tilePartsCompile(const TilePart *parts, int count, int level, LLVMMemoryBufferRef *objects,
                      tessera_error_t *error);
void tilePartDispose(TilePart *part); // what it has of module, context and machine
