// The questions that tile-choose-data-layouts asks of layouts and ops. See data_layouts.h.
#include "lib/transforms/tensor/data_layouts.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/product.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <string.h>

//===--- layouts ------------------------------------------------------------------------===//

bool tileDataLayoutIsPlain(const TileDataLayout *layout) {
  for (int i = 0; i < layout->rank; ++i)
    if (layout->axes[i] != i)
      return false;
  return true;
}

bool tileDataLayoutKeepsOrder(const TileDataLayout *layout, MlirType type) {
  for (int i = 0, last = -1; i < layout->rank; ++i) {
    if (mlirShapedTypeGetDimSize(type, layout->axes[i]) == 1)
      continue;
    if (layout->axes[i] < last)
      return false;
    last = layout->axes[i];
  }
  return true;
}

bool tileDataLayoutsEqual(const TileDataLayout *a, const TileDataLayout *b) {
  return a->rank == b->rank && !memcmp(a->axes, b->axes, (size_t)a->rank * sizeof *a->axes);
}

// The axes by their places, those of one place as they were.
TileDataLayout tileDataSortAxes(int rank, const int *places) {
  TileDataLayout layout = {.rank = rank};
  for (int i = 0; i < rank; ++i) {
    int at = i;
    for (; at > 0 && places[layout.axes[at - 1]] > places[i]; --at)
      layout.axes[at] = layout.axes[at - 1];
    layout.axes[at] = i;
  }
  return layout;
}

//===--- ops ----------------------------------------------------------------------------===//

const TileStructured *tileDataStructured(TileDataLayouts *l, MlirOperation op) {
  if (!linalgGenericOpIsA(op) || tileGroupOpIsA(mlirOperationGetParentOperation(op)))
    return NULL;
  TileStructured *s = tileTableFind(&l->ops, op.ptr);
  if (!s) {
    s = tileArenaAllocate(&l->arena, sizeof *s);
    bool isRead = tileStructuredRead(op, l->target, s) && mlirAttributeIsNull(s->schedule) &&
                  !tileStructuredHasTerms(s) && mlirAttributeIsNull(tileOpGetExtents(op));
    s->numDims = isRead ? s->numDims : -1;
    tileTableSet(&l->ops, op.ptr, s);
  }
  return s->numDims < 0 ? NULL : s;
}

TileDataValue *tileDataValue(const TileDataLayouts *l, MlirValue value) { return tileTableFind(&l->values, value.ptr); }

int tileDataAxisDim(const TileStructured *s, const TileOperand *operand, int axis) {
  int only = -1;
  if (operand->results[axis] >= 0)
    return operand->results[axis];
  for (int d = 0; d < s->numDims; ++d) {
    if (!operand->factors[axis][d] || s->dims[d].isReduction)
      continue;
    if (only >= 0)
      return -1;
    only = d;
  }
  return only;
}

static bool isFill(MlirOperation op) {
  return linalgGenericOpIsA(op) && mlirOperationGetNumResults(op) == 1 && tileGenericIsParallel(op) &&
         (linalgGenericOpGetNumInputs(op) == 0 ||
          (linalgGenericOpGetNumInputs(op) == 1 && !mlirTypeIsAShaped(tileFirstOperandType(op)))) &&
         linalgYieldOpIsA(mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(linalgGenericOpGetRegion(op)))) &&
         tensorEmptyOpIsA(tileDefiningOp(linalgGenericOpGetOutputs(op, 0)));
}

bool tileDataIsStart(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  return tensorEmptyOpIsA(op) || isFill(op);
}

bool tileDataIsConstant(MlirValue value) { return arithConstantOpIsA(tileDefiningOp(value)); }

bool tileDataIsMain(const TileStructured *s, int operand) {
  const TileOperand *o = &s->operands[operand];
  const TileOperand *out = &s->operands[s->numInputs];
  bool isReduced = tileStructuredHasReduction(s);
  if (!o->isTensor || o->rank < 1)
    return false;
  for (int axis = 0; isReduced && operand < s->numInputs && axis < out->rank; ++axis)
    if (out->results[axis] >= 0 && !tileOperandUses(o, out->results[axis]))
      return false;
  return true;
}

// An elementwise op, or one that reduces one operand: its operands can have one layout.
bool tileDataIsTransparent(const TileStructured *s) {
  int main = 0;
  for (int i = 0; i < s->numInputs; ++i)
    main += tileDataIsMain(s, i);
  return !tileStructuredHasReduction(s) || (main == 1 && s->numOutputs == 1);
}

