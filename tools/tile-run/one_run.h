// One run of tile-run: compiles the program for each target, runs it, compares, writes what was asked for.
#pragma once

#include "lib/support/run_options.h"

bool runSession(const tessera_run_options_t *options, tessera_error_t *error);
