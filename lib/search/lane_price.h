// What a run of launches costs by the host and as one launch of lanes, beside the work of the launches.
//
//   TileLaneCounts counts = {.launches = 40, .waits = 20, .fronts = 40, .decisions = 20, .turns = 0};
//   TileLanePrice price = tileLanePriceOf(&target, &counts);
//   if (price.lanes < price.host) …                                      // seconds
//
// Why: both ways run the same programs, so what differs decides. The host pays for each launch and each wait. Lanes pay
// for one launch, for each launch on the longest path (an await and `model.lane.item`), for each decision
// (`model.lane.decision`), and for programs that a lane runs one after another where a core would run several side by
// side (`model.lane.turn`). An await is the way of a signal to the shared cache and of a look back: one and a half
// round trips. Expects: a GPU's target. The keys of the machine say what they were fitted to.
#pragma once

#include "lib/search/target.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TileLaneCounts {
  int64_t launches, waits;          // of the host
  int64_t fronts, decisions, turns; // of the lanes; fronts: launches on the longest path
} TileLaneCounts;

typedef struct TileLanePrice {
  double host, lanes; // seconds
} TileLanePrice;

TileLanePrice tileLanePriceOf(const TileSearchTarget *target, const TileLaneCounts *counts);
// How much longer the programs of a launch take turns on `lanes` than as a grid, whose cores hold several of `warps`.
int64_t tileLaneTurns(const TileSearchTarget *target, int64_t programs, int64_t warps, int64_t lanes);

#ifdef __cplusplus
}
#endif
