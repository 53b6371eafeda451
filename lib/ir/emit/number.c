// Bits, casts and conversions of numbers, and random words. See number.h.
#include "lib/ir/emit/number.h"

#include "lib/ir/float_format.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>
#include <string.h>

//===--- bits and widths ----------------------------------------------------------------------------===//

MlirType tileBitsType(MlirType element) {
  return mlirIntegerTypeGet(mlirTypeGetContext(element), tileMemoryBits(element));
}

MlirValue tileBuildBits(TileBuilder *builder, MlirValue value) {
  MlirType element = tileNumberType(value);
  return mlirTypeIsAFloat(element) ? arithBitcastOpBuild(builder, tileNumberTypeAs(value, tileBitsType(element)), value)
                                   : value;
}

MlirValue tileBuildNumberOfBits(TileBuilder *builder, MlirValue bits, MlirType element) {
  return mlirTypeIsAFloat(element) ? arithBitcastOpBuild(builder, tileNumberTypeAs(bits, element), bits) : bits;
}

//===--- to floats ------------------------------------------------------------------------------------===//

typedef TileNumberConversion Conversion;

// nan stays nan.
static MlirValue clampFloat(TileBuilder *builder, MlirValue value, double low, double high) {
  MlirType type = mlirValueGetType(value);
  value = arithMaximumFOpBuild(builder, value, tileBuildFloat(builder, type, low));
  return arithMinimumFOpBuild(builder, value, tileBuildFloat(builder, type, high));
}

static MlirValue clampInteger(TileBuilder *builder, MlirValue value, int64_t low, int64_t high) {
  MlirType type = mlirValueGetType(value);
  value = arithMaxSIOpBuild(builder, value, tileBuildInteger(builder, type, low));
  return arithMinSIOpBuild(builder, value, tileBuildInteger(builder, type, high));
}

// Up when the random bits, as a fraction of 2^32, are below how far the value is on its way to the next number: counted
// in units of the result's last place, which is the same for all numbers below the least normal one.
static MlirValue roundStochastically(TileBuilder *builder, MlirType to, MlirValue exact, MlirValue random) {
  TileFloatFormat format = tileFloatFormatGet(to);
  MlirValue bits = tileBuildBits(builder, exact);
  MlirType wide = mlirValueGetType(exact), word = mlirValueGetType(bits);
  MlirValue exponent = arithAndIOpBuild(builder, bits, tileBuildInteger(builder, word, 0x7ff0000000000000));
  MlirValue least = tileBuildInteger(builder, word, (int64_t)(1023 + format.leastExponent) << 52);
  exponent = arithMaxUIOpBuild(builder, exponent, least);
  MlirValue below = tileBuildInteger(builder, word, (int64_t)format.fraction << 52);
  MlirValue quantum = arithBitcastOpBuild(builder, wide, arithSubIOpBuild(builder, exponent, below));
  MlirValue places = arithDivFOpBuild(builder, exact, quantum); // exact: a power of two
  MlirValue floor = mathFloorOpBuild(builder, places), way = arithSubFOpBuild(builder, places, floor);
  MlirValue fraction = arithUIToFPOpBuild(builder, wide, random);
  fraction = arithMulFOpBuild(builder, fraction, tileBuildFloat(builder, wide, 0x1p-32));
  MlirValue up = arithUIToFPOpBuild(builder, wide, arithCmpFOpBuild(builder, fraction, way, ArithCmpF_Olt));
  MlirValue rounded = arithMulFOpBuild(builder, arithAddFOpBuild(builder, floor, up), quantum);
  return mathCopySignOpBuild(builder, rounded, exact); // -0, and what rounds to it
}

// What comes is f64, so that the one rounding is here.
static MlirValue floatOfF64(TileBuilder *builder, const Conversion *conversion, MlirValue value) {
  double largest = tileFloatFormatGet(conversion->to).largest;
  if (conversion->saturates)
    value = clampFloat(builder, value, -largest, largest);
  if (!conversion->rounding || mlirTypeIsAF64(conversion->to))
    return tileBuildFloatCast(builder, value, conversion->to);
  MlirAttribute rounding = tileBuildEnum(builder, 32, conversion->rounding);
  return arithTruncFOpGetOut(
      arithTruncFOpCreate(builder, tileNumberTypeAs(value, conversion->to), value, rounding, mlirAttributeGetNull()));
}

static MlirValue floatOfFloat(TileBuilder *builder, const Conversion *conversion, MlirValue value, MlirValue bits) {
  value = tileBuildFloatCast(builder, value, mlirF64TypeGet(builder->context));
  if (!mlirValueIsNull(bits))
    value = roundStochastically(builder, conversion->to, value, bits);
  return floatOfF64(builder, conversion, value);
}

// An integer beyond the largest float becomes it; then the conversion rounds once. Narrow floats, whose largest may be
// no integer, and directions go by way of f64: beyond 2^53 it has rounded to nearest already.
static MlirValue floatOfInteger(TileBuilder *builder, const Conversion *conversion, MlirValue value) {
  TileFloatFormat format = tileFloatFormatGet(conversion->to);
  value = tileBuildIntegerCast(builder, value, mlirIntegerTypeGet(builder->context, 64), true);
  if (format.width < 16 || conversion->rounding) {
    MlirType wide = tileNumberTypeAs(value, mlirF64TypeGet(builder->context));
    return floatOfF64(builder, conversion, arithSIToFPOpBuild(builder, wide, value));
  }
  if (format.largest < 0x1p62 && conversion->saturates)
    value = clampInteger(builder, value, -(int64_t)format.largest, (int64_t)format.largest);
  return arithSIToFPOpBuild(builder, tileNumberTypeAs(value, conversion->to), value);
}

