// The pass of expand_float_conversions.c.
#ifndef TESSERA_TRANSFORMS_MATH_EXPAND_FLOAT_CONVERSIONS_H
#define TESSERA_TRANSFORMS_MATH_EXPAND_FLOAT_CONVERSIONS_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileExpandFloatConversionsPass;

#endif
