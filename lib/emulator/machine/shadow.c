// shadow.c - the race detector over shared memory. Expects: accesses within bounds. Leaves: the access in the shadow.
// Costs: two comparisons per 4-byte word where threads keep to their own words or a barrier stands between.
#include "lib/emulator/machine/shadow.h"

#include "lib/emulator/machine/access.h"
#include "lib/emulator/machine/many.h"
#include "lib/emulator/machine/shadow_word.h"

#include <stdlib.h>
#include <string.h>

//===--- Life ------------------------------------------------------------===//

emu_shadow_t *emu_shadow_create(uint32_t bytes) {
  uint32_t words = (bytes / 64 + 2) * 16; // an access of 64 bytes may begin in the last word
  emu_shadow_t *shadow = calloc(1, sizeof *shadow + words * (sizeof(emu_word_t) + sizeof(emu_lists_t) + 3));
  if (!shadow)
    return NULL;
  shadow->words = words;
  shadow->lists = (emu_lists_t *)&shadow->of[words];
  shadow->initialized = (uint8_t *)&shadow->lists[words];
  shadow->split = shadow->initialized + words;
  shadow->readers = (emu_readers_t *)(shadow->split + words); // a fourth of the words, 4 bytes each
  return shadow;
}

void emu_shadow_destroy(emu_shadow_t *shadow) {
  if (shadow) {
    free(shadow->product_reads);
    free(shadow->product_waits);
  }
  free(shadow);
}

// A gap is as much as whole words of it.
static void mark_gaps(const emu_worker_t *worker, uint8_t *initialized) {
  const tessera_emulator_launch_t *given = worker->launch->given;
  for (size_t i = 0; i < given->shared_gap_count; ++i) {
    uint32_t first = (given->shared_gaps[i].begin + 3) / 4;
    uint32_t end = (given->shared_gaps[i].begin + given->shared_gaps[i].bytes) / 4;
    memset(&initialized[first], EMU_GAP, end > first ? end - first : 0);
  }
}

uint32_t emu_shared_offset(const emu_launch_t *launch, uint32_t offset) {
  const tessera_emulator_launch_t *given = launch->given;
  uint32_t added = 0;
  offset %= EMU_WINDOW_BYTES; // of any block of a cluster
  for (size_t i = 0; i < given->shared_gap_count && given->shared_added_bytes; ++i)
    if (given->shared_gaps[i].begin + given->shared_gaps[i].bytes <= offset)
      added += given->shared_gaps[i].bytes / EMU_GAP_BYTES * EMU_GAP_BYTES;
  return offset - added;
}

static void find_in_gap(const emu_access_t *access, uint32_t at) {
  uint32_t offset = emu_shared_offset(access->self->worker->launch, at);
  emu_find(access->self, TESSERA_EMULATOR_OUT_OF_BOUNDS, access->site, 0, offset, 0,
           "%s at shared+%u, past the end of one array of shared memory", access->write ? "write" : "read", offset);
}

static void find_in_mbarrier(const emu_access_t *access, uint32_t at) {
  uint32_t offset = emu_shared_offset(access->self->worker->launch, at);
  emu_find(access->self, TESSERA_EMULATOR_BAD_OPERAND, access->site, 0, offset, 0,
           "%s at shared+%u, where an mbarrier is in use", access->write ? "write" : "read", offset);
}

bool emu_shadow_has_special(const emu_worker_t *worker, uint32_t offset, uint32_t bytes) {
  for (uint32_t word = offset / 4; word < (offset + bytes + 3) / 4; ++word)
    if (worker->shadow->initialized[word] & (EMU_GAP | EMU_MBARRIER))
      return true;
  return false;
}

void emu_shadow_set_mbarrier(emu_worker_t *worker, uint32_t offset, uint32_t bytes, bool is_live) {
  memset(&worker->shadow->initialized[offset / 4], is_live ? EMU_MBARRIER : 0, bytes / 4);
}

bool emu_shadow_is_gap(const emu_thread_t *self, uint32_t offset) {
  return self->worker->shadow->initialized[offset / 4] & EMU_GAP;
}

