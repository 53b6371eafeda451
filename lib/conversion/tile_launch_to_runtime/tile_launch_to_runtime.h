// tile.launch -> calls of libtessera-runtime. The packed ABI is described in the .c file's banner.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileLaunchToRuntimePass;
