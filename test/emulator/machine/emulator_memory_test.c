// emulator_memory_test.c - accesses that must not be: out of bounds, misaligned, to read-only or unwritten memory; and
// asynchronous copies, which land at their wait and no earlier. Each with the clean kernel beside it.
#include "test/emulator/machine/emulate.h"

enum { SEEDS = 6, WORDS = 1024 };

static int memory[4 * WORDS]; // a and b with room between
static int *const a = memory, *const b = memory + 2 * WORDS;

// params = {broken, a, b}
static tessera_emulator_report_t *run(tessera_emu_kernel_t kernel, int broken, uint64_t seed) {
  int *pa = a, *pb = b;
  tessera_emulator_buffer_t buffers[] = {{b, WORDS * sizeof *b, "b", .uninitialized = true},
                                         {a, WORDS * sizeof *a, "a", .read_only = true}};
  for (int i = 0; i < WORDS; ++i) {
    a[i] = i * 7;
    b[i] = -1;
  }
  return emulate(&(tessera_emulator_launch_t){.kernel = kernel,
                                              .params = (void *[]){&broken, &pa, &pb},
                                              .grid = {2},
                                              .block = {64},
                                              .shared_bytes = 2048,
                                              .buffers = buffers,
                                              .buffer_count = 2,
                                              .checks = true,
                                              .seed = seed,
                                              .threads = 1}); // some kernels count their checks
}

#define BROKEN (*(int *)params[0])
#define A (*(int **)params[1])
#define B (*(int **)params[2])
#define MINE (self->block->id[0] * 64 + self->index)

static void expect(const char *name, tessera_emu_kernel_t kernel, tessera_emulator_kind_t kind, uint32_t site,
                   uint32_t other_site, const char *part) {
  for (uint64_t seed = 0; seed < SEEDS; ++seed) {
    tessera_emulator_report_t *clean = run(kernel, 0, seed), *broken = run(kernel, 1, seed);
    const tessera_emulator_finding_t *finding = find_kind(broken, kind);
    CHECK(is_clean(clean), "%s, clean, seed %d", name, (int)seed);
    CHECK(has_finding(broken, kind, site, other_site), "%s, broken, seed %d", name, (int)seed);
    if (finding)
      CHECK_CONTAINS(finding->text, part);
    else
      print_findings(broken);
    tessera_emulator_report_destroy(clean);
    tessera_emulator_report_destroy(broken);
  }
}

//===--- Addresses -------------------------------------------------------===//

static void past_the_end(self_t *self, void **params) {
  int *at = BROKEN && MINE == 127 ? &B[WORDS] : &B[MINE];
  STORE(at, 1, 1);
}

static void before_the_begin(self_t *self, void **params) {
  CHECK(LOAD(BROKEN && MINE == 3 ? &A[-1] : &A[MINE], 1) != 12345); // what is read instead is the thread's own memory
}

static void half_outside(self_t *self, void **params) {
  char *at = (char *)&B[BROKEN ? WORDS - 1 : WORDS - 2];
  if (MINE == 0)
    memset(tessera_emu_access(self, at, 8, TESSERA_EMU_STORE, 1), 0, 8);
}

static void null_pointer(self_t *self, void **params) { LOAD(BROKEN ? (int *)16 : &A[MINE], 1); }

static void past_shared(self_t *self, void **params) {
  STORE(&shared_ints(self)[self->index + (BROKEN ? 512 - 63 : 0)], 1, 1);
}

static void not_in_shared(self_t *self, void **params) {
  void *at = BROKEN ? (void *)B : self->block->shared + 4 * self->index;
  *(int *)tessera_emu_access(self, at, 4, TESSERA_EMU_STORE | TESSERA_EMU_SHARED, 1) = 5;
}

static void misaligned(self_t *self, void **params) {
  char *at = (char *)&A[4 * self->index] + (BROKEN && self->index == 1 ? 4 : 0);
  tessera_emu_access(self, at, 16, TESSERA_EMU_LOAD | TESSERA_EMU_ALIGN(16), 1);
}

static void read_only(self_t *self, void **params) { STORE(BROKEN ? &A[MINE] : &B[MINE], 1, 1); }

// A thread's own stack needs no buffer, but a record. (The address sanitizer would put |own| elsewhere.)
__attribute__((no_sanitize("address"))) static void local_memory(self_t *self, void **params) {
  int own[4];
  _Alignas(8) char record[sizeof(tessera_emu_private_t) + sizeof own];
  tessera_emu_private_t *callers = tessera_emu_privates(self);
  tessera_emu_private_begins(self, (tessera_emu_private_t *)record, own, sizeof own);
  STORE(&own[self->index % 4], 9, 1);
  STORE(BROKEN ? &(*(int **)params[1])[WORDS] : &B[MINE], LOAD(&own[self->index % 4], 2), 3);
  tessera_emu_privates_end(self, callers);
}

