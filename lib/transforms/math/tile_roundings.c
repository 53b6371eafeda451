// math.trunc, roundeven, round and copysign on tiles (expand_math.h), for languages that have floor and ceil only.
//
// On lanes of f64 for f64, else of f32, which hold f16 and bf16. A number is rounded to even where adding 2^52 (2^23)
// to its magnitude shifts the digits after the point out; halves away from zero are found by the distance to floor.
// Signs are put back by bits, so that -0.3 becomes -0; nan stays nan. Exact, no paper. Cost: three to nine ops.
#include "lib/transforms/math/families.h"

static int64_t signBit(const TileLanes *lanes) {
  bool isF64 = mlirTypeIsAF64(tileLanesElementOfTile(lanes->real));
  return isF64 ? INT64_MIN : INT32_MIN;
}

MlirValue tileExpandCopySign(TileLanes *lanes, const MlirValue *operands) {
  MlirValue magnitude = tileLanesOnInteger(lanes, ArithOp_AndI, tileLanesBits(lanes, operands[0]), ~signBit(lanes));
  MlirValue sign = tileLanesOnInteger(lanes, ArithOp_AndI, tileLanesBits(lanes, operands[1]), signBit(lanes));
  return tileLanesFromBits(lanes, tileLanesOnIntegers(lanes, ArithOp_OrI, magnitude, sign));
}

static MlirValue withSignOf(TileLanes *lanes, MlirValue magnitude, MlirValue x) {
  MlirValue operands[] = {magnitude, x};
  return tileExpandCopySign(lanes, operands);
}

MlirValue tileExpandTrunc(TileLanes *lanes, const MlirValue *x) {
  return withSignOf(lanes, tileLanesFloor(lanes, tileLanesAbs(lanes, *x)), *x);
}

MlirValue tileExpandRoundEven(TileLanes *lanes, const MlirValue *x) {
  bool isF64 = mlirTypeIsAF64(tileLanesElementOfTile(lanes->real));
  MlirValue magnitude = tileLanesAbs(lanes, *x), shift = tileLanesFloat(lanes, isF64 ? 0x1p52 : 0x1p23);
  MlirValue rounded = tileLanesSub(lanes, tileLanesAdd(lanes, magnitude, shift), shift);
  MlirValue hasDigits = tileLanesIs(lanes, magnitude, ArithCmpF_Olt, shift);
  return withSignOf(lanes, tileLanesSelect(lanes, hasDigits, rounded, magnitude), *x);
}

MlirValue tileExpandRound(TileLanes *lanes, const MlirValue *x) {
  MlirValue magnitude = tileLanesAbs(lanes, *x), below = tileLanesFloor(lanes, magnitude);
  MlirValue isUp = tileLanesIs(lanes, tileLanesSub(lanes, magnitude, below), ArithCmpF_Oge, tileLanesFloat(lanes, 0.5));
  MlirValue above = tileLanesAdd(lanes, below, tileLanesFloat(lanes, 1));
  return withSignOf(lanes, tileLanesSelect(lanes, isUp, above, below), *x);
}
