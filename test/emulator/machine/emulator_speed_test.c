// emulator_speed_test.c - a matrix product as a compiler would make it for sm_80 (cp.async, ldmatrix, mma.sync,
// barriers), by hand: right to the bit, clean, counted, each barrier and wait needed; and how fast the emulator is.
// With an argument, a number of rounds, prints figures for ./dev bench emulator.
#include "test/emulator/machine/emulate.h"

#include <time.h>

typedef _Float16 half_t;

enum { TILE_M = 64, TILE_N = 32, TILE_K = 16, MISTAKES = 4 };

//===--- The three collectives, from the PTX manual ----------------------===//

typedef struct matrices_t {
  const char *row;
  uint32_t registers[4];
} matrices_t;

// ldmatrix: lane 8q + r hands in row r of matrix q; lane l gets the pair of column 2 * (l % 4) in row l / 4.
static void load_matrices(const tessera_emu_group_t *group, const void *parameter) {
  int count = *(const int *)parameter;
  const uint32_t *rows[32];
  for (int lane = 0; lane < 8 * count; ++lane) {
    const matrices_t *one = group->contribution[lane];
    rows[lane] = tessera_emu_access(group->lane[lane], one->row, 16,
                                    TESSERA_EMU_LOAD | TESSERA_EMU_SHARED | TESSERA_EMU_ALIGN(16), group->site);
  }
  for (int lane = 0; lane < 32; ++lane) {
    matrices_t *one = group->contribution[lane];
    for (int q = 0; q < count; ++q)
      one->registers[q] = rows[8 * q + lane / 4][lane % 4];
  }
}

typedef struct product_t {
  uint16_t a[8], b[4];
  float c[4];
} product_t;

// f16 to f32, of finite values: exact, and without a call.
static inline float widen(uint16_t half) {
  uint32_t bits = (uint32_t)(half & 0x7fff) << 13 | (uint32_t)(half & 0x8000) << 16;
  float scaled;
  memcpy(&scaled, &bits, 4);
  return scaled * 0x1p112f;
}

// mma.sync.m16n8k16 f16 -> f32.
static void multiply(const tessera_emu_group_t *group, const void *parameter) {
  float a[16][16], b[16][8], c[16][8];
  (void)parameter;
  for (int lane = 0; lane < 32; ++lane) {
    const product_t *one = group->contribution[lane];
    int row = lane / 4, column = lane % 4 * 2;
    for (int i = 0; i < 8; ++i)
      a[row + i / 2 % 2 * 8][column + i % 2 + i / 4 * 8] = widen(one->a[i]);
    for (int i = 0; i < 4; ++i) {
      b[column + i % 2 + i / 2 * 8][row] = widen(one->b[i]);
      c[row + i / 2 * 8][column + i % 2] = one->c[i];
    }
  }
  for (int m = 0; m < 16; ++m)
    for (int k = 0; k < 16; ++k)
      for (int n = 0; n < 8; ++n)
        c[m][n] += a[m][k] * b[k][n];
  for (int lane = 0; lane < 32; ++lane) {
    product_t *one = group->contribution[lane];
    for (int i = 0; i < 4; ++i)
      one->c[i] = c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
  }
  tessera_emu_count_mma(group->lane[0], 2 * 16 * 8 * 16, 0, group->site);
}

//===--- The kernel ------------------------------------------------------===//

typedef struct gemm_t {
  int size, mistake; // 1 no wait, 2 no barrier after it, 3 no barrier before the next copy
  const half_t *a, *b;
  float *c;
} gemm_t;

static void matrices(self_t *self, int count, const char *row, uint32_t *out, uint32_t site) {
  static const int counts[] = {0, 1, 2, 3, 4};
  matrices_t one = {row};
  tessera_emu_collective(self, 0xffffffff, TESSERA_EMU_ALIGNED, load_matrices, &counts[count], &one, site);
  memcpy(out, one.registers, (size_t)count * 4);
}

