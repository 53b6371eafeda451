// Verifiers of StableHLO's products, reductions and control flow. Ops with regions are verified behind their regions,
// whose blocks then have terminators.
#include "dialects/foreign/stablehlo/ops.h"
#include "dialects/foreign/stablehlo/parts.h"
#include "dialects/foreign/stablehlo/shapes.h"
#include "dialects/foreign/stablehlo/stablehlo.h"

//===--- products -------------------------------------------------------------===//

static bool expectOneElement(MlirOperation op, const MlirExtShape *a, const MlirExtShape *b) {
  return mlirTypeIsAComplex(a->element) == mlirTypeIsAComplex(b->element) ||
         tileError(op, "multiplies %s and %s, expected two real or two complex tensors",
                   STABLEHLO_TYPE_TEXT(a->element), STABLEHLO_TYPE_TEXT(b->element));
}

bool stablehloDotOpVerify(MlirOperation op) {
  MlirExtShape lhs = stablehloShapeOf(stablehloDotOpGetLhsType(op));
  MlirExtShape rhs = stablehloShapeOf(stablehloDotOpGetRhsType(op));
  MlirExtShape result = stablehloShapeOf(tileOnlyResultType(op));
  if (lhs.rank < 1 || lhs.rank > 2 || rhs.rank < 1 || rhs.rank > 2 ||
      !stablehloSizesAgree(lhs.sizes[lhs.rank - 1], rhs.sizes[0]))
    return tileError(op, "multiplies %s and %s, expected vectors or matrices of one inner size",
                     STABLEHLO_TYPE_TEXT(stablehloDotOpGetLhsType(op)),
                     STABLEHLO_TYPE_TEXT(stablehloDotOpGetRhsType(op)));
  int64_t sizes[2];
  intptr_t rank = 0;
  if (lhs.rank == 2)
    sizes[rank++] = lhs.sizes[0];
  if (rhs.rank == 2)
    sizes[rank++] = rhs.sizes[1];
  return expectOneElement(op, &lhs, &rhs) &&
         stablehloExpectShape(op, tileOnlyResultType(op), rank, sizes, result.element);
}

static bool expectPairs(MlirOperation op, const char *what, const MlirExtShape *lhs, const StablehloList *left,
                        const MlirExtShape *rhs, const StablehloList *right) {
  if (!stablehloExpectDimensions(op, what, left, lhs->rank) || !stablehloExpectDimensions(op, what, right, rhs->rank) ||
      !stablehloExpectCount(op, what, left->count, right->count))
    return false;
  for (intptr_t i = 0; i < left->count; ++i)
    if (!stablehloSizesAgree(lhs->sizes[left->items[i]], rhs->sizes[right->items[i]]))
      return tileError(op, "%s: dimension %ld of lhs has size %ld, dimension %ld of rhs %ld; expected one size", what,
                       (long)left->items[i], (long)lhs->sizes[left->items[i]], (long)right->items[i],
                       (long)rhs->sizes[right->items[i]]);
  return true;
}

bool stablehloDotGeneralOpVerify(MlirOperation op) {
  MlirAttribute numbers = stablehloDotGeneralOpGetDotDimensionNumbers(op);
  StablehloList batch[] = {stablehloField(numbers, StablehloDot_LhsBatch),
                           stablehloField(numbers, StablehloDot_RhsBatch)};
  StablehloList inner[] = {stablehloField(numbers, StablehloDot_LhsContracting),
                           stablehloField(numbers, StablehloDot_RhsContracting)};
  MlirExtShape sides[] = {stablehloShapeOf(stablehloDotGeneralOpGetLhsType(op)),
                          stablehloShapeOf(stablehloDotGeneralOpGetRhsType(op))};
  int64_t sizes[2 * StablehloMaxRank];
  intptr_t rank = 0;
  if (!expectPairs(op, "batching_dims", &sides[0], &batch[0], &sides[1], &batch[1]) ||
      !expectPairs(op, "contracting_dims", &sides[0], &inner[0], &sides[1], &inner[1]) ||
      !expectOneElement(op, &sides[0], &sides[1]))
    return false;
  for (intptr_t i = 0; i < batch[0].count; ++i)
    sizes[rank++] = sides[0].sizes[batch[0].items[i]];
  for (int side = 0; side < 2; ++side)
    for (intptr_t d = 0; d < sides[side].rank; ++d) {
      bool isInner = stablehloListHas(&inner[side], d);
      if (isInner && stablehloListHas(&batch[side], d))
        return tileError(op, "dimension %ld is both a batching and a contracting dimension", (long)d);
      if (!isInner && !stablehloListHas(&batch[side], d))
        sizes[rank++] = sides[side].sizes[d];
    }
  return stablehloExpectShape(op, tileOnlyResultType(op), rank, sizes,
                              stablehloShapeOf(tileOnlyResultType(op)).element);
}

