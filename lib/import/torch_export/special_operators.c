// Special functions of floats, the neighbours of a float, and common divisors of integers. See operators.def.
#include "lib/import/torch_export/operators.h"

#include "lib/import/onnx/operators.h"
#include "lib/ir/emit/special.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>

static OnnxValue *floats(Aten *aten, const char *name) {
  OnnxValue *x = torchOperand(aten, name, aten->type);
  if (x && !onnxIsFloat(x->type)) {
    onnxError(&aten->node, "type %s is not supported", onnxTypeName(x->type));
    return NULL;
  }
  return x;
}

//===--- functions of one number --------------------------------------------------===//

// At 0, where other front ends give nan, PyTorch's digamma is infinite.
static MlirValue special(Body *body, const MlirValue *x) {
  TileSpecial function = *(const TileSpecial *)body->data;
  MlirValue result = tileBuildSpecial(body->b, function, x[0]);
  if (function != TileSpecial_Digamma)
    return result;
  MlirValue isPole = onnxCompareF(body, ArithCmpF_Oeq, x[0], onnxNumber(body, x[0], 0));
  MlirValue pole = ONNX_OP(MathOp_CopySign, onnxNumber(body, x[0], INFINITY), ONNX_OP(ArithOp_NegF, x[0]));
  return onnxSelect(body, isPole, pole, result);
}

// kind: a TileSpecial.
bool torchEmitSpecial(Aten *aten) {
  OnnxValue *x = floats(aten, "self");
  const TileSpecial function = (TileSpecial)aten->row->kind;
  return x && torchReturn(aten, onnxMap(&aten->node, x->type, 1, &x, special, &function));
}

static MlirValue derivative(Body *body, const MlirValue *x) {
  return tileBuildDerivativeOfDigamma(body->b, *(const int *)body->data, x[0]);
}

bool torchEmitPolygamma(Aten *aten) {
  OnnxValue *x = floats(aten, "self");
  int64_t order = torchInt(aten, "n", 0);
  const TileSpecial function = TileSpecial_Digamma;
  if (x && (order < 0 || order > TileSpecial_MostDerivatives))
    return onnxError(&aten->node, "argument 'n' is %lld; 0 to %d is accepted", (long long)order,
                     TileSpecial_MostDerivatives);
  if (x && !order)
    return torchReturn(aten, onnxMap(&aten->node, x->type, 1, &x, special, &function));
  return x && torchReturn(aten, onnxMap(&aten->node, x->type, 1, &x, derivative, &(const int){(int)order}));
}

// The sum of log |gamma(x - j / 2)| for j = 0 … p - 1, and p (p - 1) / 4 · log(pi).
static MlirValue multivariate(Body *body, const MlirValue *x) {
  int64_t p = *(const int64_t *)body->data;
  MlirValue sum = onnxNumber(body, x[0], (double)(p * (p - 1)) / 4 * log(M_PI));
  for (int64_t j = 0; j < p; ++j) {
    MlirValue at = ONNX_OP(ArithOp_SubF, x[0], onnxNumber(body, x[0], (double)j / 2));
    sum = ONNX_OP(ArithOp_AddF, sum, tileBuildSpecial(body->b, TileSpecial_Lgamma, at));
  }
  return sum;
}

bool torchEmitMultivariateLgamma(Aten *aten) {
  OnnxValue *x = floats(aten, "self");
  const int64_t p = torchInt(aten, "p", 1);
  if (x && (p < 1 || p > 64))
    return onnxError(&aten->node, "argument 'p' is %lld; 1 to 64 is accepted", (long long)p);
  return x && torchReturn(aten, onnxMap(&aten->node, x->type, 1, &x, multivariate, &p));
}

//===--- functions of two numbers -------------------------------------------------===//

static MlirValue zeta(Body *body, const MlirValue *x) { return tileBuildZeta(body->b, x[0], x[1]); }
static MlirValue nextAfter(Body *body, const MlirValue *x) { return tileBuildNextAfter(body->b, x[0], x[1]); }