// C = A * B^T, tile 64 x 32, four warps of 16 x 32. Rows in shared memory are 32 bytes: two-way conflicts.
static void gemm(self_t *self, void **params) {
  const gemm_t *p = *(const gemm_t **)params[0];
  char *a_tile = self->block->shared, *b_tile = a_tile + TILE_M * TILE_K * 2;
  int thread = (int)self->index, row = thread / 2, part = thread % 2 * 8, lane = (int)self->lane;
  int m0 = (int)self->block->id[0] * TILE_M, n0 = (int)self->block->id[1] * TILE_N;
  product_t products[4] = {{{0}}};
  for (int k = 0; k < p->size; k += TILE_K) {
    tessera_emu_copy_async(self, a_tile + row * 32 + part * 2, &p->a[(m0 + row) * p->size + k + part], 16, 16, 1);
    if (row < TILE_N)
      tessera_emu_copy_async(self, b_tile + row * 32 + part * 2, &p->b[(n0 + row) * p->size + k + part], 16, 16, 2);
    tessera_emu_copy_commit(self);
    if (p->mistake != 1)
      tessera_emu_copy_wait(self, 0, 3);
    if (p->mistake != 2)
      tessera_emu_barrier(self, 0, 0, 4);
    uint32_t a[4];
    matrices(self, 4, a_tile + ((int)self->warp * 16 + lane % 16) * 32 + lane / 16 * 16, a, 5);
    for (int n = 0; n < 4; ++n) {
      memcpy(products[n].a, a, 16);
      uint32_t b[2];
      matrices(self, 2, b_tile + (n * 8 + lane % 8) * 32 + lane / 8 % 2 * 16, b, 6);
      memcpy(products[n].b, b, 8);
      tessera_emu_collective(self, 0xffffffff, TESSERA_EMU_ALIGNED, multiply, NULL, &products[n], 7);
    }
    if (p->mistake != 3)
      tessera_emu_barrier(self, 0, 0, 8);
  }
  for (int n = 0; n < 4; ++n)
    for (int i = 0; i < 4; i += 2) {
      int m = m0 + (int)self->warp * 16 + lane / 4 + i / 2 * 8, column = n0 + n * 8 + lane % 4 * 2;
      float *to = tessera_emu_access(self, &p->c[m * p->size + column], 8,
                                     TESSERA_EMU_STORE | TESSERA_EMU_GLOBAL | TESSERA_EMU_ALIGN(8), 9);
      memcpy(to, &products[n].c[i], 8);
    }
}

//===--- Running it ------------------------------------------------------===//

enum { MOST = 256 };
static half_t a[MOST * MOST], b[MOST * MOST];
static float c[MOST * MOST];

static void fill(int size) {
  uint64_t random = 12345;
  for (int i = 0; i < size * size; ++i) {
    a[i] = (half_t)((double)(checkRandom(&random) % 17) - 8) / 8;
    b[i] = (half_t)((double)(checkRandom(&random) % 13) - 6) / 4;
    c[i] = -1;
  }
}

static tessera_emulator_report_t *run_gemm(tessera_emulator_t *emulator, int size, int mistake, bool checks, bool count,
                                           uint64_t seed, int threads) {
  gemm_t gemm_params = {size, mistake, a, b, c}, *at = &gemm_params;
  size_t bytes = (size_t)size * (size_t)size;
  tessera_emulator_buffer_t buffers[] = {{a, bytes * 2, "a"}, {b, bytes * 2, "b"}, {c, bytes * 4, "c"}};
  tessera_emulator_report_t *report = NULL;
  tessera_emulator_launch_t launch = {.kernel = gemm,
                                      .params = (void *[]){&at},
                                      .grid = {(uint32_t)(size / TILE_M), (uint32_t)(size / TILE_N)},
                                      .block = {128},
                                      .shared_bytes = (TILE_M + TILE_N) * TILE_K * 2,
                                      .buffers = buffers,
                                      .buffer_count = 3,
                                      .checks = checks,
                                      .count = count,
                                      .seed = seed,
                                      .threads = threads};
  tessera_emulator_launch(emulator, &launch, &report, NULL);
  return report;
}

static int wrong_elements(int size) {
  int wrong = 0;
  for (int m = 0; m < size; ++m)
    for (int n = 0; n < size; ++n) {
      float sum = 0; // exact: multiples of 1/32, small
      for (int k = 0; k < size; ++k)
        sum += (float)a[m * size + k] * (float)b[n * size + k];
      wrong += !(c[m * size + n] == sum);
    }
  return wrong;
}

