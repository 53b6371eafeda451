// launch.h - a worker's life, between launches and in one.
#pragma once

#include "lib/emulator/machine/worker.h"

enum { EMU_MOST_ORDERED = 64 }; // blocks that are there at once in an order of its own

// One run, in that order. *out_learned: a thread learned of another one by an atomic. Null after an error.
tessera_emulator_report_t *emu_launch_in(tessera_emulator_t *emulator, const tessera_emulator_launch_t *given,
                                         emu_order_t order, bool *out_learned, tessera_error_t *out_error);

// With a window of shared memory and its shadow; null when there is no memory.
emu_worker_t *emu_worker_create(const tessera_emulator_chip_t *chip);
void emu_worker_destroy(emu_worker_t *worker);

// Makes it ready for the launch's blocks; false when there is no memory.
bool emu_worker_prepare(emu_worker_t *worker, emu_launch_t *launch);
// Gives back what was for that launch only.
void emu_worker_release(emu_worker_t *worker);
