// --tile-to-nvvm-pipeline{chip=sm_80}: linalg on tensors, a tile graph or tile kernels -> a gpu.module in the nvvm and
// llvm dialects for one NVIDIA chip, and the host's part in the llvm dialect. Kernels that are scheduled already stay
// as they are. Its stages: gpu.c.
#include "lib/pipelines/gpu.h"
#include "lib/pipelines/pipelines.h"
#include "lib/pipelines/stages.h"

static bool build(MlirExtPass options, MlirStringCallback append, void *userData) {
  return tileGpuPipelineBuild("convert-tile-to-nvvm", options, append, userData);
}

static const MlirExtPassOption options[] = {
    {"chip", "the chip: a machine file of instruction set ptx", MlirExtOption_String, "sm_80"},
    {"buckets", TILE_BUCKETS_HELP, MlirExtOption_String, ""},
};

const MlirExtPipelineDefinition tileToNvvmPipeline = {
    .argument = "tile-to-nvvm-pipeline",
    .summary = "Lower linalg, tile graphs and tile kernels to a gpu.module for an NVIDIA chip, and the host's part",
    .numOptions = sizeof options / sizeof *options,
    .options = options,
    .build = build,
};
