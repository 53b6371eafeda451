// Allocations that may become places in one larger allocation, an arena, and views that are such places.
//
//   %arena = memref.alloc() {alignment = 64} : memref<512xi8>
//   %a = memref.view %arena[%c64][] : memref<512xi8> to memref<64xf32>
//
// Expects: host functions on buffers. Several passes make arenas: tile-plan-memory of what is not in use together,
// tile-co-schedule-kernels of what one launch uses.
#pragma once

#include "lib/ir/support.h"

enum { TileArenaAlignment = 64 };

// Calls of the runtime say which bytes of an arena are a buffer's, so that the emulator finds an access outside of it:
// (address of the arena, offset, bytes), and (address, offset) at the end.
#define TILE_ARENA_SLOT "tessera_arena_slot"
#define TILE_ARENA_SLOT_END "tessera_arena_slot_end"

// Its elements stand one behind another, in plain memory, at no stricter alignment.
bool tileAllocationMayMove(MlirOperation alloc);
// The only op that frees the allocation, in its block; null: none, or several.
MlirOperation tileAllocationFree(MlirOperation alloc);
int64_t tileArenaAskedBytes(MlirType type); // of a constant shape; INT64_MAX: too many
int64_t tileArenaBytes(MlirType type);      // as tileArenaAskedBytes, a multiple of the alignment
// Only launches use the memory, whose size is constant, by itself or by views that do not move its address; one op of
// its block frees it.
bool tileAllocationIsOfLaunches(MlirOperation alloc);

// What a memref lies in: its root, or a view that begins at a constant byte of the root, in which other views lie.
//   *bytes: where it begins in the root. Null: a view moves the address by what is not known.
MlirValue tileMemoryPart(MlirValue memref, int64_t *bytes);
