// emulator_warp_test.c - lanes meet where the ISA says so and nowhere else: collectives of all masks compute, those
// that cannot meet are named with what each warp waits for.
#include "test/emulator/machine/emulate.h"

enum { SEEDS = 6 };

static int out[1024];

typedef struct case_t {
  tessera_emu_kernel_t kernel;
  uint32_t block;
} case_t;

static tessera_emulator_report_t *run_on(const tessera_emulator_chip_t *chip, tessera_emu_kernel_t kernel,
                                         uint32_t block, uint64_t seed) {
  int *at = out;
  memset(out, 0xff, sizeof out);
  return emulate_on(chip, &(tessera_emulator_launch_t){.kernel = kernel,
                                                       .params = (void *[]){&at},
                                                       .block = {block},
                                                       .shared_bytes = 4096,
                                                       .checks = true,
                                                       .seed = seed});
}

static tessera_emulator_report_t *run(tessera_emu_kernel_t kernel, uint32_t block, uint64_t seed) {
  return run_on(&wide32, kernel, block, seed);
}

#define OUT (*(int **)params[0])

//===--- Meanings --------------------------------------------------------===//

typedef struct shuffle_t {
  int value, from, result;
} shuffle_t;

static void shuffle_meaning(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  for (uint32_t lane = 0; lane < group->width; ++lane) {
    shuffle_t *mine = group->contribution[lane];
    const shuffle_t *from = mine ? group->contribution[mine->from] : NULL;
    if (mine)
      mine->result = from ? from->value : -1;
  }
}

static int shuffle(self_t *self, uint64_t mask, int value, uint32_t from, uint32_t site) {
  shuffle_t shuffle = {value, (int)from, -2};
  tessera_emu_collective(self, mask, 0, shuffle_meaning, NULL, &shuffle, site);
  return shuffle.result;
}

static void count_meaning(const tessera_emu_group_t *group, const void *parameter) {
  for (uint32_t lane = 0; lane < group->width; ++lane)
    if (group->contribution[lane])
      *(int *)group->contribution[lane] = __builtin_popcountll(group->mask) + *(const int *)parameter;
}

//===--- Clean -----------------------------------------------------------===//

static void rotate(self_t *self, void **params) { // in a loop whose length differs between warps
  int value = (int)self->index;
  for (uint32_t k = 0; k < 3 + self->warp; ++k)
    value = shuffle(self, ~UINT64_C(0), value, (self->lane + 1) % self->block->warp_width, 1);
  OUT[self->index] = value;
}

static void test_rotate(const tessera_emulator_chip_t *chip) {
  uint32_t width = chip->warp_width;
  for (uint64_t seed = 0; seed < SEEDS; ++seed) {
    tessera_emulator_report_t *report = run_on(chip, rotate, 256, seed);
    CHECK(is_clean(report));
    CHECK(report && report->counters.collectives == (width == 32 ? 3 * 8 + 28 : 3 * 4 + 6));
    for (uint32_t t = 0; t < 256; ++t)
      CHECK(out[t] == (int)(t / width * width + (t + 3 + t / width) % width));
    tessera_emulator_report_destroy(report);
  }
}

static void two_halves(self_t *self, void **params) { // disjoint masks, in branches, at once
  static const int zero = 0, hundred = 100;
  int result = 0;
  if (self->lane % 2)
    tessera_emu_collective(self, 0xaaaaaaaa, TESSERA_EMU_ALIGNED, count_meaning, &zero, &result, 1);
  else
    tessera_emu_collective(self, 0x55555555, 0, count_meaning, &hundred, &result, 2);
  OUT[self->index] = result;
}

static void same_meaning_in_two_places(self_t *self, void **params) { // shfl.sync in both arms of a branch
  int value = (int)self->index * 10;
  if (self->lane < 7)
    OUT[self->index] = shuffle(self, 0xffffffff, value, self->lane ^ 31, 1);
  else
    OUT[self->index] = shuffle(self, 0xffffffff, value, self->lane ^ 31, 2);
}

static void some_have_ended(self_t *self, void **params) { // those named in the mask are not waited for
  if (self->lane >= 20)
    return;
  OUT[self->index] = shuffle(self, 0xffffffff, (int)self->index, (self->lane + 5) % 32, 1);
}

