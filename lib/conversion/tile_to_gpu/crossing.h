// What reduce and scan do at a step between lanes or warps.
#pragma once

#include "lib/conversion/tile_to_gpu/compute.h"
#include "lib/layout/steps.h"

// The other thread's value across a step of lanes or warps, and whether this thread is the farther one (i1).
void gpuAcross(Gpu *g, const TileLayoutStep *step, intptr_t count, const MlirValue *values, const MlirType *elements,
               MlirValue *others);
MlirValue gpuIsFar(Gpu *g, const TileLayoutStep *step);
