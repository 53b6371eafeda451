// Slices go ahead of the ops that compute a tensor. See slice_of_computed.h.
//   extract_slice of collapse_shape of generic of expand_shape of pad of %w   →   the same ops on extract_slice of %w
#include "lib/transforms/quantize/slice_of_computed.h"

#include "dialects/tile/ops.h"
#include "lib/analysis/low_bit/packed_elements.h"
#include "lib/ir/support.h"
#include "lib/support/integer.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <string.h>

enum { MaxInputs = 16 };

//===--- ranges ---------------------------------------------------------------------------------===//

static int rankOf(MlirType type) { return (int)mlirShapedTypeGetRank(type); }

TileSliceBox tileSliceBoxOfWhole(MlirType tensor) {
  TileSliceBox range = {{0}, {0}};
  for (int axis = 0; axis < rankOf(tensor); ++axis)
    range.size[axis] = mlirShapedTypeGetDimSize(tensor, axis);
  return range;
}

static bool isWhole(MlirType tensor, const TileSliceBox *range) {
  TileSliceBox whole = tileSliceBoxOfWhole(tensor);
  size_t bytes = (size_t)rankOf(tensor) * sizeof *whole.size;
  return !memcmp(whole.size, range->size, bytes) && !memcmp(whole.from, range->from, bytes);
}

static MlirType typeOf(MlirType tensor, const TileSliceBox *range) {
  return mlirRankedTensorTypeGet(rankOf(tensor), range->size, mlirShapedTypeGetElementType(tensor),
                                 mlirAttributeGetNull());
}

static bool isKnown(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsARankedTensor(type) && mlirShapedTypeHasStaticShape(type) && rankOf(type) <= TileSliceMaxRank &&
         mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type));
}

static MlirValue extracted(TileBuilder *b, MlirValue value, const TileSliceBox *range) {
  MlirType type = mlirValueGetType(value);
  if (isWhole(type, range))
    return value;
  int64_t ones[TileSliceMaxRank];
  for (int axis = 0; axis < rankOf(type); ++axis)
    ones[axis] = 1;
  return tensorExtractSliceOpBuild(b, typeOf(type, range), value, 0, NULL, 0, NULL, 0, NULL,
                                   mlirDenseI64ArrayGet(b->context, rankOf(type), range->from),
                                   mlirDenseI64ArrayGet(b->context, rankOf(type), range->size),
                                   mlirDenseI64ArrayGet(b->context, rankOf(type), ones));
}

// `value` holds `held` of a tensor; takes `range` of the tensor from it.
static MlirValue within(TileBuilder *b, MlirValue value, const TileSliceBox *held, const TileSliceBox *range) {
  TileSliceBox inside = *range;
  for (int axis = 0; axis < rankOf(mlirValueGetType(value)); ++axis)
    inside.from[axis] -= held->from[axis];
  return extracted(b, value, &inside);
}

//===--- reshapes -------------------------------------------------------------------------------===//

typedef struct Axes {
  int first, count;
} Axes;

static Axes axesOf(MlirAttribute groups, int group) {
  MlirAttribute axes = mlirArrayAttrGetElement(groups, group);
  return (Axes){(int)mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(axes, 0)),
                (int)mlirArrayAttrGetNumElements(axes)};
}

// The box of `axes` that covers [from, from + size) of all of them as one axis; `from` and `size` become what the box
// holds of it.
static void cover(MlirType tensor, Axes axes, int64_t *from, int64_t *size, TileSliceBox *out) {
  int64_t begin = *from, end = *from + *size, inner = 1, base = 0;
  for (int i = 1; i < axes.count; ++i)
    inner *= mlirShapedTypeGetDimSize(tensor, axes.first + i);
  bool isOne = true; // all axes before have one index
  for (int i = 0; i < axes.count; ++i) {
    int axis = axes.first + i;
    out->from[axis] = isOne ? begin / inner : 0;
    out->size[axis] = isOne ? tessera_ceil_div(end, inner) - begin / inner : mlirShapedTypeGetDimSize(tensor, axis);
    if (isOne) {
      int64_t skipped = out->from[axis] * inner;
      base += skipped;
      begin -= skipped;
      end -= skipped;
    }
    if (isOne && out->size[axis] > 1) {
      *from = base;
      *size = out->size[axis] * inner;
      isOne = false;
    }
    if (i + 1 < axes.count)
      inner /= mlirShapedTypeGetDimSize(tensor, axis + 1);
  }
  if (isOne) {
    *from = base;
    *size = 1;
  }
}

static MlirValue sliceOfCollapsed(TileBuilder *b, MlirOperation op, const TileSliceBox *range) {
  MlirValue source = tensorCollapseShapeOpGetSrc(op);
  MlirAttribute groups = tileOpAttribute(op, "reassociation");
  TileSliceBox inner = {{0}, {0}}, held = *range;
  for (int g = 0; g < (int)mlirArrayAttrGetNumElements(groups); ++g)
    cover(mlirValueGetType(source), axesOf(groups, g), &held.from[g], &held.size[g], &inner);
  MlirValue part = tileBuildSliceOfComputed(b, source, &inner);
  MlirValue whole = tensorCollapseShapeOpBuild(b, typeOf(tileOnlyResultType(op), &held), part, groups);
  return within(b, whole, &held, range);
}

