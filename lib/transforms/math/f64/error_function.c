// erf and erfc on f64 lanes (families.h).
//
// Up to 1/2: erf x = x p(x^2); p: minimax, degree 9, error 1.4e-17. Beyond: erfc x = e^(-x^2) q(t) / (1 + 2x) with
// t = (x - 4) / (x + 4), for which q is smooth; q: minimax, degree 21, error 4.1e-17 up to 27.3, where erfc is 0. What
// x^2 rounds away goes into the exponential.
#include "lib/transforms/math/f64/families.h"
#include "lib/transforms/math/f64/pair.h"

#include <math.h>

static const double near[] = {
    0x1.20dd750429b6dp+0,  -0x1.812746b0379e6p-2,  0x1.ce2f21a042b2ap-4,  -0x1.b82ce3127f807p-6,
    0x1.565bcd0aaa4e2p-8,  -0x1.c02db23eba768p-11, 0x1.f9a2a6b3268fbp-14, -0x1.f4bba948b2cc7p-17,
    0x1.b776eba2fdea8p-20, -0x1.39fff6ceebfadp-23,
};

static const double far[] = {
    0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a28ep-3,  0x1.f7f5df66fd572p-7,   0x1.16ecefcfa5346p-4,
    -0x1.9ddb23c3e7ccep-4,  0x1.7fee004e13324p-4,   -0x1.0fb06dfe6b733p-4,  0x1.3079edf65cce1p-5,
    -0x1.0962387d9bc2bp-6,  0x1.49c6729520d04p-8,   -0x1.8d4aa17fb5d16p-11, -0x1.a1df343292984p-13,
    0x1.3be0d71bc5bdep-13,  -0x1.9956e7c0af768p-16, -0x1.78a3df23f365ap-17, 0x1.7f0906b266635p-18,
    0x1.41aceff90368fp-22,  -0x1.b8ead86a0084ep-21, 0x1.1fc923f78a639p-24,  0x1.c1cf084bc0101p-24,
    -0x1.a3d2332249454p-27, -0x1.5da7940406010p-27,
};

// erf x for |x| <= 1/2.
static MlirValue nearZero(TileLanes *lanes, MlirValue x) {
  MlirValue square = tileLanesMul(lanes, x, x);
  MlirValue p = tileLanesPolynomial(lanes, square, sizeof near / sizeof *near, near);
  return tileLanesMul(lanes, x, p);
}

// erfc x for x >= 1/2.
static MlirValue complement(TileLanes *lanes, MlirValue x) {
  MlirValue four = tileLanesFloat(lanes, 4), one = tileLanesFloat(lanes, 1), shifted;
  x = tileLanesClamp(lanes, x, 0.5, 27.3);
  MlirValue t = tileLanesDiv(lanes, tileLanesSub(lanes, x, four), tileLanesAdd(lanes, x, four));
  MlirValue q = tileLanesPolynomial(lanes, t, sizeof far / sizeof *far, far);
  TilePair below = tilePairSum(lanes, tileLanesAdd(lanes, x, x), one), weight = tilePairDivide(lanes, q, below);
  TilePair square = tilePairProduct(lanes, x, x);
  TilePair r = tileF64ReduceExponential(lanes, tileF64Negate(lanes, square.high), &shifted);
  r.low = tileLanesSub(lanes, r.low, square.low);
  TilePair power = tilePairFastSum(lanes, one, tileF64ExponentialOfReduced(lanes, r));
  MlirValue low = tileLanesFma(lanes, power.high, weight.low, tileLanesMul(lanes, power.low, weight.high));
  return tileF64Scale(lanes, tileLanesFma(lanes, power.high, weight.high, low), shifted);
}

MlirValue tileExpandF64Erf(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x), one = tileLanesFloat(lanes, 1);
  MlirValue beyond = tileLanesSub(lanes, one, complement(lanes, magnitude));
  MlirValue y = tileF64SelectLess(lanes, magnitude, 0.5, nearZero(lanes, magnitude), beyond);
  return tileF64WithSign(lanes, y, *x);
}

MlirValue tileExpandF64Erfc(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x), one = tileLanesFloat(lanes, 1), beyond = complement(lanes, magnitude);
  MlirValue ofNegative = tileLanesSub(lanes, tileLanesFloat(lanes, 2), beyond);
  beyond = tileF64SelectLess(lanes, *x, 0, ofNegative, beyond);
  MlirValue inner = tileLanesSub(lanes, one, nearZero(lanes, *x));
  return tileF64SelectLess(lanes, magnitude, 0.5, inner, beyond);
}
