// Special functions as ops of arith and math: polynomials, Lanczos's sum, Chebyshev series, Euler and Maclaurin's sum.
#include "lib/ir/emit/special.h"

#include "lib/ir/support.h"
#include "lib/ir/upstream.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>
#include <string.h>

typedef TileBuilder B;

static MlirValue add(B *b, MlirValue x, MlirValue y) { return tileBuildBinary(b, ArithOp_AddF, x, y); }
static MlirValue sub(B *b, MlirValue x, MlirValue y) { return tileBuildBinary(b, ArithOp_SubF, x, y); }
static MlirValue mul(B *b, MlirValue x, MlirValue y) { return tileBuildBinary(b, ArithOp_MulF, x, y); }
static MlirValue quotient(B *b, MlirValue x, MlirValue y) { return tileBuildBinary(b, ArithOp_DivF, x, y); }
static MlirValue of(B *b, TileUpstream kind, MlirValue x) { return tileBuildUnary(b, kind, x); }
static MlirValue number(B *b, MlirValue like, double value) { return tileBuildFloat(b, mlirValueGetType(like), value); }
static MlirValue plus(B *b, MlirValue x, double y) { return add(b, x, number(b, x, y)); }
static MlirValue times(B *b, MlirValue x, double y) { return mul(b, x, number(b, x, y)); }
static MlirValue compare(B *b, ArithCmpF predicate, MlirValue x, double y) {
  return arithCmpFOpBuild(b, x, number(b, x, y), predicate);
}
static MlirValue select(B *b, MlirValue condition, MlirValue x, MlirValue y) {
  return arithSelectOpBuild(b, condition, x, y);
}
static MlirValue both(B *b, MlirValue x, MlirValue y) { return tileBuildBinary(b, ArithOp_AndI, x, y); }
static MlirValue isWhole(B *b, MlirValue x) { return arithCmpFOpBuild(b, x, of(b, MathOp_Floor, x), ArithCmpF_Oeq); }
static bool isDouble(MlirValue x) { return tileElementWidth(mlirValueGetType(x)) == 64; }

//===--- inverse error function (Giles 2010) ---------------------------------------===//

static MlirValue polynomial(B *b, MlirValue x, const double *coefficients, int count) {
  MlirValue sum = number(b, x, coefficients[0]);
  for (int i = 1; i < count; ++i)
    sum = add(b, number(b, x, coefficients[i]), mul(b, sum, x));
  return sum;
}

