// What stands for device code where there is no device: its twin, the gpu.module that the code was made of, which
// lib/emulator runs. record.c writes a twin whenever a tool makes an image, under the hash of the image's content, into
// the folder $TESSERA_TWINS; the stand-in libraries (standin.c) find it there by the content that they are given to
// load.
//
//   twin_t *twin = twin_open(image, &error);          // NULL, with a sentence: no code, or nobody's
//   if (twin_run(twin, &launch, &error)) …            // findings go to stderr, and fail it
//   twin_close(twin);
#pragma once

#include "lib/emulator/emulator.h"

// Bytes of a code object or a text that ends with a zero: drivers are given no sizes either.
size_t twin_extent(const void *image);
// Where the image's twin lies; false where TESSERA_TWINS is not set.
bool twin_path(const void *image, char *path, size_t capacity);

typedef struct twin_t twin_t;
twin_t *twin_open(const void *image, tessera_error_t *out_error);
void twin_close(twin_t *twin);
const TileEmulatorKernel *twin_kernel(const twin_t *twin, const char *name); // or NULL
uint32_t twin_shared_limit(const twin_t *twin);                              // bytes that a block of the chip may have
// A failed assertion of a tile kernel is the error: "assertion failed: …".
bool twin_run(twin_t *twin, const TileEmulatorLaunch *launch, tessera_error_t *out_error);
