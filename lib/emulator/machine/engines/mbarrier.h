// mbarrier.h - barriers in shared memory: threads arrive, copies bring bytes, threads wait for the end of a phase.
//
// State (PTX ISA, "mbarrier"): the phase in progress, from 0; how many arrivals it still awaits; how many bytes, which
// may be below 0 while copies are ahead of who expects them. When both are 0 the phase ends. A wait names a parity: it
// goes on when the last phase that ended has it, so on a new barrier a wait for parity 1 does. What the program's own
// accesses find in the 8 bytes is no value: the state is here, by address.
//
// An arrival at another block's barrier by scope .cta orders no memory. But products that the warp has waited for have
// read what they read, however narrow the scope is: nobody reads it later. So arrivals also tell how often the warp has
// waited for products, and writes of engines may follow their reads.
//
// Order: a wait learns what those knew who arrived in the phase that it saw end (clock.h), and which copies had landed.
// Each barrier stands for the engine that writes what its copies bring, so that only who waited for them knows of them.
#pragma once

#include "lib/emulator/machine/clock.h"

struct emu_mbarrier_t {
  struct emu_mbarrier_t *next;
  uint32_t offset; // in shared memory
  bool is_live;    // since init, until inval
  uint32_t expected, pending, phase;
  int64_t bytes;
  uint32_t maker, made, made_site;              // who initialized it, its stamp, where
  uint32_t fenced;                              // the maker's stamp at a fence after that; 0: none
  emu_clock_sum_t *arrived, *ended;             // in this phase; in the last one; null: nobody
  emu_clock_sum_t *peers_arrived, *peers_ended; // of threads of other blocks, by scope .cluster
  uint32_t reads_arrived[EMU_MOST_WARPS], reads_ended[EMU_MOST_WARPS]; // of clusters: waits of each warp that arrived
  uint32_t engine;                                                     // whose clock tells what copies have brought
  struct emu_bulk_t *copies;                                           // under way to it
};

// Whose barrier an instruction may name.
typedef enum emu_mbarrier_of_t { EMU_OWN_MBARRIER, EMU_REACHED_MBARRIER, EMU_SIGNALLED_MBARRIER } emu_mbarrier_of_t;

// The one at the address: of the block, or of another one of its cluster, which a thread reaches or a copy signals.
// Null, after a finding, when there is none.
emu_mbarrier_t *emu_mbarrier_at(emu_thread_t *self, const void *address, emu_mbarrier_of_t whose, const char *action,
                                uint32_t site);
// Ends the phase when nothing is missing.
void emu_mbarrier_advance(emu_worker_t *worker, emu_mbarrier_t *barrier);
bool emu_mbarrier_is_waited_for(const emu_worker_t *worker, const emu_mbarrier_t *barrier);
void emu_mbarrier_end_phase(emu_worker_t *worker, emu_mbarrier_t *barrier);
// A stamp for what a copy has just brought: who waits for the phase in progress knows it.
uint32_t emu_mbarrier_stamp(emu_worker_t *worker, emu_mbarrier_t *barrier);
// An engine has done all that a commit covers: one arrival, which tells of the engine's work so far.
void emu_mbarrier_engine_arrives(emu_thread_t *starter, emu_mbarrier_t *barrier, uint32_t engine, uint32_t site);
// Copies may report to it only after a fence that its maker makes, and the lane knows.
void emu_mbarrier_check_fenced(emu_thread_t *self, const emu_mbarrier_t *barrier, uint32_t site);
// What a thread that waits for it waits for: " for 1 arrivals and 16384 bytes of phase 3".
void emu_mbarrier_describe(const emu_mbarrier_t *barrier, char *text, size_t bytes);
