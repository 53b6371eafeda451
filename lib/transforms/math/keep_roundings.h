// The pass of keep_roundings.c.
#ifndef TESSERA_TRANSFORMS_MATH_KEEP_ROUNDINGS_H
#define TESSERA_TRANSFORMS_MATH_KEEP_ROUNDINGS_H

#include "lib/ir/pass.h"

extern const MlirExtPassDefinition tileKeepRoundingsPass;

#endif
