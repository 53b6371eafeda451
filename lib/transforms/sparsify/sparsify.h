// Passes that make programs sparse, and check that they are. Each is described in the banner of its file.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition sparseChooseMicroTilesPass;
extern const MlirExtPassDefinition sparseExpandPrunePass;
extern const MlirExtPassDefinition sparseFindAttributesPass;
extern const MlirExtPassDefinition sparseFindMasksPass;
extern const MlirExtPassDefinition sparseGroupRowsPass;
extern const MlirExtPassDefinition sparseFoldConstantsPass;
extern const MlirExtPassDefinition sparsePackNmPass;
extern const MlirExtPassDefinition sparsePrintPermutableAxesPass;
extern const MlirExtPassDefinition sparsePropagateAttributesPass;
extern const MlirExtPassDefinition sparsePruneNmPass;
extern const MlirExtPassDefinition sparseSearchPermutationPass;
extern const MlirExtPassDefinition sparseRuntimeCheckPass;
extern const MlirExtPassDefinition sparseShrinkTensorsPass;
