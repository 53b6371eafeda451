// Verifiers of StableHLO's elementwise ops and of those that move data. The row's own checks have passed. What several
// verifiers ask is in shapes.h.
#include "dialects/foreign/stablehlo/ops.h"
#include "dialects/foreign/stablehlo/parts.h"
#include "dialects/foreign/stablehlo/shapes.h"
#include "dialects/foreign/stablehlo/stablehlo.h"

//===--- questions ------------------------------------------------------------===//

bool stablehloIsCompatible(MlirType a, MlirType b) {
  MlirExtShape first, second;
  return mlirExtTypeGetShape(a, &first) && mlirExtTypeGetShape(b, &second) &&
         mlirTypeEqual(first.element, second.element) && stablehloShapesAgree(&first, &second);
}

MlirExtShape stablehloShapeOf(MlirType type) {
  MlirExtShape shape = {0};
  mlirExtTypeGetShape(type, &shape);
  return shape;
}

bool stablehloShapesAgree(const MlirExtShape *a, const MlirExtShape *b) {
  bool ok = a->rank == b->rank;
  for (intptr_t i = 0; ok && i < a->rank; ++i)
    ok = stablehloSizesAgree(a->sizes[i], b->sizes[i]);
  return ok;
}

bool stablehloExpectShape(MlirOperation op, MlirType seen, intptr_t rank, const int64_t *sizes, MlirType element) {
  MlirType wanted = mlirRankedTensorTypeGet(rank, sizes, element, mlirAttributeGetNull());
  return stablehloIsCompatible(seen, wanted) ||
         tileError(op, "result is %s, expected %s", STABLEHLO_TYPE_TEXT(seen), STABLEHLO_TYPE_TEXT(wanted));
}

bool stablehloExpectCount(MlirOperation op, const char *what, intptr_t seen, intptr_t wanted) {
  return seen == wanted || tileError(op, "%s has %ld entries, expected %ld", what, (long)seen, (long)wanted);
}

bool stablehloExpectDimensions(MlirOperation op, const char *what, const StablehloList *list, int64_t rank) {
  for (intptr_t i = 0; i < list->count; ++i) {
    if (list->items[i] < 0 || list->items[i] >= rank)
      return tileError(op, "%s holds %ld, expected 0 to %ld", what, (long)list->items[i], (long)rank - 1);
    for (intptr_t j = 0; j < i; ++j)
      if (list->items[i] == list->items[j])
        return tileError(op, "%s holds %ld twice", what, (long)list->items[i]);
  }
  return true;
}

bool stablehloExpectDimension(MlirOperation op, const char *what, int64_t dimension, int64_t rank) {
  return (dimension >= 0 && dimension < rank) ||
         tileError(op, "%s is %ld, expected 0 to %ld", what, (long)dimension, (long)rank - 1);
}

bool stablehloExpectScalarOf(MlirOperation op, const char *what, MlirType type, MlirType element) {
  MlirExtShape shape = stablehloShapeOf(type);
  return (shape.rank == 0 && mlirTypeEqual(shape.element, element)) ||
         tileError(op, "%s is %s, expected a tensor of rank 0 of %s", what, STABLEHLO_TYPE_TEXT(type),
                   STABLEHLO_TYPE_TEXT(element));
}

//===--- elementwise ----------------------------------------------------------===//

static bool verifyAll(MlirOperation op, bool elements) {
  MlirType result = tileFirstResultType(op);
  MlirExtShape wanted = stablehloShapeOf(result);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirExtShape seen = stablehloShapeOf(tileOperandType(op, i));
    if (!stablehloShapesAgree(&seen, &wanted) || (elements && !mlirTypeEqual(seen.element, wanted.element)))
      return tileError(op, "operand %ld is %s, expected the shape%s of the result, %s", (long)i,
                       STABLEHLO_TYPE_TEXT(tileOperandType(op, i)), elements ? " and elements" : "",
                       STABLEHLO_TYPE_TEXT(result));
  }
  return true;
}

bool stablehloVerifyElementwise(MlirOperation op) { return verifyAll(op, true); }
bool stablehloVerifySameShapes(MlirOperation op) { return verifyAll(op, false); }

