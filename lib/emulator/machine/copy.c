// copy.c - cp.async and AMD's loads into LDS: issued now, landed as late as the program allows, at the wait that covers
// them.
// Why so late: a copy that lands early hides a missing wait. Between the two the words of the target are marked as in
// flight; whoever touches them is reported (shadow.h). After the wait they count as written by the thread that waited.
#include "lib/emulator/machine/access.h"
#include "lib/emulator/machine/clock.h"
#include "lib/emulator/machine/count.h"
#include "lib/emulator/machine/shadow.h"
#include "lib/emulator/machine/trace.h"

#include <stdlib.h>
#include <string.h>

static bool refuse(emu_thread_t *self, uint32_t bytes, uint32_t source_bytes, uint32_t site) {
  bool good = (bytes == 4 || bytes == 8 || bytes == 16) && source_bytes <= bytes;
  if (!good)
    emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, 0, bytes, 0,
             "asynchronous copy of %u bytes to %u; 4, 8 or 16 can be copied", source_bytes, bytes);
  return !good;
}

// The target must be inside shared memory; it is checked as a write where it is marked.
static bool target_is_valid(emu_thread_t *self, const void *shared, uint32_t bytes, uint32_t alignment, uint32_t site) {
  uintptr_t offset = (uintptr_t)shared - (uintptr_t)self->view.block->shared;
  uint32_t there = self->worker->launch->given->shared_bytes;
  emu_check_alignment(self, (uintptr_t)shared, alignment, TESSERA_EMU_STORE, site);
  bool is_inside = offset < there && there - offset >= bytes;
  uint32_t place = (uint32_t)emu_window_offset(self->worker, shared);
  if (is_inside && !(self->worker->launch->checks && emu_shadow_is_gap(self, place)))
    return offset % alignment == 0;
  uint32_t real = emu_shared_offset(self->worker->launch, (uint32_t)offset);
  emu_find(self, TESSERA_EMULATOR_OUT_OF_BOUNDS, site, 0, real, 0,
           is_inside ? "asynchronous copy of %u bytes to shared+%u, past the end of one array of shared memory"
                     : "asynchronous copy of %u bytes to shared+%u, but the block has %u bytes of shared memory",
           bytes, real, there - self->worker->launch->given->shared_added_bytes);
  return false;
}

static bool has_room(emu_thread_t *self) {
  if (self->copy_count < self->copy_room)
    return true;
  uint32_t room = self->copy_room ? 2 * self->copy_room : 16;
  emu_copy_t *copies = realloc(self->copies, room * sizeof *copies);
  if (!copies)
    return false;
  self->copies = copies;
  self->copy_room = room;
  return true;
}

static void count(emu_thread_t *self, const void *shared, uint32_t bytes, uint32_t source_bytes, uint32_t site) {
  if (!self->worker->launch->count)
    return;
  ++self->worker->counters.async_copies;
  self->worker->counters.async_bytes += source_bytes;
  emu_log_add(self, (uintptr_t)shared, bytes, TESSERA_EMU_STORE | TESSERA_EMU_SHARED | EMU_LOG_ASYNC, site);
}

// The copy is under way from here on, as one of |group|.
static void begin(emu_thread_t *self, emu_copy_t copy) {
  emu_worker_t *worker = self->worker;
  if (!has_room(self)) {
    worker->no_memory = true;
    emu_abort_block(worker);
  }
  count(self, worker->window + copy.shared, copy.bytes, copy.source_bytes, copy.site);
  copy.issued = worker->steps;
  copy.clock = self->clock;
  self->copies[self->copy_count++] = copy;
  ++worker->copies_in_flight;
  if (worker->launch->checks)
    emu_shadow_copy_begins(self, copy.shared, copy.bytes, copy.site);
}

// Where the source can be read from, once it was checked as |alignment| has it.
static const char *source_of(emu_thread_t *self, const void *global, uint32_t bytes, uint32_t alignment,
                             uint32_t site) {
  const emu_launch_t *launch = self->worker->launch;
  if (!bytes || !(launch->checks || launch->count))
    return global;
  return emu_access_at(self, global, bytes,
                       TESSERA_EMU_LOAD | TESSERA_EMU_GLOBAL | EMU_LOG_ASYNC | TESSERA_EMU_ALIGN(alignment), 0, site);
}

static uint32_t offset_of(const emu_thread_t *self, const void *shared) {
  return (uint32_t)emu_window_offset(self->worker, shared);
}

void tessera_emu_copy_async(tessera_emu_thread_t *thread, void *shared, const void *global, uint32_t bytes,
                            uint32_t source_bytes, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  if (refuse(self, bytes, source_bytes, site) || !target_is_valid(self, shared, bytes, bytes, site))
    return;
  const char *source = source_of(self, global, source_bytes, bytes, site);
  begin(self, (emu_copy_t){.shared = offset_of(self, shared),
                           .bytes = (uint16_t)bytes,
                           .source_bytes = (uint16_t)source_bytes,
                           .global = source,
                           .group = self->groups,
                           .site = site});
}

void tessera_emu_copy_commit(tessera_emu_thread_t *self) {
  emu_of(self)->groups++;
  if (emu_of(self)->worker->timeline)
    emu_log_add(emu_of(self), 0, 0, EMU_LOG_COMMIT, 0);
}

