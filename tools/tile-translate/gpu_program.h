// A program with device code: its module lowered for each GPU asked for, and the code of their kernels.
#ifndef TESSERA_TOOLS_TILE_TRANSLATE_GPU_PROGRAM_H
#define TESSERA_TOOLS_TILE_TRANSLATE_GPU_PROGRAM_H

#include "lib/pipelines/session.h"
#include "lib/target/image.h"
#include "tools/tile-translate/options.h"

enum { MaxGpus = sizeof((TranslateOptions *)0)->chips / sizeof(char *) };

typedef struct GpuProgram {
  const TranslateOptions *options;
  TileTranslation translation; // the host's part of the first chip, and all images
  MlirModule modules[MaxGpus];
  TileImage images[MaxGpus];
  tessera_image_t records[MaxGpus];
  char pipeline[256]; // of the first
} GpuProgram;

// Fills program->translation. The host's parts must be alike: else the chips want a program each, and that is said.
bool gpuProgramLower(GpuProgram *program, const TileSession *session, tessera_error_t *error);
void gpuProgramDestroy(GpuProgram *program); // also after a failure

#endif
