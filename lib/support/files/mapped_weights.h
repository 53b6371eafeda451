// mapped_weights.h - constants of a model that stay in the model's file. A file is mapped once in a process, and all
// processes share its pages.
//
//   tessera_weights_source_t source = {"model.onnx", 94445, 1572864, 0x1f…};
//   const void *data = tessera_weights_take(&source, 64, &error);   // error.text: what is wrong with the file
//   …
//   tessera_weights_release(data, source.bytes);
//
// The functions may be called from any thread.
#pragma once

#include "lib/support/status.h"

// A file in memory, read-only, as long as anyone uses it.
typedef struct tessera_mapping_t {
  const unsigned char *data;
  size_t size;
  const char *path; // as first given
} tessera_mapping_t;

// Maps a regular file that is not empty, or adds a user to its mapping. A file that has changed since is mapped anew.
// NULL after an error, which names the file.
const tessera_mapping_t *tessera_mapping_open(const char *path, tessera_error_t *out_error);
void tessera_mapping_retain(const tessera_mapping_t *mapping);
void tessera_mapping_release(const tessera_mapping_t *mapping); // NULL is allowed

// Part of a file, and the checksum (checksum.h) that its bytes have.
typedef struct tessera_weights_source_t {
  const char *file;
  uint64_t offset, bytes, checksum;
} tessera_weights_source_t;

// The data of a source, at a multiple of |alignment| (a power of two). Data that lie elsewhere in the file are copied,
// once for all users. Checks the checksum, once. NULL after an error that names the file: the file is missing, too
// short, or has other bytes there. Each success needs one tessera_weights_release.
const void *tessera_weights_take(const tessera_weights_source_t *source, size_t alignment, tessera_error_t *out_error);
void tessera_weights_release(const void *data, size_t bytes);

// Where data that tessera_weights_take gave come from. False for any other data, and for a part of such data. The name
// of the file lives as long as the data.
bool tessera_weights_find(const void *data, size_t bytes, tessera_weights_source_t *out_source);
