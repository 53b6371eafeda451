// The values of hlo.h: old ones to new ones, constants and broadcasts at their uses, and linalg.generic.
#include "lib/conversion/stablehlo_to_linalg/hlo.h"

#include "dialects/foreign/stablehlo/ops.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <stdlib.h>

//===--- types ----------------------------------------------------------------===//

bool hloIsComplex(MlirType element) { return mlirTypeIsAComplex(element); }

bool hloIsUnsigned(MlirType element) {
  return mlirTypeIsAInteger(element) && (mlirIntegerTypeIsUnsigned(element) || mlirIntegerTypeGetWidth(element) == 1);
}

MlirType hloElement(MlirType element) {
  if (mlirTypeIsAComplex(element))
    return mlirComplexTypeGetElementType(element);
  if (!mlirTypeIsAInteger(element))
    return element;
  return mlirIntegerTypeGet(mlirTypeGetContext(element), mlirIntegerTypeGetWidth(element));
}

MlirType hloTensor(MlirType element, intptr_t rank, const int64_t *sizes) {
  return mlirRankedTensorTypeGet(rank, sizes, element, mlirAttributeGetNull());
}

MlirType hloType(MlirType old) {
  MlirExtShape shape;
  if (!mlirTypeIsARankedTensor(old) || !mlirExtTypeGetShape(old, &shape))
    return old;
  return hloTensor(hloElement(shape.element), shape.rank, shape.sizes);
}

MlirExtShape hloShape(MlirValue old) {
  MlirExtShape shape = {0};
  mlirExtTypeGetShape(mlirValueGetType(old), &shape);
  return shape;
}

//===--- constants --------------------------------------------------------------===//

// One part of a constant's elements under the new type; null where they are not known as bytes.
static MlirAttribute partOf(MlirAttribute value, int part) {
  MlirType old = mlirAttributeGetType(value), type = hloType(old);
  MlirExtShape shape;
  mlirExtTypeGetShape(old, &shape);
  if (mlirTypeEqual(old, type))
    return value;
  if (!mlirAttributeIsADenseElements(value))
    return mlirAttributeGetNull();
  const char *bytes = mlirDenseElementsAttrGetRawData(value);
  int64_t count = mlirDenseElementsAttrIsSplat(value) ? 1 : mlirElementsAttrGetNumElements(value);
  size_t size = (tileElementWidth(hloElement(shape.element)) + 7) / 8;
  if (!hloIsComplex(shape.element))
    return mlirDenseElementsAttrRawBufferGet(type, (size_t)count * size, bytes);
  char *half = malloc((size_t)count * size + 1);
  for (int64_t i = 0; i < count; ++i)
    memcpy(half + (size_t)i * size, bytes + (size_t)(2 * i + part) * size, size);
  MlirAttribute result = mlirDenseElementsAttrRawBufferGet(type, (size_t)count * size, half);
  free(half);
  return result;
}

static MlirAttribute elementOfSplat(MlirAttribute value) {
  MlirAttribute splat = mlirDenseElementsAttrGetSplatValue(value);
  return splat;
}

static HloValue constantOf(Hlo *h, MlirOperation op, bool asTensor) {
  MlirAttribute value = stablehloConstantOpGetValue(op);
  MlirExtShape shape = hloShape(tileOnlyResult(op));
  HloValue result = {hloIsComplex(shape.element) ? 2 : 1, {{NULL}}};
  for (int i = 0; i < result.count; ++i) {
    MlirAttribute part = partOf(value, i);
    if (mlirAttributeIsNull(part)) {
      tileError(op, "its elements are of no known form");
      return (HloValue){0};
    }
    bool isScalar = shape.rank == 0 && !asTensor && mlirAttributeIsADenseElements(part);
    result.parts[i] = tileBuildConstant(&h->b, isScalar ? elementOfSplat(part) : part);
  }
  return result;
}

//===--- old to new ---------------------------------------------------------------===//

void hloSet(Hlo *h, MlirValue old, HloValue value) {
  for (int i = 0; i < 2; ++i)
    tileTableSet(&h->parts[i], old.ptr, i < value.count ? (void *)value.parts[i].ptr : NULL);
}

