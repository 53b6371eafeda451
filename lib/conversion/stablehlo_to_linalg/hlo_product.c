// dot, dot_general and convolution: sums of products as linalg.generic. Floats of fewer than 32 bits are added up in
// f32 and rounded once. Complex products are four real ones.
#include "lib/conversion/stablehlo_to_linalg/hlo.h"

#include "dialects/foreign/stablehlo/ops.h"
#include "upstream/arith.h"

//===--- sums of products -----------------------------------------------------------===//

typedef struct Product {
  intptr_t parallel, reductions;
  MlirAffineMap lhs, rhs;
  intptr_t rank; // of the result, whose dimensions are the parallel loops
  int64_t sizes[2 * HloMaxRank];
  MlirValue open[2 * HloMaxRank]; // those of the result that are dynamic
  bool lhsUnsigned, rhsUnsigned;
  MlirType element; // of the result
} Product;

static MlirValue widened(Hlo *h, MlirValue value, MlirType type, bool isUnsigned) {
  MlirType from = mlirValueGetType(value);
  if (mlirTypeEqual(from, type))
    return value;
  bool isFloat = mlirTypeIsAFloat(type);
  if (mlirTypeIsAFloat(from) && isFloat)
    return tileBuildCast(&h->b, tileElementWidth(from) < tileElementWidth(type) ? ArithOp_ExtF : ArithOp_TruncF, value,
                         type);
  if (isFloat)
    return tileBuildCast(&h->b, isUnsigned ? ArithOp_UIToFP : ArithOp_SIToFP, value, type);
  bool isWider = tileElementWidth(from) > tileElementWidth(type);
  return tileBuildCast(&h->b, isWider ? ArithOp_TruncI : isUnsigned ? ArithOp_ExtUI : ArithOp_ExtSI, value, type);
}

static bool productBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  const Product *p = generic->data;
  MlirType type = mlirValueGetType(arguments[2]);
  bool isFloat = mlirTypeIsAFloat(type), isPredicate = !isFloat && tileElementWidth(type) == 1;
  MlirValue a = widened(h, arguments[0], type, p->lhsUnsigned), b = widened(h, arguments[1], type, p->rhsUnsigned);
  TileUpstream times = isFloat ? ArithOp_MulF : isPredicate ? ArithOp_AndI : ArithOp_MulI;
  TileUpstream plus = isFloat ? ArithOp_AddF : isPredicate ? ArithOp_OrI : ArithOp_AddI;
  results[0] = tileBuildBinary(&h->b, plus, arguments[2], tileBuildBinary(&h->b, times, a, b));
  return true;
}

static bool narrowBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  results[0] = widened(h, arguments[0], mlirValueGetType(arguments[1]), false);
  return true;
}

static MlirValue zeroOf(Hlo *h, MlirType type) {
  return mlirTypeIsAFloat(type) ? tileBuildFloat(&h->b, type, 0) : tileBuildInteger(&h->b, type, 0);
}

static MlirValue filledLike(Hlo *h, MlirValue scalar, const Product *p) {
  return hloFilledOf(h, scalar, p->rank, p->sizes, p->open);
}

static MlirValue realProduct(Hlo *h, const Product *p, MlirValue lhs, MlirValue rhs) {
  bool isSmall = mlirTypeIsAFloat(p->element) && tileElementWidth(p->element) < 32;
  MlirType sum = isSmall ? mlirF32TypeGet(h->b.context) : p->element;
  HloGeneric generic = {.parallel = p->parallel, .reductions = p->reductions, .body = productBody, .data = p};
  MlirValue result;
  hloAddInput(&generic, lhs, p->lhs);
  hloAddInput(&generic, rhs, p->rhs);
  hloAddOutput(&generic, filledLike(h, zeroOf(h, sum), p), hloFirst(h, p->parallel + p->reductions, p->rank));
  hloBuildGeneric(h, &generic, &result);
  if (!isSmall)
    return result;
  HloGeneric narrow = {.parallel = p->rank, .body = narrowBody};
  hloAddInput(&narrow, result, hloIdentity(h, p->rank));
  hloAddOutput(&narrow, hloEmptyOf(h, p->element, p->rank, p->sizes, p->open), hloIdentity(h, p->rank));
  hloBuildGeneric(h, &narrow, &result);
  return result;
}

