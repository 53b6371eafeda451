// Passes that merge computations. Each is described in the banner of its file.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileGroupOpsPass;
extern const MlirExtPassDefinition tileFuseAtMemoryLevelPass;
extern const MlirExtPassDefinition tileShareKernelsPass;
extern const MlirExtPassDefinition tileSkipPaddingPass;