static MlirValue erfInv(B *b, MlirValue x) {
  static const double near[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  static const double far[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                               -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  MlirValue w = of(b, ArithOp_NegF, of(b, MathOp_Log1p, of(b, ArithOp_NegF, mul(b, x, x))));
  MlirValue isNear = compare(b, ArithCmpF_Olt, w, 5);
  MlirValue inner = polynomial(b, plus(b, w, -2.5), near, 9);
  MlirValue outer = polynomial(b, plus(b, of(b, MathOp_Sqrt, w), -3), far, 9);
  MlirValue result = mul(b, select(b, isNear, inner, outer), x);
  for (int step = 0; step < 2 && isDouble(x); ++step) { // Newton's
    MlirValue error = sub(b, of(b, MathOp_Erf, result), x);
    MlirValue slope = times(b, of(b, MathOp_Exp, of(b, ArithOp_NegF, mul(b, result, result))), 2 / sqrt(M_PI));
    result = sub(b, result, quotient(b, error, slope));
  }
  MlirValue isEnd = compare(b, ArithCmpF_Oeq, of(b, MathOp_AbsF, x), 1);
  return select(b, isEnd, times(b, x, INFINITY), result);
}

//===--- gamma function (Lanczos 1964) -----------------------------------------------===//

static const double lanczos[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                                 771.3234287776530788486528258894,   -176.61502916214059906584551354,
                                 12.507343278686904814458936853,     -0.13857109526572011689554707,
                                 9.984369578019570859563e-6,         1.50563273514931155834e-7};
static const double lanczosBase = 0.99999999999980993227684700473478;

// The base and the sum of c[i] / (z + i + 1), and that of -c[i] / (z + i + 1)².
static MlirValue sumOf(B *b, MlirValue z, MlirValue *slope) {
  MlirValue sum = number(b, z, lanczosBase);
  *slope = number(b, z, 0);
  for (int i = 0; i < 8; ++i) {
    MlirValue c = number(b, z, lanczos[i]), at = plus(b, z, i + 1);
    sum = add(b, sum, quotient(b, c, at));
    *slope = sub(b, *slope, quotient(b, c, mul(b, at, at)));
  }
  return sum;
}

static MlirValue reflected(B *b, MlirValue x, MlirValue *isReflected) {
  *isReflected = compare(b, ArithCmpF_Olt, x, 0.5);
  return select(b, *isReflected, of(b, ArithOp_NegF, x), plus(b, x, -1));
}

static MlirValue logOfT(B *b, MlirValue z) {
  return plus(b, of(b, MathOp_Log1p, quotient(b, z, number(b, z, 7.5))), log(7.5));
}

static MlirValue lgammaOf(B *b, MlirValue x) {
  MlirValue isReflected, slope, z = reflected(b, x, &isReflected), sum = sumOf(b, z, &slope);
  MlirValue t = plus(b, z, 7.5), logT = logOfT(b, z);
  MlirValue weight = sub(b, plus(b, z, 0.5), quotient(b, t, logT));
  MlirValue y = add(b, plus(b, mul(b, weight, logT), log(2 * M_PI) / 2), of(b, MathOp_Log, sum));
  MlirValue length = of(b, MathOp_AbsF, x), fraction = sub(b, length, of(b, MathOp_Floor, length));
  MlirValue small = select(b, compare(b, ArithCmpF_Ogt, fraction, 0.5), sub(b, number(b, x, 1), fraction), fraction);
  MlirValue below = of(b, MathOp_Log, of(b, MathOp_Sin, times(b, small, M_PI)));
  MlirValue isFinite = compare(b, ArithCmpF_Olt, of(b, MathOp_AbsF, below), INFINITY);
  MlirValue other = select(b, isFinite, sub(b, sub(b, number(b, x, log(M_PI)), below), y), of(b, ArithOp_NegF, below));
  MlirValue result = select(b, isReflected, other, y);
  return select(b, compare(b, ArithCmpF_Oeq, length, INFINITY), number(b, x, INFINITY), result);
}

static MlirValue digamma(B *b, MlirValue x) {
  MlirValue isReflected, slope, z = reflected(b, x, &isReflected), sum = sumOf(b, z, &slope);
  MlirValue t = plus(b, z, 7.5);
  MlirValue y = sub(b, add(b, logOfT(b, z), quotient(b, slope, sum)), quotient(b, number(b, z, 7), t));
  MlirValue near = add(b, x, of(b, MathOp_AbsF, of(b, MathOp_Floor, plus(b, x, 0.5))));
  MlirValue angle = times(b, near, M_PI);
  MlirValue pull = quotient(b, times(b, of(b, MathOp_Cos, angle), M_PI), of(b, MathOp_Sin, angle));
  MlirValue result = select(b, isReflected, sub(b, y, pull), y);
  MlirValue isPole = both(b, isWhole(b, x), compare(b, ArithCmpF_Ole, x, 0));
  return select(b, isPole, number(b, x, NAN), result);
}

//===--- zeta and polygamma ------------------------------------------------------------===//

// Ten terms, and what Euler and Maclaurin add for those behind them: with a = q + 9 and c[j] = B[2j] / (2j)!,
// a^-s (a / (s - 1) - 1/2 + s / a (c1 + (s + 1) (s + 2) / a² (c2 + (s + 3) (s + 4) / a² (c3 + …)))).
static MlirValue zeta(B *b, MlirValue s, MlirValue q) {
  static const double c[] = {0.083333333333333333,    -0.0013888888888888889,  3.3068783068783069e-5,
                             -8.2671957671957672e-7,  2.0876756987868099e-8,   -5.2841901386874932e-10,
                             1.3382536530684679e-11,  -3.3896802963225829e-13, 8.5860620562778446e-15,
                             -2.1748686985580619e-16, 5.5090028283602295e-18,  -1.3954464685812523e-19};
  enum { Count = sizeof c / sizeof *c };
  MlirValue minus = of(b, ArithOp_NegF, s), a = q, power = tileBuildBinary(b, MathOp_PowF, q, minus), sum = power;
  for (int k = 1; k < 10; ++k) {
    a = plus(b, q, k);
    power = tileBuildBinary(b, MathOp_PowF, a, minus);
    sum = add(b, sum, power);
  }
  MlirValue square = mul(b, a, a), rest = number(b, s, c[Count - 1]);
  for (int j = Count - 1; j > 0; --j) {
    MlirValue factor = quotient(b, mul(b, plus(b, s, 2 * j - 1), plus(b, s, 2 * j)), square);
    rest = plus(b, mul(b, factor, rest), c[j - 1]);
  }
  MlirValue tail = add(b, plus(b, quotient(b, a, plus(b, s, -1)), -0.5), mul(b, quotient(b, s, a), rest));
  // Where the last term adds nothing, the tail may be infinite or nan.
  MlirValue least = times(b, of(b, MathOp_AbsF, sum), isDouble(s) ? 0x1p-53 : 0x1p-24);
  MlirValue isDone = arithCmpFOpBuild(b, of(b, MathOp_AbsF, power), least, ArithCmpF_Olt);
  MlirValue result = select(b, isDone, sum, add(b, sum, mul(b, power, tail)));
  MlirValue isLow = compare(b, ArithCmpF_Ole, q, 0), nan = number(b, s, NAN), infinity = number(b, s, INFINITY);
  MlirValue ofPole = select(b, isWhole(b, times(b, s, 0.5)), infinity, nan);
  MlirValue isFraction = arithCmpFOpBuild(b, s, of(b, MathOp_Floor, s), ArithCmpF_One);
  result = select(b, both(b, isLow, isFraction), nan, result);
  result = select(b, both(b, isLow, isWhole(b, q)), ofPole, result);
  MlirValue isInside = both(b, compare(b, ArithCmpF_Oge, s, 1), compare(b, ArithCmpF_Olt, s, INFINITY));
  result = select(b, isInside, result, nan);
  return select(b, compare(b, ArithCmpF_Oeq, s, 1), infinity, result);
}

// (-1)^(n + 1) n! zeta(n + 1, x)
static MlirValue polygamma(B *b, MlirValue n, MlirValue x) {
  MlirValue next = plus(b, n, 1), half = times(b, next, 0.5);
  MlirValue size = mul(b, of(b, MathOp_Exp, lgammaOf(b, next)), zeta(b, next, x));
  MlirValue result = select(b, isWhole(b, half), size, of(b, ArithOp_NegF, size));
  result = select(b, compare(b, ArithCmpF_Oeq, n, 0), digamma(b, x), result);
  MlirValue isOrder = both(b, isWhole(b, n), compare(b, ArithCmpF_Oge, n, 0));
  return select(b, isOrder, result, number(b, n, NAN));
}

// P(cot(pi x)), where derivative number n of cot(pi x) is pi^n P: P0 = c, and P(n + 1) = -(1 + c²) dP(n) / dc.
static MlirValue cotangentDerivative(B *b, int n, MlirValue x) {
  double coefficients[TileSpecial_MostDerivatives + 2] = {0, 1}, next[TileSpecial_MostDerivatives + 2];
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i <= k + 2; ++i)
      next[i] = -(i + 1 <= k + 1 ? (i + 1) * coefficients[i + 1] : 0) - (i > 0 ? (i - 1) * coefficients[i - 1] : 0);
    memcpy(coefficients, next, sizeof(double) * (size_t)(k + 3));
  }
  MlirValue angle = times(b, sub(b, x, of(b, MathOp_RoundEven, x)), M_PI);
  MlirValue cotangent = quotient(b, of(b, MathOp_Cos, angle), of(b, MathOp_Sin, angle));
  MlirValue sum = number(b, x, coefficients[n + 1]);
  for (int i = n; i >= 0; --i)
    sum = plus(b, mul(b, sum, cotangent), coefficients[i]);
  return sum;
}

