// emulator_cluster_test.c - blocks of a cluster: who they are, memory of each other, barriers of each other, copies to
// several of them, and each way to get the order wrong, under every seed.
#include "lib/support/tensor_map.h"
#include "test/emulator/machine/emulate.h"

enum { SEEDS = 8, BARRIER = 65536, SHARED = 66560, THREADS = 64 };

static tessera_emulator_chip_t clusters(void) {
  tessera_emulator_chip_t chip = wide32;
  chip.cluster_blocks = 8;
  return chip;
}

static tessera_emulator_report_t *run_on(tessera_emu_kernel_t kernel, void **params, uint64_t seed,
                                         const uint32_t grid[3], const uint32_t cluster[3],
                                         const tessera_emulator_buffer_t *buffers, size_t count) {
  tessera_emulator_chip_t chip = clusters();
  return emulate_on(&chip, &(tessera_emulator_launch_t){.kernel = kernel,
                                                        .params = params,
                                                        .grid = {grid[0], grid[1], grid[2]},
                                                        .block = {THREADS},
                                                        .cluster = {cluster[0], cluster[1], cluster[2]},
                                                        .shared_bytes = SHARED,
                                                        .buffers = buffers,
                                                        .buffer_count = count,
                                                        .checks = true,
                                                        .count = true,
                                                        .seed = seed});
}

static bool has_text(const tessera_emulator_report_t *report, const char *text) {
  for (size_t i = 0; report && i < report->finding_count; ++i)
    if (strstr(report->findings[i].text, text))
      return true;
  if (report)
    print_findings(report);
  return false;
}

//===--- Who a block is --------------------------------------------------===//

static int places[24][10];

static void tell(self_t *self, void **params) {
  const tessera_emu_block_t *block = self->block;
  (void)params;
  if (self->id[0])
    return;
  int number = (int)(block->id[0] + block->grid[0] * block->id[1]);
  int values[] = {(int)block->rank,        (int)block->ranks,         (int)block->place[0],
                  (int)block->place[1],    (int)block->cluster_id[0], (int)block->cluster_id[1],
                  (int)block->clusters[0], (int)block->clusters[1],   (int)self->own_warp,
                  (int)self->warp};
  for (int i = 0; i < 10; ++i)
    STORE(&places[number][i], values[i], 1);
}

// A grid of 6 x 4 in clusters of 2 x 2: rank = x + 2 y within the cluster (docs/numerics.md §6).
static void test_places(void) {
  const tessera_emulator_buffer_t buffers[] = {{places, sizeof places, "places"}};
  tessera_emulator_report_t *report = run_on(tell, NULL, 1, (uint32_t[]){6, 4, 1}, (uint32_t[]){2, 2, 1}, buffers, 1);
  CHECK(is_clean(report), "places");
  CHECK(report && report->counters.blocks == 24 && report->counters.threads == 24 * THREADS, "counts");
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 6; ++x) {
      int rank = x % 2 + y % 2 * 2, expected[] = {rank, 4, x % 2, y % 2, x / 2, y / 2, 3, 2, 0, rank * THREADS / 32};
      CHECK(!memcmp(places[6 * y + x], expected, sizeof expected), "block %d,%d", x, y);
    }
  tessera_emulator_report_destroy(report);
}

static void test_launches(void) {
  static const struct {
    uint32_t grid, block, cluster;
    const char *text;
  } rows[] = {{3, 64, 2, "a grid of 3 blocks along axis 0, which is no multiple of the cluster's 2"},
              {16, 64, 16, "a cluster of 16 x 1 x 1 blocks; the chip takes 8"},
              {2, 48, 2, "a cluster of blocks of 48 threads; whole warps of 32 can be emulated"},
              {4, 512, 4, "a cluster of 4 blocks of 512 threads; at most 992 threads can be emulated together"}};
  tessera_emulator_chip_t chip = clusters();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    tessera_emulator_t *emulator = tessera_emulator_create(&chip);
    tessera_emulator_report_t *report = NULL;
    tessera_error_t error = {""};
    tessera_emulator_launch_t launch = {
        .kernel = tell, .grid = {rows[i].grid}, .block = {rows[i].block}, .cluster = {rows[i].cluster}};
    CHECK(!tessera_emulator_launch(emulator, &launch, &report, &error), "row %d", (int)i);
    CHECK(strstr(error.text, rows[i].text), "%s", error.text);
    tessera_emulator_destroy(emulator);
  }
}

