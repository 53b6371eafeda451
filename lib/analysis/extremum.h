// argmax and argmin along what is contiguous: the largest (or least) candidate and a value computed from its place.
//
//   %c = arith.cmpf ogt, %candidate, %best    %b = select %c, %candidate, %best    %p = select %c, %place, %where
//
//   TileExtremum x;
//   if (tileExtremumMatch(&s, &x)) … a kernel tiles dimension x.vector …
#pragma once

#include "lib/analysis/structured.h"

typedef struct TileExtremum {
  MlirOperation compare;
  MlirValue candidate, place; // in the body
  int best, where;            // outputs
  const char *larger;         // the combiner that keeps the wanted one
  int vector;                 // the reduction dimension that an input is contiguous along
} TileExtremum;

// False unless the op has two outputs that accumulate, and this body: `place` is made of linalg.index alone, and the
// first of equals wins.
bool tileExtremumMatch(const TileStructured *structured, TileExtremum *extremum);
// The argument of the body that stands for output `output`.
MlirValue tileStructuredOutputArgument(const TileStructured *structured, int output);
