// pow and rsqrt on f64 lanes (families.h).
//
// |x|^y = 2^(y log2 |x|). Where the result is not saturated, |y log2 |x|| < 151, so log2's error of 3e-14 is 5e-12 of
// the result at most: f64 suffices where f32 would need a double-word logarithm.
#include "lib/transforms/math/families.h"
#include <math.h>

static MlirValue isInteger(TileLanes *lanes, MlirValue y) {
  return tileLanesIs(lanes, tileLanesFloor(lanes, y), ArithCmpF_Oeq, y);
}

// x's sign bit, if y is an odd integer: an integer whose half is none. (True of no infinity: its half is one.)
static MlirValue signBit(TileLanes *lanes, MlirValue x, MlirValue y, MlirValue yIsInteger) {
  MlirValue half = tileLanesMul(lanes, y, tileLanesFloat(lanes, 0.5));
  MlirValue split = tileLanesIs(lanes, tileLanesFloor(lanes, half), ArithCmpF_Une, half);
  MlirValue odd = tileLanesBoth(lanes, yIsInteger, split), none = tileLanesInteger(lanes, 0);
  return tileLanesSelect(lanes, odd, tileLanesOnInteger(lanes, ArithOp_AndI, tileLanesBits(lanes, x), INT64_MIN), none);
}

// NaN for a finite x < 0 and y no integer, then x^0 = 1^y = 1 even of NaN.
static MlirValue specialValues(TileLanes *lanes, MlirValue x, MlirValue y, MlirValue yIsInteger, MlirValue result) {
  MlirValue zero = tileLanesFloat(lanes, 0), one = tileLanesFloat(lanes, 1);
  MlirValue negative = tileLanesBoth(lanes, tileLanesIs(lanes, x, ArithCmpF_Olt, zero),
                                     tileLanesIs(lanes, x, ArithCmpF_Ogt, tileLanesFloat(lanes, -INFINITY)));
  MlirValue whenNegative = tileLanesSelect(lanes, yIsInteger, result, tileLanesFloat(lanes, NAN));
  result = tileLanesSelect(lanes, negative, whenNegative, result);
  result = tileLanesSelect(lanes, tileLanesIs(lanes, y, ArithCmpF_Oeq, zero), one, result);
  return tileLanesSelect(lanes, tileLanesIs(lanes, x, ArithCmpF_Oeq, one), one, result);
}

MlirValue tileExpandPow(TileLanes *lanes, const MlirValue *xAndY) {
  MlirValue x = xAndY[0], magnitude = tileLanesAbs(lanes, x);
  // Beyond 2^40 every y is even and every result saturated, but (±1)^y: clamped, y = ±inf gives 1 there as it should.
  MlirValue y = tileLanesClamp(lanes, xAndY[1], -0x1p40, 0x1p40), yIsInteger = isInteger(lanes, y);
  MlirValue exponent = tileLanesMul(lanes, y, tileExpandLog2(lanes, &magnitude));
  exponent = tileLanesClamp(lanes, exponent, -200, 200); // any f32 is infinity or zero beyond
  MlirValue bits = tileLanesBits(lanes, tileExpandExp2(lanes, &exponent)), sign = signBit(lanes, x, y, yIsInteger);
  MlirValue result = tileLanesFromBits(lanes, tileLanesOnIntegers(lanes, ArithOp_XOrI, bits, sign));
  return specialValues(lanes, x, y, yIsInteger, result);
}

// Two correctly rounded instructions; the special values are theirs (±0 to ±inf, as IEEE 754's rSqrt).
MlirValue tileExpandRsqrt(TileLanes *lanes, const MlirValue *x) {
  return tileLanesDiv(lanes, tileLanesFloat(lanes, 1), tileLanesSqrt(lanes, *x));
}
