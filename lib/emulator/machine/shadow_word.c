// shadow_word.c - races, by the happens-before of clock.h: is an access ordered after all that its word's records tell?
// Expects: an access within bounds. Leaves: the access recorded, whether it was in order or not.
#include "lib/emulator/machine/shadow_word.h"

#include "lib/emulator/machine/access.h"
#include "lib/emulator/machine/many.h"

#include <string.h>

//===--- Findings --------------------------------------------------------===//

const char *emu_action(bool write, uint32_t atomic) {
  static const char *const names[2][2] = {{"read", "atomic read"}, {"write", "atomic write"}};
  return names[write][atomic != 0];
}

// As the program sees it.
static unsigned long long offset_of(const emu_access_t *access, const emu_place_t *place) {
  bool is_shared = strcmp(place->memory, "shared") == 0;
  return is_shared ? emu_shared_offset(access->self->worker->launch, (uint32_t)place->offset) : place->offset;
}

// A thread, or an engine that writes what copies bring.
static const char *name_of(const emu_access_t *access, uint32_t thread, char *room, size_t bytes) {
  bool is_engine = thread >= access->self->worker->launch->threads;
  snprintf(room, bytes, is_engine ? "a copy of a box" : "thread %u", thread);
  return room;
}

static void report_race(const emu_access_t *access, const emu_place_t *place, uint64_t record, bool written) {
  char name[32];
  emu_find(access->self, TESSERA_EMULATOR_RACE, access->site, emu_site_of(record), place->offset, emu_thread_of(record),
           "%s by %s and %s by thread %u, in no order, at %s+%llu", emu_action(written, emu_atomic_of(record)),
           name_of(access, emu_thread_of(record), name, sizeof name), emu_action(access->write, access->atomic),
           access->self->view.index, place->memory, offset_of(access, place));
}

static void report_in_flight(const emu_access_t *access, const emu_place_t *place, uint64_t record) {
  emu_find(access->self, access->write ? TESSERA_EMULATOR_OVERWRITE : TESSERA_EMULATOR_EARLY_READ, access->site,
           emu_site_of(record), place->offset, emu_thread_of(record),
           "%s of %s+%llu, which an asynchronous copy by thread %u is still writing: no wait covers it",
           emu_action(access->write, access->atomic), place->memory, offset_of(access, place), emu_thread_of(record));
}

//===--- One word, within a block ----------------------------------------===//

static bool is_ordered(const emu_access_t *access, uint64_t record, uint32_t bytes) {
  return !(emu_bytes_of(record) & bytes) || (access->atomic && emu_atomic_of(record)) ||
         emu_knows(access->self, emu_thread_of(record), emu_stamp_of(record));
}

// Is |access| to |bytes| in order after what the record tells? False when it must not be recorded either.
static bool check_record(const emu_access_t *access, const emu_place_t *place, uint64_t record, uint32_t list,
                         bool written, uint32_t bytes) {
  if (emu_stamp_of(record) == EMU_IN_FLIGHT) {
    if (emu_bytes_of(record) & bytes)
      report_in_flight(access, place, record);
    return false;
  }
  uint64_t conflict = record;
  if (emu_is_many(record))
    conflict = emu_many_conflict(access, list, bytes);
  else if (is_ordered(access, record, bytes))
    conflict = 0;
  if (conflict)
    report_race(access, place, conflict, written);
  return true;
}

// Does whatever races with the old access, which is in order before the new one, race with the new one too? Then the
// old one may be forgotten.
static bool stands_for(uint64_t new, uint64_t old) {
  return !(emu_bytes_of(old) & ~emu_bytes_of(new)) && (!emu_atomic_of(new) || emu_atomic_of(old));
}

static bool may_replace(const emu_thread_t *self, uint64_t old, uint64_t new) {
  if (emu_stamp_of(old) <= self->clock.known_block)
    return true; // everyone knows
  return stands_for(new, old) && emu_knows(self, emu_thread_of(old), emu_stamp_of(old));
}

// Two accesses of one thread at one time: the larger one stands for both.
static bool combine(uint64_t old, uint64_t new, uint64_t *out_record) {
  if (emu_thread_of(old) != emu_thread_of(new) || emu_stamp_of(old) != emu_stamp_of(new))
    return false;
  if (!stands_for(new, old) && !stands_for(old, new))
    return false;
  *out_record = stands_for(new, old) ? new : old;
  return true;
}

static void record_access(emu_thread_t *self, uint64_t *record, uint32_t *list, uint64_t new) {
  uint64_t old = *record;
  if (!emu_is_many(old)) {
    if (may_replace(self, old, new)) {
      *record = new;
      return;
    }
    if (combine(old, new, record))
      return;
    *list = emu_many_begin(self, old);
  } else if (emu_stamp_of(old) <= self->clock.known_block) {
    *record = new;
    return;
  }
  if (!*list)
    return;
  emu_many_add(self, *list, new);
  *record = new | EMU_MANY;
}

static void check_closely(const emu_access_t *access, emu_word_t *word, emu_lists_t *lists, uint32_t bytes,
                          const emu_place_t *place) {
  emu_thread_t *self = access->self;
  uint32_t known = self->clock.known_block;
  uint64_t write = word->write, read = word->read;
  bool ok = true;
  if (emu_stamp_of(write) > known && !emu_is_own(self, write))
    ok = check_record(access, place, write, lists->writers, true, bytes);
  if (access->write && emu_stamp_of(read) > known && !emu_is_own(self, read))
    ok = check_record(access, place, read, lists->readers, false, bytes) && ok;
  if (!ok)
    return;
  record_access(self, access->write ? &word->write : &word->read, access->write ? &lists->writers : &lists->readers,
                emu_record(access, bytes));
}

void emu_word_check(const emu_access_t *access, emu_word_t *word, emu_lists_t *lists, uint32_t bytes,
                    const emu_place_t *place) {
  if (!emu_word_is_plain(access, word, emu_record(access, bytes), access->self->clock.known_block))
    check_closely(access, word, lists, bytes, place);
}

void emu_word_check_initialized(const emu_access_t *access, uint8_t initialized, uint32_t bytes,
                                const emu_place_t *place) {
  if (bytes & ~initialized)
    emu_find(access->self, TESSERA_EMULATOR_UNINITIALIZED, access->site, 0, place->offset, 0,
             "read of %s+%llu, which nothing has written", place->memory, offset_of(access, place));
}
