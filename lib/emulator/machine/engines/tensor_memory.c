// tensor_memory.c - see tensor_memory.h. Costs: one record for each column and quarter of the lanes that an operation
// touches.
#include "lib/emulator/machine/engines/tensor_memory.h"

#include "lib/emulator/machine/access.h"
#include "lib/emulator/machine/shadow.h"

#include <string.h>

enum { QUARTERS = 4, QUARTER_LANES = 32, READERS = EMU_MOST_WARPS / QUARTERS, PIECE = 16 };

// 32 lanes of a column.
typedef struct cell_t {
  bool is_written;
  uint32_t writer, stamp;           // a thread or an engine
  uint16_t products, stores, loads; // under way
  uint16_t site, load_site;         // of the last one that writes; that loads
  uint8_t readers;                  // one bit for each warp that may: its number / 4
  uint32_t read_stamps[READERS];    // of its first lane
  uint16_t uses, use_site;          // products under way that read it as a factor; the last one
  uint32_t user, use_stamp;         // their engine; of the last one that is done, 0: none
} cell_t;

typedef struct emu_tensor_access_t { // of a warp, under way
  struct emu_tensor_access_t *next;
  uint32_t column, columns, quarter, site;
  bool stores;
} emu_tensor_access_t;

typedef struct emu_tensor_t {             // of a block
  uint16_t allocated[EMU_TENSOR_COLUMNS]; // the columns of the allocation, at its first one; 1 elsewhere; 0: free
  uint32_t allocation_site;
  bool is_relinquished;
  uint32_t words[EMU_TENSOR_COLUMNS * EMU_TENSOR_LANES];
  cell_t cells[EMU_TENSOR_COLUMNS][QUARTERS];
} emu_tensor_t;

static emu_tensor_t *tensor_of(emu_thread_t *self) {
  emu_member_t *member = emu_member_of(self);
  if (!member->tensor)
    member->tensor = emu_arena_take(self->worker, &self->worker->block_arena, sizeof *member->tensor);
  return member->tensor;
}

static bool fail(emu_thread_t *self, tessera_emulator_kind_t kind, uint32_t site, uint32_t other, uint32_t column,
                 const char *text) {
  emu_find(self, kind, site, other, column, 0, "%s, at column %u of tensor memory", text, column);
  return false;
}

//===--- Allocation ------------------------------------------------------===//

static bool is_size(emu_thread_t *lane, uint32_t columns, const char *name, uint32_t site) {
  if (columns >= EMU_TENSOR_LEAST && columns <= EMU_TENSOR_COLUMNS && !(columns & (columns - 1)))
    return true;
  emu_find(lane, TESSERA_EMULATOR_BAD_OPERAND, site, 0, columns, 0,
           "%s of %u columns; a power of two from %d to %d is allowed", name, columns, EMU_TENSOR_LEAST,
           EMU_TENSOR_COLUMNS);
  return false;
}

static bool is_free(const emu_tensor_t *tensor, uint32_t first, uint32_t columns) {
  for (uint32_t i = first; i < first + columns; ++i)
    if (tensor->allocated[i])
      return false;
  return true;
}

// The begin is the machine's to choose: which of those that fit, the seed says.
uint32_t emu_tensor_allocate(emu_thread_t *lane, uint32_t columns, uint32_t site) {
  emu_tensor_t *tensor = tensor_of(lane);
  uint32_t places = columns ? EMU_TENSOR_COLUMNS / columns : 1,
           first = emu_random(lane->worker) % (places ? places : 1);
  if (!is_size(lane, columns, "tcgen05.alloc", site))
    return UINT32_MAX;
  if (tensor->is_relinquished)
    fail(lane, TESSERA_EMULATOR_BAD_OPERAND, site, 0, 0, "tcgen05.alloc after tcgen05.relinquish_alloc_permit");
  for (uint32_t i = 0; i < places; ++i) {
    uint32_t at = (first + i) % places * columns;
    if (!is_free(tensor, at, columns))
      continue;
    for (uint32_t c = at; c < at + columns; ++c)
      tensor->allocated[c] = (uint16_t)(c == at ? columns : 1);
    tensor->allocation_site = site;
    return at;
  }
  emu_find(lane, TESSERA_EMULATOR_DEADLOCK, site, tensor->allocation_site, columns, 0,
           "tcgen05.alloc of %u columns waits for ever: the block itself has allocated the others", columns);
  return UINT32_MAX;
}

