// The kind `streamed`, for products of few rows: B is read once where it lies, some rows at a time, past rows of C that
// stay in L1.
#include "lib/search/kinds/streamed_kind.h"

#include "lib/search/cpu_cost.h"
#include "lib/support/integer.h"

#include <stdio.h>

bool tileStreamedSizesAreKnown(const TileOperator *op) {
  return !op->dims[op->m].isUnknown && !op->dims[op->n].isUnknown && !op->dims[op->k].isUnknown;
}

// There is no product of integers without a dot instruction.
bool tileStreamedApplies(const TileOperator *op, const TileSearchTarget *target) {
  if (target->isGpu || !op->isMatrix)
    return false;
  const TileOperatorOperand *b = &op->operands[op->rhs];
  return !op->dims[op->k].run && op->type[0] != 'i' && tileStreamedSizesAreKnown(op) &&
         op->dims[op->m].extent < target->model.registerRows && b->factors[b->rank - 1][op->n] == 1;
}

int64_t tileStreamedDepth(int64_t extent, int64_t bound) {
  int64_t divisor = tileCpuMost(1, tileCpuLeast(extent, bound));
  while (extent % divisor)
    --divisor;
  return divisor;
}

// Rows of B at once: as many as half of L1's ways, since rows may share a set.
int64_t tileStreamedRowsAtOnce(const TileSearchTarget *target) { return tileCpuMost(2, target->levels[0].ways / 2); }

static int streamStarts(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles) {
  enum { MostParts = 8 };
  const TileOperatorDim *m = &op->dims[op->m], *n = &op->dims[op->n], *k = &op->dims[op->k];
  int64_t lanes = tileCpuLanes(op, target);
  int count = 0;
  for (int64_t parts = 1; parts <= MostParts && count + 2 <= TileKindStarts; ++parts)
    for (int64_t deep = tileStreamedRowsAtOnce(target); deep >= 2 && count < TileKindStarts; deep /= 2) {
      int64_t columns = tessera_ceil_div(n->extent, parts), depth = tileStreamedDepth(k->extent, deep);
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

TilePrediction tileStreamedPredict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  const TileSearchLevel *l1 = &target->levels[0];
  int64_t sums = tile->size[op->m] * tile->size[op->n] * tileCpuMost(4, tileCpuElementBytes(&op->operands[op->out]));
  const char *misfit = sums > l1->bytes / 2 ? l1->name : NULL;
  return tileCpuPredictTile(op, target, tile, target->model.streamSums, misfit, cyclesOf);
}

const char *tileStreamedFault(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                              char *buffer, size_t capacity) {
  (void)target;
  if (!op->dims[op->m].isUnknown && tile->size[op->m] >= op->dims[op->m].extent)
    return NULL;
  snprintf(buffer, capacity, "`block` takes %ld of dimension %d; the kinds \"streamed\" and \"split\" take all of it",
           (long)tile->size[op->m], op->m);
  return buffer;
}

const TileKernelKind tileStreamedKind = {
    .name = "streamed",
    .product = TileProduct_Memory,
    .applies = tileStreamedApplies,
    .starts = streamStarts,
    .predict = tileStreamedPredict,
    .fault = tileStreamedFault,
};
