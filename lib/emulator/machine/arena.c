// arena.c - memory that is given back all at once, at the end of a block or a launch.
#include "lib/emulator/machine/worker.h"

#include <stdlib.h>
#include <string.h>

typedef struct emu_chunk_t {
  struct emu_chunk_t *next;
  size_t bytes;
  _Alignas(16) char memory[];
} emu_chunk_t;

enum { CHUNK_BYTES = 64 << 10 };

static bool add_chunk(emu_arena_t *arena, size_t bytes) {
  size_t wanted = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
  emu_chunk_t *chunk = malloc(sizeof *chunk + wanted);
  if (!chunk)
    return false;
  chunk->next = arena->chunks;
  chunk->bytes = wanted;
  arena->chunks = chunk;
  arena->used = 0;
  return true;
}

void *emu_arena_take(emu_worker_t *worker, emu_arena_t *arena, size_t bytes) {
  bytes = (bytes + 15) & ~(size_t)15;
  if ((!arena->chunks || arena->chunks->bytes - arena->used < bytes) && !add_chunk(arena, bytes)) {
    worker->no_memory = true;
    emu_abort_block(worker);
  }
  void *memory = arena->chunks->memory + arena->used;
  arena->used += bytes;
  return memset(memory, 0, bytes);
}

void emu_arena_reset(emu_arena_t *arena) {
  while (arena->chunks && arena->chunks->next) {
    emu_chunk_t *next = arena->chunks->next;
    free(arena->chunks);
    arena->chunks = next;
  }
  arena->used = 0;
}

void emu_arena_free(emu_arena_t *arena) {
  emu_arena_reset(arena);
  free(arena->chunks);
  arena->chunks = NULL;
}