static void test_masks(void) {
  for (uint64_t seed = 0; seed < SEEDS; ++seed) {
    tessera_emulator_report_t *report = run(two_halves, 70, seed);
    CHECK(is_clean(report));
    for (int t = 0; t < 64; ++t)
      CHECK(out[t] == (t % 2 ? 16 : 116));
    CHECK(out[66] == 103 && out[69] == 3); // the last warp has six lanes
    tessera_emulator_report_destroy(report);
    CHECK(is_clean(report = run(same_meaning_in_two_places, 32, seed)));
    for (int t = 0; t < 32; ++t)
      CHECK(out[t] == (t ^ 31) * 10);
    tessera_emulator_report_destroy(report);
    CHECK(is_clean(report = run(some_have_ended, 32, seed)));
    for (int t = 0; t < 20; ++t)
      CHECK(out[t] == (t + 5 < 20 ? t + 5 : -1));
    tessera_emulator_report_destroy(report);
  }
}

static void predicates(self_t *self, void **params) {
  uint32_t threads = 0, count = tessera_emu_barrier_count(self, 3, 0, self->index % 5 == 0, &threads, 1);
  OUT[self->index] = (int)(count * 1000 + threads);
}

static void test_barrier_count(void) {
  tessera_emulator_report_t *report = run(predicates, 100, 3);
  CHECK(is_clean(report));
  for (int t = 0; t < 100; ++t)
    CHECK(out[t] == 20 * 1000 + 100);
  CHECK(report && report->counters.barriers == 1);
  tessera_emulator_report_destroy(report);
}

//===--- Broken ----------------------------------------------------------===//

static void expect(tessera_emu_kernel_t kernel, uint32_t block, tessera_emulator_kind_t kind, uint32_t site,
                   uint32_t other_site, const char *part) {
  for (uint64_t seed = 0; seed < SEEDS; ++seed) {
    tessera_emulator_report_t *report = run(kernel, block, seed);
    const tessera_emulator_finding_t *finding = find_kind(report, kind);
    CHECK(has_finding(report, kind, site, other_site), "\"%s\", seed %d", part, (int)seed);
    CHECK(report && report->finding_count == 1);
    if (finding)
      CHECK_CONTAINS(finding->text, part);
    else
      print_findings(report);
    tessera_emulator_report_destroy(report);
  }
}

static void half_at_barrier(self_t *self, void **params) {
  if (self->lane < 16)
    tessera_emu_barrier(self, 0, 0, 1);
  else
    OUT[self->index] = shuffle(self, 0xffffffff, 1, 0, 2);
}

static void barrier_in_both_arms(self_t *self, void **params) { // bar.sync is aligned
  if (self->lane % 2)
    tessera_emu_barrier(self, 0, 0, 1);
  else
    tessera_emu_barrier(self, 0, 0, 2);
}

static void aligned_in_both_arms(self_t *self, void **params) {
  static const int zero = 0;
  int result = 0;
  tessera_emu_collective(self, 0xffffffff, TESSERA_EMU_ALIGNED, count_meaning, &zero, &result, self->lane < 3 ? 1 : 2);
}

static void aligned_with_ended_lanes(self_t *self, void **params) {
  static const int zero = 0;
  int result = 0;
  if (self->lane == 31)
    return;
  tessera_emu_collective(self, 0xffffffff, TESSERA_EMU_ALIGNED, count_meaning, &zero, &result, 1);
}

static void warp_missing_at_barrier(self_t *self, void **params) {
  if (self->warp == 1)
    tessera_emu_barrier(self, 1, 0, 1);
  else
    tessera_emu_barrier(self, 2, 0, 2);
}

static void too_few_for_barrier(self_t *self, void **params) {
  if (self->warp < 2)
    tessera_emu_barrier(self, 4, 96, 1);
}

static void not_in_mask(self_t *self, void **params) {
  OUT[self->index] = shuffle(self, self->lane == 9 ? 0xff : 0xfffffdff, 1, 0, 1);
}

static void no_such_barrier(self_t *self, void **params) { tessera_emu_barrier(self, 16, 0, 1); }
static void odd_barrier(self_t *self, void **params) { tessera_emu_barrier(self, 1, 33, 1); }

static void counts_differ(self_t *self, void **params) { tessera_emu_barrier(self, 1, self->warp ? 64 : 32, 1); }

