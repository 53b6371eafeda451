// The pass of expand_math.c.
#ifndef TESSERA_TRANSFORMS_MATH_EXPAND_MATH_H
#define TESSERA_TRANSFORMS_MATH_EXPAND_MATH_H

#include "lib/capi/pass.h"

// What option `fast` means; --tile-to-cpu-pipeline has it too.
#define TILE_FAST_MATH_HELP                                                                                            \
  "Take upstream's approximations of exp, log, log2, tanh and erf: faster, up to 5 ulp, no subnormals"

extern const MlirExtPassDefinition tileExpandMathPass;

#endif
