// Calling the program: arguments from files or seeded data, results back as arrays.
#ifndef TESSERA_TOOLS_TILE_RUN_CALL_H
#define TESSERA_TOOLS_TILE_RUN_CALL_H

#include "tools/tile-run/program.h"

typedef struct Call {
  const Program *program;
  tessera_array_t arguments[MaxValues], results[MaxValues];
  double *timesMs; // one per repetition
  int64_t launches;
} Call;

bool callPrepare(Call *call, const Program *program, const tessera_run_options_t *options, tessera_error_t *error);
// Calls `repeat` times; the results are the last call's.
bool callRun(Call *call, int64_t repeat, tessera_error_t *error);
bool callWriteOutputs(const Call *call, const tessera_run_options_t *options, tessera_error_t *error);
void callDestroy(Call *call);

#endif
