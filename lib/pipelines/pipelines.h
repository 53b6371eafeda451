// The named orders of passes.
#ifndef TESSERA_PIPELINES_H
#define TESSERA_PIPELINES_H

#include "lib/capi/pass.h"

extern const MlirExtPipelineDefinition tileToCpuPipeline;
extern const MlirExtPipelineDefinition tileToHostPipeline;
extern const MlirExtPipelineDefinition tileToNvvmPipeline;
extern const MlirExtPipelineDefinition tileToRocdlPipeline;

#endif
