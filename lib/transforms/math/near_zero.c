// log1p and expm1 (families.h): log(1 + x) and e^x - 1 without the cancellation at x near 0, for f64 too.
//
// Kahan's way: u = 1 + x (or e^x) has lost digits of x, but log(u) / (u - 1) is smooth there, so that quotient times
// the true x has them all. Upstream lowers both ops as they read, which at x = 1e-10 leaves six digits of an f64.
// Errors: below 3 ulp of f64, so f32 results are within 0.51 ulp. Cost: one math.log, and for expm1 one math.exp.
#include "lib/transforms/math/families.h"
#include "upstream/math.h"

#include <math.h>

static MlirValue is(TileLanes *lanes, MlirValue a, double b) {
  return tileLanesIs(lanes, a, ArithCmpF_Oeq, tileLanesFloat(lanes, b));
}

// Where 1 + x is 1, x is the answer (and keeps the sign of a zero); where it is infinite, that is.
MlirValue tileExpandLog1p(TileLanes *lanes, const MlirValue *x) {
  MlirValue one = tileLanesFloat(lanes, 1), sum = tileLanesAdd(lanes, *x, one);
  MlirValue factor = tileLanesDiv(lanes, *x, tileLanesSub(lanes, sum, one));
  MlirValue result = tileLanesMul(lanes, mathLogOpBuild(&lanes->builder, sum), factor);
  result = tileLanesSelect(lanes, is(lanes, sum, INFINITY), sum, result);
  return tileLanesSelect(lanes, is(lanes, sum, 1), *x, result);
}

// Where e^x is infinite or nothing beside 1, e^x - 1 is as good.
MlirValue tileExpandExpm1(TileLanes *lanes, const MlirValue *x) {
  MlirValue power = mathExpOpBuild(&lanes->builder, *x), less = tileLanesSub(lanes, power, tileLanesFloat(lanes, 1));
  MlirValue factor = tileLanesDiv(lanes, *x, mathLogOpBuild(&lanes->builder, power));
  MlirValue result = tileLanesMul(lanes, less, factor);
  MlirValue isPlain = tileLanesIs(lanes, tileLanesAbs(lanes, *x), ArithCmpF_Ogt, tileLanesFloat(lanes, 40));
  result = tileLanesSelect(lanes, isPlain, less, result);
  return tileLanesSelect(lanes, is(lanes, power, 1), *x, result);
}
