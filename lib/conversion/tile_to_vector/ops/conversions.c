// tile.convert_type, evaluated like arith's operations: conversions that arith does not say (docs in
// dialects/tile/ops.def), as vectors of f64 or i64, which hold every element. And tile.bitcast, element by element into
// a buffer.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "upstream/math.h"

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

static MlirValue between(TileBuilder *builder, MlirValue value, TileUpstream least, MlirValue low, TileUpstream largest,
                         MlirValue high) {
  return tileBuildBinary(builder, least, tileBuildBinary(builder, largest, value, low), high);
}

// nan stays nan.
static MlirValue clampFloat(TileBuilder *builder, MlirValue value, double low, double high) {
  MlirType type = mlirValueGetType(value);
  return between(builder, value, ArithOp_MinimumF, tileBuildFloat(builder, type, low), ArithOp_MaximumF,
                 tileBuildFloat(builder, type, high));
}

static MlirValue clampInteger(TileBuilder *builder, MlirValue value, int64_t low, int64_t high) {
  MlirType type = mlirValueGetType(value);
  return between(builder, value, ArithOp_MinSI, tileBuildInteger(builder, type, low), ArithOp_MaxSI,
                 tileBuildInteger(builder, type, high));
}

// Up when the random bits, as a fraction of 2^32, are below how far the value is on its way to the next number: counted
// in units of the result's last place, which is the same for all numbers below the least normal one.
static MlirValue roundStochastically(TileBuilder *builder, const Convert *convert, MlirValue exact, MlirValue random) {
  MlirType wide = mlirValueGetType(exact), word = vecVectorOf(mlirIntegerTypeGet(builder->context, 64), convert->width);
  TileFloatFormat format = tileFloatFormatGet(convert->to);
  MlirValue bits = arithBitcastOpBuild(builder, word, exact);
  MlirValue exponent = arithAndIOpBuild(builder, bits, tileBuildInteger(builder, word, 0x7ff0000000000000));
  MlirValue least = tileBuildInteger(builder, word, (int64_t)(1023 + format.leastExponent) << 52);
  exponent = arithMaxUIOpBuild(builder, exponent, least);
  MlirValue below = tileBuildInteger(builder, word, (int64_t)format.fraction << 52);
  MlirValue quantum = arithBitcastOpBuild(builder, wide, arithSubIOpBuild(builder, exponent, below));
  MlirValue places = arithDivFOpBuild(builder, exact, quantum); // exact: a power of two
  MlirValue floor = mathFloorOpBuild(builder, places);
  MlirValue way = arithSubFOpBuild(builder, places, floor);
  MlirValue fraction = arithUIToFPOpBuild(builder, wide, random);
  fraction = arithMulFOpBuild(builder, fraction, tileBuildFloat(builder, wide, 0x1p-32));
  MlirValue up = arithUIToFPOpBuild(builder, wide, arithCmpFOpBuild(builder, fraction, way, ArithCmpF_Olt));
  MlirValue rounded = arithMulFOpBuild(builder, arithAddFOpBuild(builder, floor, up), quantum);
  return mathCopySignOpBuild(builder, rounded, exact); // -0, and what rounds to it
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
  MlirType type = vecVectorOf(convert->to, convert->width);
  MlirOperation truncation =
      arithTruncFOpCreate(builder, type, value, mlirIntegerAttrGet(word, rounding->number), mlirAttributeGetNull());
  return arithTruncFOpGetOut(truncation);
}

static MlirValue floatOfFloat(TileBuilder *builder, const Convert *convert, MlirValue value, MlirValue bits) {
  value = vecConvertElement(builder, value, mlirF64TypeGet(builder->context), convert->width);
  if (!mlirValueIsNull(bits))
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
    return floatOfF64(builder, convert, arithSIToFPOpBuild(builder, wide, value));
  }
  if (format.largest < 0x1p62 && tileConvertTypeOpHasSaturate(convert->op))
    value = clampInteger(builder, value, -(int64_t)format.largest, (int64_t)format.largest);
  return arithSIToFPOpBuild(builder, vecVectorOf(convert->to, convert->width), value);
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
    value = tileBuildUnary(builder, rounding->op, value);
  MlirValue nan = arithCmpFOpBuild(builder, value, value, ArithCmpF_Uno);
  MlirValue over = arithCmpFOpBuild(builder, value, tileBuildFloat(builder, wide, beyond), ArithCmpF_Oge);
  MlirValue within = clampFloat(builder, value, -beyond, nextafter(beyond, 0));
  within = arithSelectOpBuild(builder, nan, vecBuildZero(builder, wide), within);
  MlirValue integer = arithFPToSIOpBuild(builder, word, within);
  integer = arithSelectOpBuild(builder, over, tileBuildInteger(builder, word, (int64_t)(UINT64_MAX >> (65 - width))),
                               integer);
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
    part = i ? arithShLIOpBuild(builder, part, tileBuildInteger(builder, wide, i * from)) : part;
    whole = arithOrIOpBuild(builder, whole, part);
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
    bits = arithShRUIOpBuild(builder, bits, vecIntegerCast(builder, shift, mlirValueGetType(bits), false));
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
