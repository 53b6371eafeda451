// Passes that move tiles through shared memory and ahead of their use. Each is described in the banner of its file.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileSpecializeWarpsPass;
extern const MlirExtPassDefinition tileMakePersistentPass;
extern const MlirExtPassDefinition tileFormClustersPass;
extern const MlirExtPassDefinition tileSpecializeStoresPass;
extern const MlirExtPassDefinition tileAlternatePartitionsPass;
extern const MlirExtPassDefinition tileOverlapProductsPass;
extern const MlirExtPassDefinition tileStageInSharedMemoryPass;
extern const MlirExtPassDefinition tilePipelineLoopsPass;
extern const MlirExtPassDefinition tileHoistCopiesPass;
extern const MlirExtPassDefinition tileReduceAtomicsPass;
extern const MlirExtPassDefinition tileExchangeInSharedMemoryPass;
extern const MlirExtPassDefinition tilePlanSharedMemoryPass;
extern const MlirExtPassDefinition tileInsertBarriersPass;
extern const MlirExtPassDefinition tileCountWaitsPass;
extern const MlirExtPassDefinition tilePeelMasksPass;
extern const MlirExtPassDefinition tileNarrowIndicesPass;
extern const MlirExtPassDefinition tileChooseAccessesPass;
extern const MlirExtPassDefinition tileOrderSharedLoadsPass;
