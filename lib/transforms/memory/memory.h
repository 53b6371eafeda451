// Passes about where values live. Each is described in the banner of its file.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileAddIntoEntriesPass;
extern const MlirExtPassDefinition tileAssumeLaunchFactsPass;
extern const MlirExtPassDefinition tileBufferizeHostPass;
extern const MlirExtPassDefinition tileCheckAllocationSizesPass;
extern const MlirExtPassDefinition tileCopyStridedClonesPass;
extern const MlirExtPassDefinition tileFoldZeroSizesPass;
extern const MlirExtPassDefinition tileAlternateCarriedBuffersPass;
extern const MlirExtPassDefinition tileFixBranchBuffersPass;
extern const MlirExtPassDefinition tileKeepOwnFreesPass;
extern const MlirExtPassDefinition tileLinalgOfBuffersPass;
extern const MlirExtPassDefinition tileMoveBf16AsBitsPass;
extern const MlirExtPassDefinition tileOrderByTokensPass;
extern const MlirExtPassDefinition tilePlanMemoryPass;
extern const MlirExtPassDefinition tileRaiseGathersToViewsPass;
extern const MlirExtPassDefinition tileRotateWhileLoopsPass;
