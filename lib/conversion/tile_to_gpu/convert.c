// tile.convert_type, on every register: conversions that arith does not say (docs in dialects/tile/ops.def), by way of
// f64 or i64, which hold every element. tile.bitcast: the same bits as elements of another width, by renaming registers
// or through shared memory.
#include "lib/conversion/tile_to_gpu/compute.h"

#include "dialects/tile/questions.h"
#include "lib/analysis/moves.h"
#include "lib/ir/float_format.h"
#include "lib/ir/op_format.h"

#include "mlir-c/BuiltinAttributes.h"

#include <math.h>

typedef struct Convert {
  MlirOperation op;
  MlirType from, to; // elements
} Convert;

//===--- to floats --------------------------------------------------------------------------------===//

static MlirType f64Type(Gpu *g) { return mlirF64TypeGet(g->context); }

static MlirValue floatTo(Gpu *g, MlirValue value, MlirType type) {
  MlirType from = mlirValueGetType(value);
  if (mlirTypeEqual(from, type))
    return value;
  return gpuOp(g, gpuBits(from) < gpuBits(type) ? ArithOp_ExtF : ArithOp_TruncF, type, value);
}

// nan stays nan.
static MlirValue clampFloat(Gpu *g, MlirValue value, double low, double high) {
  MlirType type = mlirValueGetType(value);
  value = gpuBinary(g, ArithOp_MaximumF, value, tileBuildFloat(&g->builder, type, low));
  return gpuBinary(g, ArithOp_MinimumF, value, tileBuildFloat(&g->builder, type, high));
}

static MlirValue clampInteger(Gpu *g, MlirValue value, int64_t low, int64_t high) {
  MlirType type = mlirValueGetType(value);
  value = gpuBinary(g, ArithOp_MaxSI, value, gpuInteger(g, type, low));
  return gpuBinary(g, ArithOp_MinSI, value, gpuInteger(g, type, high));
}

static MlirValue compareFloats(Gpu *g, ArithCmpF predicate, MlirValue a, MlirValue b) {
  return arithCmpFOpBuild(&g->builder, a, b, predicate);
}

// Up when the random bits, as a fraction of 2^32, are below how far the value is on its way to the next number: counted
// in units of the result's last place, which is the same for all numbers below the least normal one.
static MlirValue roundStochastically(Gpu *g, const Convert *convert, MlirValue exact, MlirValue random) {
  MlirType wide = f64Type(g);
  TileFloatFormat format = tileFloatFormatGet(convert->to);
  MlirValue exponent = gpuAnd(g, gpuOp(g, ArithOp_Bitcast, g->i64, exact), 0x7ff0000000000000);
  exponent = gpuBinary(g, ArithOp_MaxUI, exponent, gpuInteger(g, g->i64, (int64_t)(1023 + format.leastExponent) << 52));
  MlirValue below = gpuInteger(g, g->i64, (int64_t)format.fraction << 52);
  MlirValue quantum = gpuOp(g, ArithOp_Bitcast, wide, gpuBinary(g, ArithOp_SubI, exponent, below));
  MlirValue places = gpuBinary(g, ArithOp_DivF, exact, quantum); // exact: a power of two
  MlirValue floor = gpuOp(g, MathOp_Floor, wide, places), way = gpuBinary(g, ArithOp_SubF, places, floor);
  MlirValue fraction =
      gpuBinary(g, ArithOp_MulF, gpuOp(g, ArithOp_UIToFP, wide, random), tileBuildFloat(&g->builder, wide, 0x1p-32));
  MlirValue up = gpuOp(g, ArithOp_UIToFP, wide, compareFloats(g, ArithCmpF_Olt, fraction, way));
  MlirValue rounded = gpuBinary(g, ArithOp_MulF, gpuBinary(g, ArithOp_AddF, floor, up), quantum);
  return gpuBinary(g, MathOp_CopySign, rounded, exact); // -0, and what rounds to it
}

// What comes is f64, so that the one rounding is here.
static MlirValue floatOfF64(Gpu *g, const Convert *convert, MlirValue value) {
  const TileRounding *rounding = tileRoundingOf(convert->op);
  double largest = tileFloatFormatGet(convert->to).largest;
  if (tileHas(convert->op, "saturate"))
    value = clampFloat(g, value, -largest, largest);
  if (!rounding || rounding->number == 0 || mlirTypeIsAF64(convert->to))
    return floatTo(g, value, convert->to);
  MlirValue rounded = gpuOp(g, ArithOp_TruncF, convert->to, value);
  arithTruncFOpSetRoundingmode(mlirOpResultGetOwner(rounded), mlirIntegerAttrGet(g->i32, rounding->number));
  return rounded;
}

