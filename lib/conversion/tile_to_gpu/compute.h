// Ops that compute across elements, one file each.
#pragma once

#include "lib/conversion/tile_to_gpu/engine.h"

MlirValue gpuRoundToTf32(Gpu *g, MlirValue value); // of f32, to nearest, ties to even; elementwise.c
bool gpuLowerMma(Gpu *g, MlirOperation op);
bool gpuLowerFma(Gpu *g, MlirOperation op);
bool gpuLowerMmaScaled(Gpu *g, MlirOperation op);
bool gpuLowerReduce(Gpu *g, MlirOperation op);
bool gpuLowerScan(Gpu *g, MlirOperation op);
bool gpuLowerRandom(Gpu *g, MlirOperation op);
bool gpuLowerConvertType(Gpu *g, MlirOperation op);
bool gpuLowerBitcast(Gpu *g, MlirOperation op);
