// What passes that move memory accesses out of loops ask, the loop they leave, and how much shared memory is left.
#pragma once

#include "lib/capi/common.h"

struct TileMachine;

// The loop once more with more values carried round; its ops move over and its results are replaced. The old one is
// gone. The new terminator still lacks the values: tileLoopYieldMore.
MlirOperation tileLoopCarryMore(MlirOperation loop, intptr_t count, const MlirValue *initial);
void tileLoopYieldMore(MlirOperation loop, intptr_t count, const MlirValue *values);

// The outermost loop around the op; null outside loops.
MlirOperation tileOutermostLoop(MlirOperation op);
// The two ops never run in one round of anything: a branch has one of them on each side.
bool tileAreInOtherBranches(MlirOperation a, MlirOperation b);
// What buffers that live during the outermost loop around the op (outside loops: all the time) may take: the machine's
// limit for a block, less the buffers that live then too and the scratch that ops need then to move elements between
// threads, as much as the largest tile they move. Buffers of other loops lie in the same memory, and so do those made
// in other branches, as the bodies of one launch of many are.
int64_t tileSharedMemoryLeft(MlirOperation kernel, const struct TileMachine *machine, MlirOperation op);
