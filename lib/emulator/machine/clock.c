// clock.c - joining what threads know. Expects: all threads named are of the worker's block. Costs: a barrier of the
// whole block or a warp one pass over its threads; anything else one vector of numbers, of the block's threads.
#include "lib/emulator/machine/clock.h"

#include "lib/emulator/machine/engines/bulk.h"
#include "lib/support/integer.h"

#include <string.h>

static uint32_t first_of_warp(const emu_worker_t *worker, uint32_t warp) { return warp << worker->launch->warp_shift; }

//===--- Sums ------------------------------------------------------------===//

static size_t vector_bytes(const emu_worker_t *worker) { return worker->launch->clocks * sizeof(uint32_t); }

// Before each vector lies where it has moved to, for emu_clock_collect.
typedef struct header_t {
  _Alignas(16) uint32_t *moved;
} header_t;

static uint32_t *take_vector(emu_worker_t *worker, emu_arena_t *arena) {
  header_t *header = emu_arena_take(worker, arena, sizeof *header + vector_bytes(worker));
  worker->vector_taken += sizeof *header + vector_bytes(worker);
  return (uint32_t *)(header + 1);
}

emu_clock_sum_t *emu_clock_sum_create(emu_worker_t *worker) {
  emu_clock_sum_t *sum = emu_arena_take(worker, &worker->block_arena, sizeof *sum);
  sum->vector = take_vector(worker, &worker->vector_arena);
  sum->clock.vector = sum->vector;
  sum->last_warp = EMU_MOST_WARPS;
  return sum;
}

static uint32_t *move(emu_worker_t *worker, emu_arena_t *arena, const uint32_t *vector) {
  if (!vector)
    return NULL;
  header_t *header = (header_t *)(uintptr_t)vector - 1;
  if (!header->moved)
    header->moved = memcpy(take_vector(worker, arena), vector, vector_bytes(worker));
  return header->moved;
}

static void move_of_bulks(emu_worker_t *worker, emu_arena_t *arena, emu_bulk_t *bulk) {
  for (; bulk; bulk = bulk->next)
    bulk->clock.vector = move(worker, arena, bulk->clock.vector);
}

static void move_of_thread(emu_worker_t *worker, emu_arena_t *arena, emu_thread_t *thread) {
  thread->clock.vector = move(worker, arena, thread->clock.vector);
  thread->fenced.vector = move(worker, arena, thread->fenced.vector);
  thread->tensor_fenced.vector = move(worker, arena, thread->tensor_fenced.vector);
  for (uint32_t i = 0; i < thread->copy_count; ++i)
    thread->copies[i].clock.vector = move(worker, arena, thread->copies[i].clock.vector);
  move_of_bulks(worker, arena, thread->bulks);
}

static void move_of_sum(emu_worker_t *worker, emu_arena_t *arena, emu_clock_sum_t *sum) {
  if (!sum)
    return;
  sum->vector = move(worker, arena, sum->vector);
  sum->clock.vector = sum->vector;
  sum->last_vector = NULL;
  sum->learned = NULL;
}

static void move_of_member(emu_worker_t *worker, emu_arena_t *arena, emu_member_t *member) {
  for (uint32_t id = 0; id < TESSERA_EMULATOR_BARRIERS; ++id)
    move_of_sum(worker, arena, member->barriers[id].sum);
  move_of_sum(worker, arena, member->left);
}

// Vectors that threads, their copies and barriers still hold move together; the rest goes.
void emu_clock_collect(emu_worker_t *worker) {
  emu_arena_t fresh = {NULL};
  worker->vector_taken = 0;
  for (uint32_t i = 0; i < worker->launch->threads; ++i)
    move_of_thread(worker, &fresh, &worker->threads[i]);
  for (uint32_t i = 0; i < worker->launch->members; ++i)
    move_of_member(worker, &fresh, &worker->members[i]);
  move_of_sum(worker, &fresh, worker->cluster.sum);
  move_of_sum(worker, &fresh, worker->cluster.last);
  for (emu_mbarrier_t *barrier = worker->mbarriers; barrier; barrier = barrier->next) {
    move_of_sum(worker, &fresh, barrier->arrived);
    move_of_sum(worker, &fresh, barrier->ended);
    move_of_sum(worker, &fresh, barrier->peers_arrived);
    move_of_sum(worker, &fresh, barrier->peers_ended);
    move_of_bulks(worker, &fresh, barrier->copies);
  }
  worker->vector_taken = 0;
  emu_arena_free(&worker->vector_arena);
  worker->vector_arena = fresh;
}

static void add_vector(emu_clock_sum_t *sum, const emu_worker_t *worker, const uint32_t *vector) {
  if (!vector || vector == sum->last_vector)
    return;
  for (uint32_t i = 0; i < worker->launch->clocks; ++i)
    sum->vector[i] = tessera_max(sum->vector[i], vector[i]);
  sum->last_vector = vector;
}

