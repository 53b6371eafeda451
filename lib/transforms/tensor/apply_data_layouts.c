// Computes a function on the layouts that tile-choose-data-layouts chose. See data_layouts.h.
//
// Ops are visited in the program's order, inner ones first. An op with a tensor that changes is built anew before the
// old one; what else reads the old result gets a copy. The old ops go last, from the end to the start.
#include "lib/transforms/tensor/data_layouts.h"

#include "lib/ir/builder.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <string.h>

//===--- tensors in a layout --------------------------------------------------------------===//

static MlirType typeIn(MlirType type, const TileDataLayout *layout) {
  int64_t sizes[MaxOperandRank];
  for (int i = 0; i < layout->rank; ++i)
    sizes[i] = mlirShapedTypeGetDimSize(type, layout->axes[i]);
  return mlirRankedTensorTypeGet(layout->rank, sizes, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
}

static TileDataLayout inverseOf(const TileDataLayout *layout) {
  TileDataLayout inverse = {.rank = layout->rank};
  for (int i = 0; i < layout->rank; ++i)
    inverse.axes[layout->axes[i]] = i;
  return inverse;
}

static MlirAttribute mapOfDims(TileBuilder *b, int count, const int *dims) {
  MlirAffineExpr expressions[MaxOperandRank];
  for (int i = 0; i < count; ++i)
    expressions[i] = mlirAffineDimExprGet(b->context, dims[i]);
  return mlirAffineMapAttrGet(mlirAffineMapGet(b->context, count, 0, count, expressions));
}

// tensor.empty of the type, with the sizes of `value` in the layout.
static MlirValue emptyIn(TileBuilder *b, MlirValue value, const TileDataLayout *layout) {
  MlirValue sizes[MaxOperandRank];
  MlirType type = mlirValueGetType(value);
  intptr_t count = 0;
  for (int i = 0; i < layout->rank; ++i)
    if (mlirShapedTypeIsDynamicDim(type, layout->axes[i]))
      sizes[count++] = tileBuildDim(b, value, layout->axes[i]);
  return tensorEmptyOpBuild(b, typeIn(type, layout), count, sizes);
}

// A generic that copies the tensor, in the order of the new one.
static MlirValue copyIn(TileBuilder *b, MlirValue value, const TileDataLayout *layout) {
  int all[MaxOperandRank], rank = layout->rank;
  TileDataLayout inverse = inverseOf(layout);
  for (int i = 0; i < rank; ++i)
    all[i] = i;
  MlirAttribute maps[2] = {mapOfDims(b, rank, inverse.axes), mapOfDims(b, rank, all)};
  MlirValue empty = emptyIn(b, value, layout);
  MlirType type = mlirValueGetType(empty), element = mlirShapedTypeGetElementType(type);
  MlirRegion region;
  TileBuilder body = tileBuilderInRegion(b, &region, 2, (MlirType[]){element, element});
  MlirValue in = mlirBlockGetArgument(body.block, 0);
  linalgYieldOpCreate(&body, 1, &in);
  return tileOnlyResult(linalgGenericOpBuild(b, 1, &type, 1, &value, 1, &empty, mlirArrayAttrGet(b->context, 2, maps),
                                             tileBuildIteratorTypes(b, rank, 0), region));
}

static MlirAttribute groupsAttribute(TileBuilder *b, const int *group, int rank, int numGroups) {
  MlirAttribute groups[MaxOperandRank];
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  for (int g = 0; g < numGroups; ++g) {
    MlirAttribute axes[MaxOperandRank];
    intptr_t count = 0;
    for (int axis = 0; axis < rank; ++axis)
      if (group[axis] == g)
        axes[count++] = mlirIntegerAttrGet(i64, axis);
    groups[g] = mlirArrayAttrGet(b->context, count, axes);
  }
  return mlirArrayAttrGet(b->context, numGroups, groups);
}

static MlirValue expand(TileBuilder *b, MlirType type, MlirValue value, const MlirValue *sizes, MlirAttribute groups) {
  int64_t shape[MaxOperandRank];
  MlirValue dynamic[MaxOperandRank];
  intptr_t rank = mlirShapedTypeGetRank(type), count = 0;
  for (intptr_t i = 0; i < rank; ++i) {
    shape[i] = mlirShapedTypeGetDimSize(type, i);
    if (mlirShapedTypeIsDynamicSize(shape[i]))
      dynamic[count++] = sizes[i];
  }
  return tensorExpandShapeOpBuild(b, type, value, count, dynamic, groups,
                                  mlirDenseI64ArrayGet(b->context, rank, shape));
}

// The groups of a tensor's axes if those of one element go with the axis before them, or after. Returns how many.
static int groupsWithoutOnes(MlirType type, int *group) {
  int count = 0, rank = (int)mlirShapedTypeGetRank(type);
  for (int axis = 0; axis < rank; ++axis) {
    count += mlirShapedTypeGetDimSize(type, axis) != 1;
    group[axis] = count ? count - 1 : 0;
  }
  return count;
}

// Only axes of one element move: the tensor is given other axes, and no element moves.
static MlirValue reshapeIn(TileBuilder *b, MlirValue value, const TileDataLayout *layout) {
  int from[MaxOperandRank], to[MaxOperandRank];
  MlirValue sizes[MaxOperandRank];
  int64_t kept[MaxOperandRank];
  MlirType type = mlirValueGetType(value), target = typeIn(type, layout);
  int count = groupsWithoutOnes(type, from);
  groupsWithoutOnes(target, to);
  if (!count)
    return copyIn(b, value, layout);
  for (int i = 0, next = 0; i < layout->rank; ++i) {
    if (mlirShapedTypeGetDimSize(type, i) != 1)
      kept[next++] = mlirShapedTypeGetDimSize(type, i);
    if (mlirShapedTypeIsDynamicDim(target, i))
      sizes[i] = tileBuildDim(b, value, layout->axes[i]);
  }
  MlirType flat = mlirRankedTensorTypeGet(count, kept, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  MlirValue collapsed = tensorCollapseShapeOpBuild(b, flat, value, groupsAttribute(b, from, layout->rank, count));
  return expand(b, target, collapsed, sizes, groupsAttribute(b, to, layout->rank, count));
}

static MlirValue changeTo(TileDataLayouts *l, TileBuilder *b, MlirValue value, const TileDataLayout *layout) {
  if (tileDataLayoutIsPlain(layout))
    return value;
  bool isReshape = tileDataLayoutKeepsOrder(layout, mlirValueGetType(value));
  l->copies += !isReshape;
  return isReshape ? reshapeIn(b, value, layout) : copyIn(b, value, layout);
}

static TileBuilder behind(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (!mlirOperationIsNull(op))
    return tileBuilderAfter(op);
  MlirBlock block = mlirBlockArgumentGetOwner(value);
  return tileBuilderAtStart(block, mlirOperationGetLocation(mlirBlockGetParentOperation(block)));
}

// A tensor without a record, or the old one of a record.
static MlirValue oldOf(TileDataLayouts *l, TileDataValue *v) {
  if (v->isCopied || tileDataLayoutIsPlain(&v->layout))
    return v->old;
  if (mlirValueIsNull(v->back)) {
    TileBuilder b = behind(v->now);
    TileDataLayout inverse = inverseOf(&v->layout);
    v->back = changeTo(l, &b, v->now, &inverse);
  }
  return v->back;
}

// tensor.empty and fills, made anew.
static MlirValue startIn(TileBuilder *b, MlirValue start, const TileDataLayout *layout) {
  MlirOperation op = tileDefiningOp(start);
  if (!tensorEmptyOpIsA(op)) {
    MlirValue output = startIn(b, linalgGenericOpGetOutputs(op, 0), layout);
    MlirType type = mlirValueGetType(output);
    MlirOperation copy = tileBuilderInsert(b, mlirOperationClone(op));
    mlirOperationSetOperand(copy, mlirOperationGetNumOperands(op) - 1, output);
    mlirValueSetType(tileOnlyResult(copy), type);
    return tileOnlyResult(copy);
  }
  MlirValue own[MaxOperandRank], sizes[MaxOperandRank];
  MlirType type = mlirValueGetType(start);
  intptr_t next = 0, count = 0;
  for (int i = 0; i < layout->rank; ++i)
    if (mlirShapedTypeIsDynamicDim(type, i))
      own[i] = tensorEmptyOpGetDynamicSizes(op, next++);
  for (int i = 0; i < layout->rank; ++i)
    if (mlirShapedTypeIsDynamicDim(type, layout->axes[i]))
      sizes[count++] = own[layout->axes[i]];
  return tensorEmptyOpBuild(b, typeIn(type, layout), count, sizes);
}

// The tensor as it is now: of a record whose maker stays, a copy behind the maker.
static MlirValue nowOf(TileDataLayouts *l, TileDataValue *v) {
  if (mlirValueIsNull(v->now)) {
    TileBuilder b = behind(v->old);
    v->isCopied = true;
    v->now = changeTo(l, &b, v->old, &v->layout);
  }
  return v->now;
}

static MlirValue valueIn(TileDataLayouts *l, TileBuilder *b, MlirValue value, const TileDataLayout *layout) {
  TileDataValue *v = tileDataValue(l, value);
  if (v && tileDataLayoutsEqual(&v->layout, layout))
    return nowOf(l, v);
  if (tileDataLayoutIsPlain(layout) && !v)
    return value;
  if (tileDataIsStart(value))
    return startIn(b, value, layout);
  return changeTo(l, b, v ? oldOf(l, v) : value, layout);
}

static const TileDataLayout plain[MaxOperandRank + 1] = {
    {0, {0}},
    {1, {0}},
    {2, {0, 1}},
    {3, {0, 1, 2}},
    {4, {0, 1, 2, 3}},
    {5, {0, 1, 2, 3, 4}},
    {6, {0, 1, 2, 3, 4, 5}},
    {7, {0, 1, 2, 3, 4, 5, 6}},
    {8, {0, 1, 2, 3, 4, 5, 6, 7}},
};

static const TileDataLayout *layoutOf(const TileDataLayouts *l, MlirValue value) {
  TileDataValue *v = tileDataValue(l, value);
  return v ? &v->layout : &plain[mlirShapedTypeGetRank(mlirValueGetType(value))];
}

static void setNow(TileDataLayouts *l, MlirValue old, MlirValue now) {
  TileDataValue *v = tileDataValue(l, old);
  if (v)
    v->now = now;
  else
    mlirValueReplaceAllUsesOfWith(old, now);
}

//===--- linalg.generic -------------------------------------------------------------------===//

typedef struct Order {
  int count, dims[MaxDims]; // the new dimension i is dims[i] of the old ones
  int places[MaxDims];      // the inverse; -1: not there yet
  bool isGone[MaxDims];     // a window of one element: its only index is 0
} Order;

static void append(Order *order, int dim) {
  if (order->places[dim] >= 0 || order->isGone[dim])
    return;
  order->places[dim] = order->count;
  order->dims[order->count++] = dim;
}

static void appendAxes(Order *order, const TileStructured *s, int operand, const TileDataLayout *layout,
                       bool isReduction) {
  const TileOperand *o = &s->operands[operand];
  for (int i = 0; i < layout->rank; ++i)
    for (int d = 0; d < s->numDims; ++d)
      if (o->factors[layout->axes[i]][d] && s->dims[d].isReduction == isReduction)
        append(order, d);
}

// A convolution by a window of one element is a product, which tile-merge-dimensions reads if no such window is left.
static void dropWindows(Order *order, const TileStructured *s) {
  int image, weights;
  if (!tileDataFindConvolution(s, &image, &weights))
    return;
  for (int d = 0; d < s->numDims; ++d)
    order->isGone[d] = s->dims[d].isReduction && s->dims[d].extent == 1 &&
                       tileOperandAxisOf(&s->operands[image], d) < 0 && tileOperandUses(&s->operands[image], d);
}

// Parallel dimensions as the output has them, then reductions as the inputs have them.
static Order orderOf(const TileDataLayouts *l, const TileStructured *s) {
  Order order = {0};
  for (int d = 0; d < MaxDims; ++d)
    order.places[d] = -1;
  dropWindows(&order, s);
  appendAxes(&order, s, s->numInputs, layoutOf(l, linalgGenericOpGetResultTensors(s->op, 0)), false);
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < s->numInputs; ++i)
      if (s->operands[i].isTensor)
        appendAxes(&order, s, i, layoutOf(l, s->operands[i].value), pass);
    for (int d = 0; d < s->numDims; ++d)
      if (s->dims[d].isReduction == pass)
        append(&order, d);
  }
  return order;
}

