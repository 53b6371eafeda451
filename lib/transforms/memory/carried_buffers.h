// Questions about buffers that loops carry and branches give, before deallocation.
#pragma once

#include "lib/ir/support.h"

// A memref.alloc of constant sizes in this block, which nobody frees.
bool tileBufferIsMadeIn(MlirBlock block, MlirValue buffer);
// Nobody looks at the buffer once the loop has begun, so rounds may overwrite it.
bool tileBufferIsLeftToLoop(MlirOperation loop, MlirValue buffer);
