// A model's program on the CPU, compiled once: the second run of an unchanged model loads what the first one kept.
#pragma once

#include "lib/execution/run.h"

// Loads the program that is kept for the model, or compiles it and keeps it. run->session is a copy of the parsed
// module, run->pipeline its passes. `isDone`: the run can be called. Otherwise nothing has happened to the run: the
// program is no model, programs are not kept, the caller asked how the program was compiled, or the program cannot be
// stored. False after an error of the program.
bool runTakeKept(Run *run, const TileSession *parsed, const tessera_run_options_t *options, tessera_trace_t *trace,
                 bool *isDone, tessera_error_t *error);
