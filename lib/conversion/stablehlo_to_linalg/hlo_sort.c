// sort and top_k: a network of exchanges (bitonic, all ascending), each step one linalg.generic over all elements. Any
// comparator; elements that it holds for equal keep their order. Cost: n log² n exchanges, n / 2 at once.
// Paper: Batcher, Sorting networks and their applications (AFIPS 1968).
#include "lib/conversion/stablehlo_to_linalg/hlo.h"

#include "dialects/foreign/chlo/ops.h"
#include "dialects/foreign/stablehlo/ops.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

typedef struct Sorting {
  intptr_t count, rank;
  HloValue tensors[HloMaxValues]; // the last one holds the elements' first places
  int64_t dimension, size;
  MlirValue mask; // an element's partner is its place exclusive-or the mask
  HloBefore before;
  const void *data;
} Sorting;

static MlirValue before(Hlo *h, const Sorting *s, const HloValue *a, const HloValue *b) {
  HloValue values[2 * HloMaxValues];
  for (intptr_t i = 0; i < s->count - 1; ++i) {
    values[2 * i] = a[i];
    values[2 * i + 1] = b[i];
  }
  return s->before(h, s->data, values);
}

static bool exchangeBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  const Sorting *s = generic->data;
  MlirType i64 = mlirIntegerTypeGet(h->b.context, 64);
  MlirValue at[HloMaxRank];
  HloValue own[HloMaxValues], other[HloMaxValues], low[HloMaxValues], high[HloMaxValues];
  intptr_t from = 0, to = 0;
  for (intptr_t d = 0; d < s->rank; ++d)
    at[d] = linalgIndexOpBuild(&h->b, mlirIntegerAttrGet(i64, d));
  MlirValue here = at[s->dimension];
  MlirValue partner = tileBuildBinary(&h->b, ArithOp_XOrI, here, s->mask);
  MlirValue isThere = arithCmpIOpBuild(&h->b, partner, tileBuildIndex(&h->b, s->size), ArithCmpI_Ult);
  MlirValue isLow = arithCmpIOpBuild(&h->b, here, partner, ArithCmpI_Ult);
  at[s->dimension] = hloSelect(h, isThere, partner, here);
  for (intptr_t i = 0; i < s->count; ++i) {
    own[i].count = other[i].count = low[i].count = high[i].count = s->tensors[i].count;
    for (int part = 0; part < own[i].count; ++part) {
      own[i].parts[part] = arguments[from++];
      other[i].parts[part] = tensorExtractOpBuild(&h->b, s->tensors[i].parts[part], s->rank, at);
      low[i].parts[part] = hloSelect(h, isLow, own[i].parts[part], other[i].parts[part]);
      high[i].parts[part] = hloSelect(h, isLow, other[i].parts[part], own[i].parts[part]);
    }
  }
  MlirValue goesFirst = before(h, s, high, low), stays = before(h, s, low, high);
  if (mlirValueIsNull(goesFirst) || mlirValueIsNull(stays))
    return false;
  MlirValue wasFirst = arithCmpIOpBuild(&h->b, high[s->count - 1].parts[0], low[s->count - 1].parts[0], ArithCmpI_Slt);
  MlirValue isTie =
      tileBuildBinary(&h->b, ArithOp_XOrI, stays, tileBuildInteger(&h->b, mlirIntegerTypeGet(h->b.context, 1), 1));
  MlirValue changes =
      tileBuildBinary(&h->b, ArithOp_OrI, goesFirst, tileBuildBinary(&h->b, ArithOp_AndI, isTie, wasFirst));
  changes = tileBuildBinary(&h->b, ArithOp_AndI, changes, isThere);
  for (intptr_t i = 0; i < s->count; ++i)
    for (int part = 0; part < own[i].count; ++part)
      results[to++] = hloSelect(h, changes, other[i].parts[part], own[i].parts[part]);
  return true;
}

static intptr_t flatten(const HloValue *values, intptr_t count, MlirValue *flat) {
  intptr_t n = 0;
  for (intptr_t i = 0; i < count; ++i)
    for (int part = 0; part < values[i].count; ++part)
      flat[n++] = values[i].parts[part];
  return n;
}

static void unflatten(HloValue *values, intptr_t count, const MlirValue *flat) {
  for (intptr_t i = 0; i < count; ++i)
    for (int part = 0; part < values[i].count; ++part)
      values[i].parts[part] = *flat++;
}

