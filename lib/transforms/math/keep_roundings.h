// The pass of keep_roundings.c.
#pragma once

#include "lib/ir/pass.h"

extern const MlirExtPassDefinition tileKeepRoundingsPass;
