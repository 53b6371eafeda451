// The stages that every target shares. See stages.h.
#include "lib/pipelines/stages.h"
#include "dialects/tile/ops.h"
#include "upstream/func.h"
#include "upstream/llvm.h"

// clang-format off: one step a line

//===--- from tensors to buffers -----------------------------------------------===//

// The program as it was written: ops of plugins say what they mean, roundings stay, no op crashes a pass of upstream's,
// arithmetic on whole tensors becomes linalg, sizes that must agree and places are compared, and device memory is the
// host's.
const TilePipelineStep tileStageOfPrograms[] = {
    {"tile-expand-quantized"},
    {"tile-pack-narrow-elements"},
    {"tile-bind-weights"},
    {"convert-gpu-memory-to-host"},
    {"tile-raise-gathers-to-views"},
    {"tile-expand-ops"},
    {"tile-keep-roundings"},
    {"tile-avoid-upstream-faults"},
    {"convert-elementwise-to-linalg", .on = funcFuncOpName},
    {"tile-check-sizes", .on = funcFuncOpName},
    {"tile-expand-float-classes"},
    {"tile-expand-gathers", .on = funcFuncOpName},
    {"tile-check-places", .on = funcFuncOpName},
    {"tile-check-kernel-places", .on = tileKernelOpName},
    {NULL},
};

// Weights lie as they are used, without what no sum needs. Upstream's sparse tensors become ours, ours become their components.
const TilePipelineStep tileStageOfTensors[] = {
    {"tile-fold-constant-layouts", .on = funcFuncOpName},
    {"tile-linalg-of-buffers", .on = funcFuncOpName},
    {"sparse-expand-prune", .on = funcFuncOpName},
    {"sparse-shrink-tensors", {{"sparsity", .from = TilePipeline_Sparsity}}},
    {"sparse-find-masks", {{"sparsity", .from = TilePipeline_Sparsity}}, .on = funcFuncOpName},
    {"sparse-group-rows", {{"sparsity", .from = TilePipeline_Sparsity}}, .on = funcFuncOpName},
    {"sparse-cover-with-formats", {{"sparsity", .from = TilePipeline_Sparsity}}},
    {"convert-sparse-tensor-to-sparse", {{"lowerable", "true"}}},
    {"sparse-fold-constants", .on = funcFuncOpName},
    {"tile-construct-tiles", {{"ops", "sparse"}, {"policy", .from = TilePipeline_Policy}}, .on = funcFuncOpName},
    {"convert-sparse-to-tile"},
    {"tile-generalize-named-ops", .on = funcFuncOpName},
    {"tile-fold-zero-sizes", .on = funcFuncOpName},
    {"tile-sort-groups", .on = funcFuncOpName},
    {"tile-move-scales-out", .on = funcFuncOpName},
    {"tile-split-ragged-blocks", .on = funcFuncOpName},
    {"tile-unpack-narrow-elements", .on = funcFuncOpName},
    {"tile-schedule-formats", .on = funcFuncOpName},
    {"tile-find-low-bit", .on = funcFuncOpName},
    {"cse", .on = funcFuncOpName},
    {"canonicalize", .on = funcFuncOpName},
    {"tile-group-ops", {{"ops", "elementwise"}}},
    {"canonicalize", .on = funcFuncOpName}, // a value that one op takes twice it takes once, and is its only user
    {"cse", .on = funcFuncOpName},
    {"tile-group-ops", {{"ops", "elementwise"}}},
    {"canonicalize", .on = funcFuncOpName},
    {"cse", .on = funcFuncOpName},
    {"tile-group-ops", {{"ops", "attention"}}},
    {NULL},
};

// Groups and grids go across the functions that a program calls.
const TilePipelineStep tileStageOfOneFunction[] = {{"inline"}, {NULL}};

const TilePipelineStep tileStageOfGroups[] = {
    {"tile-fuse-at-memory-level", {{"objective", .from = TilePipeline_Fusion}}},
    {NULL},
};

const TilePipelineStep tileStageOfBuckets[] = {
    {"tile-specialize-sizes", {{"buckets", .from = TilePipeline_Buckets}, {"policy", .from = TilePipeline_Policy}}, .on = funcFuncOpName},
    {NULL},
};