static bool exchange(Hlo *h, Sorting *s) {
  MlirValue flat[2 * HloMaxValues], results[2 * HloMaxValues];
  HloGeneric generic = {.parallel = s->rank, .body = exchangeBody, .data = s};
  intptr_t count = flatten(s->tensors, s->count, flat);
  for (intptr_t i = 0; i < count; ++i) {
    MlirExtShape shape;
    mlirExtTypeGetShape(mlirValueGetType(flat[i]), &shape);
    hloAddInput(&generic, flat[i], hloIdentity(h, s->rank));
    hloAddOutput(&generic, hloEmpty(h, shape.element, shape.rank, shape.sizes), hloIdentity(h, s->rank));
  }
  if (!hloBuildGeneric(h, &generic, results))
    return false;
  unflatten(s->tensors, s->count, results);
  return true;
}

// A loop from `lower` to `upper` in which the tensors go on; `fill` builds its body.
static bool loop(Hlo *h, Sorting *s, MlirValue lower, MlirValue upper, MlirValue outerIndex,
                 bool (*fill)(Hlo *h, Sorting *s, MlirValue outerIndex, MlirValue index)) {
  MlirValue flat[2 * HloMaxValues];
  intptr_t count = flatten(s->tensors, s->count, flat);
  MlirBlock body;
  MlirOperation op = tileBuildFor(&h->b, lower, upper, tileBuildIndex(&h->b, 1), count, flat, &body);
  TileBuilder outer = h->b;
  h->b = tileBuilderAtEnd(body, outer.location);
  for (intptr_t i = 0; i < count; ++i)
    flat[i] = mlirBlockGetArgument(body, i + 1);
  unflatten(s->tensors, s->count, flat);
  bool ok = fill(h, s, outerIndex, mlirBlockGetArgument(body, 0));
  flatten(s->tensors, s->count, flat);
  tileBuildYield(&h->b, count, flat);
  h->b = outer;
  for (intptr_t i = 0; i < count; ++i)
    flat[i] = mlirOperationGetResult(op, i);
  unflatten(s->tensors, s->count, flat);
  return ok;
}

// Step 0 of a block of size k pairs its ends, k - 1; step t the places k >> (t + 1) apart.
static bool fillStep(Hlo *h, Sorting *s, MlirValue level, MlirValue step) {
  MlirValue one = tileBuildIndex(&h->b, 1), size = tileBuildBinary(&h->b, ArithOp_ShLI, one, level);
  MlirValue isFirst = arithCmpIOpBuild(&h->b, step, tileBuildIndex(&h->b, 0), ArithCmpI_Eq);
  MlirValue apart = tileBuildBinary(&h->b, ArithOp_ShRUI, size, tileBuildAdd(&h->b, step, one));
  s->mask = hloSelect(h, isFirst, tileBuildSub(&h->b, size, one), apart);
  return exchange(h, s);
}

static bool fillLevel(Hlo *h, Sorting *s, MlirValue none, MlirValue level) {
  return loop(h, s, tileBuildIndex(&h->b, 0), level, level, fillStep);
}

static bool placeBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  const Sorting *s = generic->data;
  MlirAttribute dim = mlirIntegerAttrGet(mlirIntegerTypeGet(h->b.context, 64), s->dimension);
  results[0] =
      tileBuildCast(&h->b, ArithOp_IndexCast, linalgIndexOpBuild(&h->b, dim), mlirIntegerTypeGet(h->b.context, 32));
  return true;
}

bool hloSorted(Hlo *h, intptr_t count, HloValue *tensors, const MlirType *elements, int64_t dimension,
               HloBefore compare, const void *data) {
  MlirExtShape shape;
  mlirExtTypeGetShape(mlirValueGetType(tensors->parts[0]), &shape);
  Sorting s = {.count = count + 1,
               .rank = shape.rank,
               .dimension = dimension,
               .size = shape.sizes[dimension],
               .before = compare,
               .data = data};
  int64_t levels = 0;
  while ((INT64_C(1) << levels) < s.size)
    ++levels;
  if (levels == 0)
    return true;
  memcpy(s.tensors, tensors, sizeof *tensors * (size_t)count);
  HloGeneric places = {.parallel = shape.rank, .body = placeBody, .data = &s};
  s.tensors[count].count = 1;
  hloAddOutput(&places, hloEmpty(h, mlirIntegerTypeGet(h->b.context, 32), shape.rank, shape.sizes),
               hloIdentity(h, shape.rank));
  if (!hloBuildGeneric(h, &places, s.tensors[count].parts) ||
      !loop(h, &s, tileBuildIndex(&h->b, 1), tileBuildIndex(&h->b, levels + 1), (MlirValue){NULL}, fillLevel))
    return false;
  memcpy(tensors, s.tensors, sizeof *tensors * (size_t)count);
  return true;
}

//===--- ops ---------------------------------------------------------------------------===//

