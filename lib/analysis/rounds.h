// In which rounds of a loop a mask is true for every element of its tile.
// Why: kernels mask their last tiles only; the other rounds need no comparison (tile-peel-masks).
// Expects: an scf.for of step 1 that counts up from a number that is not negative; a comparison of tiles of index that
//   are sums of tile.iota, scalars and constants. Leaves: a linear form; the comparison is true wherever
//   constant + sum of factor x value - slope x k >= 0, as long as no value exceeds TileRoundsLimit.
//
//   TileRounds rounds;
//   if (tileRoundsOfComparison(loop, compare, &rounds)) … true in all rounds below n / slope + 1 …
#pragma once

#include "lib/capi/common.h"

enum { TileRoundsMaxTerms = 4 };
#define TileRoundsLimit ((int64_t)1 << 44)

typedef struct TileRounds {
  int64_t constant, slope; // slope >= 0
  intptr_t count;
  struct {
    MlirValue value; // index, known before the loop
    int64_t factor;
    bool isLimited; // known not to exceed TileRoundsLimit
  } terms[TileRoundsMaxTerms];
} TileRounds;

// An upper bound of |index|; INT64_MAX where none is known. Grids and loops are taken to have fewer than 2^36 programs
// and rounds.
int64_t tileIndexMagnitude(MlirValue index);

bool tileRoundsOfComparison(MlirOperation loop, MlirOperation compare, TileRounds *rounds);