// A product that was split leaves a sum, which has no schedule yet. The pipelines of GPUs have this stage twice.
const TilePipelineStep tileStageToTiles[] = {
    {"tile-construct-tiles", {{"policy", .from = TilePipeline_Policy}, {"fusion", .from = TilePipeline_Fusion}}, .on = funcFuncOpName},
    {NULL},
};

const TilePipelineStep tileStageToSplitReductions[] = {
    {"tile-split-reductions", .on = funcFuncOpName},
    {NULL},
};

// What no kernel covers stays linalg (fallback_ops).
const TilePipelineStep tileStageToKernels[] = {
    {"tile-group-ops"},
    {"convert-linalg-to-tile"},
    {"tile-share-kernels"},
    {"canonicalize", .on = funcFuncOpName},
    {"cse", .on = funcFuncOpName},
    {"canonicalize", .on = tileKernelOpName},
    {"cse", .on = tileKernelOpName},
    {NULL},
};

// Tensors that have elements become buffers.
const TilePipelineStep tileStageToBuffers[] = {
    {"tile-fold-zero-sizes", .on = funcFuncOpName},
    {"tile-eliminate-empty-tensors", .on = funcFuncOpName},
    {"tile-bufferize-host"},
    {"canonicalize", .on = funcFuncOpName},
    {"cse", .on = funcFuncOpName},
    {"buffer-loop-hoisting", .on = funcFuncOpName},
    {"canonicalize", .on = funcFuncOpName},
    {NULL},
};

// Rounds of a loop name the same memory, so that one launch can go through them.
const TilePipelineStep tileStageToAlternate[] = {
    {"tile-fix-branch-buffers", .on = funcFuncOpName},
    {"buffer-loop-hoisting", .on = funcFuncOpName},
    {"tile-rotate-while-loops", .on = funcFuncOpName},
    {"tile-alternate-carried-buffers", .on = funcFuncOpName},
    {"canonicalize", .on = funcFuncOpName},
    {"tile-move-control-flow-to-device", {{"persistent", .from = TilePipeline_Persistent}}},
    {"tile-share-kernels"},
    {"canonicalize", .on = funcFuncOpName},
    {NULL},
};

// Results belong to the caller.
const TilePipelineStep tileStageOfOwnership[] = {
    {"expand-realloc", {{"emit-deallocs", "false"}}, .on = funcFuncOpName},
    {"canonicalize", .on = funcFuncOpName},
    {"tile-keep-own-frees", .on = funcFuncOpName},
    {"ownership-based-buffer-deallocation", .on = funcFuncOpName},
    {"canonicalize", .on = funcFuncOpName},
    {"buffer-deallocation-simplification", .on = funcFuncOpName},
    {NULL},
};

const TilePipelineStep tileStageOfBuffers[] = {
    {"bufferization-lower-deallocations"},
    {"cse", .on = funcFuncOpName},
    {"canonicalize", .on = funcFuncOpName},
    {"tile-copy-strided-clones", .on = funcFuncOpName},
    {"convert-bufferization-to-memref"},
    {NULL},
};

// Bodies that go into a program take along what is known of their launches, and the layouts that they have by
// themselves: sums keep their order.
const TilePipelineStep tileStageToCoSchedule[] = {
    {"tile-assume-launch-facts", {{"entry-alignment", "16"}}},
    {"canonicalize", .on = tileKernelOpName},
    {"cse", .on = tileKernelOpName},
    {"tile-specialize-warps", .on = tileKernelOpName},
    {"tile-make-persistent"},
    {"tile-overlap-products", .on = tileKernelOpName},
    {"tile-assign-layouts", .on = tileKernelOpName},
    {"tile-co-schedule-kernels", {{"persistent", .from = TilePipeline_Persistent}}},
    {"symbol-dce"},
    {"canonicalize", .on = funcFuncOpName},
    {"canonicalize", .on = tileKernelOpName},
    {"cse", .on = tileKernelOpName},
    {NULL},
};

// Launches without a path between them become one.
const TilePipelineStep tileStageToMerge[] = {
    {"tile-merge-parallel-kernels"},
    {"canonicalize", .on = funcFuncOpName},
    {"canonicalize", .on = tileKernelOpName},
    {"cse", .on = tileKernelOpName},
    {NULL},
};

