// reduce, reduce_window and select_and_scatter: any body, variadic, elements in row-major order.
#include "lib/conversion/stablehlo_to_linalg/hlo.h"

#include "dialects/foreign/stablehlo/ops.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

//===--- bodies -----------------------------------------------------------------------===//

// A region that combines `count` accumulators, the generic's outputs, with as many elements, its first inputs.
typedef struct Combiner {
  MlirRegion region;
  intptr_t count;
  int parts[HloMaxValues];
} Combiner;

static intptr_t take(const MlirValue *from, intptr_t at, int parts, HloValue *value) {
  value->count = parts;
  for (int part = 0; part < parts; ++part)
    value->parts[part] = from[at++];
  return at;
}

static bool combineBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  const Combiner *c = generic->data;
  HloValue values[2 * HloMaxValues], combined[HloMaxValues];
  intptr_t input = 0, output = generic->numInputs, at = 0;
  for (intptr_t i = 0; i < c->count; ++i) {
    input = take(arguments, input, c->parts[i], &values[c->count + i]);
    output = take(arguments, output, c->parts[i], &values[i]);
  }
  if (!hloConvertBody(h, c->region, 2 * c->count, values, combined))
    return false;
  for (intptr_t i = 0; i < c->count; ++i)
    for (int part = 0; part < combined[i].count; ++part)
      results[at++] = combined[i].parts[part];
  return true;
}

static void setResults(Hlo *h, MlirOperation op, const Combiner *c, const MlirValue *built) {
  intptr_t at = 0;
  for (intptr_t i = 0; i < c->count; ++i) {
    MlirValue old = mlirOperationGetResult(op, i);
    HloValue value;
    at = take(built, at, c->parts[i], &value);
    if (hloShape(old).rank == 0)
      for (int part = 0; part < value.count; ++part)
        value.parts[part] = hloFromTensor(h, value.parts[part]);
    hloSet(h, old, value);
  }
}

// The outputs, filled with the initial values, which follow the inputs.
static bool addOutputs(Hlo *h, HloGeneric *generic, Combiner *c, MlirOperation op, intptr_t rank, const int64_t *sizes,
                       const MlirValue *open) {
  for (intptr_t i = 0; i < c->count; ++i) {
    HloValue initial = hloGet(h, mlirOperationGetOperand(op, c->count + i));
    c->parts[i] = initial.count;
    for (int part = 0; part < initial.count; ++part)
      hloAddOutput(generic, hloFilledOf(h, initial.parts[part], rank, sizes, open),
                   hloFirst(h, generic->parallel + generic->reductions, rank));
    if (!initial.count)
      return false;
  }
  return true;
}

//===--- reduce -----------------------------------------------------------------------===//

static bool reduce(Hlo *h, MlirOperation op) {
  StablehloList dimensions = stablehloList(stablehloReduceOpGetDimensions(op));
  MlirValue built[2 * HloMaxValues];
  Combiner c = {.region = stablehloReduceOpGetBody(op), .count = mlirOperationGetNumOperands(op) / 2};
  MlirExtShape input = hloShape(stablehloReduceOpGetOperands(op, 0));
  HloGeneric generic = {
      .parallel = input.rank - dimensions.count, .reductions = dimensions.count, .body = combineBody, .data = &c};
  int64_t at[HloMaxRank], sizes[HloMaxRank];
  MlirValue open[HloMaxRank];
  intptr_t kept = 0, reduced = generic.parallel;
  for (intptr_t d = 0; d < input.rank; ++d)
    if (stablehloListHas(&dimensions, d))
      at[d] = reduced++;
    else {
      open[kept] = hloSizeOf(h, stablehloReduceOpGetOperands(op, 0), d);
      sizes[kept] = input.sizes[d];
      at[d] = kept++;
    }
  for (intptr_t i = 1; i < c.count; ++i)
    for (intptr_t d = 0; d < input.rank; ++d)
      hloAssertSame(h, hloSizeOf(h, stablehloReduceOpGetOperands(op, 0), d),
                    hloSizeOf(h, stablehloReduceOpGetOperands(op, i), d));
  for (intptr_t i = 0; i < c.count; ++i) {
    HloValue value = hloGetTensor(h, stablehloReduceOpGetOperands(op, i));
    for (int part = 0; part < value.count; ++part)
      hloAddInput(&generic, value.parts[part], hloMapOf(h, input.rank, input.rank, at));
    if (!value.count)
      return false;
  }
  if (!addOutputs(h, &generic, &c, op, kept, sizes, open) || !hloBuildGeneric(h, &generic, built))
    return false;
  for (intptr_t i = 0; i < generic.numOutputs; ++i)
    hloNoteSizes(h, built[i], kept, open);
  setResults(h, op, &c, built);
  return true;
}

