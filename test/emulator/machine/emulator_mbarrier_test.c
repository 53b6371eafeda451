// emulator_mbarrier_test.c - barriers in shared memory: what they order, what they count, and each way to get them
// wrong, under every seed.
#include "test/emulator/machine/emulate.h"

#include <string.h>

enum { SEEDS = 8, THREADS = 96, CONSUMERS = 64, ROUNDS = 7, STAGES = 2, BARRIERS = 4096 };

// What the kernel does wrong; NOTHING: it must be clean.
typedef enum mistake_t {
  NOTHING,
  NO_WAIT_FOR_FULL,
  NO_WAIT_FOR_EMPTY,
  WRONG_PARITY,
  NO_BARRIER_AFTER_INIT,
  ARRIVES_BEFORE_STORES,
  ARRIVES_RELAXED,
  ONE_ARRIVAL_TOO_FEW,
  ONE_ARRIVAL_TOO_MANY,
  EXPECTS_BYTES,
  NO_ARRIVAL_AT_EMPTY,
  ARRIVES_AT_EMPTY_EARLY
} mistake_t;

static char *barrier_at(self_t *self, int number) { return self->block->shared + BARRIERS + 8 * number; }

static void produce(self_t *self, int *stage, char *full, int round, int broken) {
  int how = broken == ARRIVES_RELAXED ? TESSERA_EMU_MBARRIER_RELAXED : 0;
  bool early = broken == ARRIVES_BEFORE_STORES;
  if (early)
    tessera_emu_mbarrier_arrive(self, full, 1, 0, how, 11);
  STORE(&stage[2 * self->lane], round, 10);
  STORE(&stage[2 * self->lane + 1], -round, 10);
  if (early || (broken == ONE_ARRIVAL_TOO_FEW && round == 3 && self->lane == 5))
    return;
  bool expects = broken == EXPECTS_BYTES && self->lane == 0;
  tessera_emu_mbarrier_arrive(self, full, 1, expects ? 16 : 0, how, 11);
  if (broken == ONE_ARRIVAL_TOO_MANY && self->lane == 31)
    tessera_emu_mbarrier_arrive(self, full, 32, 0, how, 11);
}

static void consume(self_t *self, int *stage, char *empty, int round, int broken, int *sum) {
  if (broken == ARRIVES_AT_EMPTY_EARLY)
    tessera_emu_mbarrier_arrive(self, empty, 1, 0, 0, 13);
  int value = LOAD(&stage[self->index - 32], 12);
  *sum += self->index & 1 ? -value : value;
  if (broken != ARRIVES_AT_EMPTY_EARLY && broken != NO_ARRIVAL_AT_EMPTY)
    tessera_emu_mbarrier_arrive(self, empty, 1, 0, 0, 13);
}

// A ring of two stages: the first warp writes, two warps read. params = {mistake, sums}
static void ring(self_t *self, void **params) {
  int broken = *(int *)params[0], *sums = *(int **)params[1], sum = 0;
  int *stages = shared_ints(self);
  if (self->index == 0)
    for (int i = 0; i < STAGES; ++i) {
      tessera_emu_mbarrier_init(self, barrier_at(self, i), 32, 1);
      tessera_emu_mbarrier_init(self, barrier_at(self, STAGES + i), CONSUMERS, 1);
    }
  if (broken != NO_BARRIER_AFTER_INIT)
    tessera_emu_barrier(self, 0, 0, 2);
  for (int round = 0; round < ROUNDS; ++round) {
    int *stage = &stages[round % STAGES * CONSUMERS], parity = round / STAGES % 2;
    char *full = barrier_at(self, round % STAGES), *empty = barrier_at(self, STAGES + round % STAGES);
    if (self->warp == 0) {
      if (broken != NO_WAIT_FOR_EMPTY)
        tessera_emu_mbarrier_wait(self, empty, !parity, 3);
      produce(self, stage, full, round, broken);
    } else {
      if (broken != NO_WAIT_FOR_FULL)
        tessera_emu_mbarrier_wait(self, full, broken == WRONG_PARITY ? !parity : parity, 4);
      consume(self, stage, empty, round, broken, &sum);
    }
  }
  if (self->warp)
    STORE(&sums[self->index], sum, 5);
}

static int sums[THREADS];