static void add_warp(emu_clock_sum_t *sum, const emu_worker_t *worker, uint32_t warp, uint32_t known) {
  if (!known || (warp == sum->last_warp && known == sum->last_known_warp))
    return;
  uint32_t first = first_of_warp(worker, warp), end = first_of_warp(worker, warp + 1);
  for (uint32_t i = first; i < end && i < worker->launch->threads; ++i)
    sum->vector[i] = tessera_max(sum->vector[i], known);
  sum->last_warp = warp;
  sum->last_known_warp = known;
}

static void add(emu_clock_sum_t *sum, emu_worker_t *worker, const emu_clock_t *clock, uint32_t thread, uint32_t warp,
                uint32_t now) {
  sum->clock.known_block = tessera_max(sum->clock.known_block, clock->known_block);
  add_warp(sum, worker, warp, clock->known_warp);
  add_vector(sum, worker, clock->vector);
  sum->vector[thread] = tessera_max(sum->vector[thread], now);
  if (clock->foreign != sum->clock.foreign)
    sum->clock.foreign = emu_foreign_join(worker, &worker->launch_arena, sum->clock.foreign, clock->foreign);
}

void emu_clock_sum_add(emu_clock_sum_t *sum, const emu_thread_t *thread) {
  add(sum, thread->worker, &thread->clock, thread->view.index, thread->view.warp, thread->worker->now);
}

void emu_clock_sum_give(const emu_clock_sum_t *sum, emu_thread_t *thread) {
  uint32_t stamp = thread->clock.stamp, known_warp = thread->clock.known_warp;
  thread->clock = sum->clock;
  thread->clock.stamp = stamp;
  thread->clock.known_warp = known_warp;
  thread->worker->clocks_differ = true;
}

// All the thread knows, and what was gathered. Its own accesses are not in the vector: it needs no telling.
static uint32_t *learn_vector(const emu_clock_sum_t *from, const emu_thread_t *thread) {
  emu_clock_sum_t sum = {.vector = take_vector(thread->worker, &thread->worker->vector_arena),
                         .last_warp = EMU_MOST_WARPS};
  add_vector(&sum, thread->worker, from->vector);
  add_vector(&sum, thread->worker, thread->clock.vector);
  add_warp(&sum, thread->worker, thread->view.warp, thread->clock.known_warp);
  return sum.vector;
}

void emu_clock_learn(emu_clock_sum_t *from, emu_thread_t *thread) {
  emu_clock_t *clock = &thread->clock;
  bool is_shared = from->learned && from->learner.vector == clock->vector && from->learner_warp == thread->view.warp &&
                   from->learner.known_warp == clock->known_warp;
  if (!is_shared) {
    from->learner = *clock;
    from->learner_warp = thread->view.warp;
    from->learned = learn_vector(from, thread);
  }
  clock->vector = from->learned;
  clock->known_block = tessera_max(clock->known_block, from->clock.known_block);
  if (from->clock.foreign != clock->foreign)
    clock->foreign =
        emu_foreign_join(thread->worker, &thread->worker->launch_arena, from->clock.foreign, clock->foreign);
  thread->worker->clocks_differ = true;
}

//===--- Meetings --------------------------------------------------------===//

static const emu_foreign_t *join_foreign(emu_worker_t *worker) {
  const emu_foreign_t *all = NULL;
  for (uint32_t i = 0; i < worker->launch->threads; ++i)
    if (worker->threads[i].clock.foreign != all)
      all = emu_foreign_join(worker, &worker->launch_arena, all, worker->threads[i].clock.foreign);
  return all;
}

void emu_clock_meet_block(emu_worker_t *worker) {
  const emu_foreign_t *foreign = worker->clocks_differ ? join_foreign(worker) : worker->threads[0].clock.foreign;
  emu_clock_t clock = {.stamp = worker->now + 1, .known_block = worker->now, .foreign = foreign};
  ++worker->now;
  worker->clocks_differ = false;
  for (uint32_t i = 0; i < worker->launch->threads; ++i)
    worker->threads[i].clock = clock;
}

static void meet_one_by_one(emu_worker_t *worker, const emu_warp_t *warp, uint64_t mask) {
  emu_clock_sum_t *sum = emu_clock_sum_create(worker);
  uint32_t first = first_of_warp(worker, warp->number);
  for (uint64_t rest = mask; rest; rest &= rest - 1)
    emu_clock_sum_add(sum, &worker->threads[first + (uint32_t)__builtin_ctzll(rest)]);
  uint32_t stamp = ++worker->now;
  for (uint64_t rest = mask; rest; rest &= rest - 1) {
    emu_thread_t *thread = &worker->threads[first + (uint32_t)__builtin_ctzll(rest)];
    emu_clock_sum_give(sum, thread);
    thread->clock.stamp = stamp;
  }
}

void emu_clock_meet_warp(emu_worker_t *worker, emu_warp_t *warp, uint64_t mask) {
  if (mask != warp->exists || worker->clocks_differ) {
    meet_one_by_one(worker, warp, mask);
    return;
  }
  uint32_t known = worker->now++, first = first_of_warp(worker, warp->number);
  for (uint32_t lane = 0; lane < EMU_WIDEST && mask >> lane & 1; ++lane) {
    worker->threads[first + lane].clock.known_warp = known;
    worker->threads[first + lane].clock.stamp = worker->now;
  }
}