//===--- Memory of a peer ------------------------------------------------===//

typedef enum swap_t {
  SWAPS,
  NO_FIRST_BARRIER,
  NO_LAST_BARRIER,
  RELAXED_ARRIVAL,
  READS_BEFORE_WAIT,
  NO_SUCH_BLOCK,
  ARRIVES_TWICE,
  ONLY_WAITS,
  ONE_STAYS_AWAY,
  BLOCK_BARRIER_ONLY,
  SWAP_KINDS
} swap_t;

static int swapped[4][THREADS];

static void cluster_barrier(self_t *self, uint32_t relaxed, uint32_t site) {
  tessera_emu_cluster_arrive(self, relaxed, site);
  tessera_emu_cluster_wait(self, site);
}

// Each thread writes a word of the peer's memory, and reads what the peer wrote into its own. params = {kind}
static void swap(self_t *self, void **params) {
  int kind = *(int *)params[0];
  uint32_t rank = self->block->rank, own = self->id[0];
  if (kind == ONE_STAYS_AWAY && rank == 1 && own == 7)
    kind = ONLY_WAITS;
  if (kind != NO_FIRST_BARRIER)
    cluster_barrier(self, 0, 1);
  int *peer = tessera_emu_mapa(self, shared_ints(self), kind == NO_SUCH_BLOCK ? 2 : 1 - rank, 2);
  STORE(&peer[own], (int)(100 * rank + own), 3);
  if (kind == BLOCK_BARRIER_ONLY)
    tessera_emu_barrier(self, 0, 0, 4);
  else if (kind != ONLY_WAITS)
    tessera_emu_cluster_arrive(self, kind == RELAXED_ARRIVAL, 4);
  if (kind == ARRIVES_TWICE)
    tessera_emu_cluster_arrive(self, 0, 4);
  if (kind != READS_BEFORE_WAIT && kind != BLOCK_BARRIER_ONLY)
    tessera_emu_cluster_wait(self, 4);
  int value = LOAD(&shared_ints(self)[own], 5);
  if (kind == READS_BEFORE_WAIT)
    tessera_emu_cluster_wait(self, 4);
  STORE(&swapped[self->block->id[0]][own], value, 6);
  if (kind == NO_LAST_BARRIER) // its memory is read once more, by nobody who tells
    LOAD(&peer[own], 7);
}

static void test_swap(void) {
  static const char *const texts[SWAP_KINDS] = {[NO_FIRST_BARRIER] = "does not know that it has begun",
                                                [NO_LAST_BARRIER] = "memory of another block",
                                                [RELAXED_ARRIVAL] = "in no order",
                                                [READS_BEFORE_WAIT] = "",
                                                [NO_SUCH_BLOCK] = "mapa to block 2 of a cluster of 2",
                                                [ARRIVES_TWICE] = "arrives twice at the cluster's barrier",
                                                [ONLY_WAITS] =
                                                    "waits at the cluster's barrier, where it has not arrived",
                                                [ONE_STAYS_AWAY] = "at the cluster's barrier",
                                                [BLOCK_BARRIER_ONLY] = ""};
  const tessera_emulator_buffer_t buffers[] = {{swapped, sizeof swapped, "swapped"}};
  for (uint64_t seed = 0; seed < SEEDS; ++seed)
    for (int kind = 0; kind < SWAP_KINDS; ++kind) {
      tessera_emulator_report_t *report =
          run_on(swap, (void *[]){&kind}, seed, (uint32_t[]){4, 1, 1}, (uint32_t[]){2, 1, 1}, buffers, 1);
      bool found = kind && report && report->finding_count && has_text(report, texts[kind]);
      CHECK(kind ? found : is_clean(report), "kind %d, seed %d", kind, (int)seed);
      for (int block = 0; !kind && block < 4; ++block)
        for (int i = 0; i < THREADS; ++i)
          CHECK(swapped[block][i] == 100 * (1 - block % 2) + i, "block %d, thread %d", block, i);
      tessera_emulator_report_destroy(report);
    }
}

//===--- Copies to several blocks ----------------------------------------===//