// Below 0 by reflection: (-1)^n polygamma(n, 1 - x) - pi^(n + 1) P(cot(pi x)).
static MlirValue derivativeOfDigamma(B *b, int n, MlirValue x) {
  MlirValue isLow = compare(b, ArithCmpF_Olt, x, 0), one = number(b, x, 1);
  double sign = n % 2 ? 1 : -1, factor = sign * tgamma(n + 1);
  MlirValue size = times(b, zeta(b, number(b, x, n + 1), select(b, isLow, sub(b, one, x), x)), factor);
  MlirValue turned = times(b, cotangentDerivative(b, n, x), pow(M_PI, n + 1));
  MlirValue result = select(b, isLow, sub(b, n % 2 ? of(b, ArithOp_NegF, size) : size, turned), size);
  MlirValue isPole = both(b, isWhole(b, x), compare(b, ArithCmpF_Ole, x, 0));
  return select(b, isPole, number(b, x, sign * INFINITY), result);
}

//===--- Bessel functions --------------------------------------------------------------===//

// The Chebyshev series c[0] / 2 + c[1] T1(t) + …, by Clenshaw's recurrence.
static MlirValue series(B *b, MlirValue t, const double *c, int count) {
  MlirValue twice = add(b, t, t), next = number(b, t, 0), second = next;
  for (int i = count - 1; i > 0; --i) {
    MlirValue first = plus(b, sub(b, mul(b, twice, next), second), c[i]);
    second = next;
    next = first;
  }
  return plus(b, sub(b, mul(b, t, next), second), c[0] / 2);
}

