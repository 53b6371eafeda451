// play.c - what each event costs, and which warp goes next; see timing.h for what is modelled.
#include "lib/emulator/machine/play.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SLICE = 32 };

// Takes `cycles` of a pipe from `now` on; returns when its turn comes.
static double take(double *pipe, double now, double cycles) {
  double start = fmax(*pipe, now);
  *pipe = start + cycles;
  return start;
}

//===--- One event -------------------------------------------------------===//

// The last to arrive sends all on.
static void meet(emu_playing_warp_t *self) {
  emu_timeline_t *timeline = self->block->timeline;
  uint32_t meeting = self->next->amount, there = 1;
  double now = self->now;
  for (uint32_t w = 0; w < timeline->warp_count; ++w) {
    const emu_playing_warp_t *warp = &self->block->warps[w];
    if (warp->waits && warp->next[-1].amount == meeting) {
      now = fmax(now, warp->now);
      ++there;
    }
  }
  self->waits = true;
  ++self->next;
  if (there < (meeting & 255))
    return;
  for (uint32_t w = 0; w < timeline->warp_count; ++w) {
    emu_playing_warp_t *warp = &self->block->warps[w];
    if (warp->waits && warp->next[-1].amount == meeting) {
      warp->waits = false;
      warp->now = now;
      self->block->running -= warp != self && warp->next == warp->end; // it ends here
    }
  }
}

static void issue(emu_core_t *core, emu_playing_warp_t *warp, const emu_event_t *event) {
  uint32_t rest = event->amount - warp->issued, slice = rest < MOST_SLICE ? rest : MOST_SLICE;
  warp->now = take(&core->issue[warp->partition], warp->now, slice) + slice;
  warp->issued = slice == rest ? 0 : warp->issued + slice;
  warp->next += slice == rest;
}

// When memory has served the sectors; |start|: when it begins. The pipes that the cores share come behind the core's
// own.
static double serve(emu_core_t *core, double now, double sectors, double *start) {
  *start = take(&core->memory, now, sectors * core->sector_cycles);
  if (!core->chip)
    return core->memory;
  double near = take(&core->chip->near, *start, sectors * core->chip->near_cycles);
  double far = take(&core->chip->far, *start, sectors * core->chip->far_cycles);
  *start = fmax(*start, fmax(near, far));
  return fmax(core->memory, fmax(core->chip->near, core->chip->far));
}

static void access_memory(emu_core_t *core, emu_playing_warp_t *warp, const emu_event_t *event) {
  double start, served = serve(core, warp->now, event->amount, &start), there = served + core->load_latency;
  if (event->kind == EMU_EVENT_LOAD)
    warp->loads[event->site % EMU_SITES_REMEMBERED] = there;
  else if (event->kind == EMU_EVENT_COPY)
    warp->copies = fmax(warp->copies, there);
  else
    warp->block->stored = fmax(warp->block->stored, served + core->rates->near_latency);
  // A queue before memory holds what a few round trips ask for; beyond it the warp stands still.
  warp->now = fmax(warp->now + 1, start - core->load_latency);
}

static void access_shared(emu_core_t *core, emu_playing_warp_t *warp, const emu_event_t *event) {
  double start = take(&core->shared, warp->now, event->amount);
  if (event->kind == EMU_EVENT_SHARED_COPY)
    return;
  warp->loads[event->site % EMU_SITES_REMEMBERED] = core->shared + core->rates->shared_latency;
  warp->now = start + 1;
}

static void multiply(emu_core_t *core, emu_playing_warp_t *warp, const emu_event_t *event) {
  double rate = core->rates->mma[event->amount & 31] / core->rates->partitions;
  double cycles = rate > 0 ? (event->amount >> 5) / rate : 1;
  warp->now = take(&core->mma[warp->partition], warp->now, cycles) + 1;
}

static void wait_for_copies(emu_playing_warp_t *warp, uint32_t pending) {
  uint32_t oldest = warp->committed > EMU_GROUPS_REMEMBERED ? warp->committed - EMU_GROUPS_REMEMBERED : 0;
  for (uint32_t group = oldest; group + pending < warp->committed; ++group)
    warp->now = fmax(warp->now, warp->groups[group % EMU_GROUPS_REMEMBERED]);
}

//===--- Signals ---------------------------------------------------------===//

static void wake(emu_chip_t *chip, uint32_t signal) {
  for (uint32_t c = 0; c < chip->core_count; ++c)
    for (uint32_t b = 0; chip->cores[c].sleepers && b < chip->cores[c].block_count; ++b) {
      emu_playing_block_t *block = &chip->cores[c].blocks[b];
      for (uint32_t w = 0; block->running && w < block->timeline->warp_count; ++w)
        if (block->warps[w].awaits == signal) {
          block->warps[w].awaits = 0;
          --chip->cores[c].sleepers;
          chip->cores[c].is_changed = true;
        }
    }
}