void emu_shadow_block_begins(emu_worker_t *worker) {
  uint32_t bytes = worker->launch->given->shared_bytes;
  if (!worker->launch->checks)
    return;
  emu_many_reset(worker->many); // a kernel without barriers resets it nowhere else
  for (uint32_t i = 0; bytes && i < worker->launch->members; ++i) {
    uint8_t *initialized = worker->shadow->initialized + (size_t)i * (EMU_WINDOW_BYTES / 4);
    memset(worker->members[i].block.shared, 0xff, bytes); // nan, whatever the type
    memset(initialized, 0, (bytes + 3) / 4);
    mark_gaps(worker, initialized);
  }
}

//===--- Accesses --------------------------------------------------------===//

static void shared_word(const emu_access_t *access, emu_shadow_t *shadow, uint64_t at, uint32_t bytes) {
  emu_place_t place = {"shared", at};
  emu_word_t *word = &shadow->of[at / 4];
  uint8_t *initialized = &shadow->initialized[at / 4];
  if (*initialized & EMU_GAP) {
    find_in_gap(access, (uint32_t)at);
    return;
  }
  if (*initialized & EMU_MBARRIER) {
    find_in_mbarrier(access, (uint32_t)at);
    return;
  }
  if (access->read && emu_stamp_of(word->write) != EMU_IN_FLIGHT)
    emu_word_check_initialized(access, *initialized, bytes, &place);
  emu_word_check(access, word, &shadow->lists[at / 4], bytes, &place);
  if (access->write)
    *initialized |= (uint8_t)bytes;
}

//===--- Sixteen bytes at once -------------------------------------------===//

enum { CHUNK = 16, CHUNK_WORDS = CHUNK / 4 };
static const uint32_t all_initialized = 0x0f0f0f0f, any_special = (EMU_GAP | EMU_MBARRIER) * 0x01010101u;

static bool is_whole(uint64_t offset, uint64_t bytes) { return !(offset % CHUNK) && bytes >= CHUNK; }

static uint32_t clone_list(emu_thread_t *self, uint64_t record, uint32_t list) {
  return emu_is_many(record) && emu_stamp_of(record) > self->clock.known_block ? emu_many_clone(self, list) : list;
}

// The first word's records become those of all four.
static void split(emu_thread_t *self, emu_shadow_t *shadow, uint32_t chunk) {
  emu_word_t *words = &shadow->of[chunk * CHUNK_WORDS];
  emu_lists_t *lists = &shadow->lists[chunk * CHUNK_WORDS];
  shadow->split[chunk] = 1;
  for (int i = 1; i < CHUNK_WORDS; ++i) {
    words[i] = words[0];
    lists[i].writers = clone_list(self, words[0].write, lists[0].writers);
    lists[i].readers = clone_list(self, words[0].read, lists[0].readers);
  }
}

// Once all that was done to its words is old, a chunk may be one again.
static bool is_one(const emu_thread_t *self, emu_shadow_t *shadow, uint32_t chunk) {
  if (!shadow->split[chunk])
    return true;
  const emu_word_t *words = &shadow->of[chunk * CHUNK_WORDS];
  for (int i = 0; i < CHUNK_WORDS; ++i)
    if (emu_stamp_of(words[i].write) > self->clock.known_block || emu_stamp_of(words[i].read) > self->clock.known_block)
      return false;
  shadow->split[chunk] = 0;
  return true;
}

static void check_chunk(const emu_access_t *access, emu_shadow_t *shadow, uint32_t chunk) {
  uint32_t at = chunk * CHUNK_WORDS;
  emu_place_t place = {"shared", (uint64_t)chunk * CHUNK};
  if (!emu_word_is_plain(access, &shadow->of[at], emu_record(access, 15), access->self->clock.known_block))
    emu_word_check(access, &shadow->of[at], &shadow->lists[at], 15, &place);
}

//===--- Asynchronous reads ----------------------------------------------===//

void emu_shadow_reads_begin(emu_worker_t *worker, uint32_t offset, uint32_t bytes, uint32_t site) {
  if (!worker->launch->checks)
    return;
  ++worker->reads_in_flight;
  for (uint32_t chunk = offset / CHUNK; chunk <= (offset + bytes - 1) / CHUNK; ++chunk) {
    ++worker->shadow->readers[chunk].count;
    worker->shadow->readers[chunk].site = (uint16_t)site;
  }
}

