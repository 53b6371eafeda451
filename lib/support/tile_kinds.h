// What the tile registers of x86-64 (AMX) can multiply: bits of what tessera_tiles returns (lib/runtime/tiles.h), which
// compiled kernels test.
#pragma once

enum { TESSERA_TILES_BF16 = 1, TESSERA_TILES_I8 = 2, TESSERA_TILES_F16 = 4 };
