// trace.c - spans in a growing array under one lock, kernels by name in another. See trace.h.
// Why text is copied: a kernel's name goes with its program. Expects: phases from one thread, spans from any.
// Leaves: times in microseconds since the trace began. Cost: about 100 ns for a span.
#include "lib/run/trace.h"

#include "lib/runtime/observe.h"
#include "lib/support/clock.h"
#include "lib/support/grow.h"
#include "lib/support/guard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SPANS = 200000, PHASES = -1 };

typedef struct kernel_t {
  char *name;
  int64_t launches, programs, nanoseconds;
} kernel_t;

typedef struct span_t {
  int row;          // a thread, or PHASES
  int64_t kernel;   // its index; a phase has none
  const char *name; // of a phase
  int64_t programs, begin, end;
} span_t;

struct tessera_trace_t {
  tessera_observer_t observer;
  pthread_mutex_t lock; // of all that follows but |phase|
  kernel_t *kernels;
  span_t *spans;
  int64_t num_kernels, num_spans, left_out;
  int64_t start, phase_start;
  _Atomic(const char *) phase;
};

//===--- recording ------------------------------------------------------------===//

static void add_span(tessera_trace_t *trace, const span_t *span) {
  bool has_room = trace->num_spans < MOST_SPANS;
  span_t *spans = has_room ? tessera_grow(trace->spans, trace->num_spans, sizeof *spans) : NULL;
  if (!spans) {
    ++trace->left_out;
    return;
  }
  trace->spans = spans;
  spans[trace->num_spans++] = *span;
}

// The kernel's index; -1 when out of memory.
static int64_t find_kernel(tessera_trace_t *trace, const char *name) {
  for (int64_t i = 0; i < trace->num_kernels; ++i)
    if (strcmp(trace->kernels[i].name, name) == 0)
      return i;
  kernel_t *kernels = realloc(trace->kernels, ((size_t)trace->num_kernels + 1) * sizeof *kernels);
  char *copy = strdup(name);
  if (kernels)
    trace->kernels = kernels;
  if (!kernels || !copy) {
    free(copy);
    return -1;
  }
  kernels[trace->num_kernels] = (kernel_t){.name = copy};
  return trace->num_kernels++;
}

static void take(void *context, const tessera_span_t *span) {
  tessera_trace_t *trace = context;
  pthread_mutex_lock(&trace->lock);
  int64_t kernel = find_kernel(trace, span->kernel ? span->kernel : "kernel");
  if (kernel >= 0 && span->is_launch) {
    ++trace->kernels[kernel].launches;
    trace->kernels[kernel].programs += span->programs;
    trace->kernels[kernel].nanoseconds += span->end - span->begin;
  }
  if (kernel >= 0)
    add_span(trace, &(span_t){span->thread, kernel, NULL, span->programs, span->begin, span->end});
  pthread_mutex_unlock(&trace->lock);
}

tessera_trace_t *tessera_trace_create(bool observes) {
  tessera_trace_t *trace = calloc(1, sizeof *trace);
  if (!trace)
    return NULL;
  pthread_mutex_init(&trace->lock, NULL);
  trace->start = tessera_nanoseconds();
  trace->observer = (tessera_observer_t){trace, take};
  if (observes)
    tessera_observe(&trace->observer);
  return trace;
}

void tessera_trace_destroy(tessera_trace_t *trace) {
  if (!trace)
    return;
  tessera_observe(NULL);
  for (int64_t i = 0; i < trace->num_kernels; ++i)
    free(trace->kernels[i].name);
  free(trace->kernels);
  free(trace->spans);
  pthread_mutex_destroy(&trace->lock);
  free(trace);
}

void tessera_trace_phase(tessera_trace_t *trace, const char *name) {
  if (!trace)
    return;
  int64_t now = tessera_nanoseconds();
  const char *ended = atomic_load(&trace->phase);
  if (ended) {
    pthread_mutex_lock(&trace->lock);
    add_span(trace, &(span_t){PHASES, -1, ended, 0, trace->phase_start, now});
    pthread_mutex_unlock(&trace->lock);
  }
  trace->phase_start = now;
  atomic_store(&trace->phase, name);
  tessera_guard_doing(name);
}

