// The pass of expand_gathers.c.
#ifndef TESSERA_TRANSFORMS_TENSOR_EXPAND_GATHERS_H
#define TESSERA_TRANSFORMS_TENSOR_EXPAND_GATHERS_H

#include "lib/ir/pass.h"

extern const MlirExtPassDefinition tileExpandGathersPass;

#endif
