// shadow_word.h - the check of one word within a block: the part that shared and global memory have in common.
#pragma once

#include "lib/emulator/machine/shadow.h"

// Where the word is, for the sentences of findings.
typedef struct emu_place_t {
  const char *memory;
  uint64_t offset;
} emu_place_t;

// "read", "atomic write", …
const char *emu_action(bool write, uint32_t atomic);

static inline bool emu_is_own(const emu_thread_t *self, uint64_t record) {
  return emu_thread_of(record) == self->view.index && !emu_is_many(record) && emu_stamp_of(record) != EMU_IN_FLIGHT;
}

// What most accesses are: all that is recorded is old, or the thread's own; then it is recorded. Else false: it must
// be looked at closely. |known|: the thread's clock.known_block, |new|: the record.
static inline bool emu_word_is_plain(const emu_access_t *access, emu_word_t *word, uint64_t new, uint32_t known) {
  const emu_thread_t *self = access->self;
  if (emu_stamp_of(word->write) > known && !emu_is_own(self, word->write))
    return false;
  if (access->write && emu_stamp_of(word->read) > known && !emu_is_own(self, word->read))
    return false;
  uint64_t *record = access->write ? &word->write : &word->read;
  if (emu_stamp_of(*record) > known && *record != new)
    return false;
  *record = new;
  return true;
}

// Checks and records an access to |bytes| of the word.
void emu_word_check(const emu_access_t *access, emu_word_t *word, emu_lists_t *lists, uint32_t bytes,
                    const emu_place_t *place);
void emu_word_check_initialized(const emu_access_t *access, uint8_t initialized, uint32_t bytes,
                                const emu_place_t *place);

// The bytes of the word at *at that lie before |end|, as four bits; advances *at to the next word.
static inline uint32_t emu_bytes_of_word(uint64_t *at, uint64_t end) {
  uint64_t next = (*at & ~UINT64_C(3)) + 4, stop = next < end ? next : end;
  uint32_t bytes = ((1u << (stop - *at)) - 1) << (*at & 3);
  *at = next;
  return bytes;
}
