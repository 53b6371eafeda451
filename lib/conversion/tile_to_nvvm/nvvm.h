// The nvvm dialect as a vocabulary of the engine (lib/conversion/tile_to_gpu/gpu.h).
#pragma once

#include "lib/conversion/tile_to_gpu/gpu.h"

extern const GpuVocabulary tileNvvmVocabulary;
extern const GpuEngines tileNvvmEngines;                                             // engines.c
bool tileNvvmMma(TileBuilder *builder, MlirOperation at, const GpuProduct *product); // mma_sync.c
