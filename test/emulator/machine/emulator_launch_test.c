// emulator_launch_test.c - grids and blocks of all shapes run each thread once; what is no launch is refused; the
// answer, the findings and the counters are the same for any number of host threads.
#include "test/emulator/machine/emulate.h"

#include <pthread.h>

static uint64_t block_of(const self_t *self) {
  const tessera_emu_block_t *block = self->block;
  return block->id[0] + (uint64_t)block->grid[0] * (block->id[1] + (uint64_t)block->grid[1] * block->id[2]);
}

// params = {marks}: adds 1 at the thread's global number, through its ids on all axes.
static void mark(self_t *self, void **params) {
  unsigned *marks = *(unsigned **)params[0];
  const uint32_t *size = self->block->size;
  uint64_t thread = self->id[0] + (uint64_t)size[0] * (self->id[1] + (uint64_t)size[1] * self->id[2]);
  marks[block_of(self) * size[0] * size[1] * size[2] + thread]++;
}

static void test_each_thread_once(void) {
  static const uint32_t shapes[][6] = {{1, 1, 1, 1, 1, 1},    {3, 1, 1, 33, 1, 1}, {2, 3, 5, 7, 3, 2},
                                       {1, 1, 1, 1024, 1, 1}, {17, 2, 1, 8, 8, 4}, {1, 4, 1, 1, 1, 64}};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; ++s) {
    const uint32_t *shape = shapes[s];
    size_t count = (size_t)shape[0] * shape[1] * shape[2] * shape[3] * shape[4] * shape[5];
    unsigned *marks = calloc(count, sizeof *marks);
    tessera_emulator_report_t *report = emulate(&(tessera_emulator_launch_t){.kernel = mark,
                                                                             .params = (void *[]){&marks},
                                                                             .grid = {shape[0], shape[1], shape[2]},
                                                                             .block = {shape[3], shape[4], shape[5]},
                                                                             .checks = true});
    CHECK(is_clean(report));
    for (size_t i = 0; i < count; ++i)
      CHECK(marks[i] == 1, "thread %zu of shape %zu ran %u times", i, s, marks[i]);
    CHECK(report && report->counters.threads == count);
    tessera_emulator_report_destroy(report);
    free(marks);
  }
}

static void check_place(self_t *self, void **params) {
  int *bad = *(int **)params[0];
  uint32_t width = self->block->warp_width;
  bool good = self->index == self->warp * width + self->lane && self->lane < width && self->index < 100 &&
              (uintptr_t)self->block->shared < UINT64_C(1) << 32 && (uintptr_t)self->block->shared % (1 << 20) == 0;
  uint64_t lanes = width - 1 < 100 - self->warp * width ? width : 100 - self->warp * width;
  good = good && tessera_emu_full_mask(self) == (lanes == 64 ? ~UINT64_C(0) : (UINT64_C(1) << lanes) - 1);
  if (!good)
    __atomic_fetch_add(bad, 1, __ATOMIC_RELAXED);
}

static void test_places(void) {
  int bad = 0, *at = &bad;
  tessera_emulator_launch_t launch = {.kernel = check_place, .params = (void *[]){&at}, .grid = {3}, .block = {10, 10}};
  tessera_emulator_report_destroy(emulate_on(&wide32, &launch));
  tessera_emulator_report_destroy(emulate_on(&wide64, &launch));
  CHECK(bad == 0);
}

static void nothing(self_t *self, void **params) {
  (void)self;
  (void)params;
}

static void refuse(const tessera_emulator_chip_t *chip, tessera_emulator_launch_t launch, const char *part) {
  tessera_emulator_t *emulator = tessera_emulator_create(chip);
  tessera_emulator_report_t *report = NULL;
  tessera_error_t error = {""};
  launch.kernel = nothing;
  CHECK(!tessera_emulator_launch(emulator, &launch, &report, &error));
  CHECK_CONTAINS(error.text, part);
  CHECK(!report);
  tessera_emulator_destroy(emulator);
}

