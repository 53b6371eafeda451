// emulator_race_test.c - for each way threads may be put in order: the clean kernel has no finding, and the one with
// the order taken away has a race between just the two sites, under every seed.
#include "test/emulator/machine/emulate.h"

enum { SEEDS = 12 };

typedef struct case_t {
  const char *name;
  tessera_emu_kernel_t kernel;
  uint32_t block, grid;
  uint32_t site, other_site; // of the race, when broken
  bool cooperative;
  int threads; // of the host; 0: two
} case_t;

static int global_memory[4096];

// params = {broken, memory}
static tessera_emulator_report_t *run_on(tessera_emulator_t *emulator, const case_t *test, int broken, uint64_t seed) {
  int *memory = global_memory;
  tessera_emulator_buffer_t buffer = {global_memory, sizeof global_memory, "memory"};
  tessera_emulator_report_t *report = NULL;
  tessera_error_t error = {""};
  memset(global_memory, 0, sizeof global_memory);
  const tessera_emulator_launch_t launch = {.kernel = test->kernel,
                                            .params = (void *[]){&broken, &memory},
                                            .grid = {test->grid ? test->grid : 1},
                                            .block = {test->block},
                                            .shared_bytes = 8192,
                                            .buffers = &buffer,
                                            .buffer_count = 1,
                                            .checks = true,
                                            .count = true,
                                            .seed = seed,
                                            .cooperative = test->cooperative,
                                            .threads = test->threads ? test->threads : 2};
  if (!tessera_emulator_launch(emulator, &launch, &report, &error))
    printf("not run: %s\n", error.text);
  return report;
}

static tessera_emulator_report_t *run(const case_t *test, int broken, uint64_t seed) {
  tessera_emulator_t *emulator = tessera_emulator_create(&wide32);
  tessera_emulator_report_t *report = run_on(emulator, test, broken, seed);
  tessera_emulator_destroy(emulator);
  return report;
}

#define BROKEN (*(int *)params[0])
#define GLOBAL (*(int **)params[1])

static void initialize(self_t *self, int words) { // each thread its own, then a barrier
  for (int i = (int)self->index; i < words; i += (int)self->block->size[0])
    STORE(&shared_ints(self)[i], i, 900);
  tessera_emu_barrier(self, 0, 0, 901);
}

//===--- Barriers of a block ---------------------------------------------===//

static void write_then_read(self_t *self, void **params) {
  int *s = shared_ints(self);
  initialize(self, 256);
  STORE(&s[self->index], 1, 1);
  if (!BROKEN)
    tessera_emu_barrier(self, 0, 0, 2);
  LOAD(&s[(self->index + 1) % self->block->size[0]], 3);
}

static void read_then_write_in_a_loop(self_t *self, void **params) {
  int *s = shared_ints(self);
  initialize(self, 256);
  for (int k = 0; k < 3; ++k) {
    STORE(&s[self->index], k, 1);
    tessera_emu_barrier(self, 0, 0, 2);
    LOAD(&s[self->index ^ 32], 3);
    if (!BROKEN)
      tessera_emu_barrier(self, 0, 0, 4);
  }
}

// All read one word, the last thread writes it afterwards.
static void broadcast_then_write(self_t *self, void **params) {
  int *s = shared_ints(self);
  initialize(self, 8);
  LOAD(&s[3], 1);
  if (!BROKEN)
    tessera_emu_barrier(self, 0, 0, 2);
  if (self->index == 5)
    STORE(&s[3], 1, 3);
}

// A barrier in a branch that all threads take, and threads that have ended before it.
static void early_exit(self_t *self, void **params) {
  int *s = shared_ints(self);
  if (self->index >= 40)
    return;
  STORE(&s[self->index], 1, 1);
  if (!BROKEN)
    tessera_emu_barrier(self, 0, 0, 2);
  if (self->index == 0)
    for (int i = 0; i < 40; ++i)
      LOAD(&s[i], 3);
}

// What a thread did before it ended is not in order with what others do after a barrier it never reached.
static void writes_then_ends(self_t *self, void **params) {
  int *s = shared_ints(self);
  initialize(self, 128);
  if (self->index == 70 && BROKEN) {
    STORE(&s[70], 1, 1);
    return;
  }
  tessera_emu_barrier(self, 0, 0, 2);
  if (self->index == 0)
    LOAD(&s[70], 3);
}

//===--- Parts of words --------------------------------------------------===//