// How weights lie: groups of channels, what is added up, then the dimension that the output has last.
static TileDataLayout layoutOfWeights(const TileStructured *s, int operand, const Order *order) {
  const TileOperand *o = &s->operands[operand];
  int places[MaxOperandRank], parallel = 0;
  while (parallel < order->count && !s->dims[order->dims[parallel]].isReduction)
    ++parallel;
  for (int axis = 0; axis < o->rank; ++axis) {
    int d = tileDataAxisDim(s, o, axis), place = d < 0 ? 0 : order->places[d];
    bool isLast = d >= 0 && place == parallel - 1;
    places[axis] = d < 0 ? (axis ? places[axis - 1] : 0) : isLast ? 2 * MaxDims : place;
  }
  return tileDataSortAxes(o->rank, places);
}

// Constants, and what a convolution of any kind multiplies its image by.
static bool isWeights(const TileDataLayouts *l, const TileStructured *s, int operand) {
  int image, weights;
  const TileOperand *o = &s->operands[operand];
  if (operand >= s->numInputs || !o->isTensor || o->rank < 2 || tileDataIsStart(o->value))
    return false;
  if (tileDataIsConstant(o->value))
    return true;
  if (tileDataFindConvolution(s, &image, &weights))
    return operand == weights;
  return tileStructuredHasReduction(s) && !tileDataIsMain(s, operand) && !tileDataValue(l, o->value);
}

