// tile.kernel -> func.func on memref, vector, scf, arith, math. The functions' ABI is in README.md.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileToVectorPass;
