// The pass of expand_math.c.
#ifndef TESSERA_TRANSFORMS_MATH_EXPAND_MATH_H
#define TESSERA_TRANSFORMS_MATH_EXPAND_MATH_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileExpandMathPass;

#endif
