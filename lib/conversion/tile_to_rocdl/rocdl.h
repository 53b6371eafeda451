// The rocdl dialect as a vocabulary of the engine (lib/conversion/tile_to_gpu/gpu.h).
#pragma once

#include "lib/conversion/tile_to_gpu/gpu.h"

extern const GpuVocabulary tileRocdlVocabulary;
bool tileRocdlMma(TileBuilder *builder, MlirOperation at, const GpuProduct *product); // matrix_core.c
