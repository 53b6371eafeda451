// Passes between upstream's sparse_tensor dialect and ours. Each is described in the banner of its file.
#ifndef TESSERA_CONVERSION_SPARSE_TENSOR_TO_SPARSE_H
#define TESSERA_CONVERSION_SPARSE_TENSOR_TO_SPARSE_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition sparseTensorToSparsePass;
extern const MlirExtPassDefinition sparseToSparseTensorPass;

#endif