void emu_tensor_relinquish(emu_thread_t *lane) { tensor_of(lane)->is_relinquished = true; }

bool emu_tensor_check(emu_thread_t *self, uint32_t address, uint32_t columns, uint32_t site) {
  const emu_tensor_t *tensor = tensor_of(self);
  uint32_t first = address & UINT16_MAX;
  bool is = first + columns <= EMU_TENSOR_COLUMNS && address >> 16 < EMU_TENSOR_LANES;
  for (uint32_t i = first; is && i < first + columns; ++i)
    is = tensor->allocated[i];
  if (!is)
    emu_find(self, TESSERA_EMULATOR_OUT_OF_BOUNDS, site, tensor->allocation_site, address, 0,
             "an access to columns %u to %u of tensor memory, lane %u, which the block has not allocated", first,
             first + columns - 1, address >> 16);
  return is;
}

//===--- Order -----------------------------------------------------------===//

static uint32_t first_lane(const emu_thread_t *lane, uint32_t warp) { return warp << lane->worker->launch->warp_shift; }

// What the thread knew when it last made a fence behind what it waited for.
static bool knew(const emu_thread_t *self, uint32_t other, uint32_t stamp) {
  emu_thread_t then = {.view = self->view, .worker = self->worker, .clock = self->tensor_fenced};
  return emu_knows(&then, other, stamp);
}

// Does the thread know of a fence that the other one made after the access?
static bool is_fenced_before(const emu_thread_t *self, uint32_t other, uint32_t stamp) {
  const emu_thread_t *maker = &self->worker->threads[other];
  uint32_t kept = maker->tensor_fence_count < EMU_FENCES ? maker->tensor_fence_count : EMU_FENCES;
  if (maker->tensor_fence_count > EMU_FENCES)
    return true; // the oldest are forgotten
  for (uint32_t i = 0; i < kept; ++i)
    if (maker->tensor_fences[i] >= stamp && emu_knows(self, other, maker->tensor_fences[i]))
      return true;
  return false;
}

// An access of another thread's, or an engine's, which comes before this one. |own|: the engine of the thread itself.
static bool check_order(emu_thread_t *self, uint32_t other, uint32_t stamp, uint32_t own, uint32_t site,
                        uint32_t other_site, uint32_t column, const char *what) {
  bool is_thread = other < self->worker->launch->threads;
  uint32_t shift = self->worker->launch->warp_shift;
  if (stamp <= self->worker->block_stamp || other == own || (is_thread && other >> shift == self->view.warp))
    return true;
  if (!emu_knows(self, other, stamp)) {
    emu_find(self, TESSERA_EMULATOR_RACE, site, other_site, column, is_thread ? other : 0,
             "%s, in no order, at column %u of tensor memory", what, column);
    return false;
  }
  if (knew(self, other, stamp) && (!is_thread || is_fenced_before(self, other, stamp)))
    return true;
  emu_find(self, TESSERA_EMULATOR_UNFENCED, site, other_site, column, is_thread ? other : 0,
           "%s, and no tcgen05.fence lies between, at column %u of tensor memory", what, column);
  return false;
}

static bool check_readers(emu_thread_t *self, const cell_t *cell, uint32_t quarter, uint32_t own, uint32_t site,
                          uint32_t column) {
  for (uint32_t rest = cell->readers; rest; rest &= rest - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(rest);
    if (!check_order(self, first_lane(self, slot * QUARTERS + quarter), cell->read_stamps[slot], own, site,
                     cell->load_site, column, "a write of what another warp has read"))
      return false;
  }
  return !cell->use_stamp || check_order(self, cell->user, cell->use_stamp, own, site, cell->use_site, column,
                                         "a write of what a product has read");
}

