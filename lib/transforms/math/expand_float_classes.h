// The pass of expand_float_classes.c.
#ifndef TESSERA_TRANSFORMS_MATH_EXPAND_FLOAT_CLASSES_H
#define TESSERA_TRANSFORMS_MATH_EXPAND_FLOAT_CLASSES_H

#include "lib/ir/pass.h"

extern const MlirExtPassDefinition tileExpandFloatClassesPass;

#endif