// The root of x² + y², by the ratio of the smaller to the greater, whose square stays in range.
static MlirValue hypotenuse(Body *body, const MlirValue *in) {
  MlirValue x = ONNX_OP(MathOp_AbsF, in[0]), y = ONNX_OP(MathOp_AbsF, in[1]), one = onnxNumber(body, x, 1);
  MlirValue large = ONNX_OP(ArithOp_MaximumF, x, y), small = ONNX_OP(ArithOp_MinimumF, x, y);
  MlirValue isZero = onnxCompareF(body, ArithCmpF_Oeq, large, onnxNumber(body, x, 0));
  MlirValue ratio = ONNX_OP(ArithOp_DivF, small, onnxSelect(body, isZero, one, large));
  MlirValue root = ONNX_OP(MathOp_Sqrt, ONNX_OP(ArithOp_AddF, one, ONNX_OP(ArithOp_MulF, ratio, ratio)));
  MlirValue infinity = onnxNumber(body, x, INFINITY);
  MlirValue isInfinite = ONNX_OP(ArithOp_OrI, onnxCompareF(body, ArithCmpF_Oeq, x, infinity),
                                 onnxCompareF(body, ArithCmpF_Oeq, y, infinity));
  return onnxSelect(body, isInfinite, infinity, ONNX_OP(ArithOp_MulF, large, root));
}

// log(exp(x) + exp(y)) by the greater one, which is taken out.
static MlirValue logOfSum(Body *body, const MlirValue *x) {
  MlirValue large = ONNX_OP(ArithOp_MaximumF, x[0], x[1]);
  MlirValue distance = ONNX_OP(MathOp_AbsF, ONNX_OP(ArithOp_SubF, x[0], x[1]));
  MlirValue more = ONNX_OP(MathOp_Log1p, ONNX_OP(MathOp_Exp, ONNX_OP(ArithOp_NegF, distance)));
  MlirValue isInfinite =
      onnxCompareF(body, ArithCmpF_Oeq, ONNX_OP(MathOp_AbsF, large), onnxNumber(body, large, INFINITY));
  return onnxSelect(body, isInfinite, large, ONNX_OP(ArithOp_AddF, large, more));
}

// kind: a TorchFloats.
bool torchEmitFloats(Aten *aten) {
  static OnnxElement *const elements[] = {
      [TorchFloats_NextAfter] = nextAfter, [TorchFloats_Zeta] = zeta, [TorchFloats_Hypot] = hypotenuse};
  OnnxValue *in[] = {floats(aten, "self"), floats(aten, "other")};
  return in[0] && in[1] && torchReturn(aten, onnxMap(&aten->node, in[0]->type, 2, in, elements[aten->row->kind], NULL));
}

typedef struct Along {
  OnnxValue *x;
  int axis;
} Along;

// carried: the results, and the last row of them.
static bool addRow(Node *node, MlirValue at, OnnxValue **carried, const void *data) {
  const Along *by = data;
  OnnxValue *in[] = {carried[1], onnxRow(node, by->x, by->axis, at)};
  carried[1] = in[1] ? onnxMap(node, by->x->type, 2, in, logOfSum, NULL) : NULL;
  carried[0] = carried[1] ? onnxWithRow(node, carried[0], by->axis, at, carried[1]) : NULL;
  return carried[0] != NULL;
}

bool torchEmitLogCumSumExp(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *x = floats(aten, "self");
  Along by = {x, 0};
  if (!x || !torchAxis(aten, "dim", 0, x->rank ? x->rank : 1, &by.axis))
    return false;
  if (x->rank == 0)
    return torchReturn(aten, x);
  by.x = x = onnxCast(node, x, onnxSumType(x->type));
  MlirValue sizes[OnnxMaxRank];
  for (int d = 0, rank = 0; x && d < x->rank; ++d)
    if (d != by.axis)
      sizes[rank++] = x->sizes[d];
  OnnxValue *carried[] = {x, x ? onnxFill(node, x->type, x->rank - 1, sizes, -INFINITY) : NULL};
  return carried[1] && onnxFor(node, x->sizes[by.axis], 2, carried, addRow, &by) && torchReturn(aten, carried[0]);
}