// Nobody writes, or reads if this one writes; and what was done is known.
static bool check_cell(emu_thread_t *self, const cell_t *cell, uint32_t quarter, bool reads, bool writes, uint32_t own,
                       uint32_t site, uint32_t column) {
  bool is_foreign = cell->products && cell->writer != own;
  if (is_foreign || cell->stores)
    return fail(self, writes ? TESSERA_EMULATOR_OVERWRITE : TESSERA_EMULATOR_EARLY_READ, site, cell->site, column,
                cell->products ? "sums of a product under way are used: no wait covers it"
                               : "what a tcgen05.st under way writes is used: no wait covers it");
  if (writes && cell->loads)
    return fail(self, TESSERA_EMULATOR_OVERWRITE, site, cell->load_site, column,
                "a write of what a tcgen05.ld under way reads");
  if (writes && cell->uses && cell->user != own)
    return fail(self, TESSERA_EMULATOR_OVERWRITE, site, cell->use_site, column,
                "a write of what a product under way reads");
  if (reads && !cell->is_written && !cell->products)
    return fail(self, TESSERA_EMULATOR_UNINITIALIZED, site, 0, column, "a read of what nobody has written");
  if (cell->is_written && !cell->products &&
      !check_order(self, cell->writer, cell->stamp, own, site, cell->site, column,
                   writes ? "a write of what another one has written" : "a read of what another one has written"))
    return false;
  return !writes || check_readers(self, cell, quarter, own, site, column);
}

void emu_tensor_give_back(emu_thread_t *lane, uint32_t address, uint32_t columns, uint32_t site) {
  emu_tensor_t *tensor = tensor_of(lane);
  bool good = true;
  if (address >= EMU_TENSOR_COLUMNS || tensor->allocated[address] != columns || columns < 2) {
    emu_find(lane, TESSERA_EMULATOR_BAD_OPERAND, site, tensor->allocation_site, address, 0,
             "tcgen05.dealloc of %u columns at 0x%x, which is no allocation of the block", columns, address);
    return;
  }
  for (uint32_t c = address; c < address + columns; ++c) {
    for (uint32_t q = 0; q < QUARTERS; ++q) {
      const cell_t *cell = &tensor->cells[c][q];
      bool is_used = cell->products || cell->stores || cell->loads || cell->readers || cell->is_written || cell->uses;
      // Who gives back need not fence: no access follows.
      emu_clock_t fenced = lane->tensor_fenced;
      lane->tensor_fenced = lane->clock;
      good = good &&
             (!is_used || !lane->worker->launch->checks || check_cell(lane, cell, q, false, true, UINT32_MAX, site, c));
      lane->tensor_fenced = fenced;
    }
    tensor->allocated[c] = 0;
    memset(tensor->cells[c], 0, sizeof tensor->cells[c]);
  }
}

void tessera_emu_tensor_fence(tessera_emu_thread_t *thread, uint32_t is_after, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  (void)site;
  if (is_after) {
    self->tensor_fenced = self->clock;
    return;
  }
  self->tensor_fences[self->tensor_fence_count++ % EMU_FENCES] = self->clock.stamp;
  self->clock.stamp = ++self->worker->now;
}

//===--- Products --------------------------------------------------------===//

static emu_tensor_pipe_t *pipe_of(emu_thread_t *self) {
  emu_worker_t *worker = self->worker;
  const emu_launch_t *launch = worker->launch;
  if (self->tensor_pipe)
    return self->tensor_pipe;
  emu_tensor_pipe_t *pipe = emu_arena_take(worker, &worker->block_arena, sizeof *pipe);
  uint32_t number = 0, engines = launch->clocks > launch->first_engine ? launch->clocks - launch->first_engine : 0;
  for (const emu_tensor_pipe_t *other = worker->tensor_pipes; other; other = other->next)
    ++number;
  pipe->engine = engines ? launch->clocks - 1 - number % engines : self->view.index;
  pipe->owner = self;
  pipe->end = &pipe->first;
  pipe->next = worker->tensor_pipes;
  worker->tensor_pipes = pipe;
  return self->tensor_pipe = pipe;
}