typedef enum cast_t {
  CASTS,
  CASTS_AND_MEETS, // leaves by a barrier of the cluster: as good
  ONLY_OWN,
  NO_BLOCK,
  TOO_MANY,
  NO_INIT_FENCE,
  NO_CLUSTER_BARRIER,
  NO_WAIT_FOR_EMPTY,
  WAITS_FOR_OWN_ONLY,
  ARRIVES_BY_CTA,
  WAITS_BY_CTA,
  ARRIVES_EARLY,
  NO_WAIT_FOR_FULL,
  LEAVES_EARLY,
  EXPECTS_HALF,
  PEER_WAIT,
  CAST_KINDS
} cast_t;

enum { STAGES = 2, ROUNDS = 5, BOX_BYTES = 2048, HALF_ROWS = 8 };
static uint16_t source[64 * 80];
static int sums[2][32];

static void wait_of_cluster(self_t *self, char *barrier, int parity, uint32_t how, uint32_t site) {
  while (!tessera_emu_mbarrier_test(self, barrier, (uint64_t)parity, how, site))
    ;
}

static void bring(self_t *self, const tessera_tensor_map_t *map, int kind, int round, char *box, char *full,
                  char *empty, int parity) {
  uint32_t mask = kind == ONLY_OWN ? 1u << self->block->rank : kind == NO_BLOCK ? 0 : kind == TOO_MANY ? 7 : 3;
  uint32_t rank = self->block->rank, half = BOX_BYTES / 2;
  if (kind != NO_WAIT_FOR_EMPTY)
    wait_of_cluster(self, empty, !parity, kind == WAITS_BY_CTA ? 0 : TESSERA_EMU_MBARRIER_CLUSTER, 3);
  tessera_emu_mbarrier_arrive(self, full, 1, kind == EXPECTS_HALF ? half : BOX_BYTES, 0, 4);
  tessera_emu_bulk_multicast(self, box + half * rank, map, full,
                             (int32_t[]){0, 2 * HALF_ROWS * round + HALF_ROWS * (int)rank}, 2, mask, 5);
}

static void take(self_t *self, int kind, char *box, char *full, char *empty, int parity, uint32_t *sum) {
  uint32_t how = kind == ARRIVES_BY_CTA ? 0 : TESSERA_EMU_MBARRIER_CLUSTER;
  uint32_t blocks = kind == WAITS_FOR_OWN_ONLY ? 1 : 2;
  if (kind == PEER_WAIT)
    tessera_emu_mbarrier_wait(self, tessera_emu_mapa(self, full, 1 - self->block->rank, 6), (uint32_t)parity, 6);
  else if (kind != NO_WAIT_FOR_FULL)
    tessera_emu_mbarrier_wait(self, full, (uint32_t)parity, 6);
  for (uint32_t to = 0; to < blocks && kind == ARRIVES_EARLY; ++to)
    tessera_emu_mbarrier_arrive(self, tessera_emu_mapa(self, empty, to, 8), 1, 0, how, 8);
  for (int i = 0; i < BOX_BYTES / 128; ++i)
    *sum += (uint32_t)LOAD((int *)(box + 128 * i + 4 * self->lane), 7);
  for (uint32_t to = 0; to < blocks && kind != ARRIVES_EARLY; ++to) {
    uint32_t rank = blocks == 1 ? self->block->rank : to;
    tessera_emu_mbarrier_arrive(self, tessera_emu_mapa(self, empty, rank, 8), 1, 0, how, 8);
  }
}

