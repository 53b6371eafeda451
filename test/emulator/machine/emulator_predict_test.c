// emulator_predict_test.c - predicted cycles by closed forms, of a core whose figures are round: latency of dependent
// loads, bandwidth, overlap of warps and of copies, matrix instructions, barriers, waves of blocks.
#include "test/emulator/machine/emulate.h"

#include <string.h>

enum { LOADS = 64, LATENCY = 400, NEAR = 100, SHARED = 20 };

static char memory[1 << 17] __attribute__((aligned(256)));

static const tessera_emulator_rates_t round_rates = {.cores = 4,
                                                     .partitions = 4,
                                                     .core_warps = 8,
                                                     .core_shared_bytes = 65536,
                                                     .floating =
                                                         256, // a warp's instruction each cycle, in 4 partitions
                                                     .mma = {4096},
                                                     .shared_latency = SHARED,
                                                     .near_latency = NEAR,
                                                     .far_latency = LATENCY,
                                                     .near_bytes = 4096,
                                                     .far_bytes = 512, // 128 a core: a warp's f32s each cycle
                                                     .port_bytes = 1024,
                                                     .near_capacity = 1, // holds nothing
                                                     .hertz = 1e9};

static tessera_emulator_report_t *predict_as(const tessera_emulator_rates_t *rates, tessera_emu_kernel_t kernel,
                                             uint32_t grid, uint32_t block, bool cooperative) {
  char *at = memory;
  tessera_emulator_buffer_t buffer = {memory, sizeof memory, "memory"};
  return emulate(&(tessera_emulator_launch_t){.kernel = kernel,
                                              .params = (void *[]){&at},
                                              .grid = {grid},
                                              .block = {block},
                                              .shared_bytes = 16384,
                                              .buffers = &buffer,
                                              .buffer_count = 1,
                                              .checks = true,
                                              .count = true,
                                              .rates = rates,
                                              .cooperative = cooperative});
}

static double predict(const tessera_emulator_rates_t *rates, tessera_emu_kernel_t kernel, uint32_t grid,
                      uint32_t block) {
  tessera_emulator_report_t *report = predict_as(rates, kernel, grid, block, false);
  CHECK(report && is_clean(report), "not run, or not clean");
  double cycles = report ? report->cycles : -1;
  tessera_emulator_report_destroy(report);
  return cycles;
}

// 128 bytes each for the warps of 4 blocks of 4, then the next.
static char *place(self_t *self, void **params, uint32_t i) {
  uint32_t warp = self->block->id[0] % 4 * 4 + self->warp % 4;
  return *(char **)params[0] + ((i * 16 + warp) * 32 + self->lane) * 4;
}

static void load(self_t *self, void **params, uint32_t i, uint32_t site) {
  tessera_emu_access(self, place(self, params, i), 4, TESSERA_EMU_LOAD | TESSERA_EMU_GLOBAL, site);
}

static void dependent_loads(self_t *self, void **params) {
  for (uint32_t i = 0; i < LOADS; ++i) {
    load(self, params, i, 1);
    tessera_emu_use(self, 1);
  }
}

static void independent_loads(self_t *self, void **params) {
  for (uint32_t i = 0; i < LOADS; ++i)
    load(self, params, i, 1);
  tessera_emu_use(self, 1);
}

static void instructions(self_t *self, void **params) {
  (void)params;
  for (int i = 0; i < 100; ++i)
    tessera_emu_count(self, TESSERA_EMU_FLOATING, 10);
}

static void nothing(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  tessera_emu_count_mma(group->lane[0], 4096, 0, group->site);
}

static void products(self_t *self, void **params) {
  (void)params;
  for (int i = 0; i < 100; ++i)
    tessera_emu_collective(self, tessera_emu_full_mask(self), TESSERA_EMU_ALIGNED, nothing, NULL, NULL, 2);
}

// One warp has all the work, the others wait for it.
static void unequal(self_t *self, void **params) {
  if (self->warp == 0)
    instructions(self, params);
  tessera_emu_barrier(self, 0, 0, 3);
  if (self->warp == 1)
    instructions(self, params);
}

// Each round copies for the one `stages` later.
static void copies(self_t *self, void **params, uint32_t stages) {
  char *shared = self->block->shared + (self->warp * 32 + self->lane) * 4;
  for (uint32_t i = 0; i < LOADS + stages; ++i) {
    if (i < LOADS)
      tessera_emu_copy_async(self, shared + i % 8 * 2048, place(self, params, i), 4, 4, 4);
    tessera_emu_copy_commit(self);
    tessera_emu_copy_wait(self, stages, 5);
    if (i >= stages)
      tessera_emu_count(self, TESSERA_EMU_INTEGER, 100);
  }
}
static void one_stage(self_t *self, void **params) { copies(self, params, 0); }
static void four_stages(self_t *self, void **params) { copies(self, params, 4); }

static void strided_shared(self_t *self, void **params) {
  (void)params;
  for (int i = 0; i < 100; ++i)
    tessera_emu_access(self, self->block->shared + self->lane * 128 + 4 * self->warp, 4,
                       TESSERA_EMU_STORE | TESSERA_EMU_SHARED, 6);
}

// The pipe of shared memory is asked at both ends of a round, so a warp must not go through one ahead of the others.
static void rounds(self_t *self, void **params) {
  char *shared = self->block->shared + 4 * self->index;
  (void)params;
  for (int i = 0; i < 100; ++i) {
    tessera_emu_access(self, shared, 4, TESSERA_EMU_STORE | TESSERA_EMU_SHARED, 11);
    tessera_emu_count(self, TESSERA_EMU_INTEGER, 30);
    tessera_emu_access(self, shared, 4, TESSERA_EMU_STORE | TESSERA_EMU_SHARED, 12);
    tessera_emu_barrier(self, 0, 0, 13);
  }
}

