// ipowi on i64 lanes (families.h): square and multiply, one step for each bit that an exponent of the type can have.
//
// Products wrap, so that of a narrower type the low bits are right. A negative exponent gives 1 / x^-n toward zero: x
// itself or 1 where x is 1 or -1, else 0 (0 raised to it is undefined).
#include "lib/transforms/math/families.h"

static MlirValue compare(TileLanes *lanes, int64_t predicate, MlirValue a, int64_t b) {
  MlirType i64 = mlirIntegerTypeGet(lanes->builder.context, 64);
  TileAttributeEntry attributes[] = {{"predicate", mlirIntegerAttrGet(i64, predicate)}, {NULL}};
  MlirValue operands[] = {a, tileLanesInteger(lanes, b)};
  return tileBuildValue(&lanes->builder, "arith.cmpi", lanes->i1, 2, operands, attributes);
}

enum { NotEqual = 1, SignedLess = 2, UnsignedAtMost = 7 };

static MlirValue whereBit(TileLanes *lanes, MlirValue n, int bit, MlirValue then, MlirValue otherwise) {
  MlirValue isSet = compare(lanes, NotEqual, tileLanesOnInteger(lanes, "arith.andi", n, INT64_C(1) << bit), 0);
  return tileLanesSelect(lanes, isSet, then, otherwise);
}

MlirValue tileExpandIntegerPower(TileLanes *lanes, const MlirValue *xAndN, unsigned width) {
  MlirValue x = xAndN[0], n = xAndN[1], one = tileLanesInteger(lanes, 1), power = one, square = x;
  for (unsigned bit = 0; bit + 1 < width; ++bit) {
    power = whereBit(lanes, n, (int)bit, tileLanesOnIntegers(lanes, "arith.muli", power, square), power);
    if (bit + 2 < width)
      square = tileLanesOnIntegers(lanes, "arith.muli", square, square);
  }
  MlirValue isUnit = compare(lanes, UnsignedAtMost, tileLanesOnInteger(lanes, "arith.addi", x, 1), 2); // 0 is undefined
  MlirValue ofUnit = whereBit(lanes, n, 0, x, one);
  MlirValue ofNegative = tileLanesSelect(lanes, isUnit, ofUnit, tileLanesInteger(lanes, 0));
  return tileLanesSelect(lanes, compare(lanes, SignedLess, n, 0), ofNegative, power);
}
