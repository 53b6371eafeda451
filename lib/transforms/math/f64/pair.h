// Pairs of f64: high + low, where low is what rounding took from high; some 106 bits. And what else the families share.
#pragma once

#include "lib/transforms/math/lanes.h"

typedef struct TilePair {
  MlirValue high, low;
} TilePair;

TilePair tilePair(TileLanes *lanes, double high, double low);
TilePair tilePairSum(TileLanes *lanes, MlirValue a, MlirValue b);     // exact (Knuth)
TilePair tilePairFastSum(TileLanes *lanes, MlirValue a, MlirValue b); // exact where |a| >= |b| or a is 0 (Dekker)
TilePair tilePairProduct(TileLanes *lanes, MlirValue a, MlirValue b); // exact, by fma
TilePair tilePairAdd(TileLanes *lanes, TilePair a, TilePair b);       // |a| >= |b|; relative error 2^-104
TilePair tilePairMul(TileLanes *lanes, TilePair a, TilePair b);       // 2^-103
TilePair tilePairDivide(TileLanes *lanes, MlirValue a, TilePair b);   // 2^-103

MlirValue tileF64Negate(TileLanes *lanes, MlirValue a);
MlirValue tileF64WithSign(TileLanes *lanes, MlirValue magnitude, MlirValue of); // of must not be NaN's business
MlirValue tileF64SelectLess(TileLanes *lanes, MlirValue a, double limit, MlirValue then, MlirValue otherwise);
MlirValue tileF64SelectIs(TileLanes *lanes, MlirValue a, double value, MlirValue then, MlirValue otherwise);
// x beyond f64's last integer is rounded to itself; |x| < 2^51. The integer is in the low bits of *shifted.
MlirValue tileF64Round(TileLanes *lanes, MlirValue x, MlirValue *shifted);
// value * 2^k for |k| < 2000, rounded once; `shifted` from tileF64Round.
MlirValue tileF64Scale(TileLanes *lanes, MlirValue value, MlirValue shifted);

// exponential.c: e^(r.high + r.low) - 1 for |r| <= ln 2 / 2, and the reduction of x to it: x = k ln 2 + r.
MlirValue tileF64ExponentialOfReduced(TileLanes *lanes, TilePair r);
TilePair tileF64ReduceExponential(TileLanes *lanes, MlirValue x, MlirValue *shifted);
// 2^(t.high + t.low), |t| < 2000.
MlirValue tileF64Exp2OfPair(TileLanes *lanes, TilePair t);
// logarithm.c: x = 2^k m, sqrt(1/2) <= m < sqrt(2), of a positive finite x; k as a float.
MlirValue tileF64SplitExponent(TileLanes *lanes, MlirValue x, MlirValue *m);
// -inf of 0, NaN of less than 0, x of infinity and NaN.
MlirValue tileF64LogarithmOfSpecials(TileLanes *lanes, MlirValue x, MlirValue y);
