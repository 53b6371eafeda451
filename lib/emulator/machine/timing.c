// timing.c - records what warps do, see timing.h. What a log of accesses holds comes from count.c.
#include "lib/emulator/machine/timing.h"

#include "lib/emulator/machine/count.h"

#include <stdlib.h>

enum { MOST_EVENTS = 1 << 25 }; // of a launch: 256 MiB

void emu_timing_begin(emu_worker_t *worker) {
  emu_launch_t *launch = worker->launch;
  const tessera_emulator_rates_t *rates = launch->given->rates;
  worker->timeline = NULL;
  bool is_of_first = rates && worker->block_number % rates->cores == 0;
  if (!rates || !launch->count || (!launch->signals && !is_of_first) || atomic_load(&launch->events) >= MOST_EVENTS)
    return;
  emu_timeline_t *timeline = calloc(1, sizeof *timeline + launch->member_warps * sizeof *timeline->warps);
  if (!timeline)
    return;
  timeline->block = worker->block_number;
  timeline->warp_count = launch->member_warps; // of the first block of a cluster, which stands for the others
  worker->timeline = timeline;
}

void emu_timing_end(emu_worker_t *worker) {
  emu_timeline_t *timeline = worker->timeline;
  if (!timeline)
    return;
  timeline->next = atomic_load(&worker->launch->timelines);
  while (!atomic_compare_exchange_weak(&worker->launch->timelines, &timeline->next, timeline))
    ;
  worker->timeline = NULL;
}

static bool grow(emu_worker_t *worker, uint32_t warp) {
  emu_timeline_t *timeline = worker->timeline;
  uint32_t room = timeline->warps[warp].room ? 2 * timeline->warps[warp].room : 256;
  emu_event_t *events = NULL;
  if (atomic_fetch_add(&worker->launch->events, room / 2) < MOST_EVENTS)
    events = realloc(timeline->warps[warp].events, room * sizeof *events);
  if (!events) {
    timeline->incomplete = true;
    return false;
  }
  timeline->warps[warp].events = events;
  timeline->warps[warp].room = room;
  return true;
}

void emu_timing_add(emu_worker_t *worker, uint32_t warp, emu_event_kind_t kind, uint32_t site, uint64_t amount) {
  emu_timeline_t *timeline = worker->timeline;
  if (!timeline || timeline->incomplete || warp >= timeline->warp_count || (kind == EMU_EVENT_ISSUE && !amount))
    return;
  uint32_t count = timeline->warps[warp].count;
  emu_event_t *last = count ? &timeline->warps[warp].events[count - 1] : NULL;
  if (kind == EMU_EVENT_ISSUE && last && last->kind == EMU_EVENT_ISSUE) {
    last->amount += (uint32_t)amount;
    return;
  }
  if (count == timeline->warps[warp].room && !grow(worker, warp))
    return;
  timeline->warps[warp].events[timeline->warps[warp].count++] =
      (emu_event_t){.kind = (uint32_t)kind, .site = site, .amount = (uint32_t)amount};
}

static bool meets(const emu_worker_t *worker, const emu_warp_t *warp, uint32_t id) {
  uint64_t there = warp->exists & ~warp->ended;
  return there && warp->at_barrier == there &&
         worker->threads[(warp->number << worker->launch->warp_shift) + (uint32_t)__builtin_ctzll(there)]
                 .wait_barrier == id;
}

void emu_timing_meet(emu_worker_t *worker, uint32_t id) {
  uint32_t count = 0;
  if (!worker->timeline)
    return;
  for (uint32_t w = 0; w < worker->timeline->warp_count; ++w)
    count += meets(worker, &worker->warps[w], id);
  uint32_t meeting = worker->timeline->meetings++;
  for (uint32_t w = 0; w < worker->timeline->warp_count; ++w)
    if (meets(worker, &worker->warps[w], id)) {
      emu_log_flush(worker, &worker->warps[w]);
      emu_timing_add(worker, w, EMU_EVENT_BARRIER, 0, (uint64_t)meeting << 8 | count);
    }
}

//===--- Signals ---------------------------------------------------------===//

static uint32_t find_place(const emu_signals_t *signals, uintptr_t place) {
  uint32_t mask = signals->place_room - 1;
  uint32_t at = (uint32_t)((uint64_t)(place >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 40) & mask;
  while (signals->places[at].place && signals->places[at].place != place)
    at = (at + 1) & mask;
  return at;
}

uint32_t emu_signal_at(const emu_signals_t *signals, uintptr_t place) {
  return signals->place_room ? signals->places[find_place(signals, place)].last : 0;
}

static bool grow_places(emu_signals_t *signals) {
  emu_signals_t larger = {.place_room = signals->place_room ? 2 * signals->place_room : 64};
  larger.places = calloc(larger.place_room, sizeof *larger.places);
  if (!larger.places)
    return false;
  for (uint32_t i = 0; i < signals->place_room; ++i)
    if (signals->places[i].place)
      larger.places[find_place(&larger, signals->places[i].place)] = signals->places[i];
  free(signals->places);
  signals->places = larger.places;
  signals->place_room = larger.place_room;
  return true;
}

static bool has_room(emu_signals_t *signals) {
  if (2 * signals->place_count >= signals->place_room && !grow_places(signals))
    return false;
  if (signals->count + 1 < signals->room)
    return true;
  uint32_t room = signals->room ? 2 * signals->room : 256;
  emu_signal_t *items = realloc(signals->items, room * sizeof *items);
  if (!items)
    return false;
  signals->items = items;
  signals->room = room;
  return true;
}

uint32_t emu_signal_add(emu_signals_t *signals, uintptr_t place) {
  if (!has_room(signals))
    return 0;
  uint32_t at = find_place(signals, place), number = ++signals->count, previous = signals->places[at].last;
  signals->place_count += !signals->places[at].place;
  signals->places[at].place = place;
  signals->places[at].last = number;
  signals->items[number] = (emu_signal_t){.previous = previous};
  if (previous)
    signals->items[previous].next = number;
  return number;
}

void emu_signals_free(emu_signals_t *signals) {
  free(signals->items);
  free(signals->places);
  *signals = (emu_signals_t){NULL};
}