//===--- Release and acquire ---------------------------------------------===//

const emu_knowledge_t *emu_clock_release(emu_thread_t *self, emu_arena_t *arena, uint32_t now,
                                         tessera_emu_scope_t scope) {
  emu_worker_t *worker = self->worker;
  emu_knowledge_t *knowledge = emu_arena_take(worker, arena, sizeof *knowledge);
  *knowledge =
      (emu_knowledge_t){(uint32_t)worker->block_number + 1, self->view.index, self->view.warp, now, scope, self->clock};
  if (self->clock.vector) {
    uint32_t *copy = emu_arena_take(worker, arena, vector_bytes(worker));
    knowledge->clock.vector = memcpy(copy, self->clock.vector, vector_bytes(worker));
  }
  return knowledge;
}

// Snapshots of this block go into a sum for the clock itself, those of others into the set.
static void learn(emu_thread_t *self, emu_clock_sum_t **sum, const emu_knowledge_t *from) {
  emu_worker_t *worker = self->worker;
  if (from->block != worker->block_number + 1) {
    if (from->scope == TESSERA_EMU_SCOPE_BLOCK)
      return;
    self->clock.foreign = emu_foreign_add(worker, &worker->launch_arena, self->clock.foreign, from);
    worker->clocks_differ = true;
  } else if (from->scope == TESSERA_EMU_SCOPE_BLOCK && worker->threads[from->thread].view.block != self->view.block) {
    return;
  } else if (!emu_knows(self, from->thread, from->now)) {
    *sum = *sum ? *sum : emu_clock_sum_create(worker);
    add(*sum, worker, &from->clock, from->thread, from->warp, from->now);
  }
}

// What a snapshot knew of other blocks holds all that those knew in turn.
void emu_clock_acquire(emu_thread_t *self, const emu_foreign_t *released) {
  emu_clock_sum_t *sum = NULL;
  for (uint32_t i = 0; released && i < released->count; ++i) {
    const emu_foreign_t *known = released->of[i]->clock.foreign;
    learn(self, &sum, released->of[i]);
    for (uint32_t j = 0; known && j < known->count; ++j)
      learn(self, &sum, known->of[j]);
  }
  if (!sum)
    return;
  emu_clock_sum_add(sum, self);
  emu_clock_sum_give(sum, self);
}

//===--- Other blocks ----------------------------------------------------===//

static bool covers(const emu_worker_t *worker, const emu_knowledge_t *known, uint32_t thread, uint32_t stamp) {
  if (stamp <= known->clock.known_block || (thread == known->thread && stamp <= known->now))
    return true;
  if (stamp <= known->clock.known_warp && thread >> worker->launch->warp_shift == known->warp)
    return true;
  return known->clock.vector && stamp <= known->clock.vector[thread];
}

bool emu_knows_foreign(const emu_thread_t *self, uint32_t block, uint32_t thread, uint32_t stamp) {
  const emu_foreign_t *set = self->clock.foreign;
  for (uint32_t i = 0; set && i < set->count; ++i)
    if (set->of[i]->block == block && covers(self->worker, set->of[i], thread, stamp))
      return true;
  return false;
}

bool emu_knows_of_block(const emu_thread_t *self, uint32_t block) {
  const emu_foreign_t *set = self->clock.foreign;
  for (uint32_t i = 0; set && i < set->count; ++i)
    if (set->of[i]->block == block)
      return true;
  return false;
}

// A snapshot makes an older one of the same thread superfluous.
static bool replaces(const emu_knowledge_t *new, const emu_knowledge_t *old) {
  return new->block == old->block && new->thread == old->thread && new->now >= old->now;
}

static bool has(const emu_foreign_t *set, const emu_knowledge_t *knowledge) {
  for (uint32_t i = 0; i < set->count; ++i)
    if (replaces(set->of[i], knowledge))
      return true;
  return false;
}

const emu_foreign_t *emu_foreign_add(emu_worker_t *worker, emu_arena_t *arena, const emu_foreign_t *set,
                                     const emu_knowledge_t *knowledge) {
  if (set && has(set, knowledge))
    return set;
  uint32_t count = set ? set->count : 0;
  emu_foreign_t *larger_set = emu_arena_take(worker, arena, sizeof *set + (count + 1) * sizeof(void *));
  for (uint32_t i = 0; i < count; ++i)
    if (!replaces(knowledge, set->of[i]))
      larger_set->of[larger_set->count++] = set->of[i];
  larger_set->of[larger_set->count++] = knowledge;
  return larger_set;
}

const emu_foreign_t *emu_foreign_join(emu_worker_t *worker, emu_arena_t *arena, const emu_foreign_t *a,
                                      const emu_foreign_t *b) {
  if (!a || a == b)
    return b;
  for (uint32_t i = 0; b && i < b->count; ++i)
    a = emu_foreign_add(worker, arena, a, b->of[i]);
  return a;
}