void emu_shadow_reads_end(emu_worker_t *worker, uint32_t offset, uint32_t bytes) {
  if (!worker->launch->checks)
    return;
  --worker->reads_in_flight;
  for (uint32_t chunk = offset / CHUNK; chunk <= (offset + bytes - 1) / CHUNK; ++chunk)
    --worker->shadow->readers[chunk].count;
}

// What products have read: their waits must be known.
static void check_product_reads(const emu_access_t *access, emu_product_reads_t *reads, uint32_t site, uint32_t at) {
  const emu_thread_t *self = access->self;
  const emu_shadow_t *shadow = self->worker->shadow;
  const uint32_t *waits = shadow->product_waits ? shadow->product_waits[at / CHUNK] : NULL;
  for (uint32_t rest = reads->warps; rest; rest &= rest - 1) {
    uint32_t warp = (uint32_t)__builtin_ctz(rest), lane = warp << self->worker->launch->warp_shift;
    bool is_over = waits && access->is_engine && waits[warp] <= self->known_reads[warp];
    if (is_over || emu_knows(self, lane, reads->stamps[warp]))
      continue;
    emu_find(access->self, TESSERA_EMULATOR_RACE, access->site, site, at, lane,
             "read by a product of warp %u and write by thread %u, in no order, at shared+%u", warp, self->view.index,
             emu_shared_offset(self->worker->launch, at));
    return;
  }
  if (reads->engine_stamp > self->worker->block_stamp && !emu_knows(self, reads->engine, reads->engine_stamp))
    emu_find(access->self, TESSERA_EMULATOR_RACE, access->site, site, at, 0,
             "read by a product on tensor memory and write by thread %u, in no order, at shared+%u", self->view.index,
             emu_shared_offset(self->worker->launch, at));
}

static void check_chunk_readers(const emu_access_t *access, emu_shadow_t *shadow, uint32_t chunk, uint32_t at) {
  const emu_readers_t *readers = &shadow->readers[chunk];
  if (readers->count)
    emu_find(access->self, TESSERA_EMULATOR_OVERWRITE, access->site, readers->site, at, 0,
             "write of shared+%u, which an asynchronous operation still reads: no wait covers it",
             emu_shared_offset(access->self->worker->launch, at));
  else if (shadow->product_reads && (shadow->product_reads[chunk].warps || shadow->product_reads[chunk].engine_stamp))
    check_product_reads(access, &shadow->product_reads[chunk], readers->site, at);
}

static inline void check_readers(const emu_access_t *access, uint64_t offset, uint64_t bytes) {
  emu_shadow_t *shadow = access->self->worker->shadow;
  if (__builtin_expect(!access->write || !(access->self->worker->reads_in_flight || shadow->product_reads), 1))
    return;
  for (uint64_t chunk = offset / CHUNK; chunk <= (offset + bytes - 1) / CHUNK; ++chunk)
    check_chunk_readers(access, shadow, (uint32_t)chunk, (uint32_t)(chunk * CHUNK > offset ? chunk * CHUNK : offset));
}

//===--- Accesses --------------------------------------------------------===//

// All of a chunk that is one: false when it must be looked at word by word.
static bool shared_chunk(const emu_access_t *access, emu_shadow_t *shadow, uint32_t chunk) {
  uint32_t initialized;
  memcpy(&initialized, &shadow->initialized[chunk * CHUNK_WORDS], sizeof initialized);
  if ((access->read && initialized != all_initialized) || initialized & any_special ||
      !is_one(access->self, shadow, chunk))
    return false;
  check_chunk(access, shadow, chunk);
  if (access->write)
    memcpy(&shadow->initialized[chunk * CHUNK_WORDS], &all_initialized, sizeof all_initialized);
  return true;
}