//===--- Blocks that wait for each other ---------------------------------===//

static uint32_t turn(self_t *self, uint32_t what, uint32_t site) {
  bool adds = what & TESSERA_EMU_STORE;
  uint32_t *at = tessera_emu_atomic_begin(self, memory, 4, what | TESSERA_EMU_GLOBAL,
                                          adds ? TESSERA_EMU_ACQUIRE_RELEASE : TESSERA_EMU_ACQUIRE,
                                          TESSERA_EMU_SCOPE_DEVICE, site);
  uint32_t seen = *at;
  *at = seen + adds;
  tessera_emu_atomic_end(self);
  return seen;
}

// Block b goes on when b blocks have ended; each look in vain takes ten instructions.
static void relay(self_t *self, void **params) {
  if (self->index == 0)
    while (turn(self, TESSERA_EMU_LOAD, 7) < self->block->id[0]) {
      tessera_emu_use(self, 7);
      tessera_emu_count(self, TESSERA_EMU_INTEGER, 10);
    }
  tessera_emu_use(self, 7);
  tessera_emu_barrier(self, 0, 0, 8);
  instructions(self, params);
  tessera_emu_barrier(self, 0, 0, 9);
  if (self->index == 0)
    turn(self, TESSERA_EMU_LOAD | TESSERA_EMU_STORE, 10);
}

// Each hand-over takes half a round trip to the near memory and a whole one back. Waiting costs nothing else, and no
// look in vain is counted: 8 loads and 8 updates.
static void test_relay(void) {
  memset(memory, 0, 4);
  tessera_emulator_report_t *report = predict_as(&round_rates, relay, 8, 64, true);
  CHECK(report && is_clean(report), "not run, or not clean");
  if (report) {
    double cycles = report->cycles, closed = 8 * 1000 + 7 * 1.5 * NEAR;
    CHECK(cycles >= closed && cycles <= closed + 8 * 60 + LATENCY,
          "a relay: %.1f cycles, expected %.1f and little more", cycles, closed);
    CHECK(report->counters.global_loads == 16, "%llu loads, expected 16",
          (unsigned long long)report->counters.global_loads);
  }
  tessera_emulator_report_destroy(report);
}

static void within(const char *what, double cycles, double from, double to) {
  CHECK(cycles >= from && cycles <= to, "%s: %.1f cycles, expected %.1f to %.1f", what, cycles, from, to);
}

int main(void) {
  const tessera_emulator_rates_t *r = &round_rates;
  // One warp alone has all of far_bytes for its core, up to its port.
  within("dependent loads wait for each other", predict(r, dependent_loads, 1, 32), LOADS * LATENCY,
         LOADS * (LATENCY + 2));
  within("independent ones once", predict(r, independent_loads, 1, 32), LATENCY, LATENCY + 3 * LOADS);
  double alone = predict(r, dependent_loads, 1, 32), eight = predict(r, dependent_loads, 1, 128);
  within("latencies of warps overlap", eight, alone, 1.02 * alone);
  // 4 blocks on 4 cores: each core its 128 bytes a cycle, 4 warps of LOADS x 128 bytes.
  within("bandwidth", predict(r, independent_loads, 4, 128), 4 * LOADS + LATENCY, 4 * LOADS + LATENCY + 16);
  tessera_emulator_rates_t halved = *r;
  halved.far_bytes /= 2;
  within("half the bandwidth", predict(&halved, independent_loads, 4, 128), 8 * LOADS + LATENCY,
         8 * LOADS + LATENCY + 16);
  tessera_emulator_rates_t cached = *r;
  cached.near_capacity = sizeof memory;
  within("half of it from the cache", predict(&cached, dependent_loads, 8, 128), LOADS * (LATENCY + NEAR) / 2.0,
         LOADS * ((LATENCY + NEAR) / 2.0 + 10));
  // 1000 instructions of one cycle; two warps share a partition of four when there are eight.
  within("issue", predict(r, instructions, 1, 32), 1000, 1001);
  within("partitions", predict(r, instructions, 1, 128), 1000, 1001);
  within("shared partitions", predict(r, instructions, 1, 256), 2000, 2040);
  // 8 warps fit a core: of 8 blocks on 4 cores both of a core's are there at once, of 16 two after two.
  within("waves", predict(r, instructions, 8, 128), 2000, 2040);
  within("more waves", predict(r, instructions, 16, 128), 4000, 4080);
  within("products", predict(r, products, 1, 32), 400, 420); // 4096 / (4096 / 4) each
  within("a barrier waits for the last", predict(r, unequal, 1, 64), 2000, 2010);
  within("rounds between barriers", predict(r, rounds, 1, 128), 3000, 4500);
  within("one stage", predict(r, one_stage, 1, 32), LOADS * (LATENCY + 100), LOADS * (LATENCY + 110));
  within("four stages", predict(r, four_stages, 1, 32), LOADS * 100 + LATENCY, LOADS * 110 + 2 * LATENCY);
  within("bank conflicts", predict(r, strided_shared, 1, 32), 3200, 3260);
  test_relay();
  CHECK(predict(NULL, instructions, 1, 32) == 0, "predicted unasked");
  return checkResult(16);
}