static bool combineBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  results[0] = tileBuildBinary(&h->b, *(const TileUpstream *)generic->data, arguments[0], arguments[1]);
  return true;
}

static MlirValue combined(Hlo *h, const Product *p, TileUpstream kind, MlirValue a, MlirValue b) {
  HloGeneric generic = {.parallel = p->rank, .body = combineBody, .data = &kind};
  MlirValue result;
  hloAddInput(&generic, a, hloIdentity(h, p->rank));
  hloAddInput(&generic, b, hloIdentity(h, p->rank));
  hloAddOutput(&generic, hloEmptyOf(h, p->element, p->rank, p->sizes, p->open), hloIdentity(h, p->rank));
  hloBuildGeneric(h, &generic, &result);
  return result;
}

static HloValue productOf(Hlo *h, const Product *p, HloValue lhs, HloValue rhs) {
  HloValue value = {lhs.count, {{NULL}}};
  if (lhs.count == 1) {
    value.parts[0] = realProduct(h, p, lhs.parts[0], rhs.parts[0]);
    return value;
  }
  for (int part = 0; part < 2; ++part) {
    MlirValue a = realProduct(h, p, lhs.parts[0], rhs.parts[part]);
    MlirValue b = realProduct(h, p, lhs.parts[1], rhs.parts[1 - part]);
    value.parts[part] = combined(h, p, part ? ArithOp_AddF : ArithOp_SubF, a, b);
  }
  return value;
}

static void setResult(Hlo *h, MlirOperation op, HloValue value) {
  if (hloShape(tileOnlyResult(op)).rank == 0)
    for (int part = 0; part < value.count; ++part)
      value.parts[part] = hloFromTensor(h, value.parts[part]);
  hloSet(h, tileOnlyResult(op), value);
}

//===--- dot_general --------------------------------------------------------------------===//

static bool dot(Hlo *h, MlirOperation op, MlirValue left, MlirValue right, const StablehloList *batch,
                const StablehloList *inner) {
  MlirExtShape sides[] = {hloShape(left), hloShape(right)}, shape = hloShape(tileOnlyResult(op));
  HloValue lhs = hloGetTensor(h, left), rhs = hloGetTensor(h, right);
  int64_t at[2][HloMaxRank];
  Product p = {.rank = shape.rank,
               .lhsUnsigned = hloIsUnsigned(sides[0].element),
               .rhsUnsigned = hloIsUnsigned(sides[1].element),
               .element = hloElement(shape.element)};
  if (!lhs.count || !rhs.count)
    return false;
  memcpy(p.sizes, shape.sizes, sizeof *p.sizes * (size_t)shape.rank);
  const MlirValue both[] = {left, right};
  for (intptr_t i = 0; i < batch[0].count; ++i, ++p.parallel) {
    at[0][batch[0].items[i]] = at[1][batch[1].items[i]] = p.parallel;
    p.open[p.parallel] = hloSizeOf(h, left, batch[0].items[i]);
    hloAssertSame(h, p.open[p.parallel], hloSizeOf(h, right, batch[1].items[i]));
  }
  for (int side = 0; side < 2; ++side)
    for (intptr_t d = 0; d < sides[side].rank; ++d)
      if (!stablehloListHas(&batch[side], d) && !stablehloListHas(&inner[side], d)) {
        p.open[p.parallel] = hloSizeOf(h, both[side], d);
        at[side][d] = p.parallel++;
      }
  for (intptr_t i = 0; i < inner[0].count; ++i, ++p.reductions) {
    at[0][inner[0].items[i]] = at[1][inner[1].items[i]] = p.parallel + p.reductions;
    hloAssertSame(h, hloSizeOf(h, left, inner[0].items[i]), hloSizeOf(h, right, inner[1].items[i]));
  }
  intptr_t loops = p.parallel + p.reductions;
  p.lhs = hloMapOf(h, loops, sides[0].rank, at[0]);
  p.rhs = hloMapOf(h, loops, sides[1].rank, at[1]);
  HloValue value = productOf(h, &p, lhs, rhs);
  for (int part = 0; part < value.count; ++part)
    hloNoteSizes(h, value.parts[part], shape.rank, p.open);
  setResult(h, op, value);
  return true;
}

