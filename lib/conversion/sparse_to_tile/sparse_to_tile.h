// convert-sparse-to-tile: the sparse dialect to component tensors and tile kernels (sparse_to_tile.c).
#ifndef TESSERA_CONVERSION_SPARSE_TO_TILE_H
#define TESSERA_CONVERSION_SPARSE_TO_TILE_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition sparseToTilePass;

#endif
