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

int64_t sparseLargestDivisor(int64_t number, int64_t most) {
  while (number % most)
    --most;
  return most;
}

int64_t sparseTileColumns(MlirType result, int64_t bytes) {
  int64_t width = sparseBits(mlirShapedTypeGetElementType(result));
  int64_t most = bytes * 8 / (width < 8 ? 8 : width), all = mlirShapedTypeGetDimSize(result, 1);
  return mlirShapedTypeIsDynamicSize(all) || all > most ? most : all ? all : 1;
}

// Of several lines the wider tile loads less; the narrower one is better where fewer of its columns lie beyond (256
// columns: 12.8 ms in place of 14.7 for 3 of 32 of 4096²).
static int64_t blockColumnsOf(MlirType result, const SparseRegisters *registers) {
  int64_t wide = sparseTileColumns(result, registers->wideBytes),
          narrow = sparseTileColumns(result, registers->narrowBytes);
  int64_t all = mlirShapedTypeGetDimSize(result, 1);
  bool isOpen = mlirShapedTypeIsDynamicSize(all);
  return !isOpen && (all + narrow - 1) / narrow * narrow < (all + wide - 1) / wide * wide ? narrow : wide;
}

SparseBlockTile sparseBlockTileOf(const SparseLowering *lowering, int64_t rows, MlirType result) {
  SparseRegisters registers = sparseRegistersOf(&lowering->target->search);
  SparseBlockTile tile = {.lines = sparseLargestDivisor(rows, rows < registers.lines ? rows : registers.lines)};
  tile.columns = tile.lines > 1 ? blockColumnsOf(result, &registers) : sparseTileColumns(result, registers.rowBytes);
  return tile;
}
