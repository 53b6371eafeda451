// trace.c - events, kept while the launch runs and written as JSON afterwards.
// Expects: one buffer for each worker. Leaves: at most EVENTS events of each; what comes later is left out.
#include "lib/emulator/machine/trace.h"

#include "lib/support/json.h"

#include <stdlib.h>
#include <string.h>

enum { EVENTS = 1 << 18, COPY_ROW = 1000 };

typedef struct event_t {
  uint64_t block, begin, end;
  uint32_t row, site; // row: warp, or COPY_ROW + warp
} event_t;

struct emu_trace_buffer_t {
  event_t *events;
  size_t count, room;
  uint64_t block_begin, slice_begin;
};

struct tessera_emulator_trace_t {
  event_t *events;
  size_t count;
  char *name;
  char **site_names; // of the sites that occur, by number; null otherwise
  uint32_t site_count;
};

emu_trace_buffer_t *emu_trace_create(void) { return calloc(1, sizeof(emu_trace_buffer_t)); }

void emu_trace_destroy(emu_trace_buffer_t *trace) {
  if (trace)
    free(trace->events);
  free(trace);
}

static void add(emu_trace_buffer_t *trace, event_t event) {
  if (trace->count == trace->room) {
    size_t room = trace->room ? 2 * trace->room : 1024;
    event_t *events = room <= EVENTS ? realloc(trace->events, room * sizeof *events) : NULL;
    if (!events)
      return;
    trace->events = events;
    trace->room = room;
  }
  trace->events[trace->count++] = event;
}

void emu_trace_block(emu_worker_t *worker) {
  if (worker->trace)
    worker->trace->block_begin = worker->trace->slice_begin = worker->steps;
}

void emu_trace_warp(emu_worker_t *worker, uint32_t warp) {
  emu_trace_buffer_t *trace = worker->trace;
  if (!trace || trace->slice_begin == worker->steps)
    return;
  const emu_thread_t *first = &worker->threads[warp << worker->launch->warp_shift];
  add(trace, (event_t){worker->block_number, trace->slice_begin - trace->block_begin,
                       worker->steps - trace->block_begin, warp, first->wait_site});
  trace->slice_begin = worker->steps;
}

void emu_trace_copy(emu_thread_t *self, const emu_copy_t *copy) {
  emu_worker_t *worker = self->worker;
  if (worker->trace && self->view.lane == 0) // one lane stands for its warp
    add(worker->trace, (event_t){worker->block_number, copy->issued - worker->trace->block_begin,
                                 worker->steps - worker->trace->block_begin, COPY_ROW + self->view.warp, copy->site});
}

//===--- The report's part -----------------------------------------------===//

static bool keep_names(struct tessera_emulator_trace_t *trace, const emu_launch_t *launch) {
  const tessera_emulator_launch_t *given = launch->given;
  trace->name = strdup(given->name ? given->name : "kernel");
  trace->site_count = given->site_names ? given->site_count : 0;
  trace->site_names = calloc(trace->site_count + 1, sizeof(char *));
  bool good = trace->name && trace->site_names;
  for (uint32_t i = 0; good && i < trace->site_count; ++i)
    if (given->site_names[i])
      good = (trace->site_names[i] = strdup(given->site_names[i])) != NULL;
  return good;
}

static struct tessera_emulator_trace_t *trace_of(tessera_emulator_report_t *report, const emu_launch_t *launch) {
  if (report->trace)
    return report->trace;
  report->trace = calloc(1, sizeof *report->trace);
  if (report->trace && keep_names(report->trace, launch))
    return report->trace;
  return NULL;
}

bool emu_trace_give(emu_trace_buffer_t *from, tessera_emulator_report_t *report, const emu_launch_t *launch) {
  struct tessera_emulator_trace_t *trace = trace_of(report, launch);
  if (!trace)
    return false;
  event_t *events = realloc(trace->events, (trace->count + from->count + 1) * sizeof *events);
  if (!events)
    return false;
  if (from->count)
    memcpy(events + trace->count, from->events, from->count * sizeof *events);
  trace->events = events;
  trace->count += from->count;
  from->count = 0;
  return true;
}

void emu_trace_report_destroy(struct tessera_emulator_trace_t *trace) {
  if (!trace)
    return;
  for (uint32_t i = 0; trace->site_names && i < trace->site_count; ++i)
    free(trace->site_names[i]);
  free(trace->site_names);
  free(trace->name);
  free(trace->events);
  free(trace);
}

