// tile.kernel -> func.func on memref, vector, scf, arith, math. The functions' ABI is in README.md.
#ifndef TESSERA_CONVERSION_TILE_TO_VECTOR_H
#define TESSERA_CONVERSION_TILE_TO_VECTOR_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileToVectorPass;

#endif
