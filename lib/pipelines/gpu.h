// What the pipelines of GPUs share: all but the name of the conversion.
#ifndef TESSERA_PIPELINES_GPU_H
#define TESSERA_PIPELINES_GPU_H

#include "lib/capi/pass.h"

// linalg, tile graphs or tile kernels -> a gpu.module, by `conversion` ("convert-tile-to-nvvm") for the option `chip`,
// and the host's part.
bool tileGpuPipelineBuild(const char *conversion, MlirExtPass options, MlirStringCallback append, void *userData);

#endif
