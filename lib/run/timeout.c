// timeout.c - a thread that waits for the end or for being told to stop, whichever comes first. See timeout.h.
#include "lib/run/timeout.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

struct tessera_timeout_t {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  struct timespec end;
  bool stopped, repeats;
  double seconds;
  void (*expired)(void *context);
  void *context;
};

static struct timespec end_after(double seconds) {
  struct timespec end;
  seconds = fmin(seconds, 1e9); // about 30 years, and still a time that can be written down
  double whole = floor(seconds);
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += (time_t)whole;
  end.tv_nsec += (long)((seconds - whole) * 1e9);
  if (end.tv_nsec >= 1000000000) {
    ++end.tv_sec;
    end.tv_nsec -= 1000000000;
  }
  return end;
}

// Has the time come, rather than the end?
static bool wait_once(tessera_timeout_t *timeout) {
  int why = 0;
  pthread_mutex_lock(&timeout->lock);
  while (!timeout->stopped && why != ETIMEDOUT)
    why = pthread_cond_timedwait(&timeout->changed, &timeout->lock, &timeout->end);
  bool expired = !timeout->stopped;
  timeout->end = end_after(timeout->seconds);
  pthread_mutex_unlock(&timeout->lock);
  return expired;
}

static void *wait_and_call(void *argument) {
  tessera_timeout_t *timeout = argument;
  while (wait_once(timeout)) {
    timeout->expired(timeout->context);
    if (!timeout->repeats)
      break;
  }
  return NULL;
}

static tessera_timeout_t *start(double seconds, bool repeats, void (*expired)(void *context), void *context) {
  tessera_timeout_t *timeout = malloc(sizeof *timeout);
  if (!timeout)
    return NULL;
  *timeout = (tessera_timeout_t){
      .end = end_after(seconds), .repeats = repeats, .seconds = seconds, .expired = expired, .context = context};
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&timeout->lock, NULL);
  pthread_cond_init(&timeout->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  if (pthread_create(&timeout->thread, NULL, wait_and_call, timeout) == 0)
    return timeout;
  pthread_cond_destroy(&timeout->changed);
  pthread_mutex_destroy(&timeout->lock);
  free(timeout);
  return NULL;
}

tessera_timeout_t *tessera_timeout_start(double seconds, void (*expired)(void *context), void *context) {
  return start(seconds, false, expired, context);
}

tessera_timeout_t *tessera_timeout_every(double seconds, void (*passed)(void *context), void *context) {
  return start(seconds, true, passed, context);
}

void tessera_timeout_stop(tessera_timeout_t *timeout) {
  if (!timeout)
    return;
  pthread_mutex_lock(&timeout->lock);
  timeout->stopped = true;
  pthread_cond_signal(&timeout->changed);
  pthread_mutex_unlock(&timeout->lock);
  pthread_join(timeout->thread, NULL);
  pthread_cond_destroy(&timeout->changed);
  pthread_mutex_destroy(&timeout->lock);
  free(timeout);
}

void tessera_timeout_describe(const tessera_run_options_t *options, tessera_trace_t *trace,
                              tessera_error_t *out_error) {
  const char *phase = tessera_trace_current_phase(trace);
  tessera_fail(out_error, "--timeout=%g: '%s' of %s had not ended after %g s (it was at: %s)", options->timeout,
               options->entry, options->file, options->timeout, phase ? phase : "the start");
}
