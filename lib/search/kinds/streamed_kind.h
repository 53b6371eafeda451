// What the kinds `streamed` and `split` share: both read rows of B where they lie.
#pragma once

#include "lib/search/kind.h"

bool tileStreamedApplies(const TileOperator *op, const TileSearchTarget *target);
bool tileStreamedSizesAreKnown(const TileOperator *op);
// How many rows of B are read together: as many as half of L1's ways, since rows may share a set.
int64_t tileStreamedRowsAtOnce(const TileSearchTarget *target);
// The largest divisor of `extent` that is at most `bound`.
int64_t tileStreamedDepth(int64_t extent, int64_t bound);
TilePrediction tileStreamedPredict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile);
// Why the sizes of the tile are refused, written into `buffer`; null: they are accepted.
const char *tileStreamedFault(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                              char *buffer, size_t capacity);