static int never;

static void spin_for_ever(self_t *self, void **params) {
  if (self->index)
    return;
  int *flag = shared_ints(self), value = 0;
  while (value != 7) {
    int *place = tessera_emu_atomic_begin(self, flag, 4, TESSERA_EMU_LOAD | TESSERA_EMU_STORE, TESSERA_EMU_ACQUIRE,
                                          TESSERA_EMU_SCOPE_BLOCK, 5);
    value = __atomic_fetch_or(place, never, __ATOMIC_SEQ_CST) & 1;
    tessera_emu_atomic_end(self);
  }
}

static void test_spin(void) {
  tessera_emulator_report_t *report = run(spin_for_ever, 64, 1);
  const tessera_emulator_finding_t *finding = find_kind(report, TESSERA_EMULATOR_DEADLOCK);
  CHECK(finding && finding->site == 5);
  if (finding)
    CHECK_CONTAINS(finding->text, "1 lanes of warp 0 at a loop on memory that does not change (site 5)");
  tessera_emulator_report_destroy(report);
}

// As many atomics as make a spin loop suspicious, but each changes something.
static void count_long(self_t *self, void **params) {
  for (int i = 0; i < 40000; ++i) {
    int *place = tessera_emu_atomic_begin(self, OUT, 4, TESSERA_EMU_LOAD | TESSERA_EMU_STORE, TESSERA_EMU_RELAXED,
                                          TESSERA_EMU_SCOPE_BLOCK, 5);
    __atomic_fetch_add(place, 1, __ATOMIC_RELAXED);
    tessera_emu_atomic_end(self);
  }
}

static void test_long_count(void) {
  int *at = out;
  out[0] = 0;
  tessera_emulator_report_t *report =
      emulate(&(tessera_emulator_launch_t){.kernel = count_long, .params = (void *[]){&at}, .block = {256}});
  CHECK(is_clean(report) && out[0] == 256 * 40000);
  tessera_emulator_report_destroy(report);
}

static void test_broken(void) {
  expect(half_at_barrier, 64, TESSERA_EMULATOR_DIVERGED, 1, 2,
         "16 lanes of warp 0 at barrier 0 (site 1), 16 lanes of warp 0 at a collective (site 2), 16 lanes of warp 1");
  expect(barrier_in_both_arms, 64, TESSERA_EMULATOR_DIVERGED, 1, 2, "at barrier 0 in two places");
  expect(aligned_in_both_arms, 32, TESSERA_EMULATOR_DIVERGED, 1, 2,
         "3 lanes of warp 0 at a collective (site 1), 29 lanes of warp 0 at a collective (site 2)");
  expect(aligned_with_ended_lanes, 32, TESSERA_EMULATOR_DEADLOCK, 1, 0, "31 lanes of warp 0 at a collective (site 1)");
  expect(warp_missing_at_barrier, 96, TESSERA_EMULATOR_DEADLOCK, 2, 1,
         "32 lanes of warp 0 at barrier 2 (site 2), 32 lanes of warp 1 at barrier 1 (site 1)");
  expect(too_few_for_barrier, 96, TESSERA_EMULATOR_DEADLOCK, 1, 0,
         "32 lanes of warp 0 at barrier 4 (site 1) and 1 more warp");
  expect(not_in_mask, 32, TESSERA_EMULATOR_BAD_OPERAND, 1, 0, "lane 9 is not in the mask 0xff of the collective");
  expect(no_such_barrier, 32, TESSERA_EMULATOR_BAD_OPERAND, 1, 0, "barrier 16; there are 16");
  expect(odd_barrier, 64, TESSERA_EMULATOR_BAD_OPERAND, 1, 0, "for 33 threads, which is not a multiple");
}

static void test_counts_differ(void) {
  tessera_emulator_report_t *report = run(counts_differ, 64, 1);
  CHECK(find_kind(report, TESSERA_EMULATOR_BAD_OPERAND) || find_kind(report, TESSERA_EMULATOR_DEADLOCK));
  tessera_emulator_report_destroy(report);
}

int main(void) {
  test_rotate(&wide32);
  test_rotate(&wide64);
  test_masks();
  test_barrier_count();
  test_broken();
  test_counts_differ();
  test_spin();
  test_long_count();
  return checkResult(1000);
}