static void test_clean(tessera_emulator_t *emulator) {
  const uint64_t size = 128, blocks = size / TILE_M * (size / TILE_N), steps = size / TILE_K;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    fill((int)size);
    tessera_emulator_report_t *report = run_gemm(emulator, (int)size, 0, true, true, seed, 2);
    CHECK(is_clean(report));
    CHECK(wrong_elements((int)size) == 0);
    const tessera_emulator_counters_t *all = &report->counters;
    CHECK(all->mma_flops == 2 * size * size * size);
    CHECK(all->barriers == blocks * steps * 2 && all->collectives == blocks * steps * 4 * 9);
    CHECK(all->async_bytes == blocks * steps * (TILE_M + TILE_N) * TILE_K * 2);
    CHECK(all->global_bytes_written == size * size * 4);
    // For ldmatrix, 8 rows of 16 bytes at a pitch of 32: each phase takes two wavefronts.
    CHECK(report->sites[5].transactions == 2 * report->sites[5].ideal && report->sites[5].ideal == blocks * steps * 16);
    CHECK(report->sites[6].transactions == 2 * report->sites[6].ideal);
    tessera_emulator_report_destroy(report);
  }
}

static void test_mistakes(tessera_emulator_t *emulator) {
  static const struct {
    tessera_emulator_kind_t kind;
    uint32_t site, other_site;
  } wanted[MISTAKES] = {
      {0}, {TESSERA_EMULATOR_EARLY_READ, 5, 1}, {TESSERA_EMULATOR_RACE, 1, 5}, {TESSERA_EMULATOR_RACE, 1, 5}};
  for (int mistake = 1; mistake < MISTAKES; ++mistake)
    for (uint64_t seed = 0; seed < 4; ++seed) {
      fill(128);
      tessera_emulator_report_t *report = run_gemm(emulator, 128, mistake, true, true, seed, 2);
      CHECK(has_finding(report, wanted[mistake].kind, wanted[mistake].site, wanted[mistake].other_site), "mistake %d",
            mistake);
      tessera_emulator_report_destroy(report);
    }
}

//===--- Figures ---------------------------------------------------------===//

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); // one host thread, on machines that others use too
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void empty(self_t *self, void **params) {
  (void)self;
  (void)params;
}

static double time_empty(tessera_emulator_t *emulator) {
  tessera_emulator_report_t *report = NULL;
  tessera_emulator_launch_t launch = {.kernel = empty, .grid = {10000}, .block = {256}, .checks = true, .threads = 1};
  double start = milliseconds();
  tessera_emulator_launch(emulator, &launch, &report, NULL);
  double time = milliseconds() - start;
  tessera_emulator_report_destroy(report);
  return time;
}

static double time_gemm(tessera_emulator_t *emulator, bool checks, bool count) {
  double start = milliseconds();
  tessera_emulator_report_destroy(run_gemm(emulator, 256, 0, checks, count, 1, 1));
  return milliseconds() - start;
}

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

static double median(double *times, int count) {
  qsort(times, (size_t)count, sizeof *times, compare);
  return times[count / 2];
}

// One line for each: name, milliseconds (median of interleaved rounds, on one host thread).
static void print_figures(tessera_emulator_t *emulator, int rounds) {
  double *times = calloc(4 * (size_t)rounds, sizeof *times);
  fill(256);
  for (int i = 0; i < rounds; ++i) {
    times[i] = time_empty(emulator);
    times[rounds + i] = time_gemm(emulator, false, false);
    times[2 * rounds + i] = time_gemm(emulator, true, false);
    times[3 * rounds + i] = time_gemm(emulator, true, true);
  }
  static const char *const names[] = {"empty_2560000_threads", "gemm_256", "gemm_256_checked",
                                      "gemm_256_checked_counted"};
  for (int i = 0; i < 4; ++i)
    printf("%s %.3f\n", names[i], median(times + i * rounds, rounds));
  free(times);
}

int main(int argc, char **argv) {
  tessera_emulator_t *emulator = tessera_emulator_create(&wide32);
  int status = 0;
  if (argc > 1) {
    print_figures(emulator, atoi(argv[1]));
  } else {
    test_clean(emulator);
    test_mistakes(emulator);
    status = checkResult(30);
  }
  tessera_emulator_destroy(emulator);
  return status;
}
