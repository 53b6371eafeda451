// mbarrier.c - init, arrive, wait: see mbarrier.h. Costs: a walk along the block's barriers to find one, a vector of
// clocks for each phase, and one more for each warp that waits.
#include "lib/emulator/machine/engines/mbarrier.h"

#include "lib/emulator/machine/access.h"
#include "lib/emulator/machine/engines/bulk.h"
#include "lib/emulator/machine/engines/products.h"
#include "lib/emulator/machine/engines/tensor_memory.h"
#include "lib/emulator/machine/shadow.h"

#include <string.h>

enum { MBARRIER_BYTES = 8, MOST_ARRIVALS = (1 << 20) - 1, MOST_BYTES = (1 << 20) - 1 };

//===--- Finding one -----------------------------------------------------===//

static bool is_place(emu_thread_t *self, const void *address, emu_mbarrier_of_t whose, const char *action,
                     uint32_t site) {
  const tessera_emulator_launch_t *given = self->worker->launch->given;
  uintptr_t place = emu_window_offset(self->worker, address), offset = place % EMU_WINDOW_BYTES;
  bool is_shared = emu_in_window(self->worker, (uintptr_t)address);
  if (is_shared && whose == EMU_OWN_MBARRIER && place / EMU_WINDOW_BYTES != self->view.block->rank) {
    emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, 0, offset, 0,
             "%s at an mbarrier of another block of the cluster, which only arrivals and copies may reach", action);
    return false;
  }
  if (offset % MBARRIER_BYTES) {
    emu_find(self, TESSERA_EMULATOR_MISALIGNED, site, 0, offset, 0,
             "%s at address 0x%llx, which must be a multiple of %d", action, (unsigned long long)(uintptr_t)address,
             MBARRIER_BYTES);
    return false;
  }
  if (is_shared && offset < given->shared_bytes && given->shared_bytes - offset >= MBARRIER_BYTES)
    return emu_reach(self, place, whose == EMU_REACHED_MBARRIER, site);
  emu_find(self, TESSERA_EMULATOR_OUT_OF_BOUNDS, site, 0, offset, 0,
           "%s outside of the block's %u bytes of shared memory", action,
           given->shared_bytes - given->shared_added_bytes);
  return false;
}

static emu_mbarrier_t *find(const emu_worker_t *worker, uint32_t offset) {
  emu_mbarrier_t *barrier = worker->mbarriers;
  while (barrier && barrier->offset != offset)
    barrier = barrier->next;
  return barrier;
}

static uint32_t offset_of(const emu_thread_t *self, const void *address) {
  return (uint32_t)emu_window_offset(self->worker, address);
}

// Whoever uses it must be ordered after who made it.
static void check_made(emu_thread_t *self, const emu_mbarrier_t *barrier, const char *action, uint32_t site) {
  if (self->worker->launch->checks && !emu_knows(self, barrier->maker, barrier->made))
    emu_find(self, TESSERA_EMULATOR_RACE, site, barrier->made_site, barrier->offset, barrier->maker,
             "initialization by thread %u and %s by thread %u, in no order, of the mbarrier at shared+%u",
             barrier->maker, action, self->view.index, emu_shared_offset(self->worker->launch, barrier->offset));
}

emu_mbarrier_t *emu_mbarrier_at(emu_thread_t *self, const void *address, emu_mbarrier_of_t whose, const char *action,
                                uint32_t site) {
  if (!is_place(self, address, whose, action, site))
    return NULL;
  emu_mbarrier_t *barrier = find(self->worker, offset_of(self, address));
  if (barrier && barrier->is_live) {
    check_made(self, barrier, action, site);
    return barrier;
  }
  emu_find(self, TESSERA_EMULATOR_UNINITIALIZED, site, 0, offset_of(self, address), 0,
           "%s at shared+%u, where no mbarrier was initialized", action,
           emu_shared_offset(self->worker->launch, offset_of(self, address)));
  return NULL;
}

void emu_mbarrier_describe(const emu_mbarrier_t *barrier, char *text, size_t bytes) {
  if (barrier->pending && barrier->bytes > 0)
    snprintf(text, bytes, " for %u arrivals and %lld bytes of phase %u", barrier->pending, (long long)barrier->bytes,
             barrier->phase);
  else if (barrier->pending)
    snprintf(text, bytes, " for %u arrivals of phase %u", barrier->pending, barrier->phase);
  else if (barrier->bytes > 0)
    snprintf(text, bytes, " for %lld bytes of phase %u", (long long)barrier->bytes, barrier->phase);
  else
    snprintf(text, bytes, ", which expects %lld bytes fewer than have come in phase %u", -(long long)barrier->bytes,
             barrier->phase);
}

//===--- Making and unmaking ---------------------------------------------===//

