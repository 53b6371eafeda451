// predict.c - plays the recorded blocks of one core, event by event; see timing.h for what is modelled.
// The warp that is furthest behind goes next, so every pipe is asked in the order of time.
#include "lib/emulator/machine/timing.h"
#include "lib/emulator/machine/wave.h"

#include <math.h>
#include <stdlib.h>

enum { LOADS = 64, GROUPS = 16, MOST_SLICE = 32, MOST_PARTITIONS = 16 };

typedef struct warp_t {
  const emu_event_t *next, *end;
  struct block_t *block;
  double now;
  double loads[LOADS];           // when what a site (modulo LOADS) last loaded is there
  double copies, groups[GROUPS]; // when the copies not yet committed are, and those of each group (modulo GROUPS)
  uint32_t committed, partition, issued; // issued: cycles of *next that are done
  bool waits;                            // at a barrier, which next[-1] is
} warp_t;

typedef struct block_t {
  emu_timeline_t *timeline;
  warp_t *warps;
  uint32_t running;
} block_t;

typedef struct core_t {
  const emu_launch_t *launch;
  const tessera_emulator_rates_t *rates;
  double issue[MOST_PARTITIONS], mma[MOST_PARTITIONS]; // when each partition's port and pipe are free
  double shared, memory;                               // and the core's own
  double sector_cycles, load_latency, end;
  block_t *blocks; // at once
  uint32_t block_count, warps_placed;
} core_t;

// Takes `cycles` of a pipe from `now` on; returns when its turn comes.
static double take(double *pipe, double now, double cycles) {
  double start = fmax(*pipe, now);
  *pipe = start + cycles;
  return start;
}

//===--- One event -------------------------------------------------------===//

// The last to arrive sends all on.
static void meet(warp_t *self) {
  emu_timeline_t *timeline = self->block->timeline;
  uint32_t meeting = self->next->amount, there = 1;
  double now = self->now;
  for (uint32_t w = 0; w < timeline->warp_count; ++w) {
    const warp_t *warp = &self->block->warps[w];
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
    warp_t *warp = &self->block->warps[w];
    if (warp->waits && warp->next[-1].amount == meeting) {
      warp->waits = false;
      warp->now = now;
      self->block->running -= warp != self && warp->next == warp->end; // it ends here
    }
  }
}

static void issue(core_t *core, warp_t *warp, const emu_event_t *event) {
  uint32_t rest = event->amount - warp->issued, slice = rest < MOST_SLICE ? rest : MOST_SLICE;
  warp->now = take(&core->issue[warp->partition], warp->now, slice) + slice;
  warp->issued = slice == rest ? 0 : warp->issued + slice;
  warp->next += slice == rest;
}

static void access_memory(core_t *core, warp_t *warp, const emu_event_t *event) {
  double start = take(&core->memory, warp->now, event->amount * core->sector_cycles);
  double there = core->memory + core->load_latency;
  if (event->kind == EMU_EVENT_LOAD)
    warp->loads[event->site % LOADS] = there;
  else if (event->kind == EMU_EVENT_COPY)
    warp->copies = fmax(warp->copies, there);
  // A queue before memory holds what a few round trips ask for; beyond it the warp stands still.
  warp->now = fmax(warp->now + 1, start - core->load_latency);
}

static void access_shared(core_t *core, warp_t *warp, const emu_event_t *event) {
  double start = take(&core->shared, warp->now, event->amount);
  if (event->kind == EMU_EVENT_SHARED_COPY)
    return;
  warp->loads[event->site % LOADS] = core->shared + core->rates->shared_latency;
  warp->now = start + 1;
}

static void multiply(core_t *core, warp_t *warp, const emu_event_t *event) {
  double rate = core->rates->mma[event->amount & 31] / core->rates->partitions;
  double cycles = rate > 0 ? (event->amount >> 5) / rate : 1;
  warp->now = take(&core->mma[warp->partition], warp->now, cycles) + 1;
}

static void wait_for_copies(warp_t *warp, uint32_t pending) {
  uint32_t oldest = warp->committed > GROUPS ? warp->committed - GROUPS : 0;
  for (uint32_t group = oldest; group + pending < warp->committed; ++group)
    warp->now = fmax(warp->now, warp->groups[group % GROUPS]);
}

static void step(core_t *core, warp_t *warp) {
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
    warp->now = fmax(warp->now, warp->loads[event->site % LOADS]);
    break;
  case EMU_EVENT_MMA:
    multiply(core, warp, event);
    break;
  case EMU_EVENT_EXCHANGE: // through the pipe of shared memory; what comes back is wanted at once
    warp->now = take(&core->shared, warp->now, 1) + core->rates->shared_latency;
    break;
  case EMU_EVENT_COMMIT:
    warp->groups[warp->committed++ % GROUPS] = warp->copies;
    warp->copies = 0;
    break;
  case EMU_EVENT_WAIT:
    wait_for_copies(warp, event->amount);
    break;
  }
  ++warp->next;
}

//===--- The core --------------------------------------------------------===//

static bool place(core_t *core, block_t *block, emu_timeline_t *timeline, double now) {
  block->timeline = timeline;
  block->running = 0;
  free(block->warps);
  block->warps = calloc(timeline->warp_count, sizeof *block->warps);
  if (!block->warps)
    return false;
  for (uint32_t w = 0; w < timeline->warp_count; ++w) {
    const emu_event_t *events = timeline->warps[w].events;
    block->warps[w] = (warp_t){.next = events,
                               .end = events + timeline->warps[w].count,
                               .block = block,
                               .now = now,
                               .partition = core->warps_placed++ % core->rates->partitions};
    block->running += timeline->warps[w].count > 0;
  }
  return true;
}