emu_tensor_op_t *emu_tensor_create(emu_thread_t *self, uint32_t site) {
  emu_worker_t *worker = self->worker;
  emu_tensor_op_t *op = worker->free_tensor_ops;
  if (op)
    worker->free_tensor_ops = op->next;
  else
    op = emu_arena_take(worker, &worker->block_arena, sizeof *op);
  op->next = NULL;
  op->barrier = NULL;
  op->site = site;
  op->place_count = op->left_count = op->left_columns = 0;
  return op;
}

static void append(emu_thread_t *self, emu_tensor_op_t *op) {
  emu_tensor_pipe_t *pipe = pipe_of(self);
  *pipe->end = op;
  pipe->end = &op->next;
}

// A place outside of shared memory is read as the first one, after a finding.
static void check_places(emu_thread_t *self, emu_tensor_op_t *op) {
  const tessera_emulator_launch_t *given = self->worker->launch->given;
  for (uint32_t i = 0; i < op->place_count; ++i)
    if (op->places[i] + PIECE > given->shared_bytes) {
      emu_find(self, TESSERA_EMULATOR_OUT_OF_BOUNDS, op->site, 0, op->places[i], 0,
               "the product reads shared+%u, but the block has %u bytes of shared memory",
               emu_shared_offset(self->worker->launch, op->places[i]), given->shared_bytes - given->shared_added_bytes);
      op->places[i] = 0;
    }
}

#define FOR_EACH_LEFT_CELL(tensor, op, cell, quarter)                                                                  \
  for (uint32_t column = (op)->left_column; column < (op)->left_column + (op)->left_columns; ++column)                 \
    for (uint32_t quarter = 0; quarter < QUARTERS; ++quarter)                                                          \
      for (cell_t *cell = &(tensor)->cells[column][quarter]; cell; cell = NULL)

#define FOR_EACH_CELL(tensor, op, cell, quarter)                                                                       \
  for (uint32_t column = (op)->column; column < (op)->column + (op)->columns; ++column)                                \
    for (uint32_t quarter = 0; quarter < QUARTERS; ++quarter)                                                          \
      for (cell_t *cell = (op)->lanes >> quarter & 1 ? &(tensor)->cells[column][quarter] : NULL; cell; cell = NULL)

void emu_tensor_issue(emu_thread_t *self, emu_tensor_op_t *op) {
  emu_tensor_t *tensor = tensor_of(self);
  uint32_t engine = pipe_of(self)->engine;
  bool checks = self->worker->launch->checks, good = true;
  check_places(self, op);
  if (checks)
    emu_shadow_product_begins(self, op->places, op->place_count, op->site);
  FOR_EACH_LEFT_CELL(tensor, op, cell, quarter) {
    good = good && (!checks || check_cell(self, cell, quarter, true, false, engine, op->site, column));
    ++cell->uses;
    cell->user = engine;
    cell->use_site = (uint16_t)op->site;
  }
  FOR_EACH_CELL(tensor, op, cell, quarter) {
    good = good && (!checks || check_cell(self, cell, quarter, op->adds, true, engine, op->site, column));
    ++cell->products;
    cell->writer = engine;
    cell->site = (uint16_t)op->site;
    cell->readers = 0;
    cell->use_stamp = 0;
  }
  append(self, op);
}

static void finish(emu_worker_t *worker, const emu_tensor_pipe_t *pipe, emu_tensor_op_t *op) {
  emu_tensor_t *tensor = tensor_of(pipe->owner);
  uint32_t stamp = ++worker->now;
  op->run(op, pipe->owner->view.block->shared, tensor->words);
  if (worker->launch->checks)
    emu_shadow_engine_ends(pipe->owner, op->places, op->place_count, pipe->engine, stamp);
  FOR_EACH_LEFT_CELL(tensor, op, cell, quarter) {
    --cell->uses;
    cell->use_stamp = stamp;
  }
  FOR_EACH_CELL(tensor, op, cell, quarter) {
    --cell->products;
    cell->is_written = true;
    cell->stamp = stamp;
  }
}

