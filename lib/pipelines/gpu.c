// The stages of kernels that the pipelines of GPUs share. See stages.h.
#include "upstream/gpu.h"
#include "dialects/tile/ops.h"
#include "lib/pipelines/stages.h"
#include "upstream/func.h"

// convert-assert-to-runtime stands ahead of upstream's convert-cf-to-llvm, which takes the whole module and would end
// the process instead. Alignment and strides are known when everything is a buffer: kernels access memory as wide as
// these allow. Every tile gets a layout and every product an instruction of the chip, whose operands are copied ahead
// of their use. Then memory is placed, and barriers and waits become explicit. Layouts, places, barriers and waits that
// are there already stay.
const TilePipelineStep tileStageToScheduled[] = {
    {"convert-assert-to-runtime"},
    {"tile-assume-launch-facts", {{"entry-alignment", "16"}}},
    {"canonicalize", .on = tileKernelOpName},
    {"cse", .on = tileKernelOpName},
    {"tile-assign-layouts", .on = tileKernelOpName},
    {"tile-stage-in-shared-memory", .on = tileKernelOpName},
    {"tile-pipeline-loops", .on = tileKernelOpName},
    {"canonicalize", .on = tileKernelOpName},
    {"cse", .on = tileKernelOpName},
    {"tile-plan-shared-memory", .on = tileKernelOpName},
    {"tile-insert-barriers", .on = tileKernelOpName},
    {"tile-count-waits", .on = tileKernelOpName},
    {NULL},
};

// A device function in the GPU's dialect, llvm, and arith, math and scf on scalars becomes llvm alone. Narrow floats
// compute in f32 and round at every op. Functions become arithmetic, exactly as on the CPU, and so do conversions
// without an instruction: results agree to half an ulp.
const TilePipelineStep tileStageOfDevice[] = {
    {"math-extend-to-supported-types", {{"extra-types", "f16,bf16"}, {"target-type", "f32"}}, .on = gpuGPUModuleOpName},
    {"arith-emulate-unsupported-floats",
     {{"source-types", TILE_NARROW_FLOATS}, {"target-type", "f32"}},
     .on = gpuGPUModuleOpName},
    {"tile-keep-roundings", .on = gpuGPUModuleOpName},
    {"tile-expand-math", {{"f64", "true"}}, .on = gpuGPUModuleOpName},
    {"tile-expand-float-conversions", .on = gpuGPUModuleOpName},
    {"convert-scf-to-cf", .on = gpuGPUModuleOpName},
    {"arith-expand", .on = gpuGPUModuleOpName},
    {"convert-math-to-llvm", .on = gpuGPUModuleOpName},
    {"convert-arith-to-llvm", .on = gpuGPUModuleOpName},
    {"convert-ub-to-llvm", .on = gpuGPUModuleOpName},
    {"convert-cf-to-llvm"},
    {"reconcile-unrealized-casts", .on = gpuGPUModuleOpName},
    {"cse", .on = gpuGPUModuleOpName},
    {NULL},
};

// A product that was cut leaves a sum, which has no schedule yet: GPUs' pipelines have this stage twice.
const TilePipelineStep tileStageToTiles[] = {
    {"tile-construct-tiles", {{"policy", .from = TilePipeline_Policy}}, .on = funcFuncOpName},
    {NULL},
};

const TilePipelineStep tileStageToSplitReductions[] = {
    {"tile-split-reductions", .on = funcFuncOpName},
    {NULL},
};
