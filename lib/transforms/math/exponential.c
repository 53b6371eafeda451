// exp, exp2 and tanh on f64 lanes (families.h).
//
// exp: x = k ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite; one step does, since k < 2^9 and f64 has 29 bits to spare),
// e^r = 1 + r q(r), and k is added to the exponent field. q: minimax, degree 7, error 8.13e-13.
#include "lib/transforms/math/families.h"

static const double ln2 = 0x1.62e42fefa39efp-1, log2OfE = 0x1.71547652b82fep+0;
// Adding it rounds to an integer, left in the low bits of the sum; subtracting it again gives that integer as a float.
static const double roundingShift = 0x1.8p+52;
// Any f32 result beyond e^±200 or 2^±200 is infinity or zero.
static const double saturation = 200;

static const double exponential[] = {
    0x1.ffffffffdac53p-1, 0x1.0000000064bbfp-1,  0x1.5555559c4da53p-3,  0x1.555554309deaep-5,
    0x1.111086705b17ep-7, 0x1.6c188aa586fa8p-10, 0x1.a1a40d5c528f9p-13, 0x1.9ef33725d3ee0p-16,
};

// 2^k e^r; `shifted` is k + roundingShift.
static MlirValue scaledExponential(TileLanes *lanes, MlirValue r, MlirValue shifted) {
  MlirValue q = tileLanesPolynomial(lanes, r, sizeof exponential / sizeof *exponential, exponential);
  MlirValue power = tileLanesFma(lanes, q, r, tileLanesFloat(lanes, 1));
  MlirValue exponent = tileLanesOnInteger(lanes, ArithOp_ShLI, tileLanesBits(lanes, shifted), 52);
  return tileLanesFromBits(lanes, tileLanesOnIntegers(lanes, ArithOp_AddI, tileLanesBits(lanes, power), exponent));
}

// The bits of a NaN went through integer arithmetic above, so it is put back.
static MlirValue keepNan(TileLanes *lanes, MlirValue x, MlirValue y) {
  return tileLanesSelect(lanes, tileLanesIs(lanes, x, ArithCmpF_Ord, x), y, x);
}

MlirValue tileExpandExp(TileLanes *lanes, const MlirValue *x) {
  MlirValue shift = tileLanesFloat(lanes, roundingShift), clamped = tileLanesClamp(lanes, *x, -saturation, saturation);
  MlirValue shifted = tileLanesFma(lanes, clamped, tileLanesFloat(lanes, log2OfE), shift);
  MlirValue k = tileLanesSub(lanes, shifted, shift);
  MlirValue r = tileLanesFma(lanes, k, tileLanesFloat(lanes, -ln2), clamped);
  return keepNan(lanes, *x, scaledExponential(lanes, r, shifted));
}

MlirValue tileExpandExp2(TileLanes *lanes, const MlirValue *x) {
  MlirValue shift = tileLanesFloat(lanes, roundingShift), clamped = tileLanesClamp(lanes, *x, -saturation, saturation);
  MlirValue shifted = tileLanesAdd(lanes, clamped, shift);
  MlirValue fraction = tileLanesSub(lanes, clamped, tileLanesSub(lanes, shifted, shift));
  MlirValue r = tileLanesMul(lanes, fraction, tileLanesFloat(lanes, ln2));
  return keepNan(lanes, *x, scaledExponential(lanes, r, shifted));
}

// 1 - 2 / (e^2x + 1) loses digits near 0: an error of 2^-53 / |x|, so below 2^-8 the series x - x^3/3 + 2x^5/15 takes
// over, whose next term is 17/315 x^6 < 2e-16 of the result.
MlirValue tileExpandTanh(TileLanes *lanes, const MlirValue *x) {
  static const double series[] = {1, -1.0 / 3, 2.0 / 15};
  MlirValue one = tileLanesFloat(lanes, 1), twice = tileLanesAdd(lanes, *x, *x), square = tileLanesMul(lanes, *x, *x);
  MlirValue denominator = tileLanesAdd(lanes, tileExpandExp(lanes, &twice), one);
  MlirValue far = tileLanesSub(lanes, one, tileLanesDiv(lanes, tileLanesFloat(lanes, 2), denominator));
  MlirValue near = tileLanesMul(lanes, *x, tileLanesPolynomial(lanes, square, 3, series));
  return tileLanesSelect(lanes, tileLanesIs(lanes, square, ArithCmpF_Olt, tileLanesFloat(lanes, 0x1p-16)), near, far);
}
