// --tile-to-cpu-pipeline: linalg on tensors, a tile graph or tile kernels -> the LLVM dialect, for this machine.
//
// Host passes are nested on func.func: kernels are not theirs to touch.
#include "dialects/tile/ops.h"
#include "lib/pipelines/pipelines.h"
#include "lib/pipelines/stages.h"
#include "lib/transforms/math/expand_math.h"
#include "upstream/func.h"

// Convolutions compute with channels last, on weights that were transposed at compile time.
static const TilePipelineStep toDataLayouts[] = {
    {"tile-choose-data-layouts", .on = funcFuncOpName},
    {"canonicalize", .on = funcFuncOpName},
    {"tile-fold-constant-layouts", .on = funcFuncOpName},
    {"cse", .on = funcFuncOpName},
    {NULL},
};

// What a merged op starts from, and what follows it, are found past its reshapes.
static const TilePipelineStep toMergedSizes[] = {
    {"tile-merge-dimensions", {{"policy", .from = TilePipeline_Policy}}, .on = funcFuncOpName},
    {"canonicalize", .on = funcFuncOpName},
    {"cse", .on = funcFuncOpName},
    {NULL},
};

// The products of a recurrent cell run once in each step, mostly on one row.
static const TilePipelineStep toOneRow[] = {
    {"tile-specialize-sizes",
     {{"buckets", "1,1024"}, {"loops", "true"}, {"policy", .from = TilePipeline_Policy}},
     .on = funcFuncOpName},
    {NULL},
};

// Without a policy products alone are decided: other kernels have plain sizes that were measured to be good.
static const TilePipelineStep toProductTiles[] = {
    {"tile-construct-tiles", {{"ops", "products"}}, .on = funcFuncOpName},
    {NULL},
};

// Tiles become loops over vectors. Tiles share no memory, so a load stays where its value is used; the caller's
// arguments may begin anywhere. A program number that is constant makes the loop over programs one that LLVM 22's
// vectorizer takes: on an unrolled maximum it never ends (vputils::isSingleScalar visits a chain of selects
// exponentially often).
static const TilePipelineStep toVectors[] = {
    {"tile-assume-launch-facts", {{"entry-alignment", "1"}, {"grids", "false"}}},
    {"convert-tile-to-vector", {{"plain-arguments", .from = TilePipeline_Source}}},
    {"canonicalize", .on = funcFuncOpName},
    {"cse", .on = funcFuncOpName},
    {"loop-invariant-code-motion", .on = funcFuncOpName},
    {NULL},
};

// A copy into a padded tensor costs a CPU more than the tests at the image's edges.
static const TilePipelineStep toImages[] = {{"tile-skip-padding"}, {NULL}};

// Here kernels are made, and both forms of an entry launch the same.
static const TilePipelineStep toEntries[] = {{"tile-add-into-entries"}, {NULL}};

// C has no name for the instruction.
static const TilePipelineStep toLookUps[] = {{"tile-look-up-narrow-floats", .on = funcFuncOpName}, {NULL}};

static const TilePipelineStep toCalls[] = {{"convert-tile-launch-to-runtime"}, {NULL}};

// Source text shows what kernels were, and names the functions that they call.
static const TilePipelineStep toTexts[] = {{"tile-record-kernels"}, {NULL}};
static const TilePipelineStep toFunctions[] = {{"tile-outline-functions"}, {NULL}};

// In C a float of 16 bits is its bits: arithmetic is on f32.
static const TilePipelineStep toSingles[] = {
    {"arith-emulate-unsupported-floats", {{"source-types", "f16"}, {"target-type", "f32"}}, .on = funcFuncOpName},
    {"tile-keep-roundings", .on = funcFuncOpName},
    {NULL},
};

// Memrefs keep their places, vectors their length: what is left are accesses by an index. Functions of f64 are not left
// to the C library, which has none of vectors.
static const TilePipelineStep toSource[] = {
    {"tile-expand-extended", .on = funcFuncOpName},
    {"tile-expand-math", {{"f64", "true"}}, .on = funcFuncOpName},
    {"canonicalize", .on = funcFuncOpName},
    {"tile-avoid-upstream-faults", .on = funcFuncOpName},
    {"expand-strided-metadata", .on = funcFuncOpName},
    {"lower-affine", .on = funcFuncOpName},
    {"loop-invariant-code-motion", .on = funcFuncOpName},
    {"tile-simplify-conditions", .on = funcFuncOpName},
    {"canonicalize", .on = funcFuncOpName},
    {"cse", .on = funcFuncOpName},
    {NULL},
};

