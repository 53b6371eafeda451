// The pass of simplify_conditions.c.
#pragma once

#include "lib/ir/pass.h"

extern const MlirExtPassDefinition tileSimplifyConditionsPass;