// An integer beyond the largest float becomes it; then the conversion rounds once. Narrow floats, whose largest may be
// no integer, and directions go by way of f64: beyond 2^53 it has rounded to nearest already.
static MlirValue floatOfInteger(Gpu *g, const Convert *convert, MlirValue value) {
  const TileRounding *rounding = tileRoundingOf(convert->op);
  TileFloatFormat format = tileFloatFormatGet(convert->to);
  value = gpuCast(g, value, g->i64, true);
  if (format.width < 16 || (rounding && rounding->number))
    return floatOfF64(g, convert, gpuOp(g, ArithOp_SIToFP, f64Type(g), value));
  if (format.largest < 0x1p62 && tileHas(convert->op, "saturate"))
    value = clampInteger(g, value, -(int64_t)format.largest, (int64_t)format.largest);
  return gpuOp(g, ArithOp_SIToFP, convert->to, value);
}

//===--- to integers --------------------------------------------------------------------------------===//

// Toward zero where no direction is said; nan becomes 0. Compared in f64, where the integer's limits lie exactly or
// round outward to ±2^63.
static MlirValue integerOfFloat(Gpu *g, const Convert *convert, MlirValue value) {
  MlirType wide = f64Type(g);
  const TileRounding *rounding = tileRoundingOf(convert->op);
  unsigned width = gpuBits(convert->to);
  double beyond = ldexp(1, (int)width - 1);
  value = floatTo(g, value, wide);
  if (rounding)
    value = gpuOp(g, rounding->op, wide, value);
  MlirValue nan = compareFloats(g, ArithCmpF_Uno, value, value);
  MlirValue over = compareFloats(g, ArithCmpF_Oge, value, tileBuildFloat(&g->builder, wide, beyond));
  MlirValue within = clampFloat(g, value, -beyond, nextafter(beyond, 0));
  within = gpuSelect(g, nan, tileBuildFloat(&g->builder, wide, 0), within);
  MlirValue integer = gpuOp(g, ArithOp_FPToSI, g->i64, within);
  integer = gpuSelect(g, over, gpuInteger(g, g->i64, (int64_t)(UINT64_MAX >> (65 - width))), integer);
  return gpuCast(g, integer, convert->to, true);
}

static MlirValue integerOfInteger(Gpu *g, const Convert *convert, MlirValue value) {
  unsigned width = gpuBits(convert->to);
  if (width >= gpuBits(convert->from))
    return gpuCast(g, value, convert->to, true);
  int64_t largest = (int64_t)(UINT64_MAX >> (65 - width));
  value = clampInteger(g, gpuCast(g, value, g->i64, true), -largest - 1, largest);
  return gpuCast(g, value, convert->to, true);
}

//===--- convert_type ---------------------------------------------------------------------------------===//

static MlirValue convertOne(Gpu *g, const Convert *convert, MlirValue value, MlirValue bits) {
  bool fromFloat = mlirTypeIsAFloat(convert->from), toFloat = mlirTypeIsAFloat(convert->to);
  if (!fromFloat)
    return toFloat ? floatOfInteger(g, convert, value) : integerOfInteger(g, convert, value);
  if (!toFloat)
    return integerOfFloat(g, convert, value);
  value = floatTo(g, value, f64Type(g));
  if (!mlirValueIsNull(bits))
    value = roundStochastically(g, convert, value, bits);
  return floatOfF64(g, convert, value);
}

static bool isConvertible(MlirType type) {
  TileFloatFormat format;
  return mlirTypeIsAFloat(type) ? tileFloatFormatOf(type, &format) && !mlirTypeIsATF32(type) : gpuBits(type) <= 64;
}

static MlirType elementOf(MlirType type) { return gpuIsTile(type) ? tileTypeGetElement(type) : type; }

bool gpuLowerConvertType(Gpu *g, MlirOperation op) {
  MlirValue input = tileConvertTypeOpGetInput(op), result = tileConvertTypeOpGetResult(op);
  MlirValue bits = tileOpOperand(op, "bits");
  Convert convert = {op, elementOf(mlirValueGetType(input)), elementOf(mlirValueGetType(result))};
  char from[64], to[64];
  if (!isConvertible(convert.from) || !isConvertible(convert.to))
    return tileError(op, "not converted to a GPU yet: a conversion of %s to %s",
                     tileTypeText(convert.from, from, sizeof from), tileTypeText(convert.to, to, sizeof to));
  if (!gpuIsTile(mlirValueGetType(result))) {
    MlirValue random = mlirValueIsNull(bits) ? bits : gpuScalar(g, bits);
    gpuRecordScalar(g, result, convertOne(g, &convert, gpuScalar(g, input), random));
    return true;
  }
  MlirValue *registers = gpuRecordTile(g, result);
  for (intptr_t reg = 0; reg < gpuRegisters(mlirValueGetType(result)); ++reg)
    registers[reg] =
        convertOne(g, &convert, gpuTile(g, input)[reg], !mlirValueIsNull(bits) ? gpuTile(g, bits)[reg] : bits);
  return true;
}

