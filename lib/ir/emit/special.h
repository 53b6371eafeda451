// Special functions of floats, for whoever brings programs in: scalars of any float type, as ops of arith and math.
//
//   MlirValue y = tileBuildSpecial(&builder, TileSpecial_Lgamma, x);
//
// Floats of less than 32 bits are computed in f32. Errors are some units of the last place of f32, and some 1e-14 in
// f64. Constants are the cited ones, or were computed in 40 digits from the definitions.
#pragma once

#include "lib/ir/builder.h"

typedef enum TileSpecial {
  TileSpecial_ErfInv,    // of -1 and 1 the infinities; beyond them nan
  TileSpecial_Lgamma,    // log |gamma(x)|; infinite at 0, -1, …
  TileSpecial_Digamma,   // nan at 0, -1, …
  TileSpecial_BesselI0,  // modified Bessel functions of the first kind
  TileSpecial_BesselI0e, // exp(-|x|) times them
  TileSpecial_BesselI1,
  TileSpecial_BesselI1e,
} TileSpecial;

MlirValue tileBuildSpecial(TileBuilder *builder, TileSpecial function, MlirValue x);
// Hurwitz's zeta function, the sum of (q + k)^-s over k = 0, 1, …: infinite at s = 1, and at q = 0, -1, … for even s.
// nan for s < 1, infinite s or q, other s at those q, and other negative q unless s is an integer.
MlirValue tileBuildZeta(TileBuilder *builder, MlirValue s, MlirValue q);
// Derivative number n of the digamma function; nan where n is no integer or is negative.
// It loses its digits below -9.
MlirValue tileBuildPolygamma(TileBuilder *builder, MlirValue n, MlirValue x);
// As above, for a constant n from 1 to TileSpecial_MostDerivatives, right for any x. At 0, -1, … it is infinite.
enum { TileSpecial_MostDerivatives = 32 };
MlirValue tileBuildDerivativeOfDigamma(TileBuilder *builder, int n, MlirValue x);
// The float behind `from` in the direction of `to`; nan where either is nan, and `to` where both are equal.
MlirValue tileBuildNextAfter(TileBuilder *builder, MlirValue from, MlirValue to);
