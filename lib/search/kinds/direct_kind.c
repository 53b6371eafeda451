// The kind `direct`: register tiles read both operands where they lie, block of k after block of k; nothing is packed.
// For operands whose blocks the caches hold. A panel of B comes from where B is once, and for the next rows of tiles
// from the cache that holds the panel; A's block likewise for the next panels.
#include "lib/search/cpu_cost.h"

#include "lib/support/integer.h"

#include <stdio.h>

static bool applies(const TileOperator *op, const TileSearchTarget *target) {
  return !target->isGpu && op->isMatrix && tileCpuMayReadInPlace(op);
}

static int starts(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles) {
  return tileCpuRegisterTiles(op, target, TileKind_Direct, tiles);
}

static int sizes(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *start, double padding,
                 int dim, int64_t *found, int capacity) {
  int count = tileCpuSizes(op, target, start, padding, dim, found, capacity);
  return dim == op->k ? tileCpuAppendSize(found, count, capacity, op->dims[dim].extent) : count;
}

static const char *misfitOf(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  const TileOperatorOperand *a = &op->operands[op->lhs], *b = &op->operands[op->rhs];
  int64_t rows = tile->registers.rows, columns = tile->registers.columns;
  int64_t vectors = tessera_ceil_div(columns, tileCpuLanes(op, target));
  int64_t m = tileCpuLeast(tile->size[op->m], op->dims[op->m].extent);
  int64_t k = tileCpuLeast(tile->size[op->k], op->dims[op->k].extent);
  if (rows * vectors + vectors + 1 > target->vectorRegisters)
    return "registers";
  int levelB = tileCpuLevelOfPanel(target, k, columns * tileCpuElementBytes(b), tileCpuStride(b, op->k));
  int levelA = tileCpuLevelOfPanel(target, m, k * tileCpuElementBytes(a), tileCpuStride(a, op->m));
  return levelB > 1 || levelA > 1 ? target->levels[target->numLevels > 1 ? 1 : 0].name : NULL;
}

static TileCpuCycles cyclesOf(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  const TileOperatorOperand *a = &op->operands[op->lhs], *b = &op->operands[op->rhs], *c = &op->operands[op->out];
  const TileSearchModel *model = &target->model;
  int64_t m = tileCpuLeast(tile->size[op->m], op->dims[op->m].extent);
  int64_t n = tileCpuLeast(tile->size[op->n], op->dims[op->n].extent);
  int64_t k = op->dims[op->k].extent, lanes = tileCpuLanes(op, target), depth = tileCpuLeast(tile->size[op->k], k);
  int64_t rows = tile->registers.rows, columns = tile->registers.columns, blocks = tessera_ceil_div(k, depth);
  double rowsOfTiles = (double)tessera_ceil_div(m, rows), panels = (double)tessera_ceil_div(n, columns);
  double line = (double)target->levels[0].line;
  int levelB = tileCpuLevelOf(target, tileCpuOperandBytes(op, op->rhs));
  int levelA = tileCpuLevelOf(target, tileCpuOperandBytes(op, op->lhs));
  int levelC = tileCpuLevelOf(target, (double)(m * n * tileCpuElementBytes(c)));
  int again = tileCpuLevelOfPanel(target, depth, columns * tileCpuElementBytes(b), tileCpuStride(b, op->k));
  int againA = tileCpuLevelOfPanel(target, m, depth * tileCpuElementBytes(a), tileCpuStride(a, op->m));
  double perVector = again > 0 ? tileCpuExposedLine(target) : 0;
  int64_t wholeSteps = m / rows;
  double work = (double)wholeSteps * tileCpuRowStepCycles(op, target, rows, columns, n, perVector);
  work += m % rows ? tileCpuRowStepCycles(op, target, m % rows, columns, n, perVector) : 0;
  work = work * (double)k + (double)blocks * (rowsOfTiles * panels) * (double)model->tileStart;
  double linesA = (double)(m * tessera_ceil_div(k * tileCpuElementBytes(a), target->levels[0].line));
  work += againA > 0 ? panels * linesA * tileCpuExposedLine(target) : 0;
  bool isApart = tileCpuRowsAreApart(op, target);
  double linesB = (double)(k * tessera_ceil_div(n, lanes) * lanes * tileCpuElementBytes(b)) / line;
  TileCpuCycles cycles = {.operandLevel = linesA > linesB ? levelA : levelB};
  int64_t first = isApart ? model->missesDirect : model->missesConflict;
  int64_t next = isApart ? model->missesPacking : model->missesConflict;
  cycles.waiting = (levelB ? linesB * tileCpuLineCycles(target, levelB, first) : 0) +
                   (levelA ? linesA * tileCpuLineCycles(target, levelA, model->missesDirect) : 0) +
                   (again ? (rowsOfTiles - 1) * linesB * tileCpuLineCycles(target, again, next) : 0) +
                   (againA ? (panels - 1) * linesA * tileCpuLineCycles(target, againA, model->missesDirect) : 0);
  cycles.compute = isApart ? tileCpuOverlapped(target, work, cycles.waiting) : work + cycles.waiting;
  cycles.update =
      (double)(blocks * m * tessera_ceil_div(n, lanes)) * (1 + tileCpuLineCycles(target, levelC, model->missesUpdate));
  return cycles;
}

static TilePrediction predict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  int64_t registers = tile->registers.rows * tessera_ceil_div(tile->registers.columns, tileCpuLanes(op, target));
  return tileCpuPredictTile(op, target, tile, registers, misfitOf(op, target, tile), cyclesOf);
}

static const char *fault(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                         char *buffer, size_t capacity) {
  if (tileCpuMayReadInPlace(op))
    return tileCpuRegisterFault(op, target, tile, buffer, capacity);
  snprintf(buffer, capacity,
           "`kind` is \"direct\"; it needs known sizes, floats of the result's type and contiguous "
           "rows of B");
  return buffer;
}

const TileKernelKind tileDirectKind = {
    .name = "direct",
    .product = TileProduct_Direct,
    .hasRegisterTile = true,
    .isStoredPerBlock = true,
    .isAskedPerRegisters = true,
    .applies = applies,
    .starts = starts,
    .sizes = sizes,
    .predict = predict,
    .fault = fault,
};
