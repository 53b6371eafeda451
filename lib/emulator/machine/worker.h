// worker.h - what the files of this room share: a host thread that runs blocks, its warps and threads.
// Everything a block needs is in its worker, so blocks of one launch and of others run side by side without locks;
// shared are only the launch (read), the next block's number and the race detector's words of global memory (locked by
// stripes).
#pragma once

#include "lib/emulator/machine/emulated_gpu.h"
#include "lib/emulator/machine/fiber.h"

#include <stdatomic.h>

enum {
  EMU_WIDEST = TESSERA_EMULATOR_WIDEST_WARP,
  EMU_MOST_THREADS = 1024,
  EMU_MOST_WARPS = EMU_MOST_THREADS / 32,
  EMU_MOST_ENGINES = 32,
  EMU_MOST_MEMBERS = 16,      // blocks of a cluster
  EMU_FENCES = 8,             // of a thread, that are remembered
  EMU_WINDOW_BYTES = 1 << 20, // of shared memory's addresses, and their alignment
  EMU_LOCKS = 4096,
  EMU_LANDED_LATE = -1
};

typedef struct emu_worker_t emu_worker_t;
typedef struct emu_warp_t emu_warp_t;
typedef struct emu_thread_t emu_thread_t;
typedef struct emu_mbarrier_t emu_mbarrier_t; // see mbarrier.h

//===--- Memory that lives as long as a block or a launch ----------------===//

typedef struct emu_arena_t {
  struct emu_chunk_t *chunks;
  size_t used; // of the newest chunk
} emu_arena_t;

// Zeroed. Aborts the block (never returns) when there is no memory, so that callers need no second way out.
void *emu_arena_take(emu_worker_t *worker, emu_arena_t *arena, size_t bytes);
void emu_arena_reset(emu_arena_t *arena); // keeps one chunk
void emu_arena_free(emu_arena_t *arena);

//===--- Vector clocks: see clock.h --------------------------------------===//

typedef struct emu_clock_t {
  uint32_t stamp;                      // of what the thread does now
  uint32_t known_block;                // knows all that any thread of the block did up to here
  uint32_t known_warp;                 // … any lane of its warp
  const uint32_t *vector;              // … each thread, by index; null: nothing more
  const struct emu_foreign_t *foreign; // … threads of other blocks
} emu_clock_t;

//===--- Threads ---------------------------------------------------------===//

typedef enum emu_wait_t {
  EMU_RUNS,
  EMU_AT_COLLECTIVE,
  EMU_AT_BARRIER,
  EMU_AT_MBARRIER,
  EMU_AT_CLUSTER,
  EMU_AT_LOG_END,
  EMU_ENDED
} emu_wait_t;

// Where a thread is with the barrier of its cluster.
typedef enum emu_at_cluster_t { EMU_NOT_ARRIVED, EMU_ARRIVED, EMU_ROUND_OVER } emu_at_cluster_t;

typedef struct emu_copy_t {
  uint32_t shared; // offset
  uint16_t bytes, source_bytes;
  const char *global;
  uint32_t group, site;
  uint64_t issued;   // virtual time
  emu_clock_t clock; // at its issue
} emu_copy_t;

// The thread's last look at a place that others may change, as its warp's log has it: see emu_log_look.
typedef struct emu_look_t {
  uintptr_t place; // 0: none
  uint32_t site, cycles, flushes;
  uint16_t entry, last;
} emu_look_t;

struct emu_thread_t {
  tessera_emu_thread_t view; // first: what the kernel holds
  emu_worker_t *worker;
  emu_warp_t *in_warp;
  emu_fiber_t *fiber; // null: not begun
  emu_wait_t waits;
  uint32_t wait_site, wait_barrier, wait_parity;
  bool wait_of_cluster;                 // at an mbarrier, by scope .cluster
  uint32_t known_reads[EMU_MOST_WARPS]; // waits of each warp for products that it knows of by arrivals of any scope
  emu_at_cluster_t cluster;             // at the cluster's barrier
  const emu_mbarrier_t *wait_mbarrier;
  emu_clock_t clock;
  const struct emu_foreign_t *acquirable; // seen by relaxed atomics, for an acquire fence after them
  const struct emu_foreign_t *acquired;   // by the last acquire; a loop that looks again learns nothing
  uint32_t fence_scope, fence_now;        // of its last release fence, for relaxed atomics after it: 1 + scope, or 0
  uint32_t barrier_result, barrier_threads;
  uint32_t cycles; // of issue since its warp's log was emptied, for predictions
  uint32_t groups; // of copies, committed; where waits count, memory instructions
  uint32_t spins;  // atomics and volatile loads since it last waited
  uint32_t polls;  // … of one global place in a row, while the launch's |changes| stayed as |polled_changes|
  uint64_t polled_changes, polled_steps; // the latter: virtual time when it began to poll
  uint32_t copy_count, copy_room;
  emu_copy_t *copies;
  struct emu_bulk_t *bulks;                               // out of shared memory: see bulk.h
  uint32_t bulk_groups;                                   // of them, committed
  uint32_t fence_count, fences[EMU_FENCES];               // stamps at its last fences between threads and engines
  emu_clock_t fenced;                                     // what it knew at the last one
  struct emu_tensor_pipe_t *tensor_pipe;                  // see tensor_memory.h; null: it has started no product there
  uint32_t tensor_fence_count, tensor_fences[EMU_FENCES]; // stamps at its last fences before it tells others
  emu_clock_t tensor_fenced;                              // what it knew at its last fence after it waited
  emu_look_t look;
  _Atomic uint8_t *lock;    // held between atomic_begin and atomic_end
  const void *atomic_place; // between the same two: where, and what was there
  uint32_t atomic_bytes;
  char atomic_value[16];
  tessera_emu_private_t *privates; // the last alloca that lives
  char nowhere[64];                // where accesses go that must not happen
};