static void halves_of_words(self_t *self, void **params) { // in place, then a neighbour's
  short *s = (short *)self->block->shared;
  initialize(self, 128);
  short value = plain_load_short(self, &s[self->index], 1);
  plain_store_short(self, &s[self->index], (short)(value + 1), 2);
  if (!BROKEN)
    tessera_emu_barrier(self, 0, 0, 3);
  plain_load_short(self, &s[self->index ^ 1], 4);
}

//===--- Warps -----------------------------------------------------------===//

static void no_meaning(const tessera_emu_group_t *group, const void *parameter) {
  (void)group;
  (void)parameter;
}

// Lanes of a warp: bar.warp.sync orders memory, a shuffle does not.
static void warp_sync(self_t *self, void **params) {
  int *s = shared_ints(self);
  initialize(self, 128);
  STORE(&s[self->index], 1, 1);
  if (BROKEN)
    tessera_emu_collective(self, 0xffffffff, 0, no_meaning, NULL, NULL, 2);
  else
    tessera_emu_warp_sync(self, 0xffffffff, 2);
  LOAD(&s[self->index ^ 1], 3);
}

// Only the half that synchronized may look.
static void half_warp_sync(self_t *self, void **params) {
  int *s = shared_ints(self);
  initialize(self, 128);
  uint64_t mask = self->lane < 16 ? 0xffff : 0xffff0000;
  STORE(&s[self->index], 1, 1);
  tessera_emu_warp_sync(self, mask, 2);
  LOAD(&s[self->index ^ (BROKEN ? 16 : 1)], 3);
}

// bar.warp.sync of one warp says nothing to another.
static void other_warp(self_t *self, void **params) {
  int *s = shared_ints(self);
  initialize(self, 128);
  STORE(&s[self->index], 1, 1);
  tessera_emu_warp_sync(self, 0xffffffff, 2);
  LOAD(&s[self->index ^ (BROKEN ? 32 : 2)], 3);
}

//===--- Named barriers --------------------------------------------------===//

// Warp 0 produces, warp 1 consumes; full = 1, empty = 2. Broken: says empty before it has read.
static void producer_and_consumer(self_t *self, void **params) {
  int *s = shared_ints(self);
  for (int k = 0; k < 4; ++k)
    if (self->warp == 0) {
      if (k)
        tessera_emu_barrier(self, 2, 64, 1);
      STORE(&s[self->lane], k, 2);
      tessera_emu_barrier_arrive(self, 1, 64, 3);
    } else {
      tessera_emu_barrier(self, 1, 64, 4);
      if (BROKEN && k < 3)
        tessera_emu_barrier_arrive(self, 2, 64, 6);
      LOAD(&s[self->lane ^ 5], 5);
      if (!BROKEN && k < 3)
        tessera_emu_barrier_arrive(self, 2, 64, 6);
    }
}

// Warp 0 tells warp 1, warp 1 tells warp 2: what warp 0 wrote warp 2 may read. The broken one tells it before it knows.
static void passed_on(self_t *self, void **params) {
  int *s = shared_ints(self);
  initialize(self, 128);
  if (self->warp == 0) {
    STORE(&s[self->lane], 1, 1);
    tessera_emu_barrier_arrive(self, 1, 64, 2);
  } else if (self->warp == 1) {
    if (BROKEN)
      tessera_emu_barrier_arrive(self, 2, 64, 3);
    tessera_emu_barrier(self, 1, 64, 4);
    if (!BROKEN)
      tessera_emu_barrier_arrive(self, 2, 64, 3);
  } else if (self->warp == 2) {
    tessera_emu_barrier(self, 2, 64, 5);
    LOAD(&s[31 - self->lane], 6);
  }
}

// As producer_and_consumer, so long and wide that what was known long ago must be given back.
static void long_producer(self_t *self, void **params) {
  int *s = shared_ints(self);
  bool produces = self->warp < 16;
  for (int k = 0; k < 300; ++k) {
    if (!produces)
      tessera_emu_barrier(self, 1, 1024, 4);
    if (!produces && BROKEN && k == 299)
      tessera_emu_barrier_arrive(self, 2, 1024, 6);
    if (produces)
      STORE(&s[self->index], k, 2);
    else
      LOAD(&s[self->index - 512], 5);
    if (produces)
      tessera_emu_barrier_arrive(self, 1, 1024, 3);
    else if (!BROKEN || k < 299)
      tessera_emu_barrier_arrive(self, 2, 1024, 6);
    if (produces)
      tessera_emu_barrier(self, 2, 1024, 1);
  }
  if (produces)
    STORE(&s[self->index], -1, 7);
}

