// See exchange_pieces.h.
#include "lib/transforms/pipeline/exchange_pieces.h"

#include "dialects/tile/combiner.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/scratch.h"
#include "lib/layout/steps.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"

//===--- the axes in pieces ---------------------------------------------------------------------------===//

enum { Top = 32 }; // bits of a coordinate

static bool addPiece(Pieces *pieces, Piece piece) {
  if (pieces->count == MaxRank)
    return false;
  pieces->items[pieces->count++] = piece;
  return true;
}

// `places`: bits of the coordinate that lie across. The axis is cut where they begin and end; pieces of one element
// above all others are left out.
static bool cutAxis(Pieces *pieces, uint32_t axis, uint32_t places, bool isReduced) {
  uint32_t to = Top;
  for (uint32_t from = Top; from-- > 0;) {
    bool isCut = from == 0 || ((places >> from ^ places >> (from - 1)) & 1);
    int64_t size = to == Top ? pieces->padded[axis] >> from : 1ll << (to - from);
    if (!isCut || (to == Top && size <= 1 && from > 0))
      continue;
    if (!addPiece(pieces, (Piece){axis, from, to, size, isReduced, places >> from & 1}))
      return false;
    to = from;
  }
  return true;
}

static TileLayoutPoint inPieces(const Pieces *pieces, TileLayoutPoint point) {
  TileLayoutPoint result = {{0}};
  for (uint32_t i = 0; i < pieces->count; ++i) {
    const Piece *piece = &pieces->items[i];
    uint64_t mask = (1ull << piece->to) - 1;
    result.at[i] = (uint32_t)((point.at[piece->axis] & mask) >> piece->from);
  }
  return result;
}

// Odd factors lie outside all bits: they belong to the axis's first piece.
static bool repeatInPieces(const Pieces *pieces, TileLayoutRepeat *repeat) {
  for (uint32_t i = 0; i < pieces->count; ++i) {
    const Piece *piece = &pieces->items[i];
    if ((int32_t)piece->axis != repeat->axis || piece->to != Top)
      continue;
    repeat->axis = (int32_t)i;
    repeat->stride >>= piece->from;
    return true;
  }
  return repeat->axis == TILE_LAYOUT_COPIES;
}

static bool layoutInPieces(const TileLayout *layout, Pieces *pieces) {
  uint32_t first = 0;
  pieces->layout = tileLayoutEmpty(TileLayoutValues);
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; first += layout->bits[dim++])
    for (uint32_t bit = 0; bit < layout->bits[dim]; ++bit)
      if (!tileLayoutAppendBit(&pieces->layout, dim, inPieces(pieces, layout->steps[first + bit]), NULL))
        return false;
  for (uint32_t i = 0; i < layout->repeatCount; ++i) {
    TileLayoutRepeat repeat = layout->repeats[i];
    if (!repeatInPieces(pieces, &repeat) || !tileLayoutAppendRepeat(&pieces->layout, repeat, NULL))
      return false;
  }
  return true;
}

static bool cut(MlirType tile, uint32_t axes, const TileLayout *layout, const uint32_t *places, Pieces *pieces) {
  bool isAcross = false;
  for (uint32_t axis = 0; axis < pieces->rank; ++axis)
    isAcross |= places[axis] != 0;
  for (uint32_t axis = 0; isAcross && axis < pieces->rank; ++axis) {
    int64_t size = tileTypeGetSize(tile, axis), reached = (int64_t)tileLayoutExtent(layout, axis);
    pieces->padded[axis] = tessera_max(size, reached);
    pieces->isPadded |= reached > size;
    pieces->isWhole |= !cutAxis(pieces, axis, places[axis], axes >> axis & 1);
  }
  pieces->isWhole = pieces->isWhole || (isAcross && !layoutInPieces(layout, pieces));
  return isAcross;
}