// One product, or one commit.
static void step(emu_worker_t *worker, emu_tensor_pipe_t *pipe) {
  emu_tensor_op_t *op = pipe->first;
  pipe->first = op->next;
  if (!pipe->first)
    pipe->end = &pipe->first;
  if (op->barrier)
    emu_mbarrier_engine_arrives(pipe->owner, op->barrier, pipe->engine, op->site);
  else
    finish(worker, pipe, op);
  op->next = worker->free_tensor_ops;
  worker->free_tensor_ops = op;
}

static bool commits_to(const emu_tensor_pipe_t *pipe, const emu_mbarrier_t *barrier) {
  for (const emu_tensor_op_t *op = pipe->first; op; op = op->next)
    if (op->barrier == barrier)
      return true;
  return false;
}

static bool run_one(emu_worker_t *worker, emu_mbarrier_t *barrier) {
  for (emu_tensor_pipe_t *pipe = worker->tensor_pipes; pipe; pipe = pipe->next)
    if (commits_to(pipe, barrier)) {
      bool is_last = false;
      while (!is_last) {
        is_last = pipe->first->barrier == barrier;
        step(worker, pipe);
      }
      return true;
    }
  return false;
}

void emu_tensor_run(emu_worker_t *worker, emu_mbarrier_t *barrier) {
  uint32_t phase = barrier->phase;
  while (barrier->phase == phase && barrier->pending && run_one(worker, barrier))
    continue;
}

bool emu_tensor_run_awaited(emu_worker_t *worker) {
  if (!worker->tensor_pipes)
    return false;
  for (emu_mbarrier_t *barrier = worker->mbarriers; barrier; barrier = barrier->next)
    if (barrier->pending && emu_mbarrier_is_waited_for(worker, barrier) && run_one(worker, barrier))
      return true;
  return false;
}

void tessera_emu_tensor_commit(tessera_emu_thread_t *thread, void *address, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  emu_mbarrier_t *barrier = emu_mbarrier_at(self, address, EMU_SIGNALLED_MBARRIER, "tcgen05.commit", site);
  if (!barrier)
    return;
  emu_mbarrier_check_fenced(self, barrier, site);
  emu_tensor_op_t *op = emu_tensor_create(self, site);
  op->barrier = barrier;
  append(self, op);
  emu_progress(self->worker);
}

//===--- Loads and stores ------------------------------------------------===//

static uint32_t *begin_access(emu_thread_t *lane, uint32_t address, uint32_t columns, bool stores, uint32_t site) {
  emu_worker_t *worker = lane->worker;
  emu_tensor_t *tensor = tensor_of(lane);
  uint32_t quarter = lane->view.own_warp % QUARTERS, first = address & UINT16_MAX;
  if (address >> 16 != quarter * QUARTER_LANES) {
    emu_find(lane, TESSERA_EMULATOR_BAD_OPERAND, site, 0, address, 0,
             "%s from lane %u of tensor memory by warp %u, which reaches lanes %u to %u",
             stores ? "tcgen05.st" : "tcgen05.ld", address >> 16, lane->view.own_warp, quarter * QUARTER_LANES,
             quarter * QUARTER_LANES + QUARTER_LANES - 1);
    return NULL;
  }
  if (!emu_tensor_check(lane, address, columns, site))
    return NULL;
  for (uint32_t c = first, good = true; c < first + columns; ++c) {
    cell_t *cell = &tensor->cells[c][quarter];
    good = good && (!worker->launch->checks || check_cell(lane, cell, quarter, !stores, stores, UINT32_MAX, site, c));
    ++*(stores ? &cell->stores : &cell->loads);
    *(stores ? &cell->site : &cell->load_site) = (uint16_t)site;
  }
  emu_tensor_access_t *access = emu_arena_take(worker, &worker->block_arena, sizeof *access);
  *access = (emu_tensor_access_t){lane->in_warp->tensor_accesses, first, columns, quarter, site, stores};
  lane->in_warp->tensor_accesses = access;
  return &tensor->words[first * EMU_TENSOR_LANES + quarter * QUARTER_LANES];
}