// The warp furthest behind, and how far the next one is.
static warp_t *pick(core_t *core, double *until) {
  warp_t *least = NULL;
  *until = 1e300;
  for (uint32_t b = 0; b < core->block_count; ++b)
    for (uint32_t w = 0; core->blocks[b].running && w < core->blocks[b].timeline->warp_count; ++w) {
      warp_t *warp = &core->blocks[b].warps[w];
      if (warp->waits || warp->next == warp->end)
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

// Where a block has ended the next one begins. False: no memory.
static bool play(core_t *core, emu_timeline_t *waiting) {
  for (uint32_t b = 0; b < core->block_count && waiting; ++b, waiting = waiting->next)
    if (!place(core, &core->blocks[b], waiting, 0))
      return false;
  double until;
  for (warp_t *warp; (warp = pick(core, &until));) {
    do
      step(core, warp);
    while (!warp->waits && warp->next != warp->end && warp->now <= until);
    if (warp->waits || warp->next != warp->end)
      continue;
    block_t *block = warp->block;
    core->end = fmax(core->end, warp->now);
    --block->running;
    double now = warp->now;
    for (; !block->running && waiting; waiting = waiting->next) // perhaps one without events
      if (!place(core, block, waiting, now))
        return false;
  }
  // What the pipes still do belongs to the kernel.
  core->end = fmax(core->end, fmax(core->memory, core->shared));
  for (int i = 0; i < MOST_PARTITIONS; ++i)
    core->end = fmax(core->end, core->mma[i]);
  return true;
}

//===--- What the core has -----------------------------------------------===//

// Memory's bandwidth is shared by the cores that have blocks. What the launch's buffers hold comes from afar once, if
// the near memory can hold it; otherwise what each wave of blocks touches (wave.h), if that fits; else each access.
static void share_memory(core_t *core, uint64_t sectors, uint64_t in_waves) {
  const emu_launch_t *launch = core->launch;
  const tessera_emulator_rates_t *rates = core->rates;
  double busy = launch->blocks < rates->cores ? (double)launch->blocks : rates->cores;
  double sector = launch->chip->sector_bytes, asked = (double)sectors * sector * busy, there = 0;
  for (size_t i = 0; i < launch->buffer_count; ++i)
    there += (double)launch->given->buffers[i].bytes;
  uint64_t together = (uint64_t)core->block_count * rates->cores;
  uint64_t waves_of_blocks = (launch->blocks + together - 1) / together;
  double waves = (double)waves_of_blocks, touched = (double)in_waves * sector;
  bool holds_all = there <= rates->near_capacity, holds_wave = touched <= rates->near_capacity * waves;
  double comes = holds_all ? there : holds_wave ? touched : asked, far = asked > comes ? comes / asked : 1;
  double near_share = rates->near_bytes / busy, port = rates->port_bytes;
  core->sector_cycles = sector / (near_share < port ? near_share : port);
  core->sector_cycles = fmax(core->sector_cycles, far * sector * busy / rates->far_bytes);
  core->load_latency = rates->near_latency + far * (rates->far_latency - rates->near_latency);
}

static uint64_t sectors_of(const emu_timeline_t *timelines) {
  uint64_t sectors = 0;
  for (; timelines; timelines = timelines->next)
    for (uint32_t w = 0; w < timelines->warp_count; ++w)
      for (uint32_t i = 0; i < timelines->warps[w].count; ++i) {
        uint32_t kind = timelines->warps[w].events[i].kind;
        bool counts = kind == EMU_EVENT_LOAD || kind == EMU_EVENT_STORE || kind == EMU_EVENT_COPY;
        sectors += counts ? timelines->warps[w].events[i].amount : 0;
      }
  return sectors;
}

// By number.
static emu_timeline_t *sorted(emu_timeline_t *list, uint64_t *count) {
  emu_timeline_t *first = NULL, *next;
  for (*count = 0; list; list = next) {
    next = list->next;
    emu_timeline_t **at = &first;
    while (*at && (*at)->block < list->block)
      at = &(*at)->next;
    list->next = *at;
    *at = list;
    ++*count;
  }
  return first;
}

static void destroy(emu_timeline_t *timeline) {
  for (uint32_t w = 0; w < timeline->warp_count; ++w)
    free(timeline->warps[w].events);
  free(timeline);
}

static emu_timeline_t *without_incomplete(emu_timeline_t *list) {
  emu_timeline_t *kept = NULL, *next;
  for (; list; list = next) {
    next = list->next;
    if (list->incomplete) {
      destroy(list);
    } else {
      list->next = kept;
      kept = list;
    }
  }
  return kept;
}

double emu_timing_predict(emu_launch_t *launch, uint64_t in_waves) {
  const tessera_emulator_rates_t *rates = launch->given->rates;
  uint64_t count;
  emu_timeline_t *list = sorted(without_incomplete(atomic_load(&launch->timelines)), &count);
  atomic_store(&launch->timelines, NULL);
  if (!count)
    return 0;
  uint64_t wanted = (launch->blocks + rates->cores - 1) / rates->cores; // of the first core
  core_t core = {.launch = launch, .rates = rates, .block_count = emu_blocks_at_once(launch)};
  if (core.block_count > count)
    core.block_count = (uint32_t)count;
  share_memory(&core, sectors_of(list) * wanted / count, in_waves);
  core.blocks = calloc(core.block_count, sizeof *core.blocks);
  bool good = core.blocks && rates->partitions <= MOST_PARTITIONS && play(&core, list);
  for (uint32_t b = 0; core.blocks && b < core.block_count; ++b)
    free(core.blocks[b].warps);
  free(core.blocks);
  for (emu_timeline_t *next; list; list = next) {
    next = list->next;
    destroy(list);
  }
  return good ? core.end * (double)wanted / (double)count : 0;
}
