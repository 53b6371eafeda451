// Reductions, ArgMax and ArgMin, Softmax and its kin. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/operators.h"

#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/math.h"

#include <math.h>

//===--- reductions -----------------------------------------------------------===//

static MlirValue combine(Body *body, const MlirValue *x) { return onnxOp(body, *(const int *)body->data, x); }

typedef struct Fold {
  TileUpstream op;
  double initial;
} Fold;

static Fold foldOf(OnnxReduction kind, OnnxType type) {
  bool isFloat = onnxIsFloat(type), isUnsigned = onnxIsUnsigned(type) || type == Onnx_Bool;
  double bits = type == Onnx_Bool ? 1 : 8 * onnxTypeBytes(type), greatest = ldexp(1, (int)bits - 1);
  switch (kind) {
  case OnnxReduce_Max:
    if (isFloat)
      return (Fold){ArithOp_MaximumF, type == Onnx_F8E4M3FN ? -448 : -INFINITY};
    return isUnsigned ? (Fold){ArithOp_MaxUI, 0} : (Fold){ArithOp_MaxSI, -greatest};
  case OnnxReduce_Min:
    if (isFloat)
      return (Fold){ArithOp_MinimumF, type == Onnx_F8E4M3FN ? 448 : INFINITY};
    return isUnsigned ? (Fold){ArithOp_MinUI, -1} : (Fold){ArithOp_MinSI, bits == 64 ? 9.3e18 : greatest - 1};
  case OnnxReduce_Prod:
    return (Fold){isFloat ? ArithOp_MulF : ArithOp_MulI, 1};
  default:
    return (Fold){isFloat ? ArithOp_AddF : ArithOp_AddI, 0};
  }
}

double onnxReduceStart(OnnxReduction kind, OnnxType type) { return foldOf(kind, type).initial; }

static OnnxValue *fold(Node *node, OnnxReduction kind, OnnxValue *x, uint32_t axes) {
  Fold by = foldOf(kind, x->type);
  bool sums = kind != OnnxReduce_Max && kind != OnnxReduce_Min;
  OnnxType type = sums ? onnxSumType(x->type) : x->type;
  OnnxValue *wide = onnxCast(node, x, type),
            *result = onnxReduceWith(node, type, wide, axes, by.initial, combine, &by.op);
  return result ? onnxCast(node, result, x->type) : NULL;
}

static OnnxValue *absolute(Node *node, OnnxValue *x) {
  if (onnxIsFloat(x->type))
    return onnxUnary(node, MathOp_AbsF, x);
  return onnxIsUnsigned(x->type)
             ? x
             : onnxBinary(node, ArithOp_MaxSI, x, onnxSub(node, onnxScalarValue(node, x->type, 0), x));
}

// How many elements become one, as a value of that type.
static OnnxValue *countAlong(Node *node, const OnnxValue *x, uint32_t axes, OnnxType type) {
  MlirValue count = tileBuildIndex(node->b, 1);
  Body body = {.node = node, .b = node->b, .isFolding = true};
  for (int d = 0; d < x->rank; ++d)
    if (axes >> d & 1)
      count = tileBuildMul(node->b, count, x->sizes[d]);
  count = onnxFromIndex(&body, count, onnxElementType(node, Onnx_I64));
  return onnxCast(node, onnxOfElements(node, Onnx_I64, 0, NULL, &count, 1), type);
}

static OnnxValue *keep(Node *node, OnnxValue *x, uint32_t axes, int rank, bool keeps) {
  return x && keeps ? onnxUnsqueeze(node, x, axes, rank) : x;
}

