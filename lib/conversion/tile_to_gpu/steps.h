// A tile's elements along axes, as steps between registers, lanes and warps: what reduce and scan walk.
#ifndef TESSERA_CONVERSION_TILE_TO_GPU_STEPS_H
#define TESSERA_CONVERSION_TILE_TO_GPU_STEPS_H

#include "lib/conversion/tile_to_gpu/compute.h"

// One bit, or one odd factor of registers, that moves along an axis.
typedef struct Step {
  uint32_t dim, bit;    // TileLayoutReg, Lane, Warp
  intptr_t count, unit; // of registers: how many, and how far apart (2 and 1 << bit for a bit)
  intptr_t axis;
  uint64_t stride;
} Step;

typedef struct Steps {
  intptr_t count;
  Step items[TILE_LAYOUT_MAX_BITS + TILE_LAYOUT_MAX_REPEATS];
} Steps;

// The steps along the axes of the mask, from the nearest elements to the farthest (last axis first). False where a bit
// moves along other axes too, or not by a power of two, or copies what another does.
bool gpuStepsOf(const TileLayout *layout, MlirType tile, uint32_t axes, Steps *steps);
// The other thread's value across a step of lanes or warps, and whether this thread is the farther one (i1).
void gpuAcross(Gpu *g, const Step *step, intptr_t count, const MlirValue *values, const MlirType *elements,
               MlirValue *others);
MlirValue gpuIsFar(Gpu *g, const Step *step);

#endif