// The range of several axes is one of them as one axis: one index of each outer one, then any, then all of the others.
static bool joins(MlirType tensor, Axes axes, const TileSliceBox *range, int64_t *from, int64_t *size) {
  bool isOne = true;
  *from = 0;
  *size = 1;
  for (int i = 0; i < axes.count; ++i) {
    int axis = axes.first + i;
    int64_t whole = mlirShapedTypeGetDimSize(tensor, axis);
    if (!isOne && range->size[axis] != whole)
      return false;
    isOne = isOne && range->size[axis] == 1;
    *from = *from * whole + range->from[axis];
    *size *= range->size[axis];
  }
  return true;
}

static MlirValue sliceOfExpanded(TileBuilder *b, MlirOperation op, const TileSliceBox *range) {
  MlirType type = tileOnlyResultType(op), part = typeOf(type, range);
  MlirAttribute groups = tileOpAttribute(op, "reassociation");
  TileSliceBox outer = {{0}, {0}};
  for (int g = 0; g < (int)mlirArrayAttrGetNumElements(groups); ++g)
    if (!joins(type, axesOf(groups, g), range, &outer.from[g], &outer.size[g]))
      return extracted(b, tileOnlyResult(op), range);
  MlirValue source = tileBuildSliceOfComputed(b, tensorExpandShapeOpGetSrc(op), &outer);
  return tensorExpandShapeOpBuild(b, part, source, 0, NULL, groups,
                                  mlirDenseI64ArrayGet(b->context, rankOf(part), range->size));
}

//===--- parts of other tensors -----------------------------------------------------------------===//

static bool isDense(MlirOperation op) {
  MlirAttribute offsets = tileOpAttribute(op, "static_offsets"), sizes = tileOpAttribute(op, "static_sizes"),
                strides = tileOpAttribute(op, "static_strides");
  bool dense = true;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(strides); ++i)
    dense = dense && mlirDenseI64ArrayGetElement(strides, i) == 1 &&
            !mlirShapedTypeIsDynamicSize(mlirDenseI64ArrayGetElement(offsets, i)) &&
            !mlirShapedTypeIsDynamicSize(mlirDenseI64ArrayGetElement(sizes, i));
  return dense;
}

static MlirValue sliceOfSlice(TileBuilder *b, MlirOperation op, const TileSliceBox *range) {
  MlirValue source = tensorExtractSliceOpGetSource(op);
  if (!isDense(op) || rankOf(mlirValueGetType(source)) != rankOf(tileOnlyResultType(op)))
    return extracted(b, tileOnlyResult(op), range);
  TileSliceBox moved = *range;
  for (int axis = 0; axis < rankOf(mlirValueGetType(source)); ++axis)
    moved.from[axis] += mlirDenseI64ArrayGetElement(tileOpAttribute(op, "static_offsets"), axis);
  return tileBuildSliceOfComputed(b, source, &moved);
}

// `part` lies in the tensor that `op` makes, at `offsets`; what surrounds it does not matter if the range is in it.
static MlirValue sliceOfPlaced(TileBuilder *b, MlirOperation op, MlirValue part, MlirAttribute offsets,
                               const TileSliceBox *range) {
  MlirType type = mlirValueGetType(part);
  TileSliceBox moved = *range;
  bool isIn = isKnown(part) && rankOf(type) == rankOf(tileOnlyResultType(op));
  for (int axis = 0; isIn && axis < rankOf(type); ++axis) {
    int64_t offset = mlirDenseI64ArrayGetElement(offsets, axis);
    moved.from[axis] -= offset;
    isIn = !mlirShapedTypeIsDynamicSize(offset) && moved.from[axis] >= 0 &&
           moved.from[axis] + moved.size[axis] <= mlirShapedTypeGetDimSize(type, axis);
  }
  return isIn ? tileBuildSliceOfComputed(b, part, &moved) : extracted(b, tileOnlyResult(op), range);
}

// Elements that lie packed in rows of bytes: whole bytes are taken.
static MlirValue sliceOfPacked(TileBuilder *b, MlirOperation op, const TileSliceBox *range) {
  MlirType type = tileOnlyResultType(op);
  int last = rankOf(type) - 1;
  MlirType element = mlirShapedTypeGetElementType(type);
  int64_t bits = tileElementWidth(element), run = tilePackedRun(element), end;
  TileSliceBox held = *range, bytes;
  end = tessera_ceil_div(range->from[last] + range->size[last], run) * run;
  held.from[last] = range->from[last] / run * run;
  held.size[last] = end - held.from[last];
  bytes = held;
  bytes.from[last] = held.from[last] * bits / 8;
  bytes.size[last] = held.size[last] * bits / 8;
  MlirValue part = tileBuildSliceOfComputed(b, tileBitcastOpGetInput(op), &bytes);
  return within(b, tileBitcastOpBuild(b, typeOf(type, &held), part), &held, range);
}

