// The pass of expand_math.c.
#pragma once

#include "lib/capi/pass.h"

// What option `fast` means; --tile-to-cpu-pipeline has it too.
#define TILE_FAST_MATH_HELP                                                                                            \
  "Evaluate exp, exp2, tanh and erf in f32 lanes, as if each had fastmath<afn>: twice as fast, to 1 ulp"

extern const MlirExtPassDefinition tileExpandMathPass;
