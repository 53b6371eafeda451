// log, log2, log10, log1p and the inverse hyperbolic functions on f64 lanes (families.h).
//
// x = 2^k m with sqrt(1/2) <= m < sqrt(2), f = m - 1, s = f / (2 + f): log m = 2 s + s z L(z) with z = s^2, rewritten
// as f - (f^2/2 - s (f^2/2 + z L(z))) so that the exact f comes last. L: minimax, degree 6, error 1.4e-18 of log m.
// log2 and log10 turn that sum into a pair before they multiply.
#include "lib/transforms/math/f64/families.h"
#include "lib/transforms/math/f64/pair.h"

#include <math.h>

static const int64_t bitsOfSqrtHalf = 0x3fe6a09e667f3bcd;
static const double ln2High = 0x1.62e42feep-1, ln2Low = 0x1.a39ef35793c76p-33; // k ln2High is exact
static const double ln2 = 0x1.62e42fefa39efp-1;

static const double logarithm[] = {
    0x1.5555555555592p-1, 0x1.999999997feecp-2, 0x1.24924941e0c6bp-2, 0x1.c71c52162fb60p-3,
    0x1.74663c5cc7e8cp-3, 0x1.39a1fa750f84cp-3, 0x1.2f02f2bc75276p-3,
};

//===--- The pieces ------------------------------------------------------===//

MlirValue tileF64SplitExponent(TileLanes *lanes, MlirValue x, MlirValue *m) {
  MlirValue tiny = tileLanesIs(lanes, x, ArithCmpF_Olt, tileLanesFloat(lanes, 0x1p-1022));
  MlirValue bits =
      tileLanesBits(lanes, tileLanesSelect(lanes, tiny, tileLanesMul(lanes, x, tileLanesFloat(lanes, 0x1p54)), x));
  MlirValue k = tileLanesOnInteger(lanes, ArithOp_SubI, bits, bitsOfSqrtHalf);
  k = tileLanesOnInteger(lanes, ArithOp_ShRSI, k, 52);
  MlirValue exponent = tileLanesOnInteger(lanes, ArithOp_ShLI, k, 52);
  *m = tileLanesFromBits(lanes, tileLanesOnIntegers(lanes, ArithOp_SubI, bits, exponent));
  MlirValue number = tileLanesToFloat(lanes, k);
  return tileLanesSelect(lanes, tiny, tileLanesSub(lanes, number, tileLanesFloat(lanes, 54)), number);
}

MlirValue tileF64LogarithmOfSpecials(TileLanes *lanes, MlirValue x, MlirValue y) {
  y = tileF64SelectLess(lanes, x, INFINITY, y, x);
  y = tileF64SelectLess(lanes, x, 0, tileLanesFloat(lanes, NAN), y);
  return tileF64SelectIs(lanes, x, 0, tileLanesFloat(lanes, -INFINITY), y);
}

// log(1 + f) = f - (halfSquare - correction).
typedef struct Sum {
  MlirValue f, halfSquare, correction;
} Sum;

static Sum sumOf(TileLanes *lanes, MlirValue f) {
  MlirValue s = tileLanesDiv(lanes, f, tileLanesAdd(lanes, f, tileLanesFloat(lanes, 2)));
  MlirValue z = tileLanesMul(lanes, s, s), square = tileLanesMul(lanes, f, f);
  MlirValue half = tileLanesMul(lanes, square, tileLanesFloat(lanes, 0.5));
  MlirValue tail = tileLanesPolynomial(lanes, z, sizeof logarithm / sizeof *logarithm, logarithm);
  return (Sum){f, half, tileLanesMul(lanes, s, tileLanesFma(lanes, z, tail, half))};
}

