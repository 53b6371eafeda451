// progress.h - a line on the terminal that says what takes so long; nothing where stderr is a pipe or a file.
//
//   tessera_progress_t *progress = tessera_progress_start("tile-run", trace);
//   …                                        // after a second: "tile-run: passes, 1 s", then every second
//   tessera_progress_stop(progress);         // the line is gone
#pragma once

#include "lib/run/trace.h"

typedef struct tessera_progress_t tessera_progress_t;

// NULL when there is no terminal, or nothing to start it with. Both strings and trace must outlive it.
tessera_progress_t *tessera_progress_start(const char *tool, tessera_trace_t *trace);
void tessera_progress_stop(tessera_progress_t *progress); // NULL is allowed
