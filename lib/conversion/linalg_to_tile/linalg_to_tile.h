// linalg on tensors -> the tile graph. What they expect and leave stands in the banners of linalg_to_tile.c and
// fuse_attention.c.
#ifndef TESSERA_CONVERSION_LINALG_TO_TILE_H
#define TESSERA_CONVERSION_LINALG_TO_TILE_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileLinalgToTilePass;

#endif
