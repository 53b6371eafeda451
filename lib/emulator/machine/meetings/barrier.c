// barrier.c - barriers of a block: all threads, or some number of them, at one of sixteen.
// A barrier of all threads makes everything before it known to everyone; a named one only to those who wait at it.
#include "lib/emulator/machine/clock.h"
#include "lib/emulator/machine/count.h"
#include "lib/emulator/machine/many.h"
#include "lib/emulator/machine/timing.h"
#include "lib/emulator/machine/worker.h"

enum { BARRIERS_BEFORE_SUSPENSION = 16 };

static uint32_t wanted_now(const emu_member_t *member, const emu_barrier_t *barrier) {
  return barrier->wanted ? barrier->wanted : member->live;
}

static emu_warp_t *first_warp(emu_worker_t *worker, const emu_member_t *member) {
  return &worker->warps[member->first_warp];
}

// Calls visit for each thread of the block that waits at the barrier.
#define FOR_EACH_WAITING(worker, member, id, thread)                                                                   \
  for (emu_warp_t *warp_ = first_warp(worker, member);                                                                 \
       warp_ < first_warp(worker, member) + (worker)->launch->member_warps; ++warp_)                                   \
    for (uint64_t rest_ = warp_->at_barrier; rest_; rest_ &= rest_ - 1)                                                \
      for (emu_thread_t *thread =                                                                                      \
               &(worker)->threads[(warp_->number << (worker)->launch->warp_shift) + (uint32_t)__builtin_ctzll(rest_)]; \
           thread && thread->wait_barrier == (id); thread = NULL)

static void meet_some(emu_worker_t *worker, const emu_member_t *member, uint32_t id) {
  const emu_barrier_t *barrier = &member->barriers[id];
  emu_clock_sum_t *sum = barrier->sum ? barrier->sum : emu_clock_sum_create(worker);
  FOR_EACH_WAITING(worker, member, id, thread)
  emu_clock_sum_add(sum, thread);
  ++worker->now;
  FOR_EACH_WAITING(worker, member, id, thread) {
    emu_clock_sum_give(sum, thread);
    thread->clock.stamp = worker->now;
  }
}

static void meet_all(emu_worker_t *worker) {
  for (uint32_t w = 0; w < worker->launch->warps; ++w)
    emu_log_flush(worker, &worker->warps[w]);
  emu_clock_meet_block(worker);
  emu_many_reset(worker->many);
}

static void release_all(emu_worker_t *worker, const emu_member_t *member) {
  for (uint32_t w = member->first_warp; w < member->first_warp + worker->launch->member_warps; ++w) {
    emu_warp_t *warp = &worker->warps[w];
    warp->ready |= warp->at_barrier;
    warp->at_barrier = 0;
    if (warp->ready)
      worker->ready_warps |= emu_bit(w);
  }
}

static void release_some(emu_worker_t *worker, const emu_member_t *member, uint32_t id) {
  FOR_EACH_WAITING(worker, member, id, thread) {
    warp_->at_barrier &= ~emu_bit(thread->view.lane);
    thread->barrier_result = member->barriers[id].predicates; // another phase may end before it runs
    thread->barrier_threads = member->barriers[id].arrived;
    emu_wake(thread);
  }
}

static void complete(emu_worker_t *worker, emu_member_t *member, uint32_t id) {
  emu_barrier_t *barrier = &member->barriers[id];
  bool everyone = barrier->waiting == worker->launch->threads; // also of the cluster
  if (member == worker->members)
    emu_timing_meet(worker, id);
  if (!barrier->is_unordered && everyone)
    meet_all(worker);
  else if (!barrier->is_unordered)
    meet_some(worker, member, id);
  if (everyone)
    release_all(worker, member);
  else
    release_some(worker, member, id);
  emu_progress(worker);
  ++worker->counters.barriers;
  member->open_barriers &= ~(1u << id);
  *barrier = (emu_barrier_t){.result = barrier->predicates, .threads = barrier->arrived};
}

//===--- Arriving --------------------------------------------------------===//

static bool refuse(emu_thread_t *self, uint32_t id, uint32_t count, uint32_t site) {
  const emu_launch_t *launch = self->worker->launch;
  uint32_t width = launch->chip->warp_width;
  if (id >= TESSERA_EMULATOR_BARRIERS)
    emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, 0, id, 0, "barrier %u; there are %d", id,
             TESSERA_EMULATOR_BARRIERS);
  else if (count % width && count != launch->member_threads)
    emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, 0, count, 0,
             "barrier %u for %u threads, which is not a multiple of the warp's %u", id, count, width);
  else if (count > launch->member_threads)
    emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, 0, count, 0, "barrier %u for %u threads in a block of %u", id,
             count, launch->member_threads);
  else
    return false;
  return true;
}