static MlirType partOf(MlirType element) {
  return mlirTypeIsAComplex(element) ? mlirComplexTypeGetElementType(element) : element;
}

// The result has the operand's element type, or that of its parts.
bool stablehloVerifyParts(MlirOperation op) {
  MlirExtShape operand = stablehloShapeOf(tileOnlyOperandType(op)), result = stablehloShapeOf(tileOnlyResultType(op));
  return verifyAll(op, false) &&
         (mlirTypeEqual(result.element, partOf(operand.element)) ||
          tileError(op, "result is %s, expected elements of %s", STABLEHLO_TYPE_TEXT(tileOnlyResultType(op)),
                    STABLEHLO_TYPE_TEXT(partOf(operand.element))));
}

bool stablehloComplexOpVerify(MlirOperation op) {
  MlirExtShape lhs = stablehloShapeOf(stablehloComplexOpGetLhsType(op)),
               rhs = stablehloShapeOf(stablehloComplexOpGetRhsType(op));
  MlirExtShape result = stablehloShapeOf(tileOnlyResultType(op));
  return verifyAll(op, false) &&
         ((mlirTypeEqual(lhs.element, rhs.element) && mlirTypeEqual(partOf(result.element), lhs.element)) ||
          tileError(op, "parts are %s and %s, expected the parts of %s", STABLEHLO_TYPE_TEXT(lhs.element),
                    STABLEHLO_TYPE_TEXT(rhs.element), STABLEHLO_TYPE_TEXT(result.element)));
}

unsigned stablehloElementBits(MlirType element) {
  return mlirTypeIsAComplex(element) ? 2 * tileElementWidth(partOf(element)) : tileElementWidth(element);
}

bool stablehloBitcastConvertOpVerify(MlirOperation op) {
  MlirExtShape from = stablehloShapeOf(tileOnlyOperandType(op)), to = stablehloShapeOf(tileOnlyResultType(op));
  unsigned wide = stablehloElementBits(from.element), narrow = stablehloElementBits(to.element);
  bool ok = wide && narrow && (mlirTypeIsAComplex(from.element) == mlirTypeIsAComplex(to.element));
  if (ok && wide == narrow)
    return stablehloShapesAgree(&from, &to) || tileError(op, "operand and result have one width, but other shapes");
  const MlirExtShape *more = wide > narrow ? &to : &from, *fewer = wide > narrow ? &from : &to;
  unsigned ratio = ok ? (wide > narrow ? wide / narrow : narrow / wide) : 0;
  ok = ok && wide % narrow * (narrow % wide) == 0 && more->rank == fewer->rank + 1 && more->sizes[fewer->rank] == ratio;
  for (intptr_t i = 0; ok && i < fewer->rank; ++i)
    ok = stablehloSizesAgree(more->sizes[i], fewer->sizes[i]);
  return ok || tileError(op, "the bits of %s are not those of %s", STABLEHLO_TYPE_TEXT(tileOnlyOperandType(op)),
                         STABLEHLO_TYPE_TEXT(tileOnlyResultType(op)));
}

bool stablehloReducePrecisionOpVerify(MlirOperation op) {
  int64_t exponent = stablehloReducePrecisionOpGetExponentBitsValue(op);
  int64_t mantissa = stablehloReducePrecisionOpGetMantissaBitsValue(op);
  return verifyAll(op, true) &&
         ((exponent > 0 && mantissa >= 0) ||
          tileError(op, "format is e%ldm%ld, expected at least e1m0", (long)exponent, (long)mantissa));
}

bool stablehloCompareOpVerify(MlirOperation op) {
  MlirType lhs = stablehloCompareOpGetLhsType(op), rhs = stablehloCompareOpGetRhsType(op);
  MlirType element = stablehloShapeOf(lhs).element;
  MlirAttribute kind = stablehloCompareOpGetCompareType(op);
  StablehloDirection direction = stablehloWordOf(stablehloCompareOpGetComparisonDirection(op));
  if (!verifyAll(op, false) || !stablehloIsCompatible(lhs, rhs))
    return tileError(op, "compares %s and %s, expected one type", STABLEHLO_TYPE_TEXT(lhs), STABLEHLO_TYPE_TEXT(rhs));
  if (mlirTypeIsAComplex(element) && direction != StablehloDirection_EQ && direction != StablehloDirection_NE)
    return tileError(op, "complex numbers have no order, expected EQ or NE");
  if (mlirAttributeIsNull(kind) || mlirTypeIsAComplex(element))
    return true;
  StablehloComparison comparison = stablehloWordOf(kind);
  bool isFloat = comparison == StablehloComparison_Float || comparison == StablehloComparison_TotalOrder;
  return comparison == StablehloComparison_None || isFloat == mlirTypeIsAFloat(element) ||
         tileError(op, "compares %s as another kind of number", STABLEHLO_TYPE_TEXT(element));
}