//===--- windows ----------------------------------------------------------------===//

// What a window op says of one dimension; the size of its result along it, -1 after a diagnostic.
typedef struct Window {
  MlirAttribute sizes, strides, base, dilations, padding;
} Window;

static int64_t entry(MlirAttribute list, intptr_t i, int64_t missing) {
  return mlirAttributeIsNull(list) ? missing : mlirDenseI64ArrayGetElement(list, i);
}

int64_t stablehloPaddingAt(MlirAttribute padding, intptr_t at) {
  if (mlirAttributeIsNull(padding))
    return 0;
  return mlirDenseElementsAttrIsSplat(padding) ? mlirDenseElementsAttrGetInt64SplatValue(padding)
                                               : mlirDenseElementsAttrGetInt64Value(padding, at);
}

static bool expectWindow(MlirOperation op, const Window *window, intptr_t rank) {
  MlirAttribute lists[] = {window->sizes, window->strides, window->base, window->dilations};
  for (int i = 0; i < 4; ++i) {
    if (mlirAttributeIsNull(lists[i]))
      continue;
    if (!stablehloExpectCount(op, "a list of the window", mlirDenseArrayGetNumElements(lists[i]), rank))
      return false;
    for (intptr_t d = 0; d < rank; ++d)
      if (mlirDenseI64ArrayGetElement(lists[i], d) < 1)
        return tileError(op, "entry %ld of a list of the window is %ld, expected at least 1", (long)d,
                         (long)mlirDenseI64ArrayGetElement(lists[i], d));
  }
  if (mlirAttributeIsNull(window->padding))
    return true;
  MlirType type =
      mlirAttributeIsADenseElements(window->padding) ? mlirAttributeGetType(window->padding) : (MlirType){NULL};
  MlirExtShape shape = mlirTypeIsNull(type) ? (MlirExtShape){0} : stablehloShapeOf(type);
  bool ok = shape.rank == 2 && shape.sizes[0] == rank && shape.sizes[1] == 2 && mlirTypeIsAInteger(shape.element) &&
            mlirIntegerTypeGetWidth(shape.element) == 64;
  return ok || tileError(op, "padding is not dense numbers of type tensor<%ldx2xi64>", (long)rank);
}

// -1: no possible size.
static int64_t windowed(const Window *window, intptr_t d, int64_t size, int64_t windowSize) {
  int64_t base = entry(window->base, d, 1), dilation = entry(window->dilations, d, 1);
  int64_t padded, extent;
  if (mlirShapedTypeIsDynamicSize(size))
    return size;
  if (__builtin_mul_overflow(size > 0 ? size - 1 : 0, base, &padded) ||
      __builtin_add_overflow(padded, size > 0, &padded) ||
      __builtin_add_overflow(padded, stablehloPaddingAt(window->padding, 2 * d), &padded) ||
      __builtin_add_overflow(padded, stablehloPaddingAt(window->padding, 2 * d + 1), &padded) ||
      __builtin_mul_overflow(windowSize > 0 ? windowSize - 1 : 0, dilation, &extent) ||
      __builtin_add_overflow(extent, windowSize > 0, &extent) || padded < 0)
    return -1;
  return padded < extent || padded == 0 ? 0 : (padded - extent) / entry(window->strides, d, 1) + 1;
}

