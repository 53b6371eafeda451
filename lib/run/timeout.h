// timeout.h - calls a function when time is up. The thread that is late cannot be asked to stop: it runs a pass or
// compiled code.
//
//   tessera_timeout_t *timeout = tessera_timeout_start(2.5, expired, &run);  // expired(&run), on a thread of its own
//   …
//   tessera_timeout_stop(timeout);                                           // now it will not be called any more
#pragma once

#include "lib/run/trace.h"
#include "lib/support/run_options.h"

typedef struct tessera_timeout_t tessera_timeout_t;

// NULL if memory or a thread is lacking. The caller stops the timeout.
tessera_timeout_t *tessera_timeout_start(double seconds, void (*expired)(void *context), void *context);
// Calls |passed| again and again, until the timeout is stopped.
tessera_timeout_t *tessera_timeout_every(double seconds, void (*passed)(void *context), void *context);
void tessera_timeout_stop(tessera_timeout_t *timeout); // NULL is allowed

// "--timeout=2: 'main' of f.mlir had not ended after 2 s (it was at: calls)"
void tessera_timeout_describe(const tessera_run_options_t *options, tessera_trace_t *trace, tessera_error_t *out_error);
