// Chunks that are freed at once. Knows no MLIR. See op_arena.h.
#include "lib/ir/op_spec.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct TileArenaChunk {
  struct TileArenaChunk *next;
  size_t used, size;
  max_align_t data[];
} TileArenaChunk;

enum { ChunkSize = 16 << 10 };

static TileArenaChunk *addChunk(TileArena *arena, size_t size) {
  size_t space = size > ChunkSize ? size : ChunkSize;
  TileArenaChunk *chunk = calloc(1, sizeof *chunk + space);
  chunk->size = space;
  chunk->next = arena->chunks;
  return arena->chunks = chunk;
}

void *tileArenaAllocate(TileArena *arena, size_t size) {
  size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
  TileArenaChunk *chunk = arena->chunks;
  if (!chunk || chunk->size - chunk->used < size)
    chunk = addChunk(arena, size);
  void *memory = (char *)chunk->data + chunk->used;
  chunk->used += size;
  return memory;
}

const char *tileArenaString(TileArena *arena, const char *begin, size_t length) {
  char *copy = tileArenaAllocate(arena, length + 1);
  memcpy(copy, begin, length);
  return copy;
}

const char *tileArenaPrintf(TileArena *arena, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char *text = tileArenaAllocate(arena, (size_t)length + 1);
  va_start(arguments, format);
  vsnprintf(text, (size_t)length + 1, format, arguments);
  va_end(arguments);
  return text;
}

void tileArenaFree(TileArena *arena) {
  while (arena->chunks) {
    TileArenaChunk *next = arena->chunks->next;
    free(arena->chunks);
    arena->chunks = next;
  }
}

bool tileSpecError(const TileSpecError *error, const TileOpSpec *spec, const char *column, const char *format, ...) {
  int used =
      snprintf(error->text, error->capacity, "%s: %s%s", spec->fullName, column ? column : "", column ? ": " : "");
  va_list arguments;
  va_start(arguments, format);
  if (used >= 0 && (size_t)used < error->capacity)
    vsnprintf(error->text + used, error->capacity - (size_t)used, format, arguments);
  va_end(arguments);
  return false;
}
