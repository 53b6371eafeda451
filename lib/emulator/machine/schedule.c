// schedule.c - which thread runs next. Lanes of a warp run one after another until each waits; then another warp, drawn
// from the seed, one warp of each block much more rarely than the others.
// Why: fixed orders run in lock step and hide what is missing; skew shows it. Waiting costs nothing: only threads that
// can run are looked at. A thread that never waits needs no stack of its own: the fiber that ran one thread goes on
// with the next.
#include "lib/emulator/machine/clock.h"
#include "lib/emulator/machine/count.h"
#include "lib/emulator/machine/engines/bulk.h"
#include "lib/emulator/machine/engines/products.h"
#include "lib/emulator/machine/engines/tensor_memory.h"
#include "lib/emulator/machine/meetings/deadlock.h"
#include "lib/emulator/machine/shadow.h"
#include "lib/emulator/machine/timing.h"
#include "lib/emulator/machine/trace.h"
#include "lib/emulator/machine/wave.h"
#include "lib/emulator/machine/worker.h"

#include <sched.h>
#include <string.h>

enum {
  SLOW_ONE_IN = 16,
  SPINS_BEFORE_YIELD = 8,
  YIELDS_BEFORE_SUSPENSION = 16,
  YIELDS_BEFORE_STUCK = 1 << 14,
  HOPELESS_YIELDS = 4096,
  YIELDS_PER_HOST_YIELD = 256,
  POLLS_BEFORE_STUCK = 2048,
  STEPS_OF_A_POLL = 64
};

//===--- Choosing --------------------------------------------------------===//

// The n-th set bit, n below their number.
static uint32_t nth_bit(uint64_t bits, uint32_t n) {
  while (n--)
    bits &= bits - 1;
  return (uint32_t)__builtin_ctzll(bits);
}

static uint32_t last_bit(uint64_t bits) { return 63 - (uint32_t)__builtin_clzll(bits); }

static uint32_t draw_warp(emu_worker_t *worker, uint64_t warps) {
  uint64_t quick = warps & ~emu_bit(worker->slow_warp);
  if (quick && (quick == warps || emu_random(worker) % SLOW_ONE_IN))
    warps = quick;
  uint32_t count = (uint32_t)__builtin_popcountll(warps);
  return nth_bit(warps, count == 1 ? 0 : emu_random(worker) % count);
}

static uint32_t choose_warp(emu_worker_t *worker, uint64_t warps) {
  switch (worker->launch->order) {
  case EMU_FIRST:
    return (uint32_t)__builtin_ctzll(warps);
  case EMU_LAST:
    return last_bit(warps);
  default:
    return draw_warp(worker, warps);
  }
}

static emu_thread_t *lane_of(emu_worker_t *worker, const emu_warp_t *warp, uint64_t lanes) {
  uint32_t lane = worker->launch->order == EMU_LAST ? last_bit(lanes) : (uint32_t)__builtin_ctzll(lanes);
  return &worker->threads[(warp->number << worker->launch->warp_shift) + lane];
}

// Lanes that ran ahead as far as the log of accesses goes wait here for the others; then all go on.
static bool release_log_waiters(emu_worker_t *worker, emu_warp_t *warp) {
  if (!warp->at_log_end)
    return false;
  emu_log_flush(worker, warp);
  warp->ready |= warp->at_log_end;
  warp->at_log_end = 0;
  worker->ready_warps |= emu_bit(warp->number);
  return true;
}

// Copies and products that threads wait for.
static bool engines_go_on(emu_worker_t *worker) {
  return emu_bulk_land_awaited(worker) || emu_tensor_run_awaited(worker);
}

