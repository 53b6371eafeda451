// exp, exp2 and tanh on f64 lanes (families.h).
//
// exp: x = k ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite; one step does, since k < 2^9 and f64 has 29 bits to spare),
// e^r = 1 + r q(r), times 2^k, whose exponent field k is. q: minimax, degree 7, error 8.13e-13. Operands are clamped
// before they become f64 (expand_math.c).
#include "lib/transforms/math/families.h"

static const double ln2 = 0x1.62e42fefa39efp-1, log2OfE = 0x1.71547652b82fep+0;
// Adding it rounds to an integer; subtracting it again gives that integer as a float. The low bits of the sum are the
// integer with the bias of f64's exponents.
static const double roundingShift = 0x1.8p+52 + 1023;

static const double exponential[] = {
    0x1.ffffffffdac53p-1, 0x1.0000000064bbfp-1,  0x1.5555559c4da53p-3,  0x1.555554309deaep-5,
    0x1.111086705b17ep-7, 0x1.6c188aa586fa8p-10, 0x1.a1a40d5c528f9p-13, 0x1.9ef33725d3ee0p-16,
};

// 2^k e^r; `shifted` is k + roundingShift. The product keeps NaN.
static MlirValue scaledExponential(TileLanes *lanes, MlirValue r, MlirValue shifted) {
  MlirValue q = tileLanesPolynomial(lanes, r, sizeof exponential / sizeof *exponential, exponential);
  MlirValue exponent = tileLanesOnInteger(lanes, ArithOp_ShLI, tileLanesBits(lanes, shifted), 52);
  MlirValue power = tileLanesFromBits(lanes, exponent);
  return tileLanesFma(lanes, tileLanesMul(lanes, power, r), q, power);
}

MlirValue tileExpandExp(TileLanes *lanes, const MlirValue *x) {
  MlirValue shift = tileLanesFloat(lanes, roundingShift);
  MlirValue shifted = tileLanesFma(lanes, *x, tileLanesFloat(lanes, log2OfE), shift);
  MlirValue k = tileLanesSub(lanes, shifted, shift);
  return scaledExponential(lanes, tileLanesFma(lanes, k, tileLanesFloat(lanes, -ln2), *x), shifted);
}

MlirValue tileExpandExp2(TileLanes *lanes, const MlirValue *x) {
  MlirValue shift = tileLanesFloat(lanes, roundingShift), shifted = tileLanesAdd(lanes, *x, shift);
  MlirValue fraction = tileLanesSub(lanes, *x, tileLanesSub(lanes, shifted, shift));
  return scaledExponential(lanes, tileLanesMul(lanes, fraction, tileLanesFloat(lanes, ln2)), shifted);
}

// 1 / d by a quotient of f32 and one step of Newton's: to 2^-46. A division of f64 takes longer than all the rest.
static MlirValue reciprocal(TileLanes *lanes, MlirValue d) {
  MlirType single = tileLanesLike(lanes->real, mlirF32TypeGet(lanes->builder.context));
  TileLanes narrow = tileLanesSingleOf(lanes->builder, single);
  MlirValue near = arithTruncFOpBuild(&narrow.builder, single, d);
  near = tileLanesDiv(&narrow, tileLanesFloat(&narrow, 1), near);
  near = arithExtFOpBuild(&lanes->builder, lanes->real, near);
  MlirValue rest = tileLanesFma(lanes, arithNegFOpBuild(&lanes->builder, d), near, tileLanesFloat(lanes, 1));
  return tileLanesFma(lanes, near, rest, near);
}

// 1 - 2 / (e^2x + 1) loses digits near 0: an error of 2^-46 / |x|, so below 2^-8 the series x - x^3/3 + 2x^5/15 takes
// over, whose next term is 17/315 x^6 < 2e-16 of the result.
MlirValue tileExpandTanh(TileLanes *lanes, const MlirValue *x) {
  static const double series[] = {1, -1.0 / 3, 2.0 / 15};
  MlirValue one = tileLanesFloat(lanes, 1), twice = tileLanesAdd(lanes, *x, *x), square = tileLanesMul(lanes, *x, *x);
  MlirValue denominator = tileLanesAdd(lanes, tileExpandExp(lanes, &twice), one);
  MlirValue far = tileLanesFma(lanes, reciprocal(lanes, denominator), tileLanesFloat(lanes, -2), one);
  MlirValue near = tileLanesMul(lanes, *x, tileLanesPolynomial(lanes, square, 3, series));
  return tileLanesSelect(lanes, tileLanesIs(lanes, square, ArithCmpF_Olt, tileLanesFloat(lanes, 0x1p-16)), near, far);
}
