// Ops that compute across elements, one file each.
#pragma once

#include "lib/conversion/tile_to_gpu/engine.h"

MlirValue gpuRoundToTf32(Gpu *g, MlirValue value); // of f32, to nearest, ties to even; elementwise.c
bool gpuLowerMma(Gpu *g, MlirOperation op);
bool gpuLowerFma(Gpu *g, MlirOperation op);
bool gpuLowerMmaScaled(Gpu *g, MlirOperation op);
bool gpuLowerReduce(Gpu *g, MlirOperation op);
bool gpuLowerScan(Gpu *g, MlirOperation op);
bool gpuLowerSort(Gpu *g, MlirOperation op); // sort, topk
bool gpuLowerHistogram(Gpu *g, MlirOperation op);
bool gpuLowerRandom(Gpu *g, MlirOperation op);
bool gpuLowerConvertType(Gpu *g, MlirOperation op);
bool gpuLowerBitcast(Gpu *g, MlirOperation op);

// What combines two elements (of several tiles at once) of a reduce or scan.
enum { MaxCombined = 8 };
typedef struct Combiner {
  MlirOperation op;
  intptr_t count; // tiles
  MlirType elements[MaxCombined];
} Combiner;
bool gpuCombinerOf(MlirOperation op, intptr_t count, Combiner *combiner); // false after a diagnostic
bool gpuCombine(Gpu *g, const Combiner *combiner, const MlirValue *left, const MlirValue *right, MlirValue *result);
MlirValue gpuNeutral(Gpu *g, const Combiner *combiner, intptr_t input); // null: not known
