// Ops that compute across elements, one file each.
#pragma once

#include "lib/conversion/tile_to_gpu/engine.h"

MlirValue gpuRoundToTf32(Gpu *g, MlirValue value); // of f32, to nearest, ties to even; elementwise.c
bool gpuLowerMma(Gpu *g, MlirOperation op);
// Zeros in the registers of the accumulator of `op`, a tile.mma that a loop begins with, by products of zeros; false:
// the machine has no such instruction, or it saves nothing.
bool gpuZeroSums(Gpu *g, MlirOperation op, MlirValue *registers);
bool gpuLowerFma(Gpu *g, MlirOperation op);
bool gpuLowerMmaScaled(Gpu *g, MlirOperation op);

// scales.c: the scales of a tile.mma_scaled, which each thread has for its accumulators.
typedef struct GpuScale {
  MlirType element;
  const MlirValue *registers;
  MlirValue *factor[2]; // f32, by register: two numbers whose product is the scale; null where not needed yet
  int64_t parts;        // 2: the registers are such factors already
  intptr_t **tables;    // by block and part: which of the registers each register of the accumulator takes
} GpuScale;

typedef struct GpuScales {
  int64_t block;  // elements along k that share a scale
  uint32_t count; // blocks
  GpuScale side[2];
} GpuScales;

bool gpuReadScales(Gpu *g, MlirOperation op, GpuScales *scales);
// `to` + `sum` times both scales of a block of k, for a register of the accumulator. All are f32.
MlirValue gpuAddScaled(Gpu *g, GpuScales *scales, uint32_t block, intptr_t reg, MlirValue sum, MlirValue to);

bool gpuLowerReduce(Gpu *g, MlirOperation op);
bool gpuLowerScan(Gpu *g, MlirOperation op);
bool gpuLowerRandom(Gpu *g, MlirOperation op);
bool gpuLowerConvertType(Gpu *g, MlirOperation op);
bool gpuLowerBitcast(Gpu *g, MlirOperation op);
