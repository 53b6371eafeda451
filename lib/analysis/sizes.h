// Which sizes of tensors and memrefs are known to be one: the size of a result is traced back to the arguments, the
// constants and the index arithmetic that it comes from.
//
//   TileKnownSizes known = {0};
//   TileSize a = tileSizeOf(&known, tensor, 0), b = tileSizeOf(&known, other, 1);
//   if (!tileSizesEqual(&known, a, b)) { …compare them at run time…; tileKnownSizesAdd(&known, a, b); }
//   tileKnownSizesFree(&known);
//
// Followed: tensor.empty and allocations, ops in destination style, casts, slices and subviews, scf.for and scf.if, and
// index arithmetic, which is equal if its ops and operands are. Not followed: reshapes, calls, scf.while.
#pragma once

#include "lib/ir/builder.h"

typedef struct TileSize {
  MlirValue value;  // a shaped value, or an index; null: the size is `constant`
  intptr_t axis;    // of the shaped value; -1: `value` is the size
  int64_t constant; // where `value` is null
} TileSize;

// Pairs of sizes that were compared at run time: the first is replaced by the second.
typedef struct TileKnownSizes {
  struct TileSizePair {
    TileSize from, to;
  } *items;
  intptr_t count;
} TileKnownSizes;

TileSize tileSizeOf(const TileKnownSizes *known, MlirValue shaped, intptr_t axis);
TileSize tileSizeOfIndex(const TileKnownSizes *known, MlirValue index);   // of a size that an op was given
bool tileSizesEqual(const TileKnownSizes *known, TileSize a, TileSize b); // false: not known to be
// The index is known to be less: by its facts, or as the counter of a loop that ends at the size.
bool tileSizeIsBelow(const TileKnownSizes *known, TileSize index, TileSize size);
void tileKnownSizesAdd(TileKnownSizes *known, TileSize from, TileSize to);
void tileKnownSizesFree(TileKnownSizes *known);

static inline TileSize tileConstantSize(int64_t size) { return (TileSize){.axis = -1, .constant = size}; }
static inline bool tileSizeIsConstant(TileSize size) { return mlirValueIsNull(size.value); }
MlirValue tileSizeBuild(TileBuilder *builder, TileSize size); // an index
