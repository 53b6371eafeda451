// atomic.c - atomics and fences: no race among themselves, and an order for what is around them.
// A release leaves a snapshot of what its thread knows at the address (clock.h); an acquire that finds it there learns
// it. A relaxed atomic publishes what the last release fence knew, and keeps what it sees for the next acquire fence.
// Expects: begin and end in pairs, nothing that waits between. Global addresses are locked by stripes, so that the
// value and the snapshot change as one.
#include "lib/emulator/machine/access.h"
#include "lib/emulator/machine/clock.h"
#include "lib/emulator/machine/count.h"

#include <sched.h>
#include <string.h>

typedef struct emu_sync_t {
  struct emu_sync_t *next;
  uintptr_t address;
  const emu_foreign_t *released;
} emu_sync_t;

static bool acquires(tessera_emu_order_t order) {
  return order == TESSERA_EMU_ACQUIRE || order == TESSERA_EMU_ACQUIRE_RELEASE || order == TESSERA_EMU_SEQUENTIAL;
}

static bool releases(tessera_emu_order_t order) {
  return order == TESSERA_EMU_RELEASE || order == TESSERA_EMU_ACQUIRE_RELEASE || order == TESSERA_EMU_SEQUENTIAL;
}

//===--- What was released where -----------------------------------------===//

static bool in_shared(const emu_thread_t *self, uintptr_t address) { return emu_in_window(self->worker, address); }

static emu_sync_t **list_of(emu_thread_t *self, uintptr_t address) {
  if (in_shared(self, address))
    return &self->worker->syncs;
  return &self->worker->launch->syncs[(address >> 8) % EMU_LOCKS];
}

static emu_arena_t *arena_of(emu_thread_t *self, uintptr_t address) {
  return in_shared(self, address) ? &self->worker->block_arena : &self->worker->launch_arena;
}

static emu_sync_t *find_sync(emu_thread_t *self, uintptr_t address) {
  for (emu_sync_t *sync = *list_of(self, address); sync; sync = sync->next)
    if (sync->address == address)
      return sync;
  return NULL;
}

static emu_sync_t *make_sync(emu_thread_t *self, uintptr_t address) {
  emu_sync_t *sync = find_sync(self, address);
  if (sync)
    return sync;
  emu_sync_t **list = list_of(self, address);
  sync = emu_arena_take(self->worker, arena_of(self, address), sizeof *sync);
  *sync = (emu_sync_t){*list, address, NULL};
  return *list = sync;
}

static void note_learned(emu_thread_t *self, const emu_foreign_t *released) {
  for (uint32_t i = 0; i < released->count; ++i)
    if (released->of[i]->block != self->worker->block_number + 1 || released->of[i]->thread != self->view.index)
      atomic_store_explicit(&self->worker->launch->has_learned, true, memory_order_relaxed);
}

static void acquire(emu_thread_t *self, uintptr_t address, tessera_emu_order_t order) {
  const emu_sync_t *sync = find_sync(self, address);
  if (!sync || !sync->released)
    return;
  if (!atomic_load_explicit(&self->worker->launch->has_learned, memory_order_relaxed))
    note_learned(self, sync->released);
  if (acquires(order))
    emu_clock_acquire(self, sync->released);
  else
    self->acquirable = emu_foreign_join(self->worker, &self->worker->launch_arena, self->acquirable, sync->released);
}

// A plain store begins anew; a read-modify-write carries on what was released before it.
static void publish(emu_thread_t *self, uintptr_t address, const emu_knowledge_t *knowledge, bool carries_on) {
  emu_sync_t *sync = make_sync(self, address);
  sync->released =
      emu_foreign_add(self->worker, arena_of(self, address), carries_on ? sync->released : NULL, knowledge);
}

static void release(emu_thread_t *self, uintptr_t address, tessera_emu_order_t order, tessera_emu_scope_t scope,
                    bool carries_on) {
  emu_arena_t *arena = arena_of(self, address);
  if (releases(order)) {
    bool knows_them = acquires(order);
    publish(self, address, emu_clock_release(self, arena, self->worker->now, scope), carries_on && !knows_them);
    self->clock.stamp = ++self->worker->now;
  } else if (self->fence_scope) {
    tessera_emu_scope_t fence = (tessera_emu_scope_t)(self->fence_scope - 1);
    publish(self, address, emu_clock_release(self, arena, self->fence_now, fence < scope ? fence : scope), carries_on);
  } else if (!carries_on && find_sync(self, address)) {
    find_sync(self, address)->released = NULL;
  }
}