//===--- windows ------------------------------------------------------------------------===//

static int64_t numberAt(MlirAttribute list, intptr_t i, int64_t missing) {
  return mlirAttributeIsNull(list) ? missing : mlirDenseI64ArrayGetElement(list, i);
}

static bool reduceWindow(Hlo *h, MlirOperation op) {
  MlirContext context = h->b.context;
  MlirAttribute windows = stablehloReduceWindowOpGetWindowDimensions(op);
  MlirValue built[2 * HloMaxValues];
  Combiner c = {.region = stablehloReduceWindowOpGetBody(op), .count = mlirOperationGetNumOperands(op) / 2};
  MlirExtShape input = hloShape(stablehloReduceWindowOpGetOperands(op, 0));
  MlirExtShape shape = hloShape(tileFirstResult(op));
  int64_t low[HloMaxRank], high[HloMaxRank], interior[HloMaxRank], extents[HloMaxRank];
  if (!mlirShapedTypeHasStaticShape(mlirValueGetType(stablehloReduceWindowOpGetOperands(op, 0))))
    return tileError(op, "cannot be converted to linalg with open sizes");
  HloGeneric generic = {.parallel = shape.rank, .body = combineBody, .data = &c};
  MlirAffineExpr exprs[HloMaxRank], loops[HloMaxRank];
  for (intptr_t d = 0; d < input.rank; ++d) {
    low[d] = stablehloPaddingAt(stablehloReduceWindowOpGetPadding(op), 2 * d);
    high[d] = stablehloPaddingAt(stablehloReduceWindowOpGetPadding(op), 2 * d + 1);
    interior[d] = numberAt(stablehloReduceWindowOpGetBaseDilations(op), d, 1) - 1;
    int64_t stride = numberAt(stablehloReduceWindowOpGetWindowStrides(op), d, 1);
    int64_t dilation = numberAt(stablehloReduceWindowOpGetWindowDilations(op), d, 1), size = numberAt(windows, d, 1);
    exprs[d] = mlirAffineMulExprGet(mlirAffineDimExprGet(context, d), mlirAffineConstantExprGet(context, stride));
    if (size == 1)
      continue;
    MlirAffineExpr loop = mlirAffineDimExprGet(context, shape.rank + generic.reductions);
    extents[generic.reductions] = size;
    loops[generic.reductions++] = loop;
    exprs[d] = mlirAffineAddExprGet(exprs[d], mlirAffineMulExprGet(loop, mlirAffineConstantExprGet(context, dilation)));
  }
  intptr_t total = generic.parallel + generic.reductions;
  for (intptr_t i = 0; i < c.count; ++i) {
    HloValue value = hloGetTensor(h, stablehloReduceWindowOpGetOperands(op, i));
    HloValue initial = hloGet(h, stablehloReduceWindowOpGetOperands(op, c.count + i));
    if (!value.count || !initial.count)
      return false;
    for (int part = 0; part < value.count; ++part)
      hloAddInput(&generic, hloPad(h, value.parts[part], initial.parts[part], low, high, interior),
                  hloMap(h, total, input.rank, exprs));
  }
  if (generic.reductions) // how far the window's loops go
    hloAddInput(&generic, hloEmpty(h, mlirF32TypeGet(context), generic.reductions, extents),
                hloMap(h, total, generic.reductions, loops));
  if (!addOutputs(h, &generic, &c, op, shape.rank, shape.sizes, NULL) || !hloBuildGeneric(h, &generic, built))
    return false;
  setResults(h, op, &c, built);
  return true;
}

//===--- select_and_scatter -----------------------------------------------------------------===//

// Two steps: which element each window selects, as a number; then each element adds up the windows that selected it, in
// their order. Loops: dimensions, then those of the window.
typedef struct Selecting {
  MlirOperation op;
  MlirValue operand, source, chosen;
  MlirExtShape from, windows; // of the operand and of the source
  intptr_t rank;
  int64_t low[HloMaxRank], strides[HloMaxRank], sizes[HloMaxRank];
} Selecting;

