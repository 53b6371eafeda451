// The warps and stages of a GPU kernel's tile. See gpu_warps.h.
#include "lib/search/gpu_warps.h"

#include "lib/search/construct.h"
#include "lib/search/model.h"

#include <math.h>

enum { MostWarps = 16, MostStages = 4 };

static double elementsOf(const TileOperator *op, const TileSearchTile *tile) {
  double elements = 1;
  for (int d = 0; d < op->numDims; ++d)
    elements *= op->m >= 0 && d == op->k ? 1 : (double)tile->size[d];
  return elements;
}

// The tile has work for all its warps: whole instructions of a product, elsewhere an element for each lane.
static bool keepsWarpsBusy(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  if (tile->gpu.warps == 1)
    return true;
  if (op->m < 0)
    return elementsOf(op, tile) >= (double)(tile->gpu.warps * target->lanes);
  int64_t rows = tile->size[op->m] / tile->gpu.warpsM;
  int64_t columns = tile->size[op->n] / (tile->gpu.warps / tile->gpu.warpsM);
  if (rows < target->atom[0] || columns < target->atom[1])
    return false;
  return target->hasAtom || rows * columns >= target->lanes;
}

// The warps along m that divide a product most squarely: they read shared memory least.
static int64_t warpsAlongM(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  int64_t best = 1;
  double least = INFINITY;
  for (int64_t along = 1; along <= tile->gpu.warps; along *= 2) {
    TileSearchTile divided = *tile;
    divided.gpu.warpsM = along;
    int64_t warpsN = tile->gpu.warps / along;
    double rows = (double)tile->size[op->m] * (double)warpsN;
    double columns = (double)tile->size[op->n] * (double)along;
    double cost = rows * (double)op->operands[op->lhs].bits + columns * (double)op->operands[op->rhs].bits;
    if (keepsWarpsBusy(op, target, &divided) && cost < least) {
      least = cost;
      best = along;
    }
  }
  return best;
}

// Gives the tile so many warps. False: it has no work for all of them.
static bool setWarps(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *wanted,
                     TileSearchTile *tile, int64_t warps) {
  tile->gpu.warps = warps;
  tile->gpu.warpsM = wanted->gpu.warpsM ? wanted->gpu.warpsM : op->m >= 0 ? warpsAlongM(op, target, tile) : 1;
  return keepsWarpsBusy(op, target, tile);
}

TileSearchCandidate tileGpuComplete(const TileOperator *op, const TileSearchTarget *target,
                                    const TileSearchTile *wanted, int64_t *evaluations) {
  TileSearchCandidate best = {.prediction = {.misfit = "warps"}};
  TileSearchTile tile = *wanted;
  bool isProduct = op->m >= 0;
  int64_t least = wanted->gpu.warps ? wanted->gpu.warps : 1, most = wanted->gpu.warps ? wanted->gpu.warps : MostWarps;
  while (least < most && least < target->partitions && setWarps(op, target, wanted, &tile, 2 * least))
    least *= 2;
  int64_t first = wanted->gpu.stages ? wanted->gpu.stages : isProduct ? 2 : 1;
  int64_t last = wanted->gpu.stages ? first : !isProduct ? 1 : target->hasAsyncCopies ? MostStages : 2;
  for (int64_t warps = least; warps <= most; warps *= 2) {
    if (!setWarps(op, target, wanted, &tile, warps) && warps > least)
      break;
    int64_t ring = wanted->gpu.stages ? 0 : tileGpuRingStages(op, target, &tile), end = ring ? ring : last;
    for (tile.gpu.stages = ring ? ring : first; tile.gpu.stages <= end; ++tile.gpu.stages) {
      TileSearchCandidate candidate = {.tile = tile, .prediction = tileGpuPredict(op, target, &tile)};
      ++*evaluations;
      if (best.prediction.misfit || tileSearchIsBetter(target, &candidate, &best))
        best = candidate;
    }
  }
  return best;
}