bool stablehloSelectOpVerify(MlirOperation op) {
  MlirType result = tileOnlyResultType(op);
  MlirExtShape pred = stablehloShapeOf(stablehloSelectOpGetPredType(op)), shape = stablehloShapeOf(result);
  if (pred.rank && !stablehloShapesAgree(&pred, &shape))
    return tileError(op, "pred is %s, expected rank 0 or the shape of the result, %s",
                     STABLEHLO_TYPE_TEXT(stablehloSelectOpGetPredType(op)), STABLEHLO_TYPE_TEXT(result));
  return (stablehloIsCompatible(stablehloSelectOpGetOnTrueType(op), result) &&
          stablehloIsCompatible(stablehloSelectOpGetOnFalseType(op), result)) ||
         tileError(op, "selects of %s and %s, expected %s", STABLEHLO_TYPE_TEXT(stablehloSelectOpGetOnTrueType(op)),
                   STABLEHLO_TYPE_TEXT(stablehloSelectOpGetOnFalseType(op)), STABLEHLO_TYPE_TEXT(result));
}

bool stablehloClampOpVerify(MlirOperation op) {
  MlirType result = tileOnlyResultType(op);
  MlirType bounds[] = {stablehloClampOpGetMinType(op), stablehloClampOpGetMaxType(op)};
  if (!stablehloIsCompatible(stablehloClampOpGetOperandType(op), result))
    return tileError(op, "operand is %s, result is %s, expected one type",
                     STABLEHLO_TYPE_TEXT(stablehloClampOpGetOperandType(op)), STABLEHLO_TYPE_TEXT(result));
  for (int i = 0; i < 2; ++i)
    if (!stablehloIsCompatible(bounds[i], result) &&
        !(stablehloShapeOf(bounds[i]).rank == 0 &&
          mlirTypeEqual(stablehloShapeOf(bounds[i]).element, stablehloShapeOf(result).element)))
      return tileError(op, "%s is %s, expected rank 0 or %s", i ? "max" : "min", STABLEHLO_TYPE_TEXT(bounds[i]),
                       STABLEHLO_TYPE_TEXT(result));
  return true;
}

//===--- constants, shapes ----------------------------------------------------===//

bool stablehloConstantOpVerify(MlirOperation op) {
  MlirType type = mlirAttributeGetType(stablehloConstantOpGetValue(op));
  return mlirTypeEqual(type, tileOnlyResultType(op)) ||
         tileError(op, "value is %s, expected the result's type, %s", STABLEHLO_TYPE_TEXT(type),
                   STABLEHLO_TYPE_TEXT(tileOnlyResultType(op)));
}

bool stablehloConstantOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands,
                             MlirExtFoldResults results) {
  mlirExtFoldResultsAddAttribute(results, stablehloConstantOpGetValue(op));
  return true;
}

bool stablehloConstantOpInferTypes(const MlirExtInference *inference, MlirExtTypeList types) {
  MlirAttribute value = mlirDictionaryAttrGetElementByName(inference->attributes, tileString("value"));
  mlirExtTypeListAppend(types, mlirAttributeGetType(value));
  return true;
}

bool stablehloIotaOpVerify(MlirOperation op) {
  MlirExtShape shape = stablehloShapeOf(tileOnlyResultType(op));
  bool isStatic = mlirShapedTypeHasStaticShape(tileOnlyResultType(op));
  return stablehloExpectDimension(op, "dim", stablehloIotaOpGetIotaDimensionValue(op), shape.rank) &&
         (isStatic ||
          tileError(op, "result is %s, expected a static shape", STABLEHLO_TYPE_TEXT(tileOnlyResultType(op))));
}

