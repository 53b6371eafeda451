// arena.c - size-class bins under one lock for each arena; about 30 ns for an allocation and its release.
// Why: ownership-based deallocation frees every temporary, so what programs need is a fast malloc that keeps its pages.
// Expects: release with the pointer that alloc gave. Leaves: at most a quarter of each block unused.
#include "lib/runtime/arena.h"

#include "lib/runtime/call.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 64, CLASSES = 192, HUGE_PAGE = 2 * 1024 * 1024, ONE_GIGABYTE = 1 << 30 };
#define CONSTANT_MARK ((void *)(uintptr_t)0xdeadbeef)

// Marks a header as ours: what stands before memory of another allocator is not read as a block.
typedef enum seal_t { RELEASED = 0x7e55e7a0, IN_USE = 0x7e55e7a1 } seal_t;

// In front of the data, unless the arena has memory of its own (apart_t). An over-aligned block has a second header, in
// front of its aligned data, that only names the owner.
typedef struct block_t {
  struct block_t *owner; // itself, unless this is that second header
  tessera_arena_t *arena;
  struct block_t *next_free; // in its bin
  struct block_t *next;      // in the arena's list of blocks
  size_t size;
  size_t seal;             // seal_t; the second header of an over-aligned block is always IN_USE
  tessera_stream_t stream; // free, but work on this stream may still use it; 0: none
  size_t asked;            // of |size|; of an over-aligned one with what the alignment takes
} block_t;

_Static_assert(sizeof(block_t) == ALIGNMENT, "data must stay aligned");

// A block in memory that a device shares with the host. The header lies elsewhere: a header beside the data would move
// its page to the host and back in every call (layernorm 4096 x 1024 on an H100: 0.19 ms of kernels, three times the
// time without).
typedef struct apart_t {
  block_t header;
  void *data;
} apart_t;

// A piece of a block that a program planned itself. Without bytes it only says that the block has slots.
typedef struct slot_t {
  struct slot_t *next;
  char *memory;
  size_t bytes;
} slot_t;

struct tessera_arena_t {
  pthread_mutex_t lock;
  slot_t *slots;
  block_t *bins[CLASSES], *all;
  tessera_arena_statistics_t statistics;
  tessera_memory_t memory; // no functions: the system's
  tessera_arena_t *next_apart;
};

static tessera_arena_t process_arena = {.lock = PTHREAD_MUTEX_INITIALIZER};
// All arenas with memory of their own.
static pthread_mutex_t apart_lock = PTHREAD_MUTEX_INITIALIZER;
static tessera_arena_t *_Atomic apart_arenas;
static _Thread_local tessera_arena_t *entered;
static _Thread_local tessera_stream_t entered_stream;

// Classes: multiples of 64 up to 256, then four steps for each power of two.
static size_t round_to_class(size_t bytes) {
  if (bytes <= 256)
    return bytes == 0 ? ALIGNMENT : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  size_t step = (size_t)1 << (61 - __builtin_clzll(bytes - 1));
  return (bytes + step - 1) & ~(step - 1);
}

static int class_of(size_t rounded) {
  if (rounded <= 256)
    return (int)(rounded / ALIGNMENT - 1);
  int power = 63 - __builtin_clzll(rounded - 1); // 2^power < rounded <= 2^(power + 1)
  return 4 * (power - 7) + (int)((rounded - ((size_t)1 << power)) >> (power - 2)) - 1;
}

// The system promises more than it has; a block larger than the whole machine would only fail later, when written.
static bool is_beyond_machine(size_t bytes) {
  return bytes > ONE_GIGABYTE && bytes / (size_t)sysconf(_SC_PAGESIZE) >= (size_t)sysconf(_SC_PHYS_PAGES);
}

