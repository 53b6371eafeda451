// The code of a module's kernels for one chip, in the form in which the runtime loads it (lib/runtime/driver.h).
//
//   TileImage image;
//   if (tileImageCreate(module, "sm_80", "ptx", &image, &error)) … image.record …
//   tileImageDestroy(&image);   // also after a failure
#pragma once

#include "lib/runtime/tessera.h"
#include "lib/target/target.h"

typedef struct TileImage {
  tessera_image_t record; // points into the rest
  TileArtifact artifact;
  bool wantsFigures; // to be set before, by who wants the artifact's
  tessera_image_kernel_t *kernels;
  char *module, *chip;
} TileImage;

// `module` holds one gpu.module, lowered for `chip`; `form`: of a target, "ptx".
bool tileImageCreate(MlirOperation module, const char *chip, const char *form, TileImage *image,
                     tessera_error_t *error);
void tileImageDestroy(TileImage *image);