static void test_refused(void) {
  tessera_emulator_chip_t chip = wide32;
  refuse(&chip, (tessera_emulator_launch_t){.block = {1025}}, "1025 threads in a block; the chip takes 1024");
  refuse(&chip, (tessera_emulator_launch_t){.block = {65536, 65536, 65536}}, "threads in a block");
  refuse(&chip, (tessera_emulator_launch_t){.grid = {65536, 65536, 4}}, "65536 x 65536 x 4 blocks");
  chip.warp_width = 16;
  refuse(&chip, (tessera_emulator_launch_t){.block = {1}}, "a warp of 16 lanes");
  chip = wide32;
  chip.banks = 0;
  refuse(&chip, (tessera_emulator_launch_t){.block = {1}}, "0 banks");
  chip = wide32;
  chip.sector_bytes = 48;
  refuse(&chip, (tessera_emulator_launch_t){.block = {1}}, "transactions of 48 bytes");
}

static void test_shared_limit(void) {
  tessera_emulator_report_t *report = emulate_on(
      &wide64, &(tessera_emulator_launch_t){.kernel = nothing, .name = "k", .block = {64}, .shared_bytes = 65537});
  const tessera_emulator_finding_t *finding = find_kind(report, TESSERA_EMULATOR_SHARED_LIMIT);
  CHECK(finding);
  if (finding)
    CHECK_CONTAINS(finding->text, "k requires 65537 bytes for a block; the chip has 65536");
  CHECK(report && report->counters.threads == 0);
  tessera_emulator_report_destroy(report);
}

//===--- The same for any number of host threads -------------------------===//

// Block-wide sums through shared memory, a barrier left out after the first half of the grid: params = {in, out}.
static void uneven(self_t *self, void **params) {
  int *in = *(int **)params[0], *out = *(int **)params[1], *shared = shared_ints(self);
  STORE(&shared[self->index], LOAD(&in[self->block->id[0] * 64 + self->index], 1), 2);
  if (self->block->id[0] < 20)
    tessera_emu_barrier(self, 0, 0, 3);
  else
    tessera_emu_warp_sync(self, ~UINT64_C(0), 4);
  int sum = 0;
  for (int i = 0; i < 64; ++i)
    sum += LOAD(&shared[(self->index + (uint32_t)i) % 64], 5);
  if (self->block->id[0] < 20)
    STORE(&out[self->block->id[0] * 64 + self->index], sum, 6);
}

enum { BLOCKS = 41 };

static tessera_emulator_report_t *run_uneven(int threads, uint64_t seed, int *in, int *out) {
  tessera_emulator_buffer_t buffers[] = {{in, BLOCKS * 64 * 4, "in"}, {out, BLOCKS * 64 * 4, "out"}};
  memset(out, 0, BLOCKS * 64 * 4);
  return emulate(&(tessera_emulator_launch_t){.kernel = uneven,
                                              .params = (void *[]){&in, &out},
                                              .grid = {BLOCKS},
                                              .block = {64},
                                              .shared_bytes = 256,
                                              .buffers = buffers,
                                              .buffer_count = 2,
                                              .checks = true,
                                              .count = true,
                                              .seed = seed,
                                              .threads = threads});
}

static bool same_reports(const tessera_emulator_report_t *a, const tessera_emulator_report_t *b) {
  if (!a || !b || a->finding_count != b->finding_count || a->site_count != b->site_count ||
      memcmp(&a->counters, &b->counters, sizeof a->counters) ||
      memcmp(a->sites, b->sites, a->site_count * sizeof *a->sites))
    return false;
  for (size_t i = 0; i < a->finding_count; ++i)
    if (strcmp(a->findings[i].text, b->findings[i].text) || a->findings[i].count != b->findings[i].count)
      return false;
  return true;
}