//===--- to integers ----------------------------------------------------------------------------------===//

// nan becomes 0. Compared in f64, where the integer's limits lie exactly or round outward to ±2^63.
static MlirValue integerOfFloat(TileBuilder *builder, const Conversion *conversion, MlirValue value) {
  unsigned width = tileMemoryBits(conversion->to);
  double beyond = ldexp(1, (int)width - 1);
  value = tileBuildFloatCast(builder, value, mlirF64TypeGet(builder->context));
  MlirType wide = mlirValueGetType(value), word = tileNumberTypeAs(value, mlirIntegerTypeGet(builder->context, 64));
  if (conversion->direction != TileUpstream_None)
    value = tileBuildUnary(builder, conversion->direction, value);
  MlirValue nan = arithCmpFOpBuild(builder, value, value, ArithCmpF_Uno);
  MlirValue over = arithCmpFOpBuild(builder, value, tileBuildFloat(builder, wide, beyond), ArithCmpF_Oge);
  MlirValue within = clampFloat(builder, value, -beyond, nextafter(beyond, 0));
  within = arithSelectOpBuild(builder, nan, tileBuildFloat(builder, wide, 0), within);
  MlirValue largest = tileBuildInteger(builder, word, (int64_t)(UINT64_MAX >> (65 - width)));
  MlirValue integer = arithFPToSIOpBuild(builder, word, within);
  return tileBuildIntegerCast(builder, arithSelectOpBuild(builder, over, largest, integer), conversion->to, true);
}

static MlirValue integerOfInteger(TileBuilder *builder, const Conversion *conversion, MlirValue value) {
  unsigned width = tileMemoryBits(conversion->to);
  if (width >= tileMemoryBits(tileNumberType(value)))
    return tileBuildIntegerCast(builder, value, conversion->to, true);
  int64_t largest = (int64_t)(UINT64_MAX >> (65 - width));
  value = tileBuildIntegerCast(builder, value, mlirIntegerTypeGet(builder->context, 64), true);
  return tileBuildIntegerCast(builder, clampInteger(builder, value, -largest - 1, largest), conversion->to, true);
}

MlirValue tileBuildConversion(TileBuilder *builder, const Conversion *conversion, MlirValue value, MlirValue bits) {
  bool toFloat = mlirTypeIsAFloat(conversion->to);
  if (mlirTypeIsAFloat(tileNumberType(value)))
    return toFloat ? floatOfFloat(builder, conversion, value, bits) : integerOfFloat(builder, conversion, value);
  return toFloat ? floatOfInteger(builder, conversion, value) : integerOfInteger(builder, conversion, value);
}

//===--- random words ---------------------------------------------------------------------------------===//

static MlirType i32Type(TileBuilder *builder) { return mlirIntegerTypeGet(builder->context, 32); }

static MlirValue lowHalf(TileBuilder *builder, MlirValue word) {
  return tileBuildIntegerCast(builder, word, i32Type(builder), false);
}

static MlirValue highHalf(TileBuilder *builder, MlirValue word) {
  return lowHalf(builder, arithShRUIOpBuild(builder, word, tileBuildInteger(builder, mlirValueGetType(word), 32)));
}

static MlirValue wideProduct(TileBuilder *builder, int64_t factor, MlirValue word) {
  MlirValue wide = tileBuildIntegerCast(builder, word, mlirIntegerTypeGet(builder->context, 64), false);
  return arithMulIOpBuild(builder, wide, tileBuildInteger(builder, mlirValueGetType(wide), factor));
}

static MlirValue xorOfThree(TileBuilder *builder, MlirValue a, MlirValue b, MlirValue c) {
  return arithXOrIOpBuild(builder, arithXOrIOpBuild(builder, a, b), c);
}

static void philoxRound(TileBuilder *builder, MlirValue *c, const MlirValue *key) {
  MlirValue a = wideProduct(builder, 0xD2511F53, c[0]), b = wideProduct(builder, 0xCD9E8D57, c[2]);
  MlirValue next[4] = {xorOfThree(builder, highHalf(builder, b), c[1], key[0]), lowHalf(builder, b),
                       xorOfThree(builder, highHalf(builder, a), c[3], key[1]), lowHalf(builder, a)};
  memcpy(c, next, sizeof next);
}

void tileBuildPhilox(TileBuilder *builder, MlirValue seed, MlirValue counter, MlirValue words[4]) {
  static const int32_t steps[2] = {(int32_t)0x9E3779B9, (int32_t)0xBB67AE85};
  MlirValue key[2] = {lowHalf(builder, seed), highHalf(builder, seed)};
  words[0] = lowHalf(builder, counter);
  words[1] = highHalf(builder, counter);
  words[2] = words[3] = tileBuildInteger(builder, mlirValueGetType(words[0]), 0);
  for (int round = 0; round < 10; ++round) {
    philoxRound(builder, words, key);
    for (int i = 0; i < 2; ++i)
      key[i] = arithAddIOpBuild(builder, key[i], tileBuildInteger(builder, mlirValueGetType(key[i]), steps[i]));
  }
}
