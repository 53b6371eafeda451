// sin, cos and tan on f64 lanes (families.h), right over the whole range.
//
// |x| = (4 n + quadrant) pi/2 + r, |r| <= pi/4, r a pair; sin r = r + r z S(z), cos r = 1 - z/2 + z^2 C(z) with z =
// r^2; minimax, degree 5, errors 1.2e-17 and 1.1e-18. Two reductions, one chosen lane by lane without a branch: below
// 2^28 Cody and Waite with pi/2 in three parts (of the fused product with the first the difference is exact); from
// there on Payne and Hanek (1983): the 192 bits of 2/pi that matter, times the significand.
#include "lib/transforms/math/f64/families.h"
#include "lib/transforms/math/f64/pair.h"

#include <math.h>

static const double twoOverPi = 0x1.45f306dc9c883p-1, hugeFrom = 0x1p28;
static const double halfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};

static const double sine[] = {
    -0x1.5555555555548p-3, 0x1.111111110f7d1p-7,   -0x1.a01a019bfdfb9p-13,
    0x1.71de3567d9362p-19, -0x1.ae5e5a93ad651p-26, 0x1.5d8fd1d04e641p-33,
};

static const double cosine[] = {
    0x1.555555555554bp-5,   -0x1.6c16c16c14f92p-10, 0x1.a01a019c8456cp-16,
    -0x1.27e4f7eac83a5p-22, 0x1.1ee9d7b63b677p-29,  -0x1.8fa49a4b6bbdap-37,
};

// 64 zeros, then the first 1280 bits after the binary point of 2/pi.
static const uint64_t twoOverPiBits[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
};
enum { wordCount = sizeof twoOverPiBits / sizeof *twoOverPiBits };

typedef struct Angle {
  MlirValue quadrant; // i64, its two low bits
  TilePair r;
} Angle;

//===--- Reduction -------------------------------------------------------===//

static Angle reduceModerate(TileLanes *lanes, MlirValue x) {
  MlirValue quadrant, k = tileF64Round(lanes, tileLanesMul(lanes, x, tileLanesFloat(lanes, twoOverPi)), &quadrant);
  MlirValue first = tileLanesFma(lanes, k, tileLanesFloat(lanes, -halfPi[0]), x);
  TilePair second = tilePairProduct(lanes, k, tileLanesFloat(lanes, -halfPi[1]));
  TilePair sum = tilePairSum(lanes, first, second.high);
  MlirValue low = tileLanesFma(lanes, k, tileLanesFloat(lanes, -halfPi[2]), second.low);
  return (Angle){quadrant, tilePairFastSum(lanes, sum.high, tileLanesAdd(lanes, sum.low, low))};
}

// 64 bits of `first`, `second` from bit `shift` on; shift < 64. (Two shifts, since shifting by 64 is undefined.)
static MlirValue funnel(TileLanes *lanes, MlirValue first, MlirValue second, MlirValue shift) {
  MlirValue rest = tileLanesOnInteger(lanes, ArithOp_XOrI, shift, 63);
  MlirValue halved = tileLanesOnInteger(lanes, ArithOp_ShRUI, second, 1);
  MlirValue high = tileLanesOnIntegers(lanes, ArithOp_ShLI, first, shift);
  return tileLanesOnIntegers(lanes, ArithOp_OrI, high, tileLanesOnIntegers(lanes, ArithOp_ShRUI, halved, rest));
}

// Words `word` to word + 3 of the table, word <= 16: a shift by 16, 8, 4, 2 and 1 words, each where a bit of it says
// so.
static void wordsFrom(TileLanes *lanes, MlirValue word, MlirValue *four) {
  MlirValue words[wordCount + 32], zero = tileLanesInteger(lanes, 0);
  for (int i = 0; i < wordCount + 32; ++i)
    words[i] = i < wordCount ? tileLanesInteger(lanes, (int64_t)twoOverPiBits[i]) : zero;
  for (int step = 16, wanted; step; step /= 2) {
    MlirValue isSet = tileLanesOnInteger(lanes, ArithOp_AndI, word, step);
    isSet = arithCmpIOpBuild(&lanes->builder, isSet, zero, ArithCmpI_Ne);
    wanted = step + 3; // what later steps may still ask for
    for (int i = 0; i < wanted; ++i)
      words[i] = tileLanesSelect(lanes, isSet, words[i + step], words[i]);
  }
  for (int i = 0; i < 4; ++i)
    four[i] = words[i];
}

