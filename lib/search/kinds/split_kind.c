// The kind `split`, for products of few rows whose B is larger than all caches: k is cut into parts, one for each core,
// so that a core reads whole rows of B rather than parts of them. A second kernel adds up the sums of the parts, always
// in one order.
#include "lib/search/cpu_cost.h"
#include "lib/search/kinds/streamed_kind.h"

#include <stdio.h>

static bool applies(const TileOperator *op, const TileSearchTarget *target) {
  return tileStreamedApplies(op, target) && op->numDims == 3 && op->operands[op->out].bits >= 32 &&
         op->operands[op->lhs].factors[1][op->k] == 1 && op->operands[op->rhs].factors[1][op->n] == 1 &&
         op->operands[op->out].factors[1][op->n] == 1;
}

static int starts(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles) {
  int64_t k = op->dims[op->k].extent, atOnce = tileStreamedRowsAtOnce(target);
  bool isOutside = tileCpuLevelOf(target, tileCpuOperandBytes(op, op->rhs)) == target->numLevels - 1;
  if (!isOutside || target->cores < 2 || k % target->cores || k / target->cores < atOnce)
    return 0;
  tiles[0] = (TileSearchTile){.kind = TileKind_Split, .parts = target->cores};
  tiles[0].size[op->m] = op->dims[op->m].extent;
  tiles[0].size[op->n] = op->dims[op->n].extent;
  tiles[0].size[op->k] = tileStreamedDepth(k / target->cores, atOnce);
  return 1;
}

static const char *fault(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                         char *buffer, size_t capacity) {
  bool isFit = op->numDims == 3 && tileStreamedSizesAreKnown(op) && op->operands[op->out].bits >= 32 &&
               tile->parts > 0 && op->dims[op->k].extent % tile->parts == 0;
  if (isFit)
    return tileStreamedFault(op, target, tile, buffer, capacity);
  snprintf(buffer, capacity,
           "`split` is %ld; it must be a divisor of k, in a product of three known sizes whose results have 32 bits at "
           "least",
           (long)tile->parts);
  return buffer;
}

const TileKernelKind tileSplitKind = {
    .name = "split",
    .applies = applies,
    .starts = starts,
    .predict = tileStreamedPredict,
    .fault = fault,
};