// Both are writes of the 8 bytes, which belong to the barrier in between.
static void write_place(emu_thread_t *self, uint32_t offset, bool is_live, uint32_t site) {
  emu_access_t access = {.self = self, .write = true, .site = site};
  if (!self->worker->launch->checks)
    return;
  if (is_live)
    emu_shadow_shared(&access, offset, MBARRIER_BYTES);
  emu_shadow_set_mbarrier(self->worker, offset, MBARRIER_BYTES, is_live);
}

// Blocks of as many threads as there may be have no room for engines: then it is who makes the barrier.
static uint32_t engine_of(const emu_thread_t *maker) {
  const emu_launch_t *launch = maker->worker->launch;
  uint32_t number = 0, engines = launch->clocks > launch->first_engine ? launch->clocks - launch->first_engine : 0;
  for (const emu_mbarrier_t *other = maker->worker->mbarriers; other; other = other->next)
    ++number;
  return engines ? launch->first_engine + number % engines : maker->view.index;
}

uint32_t emu_mbarrier_stamp(emu_worker_t *worker, emu_mbarrier_t *barrier) {
  if (!barrier->arrived)
    barrier->arrived = emu_clock_sum_create(worker);
  return barrier->arrived->vector[barrier->engine] = ++worker->now;
}

static emu_mbarrier_t *place(const emu_thread_t *maker, uint32_t offset) {
  emu_worker_t *worker = maker->worker;
  emu_mbarrier_t *barrier = find(worker, offset);
  if (barrier)
    return barrier;
  barrier = emu_arena_take(worker, &worker->block_arena, sizeof *barrier);
  barrier->offset = offset;
  barrier->engine = engine_of(maker);
  barrier->next = worker->mbarriers;
  return worker->mbarriers = barrier;
}

void tessera_emu_mbarrier_init(tessera_emu_thread_t *thread, void *address, uint32_t count, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  if (address == TESSERA_EMU_OFF || !is_place(self, address, EMU_OWN_MBARRIER, "mbarrier.init", site))
    return;
  emu_mbarrier_t *barrier = place(self, offset_of(self, address)), *next = barrier->next;
  if (barrier->is_live) {
    emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, barrier->made_site, barrier->offset, barrier->maker,
             "mbarrier.init at shared+%u, where an mbarrier is in use: mbarrier.inval comes first",
             emu_shared_offset(self->worker->launch, barrier->offset));
    return;
  }
  if (!count || count > MOST_ARRIVALS) {
    emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, 0, count, 0,
             "mbarrier.init for %u arrivals; 1 to %d are allowed", count, MOST_ARRIVALS);
    return;
  }
  write_place(self, barrier->offset, true, site);
  *barrier = (emu_mbarrier_t){.next = next,
                              .offset = barrier->offset,
                              .is_live = true,
                              .expected = count,
                              .pending = count,
                              .maker = self->view.index,
                              .made = self->clock.stamp,
                              .made_site = site,
                              .engine = barrier->engine,
                              .copies = barrier->copies};
}

void tessera_emu_mbarrier_inval(tessera_emu_thread_t *thread, void *address, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  emu_mbarrier_t *barrier = emu_mbarrier_at(self, address, EMU_OWN_MBARRIER, "mbarrier.inval", site);
  if (!barrier)
    return;
  if (emu_mbarrier_is_waited_for(self->worker, barrier))
    emu_find(self, TESSERA_EMULATOR_RACE, site, 0, barrier->offset, 0,
             "mbarrier.inval of the mbarrier at shared+%u, which threads wait for",
             emu_shared_offset(self->worker->launch, barrier->offset));
  barrier->is_live = false;
  write_place(self, barrier->offset, false, site);
}

//===--- Fences ----------------------------------------------------------===//

static void fence_made(emu_thread_t *self) {
  for (emu_mbarrier_t *barrier = self->worker->mbarriers; barrier; barrier = barrier->next)
    if (barrier->is_live && barrier->maker == self->view.index && !barrier->fenced)
      barrier->fenced = self->clock.stamp;
}

void tessera_emu_fence_mbarrier_init(tessera_emu_thread_t *thread, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  (void)site;
  fence_made(self);
  self->clock.stamp = ++self->worker->now;
}

void tessera_emu_fence_proxy(tessera_emu_thread_t *thread, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  (void)site;
  fence_made(self);
  self->fences[self->fence_count++ % EMU_FENCES] = self->clock.stamp;
  self->fenced = self->clock;
  self->clock.stamp = ++self->worker->now;
}

