// What the files of ahead-of-time translation share.
#pragma once

#include "lib/support/file.h"
#include "lib/target/cpu/program_weights.h"
#include "lib/target/target.h"
#include "llvm-c/Core.h"

enum { ChipNameCapacity = 64, ChipFeaturesCapacity = 512 };

// A CPU by the name of its machine file.
typedef struct TileCpuChip {
  char name[ChipNameCapacity];         // "native"
  char needs[ChipFeaturesCapacity];    // what its code needs, as lib/machine/cpu_feature.h names it
  char processor[ChipNameCapacity];    // LLVM's name; empty is the one we run on
  char features[ChipFeaturesCapacity]; // beyond the processor's, as LLVM writes them
} TileCpuChip;
bool tileCpuChipFind(const char *name, TileCpuChip *chip, tessera_error_t *error);

// Adds the constant `tessera_manifest` (lib/runtime/manifest.h) for the entries, whose packed functions are in
// `module`.
bool tileCpuAddManifest(LLVMModuleRef module, const TileTranslation *translation, const TileCpuChip *chip,
                        const TileProgramWeights *weights, tessera_error_t *error);

// Fills the tables of images that the host's parts refer to (convert-gpu-launch-to-runtime), where they launch
// anything. With several host's parts, the I-th refers to TABLE.I.
void tileCpuAddImages(LLVMModuleRef module, const TileTranslation *translation);
enum { SymbolCapacity = 512 };
#define TILE_IMAGES_TABLE "tessera_device_images" // convert-gpu-launch-to-runtime's

// Joins the host's parts of a program for several GPUs: `modules[0]` gets all, and each entry becomes a choice between
// those of the parts by the device that runs it (variants.c).
bool tileCpuJoinVariants(LLVMModuleRef *modules, int count, const TileEntries *entries, tessera_error_t *error);

// Links objects to a shared object with lld or ld, found beside our LLVM or on PATH.
enum { TileCpuMaxObjects = 16 };
bool tileCpuLink(const tessera_bytes_t *objects, int count, TileArtifact *program, tessera_error_t *error);