static emu_thread_t *pick(emu_worker_t *worker) {
  emu_warp_t *warp = &worker->warps[worker->running_warp];
  if (warp->ready || release_log_waiters(worker, warp) || emu_collectives_go_on(worker, warp))
    return lane_of(worker, warp, warp->ready);
  worker->ready_warps &= ~emu_bit(warp->number);
  while (!worker->ready_warps)
    if (!engines_go_on(worker))
      return NULL;
  if (worker->vector_taken > EMU_VECTOR_BYTES)
    emu_clock_collect(worker);
  emu_trace_warp(worker, warp->number);
  worker->running_warp = choose_warp(worker, worker->ready_warps);
  warp = &worker->warps[worker->running_warp];
  return lane_of(worker, warp, warp->ready);
}

//===--- Fibers ----------------------------------------------------------===//

static void to_host(emu_worker_t *worker, emu_fiber_t *from) { emu_fiber_switch(from, &worker->stacks->host); }

_Noreturn void emu_abort_block(emu_worker_t *worker) {
  worker->aborted = true;
  to_host(worker, worker->current->fiber);
  __builtin_unreachable();
}

static void mark_ended(emu_thread_t *thread) {
  emu_warp_t *warp = thread->in_warp;
  warp->ready &= ~emu_bit(thread->view.lane);
  warp->ended |= emu_bit(thread->view.lane);
  thread->waits = EMU_ENDED;
  --thread->worker->live;
  --emu_member_of(thread)->live;
  emu_progress(thread->worker);
  if (warp->meetings)
    emu_collectives_lane_ended(thread);
  if (emu_member_of(thread)->live && emu_member_of(thread)->open_barriers)
    emu_barriers_thread_ended(thread);
  emu_cluster_thread_ended(thread);
}

// What to run after a thread has ended; null when all have. Stuck blocks do not come back.
static emu_thread_t *after_end(emu_worker_t *worker) {
  emu_thread_t *next = pick(worker);
  if (!next && worker->live)
    emu_stuck(worker);
  return next;
}

// A fiber's life: threads, one after another. Between them it may rest in the worker's list of idle fibers.
static void run_threads(void *argument) {
  emu_worker_t *worker = argument;
  void **params = worker->launch->given->params;
  tessera_emu_kernel_t kernel = worker->launch->given->kernel;
  for (;;) {
    emu_thread_t *thread = worker->current;
    emu_fiber_t *fiber = thread->fiber;
    kernel(&thread->view, params);
    mark_ended(thread);
    emu_thread_t *next = after_end(worker);
    worker->current = next;
    if (next && !next->fiber) {
      next->fiber = fiber;
      continue;
    }
    fiber->next_idle = worker->idle;
    worker->idle = fiber;
    emu_fiber_switch(fiber, next ? next->fiber : &worker->stacks->host);
    params = worker->launch->given->params; // perhaps another launch by now
    kernel = worker->launch->given->kernel;
  }
}

static emu_fiber_t *take_fiber(emu_worker_t *worker) {
  emu_fiber_t *fiber = worker->idle;
  if (fiber)
    worker->idle = fiber->next_idle;
  else
    fiber = emu_fiber_take(worker->stacks, run_threads, worker);
  return fiber;
}

// Makes sure that |next| has a fiber to run on; without memory for one the block ends.
static void begin(emu_worker_t *worker, emu_thread_t *next) {
  if (!next->fiber)
    next->fiber = take_fiber(worker);
  if (next->fiber)
    return;
  worker->no_memory = true;
  emu_abort_block(worker);
}

static void switch_to(emu_worker_t *worker, emu_thread_t *self, emu_thread_t *next) {
  begin(worker, next);
  worker->current = next;
  emu_fiber_switch(self->fiber, next->fiber);
}

_Noreturn void emu_end_thread(emu_thread_t *self) {
  emu_worker_t *worker = self->worker;
  mark_ended(self);
  emu_thread_t *next = after_end(worker);
  if (next) {
    begin(worker, next);
    worker->current = next;
  }
  emu_fiber_switch(self->fiber, next ? next->fiber : &worker->stacks->host); // its fiber rests until the block ends
  __builtin_unreachable();
}

