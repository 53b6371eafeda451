// trace.h - what happened when: the phases of a run, and every grid with the threads that ran it. One record serves
// --trace (Chrome's trace-event JSON, for https://ui.perfetto.dev), the kernels of --stats, and --timeout, which says
// what was going on.
//
//   tessera_trace_t *trace = tessera_trace_create(true);
//   tessera_trace_phase(trace, "passes");                 // from now on; the phase before has ended
//   …
//   tessera_trace_phase(trace, NULL);
//   bool ok = tessera_trace_write(trace, "run.trace.json", &error);
//   tessera_trace_destroy(trace);
#pragma once

#include "lib/support/json.h"

typedef struct tessera_trace_t tessera_trace_t;

// NULL when out of memory. |observes|: the trace observes grids (lib/runtime/observe.h) until it is destroyed.
tessera_trace_t *tessera_trace_create(bool observes);
void tessera_trace_destroy(tessera_trace_t *trace);

// |name| must outlive the trace; a trace that is NULL records nothing.
void tessera_trace_phase(tessera_trace_t *trace, const char *name);
const char *tessera_trace_current_phase(tessera_trace_t *trace); // from any thread; NULL: none

// Writes "kernels" into the open object: launches, programs and time_ms of each kernel, in the order of first runs. The
// numbers are those of one call: totals divided by |calls|. Writes nothing if no kernel ran.
void tessera_trace_write_kernels(tessera_trace_t *trace, int64_t calls, tessera_json_t *json);
// A row of phases, a row for each thread with a span for each grid it took part in. From more than 200,000 spans the
// first ones; "otherData" says how many were left out.
bool tessera_trace_write(tessera_trace_t *trace, const char *path, tessera_error_t *out_error);
