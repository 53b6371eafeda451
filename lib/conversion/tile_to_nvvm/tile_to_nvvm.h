// convert-tile-to-nvvm: scheduled tile kernels -> a gpu.module in the nvvm and llvm dialects.
#ifndef TESSERA_CONVERSION_TILE_TO_NVVM_TILE_TO_NVVM_H
#define TESSERA_CONVERSION_TILE_TO_NVVM_TILE_TO_NVVM_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileToNvvmPass;

#endif
