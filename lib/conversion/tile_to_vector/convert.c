// tile.convert_type and tile.bitcast, element by element into buffers: conversions that arith does not say (docs in
// dialects/tile/ops.def), and the same bits as other elements.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"

#include "mlir-c/BuiltinAttributes.h"

#include <math.h>
#include <string.h>

typedef struct Convert {
  MlirOperation op;
  MlirType from, to;
  Access *result;
  MlirValue bits; // stochastic; of the kernel
} Convert;

//===--- limits ---------------------------------------------------------------------------------------===//

// Digits after the binary point, and the exponents of the largest and the least normal number.
typedef struct Floats {
  int fraction, largest, least;
} Floats;

static bool floatsOf(MlirType type, Floats *out) {
  if (mlirTypeIsAF16(type))
    *out = (Floats){10, 15, -14};
  else if (mlirTypeIsABF16(type))
    *out = (Floats){7, 127, -126};
  else if (mlirTypeIsAF32(type))
    *out = (Floats){23, 127, -126};
  else
    return mlirTypeIsAF64(type) ? (*out = (Floats){52, 1023, -1022}, true) : false;
  return true;
}

static double largestOf(MlirType type) {
  Floats floats;
  floatsOf(type, &floats);
  return ldexp(2 - ldexp(1, -floats.fraction), floats.largest);
}

static unsigned widthOf(MlirType type) {
  if (mlirTypeIsAFloat(type))
    return mlirFloatTypeGetWidth(type);
  return mlirTypeIsAInteger(type) ? mlirIntegerTypeGetWidth(type) : 64;
}

//===--- to floats ------------------------------------------------------------------------------------===//

static MlirValue between(TileBuilder *builder, MlirValue value, const char *least, MlirValue low, const char *largest,
                         MlirValue high) {
  return buildBinary(builder, least, buildBinary(builder, largest, value, low), high);
}

// nan stays nan.
static MlirValue clampFloat(TileBuilder *builder, MlirValue value, double low, double high) {
  MlirType type = mlirValueGetType(value);
  return between(builder, value, "arith.minimumf", tileBuildFloat(builder, type, low), "arith.maximumf",
                 tileBuildFloat(builder, type, high));
}

// An integer beyond the largest float becomes it; then the conversion rounds once.
static MlirValue floatOfInteger(TileBuilder *builder, const Convert *convert, MlirValue value) {
  double largest = largestOf(convert->to);
  MlirType word = mlirIntegerTypeGet(builder->context, 64);
  value = integerCast(builder, value, word, true);
  if (largest < 0x1p62)
    value = between(builder, value, "arith.minsi", tileBuildInteger(builder, word, -(int64_t)largest), "arith.maxsi",
                    tileBuildInteger(builder, word, (int64_t)largest));
  return buildUnary(builder, "arith.sitofp", convert->to, value);
}

// Up when the random bits, as a fraction of 2^32, are below how far the value is on its way to the next number: counted
// in units of the result's last place, which is the same for all numbers below the least normal one.
static MlirValue roundStochastically(TileBuilder *builder, const Convert *convert, MlirValue value, MlirValue random) {
  MlirType wide = mlirF64TypeGet(builder->context), word = mlirIntegerTypeGet(builder->context, 64);
  Floats floats;
  floatsOf(convert->to, &floats);
  MlirValue exact = convertElement(builder, value, wide, 0);
  MlirValue bits = buildUnary(builder, "arith.bitcast", word, exact);
  MlirValue exponent = buildBinary(builder, "arith.andi", bits, tileBuildInteger(builder, word, 0x7ff0000000000000));
  MlirValue least = tileBuildInteger(builder, word, (int64_t)(1023 + floats.least) << 52);
  exponent = buildBinary(builder, "arith.maxui", exponent, least);
  MlirValue below = tileBuildInteger(builder, word, (int64_t)floats.fraction << 52);
  MlirValue quantum = buildUnary(builder, "arith.bitcast", wide, buildBinary(builder, "arith.subi", exponent, below));
  MlirValue places = buildBinary(builder, "arith.divf", exact, quantum); // exact: a power of two
  MlirValue floor = buildUnary(builder, "math.floor", wide, places);
  MlirValue way = buildBinary(builder, "arith.subf", places, floor);
  MlirValue fraction = buildUnary(builder, "arith.uitofp", wide, random);
  fraction = buildBinary(builder, "arith.mulf", fraction, tileBuildFloat(builder, wide, 0x1p-32));
  TileAttributeEntry less[] = {{"predicate", mlirIntegerAttrGet(word, 4)}, {0}};
  MlirValue goesUp = tileBuildValue(builder, "arith.cmpf", mlirIntegerTypeGet(builder->context, 1), 2,
                                    (MlirValue[]){fraction, way}, less);
  MlirValue up = buildUnary(builder, "arith.uitofp", wide, goesUp);
  MlirValue rounded = buildBinary(builder, "arith.mulf", buildBinary(builder, "arith.addf", floor, up), quantum);
  return buildBinary(builder, "math.copysign", rounded, exact); // -0, and what rounds to it
}