static bool verifyBroadcast(MlirOperation op, MlirType operandType, MlirAttribute dimensions) {
  StablehloList list = stablehloList(dimensions);
  MlirExtShape operand = stablehloShapeOf(operandType), result = stablehloShapeOf(tileOnlyResultType(op));
  if (!stablehloExpectCount(op, "dims", mlirDenseArrayGetNumElements(dimensions), operand.rank) ||
      !stablehloExpectDimensions(op, "dims", &list, result.rank))
    return false;
  for (intptr_t i = 0; i < operand.rank; ++i)
    if (operand.sizes[i] != 1 && !stablehloSizesAgree(operand.sizes[i], result.sizes[list.items[i]]))
      return tileError(op, "size %ld of the operand is %ld, expected 1 or that of the result's dimension %ld, %ld",
                       (long)i, (long)operand.sizes[i], (long)list.items[i], (long)result.sizes[list.items[i]]);
  return mlirTypeEqual(operand.element, result.element) || tileError(op, "operand and result have other elements");
}

bool stablehloBroadcastInDimOpVerify(MlirOperation op) {
  return verifyBroadcast(op, stablehloBroadcastInDimOpGetOperandType(op),
                         stablehloBroadcastInDimOpGetBroadcastDimensions(op)) &&
         (mlirShapedTypeHasStaticShape(tileOnlyResultType(op)) ||
          tileError(op, "result is %s, expected a static shape", STABLEHLO_TYPE_TEXT(tileOnlyResultType(op))));
}

// False where a size is unknown, or the count beyond 64 bits.
static bool countElements(MlirExtShape shape, int64_t *count) {
  *count = 1;
  for (intptr_t i = 0; i < shape.rank; ++i)
    if (mlirShapedTypeIsDynamicSize(shape.sizes[i]) || __builtin_mul_overflow(*count, shape.sizes[i], count))
      return false;
  return true;
}

static bool expectElements(MlirOperation op, MlirType operand) {
  int64_t from, to;
  MlirExtShape a = stablehloShapeOf(operand), b = stablehloShapeOf(tileOnlyResultType(op));
  bool areKnown = countElements(a, &from) && countElements(b, &to);
  return (mlirTypeEqual(a.element, b.element) && (!areKnown || from == to)) ||
         tileError(op, "the elements of %s are not those of %s", STABLEHLO_TYPE_TEXT(operand),
                   STABLEHLO_TYPE_TEXT(tileOnlyResultType(op)));
}

bool stablehloReshapeOpVerify(MlirOperation op) {
  return expectElements(op, tileOnlyOperandType(op)) &&
         (mlirShapedTypeHasStaticShape(tileOnlyResultType(op)) ||
          tileError(op, "result is %s, expected a static shape", STABLEHLO_TYPE_TEXT(tileOnlyResultType(op))));
}

// The ops that take their result's shape as their last operand.
bool stablehloDynamicShapeOpVerify(MlirOperation op) {
  MlirExtShape list = stablehloShapeOf(tileOperandType(op, mlirOperationGetNumOperands(op) - 1));
  MlirExtShape result = stablehloShapeOf(tileOnlyResultType(op));
  if (list.sizes[0] != result.rank)
    return tileError(op, "the shape has %ld entries, expected one for each dimension of %s", (long)list.sizes[0],
                     STABLEHLO_TYPE_TEXT(tileOnlyResultType(op)));
  if (stablehloDynamicIotaOpIsA(op))
    return stablehloExpectDimension(op, "dim", stablehloDynamicIotaOpGetIotaDimensionValue(op), result.rank);
  if (stablehloDynamicReshapeOpIsA(op))
    return expectElements(op, stablehloDynamicReshapeOpGetOperandType(op));
  return verifyBroadcast(op, stablehloDynamicBroadcastInDimOpGetOperandType(op),
                         stablehloDynamicBroadcastInDimOpGetBroadcastDimensions(op));
}

bool stablehloGetDimensionSizeOpVerify(MlirOperation op) {
  MlirType i32 = mlirIntegerTypeGet(mlirOperationGetContext(op), 32);
  return stablehloExpectDimension(op, "dim", stablehloGetDimensionSizeOpGetDimensionValue(op),
                                  stablehloShapeOf(tileOnlyOperandType(op)).rank) &&
         stablehloExpectScalarOf(op, "result", tileOnlyResultType(op), i32);
}

