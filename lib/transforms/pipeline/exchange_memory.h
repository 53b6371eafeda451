// Memory through which threads exchange elements, and conversions of layouts that take this way: what the files of
// tile-exchange-in-shared-memory share.
//
//   MlirValue memref = tileExchangeShare(x, tile);                        // tile.alloc, tile.view, tile.store
//   MlirValue part = tileExchangeLoadAt(x, memref, type, offsets);        // from the element at these offsets on
#pragma once

#include "dialects/tile/tile.h"
#include "lib/analysis/scratch.h"
#include "lib/capi/pass.h"
#include "lib/ir/builder.h"

enum { Statistic_Conversions, Statistic_Exchanges, Statistic_Halves, MaxRank = TILE_LAYOUT_MAX_AXES };

// One op that is rewritten: where code goes, and what its warps and the memory beside it are.
typedef struct Exchange {
  TileExchange threads;
  int64_t room;        // bytes of shared memory beside the buffers that live at the op
  TileBuilder builder; // before the op
  MlirExtPass pass;
} Exchange;

intptr_t tileExchangeSizesOf(MlirType type, int64_t *sizes); // the rank
// A tile with the elements of `like`.
MlirType tileExchangeTileOf(MlirType like, intptr_t rank, const int64_t *sizes, const TileLayout *layout);
TileLayout tileExchangeLayoutOf(MlirType tile);

//===--- memory ---------------------------------------------------------------------------------------===//
void tileExchangeOrigin(Exchange *x, MlirValue *origin); // MaxRank zeros
// Tiles of the shape of `like`, one element apart: an index is the number of an element.
MlirValue tileExchangeViewOf(Exchange *x, MlirValue memref, MlirType like);
MlirValue tileExchangeLoadAt(Exchange *x, MlirValue memref, MlirType type, const MlirValue *origin);
void tileExchangeStoreAt(Exchange *x, MlirValue tile, MlirValue memref, const MlirValue *origin);
MlirValue tileExchangeMemrefLike(Exchange *x, MlirType tile);
MlirValue tileExchangeShare(Exchange *x, MlirValue tile); // memory that holds the tile, row by row

//===--- conversions of layouts -----------------------------------------------------------------------===//
// The tile in the layout of `to`, through memory; null where registers and lanes suffice.
MlirValue tileExchangeConvertInMemory(Exchange *x, MlirValue value, MlirType to);
// The tile in the layout of `type`, with its own elements, in whichever way.
MlirValue tileExchangeConvertLike(Exchange *x, MlirValue value, MlirType type);
