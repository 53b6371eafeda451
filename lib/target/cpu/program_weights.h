// The constants of a program that lie in files: which these are, what the manifest says of them, who maps them.
#pragma once

#include "lib/support/files/mapped_weights.h"
#include "lib/target/cpu/outer_constants.h"
#include "lib/target/target.h"
#include "llvm-c/Core.h"

// A constant, and where it will be found: a row of the manifest's table. `file` is owned.
typedef struct TileProgramWeight {
  tessera_weights_source_t source;
  char *file;
} TileProgramWeight;

typedef struct TileProgramWeights {
  TileCpuWeights taken;
  TileProgramWeight *items; // one for each that was taken
} TileProgramWeights;

// Takes constants out of the module before it is translated: those that lie in files, and with prepared weights all
// others of more than 1 KB. A program for several GPUs, and one that embeds its weights, keeps them.
bool tileProgramTakeWeights(const TileTranslation *translation, TileProgramWeights *weights, tessera_error_t *error);
// The entries of the translated module map the files before anything else. Expects the manifest in the module.
void tileProgramNeedWeights(LLVMModuleRef module, const TileTranslation *translation,
                            const TileProgramWeights *weights);
void tileProgramFreeWeights(TileProgramWeights *weights);