//===--- Memory nobody wrote ---------------------------------------------===//

static void unwritten_shared(self_t *self, void **params) {
  int *s = shared_ints(self);
  STORE(&s[self->index], 1, 1);
  LOAD(&s[self->index + (BROKEN ? 64 : 0)], 2);
}

static void half_written_shared(self_t *self, void **params) {
  short *s = (short *)self->block->shared;
  plain_store_short(self, &s[2 * self->index], 1, 1);
  if (BROKEN)
    LOAD(&shared_ints(self)[self->index], 2);
  else
    plain_load_short(self, &s[2 * self->index], 2);
}

static void unwritten_global(self_t *self, void **params) {
  STORE(&B[MINE], 1, 1);
  LOAD(&B[MINE + (BROKEN ? 256 : 0)], 2);
}

//===--- Asynchronous copies ---------------------------------------------===//

// Two stages: copy tile k + 1 while tile k is used. |mistake|: 1 no wait, 2 wait for too few, 3 no barrier after the
// wait, 4 no barrier before the next copy into the stage.
static void stages(self_t *self, void **params, int mistake) {
  int *s = shared_ints(self), sum = 0;
  uint32_t i = self->index;
  tessera_emu_copy_async(self, &s[i], &A[i], 4, 4, 1);
  tessera_emu_copy_commit(self);
  for (uint32_t k = 0; k < 5; ++k) {
    if (k < 4)
      tessera_emu_copy_async(self, &s[(k + 1) % 2 * 64 + i], &A[(k + 1) * 64 + i], 4, 4, 2);
    tessera_emu_copy_commit(self);
    if (mistake != 1)
      tessera_emu_copy_wait(self, mistake == 2 ? 2 : 1, 3);
    if (mistake != 3)
      tessera_emu_barrier(self, 0, 0, 4);
    sum += LOAD(&s[k % 2 * 64 + (i ^ 33)], 5);
    if (mistake != 4)
      tessera_emu_barrier(self, 0, 0, 6);
  }
  STORE(&B[MINE], sum, 7);
}

#define STAGES(name, mistake)                                                                                          \
  static void name(self_t *self, void **params) { stages(self, params, BROKEN ? mistake : 0); }
STAGES(no_wait, 1)
STAGES(waits_for_too_few, 2)
STAGES(no_barrier_after_wait, 3)
STAGES(no_barrier_before_refill, 4)

static void test_values(void) {
  for (uint64_t seed = 0; seed < SEEDS; ++seed) {
    tessera_emulator_report_t *report = run(no_wait, 0, seed);
    for (int t = 0; t < 64; ++t) {
      int sum = 0;
      for (int k = 0; k < 5; ++k)
        sum += (k * 64 + (t ^ 33)) * 7;
      CHECK(b[t] == sum && b[64 + t] == sum);
    }
    tessera_emulator_report_destroy(report);
  }
}

static void overwritten_in_flight(self_t *self, void **params) {
  int *s = shared_ints(self);
  tessera_emu_copy_async(self, &s[self->index], &A[self->index], 4, 4, 1);
  if (!BROKEN)
    tessera_emu_copy_wait_all(self, 2);
  STORE(&s[self->index], 5, 3);
}

static void copied_twice(self_t *self, void **params) {
  int *s = shared_ints(self);
  tessera_emu_copy_async(self, &s[4 * self->index], &A[4 * self->index], 16, 16, 1);
  if (!BROKEN)
    tessera_emu_copy_wait_all(self, 2);
  tessera_emu_copy_async(self, &s[4 * self->index], &A[4 * self->index], 16, 16, 3);
  tessera_emu_copy_wait_all(self, 4);
}

// Another thread writes the source between issue and wait, with barriers on both sides.
static void source_overwritten(self_t *self, void **params) {
  int *s = shared_ints(self), *source = &B[self->block->id[0] * 64];
  STORE(&source[self->index], 5, 1);
  tessera_emu_barrier(self, 0, 0, 2);
  tessera_emu_copy_async(self, &s[self->index], &source[self->index ^ 1], 4, 4, 3);
  if (!BROKEN)
    tessera_emu_copy_wait_all(self, 4);
  tessera_emu_barrier(self, 0, 0, 5);
  STORE(&source[self->index], 6, 6);
  tessera_emu_barrier(self, 0, 0, 7);
  if (BROKEN)
    tessera_emu_copy_wait_all(self, 8);
}

