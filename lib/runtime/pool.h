// pool.h - a small thread pool for grids: runs a kernel over program ids [0, count) on several threads.
//
//   tessera_pool_t *pool = tessera_pool_create(4);
//   tessera_error_t error;
//   if (!tessera_pool_run(pool, kernel, "scale", arguments, 1000, &error)) …
//   tessera_pool_destroy(pool);
//
// The kernel is called with disjoint ranges [begin, end) that together are [0, count), in any order and on any thread
// of the pool, the caller's included. Instances must not depend on each other; then the result is the same, bit for
// bit, whatever the number of threads. A grid run from inside a kernel runs in place, on the thread that asked.
//
// An empty grid of 1000 instances, an indirect call each: 1.8 us back to back, 2 to 4 us after an idle time (2 cores).
#pragma once

#include "lib/support/status.h"

typedef struct tessera_pool_t tessera_pool_t;

// What compiled CPU kernels are: |args| as the launch gave them, instances [begin, end) of the linear program ids.
typedef void (*tessera_kernel_t)(void **args, int64_t begin, int64_t end);

// |threads| counts the caller's: 1 starts none. 0 or less: as many as this process may run on. Fewer than asked are
// started where the system refuses more. NULL when out of memory.
tessera_pool_t *tessera_pool_create(int threads);

// No grid may be running in it.
void tessera_pool_destroy(tessera_pool_t *pool);

// Threads that take part in a grid, the caller's included.
int tessera_pool_threads(const tessera_pool_t *pool);

// Runs the grid and returns when all its instances are done. False, with the first failure's text, when an instance
// raised (call.h): instances not begun by then are left out. A NULL pool, or a count below 1, is allowed. Callers on
// several threads take turns. |name| is for observers (observe.h) and may be NULL.
bool tessera_pool_run(tessera_pool_t *pool, tessera_kernel_t kernel, const char *name, void **args, int64_t count,
                      tessera_error_t *out_error);

// Whether this thread is inside a grid of more than one instance. A grid that starts here runs in place.
bool tessera_pool_is_inside(void);
