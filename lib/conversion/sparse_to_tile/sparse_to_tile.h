// convert-sparse-to-tile: the sparse dialect to component tensors and tile kernels (sparse_to_tile.c).
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition sparseToTilePass;
