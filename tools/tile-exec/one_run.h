// One run of tile-exec: loads the program, reads or makes its arguments, calls it, writes what was asked for.
#pragma once

#include "lib/support/run_options.h"

// `into`: call the form that writes the caller's buffers.
bool tessera_exec_run(const tessera_run_options_t *options, bool into, tessera_error_t *error);
