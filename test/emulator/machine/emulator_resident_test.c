// emulator_resident_test.c - cooperative launches come to an end: with many threads, without memory, after a trap, and
// when no block goes on.
#include "lib/emulator/machine/fiber.h"
#include "test/emulator/machine/emulate.h"

#include <sys/resource.h>

static int flags[4096];
static int *memory = flags;

static int load_flag(self_t *self, uint32_t at, uint32_t site) {
  int *place = tessera_emu_atomic_begin(self, &memory[at], 4, TESSERA_EMU_LOAD, TESSERA_EMU_ACQUIRE,
                                        TESSERA_EMU_SCOPE_DEVICE, site);
  int value = __atomic_load_n(place, __ATOMIC_RELAXED);
  tessera_emu_atomic_end(self);
  return value;
}

static void add_to_flag(self_t *self, uint32_t at, uint32_t site) {
  int *place = tessera_emu_atomic_begin(self, &memory[at], 4, TESSERA_EMU_LOAD | TESSERA_EMU_STORE,
                                        TESSERA_EMU_ACQUIRE_RELEASE, TESSERA_EMU_SCOPE_DEVICE, site);
  __atomic_fetch_add(place, 1, __ATOMIC_RELAXED);
  tessera_emu_atomic_end(self);
}

// As compiled kernels wait: one thread looks, all learn what it saw, and all look again together.
static void await(self_t *self, uint32_t at, int wanted, uint32_t site) {
  int *seen = shared_ints(self);
  for (bool waits = true; waits;) {
    if (self->index == 0)
      STORE(seen, load_flag(self, at, site), site + 1);
    tessera_emu_barrier(self, 0, 0, site + 2);
    waits = LOAD(seen, site + 3) < wanted;
    tessera_emu_barrier(self, 0, 0, site + 4);
  }
}

static tessera_emulator_report_t *run(tessera_emu_kernel_t kernel, uint32_t blocks, uint32_t threads,
                                      tessera_error_t *error) {
  memset(flags, 0, sizeof flags);
  tessera_emulator_buffer_t buffer = {flags, sizeof flags, "flags"};
  tessera_emulator_t *emulator = tessera_emulator_create(&wide64);
  tessera_emulator_report_t *report = NULL;
  const tessera_emulator_launch_t launch = {.kernel = kernel,
                                            .grid = {blocks},
                                            .block = {threads},
                                            .shared_bytes = 1024,
                                            .buffers = &buffer,
                                            .buffer_count = 1,
                                            .checks = true,
                                            .cooperative = true};
  tessera_emulator_launch(emulator, &launch, &report, error);
  tessera_emulator_destroy(emulator);
  return report;
}

static void all_meet(self_t *self, void **params) {
  (void)params;
  if (self->index == 0)
    add_to_flag(self, 0, 1);
  await(self, 0, (int)self->block->grid[0], 2);
}

// 32,768 stacks. A system that needs two mappings for each of them may refuse.
static void test_many_threads(void) {
  tessera_error_t error = {""};
  tessera_emulator_report_t *report = run(all_meet, 256, 128, &error);
  CHECK(report ? is_clean(report) && flags[0] == 256
               : strstr(error.text, "no memory for 256 blocks of 128 threads") != NULL);
  tessera_emulator_report_destroy(report);
}

static void test_without_memory(void) {
#if !EMU_SANITIZED
  struct rlimit had, few = {512 << 20, 0};
  getrlimit(RLIMIT_DATA, &had);
  few.rlim_max = had.rlim_max;
  tessera_error_t error = {""};
  setrlimit(RLIMIT_DATA, &few);
  tessera_emulator_report_t *report = run(all_meet, 64, 128, &error);
  setrlimit(RLIMIT_DATA, &had);
  CHECK(!report);
  CHECK_CONTAINS(error.text, "no memory for 64 blocks of 128 threads at once");
#endif
}

// Each waits for the next one.
static void circle(self_t *self, void **params) {
  (void)params;
  await(self, (self->block->id[0] + 1) % self->block->grid[0], 1, 10);
  if (self->index == 0)
    add_to_flag(self, self->block->id[0], 20);
}

static void test_circle(void) {
  tessera_emulator_report_t *report = run(circle, 5, 96, NULL);
  const tessera_emulator_finding_t *finding = find_kind(report, TESSERA_EMULATOR_DEADLOCK);
  CHECK(finding && finding->site == 10 && report->finding_count == 1);
  if (finding)
    CHECK_CONTAINS(finding->text, "1 lanes of warp 0 at a loop on memory that does not change (site 10)");
  tessera_emulator_report_destroy(report);
}

static void first_traps(self_t *self, void **params) {
  if (self->block->id[0] == 0)
    tessera_emu_trap(self, 30, "assertion failed: block > 0");
  all_meet(self, params);
}

static void test_trap(void) {
  tessera_emulator_report_t *report = run(first_traps, 7, 64, NULL);
  CHECK(find_kind(report, TESSERA_EMULATOR_TRAP));
  CHECK(find_kind(report, TESSERA_EMULATOR_DEADLOCK));
  tessera_emulator_report_destroy(report);
}

// Looks long at what does not change, but others are at work: by barriers, in shared memory alone.
static void slow_first(self_t *self, void **params) {
  (void)params;
  int *own = &shared_ints(self)[1 + self->index];
  if (self->block->id[0] == 0) {
    STORE(own, 0, 1);
    for (int i = 0; i < 20000; ++i) {
      STORE(own, LOAD(own, 2) + 1, 3);
      tessera_emu_barrier(self, 0, 0, 4);
    }
    if (self->index == 0 && LOAD(own, 5) == 20000)
      add_to_flag(self, 0, 6);
  }
  await(self, 0, 1, 10);
}

static void test_slow_block(void) {
  tessera_emulator_report_t *report = run(slow_first, 3, 64, NULL);
  CHECK(is_clean(report));
  tessera_emulator_report_destroy(report);
}

int main(void) {
  test_many_threads();
  test_without_memory();
  test_circle();
  test_trap();
  test_slow_block();
  return checkResult(EMU_SANITIZED ? 6 : 8);
}