//===--- bitcast --------------------------------------------------------------------------------------===//

static MlirType bitsType(Gpu *g, MlirType element) { return mlirIntegerTypeGet(g->context, gpuBits(element)); }

static MlirValue bitsOf(Gpu *g, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsAFloat(type) ? gpuOp(g, ArithOp_Bitcast, bitsType(g, type), value) : value;
}

static MlirValue valueOf(Gpu *g, MlirValue bits, MlirType element) {
  return mlirTypeIsAFloat(element) ? gpuOp(g, ArithOp_Bitcast, element, bits) : bits;
}

typedef struct Cast {
  intptr_t last;
  int64_t factor, part; // pieces of one element, or elements that make one, and which of them
  bool narrows;
} Cast;

// Piece number `piece` (i32) of a wide element.
static MlirValue pieceOf(Gpu *g, MlirValue wide, MlirValue piece, MlirType to) {
  MlirValue bits = bitsOf(g, wide);
  MlirValue shift =
      gpuMul(g, gpuCast(g, piece, mlirValueGetType(bits), false), gpuInteger(g, mlirValueGetType(bits), gpuBits(to)));
  return valueOf(g, gpuCast(g, gpuBinary(g, ArithOp_ShRUI, bits, shift), bitsType(g, to), false), to);
}

static MlirValue joined(Gpu *g, const MlirValue *parts, int64_t count, MlirType from, MlirType to) {
  MlirType bits = bitsType(g, to);
  MlirValue whole = gpuInteger(g, bits, 0);
  for (int64_t i = 0; i < count; ++i)
    whole = gpuBinary(g, ArithOp_OrI, whole,
                      gpuShiftLeft(g, gpuCast(g, bitsOf(g, parts[i]), bits, false), i * gpuBits(from)));
  return valueOf(g, whole, to);
}

// The operand's registers that hold part `part` of every register of the result: by renaming, or read from a scratch
// that holds the operand dense.
static void partsAt(Gpu *g, MlirOperation op, const Cast *cast, MlirValue scratch, MlirValue *parts) {
  MlirValue input = tileBitcastOpGetInput(op);
  MlirType from = mlirValueGetType(input), to = tileBitcastOpGetResultType(op), element = tileTypeGetElement(from);
  Places places = gpuDensePlaces(g, to);
  int64_t bytes = tileStoredBytes(element);
  for (intptr_t reg = 0; reg < gpuRegisters(to); ++reg) {
    MlirValue at = gpuPlace(g, &places, reg), factor = gpuI32(g, cast->factor);
    at = cast->narrows ? gpuBinary(g, ArithOp_DivUI, at, factor)
                       : gpuAdd(g, gpuMul(g, at, factor), gpuI32(g, cast->part));
    gpuLoadWhere(g, gpuIsElement(g, places.map, to, AllAxes, reg), element, 1,
                 gpuAddress(g, scratch, gpuMul(g, at, gpuI32(g, bytes))), bytes, gpuZero(g, element), &parts[reg]);
  }
}

static bool renamed(Gpu *g, MlirOperation op, const Cast *cast, MlirValue *parts) {
  intptr_t count = gpuRegisters(tileBitcastOpGetResultType(op)), *table = gpuAllocate(g, (size_t)count * sizeof *table);
  if (!tileMovesOf(op, 0, cast->part, g->exchange.lanes, g->exchange.warps, table))
    return false;
  for (intptr_t reg = 0; reg < count; ++reg)
    parts[reg] = gpuTile(g, tileBitcastOpGetInput(op))[table[reg]];
  return true;
}

static void recast(Gpu *g, MlirOperation op, const Cast *cast, MlirValue *const *parts) {
  MlirValue result = tileBitcastOpGetResult(op);
  MlirType type = mlirValueGetType(result), from = tileTypeGetElement(tileBitcastOpGetInputType(op));
  MlirType to = tileTypeGetElement(type);
  TileLayout layout = gpuLayoutOf(type);
  const Map *map = gpuMap(g, &layout, cast->last + 1);
  MlirValue *registers = gpuRecordTile(g, result);
  for (intptr_t reg = 0; reg < gpuRegisters(type); ++reg) {
    MlirValue all[64];
    for (int64_t part = 0; part < (cast->narrows ? 1 : cast->factor); ++part)
      all[part] = parts[part][reg];
    if (cast->factor == 1)
      registers[reg] = valueOf(g, bitsOf(g, all[0]), to);
    else if (cast->narrows)
      registers[reg] = pieceOf(g, all[0], gpuAnd(g, gpuCoordinate(g, map, cast->last, reg), cast->factor - 1), to);
    else
      registers[reg] = joined(g, all, cast->factor, from, to);
  }
}

