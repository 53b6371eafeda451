// How much shared memory a kernel may still take: what both passes of this room ask.
#ifndef TESSERA_TRANSFORMS_PIPELINE_SHARED_MEMORY_H
#define TESSERA_TRANSFORMS_PIPELINE_SHARED_MEMORY_H

#include "lib/capi/common.h"

struct TileMachine;

// The outermost loop around the op; null outside loops.
MlirOperation tileOutermostLoop(MlirOperation op);
// What buffers that live during an outermost loop (null: all the time) may take: the machine's limit for a block, less
// the buffers that live then too and the scratch that ops need then to move elements between threads, as much as the
// largest tile they move. Buffers of other loops lie in the same memory (lib/conversion/tile_to_gpu/lifetimes.c).
int64_t tileSharedMemoryLeft(MlirOperation kernel, const struct TileMachine *machine, MlirOperation loop);

#endif
