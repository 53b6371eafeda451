// --tile-to-cpu-pipeline: linalg on tensors, a tile graph or tile kernels -> the LLVM dialect, for this machine.
//
// Each stage is one string of passes, so that the expansion (--dump-pass-pipeline) can be run pass by pass through
// tile-opt and gives the same module. Host passes are nested on func.func: kernels are not theirs to touch.
#include "lib/pipelines/pipelines.h"

// Tensors: what linalg says becomes kernels and launches. What no kernel covers stays linalg (fallback_ops).
static const char *const toTileGraph = "func.func(linalg-generalize-named-ops,tile-fuse-elementwise,canonicalize,cse),"
                                       "convert-linalg-to-tile,"
                                       "func.func(canonicalize,cse),"
                                       "tile.kernel(canonicalize,cse)";

// Buffers: in place where the analysis allows, each one freed by its owner (results belong to the caller).
static const char *const toBuffers =
    "func.func(eliminate-empty-tensors),"
    "tile-bufferize-host,"
    "func.func(canonicalize,cse,canonicalize),"
    "func.func(expand-realloc,canonicalize,ownership-based-buffer-deallocation,canonicalize,"
    "buffer-deallocation-simplification),"
    "bufferization-lower-deallocations,"
    "func.func(cse,canonicalize),"
    "convert-bufferization-to-memref";

// Kernels: tiles become loops over vectors.
static const char *const toVectors = "convert-tile-to-vector,"
                                     "func.func(canonicalize,cse,loop-invariant-code-motion)";

// Launches, assertions and whatever linalg is left become calls and loops.
static const char *const toLoops = "convert-tile-launch-to-runtime,"
                                   "convert-assert-to-runtime,"
                                   "func.func(convert-linalg-to-loops,lower-affine)";

static const char *const toLlvm = "func.func("
                                  "convert-vector-to-scf{full-unroll=true},"
                                  "tile-expand-math,"
                                  "arith-expand{include-bf16=true}," // AVX512_BF16 flushes subnormals
                                  "canonicalize,"
                                  "expand-strided-metadata,"
                                  "lower-affine,"
                                  "convert-math-to-llvm,"
                                  "canonicalize),"
                                  "convert-scf-to-cf,"
                                  "convert-math-to-libm,"
                                  "convert-vector-to-llvm,"
                                  "convert-arith-to-llvm,"
                                  "convert-index-to-llvm,"
                                  "finalize-memref-to-llvm{use-generic-functions=true},"
                                  "convert-func-to-llvm,"
                                  "convert-cf-to-llvm,"
                                  "convert-ub-to-llvm,"
                                  "reconcile-unrealized-casts,"
                                  "canonicalize,"
                                  "cse";

static bool build(MlirExtPass options, MlirStringCallback append, void *userData) {
  const char *stages[] = {toTileGraph, toBuffers, toVectors, toLoops, toLlvm};
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
    if (i)
      append(mlirStringRefCreateFromCString(","), userData);
    append(mlirStringRefCreateFromCString(stages[i]), userData);
  }
  return true;
}

const MlirExtPipelineDefinition tileToCpuPipeline = {
    .argument = "tile-to-cpu-pipeline",
    .summary = "Lower linalg, tile graphs and tile kernels to the LLVM dialect for this CPU",
    .build = build,
};
