// The kind `threads` of a GPU, for elementwise ops and reductions: the warps of a program share one tile of the output.
#include "lib/search/construct.h"
#include "lib/search/gpu_warps.h"
#include "lib/search/model.h"

static bool applies(const TileOperator *op, const TileSearchTarget *target) { return target->isGpu && op->m < 0; }

static int starts(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles) {
  (void)op;
  (void)target;
  tiles[0] = (TileSearchTile){.kind = TileKind_Threads};
  return 1;
}

const TileKernelKind tileThreadsKind = {
    .name = "threads",
    .isForGpu = true,
    .applies = applies,
    .starts = starts,
    .sizes = tileSearchSizes,
    .complete = tileGpuComplete,
    .predict = tileGpuPredict,
};