void hloSetOne(Hlo *h, MlirValue old, MlirValue value) { hloSet(h, old, (HloValue){1, {value}}); }

static HloValue find(Hlo *h, MlirValue old) {
  HloValue value = {0};
  for (int i = 0; i < 2; ++i) {
    value.parts[i].ptr = tileTableFind(&h->parts[i], old.ptr);
    value.count += !mlirValueIsNull(value.parts[i]);
  }
  return value;
}

MlirValue hloFromTensor(Hlo *h, MlirValue tensor) { return tensorExtractOpBuild(&h->b, tensor, 0, NULL); }

MlirValue hloToTensor(Hlo *h, MlirValue scalar) {
  MlirOperation op = tileDefiningOp(scalar);
  if (tensorExtractOpIsA(op) && mlirShapedTypeGetRank(mlirValueGetType(tensorExtractOpGetTensor(op))) == 0)
    return tensorExtractOpGetTensor(op);
  MlirType type = hloTensor(mlirValueGetType(scalar), 0, NULL);
  if (arithConstantOpIsA(op))
    return tileBuildConstant(&h->b, mlirDenseElementsAttrSplatGet(type, arithConstantOpGetValue(op)));
  return tensorFromElementsOpBuild(&h->b, type, 1, &scalar);
}

//===--- sources --------------------------------------------------------------------===//

// Dimensions of size 1 taken away: what is left stands where it stood.
static void dropUnits(Hlo *h, HloSource *source) {
  bool drops[HloMaxRank];
  intptr_t rank = 0;
  for (intptr_t i = 0; i < source->rank; ++i) {
    drops[i] = source->dims[i] < 0;
    if (!drops[i])
      source->dims[rank++] = source->dims[i];
  }
  if (rank == source->rank)
    return;
  for (int part = 0; part < source->value.count; ++part) {
    MlirValue *value = &source->value.parts[part];
    *value = rank ? hloWithoutUnits(h, *value, drops) : hloReshaped(h, *value, 0, NULL);
    source->isScalar = rank == 0;
    if (rank == 0)
      *value = hloFromTensor(h, *value);
  }
  source->rank = rank;
}

// A splat constant's elements as scalars.
static bool splatOf(Hlo *h, MlirOperation op, HloValue *value) {
  if (!stablehloConstantOpIsA(op) || !mlirAttributeIsADenseElements(stablehloConstantOpGetValue(op)) ||
      !mlirDenseElementsAttrIsSplat(stablehloConstantOpGetValue(op)))
    return false;
  value->count = hloIsComplex(hloShape(tileOnlyResult(op)).element) ? 2 : 1;
  for (int i = 0; i < value->count; ++i) {
    MlirAttribute part = partOf(stablehloConstantOpGetValue(op), i);
    value->parts[i] = tileBuildConstant(&h->b, elementOfSplat(part));
  }
  return true;
}

static bool isRepeated(MlirOperation op) {
  return stablehloBroadcastInDimOpIsA(op) || stablehloDynamicBroadcastInDimOpIsA(op);
}

HloSource hloSource(Hlo *h, MlirValue old) {
  MlirExtShape shape = hloShape(old);
  HloSource source = {.rank = shape.rank};
  for (intptr_t i = 0; i < shape.rank; ++i)
    source.dims[i] = i;
  MlirOperation op = tileDefiningOp(old);
  bool isBroadcast = false;
  while (isRepeated(op)) {
    MlirValue inner = tileFirstOperand(op);
    StablehloList list =
        stablehloList(stablehloBroadcastInDimOpIsA(op) ? stablehloBroadcastInDimOpGetBroadcastDimensions(op)
                                                       : stablehloDynamicBroadcastInDimOpGetBroadcastDimensions(op));
    MlirExtShape from = hloShape(inner), to = hloShape(tileOnlyResult(op));
    int64_t dims[HloMaxRank];
    for (intptr_t i = 0; i < from.rank; ++i)
      dims[i] = from.sizes[i] == 1 && to.sizes[list.items[i]] != 1 ? -1 : source.dims[list.items[i]];
    memcpy(source.dims, dims, sizeof dims);
    source.rank = from.rank;
    isBroadcast = true;
    old = inner;
    op = tileDefiningOp(old);
  }
  source.isScalar = splatOf(h, op, &source.value);
  if (source.isScalar)
    return source;
  source.isScalar = source.rank == 0;
  source.value = hloGet(h, old);
  if (isBroadcast && source.value.count && !source.isScalar)
    dropUnits(h, &source);
  return source;
}

