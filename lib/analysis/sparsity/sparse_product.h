// Products of #sparse.nm by a GPU's matrix instructions: 2 of 4 by the sparse ones, lines that share their places by
// the dense ones. Their tile is that of a dense product.
//
//   TileOperator described;
//   if (tileSparseProductDescribe(op, &target, &described)) … a tile for `described` …
#pragma once

#include "dialects/sparse/sparse.h"
#include "lib/analysis/structured.h"

typedef struct TileSparseProduct {
  SparseWindows windows;
  bool isTwoOfFour; // else lines share their places
  MlirType sum;     // element type of the instruction's sums
  int64_t step; // depth of the machine's deepest instruction for the types, which the depth of a tile is a multiple of
} TileSparseProduct;

// True if sparse.spmm or spmv `op` multiplies a factor of this type, which is a tensor of #sparse.nm, by instruction
// into elements of type `out`.
bool tileSparseProductMatch(MlirOperation op, const TileTarget *target, MlirType factor, MlirType out,
                            TileSparseProduct *product);
// The dense product that has the tiles of the op's factor, of a sum the tiles of its first term that is multiplied by
// instruction. False where there is none.
bool tileSparseProductDescribe(MlirOperation op, const TileTarget *target, TileOperator *described);
