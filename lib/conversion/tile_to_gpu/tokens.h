// Groups of asynchronous copies: how many may still be under way when a token's copies have landed.
#ifndef TESSERA_CONVERSION_TILE_TO_GPU_TOKENS_H
#define TESSERA_CONVERSION_TILE_TO_GPU_TOKENS_H

#include "lib/conversion/tile_to_gpu/engine.h"

bool gpuCountGroups(Gpu *g);                        // of the kernel, before it is lowered
int64_t gpuGroupsPending(Gpu *g, MlirOperation op); // of a tile.wait
bool gpuEndsGroup(MlirOperation op); // a copy whose token no join takes, or a join of such copies: commits here

#endif
