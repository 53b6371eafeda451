// shadow_global.c - the race detector over global memory, where blocks meet that nothing but atomics orders.
// Each word knows the block that wrote it last, the one that read it last, and one more reader. With several workers a
// word is held by a lock while it is looked at; there are some thousand locks for all words.
#include "lib/emulator/machine/many.h"
#include "lib/emulator/machine/shadow_word.h"

#include <sched.h>
#include <string.h>

static bool foreign_atomics(const emu_access_t *access, uint32_t atomic) {
  return access->atomic > 1 && atomic > 1; // both of device scope
}

static void report_foreign(const emu_access_t *access, const emu_place_t *place, uint32_t block, uint64_t record,
                           bool written) {
  emu_find(access->self, TESSERA_EMULATOR_RACE, access->site, emu_site_of(record), place->offset, emu_thread_of(record),
           "%s by block %u and %s by block %u, in no order, at %s+%llu", emu_action(written, emu_atomic_of(record)),
           block - 1, emu_action(access->write, access->atomic), (uint32_t)access->self->worker->block_number,
           place->memory, (unsigned long long)place->offset);
}

static void check_foreign(const emu_access_t *access, const emu_place_t *place, uint32_t block, uint64_t record,
                          bool written, uint32_t bytes) {
  const emu_thread_t *self = access->self;
  if (!block || block == self->worker->block_number + 1 || emu_stamp_of(record) <= self->worker->launch->first_stamp ||
      !(emu_bytes_of(record) & bytes))
    return;
  if (foreign_atomics(access, emu_atomic_of(record)) ||
      emu_knows_foreign(self, block, emu_thread_of(record), emu_stamp_of(record)))
    return;
  report_foreign(access, place, block, record, written);
}

// A reader of a third block: its stamp was not kept, so anything known of its block counts. It is of this launch only
// when the reader after it is.
static void check_other(const emu_access_t *access, const emu_place_t *place, const emu_global_word_t *word,
                        const emu_global_more_t *more, uint32_t bytes) {
  const emu_launch_t *launch = access->self->worker->launch;
  if (emu_stamp_of(word->word.read) > launch->first_stamp && !emu_knows_of_block(access->self, more->other_block))
    check_foreign(access, place, more->other_block, (uint64_t)(EMU_IN_FLIGHT - 1) << 32 | more->other_record, false,
                  bytes);
}

// Whether the last reader was this block, in this launch: what an earlier launch left tells nothing of others.
static inline bool is_own_reader(const emu_worker_t *worker, const emu_global_word_t *word) {
  return (word->read_block & ~EMU_OTHERS) == worker->block_number + 1 &&
         emu_stamp_of(word->word.read) > worker->launch->first_stamp;
}

// A reader of another block makes room for one of this: one of the others is remembered, the first.
static void take_over_reads(emu_worker_t *worker, emu_global_word_t *word, emu_global_more_t *more) {
  uint32_t block = (uint32_t)worker->block_number + 1, others = word->read_block & EMU_OTHERS;
  if (emu_stamp_of(word->word.read) <= worker->launch->first_stamp) {
    others = 0;
  } else if (!others || more->other_block == block) {
    more->other_block = word->read_block & ~EMU_OTHERS;
    more->other_record = (uint32_t)word->word.read;
    others = EMU_OTHERS;
  }
  word->read_block = block | others;
  word->word.read = 0;
}

static void take_over(emu_worker_t *worker, emu_global_word_t *word, emu_global_more_t *more, bool write) {
  uint32_t block = (uint32_t)worker->block_number + 1;
  if (write && word->write_block != block) {
    word->write_block = block;
    word->word.write = 0;
  }
  if (!write && !is_own_reader(worker, word))
    take_over_reads(worker, word, more);
}

static void check_blocks(const emu_access_t *access, const emu_global_word_t *word, const emu_global_more_t *more,
                         uint32_t bytes, const emu_place_t *place) {
  check_foreign(access, place, word->write_block, word->word.write, true, bytes);
  if (!access->write)
    return;
  check_foreign(access, place, word->read_block & ~EMU_OTHERS, word->word.read, false, bytes);
  if (word->read_block & EMU_OTHERS)
    check_other(access, place, word, more, bytes);
}

