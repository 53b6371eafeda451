// play.h - recorded blocks on cores, event by event: what predict.c asks. Expects: the cores' rates and blocks are set.
// The warp that is furthest behind goes next, so every pipe is asked in the order of time.
#pragma once

#include "lib/emulator/machine/timing.h"

enum { EMU_SITES_REMEMBERED = 256, EMU_GROUPS_REMEMBERED = 16, EMU_MOST_PARTITIONS = 16 };

typedef struct emu_playing_warp_t {
  const emu_event_t *next, *end;
  struct emu_playing_block_t *block;
  double now;
  double loads[EMU_SITES_REMEMBERED];           // when what a site (modulo their number) last loaded is there
  double copies, groups[EMU_GROUPS_REMEMBERED]; // when the copies not yet committed are, and those of each group
  uint32_t committed, partition, issued;        // issued: cycles of *next that are done
  bool waits;                                   // at a barrier, which next[-1] is
  uint32_t awaits;                              // the signal that it needs; 0: none
} emu_playing_warp_t;

typedef struct emu_playing_block_t {
  emu_timeline_t *timeline;
  emu_playing_warp_t *warps;
  uint32_t running;
  double stored; // when memory has what it stored
} emu_playing_block_t;

typedef struct emu_core_t {
  const tessera_emulator_rates_t *rates;
  double issue[EMU_MOST_PARTITIONS], mma[EMU_MOST_PARTITIONS]; // when each partition's port and pipe are free
  double shared, memory;                                       // and the core's own
  double sector_cycles, load_latency, end;
  emu_playing_block_t *blocks;                  // at once
  uint32_t block_count, warps_placed, sleepers; // the latter: warps that await signals
  bool is_changed;                              // a sleeper has woken
  emu_timeline_t *const *queue;                 // blocks; those beyond block_count begin where others end
  uint32_t queue_count, queue_next;
  struct emu_chip_t *chip; // whose pipes it shares with other cores; null: none
} emu_core_t;

// All cores at once, for blocks that wait for each other.
typedef struct emu_chip_t {
  emu_core_t *cores;
  uint32_t core_count;
  double near, far;               // when the near memory's pipe and the far one's are free
  double near_cycles, far_cycles; // of a sector
  const emu_signals_t *signals;
  double *own, *there; // of each signal: when it comes itself, and when those before it have, too; below 0: not yet
} emu_chip_t;

// Plays the core's waiting blocks to their end. False: no memory.
bool emu_play_core(emu_core_t *core);
// Plays all cores' blocks in one order of time. False: no memory, or a signal that is awaited never comes.
bool emu_play_chip(emu_chip_t *chip);
