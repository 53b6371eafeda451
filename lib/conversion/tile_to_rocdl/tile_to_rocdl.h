// convert-tile-to-rocdl: scheduled tile kernels -> a gpu.module in the rocdl and llvm dialects.
#ifndef TESSERA_CONVERSION_TILE_TO_ROCDL_TILE_TO_ROCDL_H
#define TESSERA_CONVERSION_TILE_TO_ROCDL_TILE_TO_ROCDL_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileToRocdlPass;

#endif
