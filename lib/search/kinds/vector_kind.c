// The kind `vector`: elementwise ops, reductions and searched convolutions on a CPU. A program owns one tile of the
// output, which L1 holds together with its operands, and walks the reductions step by step. Costs: model.c.
#include "lib/search/construct.h"
#include "lib/search/model.h"

static bool applies(const TileOperator *op, const TileSearchTarget *target) { return !target->isGpu && !op->isMatrix; }

static int starts(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles) {
  (void)op;
  (void)target;
  tiles[0] = (TileSearchTile){.kind = TileKind_Vector};
  return 1;
}

const TileKernelKind tileVectorKind = {
    .name = "vector",
    .applies = applies,
    .starts = starts,
    .sizes = tileSearchSizes,
    .predict = tileVectorPredict,
};