// k ln 2 + log(1 + f) + more.
static MlirValue natural(TileLanes *lanes, MlirValue k, Sum sum, MlirValue more) {
  MlirValue low = tileLanesFma(lanes, k, tileLanesFloat(lanes, ln2Low), more);
  low = tileLanesAdd(lanes, sum.correction, low);
  MlirValue m = tileLanesSub(lanes, tileLanesSub(lanes, sum.halfSquare, low), sum.f);
  return tileLanesFma(lanes, k, tileLanesFloat(lanes, ln2High), tileF64Negate(lanes, m));
}

static Sum split(TileLanes *lanes, MlirValue x, MlirValue *k) {
  MlirValue m;
  *k = tileF64SplitExponent(lanes, x, &m);
  return sumOf(lanes, tileLanesSub(lanes, m, tileLanesFloat(lanes, 1)));
}

//===--- Logarithms ------------------------------------------------------===//

MlirValue tileExpandF64Log(TileLanes *lanes, const MlirValue *x) {
  MlirValue k;
  Sum sum = split(lanes, *x, &k);
  return tileF64LogarithmOfSpecials(lanes, *x, natural(lanes, k, sum, tileLanesFloat(lanes, 0)));
}

// k unit + factor log(1 + f).
static MlirValue toBase(TileLanes *lanes, MlirValue x, TilePair unit, TilePair factor) {
  MlirValue k;
  Sum sum = split(lanes, x, &k);
  TilePair first = tilePairFastSum(lanes, sum.f, tileF64Negate(lanes, sum.halfSquare));
  first = tilePairFastSum(lanes, first.high, tileLanesAdd(lanes, first.low, sum.correction));
  TilePair scaled = tilePairMul(lanes, first, factor), whole = tilePairProduct(lanes, k, unit.high);
  TilePair total = tilePairSum(lanes, whole.high, scaled.high);
  MlirValue low = tileLanesFma(lanes, k, unit.low, tileLanesAdd(lanes, whole.low, scaled.low));
  MlirValue y = tileLanesAdd(lanes, total.high, tileLanesAdd(lanes, total.low, low));
  return tileF64LogarithmOfSpecials(lanes, x, y);
}

MlirValue tileExpandF64Log2(TileLanes *lanes, const MlirValue *x) {
  TilePair perE = tilePair(lanes, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56);
  return toBase(lanes, *x, tilePair(lanes, 1, 0), perE);
}

MlirValue tileExpandF64Log10(TileLanes *lanes, const MlirValue *x) {
  TilePair perTwo = tilePair(lanes, 0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59);
  TilePair perE = tilePair(lanes, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57);
  return toBase(lanes, *x, perTwo, perE);
}

// Of 1 + x.high + x.low: what the sum 1 + x rounds away is, beside the sum, a small logarithm of its own. Near 0, where
// 2^k is 1, f is x itself.
static MlirValue log1pOfPair(TileLanes *lanes, TilePair x) {
  MlirValue one = tileLanesFloat(lanes, 1), m, magnitude = tileLanesAbs(lanes, x.high);
  TilePair u = tilePairSum(lanes, one, x.high);
  MlirValue rest = tileLanesDiv(lanes, tileLanesAdd(lanes, u.low, x.low), u.high);
  MlirValue k = tileF64SplitExponent(lanes, u.high, &m), zero = tileLanesFloat(lanes, 0);
  MlirValue isNear = tileLanesIs(lanes, magnitude, ArithCmpF_Olt, tileLanesFloat(lanes, 0.25));
  MlirValue f = tileLanesSelect(lanes, isNear, x.high, tileLanesSub(lanes, m, one));
  MlirValue nearRest = tileLanesDiv(lanes, x.low, u.high);
  rest = tileLanesSelect(lanes, isNear, nearRest, rest);
  return natural(lanes, tileLanesSelect(lanes, isNear, zero, k), sumOf(lanes, f), rest);
}