// One allocation for what is not given back, once launches know what they know of their operands.
const TilePipelineStep tileStageToPlanMemory[] = {{"tile-plan-memory"}, {NULL}};
// Sizes of views are those of what they view, which a plan at the begin of a function can compute.
const TilePipelineStep tileStageToPlanOpenMemory[] = {{"resolve-ranked-shaped-type-result-dims"},
                                                      {"tile-plan-memory", {{"open", "true"}}},
                                                      {NULL}};
const TilePipelineStep tileStageToPlanDeviceMemory[] = {{"tile-plan-memory", {{"slots", "true"}}}, {NULL}};

//===--- the host, from buffers to llvm ----------------------------------------===//

// Assertions become calls, linalg that no kernel covers becomes loops.
const TilePipelineStep tileStageToLoops[] = {
    {"tile-check-allocation-sizes"},
    {"convert-assert-to-runtime"},
    {"convert-linalg-to-loops", .on = funcFuncOpName},
    {"lower-affine", .on = funcFuncOpName},
    {NULL},
};

// Narrow floats compute in f32 (bf16 too: its instructions flush subnormals, and without them LLVM calls what no library
// here has). Functions become arithmetic, and so do
// conversions without an instruction.
const TilePipelineStep tileStageToInstructions[] = {
    {"convert-complex-to-standard", .on = funcFuncOpName},
    {"lower-vector-mask", .on = funcFuncOpName},
    {"lower-vector-multi-reduction", .on = funcFuncOpName},
    {"convert-vector-to-scf", {{"full-unroll", "true"}}, .on = funcFuncOpName},
    {"math-extend-to-supported-types", {{"extra-types", "f16"}, {"target-type", "f32"}}, .on = funcFuncOpName},
    {"arith-emulate-unsupported-floats",
     {{"source-types", "bf16," TILE_NARROW_FLOATS}, {"target-type", "f32"}},
     .on = funcFuncOpName},
    {"tile-keep-roundings", .on = funcFuncOpName},
    {"tile-expand-math", {{"fast", .from = TilePipeline_Fast}, {"tables", "true"}}, .on = funcFuncOpName},
    {"tile-expand-float-conversions", .on = funcFuncOpName},
    {NULL},
};

// Passes that can run on functions do: the gpu.module beside the functions is in llvm already, and large.
// arith-expand takes bf16 because AVX512_BF16 flushes subnormals.
const TilePipelineStep tileStageToLlvm[] = {
    {"arith-expand", {{"include-bf16", "true"}}, .on = funcFuncOpName},
    {"canonicalize", .on = funcFuncOpName},
    {"tile-avoid-upstream-faults", .on = funcFuncOpName},
    {"expand-strided-metadata", .on = funcFuncOpName},
    {"lower-affine", .on = funcFuncOpName},
    {"convert-math-to-llvm", .on = funcFuncOpName},
    {"canonicalize", .on = funcFuncOpName},
    {"convert-scf-to-cf", .on = funcFuncOpName},
    {"convert-math-to-libm"},
    {"convert-vector-to-llvm"},
    {"convert-arith-to-llvm", .on = funcFuncOpName},
    {"convert-complex-to-llvm", .on = funcFuncOpName},
    {"convert-index-to-llvm", .on = funcFuncOpName},
    {"finalize-memref-to-llvm", {{"use-generic-functions", "true"}}},
    {"convert-func-to-llvm"},
    {"convert-cf-to-llvm"},
    {"tile-flatten-constants"},
    {"convert-ub-to-llvm", .on = llvmLLVMFuncOpName},
    {"reconcile-unrealized-casts", .on = llvmLLVMFuncOpName},
    {"tile-avoid-upstream-faults", .on = llvmLLVMFuncOpName},
    {"tile-move-bf16-as-bits", .on = llvmLLVMFuncOpName},
    {"canonicalize", .on = llvmLLVMFuncOpName},
    {"cse", .on = llvmLLVMFuncOpName},
    {NULL},
};

const TilePipelineStep tileStageToMachine[] = {
    {"tile-set-machine", {{"chip", .from = TilePipeline_Chip}, {"otherwise", .from = TilePipeline_DefaultChip}}},
    {NULL},
};
const TilePipelineStep tileStageToForgetMachine[] = {{"tile-set-machine", {{"forget", "true"}}}, {NULL}};
