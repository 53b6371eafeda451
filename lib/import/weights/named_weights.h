// Tensors of a file by name: .safetensors, and .npz as numpy.savez writes it. Both hold the bytes as they are in
// memory.
//
//   NamedWeights weights;
//   bool ok = tileNamedWeightsRead(context, "model.safetensors", &weights, &error);
//   const NamedWeight *bias = tileNamedWeightsFind(&weights, "encoder.bias");   // null: not there
//   tileNamedWeightsFree(&weights);                                             // also after a failure
//
// Errors name the file: cut, no such format, compressed members, columns before rows, sizes that do not fit the data.
#pragma once

#include "lib/capi/common.h"
#include "lib/support/files/mapped_weights.h"

typedef struct NamedWeight {
  char *name;
  MlirType type; // a tensor; null: of elements that programs do not have
  uint64_t offset, bytes;
} NamedWeight;

typedef struct NamedWeights {
  const tessera_mapping_t *file;
  NamedWeight *items;
  int64_t count;
} NamedWeights;

// By the name's end. tileNamedWeightsRead expects one of these.
bool tileNamedWeightsIsFile(const char *path);
bool tileNamedWeightsRead(MlirContext context, const char *path, NamedWeights *weights, tessera_error_t *error);
const NamedWeight *tileNamedWeightsFind(const NamedWeights *weights, MlirStringRef name);
void tileNamedWeightsFree(NamedWeights *weights);