// f64 holds every element exactly, so that it is rounded once.
static MlirValue floatOfFloat(Body *body, const Convert *convert, const Coord *coords, MlirValue value) {
  TileBuilder *builder = &body->lowering->builder;
  if (convert->bits.ptr)
    value = roundStochastically(builder, convert, value, elementAt(body, convert->bits, coords));
  double largest = largestOf(convert->to);
  if (tileHas(convert->op, "saturate"))
    value = clampFloat(builder, value, -largest, largest);
  return convertElement(builder, value, convert->to, 0);
}

//===--- to integers ------------------------------------------------------------------------------------===//

// Toward zero; nan becomes 0. Compared in f64, where the integer's limits lie exactly or round outward to ±2^63.
static MlirValue integerOfFloat(TileBuilder *builder, const Convert *convert, MlirValue value) {
  MlirType wide = mlirF64TypeGet(builder->context), word = mlirIntegerTypeGet(builder->context, 64);
  MlirType bit = mlirIntegerTypeGet(builder->context, 1);
  unsigned width = widthOf(convert->to);
  double beyond = ldexp(1, (int)width - 1);
  value = convertElement(builder, value, wide, 0);
  MlirValue high = tileBuildFloat(builder, wide, beyond);
  TileAttributeEntry isNan[] = {{"predicate", mlirIntegerAttrGet(word, 14)}, {0}};
  TileAttributeEntry isBeyond[] = {{"predicate", mlirIntegerAttrGet(word, 3)}, {0}};
  MlirValue nan = tileBuildValue(builder, "arith.cmpf", bit, 2, (MlirValue[]){value, value}, isNan);
  MlirValue over = tileBuildValue(builder, "arith.cmpf", bit, 2, (MlirValue[]){value, high}, isBeyond);
  MlirValue within = clampFloat(builder, value, -beyond, nextafter(beyond, 0));
  within = buildSelect(builder, nan, buildZero(builder, wide), within);
  MlirValue integer = buildUnary(builder, "arith.fptosi", word, within);
  integer = buildSelect(builder, over, tileBuildInteger(builder, word, (int64_t)(UINT64_MAX >> (65 - width))), integer);
  return integerCast(builder, integer, convert->to, true);
}

static MlirValue integerOfInteger(TileBuilder *builder, const Convert *convert, MlirValue value) {
  unsigned width = widthOf(convert->to);
  if (width >= widthOf(convert->from))
    return integerCast(builder, value, convert->to, true);
  MlirType word = mlirIntegerTypeGet(builder->context, 64);
  int64_t largest = (int64_t)(UINT64_MAX >> (65 - width));
  value =
      between(builder, integerCast(builder, value, word, true), "arith.minsi",
              tileBuildInteger(builder, word, -largest - 1), "arith.maxsi", tileBuildInteger(builder, word, largest));
  return integerCast(builder, value, convert->to, true);
}

//===--- convert_type -----------------------------------------------------------------------------------===//

static void convertAt(Body *body, const Coord *coords, void *data) {
  const Convert *convert = data;
  TileBuilder *builder = &body->lowering->builder;
  MlirValue value = elementAt(body, mlirOperationGetOperand(convert->op, 0), coords);
  bool fromFloat = mlirTypeIsAFloat(convert->from), toFloat = mlirTypeIsAFloat(convert->to);
  if (fromFloat)
    value = toFloat ? floatOfFloat(body, convert, coords, value) : integerOfFloat(builder, convert, value);
  else
    value = toFloat ? floatOfInteger(builder, convert, value) : integerOfInteger(builder, convert, value);
  accessStore(body, convert->result, coords, -1, 0, value);
}

static bool expectConversion(const Convert *convert) {
  Floats floats;
  bool known = (!mlirTypeIsAFloat(convert->from) || floatsOf(convert->from, &floats)) &&
               (!mlirTypeIsAFloat(convert->to) || floatsOf(convert->to, &floats));
  MlirStringRef rounding = tileKeywordOf(convert->op, "rounding");
  char from[64], to[64];
  if (!known || widthOf(convert->from) > 64 || widthOf(convert->to) > 64)
    return tileError(convert->op, "not lowered to the CPU yet: a conversion of %s to %s",
                     tileTypeText(convert->from, from, sizeof from), tileTypeText(convert->to, to, sizeof to));
  bool usual = rounding.length == 0 || convert->bits.ptr ||
               (mlirTypeIsAFloat(convert->to) && tileStringEquals(rounding, "nearest_even")) ||
               (!mlirTypeIsAFloat(convert->to) && tileStringEquals(rounding, "toward_zero"));
  return usual ||
         tileError(convert->op, "not lowered to the CPU yet: rounding %.*s", (int)rounding.length, rounding.data);
}

