// tile.convert_type on every register (lib/ir/emit/number.h). tile.bitcast: the bits as elements of another width, by
// renaming registers or through shared memory.
#include "lib/conversion/tile_to_gpu/compute.h"

#include "dialects/tile/questions.h"
#include "lib/analysis/moves.h"
#include "lib/ir/float_format.h"
#include "lib/ir/op_format.h"

//===--- convert_type ---------------------------------------------------------------------------------===//

static bool isConvertible(MlirType type) {
  TileFloatFormat format;
  return mlirTypeIsAFloat(type) ? tileFloatFormatOf(type, &format) && !mlirTypeIsATF32(type) : gpuBits(type) <= 64;
}

bool gpuLowerConvertType(Gpu *g, MlirOperation op) {
  MlirValue input = tileConvertTypeOpGetInput(op), result = tileConvertTypeOpGetResult(op);
  MlirValue bits = tileConvertTypeOpGetBits(op);
  TileNumberConversion conversion = tileConversionOf(op);
  MlirType element = gpuElementType(mlirValueGetType(input));
  char from[64], to[64];
  if (!isConvertible(element) || !isConvertible(conversion.to))
    return tileError(op, "not converted to a GPU yet: a conversion of %s to %s",
                     tileTypeText(element, from, sizeof from), tileTypeText(conversion.to, to, sizeof to));
  MlirValue *registers = gpuRecordTile(g, result);
  for (intptr_t reg = 0; reg < gpuRegisters(mlirValueGetType(result)); ++reg)
    registers[reg] =
        tileBuildConversion(&g->builder, &conversion, gpuRegisterOf(g, input, reg), gpuRegisterOf(g, bits, reg));
  return true;
}

//===--- bitcast --------------------------------------------------------------------------------------===//

typedef struct Cast {
  intptr_t last;
  int64_t factor, part; // pieces of one element, or elements that make one, and which of them
  bool narrows;
} Cast;

// Piece number `piece` (i32) of a wide element.
static MlirValue pieceOf(Gpu *g, MlirValue wide, MlirValue piece, MlirType to) {
  MlirValue bits = tileBuildBits(&g->builder, wide);
  MlirValue shift =
      gpuMul(g, gpuCast(g, piece, mlirValueGetType(bits), false), gpuInteger(g, mlirValueGetType(bits), gpuBits(to)));
  return tileBuildNumberOfBits(&g->builder,
                               gpuCast(g, gpuBinary(g, ArithOp_ShRUI, bits, shift), tileBitsType(to), false), to);
}

static MlirValue joined(Gpu *g, const MlirValue *parts, int64_t count, MlirType from, MlirType to) {
  MlirType bits = tileBitsType(to);
  MlirValue whole = gpuInteger(g, bits, 0);
  for (int64_t i = 0; i < count; ++i)
    whole =
        gpuBinary(g, ArithOp_OrI, whole,
                  gpuShiftLeft(g, gpuCast(g, tileBuildBits(&g->builder, parts[i]), bits, false), i * gpuBits(from)));
  return tileBuildNumberOfBits(&g->builder, whole, to);
}

// The operand's registers that hold part `part` of every register of the result, read from a scratch that holds the
// operand dense.
static void partsAt(Gpu *g, MlirOperation op, const Cast *cast, MlirValue scratch, MlirValue *parts) {
  MlirType to = tileBitcastOpGetResultType(op), element = tileTypeGetElement(tileBitcastOpGetInputType(op));
  Places places = gpuDensePlaces(g, to);
  for (intptr_t reg = 0; reg < gpuRegisters(to); ++reg) {
    MlirValue at = gpuPlace(g, &places, reg), factor = gpuI32(g, cast->factor);
    at = cast->narrows ? gpuBinary(g, ArithOp_DivUI, at, factor)
                       : gpuAdd(g, gpuMul(g, at, factor), gpuI32(g, cast->part));
    gpuReadElement(g, tileTypeWithElement(to, element), places.map, reg, scratch, at, &parts[reg]);
  }
}

