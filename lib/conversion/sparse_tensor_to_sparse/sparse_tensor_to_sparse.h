// Passes between upstream's sparse_tensor dialect and ours. Each is described in the banner of its file.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition sparseTensorToSparsePass;
extern const MlirExtPassDefinition sparseToSparseTensorPass;
