// emulator_count_test.c - bytes, transactions and bank conflicts by the closed forms of numerics.md §9, computed here
// by hand or by formula; per site and in all; in loops, branches and partial warps; and the trace.
#include "test/emulator/machine/emulate.h"

enum { FLOATS = 16384 };

static char memory[4 * FLOATS] __attribute__((aligned(256)));

typedef struct access_t {
  const char *name;
  bool shared, store;
  uint32_t bytes, stride, offset; // of lane l: offset + stride * l
} access_t;

static void one_access(self_t *self, void **params) {
  const access_t *access = *(const access_t **)params[0];
  char *base = access->shared ? self->block->shared : *(char **)params[1];
  tessera_emu_access(self, base + access->offset + access->stride * self->lane, access->bytes,
                     access->store ? TESSERA_EMU_STORE : TESSERA_EMU_LOAD, 1);
}

static tessera_emulator_report_t *count_on(const tessera_emulator_chip_t *chip, tessera_emu_kernel_t kernel,
                                           const access_t *access, uint32_t block) {
  char *at = memory;
  tessera_emulator_buffer_t buffer = {memory, sizeof memory, "memory"};
  return emulate_on(chip, &(tessera_emulator_launch_t){.kernel = kernel,
                                                       .params = (void *[]){&access, &at},
                                                       .block = {block},
                                                       .shared_bytes = 32768,
                                                       .buffers = &buffer,
                                                       .buffer_count = 1,
                                                       .count = true});
}

//===--- Cases computed by hand ------------------------------------------===//

// Warp of 32, 32 banks of 4 bytes, sectors of 32 bytes. Shared: lanes go in phases of 128 bytes (32 x 4, 16 x 8, 8 x
// 16), each phase takes as many wavefronts as the fullest bank has different words. Global: sectors touched.
static const struct {
  access_t access;
  uint64_t transactions, ideal;
} by_hand[] = {
    {{"shared f32 stride 1", true, true, 4, 4}, 1, 1},       // one word of each bank
    {{"shared f32 stride 2", true, true, 4, 8}, 2, 1},       // 16 banks, two words each
    {{"shared f32 stride 4", true, true, 4, 16}, 4, 1},      // 8 banks, four each
    {{"shared f32 stride 8", true, true, 4, 32}, 8, 1},      // 4 banks
    {{"shared f32 stride 16", true, true, 4, 64}, 16, 1},    // 2 banks
    {{"shared f32 stride 32", true, true, 4, 128}, 32, 1},   // all in one bank
    {{"shared f32 stride 33", true, true, 4, 132}, 1, 1},    // 33 = 1 mod 32
    {{"shared f32 broadcast", true, false, 4, 0}, 1, 1},     // one word
    {{"shared 2xf32", true, true, 8, 8}, 2, 2},              // two phases, no conflict
    {{"shared 4xf32 pitch 16", true, true, 16, 16}, 4, 4},   // four phases
    {{"shared 4xf32 pitch 32", true, true, 16, 32}, 8, 4},   // in a phase lanes 0 and 4 share banks 0 to 3
    {{"shared 4xf32 pitch 144", true, true, 16, 144}, 4, 4}, // 144 = 16 mod 128: as pitch 16
    {{"shared f16", true, true, 2, 2}, 1, 1},                // two lanes a word
    {{"global f32 stride 1", false, false, 4, 4}, 4, 4},     // 128 bytes
    {{"global f32 stride 2", false, false, 4, 8}, 8, 4},     // 256 bytes are spanned
    {{"global f32 stride 32", false, false, 4, 128}, 32, 4}, // a sector each
    {{"global f32 off by 4", false, false, 4, 4, 4}, 5, 4},  // bytes 4 to 131
    {{"global f32 broadcast", false, false, 4, 0}, 1, 1},
    {{"global f16", false, false, 2, 2}, 2, 2},               // 64 bytes
    {{"global 4xf32", false, true, 16, 16}, 16, 16},          // 512 bytes
    {{"global 4xf32 pitch 32", false, true, 16, 32}, 32, 16}, // half of each sector
};

static void test_by_hand(void) {
  for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; ++i) {
    const access_t *access = &by_hand[i].access;
    tessera_emulator_report_t *report = count_on(&wide32, one_access, access, 32);
    CHECK(report && report->site_count > 1);
    const tessera_emulator_site_counters_t *site = &report->sites[1];
    const tessera_emulator_counters_t *all = &report->counters;
    CHECK(site->transactions == by_hand[i].transactions && site->ideal == by_hand[i].ideal, "%s: %d of %d",
          access->name, (int)site->transactions, (int)site->ideal);
    CHECK(site->executions == 1 && site->lanes == 32 && site->bytes == 32 * access->bytes, "%s", access->name);
    uint64_t conflicts = access->shared ? by_hand[i].transactions - by_hand[i].ideal : 0;
    CHECK(all->shared_bank_conflicts == conflicts, "%s", access->name);
    CHECK(all->global_transactions == (access->shared ? 0 : by_hand[i].transactions), "%s", access->name);
    CHECK(all->shared_wavefronts == (access->shared ? by_hand[i].transactions : 0), "%s", access->name);
    tessera_emulator_report_destroy(report);
  }
}

