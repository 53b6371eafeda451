// The stages that every target shares. See stages.h.
#include "lib/pipelines/stages.h"

// clang-format off: one step a line

//===--- from tensors to buffers -----------------------------------------------===//

// Upstream's sparse tensors become ours, ours become their components.
const TilePipelineStep tileStageOfTensors[] = {
    {"convert-sparse-tensor-to-sparse", {{"lowerable", "true"}}},
    {"sparse-fold-constants", .on = "func.func"},
    {"convert-sparse-to-tile"},
    {"linalg-generalize-named-ops", .on = "func.func"},
    {"tile-fuse-elementwise", .on = "func.func"},
    {"canonicalize", .on = "func.func"},
    {"cse", .on = "func.func"},
    {"tile-fuse-attention"},
    {NULL},
};

const TilePipelineStep tileStageOfBuckets[] = {
    {"tile-specialize-sizes", {{"buckets", .from = TilePipeline_Buckets}}, .on = "func.func"},
    {NULL},
};

// What no kernel covers stays linalg (fallback_ops).
const TilePipelineStep tileStageToKernels[] = {
    {"tile-group-ops"},
    {"convert-linalg-to-tile"},
    {"canonicalize", .on = "func.func"},
    {"cse", .on = "func.func"},
    {"canonicalize", .on = "tile.kernel"},
    {"cse", .on = "tile.kernel"},
    {NULL},
};

// Tensors that have elements become buffers.
const TilePipelineStep tileStageToBuffers[] = {
    {"tile-fold-zero-sizes", .on = "func.func"},
    {"eliminate-empty-tensors", .on = "func.func"},
    {"tile-bufferize-host"},
    {"canonicalize", .on = "func.func"},
    {"cse", .on = "func.func"},
    {"buffer-loop-hoisting", .on = "func.func"},
    {"canonicalize", .on = "func.func"},
    {NULL},
};

// Results belong to the caller.
const TilePipelineStep tileStageOfOwnership[] = {
    {"expand-realloc", {{"emit-deallocs", "false"}}, .on = "func.func"},
    {"canonicalize", .on = "func.func"},
    {"ownership-based-buffer-deallocation", .on = "func.func"},
    {"canonicalize", .on = "func.func"},
    {"buffer-deallocation-simplification", .on = "func.func"},
    {NULL},
};

const TilePipelineStep tileStageOfBuffers[] = {
    {"bufferization-lower-deallocations"},
    {"cse", .on = "func.func"},
    {"canonicalize", .on = "func.func"},
    {"tile-copy-strided-clones", .on = "func.func"},
    {"convert-bufferization-to-memref"},
    {NULL},
};

//===--- the host, from buffers to llvm ----------------------------------------===//

// Assertions become calls, linalg that no kernel covers becomes loops.
const TilePipelineStep tileStageToLoops[] = {
    {"convert-assert-to-runtime"},
    {"convert-linalg-to-loops", .on = "func.func"},
    {"lower-affine", .on = "func.func"},
    {NULL},
};

// Narrow floats compute in f32 (bf16 too: its instructions flush subnormals). Functions become arithmetic, and so do
// conversions without an instruction.
const TilePipelineStep tileStageToInstructions[] = {
    {"convert-vector-to-scf", {{"full-unroll", "true"}}, .on = "func.func"},
    {"math-extend-to-supported-types", {{"extra-types", "f16,bf16"}, {"target-type", "f32"}}, .on = "func.func"},
    {"arith-emulate-unsupported-floats",
     {{"source-types", "bf16," TILE_NARROW_FLOATS}, {"target-type", "f32"}},
     .on = "func.func"},
    {"tile-keep-roundings", .on = "func.func"},
    {"tile-expand-math", {{"fast", .from = TilePipeline_Fast}}, .on = "func.func"},
    {"tile-expand-float-conversions", .on = "func.func"},
    {NULL},
};

// Passes that can run on functions do: the gpu.module beside the functions is in llvm already, and large.
// arith-expand takes bf16 because AVX512_BF16 flushes subnormals.
const TilePipelineStep tileStageToLlvm[] = {
    {"arith-expand", {{"include-bf16", "true"}}, .on = "func.func"},
    {"canonicalize", .on = "func.func"},
    {"expand-strided-metadata", .on = "func.func"},
    {"lower-affine", .on = "func.func"},
    {"convert-math-to-llvm", .on = "func.func"},
    {"canonicalize", .on = "func.func"},
    {"convert-scf-to-cf", .on = "func.func"},
    {"convert-math-to-libm"},
    {"convert-vector-to-llvm"},
    {"convert-arith-to-llvm", .on = "func.func"},
    {"convert-index-to-llvm", .on = "func.func"},
    {"finalize-memref-to-llvm", {{"use-generic-functions", "true"}}},
    {"convert-func-to-llvm"},
    {"convert-cf-to-llvm"},
    {"convert-ub-to-llvm", .on = "llvm.func"},
    {"reconcile-unrealized-casts", .on = "llvm.func"},
    {"tile-move-bf16-as-bits", .on = "llvm.func"},
    {"canonicalize", .on = "llvm.func"},
    {"cse", .on = "llvm.func"},
    {NULL},
};

const TilePipelineStep tileStageToForgetMachine[] = {{"tile-set-machine", {{"forget", "true"}}}, {NULL}};
