// devices.h - where a program runs: the CPU, or a GPU of this process.
//
//   const place_t *place = place_for(manifest, "cuda:1");   // NULL: the first GPU that the program has code for
//
// A GPU is opened when a program first needs it, and stays open until the process ends.
#pragma once

#include "lib/runtime/tessera.h"

#include <pthread.h>

typedef struct place_t {
  tessera_device_t *device; // NULL: the CPU
  int type, ordinal;        // DLPack's numbers of the device
  pthread_mutex_t lock;     // of a GPU: one call at a time
} place_t;

extern place_t place_cpu;

// |asked|: "cuda", "rocm", either with ":1" for the second of them, or NULL. NULL, with the error, where there is no
// such device or the program has no code for it.
place_t *place_for(const tessera_manifest_t *manifest, const char *asked, tessera_error_t *out_error);
// The device itself, for whoever compiles for it. "cuda" or "rocm", with a number as above.
place_t *place_open(const char *asked, tessera_error_t *out_error);
const char *place_kind(const place_t *place); // "cuda" or "rocm", of a GPU
