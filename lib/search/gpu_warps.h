// What the kinds of a GPU share: the numbers of warps and stages for a tile whose sizes are chosen. A program has a
// warp for each part of a core where the tile is large enough (Roller's saturation). Costs: model.c.
#pragma once

#include "lib/search/kind.h"

// The best of the numbers of warps and stages that `wanted` leaves open; adds to `evaluations` how many it priced.
TileSearchCandidate tileGpuComplete(const TileOperator *op, const TileSearchTarget *target,
                                    const TileSearchTile *wanted, int64_t *evaluations);
