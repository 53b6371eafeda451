// Passes that merge computations. Each is described in the banner of its file.
#ifndef TESSERA_TRANSFORMS_FUSE_H
#define TESSERA_TRANSFORMS_FUSE_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileFuseAttentionPass;
extern const MlirExtPassDefinition tileGroupOpsPass;

#endif
