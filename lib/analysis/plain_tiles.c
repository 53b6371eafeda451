// The tiles of kernels whose op has no schedule: the plain sizes of the kernel that the op becomes. See tiling.h.
//
// The plain sizes are the numbers `model.tile.*` of the machine file, cut to the extents. tile-construct-tiles writes
// them into the program where no policy is asked; a conversion without that pass takes the same ones.
#include "lib/analysis/tiling.h"

#include "lib/analysis/extremum.h"
#include "lib/analysis/reduction.h"
#include "lib/support/integer.h"
#include "upstream/linalg.h"

//===--- sizes ----------------------------------------------------------------===//

// At most `tile`, no more than the extent needs: a power of two on a GPU.
static int64_t fit(const TileStructured *s, int dim, int64_t tile) {
  int64_t extent = s->dims[dim].extent;
  bool isKnown = !mlirShapedTypeIsDynamicSize(extent);
  if (isKnown && extent < tile && !tileStructuredGpu(s))
    tile = extent;
  while (isKnown && tileStructuredGpu(s) && (tile & (tile - 1) || tile / 2 >= extent) && tile > 1)
    tile = tile & (tile - 1) ? tile & (tile - 1) : tile / 2;
  tile = tile < 1 ? 1 : tile;
  while (tile > 1 && tileStructuredRunsIntoNext(s, dim) && (!isKnown || extent % tile))
    tile /= 2;
  return tile;
}

// `columns` elements along dimension `vector`, `rows` along `row` (-1: none), 1 elsewhere and where a tile cannot run.
static void setTiles(TileStructured *s, int vector, int64_t columns, int row, int64_t rows) {
  int axis = 0;
  if (vector >= 0 && !tileStructuredCanTile(s, vector, -1))
    vector = -1;
  if (row >= 0 && !tileStructuredCanTile(s, row, vector))
    row = -1;
  for (int d = 0; d < s->numDims; ++d) {
    s->dims[d].tile = d == vector ? fit(s, d, columns) : d == row ? fit(s, d, rows) : 1;
    s->dims[d].axis = s->dims[d].tile > 1 ? axis++ : -1;
  }
}

//===--- elementwise ops, pack and unpack ------------------------------------------===//

// The dimension contiguous in some input but not in the output, or -1.
static int transposedDim(const TileStructured *s, int vector) {
  for (int i = 0; i < s->numInputs; ++i) {
    int last = s->operands[i].isTensor ? tileOperandLastDim(s, &s->operands[i]) : -1;
    if (last >= 0 && last != vector && s->operands[i].rank > 1)
      return last;
  }
  return -1;
}

// The output's last axis but one, or -1.
static int rowDim(const TileStructured *s, const TileOperand *output, int vector) {
  for (int i = output->rank - 1; i >= 0; --i)
    if (output->results[i] >= 0 && output->results[i] != vector && tileStructuredCanTile(s, output->results[i], vector))
      return output->results[i];
  return -1;
}

// Wide along the output's last axis, so that stores are contiguous; the second axis is the one that is contiguous in a
// transposed input, so that both sides move whole lines.
static void planElementwise(TileStructured *s) {
  const TileOperand *output = &s->operands[s->numInputs];
  int vector = tileOperandLastDim(s, output), transposed = transposedDim(s, vector);
  const TileSearchModel *model = &s->target->search.model;
  if (transposed >= 0)
    setTiles(s, vector, model->transposed, transposed, model->transposed);
  else
    setTiles(s, vector, model->columns, rowDim(s, output, vector), model->rows);
}

// Wide along the tiled tensor's last dimension, and along one that the plain tensor has on another axis.
static void planRelayout(TileStructured *s) {
  const TileOperand *tiled = &s->operands[linalgPackOpIsA(s->op) ? 1 : 0];
  int vector = tileOperandLastDim(s, tiled), row = -1;
  for (int d = s->numDims - 1; d >= 0 && row < 0 && vector >= 0; --d)
    if (d != vector && s->dims[d].extent != 1 && tileStructuredCanTile(s, d, vector))
      row = d;
  setTiles(s, vector, s->target->search.model.columns, row, s->target->search.model.rows);
}

//===--- reductions ----------------------------------------------------------------===//

// The widest input decides what is contiguous.
static const TileOperand *widestInput(const TileStructured *s) {
  const TileOperand *widest = NULL;
  for (int i = 0; i < s->numInputs; ++i)
    if (s->operands[i].isTensor && (!widest || s->operands[i].rank > widest->rank))
      widest = &s->operands[i];
  return widest;
}

// A dimension of the other kind, that a tile can have beside `vector`; of a sum of dimensions, only the parallel one.
static int otherKind(const TileStructured *s, const TileOperand *widest, int vector) {
  for (int i = widest->rank - 1; i >= 0; --i)
    for (int d = 0; d < s->numDims; ++d)
      if (widest->factors[i][d] && s->dims[d].isReduction != s->dims[vector].isReduction && s->dims[d].extent != 1 &&
          (widest->results[i] == d || !s->dims[d].isReduction) && tileStructuredCanTile(s, d, vector))
        return d;
  return -1;
}