//===--- divisors -----------------------------------------------------------------===//

// Euclid's step where b is not 0: a becomes b, and b the rest.
static MlirValue dividend(Body *body, const MlirValue *x) {
  return onnxSelect(body, onnxCompareI(body, ArithCmpI_Eq, x[1], onnxNumber(body, x[1], 0)), x[0], x[1]);
}
static MlirValue rest(Body *body, const MlirValue *x) {
  MlirValue isZero = onnxCompareI(body, ArithCmpI_Eq, x[1], onnxNumber(body, x[1], 0));
  MlirValue divisor = onnxSelect(body, isZero, onnxNumber(body, x[1], 1), x[1]);
  return ONNX_OP(ArithOp_RemUI, x[0], divisor);
}

static MlirValue isLeft(Node *node, OnnxValue *b) {
  OnnxValue *any = onnxCast(node, b, Onnx_Bool);
  any = any ? onnxReduce(node, OnnxReduce_Max, any, (1u << any->rank) - 1, false) : NULL;
  MlirValue *element = any ? onnxRead(node, any) : NULL;
  return element ? *element : (MlirValue){NULL};
}

static bool step(Node *node, MlirValue at, MlirValue condition, OnnxValue **carried, MlirValue *goesOn,
                 const void *data) {
  OnnxValue *in[] = {carried[0], carried[1]};
  carried[0] = onnxMap(node, in[0]->type, 2, in, dividend, NULL);
  carried[1] = carried[0] ? onnxMap(node, in[0]->type, 2, in, rest, NULL) : NULL;
  *goesOn = carried[1] ? isLeft(node, carried[1]) : (MlirValue){NULL};
  return !mlirValueIsNull(*goesOn);
}

// kind 1: the smallest common multiple.
bool torchEmitDivisor(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *in[] = {torchOperand(aten, "self", aten->type), torchOperand(aten, "other", aten->type)}, *carried[2];
  if (!in[0] || !in[1] || !onnxIsInteger(in[0]->type))
    return in[0] && in[1] && onnxError(node, "type %s is not supported", onnxTypeName(in[0]->type));
  int rank;
  MlirValue sizes[OnnxMaxRank];
  if (!onnxBroadcastSizes(node, 2, in, &rank, sizes))
    return false;
  for (int i = 0; i < 2; ++i) {
    in[i] = torchOnnx(aten, "Abs", 1, &in[i], 0, NULL);
    carried[i] = in[i] = in[i] ? onnxBroadcastTo(node, in[i], rank, sizes) : NULL;
  }
  MlirValue condition = in[0] && in[1] ? isLeft(node, in[1]) : (MlirValue){NULL};
  if (mlirValueIsNull(condition) || !onnxWhile(node, (MlirValue){NULL}, condition, 2, carried, step, NULL, NULL))
    return false;
  if (!aten->row->kind)
    return torchReturn(aten, carried[0]);
  OnnxValue *of[] = {carried[0], onnxScalarValue(node, in[0]->type, 1)}, *pair[] = {in[0], NULL}; // 0 for 0 and 0
  pair[1] = torchOnnx(aten, "Max", 2, of, 0, NULL);
  OnnxValue *share = pair[1] ? torchOnnx(aten, "Div", 2, pair, 0, NULL) : NULL;
  OnnxValue *multiple = share ? onnxMul(node, share, in[1]) : NULL;
  return torchReturn(aten, torchOnnx(aten, "Abs", 1, &multiple, 0, NULL));
}