bool stablehloConvolutionOpVerify(MlirOperation op) {
  MlirExtShape lhs = stablehloShapeOf(stablehloConvolutionOpGetLhsType(op));
  MlirExtShape rhs = stablehloShapeOf(stablehloConvolutionOpGetRhsType(op));
  MlirAttribute numbers = stablehloConvolutionOpGetDimensionNumbers(op);
  MlirAttribute reversal = stablehloConvolutionOpGetWindowReversal(op);
  StablehloConvolution at = stablehloConvolutionOf(numbers);
  Window window = {.strides = stablehloConvolutionOpGetWindowStrides(op),
                   .base = stablehloConvolutionOpGetLhsDilation(op),
                   .dilations = stablehloConvolutionOpGetRhsDilation(op),
                   .padding = stablehloConvolutionOpGetPadding(op)};
  int64_t features = stablehloConvolutionOpGetFeatureGroupCountValue(op);
  int64_t batches = stablehloConvolutionOpGetBatchGroupCountValue(op), sizes[StablehloMaxRank];
  intptr_t spatial = at.input.spatial.count;
  if (lhs.rank != spatial + 2 || rhs.rank != spatial + 2)
    return tileError(op, "ranks are %ld and %ld, expected %ld as of the dimension numbers", (long)lhs.rank,
                     (long)rhs.rank, (long)spatial + 2);
  if (!expectWindow(op, &window, spatial) || !expectOneElement(op, &lhs, &rhs))
    return false;
  if (!mlirAttributeIsNull(reversal) &&
      !stablehloExpectCount(op, "reverse", mlirDenseArrayGetNumElements(reversal), spatial))
    return false;
  int64_t batch = lhs.sizes[at.input.first], channels = lhs.sizes[at.input.second];
  int64_t inputs = rhs.sizes[at.kernel.first], outputs = rhs.sizes[at.kernel.second];
  if (mlirShapedTypeIsDynamicSize(channels) || mlirShapedTypeIsDynamicSize(inputs) ||
      mlirShapedTypeIsDynamicSize(outputs))
    return tileError(op, "the number of features is open, expected a static one");
  if (features < 1 || batches < 1 || (features > 1 && batches > 1) || channels % features || outputs % features ||
      outputs % batches || channels / features != inputs)
    return tileError(op, "%ld feature groups and %ld batch groups do not divide %ld features into %ld for %ld outputs",
                     (long)features, (long)batches, (long)channels, (long)inputs, (long)outputs);
  if (batches > 1 && (mlirShapedTypeIsDynamicSize(batch) || batch % batches))
    return tileError(op, "a batch of %ld is not divisible into %ld groups", (long)batch, (long)batches);
  sizes[at.output.first] = batches > 1 ? batch / batches : batch;
  sizes[at.output.second] = outputs;
  for (intptr_t i = 0; i < spatial; ++i) {
    int64_t kernel = rhs.sizes[at.kernel.spatial.items[i]];
    if (mlirShapedTypeIsDynamicSize(kernel))
      return tileError(op, "a size of the window is open, expected a static one");
    int64_t size = windowed(&window, i, lhs.sizes[at.input.spatial.items[i]], kernel);
    if (size == -1)
      return tileError(op, "padding leaves no possible size along spatial dimension %ld", (long)i);
    sizes[at.output.spatial.items[i]] = size;
  }
  return stablehloExpectShape(op, tileOnlyResultType(op), lhs.rank, sizes,
                              stablehloShapeOf(tileOnlyResultType(op)).element);
}

//===--- regions ----------------------------------------------------------------===//

