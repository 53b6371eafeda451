// The kinds `streamed` and `split`, for products of few rows: B is read once where it lies, some rows at a time, past
// rows of C that stay in L1. Where B is larger than all caches, `split` cuts k into parts, one for each core, so that a
// core reads whole rows of B rather than parts of them; a second kernel adds the parts' sums up, always in one order.
#include "lib/search/cpu_cost.h"

#include "lib/support/integer.h"

#include <stdio.h>

static bool areSizesKnown(const TileOperator *op) {
  return !op->dims[op->m].isUnknown && !op->dims[op->n].isUnknown && !op->dims[op->k].isUnknown;
}

// There is no product of integers without a dot instruction.
static bool applies(const TileOperator *op, const TileSearchTarget *target) {
  if (target->isGpu || !op->isMatrix)
    return false;
  const TileOperatorOperand *b = &op->operands[op->rhs];
  return !op->dims[op->k].run && op->type[0] != 'i' && areSizesKnown(op) &&
         op->dims[op->m].extent < target->model.registerRows && b->factors[b->rank - 1][op->n] == 1;
}

static int64_t divisorBelow(int64_t extent, int64_t bound) {
  int64_t divisor = tileCpuMost(1, tileCpuLeast(extent, bound));
  while (extent % divisor)
    --divisor;
  return divisor;
}

// Rows of B at once: as many as half of L1's ways, since rows may share a set.
static int64_t rowsAtOnce(const TileSearchTarget *target) { return tileCpuMost(2, target->levels[0].ways / 2); }

static int streamStarts(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles) {
  enum { MostParts = 8 };
  const TileOperatorDim *m = &op->dims[op->m], *n = &op->dims[op->n], *k = &op->dims[op->k];
  int64_t lanes = tileCpuLanes(op, target);
  int count = 0;
  for (int64_t parts = 1; parts <= MostParts && count + 2 <= TileKindStarts; ++parts)
    for (int64_t deep = rowsAtOnce(target); deep >= 2 && count < TileKindStarts; deep /= 2) {
      int64_t columns = tessera_ceil_div(n->extent, parts), depth = divisorBelow(k->extent, deep);
      if (n->extent % parts)
        columns = tessera_ceil_div(columns, lanes) * lanes;
      TileSearchTile *tile = &tiles[count++];
      *tile = (TileSearchTile){.kind = TileKind_Streamed};
      for (int d = 0; d < op->numDims; ++d)
        tile->size[d] = 1;
      tile->size[op->m] = m->extent;
      tile->size[op->n] = tileCpuLeast(columns, n->extent);
      tile->size[op->k] = depth > 1 ? depth : tileCpuLeast(deep, k->extent); // masks, where there are no divisors
    }
  return count;
}

static bool maySplit(const TileOperator *op, const TileSearchTarget *target) {
  return applies(op, target) && op->numDims == 3 && op->operands[op->out].bits >= 32 &&
         op->operands[op->lhs].factors[1][op->k] == 1 && op->operands[op->rhs].factors[1][op->n] == 1 &&
         op->operands[op->out].factors[1][op->n] == 1;
}

static int splitStarts(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles) {
  int64_t k = op->dims[op->k].extent, atOnce = rowsAtOnce(target);
  bool isOutside = tileCpuLevelOf(target, tileCpuOperandBytes(op, op->rhs)) == target->numLevels - 1;
  if (!isOutside || target->cores < 2 || k % target->cores || k / target->cores < atOnce)
    return 0;
  tiles[0] = (TileSearchTile){.kind = TileKind_Split, .parts = target->cores};
  tiles[0].size[op->m] = op->dims[op->m].extent;
  tiles[0].size[op->n] = op->dims[op->n].extent;
  tiles[0].size[op->k] = divisorBelow(k / target->cores, atOnce);
  return 1;
}

static TileCpuCycles cyclesOf(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  const TileSearchModel *model = &target->model;
  int64_t parts = tileParts(tile), m = tile->size[op->m], k = op->dims[op->k].extent / parts;
  int64_t n = tileCpuLeast(tile->size[op->n], op->dims[op->n].extent), depth = tileCpuLeast(tile->size[op->k], k);
  int64_t vectors = tessera_ceil_div(n, tileCpuLanes(op, target));
  double steps = (double)tessera_ceil_div(k, depth), line = (double)target->levels[0].line;
  // A vector of columns and a step: depth rows of B, m rows of C in and out, m × depth multiply-adds, and A's elements
  // for as many vectors as have their sums in registers.
  double together = (double)tileCpuMost(1, model->streamSums / tileCpuMost(1, m)), sums = (double)(m * depth);
  double loads = ((double)(depth + m) + sums / together) / (double)target->loadsPerCycle + (double)m;
  double each = tileCpuLarger(sums / (double)target->fmaPerCycle, loads);
  int level = tileCpuLevelOf(target, tileCpuOperandBytes(op, op->rhs));
  TileCpuCycles cycles = {.operandLevel = level};
  double lines = (double)(n * k * tileCpuElementBytes(&op->operands[op->rhs])) / line;
  // A run of a row begins with a wait; from there on the next lines are fetched ahead.
  cycles.waiting =
      lines * tileCpuLineCycles(target, level, model->missesStream) + (double)k * (double)target->levels[level].latency;
  if (parts > 1) // the sums of all parts are read, added and written once more
    cycles.update =
        (double)(parts + 1) * (double)(m * n) / (double)tileCpuLanes(op, target) + (double)model->programStart;
  double work = steps * ((double)vectors * each + (double)model->tileStart);
  cycles.compute = tileCpuOverlapped(target, work, cycles.waiting);
  return cycles;
}

static TilePrediction predict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  const TileSearchLevel *l1 = &target->levels[0];
  int64_t sums = tile->size[op->m] * tile->size[op->n] * tileCpuMost(4, tileCpuElementBytes(&op->operands[op->out]));
  const char *misfit = sums > l1->bytes / 2 ? l1->name : NULL;
  return tileCpuPredictTile(op, target, tile, target->model.streamSums, misfit, cyclesOf);
}

static const char *streamFault(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                               char *buffer, size_t capacity) {
  (void)target;
  if (!op->dims[op->m].isUnknown && tile->size[op->m] >= op->dims[op->m].extent)
    return NULL;
  snprintf(buffer, capacity, "`block` takes %ld of dimension %d; the kinds \"streamed\" and \"split\" take all of it",
           (long)tile->size[op->m], op->m);
  return buffer;
}

static const char *splitFault(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                              char *buffer, size_t capacity) {
  bool isFit = op->numDims == 3 && areSizesKnown(op) && op->operands[op->out].bits >= 32 && tile->parts > 0 &&
               op->dims[op->k].extent % tile->parts == 0;
  if (isFit)
    return streamFault(op, target, tile, buffer, capacity);
  snprintf(buffer, capacity,
           "`split` is %ld; it must be a divisor of k, in a product of three known sizes whose results have 32 bits at "
           "least",
           (long)tile->parts);
  return buffer;
}

const TileKernelKind tileStreamedKind = {
    .name = "streamed",
    .applies = applies,
    .starts = streamStarts,
    .predict = predict,
    .fault = streamFault,
};

const TileKernelKind tileSplitKind = {
    .name = "split",
    .applies = maySplit,
    .starts = splitStarts,
    .predict = predict,
    .fault = splitFault,
};