// Widths of which neither is a power of two times the other: of each element of the result, the bits of the elements
// that it meets in the operand, which shared memory holds dense. A row's last bits are the last element's: what would
// be read after it is not wanted.
static bool recastThroughMemory(Gpu *g, MlirOperation op) {
  MlirValue input = tileBitcastOpGetInput(op), result = tileBitcastOpGetResult(op);
  MlirType from = mlirValueGetType(input), to = mlirValueGetType(result), element = tileTypeGetElement(from);
  int64_t in = gpuBits(element), out = gpuBits(tileTypeGetElement(to)), bytes = tileStoredBytes(element);
  int64_t last = tileTypeGetCount(from) - 1;
  MlirValue scratch = gpuScratch(g, tileDenseBytes(from)), *registers = gpuRecordTile(g, result);
  gpuWriteDense(g, from, gpuTile(g, input), scratch);
  gpuBarrier(g);
  Places places = gpuDensePlaces(g, to);
  for (intptr_t reg = 0; reg < gpuRegisters(to); ++reg) {
    MlirValue begin = gpuMul(g, gpuPlace(g, &places, reg), gpuI32(g, out)), whole = gpuInteger(g, g->i64, 0);
    MlirValue first = gpuBinary(g, ArithOp_DivUI, begin, gpuI32(g, in));
    MlirValue skipped = gpuSub(g, begin, gpuMul(g, first, gpuI32(g, in)));
    for (int64_t part = 0; part * in < out + in - 1; ++part) {
      MlirValue at = gpuBinary(g, ArithOp_MinUI, gpuAdd(g, first, gpuI32(g, part)), gpuI32(g, last)), one;
      gpuLoadElements(g, element, 1, gpuAddress(g, scratch, gpuMul(g, at, gpuI32(g, bytes))), bytes, &one);
      MlirValue bits = gpuCast(g, bitsOf(g, one), g->i64, false);
      MlirValue up = gpuCast(g, gpuSub(g, gpuI32(g, part * in), skipped), g->i64, false);
      if (!part)
        bits = gpuBinary(g, ArithOp_ShRUI, bits, gpuCast(g, skipped, g->i64, false));
      else // at 64 and beyond there is nothing left to fill
        bits = gpuSelect(g, gpuCompare(g, ArithCmpI_Ult, up, gpuInteger(g, g->i64, 64)),
                         gpuBinary(g, ArithOp_ShLI, bits, gpuAnd(g, up, 63)), gpuInteger(g, g->i64, 0));
      whole = gpuBinary(g, ArithOp_OrI, whole, bits);
    }
    MlirType type = tileTypeGetElement(to);
    registers[reg] = valueOf(g, gpuCast(g, whole, bitsType(g, type), false), type);
  }
  return true;
}

bool gpuLowerBitcast(Gpu *g, MlirOperation op) {
  MlirValue input = tileBitcastOpGetInput(op);
  MlirType from = mlirValueGetType(input), to = tileBitcastOpGetResultType(op);
  if (!gpuIsTile(from) || !gpuIsTile(to))
    return gpuRefuse(op, "a bitcast of a scalar: use arith.bitcast");
  TileCast widths = tileCastOf(op);
  Cast cast = {.last = tileTypeGetRank(to) - 1, .narrows = widths.narrows, .factor = widths.factor};
  if (!cast.factor)
    return recastThroughMemory(g, op);
  int64_t parts = cast.narrows ? 1 : cast.factor;
  MlirValue *values[64], scratch = {NULL};
  for (cast.part = 0; cast.part < parts; ++cast.part) {
    values[cast.part] = gpuAllocate(g, (size_t)gpuRegisters(to) * sizeof **values);
    if (renamed(g, op, &cast, values[cast.part]))
      continue;
    if (mlirValueIsNull(scratch)) {
      scratch = gpuScratch(g, tileDenseBytes(from));
      gpuWriteDense(g, from, gpuTile(g, input), scratch);
      gpuBarrier(g);
    }
    partsAt(g, op, &cast, scratch, values[cast.part]);
  }
  recast(g, op, &cast, values);
  return true;
}

const GpuRow gpuComputeRows[] = {
    {TileOp_Mma, gpuLowerMma},
    {TileOp_MmaSparse, gpuLowerMma},
    {TileOp_MmaScaled, gpuLowerMmaScaled},
    {TileOp_Reduce, gpuLowerReduce},
    {TileOp_Scan, gpuLowerScan},
    {TileOp_Sort, gpuLowerSort},
    {TileOp_Topk, gpuLowerSort},
    {TileOp_Histogram, gpuLowerHistogram},
    {TileOp_Random, gpuLowerRandom},
    {TileOp_ConvertType, gpuLowerConvertType},
    {TileOp_Bitcast, gpuLowerBitcast},
    {.lower = NULL},
};