static void test_same_for_any_host_threads(void) {
  static int in[BLOCKS * 64], first_out[BLOCKS * 64], out[BLOCKS * 64];
  for (int i = 0; i < BLOCKS * 64; ++i)
    in[i] = i * i % 1009;
  tessera_emulator_report_t *first = run_uneven(1, 7, in, first_out);
  CHECK(has_finding(first, TESSERA_EMULATOR_RACE, 2, 5));
  CHECK(first && first->findings[0].block == 20);
  for (int threads = 2; threads <= 7; threads += 5) {
    tessera_emulator_report_t *report = run_uneven(threads, 7, in, out);
    CHECK(same_reports(first, report), "%d host threads", threads);
    CHECK(memcmp(first_out, out, sizeof out) == 0);
    tessera_emulator_report_destroy(report);
  }
  for (uint64_t seed = 0; seed < 10; ++seed) { // another schedule, the same mistake and the same traffic
    tessera_emulator_report_t *report = run_uneven(2, seed, in, out);
    CHECK(has_finding(report, TESSERA_EMULATOR_RACE, 2, 5), "seed %d", (int)seed);
    CHECK(first && report && memcmp(&first->counters, &report->counters, sizeof first->counters) == 0);
    CHECK(memcmp(first_out, out, sizeof out) == 0);
    tessera_emulator_report_destroy(report);
  }
  tessera_emulator_report_destroy(first);
}

//===--- Several launches at once, and one emulator used again -----------===//

static void *launch_often(void *argument) {
  int *failures = argument;
  tessera_emulator_t *emulator = tessera_emulator_create(&wide32);
  unsigned *marks = calloc(4096, sizeof *marks);
  for (unsigned i = 1; i <= 20; ++i) {
    tessera_emulator_report_t *report = NULL;
    tessera_emulator_launch_t launch = {
        .kernel = mark, .params = (void *[]){&marks}, .grid = {16}, .block = {256}, .checks = true, .threads = 2};
    if (!tessera_emulator_launch(emulator, &launch, &report, NULL) || report->finding_count || marks[4095] != i)
      ++*failures;
    tessera_emulator_report_destroy(report);
  }
  free(marks);
  tessera_emulator_destroy(emulator);
  return NULL;
}

static void test_several_at_once(void) {
  enum { AT_ONCE = 4 };
  pthread_t threads[AT_ONCE];
  int failures[AT_ONCE] = {0};
  for (int i = 0; i < AT_ONCE; ++i)
    pthread_create(&threads[i], NULL, launch_often, &failures[i]);
  for (int i = 0; i < AT_ONCE; ++i) {
    pthread_join(threads[i], NULL);
    CHECK(failures[i] == 0);
  }
}

//===--- trap ------------------------------------------------------------===//

static void trap_some(self_t *self, void **params) {
  unsigned *marks = *(unsigned **)params[0];
  if (self->index % 3 == 1)
    tessera_emu_trap(self, 9, "assertion failed: index % 3 != 1");
  tessera_emu_barrier(self, 0, 0, 1);
  marks[self->block->id[0] * 96 + self->index]++;
}

static void test_trap(void) {
  unsigned *marks = calloc(50 * 96, sizeof *marks);
  tessera_emulator_report_t *report = emulate(&(tessera_emulator_launch_t){
      .kernel = trap_some, .params = (void *[]){&marks}, .grid = {50}, .block = {96}, .checks = true});
  const tessera_emulator_finding_t *finding = find_kind(report, TESSERA_EMULATOR_TRAP);
  CHECK(finding && finding->count == 50 * 32 && finding->site == 9);
  if (finding)
    CHECK_CONTAINS(finding->text, "assertion failed: index % 3 != 1; at site 9 (thread ");
  for (int i = 0; i < 50 * 96; ++i)
    CHECK(marks[i] == (i % 96 % 3 != 1));
  tessera_emulator_report_destroy(report);
  free(marks);
}

int main(void) {
  test_each_thread_once();
  test_places();
  test_refused();
  test_shared_limit();
  test_same_for_any_host_threads();
  test_several_at_once();
  test_trap();
  return checkResult(200);
}
