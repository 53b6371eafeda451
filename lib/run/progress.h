// progress.h - a line on the terminal that names the current phase; nothing if stderr is a pipe or a file.
//
//   tessera_progress_t *progress = tessera_progress_start("tile-run", trace);
//   …                                        // after a second: "tile-run: passes, 1 s", then every second
//   tessera_progress_stop(progress);         // the line is gone
#pragma once

#include "lib/run/trace.h"

typedef struct tessera_progress_t tessera_progress_t;

// NULL if stderr is not a terminal or memory is lacking. |tool| and |trace| must outlive the progress line.
tessera_progress_t *tessera_progress_start(const char *tool, tessera_trace_t *trace);
void tessera_progress_stop(tessera_progress_t *progress); // NULL is allowed
