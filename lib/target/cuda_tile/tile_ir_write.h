// A module of cuda_tile.entry ops as bytecode of CUDA Tile IR.
//
//   TileArtifact artifact = {NULL};
//   bool ok = tileIrWrite(module, 1, &artifact, &error);   // version 13.1; 2 to 5: 13.2 to 13.5
#pragma once

#include "lib/target/target.h"

// False after an error: at the op, if the version cannot say it. Without debug info.
bool tileIrWrite(MlirOperation module, int version, TileArtifact *artifact, tessera_error_t *error);
