// The target of NVIDIA's GPUs: scheduled tile kernels -> PTX, cubin, SASS.
#pragma once

#include "lib/target/target.h"

extern const TileCodeTarget tileNvvmTarget;

// Shared memory beyond what a kernel may declare is given at its launch: this many bytes mean that (PTX ISA, .shared).
enum { TileNvvmStaticSharedBytes = 49152 };

//===--- within the room ----------------------------------------------------------===//
// PTX -> cubin by ptxas, found by CUDA_HOME, CUDA_PATH, PATH or in the usual place; what it says of registers, spills
// and shared memory becomes the artifact's figures.
bool tileNvvmHasAssembler(tessera_error_t *error); // false says where it was looked for
bool tileNvvmAssemble(const TileArtifact *ptx, const char *chip, TileArtifact *cubin, tessera_error_t *error);
// cubin -> listing by nvdisasm or cuobjdump.
bool tileNvvmDisassemble(const TileArtifact *cubin, TileArtifact *listing, tessera_error_t *error);
