// emulated_gpu.h - a GPU on the CPU: runs a compiled kernel thread by thread, finds faults in the kernel, counts its
// work. Pure C, no MLIR, no static state: any number of emulators may run at once, each launch on as many host threads
// as asked.
//
// The host's side (tessera_emulator_…):
//
//   tessera_emulator_t *emulator = tessera_emulator_create(&(tessera_emulator_chip_t){
//       .warp_width = 32, .shared_bytes = 232448, .banks = 32, .bank_bytes = 4, .sector_bytes = 32, .block_threads =
//       1024});
//   tessera_emulator_launch_t launch = {
//       .kernel = scale, .params = (void *[]){&x, &n}, .grid = {4, 1, 1}, .block = {128, 1, 1},
//       .buffers = (tessera_emulator_buffer_t[]){{.base = x, .bytes = 4 * n, .name = "x"}}, .buffer_count = 1,
//       .checks = true, .count = true, .seed = 1};
//   tessera_emulator_report_t *report;
//   tessera_error_t error;
//   if (!tessera_emulator_launch(emulator, &launch, &report, &error)) …     // it could not be run at all
//   for (size_t i = 0; i < report->finding_count; ++i)
//     puts(report->findings[i].text);
//   tessera_emulator_report_destroy(report);
//   tessera_emulator_destroy(emulator);
//
// The kernel's side (tessera_emu_…) is what compiled code calls. A kernel is one C function, called once for each
// thread:
//
//   void scale(tessera_emu_thread_t *self, void **params) {
//     float *x = *(float **)params[0] + 128 * self->block->id[0] + self->id[0];
//     x = tessera_emu_access(self, x, 4, TESSERA_EMU_LOAD | TESSERA_EMU_GLOBAL, 1);
//     float value = *x;
//     …
//   }
//
// |self| is passed on to every function of the device that makes such calls. |params| is what cuLaunchKernel takes: one
// pointer to each argument. A *site* is a number from 1 that stands for one instruction in the source; the caller keeps
// the table from numbers to text. Sites above TESSERA_EMULATOR_SITES are counted and reported as site 0, "unknown".
//
// How threads run. Every thread is a fiber. The lanes of a warp run one after another until each of them waits; then
// another warp runs, chosen by the seed, one of them much more rarely than the others. Nothing else synchronizes: a
// kernel that needs more than it says shows it. Blocks are spread over host threads; findings and counters do not
// depend on how many, unless blocks talk to each other through global atomics.
#pragma once

#include "lib/support/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TESSERA_EMULATOR_SITES = 32766, TESSERA_EMULATOR_WIDEST_WARP = 64, TESSERA_EMULATOR_BARRIERS = 16 };
// What the emulator adds between two arrays of shared memory: low bits of addresses stay, so swizzles and banks do.
enum { TESSERA_EMULATOR_GAP_BYTES = 1024, TESSERA_EMULATOR_MOST_GAPS = 64 };

//===--- What a kernel sees ----------------------------------------------===//

// The block a thread belongs to. Compiled code may load these fields; their order is fixed.
typedef struct tessera_emu_block_t {
  uint32_t id[3];      // blockIdx
  uint32_t size[3];    // blockDim
  uint32_t grid[3];    // gridDim
  uint32_t warp_width; // 32 or 64
  char *shared;        // first byte of the block's shared memory; below 4 GiB, so that 32 bits hold any address in it,
                       // and aligned to 1 MiB, so that swizzles and descriptors see the low bits they expect
  uint32_t cluster_id[3], clusters[3]; // %clusterid, %nclusterid
  uint32_t place[3], cluster[3];       // %cluster_ctaid, %cluster_nctaid; {0, 0, 0} of {1, 1, 1} without clusters
  uint32_t rank, ranks;                // %cluster_ctarank, %cluster_nctarank
} tessera_emu_block_t;

