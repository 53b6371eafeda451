// The rocdl dialect as a vocabulary of the engine (lib/conversion/tile_to_gpu/gpu.h).
#ifndef TESSERA_CONVERSION_TILE_TO_ROCDL_ROCDL_H
#define TESSERA_CONVERSION_TILE_TO_ROCDL_ROCDL_H

#include "lib/conversion/tile_to_gpu/gpu.h"

extern const GpuVocabulary tileRocdlVocabulary;
bool tileRocdlMma(TileBuilder *builder, MlirOperation at, const GpuProduct *product); // matrix_core.c

#endif
