// sin and cos on f64 lanes (families.h), right over the whole range.
//
// |x| = (4 n + quadrant) pi/2 + r with |r| <= pi/4, then a polynomial in z = r^2: sin r = r + r z q(z), error 5.16e-12;
// cos r = 1 + z q(z), error 7.3e-14; both minimax. Two reductions, one chosen lane by lane without a branch:
// below 2^28, Cody and Waite with pi/2 in two parts of 33 and 53 bits (the first product and difference are exact, what
// pi/2 lacks after them is 2^-88, times 2^28); from there on, Payne and Hanek (1983): the bits of 2/pi that matter, as
// a 62-bit fraction of a quarter turn.
#include "lib/transforms/math/families.h"
#include <math.h>

static const double twoOverPi = 0x1.45f306dc9c883p-1, roundingShift = 0x1.8p+52; // as in exponential.c
static const double halfPiHigh = 0x1.921fb544p+0, halfPiLow = 0x1.0b4611a626331p-34;
static const double halfPiOf64Bits = 0x1.921fb54442d18p-64; // pi/2 2^-64
static const double hugeFrom = 0x1p28;
// The first 256 bits after the binary point of 2/pi.
static const uint64_t twoOverPiBits[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
                                         0xfe5163abdebbc561};

static const double sine[] = {
    -0x1.5555554c71facp-3,
    0x1.1111086a54430p-7,
    -0x1.a00f7f13f6eb6p-13,
    0x1.6cd1ecfe9a748p-19,
};

static const double cosine[] = {
    -0x1.ffffffffe9897p-2, 0x1.55555545c4585p-5, -0x1.6c16b3484d722p-10, 0x1.a00eb97b90a89p-16, -0x1.23c975fc21c2fp-22,
};

typedef struct Angle {
  MlirValue quadrant, r; // i64, its two low bits; f64
} Angle;

//===--- Reduction -------------------------------------------------------===//

static Angle reduceModerate(TileLanes *lanes, MlirValue x) {
  MlirValue shift = tileLanesFloat(lanes, roundingShift);
  MlirValue shifted = tileLanesFma(lanes, x, tileLanesFloat(lanes, twoOverPi), shift);
  MlirValue k = tileLanesSub(lanes, shifted, shift);
  MlirValue r = tileLanesFma(lanes, k, tileLanesFloat(lanes, -halfPiHigh), x);
  r = tileLanesFma(lanes, k, tileLanesFloat(lanes, -halfPiLow), r);
  return (Angle){tileLanesBits(lanes, shifted), r};
}

// 64 bits of `first`, `second` from bit `shift` on; shift < 64. (Two shifts, since shifting by 64 is undefined.)
static MlirValue funnel(TileLanes *lanes, MlirValue first, MlirValue second, MlirValue shift) {
  MlirValue rest = tileLanesOnInteger(lanes, ArithOp_XOrI, shift, 63);
  MlirValue halved = tileLanesOnInteger(lanes, ArithOp_ShRUI, second, 1);
  MlirValue high = tileLanesOnIntegers(lanes, ArithOp_ShLI, first, shift);
  return tileLanesOnIntegers(lanes, ArithOp_OrI, high, tileLanesOnIntegers(lanes, ArithOp_ShRUI, halved, rest));
}

// The 128 bits of 2/pi from bit `offset` (0 to 127) on.
static void twoOverPiFrom(TileLanes *lanes, MlirValue offset, MlirValue isBefore64, MlirValue *high, MlirValue *low) {
  MlirValue words[3], shift = tileLanesOnInteger(lanes, ArithOp_AndI, offset, 63);
  for (int i = 0; i < 3; ++i)
    words[i] = tileLanesSelect(lanes, isBefore64, tileLanesInteger(lanes, (int64_t)twoOverPiBits[i]),
                               tileLanesInteger(lanes, (int64_t)twoOverPiBits[i + 1]));
  *high = funnel(lanes, words[0], words[1], shift);
  *low = funnel(lanes, words[1], words[2], shift);
}