//===--- data movement --------------------------------------------------------===//

bool stablehloTransposeOpVerify(MlirOperation op) {
  StablehloList list = stablehloList(stablehloTransposeOpGetPermutation(op));
  MlirExtShape operand = stablehloShapeOf(tileOnlyOperandType(op));
  int64_t sizes[StablehloMaxRank];
  if (!stablehloExpectCount(op, "dims", mlirDenseArrayGetNumElements(stablehloTransposeOpGetPermutation(op)),
                            operand.rank) ||
      !stablehloExpectDimensions(op, "dims", &list, operand.rank))
    return false;
  for (intptr_t i = 0; i < operand.rank; ++i)
    sizes[i] = operand.sizes[list.items[i]];
  return stablehloExpectShape(op, tileOnlyResultType(op), operand.rank, sizes, operand.element);
}

bool stablehloSliceOpVerify(MlirOperation op) {
  MlirExtShape operand = stablehloShapeOf(tileOnlyOperandType(op));
  MlirAttribute lists[] = {stablehloSliceOpGetStartIndices(op), stablehloSliceOpGetLimitIndices(op),
                           stablehloSliceOpGetStrides(op)};
  int64_t sizes[StablehloMaxRank];
  for (int i = 0; i < 3; ++i)
    if (!stablehloExpectCount(op, "a list of the slice", mlirDenseArrayGetNumElements(lists[i]), operand.rank))
      return false;
  for (intptr_t i = 0; i < operand.rank; ++i) {
    int64_t start = mlirDenseI64ArrayGetElement(lists[0], i), limit = mlirDenseI64ArrayGetElement(lists[1], i);
    int64_t stride = mlirDenseI64ArrayGetElement(lists[2], i), size = operand.sizes[i];
    if (start < 0 || limit < start || stride < 1 || (!mlirShapedTypeIsDynamicSize(size) && limit > size))
      return tileError(op, "range %ld is %ld:%ld:%ld, expected one within a size of %ld", (long)i, (long)start,
                       (long)limit, (long)stride, (long)size);
    sizes[i] = (limit - start) / stride + ((limit - start) % stride > 0);
  }
  return stablehloExpectShape(op, tileOnlyResultType(op), operand.rank, sizes, operand.element);
}

static bool expectStarts(MlirOperation op, intptr_t seen, intptr_t first, intptr_t rank) {
  if (seen != rank)
    return tileError(op, "%ld start indices, expected one for each of %ld dimensions", (long)seen, (long)rank);
  for (intptr_t i = 1; i < rank; ++i)
    if (!mlirTypeEqual(tileOperandType(op, first + i), tileOperandType(op, first)))
      return tileError(op, "start indices have several types, expected one");
  return true;
}

bool stablehloDynamicSliceOpVerify(MlirOperation op) {
  MlirExtShape operand = stablehloShapeOf(stablehloDynamicSliceOpGetOperandType(op));
  StablehloList sizes = stablehloList(stablehloDynamicSliceOpGetSliceSizes(op));
  if (!expectStarts(op, stablehloDynamicSliceOpGetNumStartIndices(op), stablehloDynamicSliceOpGetStartIndicesBegin(op),
                    operand.rank) ||
      !stablehloExpectCount(op, "sizes", mlirDenseArrayGetNumElements(stablehloDynamicSliceOpGetSliceSizes(op)),
                            operand.rank))
    return false;
  for (intptr_t i = 0; i < operand.rank; ++i)
    if (sizes.items[i] < 0 || (!mlirShapedTypeIsDynamicSize(operand.sizes[i]) && sizes.items[i] > operand.sizes[i]))
      return tileError(op, "size %ld is %ld, expected 0 to %ld", (long)i, (long)sizes.items[i], (long)operand.sizes[i]);
  return stablehloExpectShape(op, tileOnlyResultType(op), operand.rank, sizes.items, operand.element);
}