static void recordResult(Lowering *lowering, MlirOperation op, Access *access) {
  MlirValue result = mlirOperationGetResult(op, 0);
  if (isTile(mlirValueGetType(result))) {
    recordMemory(lowering, result, access);
    return;
  }
  Body body = bodyBegin(lowering, true);
  Coord none[MaxRank] = {{{NULL}, 0}};
  recordScalar(lowering, result, accessLoad(&body, access, none, -1, 0));
  bodyEnd(&body);
}

bool lowerConvertType(Lowering *lowering, MlirOperation op) {
  Shape shape = shapeOfValue(mlirOperationGetResult(op, 0));
  Convert convert = {.op = op, .to = shape.element, .bits = tileOpOperand(op, "bits")};
  convert.from = shapeOfValue(mlirOperationGetOperand(op, 0)).element;
  if (!expectConversion(&convert))
    return false;
  convert.result = bufferNew(lowering, &shape);
  intptr_t mark = spillOperands(lowering, op);
  forEachElement(lowering, &shape, convertAt, &convert);
  unspill(lowering, mark);
  recordResult(lowering, op, convert.result);
  return true;
}

//===--- bitcast ----------------------------------------------------------------------------------------===//

static MlirType bitsType(MlirType type) { return mlirIntegerTypeGet(mlirTypeGetContext(type), widthOf(type)); }

static MlirValue bitsOfElement(TileBuilder *builder, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsAFloat(type) ? buildUnary(builder, "arith.bitcast", bitsType(type), value) : value;
}

// Element coords of the wide source holds `pieces` of the result's.
static MlirValue pieceOf(Body *body, const Convert *convert, const Coord *coords, intptr_t last, int64_t pieces) {
  TileBuilder *builder = &body->lowering->builder;
  Coord at[MaxRank];
  memcpy(at, coords, sizeof at);
  at[last] = coordDivide(builder, coords[last], pieces);
  MlirValue wide = bitsOfElement(builder, elementAt(body, mlirOperationGetOperand(convert->op, 0), at));
  Coord piece = coordModulo(builder, coords[last], pieces);
  MlirValue shift = coordValue(builder, coordTimes(builder, piece, widthOf(convert->to)));
  shift = integerCast(builder, shift, mlirValueGetType(wide), false);
  return integerCast(builder, buildBinary(builder, "arith.shrui", wide, shift), bitsType(convert->to), false);
}

static MlirValue joinParts(Body *body, const Convert *convert, const Coord *coords, intptr_t last, int64_t parts) {
  TileBuilder *builder = &body->lowering->builder;
  MlirType bits = bitsType(convert->to);
  MlirValue whole = tileBuildInteger(builder, bits, 0);
  Coord at[MaxRank];
  memcpy(at, coords, sizeof at);
  at[last] = coordTimes(builder, coords[last], parts);
  for (int64_t i = 0; i < parts; ++i, at[last].offset++) {
    MlirValue part = bitsOfElement(builder, elementAt(body, mlirOperationGetOperand(convert->op, 0), at));
    MlirValue shift = tileBuildInteger(builder, bits, i * widthOf(convert->from));
    part = buildBinary(builder, "arith.shli", integerCast(builder, part, bits, false), shift);
    whole = buildBinary(builder, "arith.ori", whole, part);
  }
  return whole;
}

static void recastAt(Body *body, const Coord *coords, void *data) {
  const Convert *convert = data;
  TileBuilder *builder = &body->lowering->builder;
  unsigned from = widthOf(convert->from), to = widthOf(convert->to);
  intptr_t last = convert->result->shape.rank - 1;
  MlirValue bits;
  if (from == to)
    bits = bitsOfElement(builder, elementAt(body, mlirOperationGetOperand(convert->op, 0), coords));
  else
    bits =
        from > to ? pieceOf(body, convert, coords, last, from / to) : joinParts(body, convert, coords, last, to / from);
  if (mlirTypeIsAFloat(convert->to))
    bits = buildUnary(builder, "arith.bitcast", convert->to, bits);
  accessStore(body, convert->result, coords, -1, 0, bits);
}

bool lowerBitcast(Lowering *lowering, MlirOperation op) {
  Shape shape = shapeOf(tileResultType(op, 0));
  Convert convert = {.op = op, .to = shape.element, .result = bufferNew(lowering, &shape)};
  convert.from = shapeOf(tileOperandType(op, 0)).element;
  intptr_t mark = spillOperands(lowering, op);
  forEachElement(lowering, &shape, recastAt, &convert);
  unspill(lowering, mark);
  recordMemory(lowering, mlirOperationGetResult(op, 0), convert.result);
  return true;
}