static MlirValue byRegion(Hlo *h, const void *data, const HloValue *values) {
  MlirOperation op = *(const MlirOperation *)data;
  HloValue result = {0};
  bool ok = hloConvertBody(h, stablehloSortOpGetComparator(op), 2 * mlirOperationGetNumOperands(op), values, &result);
  return ok ? result.parts[0] : (MlirValue){NULL};
}

static bool sort(Hlo *h, MlirOperation op) {
  intptr_t count = mlirOperationGetNumOperands(op);
  MlirAttribute attribute = stablehloSortOpGetDimension(op);
  int64_t dimension = mlirAttributeIsNull(attribute) ? -1 : mlirIntegerAttrGetValueInt(attribute);
  MlirExtShape shape = hloShape(stablehloSortOpGetInputs(op, 0));
  HloValue tensors[HloMaxValues];
  if (count >= HloMaxValues || !mlirShapedTypeHasStaticShape(mlirValueGetType(stablehloSortOpGetInputs(op, 0))))
    return tileError(op, "cannot be converted to linalg with open sizes, or more than %d inputs", HloMaxValues - 1);
  for (intptr_t i = 0; i < count; ++i)
    if (!(tensors[i] = hloGetTensor(h, stablehloSortOpGetInputs(op, i))).count)
      return false;
  if (!hloSorted(h, count, tensors, NULL, dimension < 0 ? dimension + shape.rank : dimension, byRegion, &op))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    hloSet(h, mlirOperationGetResult(op, i), tensors[i]);
  return true;
}

// Descending, floats by their total order.
static MlirValue isLarger(Hlo *h, const void *data, const HloValue *values) {
  bool isUnsigned = *(const bool *)data;
  MlirValue a = values[0].parts[0], b = values[1].parts[0], *sides[] = {&a, &b};
  MlirType type = mlirValueGetType(a);
  for (int i = 0; mlirTypeIsAFloat(type) && i < 2; ++i) {
    unsigned width = tileElementWidth(type);
    MlirType integer = mlirIntegerTypeGet(h->b.context, width);
    MlirValue bits = tileBuildCast(&h->b, ArithOp_Bitcast, *sides[i], integer);
    MlirValue sign = tileBuildBinary(&h->b, ArithOp_ShRSI, bits, tileBuildInteger(&h->b, integer, width - 1));
    MlirValue rest = tileBuildInteger(&h->b, integer, (int64_t)((UINT64_C(1) << (width - 1)) - 1));
    *sides[i] = tileBuildBinary(&h->b, ArithOp_XOrI, bits, tileBuildBinary(&h->b, ArithOp_AndI, sign, rest));
  }
  return arithCmpIOpBuild(&h->b, a, b, isUnsigned ? ArithCmpI_Ugt : ArithCmpI_Sgt);
}

static bool topK(Hlo *h, MlirOperation op) {
  MlirExtShape shape = hloShape(chloTopKOpGetOperand(op)), kept = hloShape(chloTopKOpGetValues(op));
  bool isUnsigned = hloIsUnsigned(shape.element);
  Sorting s = {.dimension = shape.rank - 1};
  HloValue tensors[2] = {hloGetTensor(h, chloTopKOpGetOperand(op)), {1, {{NULL}}}};
  int64_t zeros[HloMaxRank] = {0}, ones[HloMaxRank];
  if (tensors[0].count != 1)
    return false;
  if (!mlirShapedTypeHasStaticShape(mlirValueGetType(chloTopKOpGetOperand(op))))
    return tileError(op, "cannot be converted to linalg with open sizes");
  HloGeneric places = {.parallel = shape.rank, .body = placeBody, .data = &s};
  hloAddOutput(&places, hloEmpty(h, mlirIntegerTypeGet(h->b.context, 32), shape.rank, shape.sizes),
               hloIdentity(h, shape.rank));
  if (!hloBuildGeneric(h, &places, tensors[1].parts) ||
      !hloSorted(h, 2, tensors, NULL, shape.rank - 1, isLarger, &isUnsigned))
    return false;
  for (intptr_t d = 0; d < shape.rank; ++d)
    ones[d] = 1;
  hloSetOne(h, chloTopKOpGetValues(op), hloSliced(h, tensors[0].parts[0], zeros, kept.sizes, ones));
  hloSetOne(h, chloTopKOpGetIndices(op), hloSliced(h, tensors[1].parts[0], zeros, kept.sizes, ones));
  return true;
}

bool hloSorting(Hlo *h, MlirOperation op, bool *isKnown) {
  *isKnown = stablehloSortOpIsA(op) || chloTopKOpIsA(op);
  return !*isKnown || (chloTopKOpIsA(op) ? topK(h, op) : sort(h, op));
}