static bool isGoneAxis(MlirAffineExpr expr, const Order *order) {
  return mlirAffineExprIsADim(expr) && order->isGone[mlirAffineDimExprGetPosition(expr)];
}

// The map of an operand in a layout, over the dimensions in their new order.
static MlirAttribute mapIn(TileBuilder *b, MlirAffineMap map, const TileDataLayout *layout, const Order *order) {
  MlirAffineExpr results[MaxOperandRank], dims[MaxDims];
  intptr_t count = mlirAffineMapGetNumDims(map), rank = 0;
  for (intptr_t d = 0; d < count; ++d)
    dims[d] = order->isGone[d] ? mlirAffineConstantExprGet(b->context, 0)
                               : mlirAffineDimExprGet(b->context, order->places[d]);
  MlirAffineMap renumber = mlirAffineMapGet(b->context, order->count, 0, count, dims);
  for (int i = 0; i < layout->rank; ++i) {
    MlirAffineExpr result = mlirAffineMapGetResult(map, layout->axes[i]);
    if (!isGoneAxis(result, order))
      results[rank++] = mlirAffineExprCompose(result, renumber);
  }
  return mlirAffineMapAttrGet(mlirAffineMapGet(b->context, order->count, 0, rank, results));
}

// The input without the axes of such windows, as mapIn leaves them out: weights and what fills stand for.
static MlirValue withoutGoneAxes(TileBuilder *b, MlirValue input, MlirAffineMap map, const TileDataLayout *layout,
                                 const Order *order) {
  int group[MaxOperandRank], kept = 0;
  int64_t sizes[MaxOperandRank];
  MlirType type = mlirValueGetType(input);
  for (int i = 0; i < layout->rank; ++i) {
    bool isGone = isGoneAxis(mlirAffineMapGetResult(map, layout->axes[i]), order);
    if (!isGone)
      sizes[kept] = mlirShapedTypeGetDimSize(type, i);
    group[i] = isGone && kept ? kept - 1 : kept;
    kept += !isGone;
  }
  if (kept == layout->rank)
    return input;
  MlirType fewer = mlirRankedTensorTypeGet(kept, sizes, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  return tensorCollapseShapeOpBuild(b, fewer, input, groupsAttribute(b, group, layout->rank, kept));
}

static MlirWalkResult renumberIndex(MlirOperation op, void *userData) {
  const Order *order = userData;
  if (linalgIndexOpIsA(op)) {
    MlirAttribute dim = linalgIndexOpGetDim(op);
    linalgIndexOpSetDim(op,
                        mlirIntegerAttrGet(mlirAttributeGetType(dim), order->places[mlirIntegerAttrGetValueInt(dim)]));
  }
  return MlirWalkResultAdvance;
}

static bool rebuildGeneric(TileDataLayouts *l, TileBuilder *b, MlirOperation op) {
  const TileStructured *s = tileDataStructured(l, op);
  Order order = orderOf(l, s);
  MlirAttribute maps[MaxOperands], iterators[MaxDims], oldMaps = linalgGenericOpGetIndexingMaps(op),
                                                       oldIterators = linalgGenericOpGetIteratorTypes(op);
  MlirOperation copy = mlirOperationClone(op);
  int count = s->numInputs + s->numOutputs;
  for (int i = 0; i < count; ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    TileDataLayout layout = plain[0];
    if (i >= s->numInputs) {
      layout = *layoutOf(l, linalgGenericOpGetResultTensors(op, i - s->numInputs));
    } else if (isWeights(l, s, i)) {
      layout = layoutOfWeights(s, i, &order);
    } else if (s->operands[i].isTensor) {
      layout = *layoutOf(l, value);
    }
    if (s->operands[i].isTensor)
      value = valueIn(l, b, value, &layout);
    MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(oldMaps, i));
    if (i < s->numInputs && s->operands[i].isTensor)
      value = withoutGoneAxes(b, value, map, &layout, &order);
    mlirOperationSetOperand(copy, i, value);
    maps[i] = mapIn(b, map, &layout, &order);
  }
  for (int d = 0; d < order.count; ++d)
    iterators[d] = mlirArrayAttrGetElement(oldIterators, order.dims[d]);
  linalgGenericOpSetIndexingMaps(copy, mlirArrayAttrGet(b->context, count, maps));
  linalgGenericOpSetIteratorTypes(copy, mlirArrayAttrGet(b->context, order.count, iterators));
  mlirOperationWalk(copy, renumberIndex, &order, MlirWalkPreOrder);
  tileBuilderInsert(b, copy);
  for (int i = 0; i < s->numOutputs; ++i) {
    MlirValue result = mlirOperationGetResult(copy, i);
    mlirValueSetType(result, mlirValueGetType(linalgGenericOpGetOutputs(copy, i)));
    setNow(l, mlirOperationGetResult(op, i), result);
  }
  return true;
}