bool stablehloDynamicUpdateSliceOpVerify(MlirOperation op) {
  MlirType type = stablehloDynamicUpdateSliceOpGetOperandType(op);
  MlirExtShape operand = stablehloShapeOf(type),
               update = stablehloShapeOf(stablehloDynamicUpdateSliceOpGetUpdateType(op));
  if (!expectStarts(op, stablehloDynamicUpdateSliceOpGetNumStartIndices(op),
                    stablehloDynamicUpdateSliceOpGetStartIndicesBegin(op), operand.rank))
    return false;
  bool ok = update.rank == operand.rank && mlirTypeEqual(update.element, operand.element);
  for (intptr_t i = 0; ok && i < operand.rank; ++i)
    ok = mlirShapedTypeIsDynamicSize(operand.sizes[i]) || mlirShapedTypeIsDynamicSize(update.sizes[i]) ||
         update.sizes[i] <= operand.sizes[i];
  if (!ok)
    return tileError(op, "update is %s, expected a part of %s",
                     STABLEHLO_TYPE_TEXT(stablehloDynamicUpdateSliceOpGetUpdateType(op)), STABLEHLO_TYPE_TEXT(type));
  return stablehloExpectShape(op, tileOnlyResultType(op), operand.rank, operand.sizes, operand.element);
}

bool stablehloReverseOpVerify(MlirOperation op) {
  StablehloList list = stablehloList(stablehloReverseOpGetDimensions(op));
  return stablehloExpectDimensions(op, "dims", &list, stablehloShapeOf(tileOnlyOperandType(op)).rank) &&
         verifyAll(op, true);
}

bool stablehloConcatenateOpVerify(MlirOperation op) {
  intptr_t count = mlirOperationGetNumOperands(op);
  int64_t dimension = stablehloConcatenateOpGetDimensionValue(op), total = 0, sizes[StablehloMaxRank];
  if (count == 0)
    return tileError(op, "has no inputs, expected at least one");
  MlirExtShape first = stablehloShapeOf(tileFirstOperandType(op));
  if (!stablehloExpectDimension(op, "dim", dimension, first.rank))
    return false;
  for (intptr_t i = 0; i < count; ++i) {
    MlirExtShape input = stablehloShapeOf(tileOperandType(op, i));
    bool ok = input.rank == first.rank && mlirTypeEqual(input.element, first.element);
    for (intptr_t d = 0; ok && d < first.rank; ++d)
      ok = d == dimension || stablehloSizesAgree(input.sizes[d], first.sizes[d]);
    if (!ok)
      return tileError(op, "input %ld is %s, expected %s but for size %ld", (long)i,
                       STABLEHLO_TYPE_TEXT(tileOperandType(op, i)), STABLEHLO_TYPE_TEXT(tileFirstOperandType(op)),
                       (long)dimension);
    bool isOpen = mlirShapedTypeIsDynamicSize(total) || mlirShapedTypeIsDynamicSize(input.sizes[dimension]);
    total = isOpen ? mlirShapedTypeGetDynamicSize() : total + input.sizes[dimension];
  }
  for (intptr_t d = 0; d < first.rank; ++d)
    sizes[d] = d == dimension ? total : first.sizes[d];
  return stablehloExpectShape(op, tileOnlyResultType(op), first.rank, sizes, first.element);
}

bool stablehloPadOpVerify(MlirOperation op) {
  MlirExtShape operand = stablehloShapeOf(stablehloPadOpGetOperandType(op));
  MlirAttribute lists[] = {stablehloPadOpGetEdgePaddingLow(op), stablehloPadOpGetEdgePaddingHigh(op),
                           stablehloPadOpGetInteriorPadding(op)};
  int64_t sizes[StablehloMaxRank];
  for (int i = 0; i < 3; ++i)
    if (!stablehloExpectCount(op, "a list of the padding", mlirDenseArrayGetNumElements(lists[i]), operand.rank))
      return false;
  if (!stablehloExpectScalarOf(op, "padding value", stablehloPadOpGetPaddingValueType(op), operand.element))
    return false;
  for (intptr_t i = 0; i < operand.rank; ++i) {
    int64_t size = operand.sizes[i], interior = mlirDenseI64ArrayGetElement(lists[2], i);
    int64_t low = mlirDenseI64ArrayGetElement(lists[0], i), high = mlirDenseI64ArrayGetElement(lists[1], i), most;
    sizes[i] = size;
    if (interior < 0)
      return tileError(op, "interior padding %ld is %ld, expected at least 0", (long)i, (long)interior);
    if (mlirShapedTypeIsDynamicSize(size))
      continue;
    bool tooLarge = __builtin_mul_overflow(size > 1 ? size - 1 : 0, interior, &most) ||
                    __builtin_add_overflow(most, size, &most) || __builtin_add_overflow(most, low, &most) ||
                    __builtin_add_overflow(most, high, &most);
    if (tooLarge || most < 0)
      return tileError(op, "padding leaves no possible size along dimension %ld", (long)i);
    sizes[i] = most;
  }
  return stablehloExpectShape(op, tileOnlyResultType(op), operand.rank, sizes, operand.element);
}