//===--- Waiting ---------------------------------------------------------===//

void emu_wait(emu_thread_t *self, emu_wait_t why, uint32_t site) {
  emu_worker_t *worker = self->worker;
  self->waits = why;
  self->wait_site = site;
  self->spins = 0;
  self->in_warp->ready &= ~emu_bit(self->view.lane);
  emu_thread_t *next = pick(worker);
  if (!next)
    emu_stuck(worker);
  else if (next != self)
    switch_to(worker, self, next);
  self->waits = EMU_RUNS;
}

void emu_wake(emu_thread_t *thread) {
  thread->in_warp->ready |= emu_bit(thread->view.lane);
  thread->worker->ready_warps |= emu_bit(thread->in_warp->number);
  emu_progress(thread->worker);
}

void emu_note_change(emu_launch_t *launch) {
  uint64_t before = atomic_load(&launch->stillness);
  while (!atomic_compare_exchange_weak(&launch->stillness, &before, ((before >> 16) + 1) << 16))
    ;
}

void emu_leave_spin(emu_worker_t *worker) {
  if (worker->yields >= YIELDS_BEFORE_STUCK)
    emu_note_change(worker->launch);
  worker->yields = 0;
  worker->hopeless = 0;
}

void emu_suspend(emu_worker_t *worker) {
  worker->suspended = true;
  to_host(worker, worker->current->fiber);
}

// The block may meet at barriers between two looks at memory. Few accesses for each look: its threads do nothing else.
static bool only_polls(const emu_thread_t *thread) {
  const emu_worker_t *worker = thread->worker;
  const emu_launch_t *launch = worker->launch;
  return thread->polls >= POLLS_BEFORE_STUCK && thread->polled_changes == launch->changes &&
         worker->steps - thread->polled_steps <= (uint64_t)thread->polls * launch->threads * STEPS_OF_A_POLL;
}

bool emu_only_polls(const emu_worker_t *worker) {
  for (uint32_t i = 0; i < worker->launch->threads; ++i)
    if (only_polls(&worker->threads[i]))
      return true;
  return false;
}

// Do all blocks that run only spin? Each worker says so only after a long look at memory as the last change left it: a
// flag may have been set for a block whose host thread the system does not let run.
static bool all_spin(emu_worker_t *worker) {
  emu_launch_t *launch = worker->launch;
  uint64_t now = atomic_load(&launch->stillness);
  if (now >> 16 != worker->last_change) {
    worker->last_change = now >> 16;
    worker->hopeless = 0;
  } else if (worker->hopeless < HOPELESS_YIELDS) {
    if (worker->hopeless + 1 < HOPELESS_YIELDS || atomic_compare_exchange_strong(&launch->stillness, &now, now + 1))
      ++worker->hopeless;
  } else {
    return (int)(now & UINT16_MAX) == atomic_load(&launch->active) && atomic_load(&launch->stillness) == now;
  }
  return false;
}

// Nothing but spinning for long: others may still be at work, on other host threads.
static void spin_on(emu_worker_t *worker) {
  emu_launch_t *launch = worker->launch;
  ++worker->yields;
  engines_go_on(worker);
  if (launch->resident && worker->yields % YIELDS_BEFORE_SUSPENSION == 0)
    emu_suspend(worker);
  if (worker->yields < YIELDS_BEFORE_STUCK)
    return;
  if (worker->yields == YIELDS_BEFORE_STUCK)
    emu_note_change(launch);
  if (all_spin(worker))
    emu_stuck(worker);
  // On a busy machine each may cost what all its other processes take at a time.
  if (!launch->alone && worker->yields % YIELDS_PER_HOST_YIELD == 0)
    sched_yield();
}

