// local.c - a stack of local memory for each thread, in chunks that only grow.
// Why: kernels pack operands into buffers of up to megabytes, thousands of times a second; malloc would return pages to
// the system and fault them in again. Expects: frees in about the reverse order. Leaves: at rest, one chunk a thread.
#include "lib/runtime/local.h"

#include "lib/runtime/call.h"

#include <pthread.h>
#include <stdlib.h>

enum { ALIGNMENT = 64, FIRST_CHUNK = 256 * 1024 };
#define LARGEST ((int64_t)1 << 46)

// A run of memory from the system. Allocations follow it; each has an entry_t in front.
typedef struct chunk_t {
  struct chunk_t *below; // what was in use when this one was begun
  int64_t size, used;    // bytes after this header
  char padding[ALIGNMENT - 24];
} chunk_t;

typedef struct entry_t {
  struct entry_t *below; // the allocation made before this one
  chunk_t *chunk;
  int64_t size; // with this header
  int64_t freed;
  char padding[ALIGNMENT - 32];
} entry_t;

_Static_assert(sizeof(chunk_t) == ALIGNMENT && sizeof(entry_t) == ALIGNMENT, "data must stay aligned");

typedef struct local_stack_t {
  chunk_t *chunk; // where the next allocation goes
  chunk_t *spare; // an empty one kept for the next time the stack grows as high
  entry_t *top;
} local_stack_t;

static _Thread_local local_stack_t local;
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

static void free_chunks(void *unused) {
  (void)unused;
  while (local.chunk) {
    chunk_t *below = local.chunk->below;
    free(local.chunk);
    local.chunk = below;
  }
  free(local.spare);
  local = (local_stack_t){0};
}

static void create_exit_key(void) { pthread_key_create(&exit_key, free_chunks); }

// Thread-local variables have no destructors in C: a key with any value makes the thread's exit call free_chunks.
static void free_at_thread_exit(void) {
  pthread_once(&exit_key_once, create_exit_key);
  pthread_setspecific(exit_key, &local);
}

static chunk_t *create_chunk(int64_t wanted) {
  int64_t size = local.chunk ? 2 * local.chunk->size : FIRST_CHUNK;
  while (size < wanted)
    size *= 2;
  chunk_t *chunk = aligned_alloc(ALIGNMENT, sizeof *chunk + (size_t)size);
  if (!chunk) // twice as much as asked for may be what was too much
    chunk = aligned_alloc(ALIGNMENT, sizeof *chunk + (size_t)(size = wanted));
  if (chunk)
    *chunk = (chunk_t){.size = size};
  return chunk;
}

// Makes local.chunk one with |wanted| bytes left.
static bool make_room(int64_t wanted) {
  if (local.chunk && local.chunk->size - local.chunk->used >= wanted)
    return true;
  chunk_t *chunk = local.spare;
  if (chunk && chunk->size >= wanted)
    local.spare = NULL;
  else if (!(chunk = create_chunk(wanted)))
    return false;
  free_at_thread_exit();
  chunk->below = local.chunk;
  local.chunk = chunk;
  return true;
}

void *tessera_local_alloc(int64_t bytes) {
  int64_t size = bytes < 0 || bytes > LARGEST ? -1 : (bytes + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (size < 0 || !make_room(size)) {
    tessera_raise("a kernel asked for %lld bytes of local memory: %s", (long long)bytes,
                  size < 0 ? "not a size" : "the system has no more");
    return NULL;
  }
  chunk_t *chunk = local.chunk;
  entry_t *entry = (entry_t *)((char *)(chunk + 1) + chunk->used);
  chunk->used += size;
  *entry = (entry_t){.below = local.top, .chunk = chunk, .size = size};
  local.top = entry;
  return entry + 1;
}

// The chunk in use has become empty: go back to the one below it, keeping the larger of the empty ones.
static void leave_chunk(void) {
  chunk_t *empty = local.chunk, *below = empty->below;
  if (!below)
    return;
  if (below->used == 0) { // only the first chunk can be: stay in the larger one
    empty->below = NULL;
    free(below);
    return;
  }
  free(local.spare);
  local.spare = empty;
  local.chunk = below;
}

// With nothing in use, a larger spare replaces the chunk, so that a steady program lives in one.
static void settle(void) {
  if (local.top || !local.spare)
    return;
  chunk_t *smaller = local.chunk;
  local.chunk = local.spare;
  local.chunk->below = NULL;
  local.spare = NULL;
  free(smaller);
}

static void pop(void) {
  entry_t *entry = local.top;
  chunk_t *chunk = entry->chunk;
  local.top = entry->below;
  chunk->used -= entry->size;
  if (chunk->used == 0)
    leave_chunk();
}

void tessera_local_free(void *memory) {
  if (!memory)
    return;
  ((entry_t *)memory - 1)->freed = 1;
  while (local.top && local.top->freed)
    pop();
  settle();
}

void *tessera_local_mark(void) { return local.top; }

void tessera_local_reset(void *mark) {
  while (local.top && local.top != mark)
    pop();
  settle();
}

int64_t tessera_local_held(void) {
  int64_t held = local.spare ? local.spare->size : 0;
  for (chunk_t *chunk = local.chunk; chunk; chunk = chunk->below)
    held += chunk->size;
  return held;
}
