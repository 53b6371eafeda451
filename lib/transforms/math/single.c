// exp, exp2, tanh and erf on f32 lanes (families.h): within 1 ulp, where `afn` permits it; twice as fast as f64 lanes.
//
// exp: x = k ln 2 + r as in exponential.c, but with ln 2 in two parts; k times the first part is exact; e^r is
// 1 + r + r^2 q(r), where 1 + r is rounded once and what it lost is added with the rest. q: minimax, degree 5, 7.9e-10.
// erf: x + x q(x^2 - 3/4) below 1.2, beyond 1 - 2^q(x): erfc falls so fast that few digits of its logarithm are needed.
// Largest errors over all 2^32 inputs: see docs/numerics.md §7. exp and exp2 give 0 for results below 2^-126: what
// multiplies by subnormal numbers takes hundreds of cycles on some processors. Cost: 20 to 35 instructions a vector.
#include "lib/transforms/math/families.h"
#include <math.h>

static const double log2OfE = 0x1.715476p+0, ln2High = 0x1.62e4p-1, ln2Low = 0x1.7f7d1cp-20;
static const double roundingShift = 0x1.8p+23; // as in exponential.c
enum { MantissaBits = 23 };

static const double exponential[] = {
    0x1p-1, 0x1.55553cp-3, 0x1.5554f2p-5, 0x1.11371ap-7, 0x1.6d473ep-10, 0x1.6b326p-13,
};
// 2^f = 1 + f + f q(f), |f| <= 1/2: 8.8e-9.
static const double powerOfTwo[] = {
    -0x1.3a379ep-2, 0x1.ebfbd6p-3, 0x1.c6ae70p-5, 0x1.3b280cp-7, 0x1.5f7b7cp-10, 0x1.4a0f6cp-13,
};
// erf x / x - 1 in x^2 - 3/4, |x| < 1.2, tuned at f32's precision; log2 erfc x, 1.2 <= x <= 4: 6.4e-10 of erf.
static const double errorNear[] = {
    -0x1.9a0baep-4, -0x1.f4eac6p-3,  0x1.121990p-4,  -0x1.efd154p-7,
    0x1.75270ep-9,  -0x1.dd7500p-12, 0x1.0caa44p-14, -0x1.0bbff0p-17,
};
static const double errorFar[] = {
    -0x1.6ad0e4p-10, -0x1.9f6dd6p+0, -0x1.d9e6b8p-1, -0x1.28a404p-3, 0x1.e8317ap-6, -0x1.fa18e6p-9, 0x1.e708d0p-13,
};
// (tanh x / x - 1) / x^2 in x^2, |x| < 0.9: 1.2e-9.
static const double tangentNear[] = {
    -0x1.55554ep-2, 0x1.110f38p-3, -0x1.b9ca2cp-5, 0x1.62ef7ap-6, -0x1.0ec9a0p-7, 0x1.5255a4p-9, -0x1.dcd142p-12,
};

#define POLYNOMIAL(lanes, x, table) tileLanesPolynomial(lanes, x, sizeof(table) / sizeof *(table), table)

//===--- the power of two ---------------------------------------------------===//

// k nearest to x factor; `shifted` has it in its low bits.
static MlirValue nearestInteger(TileLanes *lanes, MlirValue x, double factor, MlirValue *shifted) {
  MlirValue shift = tileLanesFloat(lanes, roundingShift);
  *shifted = tileLanesFma(lanes, x, tileLanesFloat(lanes, factor), shift);
  return tileLanesSub(lanes, *shifted, shift);
}

// y 2^k by the exponent field, which must not leave its range; y is a number near 1.
static MlirValue scale(TileLanes *lanes, MlirValue y, MlirValue shifted) {
  MlirValue exponent = tileLanesOnInteger(lanes, ArithOp_ShLI, tileLanesBits(lanes, shifted), MantissaBits);
  return tileLanesFromBits(lanes, tileLanesOnIntegers(lanes, ArithOp_AddI, tileLanesBits(lanes, y), exponent));
}

// Results below 2^-126, where x is below `low`, are 0.
static MlirValue flush(TileLanes *lanes, MlirValue x, double low, MlirValue y) {
  MlirValue isBelow = tileLanesIs(lanes, x, ArithCmpF_Olt, tileLanesFloat(lanes, low));
  return tileLanesSelect(lanes, isBelow, tileLanesFloat(lanes, 0), y);
}

// Beyond `high` the result is infinite, and NaN stays NaN.
static MlirValue saturate(TileLanes *lanes, MlirValue x, double high, MlirValue y) {
  MlirValue beyond = tileLanesIs(lanes, x, ArithCmpF_Ugt, tileLanesFloat(lanes, high));
  return tileLanesSelect(lanes, beyond, tileLanesAdd(lanes, x, tileLanesFloat(lanes, INFINITY)), y);
}

//===--- exp and exp2 -------------------------------------------------------===//

// 1 + x, rounded; what that lost is left in `lost`. |x| < 1.
static MlirValue addToOne(TileLanes *lanes, MlirValue x, MlirValue *lost) {
  MlirValue one = tileLanesFloat(lanes, 1), sum = tileLanesAdd(lanes, one, x);
  *lost = tileLanesSub(lanes, x, tileLanesSub(lanes, sum, one)); // exact
  return sum;
}

