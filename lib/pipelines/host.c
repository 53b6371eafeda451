// --tile-to-host-pipeline: the host's part of a program whose kernels are in gpu.modules -> the LLVM dialect.
//
// Expects: host functions that free what they allocate, and kernels that are llvm.funcs of gpu.modules: what a person
// writes, or other compilers make. (Upstream's deallocation pass takes no gpu.launch_func.) Leaves: the gpu.modules as
// they are but for their last clean-up; calls of the runtime.
#include "lib/pipelines/pipelines.h"
#include "lib/pipelines/stages.h"

#include <stdio.h>

static const char *const toCalls = "convert-gpu-launch-to-runtime";

void tileHostStagesAppend(MlirStringCallback append, void *userData) {
  char instructions[512];
  snprintf(instructions, sizeof instructions, tileStageToInstructions, "false");
  const char *const stages[] = {toCalls, tileStageToLoops, instructions, tileStageToLlvm};
  tileStagesAppend(stages, sizeof stages / sizeof *stages, append, userData);
}

static bool build(MlirExtPass options, MlirStringCallback append, void *userData) {
  append(mlirStringRefCreateFromCString("tile-bufferize-host,"), userData);
  tileHostStagesAppend(append, userData);
  return true;
}

const MlirExtPipelineDefinition tileToHostPipeline = {
    .argument = "tile-to-host-pipeline",
    .summary = "Lower the host's part of a program whose kernels are in gpu.modules to the LLVM dialect",
    .build = build,
};
