// cluster.c - blocks of a cluster: reaching each other's shared memory, and the barrier of all their threads.
// Why: the memory of a block is there from its begin to its end, and nothing but the program's own order says when that
// is. So whoever reaches it must know that the block has begun, and the block must know of each access before it ends,
// in whatever order this run did things. Costs: a comparison for each access of shared memory; for one of a peer's, a
// look at what its first threads are known to have done.
#include "lib/emulator/machine/clock.h"
#include "lib/emulator/machine/worker.h"

static uint32_t rank_of(const emu_thread_t *thread) { return thread->view.block->rank; }

static uint32_t own_index(const emu_thread_t *thread) {
  return thread->view.index - emu_member_of(thread)->first_thread;
}

//===--- Reaching another block ------------------------------------------===//

// All threads of the cluster begin with one stamp.
static bool knows_begun(const emu_thread_t *self, const emu_member_t *member) {
  uint32_t end = member->first_thread + self->worker->launch->member_threads;
  for (uint32_t thread = member->first_thread; thread < end; ++thread)
    if (emu_knows(self, thread, self->worker->block_stamp + 1))
      return true;
  return false;
}

static void keep(emu_thread_t *self, emu_member_t *member, uint32_t site) {
  emu_worker_t *worker = self->worker;
  if (!member->reached)
    member->reached = emu_arena_take(worker, &worker->block_arena, worker->launch->threads * sizeof *member->reached);
  member->reached[self->view.index] = (emu_reach_t){self->clock.stamp, site};
}

bool emu_reach_peer(emu_thread_t *self, uintptr_t offset, bool is_kept, uint32_t site) {
  emu_member_t *member = &self->worker->members[offset / EMU_WINDOW_BYTES];
  if (!self->worker->launch->checks)
    return true;
  if (!member->live) {
    emu_find(self, TESSERA_EMULATOR_PEER, site, 0, 0, 0,
             "thread %u of block %u of the cluster reaches the shared memory of block %u, which has ended",
             own_index(self), rank_of(self), member->block.rank);
    return false;
  }
  if (!knows_begun(self, member))
    emu_find(self, TESSERA_EMULATOR_PEER, site, 0, 0, 0,
             "thread %u of block %u of the cluster reaches the shared memory of block %u and does not know that it has "
             "begun: no barrier of the cluster came before",
             own_index(self), rank_of(self), member->block.rank);
  if (is_kept)
    keep(self, member, site);
  return true;
}

// Who ends the block knows of the access.
static bool knows_reach(const emu_member_t *member, uint32_t thread, uint32_t stamp) {
  return stamp <= member->left->clock.known_block || stamp <= member->left->vector[thread];
}

static void check_reached(emu_worker_t *worker, const emu_member_t *member) {
  for (uint32_t i = 0; member->reached && member->left && i < worker->launch->threads; ++i) {
    const emu_reach_t *reach = &member->reached[i];
    emu_thread_t *thread = &worker->threads[i];
    if (reach->stamp && !knows_reach(member, i, reach->stamp))
      emu_find(thread, TESSERA_EMULATOR_PEER, reach->site, 0, 0, 0,
               "block %u of the cluster may end before thread %u of block %u reaches its shared memory",
               member->block.rank, own_index(thread), rank_of(thread));
  }
}

//===--- The cluster's barrier -------------------------------------------===//

static void wake(emu_thread_t *thread) {
  uint64_t bit = emu_bit(thread->view.lane);
  thread->cluster = EMU_ROUND_OVER;
  if (!(thread->in_warp->at_cluster & bit))
    return;
  thread->in_warp->at_cluster &= ~bit;
  emu_wake(thread);
}

static void end_round_if_all_came(emu_worker_t *worker) {
  emu_cluster_t *cluster = &worker->cluster;
  if (!worker->live || cluster->arrived < worker->live)
    return;
  *cluster = (emu_cluster_t){.last = cluster->sum};
  ++worker->counters.barriers;
  emu_progress(worker);
  for (uint32_t i = 0; i < worker->launch->threads; ++i)
    if (worker->threads[i].cluster == EMU_ARRIVED && worker->threads[i].waits != EMU_ENDED)
      wake(&worker->threads[i]);
}

void tessera_emu_cluster_arrive(tessera_emu_thread_t *thread, uint32_t relaxed, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  emu_worker_t *worker = self->worker;
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  if (self->cluster != EMU_NOT_ARRIVED) {
    emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, 0, 0, 0,
             "arrives twice at the cluster's barrier without a wait between");
    return;
  }
  self->cluster = EMU_ARRIVED;
  ++worker->cluster.arrived;
  if (!relaxed && worker->launch->checks) {
    if (!worker->cluster.sum)
      worker->cluster.sum = emu_clock_sum_create(worker);
    emu_clock_sum_add(worker->cluster.sum, self);
    self->clock.stamp = ++worker->now;
  }
  end_round_if_all_came(worker);
}

void tessera_emu_cluster_wait(tessera_emu_thread_t *thread, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  if (self->cluster == EMU_NOT_ARRIVED) {
    emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, 0, 0, 0,
             "waits at the cluster's barrier, where it has not "
             "arrived");
    return;
  }
  if (self->cluster == EMU_ARRIVED) {
    self->in_warp->at_cluster |= emu_bit(self->view.lane);
    emu_wait(self, EMU_AT_CLUSTER, site);
  }
  self->cluster = EMU_NOT_ARRIVED;
  if (self->worker->cluster.last)
    emu_clock_learn(self->worker->cluster.last, self);
}

//===--- Begin and end ---------------------------------------------------===//

void emu_cluster_begins(emu_worker_t *worker) {
  worker->cluster = (emu_cluster_t){0};
  for (uint32_t i = 0; i < worker->launch->members; ++i) {
    worker->members[i].left = NULL;
    worker->members[i].reached = NULL;
  }
}

void emu_cluster_thread_ended(emu_thread_t *self) {
  emu_worker_t *worker = self->worker;
  emu_member_t *member = emu_member_of(self);
  if (worker->launch->checks && worker->launch->members > 1) {
    if (!member->left)
      member->left = emu_clock_sum_create(worker);
    emu_clock_sum_add(member->left, self);
    if (!member->live)
      check_reached(worker, member);
  }
  worker->cluster.arrived -= self->cluster == EMU_ARRIVED;
  if (worker->cluster.arrived)
    end_round_if_all_came(worker);
}

//===--- Addresses -------------------------------------------------------===//

void *tessera_emu_mapa(tessera_emu_thread_t *thread, void *address, uint32_t rank, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  uintptr_t offset = (uintptr_t)address - (uintptr_t)self->view.block->shared;
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  if (rank < self->worker->launch->members && offset < EMU_WINDOW_BYTES)
    return self->worker->window + (size_t)rank * EMU_WINDOW_BYTES + offset;
  if (offset >= EMU_WINDOW_BYTES)
    emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, 0, 0, 0,
             "mapa of an address that is not in the block's shared memory");
  else
    emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, 0, rank, 0, "mapa to block %u of a cluster of %u", rank,
             self->worker->launch->members);
  return address;
}