//===--- Writing ---------------------------------------------------------===//

static int compare(const void *left, const void *right) {
  const event_t *a = left, *b = right;
  if (a->block != b->block)
    return a->block < b->block ? -1 : 1;
  if (a->row != b->row)
    return a->row < b->row ? -1 : 1;
  return a->begin < b->begin ? -1 : a->begin > b->begin;
}

// Rows and blocks get names when they first occur.
static void name_row(tessera_json_t *json, const char *what, const char *name, const event_t *event) {
  tessera_json_begin_object(json, NULL);
  tessera_json_string(json, "name", what);
  tessera_json_string(json, "ph", "M");
  tessera_json_integer(json, "pid", (int64_t)event->block);
  tessera_json_integer(json, "tid", event->row);
  tessera_json_begin_object(json, "args");
  tessera_json_string(json, "name", name);
  tessera_json_end(json);
  tessera_json_end(json);
}

static void write_names(tessera_json_t *json, const struct tessera_emulator_trace_t *trace, size_t i) {
  const event_t *event = &trace->events[i], *before = i ? event - 1 : NULL;
  char name[160];
  if (!before || before->block != event->block) {
    snprintf(name, sizeof name, "%s, block %llu", trace->name, (unsigned long long)event->block);
    name_row(json, "process_name", name, event);
  } else if (before->row == event->row) {
    return;
  }
  snprintf(name, sizeof name, event->row < COPY_ROW ? "warp %u" : "copies of warp %u", event->row % COPY_ROW);
  name_row(json, "thread_name", name, event);
}

static void begin_event(tessera_json_t *json, const char *name, const char *phase, const event_t *event, uint64_t at) {
  tessera_json_begin_object(json, NULL);
  tessera_json_string(json, "name", name);
  tessera_json_string(json, "ph", phase);
  tessera_json_integer(json, "pid", (int64_t)event->block);
  tessera_json_integer(json, "tid", event->row);
  tessera_json_integer(json, "ts", (int64_t)at);
}

static void write_site(tessera_json_t *json, const struct tessera_emulator_trace_t *trace, const char *key,
                       uint32_t site) {
  tessera_json_begin_object(json, "args");
  if (site < trace->site_count && trace->site_names[site])
    tessera_json_string(json, key, trace->site_names[site]);
  else
    tessera_json_integer(json, key, site);
  tessera_json_end(json);
}

static void write_slice(tessera_json_t *json, const struct tessera_emulator_trace_t *trace, const event_t *event) {
  begin_event(json, "run", "X", event, event->begin);
  tessera_json_integer(json, "dur", (int64_t)(event->end - event->begin));
  write_site(json, trace, "until", event->site);
  tessera_json_end(json);
}

// Copies overlap without one lying inside another, as only asynchronous events may: a begin and an end of one id.
static void write_copy(tessera_json_t *json, const struct tessera_emulator_trace_t *trace, const event_t *event,
                       size_t id) {
  for (int end = 0; end < 2; ++end) {
    begin_event(json, "copy", end ? "e" : "b", event, end ? event->end : event->begin);
    tessera_json_string(json, "cat", "copy");
    tessera_json_integer(json, "id", (int64_t)id);
    write_site(json, trace, "site", event->site);
    tessera_json_end(json);
  }
}

bool tessera_emulator_trace_write(const tessera_emulator_report_t *report, const char *path,
                                  tessera_error_t *out_error) {
  struct tessera_emulator_trace_t *trace = report->trace;
  if (!trace)
    return tessera_fail(out_error, "%s: the launch was not traced", path);
  qsort(trace->events, trace->count, sizeof *trace->events, compare);
  tessera_json_t *json = tessera_json_create();
  tessera_json_begin_object(json, NULL);
  tessera_json_begin_array(json, "traceEvents");
  for (size_t i = 0; i < trace->count; ++i) {
    write_names(json, trace, i);
    if (trace->events[i].row < COPY_ROW)
      write_slice(json, trace, &trace->events[i]);
    else
      write_copy(json, trace, &trace->events[i], i);
  }
  tessera_json_end(json);
  tessera_json_end(json);
  bool written = tessera_json_write(json, path, out_error);
  tessera_json_destroy(json);
  return written;
}