//===--- gather and scatter -----------------------------------------------------===//

// Lists of dimensions that partition 0 … rank - 1: collapsed or batching ones and those left.
static bool expectDisjoint(MlirOperation op, const StablehloList *a, const StablehloList *b) {
  for (intptr_t i = 0; i < a->count; ++i)
    if (stablehloListHas(b, a->items[i]))
      return tileError(op, "dimension %ld is both collapsed and a batching dimension", (long)a->items[i]);
  return true;
}

// What gather and scatter have in common: `operand` and the list of places `indices`.
typedef struct Places {
  StablehloList window, collapsed, operandBatch, indicesBatch, map;
  int64_t vector;
} Places;

static Places placesOf(MlirAttribute numbers) { // the fields of gather and scatter stand in one order
  return (Places){stablehloField(numbers, 0), stablehloField(numbers, 1), stablehloField(numbers, 2),
                  stablehloField(numbers, 3), stablehloField(numbers, 4), stablehloFieldNumber(numbers, 5)};
}

// `whole` is the gathered tensor or an update.
static bool verifyPlaces(MlirOperation op, const Places *p, const MlirExtShape *operand, const MlirExtShape *indices,
                         const MlirExtShape *whole) {
  intptr_t batch = indices->rank - (p->vector < indices->rank);
  if (p->vector < 0 || p->vector > indices->rank)
    return tileError(op, "index_vector_dim is %ld, expected 0 to %ld", (long)p->vector, (long)indices->rank);
  if (!stablehloExpectDimensions(op, "window dimensions", &p->window, whole->rank) ||
      !stablehloExpectDimensions(op, "collapsed dimensions", &p->collapsed, operand->rank) ||
      !stablehloExpectDimensions(op, "operand batching dimensions", &p->operandBatch, operand->rank) ||
      !stablehloExpectDimensions(op, "indices batching dimensions", &p->indicesBatch, indices->rank) ||
      !stablehloExpectDimensions(op, "the index map", &p->map, operand->rank) ||
      !expectDisjoint(op, &p->collapsed, &p->operandBatch) || !expectDisjoint(op, &p->map, &p->operandBatch))
    return false;
  if (!stablehloExpectCount(op, "indices batching dimensions", p->indicesBatch.count, p->operandBatch.count) ||
      !stablehloExpectCount(op, "window dimensions", p->window.count,
                            operand->rank - p->collapsed.count - p->operandBatch.count) ||
      !stablehloExpectCount(op, "window dimensions and dimensions of the indices", whole->rank,
                            p->window.count + batch))
    return false;
  if (stablehloListHas(&p->indicesBatch, p->vector))
    return tileError(op, "index_vector_dim %ld is a batching dimension", (long)p->vector);
  int64_t length = p->vector < indices->rank ? indices->sizes[p->vector] : 1;
  if (!stablehloSizesAgree(length, p->map.count))
    return tileError(op, "an index has %ld numbers, expected one for each of %ld dimensions", (long)length,
                     (long)p->map.count);
  for (intptr_t i = 1; i < p->window.count; ++i)
    if (p->window.items[i] < p->window.items[i - 1])
      return tileError(op, "window dimensions are not in ascending order");
  for (intptr_t d = 0, at = 0; d < whole->rank; ++d) {
    if (stablehloListHas(&p->window, d))
      continue;
    at += at == p->vector;
    if (!stablehloSizesAgree(whole->sizes[d], indices->sizes[at]))
      return tileError(op, "size %ld is %ld, expected %ld as of the indices", (long)d, (long)whole->sizes[d],
                       (long)indices->sizes[at]);
    ++at;
  }
  return true;
}