//===--- paddings, slices, reshapes ---------------------------------------------------------===//

// Brings a list that is partly an attribute and partly operands, the first of them at `begin`, in the order of the
// axes.
static MlirAttribute permuteNumbers(MlirOperation copy, MlirAttribute numbers, intptr_t begin,
                                    const TileDataLayout *layout) {
  int64_t known[MaxOperandRank];
  MlirValue own[MaxOperandRank];
  intptr_t next = begin;
  for (int i = 0; i < layout->rank; ++i)
    if (mlirShapedTypeIsDynamicSize(mlirDenseI64ArrayGetElement(numbers, i)))
      own[i] = mlirOperationGetOperand(copy, next++);
  next = begin;
  for (int i = 0; i < layout->rank; ++i) {
    known[i] = mlirDenseI64ArrayGetElement(numbers, layout->axes[i]);
    if (mlirShapedTypeIsDynamicSize(known[i]))
      mlirOperationSetOperand(copy, next++, own[layout->axes[i]]);
  }
  return mlirDenseI64ArrayGet(mlirOperationGetContext(copy), layout->rank, known);
}

static void permutePadding(MlirOperation copy, const TileDataLayout *layout) {
  tensorPadOpSetStaticLow(copy,
                          permuteNumbers(copy, tensorPadOpGetStaticLow(copy), tensorPadOpGetLowBegin(copy), layout));
  tensorPadOpSetStaticHigh(copy,
                           permuteNumbers(copy, tensorPadOpGetStaticHigh(copy), tensorPadOpGetHighBegin(copy), layout));
}