uint32_t *emu_tensor_load(emu_thread_t *lane, uint32_t address, uint32_t columns, uint32_t site) {
  return begin_access(lane, address, columns, false, site);
}

uint32_t *emu_tensor_store(emu_thread_t *lane, uint32_t address, uint32_t columns, uint32_t site) {
  return begin_access(lane, address, columns, true, site);
}

static void end_access(emu_thread_t *lane, const emu_tensor_access_t *access) {
  emu_tensor_t *tensor = tensor_of(lane);
  for (uint32_t c = access->column; c < access->column + access->columns; ++c) {
    cell_t *cell = &tensor->cells[c][access->quarter];
    uint32_t slot = lane->view.warp / QUARTERS;
    if (access->stores) {
      --cell->stores;
      cell->is_written = true;
      cell->writer = first_lane(lane, lane->view.warp);
      cell->stamp = lane->clock.stamp;
      cell->readers = 0;
      cell->use_stamp = 0;
    } else {
      --cell->loads;
      cell->readers |= (uint8_t)(1u << slot);
      cell->read_stamps[slot] = lane->clock.stamp;
    }
  }
}

void emu_tensor_wait(emu_thread_t *lane, bool stores) {
  for (emu_tensor_access_t **link = &lane->in_warp->tensor_accesses; *link;) {
    if ((*link)->stores == stores) {
      end_access(lane, *link);
      *link = (*link)->next;
    } else {
      link = &(*link)->next;
    }
  }
}

//===--- The end ---------------------------------------------------------===//

static void end_of_pipe(emu_worker_t *worker, emu_tensor_pipe_t *pipe) {
  bool is_told = false;
  for (emu_tensor_op_t *op = pipe->first; op; op = op->next) {
    if (!op->barrier && !is_told)
      emu_find(pipe->owner, TESSERA_EMULATOR_EARLY_READ, op->site, 0, 0, 0,
               "the block has ended, and a product is under way: nobody waited for it");
    is_told |= !op->barrier;
    if (!op->barrier && worker->launch->checks)
      emu_shadow_engine_ends(pipe->owner, op->places, op->place_count, pipe->engine, worker->now);
  }
  pipe->owner->tensor_pipe = NULL;
}

void emu_tensor_block_ended(emu_worker_t *worker) {
  for (emu_tensor_pipe_t *pipe = worker->tensor_pipes; pipe; pipe = pipe->next)
    end_of_pipe(worker, pipe);
  for (uint32_t w = 0; w < worker->launch->warps; ++w) {
    const emu_tensor_access_t *access = worker->warps[w].tensor_accesses;
    if (access)
      emu_find(&worker->threads[w << worker->launch->warp_shift], TESSERA_EMULATOR_EARLY_READ, access->site, 0, 0, 0,
               "the block has ended, and a %s is under way: nobody waited for it",
               access->stores ? "tcgen05.st" : "tcgen05.ld");
    worker->warps[w].tensor_accesses = NULL;
  }
  for (uint32_t i = 0; i < worker->launch->members; ++i) {
    const emu_tensor_t *tensor = worker->members[i].tensor;
    if (tensor && !worker->aborted && !is_free(tensor, 0, EMU_TENSOR_COLUMNS))
      emu_find(&worker->threads[worker->members[i].first_thread], TESSERA_EMULATOR_LEAK, tensor->allocation_site, 0, 0,
               0, "the block has ended, and has not given back tensor memory that it allocated");
    worker->members[i].tensor = NULL;
  }
  worker->tensor_pipes = NULL;
  worker->free_tensor_ops = NULL;
}
