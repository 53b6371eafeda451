// Tiles of a GPU's programs. See gpu_blocking.h.
#include "lib/machine/gpu_blocking.h"

#include <string.h>

// The widest access of a thread, in bytes, of PTX and GCN alike; accesses of a thread that are under way together.
enum { AccessBytes = 16, Accesses = 2 };
// Bytes of a product's operands along k per step: two 32-byte sectors. Sums per thread; sides of a product's tile.
enum { DepthBytes = 64, SumsPerThread = 32, LeastSide = 32, UsualSide = 64, MostSide = 128 };

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t tileGpuRoundUp(int64_t value) {
  int64_t power = 1;
  while (power < value)
    power *= 2;
  return power;
}

bool tileMachineReadGpuBlocking(const TileMachine *machine, TileGpuBlocking *gpu, TileError *error) {
  const char *kind = tileMachineGetText(machine, "kind");
  int64_t parts = 4, resident, registers, most;
  if (!kind || strcmp(kind, "gpu") || !tileMachineGetInteger(machine, "warp.width", &gpu->lanes) ||
      !tileMachineGetInteger(machine, "registers.per_core", &registers) ||
      !tileMachineGetInteger(machine, "registers.per_thread", &most) ||
      !tileMachineGetInteger(machine, "warps.per_core", &resident) ||
      !tileMachineGetInteger(machine, "cores", &gpu->cores))
    return tileErrorSet(error, 0, 0, "machine %s: tiles of a GPU need kind gpu and its registers, warps and cores",
                        tileMachineGetName(machine));
  tileMachineGetInteger(machine, "partitions.per_core", &parts);
  gpu->warps = tileGpuRoundUp(parts);
  gpu->mostWarps = 2 * gpu->warps;
  gpu->registers = smaller(most, 2 * registers / (larger(resident, 2) * gpu->lanes));
  gpu->accumulators = smaller((most + 1) / 2, MostSide);
  return true;
}

int64_t tileGpuElements(const TileGpuBlocking *gpu, int64_t tiles, int64_t narrowestBytes, int64_t widestBytes) {
  int64_t perThread = tileGpuRoundUp(larger(Accesses * AccessBytes / larger(narrowestBytes, 1), 1));
  while (perThread > 1 && 2 * perThread * larger(tiles, 1) * divideUp(widestBytes, 4) > gpu->registers)
    perThread /= 2;
  return gpu->lanes * gpu->warps * perThread;
}

int64_t tileGpuWarps(const TileGpuBlocking *gpu, int64_t elements, int64_t perThread) {
  int64_t warps = tileGpuRoundUp(divideUp(elements, gpu->lanes * larger(perThread, 1)));
  return smaller(warps, gpu->mostWarps);
}

static int64_t sideOf(int64_t extent, int64_t side) {
  return extent < 0 ? side : smaller(side, tileGpuRoundUp(larger(extent, 1)));
}

// Programs that tiles of m × n make; 0 where an extent is unknown.
static int64_t programsOf(const TileGpuProductExtents *extents, int64_t m, int64_t n) {
  if (extents->m < 0 || extents->n < 0 || extents->programs < 0)
    return 0;
  return divideUp(extents->m, m) * divideUp(extents->n, n) * extents->programs;
}

static int64_t sumRegisters(const TileGpuBlocking *gpu, int64_t m, int64_t n, int64_t sumBytes) {
  return divideUp(m * n * divideUp(sumBytes, 4), gpu->lanes * gpu->mostWarps);
}

// Large tiles read each operand less often; small ones give every core something to do.
TileGpuProduct tileGpuChooseProduct(const TileGpuBlocking *gpu, TileGpuProductExtents extents, int64_t operandBytes,
                                    int64_t sumBytes) {
  int64_t m = sideOf(extents.m, UsualSide), n = sideOf(extents.n, UsualSide);
  bool isLarge = programsOf(&extents, MostSide, MostSide) >= gpu->cores;
  if (isLarge && sumRegisters(gpu, MostSide, MostSide, sumBytes) <= gpu->accumulators) {
    m = sideOf(extents.m, MostSide);
    n = sideOf(extents.n, MostSide);
  }
  bool isKnown = extents.m >= 0 && extents.n >= 0 && extents.programs >= 0;
  while (isKnown && larger(m, n) > LeastSide && programsOf(&extents, m, n) < gpu->cores)
    *(m >= n ? &m : &n) /= 2;
  TileGpuProduct product = {.m = m, .n = n, .k = sideOf(extents.k, DepthBytes / larger(operandBytes, 1))};
  product.warps = tileGpuWarps(gpu, m * n * divideUp(sumBytes, 4), SumsPerThread);
  return product;
}
