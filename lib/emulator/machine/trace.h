// trace.h - what ran when, for people to look at: slices of warps, and copies from their issue to their landing.
// Time is virtual: the worker's count of instructions and accesses, from 0 in each block.
#pragma once

#include "lib/emulator/machine/worker.h"

typedef struct emu_trace_buffer_t emu_trace_buffer_t;

emu_trace_buffer_t *emu_trace_create(void);
void emu_trace_destroy(emu_trace_buffer_t *trace);

// The block's time begins.
void emu_trace_block(emu_worker_t *worker);
// A warp stops running, its slice ends.
void emu_trace_warp(emu_worker_t *worker, uint32_t warp);
// A copy has landed.
void emu_trace_copy(emu_thread_t *self, const emu_copy_t *copy);

// Adds the events of |from|.
bool emu_trace_give(emu_trace_buffer_t *from, tessera_emulator_report_t *report, const emu_launch_t *launch);
void emu_trace_report_destroy(struct tessera_emulator_trace_t *trace);
