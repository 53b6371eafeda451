// Reductions over the threads of a block, in upstream's dialect gpu.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition gpuReduceToThreadsPass;
