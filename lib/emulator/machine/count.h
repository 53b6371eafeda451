// count.h - what a warp's accesses cost: sectors of global memory, passes over the banks of shared memory (numerics.md
// §9).
//
// Lanes run one after another, so a warp's instruction is put together afterwards: accesses are logged in the order of
// the first lane that made them, and each further lane walks along the log, joining entries of the same site. Where its
// path differs it adds its own entries there. When the lanes meet again (a collective of all, a barrier, the end) the
// log is accounted and emptied. Exact as long as lanes take the same path between two meetings; in between it is what
// hardware that reconverges as early as possible would do.
#pragma once

#include "lib/emulator/machine/worker.h"

typedef struct emu_log_t emu_log_t;

// What is logged beside accesses, for predictions: in the place of what an access is. ASYNC comes beside that.
enum {
  EMU_LOG_ASYNC = 1 << 6,
  EMU_LOG_USE = 1 << 7,
  EMU_LOG_MMA = 1 << 8,
  EMU_LOG_EXCHANGE = 1 << 9,
  EMU_LOG_COMMIT = 1 << 10,
  EMU_LOG_WAIT = 1 << 11,
  EMU_LOG_SIGNAL = 1 << 12,
  EMU_LOG_AWAIT = 1 << 13,
  EMU_LOG_OTHERS = EMU_LOG_ASYNC | EMU_LOG_USE | EMU_LOG_MMA | EMU_LOG_EXCHANGE | EMU_LOG_COMMIT | EMU_LOG_WAIT |
                   EMU_LOG_SIGNAL | EMU_LOG_AWAIT
};

emu_log_t *emu_log_create(void); // null when there is no memory
void emu_log_destroy(emu_log_t *log);

// |what| names kind and space. May wait for the warp's other lanes, when the log is full.
// |address| is the amount where it is no access.
void emu_log_add(emu_thread_t *self, uintptr_t address, uint32_t bytes, uint32_t what, uint32_t site);
// Logs an atomic load of global memory in a cooperative launch. A thread that does nothing but look at the
// place again takes the last look back: what it does until it sees what it waits for costs nothing but time.
void emu_log_look(emu_thread_t *self, uintptr_t address, uint32_t bytes, uint32_t what, uint32_t site);
// The thread's atomic has changed the place.
void emu_log_signal(emu_thread_t *self, uintptr_t address, uint32_t site);
// Entries since it was emptied.
uint32_t emu_log_length(const emu_log_t *log);
// A copy of a box between global and shared memory, and each of its rows in global memory.
void emu_count_bulk(emu_worker_t *worker, uint32_t bytes, bool writes, uint32_t site);
void emu_count_bulk_row(emu_worker_t *worker, uint64_t address, uint32_t bytes, bool writes, uint32_t site);
void emu_log_flush(emu_worker_t *worker, emu_warp_t *warp);

void emu_counters_add(tessera_emulator_counters_t *into, const tessera_emulator_counters_t *from);
void emu_site_counters_add(tessera_emulator_site_counters_t *into, const tessera_emulator_site_counters_t *from);
