// Cache blocks: the numbers of the paper and of the measured CPU route, and every refusal.
#include <string.h>

#include "lib/machine/blocking.h"
#include "test/check.h"

static TileBlocking choose(const char *name, const TileMachineOverride *overrides, size_t count, TileMicroTile tile) {
  TileBlocking blocking = {0};
  TileError error = {0};
  TileMachine *machine = tileMachineLoad(name, NULL, overrides, count, &error);
  CHECK(machine && tileMachineChooseBlocking(machine, tile, &blocking, &error), "%s", error.text);
  tileMachineDestroy(machine);
  return blocking;
}

// 8x32 f32 on L1 48K/12, L2 1M/16, L3 32M/16: the sizes that reached OpenBLAS's speed.
static void testMeasured(void) {
  TileBlocking blocking = choose("x86-64-v4", NULL, 0, (TileMicroTile){.mr = 8, .nr = 32, .elementBytes = 4});
  CHECK(blocking.kc == 256 && blocking.mc == 896, "kc %ld, mc %ld", (long)blocking.kc, (long)blocking.mc);
  // W3 = 16, 2 MiB a way; A's block 896*256*4 bytes fills one: 14 ways of 2 MiB in rows of 1 KiB.
  CHECK(blocking.nc == 14 * 2048, "nc %ld", (long)blocking.nc);
}

// Low et al. 2016, table of Intel Sandy Bridge: dgemm, 8x4, L1 32K/8, L2 256K/8 gives kc 256, mc 96.
static void testPaper(void) {
  TileBlocking blocking = choose("x86-64-v3", NULL, 0, (TileMicroTile){.mr = 8, .nr = 4, .elementBytes = 8});
  CHECK(blocking.kc == 256 && blocking.mc == 96, "kc %ld, mc %ld", (long)blocking.kc, (long)blocking.mc);
}

// A twice as large L1 of the same ways doubles kc; a tile that needs more ways than there are still gets one.
static void testCounterfactual(void) {
  TileMachineOverride doubled[] = {{"l1.bytes", "98304"}};
  TileBlocking blocking = choose("x86-64-v4", doubled, 1, (TileMicroTile){.mr = 8, .nr = 32, .elementBytes = 4});
  CHECK(blocking.kc == 512 && blocking.mc == 448, "kc %ld, mc %ld", (long)blocking.kc, (long)blocking.mc);
  blocking = choose("x86-64-v4", NULL, 0, (TileMicroTile){.mr = 1, .nr = 64, .elementBytes = 4});
  CHECK(blocking.kc == 1024, "one way of 4 KiB in rows of 4 bytes: kc %ld", (long)blocking.kc);
}

static void testRefusals(void) {
  TileError error = {0};
  TileBlocking blocking;
  int64_t elements;
  TileMachine *gpu = tileMachineLoad("sm_80", NULL, NULL, 0, &error),
              *cpu = tileMachineLoad("x86-64-v4", NULL, NULL, 0, &error);
  TileMicroTile tile = {8, 32, 4}, empty = {0, 32, 4}, huge = {1 << 20, 32, 4};
  CHECK(!tileMachineChooseBlocking(gpu, tile, &blocking, &error), "a GPU");
  CHECK(!strcmp(error.text, "machine sm_80: block sizes need keys 'l1.bytes' and 'l1.ways'"), "%s", error.text);
  CHECK(!tileMachineChooseBlocking(cpu, empty, &blocking, &error) && strstr(error.text, "is empty"), "%s", error.text);
  CHECK(!tileMachineChooseBlocking(cpu, huge, &blocking, &error) && strstr(error.text, "caches are too small"), "%s",
        error.text);
  CHECK(!tileMachineLeastMicroTile(gpu, 4, &elements, &error) && strstr(error.text, "a micro-tile needs vector.bytes"),
        "%s", error.text);
  CHECK(tileMachineLeastMicroTile(cpu, 4, &elements, &error) && elements == 128, "16 lanes x 2 x 4 cycles");
  CHECK(tileMachineLeastMicroTile(cpu, 8, &elements, &error) && elements == 64, "8 lanes x 2 x 4 cycles");
  tileMachineDestroy(gpu);
  tileMachineDestroy(cpu);
}

static void testSplit(void) {
  CHECK(tileMachineSplitEvenly(511, 256, 4) == 256, "two blocks");
  CHECK(tileMachineSplitEvenly(512, 256, 4) == 256, "two blocks");
  CHECK(tileMachineSplitEvenly(513, 256, 4) == 172, "three blocks of 171, rounded up to 4");
  CHECK(tileMachineSplitEvenly(100, 256, 4) == 100, "one block");
  CHECK(tileMachineSplitEvenly(0, 256, 4) == 4, "nothing to split");
  for (int64_t total = 1; total < 600; ++total)
    for (int64_t block = 1; block < 70; block += 3) {
      int64_t size = tileMachineSplitEvenly(total, block, 1), fewest = (total + block - 1) / block;
      CHECK(size <= block && (total + size - 1) / size == fewest, "%ld by %ld: %ld", (long)total, (long)block,
            (long)size);
    }
}

int main(void) {
  testMeasured();
  testPaper();
  testCounterfactual();
  testRefusals();
  testSplit();
  return checkResult(1000);
}
