// launch.h - what the compiled host code of a CPU program calls for each tile.launch, and the pool of the process.
#pragma once

#include "lib/runtime/pool.h"

// Runs |kernel| over the linear program ids [0, count) on the process's pool; a count of 0 or less is an empty grid.
// |args| belong to the caller and are passed on as they are. When an instance raises, so does this (call.h). |name|:
// the kernel's, for traces and statistics (observe.h); may be NULL.
void tessera_launch(tessera_kernel_t kernel, void **args, int64_t count, const char *name);

// How many threads grids run on from now on, the caller's included; 0 or less: as many as this process may run on (also
// the default). Waits for running grids. False, changing nothing, when called from inside one.
bool tessera_set_threads(int threads);

// How many threads a grid launched here would run on: 1 inside another grid. Starts the pool if need be.
int tessera_threads(void);

// Launches of the whole process so far; take the difference around what you count.
int64_t tessera_launch_count(void);
void tessera_count_launch(void); // for the runtime: one more, on whatever it runs