// A convolution: the image and the weights. An axis of the image is a window.
bool tileDataFindConvolution(const TileStructured *s, int *image, int *weights) {
  if (s->numOutputs != 1 || !tileStructuredMatchMultiplyAdd(s, image, weights))
    return false;
  for (int side = 0; side < 2; ++side) {
    const TileOperand *o = &s->operands[*image], *w = &s->operands[*weights];
    bool hasWindow = false, isWindow = w->isTensor && o->isTensor;
    for (int axis = 0; isWindow && axis < o->rank; ++axis)
      hasWindow |= o->results[axis] < 0 && tileDataAxisDim(s, o, axis) >= 0;
    for (int axis = 0; isWindow && axis < w->rank; ++axis)
      isWindow = w->results[axis] >= 0;
    if (hasWindow && isWindow)
      return true;
    int other = *image;
    *image = *weights;
    *weights = other;
  }
  return false;
}

// The order of a convolution's axes: images, pixels, groups of channels, channels.
TileDataLayout tileDataChannelsLast(const TileStructured *s, int operand, int image, int weights) {
  const TileOperand *o = &s->operands[operand], *x = &s->operands[image], *w = &s->operands[weights];
  int places[MaxOperandRank];
  for (int axis = 0; axis < o->rank; ++axis) {
    int d = tileDataAxisDim(s, o, axis);
    bool isPixel = o->results[axis] < 0 && d >= 0;
    for (int i = 0; d >= 0 && i < x->rank; ++i)
      isPixel |= x->results[i] < 0 && tileDataAxisDim(s, x, i) == d;
    bool inImage = d >= 0 && tileOperandUses(x, d), inWeights = d >= 0 && tileOperandUses(w, d);
    places[axis] = isPixel ? 1 : d < 0 || !inWeights ? 0 : s->dims[d].isReduction || !inImage ? 3 : 2;
  }
  return tileDataSortAxes(o->rank, places);
}

int tileDataReadGroups(MlirOperation reshape, int *groups) {
  MlirAttribute list = tileOpAttribute(reshape, "reassociation");
  int count = (int)mlirArrayAttrGetNumElements(list);
  for (int i = 0; i < count; ++i) {
    MlirAttribute group = mlirArrayAttrGetElement(list, i);
    for (intptr_t j = 0; j < mlirArrayAttrGetNumElements(group); ++j) {
      int64_t axis = mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(group, j));
      if (axis >= MaxOperandRank)
        return 0;
      groups[axis] = i;
    }
  }
  return count;
}

bool tileDataGroupsOfLayout(const TileDataLayout *layout, MlirType type, const int *groups, int numGroups, int *order) {
  int count = 0, last = -1;
  bool isSeen[MaxOperandRank] = {false};
  for (int i = 0; i < layout->rank; ++i) {
    int axis = layout->axes[i], group = groups[axis];
    if (mlirShapedTypeGetDimSize(type, axis) == 1)
      continue;
    bool follows = count && order[count - 1] == group && axis > last;
    if (!follows && isSeen[group])
      return false;
    if (!follows)
      order[count++] = group;
    isSeen[group] = true;
    last = axis;
  }
  for (int g = 0; g < numGroups; ++g) { // groups of one element: behind the group before them
    int at = 0;
    if (isSeen[g])
      continue;
    while (g && at < count && order[at] != g - 1)
      ++at;
    at += g > 0;
    memmove(&order[at + 1], &order[at], (size_t)(count++ - at) * sizeof *order);
    order[at] = g;
  }
  return true;
}

static bool isReshape(MlirOperation op) { return tensorCollapseShapeOpIsA(op) || tensorExpandShapeOpIsA(op); }

bool tileDataKeepsAxes(MlirOperation op) {
  if (!tensorPadOpIsA(op) && !tensorInsertSliceOpIsA(op) && !tensorExtractSliceOpIsA(op) && !tensorCastOpIsA(op))
    return false;
  MlirType from = tileFirstOperandType(op), to = tileOnlyResultType(op);
  return mlirTypeIsARankedTensor(from) && mlirTypeIsARankedTensor(to) &&
         mlirShapedTypeGetRank(from) == mlirShapedTypeGetRank(to) && mlirShapedTypeGetRank(to) <= MaxOperandRank;
}

// A padding with a number, wherever the element stands.
static bool padsWithNumber(MlirOperation op) {
  MlirBlock block = mlirRegionGetFirstBlock(tensorPadOpGetRegion(op));
  MlirOperation yield = mlirBlockGetFirstOperation(block);
  return tensorYieldOpIsA(yield) && !mlirValueIsABlockArgument(tileOnlyOperand(yield));
}

bool tileDataCanRewrite(TileDataLayouts *l, MlirOperation op) {
  int image, weights;
  if (mlirOperationIsNull(op))
    return false;
  if (linalgGenericOpIsA(op)) {
    const TileStructured *s = tileDataStructured(l, op);
    return s && (tileDataIsTransparent(s) || tileDataFindConvolution(s, &image, &weights));
  }
  return isReshape(op) || (tileDataKeepsAxes(op) && (!tensorPadOpIsA(op) || padsWithNumber(op)));
}
