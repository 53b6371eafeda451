// Tiles whose axes are seen as several, for tile-exchange-in-shared-memory: a piece of an axis is some bits of its
// coordinate, so that what lies in other threads is an axis of its own.
//
//   Pieces pieces;
//   if (tileExchangeCutWarps(type, 1u << axis, false, &pieces) && !pieces.isWhole) …
//     tileExchangeReadInputs(x, reduce, 1, &pieces, &value);   // the input of the op, an axis for each piece
#pragma once

#include "lib/transforms/pipeline/exchange_memory.h"

typedef struct Piece {
  uint32_t axis, from, to; // axis of the tile; bits of its coordinate
  int64_t size;
  bool isReduced, isAcross; // vanishes; other threads have it
} Piece;

// A tile in pieces, the outer ones of an axis first.
typedef struct Pieces {
  TileLayout layout; // of the pieces
  uint32_t count;
  Piece items[MaxRank];
  intptr_t rank;           // of the tile
  int64_t padded[MaxRank]; // the tile's sizes with all that the layout reaches
  bool isPadded;           // it reaches beyond the tile
  bool isWhole;            // there are too many pieces: the axes stay whole
} Pieces;

// False where no warps differ along the axes of the mask. `toTop`: what lies above the places of warps belongs to their
// piece.
bool tileExchangeCutWarps(MlirType tile, uint32_t axes, bool toTop, Pieces *pieces);
// As above, for lanes and warps.
bool tileExchangeCutThreads(MlirType tile, uint32_t axes, Pieces *pieces);

//===--- tiles ----------------------------------------------------------------------------------------===//
MlirAttribute tileExchangeAxes(const Exchange *x, uint32_t axes);
// Without the axes of the mask, in the layout in which each thread has what its elements want.
MlirType tileExchangeWithoutAxes(MlirType type, uint32_t axes);
uint32_t tileExchangeRenumber(uint32_t axes, uint32_t removed); // when those of `removed` are gone
// The type with the sizes of the padded tile, whose axes of the mask it lacks.
MlirType tileExchangePaddedLike(const Pieces *pieces, MlirType type, uint32_t lacking);
MlirValue tileExchangePad(Exchange *x, MlirValue value, MlirType to, MlirAttribute fill);
MlirValue tileExchangeCrop(Exchange *x, MlirValue value, MlirType to);
MlirAttribute tileExchangeZeroOf(MlirType element);
// False where elements beyond the tile must combine without effect, and nobody says what does.
bool tileExchangeKnowsFill(MlirOperation op, intptr_t count, const Pieces *pieces, uint32_t axes);
MlirValue tileExchangePadInput(Exchange *x, MlirOperation op, intptr_t input, const Pieces *pieces);
void tileExchangeReadInputs(Exchange *x, MlirOperation op, intptr_t count, const Pieces *pieces, MlirValue *values);
// The op's reduction once more, of other values along other axes.
void tileExchangeReduceAlong(Exchange *x, MlirOperation op, intptr_t count, MlirValue *values, uint32_t axes,
                             const MlirType *types);
MlirRegion tileExchangeBodyOf(MlirOperation op); // a copy
