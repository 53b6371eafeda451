// The pass of pair_halves.c.
#pragma once

#include "lib/ir/pass.h"

extern const MlirExtPassDefinition tilePairHalvesPass;
