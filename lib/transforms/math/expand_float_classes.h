// The pass of expand_float_classes.c.
#pragma once

#include "lib/ir/pass.h"

extern const MlirExtPassDefinition tileExpandFloatClassesPass;