void emu_shadow_shared(const emu_access_t *access, uint32_t offset, uint32_t bytes) {
  emu_shadow_t *shadow = access->self->worker->shadow;
  check_readers(access, offset, bytes);
  for (uint64_t at = offset, end = at + bytes; at < end;) {
    uint32_t chunk = (uint32_t)(at / CHUNK);
    if (is_whole(at, end - at) && shared_chunk(access, shadow, chunk)) {
      at += CHUNK;
      continue;
    }
    if (!shadow->split[chunk])
      split(access->self, shadow, chunk);
    uint64_t word = at;
    uint32_t mask = emu_bytes_of_word(&at, end);
    shared_word(access, shadow, word, mask);
  }
}

static bool is_in_flight(const emu_word_t *word) { return emu_stamp_of(word->write) == EMU_IN_FLIGHT; }

// Copies of less than a word may share one: the record's bytes are those of all of them.
static void begin_word(const emu_access_t *access, emu_shadow_t *shadow, uint32_t at, uint32_t mask) {
  emu_place_t place = {"shared", at};
  emu_word_t *word = &shadow->of[at / 4];
  emu_word_check(access, word, &shadow->lists[at / 4], mask, &place);
  uint32_t bytes = mask | (is_in_flight(word) ? emu_bytes_of(word->write) : 0);
  word->write = emu_record(access, bytes) | (uint64_t)EMU_IN_FLIGHT << 32;
}

// Has a product read the chunk, and does the thread know that it is over? Then what the product read had landed, too.
static bool knows_read(const emu_thread_t *self, const emu_shadow_t *shadow, uint32_t chunk) {
  for (uint32_t rest = shadow->product_reads[chunk].warps; rest; rest &= rest - 1) {
    uint32_t warp = (uint32_t)__builtin_ctz(rest);
    if (shadow->product_waits[chunk][warp] <= self->known_reads[warp])
      return true;
  }
  return false;
}

// In clusters arrivals may tell no more than that products have read the last copy: it is over for the next one. Reads
// before the next copy are ordered before all that comes after that copy.
static void retire_copy(const emu_access_t *access, emu_shadow_t *shadow, uint32_t chunk, bool is_checked) {
  if (!shadow->product_waits || !shadow->product_reads)
    return;
  for (uint32_t word = chunk * CHUNK_WORDS; !is_checked && word < (chunk + 1) * CHUNK_WORDS; ++word)
    if (emu_thread_of(shadow->of[word].write) >= access->self->worker->launch->threads &&
        emu_stamp_of(shadow->of[word].write) != EMU_IN_FLIGHT && knows_read(access->self, shadow, chunk))
      shadow->of[word].write = 0;
  if (is_checked)
    shadow->product_reads[chunk].warps = 0;
}

// A product on tensor memory has read the last copy, and the thread knows that it is over: so is the copy.
static void retire_read_copy(const emu_thread_t *self, emu_shadow_t *shadow, uint32_t chunk) {
  emu_product_reads_t *reads = shadow->product_reads ? &shadow->product_reads[chunk] : NULL;
  if (!reads || reads->engine_stamp <= self->worker->block_stamp ||
      !emu_knows(self, reads->engine, reads->engine_stamp))
    return;
  for (uint32_t word = chunk * CHUNK_WORDS; word < (chunk + 1) * CHUNK_WORDS; ++word)
    if (emu_thread_of(shadow->of[word].write) >= self->worker->launch->threads &&
        emu_stamp_of(shadow->of[word].write) != EMU_IN_FLIGHT)
      shadow->of[word].write = 0;
  reads->engine_stamp = 0;
}

void emu_shadow_copy_begins(emu_thread_t *self, uint32_t offset, uint32_t bytes, uint32_t site) {
  emu_access_t access = {.self = self, .write = true, .is_engine = true, .site = site};
  emu_shadow_t *shadow = self->worker->shadow;
  uint32_t chunk = offset / CHUNK;
  check_readers(&access, offset, bytes);
  retire_copy(&access, shadow, chunk, false);
  if (is_whole(offset, bytes))
    retire_read_copy(self, shadow, chunk);
  if (is_whole(offset, bytes))
    retire_copy(&access, shadow, chunk, true);
  if (is_whole(offset, bytes) && is_one(self, shadow, chunk)) {
    check_chunk(&access, shadow, chunk);
    shadow->of[offset / 4].write = emu_record(&access, 15) | (uint64_t)EMU_IN_FLIGHT << 32;
    return;
  }
  for (uint64_t at = offset, end = at + bytes; at < end;) {
    if (!shadow->split[at / CHUNK])
      split(self, shadow, (uint32_t)(at / CHUNK));
    uint32_t word = (uint32_t)at, mask = emu_bytes_of_word(&at, end);
    begin_word(&access, shadow, word, mask);
  }
}

