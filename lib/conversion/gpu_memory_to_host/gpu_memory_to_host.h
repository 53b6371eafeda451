// Device memory and tokens of host functions, where host and device share one memory.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition gpuMemoryToHostPass;
