// tile.launch -> calls of libtessera-runtime. The packed ABI is described in the .c file's banner.
#ifndef TESSERA_CONVERSION_TILE_LAUNCH_TO_RUNTIME_H
#define TESSERA_CONVERSION_TILE_LAUNCH_TO_RUNTIME_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileLaunchToRuntimePass;

#endif
