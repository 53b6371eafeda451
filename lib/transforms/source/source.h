// Passes ahead of source text. Each is described in the banner of its file.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileOutlineFunctionsPass;
extern const MlirExtPassDefinition tileRecordKernelsPass;