// A value in memory stands for all changes up to it, so a signal is there once those before it are.
static void settle(emu_chip_t *chip, uint32_t signal) {
  for (; signal && chip->own[signal] >= 0; signal = chip->signals->items[signal].next) {
    uint32_t previous = chip->signals->items[signal].previous;
    if (previous && chip->there[previous] < 0)
      return;
    chip->there[signal] = fmax(chip->own[signal], previous ? chip->there[previous] : 0);
    wake(chip, signal);
  }
}

// Behind what the block stored; half a round trip later the near memory has the signal.
static void signal(emu_core_t *core, emu_playing_warp_t *warp, const emu_event_t *event) {
  warp->now = fmax(warp->now, warp->block->stored) + 1;
  if (!core->chip)
    return;
  core->chip->own[event->amount] = warp->now + core->rates->near_latency / 2;
  settle(core->chip, event->amount);
}

// The look that sees the signal begins when it is there. False: it is not yet; the warp sleeps at the event.
static bool await(emu_core_t *core, emu_playing_warp_t *warp, const emu_event_t *event) {
  if (!core->chip || !event->amount)
    return true;
  double there = core->chip->there[event->amount];
  if (there < 0) {
    warp->awaits = event->amount;
    ++core->sleepers;
    return false;
  }
  double *load = &warp->loads[event->site % EMU_SITES_REMEMBERED];
  *load = fmax(*load, there + core->rates->near_latency);
  return true;
}

//===--- Any event -------------------------------------------------------===//

static void step(emu_core_t *core, emu_playing_warp_t *warp) {
  const emu_event_t *event = warp->next;
  switch ((emu_event_kind_t)event->kind) {
  case EMU_EVENT_ISSUE:
    issue(core, warp, event);
    return;
  case EMU_EVENT_BARRIER:
    meet(warp);
    return;
  case EMU_EVENT_LOAD:
  case EMU_EVENT_STORE:
  case EMU_EVENT_COPY:
    access_memory(core, warp, event);
    break;
  case EMU_EVENT_SHARED:
  case EMU_EVENT_SHARED_COPY:
    access_shared(core, warp, event);
    break;
  case EMU_EVENT_USE:
    warp->now = fmax(warp->now, warp->loads[event->site % EMU_SITES_REMEMBERED]);
    break;
  case EMU_EVENT_MMA:
    multiply(core, warp, event);
    break;
  case EMU_EVENT_EXCHANGE: // through the pipe of shared memory; what comes back is wanted at once
    warp->now = take(&core->shared, warp->now, 1) + core->rates->shared_latency;
    break;
  case EMU_EVENT_COMMIT:
    warp->groups[warp->committed++ % EMU_GROUPS_REMEMBERED] = warp->copies;
    warp->copies = 0;
    break;
  case EMU_EVENT_WAIT:
    wait_for_copies(warp, event->amount);
    break;
  case EMU_EVENT_SIGNAL:
    signal(core, warp, event);
    break;
  case EMU_EVENT_AWAIT:
    if (!await(core, warp, event))
      return;
    break;
  }
  ++warp->next;
}

//===--- The core --------------------------------------------------------===//

static bool place(emu_core_t *core, emu_playing_block_t *block, emu_timeline_t *timeline, double now) {
  block->timeline = timeline;
  block->running = 0;
  block->stored = 0;
  free(block->warps);
  block->warps = calloc(timeline->warp_count, sizeof *block->warps);
  if (!block->warps)
    return false;
  for (uint32_t w = 0; w < timeline->warp_count; ++w) {
    const emu_event_t *events = timeline->warps[w].events;
    block->warps[w] = (emu_playing_warp_t){.next = events,
                                           .end = events + timeline->warps[w].count,
                                           .block = block,
                                           .now = now,
                                           .partition = core->warps_placed++ % core->rates->partitions};
    block->running += timeline->warps[w].count > 0;
  }
  return true;
}

// The warp furthest behind, and how far the next one is.
static emu_playing_warp_t *pick(emu_core_t *core, double *until) {
  emu_playing_warp_t *least = NULL;
  *until = 1e300;
  for (uint32_t b = 0; b < core->block_count; ++b)
    for (uint32_t w = 0; core->blocks[b].running && w < core->blocks[b].timeline->warp_count; ++w) {
      emu_playing_warp_t *warp = &core->blocks[b].warps[w];
      if (warp->waits || warp->awaits || warp->next == warp->end)
        continue;
      if (!least || warp->now < least->now) {
        *until = least ? least->now : *until;
        least = warp;
      } else if (warp->now < *until) {
        *until = warp->now;
      }
    }
  return least;
}

