// Constants that code refers to without holding them: a weight of a model is 100 MB that no compiler need read. Each
// such constant of a lowered module becomes a place that holds an address, which whoever loads the code fills.
//
//   TileCpuWeights weights;
//   ok = tileCpuTakeWeights(module, isWanted, data, &weights, &error);
//   … compile; then, for each, *(const void **)lookup(weights.items[i].symbol) = weights.items[i].data;
//   tileCpuFreeWeights(&weights);
#pragma once

#include "lib/ir/support.h"
#include "lib/support/status.h"

typedef struct TileCpuWeight {
  char *symbol;            // of the place: a global of 8 bytes, 0 at first
  const void *data;        // lives as long as the module's context
  size_t bytes, alignment; // alignment: that the code expects
} TileCpuWeight;

typedef struct TileCpuWeights {
  TileCpuWeight *items;
  int count;
} TileCpuWeights;

// Takes the constants of more than 1 KB for which `isWanted` (null: all) is true. False when out of memory. The caller
// frees the list.
bool tileCpuTakeWeights(MlirOperation module, bool (*isWanted)(const TileCpuWeight *weight, void *userData),
                        void *userData, TileCpuWeights *weights, tessera_error_t *error);
void tileCpuFreeWeights(TileCpuWeights *weights);
