// What passes that move memory accesses out of loops ask, and the loop they leave.
#ifndef TESSERA_TRANSFORMS_PIPELINE_LOOPS_H
#define TESSERA_TRANSFORMS_PIPELINE_LOOPS_H

#include "lib/capi/common.h"

// Whether the value is the same in all rounds of the loop: it stands outside.
bool tileIsInvariant(MlirOperation loop, MlirValue value);
bool tileAreOperandsInvariant(MlirOperation loop, MlirOperation op);
// The loop once more with more values carried round; its ops move over and its results are replaced. The old one is
// gone. The new terminator still lacks the values: tileLoopYieldMore.
MlirOperation tileLoopCarryMore(MlirOperation loop, intptr_t count, const MlirValue *initial);
void tileLoopYieldMore(MlirOperation loop, intptr_t count, const MlirValue *values);

#endif