// An element outside would be other memory of the caller; the emulator finds it by itself.
static const TilePipelineStep toCheckedElements[] = {
    {"tile-check-kernel-places", {{"elements", "true"}}, .on = tileKernelOpName},
    {NULL},
};

static const TilePipelineStage stages[] = {
    {tileStageOfPrograms},
    {toCheckedElements},
    {tileStageToMachine, .given = TilePipeline_Chip},
    {tileStageOfOneFunction, .given = TilePipeline_Fusion, .unless = TilePipeline_Bufferized},
    {tileStageOfOneFunction, .given = TilePipeline_Source, .unless = TilePipeline_Bufferized},
    {tileStageOfTensors, .unless = TilePipeline_Bufferized},
    {toDataLayouts, .unless = TilePipeline_Bufferized},
    {tileStageOfGroups, .given = TilePipeline_Fusion, .unless = TilePipeline_Bufferized},
    {toMergedSizes, .unless = TilePipeline_Bufferized},
    {tileStageOfBuckets, .given = TilePipeline_Buckets, .unless = TilePipeline_Bufferized},
    {toOneRow, .without = TilePipeline_Buckets, .unless = TilePipeline_Bufferized},
    {toProductTiles, .without = TilePipeline_Policy, .unless = TilePipeline_Bufferized},
    {tileStageToTiles, .given = TilePipeline_Policy, .unless = TilePipeline_Bufferized},
    {tileStageToSplitReductions, .unless = TilePipeline_Bufferized},
    {tileStageToKernels, .unless = TilePipeline_Bufferized},
    {toImages, .unless = TilePipeline_Bufferized},
    {toEntries, .given = TilePipeline_Into},
    {tileStageToBuffers, .unless = TilePipeline_Bufferized},
    {tileStageOfOwnership, .unless = TilePipeline_Bufferized},
    {tileStageOfBuffers},
    {tileStageToMerge, .given = TilePipeline_Fusion},
    {toTexts, .given = TilePipeline_Source},
    {toVectors},
    {tileStageToPlanMemory, .given = TilePipeline_Fusion, .without = TilePipeline_Source},
    {tileStageToPlanOpenMemory, .given = TilePipeline_Source},
    {toCalls, .without = TilePipeline_Source},
    {tileStageToLoops},
    {toFunctions, .given = TilePipeline_Source},
    {toSingles, .given = TilePipeline_Source},
    {toLookUps, .without = TilePipeline_Source},
    {tileStageToInstructions},
    {tileStageToLlvm, .without = TilePipeline_Source},
    {toSource, .given = TilePipeline_Source},
    {tileStageToForgetMachine, .given = TilePipeline_Chip},
    {NULL},
};

static bool build(MlirExtPass options, MlirStringCallback append, void *userData) {
  return tilePipelinePrint(stages, NULL, options, append, userData);
}

static bool buildSource(MlirExtPass options, MlirStringCallback append, void *userData) {
  static const TilePipelineConstants source = {.conversion = "", .chip = "", .source = true};
  return tilePipelinePrint(stages, &source, options, append, userData);
}

#define CPU_OPTIONS                                                                                                    \
  TILE_PIPELINE_CHIP("this host"), TILE_PIPELINE_BUCKETS, TILE_PIPELINE_BUFFERIZED,                                    \
      TILE_PIPELINE_FAST(TILE_FAST_MATH_HELP), TILE_PIPELINE_CHOICE(policy), TILE_PIPELINE_CHOICE(fusion),             \
      TILE_PIPELINE_CHOICE(sparsity)

const MlirExtPipelineDefinition tileToCpuPipeline = {
    .argument = "tile-to-cpu-pipeline",
    .summary = "Lower linalg, tile graphs and tile kernels to the LLVM dialect for this CPU",
    .options = (const MlirExtPassOption[]){CPU_OPTIONS, TILE_PIPELINE_INTO, {NULL}},
    .build = build,
};

const MlirExtPipelineDefinition tileToCSourcePipeline = {
    .argument = "tile-to-c-source-pipeline",
    .summary = "As tile-to-cpu-pipeline, up to the level at which programs are written as C",
    .options = (const MlirExtPassOption[]){CPU_OPTIONS, {NULL}},
    .build = buildSource,
};
