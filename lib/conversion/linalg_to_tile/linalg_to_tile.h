// linalg on tensors -> the tile graph. What it expects and leaves stands in the .c file's banner.
#ifndef TESSERA_CONVERSION_LINALG_TO_TILE_H
#define TESSERA_CONVERSION_LINALG_TO_TILE_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileLinalgToTilePass;

#endif