//===--- Atomics ---------------------------------------------------------===//

static int add(self_t *self, int *at, int value, tessera_emu_order_t order, tessera_emu_scope_t scope, uint32_t site) {
  int *place = tessera_emu_atomic_begin(self, at, 4, TESSERA_EMU_LOAD | TESSERA_EMU_STORE, order, scope, site);
  int old = __atomic_fetch_add(place, value, __ATOMIC_SEQ_CST);
  tessera_emu_atomic_end(self);
  return old;
}

static int load_atomic(self_t *self, int *at, tessera_emu_order_t order, tessera_emu_scope_t scope, uint32_t site) {
  int *place = tessera_emu_atomic_begin(self, at, 4, TESSERA_EMU_LOAD, order, scope, site);
  int value = __atomic_load_n(place, __ATOMIC_SEQ_CST);
  tessera_emu_atomic_end(self);
  return value;
}

static void store_atomic(self_t *self, int *at, int value, tessera_emu_order_t order, tessera_emu_scope_t scope,
                         uint32_t site) {
  int *place = tessera_emu_atomic_begin(self, at, 4, TESSERA_EMU_STORE, order, scope, site);
  __atomic_store_n(place, value, __ATOMIC_SEQ_CST);
  tessera_emu_atomic_end(self);
}

static void histogram(self_t *self, void **params) {
  int *s = shared_ints(self);
  initialize(self, 16);
  int *bin = &s[self->index % 7];
  if (BROKEN && self->index == 60)
    STORE(bin, LOAD(bin, 1) + 1, 2);
  else
    add(self, bin, 1, TESSERA_EMU_RELAXED, TESSERA_EMU_SCOPE_BLOCK, 3);
}

// A flag in shared memory, waited for in a loop. Broken: relaxed.
static void flag(self_t *self, void **params) {
  int *s = shared_ints(self);
  initialize(self, 8);
  if (self->index == 0) {
    STORE(&s[1], 42, 1);
    store_atomic(self, &s[2], 100, BROKEN ? TESSERA_EMU_RELAXED : TESSERA_EMU_RELEASE, TESSERA_EMU_SCOPE_BLOCK, 2);
  } else if (self->index == 77) {
    while (load_atomic(self, &s[2], TESSERA_EMU_ACQUIRE, TESSERA_EMU_SCOPE_BLOCK, 3) != 100)
      ;
    LOAD(&s[1], 4);
  }
}

// As above, by fences around relaxed atomics. Broken: the fence of the reader is missing.
static void flag_by_fences(self_t *self, void **params) {
  int *s = shared_ints(self);
  initialize(self, 8);
  if (self->index == 0) {
    STORE(&s[1], 42, 1);
    tessera_emu_fence(self, TESSERA_EMU_ACQUIRE_RELEASE, TESSERA_EMU_SCOPE_BLOCK, 2);
    store_atomic(self, &s[2], 100, TESSERA_EMU_RELAXED, TESSERA_EMU_SCOPE_BLOCK, 3);
  } else if (self->index == 40) {
    while (load_atomic(self, &s[2], TESSERA_EMU_RELAXED, TESSERA_EMU_SCOPE_BLOCK, 4) != 100)
      ;
    if (!BROKEN)
      tessera_emu_fence(self, TESSERA_EMU_ACQUIRE_RELEASE, TESSERA_EMU_SCOPE_BLOCK, 5);
    LOAD(&s[1], 6);
  }
}

// As above, with volatile accesses, as before there were atomics with orders. Broken: the writer's fence is missing.
static void flag_by_volatile(self_t *self, void **params) {
  int *s = shared_ints(self), value = 0;
  initialize(self, 8);
  if (self->index == 0) {
    STORE(&s[1], 42, 1);
    if (!BROKEN)
      tessera_emu_fence(self, TESSERA_EMU_ACQUIRE_RELEASE, TESSERA_EMU_SCOPE_BLOCK, 2);
    *(int *)tessera_emu_access(self, &s[2], 4, TESSERA_EMU_STORE | TESSERA_EMU_VOLATILE, 3) = 100;
  } else if (self->index == 40) {
    while (value != 100)
      value = *(volatile int *)tessera_emu_access(self, &s[2], 4, TESSERA_EMU_LOAD | TESSERA_EMU_VOLATILE, 4);
    tessera_emu_fence(self, TESSERA_EMU_ACQUIRE_RELEASE, TESSERA_EMU_SCOPE_BLOCK, 5);
    LOAD(&s[1], 6);
  }
}

