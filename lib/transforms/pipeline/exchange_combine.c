// Reductions and scans across warps, for tile-exchange-in-shared-memory. The axis is seen as several: what lies within
// a warp is combined there. What the warps have then is small. It is converted to a layout in which each thread has the
// values of all warps, and combined again. See exchange_pieces.h.
#include "lib/transforms/pipeline/exchange_pieces.h"

#include "dialects/tile/combiner.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/layout/algebra.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"

enum { MaxTiles = 8 };

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
    values[i] = tileExchangePadInput(x, op, i, pieces);
  convertToAllWarps(x, tileReduceOpGetNumInputs(op), values, axes);
  tileExchangeReduceAlong(x, op, tileReduceOpGetNumInputs(op), values, axes, types);
}

static void reduceParts(Exchange *x, MlirOperation op, const Pieces *pieces, const MlirType *types, MlirValue *values) {
  intptr_t count = tileReduceOpGetNumInputs(op);
  uint32_t reduced = 0, across = 0;
  uint32_t first = reducedWithinWarps(pieces, mlirAttributeIsNull(tileReduceOpGetOperation(op)));
  MlirType parts[MaxTiles];
  tileExchangeReadInputs(x, op, count, pieces, values);
  for (uint32_t i = 0; i < pieces->count; ++i) {
    reduced |= (uint32_t)pieces->items[i].isReduced << i;
    across |= (uint32_t)pieces->items[i].isAcross << i;
  }
  for (intptr_t i = 0; i < count; ++i)
    parts[i] = tileExchangeWithoutAxes(mlirValueGetType(values[i]), first);
  if (first)
    tileExchangeReduceAlong(x, op, count, values, first, parts);
  convertToAllWarps(x, count, values, tileExchangeRenumber(across, first));
  tileExchangeReduceAlong(x, op, count, values, tileExchangeRenumber(reduced, first), types);
}

bool tileExchangeReduce(Exchange *x, MlirOperation op, MlirValue *results) {
  intptr_t count = tileReduceOpGetNumInputs(op);
  Pieces pieces;
  uint32_t axes = 0;
  MlirType types[MaxTiles];
  for (intptr_t i = 0; i < tileArrayCount(op, "axes"); ++i)
    axes |= 1u << tileArrayAt(op, "axes", i);
  if (count > MaxTiles || !tileExchangeCutWarps(tileFirstOperandType(op), axes, false, &pieces) ||
      !tileExchangeKnowsFill(op, count, &pieces, axes))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    types[i] = tileExchangePaddedLike(&pieces, tileResultType(op, i), axes);
  if (pieces.isWhole)
    reduceWhole(x, op, &pieces, axes, types, results);
  else
    reduceParts(x, op, &pieces, types, results);
  for (intptr_t i = 0; i < count; ++i)
    results[i] = tileExchangeCrop(x, results[i], tileResultType(op, i));
  return true;
}

//===--- scans ----------------------------------------------------------------------------------------===//

// As `op` combines, along another axis.
static MlirOperation scan(Exchange *x, MlirOperation op, const MlirValue *values, intptr_t states,
                          const MlirValue *initial, int64_t axis, MlirAttribute exclusive) {
  MlirAttribute axisAttribute = mlirIntegerAttrGet(mlirIntegerTypeGet(x->builder.context, 64), axis);
  return tileScanOpCreate(&x->builder, tileScanOpGetNumInputs(op), values, states, initial,
                          tileOpAttribute(op, "operation"), axisAttribute, tileScanOpGetReverse(op), exclusive,
                          tileOpAttribute(op, "neutral"), tileExchangeBodyOf(op));
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
    states[i] = tileExchangePad(x, states[i], tileExchangePaddedLike(pieces, type, lacking),
                                tileExchangeZeroOf(tileTypeGetElement(type)));
    states[i] = tileExchangeConvertLike(x, states[i], tileWithoutAxis(tile, axis, tileTypeGetElement(type)));
  }
}

// Each warp scans all that the axis has.
static void scanWhole(Exchange *x, MlirOperation op, const Pieces *pieces, MlirValue *results) {
  int64_t axis = tileScanOpGetAxisValue(op);
  intptr_t count = tileScanOpGetNumInputs(op), states = tileScanOpGetNumInitial(op);
  MlirValue values[MaxTiles], initial[MaxTiles];
  for (intptr_t i = 0; i < count; ++i)
    values[i] = tileExchangePadInput(x, op, i, pieces);
  convertToAllWarps(x, count, values, 1u << axis);
  readStates(x, op, pieces, mlirValueGetType(values[0]), axis, initial);
  MlirOperation made = scan(x, op, values, states, initial, axis, tileScanOpGetExclusive(op));
  for (intptr_t i = 0; i < count + states; ++i)
    results[i] = mlirOperationGetResult(made, i);
  for (intptr_t i = 0; i < count; ++i)
    results[i] = tileExchangeConvertLike(x, results[i], tileExchangePaddedLike(pieces, tileResultType(op, i), 0));
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
    MlirOperation before = tileBroadcastOpCreate(&x->builder, type, totals[i], tileExchangeAxes(x, 1u << axis));
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
  tileExchangeReadInputs(x, op, count, pieces, values);
  for (intptr_t i = 0; i < count; ++i) {
    totals[i] = values[i];
    types[i] = tileWithoutAxis(mlirValueGetType(values[i]), within, tileTypeGetElement(mlirValueGetType(values[i])));
  }
  if (isNamed)
    scanWithinWarps(x, op, within, values, totals, types);
  else
    tileExchangeReduceAlong(x, op, count, totals, 1u << within, types);
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
    results[i] = tileReshapeOpBuild(&x->builder, tileExchangePaddedLike(pieces, tileResultType(op, i), 0), values[i]);
}

bool tileExchangeScan(Exchange *x, MlirOperation op, MlirValue *results) {
  uint32_t axes = 1u << tileScanOpGetAxisValue(op), parts = 0;
  intptr_t count = tileScanOpGetNumInputs(op), states = tileScanOpGetNumInitial(op);
  Pieces pieces;
  bool isKnown = true;
  if (count > MaxTiles || !tileExchangeCutWarps(tileFirstOperandType(op), axes, true, &pieces) ||
      !tileExchangeKnowsFill(op, count, &pieces, axes))
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
    results[i] = tileExchangeCrop(x, results[i], tileResultType(op, i));
  return true;
}