MlirValue tileExpandF64Log1p(TileLanes *lanes, const MlirValue *x) {
  MlirValue zero = tileLanesFloat(lanes, 0), sum = tileLanesAdd(lanes, *x, tileLanesFloat(lanes, 1));
  MlirValue y = tileF64LogarithmOfSpecials(lanes, sum, log1pOfPair(lanes, (TilePair){*x, zero}));
  return tileF64SelectLess(lanes, tileLanesAbs(lanes, *x), 0x1p-54, *x, y);
}

//===--- Inverse hyperbolic functions ------------------------------------===//

static MlirValue largeLogarithm(TileLanes *lanes, MlirValue x) {
  return tileLanesAdd(lanes, tileExpandF64Log(lanes, &x), tileLanesFloat(lanes, ln2));
}

// log1p(x + x^2 / (1 + sqrt(x^2 + 1))); beyond 2^28 log 2x.
MlirValue tileExpandF64Asinh(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x), one = tileLanesFloat(lanes, 1);
  MlirValue clamped = tileF64SelectLess(lanes, magnitude, 0x1p28, magnitude, one);
  MlirValue square = tileLanesMul(lanes, clamped, clamped);
  MlirValue root = tileLanesSqrt(lanes, tileLanesAdd(lanes, square, one));
  MlirValue more = tileLanesDiv(lanes, square, tileLanesAdd(lanes, root, one));
  MlirValue near = log1pOfPair(lanes, tilePairFastSum(lanes, clamped, more));
  MlirValue y = tileF64SelectLess(lanes, magnitude, 0x1p28, near, largeLogarithm(lanes, magnitude));
  y = tileF64SelectLess(lanes, magnitude, 0x1p-27, magnitude, y);
  return tileF64WithSign(lanes, y, *x);
}

// With t = x - 1: log1p(t + sqrt(2 t + t^2)); NaN below 1.
MlirValue tileExpandF64Acosh(TileLanes *lanes, const MlirValue *x) {
  MlirValue one = tileLanesFloat(lanes, 1), t = tileLanesSub(lanes, *x, one);
  t = tileF64SelectLess(lanes, *x, 0x1p28, t, one);
  TilePair square = tilePairProduct(lanes, t, t);
  TilePair inside = tilePairSum(lanes, tileLanesAdd(lanes, t, t), square.high);
  MlirValue low = tileLanesAdd(lanes, inside.low, square.low), root = tileLanesSqrt(lanes, inside.high);
  MlirValue missing = tileLanesAdd(lanes, tileLanesFma(lanes, tileF64Negate(lanes, root), root, inside.high), low);
  missing = tileLanesDiv(lanes, missing, tileLanesAdd(lanes, root, root));
  missing = tileF64SelectIs(lanes, root, 0, tileLanesFloat(lanes, 0), missing);
  TilePair sum = tilePairSum(lanes, t, root);
  MlirValue near = log1pOfPair(lanes, (TilePair){sum.high, tileLanesAdd(lanes, sum.low, missing)});
  MlirValue y = tileF64SelectLess(lanes, *x, 0x1p28, near, largeLogarithm(lanes, *x));
  return tileF64SelectLess(lanes, *x, 1, tileLanesFloat(lanes, NAN), y);
}

// log1p(2 x / (1 - x)) / 2; infinite at 1, NaN beyond.
MlirValue tileExpandF64Atanh(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x), one = tileLanesFloat(lanes, 1);
  TilePair below = tilePairSum(lanes, one, tileF64Negate(lanes, magnitude));
  TilePair quotient = tilePairDivide(lanes, tileLanesAdd(lanes, magnitude, magnitude), below);
  MlirValue y = tileLanesMul(lanes, log1pOfPair(lanes, quotient), tileLanesFloat(lanes, 0.5));
  y = tileF64SelectLess(lanes, magnitude, 1, y, tileLanesFloat(lanes, NAN));
  y = tileF64SelectIs(lanes, magnitude, 1, tileLanesFloat(lanes, INFINITY), y);
  y = tileF64SelectLess(lanes, magnitude, 0x1p-28, magnitude, y);
  return tileF64WithSign(lanes, y, *x);
}
