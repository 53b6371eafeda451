// The pass from upstream's sparse_tensor dialect to kernels that walk levels. Described in the banner of its file.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition sparseTensorToTilePass;
