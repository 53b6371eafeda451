// --tile-to-nvvm-pipeline{chip=sm_80}: linalg on tensors, a tile graph or tile kernels -> a gpu.module in the nvvm and
// llvm dialects for one NVIDIA chip, and the host's part in the llvm dialect. Kernels that are scheduled already stay
// as they are.
#include "lib/pipelines/pipelines.h"
#include "lib/pipelines/stages.h"
#include "upstream/gpu.h"

static const TilePipelineStep toMachine[] = {
    {"tile-set-machine", {{"chip", .from = TilePipeline_Chip}, {"otherwise", "sm_80"}}},
    {NULL},
};

static const TilePipelineStep toDevice[] = {
    {"convert-tile-to-nvvm"},
    {"canonicalize", .on = gpuGPUModuleOpName},
    {"cse", .on = gpuGPUModuleOpName},
    {NULL},
};

static const TilePipelineStage stages[] = {
    {toMachine},
    {tileStageOfTensors, .unless = TilePipeline_Bufferized},
    {tileStageOfBuckets, .given = TilePipeline_Buckets, .unless = TilePipeline_Bufferized},
    {tileStageToTiles, .unless = TilePipeline_Bufferized},
    {tileStageToSplitReductions, .unless = TilePipeline_Bufferized},
    {tileStageToTiles, .unless = TilePipeline_Bufferized},
    {tileStageToKernels, .unless = TilePipeline_Bufferized},
    {tileStageToBuffers, .unless = TilePipeline_Bufferized},
    {tileStageOfOwnership, .unless = TilePipeline_Bufferized},
    {tileStageOfBuffers},
    {tileStageToScheduled},
    {toDevice},
    {tileStageOfDevice},
    {tileStageToCalls},
    {tileStageToLoops},
    {tileStageToInstructions},
    {tileStageToLlvm},
    {tileStageToForgetMachine},
    {NULL},
};

static bool build(MlirExtPass options, MlirStringCallback append, void *userData) {
  return tilePipelinePrint(stages, options, append, userData);
}

static const MlirExtPassOption options[] = {
    TILE_PIPELINE_CHIP("sm_80"),
    TILE_PIPELINE_BUCKETS,
    TILE_PIPELINE_BUFFERIZED,
    TILE_PIPELINE_POLICY,
};

const MlirExtPipelineDefinition tileToNvvmPipeline = {
    .argument = "tile-to-nvvm-pipeline",
    .summary = "Lower linalg, tile graphs and tile kernels to a gpu.module for an NVIDIA chip, and the host's part",
    .numOptions = sizeof options / sizeof *options,
    .options = options,
    .build = build,
};