static bool dotGeneral(Hlo *h, MlirOperation op) {
  MlirAttribute numbers = stablehloDotGeneralOpGetDotDimensionNumbers(op);
  StablehloList batch[] = {stablehloField(numbers, StablehloDot_LhsBatch),
                           stablehloField(numbers, StablehloDot_RhsBatch)};
  StablehloList inner[] = {stablehloField(numbers, StablehloDot_LhsContracting),
                           stablehloField(numbers, StablehloDot_RhsContracting)};
  return dot(h, op, stablehloDotGeneralOpGetLhs(op), stablehloDotGeneralOpGetRhs(op), batch, inner);
}

static bool plainDot(Hlo *h, MlirOperation op) {
  MlirValue lhs = stablehloDotOpGetLhs(op), rhs = stablehloDotOpGetRhs(op);
  StablehloList batch[2] = {{0}, {0}}, inner[2] = {{1, {hloShape(lhs).rank - 1}}, {1, {0}}};
  return dot(h, op, lhs, rhs, batch, inner);
}

//===--- convolution ----------------------------------------------------------------------===//

typedef struct Exprs {
  intptr_t count;
  MlirAffineExpr items[2 * HloMaxRank];
  int64_t sizes[2 * HloMaxRank]; // of the operand with its groups apart
} Exprs;

static void addExpr(Exprs *exprs, MlirAffineExpr expr, int64_t size) {
  exprs->sizes[exprs->count] = size;
  exprs->items[exprs->count++] = expr;
}

static int64_t numberAt(MlirAttribute list, intptr_t i, int64_t missing) {
  return mlirAttributeIsNull(list) ? missing : mlirDenseI64ArrayGetElement(list, i);
}

static intptr_t spatialOf(const StablehloList *spatial, int64_t d) {
  intptr_t i = 0;
  while (i < spatial->count && spatial->items[i] != d)
    ++i;
  return i;
}

static HloValue padded(Hlo *h, MlirOperation op, const StablehloConvolution *at, HloValue lhs) {
  int64_t low[HloMaxRank] = {0}, high[HloMaxRank] = {0}, interior[HloMaxRank] = {0};
  MlirAttribute padding = stablehloConvolutionOpGetPadding(op), dilation = stablehloConvolutionOpGetLhsDilation(op);
  for (intptr_t i = 0; i < at->input.spatial.count; ++i) {
    int64_t d = at->input.spatial.items[i];
    low[d] = stablehloPaddingAt(padding, 2 * i);
    high[d] = stablehloPaddingAt(padding, 2 * i + 1);
    interior[d] = numberAt(dilation, i, 1) - 1;
  }
  for (int part = 0; part < lhs.count; ++part) {
    MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(lhs.parts[part]));
    lhs.parts[part] = hloPad(h, lhs.parts[part], zeroOf(h, element), low, high, interior);
  }
  return lhs;
}

static HloValue turned(Hlo *h, MlirOperation op, const StablehloConvolution *at, HloValue rhs) {
  MlirAttribute reversal = stablehloConvolutionOpGetWindowReversal(op);
  StablehloList list = {0};
  for (intptr_t i = 0; !mlirAttributeIsNull(reversal) && i < at->kernel.spatial.count; ++i)
    if (mlirDenseBoolArrayGetElement(reversal, i))
      list.items[list.count++] = at->kernel.spatial.items[i];
  for (int part = 0; list.count && part < rhs.count; ++part)
    rhs.parts[part] = hloReversed(h, rhs.parts[part], &list);
  return rhs;
}

