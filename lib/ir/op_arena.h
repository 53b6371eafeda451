// Memory that is freed all at once. It holds compiled rows, and what a pass reads from ops.
#pragma once

#include <stddef.h>

typedef struct TileArena {
  struct TileArenaChunk *chunks;
} TileArena;
void *tileArenaAllocate(TileArena *arena, size_t size); // zeroed
const char *tileArenaString(TileArena *arena, const char *begin, size_t length);
const char *tileArenaPrintf(TileArena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tileArenaFree(TileArena *arena); // it can be used again
