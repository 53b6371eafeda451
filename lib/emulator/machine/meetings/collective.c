// collective.c - lanes that wait for each other: shuffles, votes, mma, bar.warp.sync.
// Why a meeting and no more: the ISA promises that the lanes named meet, not that memory is in order, nor that other
// lanes wait. Expects: |mask| of lanes that exist. Leaves: each lane's result in its contribution.
#include "lib/emulator/machine/clock.h"
#include "lib/emulator/machine/count.h"
#include "lib/emulator/machine/worker.h"

static emu_meeting_t *find_meeting(const emu_warp_t *warp, uint64_t wanted, uint32_t strictness,
                                   tessera_emu_meaning_t meaning, const void *parameter, uint32_t site) {
  for (emu_meeting_t *meeting = warp->meetings; meeting; meeting = meeting->next)
    if (meeting->wanted == wanted && meeting->meaning == meaning && meeting->parameter == parameter &&
        meeting->strictness == strictness && (!(strictness & TESSERA_EMU_ALIGNED) || meeting->site == site))
      return meeting;
  return NULL;
}

static emu_meeting_t *open_meeting(emu_thread_t *self, uint64_t wanted, uint32_t strictness,
                                   tessera_emu_meaning_t meaning, const void *parameter, uint32_t site) {
  emu_warp_t *warp = self->in_warp;
  emu_meeting_t *meeting = warp->free_meetings;
  if (meeting)
    warp->free_meetings = meeting->next;
  else
    meeting = emu_arena_take(self->worker, &self->worker->block_arena, sizeof *meeting);
  meeting->wanted = wanted;
  meeting->meaning = meaning;
  meeting->parameter = parameter;
  meeting->strictness = strictness;
  meeting->site = site;
  meeting->group.mask = 0;
  meeting->group.width = self->view.block->warp_width;
  meeting->next = warp->meetings;
  return warp->meetings = meeting;
}

static void arrive(emu_meeting_t *meeting, emu_thread_t *self, void *contribution, uint32_t site) {
  uint32_t lane = self->view.lane;
  meeting->group.site = site;
  meeting->group.mask |= emu_bit(lane);
  meeting->group.lane[lane] = &self->view;
  meeting->group.contribution[lane] = contribution;
}

static bool is_complete(const emu_warp_t *warp, const emu_meeting_t *meeting) {
  uint64_t missing = meeting->wanted & ~meeting->group.mask;
  return !missing || (!(meeting->strictness & TESSERA_EMU_ALIGNED) && !(missing & ~warp->ended));
}

static void close_meeting(emu_warp_t *warp, emu_meeting_t *meeting) {
  emu_meeting_t **link = &warp->meetings;
  while (*link != meeting)
    link = &(*link)->next;
  *link = meeting->next;
  meeting->next = warp->free_meetings;
  warp->free_meetings = meeting;
}

// Lanes that take no part must not be seen by the meaning.
static void clear_absent(emu_meeting_t *meeting) {
  uint64_t all = meeting->group.width == 64 ? ~UINT64_C(0) : emu_bit(meeting->group.width) - 1;
  for (uint64_t rest = all & ~meeting->group.mask; rest; rest &= rest - 1) {
    uint32_t lane = (uint32_t)__builtin_ctzll(rest);
    meeting->group.lane[lane] = NULL;
    meeting->group.contribution[lane] = NULL;
  }
}

// Done by the last to arrive, or by a lane that ends and was the last to be waited for.
static void hold(emu_worker_t *worker, emu_warp_t *warp, emu_meeting_t *meeting) {
  uint64_t mask = meeting->group.mask;
  clear_absent(meeting);
  worker->in_meaning = true;
  uint32_t logged = worker->timeline ? emu_log_length(warp->log) : 0;
  if (meeting->meaning)
    meeting->meaning(&meeting->group, meeting->parameter);
  if (worker->timeline && meeting->meaning && emu_log_length(warp->log) == logged) // no product, no access
    emu_log_add(&worker->threads[(warp->number << worker->launch->warp_shift) + (uint32_t)__builtin_ctzll(mask)], 0, 0,
                EMU_LOG_EXCHANGE, meeting->group.site);
  worker->in_meaning = false;
  if (mask == (warp->exists & ~warp->ended))
    emu_log_flush(worker, warp);
  if (meeting->strictness & TESSERA_EMU_ORDERS)
    emu_clock_meet_warp(worker, warp, mask);
  ++worker->counters.collectives;
  ++worker->steps;
  warp->ready |= mask;
  worker->ready_warps |= emu_bit(warp->number);
  emu_progress(worker);
  close_meeting(warp, meeting);
}

static bool refuse_mask(emu_thread_t *self, uint64_t mask, uint32_t site) {
  if (mask >> self->view.lane & 1)
    return false;
  emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, 0, mask, 0,
           "lane %u is not in the mask 0x%llx of the collective it executes", self->view.lane,
           (unsigned long long)mask);
  return true;
}

void tessera_emu_collective(tessera_emu_thread_t *thread, uint64_t mask, uint32_t strictness,
                            tessera_emu_meaning_t meaning, const void *parameter, void *contribution, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  emu_warp_t *warp = self->in_warp;
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  if (refuse_mask(self, mask, site))
    return;
  uint64_t wanted = mask & warp->exists;
  emu_meeting_t *meeting = find_meeting(warp, wanted, strictness, meaning, parameter, site);
  if (!meeting)
    meeting = open_meeting(self, wanted, strictness, meaning, parameter, site);
  arrive(meeting, self, contribution, site);
  if (is_complete(warp, meeting))
    hold(self->worker, warp, meeting);
  else
    emu_wait(self, EMU_AT_COLLECTIVE, site);
}

void tessera_emu_warp_sync(tessera_emu_thread_t *self, uint64_t mask, uint32_t site) {
  tessera_emu_collective(self, mask, TESSERA_EMU_ORDERS, NULL, NULL, NULL, site);
}

uint64_t tessera_emu_full_mask(const tessera_emu_thread_t *self) {
  return ((const emu_thread_t *)self)->in_warp->exists;
}

uint64_t tessera_emu_active_mask(const tessera_emu_thread_t *self) {
  const emu_warp_t *warp = ((const emu_thread_t *)self)->in_warp;
  return warp->exists & ~warp->ended;
}

void emu_collectives_lane_ended(emu_thread_t *self) {
  for (emu_meeting_t *meeting = self->in_warp->meetings, *next; meeting; meeting = next) {
    next = meeting->next;
    if (is_complete(self->in_warp, meeting))
      hold(self->worker, self->in_warp, meeting);
  }
}

bool emu_collectives_go_on(emu_worker_t *worker, emu_warp_t *warp) {
  for (emu_meeting_t *meeting = warp->meetings; meeting; meeting = meeting->next)
    if (meeting->strictness & TESSERA_EMU_RUNNING) {
      hold(worker, warp, meeting);
      return true;
    }
  return false;
}
