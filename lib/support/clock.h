// clock.h - time that only goes forward, for measuring: nanoseconds and milliseconds since some moment before.
#pragma once

#include <stdint.h>
#include <time.h>

static inline int64_t tessera_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline double tessera_milliseconds(void) { return (double)tessera_nanoseconds() * 1e-6; }