// e^r of the reduced argument and its exponent; |x| < 105, else any number.
static MlirValue reducedExponential(TileLanes *lanes, MlirValue x, MlirValue *shifted) {
  MlirValue k = nearestInteger(lanes, x, log2OfE, shifted), lost;
  MlirValue first = tileLanesFma(lanes, k, tileLanesFloat(lanes, -ln2High), x); // exact
  MlirValue r = tileLanesFma(lanes, k, tileLanesFloat(lanes, -ln2Low), first), sum = addToOne(lanes, first, &lost);
  MlirValue rest = tileLanesFma(lanes, k, tileLanesFloat(lanes, -ln2Low), lost);
  MlirValue q = POLYNOMIAL(lanes, r, exponential);
  return tileLanesAdd(lanes, sum, tileLanesFma(lanes, q, tileLanesMul(lanes, r, r), rest));
}

// As above, but r + r^2 q is rounded before 1 is added: 0.98 ulp in place of 0.66 for four operations less.
MlirValue tileExpandSingleExp(TileLanes *lanes, const MlirValue *x) {
  MlirValue shifted, k = nearestInteger(lanes, *x, log2OfE, &shifted);
  MlirValue first = tileLanesFma(lanes, k, tileLanesFloat(lanes, -ln2High), *x); // exact
  MlirValue r = tileLanesFma(lanes, k, tileLanesFloat(lanes, -ln2Low), first);
  MlirValue rest = tileLanesFma(lanes, POLYNOMIAL(lanes, r, exponential), tileLanesMul(lanes, r, r), r);
  MlirValue power = tileLanesAdd(lanes, tileLanesFloat(lanes, 1), rest);
  MlirValue y = flush(lanes, *x, -0x1.5d589ep+6, scale(lanes, power, shifted));
  return saturate(lanes, *x, 0x1.62e42ep+6, y);
}

static MlirValue reducedPowerOfTwo(TileLanes *lanes, MlirValue x, MlirValue *shifted) {
  MlirValue fraction = tileLanesSub(lanes, x, nearestInteger(lanes, x, 1, shifted)), lost;
  MlirValue sum = addToOne(lanes, fraction, &lost);
  return tileLanesAdd(lanes, sum, tileLanesFma(lanes, POLYNOMIAL(lanes, fraction, powerOfTwo), fraction, lost));
}

MlirValue tileExpandSingleExp2(TileLanes *lanes, const MlirValue *x) {
  MlirValue shifted, power = reducedPowerOfTwo(lanes, *x, &shifted);
  MlirValue y = flush(lanes, *x, -126, scale(lanes, power, shifted));
  return saturate(lanes, *x, 0x1.fffffep+6, y);
}

//===--- tanh and erf -------------------------------------------------------===//

static MlirValue withSignOf(TileLanes *lanes, MlirValue magnitude, MlirValue x) {
  MlirValue sign = tileLanesOnInteger(lanes, ArithOp_AndI, tileLanesBits(lanes, x), INT32_MIN);
  return tileLanesFromBits(lanes, tileLanesOnIntegers(lanes, ArithOp_OrI, tileLanesBits(lanes, magnitude), sign));
}

static MlirValue atMost(TileLanes *lanes, MlirValue x, double high) {
  MlirValue most = tileLanesFloat(lanes, high);
  return tileLanesSelect(lanes, tileLanesIs(lanes, x, ArithCmpF_Ogt, most), most, x);
}

// `near` where |x| is below the border, and for NaN; with the sign of x, even of -0.
static MlirValue choose(TileLanes *lanes, MlirValue x, double border, MlirValue near, MlirValue far) {
  MlirValue isNear = tileLanesIs(lanes, tileLanesAbs(lanes, x), ArithCmpF_Ult, tileLanesFloat(lanes, border));
  return withSignOf(lanes, tileLanesSelect(lanes, isNear, near, far), x);
}

MlirValue tileExpandSingleErf(TileLanes *lanes, const MlirValue *x) {
  MlirValue centred = tileLanesFma(lanes, *x, *x, tileLanesFloat(lanes, -0.75));
  MlirValue near = tileLanesFma(lanes, *x, POLYNOMIAL(lanes, centred, errorNear), *x);
  MlirValue exponent = POLYNOMIAL(lanes, atMost(lanes, tileLanesAbs(lanes, *x), 4), errorFar), shifted;
  MlirValue power = reducedPowerOfTwo(lanes, exponent, &shifted);
  MlirValue far = tileLanesSub(lanes, tileLanesFloat(lanes, 1), scale(lanes, power, shifted));
  return choose(lanes, *x, 1.2, near, far);
}

// 1 - 2 / (e^2x + 1) has all its digits where the quotient is small.
MlirValue tileExpandSingleTanh(TileLanes *lanes, const MlirValue *x) {
  MlirValue square = tileLanesMul(lanes, *x, *x), one = tileLanesFloat(lanes, 1), shifted;
  MlirValue near = tileLanesFma(lanes, tileLanesMul(lanes, *x, square), POLYNOMIAL(lanes, square, tangentNear), *x);
  MlirValue magnitude = atMost(lanes, tileLanesAbs(lanes, *x), 10);
  MlirValue power = reducedExponential(lanes, tileLanesAdd(lanes, magnitude, magnitude), &shifted);
  MlirValue denominator = tileLanesAdd(lanes, scale(lanes, power, shifted), one);
  MlirValue far = tileLanesSub(lanes, one, tileLanesDiv(lanes, tileLanesFloat(lanes, 2), denominator));
  return choose(lanes, *x, 0.9, near, far);
}
