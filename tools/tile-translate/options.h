// The command line of tile-translate.
#pragma once

#include "lib/support/run_options.h"
#include "lib/support/status.h"

// Strings point into argv; null when not given. The output defaults to "-", standard output.
typedef struct TranslateOptions {
  bool help, draw;
  int64_t elementBytes; // of drawn layouts
  const char *chips[8]; // --target=CHIP, each: GPUs that a program is for
  int numChips;
  const char *file, *form, *target, *chip, *pipeline, *stats, *output, *weights, *prepared;
  tessera_choices_t choices; // of the target's own pipeline
  int cudaTile;              // N: bytecode of CUDA Tile IR, version 13.N; 0: not asked for
  bool ttir, descriptors;    // TTIR is asked for
  bool embedsWeights, lines;
  const char *import; // the form of FILE that is printed as linalg: onnx, stablehlo
} TranslateOptions;

bool translateOptionsParse(int argc, char **argv, TranslateOptions *options, tessera_error_t *error);
void translateOptionsPrintHelp(void);
