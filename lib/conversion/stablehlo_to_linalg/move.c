// StableHLO's ops that move elements, and the same moves for the files that need them.
#include "lib/conversion/stablehlo_to_linalg/hlo.h"

#include "dialects/foreign/stablehlo/ops.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

//===--- shapes -----------------------------------------------------------------===//

static MlirExtShape shapeOf(MlirValue tensor) {
  MlirExtShape shape = {0};
  mlirExtTypeGetShape(mlirValueGetType(tensor), &shape);
  return shape;
}

static MlirAttribute groupsOf(Hlo *h, intptr_t rank, const int *group, intptr_t numGroups) {
  MlirAttribute groups[HloMaxRank], members[HloMaxRank];
  MlirType i64 = mlirIntegerTypeGet(h->b.context, 64);
  for (intptr_t g = 0; g < numGroups; ++g) {
    intptr_t count = 0;
    for (intptr_t i = 0; i < rank; ++i)
      if (group[i] == g)
        members[count++] = mlirIntegerAttrGet(i64, i);
    groups[g] = mlirArrayAttrGet(h->b.context, count, members);
  }
  return mlirArrayAttrGet(h->b.context, numGroups, groups);
}

static MlirValue collapseAll(Hlo *h, MlirValue tensor) {
  MlirExtShape shape = shapeOf(tensor);
  int group[HloMaxRank] = {0};
  int64_t total = 1;
  for (intptr_t i = 0; i < shape.rank; ++i)
    total *= shape.sizes[i];
  if (shape.rank == 1)
    return tensor;
  return tensorCollapseShapeOpBuild(&h->b, hloTensor(shape.element, 1, &total), tensor,
                                    groupsOf(h, shape.rank, group, 1));
}

static MlirValue expandTo(Hlo *h, MlirValue tensor, intptr_t rank, const int64_t *sizes, MlirAttribute groups) {
  MlirAttribute shape = mlirDenseI64ArrayGet(h->b.context, rank, sizes);
  return tensorExpandShapeOpBuild(&h->b, hloTensor(shapeOf(tensor).element, rank, sizes), tensor, 0, NULL, groups,
                                  shape);
}

// The groups of dimensions of the longer shape that make one of the shorter each; false: there are none.
static bool groupsBetween(intptr_t longRank, const int64_t *from, intptr_t shortRank, const int64_t *to, int *group) {
  intptr_t i = 0;
  for (intptr_t g = 0; g < shortRank; ++g) {
    int64_t product = 1;
    bool any = false;
    while (i < longRank && (!any || product != to[g] || (from[i] == 1 && g + 1 == shortRank))) {
      product *= from[i];
      group[i++] = (int)g;
      any = true;
      if (product > to[g] || product == 0)
        break;
    }
    if (!any || product != to[g])
      return false;
  }
  return i == longRank;
}

MlirValue hloReshaped(Hlo *h, MlirValue tensor, intptr_t rank, const int64_t *sizes) {
  MlirExtShape from = shapeOf(tensor);
  int group[HloMaxRank];
  bool isSame = from.rank == rank && !memcmp(from.sizes, sizes, sizeof *sizes * (size_t)rank);
  if (isSame)
    return tensor;
  if (rank == 0)
    return tensorCollapseShapeOpBuild(&h->b, hloTensor(from.element, 0, NULL), tensor, groupsOf(h, 0, NULL, 0));
  if (from.rank == 0)
    return expandTo(h, tensor, rank, sizes, groupsOf(h, 0, NULL, 0));
  if (from.rank > rank && groupsBetween(from.rank, from.sizes, rank, sizes, group))
    return tensorCollapseShapeOpBuild(&h->b, hloTensor(from.element, rank, sizes), tensor,
                                      groupsOf(h, from.rank, group, rank));
  if (from.rank < rank && groupsBetween(rank, sizes, from.rank, from.sizes, group))
    return expandTo(h, tensor, rank, sizes, groupsOf(h, rank, group, from.rank));
  int one[HloMaxRank] = {0};
  MlirValue flat = collapseAll(h, tensor);
  return rank == 1 ? flat : expandTo(h, flat, rank, sizes, groupsOf(h, rank, one, 1));
}