//===--- Warps -----------------------------------------------------------===//

// Lanes waiting for each other.
typedef struct emu_meeting_t {
  uint64_t wanted; // lanes
  tessera_emu_meaning_t meaning;
  const void *parameter;
  uint32_t strictness, site; // of the first to arrive
  struct emu_meeting_t *next;
  tessera_emu_group_t group; // group.mask: arrived
} emu_meeting_t;

struct emu_warp_t {
  uint64_t exists, ready, ended, at_barrier, at_mbarrier, at_cluster, at_log_end;
  uint32_t number;
  uint32_t barrier_site;
  emu_meeting_t *meetings, *free_meetings;
  struct emu_products_t *products;             // under way: see engines/products.h; null: none yet
  struct emu_tensor_access_t *tensor_accesses; // under way: see engines/tensor_memory.c
  struct emu_log_t *log;                       // of accesses since its lanes last met
};

typedef struct emu_barrier_t {
  uint32_t arrived, wanted; // wanted 0: all that have not ended
  uint32_t waiting;         // of the arrived
  uint32_t predicates;
  bool is_unordered;           // some came by tessera_emu_rendezvous
  uint32_t result, threads;    // of the last phase
  struct emu_clock_sum_t *sum; // clocks of those that arrived without waiting
} emu_barrier_t;

//===--- Blocks ----------------------------------------------------------===//

// A thread's last access to the shared memory of another block.
typedef struct emu_reach_t {
  uint32_t stamp, site; // stamp 0: there was none
} emu_reach_t;

// A block of the cluster that a worker runs; without clusters, the only one. Threads and warps of a cluster are
// numbered block after block and have one time, so that what orders them is known across its blocks as within one.
typedef struct emu_member_t {
  tessera_emu_block_t block; // first: what its threads hold
  uint64_t number;           // of the grid's blocks, x first
  uint32_t first_thread, first_warp;
  uint32_t live;          // threads that have not ended
  uint32_t open_barriers; // one bit for each that someone has arrived at
  emu_barrier_t barriers[TESSERA_EMULATOR_BARRIERS];
  struct emu_clock_sum_t *left; // what those knew who have ended; null: nobody, or no cluster
  emu_reach_t *reached;         // its memory by each thread of the cluster; null: by none
  struct emu_tensor_t *tensor;  // its tensor memory; null: none was used yet
} emu_member_t;

// The cluster's barrier: see meetings/cluster.c.
typedef struct emu_cluster_t {
  uint32_t arrived;                   // of the threads that live
  struct emu_clock_sum_t *sum, *last; // of who arrived in this round; in the last one
} emu_cluster_t;

//===--- A launch as its workers see it ----------------------------------===//

// One word of memory as the race detector knows it: see shadow.h. What few words need is kept apart, for the cache's
// sake.
typedef struct emu_word_t {
  uint64_t write, read; // records
} emu_word_t;
typedef struct emu_lists_t {
  uint32_t writers, readers; // where the records say so
} emu_lists_t;

// One word of global memory. Blocks are numbers + 1; 0: none yet.
typedef struct emu_global_word_t {
  emu_word_t word;
  uint32_t write_block, read_block; // EMU_OTHERS in the latter: |other| holds a reader of another block
} emu_global_word_t;
typedef struct emu_global_more_t {
  emu_lists_t lists;
  uint32_t other_block, other_record; // without its stamp
} emu_global_more_t;
#define EMU_OTHERS UINT32_C(0x80000000)

