// Sums of products of integers, rows of i8 by codes, that are scaled by group, as W4A8 and its kin are written:
//   dots[m, n, g] = sum over t, k of x[m, g, t, k] · (code[n, g, k; t] - zero[n, g])          exact, in i32
//   c[m, n] += sum over g of f(dots[m, n, g], scale[n, g], step[m, g], …)                     in f32
// A CPU with vpdpbusd computes both in one kernel (conversion/linalg_to_tile/coded_dots.c).
#pragma once

#include "lib/analysis/structured.h"

enum { TileDotsMostZeros = 4, TileDotsMostParts = 8, TileDotsVector = 64, TileDotsLeastRun = 16 };

// The first op.
typedef struct TileDots {
  TileStructured s;
  int m, n, g;    // dimensions, all parallel
  int t, k;       // reductions: the part of a byte (-1: none), and what lies side by side in x and in the codes
  int x, codes;   // inputs: x[m, g, t, k] and codes[n, g, k], both of i8
  MlirValue code; // in the body: an i8 that depends on the codes and on tables of t
  bool isSigned;  // the code is; else it is unsigned
  int numZeros;   // each the same along t and k; the product is by code + zeros
  MlirValue zeros[TileDotsMostZeros];
  bool isSubtracted[TileDotsMostZeros];
  int64_t groups, run, parts; // extents of g, k and t; k · g fills whole vectors of TileDotsVector bytes
} TileDots;

// The second op: which of its inputs are the dots, and its dimensions for theirs.
typedef struct TileScaledDots {
  TileDots dots;
  int input, m, n, g;
  MlirValue folded; // in the second op's body: what is added for each group
} TileScaledDots;

// True for the first op alone, on a CPU with the instruction.
bool tileStructuredMatchDots(const TileStructured *structured, TileDots *dots);
// True for the second op, without a schedule, if nothing else reads the dots.
bool tileStructuredMatchScaledDots(const TileStructured *structured, TileScaledDots *scaled);
// The only reader of the dots that `op` makes is such a second op.
bool tileDotsAreScaled(MlirOperation op, const TileTarget *target);
