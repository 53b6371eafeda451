// What a run measured and counted, as --stats and Python show it.
#pragma once

#include "lib/execution/run.h"
#include "lib/run/run_check.h"

// Times, what the target counted, kernels, into the open object of `json`. `check` may be null.
void runWriteStatistics(const Run *run, const tessera_run_options_t *options, tessera_trace_t *trace,
                        const tessera_run_check_t *check, tessera_json_t *json);
// "manifest": what makes the run repeatable.
void runWriteManifest(const Run *run, const tessera_run_options_t *options, tessera_json_t *json);
