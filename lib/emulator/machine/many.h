// many.h - words that several threads use between two barriers: the full list of who did, where one record cannot hold
// it. Why: 32 lanes that read one word, or two that write one half of it each, are common and no race; whoever comes
// next must be ordered after all of them. Lanes of a warp that did the same at the same time share a row, so lists stay
// short. Lists are numbered from 1, a worker's own, and all gone at the next barrier of the whole block, when they are
// old news.
#pragma once

#include "lib/emulator/machine/shadow.h"

typedef struct emu_many_t emu_many_t;

emu_many_t *emu_many_create(void); // null when there is no memory
void emu_many_destroy(emu_many_t *many);
void emu_many_reset(emu_many_t *many);

// A new list that holds |record|; 0 when there is no memory.
uint32_t emu_many_begin(emu_thread_t *self, uint64_t record);
// A new list with the same records; 0 when there is no memory.
uint32_t emu_many_clone(emu_thread_t *self, uint32_t list);
// Adds a record, drops what |self| is ordered after.
void emu_many_add(emu_thread_t *self, uint32_t list, uint64_t record);
// A record of the list that conflicts with |access| to |bytes|, which is not ordered after it; 0 when there is none.
uint64_t emu_many_conflict(const emu_access_t *access, uint32_t list, uint32_t bytes);
