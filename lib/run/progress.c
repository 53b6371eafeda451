// progress.c - the current phase of a trace, once a second. See progress.h.
// The cursor goes back to the line's start each time, so that what others print lands on the line and not behind it.
#include "lib/run/progress.h"

#include "lib/run/timeout.h"
#include "lib/support/clock.h"

#include <stdlib.h>
#include <unistd.h>

struct tessera_progress_t {
  const char *tool;
  tessera_trace_t *trace;
  int64_t start;
  bool shown;
  tessera_timeout_t *every_second;
};

static void show(void *context) {
  tessera_progress_t *progress = context;
  const char *phase = tessera_trace_current_phase(progress->trace);
  if (!phase)
    return;
  long long seconds = (long long)((tessera_nanoseconds() - progress->start) / 1000000000);
  fprintf(stderr, "\033[K%s: %s, %lld s\r", progress->tool, phase, seconds);
  fflush(stderr);
  progress->shown = true;
}

tessera_progress_t *tessera_progress_start(const char *tool, tessera_trace_t *trace) {
  tessera_progress_t *progress = isatty(STDERR_FILENO) ? malloc(sizeof *progress) : NULL;
  if (!progress)
    return NULL;
  *progress = (tessera_progress_t){.tool = tool, .trace = trace, .start = tessera_nanoseconds()};
  progress->every_second = tessera_timeout_every(1, show, progress);
  return progress;
}

void tessera_progress_stop(tessera_progress_t *progress) {
  if (!progress)
    return;
  tessera_timeout_stop(progress->every_second);
  if (progress->shown)
    fputs("\033[K", stderr);
  free(progress);
}
