// Passes that keep programs away from faults of the upstream passes that our pipelines run. Each is described in the
// banner of its file.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileAvoidUpstreamFaultsPass;
extern const MlirExtPassDefinition tileEliminateEmptyTensorsPass;
extern const MlirExtPassDefinition tileFlattenConstantsPass;
extern const MlirExtPassDefinition tileGeneralizeNamedOpsPass;

// A linalg.pack or linalg.unpack as linalg.generic (generalize_relayouts.c). False after a diagnostic.
bool tileGeneralizeRelayout(MlirOperation op);