// One thread; more fields follow, of the emulator's own. The order of these is fixed.
typedef struct tessera_emu_thread_t {
  uint32_t id[3];    // threadIdx
  uint32_t lane;     // within its warp
  uint32_t warp;     // within its cluster, block after block; threads are numbered x first
  uint32_t index;    // within its cluster: warp * width + lane
  uint32_t own_warp; // within its block
  const tessera_emu_block_t *block;
} tessera_emu_thread_t;

typedef void (*tessera_emu_kernel_t)(tessera_emu_thread_t *self, void **params);

//===--- Memory ----------------------------------------------------------===//

// What an access is: one kind, and what else applies, or-ed together. With no space given the address decides.
enum {
  TESSERA_EMU_LOAD = 1,
  TESSERA_EMU_STORE = 2, // an atomic read-modify-write is LOAD | STORE
  TESSERA_EMU_GLOBAL = 4,
  TESSERA_EMU_SHARED = 8,
  TESSERA_EMU_VOLATILE = 16,    // as a relaxed atomic of system scope; may be a spin loop's
  TESSERA_EMU_UNCOUNTED = 32,   // checked, but no instruction of its own: a count would be made twice
  TESSERA_EMU_CLUSTER = 1 << 14 // shared memory of any block of the cluster (.shared::cluster)
};

// Alignment the instruction needs, in bytes, a power of two; without it, no misalignment is reported.
#define TESSERA_EMU_ALIGN(bytes) ((uint32_t)(bytes) << 16)

// Order and scope of an atomic or a fence, as in the C and PTX memory models.
typedef enum tessera_emu_order_t {
  TESSERA_EMU_RELAXED,
  TESSERA_EMU_ACQUIRE,
  TESSERA_EMU_RELEASE,
  TESSERA_EMU_ACQUIRE_RELEASE,
  TESSERA_EMU_SEQUENTIAL
} tessera_emu_order_t;
typedef enum tessera_emu_scope_t {
  TESSERA_EMU_SCOPE_BLOCK,  // .cta, "workgroup"; also warp and "wavefront", "singlethread"
  TESSERA_EMU_SCOPE_DEVICE, // .cluster, .gpu, "agent"
  TESSERA_EMU_SCOPE_SYSTEM
} tessera_emu_scope_t;

// Before every load and store of |bytes| (at most 64) at |address|: checks and counts it, and returns where to do it.
// That is |address|, or, when the access must not happen (out of bounds, null), 64 bytes of the thread's own that
// nobody reads. Memory of the thread's stack (allocas) needs no call and is let pass.
void *tessera_emu_access(tessera_emu_thread_t *self, const void *address, uint32_t bytes, uint32_t what, uint32_t site);

// As above, of an address that was computed from |root|: it must lie in the same buffer, where that is in one.
void *tessera_emu_access_from(tessera_emu_thread_t *self, const void *root, const void *address, uint32_t bytes,
                              uint32_t what, uint32_t site);

// Around every atomic instruction, of any type; compiled code does it on the address begin returns, between the two.
//   p = tessera_emu_atomic_begin(self, p, 4, LOAD | STORE, ACQUIRE_RELEASE, SCOPE_DEVICE, site);
//   old = atomicrmw fadd p, x;
//   tessera_emu_atomic_end(self);
// Nothing that waits may stand between them. Atomics whose scopes include each other do not race; release and acquire
// order what is around them, also when a relaxed one follows or comes before a fence.
void *tessera_emu_atomic_begin(tessera_emu_thread_t *self, const void *address, uint32_t bytes, uint32_t what,
                               tessera_emu_order_t order, tessera_emu_scope_t scope, uint32_t site);
void tessera_emu_atomic_end(tessera_emu_thread_t *self);

// fence, membar: order with the atomics before and after it.
void tessera_emu_fence(tessera_emu_thread_t *self, tessera_emu_order_t order, tessera_emu_scope_t scope, uint32_t site);

//===--- Warps -----------------------------------------------------------===//

