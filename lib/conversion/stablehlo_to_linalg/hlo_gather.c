// gather and scatter. gather is one linalg.generic whose starts are clamped. scatter runs through the updates in their
// order, so that equal places give one result always, and leaves out an update whose window is not inside as a whole.
#include "lib/conversion/stablehlo_to_linalg/hlo.h"

#include "dialects/foreign/stablehlo/ops.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

// What gather and scatter have in common; their fields stand in one order.
typedef struct Places {
  StablehloList window, collapsed, operandBatch, indicesBatch, map;
  int64_t vector;
  MlirExtShape operand, indices, whole; // whole: the gathered tensor or an update
  MlirValue starts;                     // the tensor of indices
  bool isUnsigned;
} Places;

static Places placesOf(MlirAttribute numbers, MlirValue operand, MlirValue indices, MlirValue whole) {
  return (Places){stablehloField(numbers, 0),
                  stablehloField(numbers, 1),
                  stablehloField(numbers, 2),
                  stablehloField(numbers, 3),
                  stablehloField(numbers, 4),
                  stablehloFieldNumber(numbers, 5),
                  hloShape(operand),
                  hloShape(indices),
                  hloShape(whole),
                  {NULL},
                  hloIsUnsigned(hloShape(indices).element)};
}

static intptr_t positionIn(const StablehloList *list, int64_t item) {
  for (intptr_t i = 0; i < list->count; ++i)
    if (list->items[i] == item)
      return i;
  return -1;
}

// The starts of the window at these places of the whole, for each dimension of the operand; null: 0.
static void startsAt(Hlo *h, const Places *p, const MlirValue *at, MlirValue *starts) {
  MlirValue batch[HloMaxRank], place[HloMaxRank];
  intptr_t numBatch = 0;
  for (intptr_t d = 0; d < p->whole.rank; ++d)
    if (!stablehloListHas(&p->window, d))
      batch[numBatch++] = at[d];
  for (intptr_t d = 0, from = 0; d < p->indices.rank; ++d)
    place[d] = d == p->vector ? (MlirValue){NULL} : batch[from++];
  for (intptr_t d = 0; d < p->operand.rank; ++d) {
    intptr_t number = positionIn(&p->map, d), along = positionIn(&p->operandBatch, d);
    starts[d] = (MlirValue){NULL};
    if (along >= 0)
      starts[d] = place[p->indicesBatch.items[along]];
    if (number < 0)
      continue;
    if (p->vector < p->indices.rank)
      place[p->vector] = tileBuildIndex(&h->b, number);
    starts[d] = hloIndexOf(h, tensorExtractOpBuild(&h->b, p->starts, p->indices.rank, place), p->isUnsigned);
  }
}

// The dimension of the whole that runs through the window along dimension d of the operand; -1: size 1.
static int64_t windowOf(const Places *p, int64_t d) {
  intptr_t number = 0;
  if (stablehloListHas(&p->collapsed, d) || stablehloListHas(&p->operandBatch, d))
    return -1;
  for (int64_t i = 0; i < d; ++i)
    number += !stablehloListHas(&p->collapsed, i) && !stablehloListHas(&p->operandBatch, i);
  return p->window.items[number];
}

//===--- gather -----------------------------------------------------------------------------===//

typedef struct Gathering {
  Places places;
  HloValue operand;
  StablehloList sizes;
} Gathering;

static bool gatherBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  const Gathering *g = generic->data;
  const Places *p = &g->places;
  MlirType i64 = mlirIntegerTypeGet(h->b.context, 64);
  MlirValue at[HloMaxRank], starts[HloMaxRank], from[HloMaxRank], zero = tileBuildIndex(&h->b, 0);
  for (intptr_t d = 0; d < p->whole.rank; ++d)
    at[d] = linalgIndexOpBuild(&h->b, mlirIntegerAttrGet(i64, d));
  startsAt(h, p, at, starts);
  for (intptr_t d = 0; d < p->operand.rank; ++d) {
    int64_t window = windowOf(p, d);
    bool isBatch = stablehloListHas(&p->operandBatch, d);
    from[d] = mlirValueIsNull(starts[d]) ? zero : starts[d];
    if (!mlirValueIsNull(starts[d]) && !isBatch) {
      from[d] = tileBuildMax(&h->b, from[d], zero);
      from[d] = tileBuildMin(&h->b, from[d], tileBuildIndex(&h->b, p->operand.sizes[d] - g->sizes.items[d]));
    }
    if (window >= 0)
      from[d] = tileBuildAdd(&h->b, from[d], at[window]);
  }
  for (int part = 0; part < g->operand.count; ++part)
    results[part] = tensorExtractOpBuild(&h->b, g->operand.parts[part], p->operand.rank, from);
  return true;
}