// On [0, 8] exp(-x) I0(x) and exp(-x) I1(x) / x in t = x / 4 - 1; beyond, exp(-x) √x I(x) in t = 16 / x - 1. f32 needs
// the first 18 and 7 terms.
static const double nearI0[] = {
    0.67679527440947608,    -0.3046826723431984,     0.17162090152220878,    -0.094901097048047644,
    0.049305284239670708,   -0.023737414805899469,   0.010546460394594998,   -0.0043243099950505759,
    0.0016394756169413358,  -0.00057637557453858237, 0.00018850288509584166, -5.7541950100821037e-5,
    1.6448448070728897e-5,  -4.4167383584587506e-6,  1.1173875391201037e-6,  -2.6707938539406117e-7,
    6.0469950225419189e-8,  -1.300025009986248e-8,   2.6598237246823867e-9,  -5.1897956016352629e-10,
    9.6758090353732369e-11, -1.7268262914415557e-11, 2.9550526631296398e-12, -4.8564467831119295e-13,
    7.6761854986049356e-14, -1.1685332877993452e-14, 1.715391285555133e-15,  -2.4312798465479547e-16,
    3.3307945188222381e-17, -4.4153416464793394e-18};
static const double farI0[] = {
    0.80449041101410883,     0.0033691164782556941,   6.889758346916824e-5,    2.8913705208347565e-6,
    2.0489185894690637e-7,   2.2666689904981781e-8,   3.3962320257083863e-9,   4.9406023882249696e-10,
    1.1889147107846438e-11,  -3.1499165279632414e-11, -1.3215811840447713e-11, -1.7941785315068061e-12,
    7.1801244513836662e-13,  3.8527783827421427e-13,  1.5400862175214098e-14,  -4.1505693472872221e-14,
    -9.5548466988283076e-15, 3.8116806693526224e-15,  1.7725601330565264e-15,  -3.4254856196772191e-16,
    -2.8276239805165835e-16, 3.4612228676974611e-17,  4.46562142029676e-17,    -4.8305044859441821e-18,
    -7.233180487874754e-18,  9.9214754121736986e-19,  1.1936508908459821e-18};
static const double nearI1[] = {
    0.25258718644363365,    -0.17641651835783406,    0.1026436586898471,     -0.052945981208094991,
    0.024726449030626517,   -0.010564084894626198,   0.0041564229443128882,  -0.0015135724506312531,
    0.00051228595616857577, -0.00016176081582589675, 4.7815651075500542e-5,  -1.3273163656039436e-5,
    3.4702513081376785e-6,  -8.5687202646954547e-7,  2.0032947535521353e-7,  -4.4450591287963281e-8,
    9.3815373864957718e-9,  -1.8872497517228293e-9,  3.625590281552117e-10,  -6.6634897235020277e-11,
    1.1736186298890902e-11, -1.9839743977649437e-12, 3.2237933659455747e-13, -5.0421855047279117e-14,
    7.6006842947354069e-15, -1.1055969477353863e-15, 1.5536319577362005e-16, -2.1114212143581661e-17,
    2.7779141127610464e-18};
static const double farI1[] = {
    0.77857623501828012,     -0.0097610974913614684,  -0.00011058893876262372, -3.8825648088776904e-6,
    -2.5122362378702089e-7,  -2.6314688468895195e-8,  -3.835380385964237e-9,   -5.5897434621965838e-10,
    -1.8974958123505412e-11, 3.2526035830154882e-11,  1.4125807436613781e-11,  2.0356285441470895e-12,
    -7.1985517762459085e-13, -4.0835511110921973e-13, -2.1015418427726643e-14, 4.2724400167119514e-14,
    1.0420276984128803e-14,  -3.8144030724370078e-15, -1.8803547755107824e-15, 3.3082023109209283e-16,
    2.9626289976459501e-16,  -3.209525921993424e-17,  -4.6503053684893583e-17, 4.4143483230717079e-18,
    7.5172963108421048e-18,  -9.3141788673268834e-19, -1.242193275194891e-18};

enum { Near0 = sizeof nearI0 / sizeof *nearI0, Near1 = sizeof nearI1 / sizeof *nearI1, Far = 27 };
_Static_assert(sizeof farI0 == Far * sizeof *farI0 && sizeof farI1 == sizeof farI0, "the series have as many terms");

