// Tiles that a machine's registers hold, of kernels that keep sums in them while entries go by.
#include "lib/conversion/sparse_to_tile/lowerings.h"

int64_t sparsePowerBelow(int64_t most) {
  int64_t power = 1;
  while (2 * power <= most)
    power *= 2;
  return power;
}

// A multiply-add takes fmaLatency cycles, fmaPerCycle begin in each: with twice as many sums as that, in half of the
// registers at most, none waits for its own. Beside a tile's sums stand a row of the dense factor, a value that is
// spread, and one more. A GPU's threads share a tile: eight lines of 32 columns of f32, or of 48.
SparseRegisters sparseRegistersOf(const TileSearchTarget *machine) {
  int64_t bytes = machine->vectorBytes, sums = 2 * machine->fmaPerCycle * machine->fmaLatency;
  if (machine->isGpu)
    return (SparseRegisters){.sums = 16, .lines = 8, .narrowBytes = 128, .wideBytes = 192, .rowBytes = 1024};
  if (sums > machine->vectorRegisters / 2)
    sums = machine->vectorRegisters / 2;
  SparseRegisters registers = {.sums = sums, .lines = sums > 2 ? sparsePowerBelow(sums / 2) : 1};
  registers.narrowBytes = sums / registers.lines * bytes;
  registers.wideBytes = (machine->vectorRegisters - 2) / (registers.lines + 1) * bytes;
  registers.rowBytes = machine->vectorRegisters / 2 * bytes;
  return registers;
}
