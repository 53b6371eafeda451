// --tile-to-cpu-pipeline: linalg on tensors, a tile graph or tile kernels -> the LLVM dialect, for this machine.
//
// Each stage is one string of passes, so that the expansion (--dump-pass-pipeline) can be run pass by pass through
// tile-opt and gives the same module. Host passes are nested on func.func: kernels are not theirs to touch.
#include "lib/pipelines/pipelines.h"
#include "lib/pipelines/stages.h"
#include "lib/transforms/math/expand_math.h"

#include <stdio.h>
#include <string.h>

// Kernels: tiles become loops over vectors. What shares no memory is read where it is needed; the caller's arguments
// may begin anywhere. A program number that is constant makes the loop over programs one that LLVM 22's vectorizer
// takes: on an unrolled maximum it never ends (vputils::isSingleScalar visits a chain of selects exponentially often).
static const char *const toVectors = "tile-assume-launch-facts{entry-alignment=1 grids=false},"
                                     "convert-tile-to-vector,"
                                     "func.func(canonicalize,cse,loop-invariant-code-motion)";

static const char *const toCalls = "convert-tile-launch-to-runtime";

void tileCpuStagesFromBuffersAppend(bool fast, MlirStringCallback append, void *userData) {
  char instructions[512];
  snprintf(instructions, sizeof instructions, tileStageToInstructions, fast ? "true" : "false");
  const char *stages[] = {tileStageOfBuffers, toVectors, toCalls, tileStageToLoops, instructions, tileStageToLlvm};
  tileStagesAppend(stages, sizeof stages / sizeof *stages, append, userData);
}

static bool build(MlirExtPass options, MlirStringCallback append, void *userData) {
  char graph[1536], chip[96] = "", schedule[704];
  MlirStringRef name = mlirExtPassGetString(options, "chip"), search = mlirExtPassGetString(options, "search");
  if (name.length)
    snprintf(chip, sizeof chip, "{chip=%.*s}", (int)name.length, name.data);
  // What a merged op starts from, and what follows it, are found past its reshapes.
  size_t used =
      (size_t)snprintf(schedule, sizeof schedule, "func.func(tile-merge-dimensions%s,canonicalize,cse),", chip);
  if (!tileStageOfBuckets(mlirExtPassGetString(options, "buckets"), name, schedule + used, 256))
    return mlirExtPipelineError(options, mlirStringRefCreateFromCString("buckets: too long a list"));
  used = strlen(schedule);
  // Kernels construct their own tiles where nobody searched.
  if (search.length)
    snprintf(schedule + used, sizeof schedule - used, "func.func(tile-construct-tiles{search=%.*s%s%.*s}),",
             (int)search.length, search.data, name.length ? " chip=" : "", (int)name.length, name.data);
  snprintf(graph, sizeof graph, tileStageToTileGraph, chip, chip, schedule, chip);
  const char *stages[] = {graph, tileStageToBuffers, ""}; // "": a comma at the end
  tileStagesAppend(stages, sizeof stages / sizeof *stages, append, userData);
  tileCpuStagesFromBuffersAppend(mlirExtPassGetBool(options, "fast"), append, userData);
  return true;
}

static const MlirExtPassOption pipelineOptions[] = {
    {"fast", TILE_FAST_MATH_HELP, MlirExtOption_Bool, "false"},
    {"search", "how tiles are found: construct, exhaustive-model or measure; default: as the kernels are made",
     MlirExtOption_String, ""},
    {"buckets", TILE_BUCKETS_HELP, MlirExtOption_String, ""},
    {"chip", "the CPU, as lib/machine names it; default: this one", MlirExtOption_String, ""},
};

const MlirExtPipelineDefinition tileToCpuPipeline = {
    .argument = "tile-to-cpu-pipeline",
    .summary = "Lower linalg, tile graphs and tile kernels to the LLVM dialect for this CPU",
    .numOptions = sizeof pipelineOptions / sizeof *pipelineOptions,
    .options = pipelineOptions,
    .build = build,
};
