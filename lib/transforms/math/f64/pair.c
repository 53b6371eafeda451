// Pairs of f64 (pair.h): Dekker's and Knuth's exact sums and products, and small pieces that the families share.
#include "lib/transforms/math/f64/pair.h"

static const double roundingShift = 0x1.8p+52; // added, it leaves a number's integer in the sum's low bits

TilePair tilePair(TileLanes *lanes, double high, double low) {
  return (TilePair){tileLanesFloat(lanes, high), tileLanesFloat(lanes, low)};
}

TilePair tilePairFastSum(TileLanes *lanes, MlirValue a, MlirValue b) {
  MlirValue sum = tileLanesAdd(lanes, a, b);
  return (TilePair){sum, tileLanesSub(lanes, b, tileLanesSub(lanes, sum, a))};
}

TilePair tilePairSum(TileLanes *lanes, MlirValue a, MlirValue b) {
  MlirValue sum = tileLanesAdd(lanes, a, b), second = tileLanesSub(lanes, sum, a);
  MlirValue first = tileLanesSub(lanes, sum, second);
  return (TilePair){sum, tileLanesAdd(lanes, tileLanesSub(lanes, a, first), tileLanesSub(lanes, b, second))};
}

TilePair tilePairProduct(TileLanes *lanes, MlirValue a, MlirValue b) {
  MlirValue product = tileLanesMul(lanes, a, b);
  return (TilePair){product, tileLanesFma(lanes, a, b, tileF64Negate(lanes, product))};
}

TilePair tilePairAdd(TileLanes *lanes, TilePair a, TilePair b) {
  TilePair sum = tilePairSum(lanes, a.high, b.high);
  return tilePairFastSum(lanes, sum.high, tileLanesAdd(lanes, sum.low, tileLanesAdd(lanes, a.low, b.low)));
}

TilePair tilePairMul(TileLanes *lanes, TilePair a, TilePair b) {
  TilePair product = tilePairProduct(lanes, a.high, b.high);
  MlirValue low = tileLanesFma(lanes, a.high, b.low, tileLanesFma(lanes, a.low, b.high, product.low));
  return tilePairFastSum(lanes, product.high, low);
}

TilePair tilePairDivide(TileLanes *lanes, MlirValue a, TilePair b) {
  MlirValue quotient = tileLanesDiv(lanes, a, b.high), back = tileF64Negate(lanes, quotient);
  MlirValue rest = tileLanesFma(lanes, back, b.low, tileLanesFma(lanes, back, b.high, a));
  return tilePairFastSum(lanes, quotient, tileLanesDiv(lanes, rest, b.high));
}

MlirValue tileF64Negate(TileLanes *lanes, MlirValue a) { return arithNegFOpBuild(&lanes->builder, a); }

MlirValue tileF64WithSign(TileLanes *lanes, MlirValue magnitude, MlirValue of) {
  MlirValue sign = tileLanesOnInteger(lanes, ArithOp_AndI, tileLanesBits(lanes, of), INT64_MIN);
  return tileLanesFromBits(lanes, tileLanesOnIntegers(lanes, ArithOp_XOrI, tileLanesBits(lanes, magnitude), sign));
}

MlirValue tileF64SelectLess(TileLanes *lanes, MlirValue a, double limit, MlirValue then, MlirValue otherwise) {
  return tileLanesSelect(lanes, tileLanesIs(lanes, a, ArithCmpF_Olt, tileLanesFloat(lanes, limit)), then, otherwise);
}

MlirValue tileF64SelectIs(TileLanes *lanes, MlirValue a, double value, MlirValue then, MlirValue otherwise) {
  return tileLanesSelect(lanes, tileLanesIs(lanes, a, ArithCmpF_Oeq, tileLanesFloat(lanes, value)), then, otherwise);
}

MlirValue tileF64Round(TileLanes *lanes, MlirValue x, MlirValue *shifted) {
  MlirValue shift = tileLanesFloat(lanes, roundingShift), sum = tileLanesAdd(lanes, x, shift);
  *shifted = tileLanesBits(lanes, sum);
  return tileLanesSub(lanes, sum, shift);
}

// 2^k, |k| <= 1022, from bits whose low ones are k.
static MlirValue powerOfTwo(TileLanes *lanes, MlirValue k) {
  MlirValue exponent = tileLanesOnInteger(lanes, ArithOp_AddI, k, 1023);
  return tileLanesFromBits(lanes, tileLanesOnInteger(lanes, ArithOp_ShLI, exponent, 52));
}

// In two steps; the first is exact: 2^k itself may be no number, or the result subnormal.
MlirValue tileF64Scale(TileLanes *lanes, MlirValue value, MlirValue shifted) {
  MlirValue k = tileLanesOnInteger(lanes, ArithOp_ShRSI, tileLanesOnInteger(lanes, ArithOp_ShLI, shifted, 48), 48);
  MlirValue half = tileLanesOnInteger(lanes, ArithOp_ShRSI, k, 1);
  value = tileLanesMul(lanes, value, powerOfTwo(lanes, half));
  return tileLanesMul(lanes, value, powerOfTwo(lanes, tileLanesOnIntegers(lanes, ArithOp_SubI, k, half)));
}