// log Σ exp x = m + log Σ exp(x - m), where m is the maximum if that is finite.
static OnnxValue *logSumExp(Node *node, OnnxValue *x, uint32_t axes, bool keeps) {
  OnnxValue *most = onnxReduce(node, OnnxReduce_Max, x, axes, true), *zero = onnxScalarValue(node, x->type, 0);
  OnnxValue *low = most ? onnxWithNumber(node, ArithOp_MaximumF, most, -1e38) : NULL;
  OnnxValue *shift = low ? onnxWithNumber(node, ArithOp_MinimumF, low, 1e38) : NULL;
  (void)zero;
  OnnxValue *exponentials = onnxUnary(node, MathOp_Exp, onnxSub(node, x, shift));
  OnnxValue *sum = exponentials ? onnxReduce(node, OnnxReduce_Sum, exponentials, axes, true) : NULL;
  OnnxValue *result = onnxAdd(node, onnxUnary(node, MathOp_Log, sum), shift);
  return result && !keeps ? onnxSqueeze(node, result, axes) : result;
}

OnnxValue *onnxReduce(Node *node, OnnxReduction kind, OnnxValue *x, uint32_t axes, bool keeps) {
  OnnxType type = x->type, sumType = onnxSumType(type);
  OnnxValue *result = NULL;
  if (kind == OnnxReduce_LogSumExp && onnxIsFloat(type)) {
    OnnxValue *wide = logSumExp(node, onnxCast(node, x, sumType), axes, keeps);
    return wide ? onnxCast(node, wide, type) : NULL;
  }
  switch (kind) {
  case OnnxReduce_L1:
    result = fold(node, OnnxReduce_Sum, absolute(node, x), axes);
    break;
  case OnnxReduce_SumSquare:
  case OnnxReduce_L2: {
    OnnxValue *wide = onnxCast(node, x, kind == OnnxReduce_L2 && !onnxIsFloat(type) ? Onnx_F64 : sumType);
    result = fold(node, OnnxReduce_Sum, onnxMul(node, wide, wide), axes);
    if (kind == OnnxReduce_L2)
      result = onnxUnary(node, MathOp_Sqrt, result);
    result = result ? onnxCast(node, result, type) : NULL;
    break;
  }
  case OnnxReduce_LogSum:
  case OnnxReduce_LogSumExp: {
    OnnxType wideType = onnxIsFloat(type) ? sumType : Onnx_F64;
    OnnxValue *wide = onnxCast(node, x, wideType);
    if (kind == OnnxReduce_LogSumExp)
      wide = onnxUnary(node, MathOp_Exp, wide);
    result = onnxUnary(node, MathOp_Log, fold(node, OnnxReduce_Sum, wide, axes));
    result = result ? onnxCast(node, result, type) : NULL;
    break;
  }
  case OnnxReduce_Mean: {
    OnnxValue *sum = fold(node, OnnxReduce_Sum, onnxCast(node, x, sumType), axes);
    OnnxValue *count = countAlong(node, x, axes, sumType);
    TileUpstream divide = onnxIsFloat(type) ? ArithOp_DivF : onnxIsUnsigned(type) ? ArithOp_DivUI : ArithOp_DivSI;
    result = onnxBinary(node, divide, sum, count);
    result = result ? onnxCast(node, result, type) : NULL;
    break;
  }
  default:
    result = fold(node, kind, x, axes);
  }
  return keep(node, result, axes, x->rank, keeps);
}

bool onnxEmitReduce(Node *node) {
  OnnxValue *x = node->in[0];
  uint32_t axes;
  bool has;
  int since = node->kind == OnnxReduce_Sum ? 13 : 18;
  if (!onnxAxes(node, 1, since, x->rank, &axes, &has))
    return false;
  if (!axes && onnxInt(node, "noop_with_empty_axes", 0))
    return onnxReturn(node,
                      node->kind <= OnnxReduce_Prod ? x : onnxReduce(node, (OnnxReduction)node->kind, x, 0, true));
  if (!axes)
    axes = (1u << x->rank) - 1;
  if (x->type == Onnx_Bool && node->kind != OnnxReduce_Max && node->kind != OnnxReduce_Min)
    return onnxError(node, "type bool is not supported");
  return onnxReturn(node, onnxReduce(node, (OnnxReduction)node->kind, x, axes, onnxInt(node, "keepdims", 1) != 0));
}

//===--- the place of the greatest --------------------------------------------===//