MlirValue hloWithoutUnits(Hlo *h, MlirValue tensor, const bool *drops) {
  MlirExtShape from = shapeOf(tensor);
  int group[HloMaxRank];
  int64_t sizes[HloMaxRank];
  MlirValue open[HloMaxRank];
  intptr_t kept = 0, last = from.rank - 1;
  while (last > 0 && drops[last])
    --last;
  for (intptr_t i = 0; i < from.rank; ++i) { // those that go join the next one that stays, or the last one
    group[i] = (int)(i > last ? kept - 1 : kept);
    if (drops[i])
      continue;
    open[kept] = hloTensorSize(h, tensor, i);
    sizes[kept++] = from.sizes[i];
  }
  MlirValue result = tensorCollapseShapeOpBuild(&h->b, hloTensor(from.element, kept, sizes), tensor,
                                                groupsOf(h, from.rank, group, kept));
  hloNoteSizes(h, result, kept, open);
  return result;
}

//===--- one generic that copies -----------------------------------------------------===//

static bool copyBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  results[0] = arguments[0];
  return true;
}

static MlirValue copied(Hlo *h, MlirValue tensor, MlirAffineMap map, intptr_t rank, const int64_t *sizes,
                        const MlirValue *open) {
  HloGeneric generic = {.parallel = rank, .body = copyBody};
  MlirValue result;
  hloAddInput(&generic, tensor, map);
  hloAddOutput(&generic, hloEmptyOf(h, shapeOf(tensor).element, rank, sizes, open), hloIdentity(h, rank));
  hloBuildGeneric(h, &generic, &result);
  if (open)
    hloNoteSizes(h, result, rank, open);
  return result;
}

MlirValue hloTransposed(Hlo *h, MlirValue tensor, const int64_t *permutation) {
  MlirExtShape from = shapeOf(tensor);
  int64_t sizes[HloMaxRank], at[HloMaxRank];
  MlirValue open[HloMaxRank];
  bool isIdentity = true;
  for (intptr_t i = 0; i < from.rank; ++i) {
    sizes[i] = from.sizes[permutation[i]];
    open[i] = hloTensorSize(h, tensor, permutation[i]);
    at[permutation[i]] = i;
    isIdentity &= permutation[i] == i;
  }
  return isIdentity ? tensor : copied(h, tensor, hloMapOf(h, from.rank, from.rank, at), from.rank, sizes, open);
}

// Element i of a turned dimension is element n - 1 - i.
MlirValue hloReversed(Hlo *h, MlirValue tensor, const StablehloList *dimensions) {
  MlirExtShape shape = shapeOf(tensor);
  MlirAffineExpr exprs[HloMaxRank];
  MlirContext context = h->b.context;
  for (intptr_t i = 0; i < shape.rank; ++i) {
    MlirAffineExpr d = mlirAffineDimExprGet(context, i);
    exprs[i] = d;
    if (stablehloListHas(dimensions, i))
      exprs[i] = mlirAffineAddExprGet(mlirAffineMulExprGet(d, mlirAffineConstantExprGet(context, -1)),
                                      mlirAffineConstantExprGet(context, shape.sizes[i] - 1));
  }
  return copied(h, tensor, hloMap(h, shape.rank, shape.rank, exprs), shape.rank, shape.sizes, NULL);
}

static MlirAttribute list(Hlo *h, intptr_t count, const int64_t *values) {
  return mlirDenseI64ArrayGet(h->b.context, count, values);
}

static bool isEmpty(intptr_t rank, const int64_t *sizes) {
  bool is = false;
  for (intptr_t i = 0; i < rank; ++i)
    is |= sizes[i] == 0;
  return is;
}