// Notes for how many the barrier is; all must say the same, and none at all means the block's.
static void want(emu_thread_t *self, uint32_t id, uint32_t count, uint32_t site) {
  emu_member_t *member = emu_member_of(self);
  emu_barrier_t *barrier = &member->barriers[id];
  uint32_t all = self->worker->launch->member_threads, mine = count ? count : all;
  uint32_t others = barrier->wanted ? barrier->wanted : all;
  if (barrier->arrived && mine != others)
    emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, 0, id, 0, "barrier %u for %u threads, which others await for %u",
             id, mine, others);
  barrier->wanted = count ? count : barrier->wanted;
  member->open_barriers |= 1u << id;
}

// bar.sync is for whole warps: what a lane that has ended does to it is not defined.
static void find_missing_lanes(emu_thread_t *self, uint32_t id, uint32_t site) {
  const emu_warp_t *warp = self->in_warp;
  emu_find(self, TESSERA_EMULATOR_DIVERGED, site, 0, id, 0,
           "lanes of warp %u have ended without coming to barrier %u, which needs all of the warp", warp->number, id);
}

// A warp executes a barrier as one: its lanes must come from one place.
static void check_same_site(emu_thread_t *self, uint32_t id, uint32_t site) {
  emu_warp_t *warp = self->in_warp;
  if (warp->ended & warp->exists && self->worker->launch->chip->aligned_barriers)
    find_missing_lanes(self, id, site);
  if (warp->at_barrier && warp->barrier_site != site)
    emu_find(self, TESSERA_EMULATOR_DIVERGED, site, warp->barrier_site, id, 0,
             "lanes of warp %u are at barrier %u in two places", warp->number, id);
  else if (!warp->at_barrier)
    warp->barrier_site = site;
}

static void wait_at(emu_thread_t *self, uint32_t id, uint32_t site) {
  emu_member_t *member = emu_member_of(self);
  emu_barrier_t *barrier = &member->barriers[id];
  check_same_site(self, id, site);
  self->in_warp->at_barrier |= emu_bit(self->view.lane);
  self->wait_barrier = id;
  ++barrier->waiting;
  if (barrier->arrived < wanted_now(member, barrier)) {
    emu_wait(self, EMU_AT_BARRIER, site);
    return;
  }
  complete(self->worker, member, id);
  self->in_warp->ready |= emu_bit(self->view.lane);
  // A block may look at memory, meet, and look again, until another has written: it must come to that.
  if (self->worker->launch->resident && self->worker->counters.barriers % BARRIERS_BEFORE_SUSPENSION == 0)
    emu_suspend(self->worker);
}

uint32_t tessera_emu_barrier_count(tessera_emu_thread_t *thread, uint32_t id, uint32_t count, uint32_t predicate,
                                   uint32_t *out_threads, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  if (refuse(self, id, count, site))
    return 0;
  emu_barrier_t *barrier = &emu_member_of(self)->barriers[id];
  want(self, id, count, site);
  ++barrier->arrived;
  barrier->predicates += predicate != 0;
  self->barrier_threads = 0;
  wait_at(self, id, site);
  bool own = self->barrier_threads;
  if (out_threads)
    *out_threads = own ? self->barrier_threads : barrier->threads;
  return own ? self->barrier_result : barrier->result;
}

void tessera_emu_barrier(tessera_emu_thread_t *self, uint32_t id, uint32_t count, uint32_t site) {
  tessera_emu_barrier_count(self, id, count, 0, NULL, site);
}

void tessera_emu_rendezvous(tessera_emu_thread_t *self, uint32_t id, uint32_t count, uint32_t site) {
  if (id < TESSERA_EMULATOR_BARRIERS)
    emu_member_of(emu_of(self))->barriers[id].is_unordered = true;
  tessera_emu_barrier(self, id, count, site);
}

void tessera_emu_barrier_arrive(tessera_emu_thread_t *thread, uint32_t id, uint32_t count, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  emu_worker_t *worker = self->worker;
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  if (refuse(self, id, count, site))
    return;
  emu_member_t *member = emu_member_of(self);
  emu_barrier_t *barrier = &member->barriers[id];
  want(self, id, count, site);
  ++barrier->arrived;
  if (!barrier->sum)
    barrier->sum = emu_clock_sum_create(worker);
  emu_clock_sum_add(barrier->sum, self);
  self->clock.stamp = ++worker->now;
  if (barrier->arrived >= wanted_now(member, barrier))
    complete(worker, member, id);
}

void emu_barriers_thread_ended(emu_thread_t *self) {
  emu_worker_t *worker = self->worker;
  if (self->in_warp->at_barrier && worker->launch->chip->aligned_barriers) {
    uint32_t first = self->in_warp->number << worker->launch->warp_shift;
    uint32_t waiting = first + (uint32_t)__builtin_ctzll(self->in_warp->at_barrier);
    find_missing_lanes(self, worker->threads[waiting].wait_barrier, self->in_warp->barrier_site);
  }
  emu_member_t *member = emu_member_of(self);
  for (uint32_t open = member->open_barriers; open; open &= open - 1) {
    uint32_t id = (uint32_t)__builtin_ctz(open);
    if (!member->barriers[id].wanted && member->barriers[id].arrived >= member->live)
      complete(worker, member, id);
  }
}
