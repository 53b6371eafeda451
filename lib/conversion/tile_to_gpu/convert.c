// tile.convert_type on every register (lib/ir/emit/number.h). tile.bitcast: the bits as elements of another width, by
// renaming registers.
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

bool gpuLowerBitcast(Gpu *g, MlirOperation op) {
  MlirType from = tileBitcastOpGetInputType(op), to = tileBitcastOpGetResultType(op);
  if (!gpuIsTile(from) || !gpuIsTile(to))
    return gpuRefuse(op, "a bitcast of a scalar: use arith.bitcast");
  TileCast widths = tileCastOf(op);
  Cast cast = {.last = tileTypeGetRank(to) - 1, .narrows = widths.narrows, .factor = widths.factor};
  int64_t parts = cast.narrows ? 1 : cast.factor;
  MlirValue *values[64];
  for (cast.part = 0; cast.part < parts; ++cast.part) {
    values[cast.part] = gpuAllocate(g, (size_t)gpuRegisters(to) * sizeof **values);
    if (!renamed(g, op, &cast, values[cast.part]))
      return gpuMustExchange(op);
  }
  if (!cast.factor)
    return gpuMustExchange(op);
  recast(g, op, &cast, values);
  return true;
}

const GpuRow gpuComputeRows[] = {
    {TileOp_Mma, gpuLowerMma},
    {TileOp_MmaSparse, gpuLowerMma},
    {TileOp_MmaScaled, gpuLowerMmaScaled},
    {TileOp_Reduce, gpuLowerReduce},
    {TileOp_Scan, gpuLowerScan},
    {TileOp_Sort, gpuMustBeExchanged},
    {TileOp_Topk, gpuMustBeExchanged},
    {TileOp_Random, gpuLowerRandom},
    {TileOp_ConvertType, gpuLowerConvertType},
    {TileOp_Bitcast, gpuLowerBitcast},
    {.lower = NULL},
};