//===--- building --------------------------------------------------------------------===//

MlirValue hloEmpty(Hlo *h, MlirType element, intptr_t rank, const int64_t *sizes) {
  return tensorEmptyOpBuild(&h->b, hloTensor(element, rank, sizes), 0, NULL);
}

MlirValue hloSelect(Hlo *h, MlirValue condition, MlirValue a, MlirValue b) {
  return arithSelectOpBuild(&h->b, condition, a, b);
}

MlirValue hloIndexOf(Hlo *h, MlirValue integer, bool isUnsigned) {
  MlirType index = mlirIndexTypeGet(h->b.context);
  if (!isUnsigned)
    return tileBuildCast(&h->b, ArithOp_IndexCast, integer, index);
  if (mlirIntegerTypeGetWidth(mlirValueGetType(integer)) == 64)
    integer =
        tileBuildBinary(&h->b, ArithOp_MinUI, integer, tileBuildInteger(&h->b, mlirValueGetType(integer), INT64_MAX));
  return tileBuildCast(&h->b, ArithOp_IndexCastUI, integer, index);
}

MlirAffineMap hloMap(Hlo *h, intptr_t dims, intptr_t count, const MlirAffineExpr *exprs) {
  return mlirAffineMapGet(h->b.context, dims, 0, count, (MlirAffineExpr *)exprs);
}

MlirAffineMap hloMapOf(Hlo *h, intptr_t dims, intptr_t count, const int64_t *at) {
  MlirAffineExpr exprs[2 * HloMaxRank];
  for (intptr_t i = 0; i < count; ++i)
    exprs[i] = at[i] < 0 ? mlirAffineConstantExprGet(h->b.context, 0) : mlirAffineDimExprGet(h->b.context, at[i]);
  return hloMap(h, dims, count, exprs);
}

MlirAffineMap hloFirst(Hlo *h, intptr_t dims, intptr_t count) {
  int64_t at[2 * HloMaxRank];
  for (intptr_t i = 0; i < count; ++i)
    at[i] = i;
  return hloMapOf(h, dims, count, at);
}

MlirAffineMap hloIdentity(Hlo *h, intptr_t dims) { return hloFirst(h, dims, dims); }

void hloAddInput(HloGeneric *generic, MlirValue value, MlirAffineMap map) {
  generic->inputs[generic->numInputs] = value;
  generic->inputMaps[generic->numInputs++] = map;
}

void hloAddOutput(HloGeneric *generic, MlirValue value, MlirAffineMap map) {
  generic->outputs[generic->numOutputs] = value;
  generic->outputMaps[generic->numOutputs++] = map;
}

static MlirType elementOf(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsARankedTensor(type) ? mlirShapedTypeGetElementType(type) : type;
}

