// See lane_price.h.
#include "lib/search/lane_price.h"

#include "lib/support/integer.h"

static double awaitCycles(const TileSearchTarget *target) {
  int shared = target->numLevels - 2; // the cache of all cores, ahead of global memory
  return 1.5 * (double)target->levels[shared > 0 ? shared : 0].latency;
}

TileLanePrice tileLanePriceOf(const TileSearchTarget *target, const TileLaneCounts *counts) {
  const TileSearchModel *model = &target->model;
  double cycles = (double)counts->fronts * (awaitCycles(target) + (double)model->laneItem) +
                  (double)(counts->turns * model->laneTurn) + (double)(counts->decisions * model->laneDecision);
  return (TileLanePrice){.host = (double)counts->launches * model->launchSeconds +
                                 (double)counts->waits * model->waitSeconds,
                         .lanes = model->launchSeconds + cycles / target->clock};
}

int64_t tileLaneTurns(const TileSearchTarget *target, int64_t programs, int64_t warps, int64_t lanes) {
  int64_t side = tessera_min(target->blocksPerCore, target->warpsPerCore / tessera_max(warps, 1));
  int64_t together = target->cores * tessera_max(side, 1);
  return tessera_ceil_div(programs, tessera_max(lanes, 1)) - tessera_ceil_div(programs, together);
}