//===--- Blocks ----------------------------------------------------------===//

static void blocks_overlap(self_t *self, void **params) {
  STORE(&GLOBAL[self->block->id[0] * (BROKEN ? 31 : 32) + self->index], 1, 1);
}

static void blocks_read_each_other(self_t *self, void **params) { // in place: block b reads the first word of b + 1
  int *mine = &GLOBAL[self->block->id[0] * 32];
  LOAD(&mine[(self->index + (BROKEN ? 1 : 0)) % 64], 1);
  STORE(&mine[self->index], 1, 2);
}

static void atomics_of_blocks(self_t *self, void **params) {
  add(self, &GLOBAL[5], 1, TESSERA_EMU_RELAXED, BROKEN ? TESSERA_EMU_SCOPE_BLOCK : TESSERA_EMU_SCOPE_DEVICE, 1);
}

// The last block to finish sums what all wrote: __syncthreads, __threadfence, atomicAdd. Broken: without the fences.
static void last_block_sums(self_t *self, void **params) {
  int *memory = GLOBAL, *s = shared_ints(self);
  STORE(&memory[self->block->id[0] * 64 + self->index], 1, 1);
  tessera_emu_barrier(self, 0, 0, 2);
  if (self->index == 0) {
    if (!BROKEN)
      tessera_emu_fence(self, TESSERA_EMU_ACQUIRE_RELEASE, TESSERA_EMU_SCOPE_DEVICE, 3);
    STORE(&s[0], add(self, &memory[4000], 1, TESSERA_EMU_RELAXED, TESSERA_EMU_SCOPE_DEVICE, 4), 5);
    if (!BROKEN)
      tessera_emu_fence(self, TESSERA_EMU_ACQUIRE_RELEASE, TESSERA_EMU_SCOPE_DEVICE, 6);
  }
  tessera_emu_barrier(self, 0, 0, 7);
  if (LOAD(&s[0], 8) == (int)self->block->grid[0] - 1)
    for (uint32_t b = 0; b < self->block->grid[0]; ++b)
      LOAD(&memory[b * 64 + (self->index ^ 33)], 9);
}

// Block b waits for block b - 1: a release and an acquire of device scope. Broken: of block scope.
static void chain_of_blocks(self_t *self, void **params) {
  int *memory = GLOBAL;
  tessera_emu_scope_t scope = BROKEN ? TESSERA_EMU_SCOPE_BLOCK : TESSERA_EMU_SCOPE_DEVICE;
  uint32_t b = self->block->id[0];
  if (self->index == 0 && b)
    while (!load_atomic(self, &memory[1000 + b - 1], TESSERA_EMU_ACQUIRE, scope, 1))
      ;
  tessera_emu_barrier(self, 0, 0, 2);
  int sum = b ? LOAD(&memory[(b - 1) * 32 + (self->index ^ 3)], 3) : 0;
  STORE(&memory[b * 32 + self->index], sum + 1, 4);
  if (b > 2)
    LOAD(&memory[(b - 3) * 32 + (self->index ^ 3)], 5); // known through the blocks between
  tessera_emu_barrier(self, 0, 0, 6);
  if (self->index == 0)
    store_atomic(self, &memory[1000 + b], 1, TESSERA_EMU_RELEASE, scope, 7);
}

// All blocks wait for all: as cooperative groups do it. Broken: the first thread adds with no order.
static void sync_grid(self_t *self, int *counter, bool broken, uint32_t site) {
  tessera_emu_order_t order = broken ? TESSERA_EMU_RELAXED : TESSERA_EMU_ACQUIRE_RELEASE;
  tessera_emu_barrier(self, 0, 0, site);
  if (self->index == 0) {
    add(self, counter, 1, order, TESSERA_EMU_SCOPE_DEVICE, site + 1);
    while (load_atomic(self, counter, TESSERA_EMU_ACQUIRE, TESSERA_EMU_SCOPE_DEVICE, site + 2) <
           (int)self->block->grid[0])
      ;
  }
  tessera_emu_barrier(self, 0, 0, site + 3);
}

static void grid_sync(self_t *self, void **params) {
  int *memory = GLOBAL;
  uint32_t blocks = self->block->grid[0], b = self->block->id[0];
  STORE(&memory[b * 64 + self->index], 1, 1);
  sync_grid(self, &memory[4000], BROKEN, 2);
  LOAD(&memory[(b + 1) % blocks * 64 + (self->index ^ 33)], 6);
  sync_grid(self, &memory[4001], BROKEN, 7);
  STORE(&memory[b * 64 + self->index], 2, 11);
}