void emu_mbarrier_check_fenced(emu_thread_t *self, const emu_mbarrier_t *barrier, uint32_t site) {
  if (!barrier->fenced || !emu_knows(self, barrier->maker, barrier->fenced))
    emu_find(self, TESSERA_EMULATOR_UNFENCED, site, barrier->made_site, barrier->offset, barrier->maker,
             "a copy of a box reports to the mbarrier at shared+%u, and no fence.mbarrier_init or fence.proxy.async "
             "after its initialization is known",
             emu_shared_offset(self->worker->launch, barrier->offset));
}

//===--- The end of a phase ----------------------------------------------===//

static bool is_over(const emu_mbarrier_t *barrier, uint32_t parity) { return (barrier->phase & 1) != (parity & 1); }

static bool is_clustered(const emu_thread_t *thread) { return thread->worker->launch->members > 1; }

static void learn_reads(emu_thread_t *thread, const emu_mbarrier_t *barrier) {
  for (uint32_t w = 0; w < thread->worker->launch->warps; ++w)
    if (barrier->reads_ended[w] > thread->known_reads[w])
      thread->known_reads[w] = barrier->reads_ended[w];
}

// What the warp has waited for is read, whatever the scope of the arrival.
static void release_reads(const emu_thread_t *self, emu_mbarrier_t *barrier) {
  const struct emu_products_t *products = self->in_warp->products;
  if (products)
    barrier->reads_arrived[self->view.warp] = products->waits;
}

static void learn(emu_thread_t *thread, const emu_mbarrier_t *barrier, bool of_cluster) {
  if (is_clustered(thread))
    learn_reads(thread, barrier);
  if (barrier->ended && thread->worker->launch->checks)
    emu_clock_learn(barrier->ended, thread);
  if (of_cluster && barrier->peers_ended)
    emu_clock_learn(barrier->peers_ended, thread);
}

// Calls visit for each thread that waits at the barrier.
#define FOR_EACH_WAITING(worker, barrier, thread)                                                                      \
  for (emu_warp_t *warp_ = (worker)->warps; warp_ < (worker)->warps + (worker)->launch->warps; ++warp_)                \
    for (uint64_t rest_ = warp_->at_mbarrier; rest_; rest_ &= rest_ - 1)                                               \
      for (emu_thread_t *thread =                                                                                      \
               &(worker)->threads[(warp_->number << (worker)->launch->warp_shift) + (uint32_t)__builtin_ctzll(rest_)]; \
           thread && thread->wait_mbarrier == (barrier); thread = NULL)

bool emu_mbarrier_is_waited_for(const emu_worker_t *worker, const emu_mbarrier_t *barrier) {
  FOR_EACH_WAITING((emu_worker_t *)(uintptr_t)worker, barrier, thread)
  return true;
  return false;
}

void emu_mbarrier_end_phase(emu_worker_t *worker, emu_mbarrier_t *barrier) {
  ++barrier->phase;
  barrier->pending = barrier->expected;
  barrier->ended = barrier->arrived;
  barrier->peers_ended = barrier->peers_arrived;
  barrier->arrived = barrier->peers_arrived = NULL;
  memcpy(barrier->reads_ended, barrier->reads_arrived, sizeof barrier->reads_ended);
  memset(barrier->reads_arrived, 0, sizeof barrier->reads_arrived);
  emu_progress(worker);
  FOR_EACH_WAITING(worker, barrier, thread) {
    if (!is_over(barrier, thread->wait_parity))
      continue;
    warp_->at_mbarrier &= ~emu_bit(thread->view.lane);
    learn(thread, barrier, thread->wait_of_cluster); // another phase may end before it runs
    emu_wake(thread);
  }
}

void emu_mbarrier_advance(emu_worker_t *worker, emu_mbarrier_t *barrier) {
  if (!barrier->pending && !barrier->bytes && barrier->expected)
    emu_mbarrier_end_phase(worker, barrier);
}

//===--- Arriving --------------------------------------------------------===//

// False after a finding.
static bool take_arrivals(emu_thread_t *self, emu_mbarrier_t *barrier, uint32_t count, uint32_t how, uint32_t site) {
  bool stays = how & TESSERA_EMU_MBARRIER_STAYS;
  if (count > barrier->pending || !count || (stays && count == barrier->pending)) {
    emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, barrier->made_site, barrier->offset, 0,
             "%u arrivals at the mbarrier at shared+%u, which awaits %u in phase %u%s", count,
             emu_shared_offset(self->worker->launch, barrier->offset), barrier->pending, barrier->phase,
             stays ? ", and the phase must not end by these" : "");
    return false;
  }
  barrier->pending -= count;
  if (how & TESSERA_EMU_MBARRIER_DROPS)
    barrier->expected -= count;
  return true;
}

