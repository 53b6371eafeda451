// One run of tile-run: compiles the program for each target, runs it, compares, writes what was asked for.
#ifndef TESSERA_TOOLS_TILE_RUN_ONE_RUN_H
#define TESSERA_TOOLS_TILE_RUN_ONE_RUN_H

#include "lib/support/run_options.h"

bool runSession(const tessera_run_options_t *options, tessera_error_t *error);

#endif
