// tile.convert_type, evaluated like arith's operations: conversions that arith does not say (docs in
// dialects/tile/ops.def), as vectors of f64 or i64, which hold every element. And tile.bitcast, element by element into
// a buffer.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "dialects/tile/questions.h"
#include "lib/ir/float_format.h"
#include "lib/ir/op_format.h"

#include "mlir-c/BuiltinAttributes.h"

#include <math.h>
#include <string.h>

typedef struct Convert {
  MlirOperation op;
  MlirType from, to; // elements
  int64_t width;     // of the vectors; 0: scalars
  VecAccess *result; // bitcast
} Convert;

//===--- to floats ------------------------------------------------------------------------------------===//

static MlirValue between(TileBuilder *builder, MlirValue value, const char *least, MlirValue low, const char *largest,
                         MlirValue high) {
  return vecBuildBinary(builder, least, vecBuildBinary(builder, largest, value, low), high);
}

// nan stays nan.
static MlirValue clampFloat(TileBuilder *builder, MlirValue value, double low, double high) {
  MlirType type = mlirValueGetType(value);
  return between(builder, value, "arith.minimumf", tileBuildFloat(builder, type, low), "arith.maximumf",
                 tileBuildFloat(builder, type, high));
}

static MlirValue clampInteger(TileBuilder *builder, MlirValue value, int64_t low, int64_t high) {
  MlirType type = mlirValueGetType(value);
  return between(builder, value, "arith.minsi", tileBuildInteger(builder, type, low), "arith.maxsi",
                 tileBuildInteger(builder, type, high));
}

static MlirValue compareFloats(TileBuilder *builder, const Convert *convert, int64_t predicate, MlirValue a,
                               MlirValue b) {
  MlirType bit = vecVectorOf(mlirIntegerTypeGet(builder->context, 1), convert->width);
  MlirAttribute number = mlirIntegerAttrGet(mlirIntegerTypeGet(builder->context, 64), predicate);
  TileAttributeEntry attributes[] = {{"predicate", number}, {0}};
  return tileBuildValue(builder, "arith.cmpf", bit, 2, (MlirValue[]){a, b}, attributes);
}

enum { OrderedAtLeast = 3, OrderedLess = 4, Unordered = 14 }; // arith.cmpf's numbers

// Up when the random bits, as a fraction of 2^32, are below how far the value is on its way to the next number: counted
// in units of the result's last place, which is the same for all numbers below the least normal one.
static MlirValue roundStochastically(TileBuilder *builder, const Convert *convert, MlirValue exact, MlirValue random) {
  MlirType wide = mlirValueGetType(exact), word = vecVectorOf(mlirIntegerTypeGet(builder->context, 64), convert->width);
  TileFloatFormat format = tileFloatFormatGet(convert->to);
  MlirValue bits = vecBuildUnary(builder, "arith.bitcast", word, exact);
  MlirValue exponent = vecBuildBinary(builder, "arith.andi", bits, tileBuildInteger(builder, word, 0x7ff0000000000000));
  MlirValue least = tileBuildInteger(builder, word, (int64_t)(1023 + format.leastExponent) << 52);
  exponent = vecBuildBinary(builder, "arith.maxui", exponent, least);
  MlirValue below = tileBuildInteger(builder, word, (int64_t)format.fraction << 52);
  MlirValue quantum =
      vecBuildUnary(builder, "arith.bitcast", wide, vecBuildBinary(builder, "arith.subi", exponent, below));
  MlirValue places = vecBuildBinary(builder, "arith.divf", exact, quantum); // exact: a power of two
  MlirValue floor = vecBuildUnary(builder, "math.floor", wide, places);
  MlirValue way = vecBuildBinary(builder, "arith.subf", places, floor);
  MlirValue fraction = vecBuildUnary(builder, "arith.uitofp", wide, random);
  fraction = vecBuildBinary(builder, "arith.mulf", fraction, tileBuildFloat(builder, wide, 0x1p-32));
  MlirValue up =
      vecBuildUnary(builder, "arith.uitofp", wide, compareFloats(builder, convert, OrderedLess, fraction, way));
  MlirValue rounded = vecBuildBinary(builder, "arith.mulf", vecBuildBinary(builder, "arith.addf", floor, up), quantum);
  return vecBuildBinary(builder, "math.copysign", rounded, exact); // -0, and what rounds to it
}

// What comes is f64, so that the one rounding is here.
static MlirValue floatOfF64(TileBuilder *builder, const Convert *convert, MlirValue value) {
  const TileRounding *rounding = tileRoundingOf(convert->op);
  double largest = tileFloatFormatGet(convert->to).largest;
  if (tileConvertTypeOpHasSaturate(convert->op))
    value = clampFloat(builder, value, -largest, largest);
  if (!rounding || rounding->number == 0 || mlirTypeIsAF64(convert->to))
    return vecConvertElement(builder, value, convert->to, convert->width);
  MlirType word = mlirIntegerTypeGet(builder->context, 32);
  TileAttributeEntry attributes[] = {{"roundingmode", mlirIntegerAttrGet(word, rounding->number)}, {0}};
  return tileBuildValue(builder, "arith.truncf", vecVectorOf(convert->to, convert->width), 1, &value, attributes);
}

