// The pass of look_up_narrow_floats.c.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileLookUpNarrowFloatsPass;
