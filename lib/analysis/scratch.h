// What shared memory holds of a scheduled kernel: bytes of elements and buffers, and which ops exchange elements
// through it. tile-exchange-in-shared-memory writes these exchanges. A conversion to a GPU asks the same questions
// where it carries out what stays within a warp.
#pragma once

#include "lib/capi/common.h"
#include "lib/layout/convert.h"

struct TileMachine;

// Where a kernel runs.
typedef struct TileExchange {
  const struct TileMachine *machine;
  uint32_t lanes, warps;
} TileExchange;

//===--- bytes ---------------------------------------------------------------------------------------===//

// An element in memory takes a power of two of bytes: i1 takes one, index eight.
int64_t tileStoredBytes(MlirType element);
int64_t tileDenseBytes(MlirType tile);    // of all elements, row by row
int64_t tileBufferBytes(MlirType buffer); // of all stages, each a multiple of TileBufferAlign
enum { TileBufferAlign = 128 };

// Whether a thread wants what memory held before an atomic that did not read it itself. A store of the value is by the
// thread that did.
bool tileSpreadsResult(const TileExchange *exchange, MlirOperation atomic);

//===--- conversions of layouts -----------------------------------------------------------------------===//

// A tile, or a part of one, that changes from one layout to the other.
typedef struct TileChange {
  MlirType element;
  TileLayout before, after;
  int64_t sizes[TILE_LAYOUT_MAX_AXES];
  uint32_t rank;
} TileChange;

TileChange tileChangeOf(MlirType from, MlirType to);
// The cheapest plan; false where none covers the layouts: the tile then goes through memory row by row.
bool tileChangePlan(const TileExchange *exchange, const TileChange *change, TileConversion *plan);
// A bit of the registers of both layouts that alone decides one bit of one axis: the elements with it and those without
// it change by themselves, as `half` does. Outermost bits come first, so that vectors stay whole.
typedef struct TileChangeHalves {
  uint32_t before, after; // bits of the registers
  TileChange half;
} TileChangeHalves;
bool tileChangeHalve(const TileChange *change, TileChangeHalves *halves); // false: no such bit

//===--- layouts that ops compute in ------------------------------------------------------------------===//

// The tile without one axis, in the layout in which each thread has what its elements of `tile` want: the state of a
// scan, the counters of random numbers.
MlirType tileWithoutAxis(MlirType tile, intptr_t axis, MlirType element);
// One axis of the tile, likewise: the indices of a gather from a view.
MlirType tileAlongAxis(MlirType tile, intptr_t axis, MlirType element, int64_t size);
// The rows of a sort: the size of the axis, rounded up to a power of two, and how many rows there are.
typedef struct TileSortSpace {
  int64_t size, padded, rows;
} TileSortSpace;
TileSortSpace tileSortSpaceOf(MlirOperation sort);
// For a product of the atom fma: whether each thread has all factors of its sums.
bool tileFmaHasFactors(const TileExchange *exchange, MlirOperation product);
// Whether several threads or registers hold one element of the tile.
bool tileHasCopies(const TileLayout *layout, uint32_t lanes, uint32_t warps);
uint32_t tileFreeBits(const TileLayout *layout, uint32_t dim); // bits that hold copies of what lower bits reach
bool tileIsFreeRegister(const TileLayout *layout, intptr_t reg);
