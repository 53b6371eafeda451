// ipowi on i64 lanes (families.h): square and multiply, one step for each bit that an exponent of the type can have.
//
// Products wrap, so that of a narrower type the low bits are right. A negative exponent gives 1 / x^-n toward zero: x
// itself or 1 where x is 1 or -1, else 0 (0 raised to it is undefined).
#include "lib/transforms/math/families.h"

static MlirValue compare(TileLanes *lanes, MlirValue a, ArithCmpI predicate, int64_t b) {
  return arithCmpIOpBuild(&lanes->builder, a, tileLanesInteger(lanes, b), predicate);
}

static MlirValue whereBit(TileLanes *lanes, MlirValue n, int bit, MlirValue then, MlirValue otherwise) {
  MlirValue isSet = compare(lanes, tileLanesOnInteger(lanes, ArithOp_AndI, n, INT64_C(1) << bit), ArithCmpI_Ne, 0);
  return tileLanesSelect(lanes, isSet, then, otherwise);
}

MlirValue tileExpandIntegerPower(TileLanes *lanes, const MlirValue *xAndN, unsigned width) {
  MlirValue x = xAndN[0], n = xAndN[1], one = tileLanesInteger(lanes, 1), power = one, square = x;
  for (unsigned bit = 0; bit + 1 < width; ++bit) {
    power = whereBit(lanes, n, (int)bit, tileLanesOnIntegers(lanes, ArithOp_MulI, power, square), power);
    if (bit + 2 < width)
      square = tileLanesOnIntegers(lanes, ArithOp_MulI, square, square);
  }
  MlirValue isUnit = compare(lanes, tileLanesOnInteger(lanes, ArithOp_AddI, x, 1), ArithCmpI_Ule, 2); // 0 is undefined
  MlirValue ofUnit = whereBit(lanes, n, 0, x, one);
  MlirValue ofNegative = tileLanesSelect(lanes, isUnit, ofUnit, tileLanesInteger(lanes, 0));
  return tileLanesSelect(lanes, compare(lanes, n, ArithCmpI_Slt, 0), ofNegative, power);
}