typedef struct Wide {
  MlirValue low, high;
} Wide;

static Wide multiply(TileLanes *lanes, MlirValue a, MlirValue b) {
  MlirOperation op = arithMulUIExtendedOpCreate(&lanes->builder, a, b);
  return (Wide){arithMulUIExtendedOpGetLow(op), arithMulUIExtendedOpGetHigh(op)};
}

static Wide addWithCarry(TileLanes *lanes, MlirValue a, MlirValue b) {
  MlirOperation op = arithAddUIExtendedOpCreate(&lanes->builder, lanes->bits, lanes->i1, a, b);
  MlirValue carry = arithExtUIOpBuild(&lanes->builder, lanes->bits, arithAddUIExtendedOpGetOverflow(op));
  return (Wide){arithAddUIExtendedOpGetSum(op), carry};
}

static MlirValue scaled(TileLanes *lanes, MlirValue integer, double unit) {
  return tileLanesMul(lanes, tileLanesToFloat(lanes, integer), tileLanesFloat(lanes, unit));
}

// x = m 2^e, m of 53 bits. Quarter turns in multiples of 4 do not count, so of 2^e 2/pi the bits from weight 2 on do:
// 192 of them times m leave an error of 2^-137 quarter turns, and no f64 comes nearer to one than 2^-61 of it.
static Angle reduceHuge(TileLanes *lanes, MlirValue x) {
  MlirValue bits = tileLanesBits(lanes, x), words[4], windows[3];
  MlirValue m = tileLanesOnInteger(lanes, ArithOp_AndI, bits, 0xfffffffffffff);
  m = tileLanesOnInteger(lanes, ArithOp_OrI, m, INT64_C(1) << 52);
  // Bit i of 2/pi, from 0, weighs 2^(e - 1 - i): the first wanted is bit e - 2, 64 further in the table.
  MlirValue exponent = tileLanesOnInteger(lanes, ArithOp_ShRUI, bits, 52);
  MlirValue offset = tileLanesOnInteger(lanes, ArithOp_SubI, exponent, 1023 + 52 + 2 - 64);
  MlirValue shift = tileLanesOnInteger(lanes, ArithOp_AndI, offset, 63);
  wordsFrom(lanes, tileLanesOnInteger(lanes, ArithOp_ShRUI, offset, 6), words);
  for (int i = 0; i < 3; ++i)
    windows[i] = funnel(lanes, words[i], words[i + 1], shift);
  Wide last = multiply(lanes, m, windows[2]), middle = multiply(lanes, m, windows[1]);
  Wide sum = addWithCarry(lanes, middle.low, last.high);
  MlirValue first = tileLanesOnIntegers(lanes, ArithOp_MulI, m, windows[0]);
  first = tileLanesOnIntegers(lanes, ArithOp_AddI, first, middle.high);
  first = tileLanesOnIntegers(lanes, ArithOp_AddI, first, sum.high);
  // Two bits of quadrant, rounded to the nearest, and what is left as a signed fraction of 2^-64 and on.
  MlirValue quadrant = tileLanesOnInteger(lanes, ArithOp_AddI, first, INT64_C(1) << 61);
  MlirValue two = tileLanesInteger(lanes, 2);
  MlirValue upper = funnel(lanes, first, sum.low, two), lower = funnel(lanes, sum.low, last.low, two);
  MlirValue high = scaled(lanes, tileLanesOnInteger(lanes, ArithOp_ShRSI, upper, 32), 0x1p-32);
  MlirValue middleBits = scaled(lanes, tileLanesOnInteger(lanes, ArithOp_AndI, upper, 0xffffffff), 0x1p-64);
  MlirValue lowest = scaled(lanes, tileLanesOnInteger(lanes, ArithOp_ShRUI, lower, 11), 0x1p-117);
  TilePair fraction = tilePairSum(lanes, high, middleBits), all = tilePairSum(lanes, fraction.high, lowest);
  all = tilePairFastSum(lanes, all.high, tileLanesAdd(lanes, all.low, fraction.low));
  return (Angle){tileLanesOnInteger(lanes, ArithOp_ShRUI, quadrant, 62),
                 tilePairMul(lanes, all, tilePair(lanes, halfPi[0], halfPi[1]))};
}