static void land_word(const emu_access_t *access, emu_shadow_t *shadow, uint32_t at, uint32_t mask) {
  emu_word_t *word = &shadow->of[at / 4];
  uint64_t others = is_in_flight(word) ? emu_bytes_of(word->write) & ~mask : 0;
  if (others) // of the same word
    word->write = (word->write & ~(UINT64_C(15) << 18)) | others << 18;
  else
    word->write = emu_record(access, 15);
  shadow->initialized[at / 4] |= (uint8_t)mask;
}

void emu_shadow_copy_lands(emu_thread_t *self, uint32_t offset, uint32_t bytes, uint32_t site) {
  emu_access_t access = {.self = self, .write = true, .site = site};
  emu_shadow_t *shadow = self->worker->shadow;
  if (is_whole(offset, bytes) && !shadow->split[offset / CHUNK]) {
    shadow->of[offset / 4].write = emu_record(&access, 15);
    memcpy(&shadow->initialized[offset / 4], &all_initialized, sizeof all_initialized);
    return;
  }
  for (uint64_t at = offset, end = at + bytes; at < end;) {
    uint32_t word = (uint32_t)at, mask = emu_bytes_of_word(&at, end);
    land_word(&access, shadow, word, mask);
  }
}

void emu_shadow_bulk_lands(emu_worker_t *worker, uint32_t offset, uint32_t bytes, uint32_t engine, uint32_t stamp,
                           uint32_t site) {
  emu_shadow_t *shadow = worker->shadow;
  uint64_t record = (uint64_t)stamp << 32 | engine << 22 | UINT64_C(15) << 18 | site;
  for (uint32_t chunk = offset / CHUNK; chunk < (offset + bytes) / CHUNK; ++chunk) {
    uint32_t first = chunk * CHUNK_WORDS, end = first + (shadow->split[chunk] ? CHUNK_WORDS : 1);
    for (uint32_t word = first; word < end; ++word)
      shadow->of[word].write = record;
    memcpy(&shadow->initialized[first], &all_initialized, sizeof all_initialized);
  }
}

//===--- Fences between threads and engines ------------------------------===//

// Does the reader know of a fence that the writer made after its write? A thread's oldest fences are forgotten.
static bool is_fenced_by_writer(const emu_thread_t *reader, uint32_t writer, uint32_t stamp) {
  const emu_thread_t *other = &reader->worker->threads[writer];
  uint32_t kept = other->fence_count < EMU_FENCES ? other->fence_count : EMU_FENCES, first = UINT32_MAX;
  for (uint32_t i = 0; i < kept; ++i)
    if (other->fences[i] >= stamp && other->fences[i] < first)
      first = other->fences[i];
  bool may_be_forgotten = other->fence_count > EMU_FENCES && first == other->fences[other->fence_count % EMU_FENCES];
  return may_be_forgotten || (first != UINT32_MAX && emu_knows(reader, writer, first));
}

static bool is_fenced_by_reader(const emu_thread_t *reader, uint32_t writer, uint32_t stamp) {
  emu_thread_t then = {.view = reader->view, .worker = reader->worker, .clock = reader->fenced};
  return reader->fence_count && writer != reader->view.index && emu_knows(&then, writer, stamp);
}

static void check_word_fenced(const emu_access_t *access, uint64_t record, uint32_t at) {
  const emu_thread_t *self = access->self;
  uint32_t writer = emu_thread_of(record), stamp = emu_stamp_of(record);
  if (stamp <= self->worker->block_stamp || stamp == EMU_IN_FLIGHT || writer >= self->worker->launch->threads ||
      is_fenced_by_writer(self, writer, stamp) || is_fenced_by_reader(self, writer, stamp))
    return;
  emu_find(access->self, TESSERA_EMULATOR_UNFENCED, access->site, emu_site_of(record), at, writer,
           "an engine reads shared+%u, which thread %u wrote, and no fence.proxy.async lies between",
           emu_shared_offset(self->worker->launch, at), writer);
}