// The lanes of a warp that meet in one collective. |contribution[lane]| is what that lane handed in, null for the
// others.
typedef struct tessera_emu_group_t {
  uint64_t mask;                                            // lanes that take part
  uint32_t width;                                           // of a warp
  uint32_t site;                                            // of the last to arrive
  tessera_emu_thread_t *lane[TESSERA_EMULATOR_WIDEST_WARP]; // null where the lane takes no part
  void *contribution[TESSERA_EMULATOR_WIDEST_WARP];
} tessera_emu_group_t;

// What a collective means: reads all contributions and leaves each lane's result in its own. It may call
// tessera_emu_access (with group->lane[i] as self: ldmatrix), tessera_emu_count; nothing that waits.
typedef void (*tessera_emu_meaning_t)(const tessera_emu_group_t *group, const void *parameter);

// How strictly lanes must meet.
enum {
  TESSERA_EMU_ALIGNED = 1, // all lanes of |mask| execute this very instruction (.aligned: mma, ldmatrix); lanes that
                           // have ended are an error. Else (shfl.sync, vote.sync, bar.warp.sync) any with the same
                           // meaning, parameter and mask meet, and lanes that have ended are not waited for.
  TESSERA_EMU_ORDERS = 2,  // memory accesses of the lanes before it happen before those after it: bar.warp.sync,
                           // rocdl.wave.barrier. Shuffles, votes and mma give no such promise.
  TESSERA_EMU_RUNNING = 4  // when every other lane of the warp has ended or waits elsewhere, those that are here go on:
                           // what a wave does in one branch (s_waitcnt).
};

// Waits until all lanes of |mask| are here; the last one computes for all. |parameter| (may be null) is compared by
// address: point to a constant of the instruction. A lane outside |mask| is reported and goes on alone.
void tessera_emu_collective(tessera_emu_thread_t *self, uint64_t mask, uint32_t strictness,
                            tessera_emu_meaning_t meaning, const void *parameter, void *contribution, uint32_t site);

// bar.warp.sync, rocdl.wave.barrier: a collective that computes nothing and orders memory.
void tessera_emu_warp_sync(tessera_emu_thread_t *self, uint64_t mask, uint32_t site);

// Lanes of the warp that exist: all, but for the last warp of a block whose size is no multiple of the width.
uint64_t tessera_emu_full_mask(const tessera_emu_thread_t *self);

// Lanes of the warp that have not ended. What activemask may answer; a kernel that relies on more is wrong.
uint64_t tessera_emu_active_mask(const tessera_emu_thread_t *self);

//===--- Blocks ----------------------------------------------------------===//

// bar.sync, s_barrier: waits for |count| threads (0: all of the block that have not ended) at barrier |id| (0 to 15).
// Orders memory between those that meet. The lanes of a warp must come from the same site.
void tessera_emu_barrier(tessera_emu_thread_t *self, uint32_t id, uint32_t count, uint32_t site);

// s_barrier without fences: the same, but memory is as if there were no barrier.
void tessera_emu_rendezvous(tessera_emu_thread_t *self, uint32_t id, uint32_t count, uint32_t site);

// bar.arrive: is counted and does not wait.
void tessera_emu_barrier_arrive(tessera_emu_thread_t *self, uint32_t id, uint32_t count, uint32_t site);

// bar.red: the same as tessera_emu_barrier, and how many of the threads had a true |predicate|: popc as it is,
// or = result > 0, and = result == *out_threads.
uint32_t tessera_emu_barrier_count(tessera_emu_thread_t *self, uint32_t id, uint32_t count, uint32_t predicate,
                                   uint32_t *out_threads, uint32_t site);

//===--- Clusters --------------------------------------------------------===//

// mapa: what |address|, of the own block's shared memory, is in block |rank| of the cluster.
void *tessera_emu_mapa(tessera_emu_thread_t *self, void *address, uint32_t rank, uint32_t site);
// barrier.cluster.arrive: is counted and does not wait. |relaxed|: orders no memory.
void tessera_emu_cluster_arrive(tessera_emu_thread_t *self, uint32_t relaxed, uint32_t site);
// barrier.cluster.wait: until all threads of the cluster that have not ended have arrived.
void tessera_emu_cluster_wait(tessera_emu_thread_t *self, uint32_t site);

//===--- Barriers in memory ----------------------------------------------===//

// An instruction whose predicate is false has this address.
#define TESSERA_EMU_OFF ((void *)1)
enum {
  TESSERA_EMU_MBARRIER_RELAXED = 1, // orders no memory
  TESSERA_EMU_MBARRIER_DROPS = 2,   // arrive_drop: later phases await fewer
  TESSERA_EMU_MBARRIER_STAYS = 4,   // arrive.nocomplete: the phase may not end by it
  TESSERA_EMU_MBARRIER_CLUSTER = 8  // scope .cluster: threads of other blocks are ordered, too
};

// mbarrier.init, inval: 8 bytes of shared memory become a barrier for |count| arrivals, and memory again.
void tessera_emu_mbarrier_init(tessera_emu_thread_t *self, void *barrier, uint32_t count, uint32_t site);
void tessera_emu_mbarrier_inval(tessera_emu_thread_t *self, void *barrier, uint32_t site);
// fence.mbarrier_init: copies may report to barriers that the thread has initialized.
void tessera_emu_fence_mbarrier_init(tessera_emu_thread_t *self, uint32_t site);
// fence.proxy.async: engines see what the thread knows to be written by threads, barriers among it.
void tessera_emu_fence_proxy(tessera_emu_thread_t *self, uint32_t site);
// mbarrier.arrive: |count| arrivals, in a phase that expects |bytes| more of copies. Returns the phase.
uint64_t tessera_emu_mbarrier_arrive(tessera_emu_thread_t *self, void *barrier, uint32_t count, uint32_t bytes,
                                     uint32_t how, uint32_t site);
// mbarrier.expect_tx; |bytes| below 0: complete_tx.
void tessera_emu_mbarrier_expect(tessera_emu_thread_t *self, void *barrier, int64_t bytes, uint32_t site);
// mbarrier.try_wait.parity in a loop: waits until the phase of that parity has ended. Scope .cta: what threads of
// other blocks did before they arrived is not ordered before what follows.
void tessera_emu_mbarrier_wait(tessera_emu_thread_t *self, void *barrier, uint32_t parity, uint32_t site);
// mbarrier.test_wait, try_wait: whether it has. |phase|: its parity, or what an arrival returned.
uint32_t tessera_emu_mbarrier_test(tessera_emu_thread_t *self, void *barrier, uint64_t phase, uint32_t how,
                                   uint32_t site);

//===--- Asynchronous copies ---------------------------------------------===//

// cp.async: copies |source_bytes| (at most |bytes|; the rest becomes 0) from global to shared memory, some time before
// the wait that covers it returns and in no order: here as late as that and in an order drawn from the seed. |bytes|
// is 4, 8 or 16 and both addresses are multiples of it. Until the wait nobody may read the target or write it; after
// it only this thread may, others after a barrier that follows.
void tessera_emu_copy_async(tessera_emu_thread_t *self, void *shared, const void *global, uint32_t bytes,
                            uint32_t source_bytes, uint32_t site);
// cp.async.commit_group: the copies since the last commit become a group.
void tessera_emu_copy_commit(tessera_emu_thread_t *self);
// cp.async.wait_group: waits for all groups of this thread but the |pending| youngest.
void tessera_emu_copy_wait(tessera_emu_thread_t *self, uint32_t pending, uint32_t site);
// cp.async.wait_all: waits for all copies, committed or not.
void tessera_emu_copy_wait_all(tessera_emu_thread_t *self, uint32_t site);

