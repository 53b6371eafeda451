// Passes that make programs sparse, and check that they are. Each is described in the banner of its file.
#ifndef TESSERA_TRANSFORMS_SPARSIFY_H
#define TESSERA_TRANSFORMS_SPARSIFY_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition sparseFoldConstantsPass;
extern const MlirExtPassDefinition sparsePackNmPass;
extern const MlirExtPassDefinition sparsePruneNmPass;
extern const MlirExtPassDefinition sparseRuntimeCheckPass;

#endif
