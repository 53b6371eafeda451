// --target=emulate:CHIP: kernels of gpu.modules run on the emulated machine, with their host function's launches.
#pragma once

#include "lib/execution/run.h"

// What a run on the emulator holds: compiled modules, counters of each kernel.
typedef struct Emulation Emulation;

bool runEmulatorCompile(Run *run, const tessera_run_options_t *options, tessera_trace_t *trace, tessera_error_t *error);
bool runEmulatorCall(Run *run, const tessera_run_options_t *options, tessera_error_t *error);
// The counters of all launches, and kernel by kernel under "kernels", into the open object.
void runEmulatorWriteStatistics(const Run *run, tessera_json_t *json);
// Transactions of global memory in one call.
int64_t runEmulatorTransactions(const Run *run);
// Warps and copies of the last launch.
bool runEmulatorWriteTrace(const Run *run, const char *path, tessera_error_t *error);
void runEmulatorForgetCall(Emulation *emulation); // what it counted so far; null is allowed
void runEmulatorDestroy(Emulation *emulation);
