// --tile-to-host-pipeline: the host's part of a program whose kernels are in gpu.modules -> the LLVM dialect.
//
// Expects: host functions that free what they allocate, and kernels that are llvm.funcs of gpu.modules: what a person
// writes, or other compilers make. (Upstream's deallocation pass takes no gpu.launch_func.) Leaves: the gpu.modules as
// they are but for their last clean-up; calls of the runtime.
#include "lib/pipelines/pipelines.h"
#include "lib/pipelines/stages.h"
#include "upstream/func.h"

const TilePipelineStep tileStageToCalls[] = {{"convert-gpu-launch-to-runtime"}, {NULL}};

const TilePipelineStep tileStageOfHostBuffers[] = {
    {"tile-unpack-narrow-elements", {{"all", "true"}}, .on = funcFuncOpName}, {"tile-bufferize-host"}, {NULL}};

static const TilePipelineStage stages[] = {
    {tileStageOfPrograms},
    {tileStageOfHostBuffers},
    {tileStageToCalls},
    {tileStageToLoops},
    {tileStageToInstructions},
    {tileStageToLlvm},
    {NULL},
};

static bool build(MlirExtPass options, MlirStringCallback append, void *userData) {
  return tilePipelinePrint(stages, NULL, options, append, userData);
}

const MlirExtPipelineDefinition tileToHostPipeline = {
    .argument = "tile-to-host-pipeline",
    .summary = "Lower the host's part of a program whose kernels are in gpu.modules to the LLVM dialect",
    .build = build,
};
