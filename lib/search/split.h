// Into how many parts a product's reduction is cut, so that a small grid gives every core something to do: the parts
// are products of their own, side by side, and a second kernel adds them up in one order (deterministic; no atomics).
//
//   TileSearchSplit split = tileSearchSplit(machine, &op, &target, &options, &whole);
//   if (split.parts > 1) … cut k …
//
// Source: split-K as in CUTLASS and cuBLAS; here the model of model.h weighs it, the second kernel and its launch
// included.
#ifndef TESSERA_LIB_SEARCH_SPLIT_H
#define TESSERA_LIB_SEARCH_SPLIT_H

#include "lib/search/construct.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TileSearchSplit {
  int64_t parts;            // 1: as it is
  double whole, cut;        // predicted seconds without and with it; `cut` is INFINITY where nothing could be cut
  TileSearchCandidate best; // of the parts' product; `seconds` of it are those of both kernels
  int64_t evaluations;      // of the model
} TileSearchSplit;

// `whole`: what was constructed for the product as it is. The best number of parts, a power of two that divides k and
// leaves each part a row of shared memory's banks; 1 for what is no product, fills the cores already, or gains less
// than a tenth. A product that the schedule gives `stages` and tiles is weighed like any other. Cost: some milliseconds
// where the grid is small, else one construction.
TileSearchSplit tileSearchSplit(const TileMachine *machine, const TileOperator *op, const TileSearchTarget *target,
                                const TileSearchOptions *options, TileSearchResult *whole);

#ifdef __cplusplus
}
#endif
#endif