const char *tessera_trace_current_phase(tessera_trace_t *trace) { return atomic_load(&trace->phase); }

//===--- writing --------------------------------------------------------------===//

void tessera_trace_write_kernels(tessera_trace_t *trace, int64_t calls, tessera_json_t *json) {
  double each = calls > 0 ? (double)calls : 1;
  if (!trace->num_kernels)
    return;
  tessera_json_begin_object(json, "kernels");
  for (int64_t i = 0; i < trace->num_kernels; ++i) {
    const kernel_t *kernel = &trace->kernels[i];
    if (!kernel->launches)
      continue;
    tessera_json_begin_object(json, kernel->name);
    tessera_json_number(json, "launches", (double)kernel->launches / each);
    tessera_json_number(json, "programs", (double)kernel->programs / each);
    tessera_json_number(json, "time_ms", (double)kernel->nanoseconds * 1e-6 / each);
    tessera_json_end(json);
  }
  tessera_json_end(json);
}

static int64_t row_of(const span_t *span) { return span->row == PHASES ? 1 : span->row + 2; }

static void write_span(const tessera_trace_t *trace, const span_t *span, tessera_json_t *json) {
  tessera_json_begin_object(json, NULL);
  tessera_json_string(json, "name", span->kernel < 0 ? span->name : trace->kernels[span->kernel].name);
  tessera_json_string(json, "cat", span->kernel < 0 ? "phase" : "kernel");
  tessera_json_string(json, "ph", "X");
  tessera_json_integer(json, "pid", 1);
  tessera_json_integer(json, "tid", row_of(span));
  tessera_json_number(json, "ts", (double)(span->begin - trace->start) * 1e-3);
  tessera_json_number(json, "dur", (double)(span->end - span->begin) * 1e-3);
  if (span->kernel >= 0) {
    tessera_json_begin_object(json, "args");
    tessera_json_integer(json, "programs", span->programs);
    tessera_json_end(json);
  }
  tessera_json_end(json);
}

static void write_row_name(int64_t row, const char *name, tessera_json_t *json) {
  tessera_json_begin_object(json, NULL);
  tessera_json_string(json, "name", "thread_name");
  tessera_json_string(json, "ph", "M");
  tessera_json_integer(json, "pid", 1);
  tessera_json_integer(json, "tid", row);
  tessera_json_begin_object(json, "args");
  tessera_json_string(json, "name", name);
  tessera_json_end(json);
  tessera_json_end(json);
}

static void write_row_names(const tessera_trace_t *trace, tessera_json_t *json) {
  int most = -1;
  for (int64_t i = 0; i < trace->num_spans; ++i)
    most = trace->spans[i].row > most ? trace->spans[i].row : most;
  write_row_name(1, "phases", json);
  for (int thread = 0; thread <= most; ++thread) {
    char name[64];
    snprintf(name, sizeof name, thread ? "thread %d" : "thread %d (launches)", thread);
    write_row_name(thread + 2, name, json);
  }
}

bool tessera_trace_write(tessera_trace_t *trace, const char *path, tessera_error_t *out_error) {
  tessera_json_t *json = tessera_json_create();
  tessera_json_begin_object(json, NULL);
  tessera_json_string(json, "displayTimeUnit", "ns");
  tessera_json_begin_object(json, "otherData");
  tessera_json_integer(json, "spans_left_out", trace->left_out);
  tessera_json_end(json);
  tessera_json_begin_array(json, "traceEvents");
  write_row_names(trace, json);
  for (int64_t i = 0; i < trace->num_spans; ++i)
    write_span(trace, &trace->spans[i], json);
  tessera_json_end(json);
  tessera_json_end(json);
  bool ok = tessera_json_write(json, path, out_error);
  tessera_json_destroy(json);
  return ok;
}