// Each block's thread 32 brings half of each box to both blocks; the first warps of both read all of it and tell both.
// params = {map, kind}
static void cast(self_t *self, void **params) {
  const tessera_tensor_map_t *map = params[0];
  int kind = *(int *)params[1];
  uint32_t sum = 0; // wraps
  char *shared = self->block->shared, *barriers = shared + BARRIER;
  if (self->id[0] == 0)
    for (int i = 0; i < STAGES; ++i) {
      tessera_emu_mbarrier_init(self, barriers + 8 * i, 1, 1);
      tessera_emu_mbarrier_init(self, barriers + 8 * (STAGES + i), kind == WAITS_FOR_OWN_ONLY ? 32 : 64, 1);
    }
  if (kind != NO_INIT_FENCE)
    tessera_emu_fence_mbarrier_init(self, 1);
  if (kind == NO_CLUSTER_BARRIER)
    tessera_emu_barrier(self, 0, 0, 2);
  else
    cluster_barrier(self, 0, 2);
  for (int round = 0; round < ROUNDS; ++round) {
    int stage = round % STAGES, parity = round / STAGES % 2;
    char *full = barriers + 8 * stage, *empty = barriers + 8 * (STAGES + stage), *box = shared + BOX_BYTES * stage;
    if (self->id[0] == 32)
      bring(self, map, kind, round, box, full, empty, parity);
    else if (self->id[0] < 32)
      take(self, kind, box, full, empty, parity, &sum);
  }
  if (self->id[0] == 32 && kind != LEAVES_EARLY && kind != CASTS_AND_MEETS) // all have arrived here for the last time
    for (int round = ROUNDS; round < ROUNDS + STAGES; ++round)
      wait_of_cluster(self, barriers + 8 * (STAGES + round % STAGES), !(round / STAGES % 2),
                      TESSERA_EMU_MBARRIER_CLUSTER, 10);
  if (self->id[0] < 32)
    STORE(&sums[self->block->rank][self->id[0]], (int)sum, 9);
  if (kind == CASTS_AND_MEETS)
    cluster_barrier(self, 0, 10);
}

static uint32_t expected_sum(int lane) {
  uint32_t sum = 0;
  for (int row = 0; row < ROUNDS * 2 * HALF_ROWS; ++row) {
    uint32_t word;
    memcpy(&word, (char *)source + 128 * row + 4 * lane, 4);
    sum += word;
  }
  return sum;
}

static void check_cast(const tessera_emulator_report_t *report, int seed) {
  CHECK(is_clean(report), "seed %d", seed);
  for (int block = 0; block < 2; ++block)
    for (int lane = 0; lane < 32; ++lane)
      CHECK((uint32_t)sums[block][lane] == expected_sum(lane), "block %d, lane %d", block, lane);
  CHECK(report && report->counters.global_bytes_read == ROUNDS * BOX_BYTES, "each byte is read once for both");
  CHECK(report && report->counters.async_copies == 2 * ROUNDS, "a copy is one, however many get it");
}

static void test_cast(void) {
  static const char *const texts[CAST_KINDS] = {[ONLY_OWN] = "for 1024 bytes of phase 0",
                                                [NO_BLOCK] = "mask 0x0 of a cluster of 2",
                                                [TOO_MANY] = "mask 0x7 of a cluster of 2",
                                                [NO_INIT_FENCE] = "missing fence",
                                                [NO_CLUSTER_BARRIER] = "",
                                                [NO_WAIT_FOR_EMPTY] = "",
                                                [WAITS_FOR_OWN_ONLY] = "",
                                                [ARRIVES_BY_CTA] = "in no order",
                                                [WAITS_BY_CTA] = "in no order",
                                                [ARRIVES_EARLY] = "",
                                                [NO_WAIT_FOR_FULL] = "",
                                                [LEAVES_EARLY] = "memory of another block",
                                                [EXPECTS_HALF] = "",
                                                [PEER_WAIT] = "only arrivals and copies may reach"};
  tessera_tensor_map_t map = {.address = (uint64_t)(uintptr_t)source,
                              .sizes = {64, 80},
                              .strides = {128},
                              .box = {64, HALF_ROWS},
                              .rank = 2,
                              .element = TESSERA_MAP_I16};
  const tessera_emulator_buffer_t buffers[] = {{source, sizeof source, "source"}, {sums, sizeof sums, "sums"}};
  for (uint64_t seed = 0; seed < SEEDS; ++seed)
    for (int kind = 0; kind < CAST_KINDS; ++kind) {
      tessera_emulator_report_t *report =
          run_on(cast, (void *[]){&map, &kind}, seed, (uint32_t[]){2, 1, 1}, (uint32_t[]){2, 1, 1}, buffers, 2);
      if (kind <= CASTS_AND_MEETS)
        check_cast(report, (int)seed);
      else
        CHECK(report && report->finding_count && has_text(report, texts[kind]), "kind %d, seed %d", kind, (int)seed);
      tessera_emulator_report_destroy(report);
    }
}

int main(void) {
  for (int i = 0; i < 64 * 80; ++i)
    source[i] = (uint16_t)(i * 2654435761u >> 7);
  test_places();
  test_launches();
  test_swap();
  test_cast();
  return checkResult(500);
}
