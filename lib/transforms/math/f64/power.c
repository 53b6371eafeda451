// pow and cbrt on f64 lanes (families.h).
//
// |x|^y = 2^(y log2 |x|), the logarithm as a pair: with s = (m - 1) / (m + 1) and z = s^2, both pairs, log m =
// 2 s (1 + z/3 + z^2 T(z)); only z^2 T is a single number. T: minimax, degree 8, error 8.7e-21. |y log2 |x||
// is below 1100 where it matters, so that 2^-64 of it is 2^-54 of the result.
#include "lib/transforms/math/f64/families.h"
#include "lib/transforms/math/f64/pair.h"

#include <math.h>

static const double tail[] = {
    0x1.999999999999ap-3, 0x1.249249249246fp-3, 0x1.c71c71c722750p-4, 0x1.745d1741803eep-4, 0x1.3b13b3114dfcfp-4,
    0x1.11109462fa7cbp-4, 0x1.e20b7ccfa16cdp-5, 0x1.aaec193f5a3a9p-5, 0x1.c31ab82567a82p-5,
};

static TilePair logarithm2(TileLanes *lanes, MlirValue x) {
  MlirValue m, k = tileF64SplitExponent(lanes, x, &m), one = tileLanesFloat(lanes, 1);
  TilePair s = tilePairDivide(lanes, tileLanesSub(lanes, m, one), tilePairSum(lanes, m, one));
  TilePair z = tilePairMul(lanes, s, s), third = tilePair(lanes, 0x1.5555555555555p-2, 0x1.5555555555555p-56);
  MlirValue rest = tileLanesMul(lanes, tileLanesMul(lanes, z.high, z.high),
                                tileLanesPolynomial(lanes, z.high, sizeof tail / sizeof *tail, tail));
  TilePair factor = tilePairMul(lanes, z, third);
  factor = tilePairAdd(lanes, factor, (TilePair){rest, tileLanesFloat(lanes, 0)});
  factor = tilePairAdd(lanes, tilePair(lanes, 1, 0), factor);
  TilePair twicePerE = tilePair(lanes, 0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55);
  TilePair fraction = tilePairMul(lanes, tilePairMul(lanes, s, factor), twicePerE);
  return tilePairAdd(lanes, (TilePair){k, tileLanesFloat(lanes, 0)}, fraction);
}

static MlirValue isInteger(TileLanes *lanes, MlirValue y) {
  return tileLanesIs(lanes, tileLanesFloor(lanes, y), ArithCmpF_Oeq, y);
}

// x's sign, if y is an odd integer: an integer whose half is none. (True of no infinity: its half is one.)
static MlirValue withSign(TileLanes *lanes, MlirValue x, MlirValue y, MlirValue yIsInteger, MlirValue result) {
  MlirValue half = tileLanesMul(lanes, y, tileLanesFloat(lanes, 0.5));
  MlirValue split = tileLanesIs(lanes, tileLanesFloor(lanes, half), ArithCmpF_Une, half);
  return tileLanesSelect(lanes, tileLanesBoth(lanes, yIsInteger, split), tileF64WithSign(lanes, result, x), result);
}

// The logarithm of 0, infinity and NaN.
static TilePair ofSpecials(TileLanes *lanes, MlirValue magnitude, TilePair y) {
  MlirValue zero = tileLanesFloat(lanes, 0);
  MlirValue isFinite = tileLanesIs(lanes, magnitude, ArithCmpF_Olt, tileLanesFloat(lanes, INFINITY));
  y.high = tileLanesSelect(lanes, isFinite, y.high, magnitude);
  y.high = tileF64SelectIs(lanes, magnitude, 0, tileLanesFloat(lanes, -INFINITY), y.high);
  y.low = tileLanesSelect(lanes, isFinite, y.low, zero);
  y.low = tileF64SelectIs(lanes, magnitude, 0, zero, y.low);
  return y;
}