static bool gather(Hlo *h, MlirOperation op) {
  MlirValue operand = stablehloGatherOpGetOperand(op), indices = stablehloGatherOpGetStartIndices(op);
  MlirValue result = tileOnlyResult(op);
  MlirExtShape shape = hloShape(result);
  Gathering g = {.places = placesOf(stablehloGatherOpGetDimensionNumbers(op), operand, indices, result),
                 .operand = hloGetTensor(h, operand),
                 .sizes = stablehloList(stablehloGatherOpGetSliceSizes(op))};
  HloValue starts = hloGetTensor(h, indices), value = {g.operand.count, {{NULL}}};
  if (!starts.count || !g.operand.count)
    return false;
  g.places.starts = starts.parts[0];
  if (!mlirShapedTypeHasStaticShape(mlirValueGetType(result)) ||
      !mlirShapedTypeHasStaticShape(mlirValueGetType(operand)))
    return tileError(op, "cannot be converted to linalg with open sizes");
  HloGeneric generic = {.parallel = shape.rank, .body = gatherBody, .data = &g};
  for (int part = 0; part < value.count; ++part)
    hloAddOutput(&generic, hloEmpty(h, hloElement(shape.element), shape.rank, shape.sizes), hloIdentity(h, shape.rank));
  if (!hloBuildGeneric(h, &generic, value.parts))
    return false;
  for (int part = 0; shape.rank == 0 && part < value.count; ++part)
    value.parts[part] = hloFromTensor(h, value.parts[part]);
  hloSet(h, result, value);
  return true;
}

//===--- scatter -------------------------------------------------------------------------------===//

typedef struct Scattering {
  MlirOperation op;
  Places places;
  intptr_t count;
  HloValue updates[HloMaxValues];
  intptr_t order[HloMaxRank]; // of the update's dimensions: those of the list of places first
  intptr_t numPlaces;
} Scattering;

static intptr_t flatten(const HloValue *values, intptr_t count, MlirValue *flat) {
  intptr_t n = 0;
  for (intptr_t i = 0; i < count; ++i)
    for (int part = 0; part < values[i].count; ++part)
      flat[n++] = values[i].parts[part];
  return n;
}

static void gatherUp(HloValue *values, intptr_t count, const HloValue *like, const MlirValue *flat) {
  for (intptr_t i = 0; i < count; ++i) {
    values[i].count = like[i].count;
    for (int part = 0; part < like[i].count; ++part)
      values[i].parts[part] = *flat++;
  }
}

// One element of the updates: combined with the operand's at `to`.
static bool combineOne(Hlo *h, const Scattering *s, const MlirValue *at, const MlirValue *to, HloValue *values) {
  HloValue arguments[2 * HloMaxValues], combined[HloMaxValues];
  for (intptr_t i = 0; i < s->count; ++i) {
    arguments[i].count = arguments[s->count + i].count = values[i].count;
    for (int part = 0; part < values[i].count; ++part) {
      arguments[i].parts[part] = tensorExtractOpBuild(&h->b, values[i].parts[part], s->places.operand.rank, to);
      arguments[s->count + i].parts[part] =
          tensorExtractOpBuild(&h->b, s->updates[i].parts[part], s->places.whole.rank, at);
    }
  }
  if (!hloConvertBody(h, stablehloScatterOpGetUpdateComputation(s->op), 2 * s->count, arguments, combined))
    return false;
  for (intptr_t i = 0; i < s->count; ++i)
    for (int part = 0; part < values[i].count; ++part)
      values[i].parts[part] =
          tensorInsertOpBuild(&h->b, combined[i].parts[part], values[i].parts[part], s->places.operand.rank, to);
  return true;
}

static bool scatterLoops(Hlo *h, const Scattering *s, intptr_t depth, MlirValue *at, const MlirValue *starts,
                         HloValue *values);

// A loop over dimension `depth` of the order.
static bool scatterLoop(Hlo *h, const Scattering *s, intptr_t depth, MlirValue *at, const MlirValue *starts,
                        HloValue *values) {
  MlirValue flat[2 * HloMaxValues], results[2 * HloMaxValues];
  int64_t dimension = s->order[depth];
  intptr_t count = flatten(values, s->count, flat);
  MlirBlock body;
  MlirOperation loop =
      tileBuildFor(&h->b, tileBuildIndex(&h->b, 0), tileBuildIndex(&h->b, s->places.whole.sizes[dimension]),
                   tileBuildIndex(&h->b, 1), count, flat, &body);
  TileBuilder outer = h->b;
  h->b = tileBuilderAtEnd(body, outer.location);
  at[dimension] = mlirBlockGetArgument(body, 0);
  for (intptr_t i = 0; i < count; ++i)
    results[i] = mlirBlockGetArgument(body, i + 1);
  HloValue inner[HloMaxValues];
  gatherUp(inner, s->count, values, results);
  bool ok = scatterLoops(h, s, depth + 1, at, starts, inner);
  if (ok) {
    flatten(inner, s->count, results);
    tileBuildYield(&h->b, count, results);
  }
  h->b = outer;
  for (intptr_t i = 0; i < count; ++i)
    results[i] = mlirOperationGetResult(loop, i);
  gatherUp(values, s->count, values, results);
  return ok;
}

