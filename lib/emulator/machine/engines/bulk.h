// bulk.h - copies by the engine that moves boxes of tensors (TMA), in flight.
//
// A copy into shared memory reports to an mbarrier: it lands, late, once a thread waits for a phase of that
// barrier that lacks nothing but bytes: at once, or when no other thread can run. A copy out of shared memory is one of
// its thread's groups: it is done at the wait for its group. Until then nobody may write what it reads, and nobody else
// knows what it writes.
#pragma once

#include "lib/emulator/machine/engines/mbarrier.h"
#include "lib/support/tensor_map.h"

typedef struct emu_bulk_t {
  struct emu_bulk_t *next; // of its barrier; of its thread
  tessera_tensor_map_t map;
  int32_t at[TESSERA_MAP_RANK]; // the box's first element
  uint32_t shared, bytes;       // offset in the worker's window; of the box
  uint32_t group, site;
  emu_thread_t *starter;
  emu_clock_t clock; // at the start
  uint64_t issued;   // virtual time
  bool is_read;      // of a copy out of shared memory: it is on its way to the tensor
} emu_bulk_t;

// Lands what is under way to the barrier, one after another, until the phase ends; nothing where it lacks arrivals.
void emu_bulk_land(emu_worker_t *worker, emu_mbarrier_t *barrier);
// Nobody else can run: lands what threads wait for. False where that is nothing.
bool emu_bulk_land_awaited(emu_worker_t *worker);
// Nobody waits any more.
void emu_bulk_block_ended(emu_worker_t *worker);