static void take_bytes(emu_thread_t *self, emu_mbarrier_t *barrier, int64_t bytes, uint32_t site) {
  barrier->bytes += bytes;
  if (barrier->bytes > MOST_BYTES || barrier->bytes < -MOST_BYTES)
    emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, barrier->made_site, barrier->offset, 0,
             "the mbarrier at shared+%u awaits %lld bytes; it can count %d",
             emu_shared_offset(self->worker->launch, barrier->offset), (long long)barrier->bytes, MOST_BYTES);
}

// By scope .cta, an arrival at another block's barrier orders nothing.
static void release(emu_thread_t *self, emu_mbarrier_t *barrier, bool of_cluster) {
  emu_worker_t *worker = self->worker;
  bool is_own = barrier->offset / EMU_WINDOW_BYTES == self->view.block->rank;
  emu_clock_sum_t **sum = is_own ? &barrier->arrived : &barrier->peers_arrived;
  if (!worker->launch->checks || !(is_own || of_cluster))
    return;
  if (!*sum)
    *sum = emu_clock_sum_create(worker);
  emu_clock_sum_add(*sum, self);
  self->clock.stamp = ++worker->now;
}

uint64_t tessera_emu_mbarrier_arrive(tessera_emu_thread_t *thread, void *address, uint32_t count, uint32_t bytes,
                                     uint32_t how, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  emu_mbarrier_t *barrier =
      address == TESSERA_EMU_OFF ? NULL : emu_mbarrier_at(self, address, EMU_REACHED_MBARRIER, "mbarrier.arrive", site);
  if (!barrier)
    return 0;
  uint64_t phase = barrier->phase;
  take_bytes(self, barrier, bytes, site);
  if (!take_arrivals(self, barrier, count, how, site))
    return phase;
  if (is_clustered(self))
    release_reads(self, barrier);
  if (!(how & TESSERA_EMU_MBARRIER_RELAXED))
    release(self, barrier, how & TESSERA_EMU_MBARRIER_CLUSTER);
  emu_progress(self->worker);
  emu_mbarrier_advance(self->worker, barrier);
  return phase;
}

void emu_mbarrier_engine_arrives(emu_thread_t *starter, emu_mbarrier_t *barrier, uint32_t engine, uint32_t site) {
  emu_worker_t *worker = starter->worker;
  if (!take_arrivals(starter, barrier, 1, 0, site))
    return;
  if (worker->launch->checks && !barrier->arrived)
    barrier->arrived = emu_clock_sum_create(worker);
  if (worker->launch->checks)
    barrier->arrived->vector[engine] = ++worker->now;
  emu_progress(worker);
  emu_mbarrier_advance(worker, barrier);
}

void tessera_emu_mbarrier_expect(tessera_emu_thread_t *thread, void *address, int64_t bytes, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  emu_mbarrier_t *barrier = emu_mbarrier_at(self, address, EMU_REACHED_MBARRIER,
                                            bytes < 0 ? "mbarrier.complete_tx" : "mbarrier.expect_tx", site);
  if (!barrier)
    return;
  take_bytes(self, barrier, bytes, site);
  emu_progress(self->worker);
  emu_mbarrier_advance(self->worker, barrier);
}

//===--- Waiting ---------------------------------------------------------===//

// What engines still have to do for the phase.
static void land(emu_worker_t *worker, emu_mbarrier_t *barrier) {
  emu_tensor_run(worker, barrier);
  emu_bulk_land(worker, barrier);
}

void tessera_emu_mbarrier_wait(tessera_emu_thread_t *thread, void *address, uint32_t parity, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  emu_mbarrier_t *barrier = emu_mbarrier_at(self, address, EMU_OWN_MBARRIER, "mbarrier.try_wait", site);
  if (!barrier)
    return;
  if (is_over(barrier, parity)) {
    learn(self, barrier, false);
    return;
  }
  self->wait_mbarrier = barrier;
  self->wait_of_cluster = false;
  self->wait_parity = parity;
  self->in_warp->at_mbarrier |= emu_bit(self->view.lane);
  if (emu_random(self->worker) & 1) // now, or when nobody else can run
    land(self->worker, barrier);
  if (!is_over(barrier, parity))
    emu_wait(self, EMU_AT_MBARRIER, site);
}

uint32_t tessera_emu_mbarrier_test(tessera_emu_thread_t *thread, void *address, uint64_t phase, uint32_t how,
                                   uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  emu_yield(self, site, false);
  emu_mbarrier_t *barrier = emu_mbarrier_at(self, address, EMU_OWN_MBARRIER, "mbarrier.test_wait", site);
  if (!barrier)
    return true;
  if (!is_over(barrier, (uint32_t)phase)) { // a state is the phase's number
    land(self->worker, barrier);
    return false;
  }
  if (!(how & TESSERA_EMU_MBARRIER_RELAXED))
    learn(self, barrier, how & TESSERA_EMU_MBARRIER_CLUSTER);
  return true;
}
