// A program being run: the parsed module, the signature of its entry, and its code.
#ifndef TESSERA_TOOLS_TILE_RUN_PROGRAM_H
#define TESSERA_TOOLS_TILE_RUN_PROGRAM_H

#include "lib/jit/jit.h"
#include "lib/pipelines/session.h"
#include "lib/support/run_options.h"
#include "lib/support/signature.h"

typedef struct Program {
  TileSession session;
  TileJit *jit;
  void (*entry)(void **arguments);
  tessera_signature_t signature;
  double compileMs;
} Program;

bool programIsInterpreted(const tessera_run_options_t *options); // --target=interpret

// Parses, finds the entry, lowers and compiles. MLIR's diagnostics go to stderr; then `error` says what failed.
bool programLoad(Program *program, const tessera_run_options_t *options, tessera_error_t *error);
void programDestroy(Program *program);

#endif
