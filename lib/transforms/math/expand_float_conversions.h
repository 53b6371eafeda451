// The pass of expand_float_conversions.c.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileExpandFloatConversionsPass;
