// tensor_memory.h - tensor memory of a block, and products on it (tcgen05) in flight.
//
// Tensor memory: 128 lanes of 512 words. A warp allocates columns, a power of two, and gives them back. Warp w loads
// and stores lanes 32 (w mod 4) and up. Products of one thread run in the order of their issue, some time before a
// barrier in memory is complete that a later commit of that thread names: as late as that, when a thread waits for that
// barrier. Until then nobody may write what they read, or look at their sums.
//
// Order: a thread's products are an engine with a clock of its own (clock.h). Who waits for a barrier that a commit
// completed knows the engine up to there. Beside that, each thread must have made a fence between what it waited for
// and its next access (tcgen05.fence::after_thread_sync), and one between its own accesses and what tells others
// (before_thread_sync); a commit is one.
#pragma once

#include "lib/emulator/machine/engines/mbarrier.h"

enum { EMU_TENSOR_LANES = 128, EMU_TENSOR_COLUMNS = 512, EMU_TENSOR_LEAST = 32, EMU_TENSOR_PLACES = 768 };

// A product, or a commit of all before it.
typedef struct emu_tensor_op_t {
  struct emu_tensor_op_t *next;
  emu_mbarrier_t *barrier; // of a commit; null: a product
  uint32_t site;
  // of a product
  void (*run)(const struct emu_tensor_op_t *op, const char *shared, uint32_t *sums); // sums: [columns][lanes]
  uint64_t what[8];                                                                  // run's
  uint32_t column, columns, lanes;                             // of the sums; lanes: one bit for each 32
  bool adds;                                                   // to what is there
  uint32_t left_column, left_columns;                          // of a left factor in tensor memory; 0: elsewhere
  uint32_t place_count, left_count, places[EMU_TENSOR_PLACES]; // as emu_product_t's
} emu_tensor_op_t;

// The products and commits of a thread, in order.
typedef struct emu_tensor_pipe_t {
  struct emu_tensor_pipe_t *next; // of the worker's
  emu_thread_t *owner;
  uint32_t engine; // its number among clocks
  emu_tensor_op_t *first, **end;
} emu_tensor_pipe_t;

// A lane's address: lane << 16 | column. False, after a finding, where the columns are not allocated.
bool emu_tensor_check(emu_thread_t *self, uint32_t address, uint32_t columns, uint32_t site);

// tcgen05.alloc and dealloc, by a warp, whose first lane is |lane|. The address; UINT32_MAX after a finding.
uint32_t emu_tensor_allocate(emu_thread_t *lane, uint32_t columns, uint32_t site);
void emu_tensor_give_back(emu_thread_t *lane, uint32_t address, uint32_t columns, uint32_t site);
void emu_tensor_relinquish(emu_thread_t *lane);

// One to be filled in, and to be issued.
emu_tensor_op_t *emu_tensor_create(emu_thread_t *self, uint32_t site);
void emu_tensor_issue(emu_thread_t *self, emu_tensor_op_t *op);

// Words of the 32 lanes of a warp from |column| on: [columns][lanes], which begin at the warp's first lane; null after
// a finding. The access is under way until the warp's wait.
uint32_t *emu_tensor_load(emu_thread_t *lane, uint32_t address, uint32_t columns, uint32_t site);
uint32_t *emu_tensor_store(emu_thread_t *lane, uint32_t address, uint32_t columns, uint32_t site);
void emu_tensor_wait(emu_thread_t *lane, bool stores);

// Runs products up to the next commit to the barrier, while its phase lacks arrivals.
void emu_tensor_run(emu_worker_t *worker, emu_mbarrier_t *barrier);
// Nobody else can run: runs what threads wait for. False where that is nothing.
bool emu_tensor_run_awaited(emu_worker_t *worker);
void emu_tensor_block_ended(emu_worker_t *worker);
