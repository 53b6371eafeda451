// asin, acos, atan and atan2 on f64 lanes (families.h).
//
// asin x = x + x z A(z), z = x^2 <= 1/4; beyond, pi/2 - 2 asin(sqrt((1 - x) / 2)), the root as a pair. atan x = atan c
// + atan((x - c) / (1 + c x)) with the nearest c of 0, 1/2, 1, 3/2 and infinity, then t + t z T(z). Minimax, degrees 11
// and 10, errors 1.8e-17 and 7.4e-18.
#include "lib/transforms/math/f64/families.h"
#include "lib/transforms/math/f64/pair.h"

#include <math.h>

static const double halfPi = 0x1.921fb54442d18p+0, halfPiLow = 0x1.1a62633145c07p-54;

static const double arcsine[] = {
    0x1.5555555555387p-3, 0x1.333333336f8ddp-4, 0x1.6db6db41d186bp-5,  0x1.f1c72c6ddacbep-6,
    0x1.6e89ef6fddf1ep-6, 0x1.1c6c28345e5e1p-6, 0x1.c6f876779b321p-7,  0x1.8ee4cd1b9e93dp-7,
    0x1.aab29cf1180f9p-8, 0x1.40b278c771ba0p-6, -0x1.0af596bbe1af1p-6, 0x1.05ce8fbf9d5e3p-5,
};

static const double arctangent[] = {
    -0x1.555555555550cp-2, 0x1.999999998ea8bp-3, -0x1.2492492001af4p-3, 0x1.c71c6fdff1972p-4,
    -0x1.745cdc1b3c881p-4, 0x1.3b0f2762744dcp-4, -0x1.10d6456a88abap-4, 0x1.dde0f4367ce16p-5,
    -0x1.97ad0c3f49c67p-5, 0x1.2b32b02eecf95p-5, -0x1.0ab0dc2e650cdp-6,
};

//===--- asin and acos ---------------------------------------------------===//

// asin s = s + s * rest.
static MlirValue restOfArcsine(TileLanes *lanes, MlirValue z) {
  return tileLanesMul(lanes, z, tileLanesPolynomial(lanes, z, sizeof arcsine / sizeof *arcsine, arcsine));
}

// 2 asin(sqrt((1 - x) / 2)) for 1/2 < x <= 1, as a pair.
static TilePair fromOne(TileLanes *lanes, MlirValue x) {
  MlirValue half = tileLanesFloat(lanes, 0.5), one = tileLanesFloat(lanes, 1), zero = tileLanesFloat(lanes, 0);
  MlirValue z = tileLanesMul(lanes, tileLanesSub(lanes, one, x), half), root = tileLanesSqrt(lanes, z);
  MlirValue missing = tileLanesFma(lanes, tileF64Negate(lanes, root), root, z);
  missing = tileLanesDiv(lanes, missing, tileLanesAdd(lanes, root, root));
  missing = tileF64SelectIs(lanes, root, 0, zero, missing);
  MlirValue low = tileLanesFma(lanes, root, restOfArcsine(lanes, z), missing);
  TilePair once = tilePairFastSum(lanes, root, low);
  return (TilePair){tileLanesAdd(lanes, once.high, once.high), tileLanesAdd(lanes, once.low, once.low)};
}

// pi/2 - a.
static MlirValue fromHalfPi(TileLanes *lanes, TilePair a) {
  TilePair sum = tilePairSum(lanes, tileLanesFloat(lanes, halfPi), tileF64Negate(lanes, a.high));
  MlirValue low = tileLanesSub(lanes, tileLanesFloat(lanes, halfPiLow), a.low);
  return tileLanesAdd(lanes, sum.high, tileLanesAdd(lanes, sum.low, low));
}

static TilePair nearZero(TileLanes *lanes, MlirValue x) {
  MlirValue rest = restOfArcsine(lanes, tileLanesMul(lanes, x, x));
  return tilePairFastSum(lanes, x, tileLanesMul(lanes, x, rest));
}

MlirValue tileExpandF64Asin(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x), beyond = fromHalfPi(lanes, fromOne(lanes, magnitude));
  MlirValue y = tileF64SelectLess(lanes, magnitude, 0.5, nearZero(lanes, magnitude).high, beyond);
  return tileF64WithSign(lanes, y, *x); // beyond 1 the root is NaN
}

MlirValue tileExpandF64Acos(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x);
  TilePair beyond = fromOne(lanes, magnitude);
  MlirValue low = tileLanesSub(lanes, tileLanesFloat(lanes, 2 * halfPiLow), beyond.low);
  TilePair rest = tilePairSum(lanes, tileLanesFloat(lanes, 2 * halfPi), tileF64Negate(lanes, beyond.high));
  MlirValue ofNegative = tileLanesAdd(lanes, rest.high, tileLanesAdd(lanes, rest.low, low));
  MlirValue far = tileF64SelectLess(lanes, *x, 0, ofNegative, tileLanesAdd(lanes, beyond.high, beyond.low));
  return tileF64SelectLess(lanes, magnitude, 0.5, fromHalfPi(lanes, nearZero(lanes, *x)), far);
}