// A slice without elements is a tensor of its own: no offset lies inside an axis of size 0, as upstream wants it.
MlirValue hloSliced(Hlo *h, MlirValue tensor, const int64_t *starts, const int64_t *sizes, const int64_t *strides) {
  MlirExtShape shape = shapeOf(tensor);
  if (isEmpty(shape.rank, sizes))
    return hloEmpty(h, shape.element, shape.rank, sizes);
  return tensorExtractSliceOpBuild(&h->b, hloTensor(shape.element, shape.rank, sizes), tensor, 0, NULL, 0, NULL, 0,
                                   NULL, list(h, shape.rank, starts), list(h, shape.rank, sizes),
                                   list(h, shape.rank, strides));
}

static MlirValue inserted(Hlo *h, MlirValue source, MlirValue into, const int64_t *starts, const int64_t *strides) {
  MlirExtShape shape = shapeOf(source);
  if (isEmpty(shape.rank, shape.sizes))
    return into;
  return tensorInsertSliceOpBuild(&h->b, source, into, 0, NULL, 0, NULL, 0, NULL, list(h, shape.rank, starts),
                                  list(h, shape.rank, shape.sizes), list(h, shape.rank, strides));
}

// First what stays of the operand is cut out, then it is put into a filled tensor.
MlirValue hloPad(Hlo *h, MlirValue tensor, MlirValue scalar, const int64_t *low, const int64_t *high,
                 const int64_t *interior) {
  MlirExtShape shape = shapeOf(tensor);
  int64_t first[HloMaxRank], kept[HloMaxRank], ones[HloMaxRank], steps[HloMaxRank], starts[HloMaxRank];
  int64_t sizes[HloMaxRank];
  bool isPlain = true, cuts = false, isEmpty = false;
  for (intptr_t i = 0; i < shape.rank; ++i) {
    int64_t size = shape.sizes[i], step = interior[i] + 1, extent = size ? (size - 1) * step + 1 : 0;
    sizes[i] = extent + low[i] + high[i];
    // Elements k with 0 <= k * step + low < sizes.
    first[i] = low[i] < 0 ? (-low[i] + step - 1) / step : 0;
    int64_t end = sizes[i] - low[i] > 0 ? (sizes[i] - low[i] - 1) / step + 1 : 0;
    end = end < size ? end : size;
    kept[i] = end > first[i] ? end - first[i] : 0;
    starts[i] = first[i] * step + low[i];
    ones[i] = 1;
    steps[i] = step;
    isPlain &= low[i] == 0 && high[i] == 0 && interior[i] == 0;
    cuts |= kept[i] != size;
    isEmpty |= kept[i] == 0;
  }
  if (isPlain)
    return tensor;
  if (isEmpty)
    return hloFilled(h, scalar, shape.rank, sizes);
  if (cuts)
    tensor = hloSliced(h, tensor, first, kept, ones);
  bool isWhole = true;
  for (intptr_t i = 0; i < shape.rank; ++i)
    isWhole &= kept[i] == sizes[i];
  return isWhole ? tensor : inserted(h, tensor, hloFilled(h, scalar, shape.rank, sizes), starts, steps);
}

//===--- ops ----------------------------------------------------------------------------===//

typedef MlirValue (*Move)(Hlo *h, MlirOperation op, MlirValue tensor);

static bool moveParts(Hlo *h, MlirOperation op, Move move) {
  HloValue value = hloGetTensor(h, tileFirstOperand(op));
  MlirExtShape shape = hloShape(tileOnlyResult(op));
  for (int part = 0; part < value.count; ++part) {
    value.parts[part] = move(h, op, value.parts[part]);
    if (shape.rank == 0)
      value.parts[part] = hloFromTensor(h, value.parts[part]);
  }
  hloSet(h, tileOnlyResult(op), value);
  return value.count > 0;
}

static MlirValue reshape(Hlo *h, MlirOperation op, MlirValue tensor) {
  MlirExtShape shape = hloShape(tileOnlyResult(op));
  return hloReshaped(h, tensor, shape.rank, shape.sizes);
}

static MlirValue transpose(Hlo *h, MlirOperation op, MlirValue tensor) {
  StablehloList list = stablehloList(stablehloTransposeOpGetPermutation(op));
  return hloTransposed(h, tensor, list.items);
}