static Angle reduce(TileLanes *lanes, MlirValue x) {
  Angle moderate = reduceModerate(lanes, x), huge = reduceHuge(lanes, x);
  MlirValue isModerate = tileLanesIs(lanes, x, ArithCmpF_Olt, tileLanesFloat(lanes, hugeFrom));
  return (Angle){tileLanesSelect(lanes, isModerate, moderate.quadrant, huge.quadrant),
                 {tileLanesSelect(lanes, isModerate, moderate.r.high, huge.r.high),
                  tileLanesSelect(lanes, isModerate, moderate.r.low, huge.r.low)}};
}

//===--- The functions ---------------------------------------------------===//

static MlirValue sineOf(TileLanes *lanes, TilePair r) {
  MlirValue z = tileLanesMul(lanes, r.high, r.high);
  MlirValue tail = tileLanesPolynomial(lanes, z, sizeof sine / sizeof *sine, sine);
  MlirValue less = tileLanesFma(lanes, z, tileLanesFloat(lanes, -0.5), tileLanesFloat(lanes, 1));
  MlirValue low = tileLanesMul(lanes, r.low, less);
  return tileLanesAdd(lanes, r.high, tileLanesFma(lanes, tileLanesMul(lanes, r.high, z), tail, low));
}

static MlirValue cosineOf(TileLanes *lanes, TilePair r) {
  MlirValue z = tileLanesMul(lanes, r.high, r.high), one = tileLanesFloat(lanes, 1);
  MlirValue tail = tileLanesPolynomial(lanes, z, sizeof cosine / sizeof *cosine, cosine);
  MlirValue half = tileLanesMul(lanes, z, tileLanesFloat(lanes, 0.5)), first = tileLanesSub(lanes, one, half);
  MlirValue rounded = tileLanesSub(lanes, tileLanesSub(lanes, one, first), half);
  MlirValue low = tileLanesFma(lanes, tileF64Negate(lanes, r.high), r.low, rounded);
  return tileLanesAdd(lanes, first, tileLanesFma(lanes, tileLanesMul(lanes, z, z), tail, low));
}

static MlirValue isOdd(TileLanes *lanes, MlirValue quadrant) {
  return arithTruncIOpBuild(&lanes->builder, lanes->i1, quadrant);
}

// The sine after `quadrant` quarter turns: odd ones are cosines, the upper two negative.
static MlirValue turned(TileLanes *lanes, TilePair r, MlirValue quadrant) {
  MlirValue value = tileLanesSelect(lanes, isOdd(lanes, quadrant), cosineOf(lanes, r), sineOf(lanes, r));
  MlirValue sign = tileLanesOnInteger(lanes, ArithOp_ShLI, tileLanesOnInteger(lanes, ArithOp_AndI, quadrant, 2), 62);
  return tileLanesFromBits(lanes, tileLanesOnIntegers(lanes, ArithOp_XOrI, tileLanesBits(lanes, value), sign));
}

// NaN for infinities and NaN, else y.
static MlirValue orNan(TileLanes *lanes, MlirValue magnitude, MlirValue y) {
  return tileF64SelectLess(lanes, magnitude, INFINITY, y, tileLanesFloat(lanes, NAN));
}

MlirValue tileExpandF64Sin(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x);
  Angle angle = reduce(lanes, magnitude);
  return orNan(lanes, magnitude, tileF64WithSign(lanes, turned(lanes, angle.r, angle.quadrant), *x));
}

MlirValue tileExpandF64Cos(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x);
  Angle angle = reduce(lanes, magnitude);
  MlirValue quadrant = tileLanesOnInteger(lanes, ArithOp_AddI, angle.quadrant, 1);
  return orNan(lanes, magnitude, turned(lanes, angle.r, quadrant));
}

// sin / cos, or -cos / sin after an odd number of quarter turns.
MlirValue tileExpandF64Tan(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x);
  Angle angle = reduce(lanes, magnitude);
  MlirValue sin = sineOf(lanes, angle.r), cos = cosineOf(lanes, angle.r), odd = isOdd(lanes, angle.quadrant);
  MlirValue above = tileLanesSelect(lanes, odd, tileF64Negate(lanes, cos), sin);
  MlirValue y = tileLanesDiv(lanes, above, tileLanesSelect(lanes, odd, sin, cos));
  return orNan(lanes, magnitude, tileF64WithSign(lanes, y, *x));
}
