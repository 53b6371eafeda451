// exp, exp2, expm1, sinh, cosh, tanh on f64 lanes (families.h).
//
// x = k ln 2 + r: of the fused product k ln 2 the high part cancels exactly, the low one becomes r.low. e^r - 1 =
// r + r^2 q(r); q: minimax, degree 10, error 7.2e-19 of e^r. e^x - 1 = (2^k - 1) + 2^k (e^r - 1), and the hyperbolic
// functions are made of that: nothing cancels.
#include "lib/transforms/math/f64/families.h"
#include "lib/transforms/math/f64/pair.h"

#include <math.h>

static const double ln2 = 0x1.62e42fefa39efp-1, ln2Low = 0x1.abc9e3b39803fp-56, log2OfE = 0x1.71547652b82fep+0;
static const double beyond = 1100; // the result is infinite, or 0, or a power of it is

static const double exponential[] = {
    0x1.0000000000000p-1,  0x1.555555555555bp-3,  0x1.5555555555503p-5,  0x1.111111110ec65p-7,
    0x1.6c16c16c3043ap-10, 0x1.a01a01b37b536p-13, 0x1.a01a0136a1cadp-16, 0x1.71ddf02821ef7p-19,
    0x1.27e5b42b004b3p-22, 0x1.af6bdaee66294p-26, 0x1.1e3d47720d038p-29,
};

MlirValue tileF64ExponentialOfReduced(TileLanes *lanes, TilePair r) {
  r = tilePairSum(lanes, r.high, r.low);
  MlirValue q = tileLanesPolynomial(lanes, r.high, sizeof exponential / sizeof *exponential, exponential);
  MlirValue square = tileLanesMul(lanes, r.high, r.high);
  MlirValue low = tileLanesFma(lanes, r.low, r.high, r.low); // the slope is 1 + r.high
  return tileLanesAdd(lanes, r.high, tileLanesFma(lanes, square, q, low));
}

TilePair tileF64ReduceExponential(TileLanes *lanes, MlirValue x, MlirValue *shifted) {
  MlirValue k = tileF64Round(lanes, tileLanesMul(lanes, x, tileLanesFloat(lanes, log2OfE)), shifted);
  MlirValue high = tileLanesFma(lanes, k, tileLanesFloat(lanes, -ln2), x);
  return (TilePair){high, tileLanesMul(lanes, k, tileLanesFloat(lanes, -ln2Low))};
}

static MlirValue exponentialOfPair(TileLanes *lanes, TilePair r, MlirValue shifted) {
  MlirValue power = tileLanesAdd(lanes, tileLanesFloat(lanes, 1), tileF64ExponentialOfReduced(lanes, r));
  return tileF64Scale(lanes, power, shifted);
}

MlirValue tileExpandF64Exp(TileLanes *lanes, const MlirValue *x) {
  MlirValue shifted, clamped = tileLanesClamp(lanes, *x, -beyond, beyond);
  TilePair r = tileF64ReduceExponential(lanes, clamped, &shifted);
  return exponentialOfPair(lanes, r, shifted);
}

MlirValue tileF64Exp2OfPair(TileLanes *lanes, TilePair t) {
  MlirValue shifted, k = tileF64Round(lanes, t.high, &shifted);
  TilePair fraction = tilePairFastSum(lanes, tileLanesSub(lanes, t.high, k), t.low);
  return exponentialOfPair(lanes, tilePairMul(lanes, fraction, tilePair(lanes, ln2, ln2Low)), shifted);
}

MlirValue tileExpandF64Exp2(TileLanes *lanes, const MlirValue *x) {
  MlirValue clamped = tileLanesClamp(lanes, *x, -beyond, beyond);
  return tileF64Exp2OfPair(lanes, (TilePair){clamped, tileLanesFloat(lanes, 0)});
}

// From 40 on the 1 is nothing beside e^x; below 2^-54 x is the answer, with the sign of a zero.
MlirValue tileExpandF64Expm1(TileLanes *lanes, const MlirValue *x) {
  MlirValue shifted, clamped = tileLanesClamp(lanes, *x, -100, beyond), one = tileLanesFloat(lanes, 1);
  TilePair r = tileF64ReduceExponential(lanes, clamped, &shifted);
  MlirValue less = tileF64ExponentialOfReduced(lanes, r), scale = tileF64Scale(lanes, one, shifted);
  MlirValue near = tileLanesFma(lanes, scale, less, tileLanesSub(lanes, scale, one));
  MlirValue far = tileF64Scale(lanes, tileLanesAdd(lanes, one, less), shifted);
  MlirValue result = tileF64SelectLess(lanes, *x, 40, near, far);
  return tileF64SelectLess(lanes, tileLanesAbs(lanes, *x), 0x1p-54, *x, result);
}

//===--- hyperbolic ---------------------------------------------------------------------------===//

// e^(x/2)^2 / 2: where e^x alone is infinite. From 22 on sinh and cosh are the same.
static MlirValue halfExponential(TileLanes *lanes, MlirValue x) {
  MlirValue shifted, half = tileLanesFloat(lanes, 0.5), clamped = tileLanesClamp(lanes, x, -beyond, beyond);
  TilePair r = tileF64ReduceExponential(lanes, clamped, &shifted);
  MlirValue power = tileLanesAdd(lanes, tileLanesFloat(lanes, 1), tileF64ExponentialOfReduced(lanes, r));
  return tileF64Scale(lanes, tileLanesMul(lanes, power, half), shifted);
}

// With t = e^x - 1: (t + t / (t + 1)) / 2.
MlirValue tileExpandF64Sinh(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x), t = tileExpandF64Expm1(lanes, &magnitude);
  MlirValue one = tileLanesFloat(lanes, 1), half = tileLanesFloat(lanes, 0.5);
  MlirValue near = tileLanesAdd(lanes, t, tileLanesDiv(lanes, t, tileLanesAdd(lanes, t, one)));
  near = tileLanesMul(lanes, near, half);
  near = tileF64SelectLess(lanes, magnitude, 0x1p-54, magnitude, near);
  MlirValue result = tileF64SelectLess(lanes, magnitude, 22, near, halfExponential(lanes, magnitude));
  return tileF64WithSign(lanes, result, *x);
}

// 1 + t^2 / (2 (1 + t)).
MlirValue tileExpandF64Cosh(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x), t = tileExpandF64Expm1(lanes, &magnitude);
  MlirValue one = tileLanesFloat(lanes, 1), twice = tileLanesAdd(lanes, t, t);
  MlirValue rest = tileLanesDiv(lanes, tileLanesMul(lanes, t, t), tileLanesAdd(lanes, twice, tileLanesFloat(lanes, 2)));
  MlirValue near = tileLanesAdd(lanes, one, rest);
  return tileF64SelectLess(lanes, magnitude, 22, near, halfExponential(lanes, magnitude));
}

// With t = e^(2x) - 1: t / (t + 2) near 0, 1 - 2 / (t + 2) beyond.
MlirValue tileExpandF64Tanh(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x), twice = tileLanesAdd(lanes, magnitude, magnitude);
  MlirValue t = tileExpandF64Expm1(lanes, &twice), two = tileLanesFloat(lanes, 2), below = tileLanesAdd(lanes, t, two);
  MlirValue far = tileLanesSub(lanes, tileLanesFloat(lanes, 1), tileLanesDiv(lanes, two, below));
  MlirValue result = tileF64SelectLess(lanes, magnitude, 1, tileLanesDiv(lanes, t, below), far);
  result = tileF64SelectLess(lanes, magnitude, 0x1p-54, magnitude, result);
  return tileF64WithSign(lanes, result, *x);
}