static MlirValue reverse(Hlo *h, MlirOperation op, MlirValue tensor) {
  StablehloList list = stablehloList(stablehloReverseOpGetDimensions(op));
  return hloReversed(h, tensor, &list);
}

static MlirValue slice(Hlo *h, MlirOperation op, MlirValue tensor) {
  StablehloList starts = stablehloList(stablehloSliceOpGetStartIndices(op));
  StablehloList strides = stablehloList(stablehloSliceOpGetStrides(op));
  return hloSliced(h, tensor, starts.items, hloShape(tileOnlyResult(op)).sizes, strides.items);
}

static bool iotaBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  int64_t dimension = *(const int64_t *)generic->data;
  MlirType type = mlirValueGetType(arguments[0]), i64 = mlirIntegerTypeGet(h->b.context, 64);
  MlirValue index = linalgIndexOpBuild(&h->b, mlirIntegerAttrGet(i64, dimension));
  MlirValue number = tileBuildCast(&h->b, ArithOp_IndexCast, index, i64);
  if (mlirTypeIsAFloat(type))
    number = tileBuildCast(&h->b, ArithOp_SIToFP, number, type);
  else if (mlirIntegerTypeGetWidth(type) < 64)
    number = tileBuildCast(&h->b, ArithOp_TruncI, number, type);
  results[0] = number;
  return true;
}

MlirValue hloCounted(Hlo *h, MlirValue empty, intptr_t rank, int64_t dimension) {
  HloGeneric generic = {.parallel = rank, .body = iotaBody, .data = &dimension};
  MlirValue result;
  hloAddOutput(&generic, empty, hloIdentity(h, rank));
  hloBuildGeneric(h, &generic, &result);
  return result;
}

static bool iota(Hlo *h, MlirOperation op) {
  MlirExtShape shape = hloShape(tileOnlyResult(op));
  MlirType element = hloElement(shape.element);
  HloValue value = {1, {{NULL}}};
  value.parts[0] = hloCounted(h, hloEmpty(h, element, shape.rank, shape.sizes), shape.rank,
                              stablehloIotaOpGetIotaDimensionValue(op));
  if (hloIsComplex(shape.element)) {
    value.count = 2;
    value.parts[1] = hloFilled(h, tileBuildFloat(&h->b, element, 0), shape.rank, shape.sizes);
  }
  hloSet(h, tileOnlyResult(op), value);
  return true;
}

// A tensor put into another one, at `at` along a dimension.
static MlirValue putAlong(Hlo *h, MlirValue source, MlirValue into, int64_t dimension, MlirValue at) {
  MlirExtShape shape = shapeOf(source);
  int64_t offsets[HloMaxRank] = {0}, ones[HloMaxRank];
  MlirValue start[1], sizes[HloMaxRank];
  intptr_t numStarts = 0, numSizes = 0;
  if (isEmpty(shape.rank, shape.sizes))
    return into;
  for (intptr_t i = 0; i < shape.rank; ++i) {
    ones[i] = 1;
    if (mlirShapedTypeIsDynamicSize(shape.sizes[i]))
      sizes[numSizes++] = hloTensorSize(h, source, i);
  }
  if (!tileConstantIndex(at, &offsets[dimension])) {
    offsets[dimension] = mlirShapedTypeGetDynamicStrideOrOffset();
    start[numStarts++] = at;
  }
  return tensorInsertSliceOpBuild(&h->b, source, into, numStarts, start, numSizes, sizes, 0, NULL,
                                  list(h, shape.rank, offsets), list(h, shape.rank, shape.sizes),
                                  list(h, shape.rank, ones));
}

