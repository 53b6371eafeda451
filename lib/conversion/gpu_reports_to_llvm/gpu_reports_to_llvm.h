// What kernels in upstream's dialects print and assert, as calls of the device's functions.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition gpuReportsToLlvmPass;
