// linalg on tensors -> the tile graph. What they expect and leave stands in the banners of linalg_to_tile.c and
// group_attention.c.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileLinalgToTilePass;