void emu_shadow_check_fenced(const emu_access_t *access, uint32_t offset) {
  const emu_shadow_t *shadow = access->self->worker->shadow;
  uint32_t chunk = offset / CHUNK, words = shadow->split[chunk] ? CHUNK_WORDS : 1;
  for (uint32_t word = 0; word < words; ++word)
    check_word_fenced(access, shadow->of[chunk * CHUNK_WORDS + word].write, chunk * CHUNK + 4 * word);
}

//===--- Products --------------------------------------------------------===//

// Is all of it there, and known to the lane?
static bool is_known(const emu_thread_t *lane, const emu_shadow_t *shadow, uint32_t chunk) {
  uint64_t write = shadow->of[chunk * CHUNK_WORDS].write;
  uint32_t initialized, stamp = emu_stamp_of(write);
  memcpy(&initialized, &shadow->initialized[chunk * CHUNK_WORDS], sizeof initialized);
  return !shadow->split[chunk] && initialized == all_initialized && stamp != EMU_IN_FLIGHT && !emu_is_many(write) &&
         emu_knows(lane, emu_thread_of(write), stamp);
}

static void make_product_reads(emu_worker_t *worker) {
  emu_shadow_t *shadow = worker->shadow;
  bool is_clustered = worker->launch->members > 1;
  if (!shadow->product_reads)
    shadow->product_reads = calloc(shadow->words / CHUNK_WORDS, sizeof *shadow->product_reads);
  if (is_clustered && !shadow->product_waits)
    shadow->product_waits = calloc(shadow->words / CHUNK_WORDS, sizeof *shadow->product_waits);
  if (shadow->product_reads && (shadow->product_waits || !is_clustered))
    return;
  worker->no_memory = true;
  emu_abort_block(worker);
}

// Where the shared memory of its block begins.
static uint32_t base_of(const emu_thread_t *lane) { return lane->view.block->rank * EMU_WINDOW_BYTES; }

void emu_shadow_product_begins(emu_thread_t *lane, const uint32_t *places, uint32_t count, uint32_t site) {
  emu_shadow_t *shadow = lane->worker->shadow;
  emu_access_t access = {.self = lane, .read = true, .site = site};
  uint32_t base = base_of(lane);
  make_product_reads(lane->worker);
  ++lane->worker->reads_in_flight;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t chunk = (base + places[i]) / CHUNK;
    if (!is_known(lane, shadow, chunk))
      emu_shadow_shared(&access, base + places[i], CHUNK);
    if (emu_thread_of(shadow->of[chunk * CHUNK_WORDS].write) < lane->worker->launch->threads)
      emu_shadow_check_fenced(&access, base + places[i]);
    ++shadow->readers[chunk].count;
    shadow->readers[chunk].site = (uint16_t)site;
  }
}

void emu_shadow_product_ends(emu_thread_t *lane, const uint32_t *places, uint32_t count, uint32_t wait) {
  emu_shadow_t *shadow = lane->worker->shadow;
  emu_product_reads_t *reads = shadow->product_reads;
  uint32_t warp = lane->view.warp, base = base_of(lane);
  --lane->worker->reads_in_flight;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t chunk = (base + places[i]) / CHUNK;
    --shadow->readers[chunk].count;
    reads[chunk].warps |= 1u << warp;
    reads[chunk].stamps[warp] = lane->clock.stamp;
    if (shadow->product_waits)
      shadow->product_waits[chunk][warp] = wait;
  }
}

void emu_shadow_engine_ends(emu_thread_t *starter, const uint32_t *places, uint32_t count, uint32_t engine,
                            uint32_t stamp) {
  emu_shadow_t *shadow = starter->worker->shadow;
  uint32_t base = base_of(starter);
  --starter->worker->reads_in_flight;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t chunk = (base + places[i]) / CHUNK;
    --shadow->readers[chunk].count;
    shadow->product_reads[chunk].engine = engine;
    shadow->product_reads[chunk].engine_stamp = stamp;
  }
}
