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
  const emu_foreign_t *all = NULL, *last = NULL;
  for (uint32_t i = 0; i < worker->launch->threads; ++i)
    if (worker->threads[i].clock.foreign != last) {
      last = worker->threads[i].clock.foreign;
      all = emu_foreign_join(worker, &worker->launch_arena, all, last);
    }
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

//===--- Sets of snapshots -----------------------------------------------===//

static int order_of(const emu_knowledge_t *a, const emu_knowledge_t *b) {
  return a->block != b->block ? (a->block < b->block ? -1 : 1) : (a->thread > b->thread) - (a->thread < b->thread);
}

// Where the thread's snapshot is, or would be.
static uint32_t find_snapshot(const emu_foreign_t *set, uint32_t block, uint32_t thread) {
  const emu_knowledge_t wanted = {.block = block, .thread = thread};
  uint32_t first = 0, end = set ? set->count : 0;
  while (first < end) {
    uint32_t middle = first + (end - first) / 2;
    if (order_of(set->of[middle], &wanted) < 0)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

static const emu_knowledge_t *snapshot_of(const emu_foreign_t *set, uint32_t block, uint32_t thread) {
  uint32_t at = find_snapshot(set, block, thread);
  return set && at < set->count && set->of[at]->block == block && set->of[at]->thread == thread ? set->of[at] : NULL;
}

typedef struct joined_t {
  uint32_t count;
  bool is_a, is_b; // equal to one of them
} joined_t;

// The newest snapshots of |a|, and of |b| but for block |without|. |to| null: only counts.
static joined_t join_into(const emu_knowledge_t **to, const emu_foreign_t *a, const emu_foreign_t *b,
                          uint32_t without) {
  joined_t joined = {0, true, true};
  for (uint32_t i = 0, j = 0; i < a->count || j < b->count;) {
    if (j < b->count && b->of[j]->block == without) {
      joined.is_b = false;
      ++j;
      continue;
    }
    int order = i == a->count ? 1 : j == b->count ? -1 : order_of(a->of[i], b->of[j]);
    bool from_b = order > 0 || (!order && b->of[j]->now > a->of[i]->now);
    joined.is_a &= !from_b;
    joined.is_b &= from_b || (!order && a->of[i] == b->of[j]);
    if (to)
      to[joined.count] = from_b ? b->of[j] : a->of[i];
    ++joined.count;
    i += order <= 0;
    j += order >= 0;
  }
  return joined;
}

static const emu_foreign_t *join_without(emu_worker_t *worker, emu_arena_t *arena, const emu_foreign_t *a,
                                         const emu_foreign_t *b, uint32_t without) {
  static const emu_foreign_t none = {0};
  if (!b || a == b)
    return a;
  joined_t joined = join_into(NULL, a ? a : &none, b, without);
  if (joined.is_a || joined.is_b)
    return joined.is_a ? a : b;
  emu_foreign_t *both = emu_arena_take(worker, arena, sizeof *both + joined.count * sizeof(void *));
  both->count = joined.count;
  join_into(both->of, a ? a : &none, b, without);
  return both;
}

enum { NO_BLOCK = 0 }; // blocks are numbers + 1

const emu_foreign_t *emu_foreign_join(emu_worker_t *worker, emu_arena_t *arena, const emu_foreign_t *a,
                                      const emu_foreign_t *b) {
  return a ? join_without(worker, arena, a, b, NO_BLOCK) : b;
}

const emu_foreign_t *emu_foreign_add(emu_worker_t *worker, emu_arena_t *arena, const emu_foreign_t *set,
                                     const emu_knowledge_t *knowledge) {
  const emu_knowledge_t *old = snapshot_of(set, knowledge->block, knowledge->thread);
  if (old && old->now >= knowledge->now)
    return set;
  uint32_t count = set ? set->count : 0, at = find_snapshot(set, knowledge->block, knowledge->thread), kept = !old;
  emu_foreign_t *changed = emu_arena_take(worker, arena, sizeof *set + (count + kept) * sizeof(void *));
  changed->count = count + kept;
  for (uint32_t i = 0; i < changed->count; ++i)
    changed->of[i] = i == at ? knowledge : set->of[i < at ? i : i - kept];
  return changed;
}

//===--- Acquire ---------------------------------------------------------===//

// What a thread learns. Sets between the old one and the new one last until the end of the acquire.
typedef struct learning_t {
  emu_thread_t *self;
  emu_clock_sum_t *sum; // of its own block; null: nothing yet
  const emu_foreign_t *foreign;
} learning_t;

static void learn_of_own_block(learning_t *learning, const emu_knowledge_t *from) {
  emu_thread_t *self = learning->self;
  emu_worker_t *worker = self->worker;
  if ((from->scope == TESSERA_EMU_SCOPE_BLOCK && worker->threads[from->thread].view.block != self->view.block) ||
      emu_knows(self, from->thread, from->now))
    return;
  learning->sum = learning->sum ? learning->sum : emu_clock_sum_create(worker);
  add(learning->sum, worker, &from->clock, from->thread, from->warp, from->now);
}

static void learn_of_other_block(learning_t *learning, const emu_knowledge_t *from) {
  emu_worker_t *worker = learning->self->worker;
  if (from->scope != TESSERA_EMU_SCOPE_BLOCK)
    learning->foreign = emu_foreign_add(worker, &worker->set_arena, learning->foreign, from);
}

static void learn_set(learning_t *learning, const emu_foreign_t *known) {
  emu_worker_t *worker = learning->self->worker;
  uint32_t own = (uint32_t)worker->block_number + 1;
  learning->foreign = join_without(worker, &worker->set_arena, learning->foreign, known, own);
  for (uint32_t i = find_snapshot(known, own, 0); known && i < known->count && known->of[i]->block == own; ++i)
    learn_of_own_block(learning, known->of[i]);
}

// The thread has learned all that the snapshot says: it knows a later one, or the snapshot is its own.
static bool has_learned(const learning_t *learning, const emu_knowledge_t *from) {
  const emu_thread_t *self = learning->self;
  if (from->block == self->worker->block_number + 1)
    return from->thread == self->view.index;
  const emu_knowledge_t *known = snapshot_of(self->clock.foreign, from->block, from->thread);
  return known && (known == from || known->now > from->now);
}

static const emu_foreign_t *keep(emu_worker_t *worker, const emu_foreign_t *set) {
  emu_foreign_t *kept = emu_arena_take(worker, &worker->launch_arena, sizeof *set + set->count * sizeof(void *));
  return memcpy(kept, set, sizeof *set + set->count * sizeof(void *));
}

// What a snapshot knew of other blocks holds all that those knew in turn.
void emu_clock_acquire(emu_thread_t *self, const emu_foreign_t *released) {
  emu_worker_t *worker = self->worker;
  learning_t learning = {self, NULL, self->clock.foreign};
  if (released == self->acquired)
    return;
  self->acquired = released;
  for (uint32_t i = 0; released && i < released->count; ++i) {
    const emu_knowledge_t *from = released->of[i];
    if (has_learned(&learning, from))
      continue;
    if (from->block == worker->block_number + 1)
      learn_of_own_block(&learning, from);
    else
      learn_of_other_block(&learning, from);
    learn_set(&learning, from->clock.foreign);
  }
  if (learning.foreign != self->clock.foreign) {
    self->clock.foreign = keep(worker, learning.foreign);
    worker->clocks_differ = true;
  }
  emu_arena_reset(&worker->set_arena);
  if (!learning.sum)
    return;
  emu_clock_sum_add(learning.sum, self);
  emu_clock_sum_give(learning.sum, self);
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
  for (uint32_t i = find_snapshot(set, block, 0); set && i < set->count && set->of[i]->block == block; ++i)
    if (covers(self->worker, set->of[i], thread, stamp))
      return true;
  return false;
}

bool emu_knows_of_block(const emu_thread_t *self, uint32_t block) {
  const emu_foreign_t *set = self->clock.foreign;
  uint32_t first = find_snapshot(set, block, 0);
  return set && first < set->count && set->of[first]->block == block;
}