typedef struct emu_buffer_t {
  uintptr_t begin, end;
  size_t word_count;        // of whole 16 bytes that hold the buffer
  emu_global_word_t *words; // a record for each word, then one for each 16 bytes; null: nothing is checked
  emu_global_more_t *more;
  uint8_t *written; // bytes written, four bits for each word; null: all
  const tessera_emulator_buffer_t *given;
} emu_buffer_t;

// Which of the threads that can run does.
typedef enum emu_order_t {
  EMU_SEEDED, // warps drawn from the seed
  EMU_FIRST,  // the first one
  EMU_LAST    // the last one, of blocks, warps and lanes
} emu_order_t;

typedef struct emu_launch_t {
  const tessera_emulator_launch_t *given;
  emu_order_t order;
  _Atomic bool has_learned; // some thread, by an atomic, of what another one wrote
  const tessera_emulator_chip_t *chip;
  uint32_t grid[3], block[3], warp_shift;
  uint32_t cluster[3], members;          // blocks of a cluster
  uint32_t member_threads, member_warps; // of a block
  uint32_t threads, warps;               // of a cluster
  uint32_t first_engine, clocks;         // of a vector of clocks: see clock.h
  uint64_t blocks, clusters;
  emu_buffer_t *buffers; // by address
  size_t buffer_count;
  bool checks, count, trace;
  struct emu_waves_t *waves;                // see wave.h; null: no cycles are predicted
  struct emu_timeline_t *_Atomic timelines; // see timing.h
  struct emu_signals_t *signals;            // resident, and cycles are predicted
  _Atomic uint64_t events;                  // in them
  int workers;
  bool resident;        // a cooperative launch: a worker for each block, on one host thread
  bool alone;           // one host thread: nothing needs a lock
  bool is_stuck;        // resident: all blocks that run only poll
  uint64_t changes;     // resident: stores to global memory, atomics that changed something, blocks that ended
  uint32_t first_stamp; // records up to here are of earlier launches
  _Atomic uint64_t next_block;
  // Changes so far << 16 | workers that have since looked at all their memory again and still only spin: when that is
  // all of them, nobody will ever go on. A change is whatever another may wait for: see emu_note_change.
  _Atomic uint64_t stillness;
  _Atomic int active; // workers with a block
  _Atomic uint8_t locks[EMU_LOCKS];
  struct emu_sync_t *syncs[EMU_LOCKS]; // what atomics of global memory released, guarded by |locks|
} emu_launch_t;

struct emu_worker_t {
  emu_launch_t *launch;
  char *window; // first byte of the shared memory of its blocks, EMU_WINDOW_BYTES for each
  uint32_t windows;
  uint64_t block_number; // one for each cluster: its number times its blocks
  emu_stacks_t *stacks;
  emu_fiber_t *idle; // fibers whose last thread has ended
  emu_thread_t *current;
  const emu_thread_t *looker; // suspended: the only thread that can run, which looks in vain; else null
  uint64_t ready_warps;
  uint32_t running_warp, slow_warp;
  uint32_t live;        // threads that have not ended
  uint32_t random;      // of this block
  uint32_t now;         // the newest stamp
  uint32_t block_stamp; // records up to here are of earlier blocks
  bool aborted, suspended, no_memory, clocks_differ;
  bool in_meaning;   // of a collective: nothing may wait
  uint64_t steps;    // virtual time
  uint64_t yields;   // in a row, with nothing but spinning between
  uint32_t hopeless; // yields since the change |last_change|
  uint64_t last_change;
  emu_arena_t block_arena, launch_arena;
  emu_arena_t set_arena;       // of an acquire
  emu_arena_t vector_arena;    // of clocks
  size_t vector_taken;         // bytes since it was last cleaned up
  struct emu_shadow_t *shadow; // of shared memory
  struct emu_many_t *many;
  uint32_t copies_in_flight;
  emu_mbarrier_t *mbarriers;
  struct emu_bulk_t *free_bulks;
  struct emu_tensor_pipe_t *tensor_pipes; // of its threads
  struct emu_tensor_op_t *free_tensor_ops;
  uint32_t reads_in_flight; // by asynchronous operations
  struct emu_sync_t *syncs; // what atomics of shared memory released
  struct emu_findings_t *findings;
  struct emu_trace_buffer_t *trace;
  struct emu_timeline_t *timeline; // of this block; null: not recorded
  tessera_emulator_counters_t counters;
  tessera_emulator_site_counters_t *sites; // zero from sites_used on
  uint32_t sites_used;
  uint8_t buffer_of_site[64];
  emu_cluster_t cluster;
  emu_member_t members[EMU_MOST_MEMBERS];
  emu_warp_t warps[EMU_MOST_WARPS];
  emu_thread_t threads[EMU_MOST_THREADS];
};