bool stablehloGatherOpVerify(MlirOperation op) {
  MlirType operandType = stablehloGatherOpGetOperandType(op);
  MlirExtShape operand = stablehloShapeOf(operandType),
               indices = stablehloShapeOf(stablehloGatherOpGetStartIndicesType(op));
  MlirExtShape result = stablehloShapeOf(tileOnlyResultType(op));
  MlirAttribute sizesList = stablehloGatherOpGetSliceSizes(op);
  StablehloList sizes = stablehloList(sizesList);
  Places places = placesOf(stablehloGatherOpGetDimensionNumbers(op));
  if (!stablehloExpectCount(op, "slice_sizes", mlirDenseArrayGetNumElements(sizesList), operand.rank) ||
      !verifyPlaces(op, &places, &operand, &indices, &result))
    return false;
  for (intptr_t d = 0, at = 0; d < operand.rank; ++d) {
    int64_t size = sizes.items[d];
    bool isGone = stablehloListHas(&places.collapsed, d) || stablehloListHas(&places.operandBatch, d);
    if (size < 0 || (isGone && size > 1) || (!mlirShapedTypeIsDynamicSize(operand.sizes[d]) && size > operand.sizes[d]))
      return tileError(op, "slice size %ld is %ld, expected %s %ld", (long)d, (long)size,
                       isGone ? "0 or 1, and at most" : "0 to", (long)operand.sizes[d]);
    if (!isGone && !stablehloSizesAgree(result.sizes[places.window.items[at++]], size))
      return tileError(op, "the result's size of window dimension %ld is not the slice size, %ld", (long)d, (long)size);
  }
  return mlirTypeEqual(operand.element, result.element) || tileError(op, "operand and result have other elements");
}

bool stablehloScatterOpVerify(MlirOperation op) {
  intptr_t operands = mlirOperationGetNumOperands(op), count = operands / 2;
  if (operands % 2 == 0 || mlirOperationGetNumResults(op) != count || count == 0)
    return tileError(op, "has %ld operands and %ld results, expected n inputs, indices, n updates and n results",
                     (long)operands, (long)mlirOperationGetNumResults(op));
  MlirExtShape indices = stablehloShapeOf(tileOperandType(op, count)),
               first = stablehloShapeOf(tileFirstOperandType(op));
  if (!mlirTypeIsAInteger(indices.element))
    return tileError(op, "indices are %s, expected integers", STABLEHLO_TYPE_TEXT(tileOperandType(op, count)));
  Places places = placesOf(stablehloScatterOpGetScatterDimensionNumbers(op));
  for (intptr_t i = 0; i < count; ++i) {
    MlirExtShape input = stablehloShapeOf(tileOperandType(op, i)),
                 update = stablehloShapeOf(tileOperandType(op, count + 1 + i));
    if (!stablehloShapesAgree(&input, &first) || !mlirTypeEqual(input.element, update.element) ||
        !stablehloIsCompatible(tileResultType(op, i), tileOperandType(op, i)))
      return tileError(
          op, "input %ld, its update and its result are %s, %s and %s, expected one element type and shape", (long)i,
          STABLEHLO_TYPE_TEXT(tileOperandType(op, i)), STABLEHLO_TYPE_TEXT(tileOperandType(op, count + 1 + i)),
          STABLEHLO_TYPE_TEXT(tileResultType(op, i)));
    if (!verifyPlaces(op, &places, &input, &indices, &update))
      return false;
    for (intptr_t d = 0, at = 0; d < input.rank; ++d) {
      if (stablehloListHas(&places.collapsed, d) || stablehloListHas(&places.operandBatch, d))
        continue;
      int64_t size = update.sizes[places.window.items[at++]];
      if (!mlirShapedTypeIsDynamicSize(size) && !mlirShapedTypeIsDynamicSize(input.sizes[d]) && size > input.sizes[d])
        return tileError(op, "the update's window is %ld along dimension %ld, expected at most %ld", (long)size,
                         (long)d, (long)input.sizes[d]);
    }
  }
  return true;
}
