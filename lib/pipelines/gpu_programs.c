// --tile-gpu-to-nvvm-pipeline{chip=sm_80} and --tile-gpu-to-rocdl-pipeline{chip=gfx942}: a program that launches
// kernels written in upstream's dialects (gpu.launch, gpu.func, with memref, vector, linalg, nvgpu or amdgpu in them)
// -> gpu.modules in the dialect of one GPU and in llvm, and the host's part in the LLVM dialect.
//
// Memrefs travel as upstream's descriptors. Arithmetic goes our way before upstream's conversion takes the rest: it
// would make calls of device libraries of math.
#include "lib/pipelines/pipelines.h"
#include "lib/pipelines/stages.h"
#include "upstream/gpu.h"

// nvgpu before outlining: its types are not taken as parameters.
static const TilePipelineStep toNvvmKernels[] = {
    {"convert-nvgpu-to-nvvm"},
    {"gpu-kernel-outlining"},
    {"convert-gpu-reports-to-llvm", .on = gpuGPUModuleOpName},
    {NULL},
};
static const TilePipelineStep toRocdlKernels[] = {
    {"gpu-kernel-outlining"},
    {"convert-gpu-reports-to-llvm", {{"private-space", "5"}}, .on = gpuGPUModuleOpName},
    {"convert-amdgpu-to-rocdl", {{"chipset", .from = TilePipeline_Chip}}, .on = gpuGPUModuleOpName},
    {NULL},
};

static const TilePipelineStep toScalars[] = {
    {"convert-gpu-reduce-to-threads", .on = gpuGPUModuleOpName},
    {"convert-linalg-to-loops", .on = gpuGPUModuleOpName},
    {"convert-vector-to-scf", {{"full-unroll", "true"}}, .on = gpuGPUModuleOpName},
    {"lower-affine", .on = gpuGPUModuleOpName},
    {NULL},
};

static const TilePipelineStep toBlocks[] = {
    {"convert-scf-to-cf", .on = gpuGPUModuleOpName},       {"arith-expand", .on = gpuGPUModuleOpName},
    {"expand-strided-metadata", .on = gpuGPUModuleOpName}, {"lower-affine", .on = gpuGPUModuleOpName},
    {"convert-vector-to-llvm", .on = gpuGPUModuleOpName},  {NULL},
};

// Canonical: an address that passed through a descriptor is the parameter again.
static const TilePipelineStep toNvvm[] = {
    {"convert-gpu-to-nvvm", {{"has-redux", "true"}}, .on = gpuGPUModuleOpName},
    {"convert-index-to-llvm", .on = gpuGPUModuleOpName},
    {"canonicalize", .on = gpuGPUModuleOpName},
    {NULL},
};
static const TilePipelineStep toRocdl[] = {
    {"convert-gpu-to-rocdl", {{"chipset", .from = TilePipeline_Chip}}, .on = gpuGPUModuleOpName},
    {"convert-index-to-llvm", .on = gpuGPUModuleOpName},
    {"canonicalize", .on = gpuGPUModuleOpName},
    {NULL},
};

#define STAGES(toKernels, toVendor)                                                                                    \
  {                                                                                                                    \
    {tileStageOfPrograms}, {tileStageToMachine}, {toKernels}, {toScalars}, {tileStageOfDeviceFloats},                  \
        {tileStageOfDeviceMath}, {toBlocks}, {toVendor}, {tileStageOfDevice}, {tileStageOfHostBuffers},                \
        {tileStageToCalls}, {tileStageToLoops}, {tileStageToInstructions}, {tileStageToLlvm},                          \
        {tileStageToForgetMachine}, {                                                                                  \
      NULL                                                                                                             \
    }                                                                                                                  \
  }
static const TilePipelineStage nvvmStages[] = STAGES(toNvvmKernels, toNvvm);
static const TilePipelineStage rocdlStages[] = STAGES(toRocdlKernels, toRocdl);

static bool buildNvvm(MlirExtPass options, MlirStringCallback append, void *userData) {
  return tilePipelinePrint(nvvmStages, NULL, options, append, userData);
}

static bool buildRocdl(MlirExtPass options, MlirStringCallback append, void *userData) {
  return tilePipelinePrint(rocdlStages, NULL, options, append, userData);
}

#define CHIP(name)                                                                                                     \
  {                                                                                                                    \
    {"chip", "the chip, by its machine file", MlirExtOption_String, name}, { NULL }                                    \
  }

const MlirExtPipelineDefinition tileGpuToNvvmPipeline = {
    .argument = "tile-gpu-to-nvvm-pipeline",
    .summary = "Lower a program with kernels in upstream's dialect gpu to gpu.modules for NVIDIA, and the host's part",
    .options = (const MlirExtPassOption[])CHIP("sm_80"),
    .build = buildNvvm,
};

const MlirExtPipelineDefinition tileGpuToRocdlPipeline = {
    .argument = "tile-gpu-to-rocdl-pipeline",
    .summary = "Lower a program with kernels in upstream's dialect gpu to gpu.modules for AMD, and the host's part",
    .options = (const MlirExtPassOption[])CHIP("gfx942"),
    .build = buildRocdl,
};
