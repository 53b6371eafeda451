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

enum {
  Statistic_Conversions,
  Statistic_Exchanges,
  Statistic_Halves,
  Statistic_Delayed,
  MaxRank = TILE_LAYOUT_MAX_AXES
};

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

//===--- numbers --------------------------------------------------------------------------------------===//
MlirValue tileExchangeIota(Exchange *x, MlirType like, int64_t axis); // along the axis of a tile, as indices
MlirValue tileExchangeNumbers(Exchange *x, MlirType tile);            // of its elements, row by row, as indices
// The elements of the memref that have these numbers, row by row.
MlirValue tileExchangeGatherNumbers(Exchange *x, MlirType type, MlirValue memref, MlirValue numbers);
MlirAttribute tileExchangeKeyword(const Exchange *x, const char *word);

//===--- conversions of layouts -----------------------------------------------------------------------===//
// The tile in the layout of `to`, through memory; null where registers and lanes suffice.
MlirValue tileExchangeConvertInMemory(Exchange *x, MlirValue value, MlirType to);
// A tile on its way to memory outside of the chip, in a layout in which ldmatrix brings what one thread stores; null
// where the tile is no fragment of 16-bit elements, or the machine has stmatrix.
MlirValue tileExchangeConvertInRows(Exchange *x, MlirOperation convert);
// The tile in the layout of `type`, with its own elements, in whichever way.
MlirValue tileExchangeConvertLike(Exchange *x, MlirValue value, MlirType type);

// Reductions of a loop that adds them up wait for its end.
void tileExchangeDelay(Exchange *x, MlirOperation kernel);

// What tileExchangeConvertInRows decides: the layout in which the tile is stored, and that of the memory.
bool tileExchangePlanRows(const Exchange *x, MlirOperation convert, TileLayout *turned, TileLayout *memory);

//===--- ops ------------------------------------------------------------------------------------------===//
// Each gives the results in other words; false: the op stays.
bool tileExchangeReduce(Exchange *x, MlirOperation op, MlirValue *results);
bool tileExchangeScan(Exchange *x, MlirOperation op, MlirValue *results);
bool tileExchangeSort(Exchange *x, MlirOperation op, MlirValue *results); // sort, topk
MlirValue tileExchangeBitcast(Exchange *x, MlirOperation op);             // null: the op stays
MlirValue tileExchangeConstant(Exchange *x, MlirOperation op);            // of elements that differ; null: no tile
// These change the op, which stays: what a thread reads for an atomic goes to the others that want it; what is printed
// lies in memory.
MlirValue tileExchangeAtomic(Exchange *x, MlirOperation op);
bool tileExchangePrint(Exchange *x, MlirOperation op, MlirValue *results);