// The places of lanes (only those of warps where `ofLanes` is false) along each axis, as bits of its coordinate.
static bool placesAlong(const TileLayout *layout, uint32_t axes, bool ofLanes, Pieces *pieces, uint32_t *places) {
  TileLayoutSteps steps;
  if (!tileLayoutStepsAlong(layout, (uint32_t)pieces->rank, axes, &steps))
    return false;
  for (uint32_t i = 0; i < steps.count; ++i) {
    const TileLayoutStep *step = &steps.items[i];
    if (step->dim == TileLayoutWarp || (ofLanes && step->dim == TileLayoutLane))
      places[step->axis] |= 1u << __builtin_ctzll(step->stride);
  }
  return true;
}

bool tileExchangeCutThreads(MlirType tile, uint32_t axes, Pieces *pieces) {
  TileLayout layout = tileExchangeLayoutOf(tile);
  uint32_t places[MaxRank] = {0};
  *pieces = (Pieces){.rank = tileTypeGetRank(tile)};
  return placesAlong(&layout, axes, true, pieces, places) && cut(tile, axes, &layout, places, pieces);
}

// Between the lowest and the highest place of a warp, everything lies across.
bool tileExchangeCutWarps(MlirType tile, uint32_t axes, bool toTop, Pieces *pieces) {
  TileLayout layout = tileExchangeLayoutOf(tile);
  uint32_t places[MaxRank] = {0};
  *pieces = (Pieces){.rank = tileTypeGetRank(tile)};
  if (!placesAlong(&layout, axes, false, pieces, places))
    return false;
  for (intptr_t axis = 0; axis < pieces->rank; ++axis)
    if (places[axis]) {
      uint32_t low = (uint32_t)__builtin_ctz(places[axis]), high = 32 - (uint32_t)__builtin_clz(places[axis]);
      places[axis] = (toTop || high == 32 ? ~0u : (1u << high) - 1) & ~((1u << low) - 1);
    }
  return cut(tile, axes, &layout, places, pieces);
}

//===--- tiles ----------------------------------------------------------------------------------------===//

MlirAttribute tileExchangeAxes(const Exchange *x, uint32_t axes) {
  int64_t list[MaxRank];
  intptr_t count = 0;
  for (int64_t axis = 0; axis < MaxRank; ++axis)
    if (axes >> axis & 1)
      list[count++] = axis;
  return mlirDenseI64ArrayGet(x->builder.context, count, list);
}

static MlirAttribute zeros(const Exchange *x, intptr_t count) {
  int64_t offsets[MaxRank] = {0};
  return mlirDenseI64ArrayGet(x->builder.context, count, offsets);
}

// Without the axes of the mask, in the layout in which each thread has what its elements want.
MlirType tileExchangeWithoutAxes(MlirType type, uint32_t axes) {
  for (intptr_t axis = tileTypeGetRank(type); axis-- > 0;)
    if (axes >> axis & 1)
      type = tileWithoutAxis(type, axis, tileTypeGetElement(type));
  return type;
}

// The mask's axes when those of `removed` are gone.
uint32_t tileExchangeRenumber(uint32_t axes, uint32_t removed) {
  uint32_t result = 0, to = 0;
  for (uint32_t axis = 0; axis < MaxRank; ++axis)
    if (!(removed >> axis & 1))
      result |= (axes >> axis & 1) << to++;
  return result;
}

// The type with the sizes of the padded tile, whose axes of the mask it lacks.
MlirType tileExchangePaddedLike(const Pieces *pieces, MlirType type, uint32_t lacking) {
  int64_t sizes[MaxRank];
  intptr_t rank = 0;
  if (!tileTypeIsATile(type) || !pieces->isPadded)
    return type;
  for (intptr_t axis = 0; axis < pieces->rank; ++axis)
    if (!(lacking >> axis & 1))
      sizes[rank++] = pieces->padded[axis];
  TileLayout layout = tileExchangeLayoutOf(type);
  return tileExchangeTileOf(type, rank, sizes, &layout);
}