static MlirValue loop(Hlo *h, intptr_t i) {
  return linalgIndexOpBuild(&h->b, mlirIntegerAttrGet(mlirIntegerTypeGet(h->b.context, 64), i));
}
static MlirValue both(Hlo *h, MlirValue a, MlirValue b) {
  return mlirValueIsNull(a) ? b : tileBuildBinary(&h->b, ArithOp_AndI, a, b);
}
static MlirValue within(Hlo *h, MlirValue all, MlirValue at, int64_t size) {
  return both(h, all, arithCmpIOpBuild(&h->b, at, tileBuildIndex(&h->b, size), ArithCmpI_Ult));
}
static MlirValue clamped(Hlo *h, MlirValue at, int64_t size) {
  return tileBuildMin(&h->b, tileBuildMax(&h->b, at, tileBuildIndex(&h->b, 0)), tileBuildIndex(&h->b, size - 1));
}
static MlirValue numberOf(Hlo *h, const MlirExtShape *shape, const MlirValue *at) {
  MlirValue number = tileBuildIndex(&h->b, 0);
  for (intptr_t d = 0; d < shape->rank; ++d)
    number = tileBuildAdd(&h->b, tileBuildMul(&h->b, number, tileBuildIndex(&h->b, shape->sizes[d])), at[d]);
  return tileBuildCast(&h->b, ArithOp_IndexCast, number, mlirIntegerTypeGet(h->b.context, 64));
}

static bool chooseBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  const Selecting *s = generic->data;
  MlirValue at[HloMaxRank], isIn = {NULL}, value = arguments[1], chosen = arguments[2];
  for (intptr_t d = 0; d < s->rank; ++d) {
    at[d] = tileBuildMul(&h->b, loop(h, d), tileBuildIndex(&h->b, s->strides[d]));
    at[d] = tileBuildAdd(&h->b, at[d], tileBuildIndex(&h->b, -s->low[d]));
    at[d] = tileBuildAdd(&h->b, at[d], loop(h, s->rank + d));
    isIn = within(h, isIn, at[d], s->from.sizes[d]);
    at[d] = clamped(h, at[d], s->from.sizes[d]);
  }
  MlirValue next = tensorExtractOpBuild(&h->b, s->operand, s->rank, at);
  HloValue values[] = {{1, {value}}, {1, {next}}}, stays;
  if (!hloConvertBody(h, stablehloSelectAndScatterOpGetSelect(s->op), 2, values, &stays))
    return false;
  MlirType i64 = mlirValueGetType(chosen);
  MlirValue isFirst = arithCmpIOpBuild(&h->b, chosen, tileBuildInteger(&h->b, i64, 0), ArithCmpI_Slt);
  MlirValue changes = tileBuildBinary(&h->b, ArithOp_XOrI, stays.parts[0],
                                      tileBuildInteger(&h->b, mlirIntegerTypeGet(h->b.context, 1), 1));
  changes = both(h, isIn, tileBuildBinary(&h->b, ArithOp_OrI, isFirst, changes));
  results[0] = hloSelect(h, changes, next, value);
  results[1] = hloSelect(h, changes, numberOf(h, &s->from, at), chosen);
  return true;
}

// The window that holds this element as its last one but k: (at + low - (size - 1 - k)) / stride, if that is whole.
static bool gatherBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  const Selecting *s = generic->data;
  MlirValue here[HloMaxRank], window[HloMaxRank], isIn = {NULL}, zero = tileBuildIndex(&h->b, 0);
  for (intptr_t d = 0; d < s->rank; ++d) {
    MlirValue stride = tileBuildIndex(&h->b, s->strides[d]);
    here[d] = loop(h, d);
    MlirValue at = tileBuildAdd(&h->b, here[d], tileBuildIndex(&h->b, s->low[d] - (s->sizes[d] - 1)));
    at = tileBuildAdd(&h->b, at, loop(h, s->rank + d));
    MlirValue safe = tileBuildMax(&h->b, at, zero);
    isIn = both(h, isIn, arithCmpIOpBuild(&h->b, at, zero, ArithCmpI_Sge));
    isIn =
        both(h, isIn, arithCmpIOpBuild(&h->b, tileBuildBinary(&h->b, ArithOp_RemUI, safe, stride), zero, ArithCmpI_Eq));
    at = tileBuildBinary(&h->b, ArithOp_DivUI, safe, stride);
    isIn = within(h, isIn, at, s->windows.sizes[d]);
    window[d] = clamped(h, at, s->windows.sizes[d]);
  }
  MlirValue chosen = tensorExtractOpBuild(&h->b, s->chosen, s->rank, window);
  MlirValue source = tensorExtractOpBuild(&h->b, s->source, s->rank, window), sum = arguments[1];
  isIn = both(h, isIn, arithCmpIOpBuild(&h->b, chosen, numberOf(h, &s->from, here), ArithCmpI_Eq));
  HloValue values[] = {{1, {sum}}, {1, {source}}}, added;
  if (!hloConvertBody(h, stablehloSelectAndScatterOpGetScatter(s->op), 2, values, &added))
    return false;
  results[0] = hloSelect(h, isIn, added.parts[0], sum);
  return true;
}