static OnnxValue *placeOfBest(Node *node, OnnxValue *x, int axis, bool isMin, bool takesLast) {
  TileBuilder *b = node->b;
  MlirValue sizes[OnnxMaxRank], inits[2];
  MlirType element = onnxElementType(node, x->type), place = onnxElementType(node, Onnx_I64), types[2];
  int axes[OnnxMaxRank], rank = 0;
  for (int d = 0; d < x->rank; ++d)
    if (d != axis) {
      axes[rank] = d;
      sizes[rank++] = x->sizes[d];
    }
  Fold by = foldOf(isMin ? OnnxReduce_Min : OnnxReduce_Max, x->type);
  MlirValue first = mlirTypeIsAFloat(element) ? tileBuildFloat(b, element, by.initial)
                                              : tileBuildInteger(b, element, onnxInteger(by.initial));
  inits[0] = onnxFilled(node, x->type, rank, sizes, first);
  inits[1] = onnxFilled(node, Onnx_I64, rank, sizes, tileBuildInteger(b, place, 0));
  types[0] = mlirValueGetType(inits[0]);
  types[1] = mlirValueGetType(inits[1]);
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(b, &region, 3, (MlirType[]){element, element, place});
  Body body = {.node = node, .b = &inside};
  MlirValue seen = mlirBlockGetArgument(inside.block, 0), best = mlirBlockGetArgument(inside.block, 1);
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  MlirValue at = onnxFromIndex(&body, linalgIndexOpBuild(&inside, mlirIntegerAttrGet(i64, axis)), i64), isBetter;
  if (mlirTypeIsAFloat(element)) {
    static const int predicates[] = {ArithCmpF_Ogt, ArithCmpF_Oge, ArithCmpF_Olt, ArithCmpF_Ole};
    isBetter = onnxCompareF(&body, predicates[2 * isMin + takesLast], seen, best);
    // nan is the best, as numpy has it: a row that holds one gives its place.
    MlirValue isNan = onnxCompareF(&body, ArithCmpF_Uno, seen, seen);
    if (!takesLast)
      isNan = onnxOp(&body, ArithOp_AndI, (MlirValue[]){isNan, onnxCompareF(&body, ArithCmpF_Oeq, best, best)});
    isBetter = onnxOp(&body, ArithOp_OrI, (MlirValue[]){isBetter, isNan});
  } else {
    static const int predicates[2][4] = {{ArithCmpI_Sgt, ArithCmpI_Sge, ArithCmpI_Slt, ArithCmpI_Sle},
                                         {ArithCmpI_Ugt, ArithCmpI_Uge, ArithCmpI_Ult, ArithCmpI_Ule}};
    isBetter = onnxCompareI(&body, predicates[onnxIsUnsigned(x->type)][2 * isMin + takesLast], seen, best);
  }
  const MlirValue results[] = {onnxSelect(&body, isBetter, seen, best),
                               onnxSelect(&body, isBetter, at, mlirBlockGetArgument(inside.block, 2))};
  linalgYieldOpBuild(&inside, 2, results);
  MlirAffineMap identity = mlirAffineMapMultiDimIdentityGet(b->context, x->rank);
  MlirAttribute projected = mlirAffineMapAttrGet(onnxProjection(b->context, x->rank, rank, axes));
  const MlirAttribute maps[] = {mlirAffineMapAttrGet(identity), projected, projected};
  MlirAttribute kinds[OnnxMaxRank];
  for (int d = 0; d < x->rank; ++d)
    kinds[d] = linalgIteratorTypeAttr(b, d == axis ? LinalgIteratorType_Reduction : LinalgIteratorType_Parallel);
  MlirValue from = onnxTensor(node, x);
  MlirOperation op = linalgGenericOpBuild(b, 2, types, 1, &from, 2, inits, mlirArrayAttrGet(b->context, 3, maps),
                                          mlirArrayAttrGet(b->context, x->rank, kinds), region);
  return onnxOfTensor(node, Onnx_I64, linalgGenericOpGetResultTensors(op, 1), sizes);
}

