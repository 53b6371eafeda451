// Passes that keep programs away from faults of the upstream passes that our pipelines run. Each is described in the
// banner of its file.
#ifndef TESSERA_TRANSFORMS_UPSTREAM_FAULTS_H
#define TESSERA_TRANSFORMS_UPSTREAM_FAULTS_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileAvoidUpstreamFaultsPass;
extern const MlirExtPassDefinition tileEliminateEmptyTensorsPass;

#endif
