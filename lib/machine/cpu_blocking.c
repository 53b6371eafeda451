// Blocks of a CPU's matrix products. See cpu_blocking.h.
#include "lib/machine/cpu_blocking.h"

#include <string.h>

// Rows of a register tile that were measured best where there are registers for more (reference: 8 × 32 before 12 × 32
// and 14 × 32 on Zen 5); vectors of its width; what an unknown extent counts as.
enum { MostRows = 8, Vectors = 2, UnknownExtent = 512 };
// Blocks along an axis that are considered; what a cache that does not tell has; lines that a core waits for at once
// when it packs (two neighbours at a time, so that little is fetched ahead).
enum { MostBlocks = 64, UsualWays = 8, UsualLine = 64, UsualMiss = 50, MissesAtOnce = 8 };

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

bool tileMachineReadCpuBlocking(const TileMachine *machine, TileCpuBlocking *cpu, TileError *error) {
  const char *kind = tileMachineGetText(machine, "kind");
  TileMachineLevel l1, l2, l3;
  if (!kind || strcmp(kind, "cpu") || !tileMachineGetInteger(machine, "vector.bytes", &cpu->vectorBytes) ||
      !tileMachineGetInteger(machine, "vector.registers", &cpu->registers) ||
      !tileMachineGetInteger(machine, "fma.per_cycle", &cpu->fmaPerCycle) ||
      !tileMachineGetInteger(machine, "fma.latency", &cpu->fmaLatency) ||
      !tileMachineGetInteger(machine, "cores", &cpu->cores) || !tileMachineGetLevel(machine, "l1", &l1) ||
      !tileMachineGetLevel(machine, "l2", &l2) || l1.bytes < 1 || l2.bytes < 1 || cpu->cores < 1)
    return tileErrorSet(error, 0, 0, "machine %s: products on a CPU need its vectors, fma, cores, l1 and l2",
                        tileMachineGetName(machine));
  cpu->l1Bytes = l1.bytes;
  cpu->l2Bytes = l2.bytes;
  cpu->l1Ways = l1.ways > 0 ? l1.ways : UsualWays;
  cpu->line = l1.line > 0 ? l1.line : UsualLine;
  cpu->missCycles = tileMachineGetLevel(machine, "l3", &l3) && l3.latency > 0 ? l3.latency : UsualMiss;
  return true;
}

int64_t tileCpuProductRows(const TileCpuBlocking *cpu) {
  return smaller(MostRows, larger((cpu->registers - Vectors - 1) / Vectors, 1));
}

static int64_t chooseDepth(const TileCpuBlocking *cpu, int64_t extent, int64_t bytes) {
  int64_t depth = 8;
  while (4 * depth * depth * bytes <= cpu->l2Bytes / 2 && (extent < 0 || depth < extent))
    depth *= 2;
  return depth;
}

// Cycles of the cores for `programs` blocks of panelsM × panelsN register tiles, per element of k. The last of a core's
// blocks may end late: a twentieth of a block is waited for.
static double cyclesOf(const TileCpuBlocking *cpu, const TileCpuProduct *p, int64_t panelsM, int64_t panelsN,
                       int64_t programs, int64_t bytes) {
  int64_t lanes = cpu->vectorBytes / bytes;
  double rows = (double)(panelsM * p->rows), columns = (double)(panelsN * p->columns);
  double lines = (rows + columns) * (double)bytes / (double)cpu->line;
  double block = rows * columns / (double)(lanes * cpu->fmaPerCycle) + lines * (double)cpu->missCycles / MissesAtOnce;
  return block * ((double)divideUp(programs, cpu->cores) + 0.05);
}

TileCpuProduct tileCpuChooseProduct(const TileCpuBlocking *cpu, TileCpuProductExtents extents, int64_t operandBytes,
                                    int64_t sumBytes) {
  TileCpuProduct p = {.rows = tileCpuProductRows(cpu),
                      .columns = Vectors * cpu->vectorBytes / sumBytes,
                      .depth = chooseDepth(cpu, extents.k, operandBytes)};
  if (extents.m > 1 && extents.m < p.rows)
    p.rows = extents.m;
  int64_t tilesM = divideUp(extents.m < 0 ? UnknownExtent : larger(extents.m, 1), p.rows);
  int64_t tilesN = divideUp(extents.n < 0 ? UnknownExtent : larger(extents.n, 1), p.columns);
  int64_t mostPanels = larger(cpu->l2Bytes / 2 / (p.depth * operandBytes * p.rows), 1);
  double best = 0;
  for (int64_t blocksM = 1; blocksM <= smaller(MostBlocks, tilesM); ++blocksM)
    for (int64_t blocksN = 1; blocksN <= smaller(MostBlocks, tilesN); ++blocksN) {
      int64_t panelsM = divideUp(tilesM, blocksM), panelsN = divideUp(tilesN, blocksN);
      if (panelsM > mostPanels && blocksM < smaller(MostBlocks, tilesM))
        continue;
      int64_t programs = divideUp(tilesM, panelsM) * divideUp(tilesN, panelsN) * larger(extents.programs, 1);
      double cycles = cyclesOf(cpu, &p, panelsM, panelsN, programs, sumBytes);
      if (!p.panelsM || cycles < best) {
        best = cycles;
        p.panelsM = panelsM;
        p.panelsN = panelsN;
      }
    }
  p.panelsM = smaller(p.panelsM, mostPanels);
  return p;
}

// The largest divisor of `extent` that is at most `most`.
static int64_t divisorBelow(int64_t extent, int64_t most) {
  int64_t divisor = smaller(extent, most);
  while (extent % divisor)
    --divisor;
  return divisor;
}

TileCpuStream tileCpuChooseStream(const TileCpuBlocking *cpu, TileCpuProductExtents extents, int64_t sumBytes) {
  if (extents.n < 1 || extents.k < 1 || extents.m < 1)
    return (TileCpuStream){0, 0};
  int64_t lanes = cpu->vectorBytes / sumBytes;
  int64_t most = larger(cpu->l1Bytes / 2 / (extents.m * sumBytes), lanes);
  int64_t wanted = divideUp(extents.n * larger(extents.programs, 1), cpu->cores);
  TileCpuStream s = {.columns = divisorBelow(extents.n, larger(smaller(most, wanted), smaller(lanes, extents.n))),
                     .depth = divisorBelow(extents.k, larger(cpu->l1Ways / 2, 1))};
  // Where the divisors are too small a step is not worth its loop: whole vectors, the last of them masked.
  if (s.columns < smaller(4 * lanes, extents.n))
    s.columns = smaller(most, divideUp(wanted, lanes) * lanes);
  if (s.depth < 2)
    s.depth = smaller(larger(cpu->l1Ways / 2, 1), extents.k);
  return s;
}
