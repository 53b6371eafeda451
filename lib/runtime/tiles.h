// tiles.h - tile registers of x86-64 (AMX): whether this process may use them.
//
//   if (tessera_tiles() & TESSERA_TILES_BF16) … tdpbf16ps … else … vectors …
//
// The system keeps 8 KB more for each thread that uses them, so Linux wants to be asked (arch_prctl,
// ARCH_REQ_XCOMP_PERM), once for all threads of a process, and may refuse. Compiled kernels ask here and have other
// code for a refusal: a program that uses them runs on every processor that has the rest of its instructions.
//
// TESSERA_TILES=off in the environment refuses too.
#pragma once

#include "lib/support/tile_kinds.h"

#include <stdint.h>

// The kinds, or'ed; 0: not to be used. Asks at the first call; any thread may call it.
int32_t tessera_tiles(void);

// For the runtime: leaves this thread's registers unconfigured, after a failure in the middle of a kernel.
void tessera_tiles_release(void);
