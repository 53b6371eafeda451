// The stages of the host's part, which every target shares. See stages.h.
#include "lib/pipelines/stages.h"

#include "lib/ir/support.h"

#include <stdio.h>

// Tensors: upstream's sparse ones become ours, ours their components; what linalg says becomes kernels and launches,
// for the chip. What no kernel covers stays linalg (fallback_ops).
const char *const tileStageToTileGraph =
    "convert-sparse-tensor-to-sparse{lowerable=true},"
    "func.func(sparse-fold-constants),"
    "convert-sparse-to-tile%s,"
    "func.func(linalg-generalize-named-ops,tile-fuse-elementwise,canonicalize,cse),"
    "tile-fuse-attention%s,"
    "%sconvert-linalg-to-tile%s,"
    "func.func(canonicalize,cse),"
    "tile.kernel(canonicalize,cse)";

// Buffers, of tensors that have elements: in place where the analysis allows, each one freed by its owner (results
// belong to the caller).
const char *const tileStageToBuffers =
    "func.func(tile-fold-zero-sizes,eliminate-empty-tensors),"
    "tile-bufferize-host,"
    "func.func(canonicalize,cse,buffer-loop-hoisting,canonicalize),"
    "func.func(expand-realloc{emit-deallocs=false},canonicalize,ownership-based-buffer-deallocation,canonicalize,"
    "buffer-deallocation-simplification)";

const char *const tileStageOfBuffers = "bufferization-lower-deallocations,"
                                       "func.func(cse,canonicalize,tile-copy-strided-clones),"
                                       "convert-bufferization-to-memref";

// Assertions and whatever linalg is left become calls and loops.
const char *const tileStageToLoops = "convert-assert-to-runtime,"
                                     "func.func(convert-linalg-to-loops,lower-affine)";

// Narrow floats compute in f32 (bf16 too: its instructions flush subnormals); functions become arithmetic, and so do
// conversions without an instruction.
#define NARROW_FLOATS "f8E5M2,f8E4M3FN,f8E5M2FNUZ,f8E4M3FNUZ,f8E8M0FNU,f6E2M3FN,f6E3M2FN,f4E2M1FN"
const char *const tileStageToInstructions =
    "func.func("
    "convert-vector-to-scf{full-unroll=true},"
    "math-extend-to-supported-types{extra-types=f16,bf16 target-type=f32},"
    "arith-emulate-unsupported-floats{source-types=bf16," NARROW_FLOATS " target-type=f32},"
    "tile-keep-roundings,"
    "tile-expand-math{fast=%s},"
    "tile-expand-float-conversions)";

// By function where a pass can: the gpu.module beside them is in llvm already, and large.
const char *const tileStageToLlvm = "func.func("
                                    "arith-expand{include-bf16=true}," // AVX512_BF16 flushes subnormals
                                    "canonicalize,"
                                    "expand-strided-metadata,"
                                    "lower-affine,"
                                    "convert-math-to-llvm,"
                                    "canonicalize,"
                                    "convert-scf-to-cf),"
                                    "convert-math-to-libm,"
                                    "convert-vector-to-llvm,"
                                    "func.func(convert-arith-to-llvm,convert-index-to-llvm),"
                                    "finalize-memref-to-llvm{use-generic-functions=true},"
                                    "convert-func-to-llvm,"
                                    "convert-cf-to-llvm,"
                                    "llvm.func(convert-ub-to-llvm,reconcile-unrealized-casts,"
                                    "tile-move-bf16-as-bits,canonicalize,cse)";

bool tileStageOfBuckets(MlirStringRef buckets, MlirStringRef chip, char *text, size_t capacity) {
  int written = !buckets.length ? snprintf(text, capacity, "%s", "")
                                : snprintf(text, capacity, "func.func(tile-specialize-sizes{buckets=%.*s%s%.*s}),",
                                           (int)buckets.length, buckets.data, chip.length ? " chip=" : "",
                                           (int)chip.length, chip.data);
  return written >= 0 && (size_t)written < capacity;
}

void tileStagesAppend(const char *const *stages, size_t count, MlirStringCallback append, void *userData) {
  for (size_t i = 0; i < count; ++i) {
    if (i)
      append(tileString(","), userData);
    append(tileString(stages[i]), userData);
  }
}
