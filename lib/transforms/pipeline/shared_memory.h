// How much shared memory a kernel may still take: what both passes of this room ask.
#ifndef TESSERA_TRANSFORMS_PIPELINE_SHARED_MEMORY_H
#define TESSERA_TRANSFORMS_PIPELINE_SHARED_MEMORY_H

#include "lib/capi/common.h"

struct TileMachine;

/// Bytes of a buffer, all stages.
int64_t tileBufferBytes(MlirType buffer);
/// The machine's limit for a block, less the kernel's shared buffers and the scratch that its ops will need to move
/// elements between threads: as much as the largest tile they move.
int64_t tileSharedMemoryLeft(MlirOperation kernel, const struct TileMachine *machine);

#endif
