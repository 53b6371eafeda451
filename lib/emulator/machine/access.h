// access.h - the steps of an access that atomics and asynchronous copies share with loads and stores.
#pragma once

#include "lib/emulator/machine/worker.h"

// As tessera_emu_access. |atomic|: 0, or 1 + scope.
void *emu_access_at(emu_thread_t *self, const void *address, uint32_t bytes, uint32_t what, uint32_t atomic,
                    uint32_t site);

// The buffer that holds all the bytes, or null.
emu_buffer_t *emu_buffer_at(emu_thread_t *self, uintptr_t address, uint32_t bytes, uint32_t site);

// The number of the last buffer that begins at or before the address. There must be a buffer.
size_t emu_buffer_search(const emu_launch_t *launch, uintptr_t address);

// An access of the thread's own memory (undefined.c): looks for the alloca that holds the address.
void *emu_private_at(emu_thread_t *self, const void *address, uint64_t bytes, uint32_t what, uint32_t site);

// An offset in shared memory as the program sees it: without the gaps before it.
uint32_t emu_shared_offset(const emu_launch_t *launch, uint32_t offset);

void emu_check_alignment(emu_thread_t *self, uintptr_t address, uint32_t alignment, uint32_t what, uint32_t site);
