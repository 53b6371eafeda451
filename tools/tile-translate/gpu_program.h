// A program with device code: its module lowered for each GPU asked for, and the code of their kernels.
#pragma once

#include "lib/pipelines/session.h"
#include "lib/support/json.h"
#include "lib/target/image.h"
#include "tools/tile-translate/options.h"

enum { MaxGpus = sizeof((TranslateOptions *)0)->chips / sizeof(char *), MaxForms = 2 };

// One GPU that the program is for.
typedef struct GpuPart {
  MlirModule module;          // the host's part, once the images are made
  TileImage images[MaxForms]; // PTX and a cubin; an HSACO
  int numImages, variant;     // which host's part it has
  tessera_error_t missing;    // why there is no more; empty
} GpuPart;

typedef struct GpuProgram {
  const TranslateOptions *options;
  TileTranslation translation; // the host's parts, and all images
  GpuPart parts[MaxGpus];
  TileVariant variants[MaxGpus];
  tessera_image_t records[MaxGpus * MaxForms]; // by variant
  char *pipeline;                              // of the first; owned
} GpuProgram;

// False if a choice is given that a chip's pipeline does not declare.
bool gpuProgramTakesChoices(const TranslateOptions *options, tessera_error_t *error);
// Fills program->translation.
bool gpuProgramLower(GpuProgram *program, const TileSession *session, tessera_error_t *error);
// "device_code": of each chip what code there is, its kernels' figures, and what is missing for more.
void gpuProgramWrite(const GpuProgram *program, tessera_json_t *json);
void gpuProgramForgetModules(GpuProgram *program); // before the session is closed
void gpuProgramDestroy(GpuProgram *program);       // also after a failure