// AMD's loads into LDS (global_load_lds): as above, but a wave waits for them by its counter of memory instructions
// (vmcnt), which all loads of global memory count in, and stores where the chip says so. |bytes|: 1, 2, 4, 12 or 16.
void tessera_emu_copy_counted(tessera_emu_thread_t *self, void *shared, const void *global, uint32_t bytes,
                              uint32_t site);
// s_waitcnt vmcnt(|pending|): the wave waits until at most so many of its youngest memory instructions are under way.
// Lanes that wait elsewhere, in another branch, take no part.
void tessera_emu_copy_wait_counted(tessera_emu_thread_t *self, uint32_t pending, uint32_t site);

//===--- Copies of boxes of tensors --------------------------------------===//

// cp.async.bulk.tensor from global to shared memory: a box of the tensor that |map| describes (a tessera_tensor_map_t)
// comes to |shared|, and its bytes to |barrier|, some time before a wait for the barrier's phase returns. |at|: the
// |rank| coordinates of the box, the fastest axis first. Elements outside of the tensor are filled in.
void tessera_emu_bulk_load(tessera_emu_thread_t *self, void *shared, const void *map, void *barrier, const int32_t *at,
                           uint32_t rank, uint32_t site);
// .multicast::cluster: to the same place of each block of |mask|, and its bytes to the same barrier there. Read once.
void tessera_emu_bulk_multicast(tessera_emu_thread_t *self, void *shared, const void *map, void *barrier,
                                const int32_t *at, uint32_t rank, uint32_t mask, uint32_t site);
// From shared to global memory, as one of the thread's groups. Elements outside of the tensor are left out.
void tessera_emu_bulk_store(tessera_emu_thread_t *self, const void *map, const void *shared, const int32_t *at,
                            uint32_t rank, uint32_t site);
// cp.async.bulk.commit_group, wait_group: as with cp.async. |reads_only|: until shared memory has been read (.read).
void tessera_emu_bulk_commit(tessera_emu_thread_t *self);
void tessera_emu_bulk_wait(tessera_emu_thread_t *self, uint32_t pending, uint32_t reads_only, uint32_t site);

//===--- Tensor memory ---------------------------------------------------===//

// tcgen05.fence: |is_after|: after_thread_sync, else before_thread_sync.
void tessera_emu_tensor_fence(tessera_emu_thread_t *self, uint32_t is_after, uint32_t site);
// tcgen05.commit: one arrival at |barrier| once all products are done that the thread has started.
void tessera_emu_tensor_commit(tessera_emu_thread_t *self, void *barrier, uint32_t site);

//===--- Operations without a meaning ------------------------------------===//

// False where all is run again in another order: what a kernel prints was printed then.
bool tessera_emu_prints(const tessera_emu_thread_t *self);
// Before each integer division or remainder: returns the divisor, or 1 after a finding where the result is not defined.
// |width|: of a signed operation, whose smallest number divided by -1 has no result; 0: unsigned.
int64_t tessera_emu_divisor(tessera_emu_thread_t *self, int64_t dividend, int64_t divisor, uint32_t width,
                            uint32_t site);
// Before each call of a function that needs |bytes| of stack: ends the thread, after a finding, where there is no room.
void tessera_emu_stack(tessera_emu_thread_t *self, uint64_t bytes, uint32_t site);
// An alloca of the thread's, on its stack.
typedef struct tessera_emu_private_t {
  struct tessera_emu_private_t *before; // the one that began before it
  const char *base;
  uint64_t bytes;
  uint8_t written[]; // for each of its bytes: 1 once that was written
} tessera_emu_private_t;
// Begins an alloca of |bytes| at |base| that nobody has written. |own| has room for as many bytes behind it.
void tessera_emu_private_begins(tessera_emu_thread_t *self, tessera_emu_private_t *own, const void *base,
                                uint64_t bytes);