// Behind the loops over places: whether the whole window is inside.
static bool scatterWindow(Hlo *h, const Scattering *s, intptr_t depth, MlirValue *at, HloValue *values) {
  const Places *p = &s->places;
  MlirValue starts[HloMaxRank], isIn = {NULL}, zero = tileBuildIndex(&h->b, 0);
  startsAt(h, p, at, starts);
  for (intptr_t d = 0; d < p->operand.rank; ++d) {
    if (mlirValueIsNull(starts[d])) {
      starts[d] = zero;
      continue;
    }
    if (stablehloListHas(&p->operandBatch, d))
      continue;
    int64_t window = windowOf(p, d), size = window < 0 ? 1 : p->whole.sizes[window];
    MlirValue places = tileBuildIndex(&h->b, p->operand.sizes[d] - size + 1);
    MlirValue inside = arithCmpIOpBuild(&h->b, starts[d], places, ArithCmpI_Ult);
    isIn = mlirValueIsNull(isIn) ? inside : tileBuildBinary(&h->b, ArithOp_AndI, isIn, inside);
  }
  if (mlirValueIsNull(isIn))
    return scatterLoops(h, s, depth, at, starts, values);
  MlirValue flat[2 * HloMaxValues], results[2 * HloMaxValues];
  MlirType types[2 * HloMaxValues];
  intptr_t count = flatten(values, s->count, flat);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(flat[i]);
  MlirRegion then, otherwise;
  TileBuilder outer = h->b, other = tileBuilderInRegion(&outer, &otherwise, 0, NULL);
  tileBuildYield(&other, count, flat);
  h->b = tileBuilderInRegion(&outer, &then, 0, NULL);
  bool ok = scatterLoops(h, s, depth, at, starts, values);
  flatten(values, s->count, results);
  tileBuildYield(&h->b, count, results);
  h->b = outer;
  MlirOperation op = scfIfOpBuild(&h->b, count, types, isIn, then, otherwise);
  for (intptr_t i = 0; i < count; ++i)
    results[i] = mlirOperationGetResult(op, i);
  gatherUp(values, s->count, values, results);
  return ok;
}

static bool scatterLoops(Hlo *h, const Scattering *s, intptr_t depth, MlirValue *at, const MlirValue *starts,
                         HloValue *values) {
  const Places *p = &s->places;
  if (!starts && depth == s->numPlaces)
    return scatterWindow(h, s, depth, at, values);
  if (depth < p->whole.rank)
    return scatterLoop(h, s, depth, at, starts, values);
  MlirValue to[HloMaxRank];
  for (intptr_t d = 0; d < p->operand.rank; ++d) {
    int64_t window = windowOf(p, d);
    to[d] = window < 0 ? starts[d] : tileBuildAdd(&h->b, starts[d], at[window]);
  }
  return combineOne(h, s, at, to, values);
}

static bool scatter(Hlo *h, MlirOperation op) {
  Scattering s = {.op = op, .count = mlirOperationGetNumOperands(op) / 2};
  MlirValue operand = stablehloScatterOpGetOperands(op, 0), indices = stablehloScatterOpGetOperands(op, s.count);
  MlirValue update = stablehloScatterOpGetOperands(op, s.count + 1), at[HloMaxRank];
  HloValue values[HloMaxValues], starts = hloGetTensor(h, indices);
  s.places = placesOf(stablehloScatterOpGetScatterDimensionNumbers(op), operand, indices, update);
  if (!mlirShapedTypeHasStaticShape(mlirValueGetType(operand)) ||
      !mlirShapedTypeHasStaticShape(mlirValueGetType(update)))
    return tileError(op, "cannot be converted to linalg with open sizes");
  if (!starts.count)
    return false;
  s.places.starts = starts.parts[0];
  for (intptr_t i = 0; i < s.count; ++i) {
    values[i] = hloGetTensor(h, stablehloScatterOpGetOperands(op, i));
    s.updates[i] = hloGetTensor(h, stablehloScatterOpGetOperands(op, s.count + 1 + i));
    if (!values[i].count || !s.updates[i].count)
      return false;
  }
  for (intptr_t d = 0; d < s.places.whole.rank; ++d)
    if (!stablehloListHas(&s.places.window, d))
      s.order[s.numPlaces++] = d;
  for (intptr_t i = 0; i < s.places.window.count; ++i)
    s.order[s.numPlaces + i] = s.places.window.items[i];
  bool isEmpty = false;
  for (intptr_t d = 0; d < s.places.whole.rank; ++d)
    isEmpty |= s.places.whole.sizes[d] == 0;
  if (!isEmpty && !scatterLoops(h, &s, 0, at, NULL, values))
    return false;
  for (intptr_t i = 0; i < s.count; ++i) {
    for (int part = 0; s.places.operand.rank == 0 && part < values[i].count; ++part)
      values[i].parts[part] = hloFromTensor(h, values[i].parts[part]);
    hloSet(h, mlirOperationGetResult(op, i), values[i]);
  }
  return true;
}

bool hloGatherScatter(Hlo *h, MlirOperation op, bool *isKnown) {
  *isKnown = stablehloGatherOpIsA(op) || stablehloScatterOpIsA(op);
  return !*isKnown || (stablehloGatherOpIsA(op) ? gather(h, op) : scatter(h, op));
}