static void permuteExtraction(MlirOperation copy, const TileDataLayout *layout) {
  tensorExtractSliceOpSetStaticOffsets(copy, permuteNumbers(copy, tensorExtractSliceOpGetStaticOffsets(copy),
                                                            tensorExtractSliceOpGetOffsetsBegin(copy), layout));
  tensorExtractSliceOpSetStaticSizes(copy, permuteNumbers(copy, tensorExtractSliceOpGetStaticSizes(copy),
                                                          tensorExtractSliceOpGetSizesBegin(copy), layout));
  tensorExtractSliceOpSetStaticStrides(copy, permuteNumbers(copy, tensorExtractSliceOpGetStaticStrides(copy),
                                                            tensorExtractSliceOpGetStridesBegin(copy), layout));
}

static void permuteInsertion(MlirOperation copy, const TileDataLayout *layout) {
  tensorInsertSliceOpSetStaticOffsets(copy, permuteNumbers(copy, tensorInsertSliceOpGetStaticOffsets(copy),
                                                           tensorInsertSliceOpGetOffsetsBegin(copy), layout));
  tensorInsertSliceOpSetStaticSizes(copy, permuteNumbers(copy, tensorInsertSliceOpGetStaticSizes(copy),
                                                         tensorInsertSliceOpGetSizesBegin(copy), layout));
  tensorInsertSliceOpSetStaticStrides(copy, permuteNumbers(copy, tensorInsertSliceOpGetStaticStrides(copy),
                                                           tensorInsertSliceOpGetStridesBegin(copy), layout));
}