// Where a function begins: the last alloca of its callers. Before it returns: its own end.
tessera_emu_private_t *tessera_emu_privates(tessera_emu_thread_t *self);
void tessera_emu_privates_end(tessera_emu_thread_t *self, tessera_emu_private_t *last);
// Before each load and store of this alloca, as tessera_emu_access. Where the program does not show the alloca,
// tessera_emu_access looks for it.
void *tessera_emu_private(tessera_emu_thread_t *self, tessera_emu_private_t *own, const void *address, uint64_t bytes,
                          uint32_t what, uint32_t site);

//===--- Counting, and reports of the compiled code's own ----------------===//

// Classes of instructions; memory, barriers and copies are counted by their own functions above.
typedef enum tessera_emu_class_t {
  TESSERA_EMU_INTEGER, // also address arithmetic, comparisons, conversions, selects
  TESSERA_EMU_FLOATING,
  TESSERA_EMU_SPECIAL, // exp, rsqrt, …
  TESSERA_EMU_CONTROL,
  TESSERA_EMU_CLASSES
} tessera_emu_class_t;

// |count| instructions of a class by this thread; they are also its virtual time in a trace. Once per basic block is
// enough.
void tessera_emu_count(tessera_emu_thread_t *self, tessera_emu_class_t class_, uint32_t count);
// One matrix instruction of a warp: its multiply-adds times two, and which of the chip's rates it has (0 to 31). Once
// per instruction, by its meaning.
void tessera_emu_count_mma(tessera_emu_thread_t *self, uint64_t flops, uint32_t rate, uint32_t site);
// The first use of what the instruction at |site| loaded. For predictions only.
void tessera_emu_use(tessera_emu_thread_t *self, uint32_t site);
// Floating-point operations of this thread on elements that exist.
void tessera_emu_count_flops(tessera_emu_thread_t *self, uint64_t flops);

