// clock.h - what each thread knows of the others: vector clocks, compressed.
// Why: a race is two accesses that nothing orders, whether or not this run happened to do them in the bad order.
//
// Time in a block is one counter, worker->now. A thread stamps its accesses with clock.stamp; whenever it lets others
// know what it did (a barrier, a release), its stamp becomes a new ++now, so that "up to now" divides what it did
// before from what it does after. Thread u is ordered after an access by t stamped s when u knows t up to s:
//
//   s <= u.known_block, or t = u, or t in u's warp and s <= u.known_warp, or s <= u.vector[t]
//
// A barrier of the whole block is one number for all (known_block = now), bar.warp.sync one for a warp; the vector (of
// one number per thread, shared and never changed) exists only where named barriers, partial warps or atomics order
// threads one by one. So plain kernels pay a comparison. (FastTrack, Flanagan and Freund 2009, with the hierarchy of a
// GPU added.)
//
// Behind the threads' numbers in a vector come those of engines, which write what asynchronous copies bring (launch's
// first_engine to clocks).
//
// Threads of other blocks have their own time. What is known of them are whole snapshots, taken by releases of device
// scope.
#pragma once

#include "lib/emulator/machine/worker.h"

// What a thread knew when it released; never changed afterwards.
typedef struct emu_knowledge_t {
  uint32_t block; // number + 1
  uint32_t thread, warp;
  uint32_t now; // the thread itself is known up to here
  tessera_emu_scope_t scope;
  emu_clock_t clock;
} emu_knowledge_t;

// A set of snapshots, of any blocks, one of each thread, by block and thread; never changed. A set that a thread knows
// is closed: with a snapshot it holds all that this snapshot knew.
typedef struct emu_foreign_t {
  uint32_t count;
  const emu_knowledge_t *of[];
} emu_foreign_t;

// Knowledge being gathered from threads of one block.
typedef struct emu_clock_sum_t {
  emu_clock_t clock;           // its vector is |vector|
  uint32_t *vector;            // known_warp is in it
  const uint32_t *last_vector; // already added
  uint32_t last_warp, last_known_warp;
  emu_clock_t learner; // what the last thread knew before it learned; and then: lanes that knew the same share it
  uint32_t learner_warp;
  const uint32_t *learned; // null: nobody did
} emu_clock_sum_t;

static inline bool emu_knows(const emu_thread_t *self, uint32_t thread, uint32_t stamp) {
  const emu_clock_t *clock = &self->clock;
  if (stamp <= clock->known_block || thread == self->view.index)
    return true;
  if (stamp <= clock->known_warp && thread >> self->worker->launch->warp_shift == self->view.warp)
    return true;
  return clock->vector && stamp <= clock->vector[thread];
}

// Is an access by a thread of another block ordered before what |self| does now? Block: number + 1.
bool emu_knows_foreign(const emu_thread_t *self, uint32_t block, uint32_t thread, uint32_t stamp);
// Anything at all known of that block?
bool emu_knows_of_block(const emu_thread_t *self, uint32_t block);

// Everyone in the block meets: all know all.
void emu_clock_meet_block(emu_worker_t *worker);
// The lanes of |mask| meet.
void emu_clock_meet_warp(emu_worker_t *worker, emu_warp_t *warp, uint64_t mask);

// A named barrier: sums who arrives, and gives the sum to who waits.
emu_clock_sum_t *emu_clock_sum_create(emu_worker_t *worker);
void emu_clock_sum_add(emu_clock_sum_t *sum, const emu_thread_t *thread);
void emu_clock_sum_give(const emu_clock_sum_t *sum, emu_thread_t *thread);
// As above for a thread that did not arrive: it keeps what it knew, too.
void emu_clock_learn(emu_clock_sum_t *from, emu_thread_t *thread);

// Gives back the vectors nobody holds any more, when there are many. While no sum is being made.
void emu_clock_collect(emu_worker_t *worker);
#ifndef EMU_VECTOR_BYTES
#define EMU_VECTOR_BYTES (1 << 20)
#endif

// What the thread knows, as a snapshot that says "up to |now|" of the thread itself. It lives as long as the arena.
const emu_knowledge_t *emu_clock_release(emu_thread_t *self, emu_arena_t *arena, uint32_t now,
                                         tessera_emu_scope_t scope);
// What snapshots of this block, and of others with a scope beyond the block, tell.
void emu_clock_acquire(emu_thread_t *self, const emu_foreign_t *released);

// The set with one snapshot more; an older one of the same thread goes. |set| may be null.
const emu_foreign_t *emu_foreign_add(emu_worker_t *worker, emu_arena_t *arena, const emu_foreign_t *set,
                                     const emu_knowledge_t *knowledge);
const emu_foreign_t *emu_foreign_join(emu_worker_t *worker, emu_arena_t *arena, const emu_foreign_t *a,
                                      const emu_foreign_t *b);