static tessera_emulator_report_t *run(tessera_emu_kernel_t kernel, int broken, uint64_t seed, uint32_t threads) {
  int *memory = sums;
  tessera_emulator_buffer_t buffer = {sums, sizeof sums, "sums"};
  memset(sums, 0, sizeof sums);
  return emulate(&(tessera_emulator_launch_t){.kernel = kernel,
                                              .params = (void *[]){&broken, &memory},
                                              .block = {threads},
                                              .shared_bytes = 8192,
                                              .buffers = &buffer,
                                              .buffer_count = 1,
                                              .checks = true,
                                              .count = true,
                                              .seed = seed});
}

static bool sums_are_right(void) {
  for (int i = 32; i < THREADS; ++i)
    if (sums[i] != ROUNDS * (ROUNDS - 1) / 2)
      return false;
  return true;
}

// Where the order of threads decides what a mistake leads to, but not that it is found.
enum { ANY = TESSERA_EMULATOR_KINDS };

static bool has(const tessera_emulator_report_t *report, int kind, const char *text) {
  for (size_t i = 0; report && i < report->finding_count; ++i)
    if (((int)report->findings[i].kind == kind || kind == ANY) && strstr(report->findings[i].text, text))
      return true;
  if (report)
    print_findings(report);
  return false;
}

static void test_ring(void) {
  static const struct {
    mistake_t mistake;
    int kind;
    const char *text;
  } cases[] = {
      {NO_WAIT_FOR_FULL, TESSERA_EMULATOR_RACE, ""},
      {NO_WAIT_FOR_EMPTY, ANY, ""},
      {WRONG_PARITY, ANY, ""},
      {NO_BARRIER_AFTER_INIT, TESSERA_EMULATOR_RACE, "of the mbarrier at shared+4096"},
      {ARRIVES_BEFORE_STORES, TESSERA_EMULATOR_RACE, ""},
      {ARRIVES_RELAXED, TESSERA_EMULATOR_RACE, ""},
      {ONE_ARRIVAL_TOO_FEW, TESSERA_EMULATOR_DEADLOCK, "at the mbarrier at shared+4104 for 1 arrivals of phase 1"},
      {ONE_ARRIVAL_TOO_MANY, ANY, ""},
      {EXPECTS_BYTES, TESSERA_EMULATOR_DEADLOCK, "at the mbarrier at shared+4096 for 16 bytes of phase 0"},
      {NO_ARRIVAL_AT_EMPTY, TESSERA_EMULATOR_DEADLOCK, "at the mbarrier at shared+4112 for 64 arrivals of phase 0"},
      {ARRIVES_AT_EMPTY_EARLY, TESSERA_EMULATOR_RACE, ""},
  };
  for (uint64_t seed = 0; seed < SEEDS; ++seed) {
    tessera_emulator_report_t *report = run(ring, NOTHING, seed, THREADS);
    CHECK(is_clean(report), "seed %d", (int)seed);
    CHECK(sums_are_right(), "seed %d", (int)seed);
    tessera_emulator_report_destroy(report);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
      report = run(ring, cases[i].mistake, seed, THREADS);
      if (!has(report, cases[i].kind, cases[i].text)) {
        printf("mistake %d, seed %d\n", cases[i].mistake, (int)seed);
        CHECK(false, "not found");
      }
      tessera_emulator_report_destroy(report);
    }
  }
}

//===--- One thread ------------------------------------------------------===//

enum { READS, INITS_TWICE, WAITS_FOR_NOTHING, INVALS, ARRIVES_OFTEN, NO_COUNT, COMPLETES_BY_STAYING, ODD, OUTSIDE };

