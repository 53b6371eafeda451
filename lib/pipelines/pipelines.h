// The named orders of passes.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPipelineDefinition tileToCpuPipeline;
extern const MlirExtPipelineDefinition tileToHostPipeline;
extern const MlirExtPipelineDefinition tileGpuToNvvmPipeline;
extern const MlirExtPipelineDefinition tileGpuToRocdlPipeline;
extern const MlirExtPipelineDefinition tileToNvvmPipeline;
extern const MlirExtPipelineDefinition tileToRocdlPipeline;
extern const MlirExtPipelineDefinition tileToCSourcePipeline;
extern const MlirExtPipelineDefinition tileToCudaSourcePipeline;
extern const MlirExtPipelineDefinition tileToHipSourcePipeline;