static const case_t cases[] = {
    {"write then read", write_then_read, 96, 1, 1, 3},
    {"read then write in a loop", read_then_write_in_a_loop, 128, 1, 3, 1},
    {"broadcast then write", broadcast_then_write, 256, 1, 1, 3},
    {"early exit", early_exit, 64, 1, 1, 3},
    {"writes then ends", writes_then_ends, 128, 1, 1, 3},
    {"halves of words", halves_of_words, 64, 1, 2, 4},
    {"warp sync", warp_sync, 64, 1, 1, 3},
    {"half warp sync", half_warp_sync, 64, 1, 1, 3},
    {"other warp", other_warp, 64, 1, 1, 3},
    {"producer and consumer", producer_and_consumer, 64, 1, 2, 5},
    {"long producer", long_producer, 1024, 1, 7, 5},
    {"passed on", passed_on, 96, 1, 1, 6},
    {"histogram", histogram, 128, 1, 2, 3},
    {"flag", flag, 96, 1, 1, 4},
    {"flag by fences", flag_by_fences, 64, 1, 1, 6},
    {"flag by volatile", flag_by_volatile, 64, 1, 1, 6},
    {"blocks overlap", blocks_overlap, 32, 4, 1, 1},
    {"blocks read each other", blocks_read_each_other, 32, 9, 1, 2},
    {"atomics of blocks", atomics_of_blocks, 32, 4, 1, 1},
    {"last block sums", last_block_sums, 64, 8, 1, 9},
    {"chain of blocks", chain_of_blocks, 32, 8, 4, 3},
    {"grid sync", grid_sync, 64, 12, 1, 6, .cooperative = true},
};

// Blocks that are not there at once cannot all wait for each other.
static void test_grid_sync_alone(void) {
  case_t test = {"grid sync", grid_sync, 64, 12};
  tessera_emulator_report_t *report = run(&test, 0, 1);
  const tessera_emulator_finding_t *finding = find_kind(report, TESSERA_EMULATOR_DEADLOCK);
  CHECK(finding && (finding->site == 4 || finding->other_site == 4));
  tessera_emulator_report_destroy(report);
}

// All blocks read everything; a launch of the same memory later, each reads and writes what is its own. Which blocks
// read it in the first launch says nothing of the second. Broken: it writes what the next block reads.
static void reads_everything(self_t *self, void **params) {
  int of = (int)self->block->grid[0] * 32;
  for (int i = (int)self->index; i < of; i += 32)
    LOAD(&GLOBAL[i], 1);
}

static void writes_its_own(self_t *self, void **params) {
  int *mine = &GLOBAL[self->block->id[0] * 32];
  LOAD(&mine[self->index], 2);
  STORE(&mine[self->index + (BROKEN ? 32 : 0)], 1, 3);
}

static void test_launch_after_launch(void) {
  enum { BLOCKS = 4 };
  case_t first = {"reads everything", reads_everything, 32, BLOCKS, .threads = 1};
  case_t second = {"writes its own", writes_its_own, 32, BLOCKS, .threads = 1};
  for (int broken = 0; broken < 2; ++broken) {
    tessera_emulator_t *emulator = tessera_emulator_create(&wide32);
    tessera_emulator_report_t *before = run_on(emulator, &first, 0, 1), *after = run_on(emulator, &second, broken, 1);
    CHECK(is_clean(before));
    if (broken)
      CHECK(has_finding(after, TESSERA_EMULATOR_RACE, 2, 3) && !has_finding(after, TESSERA_EMULATOR_RACE, 1, 3));
    else
      CHECK(is_clean(after));
    tessera_emulator_report_destroy(before);
    tessera_emulator_report_destroy(after);
    tessera_emulator_destroy(emulator);
  }
}

int main(void) {
  test_grid_sync_alone();
  test_launch_after_launch();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    for (uint64_t seed = 0; seed < SEEDS; ++seed) {
      const case_t *test = &cases[i];
      tessera_emulator_report_t *clean = run(test, 0, seed), *broken = run(test, 1, seed);
      CHECK(is_clean(clean), "%s, clean, seed %d", test->name, (int)seed);
      CHECK(has_finding(broken, TESSERA_EMULATOR_RACE, test->site, test->other_site), "%s, broken, seed %d", test->name,
            (int)seed);
      tessera_emulator_report_destroy(clean);
      tessera_emulator_report_destroy(broken);
    }
  return checkResult((int)(2 * SEEDS * sizeof cases / sizeof *cases));
}
