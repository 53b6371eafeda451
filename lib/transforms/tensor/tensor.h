// The passes of this room.
#pragma once

#include "lib/ir/pass.h"

extern const MlirExtPassDefinition tileBindWeightsPass;
extern const MlirExtPassDefinition tileCheckKernelPlacesPass;
extern const MlirExtPassDefinition tileCheckPlacesPass;
extern const MlirExtPassDefinition tileCheckSizesPass;
extern const MlirExtPassDefinition tileChooseDataLayoutsPass;
extern const MlirExtPassDefinition tileExpandGathersPass;
extern const MlirExtPassDefinition tileFindLowBitPass;
extern const MlirExtPassDefinition tileFoldConstantLayoutsPass;
extern const MlirExtPassDefinition tileScheduleFormatsPass;
extern const MlirExtPassDefinition tileSortGroupsPass;
extern const MlirExtPassDefinition tileSumOnSlicesPass;
extern const MlirExtPassDefinition tileTurnFactorsPass;
