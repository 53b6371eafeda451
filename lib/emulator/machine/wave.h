// wave.h - which sectors of memory the blocks touch that a chip has at once: a wave.
//
// Blocks are handed out in order, so neighbours by number run together: as many as the cores hold. What such a wave
// touches, each sector once, is what a cache that holds just that lets through; an order of blocks that shares more
// (grouped programs) touches less. Kept while cycles are predicted. Exact, whichever host thread runs which block: a
// wave's map lives from its first block to its last.
#pragma once

#include "lib/emulator/machine/worker.h"

// Blocks of one core at once, by its warps and shared memory.
uint32_t emu_blocks_at_once(const emu_launch_t *launch);

// Before the first block, after the last one; false: no memory. Nothing where no cycles are predicted.
bool emu_waves_begin(emu_launch_t *launch);
void emu_waves_end(emu_launch_t *launch);
// The worker's block begins and ends.
void emu_wave_enter(emu_worker_t *worker);
void emu_wave_leave(emu_worker_t *worker);
// Its warp accesses global memory there: adds the sectors that are new in the wave to counters.wave_transactions.
void emu_wave_touch(emu_worker_t *worker, uintptr_t address, uint64_t bytes);