// First against other blocks; then, with only what this block did left to see, as within a block.
static void global_word(const emu_access_t *access, emu_global_word_t *word, emu_global_more_t *more, uint32_t bytes,
                        const emu_place_t *place) {
  emu_worker_t *worker = access->self->worker;
  uint32_t block = (uint32_t)worker->block_number + 1;
  check_blocks(access, word, more, bytes, place);
  take_over(worker, word, more, access->write);
  emu_word_t seen = {word->write_block == block ? word->word.write : 0,
                     (word->read_block & ~EMU_OTHERS) == block ? word->word.read : 0};
  emu_word_check(access, &seen, &more->lists, bytes, place);
  *(access->write ? &word->word.write : &word->word.read) = access->write ? seen.write : seen.read;
}

//===--- Sixteen bytes at once -------------------------------------------===//

enum { CHUNK = 16, CHUNK_WORDS = CHUNK / 4 };
#define SPLIT UINT32_MAX // as a chunk's write_block: its words have records of their own

// As long as every access of the launch was to all sixteen bytes, one record stands for the four words.
static bool is_split(const emu_launch_t *launch, const emu_global_word_t *chunk) {
  return chunk->write_block == SPLIT && emu_stamp_of(chunk->word.write) > launch->first_stamp;
}

static bool is_used(const emu_launch_t *launch, const emu_global_word_t *word) {
  return emu_stamp_of(word->word.write) > launch->first_stamp || emu_stamp_of(word->word.read) > launch->first_stamp;
}

static uint32_t clone_list(emu_thread_t *self, uint64_t record, uint32_t block, uint32_t list) {
  bool own = (block & ~EMU_OTHERS) == self->worker->block_number + 1;
  return own && emu_is_many(record) && emu_stamp_of(record) > self->clock.known_block ? emu_many_clone(self, list)
                                                                                      : list;
}

static void copy_to_words(emu_thread_t *self, emu_buffer_t *buffer, uint64_t index) {
  const emu_global_word_t *chunk = &buffer->words[buffer->word_count + index];
  const emu_global_more_t *more = &buffer->more[buffer->word_count + index];
  for (uint64_t i = index * CHUNK_WORDS; i < (index + 1) * CHUNK_WORDS; ++i) {
    buffer->words[i] = *chunk;
    buffer->more[i] = *more;
    buffer->more[i].lists.writers = clone_list(self, chunk->word.write, chunk->write_block, more->lists.writers);
    buffer->more[i].lists.readers = clone_list(self, chunk->word.read, chunk->read_block, more->lists.readers);
  }
}

static void split(emu_thread_t *self, emu_buffer_t *buffer, uint64_t index) {
  emu_global_word_t *chunk = &buffer->words[buffer->word_count + index];
  if (chunk->write_block == SPLIT)
    chunk->write_block = 0; // by an earlier launch
  if (is_used(self->worker->launch, chunk))
    copy_to_words(self, buffer, index);
  *chunk = (emu_global_word_t){.word.write = (uint64_t)self->worker->now << 32, .write_block = SPLIT};
}

// A read of what this launch has only read: false when there is more to look at.
static inline bool is_plain_read(const emu_access_t *access, emu_global_word_t *word, emu_global_more_t *more) {
  emu_worker_t *worker = access->self->worker;
  uint64_t new = emu_record(access, 15);
  if (access->write || emu_stamp_of(word->word.write) > worker->launch->first_stamp)
    return false;
  if (!is_own_reader(worker, word))
    take_over_reads(worker, word, more);
  else if (emu_stamp_of(word->word.read) > access->self->clock.known_block && word->word.read != new)
    return false;
  word->word.read = new;
  return true;
}

// A write of what nobody has touched in this launch, nor this block since its last barrier.
static inline bool is_plain_write(const emu_access_t *access, emu_global_word_t *word, uint32_t bytes) {
  const emu_worker_t *worker = access->self->worker;
  uint32_t first_stamp = worker->launch->first_stamp, block = (uint32_t)worker->block_number + 1;
  uint32_t old = word->write_block == block ? access->self->clock.known_block : first_stamp;
  if (!access->write || emu_stamp_of(word->word.read) > first_stamp || emu_stamp_of(word->word.write) > old)
    return false;
  word->write_block = block;
  word->word.write = emu_record(access, bytes);
  return true;
}

//===--- Accesses --------------------------------------------------------===//

static emu_place_t place_at(const emu_buffer_t *buffer, uint64_t at) {
  return (emu_place_t){buffer->given->name ? buffer->given->name : "global", at - buffer->begin % CHUNK};
}

