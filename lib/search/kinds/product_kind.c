// The kind `product` of a GPU: a program owns one tile of C and walks k step by step; its operands are staged in
// shared memory.
#include "lib/search/construct.h"
#include "lib/search/gpu_warps.h"
#include "lib/search/model.h"

static bool applies(const TileOperator *op, const TileSearchTarget *target) { return target->isGpu && op->m >= 0; }

static int starts(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles) {
  (void)op;
  (void)target;
  tiles[0] = (TileSearchTile){.kind = TileKind_Product};
  return 1;
}

const TileKernelKind tileProductKind = {
    .name = "product",
    .isForGpu = true,
    .applies = applies,
    .starts = starts,
    .sizes = tileSearchSizes,
    .complete = tileGpuComplete,
    .predict = tileGpuPredict,
};
