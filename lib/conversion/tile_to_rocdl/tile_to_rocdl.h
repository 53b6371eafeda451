// convert-tile-to-rocdl: scheduled tile kernels -> a gpu.module in the rocdl and llvm dialects.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileToRocdlPass;
