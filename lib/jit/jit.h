// LLVM module -> code in this process: optimize for this machine, compile, look symbols up. Built on ORC's LLJIT.
//
//   TileJit *jit = tileJitCreate(module, context, 3, &error);          // takes module and context over
//   void (*entry)(void **) = (void (*)(void **))tileJitLookup(jit, "tessera_packed_main", &error);
//   …
//   tileJitDestroy(jit);                                               // code and globals are gone
//
// Symbols the module leaves undefined are looked up in the running process (the runtime, libm, libc).
#pragma once

#include "lib/jit/code_parts.h"
#include "lib/support/status.h"
#include "llvm-c/Core.h"

typedef struct TileJit TileJit;

// `optimization`: 0 to 3, as clang's -O. Null after writing to `error`. Takes over `context` (and the module in it) in
// either case.
TileJit *tileJitCreate(LLVMModuleRef module, LLVMContextRef context, int optimization, tessera_error_t *error);

// A program in several modules that name each other's functions, compiled in as many threads. Takes modules and
// contexts over; the machines are its own.
TileJit *tileJitCreateOfParts(TilePart *parts, int count, int optimization, tessera_error_t *error);
void tileJitDestroy(TileJit *jit);
// Address of a function or variable; null after writing to `error`. Links on the first look-up.
void *tileJitLookup(TileJit *jit, const char *name, tessera_error_t *error);

// Adds `void tessera_packed_NAME(void **args)` for the C interface `_mlir_ciface_NAME` in `module`: args[0] points to
// the result if there is one, the rest to the arguments (a memref's descriptor or a scalar). False after writing to
// `error` when there is no such function.
bool tileJitAddPackedEntry(LLVMModuleRef module, const char *name, tessera_error_t *error);
