// --tile-to-nvvm-pipeline{chip=sm_80} and --tile-to-rocdl-pipeline{chip=gfx942}: linalg on tensors, a tile graph or
// tile kernels -> a gpu.module in the dialect of one GPU and in llvm, and the host's part in the llvm dialect. Kernels
// that are scheduled already stay as they are.
//
// Both pipelines are one array of stages. They differ in the conversion and in the default chip.
#include "dialects/tile/ops.h"
#include "lib/pipelines/pipelines.h"
#include "lib/pipelines/stages.h"
#include "upstream/func.h"
#include "upstream/gpu.h"

// convert-assert-to-runtime stands ahead of upstream's convert-cf-to-llvm, which takes the whole module and would end
// the process instead. Alignment and strides are known when everything is a buffer: kernels access memory as wide as
// these allow. Products become TMA and wgmma where the
// chip has them. Every tile gets a layout and every product an instruction of the chip, whose operands are copied ahead
// of their use. Then memory is placed, and barriers and waits become explicit. Layouts, places, barriers and waits that
// are there already stay.
static const TilePipelineStep toScheduled[] = {
    {"convert-assert-to-runtime"},
    {"tile-assume-launch-facts", {{"entry-alignment", "16"}}},
    {"canonicalize", .on = tileKernelOpName},
    {"cse", .on = tileKernelOpName},
    {"tile-specialize-warps", .on = tileKernelOpName},
    {"tile-make-persistent"},
    {"tile-overlap-products", .on = tileKernelOpName},
    {"tile-assign-layouts", .on = tileKernelOpName},
    {"tile-stage-in-shared-memory", .on = tileKernelOpName},
    {"tile-pipeline-loops", .on = tileKernelOpName},
    {"tile-form-clusters"},
    {"tile-specialize-stores", .on = tileKernelOpName},
    {"tile-alternate-partitions", .on = tileKernelOpName},
    {"canonicalize", .on = tileKernelOpName},
    {"cse", .on = tileKernelOpName},
    {"tile-exchange-in-shared-memory", .on = tileKernelOpName},
    {"tile-plan-shared-memory", .on = tileKernelOpName},
    {"tile-insert-barriers", .on = tileKernelOpName},
    {"tile-count-waits", .on = tileKernelOpName},
    {"tile-peel-masks", .on = tileKernelOpName},
    {"tile-narrow-indices", .on = tileKernelOpName},
    {"tile-choose-accesses", .on = tileKernelOpName},
    {NULL},
};

static const TilePipelineStep toDevice[] = {
    {.from = TilePipeline_Conversion},
    {"canonicalize", .on = gpuGPUModuleOpName},
    {"cse", .on = gpuGPUModuleOpName},
    {NULL},
};

// Narrow floats compute in f32 and round at every op. Functions become arithmetic, exactly as on the CPU, and so do
// conversions without an instruction: results agree to half an ulp.
const TilePipelineStep tileStageOfDeviceFloats[] = {
    {"math-extend-to-supported-types", {{"extra-types", "f16,bf16"}, {"target-type", "f32"}}, .on = gpuGPUModuleOpName},
    {"arith-emulate-unsupported-floats",
     {{"source-types", TILE_NARROW_FLOATS}, {"target-type", "f32"}},
     .on = gpuGPUModuleOpName},
    {"tile-keep-roundings", .on = gpuGPUModuleOpName},
    {NULL},
};
const TilePipelineStep tileStageOfDeviceMath[] = {
    {"tile-expand-math", {{"f64", "true"}}, .on = gpuGPUModuleOpName},
    {"tile-expand-float-conversions", .on = gpuGPUModuleOpName},
    {NULL},
};

// Two numbers of f16 at a time. In sources they are written one by one.
static const TilePipelineStep toPairs[] = {{"tile-pair-halves", .on = gpuGPUModuleOpName}, {NULL}};

