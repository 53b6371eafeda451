// Passes about where values live. Each is described in the banner of its file.
#ifndef TESSERA_TRANSFORMS_MEMORY_H
#define TESSERA_TRANSFORMS_MEMORY_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileAddIntoEntriesPass;
extern const MlirExtPassDefinition tileBufferizeHostPass;

#endif