static MlirValue floatOfFloat(TileBuilder *builder, const Convert *convert, MlirValue value, MlirValue bits) {
  value = vecConvertElement(builder, value, mlirF64TypeGet(builder->context), convert->width);
  if (bits.ptr)
    value = roundStochastically(builder, convert, value, bits);
  return floatOfF64(builder, convert, value);
}

// An integer beyond the largest float becomes it; then the conversion rounds once. Narrow floats, whose largest may be
// no integer, and directions go by way of f64: beyond 2^53 it has rounded to nearest already.
static MlirValue floatOfInteger(TileBuilder *builder, const Convert *convert, MlirValue value) {
  const TileRounding *rounding = tileRoundingOf(convert->op);
  TileFloatFormat format = tileFloatFormatGet(convert->to);
  value = vecIntegerCast(builder, value, mlirIntegerTypeGet(builder->context, 64), true);
  if (format.width < 16 || (rounding && rounding->number)) {
    MlirType wide = vecVectorOf(mlirF64TypeGet(builder->context), convert->width);
    return floatOfF64(builder, convert, vecBuildUnary(builder, "arith.sitofp", wide, value));
  }
  if (format.largest < 0x1p62 && tileConvertTypeOpHasSaturate(convert->op))
    value = clampInteger(builder, value, -(int64_t)format.largest, (int64_t)format.largest);
  return vecBuildUnary(builder, "arith.sitofp", vecVectorOf(convert->to, convert->width), value);
}

//===--- to integers ------------------------------------------------------------------------------------===//

// Toward zero where no direction is said; nan becomes 0. Compared in f64, where the integer's limits lie exactly or
// round outward to ±2^63.
static MlirValue integerOfFloat(TileBuilder *builder, const Convert *convert, MlirValue value) {
  MlirType wide = vecVectorOf(mlirF64TypeGet(builder->context), convert->width);
  MlirType word = vecVectorOf(mlirIntegerTypeGet(builder->context, 64), convert->width);
  const TileRounding *rounding = tileRoundingOf(convert->op);
  int64_t width = vecBitsOf(convert->to);
  double beyond = ldexp(1, (int)width - 1);
  value = vecConvertElement(builder, value, mlirF64TypeGet(builder->context), convert->width);
  if (rounding)
    value = vecBuildUnary(builder, rounding->op, wide, value);
  MlirValue nan = compareFloats(builder, convert, Unordered, value, value);
  MlirValue over = compareFloats(builder, convert, OrderedAtLeast, value, tileBuildFloat(builder, wide, beyond));
  MlirValue within = clampFloat(builder, value, -beyond, nextafter(beyond, 0));
  within = vecBuildSelect(builder, nan, vecBuildZero(builder, wide), within);
  MlirValue integer = vecBuildUnary(builder, "arith.fptosi", word, within);
  integer =
      vecBuildSelect(builder, over, tileBuildInteger(builder, word, (int64_t)(UINT64_MAX >> (65 - width))), integer);
  return vecIntegerCast(builder, integer, convert->to, true);
}

static MlirValue integerOfInteger(TileBuilder *builder, const Convert *convert, MlirValue value) {
  int64_t width = vecBitsOf(convert->to);
  if (width >= vecBitsOf(convert->from))
    return vecIntegerCast(builder, value, convert->to, true);
  int64_t largest = (int64_t)(UINT64_MAX >> (65 - width));
  value = vecIntegerCast(builder, value, mlirIntegerTypeGet(builder->context, 64), true);
  return vecIntegerCast(builder, clampInteger(builder, value, -largest - 1, largest), convert->to, true);
}

//===--- convert_type -----------------------------------------------------------------------------------===//

MlirValue vecBuildConversion(TileBuilder *builder, MlirOperation op, MlirValue value, MlirValue bits, int64_t width) {
  Convert convert = {
      .op = op, .width = width, .to = tileTypeGetElement(mlirValueGetType(tileConvertTypeOpGetResult(op)))};
  convert.from = tileTypeGetElement(mlirValueGetType(tileConvertTypeOpGetInput(op)));
  if (mlirTypeIsAFloat(convert.from))
    return mlirTypeIsAFloat(convert.to) ? floatOfFloat(builder, &convert, value, bits)
                                        : integerOfFloat(builder, &convert, value);
  return mlirTypeIsAFloat(convert.to) ? floatOfInteger(builder, &convert, value)
                                      : integerOfInteger(builder, &convert, value);
}

