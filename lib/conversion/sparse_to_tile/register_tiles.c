// Tiles of sums that fit a machine's registers, for kernels that keep sums there while they walk over entries.
#include "lib/conversion/sparse_to_tile/lowerings.h"

int64_t sparsePowerBelow(int64_t most) {
  int64_t power = 1;
  while (2 * power <= most)
    power *= 2;
  return power;
}

// A multiply-add takes fmaLatency cycles and fmaPerCycle of them begin in each cycle. With twice as many sums as that
// product no multiply-add waits for its own sum. The sums take at most half of the registers; a row of the dense
// factor, a broadcast value and one spare register need the rest. The threads of a GPU share a tile of eight lines by
// 32 or 48 columns of f32.
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

// The wider tile loads less. The narrower tile is better where fewer of its columns lie beyond the result (256 columns:
// 12.8 ms instead of 14.7 for 3 of 32 of 4096²).
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