// Whatever the order, another warp at last, so that a loop that waits comes to its end.
static emu_thread_t *pick_another(emu_worker_t *worker, emu_thread_t *self) {
  emu_warp_t *warp = self->in_warp;
  uint64_t before = emu_bit(self->view.lane) - 1;
  uint64_t after = warp->ready & (worker->launch->order == EMU_LAST ? before : ~(before * 2 + 1));
  if (after)
    return lane_of(worker, warp, after);
  emu_trace_warp(worker, warp->number);
  worker->running_warp = draw_warp(worker, worker->ready_warps);
  warp = &worker->warps[worker->running_warp];
  return lane_of(worker, warp, warp->ready);
}

static bool is_alone(const emu_worker_t *worker, const emu_thread_t *self) {
  return worker->ready_warps == emu_bit(self->in_warp->number) && self->in_warp->ready == emu_bit(self->view.lane);
}

bool emu_looks_in_vain(const emu_worker_t *worker) {
  const emu_thread_t *looker = worker->looker;
  return looker && memcmp(looker->atomic_value, looker->atomic_place, looker->atomic_bytes) == 0;
}

static void suspend_looker(emu_worker_t *worker, const emu_thread_t *self) {
  worker->looker = self;
  emu_suspend(worker);
  worker->looker = NULL;
}

void emu_yield(emu_thread_t *self, uint32_t site, bool in_vain) {
  emu_worker_t *worker = self->worker;
  self->wait_site = site;
  if (worker->launch->is_stuck && only_polls(self))
    emu_stuck(worker);
  if (in_vain && is_alone(worker, self) && !engines_go_on(worker))
    suspend_looker(worker, self);
  else if (++self->spins % SPINS_BEFORE_YIELD)
    return;
  spin_on(worker);
  emu_thread_t *next = pick_another(worker, self);
  if (next != self)
    switch_to(worker, self, next);
}

bool tessera_emu_prints(const tessera_emu_thread_t *self) {
  return ((const emu_thread_t *)self)->worker->launch->order == EMU_SEEDED;
}

//===--- Blocks ----------------------------------------------------------===//

// Number |n| among sizes, the first one running fastest.
static void place_at(uint64_t n, const uint32_t sizes[3], uint32_t out_place[3]) {
  out_place[0] = (uint32_t)(n % sizes[0]);
  out_place[1] = (uint32_t)(n / sizes[0] % sizes[1]);
  out_place[2] = (uint32_t)(n / sizes[0] / sizes[1]);
}

static void place_member(emu_member_t *member, const emu_launch_t *launch, uint64_t cluster) {
  tessera_emu_block_t *block = &member->block;
  place_at(cluster, block->clusters, block->cluster_id);
  place_at(block->rank, launch->cluster, block->place);
  for (int axis = 0; axis < 3; ++axis)
    block->id[axis] = block->cluster_id[axis] * launch->cluster[axis] + block->place[axis];
  member->number = block->id[0] + (uint64_t)launch->grid[0] * (block->id[1] + (uint64_t)launch->grid[1] * block->id[2]);
}