// A device function in the GPU's dialect, llvm, and arith, math and scf on scalars becomes llvm alone.
const TilePipelineStep tileStageOfDevice[] = {
    {"convert-scf-to-cf", .on = gpuGPUModuleOpName},          {"arith-expand", .on = gpuGPUModuleOpName},
    {"convert-math-to-llvm", .on = gpuGPUModuleOpName},       {"convert-arith-to-llvm", .on = gpuGPUModuleOpName},
    {"convert-ub-to-llvm", .on = gpuGPUModuleOpName},         {"convert-cf-to-llvm"},
    {"reconcile-unrealized-casts", .on = gpuGPUModuleOpName}, {"cse", .on = gpuGPUModuleOpName},
    {"tile-order-shared-loads", .on = gpuGPUModuleOpName},    {NULL},
};

// Norms and softmax with what surrounds them are one kernel each.
static const TilePipelineStep toRows[] = {
    {"tile-fuse-at-memory-level", {{"products", "false"}}},
    {NULL},
};

// Products of narrow elements get factors that instructions of warpgroups take.
static const TilePipelineStep toFactors[] = {
    {"tile-turn-factors", .on = funcFuncOpName},
    {NULL},
};

// A stack of frames in place of calls, so that recursion can be part of one launch.
static const TilePipelineStep toLoops[] = {
    {"tile-turn-recursion-into-loops", {{"persistent", .from = TilePipeline_Persistent}}, .on = funcFuncOpName},
    {"inline"},
    {NULL},
};

// Products of one sum run side by side, which pays in one launch: apart each cell has a launch more. persistent=never
// has the step too, so that it gives the bits of one launch.
static const TilePipelineStep toSlices[] = {
    {"tile-sum-on-slices", .on = funcFuncOpName},
    {NULL},
};

// Source text shows what kernels were, and names the functions that they call.
static const TilePipelineStep toTexts[] = {{"tile-record-kernels"}, {NULL}};
static const TilePipelineStep toFunctions[] = {{"tile-outline-functions", .on = gpuGPUModuleOpName}, {NULL}};
static const TilePipelineStep toShortDevice[] = {
    {"tile-expand-extended", .on = gpuGPUModuleOpName},
    {"canonicalize", .on = gpuGPUModuleOpName},
    {"cse", .on = gpuGPUModuleOpName},
    {NULL},
};

static const TilePipelineStage stages[] = {
    {tileStageOfPrograms},
    {tileStageToMachine},
    {toLoops, .given = TilePipeline_Persistent, .unless = TilePipeline_Bufferized},
    {tileStageOfOneFunction, .given = TilePipeline_Fusion, .unless = TilePipeline_Bufferized},
    {toSlices, .given = TilePipeline_Persistent, .unless = TilePipeline_Bufferized},
    {tileStageOfTensors, .unless = TilePipeline_Bufferized},
    {tileStageOfGroups, .given = TilePipeline_Fusion, .unless = TilePipeline_Bufferized},
    {toRows, .without = TilePipeline_Fusion, .unless = TilePipeline_Bufferized},
    {toFactors, .unless = TilePipeline_Bufferized},
    {tileStageOfBuckets, .given = TilePipeline_Buckets, .unless = TilePipeline_Bufferized},
    {tileStageToTiles, .unless = TilePipeline_Bufferized},
    {tileStageToSplitReductions, .unless = TilePipeline_Bufferized},
    {tileStageToTiles, .unless = TilePipeline_Bufferized},
    {tileStageToKernels, .unless = TilePipeline_Bufferized},
    {tileStageToBuffers, .unless = TilePipeline_Bufferized},
    {tileStageToAlternate, .given = TilePipeline_Persistent, .unless = TilePipeline_Bufferized},
    {tileStageOfOwnership, .unless = TilePipeline_Bufferized},
    {tileStageOfBuffers},
    {tileStageToCoSchedule, .given = TilePipeline_Persistent},
    {tileStageToMerge, .given = TilePipeline_Fusion},
    {toTexts, .given = TilePipeline_Source},
    {toScheduled},
    {tileStageToPlanDeviceMemory, .given = TilePipeline_Fusion},
    {toDevice},
    {toFunctions, .given = TilePipeline_Source},
    {tileStageOfDeviceFloats},
    {toPairs, .without = TilePipeline_Source},
    {tileStageOfDeviceMath},
    {toShortDevice, .given = TilePipeline_Source},
    {tileStageOfDevice, .without = TilePipeline_Source},
    {tileStageToCalls, .without = TilePipeline_Source},
    {tileStageToLoops, .without = TilePipeline_Source},
    {tileStageToInstructions, .without = TilePipeline_Source},
    {tileStageToLlvm, .without = TilePipeline_Source},
    {tileStageToForgetMachine},
    {NULL},
};