static MlirValue bessel(B *b, MlirValue x, int order, bool isScaled) {
  MlirValue size = of(b, MathOp_AbsF, x), isNear = compare(b, ArithCmpF_Ole, size, 8);
  MlirValue near = plus(b, times(b, size, 0.25), -1), far = plus(b, quotient(b, number(b, x, 16), size), -1);
  int nearCount = !isDouble(x) ? 18 : order == 0 ? Near0 : Near1, farCount = isDouble(x) ? Far : 7;
  MlirValue inner = series(b, near, order == 0 ? nearI0 : nearI1, nearCount);
  MlirValue outer = quotient(b, series(b, far, order == 0 ? farI0 : farI1, farCount), of(b, MathOp_Sqrt, size));
  MlirValue result = select(b, isNear, order == 0 ? inner : mul(b, inner, size), outer);
  if (!isScaled) {
    MlirValue root = of(b, MathOp_Exp, times(b, size, 0.5)); // exp(|x|) itself may leave the range
    result = mul(b, mul(b, root, result), root);
  }
  return order == 0 ? result : tileBuildBinary(b, MathOp_CopySign, result, x);
}

//===--- all -----------------------------------------------------------------------------===//

static MlirValue ofWide(B *b, TileSpecial function, MlirValue x) {
  switch (function) {
  case TileSpecial_ErfInv:
    return erfInv(b, x);
  case TileSpecial_Lgamma:
    return lgammaOf(b, x);
  case TileSpecial_Digamma:
    return digamma(b, x);
  case TileSpecial_BesselI0:
  case TileSpecial_BesselI0e:
    return bessel(b, x, 0, function == TileSpecial_BesselI0e);
  case TileSpecial_BesselI1:
  case TileSpecial_BesselI1e:
    return bessel(b, x, 1, function == TileSpecial_BesselI1e);
  }
  return x;
}

static MlirValue widened(B *b, MlirValue x) {
  bool isSmall = tileElementWidth(mlirValueGetType(x)) < 32;
  return isSmall ? tileBuildCast(b, ArithOp_ExtF, x, mlirF32TypeGet(b->context)) : x;
}

static MlirValue narrowed(B *b, MlirValue x, MlirType type) {
  return mlirTypeEqual(mlirValueGetType(x), type) ? x : tileBuildCast(b, ArithOp_TruncF, x, type);
}

MlirValue tileBuildSpecial(TileBuilder *builder, TileSpecial function, MlirValue x) {
  return narrowed(builder, ofWide(builder, function, widened(builder, x)), mlirValueGetType(x));
}

MlirValue tileBuildZeta(TileBuilder *builder, MlirValue s, MlirValue q) {
  return narrowed(builder, zeta(builder, widened(builder, s), widened(builder, q)), mlirValueGetType(q));
}

MlirValue tileBuildPolygamma(TileBuilder *builder, MlirValue n, MlirValue x) {
  return narrowed(builder, polygamma(builder, widened(builder, n), widened(builder, x)), mlirValueGetType(x));
}

MlirValue tileBuildDerivativeOfDigamma(TileBuilder *builder, int n, MlirValue x) {
  return narrowed(builder, derivativeOfDigamma(builder, n, widened(builder, x)), mlirValueGetType(x));
}

//===--- the next float ----------------------------------------------------------------===//

MlirValue tileBuildNextAfter(TileBuilder *b, MlirValue from, MlirValue to) {
  MlirType type = mlirValueGetType(from), bitsType = mlirIntegerTypeGet(b->context, tileElementWidth(type));
  MlirValue bits = tileBuildCast(b, ArithOp_Bitcast, from, bitsType), one = tileBuildInteger(b, bitsType, 1);
  MlirValue isUp = arithCmpFOpBuild(b, to, from, ArithCmpF_Ogt), isNegative = compare(b, ArithCmpF_Olt, from, 0);
  MlirValue away = tileBuildBinary(b, ArithOp_XOrI, isUp, isNegative); // from zero
  MlirValue moved =
      select(b, away, tileBuildBinary(b, ArithOp_AddI, bits, one), tileBuildBinary(b, ArithOp_SubI, bits, one));
  MlirValue least = tileBuildCast(b, ArithOp_Bitcast, one, type);
  MlirValue ofZero = tileBuildBinary(b, MathOp_CopySign, least, to);
  MlirValue result =
      select(b, compare(b, ArithCmpF_Oeq, from, 0), ofZero, tileBuildCast(b, ArithOp_Bitcast, moved, type));
  MlirValue isEqual = arithCmpFOpBuild(b, from, to, ArithCmpF_Oeq);
  MlirValue isNan = arithCmpFOpBuild(b, from, to, ArithCmpF_Uno);
  return select(b, isNan, add(b, from, to), select(b, isEqual, to, result));
}
