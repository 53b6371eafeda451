// arena.h - the memory of compiled programs: memref.alloc and memref.dealloc arrive here
// (finalize-memref-to-llvm{use-generic-functions=1}), results are released here by whoever called the program.
//
//   tessera_arena_t *arena = tessera_arena_create();
//   tessera_arena_t *outer = tessera_arena_enter(arena);   // this thread's programs now allocate from it
//   _mlir_ciface_step(&result, &x);
//   …
//   tessera_release(result.allocated);                     // from any thread
//   tessera_arena_enter(outer);
//   tessera_arena_destroy(arena);                          // everything still live in it is gone as well
//
// Work on a device runs later than the calls that ask for it, each stream in order. So a block released while a stream
// is entered may be used again at once by that stream, which gets there later, and by others when that stream is done:
//
//   tessera_stream_t outer = tessera_stream_enter(stream);        // what this thread releases is used by |stream|
//   …
//   tessera_stream_enter(outer);
//   tessera_stream_done(arena, stream);                           // the driver has waited for it
//
// Freed blocks are kept in bins of their size, so a steady loop takes nothing from the system; trim gives them back.
// Without an arena entered, the process's own serves: it is never destroyed. Every function here may be called from
// any thread; only destroy must come after the last use of the arena's memory.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tessera_arena_t tessera_arena_t;

typedef struct tessera_arena_statistics_t {
  int64_t live;            // bytes in use (as rounded to size classes)
  int64_t peak;            // the most that were ever in use
  int64_t held;            // bytes taken from the system
  int64_t blocks;          // pieces they were taken in
  int64_t allocations;     // calls served
  int64_t bad_releases;    // releases of memory that is no arena's, or is released already (ignored)
  int64_t double_releases; // the latter
} tessera_arena_statistics_t;

// A stream by a number of its driver's; 0 is none: work is done when the call returns, as on the CPU.
typedef uint64_t tessera_stream_t;
tessera_stream_t tessera_stream_enter(tessera_stream_t stream); // returns the one before
tessera_stream_t tessera_stream_entered(void);
void tessera_stream_done(tessera_arena_t *arena, tessera_stream_t stream); // NULL is the process's own arena

// Where an arena takes its blocks from, in place of the system: memory aligned to 64 bytes at least, that the host may
// read and write; NULL when there is none.
typedef struct tessera_memory_t {
  void *context;
  void *(*allocate)(void *context, size_t bytes);
  void (*release)(void *context, void *memory);
  void (*mark)(void *context, void *memory, size_t bytes); // each block that is given out, new or used before; or NULL
} tessera_memory_t;

tessera_arena_t *tessera_arena_create(void); // NULL when out of memory
tessera_arena_t *tessera_arena_create_in(const tessera_memory_t *memory);
void tessera_arena_destroy(tessera_arena_t *arena);
tessera_arena_t *tessera_arena_enter(tessera_arena_t *arena); // returns the one before; NULL is the process's own
tessera_arena_t *tessera_arena_entered(void);                 // NULL: the process's own
void tessera_arena_trim(tessera_arena_t *arena);              // returns what nobody uses, no stream either
tessera_arena_statistics_t tessera_arena_statistics(tessera_arena_t *arena); // NULL is the process's own

// Calls |visit| for every piece of memory in use, with the bytes that were asked for (not as rounded).
void tessera_arena_for_each(tessera_arena_t *arena, void (*visit)(void *context, void *memory, size_t bytes),
                            void *context);

// Releases a result of a program, given its descriptor's `allocated` pointer. NULL and upstream's mark for constants
// (0xdeadbeef) are ignored. Memory of malloc is left alone and counted as a bad release. |allocated| must be readable
// for 64 bytes in front of it: for a pointer of unknown origin use tessera_arena_release.
void tessera_release(void *allocated);

// Releases |memory| if it lies in a block of |arena| (NULL: the process's own) that is in use, and returns true. Leaves
// any other pointer alone, reads nothing through it, and returns false. Costs a walk over the arena's blocks.
bool tessera_arena_release(tessera_arena_t *arena, void *memory);

// What generated code with a planned arena (tile-plan-memory) calls ahead of the first use of a buffer and behind its
// last: |bytes| of the block at |address|, from |offset| on, are a piece of memory of their own now. From the first
// slot on, for_each shows a block's slots instead of the block, until the block is released. Does nothing without an
// arena whose memory has `mark`: nobody would look at the slots.
void tessera_arena_slot(int64_t address, int64_t offset, int64_t bytes);
void tessera_arena_slot_end(int64_t address, int64_t offset);

// What generated code calls ahead of an allocation: the product of two sizes, INT64_MAX where it is too large or a size
// is negative; and what raises where a product is beyond any machine.
int64_t tessera_multiply_sizes(int64_t a, int64_t b);
void tessera_check_elements(int64_t elements);

// What generated code calls. Memory is 64-byte aligned (or |alignment|, a power of two), its contents undefined, zero
// bytes are a valid block. A size that is negative, beyond the machine's memory, or refused by the system raises
// (call.h): inside tessera_call it does not return, outside it gives NULL.
void *_mlir_memref_to_llvm_alloc(size_t bytes);
void *_mlir_memref_to_llvm_aligned_alloc(size_t alignment, size_t bytes);
void _mlir_memref_to_llvm_free(void *memory);
