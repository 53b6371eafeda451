// A pipeline as data: stages, which are arrays of steps. tilePipelinePrint turns both into the text that MLIR parses.
//
//   static const TilePipelineStep toCalls[] = {
//       {"convert-assert-to-runtime"},
//       {"tile-expand-math", {{"fast", .from = TilePipeline_Fast}}, .on = "func.func"},
//       {NULL}};
//   static const TilePipelineStage stages[] = {{toCalls}, {NULL}};
//
// A step is one pass. Neighbours of one stage that run on the same op are printed together: func.func(a,b). The
// expansion (--dump-pass-pipeline) can be run pass by pass through tile-opt, and gives the same module.
#pragma once

#include "lib/capi/pass.h"
#include "lib/support/run_options.h"
#include "lib/support/status.h"

//===--- options of pipelines --------------------------------------------------===//

// A pipeline declares those that it has; one that it does not declare is empty.
typedef enum TilePipelineOption {
  TilePipeline_None,
  TilePipeline_Chip,
  TilePipeline_Buckets,
  TilePipeline_Bufferized,
  TilePipeline_Fast,
  TilePipeline_Policy,
  TilePipeline_Fusion,
  TilePipeline_Persistent,
  TilePipeline_Sparsity,
  TilePipeline_Into,
  // No options but constants, which a table of several pipelines refers to (TilePipelineConstants).
  TilePipeline_Conversion,
  TilePipeline_DefaultChip,
  TilePipeline_Source,
} TilePipelineOption;

// What differs between pipelines that share one array of stages.
typedef struct TilePipelineConstants {
  const char *conversion, *chip;
  bool source; // the pipeline ends where source text is written, ahead of llvm
} TilePipelineConstants;

#define TILE_PIPELINE_CHIP(otherwise)                                                                                  \
  {"chip", "the machine, by the name that its file has; default: the module's tile.machine, else " otherwise,          \
   MlirExtOption_String, ""}
#define TILE_PIPELINE_BUCKETS                                                                                          \
  {"buckets",                                                                                                          \
   "sizes known late: kernels for each of these, chosen at run time (16,256,4096); default: one kernel for all",       \
   MlirExtOption_String, ""}
#define TILE_PIPELINE_BUFFERIZED                                                                                       \
  {"bufferized", "the program is in buffers: leave out the stages that work on tensors", MlirExtOption_Bool, "false"}
#define TILE_PIPELINE_FAST(help) {"fast", help, MlirExtOption_Bool, "false"}
// A row of lib/support/choices.def: TILE_PIPELINE_CHOICE(sparsity).
#define TILE_PIPELINE_CHOICE(name) {#name, tessera_summary_of_##name, MlirExtOption_String, ""}

#define TILE_PIPELINE_INTO                                                                                             \
  {"into", "each entry gets a second form, which writes the caller's buffers", MlirExtOption_Bool, "false"}

//===--- steps and stages ------------------------------------------------------===//

// An option of a pass: the text, or the value of one of the pipeline's own options. An empty value is not printed.
typedef struct TilePipelineSetting {
  const char *option, *text;
  TilePipelineOption from;
} TilePipelineSetting;

typedef struct TilePipelineStep {
  const char *pass; // null without `from` ends a stage
  TilePipelineSetting settings[3];
  const char *on;          // the ops it runs on, each by itself: "func.func"; null: the module
  TilePipelineOption from; // the constant that names the pass, where `pass` is null
} TilePipelineStep;

typedef struct TilePipelineStage {
  const TilePipelineStep *steps; // null ends a pipeline
  TilePipelineOption given;      // the stage is left out unless this option has a value, other than false
  TilePipelineOption without;    // the stage is left out if this option has a value
  TilePipelineOption unless;     // the stage is left out if this option is true
} TilePipelineStage;

// Prints the passes, for the build of an MlirExtPipelineDefinition. Checks the values that it forwards: a pass option
// takes words, numbers and lists of them. Without `constants` the values that refer to them are empty. False after
// mlirExtPipelineError.
bool tilePipelinePrint(const TilePipelineStage *stages, const TilePipelineConstants *constants, MlirExtPass options,
                       MlirStringCallback append, void *userData);

//===--- calling a pipeline ----------------------------------------------------===//

// A named pipeline and values for its options. A null value leaves the option out.
typedef struct TilePipelineCall {
  const char *pipeline, *before;    // before: a pass that runs ahead of it; may be null
  const tessera_choices_t *choices; // null: none. Those that the pipeline does not declare are left out
  struct {
    const char *option, *value;
  } values[4];
} TilePipelineCall;

// Does the pipeline of this name declare the option?
bool tilePipelineHasOption(const char *pipeline, const char *option);
// False if a choice is given that the pipeline does not declare.
bool tilePipelineTakesChoices(const char *pipeline, const tessera_choices_t *choices, tessera_error_t *error);
// "builtin.module(before,pipeline{option=value})", to be freed; null after an error.
char *tilePipelineCallPrint(const TilePipelineCall *call, tessera_error_t *error);
// The pipeline that makes code for a chip: "tile-to-nvvm-pipeline" for sm_80; null for a chip that no pipeline makes
// code for.
const char *tilePipelineOfChip(const char *chip);
// As above, for a program with kernels in upstream's dialect gpu: "tile-gpu-to-nvvm-pipeline".
const char *tilePipelineOfGpuPrograms(const char *chip);
