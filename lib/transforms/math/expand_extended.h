// The pass of expand_extended.c.
#pragma once

#include "lib/ir/pass.h"

extern const MlirExtPassDefinition tileExpandExtendedPass;