MlirValue tileExpandF64Pow(TileLanes *lanes, const MlirValue *xAndY) {
  MlirValue x = xAndY[0], magnitude = tileLanesAbs(lanes, x), one = tileLanesFloat(lanes, 1);
  // Beyond 2^80 every y is even and every result saturated, but (±1)^y.
  MlirValue y = tileLanesClamp(lanes, xAndY[1], -0x1p80, 0x1p80), yIsInteger = isInteger(lanes, y);
  TilePair logarithm = ofSpecials(lanes, magnitude, logarithm2(lanes, magnitude));
  TilePair product = tilePairProduct(lanes, y, logarithm.high);
  MlirValue low = tileLanesFma(lanes, y, logarithm.low, product.low);
  MlirValue saturates =
      tileLanesIs(lanes, tileLanesAbs(lanes, product.high), ArithCmpF_Ogt, tileLanesFloat(lanes, 1100));
  TilePair exponent = tilePairFastSum(lanes, tileLanesClamp(lanes, product.high, -1100, 1100),
                                      tileLanesSelect(lanes, saturates, tileLanesFloat(lanes, 0), low));
  MlirValue result = withSign(lanes, x, y, yIsInteger, tileF64Exp2OfPair(lanes, exponent));
  // NaN for a finite x < 0 and y no integer, then x^0 = 1^y = 1 even of NaN.
  MlirValue isFinite = tileLanesIs(lanes, x, ArithCmpF_Ogt, tileLanesFloat(lanes, -INFINITY));
  MlirValue negative = tileLanesBoth(lanes, tileLanesIs(lanes, x, ArithCmpF_Olt, tileLanesFloat(lanes, 0)), isFinite);
  MlirValue ofNegative = tileLanesSelect(lanes, yIsInteger, result, tileLanesFloat(lanes, NAN));
  result = tileLanesSelect(lanes, negative, ofNegative, result);
  result = tileF64SelectIs(lanes, xAndY[1], 0, one, result);
  return tileF64SelectIs(lanes, x, 1, one, result);
}

// A third of the exponent's bits and a cubic in x / t^3 give 23 bits t; rounded to them its cube is exact, and one of
// Newton's steps has all 53 (Kahan and Sun, FreeBSD's cbrt; error below 0.67 ulp).
MlirValue tileExpandF64Cbrt(TileLanes *lanes, const MlirValue *x) {
  static const double cubic[] = {1.87595182427177009643, -1.88497979543377169875, 1.621429720105354466140,
                                 -0.758397934778766047437, 0.145996192886612446982};
  MlirValue magnitude = tileLanesAbs(lanes, *x);
  MlirValue tiny = tileLanesIs(lanes, magnitude, ArithCmpF_Olt, tileLanesFloat(lanes, 0x1p-1022));
  MlirValue a = tileLanesSelect(lanes, tiny, tileLanesMul(lanes, magnitude, tileLanesFloat(lanes, 0x1p54)), magnitude);
  MlirValue bits = tileLanesOnInteger(lanes, ArithOp_ShRUI, tileLanesBits(lanes, a), 32);
  bits = tileLanesOnInteger(lanes, ArithOp_AddI, tileLanesOnInteger(lanes, ArithOp_DivUI, bits, 3), 715094163);
  MlirValue t = tileLanesFromBits(lanes, tileLanesOnInteger(lanes, ArithOp_ShLI, bits, 32));
  MlirValue r = tileLanesMul(lanes, tileLanesMul(lanes, t, t), tileLanesDiv(lanes, t, a));
  t = tileLanesMul(lanes, t, tileLanesPolynomial(lanes, r, 5, cubic));
  bits = tileLanesOnInteger(lanes, ArithOp_AddI, tileLanesBits(lanes, t), 0x80000000);
  t = tileLanesFromBits(lanes, tileLanesOnInteger(lanes, ArithOp_AndI, bits, (int64_t)0xffffffffc0000000));
  r = tileLanesDiv(lanes, a, tileLanesMul(lanes, t, t));
  MlirValue step = tileLanesDiv(lanes, tileLanesSub(lanes, r, t), tileLanesAdd(lanes, tileLanesAdd(lanes, t, t), r));
  MlirValue y = tileLanesFma(lanes, t, step, t);
  y = tileLanesSelect(lanes, tiny, tileLanesMul(lanes, y, tileLanesFloat(lanes, 0x1p-18)), y);
  y = tileF64SelectLess(lanes, magnitude, INFINITY, y, magnitude);
  y = tileF64SelectIs(lanes, magnitude, 0, magnitude, y);
  return tileF64WithSign(lanes, y, *x);
}