//===--- The hooks -------------------------------------------------------===//

static void lock(emu_thread_t *self, uintptr_t address) {
  emu_launch_t *launch = self->worker->launch;
  if (launch->alone || in_shared(self, address))
    return;
  self->lock = &launch->locks[(address >> 8) % EMU_LOCKS];
  while (atomic_exchange_explicit(self->lock, 1, memory_order_acquire))
    sched_yield();
}

static void synchronize(emu_thread_t *self, uintptr_t address, uint32_t what, tessera_emu_order_t order,
                        tessera_emu_scope_t scope) {
  if (what & TESSERA_EMU_LOAD)
    acquire(self, address, order);
  if (what & TESSERA_EMU_STORE)
    release(self, address, order, scope, what & TESSERA_EMU_LOAD);
}

static void note_poll(emu_thread_t *self, const void *place) {
  uint64_t changes = self->worker->launch->changes;
  if (self->atomic_place == place && self->polled_changes == changes && !in_shared(self, (uintptr_t)place)) {
    ++self->polls;
    return;
  }
  self->polls = 0;
  self->polled_changes = changes;
  self->polled_steps = self->worker->steps;
}

// An atomic that changes nothing may be a spin loop's; one that does is progress (atomic_end).
static void remember(emu_thread_t *self, const void *place, uint32_t bytes) {
  self->atomic_place = place;
  self->atomic_bytes = bytes < sizeof self->atomic_value ? bytes : sizeof self->atomic_value;
  memcpy(self->atomic_value, place, self->atomic_bytes);
}

// The thread looks at the place again, and nothing has changed there: other blocks may go first.
static bool looks_in_vain(const emu_thread_t *self, const void *place, uint32_t what) {
  return self->worker->launch->resident && !(what & TESSERA_EMU_STORE) && self->atomic_place == place &&
         memcmp(self->atomic_value, place, self->atomic_bytes) == 0;
}

void *tessera_emu_atomic_begin(tessera_emu_thread_t *thread, const void *address, uint32_t bytes, uint32_t what,
                               tessera_emu_order_t order, tessera_emu_scope_t scope, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  emu_worker_t *worker = self->worker;
  emu_yield(self, site, looks_in_vain(self, address, what));
  ++worker->counters.atomics;
  void *place = (void *)(uintptr_t)address;
  if (worker->launch->checks || worker->launch->count)
    place = emu_access_at(self, address, bytes, what, scope == TESSERA_EMU_SCOPE_BLOCK ? 1 : 2, site);
  if (place == address)
    lock(self, (uintptr_t)place);
  if (place == address && worker->launch->checks)
    synchronize(self, (uintptr_t)place, what, order, scope);
  note_poll(self, place);
  remember(self, place, bytes);
  return place;
}

void tessera_emu_atomic_end(tessera_emu_thread_t *thread) {
  emu_thread_t *self = emu_of(thread);
  bool changed = memcmp(self->atomic_value, self->atomic_place, self->atomic_bytes) != 0;
  if (self->lock)
    atomic_store_explicit(self->lock, 0, memory_order_release);
  self->lock = NULL;
  if (!changed)
    return;
  emu_progress(self->worker);
  if (!self->worker->launch->resident)
    return;
  ++self->worker->launch->changes;
  if (!in_shared(self, (uintptr_t)self->atomic_place))
    emu_log_signal(self, (uintptr_t)self->atomic_place, self->wait_site);
}

void tessera_emu_fence(tessera_emu_thread_t *thread, tessera_emu_order_t order, tessera_emu_scope_t scope,
                       uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  (void)site;
  if (!self->worker->launch->checks)
    return;
  if (acquires(order)) {
    emu_clock_acquire(self, self->acquirable);
    self->acquirable = NULL;
  }
  if (releases(order)) {
    self->fence_scope = 1 + (uint32_t)scope;
    self->fence_now = self->worker->now;
    self->clock.stamp = ++self->worker->now;
  }
}
