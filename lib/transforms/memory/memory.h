// Passes about where values live. Each is described in the banner of its file.
#pragma once

#include "lib/ir/builder.h"
#include "lib/ir/pass.h"

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

// What check_allocation_sizes.c builds: a product of sizes, INT64_MAX where it has more bits or a size is negative, and
// the check of an allocation's sizes ahead of it. The module then needs the functions that they call.
MlirValue tileBuildSizeProduct(TileBuilder *builder, MlirValue product, MlirValue size);
void tileBuildAllocationCheck(MlirOperation allocation);
void tileDeclareSizeChecks(MlirOperation module);
