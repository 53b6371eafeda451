// The pass of expand_gathers.c.
#pragma once

#include "lib/ir/pass.h"

extern const MlirExtPassDefinition tileExpandGathersPass;