static bool concatenate(Hlo *h, MlirOperation op) {
  MlirExtShape shape = hloShape(tileOnlyResult(op));
  int64_t dimension = stablehloConcatenateOpGetDimensionValue(op);
  intptr_t count = mlirOperationGetNumOperands(op);
  HloValue value = {hloIsComplex(shape.element) ? 2 : 1, {{NULL}}};
  MlirValue open[HloMaxRank], at = tileBuildIndex(&h->b, 0);
  hloSizesOf(h, tileFirstOperand(op), open);
  for (intptr_t i = 1; i < count; ++i)
    for (intptr_t d = 0; d < shape.rank; ++d) {
      MlirValue size = hloSizeOf(h, mlirOperationGetOperand(op, i), d);
      if (d == dimension)
        open[d] = tileBuildAdd(&h->b, open[d], size);
      else
        hloAssertSame(h, open[d], size);
    }
  for (int part = 0; part < value.count; ++part)
    value.parts[part] = hloEmptyOf(h, hloElement(shape.element), shape.rank, shape.sizes, open);
  for (intptr_t i = 0; i < count; ++i) {
    HloValue input = hloGetTensor(h, mlirOperationGetOperand(op, i));
    if (!input.count)
      return false;
    for (int part = 0; part < value.count; ++part)
      value.parts[part] = putAlong(h, input.parts[part], value.parts[part], dimension, at);
    at = tileBuildAdd(&h->b, at, hloSizeOf(h, mlirOperationGetOperand(op, i), dimension));
  }
  for (int part = 0; part < value.count; ++part)
    hloNoteSizes(h, value.parts[part], shape.rank, open);
  hloSet(h, tileOnlyResult(op), value);
  return true;
}

static bool pad(Hlo *h, MlirOperation op) {
  HloValue value = hloGetTensor(h, stablehloPadOpGetOperand(op)), by = hloGet(h, stablehloPadOpGetPaddingValue(op));
  StablehloList low = stablehloList(stablehloPadOpGetEdgePaddingLow(op));
  StablehloList high = stablehloList(stablehloPadOpGetEdgePaddingHigh(op));
  StablehloList interior = stablehloList(stablehloPadOpGetInteriorPadding(op));
  if (!value.count || !by.count)
    return false;
  for (int part = 0; part < value.count; ++part) {
    value.parts[part] = hloPad(h, value.parts[part], by.parts[part], low.items, high.items, interior.items);
    if (low.count == 0)
      value.parts[part] = hloFromTensor(h, value.parts[part]);
  }
  hloSet(h, tileOnlyResult(op), value);
  return true;
}

// Starts clamped to 0 … size - slice.
static void clampStarts(Hlo *h, MlirOperation op, intptr_t first, const MlirExtShape *operand, const int64_t *sizes,
                        MlirValue *starts) {
  for (intptr_t i = 0; i < operand->rank; ++i) {
    MlirValue old = mlirOperationGetOperand(op, first + i);
    MlirValue start = hloIndexOf(h, hloOne(h, old), hloIsUnsigned(hloShape(old).element));
    start = tileBuildMax(&h->b, start, tileBuildIndex(&h->b, 0));
    starts[i] = tileBuildMin(&h->b, start, tileBuildIndex(&h->b, operand->sizes[i] - sizes[i]));
  }
}

// Starts that are constants are attributes; `dynamic` gets the others.
static MlirAttribute mixed(Hlo *h, intptr_t count, const MlirValue *starts, MlirValue *dynamic, intptr_t *numDynamic) {
  int64_t values[HloMaxRank];
  *numDynamic = 0;
  for (intptr_t i = 0; i < count; ++i)
    if (!tileConstantIndex(starts[i], &values[i])) {
      values[i] = mlirShapedTypeGetDynamicStrideOrOffset();
      dynamic[(*numDynamic)++] = starts[i];
    }
  return list(h, count, values);
}