static bool renamed(Gpu *g, MlirOperation op, const Cast *cast, MlirValue *parts) {
  const intptr_t *table = gpuMoves(g, op, 0, cast->part);
  for (intptr_t reg = 0; table && reg < gpuRegisters(tileBitcastOpGetResultType(op)); ++reg)
    parts[reg] = gpuTile(g, tileBitcastOpGetInput(op))[table[reg]];
  return table != NULL;
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
      registers[reg] = tileBuildNumberOfBits(&g->builder, tileBuildBits(&g->builder, all[0]), to);
    else if (cast->narrows)
      registers[reg] = pieceOf(g, all[0], gpuAnd(g, gpuCoordinate(g, map, cast->last, reg), cast->factor - 1), to);
    else
      registers[reg] = joined(g, all, cast->factor, from, to);
  }
}

// Widths whose ratio is no power of two: of each element of the result, the bits of the elements
// that it meets in the operand, which shared memory holds dense. A row's last bits are the last element's: what would
// be read after it is not wanted.
static bool recastThroughMemory(Gpu *g, MlirOperation op) {
  MlirValue input = tileBitcastOpGetInput(op), result = tileBitcastOpGetResult(op);
  MlirType from = mlirValueGetType(input), to = mlirValueGetType(result), element = tileTypeGetElement(from);
  int64_t in = gpuBits(element), out = gpuBits(tileTypeGetElement(to)), bytes = tileStoredBytes(element);
  int64_t last = tileTypeGetCount(from) - 1;
  MlirValue scratch = gpuShare(g, from, gpuTile(g, input)), *registers = gpuRecordTile(g, result);
  Places places = gpuDensePlaces(g, to);
  for (intptr_t reg = 0; reg < gpuRegisters(to); ++reg) {
    MlirValue begin = gpuMul(g, gpuPlace(g, &places, reg), gpuI32(g, out)), whole = gpuInteger(g, g->i64, 0);
    MlirValue first = gpuBinary(g, ArithOp_DivUI, begin, gpuI32(g, in));
    MlirValue skipped = gpuSub(g, begin, gpuMul(g, first, gpuI32(g, in)));
    for (int64_t part = 0; part * in < out + in - 1; ++part) {
      MlirValue at = gpuBinary(g, ArithOp_MinUI, gpuAdd(g, first, gpuI32(g, part)), gpuI32(g, last)), one;
      gpuLoadElements(g, element, 1, gpuElementAt(g, scratch, at, element), bytes, &one);
      MlirValue bits = gpuCast(g, tileBuildBits(&g->builder, one), g->i64, false);
      MlirValue up = gpuCast(g, gpuSub(g, gpuI32(g, part * in), skipped), g->i64, false);
      if (!part)
        bits = gpuBinary(g, ArithOp_ShRUI, bits, gpuCast(g, skipped, g->i64, false));
      else // at 64 and beyond there is nothing left to fill
        bits = gpuSelect(g, gpuCompare(g, ArithCmpI_Ult, up, gpuInteger(g, g->i64, 64)),
                         gpuBinary(g, ArithOp_ShLI, bits, gpuAnd(g, up, 63)), gpuInteger(g, g->i64, 0));
      whole = gpuBinary(g, ArithOp_OrI, whole, bits);
    }
    MlirType type = tileTypeGetElement(to);
    registers[reg] = tileBuildNumberOfBits(&g->builder, gpuCast(g, whole, tileBitsType(type), false), type);
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
    if (mlirValueIsNull(scratch))
      scratch = gpuShare(g, from, gpuTile(g, input));
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
    {TileOp_Random, gpuLowerRandom},
    {TileOp_ConvertType, gpuLowerConvertType},
    {TileOp_Bitcast, gpuLowerBitcast},
    {.lower = NULL},
};
