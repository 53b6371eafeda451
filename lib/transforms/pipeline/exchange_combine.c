// Reductions and scans across warps, for tile-exchange-in-shared-memory. The axis is seen as several: what lies within
// a warp is combined there. What the warps have then is small. It is converted to a layout in which each thread has the
// values of all warps, and combined again. See exchange_memory.h.
#include "lib/transforms/pipeline/exchange_memory.h"

#include "dialects/tile/combiner.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/layout/algebra.h"
#include "lib/layout/steps.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

enum { MaxTiles = 8 };

//===--- the axes in pieces ---------------------------------------------------------------------------===//

// A piece of an axis is the bits of the coordinate from one place to another.
typedef struct Piece {
  uint32_t axis, from, to; // axis of the tile
  int64_t size;
  bool isReduced, isAcross; // vanishes; warps differ along it
} Piece;

// A tile whose axes are cut where the places of warps begin and end, the outer pieces first.
typedef struct Pieces {
  TileLayout layout; // of the pieces
  uint32_t count;
  Piece items[MaxRank];
  intptr_t rank;           // of the tile
  int64_t padded[MaxRank]; // the tile's sizes with all that the layout reaches
  bool isPadded;           // it reaches beyond the tile
  bool isWhole;            // there are too many pieces: the axes stay whole
} Pieces;

static bool addPiece(Pieces *pieces, Piece piece) {
  if (pieces->count == MaxRank)
    return false;
  pieces->items[pieces->count++] = piece;
  return true;
}

enum { Top = 32 };