static void alone(self_t *self, void **params) {
  int what = *(int *)params[0];
  char *barrier = barrier_at(self, 0);
  if (what == WAITS_FOR_NOTHING)
    tessera_emu_mbarrier_wait(self, barrier, 0, 1);
  tessera_emu_mbarrier_init(self, barrier, what == NO_COUNT ? 0 : 2, 2);
  switch (what) {
  case READS:
    LOAD((int *)barrier, 3);
    break;
  case INITS_TWICE:
    tessera_emu_mbarrier_init(self, barrier, 2, 3);
    break;
  case INVALS:
    tessera_emu_mbarrier_inval(self, barrier, 3);
    tessera_emu_mbarrier_arrive(self, barrier, 1, 0, 0, 4);
    break;
  case ARRIVES_OFTEN:
    tessera_emu_mbarrier_arrive(self, barrier, 3, 0, 0, 3);
    break;
  case COMPLETES_BY_STAYING:
    tessera_emu_mbarrier_arrive(self, barrier, 2, 0, TESSERA_EMU_MBARRIER_STAYS, 3);
    break;
  case ODD:
    tessera_emu_mbarrier_wait(self, barrier + 4, 0, 3);
    break;
  case OUTSIDE:
    tessera_emu_mbarrier_wait(self, self->block->shared + 8192, 0, 3);
    break;
  default:
    break;
  }
}

static void test_alone(void) {
  static const struct {
    int what;
    int kind;
    const char *text;
  } cases[] = {
      {READS, TESSERA_EMULATOR_BAD_OPERAND, "read at shared+4096, where an mbarrier is in use"},
      {INITS_TWICE, TESSERA_EMULATOR_BAD_OPERAND, "mbarrier.inval comes first"},
      {WAITS_FOR_NOTHING, TESSERA_EMULATOR_UNINITIALIZED, "where no mbarrier was initialized"},
      {INVALS, TESSERA_EMULATOR_UNINITIALIZED, "where no mbarrier was initialized"},
      {ARRIVES_OFTEN, TESSERA_EMULATOR_BAD_OPERAND, "3 arrivals at the mbarrier at shared+4096, which awaits 2"},
      {NO_COUNT, TESSERA_EMULATOR_BAD_OPERAND, "for 0 arrivals"},
      {COMPLETES_BY_STAYING, TESSERA_EMULATOR_BAD_OPERAND, "must not end by these"},
      {ODD, TESSERA_EMULATOR_MISALIGNED, "must be a multiple of 8"},
      {OUTSIDE, TESSERA_EMULATOR_OUT_OF_BOUNDS, "outside of the block's 8192 bytes"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    tessera_emulator_report_t *report = run(alone, cases[i].what, 1, 1);
    CHECK(has(report, cases[i].kind, cases[i].text), "case %d", (int)i);
    tessera_emulator_report_destroy(report);
  }
}

//===--- Tests, drops, transactions by hand ------------------------------===//

// Threads look until the phase has ended; one leaves after the first; memory becomes memory again.
static void looks(self_t *self, void **params) {
  int *values = shared_ints(self), *out = *(int **)params[1];
  char *barrier = barrier_at(self, 0);
  if (self->index == 0)
    tessera_emu_mbarrier_init(self, barrier, self->block->size[0], 1);
  tessera_emu_barrier(self, 0, 0, 2);
  STORE(&values[self->index], (int)self->index, 3);
  bool leaves = self->index == 7;
  uint64_t state = tessera_emu_mbarrier_arrive(self, barrier, 1, self->index == 3 ? 4 : 0,
                                               leaves ? TESSERA_EMU_MBARRIER_DROPS : 0, 4);
  if (self->index == 3)
    tessera_emu_mbarrier_expect(self, barrier, -4, 5);
  if (leaves)
    return;
  while (!tessera_emu_mbarrier_test(self, barrier, state, 0, 6))
    ;
  int sum = LOAD(&values[(self->index + 33) % self->block->size[0]], 7);
  state = tessera_emu_mbarrier_arrive(self, barrier, 1, 0, 0, 8);
  tessera_emu_mbarrier_wait(self, barrier, state & 1, 9);
  if (self->index == 64) {
    tessera_emu_mbarrier_inval(self, barrier, 10);
    STORE((int *)barrier, 5, 11);
  }
  STORE(&out[self->index], sum, 12);
}

static void test_looks(void) {
  for (uint64_t seed = 0; seed < SEEDS; ++seed) {
    tessera_emulator_report_t *report = run(looks, 0, seed, THREADS);
    CHECK(is_clean(report), "seed %d", (int)seed);
    for (int i = 0; i < THREADS; ++i)
      CHECK(i == 7 || sums[i] == (i + 33) % THREADS, "thread %d", i);
    tessera_emulator_report_destroy(report);
  }
}

int main(void) {
  test_ring();
  test_alone();
  test_looks();
  return checkResult(3);
}
