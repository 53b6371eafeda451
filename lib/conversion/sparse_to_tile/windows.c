// Products of #sparse.nm on CPUs, by the kernel spmm_windows. What a line keeps of a window is anywhere in the rows
// that the window reaches. Where those rows of the dense factor are many, walking line by line reads them from the
// outer caches again and again. So a program copies the rows of a few windows, as wide as its sums, to the innermost
// cache, and takes all its lines through them before the next windows. After nmSPARSE (MLSys 2023), whose kernels hold
// a window of the dense factor in shared memory.
#include "lib/conversion/sparse_to_tile/lowerings.h"

enum {
  MostRows = 4,     // lines of a tile of sums
  WideVectors = 8,  // of sums, of one line: more than a multiply-add's latency has
  LeastVectors = 2, // fewer columns read few bytes of a row
  Ahead = 2,        // groups whose values are asked for
  MostLines = 256,  // lines of a program
  LeastLines = 32,
  StripBytes = 1024, // of a row of the result: a program reads its values once for them
  LeastTurns = 16    // programs along the lines, at least
};

typedef struct Tiles {
  int64_t lines, columns, span, chunk, rows, step, groups, strips; // rows: of the dense factor, that a span reaches
} Tiles;

static bool isOpen(int64_t size) { return mlirShapedTypeIsDynamicSize(size); }

// Two thirds of the innermost cache hold the rows of the dense factor; the rest is for what passes by.
static bool findTiles(const SparseLowering *lowering, const SparseWindows *w, MlirType element, MlirType result,
                      MlirType dense, Tiles *tiles) {
  const TileSearchTarget *machine = &lowering->target->search;
  MlirType sum = mlirShapedTypeGetElementType(result);
  int64_t inner = mlirShapedTypeGetDimSize(dense, 0), lines = mlirShapedTypeGetDimSize(result, 0);
  SparseRegisters registers = sparseRegistersOf(machine);
  if (machine->isGpu || machine->numLevels < 2 || sparseBits(element) < 8)
    return false;
  *tiles = (Tiles){.lines = sparseLargestDivisor(w->lines, registers.lines < MostRows ? registers.lines : MostRows)};
  tiles->columns = sparseTileColumns(result, (tiles->lines == 1 ? WideVectors : registers.sums / tiles->lines) *
                                                 machine->vectorBytes);
  tiles->columns = tiles->columns > 1 ? 2 * sparsePowerBelow(tiles->columns - 1) : 1; // masked beyond the result
  if (tiles->columns * sparseBits(sum) / 8 < LeastVectors * machine->vectorBytes)
    return false;
  int64_t held = machine->levels[0].bytes * 2 / 3 / (tiles->columns * sparseBits(element) / 8);
  tiles->span = sparsePowerBelow(held) / w->m;
  if (tiles->span < 1 || (!isOpen(inner) && inner <= tiles->span * w->m))
    return false;
  tiles->rows = tiles->span * w->m;
  tiles->chunk = 2 * sparsePowerBelow(tiles->rows - 1);
  tiles->step = sparseLargestDivisor(tiles->rows, 4);
  int64_t most = isOpen(lines) ? MostLines / 2 : sparsePowerBelow(lines / LeastTurns + 1);
  most = most > MostLines ? MostLines : most < LeastLines ? LeastLines : most;
  tiles->groups = most > w->lines ? most / w->lines : 1;
  int64_t strip = StripBytes / (tiles->columns * sparseBits(sum) / 8);
  tiles->strips = strip > 1 ? strip : 1;
  return true;
}

bool sparseMultiplyWindows(SparseLowering *lowering, const SparseWindowed *windowed, const MlirValue parts[2],
                           MlirValue dense, MlirValue init, MlirValue *product) {
  TileBuilder *b = &lowering->builder;
  const SparseWindows *w = windowed->windows;
  MlirType result = mlirValueGetType(init), sum = mlirShapedTypeGetElementType(result);
  MlirType element = sparseElement(parts[1]);
  Tiles tiles;
  if (!findTiles(lowering, w, element, result, mlirValueGetType(dense), &tiles))
    return false;
  const TileSpmmWindows multiplies = {.E = element,
                                      .A = sum,
                                      .I = sparseElement(parts[0]),
                                      .WIDEN = sparseWidenOp(element, sum),
                                      .UNITS = w->n / w->together,
                                      .KEPT = w->n,
                                      .ROWS = w->lines,
                                      .LINES = tiles.lines,
                                      .COLUMNS = tiles.columns,
                                      .WINDOW = w->m,
                                      .TOGETHER = w->together,
                                      .PARTS = w->lines / tiles.lines,
                                      .SPAN = tiles.span,
                                      .CHUNK = tiles.chunk,
                                      .STEP = tiles.step,
                                      .STEPS = tiles.rows / tiles.step,
                                      .GROUPS = tiles.groups,
                                      .AHEAD = Ahead,
                                      .STRIPS = tiles.strips,
                                      .SPANVALUES = tiles.span * w->n * w->lines,
                                      .SPANUNITS = tiles.span * w->n / w->together,
                                      .step = windowed->step,
                                      .taken = windowed->taken};
  const MlirValue inputs[] = {sparseCollapse(lowering, parts[0], 1, 3), parts[1],
                              sparseCollapse(lowering, parts[1], 1, 4), dense};
  const MlirValue grid[] = {
      tileBuildCeilDiv(b, tileBuildSize(b, parts[0], 0), tileBuildIndex(b, tiles.groups)),
      tileBuildCeilDiv(b, tileBuildSize(b, init, 1), tileBuildIndex(b, tiles.columns * tiles.strips))};
  *product = sparseLaunch(lowering, tileUseSpmmWindows(multiplies), 2, grid, 4, inputs, init);
  return true;
}