//===--- Formulas --------------------------------------------------------===//

static uint32_t greatest_divisor(uint32_t a, uint32_t b) { return b ? greatest_divisor(b, a % b) : a; }

// n lanes, 4-byte words at a stride of s words, B banks: ceil(n / (B / gcd(s, B))) - 1 conflicts, in each phase.
static void test_conflicts_by_formula(const tessera_emulator_chip_t *chip) {
  for (uint32_t stride = 1; stride <= 96; ++stride) {
    access_t access = {"", true, true, 4, 4 * stride};
    uint32_t lanes = chip->banks, banks = chip->banks / greatest_divisor(stride, chip->banks);
    uint64_t phases = chip->warp_width / lanes;
    tessera_emulator_report_t *report = count_on(chip, one_access, &access, chip->warp_width);
    CHECK(report && report->counters.shared_bank_conflicts == phases * ((lanes + banks - 1) / banks - 1), "stride %u",
          stride);
    tessera_emulator_report_destroy(report);
  }
}

// W lanes of b bytes from an aligned start: W * b / transaction; at a stride of at least a transaction: W.
static void test_transactions_by_formula(const tessera_emulator_chip_t *chip) {
  static const uint32_t sizes[] = {1, 2, 4, 8, 16};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (uint32_t stride = sizes[i]; stride <= 256; stride *= 2) {
      access_t access = {"", false, false, sizes[i], stride};
      uint64_t wanted = chip->warp_width * (uint64_t)stride / chip->sector_bytes;
      wanted = stride >= chip->sector_bytes ? chip->warp_width : wanted ? wanted : 1;
      tessera_emulator_report_t *report = count_on(chip, one_access, &access, chip->warp_width);
      CHECK(report && report->counters.global_transactions == wanted, "%u bytes, stride %u", sizes[i], stride);
      tessera_emulator_report_destroy(report);
    }
}

//===--- Lanes that run one after another, put together again ------------===//

// A loop of 5, an access only odd lanes make, and one of all after it; without a meeting in between.
static void loop_and_branch(self_t *self, void **params) {
  float *g = *(float **)params[1];
  for (int k = 0; k < 5; ++k) {
    plain_load_float(self, &g[k * 512 + (int)self->index], 1);
    if (self->lane % 2)
      plain_load_float(self, &g[(int)self->index], 2);
    plain_store_float(self, &g[k * 512 + (int)self->index], 1, 3);
  }
}

static void test_loop_and_branch(void) {
  tessera_emulator_report_t *report = count_on(&wide32, loop_and_branch, NULL, 128);
  CHECK(report && report->site_count > 3);
  const tessera_emulator_site_counters_t *sites = report->sites;
  CHECK(sites[1].executions == 4 * 5 && sites[1].transactions == 4 * 5 * 4 && sites[1].lanes == 4 * 5 * 32);
  CHECK(sites[2].executions == 4 * 5 && sites[2].transactions == 4 * 5 * 4 && sites[2].lanes == 4 * 5 * 16);
  CHECK(sites[3].executions == 4 * 5 && sites[3].transactions == 4 * 5 * 4);
  CHECK(report->counters.global_loads == 40 && report->counters.global_stores == 20);
  CHECK(report->counters.global_bytes_read == 4 * 5 * (32 + 16) * 4);
  CHECK(report->counters.global_bytes_written == 4 * 5 * 32 * 4);
  CHECK(report->counters.global_transactions == 4 * 5 * 12);
  tessera_emulator_report_destroy(report);
}

// More accesses between two meetings than the log holds, and lanes that do not make all of them.
static void long_loop(self_t *self, void **params) {
  float *g = *(float **)params[1];
  int end = self->lane < 20 ? 1000 : 700;
  for (int k = 0; k < end; ++k)
    plain_load_float(self, &g[(k % 16) * 128 + (int)self->index], 1);
  tessera_emu_barrier(self, 0, 0, 2);
}

