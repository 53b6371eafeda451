// The thread's own memory while a function is lowered: which allocas there are and what an access of one becomes.
#pragma once

#include "lib/emulator/compile/build.h"

// The pointer that address arithmetic and casts began with.
MlirValue emulatorRoot(MlirValue pointer);
// Prepares the allocas among the function's ops.
void emulatorAddPrivates(EmulatorBuild *build, const TileOps *ops);
// The pointer to use for an access of `bytes` (an i64) in front of `op`; null where the root is no such alloca.
MlirValue emulatorPrivateAccess(EmulatorBuild *build, TileBuilder *b, MlirOperation op, MlirValue pointer,
                                MlirValue bytes, uint32_t what);