static void wrong_size(self_t *self, void **params) {
  tessera_emu_copy_async(self, &shared_ints(self)[4 * self->index], &A[4 * self->index], BROKEN ? 12 : 16, 12, 1);
}

static void source_outside(self_t *self, void **params) { // zero-filled copies read nothing
  int *source = &A[WORDS - 2 + (BROKEN ? 1 : 0)];
  tessera_emu_copy_async(self, &shared_ints(self)[2 * self->index], source + 1000, 8, 0, 1);
  tessera_emu_copy_wait_all(self, 2);
  CHECK(LOAD(&shared_ints(self)[2 * self->index + 1], 3) == 0);
  if (self->index == 5)
    tessera_emu_copy_async(self, &shared_ints(self)[256], BROKEN ? &A[WORDS] : &A[WORDS - 2], 8, 8, 4);
}

static void target_outside(self_t *self, void **params) {
  if (self->index == 5)
    tessera_emu_copy_async(self, &shared_ints(self)[BROKEN ? 512 : 508], A, 16, 16, 1);
}

int main(void) {
  expect("past the end", past_the_end, TESSERA_EMULATOR_OUT_OF_BOUNDS, 1, 0,
         "write of 4 bytes at b+4096, a buffer of 4096 bytes");
  expect("before the begin", before_the_begin, TESSERA_EMULATOR_OUT_OF_BOUNDS, 1, 0, "read of 4 bytes at ");
  expect("half outside", half_outside, TESSERA_EMULATOR_OUT_OF_BOUNDS, 1, 0, "write of 8 bytes at b+4092");
  expect("null", null_pointer, TESSERA_EMULATOR_OUT_OF_BOUNDS, 1, 0, "at address 16: a null pointer");
  expect("past shared", past_shared, TESSERA_EMULATOR_OUT_OF_BOUNDS, 1, 0,
         "write of 4 bytes at shared+2048, but the block has 2048 bytes of shared memory");
  expect("not in shared", not_in_shared, TESSERA_EMULATOR_OUT_OF_BOUNDS, 1, 0, "shared memory");
  expect("misaligned", misaligned, TESSERA_EMULATOR_MISALIGNED, 1, 0, "must be a multiple of 16");
  expect("read only", read_only, TESSERA_EMULATOR_READ_ONLY, 1, 0, "write to a+");
  expect("local", local_memory, TESSERA_EMULATOR_OUT_OF_BOUNDS, 3, 0, "a+4096");
  expect("unwritten shared", unwritten_shared, TESSERA_EMULATOR_UNINITIALIZED, 2, 0, "which nothing has written");
  expect("half written shared", half_written_shared, TESSERA_EMULATOR_UNINITIALIZED, 2, 0, "read of shared+");
  expect("unwritten global", unwritten_global, TESSERA_EMULATOR_UNINITIALIZED, 2, 0, "read of b+");
  expect("no wait", no_wait, TESSERA_EMULATOR_EARLY_READ, 5, 1, "is still writing: no wait covers it");
  expect("waits for too few", waits_for_too_few, TESSERA_EMULATOR_EARLY_READ, 5, 1, "is still writing");
  expect("no barrier after the wait", no_barrier_after_wait, TESSERA_EMULATOR_RACE, 1, 5, "in no order");
  expect("no barrier before the refill", no_barrier_before_refill, TESSERA_EMULATOR_RACE, 5, 2, "in no order");
  expect("overwritten in flight", overwritten_in_flight, TESSERA_EMULATOR_OVERWRITE, 3, 1, "write of shared+");
  expect("copied twice", copied_twice, TESSERA_EMULATOR_OVERWRITE, 3, 1, "write of shared+");
  expect("source overwritten", source_overwritten, TESSERA_EMULATOR_RACE, 3, 6, "in no order, at b+");
  expect("wrong size", wrong_size, TESSERA_EMULATOR_BAD_OPERAND, 1, 0, "copy of 12 bytes to 12; 4, 8 or 16");
  expect("source outside", source_outside, TESSERA_EMULATOR_OUT_OF_BOUNDS, 4, 0, "read of 8 bytes at a+4096");
  expect("target outside", target_outside, TESSERA_EMULATOR_OUT_OF_BOUNDS, 1, 0, "copy of 16 bytes to shared+2048");
  test_values();
  return checkResult(300);
}