static inline emu_thread_t *emu_of(tessera_emu_thread_t *self) { return (emu_thread_t *)self; }
static inline emu_member_t *emu_member_of(const emu_thread_t *thread) {
  return (emu_member_t *)(uintptr_t)thread->view.block;
}
// Where an address lies in the shared memory of the worker's blocks; at least windows * EMU_WINDOW_BYTES: nowhere.
static inline uintptr_t emu_window_offset(const emu_worker_t *worker, const void *address) {
  return (uintptr_t)address - (uintptr_t)worker->window;
}
static inline bool emu_in_window(const emu_worker_t *worker, uintptr_t address) {
  return address - (uintptr_t)worker->window < (uintptr_t)worker->launch->members * EMU_WINDOW_BYTES;
}
static inline uint64_t emu_bit(uint32_t lane) { return UINT64_C(1) << lane; }
static inline uint32_t emu_random(emu_worker_t *worker) { // xorshift32
  uint32_t x = worker->random;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return worker->random = x;
}

//===--- schedule.c ------------------------------------------------------===//

// Makes a block ready to be resumed; false when there is no memory.
bool emu_begin_block(emu_worker_t *worker, uint64_t number);
// Runs the block to its end, or until it is stuck. True when it only makes room for the other blocks of a cooperative
// launch and is to be resumed again.
bool emu_resume_block(emu_worker_t *worker);
// Lets others run until emu_wake(self).
void emu_wait(emu_thread_t *self, emu_wait_t why, uint32_t site);
void emu_wake(emu_thread_t *thread);
// Called by whatever a spin loop repeats: now and then lets others run, if there are any, and comes back. |in_vain|:
// the thread saw at its atomic_place what stands there still, so others go at once.
void emu_yield(emu_thread_t *self, uint32_t site, bool in_vain);
// The block has nothing to do until another one changes the place that its only thread that can run looks at.
bool emu_looks_in_vain(const emu_worker_t *worker);
// Lets the other blocks of a cooperative launch run, and comes back.
void emu_suspend(emu_worker_t *worker);
// A thread has looked at one place for long, the block has done little else, and global memory has not changed since.
bool emu_only_polls(const emu_worker_t *worker);
// Ends a suspended block where it stands.
void emu_abandon_block(emu_worker_t *worker);
// Another block may have waited for what this one has done.
void emu_note_change(emu_launch_t *launch);
// The block does something other than spinning.
void emu_leave_spin(emu_worker_t *worker);
static inline void emu_progress(emu_worker_t *worker) {
  if (worker->yields)
    emu_leave_spin(worker);
}
// Gives up the block. Never returns.
_Noreturn void emu_abort_block(emu_worker_t *worker);
// The thread is over, wherever it stands. Never returns.
_Noreturn void emu_end_thread(emu_thread_t *self);

//===--- meetings, copy.c: what others must tell them --------------------===//

void emu_collectives_lane_ended(emu_thread_t *self);
// No lane of the warp can run: holds a meeting of those that run (TESSERA_EMU_RUNNING). False when there is none.
bool emu_collectives_go_on(emu_worker_t *worker, emu_warp_t *warp);
void emu_barriers_thread_ended(emu_thread_t *self);
void emu_copies_block_ended(emu_worker_t *worker);

//===--- meetings/cluster.c ----------------------------------------------===//

// Before an access to shared memory at |offset| of the window by |self|: is it its own block's, or may it reach the
// block whose it is? False after a finding: that block may not have begun, or has ended. |is_kept|: what the thread
// does must be ordered before the block's end.
bool emu_reach_peer(emu_thread_t *self, uintptr_t offset, bool is_kept, uint32_t site);
static inline bool emu_reach(emu_thread_t *self, uintptr_t offset, bool is_kept, uint32_t site) {
  return offset / EMU_WINDOW_BYTES == self->view.block->rank || emu_reach_peer(self, offset, is_kept, site);
}
void emu_cluster_thread_ended(emu_thread_t *self);
void emu_cluster_begins(emu_worker_t *worker);

//===--- finding.c -------------------------------------------------------===//

// Keeps a finding, or counts it when it is known. The sentence is followed by the thread's place and the sites.
void emu_find(emu_thread_t *self, tessera_emulator_kind_t kind, uint32_t site, uint32_t other_site, uint64_t address,
              uint32_t other_thread, const char *format, ...) __attribute__((format(printf, 7, 8)));
struct emu_findings_t *emu_findings_create(void);
void emu_findings_destroy(struct emu_findings_t *findings);
void emu_findings_clear(struct emu_findings_t *findings);
// Adds those of |from|; of two the one in the earlier block stays.
void emu_findings_merge(struct emu_findings_t *into, const struct emu_findings_t *from);
// Moves them, sorted, to the report.
bool emu_findings_give(struct emu_findings_t *findings, tessera_emulator_report_t *report);
const char *emu_site_name(const emu_launch_t *launch, uint32_t site, char *room, size_t bytes);
