// Products both of whose factors are narrow floats times scales of blocks along k, as tile-find-low-bit leaves them:
//   out[m, n] += (a[m, g, k] · sa[m, g]) · (b[n, g, k] · sb[n, g])            in f32
// tile.mma_scaled computes them: a GPU multiplies the narrow floats as they are and scales the sums of blocks.
#pragma once

#include "lib/analysis/structured.h"

typedef struct TileScaledFactor {
  MlirValue code;  // in the body: a narrow float, an argument or bits of arguments that are 0 where these are
  MlirValue scale; // in the body: f8E8M0FNU or f8E4M3FN, the same along a block
} TileScaledFactor;

typedef struct TileScaledProduct {
  int m, n;                   // dimensions: of the left factor, and the output's last, of the right one
  int count, depth[MaxDims];  // the reductions in the op's order: first those that count blocks, then those of a block
  int outer;                  // how many count blocks
  int64_t block;              // 16 or 32 elements
  TileScaledFactor factor[2]; // the left and the right one
} TileScaledProduct;

// Returns true if the op is this kind of sum, has more than one row, is for a GPU and has no schedule. The scales
// then stand outside of a block's sum. No digit changes: a power of two moves through a sum, and with scales of
// f8E4M3FN the sums of blocks are exact (floats of 6 bits and fewer). Numbers beyond the range of f32 stay numbers
// (docs/numerics.md).
bool tileStructuredMatchScaledProduct(const TileStructured *structured, TileScaledProduct *product);

// Whether `value`, of the body, reads the input.
bool tileScaledReads(const TileStructured *structured, MlirValue value, int input);

// Renumbers the dimensions: other ones, m, n, then the reductions.
void tileScaledSortDims(TileStructured *structured, TileScaledProduct *product);