bool hloBuildGeneric(Hlo *h, const HloGeneric *generic, MlirValue *results) {
  intptr_t total = generic->numInputs + generic->numOutputs;
  MlirAttribute maps[4 * HloMaxValues];
  MlirType elements[4 * HloMaxValues], types[2 * HloMaxValues];
  MlirValue arguments[4 * HloMaxValues], yields[2 * HloMaxValues];
  for (intptr_t i = 0; i < total; ++i) {
    bool isInput = i < generic->numInputs;
    intptr_t at = isInput ? i : i - generic->numInputs;
    elements[i] = elementOf(isInput ? generic->inputs[at] : generic->outputs[at]);
    maps[i] = mlirAffineMapAttrGet(isInput ? generic->inputMaps[at] : generic->outputMaps[at]);
    if (!isInput)
      types[at] = mlirValueGetType(generic->outputs[at]);
  }
  MlirRegion region;
  TileBuilder outer = h->b;
  h->b = tileBuilderInRegion(&outer, &region, total, elements);
  MlirBlock block = mlirRegionGetFirstBlock(region);
  for (intptr_t i = 0; i < total; ++i)
    arguments[i] = mlirBlockGetArgument(block, i);
  bool ok = generic->body(h, generic, arguments, yields);
  if (ok)
    linalgYieldOpBuild(&h->b, generic->numOutputs, yields);
  h->b = outer;
  if (!ok) {
    mlirRegionDestroy(region);
    return false;
  }
  MlirOperation op =
      linalgGenericOpBuild(&h->b, generic->numOutputs, types, generic->numInputs, generic->inputs, generic->numOutputs,
                           generic->outputs, mlirArrayAttrGet(h->b.context, total, maps),
                           tileBuildIteratorTypes(&h->b, generic->parallel, generic->reductions), region);
  for (intptr_t i = 0; i < generic->numOutputs; ++i)
    results[i] = mlirOperationGetResult(op, i);
  return true;
}

static bool fillBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  results[0] = arguments[0];
  return true;
}

MlirValue hloFilled(Hlo *h, MlirValue scalar, intptr_t rank, const int64_t *sizes) {
  MlirOperation constant = tileDefiningOp(scalar);
  MlirType type = hloTensor(mlirValueGetType(scalar), rank, sizes);
  if (arithConstantOpIsA(constant))
    return tileBuildConstant(&h->b, mlirDenseElementsAttrSplatGet(type, arithConstantOpGetValue(constant)));
  if (rank == 0)
    return hloToTensor(h, scalar);
  HloGeneric generic = {.parallel = rank, .body = fillBody};
  MlirValue result;
  hloAddInput(&generic, scalar, hloFirst(h, rank, 0));
  hloAddOutput(&generic, hloEmpty(h, mlirValueGetType(scalar), rank, sizes), hloIdentity(h, rank));
  hloBuildGeneric(h, &generic, &result);
  return result;
}

//===--- values at their uses ----------------------------------------------------------===//

// A broadcast as a tensor.
static HloValue broadcastOf(Hlo *h, MlirValue old) {
  HloSource source = hloSource(h, old);
  MlirExtShape shape = hloShape(old);
  HloValue result = {source.value.count, {{NULL}}};
  MlirValue sizes[HloMaxRank];
  hloSizesOf(h, old, sizes);
  for (int part = 0; part < source.value.count; ++part) {
    if (source.isScalar) {
      result.parts[part] = hloFilledOf(h, source.value.parts[part], shape.rank, shape.sizes, sizes);
      continue;
    }
    HloGeneric generic = {.parallel = shape.rank, .body = fillBody};
    hloAddInput(&generic, source.value.parts[part], hloMapOf(h, shape.rank, source.rank, source.dims));
    hloAddOutput(&generic, hloEmptyOf(h, hloElement(shape.element), shape.rank, shape.sizes, sizes),
                 hloIdentity(h, shape.rank));
    hloBuildGeneric(h, &generic, &result.parts[part]);
    hloNoteSizes(h, result.parts[part], shape.rank, sizes);
  }
  return result;
}

HloValue hloGet(Hlo *h, MlirValue old) {
  HloValue value = find(h, old);
  MlirOperation op = tileDefiningOp(old);
  if (value.count || mlirOperationIsNull(op))
    return value;
  if (stablehloConstantOpIsA(op))
    return constantOf(h, op, false);
  if (!isRepeated(op))
    return value;
  return hloShape(old).rank ? broadcastOf(h, old) : hloGet(h, tileFirstOperand(op));
}

HloValue hloGetTensor(Hlo *h, MlirValue old) {
  HloValue value = hloGet(h, old);
  for (int i = 0; i < value.count; ++i)
    if (!mlirTypeIsARankedTensor(mlirValueGetType(value.parts[i])))
      value.parts[i] = hloToTensor(h, value.parts[i]);
  return value;
}

MlirValue hloOne(Hlo *h, MlirValue old) { return hloGet(h, old).parts[0]; }