// Cut at the bits `low` and `high`; both 0: not cut.
static bool cutAxis(Pieces *pieces, uint32_t axis, uint32_t low, uint32_t high, bool isReduced) {
  int64_t size = pieces->padded[axis], above = high == Top ? 1 : size >> high;
  if (!high)
    return addPiece(pieces, (Piece){axis, 0, Top, size, isReduced, false});
  return (above == 1 || addPiece(pieces, (Piece){axis, high, Top, above, isReduced, false})) &&
         addPiece(pieces, (Piece){axis, low, above == 1 ? Top : high, (size / above) >> low, isReduced, true}) &&
         (!low || addPiece(pieces, (Piece){axis, 0, low, 1ll << low, isReduced, false}));
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

// False where no warps differ along the axes of the mask. `toTop`: what lies above the
// places of warps belongs to their piece.
static bool cutTile(MlirType tile, uint32_t axes, bool toTop, Pieces *pieces) {
  TileLayout layout = tileExchangeLayoutOf(tile);
  TileLayoutSteps steps;
  uint32_t low[MaxRank], high[MaxRank] = {0};
  *pieces = (Pieces){.rank = tileTypeGetRank(tile)};
  if (!tileLayoutStepsAlong(&layout, (uint32_t)pieces->rank, axes, &steps))
    return false;
  bool isAcross = false;
  for (uint32_t i = 0; i < steps.count; ++i) {
    const TileLayoutStep *step = &steps.items[i];
    uint32_t place = (uint32_t)__builtin_ctzll(step->stride);
    if (step->dim != TileLayoutWarp)
      continue;
    low[step->axis] = high[step->axis] ? tessera_min(low[step->axis], place) : place;
    high[step->axis] = tessera_max(high[step->axis], place + 1);
    isAcross = true;
  }
  for (uint32_t axis = 0; isAcross && axis < pieces->rank; ++axis) {
    int64_t size = tileTypeGetSize(tile, axis), reached = (int64_t)tileLayoutExtent(&layout, axis);
    pieces->padded[axis] = tessera_max(size, reached);
    pieces->isPadded |= reached > size;
    if (toTop && high[axis])
      high[axis] = Top;
    pieces->isWhole |= !cutAxis(pieces, axis, low[axis], high[axis], axes >> axis & 1);
  }
  pieces->isWhole = pieces->isWhole || (isAcross && !layoutInPieces(&layout, pieces));
  return isAcross;
}

//===--- tiles ----------------------------------------------------------------------------------------===//

static MlirAttribute axesAttribute(const Exchange *x, uint32_t axes) {
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
static MlirType withoutAxes(MlirType type, uint32_t axes) {
  for (intptr_t axis = tileTypeGetRank(type); axis-- > 0;)
    if (axes >> axis & 1)
      type = tileWithoutAxis(type, axis, tileTypeGetElement(type));
  return type;
}

// The mask's axes when those of `removed` are gone.
static uint32_t renumber(uint32_t axes, uint32_t removed) {
  uint32_t result = 0, to = 0;
  for (uint32_t axis = 0; axis < MaxRank; ++axis)
    if (!(removed >> axis & 1))
      result |= (axes >> axis & 1) << to++;
  return result;
}

// The type with the sizes of the padded tile, whose axes of the mask it lacks.
static MlirType paddedLike(const Pieces *pieces, MlirType type, uint32_t lacking) {
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
static MlirValue pad(Exchange *x, MlirValue value, MlirType to, MlirAttribute fill) {
  if (mlirTypeEqual(mlirValueGetType(value), to))
    return value;
  MlirValue around = tileBuildConstant(&x->builder, mlirDenseElementsAttrSplatGet(to, fill));
  return tileInsertOpBuild(&x->builder, value, around, 0, NULL, zeros(x, tileTypeGetRank(to)));
}

static MlirValue crop(Exchange *x, MlirValue value, MlirType to) {
  MlirType from = mlirValueGetType(value);
  if (mlirTypeEqual(from, to) || tileTypeHasSameShape(from, to))
    return tileTypeIsATile(to) ? tileExchangeConvertLike(x, value, to) : value;
  return tileSliceOpBuild(&x->builder, to, value, 0, NULL, zeros(x, tileTypeGetRank(to)));
}

static MlirAttribute zeroOf(MlirType element) {
  return mlirTypeIsAFloat(element) ? mlirFloatAttrDoubleGet(mlirTypeGetContext(element), element, 0)
                                   : mlirIntegerAttrGet(element, 0);
}

// What the inputs hold beyond the tile; false where it must combine without effect, and nobody says what does.
static bool knowsFill(MlirOperation op, intptr_t count, const Pieces *pieces, uint32_t axes) {
  bool reaches = false, isKnown = true;
  for (intptr_t axis = 0; axis < pieces->rank; ++axis)
    reaches |= (axes >> axis & 1) && pieces->padded[axis] > tileTypeGetSize(tileFirstOperandType(op), axis);
  for (intptr_t i = 0; i < count; ++i)
    isKnown &= !mlirAttributeIsNull(tileCombinerNeutralOf(op, i));
  return isKnown || !reaches;
}

static MlirValue padInput(Exchange *x, MlirOperation op, intptr_t input, const Pieces *pieces) {
  MlirType type = tileOperandType(op, input);
  MlirAttribute neutral = tileCombinerNeutralOf(op, input);
  return pad(x, mlirOperationGetOperand(op, input), paddedLike(pieces, type, 0),
             mlirAttributeIsNull(neutral) ? zeroOf(tileTypeGetElement(type)) : neutral);
}

static void readInputs(Exchange *x, MlirOperation op, intptr_t count, const Pieces *pieces, MlirValue *values) {
  int64_t sizes[MaxRank];
  for (uint32_t i = 0; i < pieces->count; ++i)
    sizes[i] = pieces->items[i].size;
  for (intptr_t i = 0; i < count; ++i) {
    MlirType type = tileExchangeTileOf(tileOperandType(op, i), pieces->count, sizes, &pieces->layout);
    values[i] = tileReshapeOpBuild(&x->builder, type, padInput(x, op, i, pieces));
  }
}

//===--- between warps --------------------------------------------------------------------------------===//

// The layout in which each warp has what all warps had along the axes, in registers.
static MlirType ofAllWarps(MlirType type, uint32_t axes) {
  TileLayout layout = tileExchangeLayoutOf(type), result = tileLayoutEmpty(TileLayoutValues);
  TileLayoutPoint none = {{0}};
  bool isMoved[TILE_LAYOUT_MAX_BITS] = {false};
  int64_t sizes[MaxRank];
  for (uint32_t bit = 0; bit < layout.bits[TileLayoutWarp]; ++bit)
    for (uint32_t axis = 0; axis < MaxRank; ++axis)
      isMoved[bit] |= (axes >> axis & 1) && tileLayoutStepOf(&layout, TileLayoutWarp, bit).at[axis];
  for (uint32_t bit = 0; bit < layout.bits[TileLayoutReg]; ++bit)
    tileLayoutAppendBit(&result, TileLayoutReg, tileLayoutStepOf(&layout, TileLayoutReg, bit), NULL);
  for (uint32_t bit = 0; bit < layout.bits[TileLayoutWarp]; ++bit)
    if (isMoved[bit])
      tileLayoutAppendBit(&result, TileLayoutReg, tileLayoutStepOf(&layout, TileLayoutWarp, bit), NULL);
  for (uint32_t bit = 0; bit < layout.bits[TileLayoutLane]; ++bit)
    tileLayoutAppendBit(&result, TileLayoutLane, tileLayoutStepOf(&layout, TileLayoutLane, bit), NULL);
  for (uint32_t bit = 0; bit < layout.bits[TileLayoutWarp]; ++bit)
    tileLayoutAppendBit(&result, TileLayoutWarp, isMoved[bit] ? none : tileLayoutStepOf(&layout, TileLayoutWarp, bit),
                        NULL);
  for (uint32_t i = 0; i < layout.repeatCount; ++i)
    tileLayoutAppendRepeat(&result, layout.repeats[i], NULL);
  return tileExchangeTileOf(type, tileExchangeSizesOf(type, sizes), sizes, &result);
}

// All stores stand ahead of the first load, so that one barrier orders them.
static void convertAll(Exchange *x, intptr_t count, MlirValue *values, const MlirType *types) {
  TileBuilder end = x->builder;
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue converted = tileExchangeConvertLike(x, values[i], types[i]);
    if (!mlirValueEqual(converted, values[i]))
      x->builder = tileBuilderBefore(tileDefiningOp(converted));
    values[i] = converted;
  }
  x->builder = end;
}

static void convertToAllWarps(Exchange *x, intptr_t count, MlirValue *values, uint32_t axes) {
  MlirType types[MaxTiles];
  for (intptr_t i = 0; i < count; ++i)
    types[i] = ofAllWarps(mlirValueGetType(values[i]), axes);
  convertAll(x, count, values, types);
}

//===--- reductions -----------------------------------------------------------------------------------===//

static MlirRegion bodyOf(MlirOperation op) {
  MlirOperation copy = mlirOperationClone(op);
  MlirRegion body = mlirRegionCreate();
  mlirRegionTakeBody(body, tileReduceOpIsA(op) ? tileReduceOpGetBody(copy) : tileScanOpGetBody(copy));
  mlirOperationDestroy(copy);
  return body;
}

// As `op` combines.
static void reduce(Exchange *x, MlirOperation op, intptr_t count, MlirValue *values, uint32_t axes,
                   const MlirType *types) {
  MlirOperation made = tileReduceOpCreate(&x->builder, count, types, count, values, tileOpAttribute(op, "operation"),
                                          axesAttribute(x, axes), tileOpAttribute(op, "neutral"), bodyOf(op));
  for (intptr_t i = 0; i < count; ++i)
    values[i] = mlirOperationGetResult(made, i);
}

// A named operation may take its elements in any order. A region keeps theirs: what lies farther than the places of
// warps waits.
static uint32_t reducedWithinWarps(const Pieces *pieces, bool isOrdered) {
  uint32_t axes = 0;
  bool isNear = true;
  for (uint32_t i = pieces->count; i-- > 0;) {
    isNear &= !pieces->items[i].isAcross;
    if (pieces->items[i].isReduced && !pieces->items[i].isAcross && (isNear || !isOrdered))
      axes |= 1u << i;
  }
  return axes;
}

// Each warp combines all that the axes have.
static void reduceWhole(Exchange *x, MlirOperation op, const Pieces *pieces, uint32_t axes, const MlirType *types,
                        MlirValue *values) {
  for (intptr_t i = 0; i < tileReduceOpGetNumInputs(op); ++i)
    values[i] = padInput(x, op, i, pieces);
  convertToAllWarps(x, tileReduceOpGetNumInputs(op), values, axes);
  reduce(x, op, tileReduceOpGetNumInputs(op), values, axes, types);
}

static void reduceParts(Exchange *x, MlirOperation op, const Pieces *pieces, const MlirType *types, MlirValue *values) {
  intptr_t count = tileReduceOpGetNumInputs(op);
  uint32_t reduced = 0, across = 0;
  uint32_t first = reducedWithinWarps(pieces, mlirAttributeIsNull(tileReduceOpGetOperation(op)));
  MlirType parts[MaxTiles];
  readInputs(x, op, count, pieces, values);
  for (uint32_t i = 0; i < pieces->count; ++i) {
    reduced |= (uint32_t)pieces->items[i].isReduced << i;
    across |= (uint32_t)pieces->items[i].isAcross << i;
  }
  for (intptr_t i = 0; i < count; ++i)
    parts[i] = withoutAxes(mlirValueGetType(values[i]), first);
  if (first)
    reduce(x, op, count, values, first, parts);
  convertToAllWarps(x, count, values, renumber(across, first));
  reduce(x, op, count, values, renumber(reduced, first), types);
}

bool tileExchangeReduce(Exchange *x, MlirOperation op, MlirValue *results) {
  intptr_t count = tileReduceOpGetNumInputs(op);
  Pieces pieces;
  uint32_t axes = 0;
  MlirType types[MaxTiles];
  for (intptr_t i = 0; i < tileArrayCount(op, "axes"); ++i)
    axes |= 1u << tileArrayAt(op, "axes", i);
  if (count > MaxTiles || !cutTile(tileFirstOperandType(op), axes, false, &pieces) ||
      !knowsFill(op, count, &pieces, axes))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    types[i] = paddedLike(&pieces, tileResultType(op, i), axes);
  if (pieces.isWhole)
    reduceWhole(x, op, &pieces, axes, types, results);
  else
    reduceParts(x, op, &pieces, types, results);
  for (intptr_t i = 0; i < count; ++i)
    results[i] = crop(x, results[i], tileResultType(op, i));
  return true;
}

//===--- scans ----------------------------------------------------------------------------------------===//

// As `op` combines, along another axis.
static MlirOperation scan(Exchange *x, MlirOperation op, const MlirValue *values, intptr_t states,
                          const MlirValue *initial, int64_t axis, MlirAttribute exclusive) {
  MlirAttribute axisAttribute = mlirIntegerAttrGet(mlirIntegerTypeGet(x->builder.context, 64), axis);
  return tileScanOpCreate(&x->builder, tileScanOpGetNumInputs(op), values, states, initial,
                          tileOpAttribute(op, "operation"), axisAttribute, tileScanOpGetReverse(op), exclusive,
                          tileOpAttribute(op, "neutral"), bodyOf(op));
}

// The op's initial states in the layout of `tile` without the axis.
static void readStates(Exchange *x, MlirOperation op, const Pieces *pieces, MlirType tile, int64_t axis,
                       MlirValue *states) {
  uint32_t lacking = 1u << tileScanOpGetAxisValue(op);
  for (intptr_t i = 0; i < tileScanOpGetNumInitial(op); ++i) {
    states[i] = tileScanOpGetInitial(op, i);
    MlirType type = mlirValueGetType(states[i]);
    if (!tileTypeIsATile(type))
      continue;
    states[i] = pad(x, states[i], paddedLike(pieces, type, lacking), zeroOf(tileTypeGetElement(type)));
    states[i] = tileExchangeConvertLike(x, states[i], tileWithoutAxis(tile, axis, tileTypeGetElement(type)));
  }
}

// Each warp scans all that the axis has.
static void scanWhole(Exchange *x, MlirOperation op, const Pieces *pieces, MlirValue *results) {
  int64_t axis = tileScanOpGetAxisValue(op);
  intptr_t count = tileScanOpGetNumInputs(op), states = tileScanOpGetNumInitial(op);
  MlirValue values[MaxTiles], initial[MaxTiles];
  for (intptr_t i = 0; i < count; ++i)
    values[i] = padInput(x, op, i, pieces);
  convertToAllWarps(x, count, values, 1u << axis);
  readStates(x, op, pieces, mlirValueGetType(values[0]), axis, initial);
  MlirOperation made = scan(x, op, values, states, initial, axis, tileScanOpGetExclusive(op));
  for (intptr_t i = 0; i < count + states; ++i)
    results[i] = mlirOperationGetResult(made, i);
  for (intptr_t i = 0; i < count; ++i)
    results[i] = tileExchangeConvertLike(x, results[i], paddedLike(pieces, tileResultType(op, i), 0));
}

// What each warp's part comes to: the state behind a scan of the part by a named operation, whose elements `values`
// become, or a reduction. A region would have to be written once more for whole tiles.
static void scanWithinWarps(Exchange *x, MlirOperation op, uint32_t axis, MlirValue *values, MlirValue *totals,
                            const MlirType *types) {
  intptr_t count = tileScanOpGetNumInputs(op);
  MlirValue none[MaxTiles];
  for (intptr_t i = 0; i < count; ++i)
    none[i] = tileBuildConstant(&x->builder, mlirDenseElementsAttrSplatGet(types[i], tileCombinerNeutralOf(op, i)));
  MlirOperation made = scan(x, op, values, count, none, axis, tileScanOpGetExclusive(op));
  for (intptr_t i = 0; i < count; ++i) {
    values[i] = mlirOperationGetResult(made, i);
    totals[i] = mlirOperationGetResult(made, count + i);
  }
}

// What the totals of the warps before come to enters each element.
static void prependTotals(Exchange *x, MlirOperation op, uint32_t axis, MlirValue *values, const MlirValue *totals) {
  TileUpstream operation = tileUpstreamKindOfName(tileKeywordOf(op, "operation"));
  for (intptr_t i = 0; i < tileScanOpGetNumInputs(op); ++i) {
    MlirType type = mlirValueGetType(values[i]);
    MlirOperation before = tileBroadcastOpCreate(&x->builder, type, totals[i], axesAttribute(x, 1u << axis));
    values[i] = tileBuildBinary(&x->builder, operation, tileOnlyResult(before), values[i]);
  }
}

// The totals of the warps are scanned: this is what each warp's elements begin with.
static void scanParts(Exchange *x, MlirOperation op, const Pieces *pieces, uint32_t parts, MlirValue *results) {
  intptr_t count = tileScanOpGetNumInputs(op), states = tileScanOpGetNumInitial(op);
  uint32_t within = parts + 1;
  bool isNamed = !mlirAttributeIsNull(tileScanOpGetOperation(op));
  MlirType types[MaxTiles];
  MlirValue values[MaxTiles], totals[MaxTiles], initial[MaxTiles];
  readInputs(x, op, count, pieces, values);
  for (intptr_t i = 0; i < count; ++i) {
    totals[i] = values[i];
    types[i] = tileWithoutAxis(mlirValueGetType(values[i]), within, tileTypeGetElement(mlirValueGetType(values[i])));
  }
  if (isNamed)
    scanWithinWarps(x, op, within, values, totals, types);
  else
    reduce(x, op, count, totals, 1u << within, types);
  convertToAllWarps(x, count, totals, 1u << parts);
  readStates(x, op, pieces, mlirValueGetType(totals[0]), parts, initial);
  MlirOperation before = scan(x, op, totals, states, initial, parts, mlirUnitAttrGet(x->builder.context));
  for (intptr_t i = 0; i < count; ++i)
    totals[i] = mlirOperationGetResult(before, i);
  convertAll(x, count, totals, types);
  if (isNamed) {
    prependTotals(x, op, within, values, totals);
  } else {
    MlirOperation made = scan(x, op, values, count, totals, within, tileScanOpGetExclusive(op));
    for (intptr_t i = 0; i < count; ++i)
      values[i] = mlirOperationGetResult(made, i);
  }
  for (intptr_t i = 0; i < states; ++i)
    results[count + i] = mlirOperationGetResult(before, count + i);
  for (intptr_t i = 0; i < count; ++i)
    results[i] = tileReshapeOpBuild(&x->builder, paddedLike(pieces, tileResultType(op, i), 0), values[i]);
}

bool tileExchangeScan(Exchange *x, MlirOperation op, MlirValue *results) {
  uint32_t axes = 1u << tileScanOpGetAxisValue(op), parts = 0;
  intptr_t count = tileScanOpGetNumInputs(op), states = tileScanOpGetNumInitial(op);
  Pieces pieces;
  bool isKnown = true;
  if (count > MaxTiles || !cutTile(tileFirstOperandType(op), axes, true, &pieces) ||
      !knowsFill(op, count, &pieces, axes))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    isKnown &= !mlirAttributeIsNull(tileCombinerNeutralOf(op, i));
  while (!pieces.isWhole && !pieces.items[parts].isAcross)
    ++parts;
  if (isKnown && !pieces.isWhole && pieces.items[parts].from)
    scanParts(x, op, &pieces, parts, results);
  else
    scanWhole(x, op, &pieces, results);
  for (intptr_t i = 0; i < count + states; ++i)
    results[i] = crop(x, results[i], tileResultType(op, i));
  return true;
}