// x = m 2^e, m an integer of 24 bits. Quarter turns in multiples of 4 do not count, so of 2^e 2/pi only the bits below
// weight 4 do: 64 of them times m, and the next 40, whose product's carry into those is added. Other lanes get
// anything.
static Angle reduceHuge(TileLanes *lanes, MlirValue x) {
  MlirValue bits = tileLanesBits(lanes, x), high, low;
  MlirValue m = tileLanesOnInteger(lanes, ArithOp_AndI, bits, 0xfffffffffffff);
  m = tileLanesOnInteger(lanes, ArithOp_OrI, tileLanesOnInteger(lanes, ArithOp_ShRUI, m, 29), 1 << 23);
  // Bit i of 2/pi, from 0, weighs 2^(e - 1 - i): the first wanted, of weight 2, is bit e - 2 = exponent - 1023 - 25.
  MlirValue exponent = tileLanesOnInteger(lanes, ArithOp_ShRUI, bits, 52);
  MlirValue offset = tileLanesOnInteger(lanes, ArithOp_SubI, exponent, 1023 + 25);
  MlirValue isBefore64 = tileLanesIs(lanes, x, ArithCmpF_Olt, tileLanesFloat(lanes, 0x1p89)); // offset 64 is 2^89
  twoOverPiFrom(lanes, offset, isBefore64, &high, &low);
  low = tileLanesOnIntegers(lanes, ArithOp_MulI, m, tileLanesOnInteger(lanes, ArithOp_ShRUI, low, 24));
  MlirValue turns = tileLanesOnIntegers(lanes, ArithOp_AddI, tileLanesOnIntegers(lanes, ArithOp_MulI, m, high),
                                        tileLanesOnInteger(lanes, ArithOp_ShRUI, low, 40));
  // Two bits of quadrant, rounded to the nearest, and what is left as a signed fraction.
  MlirValue rounded = tileLanesOnInteger(lanes, ArithOp_AddI, turns, INT64_C(1) << 61);
  MlirValue fraction = tileLanesToFloat(lanes, tileLanesOnInteger(lanes, ArithOp_ShLI, turns, 2));
  return (Angle){tileLanesOnInteger(lanes, ArithOp_ShRUI, rounded, 62),
                 tileLanesMul(lanes, fraction, tileLanesFloat(lanes, halfPiOf64Bits))};
}

static Angle reduce(TileLanes *lanes, MlirValue x) {
  Angle moderate = reduceModerate(lanes, x), huge = reduceHuge(lanes, x);
  MlirValue isModerate = tileLanesIs(lanes, x, ArithCmpF_Olt, tileLanesFloat(lanes, hugeFrom));
  return (Angle){tileLanesSelect(lanes, isModerate, moderate.quadrant, huge.quadrant),
                 tileLanesSelect(lanes, isModerate, moderate.r, huge.r)};
}

//===--- The functions ---------------------------------------------------===//

// sin of r plus `quadrant` quarter turns: odd ones are cosines, the upper two negative.
static MlirValue sineOf(TileLanes *lanes, MlirValue r, MlirValue quadrant) {
  MlirValue z = tileLanesMul(lanes, r, r), one = tileLanesFloat(lanes, 1);
  MlirValue sineQ = tileLanesPolynomial(lanes, z, sizeof sine / sizeof *sine, sine);
  MlirValue cosineQ = tileLanesPolynomial(lanes, z, sizeof cosine / sizeof *cosine, cosine);
  MlirValue sineR = tileLanesMul(lanes, r, tileLanesFma(lanes, sineQ, z, one));
  MlirValue cosineR = tileLanesFma(lanes, cosineQ, z, one);
  MlirValue odd = arithTruncIOpBuild(&lanes->builder, lanes->i1, quadrant);
  MlirValue bits = tileLanesBits(lanes, tileLanesSelect(lanes, odd, cosineR, sineR));
  MlirValue upper = tileLanesOnInteger(lanes, ArithOp_AndI, quadrant, 2);
  MlirValue sign = tileLanesOnInteger(lanes, ArithOp_ShLI, upper, 62);
  return tileLanesFromBits(lanes, tileLanesOnIntegers(lanes, ArithOp_XOrI, bits, sign));
}

// NaN for infinities and NaN, else y.
static MlirValue orNan(TileLanes *lanes, MlirValue magnitude, MlirValue y) {
  MlirValue finite = tileLanesIs(lanes, magnitude, ArithCmpF_Olt, tileLanesFloat(lanes, INFINITY));
  return tileLanesSelect(lanes, finite, y, tileLanesFloat(lanes, NAN));
}

MlirValue tileExpandSin(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x);
  Angle angle = reduce(lanes, magnitude);
  MlirValue sign = tileLanesOnInteger(lanes, ArithOp_AndI, tileLanesBits(lanes, *x), INT64_MIN);
  MlirValue bits = tileLanesBits(lanes, sineOf(lanes, angle.r, angle.quadrant));
  MlirValue y = tileLanesFromBits(lanes, tileLanesOnIntegers(lanes, ArithOp_XOrI, bits, sign));
  return orNan(lanes, magnitude, y);
}

MlirValue tileExpandCos(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x);
  Angle angle = reduce(lanes, magnitude);
  MlirValue quadrant = tileLanesOnInteger(lanes, ArithOp_AddI, angle.quadrant, 1);
  return orNan(lanes, magnitude, sineOf(lanes, angle.r, quadrant));
}