// |number|: of the cluster.
static void place_block(emu_worker_t *worker, uint64_t number) {
  const emu_launch_t *launch = worker->launch;
  worker->block_number = number * launch->members;
  for (uint32_t i = 0; i < launch->members; ++i)
    place_member(&worker->members[i], launch, number);
  uint64_t mixed = (launch->given->seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + number * UINT64_C(0xbf58476d1ce4e5b9);
  worker->random = (uint32_t)(mixed >> 32) | 1;
  emu_random(worker);
  worker->slow_warp = emu_random(worker) % launch->warps;
}

static void reset_threads(emu_worker_t *worker) {
  uint32_t known = worker->now, stamp = ++worker->now;
  worker->block_stamp = known;
  worker->clocks_differ = false;
  for (uint32_t i = 0; i < worker->launch->threads; ++i) {
    emu_thread_t *thread = &worker->threads[i];
    thread->fiber = NULL;
    thread->waits = EMU_RUNS;
    thread->clock = (emu_clock_t){.stamp = stamp, .known_block = known};
    thread->acquirable = thread->acquired = NULL;
    thread->fence_scope = 0;
    thread->groups = thread->spins = thread->polls = thread->copy_count = 0;
    thread->atomic_place = NULL;
    thread->privates = NULL;
    thread->lock = NULL;
    thread->bulks = NULL;
    thread->bulk_groups = thread->fence_count = 0;
    thread->fenced = thread->tensor_fenced = (emu_clock_t){.known_block = known};
    thread->tensor_fence_count = 0;
    thread->cluster = EMU_NOT_ARRIVED;
    if (worker->launch->members > 1)
      memset(thread->known_reads, 0, sizeof thread->known_reads);
  }
}

static void reset_warps(emu_worker_t *worker) {
  const emu_launch_t *launch = worker->launch;
  for (uint32_t w = 0; w < launch->warps; ++w) {
    emu_warp_t *warp = &worker->warps[w];
    warp->ready = warp->exists;
    warp->ended = warp->at_barrier = warp->at_mbarrier = warp->at_cluster = warp->at_log_end = 0;
    warp->meetings = warp->free_meetings = NULL; // they were the last block's
  }
  worker->ready_warps = launch->warps == 64 ? ~UINT64_C(0) : emu_bit(launch->warps) - 1;
  worker->live = launch->threads;
  worker->yields = 0;
  worker->looker = NULL;
  worker->aborted = false;
  worker->mbarriers = NULL;
  worker->free_bulks = NULL;
  worker->reads_in_flight = 0;
  for (uint32_t i = 0; i < launch->members; ++i) {
    worker->members[i].live = launch->member_threads;
    worker->members[i].open_barriers = 0;
    memset(worker->members[i].barriers, 0, sizeof worker->members[i].barriers);
  }
}

static void end_block(emu_worker_t *worker) {
  if (worker->copies_in_flight)
    emu_copies_block_ended(worker);
  emu_bulk_block_ended(worker);
  emu_products_block_ended(worker);
  emu_tensor_block_ended(worker);
  worker->syncs = NULL;
  for (uint32_t w = 0; w < worker->launch->warps; ++w)
    emu_log_flush(worker, &worker->warps[w]);
  emu_trace_warp(worker, worker->running_warp);
  emu_timing_end(worker);
  emu_wave_leave(worker);
  worker->counters.blocks += worker->launch->members;
  worker->counters.threads += worker->launch->threads;
  if (worker->idle && !worker->aborted && worker->stacks->used <= worker->launch->threads)
    return; // all fibers rest in the list
  worker->idle = NULL;
  emu_fibers_reset(worker->stacks);
}

bool emu_begin_block(emu_worker_t *worker, uint64_t number) {
  place_block(worker, number);
  reset_threads(worker);
  reset_warps(worker);
  emu_arena_reset(&worker->block_arena);
  emu_arena_reset(&worker->vector_arena);
  worker->vector_taken = 0;
  emu_shadow_block_begins(worker);
  emu_cluster_begins(worker);
  emu_trace_block(worker);
  emu_timing_begin(worker);
  emu_wave_enter(worker);
  worker->running_warp = choose_warp(worker, worker->ready_warps);
  emu_warp_t *warp = &worker->warps[worker->running_warp];
  worker->current = lane_of(worker, warp, warp->ready);
  worker->current->fiber = take_fiber(worker);
  worker->no_memory = !worker->current->fiber;
  return !worker->no_memory;
}

void emu_abandon_block(emu_worker_t *worker) {
  worker->suspended = false;
  worker->looker = NULL;
  worker->aborted = true;
  end_block(worker);
}

bool emu_resume_block(emu_worker_t *worker) {
  worker->suspended = false;
  emu_fiber_switch(&worker->stacks->host, worker->current->fiber);
  if (worker->suspended)
    return true;
  emu_progress(worker);
  end_block(worker);
  return false;
}
