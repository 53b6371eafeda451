// What all targets with a device share: the way of a program to its chip, and the host's part as code of this process.
#pragma once

#include "lib/execution/run.h"

// Runs the pipeline of run->chip, unless the user gave one or the kernels are in gpu.modules already (hand-written:
// they are taken as they are).
bool runDeviceLower(Run *run, const tessera_run_options_t *options, tessera_error_t *error);

// Lowers what is left of the host's part, compiles it, and finds the entry: run->jit, run->entry. The CPU's too.
bool runDeviceCompileHost(Run *run, const tessera_run_options_t *options, tessera_trace_t *trace,
                          tessera_error_t *error);