// The tile with `fill` where its layout reaches beyond it.
MlirValue tileExchangePad(Exchange *x, MlirValue value, MlirType to, MlirAttribute fill) {
  if (mlirTypeEqual(mlirValueGetType(value), to))
    return value;
  MlirValue around = tileBuildConstant(&x->builder, mlirDenseElementsAttrSplatGet(to, fill));
  return tileInsertOpBuild(&x->builder, value, around, 0, NULL, zeros(x, tileTypeGetRank(to)));
}

MlirValue tileExchangeCrop(Exchange *x, MlirValue value, MlirType to) {
  MlirType from = mlirValueGetType(value);
  if (mlirTypeEqual(from, to) || tileTypeHasSameShape(from, to))
    return tileTypeIsATile(to) ? tileExchangeConvertLike(x, value, to) : value;
  return tileSliceOpBuild(&x->builder, to, value, 0, NULL, zeros(x, tileTypeGetRank(to)));
}

MlirAttribute tileExchangeZeroOf(MlirType element) {
  return mlirTypeIsAFloat(element) ? mlirFloatAttrDoubleGet(mlirTypeGetContext(element), element, 0)
                                   : mlirIntegerAttrGet(element, 0);
}

// What the inputs hold beyond the tile; false where it must combine without effect, and nobody says what does.
bool tileExchangeKnowsFill(MlirOperation op, intptr_t count, const Pieces *pieces, uint32_t axes) {
  bool reaches = false, isKnown = true;
  for (intptr_t axis = 0; axis < pieces->rank; ++axis)
    reaches |= (axes >> axis & 1) && pieces->padded[axis] > tileTypeGetSize(tileFirstOperandType(op), axis);
  for (intptr_t i = 0; i < count; ++i)
    isKnown &= !mlirAttributeIsNull(tileCombinerNeutralOf(op, i));
  return isKnown || !reaches;
}

MlirValue tileExchangePadInput(Exchange *x, MlirOperation op, intptr_t input, const Pieces *pieces) {
  MlirType type = tileOperandType(op, input);
  MlirAttribute neutral = tileCombinerNeutralOf(op, input);
  return tileExchangePad(x, mlirOperationGetOperand(op, input), tileExchangePaddedLike(pieces, type, 0),
                         mlirAttributeIsNull(neutral) ? tileExchangeZeroOf(tileTypeGetElement(type)) : neutral);
}

void tileExchangeReadInputs(Exchange *x, MlirOperation op, intptr_t count, const Pieces *pieces, MlirValue *values) {
  int64_t sizes[MaxRank];
  for (uint32_t i = 0; i < pieces->count; ++i)
    sizes[i] = pieces->items[i].size;
  for (intptr_t i = 0; i < count; ++i) {
    MlirType type = tileExchangeTileOf(tileOperandType(op, i), pieces->count, sizes, &pieces->layout);
    values[i] = tileReshapeOpBuild(&x->builder, type, tileExchangePadInput(x, op, i, pieces));
  }
}

//===--- reductions -----------------------------------------------------------------------------------===//

MlirRegion tileExchangeBodyOf(MlirOperation op) {
  MlirOperation copy = mlirOperationClone(op);
  MlirRegion body = mlirRegionCreate();
  mlirRegionTakeBody(body, tileReduceOpIsA(op) ? tileReduceOpGetBody(copy) : tileScanOpGetBody(copy));
  mlirOperationDestroy(copy);
  return body;
}

void tileExchangeReduceAlong(Exchange *x, MlirOperation op, intptr_t count, MlirValue *values, uint32_t axes,
                             const MlirType *types) {
  MlirOperation made =
      tileReduceOpCreate(&x->builder, count, types, count, values, tileOpAttribute(op, "operation"),
                         tileExchangeAxes(x, axes), tileOpAttribute(op, "neutral"), tileExchangeBodyOf(op));
  for (intptr_t i = 0; i < count; ++i)
    values[i] = mlirOperationGetResult(made, i);
}
