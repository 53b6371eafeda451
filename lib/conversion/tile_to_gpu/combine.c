// Combining elements: by the op that the short form names, or by the region, whose ops are lowered once for each pair.
// Elements of other lanes come by shuffles; no step leads to another warp any more (tile-exchange-in-shared-memory).
// See combine.h.
#include "lib/conversion/tile_to_gpu/combine.h"

#include "dialects/tile/combiner.h"
#include "dialects/tile/questions.h"

#include <string.h>

//===--- two elements -------------------------------------------------------------------------===//

static MlirBlock bodyOf(MlirOperation op) {
  return mlirRegionGetFirstBlock(tileReduceOpIsA(op) ? tileReduceOpGetBody(op) : tileScanOpGetBody(op));
}

static void combineByName(Gpu *g, const Combined *combined, const MlirValue *left, const MlirValue *right,
                          MlirValue *result) {
  TileUpstream operation = tileUpstreamKindOfName(tileKeywordOf(combined->op, "operation"));
  for (intptr_t i = 0; i < combined->tiles; ++i)
    result[i] = gpuBinary(g, operation, left[i], right[i]);
}

bool gpuCombine(Gpu *g, const Combined *combined, const MlirValue *left, const MlirValue *right, MlirValue *result) {
  MlirBlock body = bodyOf(combined->op);
  if (mlirBlockIsNull(body)) {
    combineByName(g, combined, left, right, result);
    return true;
  }
  for (intptr_t i = 0; i < combined->tiles; ++i) {
    gpuRecordScalar(g, mlirBlockGetArgument(body, i), left[i]);
    gpuRecordScalar(g, mlirBlockGetArgument(body, combined->tiles + i), right[i]);
  }
  if (!gpuLowerBlock(g, body))
    return false;
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (intptr_t i = 0; i < combined->tiles; ++i)
    result[i] = gpuScalar(g, mlirOperationGetOperand(yield, i));
  return true;
}

static MlirValue neutralOf(Gpu *g, MlirOperation op, intptr_t tile) {
  MlirAttribute value = tileCombinerNeutralOf(op, tile);
  return mlirAttributeIsNull(value) ? (MlirValue){NULL} : gpuConstant(g, value);
}

//===--- between threads ----------------------------------------------------------------------===//

MlirValue gpuIsFar(Gpu *g, const TileLayoutStep *step) {
  return gpuCompare(g, ArithCmpI_Ne, gpuAnd(g, g->thread, 1ll << step->bit), gpuI32(g, 0));
}

MlirValue *gpuAcross(Gpu *g, const Combined *combined, const TileLayoutStep *step) {
  intptr_t all = combined->count * combined->tiles;
  MlirValue *others = gpuAllocate(g, (size_t)all * sizeof *others);
  for (intptr_t n = 0; n < all; ++n)
    if (combined->isLive[n / combined->tiles])
      others[n] = gpuShuffleXor(g, combined->values[n], 1ll << step->bit);
  return others;
}

bool gpuCombineAcross(Gpu *g, const Combined *combined, MlirValue isRight, const MlirValue *others, MlirValue *mine) {
  MlirValue left[MaxCombined], right[MaxCombined];
  for (intptr_t i = 0; i < combined->tiles; ++i) {
    left[i] = gpuSelect(g, isRight, others[i], mine[i]);
    right[i] = gpuSelect(g, isRight, mine[i], others[i]);
  }
  return gpuCombine(g, combined, left, right, mine);
}

//===--- the tiles ----------------------------------------------------------------------------===//

// What the layout holds beyond the tile, along the axes, counts as nothing.
static bool readTile(Gpu *g, Combined *combined, intptr_t tile) {
  MlirType type = tileOperandType(combined->op, tile);
  const MlirValue *registers = gpuTile(g, mlirOperationGetOperand(combined->op, tile));
  combined->elements[tile] = tileTypeGetElement(type);
  bool hasVoid = gpuHasVoid(&combined->layout, combined->type, combined->axes);
  if (hasVoid || tileScanOpIsA(combined->op))
    combined->neutral[tile] = neutralOf(g, combined->op, tile);
  if (hasVoid && mlirValueIsNull(combined->neutral[tile]))
    return gpuRefuse(combined->op, "a layout that reaches beyond the tile where no neutral element is known");
  const Map *map = hasVoid ? gpuMap(g, &combined->layout, tileTypeGetRank(combined->type)) : NULL;
  for (intptr_t reg = 0; reg < combined->count; ++reg)
    gpuCombinedAt(combined, combined->values, reg)[tile] =
        hasVoid ? gpuSelect(g, gpuIsElement(g, map, combined->type, combined->axes, reg), registers[reg],
                            combined->neutral[tile])
                : registers[reg];
  return true;
}

bool gpuReadCombined(Gpu *g, MlirOperation op, intptr_t tiles, uint32_t axes, Combined *combined) {
  *combined = (Combined){.op = op, .tiles = tiles, .axes = axes, .type = tileFirstOperandType(op)};
  if (tiles > MaxCombined)
    return gpuRefuse(op, "more than 8 tiles combined at once");
  combined->layout = gpuLayoutOf(combined->type);
  combined->count = gpuRegisters(combined->type);
  combined->values = gpuAllocate(g, (size_t)(combined->count * tiles) * sizeof *combined->values);
  combined->isLive = gpuAllocate(g, (size_t)combined->count);
  memset(combined->isLive, true, (size_t)combined->count);
  for (intptr_t i = 0; i < tiles; ++i)
    if (!readTile(g, combined, i))
      return false;
  if (!tileLayoutStepsAlong(&combined->layout, (uint32_t)tileTypeGetRank(combined->type), axes, &combined->steps))
    return gpuRefuse(op, "a layout in which the axes share bits with others: put a tile.convert_layout before");
  for (uint32_t i = 0; i < combined->steps.count; ++i)
    if (combined->steps.items[i].dim == TileLayoutWarp)
      return gpuMustExchange(op);
  return true;
}

TileLayoutPoint gpuKept(const Combined *combined, intptr_t reg) {
  TileLayoutPoint point = tileLayoutOfRegister(&combined->layout, reg), kept = {{0}};
  for (intptr_t axis = 0, to = 0; axis < tileTypeGetRank(combined->type); ++axis)
    if (!(combined->axes >> axis & 1))
      kept.at[to++] = point.at[axis];
  return kept;
}

// A live register with these coordinates on the axes that stay; -1: none.
static intptr_t sourceOf(const Combined *combined, TileLayoutPoint wanted) {
  for (intptr_t reg = 0; reg < combined->count; ++reg) {
    TileLayoutPoint kept = gpuKept(combined, reg);
    if (combined->isLive[reg] && !memcmp(&kept, &wanted, sizeof kept))
      return reg;
  }
  return -1;
}

bool gpuGiveCombined(Gpu *g, const Combined *combined, intptr_t tile, MlirValue result) {
  if (!gpuIsTile(mlirValueGetType(result))) {
    gpuRecordScalar(g, result, combined->values[tile]);
    return true;
  }
  MlirType type = mlirValueGetType(result);
  TileLayout layout = gpuLayoutOf(type);
  MlirValue *registers = gpuRecordTile(g, result);
  for (intptr_t reg = 0; reg < gpuRegisters(type); ++reg) {
    intptr_t source = sourceOf(combined, tileLayoutOfRegister(&layout, reg));
    if (source < 0)
      return gpuRefuse(combined->op, "a result whose layout is not the operand's without the axes");
    registers[reg] = gpuCombinedAt(combined, combined->values, source)[tile];
  }
  return true;
}
