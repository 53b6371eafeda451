// What can be read again instead of being held in registers.
#ifndef TESSERA_TRANSFORMS_PIPELINE_REGISTERS_H
#define TESSERA_TRANSFORMS_PIPELINE_REGISTERS_H

#include "lib/capi/common.h"

struct TileMachine;

// Fragments of products that are read from a shared buffer before a loop are read in the loop, at their product, where
// the loop's tiles would take more registers than the kernel may have. Returns how many.
int64_t tileReadFragmentsInLoops(MlirOperation kernel, const struct TileMachine *machine);

#endif