static bool is_still(const emu_playing_warp_t *warp) { return warp->waits || warp->awaits || warp->next == warp->end; }

// One warp goes on until another one is behind it, on this core or (`limit`) elsewhere. Behind a barrier
// and a signal it stops: who waited for them goes on, perhaps from an earlier time. Where a block has ended the next
// one begins. False: no memory.
static bool take_turn(emu_core_t *core, emu_playing_warp_t *warp, double limit) {
  bool wakes;
  do {
    wakes = warp->next->kind == EMU_EVENT_BARRIER || warp->next->kind == EMU_EVENT_SIGNAL;
    step(core, warp);
  } while (!wakes && !is_still(warp) && warp->now <= limit);
  if (warp->waits || warp->next != warp->end)
    return true;
  emu_playing_block_t *block = warp->block;
  core->end = fmax(core->end, warp->now);
  --block->running;
  double now = warp->now;
  while (!block->running && core->queue_next < core->queue_count) // perhaps one without events
    if (!place(core, block, core->queue[core->queue_next++], now))
      return false;
  return true;
}

static bool begin(emu_core_t *core) {
  for (uint32_t b = 0; b < core->block_count && core->queue_next < core->queue_count; ++b)
    if (!place(core, &core->blocks[b], core->queue[core->queue_next++], 0))
      return false;
  return true;
}

// What the pipes still do belongs to the kernel.
static void finish(emu_core_t *core) {
  core->end = fmax(core->end, fmax(core->memory, core->shared));
  for (int i = 0; i < EMU_MOST_PARTITIONS; ++i)
    core->end = fmax(core->end, core->mma[i]);
}

bool emu_play_core(emu_core_t *core) {
  double until;
  if (!begin(core))
    return false;
  for (emu_playing_warp_t *warp; (warp = pick(core, &until));)
    if (!take_turn(core, warp, until))
      return false;
  finish(core);
  return true;
}

//===--- The chip --------------------------------------------------------===//

#define NEVER 1e300

// In each pair of cores the one that is behind wins, and so on up to the root at 1.
typedef struct tournament_t {
  double *keys;
  uint32_t leaves;
} tournament_t;

static void set_key(tournament_t *tournament, uint32_t core, double key) {
  uint32_t at = tournament->leaves + core;
  tournament->keys[at] = key;
  while ((at /= 2))
    tournament->keys[at] = fmin(tournament->keys[2 * at], tournament->keys[2 * at + 1]);
}

// The core that is furthest behind, and how far the next one is.
static uint32_t winner_of(const tournament_t *tournament, double *second) {
  uint32_t at = 1;
  for (*second = NEVER; at < tournament->leaves;) {
    at *= 2;
    at += tournament->keys[at] > tournament->keys[at + 1];
    *second = fmin(*second, tournament->keys[at ^ 1]);
  }
  return at - tournament->leaves;
}

static void set_keys(emu_chip_t *chip, tournament_t *tournament, uint32_t played) {
  double until;
  for (uint32_t c = 0; c < chip->core_count; ++c)
    if (c == played || chip->cores[c].is_changed) {
      const emu_playing_warp_t *warp = pick(&chip->cores[c], &until);
      set_key(tournament, c, warp ? warp->now : NEVER);
      chip->cores[c].is_changed = false;
    }
}

static bool play_all(emu_chip_t *chip, tournament_t *tournament) {
  for (uint32_t i = 0; i < 2 * tournament->leaves; ++i)
    tournament->keys[i] = NEVER;
  for (uint32_t c = 0; c < chip->core_count; ++c) {
    chip->cores[c].is_changed = true;
    if (!begin(&chip->cores[c]))
      return false;
  }
  set_keys(chip, tournament, 0);
  while (tournament->keys[1] < NEVER) {
    double elsewhere, until;
    uint32_t number = winner_of(tournament, &elsewhere);
    emu_core_t *core = &chip->cores[number];
    emu_playing_warp_t *warp = pick(core, &until);
    if (!take_turn(core, warp, fmin(until, elsewhere)))
      return false;
    set_keys(chip, tournament, number);
  }
  for (uint32_t c = 0; c < chip->core_count; ++c) {
    if (chip->cores[c].sleepers)
      return false;
    finish(&chip->cores[c]);
  }
  return true;
}

bool emu_play_chip(emu_chip_t *chip) {
  tournament_t tournament = {.leaves = 1};
  while (tournament.leaves < chip->core_count)
    tournament.leaves *= 2;
  tournament.keys = malloc(2 * tournament.leaves * sizeof *tournament.keys);
  bool good = tournament.keys && play_all(chip, &tournament);
  free(tournament.keys);
  return good;
}