static bool rebuildSameAxes(TileDataLayouts *l, TileBuilder *b, MlirOperation op) {
  const TileDataLayout *layout = layoutOf(l, tileOnlyResult(op));
  MlirOperation copy = mlirOperationClone(op);
  tileSetFirstOperand(copy, valueIn(l, b, tileFirstOperand(op), layout));
  if (tensorInsertSliceOpIsA(op)) {
    tensorInsertSliceOpSetDest(copy, valueIn(l, b, tensorInsertSliceOpGetDest(op), layout));
    permuteInsertion(copy, layout);
  } else if (tensorExtractSliceOpIsA(op)) {
    permuteExtraction(copy, layout);
  } else if (tensorPadOpIsA(op)) {
    permutePadding(copy, layout);
  }
  tileBuilderInsert(b, copy);
  mlirValueSetType(tileOnlyResult(copy), typeIn(tileOnlyResultType(op), layout));
  setNow(l, tileOnlyResult(op), tileOnlyResult(copy));
  return true;
}

// The layout of the tensor with more axes says how the groups follow each other. False where it tears one apart, or
// the two layouts do not go together.
static bool rebuildReshape(TileDataLayouts *l, TileBuilder *b, MlirOperation op) {
  bool isCollapse = tensorCollapseShapeOpIsA(op);
  MlirValue source = tileFirstOperand(op), result = tileOnlyResult(op), more = isCollapse ? source : result;
  const TileDataLayout *layout = layoutOf(l, more), *fewer = layoutOf(l, isCollapse ? result : source);
  int groups[MaxOperandRank], order[MaxOperandRank], group[MaxOperandRank];
  int numGroups = tileDataReadGroups(op, groups);
  if (!numGroups || !tileDataGroupsOfLayout(layout, mlirValueGetType(more), groups, numGroups, order) ||
      memcmp(order, fewer->axes, (size_t)numGroups * sizeof *order))
    return false;
  // An axis of one element goes with the group before it, unless that is the first.
  MlirType type = typeIn(mlirValueGetType(more), layout);
  for (int i = 0, at = 0; i < layout->rank; ++i) {
    bool isOne = mlirShapedTypeGetDimSize(type, i) == 1;
    while (!isOne && order[at] != groups[layout->axes[i]])
      ++at;
    group[i] = at;
  }
  MlirAttribute attribute = groupsAttribute(b, group, layout->rank, numGroups);
  for (int g = 0; g < numGroups; ++g)
    if (!mlirArrayAttrGetNumElements(mlirArrayAttrGetElement(attribute, g)))
      return false;
  MlirValue from = valueIn(l, b, source, isCollapse ? layout : fewer);
  if (isCollapse) {
    setNow(l, result, tensorCollapseShapeOpBuild(b, typeIn(mlirValueGetType(result), fewer), from, attribute));
    return true;
  }
  MlirValue own[MaxOperandRank], sizes[MaxOperandRank];
  for (int i = 0, next = 0; i < layout->rank; ++i)
    if (mlirShapedTypeIsDynamicDim(mlirValueGetType(result), i))
      own[i] = tensorExpandShapeOpGetOutputShape(op, next++);
  for (int i = 0; i < layout->rank; ++i)
    if (mlirShapedTypeIsDynamicDim(type, i))
      sizes[i] = own[layout->axes[i]];
  setNow(l, result, expand(b, type, from, sizes, attribute));
  return true;
}

