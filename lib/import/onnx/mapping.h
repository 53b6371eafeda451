// A file in memory, as long as anyone uses it: weights stay where they are.
#pragma once

#include "lib/support/status.h"

typedef struct OnnxMapping {
  const unsigned char *data;
  size_t size;
  const char *path; // as given; not owned
  int users;
} OnnxMapping;

// One user. Null after an error that names the file.
OnnxMapping *onnxMappingOpen(const char *path, tessera_error_t *error);
OnnxMapping *onnxMappingRetain(OnnxMapping *mapping);
void onnxMappingRelease(OnnxMapping *mapping);
