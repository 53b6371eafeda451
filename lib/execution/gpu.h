// --target=cuda and --target=rocm: the program's kernels on the first GPU of this machine.
#pragma once

#include "lib/execution/run.h"

// What a run on a GPU holds: the device, the code of its kernels.
typedef struct GpuRun GpuRun;

bool runGpuCompile(Run *run, const tessera_run_options_t *options, tessera_trace_t *trace, tessera_error_t *error);
bool runGpuCall(Run *run, const tessera_run_options_t *options, tessera_error_t *error);
// "device_code": the kernels' registers, spills and shared memory, or what is missing to know them.
void runGpuWriteStatistics(const Run *run, tessera_json_t *json);
void runGpuDestroy(GpuRun *gpu);