// The host's mark tells, from launch to launch and through copies, what nobody has written. A word that was written in
// part counts as written.
static void check_marked(const emu_access_t *access, const emu_buffer_t *buffer, uint64_t at, uint32_t mask) {
  uintptr_t address = buffer->begin / CHUNK * CHUNK + at;
  uint32_t word;
  if (address < buffer->begin || buffer->end - address < sizeof word)
    return;
  memcpy(&word, (const void *)address, sizeof word);
  if (__builtin_expect(word != TESSERA_EMULATOR_UNWRITTEN, 1))
    return;
  emu_place_t place = place_at(buffer, at);
  emu_word_check_initialized(access, 0, mask, &place);
}

// What was written is noted by word, whether the chunk is split or not.
static void check_written(const emu_access_t *access, emu_buffer_t *buffer, uint64_t at, uint32_t mask) {
  emu_place_t place = place_at(buffer, at);
  if (access->read)
    emu_word_check_initialized(access, buffer->written[at / 4], mask, &place);
  if (access->write)
    buffer->written[at / 4] |= (uint8_t)mask;
}

static inline bool is_suspect(const emu_access_t *access, const emu_buffer_t *buffer) {
  return access->read && buffer->given->marked;
}

static void access_chunk(const emu_access_t *access, emu_buffer_t *buffer, uint64_t index) {
  emu_global_word_t *chunk = &buffer->words[buffer->word_count + index];
  emu_global_more_t *more = &buffer->more[buffer->word_count + index];
  emu_place_t place = place_at(buffer, index * CHUNK);
  for (uint64_t at = index * CHUNK; buffer->written && at < (index + 1) * CHUNK; at += 4)
    check_written(access, buffer, at, 15);
  for (uint64_t at = index * CHUNK; is_suspect(access, buffer) && at < (index + 1) * CHUNK; at += 4)
    check_marked(access, buffer, at, 15);
  if (!is_plain_write(access, chunk, 15) && !is_plain_read(access, chunk, more))
    global_word(access, chunk, more, 15, &place);
}

static void access_words(const emu_access_t *access, emu_buffer_t *buffer, uint64_t at, uint64_t end) {
  while (at < end) {
    emu_place_t place = place_at(buffer, at);
    uint64_t index = at / 4, word = at;
    uint32_t mask = emu_bytes_of_word(&at, end);
    if (buffer->written)
      check_written(access, buffer, word, mask);
    if (is_suspect(access, buffer))
      check_marked(access, buffer, word, mask);
    emu_global_word_t *record = &buffer->words[index];
    bool plain =
        is_plain_write(access, record, mask) || (mask == 15 && is_plain_read(access, record, &buffer->more[index]));
    if (!plain)
      global_word(access, record, &buffer->more[index], mask, &place);
  }
}

static _Atomic uint8_t *lock_stripe(emu_launch_t *launch, uintptr_t address) {
  if (launch->alone)
    return NULL;
  _Atomic uint8_t *lock = &launch->locks[(address >> 8) % EMU_LOCKS];
  while (atomic_exchange_explicit(lock, 1, memory_order_acquire))
    sched_yield();
  return lock;
}

static void unlock(_Atomic uint8_t *lock) {
  if (lock)
    atomic_store_explicit(lock, 0, memory_order_release);
}

void emu_shadow_global(const emu_access_t *access, emu_buffer_t *buffer, uintptr_t address, uint32_t bytes) {
  emu_launch_t *launch = access->self->worker->launch;
  uintptr_t base = buffer->begin / CHUNK * CHUNK;
  for (uint64_t at = address - base, end = at + bytes, stop; at < end; at = stop) {
    uint64_t index = at / CHUNK;
    emu_global_word_t *chunk = &buffer->words[buffer->word_count + index];
    stop = (index + 1) * CHUNK < end ? (index + 1) * CHUNK : end;
    _Atomic uint8_t *lock = lock_stripe(launch, base + at);
    bool is_one = !is_split(launch, chunk), whole = stop - at == CHUNK;
    if (is_one && !whole)
      split(access->self, buffer, index);
    if (is_one && whole)
      access_chunk(access, buffer, index);
    else
      access_words(access, buffer, at, stop);
    unlock(lock);
  }
}

bool emu_shadow_only_read(const emu_worker_t *worker, const emu_buffer_t *buffer, uintptr_t address, uint32_t bytes) {
  uint64_t at = address - buffer->begin / CHUNK * CHUNK, index = at / CHUNK;
  const emu_global_word_t *chunk = &buffer->words[buffer->word_count + index];
  return worker->launch->alone && (at + bytes - 1) / CHUNK == index &&
         emu_stamp_of(chunk->word.write) <= worker->launch->first_stamp;
}