//===--- elementwise ops ------------------------------------------------------------------------===//

// The dimension that indexes an axis alone; -1: a constant index; -2: anything else.
static int dimOf(MlirAffineMap map, int axis) {
  MlirAffineExpr expression = mlirAffineMapGetResult(map, axis);
  return mlirAffineExprIsADim(expression)        ? (int)mlirAffineDimExprGetPosition(expression)
         : mlirAffineExprIsAConstant(expression) ? -1
                                                 : -2;
}

static MlirAffineMap mapAt(MlirOperation op, intptr_t operand) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(tileOpAttribute(op, "indexing_maps"), operand));
}

static bool hasIndex(MlirBlock body) {
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (linalgIndexOpIsA(op))
      return true;
  return false;
}

static bool isSliceable(MlirOperation op) {
  if (!linalgGenericOpIsA(op) || mlirOperationGetNumResults(op) != 1 || mlirOperationGetNumOperands(op) > MaxInputs ||
      hasIndex(tileOnlyBlock(mlirOperationGetRegion(op, 0))))
    return false;
  intptr_t count = mlirOperationGetNumOperands(op);
  MlirAffineMap output = mapAt(op, count - 1);
  bool fits =
      mlirAffineMapGetNumDims(output) == mlirAffineMapGetNumResults(output) && mlirAffineMapIsPermutation(output);
  for (intptr_t i = 0; fits && i < count; ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    fits = !mlirTypeIsARankedTensor(mlirValueGetType(operand)) || isKnown(operand);
    for (int axis = 0; fits && axis < (int)mlirAffineMapGetNumResults(mapAt(op, i)); ++axis)
      fits = dimOf(mapAt(op, i), axis) >= -1;
  }
  return fits;
}

int tileSliceableDim(MlirOperation op, intptr_t operand, int axis) {
  return isSliceable(op) ? dimOf(mapAt(op, operand), axis) : -1;
}

static MlirValue sliceOfGeneric(TileBuilder *b, MlirOperation op, const TileSliceBox *range) {
  intptr_t count = mlirOperationGetNumOperands(op);
  if (!isSliceable(op))
    return extracted(b, tileOnlyResult(op), range);
  TileSliceBox dims = {{0}, {0}};
  MlirAffineMap output = mapAt(op, count - 1);
  for (int axis = 0; axis < (int)mlirAffineMapGetNumResults(output); ++axis) {
    dims.from[dimOf(output, axis)] = range->from[axis];
    dims.size[dimOf(output, axis)] = range->size[axis];
  }
  MlirValue parts[MaxInputs];
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue operand = parts[i] = mlirOperationGetOperand(op, i);
    if (!mlirTypeIsARankedTensor(mlirValueGetType(operand)))
      continue;
    TileSliceBox part = tileSliceBoxOfWhole(mlirValueGetType(operand));
    for (int axis = 0; axis < rankOf(mlirValueGetType(operand)); ++axis) {
      int dim = dimOf(mapAt(op, i), axis);
      if (dim >= 0) {
        part.from[axis] = dims.from[dim];
        part.size[axis] = dims.size[dim];
      }
    }
    parts[i] = tileBuildSliceOfComputed(b, operand, &part);
  }
  MlirOperation copy = tileBuilderInsert(b, mlirOperationClone(op));
  for (intptr_t i = 0; i < count; ++i)
    mlirOperationSetOperand(copy, i, parts[i]);
  mlirValueSetType(tileOnlyResult(copy), mlirValueGetType(parts[count - 1]));
  return tileOnlyResult(copy);
}

//===--- any op ---------------------------------------------------------------------------------===//

MlirValue tileBuildSliceOfComputed(TileBuilder *b, MlirValue value, const TileSliceBox *range) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op) || !isKnown(value) || isWhole(mlirValueGetType(value), range))
    return extracted(b, value, range);
  if (tensorEmptyOpIsA(op))
    return tensorEmptyOpBuild(b, typeOf(mlirValueGetType(value), range), 0, NULL);
  if (tensorCollapseShapeOpIsA(op) && isKnown(tensorCollapseShapeOpGetSrc(op)))
    return sliceOfCollapsed(b, op, range);
  if (tensorExpandShapeOpIsA(op) && isKnown(tensorExpandShapeOpGetSrc(op)))
    return sliceOfExpanded(b, op, range);
  if (tensorExtractSliceOpIsA(op) && isKnown(tensorExtractSliceOpGetSource(op)))
    return sliceOfSlice(b, op, range);
  if (tensorPadOpIsA(op))
    return sliceOfPlaced(b, op, tensorPadOpGetSource(op), tileOpAttribute(op, "static_low"), range);
  if (tensorInsertSliceOpIsA(op) && isDense(op))
    return sliceOfPlaced(b, op, tensorInsertSliceOpGetSource(op), tileOpAttribute(op, "static_offsets"), range);
  if (!mlirValueIsNull(tilePackedBytesOf(value)) && tileBitcastOpIsA(op))
    return sliceOfPacked(b, op, range);
  return linalgGenericOpIsA(op) ? sliceOfGeneric(b, op, range) : extracted(b, value, range);
}