// The source was read at some time between issue and wait: who wrote it in that time, by what the thread knew at the
// issue?
static void check_source(emu_thread_t *self, const emu_copy_t *copy) {
  emu_buffer_t *buffer = emu_buffer_at(self, (uintptr_t)copy->global, copy->source_bytes, copy->site);
  if (!buffer || !buffer->words ||
      emu_shadow_only_read(self->worker, buffer, (uintptr_t)copy->global, copy->source_bytes))
    return;
  emu_clock_t now = self->clock;
  emu_access_t access = {.self = self, .read = true, .site = copy->site};
  self->clock = copy->clock;
  self->clock.stamp = now.stamp;
  emu_shadow_global(&access, buffer, (uintptr_t)copy->global, copy->source_bytes);
  self->clock = now;
}

static void land(emu_thread_t *self, const emu_copy_t *copy) {
  char *target = self->worker->window + copy->shared;
  memcpy(target, copy->global, copy->source_bytes);
  memset(target + copy->source_bytes, 0, copy->bytes - copy->source_bytes);
  if (self->worker->launch->checks && copy->source_bytes)
    check_source(self, copy);
  if (self->worker->launch->checks)
    emu_shadow_copy_lands(self, copy->shared, copy->bytes, copy->site);
  emu_trace_copy(self, copy);
  --self->worker->copies_in_flight;
}

// Lands the copies of groups before |end|, forwards or backwards as the seed has it; keeps the others in order.
static void land_before(emu_thread_t *self, uint32_t end) {
  bool backwards = emu_random(self->worker) & 1;
  uint32_t count = self->copy_count, kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const emu_copy_t *copy = &self->copies[backwards ? count - 1 - i : i];
    if (copy->group < end)
      land(self, copy);
  }
  for (uint32_t i = 0; i < count; ++i)
    if (self->copies[i].group >= end)
      self->copies[kept++] = self->copies[i];
  self->copy_count = kept;
}

void tessera_emu_copy_wait(tessera_emu_thread_t *thread, uint32_t pending, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  if (self->worker->timeline)
    emu_log_add(self, pending, 0, EMU_LOG_WAIT, site <= TESSERA_EMULATOR_SITES ? site : 0);
  if (self->groups > pending && self->copy_count)
    land_before(self, self->groups - pending);
}

void tessera_emu_copy_wait_all(tessera_emu_thread_t *thread, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  if (self->worker->timeline) { // those not committed, too
    emu_log_add(self, 0, 0, EMU_LOG_COMMIT, 0);
    emu_log_add(self, 0, 0, EMU_LOG_WAIT, site <= TESSERA_EMULATOR_SITES ? site : 0);
  }
  land_before(self, UINT32_MAX);
}

//===--- Waits that count memory instructions ----------------------------===//

void tessera_emu_copy_counted(tessera_emu_thread_t *thread, void *shared, const void *global, uint32_t bytes,
                              uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  uint32_t number = self->groups, alignment = bytes % 4 ? bytes : 4;
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  if (!target_is_valid(self, shared, bytes, alignment, site))
    return;
  const char *source = source_of(self, global, bytes, alignment, site);
  self->groups = number + 1;
  begin(self, (emu_copy_t){.shared = offset_of(self, shared),
                           .bytes = (uint16_t)bytes,
                           .source_bytes = (uint16_t)bytes,
                           .global = source,
                           .group = number,
                           .site = site});
  if (self->worker->timeline)
    emu_log_add(self, 0, 0, EMU_LOG_COMMIT, 0);
}

static uint32_t begun_since(const emu_thread_t *self, uint32_t number) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < self->copy_count; ++i)
    count += self->copies[i].group >= number;
  return count;
}

// All lanes of the wave go on together, so each finds in LDS what any of them waited for.
static void land_counted(const tessera_emu_group_t *group, const void *parameter) {
  uint32_t landed = 0;
  emu_thread_t *one = NULL;
  (void)parameter;
  for (uint64_t rest = group->mask; rest; rest &= rest - 1) {
    uint32_t lane = (uint32_t)__builtin_ctzll(rest);
    uint32_t before = emu_of(group->lane[lane])->copy_count;
    one = emu_of(group->lane[lane]);
    land_before(one, *(const uint32_t *)group->contribution[lane]);
    landed += before - one->copy_count;
  }
  if (landed)
    emu_clock_meet_warp(one->worker, one->in_warp, group->mask);
}

void tessera_emu_copy_wait_counted(tessera_emu_thread_t *thread, uint32_t pending, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  uint32_t end = self->groups > pending ? self->groups - pending : 0;
  if (self->worker->timeline)
    emu_log_add(self, begun_since(self, end), 0, EMU_LOG_WAIT, site <= TESSERA_EMULATOR_SITES ? site : 0);
  tessera_emu_collective(thread, tessera_emu_full_mask(thread), TESSERA_EMU_RUNNING, land_counted, NULL, &end, site);
}

// Copies nobody waited for never happened; their words must not look in flight to the next block.
void emu_copies_block_ended(emu_worker_t *worker) {
  for (uint32_t i = 0; i < worker->launch->threads; ++i) {
    emu_thread_t *thread = &worker->threads[i];
    for (uint32_t c = 0; c < thread->copy_count && worker->launch->checks; ++c)
      emu_shadow_copy_lands(thread, thread->copies[c].shared, thread->copies[c].bytes, 0);
    thread->copy_count = 0;
  }
  worker->copies_in_flight = 0;
}
