// A program being run: the parsed module, the signature of its entry, and its code.
#ifndef TESSERA_TOOLS_TILE_RUN_PROGRAM_H
#define TESSERA_TOOLS_TILE_RUN_PROGRAM_H

#include "lib/jit/jit.h"
#include "lib/support/array.h"
#include "lib/support/run_options.h"
#include "mlir-c/IR.h"

enum { MaxValues = 64 };

// One argument or result: a scalar (rank 0, not in memory) or a tensor/memref. Negative sizes are dynamic.
typedef struct ProgramValue {
  tessera_element_t element;
  bool isInMemory, isMemref; // isMemref: an argument the program may write
  int rank;
  int64_t shape[TESSERA_MAX_RANK];
} ProgramValue;

typedef struct Program {
  MlirContext context;
  MlirModule module;
  TileJit *jit;
  void (*entry)(void **arguments);
  int numArguments, numResults;
  ProgramValue arguments[MaxValues], results[MaxValues];
  double compileMs;
} Program;

// Parses, finds the entry, lowers and compiles. MLIR's diagnostics go to stderr; then `error` says what failed.
bool programLoad(Program *program, const tessera_run_options_t *options, tessera_error_t *error);
void programDestroy(Program *program);

#endif
