// timing.h - what the warps of one core do, in order, and how long that core would take: a model of events.
//
// Recorded are the blocks a chip would give to its first core (every cores-th one): cycles of issue, accesses with
// their transactions, the first use of what was loaded, matrix instructions, copies, barriers. play.c plays them on
// a core with as many blocks at once as fit: warps issue in order, each partition one instruction after another; the
// pipes of shared memory, of matrix instructions and the core's share of memory's bandwidth serve one after another; a
// use waits until its load is there. Nothing is calibrated: rates and latencies are the machine description's,
// registers do not limit how many blocks fit, caches hold the launch's buffers, or what a wave of
// blocks touches, or nothing of them.
//
// Of cooperative launches all blocks are recorded and played on all cores in one order of time, since blocks may wait
// for each other. An atomic that changes global memory is a signal. A load that looks again and again at one place (an
// atomic or volatile one) is one load, which ends a round trip after the signal that it waits for; looks in vain are
// neither recorded nor counted as accesses. A signal comes behind what its block has stored. The cores share the pipes
// of memory.
#pragma once

#include "lib/emulator/machine/worker.h"

typedef enum emu_event_kind_t {
  EMU_EVENT_ISSUE,       // amount: cycles of its partition
  EMU_EVENT_LOAD,        // amount: sectors of global memory
  EMU_EVENT_STORE,       // the same
  EMU_EVENT_COPY,        // the same, by an asynchronous copy
  EMU_EVENT_SHARED,      // amount: passes over the banks
  EMU_EVENT_SHARED_COPY, // the same, what a copy brings
  EMU_EVENT_USE,         // of what the site last loaded
  EMU_EVENT_MMA,         // amount: operations << 5 | rate
  EMU_EVENT_EXCHANGE,    // of lanes
  EMU_EVENT_COMMIT,      // of the copies since the last one
  EMU_EVENT_WAIT,        // amount: groups of copies that may be under way
  EMU_EVENT_BARRIER,     // amount: number of the meeting << 8 | warps that meet
  EMU_EVENT_SIGNAL,      // amount: its number
  EMU_EVENT_AWAIT,       // amount: the last signal that the site's load saw at its place; 0: none
} emu_event_kind_t;

typedef struct emu_event_t {
  uint32_t kind : 8, site : 24;
  uint32_t amount;
} emu_event_t;

typedef struct emu_timeline_t {
  struct emu_timeline_t *next;
  uint64_t block;
  uint32_t meetings, warp_count;
  bool incomplete; // there was no room
  struct {
    emu_event_t *events;
    uint32_t count, room;
  } warps[];
} emu_timeline_t;

// Atomics of a cooperative launch that changed a place in global memory, by number from 1 on.
typedef struct emu_signal_t {
  uint32_t previous, next; // at the same place; 0: none
} emu_signal_t;

typedef struct emu_signals_t {
  emu_signal_t *items;
  uint32_t count, room;
  struct {
    uintptr_t place;
    uint32_t last;
  } *places; // by hash
  uint32_t place_count, place_room;
} emu_signals_t;

// The last signal at the place; 0: none.
uint32_t emu_signal_at(const emu_signals_t *signals, uintptr_t place);
// A new signal's number; 0: no memory.
uint32_t emu_signal_add(emu_signals_t *signals, uintptr_t place);
void emu_signals_free(emu_signals_t *signals);

// A block begins, perhaps one to be recorded; it ends, and its record is the launch's.
void emu_timing_begin(emu_worker_t *worker);
void emu_timing_end(emu_worker_t *worker);
// Nothing unless the worker records. Issue adds up.
void emu_timing_add(emu_worker_t *worker, uint32_t warp, emu_event_kind_t kind, uint32_t site, uint64_t amount);
// All warps that wait at barrier |id| as a whole meet.
void emu_timing_meet(emu_worker_t *worker, uint32_t id);
// Cycles that the core takes for its blocks; 0: nothing was recorded, or no memory. Frees the records.
// |in_waves|: counters.wave_transactions of all workers.
double emu_timing_predict(emu_launch_t *launch, uint64_t in_waves);