static void test_long_loop(void) {
  tessera_emulator_report_t *report = count_on(&wide32, long_loop, NULL, 96);
  CHECK(report && report->sites[1].executions == 3 * 1000);
  CHECK(report && report->sites[1].lanes == 3 * (20 * 1000 + 12 * 700));
  CHECK(report && report->sites[1].transactions == 3 * (700 * 4 + 300 * 3)); // 20 lanes: 80 bytes
  tessera_emulator_report_destroy(report);
}

//===--- Other counters --------------------------------------------------===//

static void mma_meaning(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  tessera_emu_count_mma(group->lane[0], 2 * 16 * 8 * 16, 0, group->site);
  for (uint32_t lane = 0; lane < 32; ++lane) // as ldmatrix: rows of 16 bytes at a pitch of 32
    tessera_emu_access(group->lane[lane], group->contribution[lane], 16, TESSERA_EMU_LOAD, group->site);
}

static void various(self_t *self, void **params) {
  float *g = *(float **)params[1];
  tessera_emu_copy_async(self, self->block->shared + 16 * self->index, g + 4 * self->index, 16, 16, 1);
  tessera_emu_copy_wait_all(self, 2);
  tessera_emu_barrier(self, 0, 0, 3);
  tessera_emu_collective(self, 0xffffffff, TESSERA_EMU_ALIGNED, mma_meaning, NULL,
                         self->block->shared + 32 * self->lane, 4);
  tessera_emu_count(self, TESSERA_EMU_FLOATING, 3);
  tessera_emu_count_flops(self, 6);
  int *at = tessera_emu_atomic_begin(self, g, 4, TESSERA_EMU_LOAD | TESSERA_EMU_STORE, TESSERA_EMU_RELAXED,
                                     TESSERA_EMU_SCOPE_DEVICE, 5);
  __atomic_fetch_add(at, 1, __ATOMIC_RELAXED);
  tessera_emu_atomic_end(self);
}

static void test_various(void) {
  tessera_emulator_report_t *report = count_on(&wide32, various, NULL, 64);
  CHECK(report);
  const tessera_emulator_counters_t *all = &report->counters;
  CHECK(all->async_copies == 64 && all->async_bytes == 1024 && all->barriers == 1 && all->collectives == 2);
  CHECK(all->mma_instructions == 2 && all->mma_flops == 2 * 4096 && report->sites[4].mma_flops == 2 * 4096);
  CHECK(report->sites[4].executions == 2 && report->sites[4].transactions == 16 && report->sites[4].ideal == 8);
  CHECK(all->instructions[TESSERA_EMU_FLOATING] == 192 && all->flops == 384 && all->atomics == 64);
  CHECK(all->global_bytes_read == 1024 + 256 && all->global_bytes_written == 256);
  CHECK(all->global_transactions == 2 * 16 + 2 && all->shared_bytes_written == 1024);
  tessera_emulator_report_destroy(report);
}

//===--- The trace -------------------------------------------------------===//

static void test_trace(const char *path) {
  char *at = memory, text[1 << 16];
  const access_t *none = NULL;
  tessera_emulator_buffer_t buffer = {memory, sizeof memory, "memory"};
  const char *names[] = {NULL, "copy at 12", "wait at 13", "barrier at 14", "mma at 15", "atomic at 16"};
  tessera_emulator_report_t *report = emulate(&(tessera_emulator_launch_t){.kernel = various,
                                                                           .name = "various",
                                                                           .params = (void *[]){&none, &at},
                                                                           .grid = {2},
                                                                           .block = {64},
                                                                           .shared_bytes = 32768,
                                                                           .buffers = &buffer,
                                                                           .buffer_count = 1,
                                                                           .site_names = names,
                                                                           .site_count = 6,
                                                                           .trace = true,
                                                                           .count = true});
  tessera_error_t error = {""};
  CHECK(report && tessera_emulator_trace_write(report, path, &error), "%s", error.text);
  tessera_emulator_report_destroy(report);
  FILE *file = fopen(path, "r");
  size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
  text[bytes] = 0;
  if (file)
    fclose(file);
  CHECK_CONTAINS(text, "\"traceEvents\"");
  CHECK_CONTAINS(text, "various, block 1");
  CHECK_CONTAINS(text, "\"warp 1\"");
  CHECK_CONTAINS(text, "copies of warp 0");
  CHECK_CONTAINS(text, "copy at 12");
  CHECK_CONTAINS(text, "barrier at 14");
}

int main(int argc, char **argv) {
  test_by_hand();
  test_conflicts_by_formula(&wide32);
  test_conflicts_by_formula(&wide64);
  test_transactions_by_formula(&wide32);
  test_transactions_by_formula(&wide64);
  test_loop_and_branch();
  test_long_loop();
  test_various();
  if (argc > 1)
    test_trace(argv[1]);
  return checkResult(200);
}