static bool dynamicSlice(Hlo *h, MlirOperation op) {
  HloValue value = hloGetTensor(h, stablehloDynamicSliceOpGetOperand(op));
  MlirExtShape operand = hloShape(stablehloDynamicSliceOpGetOperand(op)), shape = hloShape(tileOnlyResult(op));
  MlirValue starts[HloMaxRank], dynamic[HloMaxRank];
  int64_t ones[HloMaxRank];
  intptr_t count;
  if (!value.count)
    return false;
  for (intptr_t i = 0; i < shape.rank; ++i)
    ones[i] = 1;
  clampStarts(h, op, stablehloDynamicSliceOpGetStartIndicesBegin(op), &operand, shape.sizes, starts);
  MlirAttribute offsets = mixed(h, shape.rank, starts, dynamic, &count);
  for (int part = 0; part < value.count; ++part) {
    MlirType type = hloTensor(hloElement(shape.element), shape.rank, shape.sizes);
    value.parts[part] = tensorExtractSliceOpBuild(&h->b, type, value.parts[part], count, dynamic, 0, NULL, 0, NULL,
                                                  offsets, list(h, shape.rank, shape.sizes), list(h, shape.rank, ones));
    if (shape.rank == 0)
      value.parts[part] = hloFromTensor(h, value.parts[part]);
  }
  hloSet(h, tileOnlyResult(op), value);
  return true;
}

static bool dynamicUpdateSlice(Hlo *h, MlirOperation op) {
  HloValue value = hloGetTensor(h, stablehloDynamicUpdateSliceOpGetOperand(op));
  HloValue update = hloGetTensor(h, stablehloDynamicUpdateSliceOpGetUpdate(op));
  MlirExtShape operand = hloShape(stablehloDynamicUpdateSliceOpGetOperand(op));
  MlirExtShape shape = hloShape(stablehloDynamicUpdateSliceOpGetUpdate(op));
  MlirValue starts[HloMaxRank], dynamic[HloMaxRank];
  int64_t ones[HloMaxRank];
  intptr_t count;
  if (!value.count || !update.count)
    return false;
  for (intptr_t i = 0; i < shape.rank; ++i)
    ones[i] = 1;
  clampStarts(h, op, stablehloDynamicUpdateSliceOpGetStartIndicesBegin(op), &operand, shape.sizes, starts);
  MlirAttribute offsets = mixed(h, shape.rank, starts, dynamic, &count);
  for (int part = 0; part < value.count; ++part) {
    value.parts[part] =
        tensorInsertSliceOpBuild(&h->b, update.parts[part], value.parts[part], count, dynamic, 0, NULL, 0, NULL,
                                 offsets, list(h, shape.rank, shape.sizes), list(h, shape.rank, ones));
    if (shape.rank == 0)
      value.parts[part] = hloFromTensor(h, value.parts[part]);
  }
  hloSet(h, tileOnlyResult(op), value);
  return true;
}

//===--- bits of other widths -------------------------------------------------------------===//

typedef struct Bits {
  MlirType from, to;
} Bits;

// Number j of the narrow elements: its bits of the wide one.
static bool splitBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  const Bits *bits = generic->data;
  unsigned wide = tileElementWidth(bits->from), narrow = tileElementWidth(bits->to);
  MlirType integer = mlirIntegerTypeGet(h->b.context, wide), part = mlirIntegerTypeGet(h->b.context, narrow);
  MlirType i64 = mlirIntegerTypeGet(h->b.context, 64);
  MlirValue value =
      mlirTypeIsAFloat(bits->from) ? tileBuildCast(&h->b, ArithOp_Bitcast, arguments[0], integer) : arguments[0];
  MlirValue number = linalgIndexOpBuild(&h->b, mlirIntegerAttrGet(i64, generic->parallel - 1));
  MlirValue by = tileBuildMul(&h->b, number, tileBuildIndex(&h->b, narrow));
  by = tileBuildCast(&h->b, ArithOp_IndexCast, by, integer);
  value = tileBuildCast(&h->b, ArithOp_TruncI, tileBuildBinary(&h->b, ArithOp_ShRUI, value, by), part);
  results[0] = mlirTypeIsAFloat(bits->to) ? tileBuildCast(&h->b, ArithOp_Bitcast, value, bits->to) : value;
  return true;
}