//===--- atan and atan2 --------------------------------------------------===//

typedef struct Center {
  double from;            // x >= from takes it
  double c;               // with weight: above = weight x - weight c, below = weight + weight c x
  double weight;          //
  double angle, angleLow; // atan c
} Center;

static const Center centers[] = {
    {0.4375, 0.5, 2, 0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
    {0.6875, 1, 1, 0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
    {1.1875, 1.5, 2, 0x1.f730bd281f69bp-1, 0x1.007887af0cbbdp-56},
};

static MlirValue atLeast(TileLanes *lanes, MlirValue x, double limit, MlirValue then, MlirValue otherwise) {
  return tileF64SelectLess(lanes, x, limit, otherwise, then);
}

// The arctangent of x >= 0, infinity included.
static TilePair arctangentOf(TileLanes *lanes, MlirValue x) {
  MlirValue zero = tileLanesFloat(lanes, 0), one = tileLanesFloat(lanes, 1), above = x, below = one;
  TilePair angle = {zero, zero};
  for (size_t i = 0; i < sizeof centers / sizeof *centers; ++i) {
    const Center *center = &centers[i];
    MlirValue weight = tileLanesFloat(lanes, center->weight), shift = tileLanesFloat(lanes, center->weight * center->c);
    MlirValue moved = tileLanesFma(lanes, x, weight, tileF64Negate(lanes, shift));
    above = atLeast(lanes, x, center->from, moved, above);
    below = atLeast(lanes, x, center->from, tileLanesFma(lanes, x, shift, weight), below);
    angle.high = atLeast(lanes, x, center->from, tileLanesFloat(lanes, center->angle), angle.high);
    angle.low = atLeast(lanes, x, center->from, tileLanesFloat(lanes, center->angleLow), angle.low);
  }
  above = atLeast(lanes, x, 2.4375, tileLanesFloat(lanes, -1), above);
  below = atLeast(lanes, x, 2.4375, x, below);
  angle.high = atLeast(lanes, x, 2.4375, tileLanesFloat(lanes, halfPi), angle.high);
  angle.low = atLeast(lanes, x, 2.4375, tileLanesFloat(lanes, halfPiLow), angle.low);
  MlirValue t = tileLanesDiv(lanes, above, below), z = tileLanesMul(lanes, t, t);
  MlirValue tail = tileLanesPolynomial(lanes, z, sizeof arctangent / sizeof *arctangent, arctangent);
  MlirValue rest = tileLanesFma(lanes, tileLanesMul(lanes, t, z), tail, angle.low);
  TilePair sum = tilePairSum(lanes, angle.high, t);
  return tilePairFastSum(lanes, sum.high, tileLanesAdd(lanes, sum.low, rest));
}

MlirValue tileExpandF64Atan(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x);
  MlirValue y = tileF64SelectLess(lanes, magnitude, 0x1p-27, magnitude, arctangentOf(lanes, magnitude).high);
  return tileF64WithSign(lanes, y, *x);
}

// atan |y / x|, from pi where x is negative, with y's sign. Two infinities are as two ones, of two zeros the angle is
// 0.
MlirValue tileExpandF64Atan2(TileLanes *lanes, const MlirValue *yAndX) {
  MlirValue y = tileLanesAbs(lanes, yAndX[0]), x = tileLanesAbs(lanes, yAndX[1]), one = tileLanesFloat(lanes, 1);
  MlirValue infinity = tileLanesFloat(lanes, INFINITY), zero = tileLanesFloat(lanes, 0);
  MlirValue areInfinite = tileLanesBoth(lanes, tileLanesIs(lanes, y, ArithCmpF_Oeq, infinity),
                                        tileLanesIs(lanes, x, ArithCmpF_Oeq, infinity));
  MlirValue quotient = tileLanesDiv(lanes, y, x);
  quotient = tileLanesSelect(lanes, areInfinite, one, quotient);
  MlirValue isNan = tileLanesIs(lanes, y, ArithCmpF_Uno, x), nan = tileLanesFloat(lanes, NAN);
  quotient = tileLanesSelect(lanes, tileLanesIs(lanes, y, ArithCmpF_Oeq, zero), zero, quotient);
  TilePair angle = arctangentOf(lanes, quotient);
  angle.high = tileF64SelectLess(lanes, quotient, 0x1p-27, quotient, angle.high);
  angle.low = tileF64SelectLess(lanes, quotient, 0x1p-27, zero, angle.low);
  TilePair rest = tilePairSum(lanes, tileLanesFloat(lanes, 2 * halfPi), tileF64Negate(lanes, angle.high));
  MlirValue low = tileLanesSub(lanes, tileLanesFloat(lanes, 2 * halfPiLow), angle.low);
  MlirValue behind = tileLanesAdd(lanes, rest.high, tileLanesAdd(lanes, rest.low, low));
  MlirValue signOfX = tileF64WithSign(lanes, one, yAndX[1]);
  MlirValue result = tileF64SelectLess(lanes, signOfX, 0, behind, angle.high);
  result = tileF64WithSign(lanes, result, yAndX[0]);
  return tileLanesSelect(lanes, isNan, nan, result);
}
