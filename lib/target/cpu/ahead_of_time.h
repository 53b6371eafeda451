// What the files of ahead-of-time translation share.
#ifndef TESSERA_TARGET_CPU_AHEAD_OF_TIME_H
#define TESSERA_TARGET_CPU_AHEAD_OF_TIME_H

#include "lib/target/target.h"
#include "llvm-c/Core.h"

enum { ChipNameCapacity = 64 };

// A CPU by the name of its machine file.
typedef struct TileCpuChip {
  char name[ChipNameCapacity];  // "native"
  char needs[ChipNameCapacity]; // the x86-64 level its code needs
  const char *processor;        // LLVM's name, points into this; null is the one we run on
} TileCpuChip;
bool tileCpuChipFind(const char *name, TileCpuChip *chip, tessera_error_t *error);

// Adds the constant `tessera_manifest` (lib/runtime/manifest.h) for the entries, whose packed functions are in
// `module`.
bool tileCpuAddManifest(LLVMModuleRef module, const TileTranslation *translation, const TileCpuChip *chip,
                        tessera_error_t *error);

// Fills the table of images that the host's part refers to (convert-gpu-launch-to-runtime), if it launches anything.
void tileCpuAddImages(LLVMModuleRef module, const tessera_images_t *images);

// Links an object to a shared object with lld or ld, found beside our LLVM or on PATH.
bool tileCpuLink(const void *object, size_t size, TileArtifact *program, tessera_error_t *error);

#endif