static bool isConvertible(MlirType type) {
  TileFloatFormat format;
  return mlirTypeIsAFloat(type) ? tileFloatFormatOf(type, &format) : vecBitsOf(type) <= 64;
}

bool vecLowerConvertType(VecLowering *lowering, MlirOperation op) {
  MlirValue input = tileConvertTypeOpGetInput(op), result = tileConvertTypeOpGetResult(op);
  MlirType from = tileTypeGetElement(mlirValueGetType(input)), to = tileTypeGetElement(mlirValueGetType(result));
  char fromText[64], toText[64];
  if (!isConvertible(from) || !isConvertible(to))
    return tileError(op, "not lowered to the CPU yet: a conversion of %s to %s",
                     tileTypeText(from, fromText, sizeof fromText), tileTypeText(to, toText, sizeof toText));
  if (vecIsTile(mlirValueGetType(result)))
    return vecLowerLazy(lowering, op);
  MlirValue bits = tileConvertTypeOpGetBits(op), value = vecScalarOf(lowering, input);
  bits = mlirValueIsNull(bits) ? bits : vecScalarOf(lowering, bits);
  vecRecordScalar(lowering, result, vecBuildConversion(&lowering->builder, op, value, bits, 0));
  return true;
}

//===--- bitcast ----------------------------------------------------------------------------------------===//

// How many neighbours of the source one element of the result takes bits from, at most: the widths' greatest common
// divisor says how late in an element it may begin.
static int64_t partsOf(int64_t from, int64_t to) {
  int64_t divisor = from, rest = to;
  while (rest) {
    int64_t next = divisor % rest;
    divisor = rest;
    rest = next;
  }
  return 1 + (to - divisor + from - 1) / from;
}

// The source's elements from `at` on, the first in the lowest bits. Beyond the row, where no bit is wanted any more,
// its last element once again.
static MlirValue joinParts(VecBody *body, const Convert *convert, VecCoord *at, intptr_t last, int64_t parts) {
  TileBuilder *builder = &body->lowering->builder;
  MlirValue source = tileBitcastOpGetInput(convert->op);
  int64_t from = vecBitsOf(convert->from), size = vecShapeOf(mlirValueGetType(source)).sizes[last];
  MlirType wide = mlirIntegerTypeGet(builder->context, (unsigned)(parts * from));
  MlirValue whole = tileBuildInteger(builder, wide, 0);
  VecCoord first = at[last];
  for (int64_t i = 0; i < parts; ++i) {
    at[last] = vecCoordPlus(first, i);
    if (i > 0 && vecBitsOf(convert->to) % from != 0)
      at[last] = vecCoordOf(tileBuildMin(builder, vecCoordValue(builder, at[last]), tileBuildIndex(builder, size - 1)));
    MlirValue part = vecIntegerCast(builder, vecBitsOfValue(builder, vecElementAt(body, source, at)), wide, false);
    part = i ? vecBuildBinary(builder, "arith.shli", part, tileBuildInteger(builder, wide, i * from)) : part;
    whole = vecBuildBinary(builder, "arith.ori", whole, part);
  }
  return whole;
}

// Rows of the source and the result are the same bits.
static void recastAt(VecBody *body, const VecCoord *coords, void *data) {
  const Convert *convert = data;
  TileBuilder *builder = &body->lowering->builder;
  int64_t from = vecBitsOf(convert->from), to = vecBitsOf(convert->to);
  intptr_t last = convert->result->shape.rank - 1;
  VecCoord at[MaxRank], bit = vecCoordTimes(builder, coords[last], to);
  memcpy(at, coords, sizeof at);
  at[last] = vecCoordDivide(builder, bit, from);
  MlirValue bits = joinParts(body, convert, at, last, partsOf(from, to));
  if (to % from != 0) {
    MlirValue shift = vecCoordValue(builder, vecCoordModulo(builder, bit, from));
    bits = vecBuildBinary(builder, "arith.shrui", bits, vecIntegerCast(builder, shift, mlirValueGetType(bits), false));
  }
  bits = vecIntegerCast(builder, bits, vecBitsTypeOf(convert->to), false);
  vecAccessStore(body, convert->result, coords, -1, 0, vecValueOfBits(builder, bits, convert->to));
}

bool vecLowerBitcast(VecLowering *lowering, MlirOperation op) {
  MlirValue result = tileBitcastOpGetResult(op);
  VecShape shape = vecShapeOf(mlirValueGetType(result));
  Convert convert = {.op = op, .to = shape.element, .result = vecBufferNew(lowering, &shape)};
  convert.from = vecShapeOf(mlirValueGetType(tileBitcastOpGetInput(op))).element;
  vecForEachElementOf(lowering, op, &shape, recastAt, &convert);
  vecRecordMemory(lowering, result, convert.result);
  return true;
}