// One block; `count` arguments and `results` terminated values, of tensors of rank 0. Elements: null for any.
static bool expectBody(MlirOperation op, MlirRegion region, intptr_t count, const MlirType *elements, intptr_t results,
                       const MlirType *resultElements) {
  MlirBlock block = mlirRegionGetFirstBlock(region);
  if (mlirBlockIsNull(block) || !mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
    return tileError(op, "expected a region of one block");
  if (mlirBlockGetNumArguments(block) != count)
    return tileError(op, "a region takes %ld values, expected %ld", (long)mlirBlockGetNumArguments(block), (long)count);
  for (intptr_t i = 0; i < count; ++i)
    if (!stablehloExpectScalarOf(op, "an argument of a region", mlirValueGetType(mlirBlockGetArgument(block, i)),
                                 elements[i]))
      return false;
  MlirOperation end = mlirBlockGetTerminator(block);
  if (!stablehloReturnOpIsA(end) || mlirOperationGetNumOperands(end) != results)
    return tileError(op, "a region returns %ld values, expected %ld",
                     (long)(stablehloReturnOpIsA(end) ? mlirOperationGetNumOperands(end) : -1), (long)results);
  for (intptr_t i = 0; i < results; ++i)
    if (!stablehloExpectScalarOf(op, "a value that a region returns", tileOperandType(end, i), resultElements[i]))
      return false;
  return true;
}

// A body that combines two values of each of `count` elements.
static bool expectCombiner(MlirOperation op, MlirRegion region, intptr_t count, const MlirType *elements) {
  enum { Most = 64 };
  MlirType twice[2 * Most];
  if (count > Most)
    return tileError(op, "has %ld inputs, at most %d are supported", (long)count, Most);
  for (intptr_t i = 0; i < count; ++i)
    twice[i] = twice[count + i] = elements[i];
  return expectBody(op, region, 2 * count, twice, count, elements);
}

// n inputs of one shape, n initial values; the elements of the latter. False after a diagnostic.
enum { MostInputs = 64 };
static bool expectInputs(MlirOperation op, intptr_t *count, MlirType *elements) {
  intptr_t operands = mlirOperationGetNumOperands(op);
  *count = operands / 2;
  if (operands % 2 || operands == 0 || operands > 2 * MostInputs || mlirOperationGetNumResults(op) != *count)
    return tileError(op, "has %ld operands and %ld results, expected n inputs, n initial values and n results",
                     (long)operands, (long)mlirOperationGetNumResults(op));
  MlirExtShape first = stablehloShapeOf(tileFirstOperandType(op));
  for (intptr_t i = 0; i < *count; ++i) {
    MlirExtShape input = stablehloShapeOf(tileOperandType(op, i));
    elements[i] = stablehloShapeOf(tileOperandType(op, *count + i)).element;
    if (!stablehloShapesAgree(&input, &first))
      return tileError(op, "input %ld is %s, expected the shape of the first, %s", (long)i,
                       STABLEHLO_TYPE_TEXT(tileOperandType(op, i)), STABLEHLO_TYPE_TEXT(tileFirstOperandType(op)));
    if (!stablehloExpectScalarOf(op, "an initial value", tileOperandType(op, *count + i), input.element))
      return false;
  }
  return true;
}

bool stablehloReduceOpVerifyRegions(MlirOperation op) {
  MlirType elements[MostInputs];
  StablehloList dimensions = stablehloList(stablehloReduceOpGetDimensions(op));
  int64_t sizes[StablehloMaxRank];
  intptr_t count, rank = 0;
  if (!expectInputs(op, &count, elements))
    return false;
  MlirExtShape input = stablehloShapeOf(tileFirstOperandType(op));
  if (!stablehloExpectDimensions(op, "dimensions", &dimensions, input.rank))
    return false;
  for (intptr_t d = 0; d < input.rank; ++d)
    if (!stablehloListHas(&dimensions, d))
      sizes[rank++] = input.sizes[d];
  for (intptr_t i = 0; i < count; ++i)
    if (!stablehloExpectShape(op, tileResultType(op, i), rank, sizes, elements[i]))
      return false;
  return expectCombiner(op, stablehloReduceOpGetBody(op), count, elements);
}

bool stablehloReduceWindowOpVerifyRegions(MlirOperation op) {
  Window window = {stablehloReduceWindowOpGetWindowDimensions(op), stablehloReduceWindowOpGetWindowStrides(op),
                   stablehloReduceWindowOpGetBaseDilations(op), stablehloReduceWindowOpGetWindowDilations(op),
                   stablehloReduceWindowOpGetPadding(op)};
  MlirType elements[MostInputs];
  int64_t sizes[StablehloMaxRank];
  intptr_t count;
  if (!expectInputs(op, &count, elements))
    return false;
  MlirExtShape input = stablehloShapeOf(tileFirstOperandType(op));
  if (!expectWindow(op, &window, input.rank))
    return false;
  for (intptr_t d = 0; d < input.rank; ++d)
    if ((sizes[d] = windowed(&window, d, input.sizes[d], entry(window.sizes, d, 1))) == -1)
      return tileError(op, "padding leaves no possible size along dimension %ld", (long)d);
  for (intptr_t i = 0; i < count; ++i)
    if (!stablehloExpectShape(op, tileResultType(op, i), input.rank, sizes, elements[i]))
      return false;
  return expectCombiner(op, stablehloReduceWindowOpGetBody(op), count, elements);
}

bool stablehloSelectAndScatterOpVerifyRegions(MlirOperation op) {
  MlirType operandType = stablehloSelectAndScatterOpGetOperandType(op);
  MlirExtShape operand = stablehloShapeOf(operandType);
  MlirExtShape source = stablehloShapeOf(stablehloSelectAndScatterOpGetSourceType(op));
  Window window = {.sizes = stablehloSelectAndScatterOpGetWindowDimensions(op),
                   .strides = stablehloSelectAndScatterOpGetWindowStrides(op),
                   .padding = stablehloSelectAndScatterOpGetPadding(op)};
  MlirType i1 = mlirIntegerTypeGet(mlirOperationGetContext(op), 1);
  MlirType two[] = {operand.element, operand.element};
  if (!expectWindow(op, &window, operand.rank) || !stablehloExpectCount(op, "source", source.rank, operand.rank) ||
      !stablehloExpectScalarOf(op, "init_value", stablehloSelectAndScatterOpGetInitValueType(op), source.element) ||
      !stablehloExpectShape(op, tileOnlyResultType(op), operand.rank, operand.sizes, operand.element))
    return false;
  for (intptr_t d = 0; d < operand.rank; ++d)
    if (!stablehloSizesAgree(source.sizes[d], windowed(&window, d, operand.sizes[d], entry(window.sizes, d, 1))))
      return tileError(op, "size %ld of the source is %ld, expected the number of windows", (long)d,
                       (long)source.sizes[d]);
  if (!mlirTypeEqual(source.element, operand.element))
    return tileError(op, "operand and source have other elements");
  return expectBody(op, stablehloSelectAndScatterOpGetSelect(op), 2, two, 1, &i1) &&
         expectCombiner(op, stablehloSelectAndScatterOpGetScatter(op), 1, two);
}

bool stablehloScatterOpVerifyRegions(MlirOperation op) {
  MlirType elements[MostInputs];
  intptr_t count = mlirOperationGetNumOperands(op) / 2;
  for (intptr_t i = 0; i < count && i < MostInputs; ++i)
    elements[i] = stablehloShapeOf(tileOperandType(op, i)).element;
  return expectCombiner(op, stablehloScatterOpGetUpdateComputation(op), count, elements);
}

bool stablehloSortOpVerifyRegions(MlirOperation op) {
  intptr_t count = mlirOperationGetNumOperands(op);
  MlirType i1 = mlirIntegerTypeGet(mlirOperationGetContext(op), 1), elements[2 * MostInputs];
  if (count == 0 || count > MostInputs)
    return tileError(op, "has %ld inputs, expected 1 to %d", (long)count, MostInputs);
  MlirExtShape first = stablehloShapeOf(tileFirstOperandType(op));
  MlirAttribute attribute = stablehloSortOpGetDimension(op);
  int64_t dimension = mlirAttributeIsNull(attribute) ? -1 : mlirIntegerAttrGetValueInt(attribute);
  if (!stablehloExpectDimension(op, "dimension", dimension < 0 ? dimension + first.rank : dimension, first.rank))
    return false;
  for (intptr_t i = 0; i < count; ++i) {
    MlirExtShape input = stablehloShapeOf(tileOperandType(op, i));
    elements[2 * i] = elements[2 * i + 1] = input.element;
    if (!stablehloShapesAgree(&input, &first))
      return tileError(op, "input %ld is %s, expected the shape of the first, %s", (long)i,
                       STABLEHLO_TYPE_TEXT(tileOperandType(op, i)), STABLEHLO_TYPE_TEXT(tileFirstOperandType(op)));
  }
  return expectBody(op, stablehloSortOpGetComparator(op), 2 * count, elements, 1, &i1);
}

bool stablehloMapOpVerifyRegions(MlirOperation op) {
  intptr_t count = mlirOperationGetNumOperands(op);
  MlirType elements[MostInputs], result = stablehloShapeOf(tileOnlyResultType(op)).element;
  if (count == 0 || count > MostInputs)
    return tileError(op, "has %ld inputs, expected 1 to %d", (long)count, MostInputs);
  for (intptr_t i = 0; i < count; ++i)
    elements[i] = stablehloShapeOf(tileOperandType(op, i)).element;
  return stablehloVerifySameShapes(op) && expectBody(op, stablehloMapOpGetComputation(op), count, elements, 1, &result);
}

//===--- control flow -----------------------------------------------------------===//

// One block that takes values of these types and returns such ones.
static bool expectRegion(MlirOperation op, MlirRegion region, intptr_t arguments, intptr_t results, const char *what) {
  MlirBlock block = mlirRegionGetFirstBlock(region);
  if (mlirBlockIsNull(block) || !mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
    return tileError(op, "expected a region of one block");
  MlirOperation end = mlirBlockGetTerminator(block);
  if (mlirBlockGetNumArguments(block) != arguments || !stablehloReturnOpIsA(end) ||
      mlirOperationGetNumOperands(end) != results)
    return tileError(op, "%s takes %ld values and returns %ld, expected %ld and %ld", what,
                     (long)mlirBlockGetNumArguments(block), (long)mlirOperationGetNumOperands(end), (long)arguments,
                     (long)results);
  for (intptr_t i = 0; i < arguments; ++i)
    if (!mlirTypeEqual(mlirValueGetType(mlirBlockGetArgument(block, i)), tileOperandType(op, i)))
      return tileError(op, "value %ld that %s takes is not of the operand's type, %s", (long)i, what,
                       STABLEHLO_TYPE_TEXT(tileOperandType(op, i)));
  return true;
}

static bool expectReturns(MlirOperation op, MlirRegion region, const char *what) {
  MlirOperation end = mlirBlockGetTerminator(mlirRegionGetFirstBlock(region));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!stablehloIsCompatible(tileOperandType(end, i), tileResultType(op, i)))
      return tileError(op, "value %ld that %s returns is %s, expected %s", (long)i, what,
                       STABLEHLO_TYPE_TEXT(tileOperandType(end, i)), STABLEHLO_TYPE_TEXT(tileResultType(op, i)));
  return true;
}

bool stablehloWhileOpVerifyRegions(MlirOperation op) {
  intptr_t count = mlirOperationGetNumOperands(op);
  MlirType i1 = mlirIntegerTypeGet(mlirOperationGetContext(op), 1);
  if (!stablehloExpectCount(op, "results", mlirOperationGetNumResults(op), count) ||
      !expectRegion(op, stablehloWhileOpGetCond(op), count, 1, "the condition") ||
      !expectRegion(op, stablehloWhileOpGetBody(op), count, count, "the body"))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    if (!mlirTypeEqual(tileResultType(op, i), tileOperandType(op, i)))
      return tileError(op, "result %ld is %s, expected the operand's type, %s", (long)i,
                       STABLEHLO_TYPE_TEXT(tileResultType(op, i)), STABLEHLO_TYPE_TEXT(tileOperandType(op, i)));
  MlirOperation end = mlirBlockGetTerminator(mlirRegionGetFirstBlock(stablehloWhileOpGetCond(op)));
  return stablehloExpectScalarOf(op, "the condition", tileOnlyOperandType(end), i1) &&
         expectReturns(op, stablehloWhileOpGetBody(op), "the body");
}

bool stablehloIfOpVerifyRegions(MlirOperation op) {
  MlirType i1 = mlirIntegerTypeGet(mlirOperationGetContext(op), 1);
  MlirRegion regions[] = {stablehloIfOpGetTrueBranch(op), stablehloIfOpGetFalseBranch(op)};
  if (!stablehloExpectScalarOf(op, "pred", stablehloIfOpGetPredType(op), i1))
    return false;
  for (int i = 0; i < 2; ++i)
    if (!expectRegion(op, regions[i], 0, mlirOperationGetNumResults(op), "a branch") ||
        !expectReturns(op, regions[i], "a branch"))
      return false;
  return true;
}

bool stablehloCaseOpVerifyRegions(MlirOperation op) {
  MlirType i32 = mlirIntegerTypeGet(mlirOperationGetContext(op), 32);
  if (!stablehloExpectScalarOf(op, "index", stablehloCaseOpGetIndexType(op), i32))
    return false;
  if (mlirOperationGetNumRegions(op) == 0)
    return tileError(op, "has no branches, expected at least one");
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
    if (!expectRegion(op, mlirOperationGetRegion(op, i), 0, mlirOperationGetNumResults(op), "a branch") ||
        !expectReturns(op, mlirOperationGetRegion(op, i), "a branch"))
      return false;
  return true;
}

//===--- matrices, transforms, random bits ----------------------------------------===//

bool stablehloCholeskyOpVerify(MlirOperation op) {
  MlirExtShape a = stablehloShapeOf(tileOnlyOperandType(op));
  bool isSquare = a.rank >= 2 && stablehloSizesAgree(a.sizes[a.rank - 1], a.sizes[a.rank - 2]);
  return stablehloVerifyElementwise(op) && (isSquare || tileError(op, "operand is %s, expected square matrices",
                                                                  STABLEHLO_TYPE_TEXT(tileOnlyOperandType(op))));
}

bool stablehloTriangularSolveOpVerify(MlirOperation op) {
  MlirType typeA = stablehloTriangularSolveOpGetAType(op), typeB = stablehloTriangularSolveOpGetBType(op);
  MlirExtShape a = stablehloShapeOf(typeA), b = stablehloShapeOf(typeB);
  bool ok = a.rank >= 2 && a.rank == b.rank && mlirTypeEqual(a.element, b.element) &&
            stablehloSizesAgree(a.sizes[a.rank - 1], a.sizes[a.rank - 2]);
  for (intptr_t i = 0; ok && i < a.rank - 2; ++i)
    ok = stablehloSizesAgree(a.sizes[i], b.sizes[i]);
  bool left = ok && stablehloTriangularSolveOpGetLeftSideValue(op);
  ok = ok && stablehloSizesAgree(a.sizes[a.rank - 1], b.sizes[b.rank - (left ? 2 : 1)]);
  if (!ok)
    return tileError(op, "operands are %s and %s, expected square matrices and as many right sides of their size",
                     STABLEHLO_TYPE_TEXT(typeA), STABLEHLO_TYPE_TEXT(typeB));
  if (stablehloWordOf(stablehloTriangularSolveOpGetTransposeA(op)) == StablehloTranspose_Invalid)
    return tileError(op, "transpose_a is TRANSPOSE_INVALID");
  return stablehloExpectShape(op, tileOnlyResultType(op), b.rank, b.sizes, b.element);
}

bool stablehloFftOpVerify(MlirOperation op) {
  MlirExtShape operand = stablehloShapeOf(tileOnlyOperandType(op));
  StablehloList length = stablehloList(stablehloFftOpGetFftLength(op));
  StablehloFft kind = stablehloWordOf(stablehloFftOpGetFftType(op));
  bool realIn = kind == StablehloFft_Rfft, realOut = kind == StablehloFft_Irfft;
  bool isComplex = mlirTypeIsAComplex(operand.element);
  int64_t sizes[StablehloMaxRank];
  if (length.count < 1 || length.count > 3 || length.count > operand.rank)
    return tileError(op, "length has %ld entries, expected 1 to 3 and at most the rank", (long)length.count);
  if (isComplex == realIn)
    return tileError(op, "operand is %s, expected %s numbers", STABLEHLO_TYPE_TEXT(tileOnlyOperandType(op)),
                     realIn ? "real" : "complex");
  for (intptr_t d = 0; d < operand.rank; ++d) {
    intptr_t i = d - (operand.rank - length.count);
    bool isHalf = d + 1 == operand.rank && (realIn || realOut);
    sizes[d] = operand.sizes[d];
    if (i < 0)
      continue;
    int64_t wanted = isHalf && realOut ? (length.items[i] ? length.items[i] / 2 + 1 : 0) : length.items[i];
    if (length.items[i] < 0 || operand.sizes[d] != wanted)
      return tileError(op, "size %ld of the operand is %ld, expected %ld", (long)d, (long)operand.sizes[d],
                       (long)wanted);
    sizes[d] = isHalf && realIn ? (length.items[i] ? length.items[i] / 2 + 1 : 0) : length.items[i];
  }
  MlirType part = isComplex ? mlirComplexTypeGetElementType(operand.element) : operand.element;
  return stablehloExpectShape(op, tileOnlyResultType(op), operand.rank, sizes,
                              realOut ? part : mlirComplexTypeGet(part));
}

bool stablehloRngBitGeneratorOpVerify(MlirOperation op) {
  MlirType state = tileOnlyOperandType(op), next = stablehloRngBitGeneratorOpGetOutputStateType(op);
  MlirExtShape shape = stablehloShapeOf(state);
  bool ok = shape.rank == 1 && mlirIntegerTypeGetWidth(shape.element) == 64 &&
            (shape.sizes[0] == 2 || shape.sizes[0] == 3) && mlirTypeEqual(state, next) &&
            mlirShapedTypeHasStaticShape(stablehloRngBitGeneratorOpGetOutputType(op));
  return ok || tileError(op, "state is %s and becomes %s, expected two or three 64-bit integers and a static output",
                         STABLEHLO_TYPE_TEXT(state), STABLEHLO_TYPE_TEXT(next));
}