static bool joinBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  const Bits *bits = generic->data;
  unsigned wide = tileElementWidth(bits->to), narrow = tileElementWidth(bits->from);
  MlirType integer = mlirIntegerTypeGet(h->b.context, wide), part = mlirIntegerTypeGet(h->b.context, narrow);
  MlirValue sum = {NULL};
  for (intptr_t j = 0; j < generic->numInputs; ++j) {
    MlirValue value =
        mlirTypeIsAFloat(bits->from) ? tileBuildCast(&h->b, ArithOp_Bitcast, arguments[j], part) : arguments[j];
    value = tileBuildCast(&h->b, ArithOp_ExtUI, value, integer);
    value = tileBuildBinary(&h->b, ArithOp_ShLI, value, tileBuildInteger(&h->b, integer, j * narrow));
    sum = j ? tileBuildBinary(&h->b, ArithOp_OrI, sum, value) : value;
  }
  results[0] = mlirTypeIsAFloat(bits->to) ? tileBuildCast(&h->b, ArithOp_Bitcast, sum, bits->to) : sum;
  return true;
}

static bool bitcast(Hlo *h, MlirOperation op) {
  MlirExtShape from = hloShape(tileOnlyOperand(op)), to = hloShape(tileOnlyResult(op));
  Bits bits = {hloElement(from.element), hloElement(to.element)};
  MlirContext context = h->b.context;
  HloValue value = hloGetTensor(h, tileOnlyOperand(op));
  if (value.count != 1)
    return value.count && tileError(op, "cannot be converted to linalg for complex elements");
  bool splits = from.rank < to.rank;
  HloGeneric generic = {.parallel = to.rank, .body = splits ? splitBody : joinBody, .data = &bits};
  if (splits)
    hloAddInput(&generic, value.parts[0], hloFirst(h, to.rank, from.rank));
  for (int64_t j = 0; !splits && j < from.sizes[to.rank]; ++j) {
    MlirAffineExpr exprs[HloMaxRank];
    for (intptr_t i = 0; i < to.rank; ++i)
      exprs[i] = mlirAffineDimExprGet(context, i);
    exprs[to.rank] = mlirAffineConstantExprGet(context, j);
    hloAddInput(&generic, value.parts[0], hloMap(h, to.rank, from.rank, exprs));
  }
  hloAddOutput(&generic, hloEmpty(h, bits.to, to.rank, to.sizes), hloIdentity(h, to.rank));
  if (!hloBuildGeneric(h, &generic, value.parts))
    return false;
  if (to.rank == 0)
    value.parts[0] = hloFromTensor(h, value.parts[0]);
  hloSet(h, tileOnlyResult(op), value);
  return true;
}

// Those that need sizes at compile time.
static bool needsSizes(MlirOperation op) {
  switch (stablehloOpKind(op)) {
  case StablehloOp_Reshape:
  case StablehloOp_Reverse:
  case StablehloOp_Slice:
  case StablehloOp_Pad:
  case StablehloOp_DynamicSlice:
  case StablehloOp_DynamicUpdateSlice:
  case StablehloOp_BitcastConvert:
    return true;
  default:
    return false;
  }
}

bool hloMove(Hlo *h, MlirOperation op, bool *isKnown) {
  *isKnown = true;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && needsSizes(op); ++i)
    if (!mlirShapedTypeHasStaticShape(mlirValueGetType(mlirOperationGetOperand(op, i))))
      return tileError(op, "cannot be converted to linalg with open sizes");
  switch (stablehloOpKind(op)) {
  case StablehloOp_Constant:
  case StablehloOp_BroadcastInDim:
    return true; // built where it is used
  case StablehloOp_Iota:
    return iota(h, op);
  case StablehloOp_Reshape:
    return moveParts(h, op, reshape);
  case StablehloOp_Transpose:
    return moveParts(h, op, transpose);
  case StablehloOp_Reverse:
    return moveParts(h, op, reverse);
  case StablehloOp_Slice:
    return moveParts(h, op, slice);
  case StablehloOp_Concatenate:
    return concatenate(h, op);
  case StablehloOp_Pad:
    return pad(h, op);
  case StablehloOp_DynamicSlice:
    return dynamicSlice(h, op);
  case StablehloOp_DynamicUpdateSlice:
    return dynamicUpdateSlice(h, op);
  case StablehloOp_BitcastConvert:
    return bitcast(h, op);
  default:
    *isKnown = false;
    return true;
  }
}