#define NVVM_CHIP "sm_80"
#define ROCDL_CHIP "gfx942"

static const TilePipelineConstants nvvm = {.conversion = "convert-tile-to-nvvm", .chip = NVVM_CHIP};
static const TilePipelineConstants rocdl = {.conversion = "convert-tile-to-rocdl", .chip = ROCDL_CHIP};

static bool buildNvvm(MlirExtPass options, MlirStringCallback append, void *userData) {
  return tilePipelinePrint(stages, &nvvm, options, append, userData);
}

static bool buildRocdl(MlirExtPass options, MlirStringCallback append, void *userData) {
  return tilePipelinePrint(stages, &rocdl, options, append, userData);
}

static const TilePipelineConstants cuda = {"convert-tile-to-nvvm", NVVM_CHIP, .source = true};
static const TilePipelineConstants hip = {"convert-tile-to-rocdl", ROCDL_CHIP, .source = true};

static bool buildCuda(MlirExtPass options, MlirStringCallback append, void *userData) {
  return tilePipelinePrint(stages, &cuda, options, append, userData);
}

static bool buildHip(MlirExtPass options, MlirStringCallback append, void *userData) {
  return tilePipelinePrint(stages, &hip, options, append, userData);
}

#define GPU_OPTIONS(chip)                                                                                              \
  {                                                                                                                    \
    TILE_PIPELINE_CHIP(chip), TILE_PIPELINE_BUCKETS, TILE_PIPELINE_BUFFERIZED, TILE_PIPELINE_CHOICE(policy),           \
        TILE_PIPELINE_CHOICE(fusion), TILE_PIPELINE_CHOICE(persistent), TILE_PIPELINE_CHOICE(sparsity), {              \
      NULL                                                                                                             \
    }                                                                                                                  \
  }

const MlirExtPipelineDefinition tileToNvvmPipeline = {
    .argument = "tile-to-nvvm-pipeline",
    .summary = "Lower linalg, tile graphs and tile kernels to a gpu.module for an NVIDIA chip, and the host's part",
    .options = (const MlirExtPassOption[])GPU_OPTIONS(NVVM_CHIP),
    .build = buildNvvm,
};

const MlirExtPipelineDefinition tileToRocdlPipeline = {
    .argument = "tile-to-rocdl-pipeline",
    .summary = "Lower linalg, tile graphs and tile kernels to a gpu.module for an AMD chip, and the host's part",
    .options = (const MlirExtPassOption[])GPU_OPTIONS(ROCDL_CHIP),
    .build = buildRocdl,
};

const MlirExtPipelineDefinition tileToCudaSourcePipeline = {
    .argument = "tile-to-cuda-source-pipeline",
    .summary = "As tile-to-nvvm-pipeline, up to the level at which kernels are written as CUDA C++",
    .options = (const MlirExtPassOption[])GPU_OPTIONS(NVVM_CHIP),
    .build = buildCuda,
};

const MlirExtPipelineDefinition tileToHipSourcePipeline = {
    .argument = "tile-to-hip-source-pipeline",
    .summary = "As tile-to-rocdl-pipeline, up to the level at which kernels are written as HIP",
    .options = (const MlirExtPassOption[])GPU_OPTIONS(ROCDL_CHIP),
    .build = buildHip,
};
