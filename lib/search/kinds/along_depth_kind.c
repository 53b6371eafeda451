// The kind `along-depth`: a product of fewer columns than a vector has lanes. The lanes run along k: vectors of A come
// from where it lies, vectors of B from columns that are packed first, and at the end the lanes of each sum are added
// up. The register tile has all columns, the block all of k.
#include "lib/search/construct.h"
#include "lib/search/cpu_cost.h"
#include "lib/support/integer.h"

#include <stdio.h>

static bool findTile(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tile) {
  const TileOperatorOperand *a = &op->operands[op->lhs];
  int64_t columns = op->dims[op->n].extent, lanes = tileCpuLanes(op, target);
  int64_t sums = target->model.registerLatencies * target->fmaLatency * target->fmaPerCycle;
  bool isThin = tileCpuMayReadInPlace(op) && columns < lanes && op->dims[op->k].extent >= lanes;
  if (!isThin || columns < 1 || a->factors[a->rank - 1][op->k] != 1 || columns > sums)
    return false;
  int64_t rows = tileCpuLeast(sums / columns, (target->vectorRegisters - columns - 1) / columns);
  rows = tileCpuLeast(tileCpuLeast(rows, target->model.registerRows), tileCpuMost(op->dims[op->m].extent, 1));
  *tile = (TileSearchTile){.kind = TileKind_AlongDepth, .registers = {rows, columns}};
  return rows > 0;
}

static bool applies(const TileOperator *op, const TileSearchTarget *target) {
  TileSearchTile tile;
  return !target->isGpu && op->isMatrix && !op->needsDot && findTile(op, target, &tile);
}

static int starts(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles) {
  return findTile(op, target, &tiles[0]);
}

static int sizes(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *start, double padding,
                 int dim, int64_t *found, int capacity) {
  if (dim != op->k)
    return tileCpuSizes(op, target, start, padding, dim, found, capacity);
  found[0] = op->dims[dim].extent;
  return 1;
}

static const char *misfitOf(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  const TileSearchLevel *l2 = &target->levels[target->numLevels > 1 ? 1 : 0];
  int64_t rows = tile->registers.rows, columns = tile->registers.columns;
  if (rows * columns + columns + 1 > target->vectorRegisters)
    return "registers";
  int64_t packed = columns * tessera_bucket(tile->size[op->k]) * tileCpuElementBytes(&op->operands[op->rhs]);
  return packed > l2->bytes / 4 ? l2->name : NULL;
}

static TileCpuCycles cyclesOf(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  const TileOperatorOperand *a = &op->operands[op->lhs], *b = &op->operands[op->rhs], *c = &op->operands[op->out];
  const TileSearchModel *model = &target->model;
  int64_t m = tileCpuLeast(tile->size[op->m], op->dims[op->m].extent), k = op->dims[op->k].extent;
  int64_t rows = tile->registers.rows, n = tile->registers.columns;
  double tiles = (double)tessera_ceil_div(m, rows), sums = (double)(rows * n), line = (double)target->levels[0].line;
  double fma = sums / (double)target->fmaPerCycle, loads = (double)(rows + n) / (double)target->loadsPerCycle;
  double step = tileCpuLarger(tileCpuLarger(fma, loads), (double)target->fmaLatency) + model->exposedLoads * loads;
  double linesA = (double)(m * k * tileCpuElementBytes(a)) / line;
  double linesB = (double)(n * k * tileCpuElementBytes(b)) / line;
  int levelA = tileCpuLevelOf(target, tileCpuOperandBytes(op, op->lhs));
  int levelB = tileCpuLevelOf(target, tileCpuOperandBytes(op, op->rhs));
  int levelC = tileCpuLevelOf(target, (double)(m * n * tileCpuElementBytes(c)));
  int64_t column = tessera_bucket(k) * tileCpuElementBytes(b);
  int again = tileCpuLevelOf(target, (double)(n * column));
  // Packed columns begin at powers of two. Where L1 has no room for two lines of each, they evict what is on its way.
  const TileSearchLevel *l1 = &target->levels[0];
  bool isApart = 2 * tileCpuRowsSharing(l1, n, 1, column) <= l1->ways;
  double miss = isApart ? model->exposedMisses / (double)target->loadsPerCycle
                        : tileCpuLineCycles(target, again, model->missesConflict);
  step += !again ? 0 : (double)n * miss;
  double perTile = (double)tessera_ceil_div(k, tileCpuLanes(op, target)) * step + (double)model->tileStart;
  double work = tiles * (perTile + sums * (double)model->lanesSum);
  TileCpuCycles cycles = {.operandLevel = levelA};
  cycles.waiting = levelA ? linesA * tileCpuLineCycles(target, levelA, model->missesDirect) : 0;
  cycles.compute = tileCpuOverlapped(target, work, cycles.waiting);
  cycles.packing =
      linesB * tileCpuLineCycles(target, levelB, model->missesPacking) + (double)(n * k) * (double)model->elementPacked;
  cycles.update = (double)m * (1 + tileCpuLineCycles(target, levelC, model->missesUpdate));
  return cycles;
}

static TilePrediction predict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  int64_t registers = tile->registers.rows * tile->registers.columns;
  return tileCpuPredictTile(op, target, tile, registers, misfitOf(op, target, tile), cyclesOf);
}

static const char *fault(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                         char *buffer, size_t capacity) {
  TileSearchTile thin;
  int64_t rows = tile->registers.rows, columns = tile->registers.columns;
  bool isFit = rows > 0 && findTile(op, target, &thin) && columns == thin.registers.columns &&
               (rows + 1) * columns < target->vectorRegisters && tile->size[op->k] == op->dims[op->k].extent &&
               tile->size[op->n] == columns && tile->size[op->m] % rows == 0;
  if (isFit)
    return NULL;
  snprintf(buffer, capacity,
           "`kind` is \"along-depth\"; it needs fewer columns than a vector's %ld elements, contiguous rows of A, all "
           "columns in `register` and `block`, and all of k in `block`",
           (long)tileCpuLanes(op, target));
  return buffer;
}

const TileKernelKind tileAlongDepthKind = {
    .name = "along-depth",
    .product = TileProduct_AlongDepth,
    .hasRegisterTile = true,
    .isStoredPerBlock = true,
    .applies = applies,
    .starts = starts,
    .sizes = sizes,
    .predict = predict,
    .fault = fault,
};