// A finding of the compiled code's own (an assertion, an operand the ISA refuses), with the thread's place added.
void tessera_emu_report(tessera_emu_thread_t *self, uint32_t site, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// trap: the thread ends here, with a finding.
_Noreturn void tessera_emu_trap(tessera_emu_thread_t *self, uint32_t site, const char *text);

//===--- The host's side -------------------------------------------------===//

// What the emulator must know of a chip; the caller takes it from the machine's description.
typedef struct tessera_emulator_chip_t {
  uint32_t warp_width;     // 32 or 64
  uint32_t shared_bytes;   // a block may use; at most 1 MiB
  uint32_t banks;          // of shared memory
  uint32_t bank_bytes;     // one bank delivers at a time
  uint32_t sector_bytes;   // of a global transaction (numerics.md §9)
  uint32_t block_threads;  // at most, and never above 1024
  uint32_t cluster_blocks; // of a cluster, at most; 0 counts as 1
  bool aligned_barriers;   // all lanes of a warp must come to a barrier (bar.sync), not the warp alone (s_barrier)
  uint32_t counted;        // TESSERA_EMU_LOAD, STORE: accesses of global memory that waits count (vmcnt); else 0
} tessera_emulator_chip_t;

// A word that no program writes on purpose: a signaling nan of f32, and 4 odd bytes. Copies of it stay unwritten.
#define TESSERA_EMULATOR_UNWRITTEN UINT32_C(0x7fa5c3b1)

// Global memory the kernel may touch. What is in no buffer is out of bounds.
typedef struct tessera_emulator_buffer_t {
  void *base;
  size_t bytes;
  const char *name;   // for findings; may be null
  bool uninitialized; // reading a byte nobody has written yet is a finding
  bool marked;        // so is reading a word that still holds TESSERA_EMULATOR_UNWRITTEN, which the host put there
  bool read_only;     // writing is a finding
} tessera_emulator_buffer_t;

// What a prediction of time needs to know of a chip; see timing.h. Operations: a multiply-add is two.
typedef struct tessera_emulator_rates_t {
  uint32_t cores;             // at least 1
  uint32_t partitions;        // of a core that issue on their own, 1 to 16
  uint32_t core_warps;        // at most, of a core
  uint32_t core_shared_bytes; // of a core
  double floating;            // operations on f32 per cycle and core
  double mma[32]; // of matrix instructions per cycle and core, by the rate's number in tessera_emu_count_mma
  double shared_latency, near_latency,
      far_latency;              // cycles from a load to its use: shared memory, a shared cache, beyond
  double near_bytes, far_bytes; // per cycle, of all cores
  double port_bytes;            // per cycle, into one core
  double near_capacity;         // bytes
  double hertz;                 // cycles per second, for those who want time
} tessera_emulator_rates_t;

// Bytes of shared memory between two arrays: whoever touches them is out of bounds.
typedef struct tessera_emulator_gap_t {
  uint32_t begin, bytes;
} tessera_emulator_gap_t;

typedef struct tessera_emulator_launch_t {
  tessera_emu_kernel_t kernel;
  const char *name;
  void **params;
  uint32_t grid[3], block[3];                // 0 counts as 1
  uint32_t cluster[3];                       // blocks; 0 counts as 1
  uint32_t shared_bytes;                     // of each block, static and dynamic
  const tessera_emulator_gap_t *shared_gaps; // in them, ascending
  size_t shared_gap_count;
  uint32_t shared_added_bytes; // of gaps that only the emulator has: they count neither as memory nor in messages
  const tessera_emulator_buffer_t *buffers;
  size_t buffer_count;
  const char *const *site_names;         // site_names[site] is a location in the source; may be null
  uint32_t site_count;                   // length of site_names
  uint64_t seed;                         // of the order in which warps run and copies land
  bool checks;                           // off: nothing is looked for; a wrong access may then crash
  bool count;                            // bytes, transactions, conflicts, instructions, in all and by site
  bool trace;                            // the report can be written as a trace
  const tessera_emulator_rates_t *rates; // with count: cycles are predicted; may be null
  bool cooperative;                      // all blocks, at most 256, are there at once and may wait for each other
  bool has_messages;    // a thread may read atomically what another one wrote: see tessera_emulator_launch
  int threads;          // host threads; 0: one per processor
  uint32_t stack_bytes; // of a thread; 0: 256 KiB
} tessera_emulator_launch_t;

// name, what it means in words: each row an enumerator TESSERA_EMULATOR_name.
#define TESSERA_EMULATOR_FINDINGS(X)                                                                                   \
  X(RACE, "race")                                                                                                      \
  X(EARLY_READ, "read before the copy landed")                                                                         \
  X(OVERWRITE, "overwrite of a copy in flight")                                                                        \
  X(UNINITIALIZED, "uninitialized read")                                                                               \
  X(OUT_OF_BOUNDS, "out of bounds")                                                                                    \
  X(MISALIGNED, "misaligned access")                                                                                   \
  X(READ_ONLY, "write to read-only memory")                                                                            \
  X(DIVERGED, "divergence")                                                                                            \
  X(DEADLOCK, "deadlock")                                                                                              \
  X(SHARED_LIMIT, "too much shared memory")                                                                            \
  X(UNFENCED, "missing fence")                                                                                         \
  X(BAD_OPERAND, "bad operand")                                                                                        \
  X(TRAP, "trap")                                                                                                      \
  X(UNDEFINED, "undefined operation")                                                                                  \
  X(STACK, "stack overflow")                                                                                           \
  X(PEER, "memory of another block")                                                                                   \
  X(LEAK, "memory not given back")

typedef enum tessera_emulator_kind_t {
#define X(name, text) TESSERA_EMULATOR_##name,
  TESSERA_EMULATOR_FINDINGS(X)
#undef X
      TESSERA_EMULATOR_KINDS
} tessera_emulator_kind_t;

const char *tessera_emulator_kind_text(tessera_emulator_kind_t kind);

// One mistake. A kind of mistake at one pair of sites is one finding however often it happens: |count| times, here with
// the first one in the order of blocks.
typedef struct tessera_emulator_finding_t {
  tessera_emulator_kind_t kind;
  uint32_t site, other_site; // other_site: the earlier access, the other place lanes wait at; 0 when there is none
  uint64_t block;            // linear, x first
  uint32_t thread, other_thread;
  uint64_t address; // offset in its buffer or in shared memory
  uint64_t count;
  char text[320]; // a sentence: what, where in memory, which threads, both sites by name
} tessera_emulator_finding_t;

// What happened, summed over all threads. Sectors, wavefronts and conflicts are those of numerics.md §9.
typedef struct tessera_emulator_counters_t {
  uint64_t threads, blocks;
  uint64_t instructions[TESSERA_EMU_CLASSES];       // of threads, as told to tessera_emu_count
  uint64_t global_bytes_read, global_bytes_written; // asked for by threads; atomics are in both
  uint64_t global_loads, global_stores;             // instructions of warps
  uint64_t global_transactions;                     // sectors touched, by instruction of a warp
  uint64_t wave_transactions;                       // sectors, each once for a wave of blocks (wave.h); with rates
  uint64_t shared_bytes_read, shared_bytes_written;
  uint64_t shared_loads, shared_stores; // instructions of warps
  uint64_t shared_wavefronts;           // passes over the banks
  uint64_t shared_bank_conflicts;       // wavefronts beyond one for each phase
  uint64_t async_copies, async_bytes;   // also in global_…read and shared_…written
  uint64_t atomics;                     // of threads
  uint64_t barriers;                    // of blocks: each meeting counts once
  uint64_t collectives;                 // of warps
  uint64_t mma_instructions, mma_flops, flops;
} tessera_emulator_counters_t;

typedef struct tessera_emulator_site_counters_t {
  uint64_t executions;   // instructions of warps
  uint64_t lanes;        // threads in them
  uint64_t bytes;        // asked for
  uint64_t transactions; // sectors when global, wavefronts when shared
  uint64_t ideal;        // the least that could be: bytes that differ / sector size; phases
  uint64_t mma_flops;
} tessera_emulator_site_counters_t;

typedef struct tessera_emulator_report_t {
  tessera_emulator_finding_t *findings; // by site, then kind
  size_t finding_count;
  uint64_t lost_findings; // beyond the 256 kept
  tessera_emulator_counters_t counters;
  tessera_emulator_site_counters_t *sites; // by site number; null unless counted
  uint32_t site_count;
  struct tessera_emulator_trace_t *trace; // null unless traced
  double cycles;                          // predicted, uncalibrated; 0 unless asked for
} tessera_emulator_report_t;

typedef struct tessera_emulator_t tessera_emulator_t;

// Null when out of memory. Holds nothing but the chip and memory that later launches use again.
tessera_emulator_t *tessera_emulator_create(const tessera_emulator_chip_t *chip);
void tessera_emulator_destroy(tessera_emulator_t *emulator);

// Who forgets to wait for a message gets it in one order of threads and not in another, and only where it is late can a
// detector see that nothing ordered what follows. So, with has_messages and checks: where some thread learned of
// another's writes by an atomic and nothing was found, all is run twice more, with the first blocks, warps and lanes
// first, then with the last ones first. Memory is then as the first run left it, and the counters are the first run's.
//
// Runs a grid to its end. False when it could not be run: a launch no GPU of this chip would take, or no memory; a
// kernel's own mistakes are findings. One launch at a time on an emulator. The report is the caller's to destroy.
bool tessera_emulator_launch(tessera_emulator_t *emulator, const tessera_emulator_launch_t *launch,
                             tessera_emulator_report_t **out_report, tessera_error_t *out_error);
void tessera_emulator_report_destroy(tessera_emulator_report_t *report);

// Chrome's trace-event format, as Perfetto reads it: warps and copies as rows, time = instructions executed.
bool tessera_emulator_trace_write(const tessera_emulator_report_t *report, const char *path,
                                  tessera_error_t *out_error);

#ifdef __cplusplus
}
#endif
