// Passes that decide how a computation runs on a machine. Each is described in the banner of its file.
#pragma once

#include "lib/capi/pass.h"

// The option `policy` of a pass ahead of tile-construct-tiles, one row.
#define TILE_POLICY_OPTION                                                                                             \
  {"policy", "the policy of tile-construct-tiles; what `construct` chose is kept", MlirExtOption_String, "construct"}

extern const MlirExtPassDefinition tileConstructTilesPass;
extern const MlirExtPassDefinition tileMergeDimensionsPass;
extern const MlirExtPassDefinition tileSpecializeSizesPass;
extern const MlirExtPassDefinition tileSplitReductionsPass;
extern const MlirExtPassDefinition tileCoScheduleKernelsPass;
extern const MlirExtPassDefinition tileMergeParallelKernelsPass;
extern const MlirExtPassDefinition tileMoveControlFlowToDevicePass;
extern const MlirExtPassDefinition tileTurnRecursionIntoLoopsPass;
extern const MlirExtPassDefinition tileSetMachinePass;
