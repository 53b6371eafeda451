// Passes that decide where the elements of a tile lie. Each is described in the banner of its file.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileAssignLayoutsPass;
extern const MlirExtPassDefinition tilePrintLayoutsPass;