// Where steps of `model.tile.columns` end raggedly, whose last one has masks: all of the dimension, if that is no more
// than rows of some pages (3131 x 1544 times a vector: 20 against 11 GFLOP/s).
static int64_t columnsOf(const TileStructured *s, int vector) {
  int64_t extent = vector < 0 ? 0 : s->dims[vector].extent;
  bool isKnown = vector >= 0 && !mlirShapedTypeIsDynamicSize(extent);
  // A row that is read once may be twice as long as one whose exponentials are kept.
  int64_t columns = s->target->search.model.columns, longest = 2 * s->target->search.model.wholeRow;
  return isKnown && s->dims[vector].isReduction && extent % columns && extent <= longest ? extent : columns;
}

static int64_t evenPart(int64_t extent, int64_t most) {
  bool isOne = mlirShapedTypeIsDynamicSize(extent) || extent <= most;
  return isOne ? most : tessera_ceil_div(extent, tessera_ceil_div(extent, most));
}

// Where the loops over the reductions carry a tile of results (windows by channel), it stays in registers: a few
// vectors wide, rows in even parts.
static void fitRegisters(const TileStructured *s, int vector, int row, int64_t *columns, int64_t *rows) {
  int64_t bits = tileElementWidth(tileOperandElementType(&s->operands[s->numInputs]));
  if (tileStructuredGpu(s) || s->target->search.vectorBytes < 1)
    return;
  *columns = s->target->search.model.windowVectors * s->target->search.vectorBytes * 8 / (bits < 32 ? 32 : bits);
  *columns = evenPart(s->dims[vector].extent, *columns);
  *rows = evenPart(s->dims[row].extent, *rows);
}

// Columns along the contiguous dimension; rows along a dimension of the other kind, so that a tile has both. Where
// there is none, the output's next dimension.
static void planReduction(TileStructured *s) {
  const TileOperand *widest = widestInput(s), *output = &s->operands[s->numInputs];
  int vector = tileOperandLastDim(s, widest ? widest : output);
  int row = vector >= 0 && widest ? otherKind(s, widest, vector) : -1;
  for (int i = output->rank - 1; i >= 0 && row < 0 && vector >= 0 && !s->dims[vector].isReduction; --i)
    if (output->results[i] != vector && tileStructuredCanTile(s, output->results[i], vector))
      row = output->results[i];
  int64_t columns = columnsOf(s, vector), rows = s->target->search.model.rows;
  if (vector >= 0 && row >= 0 && !s->dims[vector].isReduction && !s->dims[row].isReduction)
    fitRegisters(s, vector, row, &columns, &rows);
  setTiles(s, vector, columns, row, rows);
}

// Step by step, whole tiles of the parallel dimensions.
static void planFold(TileStructured *s) {
  setTiles(s, tileStructuredFoldVector(s), s->target->search.model.columns, -1, 1);
}

// The loop carries a value and a place of 64 bits per column: a quarter of the columns keeps both in registers.
static void planExtremum(TileStructured *s, const TileExtremum *x) {
  setTiles(s, x->vector, s->target->search.model.columns / 4, -1, 1);
}

// Whole rows, as many of them as the machine says a tile can hold beside their exponentials, which are kept in L1: half
// as many as of rows that keep nothing. Longer rows, and those of unknown length, in parts.
static void planSoftmax(TileStructured *s) {
  TileTiling tiling = tileStructuredSoftmaxTiling(s);
  int64_t extent = s->dims[tiling.whole].extent, longest = s->target->search.model.wholeRow;
  int64_t most = tessera_max(s->target->search.model.rows / 2, 1);
  int row = -1;
  for (int d = 0; d < s->numDims; ++d)
    row = d != tiling.whole ? d : row;
  if (!mlirShapedTypeIsDynamicSize(extent) && extent <= longest)
    setTiles(s, tiling.whole, longest, row, tessera_min(most, longest / tessera_max(extent, 1)));
  else
    setTiles(s, tiling.whole, longest / most, row, most);
}

//===--- all kernels but products ----------------------------------------------------===//

void tileStructuredSetTiles(TileStructured *s) {
  TileTiling tiling = {.whole = -1};
  TileExtremum extremum;
  if (tileStructuredPlanTiles(s, &tiling))
    return;
  if (linalgSoftmaxOpIsA(s->op))
    planSoftmax(s);
  else if (mlirBlockIsNull(s->body))
    planRelayout(s);
  else if (!tileStructuredHasReduction(s))
    planElementwise(s);
  else if (tileStructuredIsReduction(s))
    planReduction(s);
  else if (tileExtremumMatch(s, &extremum))
    planExtremum(s, &extremum);
  else
    planFold(s);
}
