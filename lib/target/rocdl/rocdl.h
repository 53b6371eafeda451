// The target of AMD's GPUs: tile kernels -> AMDGPU assembly, HSACO.
#pragma once

#include "lib/target/target.h"

extern const TileCodeTarget tileRocdlTarget;

//===--- within the room ----------------------------------------------------------===//
// Object -> HSACO, a shared object, by ld.lld, found by ROCM_PATH, PATH or in the usual place.
bool tileRocdlLink(const TileArtifact *object, TileArtifact *hsaco, tessera_error_t *error);

// The figures of the kernels, as the back end wrote them: into the assembly's text, or the object's note.
void tileRocdlReadAssembly(TileArtifact *assembly);
void tileRocdlReadObject(TileArtifact *object);
