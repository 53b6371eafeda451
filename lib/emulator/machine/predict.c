// predict.c - which recorded blocks are played on which core, and what of memory each core has; see timing.h.
#include "lib/emulator/machine/play.h"
#include "lib/emulator/machine/wave.h"

#include <math.h>
#include <stdlib.h>

//===--- What the core has -----------------------------------------------===//

// What part of the sectors comes from afar. What the launch's buffers hold comes once, if the near memory can hold it;
// otherwise what each wave of blocks touches (wave.h), if that fits; else each access.
static double far_part(const emu_launch_t *launch, double asked, uint64_t together, uint64_t in_waves) {
  const tessera_emulator_rates_t *rates = launch->given->rates;
  double there = 0, touched = (double)in_waves * launch->chip->sector_bytes;
  for (size_t i = 0; i < launch->buffer_count; ++i)
    there += (double)launch->given->buffers[i].bytes;
  uint64_t waves_of_blocks = (launch->blocks + together - 1) / together;
  double waves = (double)waves_of_blocks;
  bool holds_all = there <= rates->near_capacity, holds_wave = touched <= rates->near_capacity * waves;
  double comes = holds_all ? there : holds_wave ? touched : asked;
  return asked > comes ? comes / asked : 1;
}

// Memory's bandwidth is shared by the cores that have blocks.
static void share_memory(emu_core_t *core, const emu_launch_t *launch, uint64_t sectors, uint64_t in_waves) {
  const tessera_emulator_rates_t *rates = core->rates;
  double busy = launch->blocks < rates->cores ? (double)launch->blocks : rates->cores;
  double sector = launch->chip->sector_bytes, asked = (double)sectors * sector * busy;
  double far = far_part(launch, asked, (uint64_t)core->block_count * rates->cores, in_waves);
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

static void free_blocks(emu_core_t *core) {
  for (uint32_t b = 0; core->blocks && b < core->block_count; ++b)
    free(core->blocks[b].warps);
  free(core->blocks);
}

// Cycles; 0: no memory. |list|: in the order of blocks, |sectors| of them all.
static double predict_core(emu_launch_t *launch, emu_timeline_t **list, uint64_t count, uint64_t sectors,
                           uint64_t in_waves) {
  const tessera_emulator_rates_t *rates = launch->given->rates;
  uint64_t wanted = (launch->blocks + rates->cores - 1) / rates->cores; // of the first core
  emu_core_t core = {
      .rates = rates, .block_count = emu_blocks_at_once(launch), .queue = list, .queue_count = (uint32_t)count};
  if (core.block_count > count)
    core.block_count = (uint32_t)count;
  share_memory(&core, launch, sectors * wanted / count, in_waves);
  core.blocks = calloc(core.block_count, sizeof *core.blocks);
  bool good = core.blocks && emu_play_core(&core);
  free_blocks(&core);
  return good ? core.end * (double)wanted / (double)count : 0;
}

//===--- Blocks that wait for each other ---------------------------------===//

// Core c has the blocks c, c + cores, … at once. |dealt| has room for all.
static bool deal(emu_chip_t *chip, emu_timeline_t **list, uint64_t count, emu_timeline_t **dealt) {
  for (uint32_t c = 0; c < chip->core_count; ++c) {
    emu_core_t *core = &chip->cores[c];
    core->queue = dealt;
    for (uint64_t i = 0; i < count; ++i)
      if (list[i]->block % chip->core_count == c)
        *dealt++ = list[i], ++core->queue_count;
    core->block_count = core->queue_count;
    core->blocks = calloc(core->block_count + 1, sizeof *core->blocks);
    if (!core->blocks)
      return false;
  }
  return true;
}

static bool make_chip(emu_chip_t *chip, const emu_launch_t *launch, uint64_t sectors, uint64_t in_waves) {
  const tessera_emulator_rates_t *rates = launch->given->rates;
  double sector = launch->chip->sector_bytes;
  double far = far_part(launch, (double)sectors * sector, launch->blocks, in_waves);
  size_t signals = launch->signals->count + 1;
  *chip = (emu_chip_t){.core_count = rates->cores,
                       .near_cycles = sector / rates->near_bytes,
                       .far_cycles = far * sector / rates->far_bytes,
                       .signals = launch->signals,
                       .cores = calloc(rates->cores, sizeof *chip->cores),
                       .own = malloc(signals * sizeof *chip->own),
                       .there = malloc(signals * sizeof *chip->there)};
  if (!chip->cores || !chip->own || !chip->there)
    return false;
  for (size_t i = 0; i < signals; ++i)
    chip->own[i] = chip->there[i] = -1;
  for (uint32_t c = 0; c < chip->core_count; ++c) {
    emu_core_t *core = &chip->cores[c];
    core->rates = rates;
    core->chip = chip;
    core->sector_cycles = sector / rates->port_bytes;
    core->load_latency = rates->near_latency + far * (rates->far_latency - rates->near_latency);
  }
  return true;
}

static double predict_chip(const emu_launch_t *launch, emu_timeline_t **list, uint64_t count, uint64_t sectors,
                           uint64_t in_waves) {
  emu_chip_t chip;
  double end = 0;
  emu_timeline_t **dealt = malloc(count * sizeof *dealt);
  bool good =
      make_chip(&chip, launch, sectors, in_waves) && dealt && deal(&chip, list, count, dealt) && emu_play_chip(&chip);
  for (uint32_t c = 0; chip.cores && c < chip.core_count; ++c) {
    end = fmax(end, chip.cores[c].end);
    free_blocks(&chip.cores[c]);
  }
  free(dealt);
  free(chip.cores);
  free(chip.own);
  free(chip.there);
  return good ? end : 0;
}

//===--- The launch ------------------------------------------------------===//

double emu_timing_predict(emu_launch_t *launch, uint64_t in_waves) {
  uint64_t all = 0, count;
  for (emu_timeline_t *one = atomic_load(&launch->timelines); one; one = one->next)
    ++all;
  emu_timeline_t *list = sorted(without_incomplete(atomic_load(&launch->timelines)), &count), **array = NULL;
  double cycles = 0;
  if (count)
    array = malloc(count * sizeof *array);
  count = 0;
  for (emu_timeline_t *one = list; array && one; one = one->next)
    array[count++] = one;
  if (count && !launch->signals)
    cycles = predict_core(launch, array, count, sectors_of(list), in_waves);
  else if (count && all == launch->blocks && count == all) // a block that is missing would be waited for
    cycles = predict_chip(launch, array, count, sectors_of(list), in_waves);
  free(array);
  for (emu_timeline_t *next; list; list = next) {
    next = list->next;
    destroy(list);
  }
  atomic_store(&launch->timelines, NULL);
  return cycles;
}