//===--- readers of sizes and elements ----------------------------------------------------===//

static void redirectDim(TileDataLayouts *l, MlirOperation op) {
  TileDataValue *v = tileDataValue(l, tensorDimOpGetSource(op));
  int64_t axis;
  if (!v || v->isCopied || mlirValueIsNull(v->now) || !tileConstantIndex(tensorDimOpGetIndex(op), &axis) || axis < 0 ||
      axis >= v->layout.rank)
    return;
  TileBuilder b = tileBuilderBefore(op);
  TileDataLayout inverse = inverseOf(&v->layout);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), tileBuildDim(&b, v->now, inverse.axes[axis]));
}

static void redirectExtract(TileDataLayouts *l, MlirOperation op) {
  TileDataValue *v = tileDataValue(l, tensorExtractOpGetTensor(op));
  MlirValue indices[MaxOperandRank];
  if (!v || v->isCopied || mlirValueIsNull(v->now))
    return;
  intptr_t begin = tensorExtractOpGetIndicesBegin(op);
  for (int i = 0; i < v->layout.rank; ++i)
    indices[i] = tensorExtractOpGetIndices(op, v->layout.axes[i]);
  tensorExtractOpSetTensor(op, v->now);
  for (int i = 0; i < v->layout.rank; ++i)
    mlirOperationSetOperand(op, begin + i, indices[i]);
}

//===--- all ops --------------------------------------------------------------------------===//

static bool touches(const TileDataLayouts *l, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    TileDataValue *v = tileDataValue(l, mlirOperationGetOperand(op, i));
    if (v && !tileDataLayoutIsPlain(&v->layout))
      return true;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    TileDataValue *v = tileDataValue(l, mlirOperationGetResult(op, i));
    if (v && !tileDataLayoutIsPlain(&v->layout))
      return true;
  }
  return false;
}

static bool rebuild(TileDataLayouts *l, MlirOperation op) {
  TileBuilder b = tileBuilderBefore(op);
  if (linalgGenericOpIsA(op))
    return rebuildGeneric(l, &b, op);
  return tileDataKeepsAxes(op) ? rebuildSameAxes(l, &b, op) : rebuildReshape(l, &b, op);
}

// Copies of the new results for the other readers, then the old op goes.
static void retire(TileDataLayouts *l, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirValue result = mlirOperationGetResult(op, i);
    TileDataValue *v = tileDataValue(l, result);
    if (v && !mlirOpOperandIsNull(mlirValueGetFirstUse(result)))
      mlirValueReplaceAllUsesOfWith(result, tileDataLayoutIsPlain(&v->layout) ? v->now : oldOf(l, v));
  }
  mlirOperationDestroy(op);
}

static bool isAny(MlirOperation op) { return true; }

void tileDataApply(TileDataLayouts *l, MlirOperation function) {
  TileOps ops = tileCollectOps(function, isAny), old = {0};
  for (intptr_t i = 0; i < ops.count; ++i) {
    MlirOperation op = ops.items[i];
    if (tensorDimOpIsA(op))
      redirectDim(l, op);
    else if (tensorExtractOpIsA(op))
      redirectExtract(l, op);
    else if (touches(l, op) && tileDataCanRewrite(l, op) && rebuild(l, op))
      tileOpsAppend(&old, op);
  }
  for (intptr_t i = old.count - 1; i >= 0; --i)
    retire(l, old.items[i]);
  tileOpsFree(&ops);
  tileOpsFree(&old);
}
