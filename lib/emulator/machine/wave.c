// wave.c - a bit for each sector of the launch's buffers and wave of blocks under way, see wave.h.
#include "lib/emulator/machine/wave.h"

#include "lib/emulator/machine/access.h"

#include <stdlib.h>

typedef struct emu_wave_t {
  _Atomic uint64_t *_Atomic touched; // null before the first block, and after the last one
  _Atomic uint64_t ended;            // blocks
} emu_wave_t;

typedef struct emu_waves_t {
  uint64_t together, count, words; // blocks of a wave; waves; of each map
  uint64_t *before;                // sectors in the map ahead of each buffer's
  emu_wave_t wave[];
} emu_waves_t;

uint32_t emu_blocks_at_once(const emu_launch_t *launch) {
  const tessera_emulator_rates_t *rates = launch->given->rates;
  uint32_t by_warps = rates->core_warps / launch->member_warps,
           shared = launch->given->shared_bytes - launch->given->shared_added_bytes;
  uint32_t by_shared = shared ? rates->core_shared_bytes / shared : by_warps;
  uint32_t fits = by_warps < by_shared ? by_warps : by_shared;
  return fits ? fits : 1;
}

static uint64_t sectors_of(const emu_launch_t *launch, const emu_buffer_t *buffer) {
  uint64_t sector = launch->chip->sector_bytes;
  return buffer->end > buffer->begin ? (buffer->end - 1) / sector - buffer->begin / sector + 1 : 0;
}

bool emu_waves_begin(emu_launch_t *launch) {
  uint64_t sectors = 0;
  if (!launch->given->rates || !launch->count)
    return true;
  uint64_t together = (uint64_t)emu_blocks_at_once(launch) * launch->given->rates->cores;
  uint64_t count = (launch->blocks + together - 1) / together;
  launch->waves = calloc(1, sizeof *launch->waves + count * sizeof *launch->waves->wave);
  if (!launch->waves)
    return false;
  launch->waves->before = malloc((launch->buffer_count + 1) * sizeof *launch->waves->before);
  if (!launch->waves->before)
    return false;
  for (size_t i = 0; i < launch->buffer_count; ++i) {
    launch->waves->before[i] = sectors;
    sectors += sectors_of(launch, &launch->buffers[i]);
  }
  launch->waves->together = together;
  launch->waves->count = count;
  launch->waves->words = sectors / 64 + 1;
  return true;
}

void emu_waves_end(emu_launch_t *launch) {
  for (uint64_t i = 0; launch->waves && i < launch->waves->count; ++i)
    free((void *)atomic_load(&launch->waves->wave[i].touched)); // of blocks that did not end
  if (launch->waves)
    free(launch->waves->before);
  free(launch->waves);
  launch->waves = NULL;
}

static emu_wave_t *wave_of(const emu_worker_t *worker) {
  emu_waves_t *waves = worker->launch->waves;
  return waves ? &waves->wave[worker->block_number / waves->together] : NULL;
}

void emu_wave_enter(emu_worker_t *worker) {
  emu_wave_t *wave = wave_of(worker);
  _Atomic uint64_t *none = NULL;
  if (!wave || atomic_load(&wave->touched))
    return;
  _Atomic uint64_t *map = calloc(worker->launch->waves->words, sizeof *map);
  if (!atomic_compare_exchange_strong(&wave->touched, &none, map))
    free((void *)map);
}

void emu_wave_leave(emu_worker_t *worker) {
  emu_waves_t *waves = worker->launch->waves;
  emu_wave_t *wave = wave_of(worker);
  if (!wave)
    return;
  uint64_t first = worker->block_number / waves->together * waves->together, left = worker->launch->blocks - first;
  uint32_t blocks = worker->launch->members;
  if (atomic_fetch_add(&wave->ended, blocks) + blocks == (left < waves->together ? left : waves->together))
    free((void *)atomic_exchange(&wave->touched, NULL));
}

static bool place_of(const emu_launch_t *launch, uintptr_t address, uint64_t *sector) {
  size_t found = launch->buffer_count ? emu_buffer_search(launch, address) : 0;
  const emu_buffer_t *buffer = &launch->buffers[found];
  if (!launch->buffer_count || address < buffer->begin || address >= buffer->end)
    return false;
  *sector =
      launch->waves->before[found] + address / launch->chip->sector_bytes - buffer->begin / launch->chip->sector_bytes;
  return true;
}

void emu_wave_touch(emu_worker_t *worker, uintptr_t address, uint64_t bytes) {
  const emu_launch_t *launch = worker->launch;
  emu_wave_t *wave = wave_of(worker);
  _Atomic uint64_t *map = wave ? atomic_load(&wave->touched) : NULL;
  uint64_t from, to;
  if (!map || !bytes || !place_of(launch, address, &from) || !place_of(launch, address + bytes - 1, &to))
    return;
  for (uint64_t sector = from; sector <= to; ++sector) {
    uint64_t bit = UINT64_C(1) << sector % 64;
    if (!(atomic_load_explicit(&map[sector / 64], memory_order_relaxed) & bit))
      worker->counters.wave_transactions += !(atomic_fetch_or(&map[sector / 64], bit) & bit);
  }
}
