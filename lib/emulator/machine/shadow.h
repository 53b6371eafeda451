// shadow.h - the race detector's memory: for each 4-byte word, who wrote it last and who read it since.
//
// A record is 64 bits: stamp 32 | thread 10 | bytes 4 | atomic 2 | many 1 | site 15. |bytes| are those of the word that
// were accessed; |atomic| is 0 for a plain access, else 1 + scope (block, device). |many|: several threads, or one at
// several times, and none ordered after all others; then this is the last and the word's list (many.h) has all. The
// stamp IN_FLIGHT marks a word that an asynchronous copy is going to write. A record whose stamp is at most the block's
// first is of an earlier block or launch: nothing. So shadows are never cleared, and a barrier of the whole block makes
// all records old at once.
#pragma once

#include "lib/emulator/machine/clock.h"

#define EMU_IN_FLIGHT UINT32_MAX
enum { EMU_GAP = 0x80, EMU_MBARRIER = 0x40, EMU_GAP_BYTES = TESSERA_EMULATOR_GAP_BYTES };

// Of 16 bytes: how many asynchronous operations in flight still read them, and where the last one began.
typedef struct emu_readers_t {
  uint16_t count, site;
} emu_readers_t;

// For 16 bytes: the warps whose products read them, and when; and the last engine (see tensor_memory.h).
typedef struct emu_product_reads_t {
  uint32_t warps, stamps[EMU_MOST_WARPS];
  uint32_t engine, engine_stamp; // stamp 0: none
} emu_product_reads_t;

typedef struct emu_shadow_t {
  uint32_t words;
  emu_lists_t *lists;
  uint8_t *initialized; // four bits for each word's bytes, or EMU_GAP, or EMU_MBARRIER
  uint8_t *split; // for each 16 bytes: 0 as long as every access was to all of them; then the first word tells all
  emu_readers_t *readers;             // for each 16 bytes
  emu_product_reads_t *product_reads; // for each 16 bytes; null: there were none yet
  uint32_t (
      *product_waits)[EMU_MOST_WARPS]; // for each 16 bytes: each warp's wait that ended its read; in clusters only
  emu_word_t of[];
} emu_shadow_t;

// One access, as the detector sees it.
typedef struct emu_access_t {
  emu_thread_t *self;
  bool read, write; // an atomic may be both
  uint32_t atomic;  // 0, or 1 + scope
  uint32_t site;
  bool is_engine; // a copy under way
} emu_access_t;

static inline uint64_t emu_record(const emu_access_t *access, uint32_t bytes) {
  return (uint64_t)access->self->clock.stamp << 32 | access->self->view.index << 22 | bytes << 18 |
         access->atomic << 16 | access->site;
}
static inline uint32_t emu_stamp_of(uint64_t record) { return (uint32_t)(record >> 32); }
static inline uint32_t emu_thread_of(uint64_t record) { return (uint32_t)record >> 22; }
static inline uint32_t emu_bytes_of(uint64_t record) { return (uint32_t)record >> 18 & 15; }
static inline uint32_t emu_atomic_of(uint64_t record) { return (uint32_t)record >> 16 & 3; }
static inline bool emu_is_many(uint64_t record) { return record >> 15 & 1; }
static inline uint32_t emu_site_of(uint64_t record) { return (uint32_t)record & 0x7fff; }
#define EMU_MANY (UINT64_C(1) << 15)

// For shared memory of a chip; null when there is no memory.
emu_shadow_t *emu_shadow_create(uint32_t bytes);
void emu_shadow_destroy(emu_shadow_t *shadow);
void emu_shadow_block_begins(emu_worker_t *worker);

// Checks and records an access to shared memory, offset and bytes within its bounds.
void emu_shadow_shared(const emu_access_t *access, uint32_t offset, uint32_t bytes);
// Marks the words as the target of a copy in flight, which is checked as a write; and as written, by a copy landed.
void emu_shadow_copy_begins(emu_thread_t *self, uint32_t offset, uint32_t bytes, uint32_t site);
void emu_shadow_copy_lands(emu_thread_t *self, uint32_t offset, uint32_t bytes, uint32_t site);

// Marks whole 16 bytes as written by a copy of |engine|: a number behind the threads', or a thread's.
void emu_shadow_bulk_lands(emu_worker_t *worker, uint32_t offset, uint32_t bytes, uint32_t engine, uint32_t stamp,
                           uint32_t site);
// Between the two an asynchronous operation reads the bytes, and nobody may write them.
void emu_shadow_reads_begin(emu_worker_t *worker, uint32_t offset, uint32_t bytes, uint32_t site);
void emu_shadow_reads_end(emu_worker_t *worker, uint32_t offset, uint32_t bytes);
// A product of the lane's warp reads pieces of 16 bytes at these offsets of its block from its begin to its end.
void emu_shadow_product_begins(emu_thread_t *lane, const uint32_t *places, uint32_t count, uint32_t site);
// |wait|: which of the warp's waits ends it.
void emu_shadow_product_ends(emu_thread_t *lane, const uint32_t *places, uint32_t count, uint32_t wait);
// As above where an engine has read them: whoever knows the engine up to |stamp| may write them.
void emu_shadow_engine_ends(emu_thread_t *starter, const uint32_t *places, uint32_t count, uint32_t engine,
                            uint32_t stamp);
// An engine is to read 16 bytes: a fence must lie between it and a thread's write, by either of the two threads.
void emu_shadow_check_fenced(const emu_access_t *access, uint32_t offset);
// Do some of the bytes lie between two arrays, or belong to an mbarrier?
bool emu_shadow_has_special(const emu_worker_t *worker, uint32_t offset, uint32_t bytes);
// The bytes become an mbarrier's, whom plain accesses may not touch; or nobody has written them.
void emu_shadow_set_mbarrier(emu_worker_t *worker, uint32_t offset, uint32_t bytes, bool is_live);

// Is the word nobody's, between two arrays?
bool emu_shadow_is_gap(const emu_thread_t *self, uint32_t offset);

// Checks and records an access to global memory.
void emu_shadow_global(const emu_access_t *access, emu_buffer_t *buffer, uintptr_t address, uint32_t bytes);
// Is it easily seen that this launch has written none of it? (False tells nothing.)
bool emu_shadow_only_read(const emu_worker_t *worker, const emu_buffer_t *buffer, uintptr_t address, uint32_t bytes);
