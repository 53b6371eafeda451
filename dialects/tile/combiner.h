// Combiners: the arith ops that the short form of reduce and scan names, {arith.addf}, and what is known about them.
// One fact, one place: verifiers, folds, lowerings and judges ask here for the neutral element.
//
//   const TileCombiner *combiner = tileCombinerFind(mlirStringAttrGetValue(operation));
//   MlirAttribute zero = tileCombinerNeutral(combiner, f32);   // -0.0 : f32: x + -0.0 is x for every x
#pragma once

#include "lib/ir/upstream.h"

typedef struct TileCombiner {
  TileUpstream kind; // ArithOp_AddF
  bool isFloat;
  bool isIdempotent; // x op x is x, for every x, nan included
} TileCombiner;

const TileCombiner *tileCombinerFind(MlirStringRef name); // "arith.addf"; null when not known
const TileCombiner *tileCombinerOf(TileUpstream kind);
// The element e with x op e = x for every x (maxnumf, minnumf: every number): docs/numerics.md §3. `element`: a type
// the combiner takes.
MlirAttribute tileCombinerNeutral(const TileCombiner *combiner, MlirType element);
// What combines with the elements of an input of tile.reduce or tile.scan without effect; null: nobody says.
MlirAttribute tileCombinerNeutralOf(MlirOperation op, intptr_t input);
