// linalg on tensors, a tile graph or tile kernels -> a gpu.module of one GPU's dialect and llvm, and the host's part in
// llvm, which launches its kernels. See gpu.h.
// Each stage is one string of passes, so that the expansion (--dump-pass-pipeline) can be run pass by pass through
// tile-opt and gives the same module.
#include "lib/pipelines/gpu.h"

#include "lib/ir/support.h"
#include "lib/pipelines/stages.h"

#include <stdio.h>
#include <string.h>

// Before upstream's convert-cf-to-llvm, which takes the whole module and would end the process instead.
static const char hostAssertions[] = "convert-assert-to-runtime";

// Alignment and strides are known when everything is a buffer: kernels access memory as wide as these allow.
static const char toldKernels[] = "tile-assume-launch-facts{entry-alignment=16}";

// Every tile gets a layout, every product an instruction of the chip, whose operands are copied ahead of their use.
// Layouts that are there already stay.
#define TO_SCHEDULED                                                                                                   \
  "tile.kernel(canonicalize,cse,tile-assign-layouts{chip=%.*s},tile-stage-in-shared-memory,tile-pipeline-loops,"       \
  "canonicalize,cse)"

// Device functions of the GPU's dialect, llvm, and arith, math and scf on scalars.
#define TO_DEVICE "%s{chip=%.*s},gpu.module(canonicalize,cse)"

// Narrow floats compute in f32; functions become arithmetic, exactly as on the CPU, and so do conversions without an
// instruction: results agree to half an ulp.
#define NARROW_FLOATS "f8E5M2,f8E4M3FN,f8E5M2FNUZ,f8E4M3FNUZ,f8E8M0FNU,f6E2M3FN,f6E3M2FN,f4E2M1FN"
static const char toLlvm[] = "gpu.module("
                             "math-extend-to-supported-types{extra-types=f16,bf16 target-type=f32},"
                             "arith-emulate-unsupported-floats{source-types=" NARROW_FLOATS " target-type=f32},"
                             "tile-expand-math{f64=true},"
                             "tile-expand-float-conversions,"
                             "convert-scf-to-cf,"
                             "arith-expand,"
                             "convert-math-to-llvm,"
                             "convert-arith-to-llvm,"
                             "convert-ub-to-llvm),"
                             "convert-cf-to-llvm,"
                             "gpu.module(reconcile-unrealized-casts,cse)";

void tileGpuStagesFromBuffersAppend(const char *conversion, MlirStringRef chip, MlirStringCallback append,
                                    void *userData) {
  char scheduled[512], device[128];
  int length = (int)chip.length;
  snprintf(scheduled, sizeof scheduled, TO_SCHEDULED, length, chip.data);
  snprintf(device, sizeof device, TO_DEVICE, conversion, length, chip.data);
  const char *const stages[] = {tileStageOfBuffers, hostAssertions, toldKernels, scheduled, device, toLlvm, ""};
  tileStagesAppend(stages, sizeof stages / sizeof *stages, append, userData);
  tileHostStagesAppend(append, userData);
}

bool tileGpuPipelineBuild(const char *conversion, MlirExtPass options, MlirStringCallback append, void *userData) {
  char graph[1280], option[80], schedule[384];
  MlirStringRef chip = mlirExtPassGetString(options, "chip");
  snprintf(option, sizeof option, "{chip=%.*s}", (int)chip.length, chip.data);
  if (!tileStageOfBuckets(mlirExtPassGetString(options, "buckets"), chip, schedule, sizeof schedule - 128))
    return mlirExtPipelineError(options, mlirStringRefCreateFromCString("buckets: too long a list"));
  size_t used = strlen(schedule);
  snprintf(schedule + used, sizeof schedule - used, "func.func(tile-split-reductions%s),", option);
  snprintf(graph, sizeof graph, tileStageToTileGraph, option, option, schedule, option);
  const char *const stages[] = {graph, tileStageToBuffers, ""}; // "": a comma at the end
  tileStagesAppend(stages, sizeof stages / sizeof *stages, append, userData);
  tileGpuStagesFromBuffersAppend(conversion, chip, append, userData);
  return true;
}