static void *take_bytes(const tessera_memory_t *from, size_t bytes) {
  if (from->allocate)
    return from->allocate(from->context, bytes);
  bool huge = bytes >= HUGE_PAGE;
  void *memory;
  if (posix_memalign(&memory, huge ? HUGE_PAGE : ALIGNMENT, bytes) != 0)
    return NULL;
#ifdef MADV_HUGEPAGE
  if (huge) // advice only: a refusal costs speed, nothing else
    madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

static void give_bytes(const tessera_memory_t *to, void *memory) {
  if (to->release)
    to->release(to->context, memory);
  else
    free(memory);
}

static bool is_apart(const tessera_arena_t *arena) { return arena->memory.allocate; }

static void *data_of(block_t *block) { return is_apart(block->arena) ? ((apart_t *)block)->data : (void *)(block + 1); }

static block_t *take_from_system(tessera_arena_t *arena, size_t size) {
  apart_t *apart = is_apart(arena) ? malloc(sizeof *apart) : NULL;
  if (is_apart(arena) && !apart)
    return NULL;
  void *memory = take_bytes(&arena->memory, apart ? size : sizeof(block_t) + size);
  if (!memory) {
    free(apart);
    return NULL;
  }
  block_t *block = apart ? &apart->header : memory;
  *block = (block_t){.owner = block, .arena = arena, .size = size, .seal = RELEASED};
  if (apart)
    apart->data = memory;
  return block;
}

static void give_to_system(block_t *block) {
  const tessera_memory_t *memory = &block->arena->memory;
  if (is_apart(block->arena)) {
    give_bytes(memory, data_of(block));
    free(block);
  } else {
    give_bytes(memory, block);
  }
}

// The block that |memory| lies in; NULL if it is not this arena's. The arena is locked.
static block_t *find_block(const tessera_arena_t *arena, const void *memory) {
  block_t *block = arena->all;
  while (block && !((char *)memory >= (char *)data_of(block) && (char *)memory < (char *)data_of(block) + block->size))
    block = block->next;
  return block;
}

static void count_allocation(tessera_arena_statistics_t *statistics, size_t size) {
  ++statistics->allocations;
  statistics->live += (int64_t)size;
  if (statistics->live > statistics->peak)
    statistics->peak = statistics->live;
}

static block_t *take_from_bin(tessera_arena_t *arena, size_t size) {
  pthread_mutex_lock(&arena->lock);
  block_t **link = &arena->bins[class_of(size)], *block;
  while ((block = *link) && block->stream && block->stream != entered_stream)
    link = &block->next_free;
  if (block) {
    *link = block->next_free;
    block->seal = IN_USE;
    block->stream = 0;
    count_allocation(&arena->statistics, size);
  }
  pthread_mutex_unlock(&arena->lock);
  return block;
}

static void adopt(tessera_arena_t *arena, block_t *block) {
  pthread_mutex_lock(&arena->lock);
  block->seal = IN_USE;
  block->next = arena->all;
  arena->all = block;
  arena->statistics.held += (int64_t)block->size;
  ++arena->statistics.blocks;
  count_allocation(&arena->statistics, block->size);
  pthread_mutex_unlock(&arena->lock);
}

static block_t *take_new(tessera_arena_t *arena, size_t size) {
  block_t *block = take_from_system(arena, size);
  if (!block) {
    tessera_arena_trim(arena); // other sizes may hold what is missing
    block = take_from_system(arena, size);
  }
  if (block)
    adopt(arena, block);
  return block;
}

static block_t *allocate(size_t bytes) {
  tessera_arena_t *arena = entered ? entered : &process_arena;
  if (is_beyond_machine(bytes)) {
    tessera_raise("a program asked for a buffer of %lld bytes: the machine has %lld", (long long)bytes,
                  (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
    return NULL;
  }
  size_t size = round_to_class(bytes);
  block_t *block = take_from_bin(arena, size);
  if (!block)
    block = take_new(arena, size);
  if (!block)
    tessera_raise("a program asked for a buffer of %zu bytes: the system has no more memory", bytes);
  else
    block->asked = bytes;
  if (block && arena->memory.mark)
    arena->memory.mark(arena->memory.context, data_of(block), bytes);
  return block;
}

int64_t tessera_multiply_sizes(int64_t a, int64_t b) {
  int64_t product;
  bool is_countable = a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, &product);
  return is_countable ? product : a == 0 || b == 0 ? 0 : INT64_MAX;
}

void tessera_check_elements(int64_t elements) {
  const int64_t most = INT64_C(1) << 58; // of 16 bytes each
  if (elements < 0 || elements > most)
    tessera_raise("a program asked for a buffer of %lld elements%s: no machine has so much memory", (long long)elements,
                  elements == INT64_MAX ? " or more" : "");
}

void *_mlir_memref_to_llvm_alloc(size_t bytes) {
  block_t *block = allocate(bytes);
  return block ? data_of(block) : NULL;
}

void *_mlir_memref_to_llvm_aligned_alloc(size_t alignment, size_t bytes) {
  if (alignment <= ALIGNMENT)
    return _mlir_memref_to_llvm_alloc(bytes);
  if ((alignment & (alignment - 1)) || alignment > SIZE_MAX / 4 || bytes > SIZE_MAX / 4) {
    tessera_raise("a program asked for %zu bytes aligned to %zu", bytes, alignment);
    return NULL;
  }
  block_t *owner = allocate(bytes + alignment);
  if (!owner)
    return NULL;
  uintptr_t data = ((uintptr_t)data_of(owner) + alignment - 1) & ~(uintptr_t)(alignment - 1);
  block_t *second = (block_t *)data - 1;
  if (!is_apart(owner->arena) && second != owner)
    *second = (block_t){.owner = owner, .seal = IN_USE};
  return (void *)data;
}

static void count_bad_release(tessera_arena_t *arena) {
  pthread_mutex_lock(&arena->lock);
  ++arena->statistics.bad_releases;
  pthread_mutex_unlock(&arena->lock);
}

//===--- slots ----------------------------------------------------------------------===//

static bool is_in_block(const slot_t *slot, block_t *block) {
  char *data = data_of(block);
  return slot->memory >= data && slot->memory < data + block->size;
}

static bool has_slots(const tessera_arena_t *arena, block_t *block) {
  for (const slot_t *slot = arena->slots; slot; slot = slot->next)
    if (is_in_block(slot, block))
      return true;
  return false;
}

// The arena is locked.
static bool add_slot(tessera_arena_t *arena, char *memory, size_t bytes) {
  slot_t *slot = malloc(sizeof *slot);
  if (slot) {
    *slot = (slot_t){arena->slots, memory, bytes};
    arena->slots = slot;
  }
  return slot;
}

// The arena is locked. Those at |memory| that have bytes, or all of |block|.
static void drop_slots(tessera_arena_t *arena, const char *memory, block_t *block) {
  for (slot_t **link = &arena->slots, *slot; (slot = *link);) {
    bool goes = block ? is_in_block(slot, block) : slot->memory == memory && slot->bytes;
    if (goes) {
      *link = slot->next;
      free(slot);
    } else {
      link = &slot->next;
    }
  }
}

void tessera_arena_slot(int64_t address, int64_t offset, int64_t bytes) {
  tessera_arena_t *arena = entered;
  if (!arena || !arena->memory.mark)
    return;
  char *base = (char *)(intptr_t)address;
  pthread_mutex_lock(&arena->lock);
  block_t *block = find_block(arena, base);
  bool ok = block && (has_slots(arena, block) || add_slot(arena, base, 0)) &&
            (bytes < 1 || add_slot(arena, base + offset, (size_t)bytes));
  pthread_mutex_unlock(&arena->lock);
  if (ok && bytes > 0)
    arena->memory.mark(arena->memory.context, base + offset, (size_t)bytes);
}

void tessera_arena_slot_end(int64_t address, int64_t offset) {
  tessera_arena_t *arena = entered;
  if (!arena || !arena->memory.mark)
    return;
  pthread_mutex_lock(&arena->lock);
  drop_slots(arena, (char *)(intptr_t)address + offset, NULL);
  pthread_mutex_unlock(&arena->lock);
}

//===--- releasing ------------------------------------------------------------------===//

// The arena is locked.
static void put_into_bin(tessera_arena_t *arena, block_t *block) {
  if (arena->slots)
    drop_slots(arena, NULL, block);
  block_t **bin = &arena->bins[class_of(block->size)];
  block->seal = RELEASED;
  block->stream = entered_stream;
  block->next_free = *bin;
  *bin = block;
  arena->statistics.live -= (int64_t)block->size;
}

// The arena is locked.
static void release_block(tessera_arena_t *arena, block_t *block) {
  if (block->seal == IN_USE) {
    put_into_bin(arena, block);
  } else {
    ++arena->statistics.bad_releases;
    ++arena->statistics.double_releases;
  }
}

// True if |memory| is of an arena with memory of its own, where nothing stands in front of the data.
static bool release_apart(void *memory) {
  block_t *block = NULL;
  pthread_mutex_lock(&apart_lock);
  for (tessera_arena_t *arena = apart_arenas; arena && !block; arena = arena->next_apart) {
    pthread_mutex_lock(&arena->lock);
    block = find_block(arena, memory);
    if (block)
      release_block(arena, block);
    pthread_mutex_unlock(&arena->lock);
  }
  pthread_mutex_unlock(&apart_lock);
  return block;
}

void _mlir_memref_to_llvm_free(void *memory) {
  if (!memory || (apart_arenas && release_apart(memory)))
    return;
  block_t *header = (block_t *)memory - 1;
  if (header->seal != IN_USE && header->seal != RELEASED) {
    count_bad_release(entered ? entered : &process_arena);
    return;
  }
  block_t *block = header->owner;
  tessera_arena_t *arena = block->arena;
  pthread_mutex_lock(&arena->lock);
  release_block(arena, block);
  pthread_mutex_unlock(&arena->lock);
}

bool tessera_arena_release(tessera_arena_t *arena, void *memory) {
  arena = arena ? arena : &process_arena;
  pthread_mutex_lock(&arena->lock);
  block_t *block = find_block(arena, memory);
  bool is_owned = block && block->seal == IN_USE;
  if (is_owned)
    put_into_bin(arena, block);
  pthread_mutex_unlock(&arena->lock);
  return is_owned;
}

void tessera_release(void *allocated) {
  if (allocated != CONSTANT_MARK)
    _mlir_memref_to_llvm_free(allocated);
}

tessera_arena_t *tessera_arena_create(void) {
  tessera_arena_t *arena = calloc(1, sizeof *arena);
  if (arena)
    pthread_mutex_init(&arena->lock, NULL);
  return arena;
}

tessera_arena_t *tessera_arena_create_in(const tessera_memory_t *memory) {
  tessera_arena_t *arena = tessera_arena_create();
  if (arena) {
    arena->memory = *memory;
    pthread_mutex_lock(&apart_lock);
    arena->next_apart = apart_arenas;
    apart_arenas = arena;
    pthread_mutex_unlock(&apart_lock);
  }
  return arena;
}

tessera_arena_t *tessera_arena_enter(tessera_arena_t *arena) {
  tessera_arena_t *outer = entered;
  entered = arena;
  return outer;
}

tessera_arena_t *tessera_arena_entered(void) { return entered; }

tessera_stream_t tessera_stream_enter(tessera_stream_t stream) {
  tessera_stream_t outer = entered_stream;
  entered_stream = stream;
  return outer;
}

tessera_stream_t tessera_stream_entered(void) { return entered_stream; }

void tessera_stream_done(tessera_arena_t *arena, tessera_stream_t stream) {
  arena = arena ? arena : &process_arena;
  pthread_mutex_lock(&arena->lock);
  for (block_t *block = arena->all; block; block = block->next)
    if (block->stream == stream)
      block->stream = 0;
  pthread_mutex_unlock(&arena->lock);
}

// Takes the blocks nobody uses off the list of all, and gives them to the system; the bins keep what streams still use.
void tessera_arena_trim(tessera_arena_t *arena) {
  arena = arena ? arena : &process_arena;
  pthread_mutex_lock(&arena->lock);
  for (block_t **link = &arena->all; *link;) {
    block_t *block = *link;
    if (block->seal == IN_USE || block->stream) {
      link = &block->next;
      continue;
    }
    *link = block->next;
    arena->statistics.held -= (int64_t)block->size;
    --arena->statistics.blocks;
    give_to_system(block);
  }
  for (int i = 0; i < CLASSES; ++i)
    arena->bins[i] = NULL;
  for (block_t *block = arena->all; block; block = block->next)
    if (block->seal == RELEASED) {
      block_t **bin = &arena->bins[class_of(block->size)];
      block->next_free = *bin;
      *bin = block;
    }
  pthread_mutex_unlock(&arena->lock);
}

static void forget_apart(tessera_arena_t *arena) {
  pthread_mutex_lock(&apart_lock);
  tessera_arena_t *before = apart_arenas;
  if (before == arena) {
    apart_arenas = arena->next_apart;
  } else {
    while (before && before->next_apart != arena)
      before = before->next_apart;
    if (before)
      before->next_apart = arena->next_apart;
  }
  pthread_mutex_unlock(&apart_lock);
}

void tessera_arena_destroy(tessera_arena_t *arena) {
  if (!arena)
    return;
  forget_apart(arena);
  if (entered == arena)
    entered = NULL;
  for (block_t *block = arena->all, *next; block; block = next) {
    next = block->next;
    give_to_system(block);
  }
  for (slot_t *slot = arena->slots, *next; slot; slot = next) {
    next = slot->next;
    free(slot);
  }
  pthread_mutex_destroy(&arena->lock);
  free(arena);
}

tessera_arena_statistics_t tessera_arena_statistics(tessera_arena_t *arena) {
  arena = arena ? arena : &process_arena;
  pthread_mutex_lock(&arena->lock);
  tessera_arena_statistics_t statistics = arena->statistics;
  pthread_mutex_unlock(&arena->lock);
  return statistics;
}

void tessera_arena_for_each(tessera_arena_t *arena, void (*visit)(void *context, void *memory, size_t bytes),
                            void *context) {
  arena = arena ? arena : &process_arena;
  pthread_mutex_lock(&arena->lock);
  for (block_t *block = arena->all; block; block = block->next)
    if (block->seal == IN_USE && !(arena->slots && has_slots(arena, block)))
      visit(context, data_of(block), block->asked);
  for (const slot_t *slot = arena->slots; slot; slot = slot->next)
    if (slot->bytes)
      visit(context, slot->memory, slot->bytes);
  pthread_mutex_unlock(&arena->lock);
}
