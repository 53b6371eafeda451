// observe.h - reports every grid and the threads that ran it. --trace and the kernels of --stats use the reports.
//
//   static void take(void *context, const tessera_span_t *span) { … }       // lib/run/trace.c
//   tessera_observer_t observer = {&record, take};
//   tessera_observe(&observer);
//   … programs run …
//   tessera_observe(NULL);
//
// Without an observer a launch pays one load for it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct tessera_span_t {
  const char *kernel; // may be NULL; lives as long as the program
  int thread;         // of the pool: 0 stands for whoever launched
  bool is_launch;     // the whole grid, on its launcher's thread; else one worker's part of it
  int64_t programs;   // of the whole grid
  int64_t begin, end; // lib/support/clock.h
} tessera_span_t;

typedef struct tessera_observer_t {
  void *context;
  // Called on the thread it tells of, from several at once. Parts come before the launch they belong to.
  void (*take)(void *context, const tessera_span_t *span);
} tessera_observer_t;

// One observer for the process; NULL ends it. No grid may be running.
void tessera_observe(const tessera_observer_t *observer);

// For the runtime: whether there is an observer, and reporting a span that ends now. Failed grids are not reported.
bool tessera_is_observed(void);
void tessera_tell(const tessera_span_t *span);