static bool selectAndScatter(Hlo *h, MlirOperation op) {
  MlirValue operand = stablehloSelectAndScatterOpGetOperand(op), source = stablehloSelectAndScatterOpGetSource(op);
  HloValue from = hloGetTensor(h, operand), windows = hloGetTensor(h, source);
  HloValue initial = hloGet(h, stablehloSelectAndScatterOpGetInitValue(op));
  Selecting s = {.op = op,
                 .operand = from.parts[0],
                 .source = windows.parts[0],
                 .from = hloShape(operand),
                 .windows = hloShape(source),
                 .rank = hloShape(operand).rank};
  if (from.count != 1 || windows.count != 1 || initial.count != 1)
    return from.count && tileError(op, "cannot be converted to linalg for complex elements");
  if (!mlirShapedTypeHasStaticShape(mlirValueGetType(operand)) || s.rank == 0)
    return tileError(op, "cannot be converted to linalg with open sizes or rank 0");
  bool isEmpty = false;
  for (intptr_t d = 0; d < s.rank; ++d) {
    s.low[d] = stablehloPaddingAt(stablehloSelectAndScatterOpGetPadding(op), 2 * d);
    s.strides[d] = numberAt(stablehloSelectAndScatterOpGetWindowStrides(op), d, 1);
    s.sizes[d] = numberAt(stablehloSelectAndScatterOpGetWindowDimensions(op), d, 1);
    isEmpty |= s.windows.sizes[d] == 0 || s.from.sizes[d] == 0;
  }
  MlirType i64 = mlirIntegerTypeGet(h->b.context, 64), element = hloElement(s.from.element);
  MlirValue filled = hloFilled(h, initial.parts[0], s.rank, s.from.sizes), chosen[2], result;
  if (isEmpty) {
    hloSetOne(h, tileOnlyResult(op), filled);
    return true;
  }
  int64_t at[HloMaxRank];
  for (intptr_t d = 0; d < s.rank; ++d)
    at[d] = s.rank + d;
  MlirAffineMap first = hloFirst(h, 2 * s.rank, s.rank), window = hloMapOf(h, 2 * s.rank, s.rank, at);
  MlirValue extents = hloEmpty(h, mlirF32TypeGet(h->b.context), s.rank, s.sizes);
  HloGeneric choose = {.parallel = s.rank, .reductions = s.rank, .body = chooseBody, .data = &s};
  MlirValue zero = mlirTypeIsAFloat(element) ? tileBuildFloat(&h->b, element, 0) : tileBuildInteger(&h->b, element, 0);
  hloAddInput(&choose, extents, window);
  hloAddOutput(&choose, hloFilled(h, zero, s.rank, s.windows.sizes), first);
  hloAddOutput(&choose, hloFilled(h, tileBuildInteger(&h->b, i64, -1), s.rank, s.windows.sizes), first);
  if (!hloBuildGeneric(h, &choose, chosen))
    return false;
  s.chosen = chosen[1];
  HloGeneric gather = {.parallel = s.rank, .reductions = s.rank, .body = gatherBody, .data = &s};
  hloAddInput(&gather, extents, window);
  hloAddOutput(&gather, filled, first);
  if (!hloBuildGeneric(h, &gather, &result))
    return false;
  hloSetOne(h, tileOnlyResult(op), result);
  return true;
}

bool hloReduction(Hlo *h, MlirOperation op, bool *isKnown) {
  *isKnown = true;
  switch (stablehloOpKind(op)) {
  case StablehloOp_Reduce:
    return reduce(h, op);
  case StablehloOp_ReduceWindow:
    return reduceWindow(h, op);
  case StablehloOp_SelectAndScatter:
    return selectAndScatter(h, op);
  default:
    *isKnown = false;
    return true;
  }
}
