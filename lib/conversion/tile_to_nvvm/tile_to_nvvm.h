// convert-tile-to-nvvm: scheduled tile kernels -> a gpu.module in the nvvm and llvm dialects.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileToNvvmPass;