bool onnxEmitArg(Node *node) {
  OnnxValue *x = node->in[0];
  int axis;
  if (!onnxAxis(node, onnxInt(node, "axis", 0), x->rank, &axis))
    return false;
  OnnxValue *place = placeOfBest(node, x, axis, node->kind != 0, onnxInt(node, "select_last_index", 0) != 0);
  return onnxReturn(node, keep(node, place, 1u << axis, x->rank, onnxInt(node, "keepdims", 1) != 0));
}

//===--- softmax --------------------------------------------------------------===//

OnnxValue *onnxSoftmaxOf(Node *node, OnnxValue *x, int axis) {
  OnnxType sumType = onnxSumType(x->type);
  OnnxValue *wide = onnxCast(node, x, sumType);
  MlirValue from = onnxTensor(node, wide), empty = onnxEmpty(node, sumType, x->rank, x->sizes);
  MlirType type = mlirValueGetType(empty);
  MlirAttribute dimension = mlirIntegerAttrGet(mlirIntegerTypeGet(node->b->context, 64), axis);
  MlirOperation op = linalgSoftmaxOpBuild(node->b, 1, &type, from, empty, dimension);
  return onnxCast(node, onnxOfTensor(node, sumType, tileOnlyResult(op), x->sizes), x->type);
}

static OnnxValue *logSoftmaxOf(Node *node, OnnxValue *x, int axis) {
  uint32_t axes = 1u << axis;
  OnnxValue *wide = onnxCast(node, x, onnxSumType(x->type)), *most = onnxReduce(node, OnnxReduce_Max, wide, axes, true);
  OnnxValue *shifted = onnxSub(node, wide, most), *exponentials = onnxUnary(node, MathOp_Exp, shifted);
  OnnxValue *sum = exponentials ? onnxReduce(node, OnnxReduce_Sum, exponentials, axes, true) : NULL;
  OnnxValue *result = onnxSub(node, shifted, onnxUnary(node, MathOp_Log, sum));
  return result ? onnxCast(node, result, x->type) : NULL;
}

typedef struct Hot {
  OnnxValue *places;
  int axis;
  OnnxType type;
} Hot;

static MlirValue isHot(Body *body) {
  const Hot *by = body->data;
  MlirValue at[OnnxMaxRank];
  for (int d = 0, i = 0; d <= by->places->rank; ++d)
    if (d != by->axis)
      at[i++] = body->index[d];
  MlirValue place = onnxToIndex(body, onnxAt(body, by->places, at));
  MlirType type = onnxElementType(body->node, by->type);
  return onnxSelect(body, onnxCompareI(body, ArithCmpI_Eq, place, body->index[by->axis]),
                    tileBuildFloat(body->b, type, 1), tileBuildFloat(body->b, type, 0));
}

static OnnxValue *hardmaxOf(Node *node, OnnxValue *x, int axis) {
  Hot by = {placeOfBest(node, x, axis, false, false), axis, x->type};
  return onnxGenerate(node, x->type, x->rank, x->sizes, isHot, &by);
}

// Before opset 13 the axes from `axis` on are one.
bool onnxEmitSoftmax(Node *node) {
  static OnnxValue *(*const kinds[])(Node *, OnnxValue *, int) = {onnxSoftmaxOf, logSoftmaxOf, hardmaxOf};
  OnnxValue *x = node->in[0];
  int axis;
  if (!onnxAxis(node, onnxInt(node, "axis", node->opset < 13 ? 1 : -1), x->rank, &axis))
    return false;
  if (node->opset >= 13)
    return onnxReturn(node, kinds[node->kind](node, x, axis));
  MlirValue sizes[] = {tileBuildIndex(node->b, 1), tileBuildIndex(node->b, 1)};
  for (int d = 0; d < x->rank; ++d)
    sizes[d >= axis] = tileBuildMul(node->b, sizes[d >= axis], x->sizes[d]);
  OnnxValue *flat = onnxReshape(node, x, 2, sizes), *result = flat ? kinds[node->kind](node, flat, 1) : NULL;
  return result && onnxReturn(node, onnxReshape(node, result, x->rank, x->sizes));
}
