// Passes that decide where the elements of a tile lie. Each is described in the banner of its file.
#ifndef TESSERA_TRANSFORMS_LAYOUT_H
#define TESSERA_TRANSFORMS_LAYOUT_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileAssignLayoutsPass;
extern const MlirExtPassDefinition tilePrintLayoutsPass;

#endif