// Loops: those of the output in its order, a group before the features of a group; then the window's and the features'.
static bool convolution(Hlo *h, MlirOperation op) {
  MlirContext context = h->b.context;
  StablehloConvolution at = stablehloConvolutionOf(stablehloConvolutionOpGetDimensionNumbers(op));
  MlirValue left = stablehloConvolutionOpGetLhs(op), right = stablehloConvolutionOpGetRhs(op);
  MlirExtShape in = hloShape(left), kernel = hloShape(right), shape = hloShape(tileOnlyResult(op));
  int64_t features = stablehloConvolutionOpGetFeatureGroupCountValue(op);
  int64_t batches = stablehloConvolutionOpGetBatchGroupCountValue(op), groups = features * batches;
  HloValue lhs = hloGetTensor(h, left), rhs = hloGetTensor(h, right);
  Product p = {.lhsUnsigned = hloIsUnsigned(in.element),
               .rhsUnsigned = hloIsUnsigned(kernel.element),
               .element = hloElement(shape.element)};
  if (!lhs.count || !rhs.count)
    return false;
  if (!mlirShapedTypeHasStaticShape(mlirValueGetType(left)))
    return tileError(op, "cannot be converted to linalg with open sizes");
  lhs = padded(h, op, &at, lhs);
  rhs = turned(h, op, &at, rhs);
  // Parallel loops.
  MlirAffineExpr batchLoop = {NULL}, groupLoop = {NULL}, outputLoop = {NULL}, spatialLoops[HloMaxRank];
  for (intptr_t d = 0; d < shape.rank; ++d) {
    if (d == at.output.second && groups > 1) {
      groupLoop = mlirAffineDimExprGet(context, p.parallel);
      p.sizes[p.parallel++] = groups;
    }
    MlirAffineExpr loop = mlirAffineDimExprGet(context, p.parallel);
    p.sizes[p.parallel++] = d == at.output.second ? shape.sizes[d] / groups : shape.sizes[d];
    if (d == at.output.first)
      batchLoop = loop;
    else if (d == at.output.second)
      outputLoop = loop;
    else
      spatialLoops[spatialOf(&at.output.spatial, d)] = loop;
  }
  p.rank = p.parallel;
  MlirAffineExpr inputLoop = mlirAffineDimExprGet(context, p.parallel);
  p.reductions = 1 + at.kernel.spatial.count;
  Exprs image = {0}, weights = {0};
  MlirExtShape paddedShape;
  mlirExtTypeGetShape(mlirValueGetType(lhs.parts[0]), &paddedShape);
  for (intptr_t d = 0; d < in.rank; ++d) {
    intptr_t i = spatialOf(&at.input.spatial, d);
    int64_t size = paddedShape.sizes[d];
    bool isBatch = d == at.input.first, isFeature = d == at.input.second;
    int64_t parts = isBatch ? batches : isFeature ? features : 1;
    if (parts > 1)
      addExpr(&image, groupLoop, parts);
    if (isBatch || isFeature) {
      addExpr(&image, isBatch ? batchLoop : inputLoop, size / parts);
      continue;
    }
    int64_t stride = numberAt(stablehloConvolutionOpGetWindowStrides(op), i, 1);
    int64_t dilation = numberAt(stablehloConvolutionOpGetRhsDilation(op), i, 1);
    MlirAffineExpr window = mlirAffineDimExprGet(context, p.parallel + 1 + i);
    MlirAffineExpr steps = mlirAffineMulExprGet(spatialLoops[i], mlirAffineConstantExprGet(context, stride));
    MlirAffineExpr taps = mlirAffineMulExprGet(window, mlirAffineConstantExprGet(context, dilation));
    addExpr(&image, mlirAffineAddExprGet(steps, taps), size);
  }
  for (intptr_t d = 0; d < kernel.rank; ++d) {
    intptr_t i = spatialOf(&at.kernel.spatial, d);
    if (d == at.kernel.second && groups > 1)
      addExpr(&weights, groupLoop, groups);
    if (d == at.kernel.second)
      addExpr(&weights, outputLoop, kernel.sizes[d] / groups);
    else
      addExpr(&weights, d == at.kernel.first ? inputLoop : mlirAffineDimExprGet(context, p.parallel + 1 + i),
              kernel.sizes[d]);
  }
  p.lhs = hloMap(h, p.parallel + p.reductions, image.count, image.items);
  p.rhs = hloMap(h, p.parallel + p.reductions, weights.count, weights.items);
  for (int part = 0; part < lhs.count; ++part) {
    lhs.parts[part] = hloReshaped(h, lhs.parts[part], image.count, image.sizes);
    rhs.parts[part] = hloReshaped(h, rhs.parts[part], weights.count, weights.sizes);
  }
  HloValue value = productOf(h, &p, lhs, rhs);
  for (int part = 0; part < value.count; ++part)
    value.parts[part] = hloReshaped(h, value.parts[part], shape.rank, shape.sizes);
  setResult(h, op, value);
  return true;
}

bool hloProduct(Hlo *h, MlirOperation op, bool *isKnown) {
  *isKnown = true;
  switch (stablehloOpKind(op)) {
  case StablehloOp_Dot:
    return plainDot(h, op);
  case StablehloOp_DotGeneral:
    return dotGeneral(h, op);
  case StablehloOp_Convolution:
    return convolution(h, op);
  default:
    *isKnown = false;
    return true;
  }
}
