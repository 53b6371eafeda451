// Operators that compute each element from those at its place. See operators.def.
#include "lib/import/onnx/elementwise_operators.h"

#include "lib/import/onnx/operators.h"
#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>

static bool isFloat(MlirValue x) { return mlirTypeIsAFloat(mlirValueGetType(x)); }

static bool map(Node *node, int count, OnnxElement *element, const void *data) {
  return onnxReturn(node, onnxMap(node, node->in[0]->type, count, node->in, element, data));
}

static bool sameTypes(Node *node, int from, int to) {
  for (int i = from + 1; i < to; ++i)
    if (node->in[i] && node->in[i]->type != node->in[from]->type)
      return onnxError(node, "inputs %d and %d have the types %s and %s", from + 1, i + 1,
                       onnxTypeName(node->in[from]->type), onnxTypeName(node->in[i]->type));
  return true;
}

// Before opset 7 the axes of the second input may begin at `axis` of the first one; others stand at the end.
static bool alignSecond(Node *node) {
  int axis, rank = node->in[0]->rank, own = node->in[1]->rank;
  if (node->opset >= 7 || !onnxAttribute(node, "axis"))
    return true;
  if (!onnxAxis(node, onnxInt(node, "axis", 0), rank, &axis))
    return false;
  if (axis + own > rank)
    return onnxError(node, "input 2 has %d axes from axis %d on; input 1 has %d", own, axis, rank);
  uint32_t behind = ((1u << rank) - 1) & ~((1u << (axis + own)) - 1);
  node->in[1] = onnxUnsqueeze(node, node->in[1], behind >> axis, rank - axis);
  return node->in[1] != NULL;
}

//===--- one input ------------------------------------------------------------===//

static MlirValue unary(Body *body, const MlirValue *x) { return ONNX_OP(*(const int *)body->data, x[0]); }
bool onnxEmitUnary(Node *node) { return map(node, 1, unary, &node->kind); }

static MlirValue absolute(Body *body, const MlirValue *x) {
  if (isFloat(x[0]))
    return ONNX_OP(MathOp_AbsF, x[0]);
  if (onnxIsUnsigned(body->node->in[0]->type))
    return x[0];
  MlirValue zero = onnxNumber(body, x[0], 0), negated = ONNX_OP(ArithOp_SubI, zero, x[0]);
  return ONNX_OP(ArithOp_MaxSI, x[0], negated);
}
bool onnxEmitAbs(Node *node) { return map(node, 1, absolute, NULL); }

static MlirValue negative(Body *body, const MlirValue *x) {
  return isFloat(x[0]) ? ONNX_OP(ArithOp_NegF, x[0]) : ONNX_OP(ArithOp_SubI, onnxNumber(body, x[0], 0), x[0]);
}
bool onnxEmitNeg(Node *node) { return map(node, 1, negative, NULL); }

static MlirValue sign(Body *body, const MlirValue *x) {
  MlirValue zero = onnxNumber(body, x[0], 0), one = onnxNumber(body, x[0], 1);
  if (isFloat(x[0])) {
    MlirValue below = onnxSelect(body, onnxCompareF(body, ArithCmpF_Olt, x[0], zero), onnxNumber(body, x[0], -1), x[0]);
    return onnxSelect(body, onnxCompareF(body, ArithCmpF_Ogt, x[0], zero), one, below);
  }
  if (onnxIsUnsigned(body->node->in[0]->type))
    return ONNX_OP(ArithOp_MinUI, x[0], one);
  return ONNX_OP(ArithOp_MaxSI, ONNX_OP(ArithOp_MinSI, x[0], one), onnxNumber(body, x[0], -1));
}
bool onnxEmitSign(Node *node) { return map(node, 1, sign, NULL); }

static MlirValue reciprocal(Body *body, const MlirValue *x) {
  return ONNX_OP(ArithOp_DivF, onnxNumber(body, x[0], 1), x[0]);
}
bool onnxEmitReciprocal(Node *node) { return map(node, 1, reciprocal, NULL); }

static MlirValue complement(Body *body, const MlirValue *x) {
  return ONNX_OP(ArithOp_XOrI, x[0], onnxNumber(body, x[0], -1));
}
bool onnxEmitNot(Node *node) { return map(node, 1, complement, NULL); }

bool onnxEmitIdentity(Node *node) { return onnxReturn(node, node->in[0]); }

static MlirValue relu(Body *body, const MlirValue *x) {
  return ONNX_OP(isFloat(x[0]) ? ArithOp_MaximumF : ArithOp_MaxSI, x[0], onnxNumber(body, x[0], 0));
}
bool onnxEmitRelu(Node *node) { return map(node, 1, relu, NULL); }

//===--- activations ----------------------------------------------------------===//

typedef struct Activation {
  OnnxActivation kind;
  double alpha, beta;
  bool isApproximate;
} Activation;

static MlirValue sigmoid(Body *body, MlirValue x) {
  MlirValue one = onnxNumber(body, x, 1), e = ONNX_OP(MathOp_Exp, ONNX_OP(ArithOp_NegF, x));
  return ONNX_OP(ArithOp_DivF, one, ONNX_OP(ArithOp_AddF, one, e));
}

// log(1 + exp(x)) without overflow: max(x, 0) + log1p(exp(-|x|)).
static MlirValue softplus(Body *body, MlirValue x) {
  MlirValue e = ONNX_OP(MathOp_Exp, ONNX_OP(ArithOp_NegF, ONNX_OP(MathOp_AbsF, x)));
  return ONNX_OP(ArithOp_AddF, ONNX_OP(ArithOp_MaximumF, x, onnxNumber(body, x, 0)), ONNX_OP(MathOp_Log1p, e));
}

static MlirValue gelu(Body *body, MlirValue x, bool isApproximate) {
  MlirValue half = onnxNumber(body, x, 0.5), one = onnxNumber(body, x, 1), inner;
  if (isApproximate) {
    MlirValue cube = ONNX_OP(ArithOp_MulF, x, ONNX_OP(ArithOp_MulF, x, x));
    MlirValue sum = ONNX_OP(ArithOp_AddF, x, ONNX_OP(ArithOp_MulF, onnxNumber(body, x, 0.044715), cube));
    inner = ONNX_OP(MathOp_Tanh, ONNX_OP(ArithOp_MulF, onnxNumber(body, x, sqrt(2 / M_PI)), sum));
  } else {
    inner = ONNX_OP(MathOp_Erf, ONNX_OP(ArithOp_MulF, x, onnxNumber(body, x, M_SQRT1_2)));
  }
  return ONNX_OP(ArithOp_MulF, ONNX_OP(ArithOp_MulF, half, x), ONNX_OP(ArithOp_AddF, one, inner));
}

static MlirValue hardSigmoid(Body *body, MlirValue x, double alpha, double beta) {
  MlirValue line =
      ONNX_OP(ArithOp_AddF, ONNX_OP(ArithOp_MulF, x, onnxNumber(body, x, alpha)), onnxNumber(body, x, beta));
  MlirValue low = ONNX_OP(ArithOp_MaximumF, line, onnxNumber(body, x, 0));
  return ONNX_OP(ArithOp_MinimumF, low, onnxNumber(body, x, 1));
}

// x where positive, scale (exp(x / divisor) - 1) where not.
static MlirValue exponential(Body *body, MlirValue x, double scale, double divisor) {
  MlirValue zero = onnxNumber(body, x, 0);
  MlirValue part = divisor == 1 ? x : ONNX_OP(ArithOp_DivF, x, onnxNumber(body, x, divisor));
  MlirValue low = ONNX_OP(ArithOp_MulF, onnxNumber(body, x, scale), ONNX_OP(MathOp_ExpM1, part));
  return onnxSelect(body, onnxCompareF(body, ArithCmpF_Ogt, x, zero), x, low);
}

static MlirValue activation(Body *body, const MlirValue *in) {
  const Activation *by = body->data;
  MlirValue x = in[0], zero = onnxNumber(body, x, 0);
  switch (by->kind) {
  case OnnxActivation_Sigmoid:
    return sigmoid(body, x);
  case OnnxActivation_HardSigmoid:
    return hardSigmoid(body, x, by->alpha, by->beta);
  case OnnxActivation_HardSwish:
    return ONNX_OP(ArithOp_MulF, x, hardSigmoid(body, x, 1.0 / 6, 0.5));
  case OnnxActivation_LeakyRelu:
    return onnxSelect(body, onnxCompareF(body, ArithCmpF_Olt, x, zero),
                      ONNX_OP(ArithOp_MulF, x, onnxNumber(body, x, by->alpha)), x);
  case OnnxActivation_Elu:
    return exponential(body, x, by->alpha, 1);
  case OnnxActivation_Celu:
    return exponential(body, x, by->alpha, by->alpha);
  case OnnxActivation_Selu:
    return ONNX_OP(ArithOp_MulF, onnxNumber(body, x, by->beta), exponential(body, x, by->alpha, 1));
  case OnnxActivation_Softplus:
    return softplus(body, x);
  case OnnxActivation_Softsign:
    return ONNX_OP(ArithOp_DivF, x, ONNX_OP(ArithOp_AddF, onnxNumber(body, x, 1), ONNX_OP(MathOp_AbsF, x)));
  case OnnxActivation_Mish:
    return ONNX_OP(ArithOp_MulF, x, ONNX_OP(MathOp_Tanh, softplus(body, x)));
  case OnnxActivation_ThresholdedRelu:
    return onnxSelect(body, onnxCompareF(body, ArithCmpF_Ogt, x, onnxNumber(body, x, by->alpha)), x, zero);
  case OnnxActivation_Gelu:
    return gelu(body, x, by->isApproximate);
  case OnnxActivation_Swish:
    return ONNX_OP(ArithOp_MulF, x, sigmoid(body, ONNX_OP(ArithOp_MulF, x, onnxNumber(body, x, by->alpha))));
  }
  return x;
}

bool onnxEmitActivation(Node *node) {
  static const struct {
    double alpha, beta;
  } defaults[] = {
      [OnnxActivation_HardSigmoid] = {0.2, 0.5},
      [OnnxActivation_LeakyRelu] = {0.01, 0},
      [OnnxActivation_Elu] = {1, 0},
      [OnnxActivation_Celu] = {1, 0},
      [OnnxActivation_Selu] = {1.67326319217681884765625, 1.05070102214813232421875},
      [OnnxActivation_ThresholdedRelu] = {1, 0},
      [OnnxActivation_Swish] = {1, 0},
  };
  Activation by = {.kind = (OnnxActivation)node->kind};
  by.alpha = onnxReal(node, "alpha", defaults[by.kind].alpha);
  by.beta = onnxReal(node, by.kind == OnnxActivation_Selu ? "gamma" : "beta", defaults[by.kind].beta);
  by.isApproximate = onnxWord(node, "approximate", "tanh", false);
  return map(node, 1, activation, &by);
}

static MlirValue swiGlu(Body *body, const MlirValue *x) {
  MlirValue gate = sigmoid(body, ONNX_OP(ArithOp_MulF, x[0], onnxNumber(body, x[0], *(const double *)body->data)));
  return ONNX_OP(ArithOp_MulF, ONNX_OP(ArithOp_MulF, x[0], gate), x[1]);
}
bool onnxEmitSwiGlu(Node *node) {
  OnnxValue *a = node->in[0], *b = node->in[1];
  if (a->rank != b->rank || !sameTypes(node, 0, 2))
    return a->rank == b->rank ? false : onnxError(node, "inputs have the ranks %d and %d", a->rank, b->rank);
  for (int d = 0; d < a->rank; ++d)
    if (!onnxCheckSame(node, a->sizes[d], b->sizes[d], "sizes of the gate and the value"))
      return false;
  return map(node, 2, swiGlu, (const double[]){onnxReal(node, "alpha", 1)});
}

static MlirValue shrink(Body *body, const MlirValue *in) {
  const double *by = body->data; // bias, lambda
  OnnxType type = body->node->in[0]->type;
  MlirValue x = onnxConvert(body, in[0], type, Onnx_F64), bias = onnxNumber(body, x, by[0]);
  MlirValue below = onnxCompareF(body, ArithCmpF_Olt, x, onnxNumber(body, x, -by[1]));
  MlirValue above = onnxCompareF(body, ArithCmpF_Ogt, x, onnxNumber(body, x, by[1]));
  MlirValue low = onnxSelect(body, below, ONNX_OP(ArithOp_AddF, x, bias), onnxNumber(body, x, 0));
  MlirValue result = onnxSelect(body, above, ONNX_OP(ArithOp_SubF, x, bias), low);
  return onnxConvert(body, result, Onnx_F64, type);
}
bool onnxEmitShrink(Node *node) {
  return map(node, 1, shrink, (const double[]){onnxReal(node, "bias", 0), onnxReal(node, "lambd", 0.5)});
}

static MlirValue prelu(Body *body, const MlirValue *x) {
  MlirValue zero = onnxNumber(body, x[0], 0);
  if (isFloat(x[0]))
    return onnxSelect(body, onnxCompareF(body, ArithCmpF_Olt, x[0], zero), ONNX_OP(ArithOp_MulF, x[0], x[1]), x[0]);
  if (onnxIsUnsigned(body->node->in[0]->type))
    return x[0];
  return onnxSelect(body, onnxCompareI(body, ArithCmpI_Slt, x[0], zero), ONNX_OP(ArithOp_MulI, x[0], x[1]), x[0]);
}
// Before opset 7 the slopes are those of the channels.
bool onnxEmitPRelu(Node *node) {
  OnnxValue *slope = node->in[1];
  int rank = node->in[0]->rank;
  if (node->opset < 7 && slope->rank == 1 && rank > 2 && onnxCount(slope) != 1)
    node->in[1] = onnxUnsqueeze(node, slope, ((1u << (rank - 1)) - 1) & ~1u, rank - 1);
  return sameTypes(node, 0, 2) && map(node, 2, prelu, NULL);
}

static MlirValue isNan(Body *body, const MlirValue *x) { return onnxCompareF(body, ArithCmpF_Uno, x[0], x[0]); }
bool onnxEmitIsNan(Node *node) { return onnxReturn(node, onnxMap(node, Onnx_Bool, 1, node->in, isNan, NULL)); }

static MlirValue isInf(Body *body, const MlirValue *x) {
  const bool *detects = body->data;
  MlirType type = mlirValueGetType(x[0]);
  MlirValue result = tileBuildInteger(body->b, mlirIntegerTypeGet(body->b->context, 1), 0);
  if (mlirTypeIsAFloat8E4M3FN(type)) // has no infinity
    return result;
  for (int i = 0; i < 2; ++i)
    if (detects[i]) {
      MlirValue infinity = onnxNumber(body, x[0], i ? INFINITY : -INFINITY);
      result = ONNX_OP(ArithOp_OrI, result, onnxCompareF(body, ArithCmpF_Oeq, x[0], infinity));
    }
  return result;
}
bool onnxEmitIsInf(Node *node) {
  const bool detects[] = {onnxInt(node, "detect_negative", 1) != 0, onnxInt(node, "detect_positive", 1) != 0};
  return onnxReturn(node, onnxMap(node, Onnx_Bool, 1, node->in, isInf, detects));
}

//===--- two inputs and more --------------------------------------------------===//

// Division by zero gives the dividend, and the least number by -1 wraps: arith leaves both undefined, as ONNX does.
static MlirValue divide(Body *body, MlirValue a, MlirValue b, bool isUnsigned, bool takesRest) {
  MlirValue zero = onnxNumber(body, a, 0), one = onnxNumber(body, a, 1), minus = onnxNumber(body, a, -1);
  MlirValue isZero = onnxCompareI(body, ArithCmpI_Eq, b, zero);
  if (isUnsigned)
    return ONNX_OP(takesRest ? ArithOp_RemUI : ArithOp_DivUI, a, onnxSelect(body, isZero, one, b));
  MlirValue isMinus = onnxCompareI(body, ArithCmpI_Eq, b, minus);
  MlirValue safe = onnxSelect(body, ONNX_OP(ArithOp_OrI, isZero, isMinus), one, b);
  MlirValue result = ONNX_OP(takesRest ? ArithOp_RemSI : ArithOp_DivSI, a, safe);
  return takesRest ? result : onnxSelect(body, isMinus, ONNX_OP(ArithOp_SubI, zero, a), result);
}

static MlirValue arithmetic(Body *body, const MlirValue *x) {
  static const TileUpstream floats[] = {ArithOp_AddF, ArithOp_SubF, ArithOp_MulF, ArithOp_DivF};
  static const TileUpstream integers[] = {ArithOp_AddI, ArithOp_SubI, ArithOp_MulI};
  int kind = body->node->kind;
  if (isFloat(x[0]))
    return ONNX_OP(floats[kind], x[0], x[1]);
  if (kind == OnnxArithmetic_Div)
    return divide(body, x[0], x[1], onnxIsUnsigned(body->node->in[0]->type), false);
  return ONNX_OP(integers[kind], x[0], x[1]);
}
bool onnxEmitArithmetic(Node *node) {
  return alignSecond(node) && sameTypes(node, 0, 2) && map(node, 2, arithmetic, NULL);
}

static MlirValue modulo(Body *body, const MlirValue *x) {
  bool isUnsigned = onnxIsUnsigned(body->node->in[0]->type), isC = *(const bool *)body->data, real = isFloat(x[0]);
  MlirValue rest = real ? ONNX_OP(ArithOp_RemF, x[0], x[1]) : divide(body, x[0], x[1], isUnsigned, true);
  if (isUnsigned || isC)
    return rest;
  // The sign is the divisor's; a zero has it too.
  MlirValue zero = onnxNumber(body, x[0], 0);
  if (real) {
    MlirValue isOther = ONNX_OP(ArithOp_XOrI, onnxCompareF(body, ArithCmpF_Olt, rest, zero),
                                onnxCompareF(body, ArithCmpF_Olt, x[1], zero));
    MlirValue isZero = onnxCompareF(body, ArithCmpF_Oeq, rest, zero);
    MlirValue other = onnxSelect(body, isOther, ONNX_OP(ArithOp_AddF, rest, x[1]), rest);
    return onnxSelect(body, isZero, ONNX_OP(MathOp_CopySign, zero, x[1]), other);
  }
  MlirValue restBelow = onnxCompareI(body, ArithCmpI_Slt, rest, zero);
  MlirValue divisorBelow = onnxCompareI(body, ArithCmpI_Slt, x[1], zero);
  MlirValue isOther = ONNX_OP(ArithOp_XOrI, restBelow, divisorBelow);
  MlirValue isWrong = ONNX_OP(ArithOp_AndI, isOther, onnxCompareI(body, ArithCmpI_Ne, rest, zero));
  return onnxSelect(body, isWrong, ONNX_OP(ArithOp_AddI, rest, x[1]), rest);
}
bool onnxEmitMod(Node *node) {
  bool isC = onnxInt(node, "fmod", 0) != 0;
  if (onnxIsFloat(node->in[0]->type) && !isC && node->opset < 28)
    return onnxError(node, "of floating-point numbers it requires fmod = 1 before opset 28");
  return sameTypes(node, 0, 2) && map(node, 2, modulo, &isC);
}

// In f64 where the base is an integer; in the base's type where it is a float.
static MlirValue power(Body *body, const MlirValue *x) {
  OnnxType type = body->node->in[0]->type, exponent = body->node->in[1]->type;
  if (isFloat(x[0]))
    return ONNX_OP(MathOp_PowF, x[0], onnxConvert(body, x[1], exponent, type));
  MlirValue base = onnxConvert(body, x[0], type, Onnx_F64);
  MlirValue result = ONNX_OP(MathOp_PowF, base, onnxConvert(body, x[1], exponent, Onnx_F64));
  return onnxConvert(body, result, Onnx_F64, type);
}

static MlirValue square(Body *body, const MlirValue *x) {
  return ONNX_OP(isFloat(x[0]) ? ArithOp_MulF : ArithOp_MulI, x[0], x[0]);
}

bool onnxEmitPow(Node *node) {
  if (!alignSecond(node))
    return false;
  MlirValue *exponent = onnxElements(node, node->in[1]);
  double real;
  int64_t integer;
  bool isTwo = exponent && onnxCount(node->in[1]) == 1 && node->in[1]->rank <= node->in[0]->rank &&
               ((tileConstantFloat(exponent[0], &real) && real == 2) ||
                (tileConstantIndex(exponent[0], &integer) && integer == 2));
  return isTwo ? map(node, 1, square, NULL) : map(node, 2, power, NULL);
}

// Beyond the width nothing remains but, to the right, the sign.
static MlirValue shift(Body *body, const MlirValue *x) {
  unsigned width = tileElementWidth(mlirValueGetType(x[0]));
  bool isLeft = *(const bool *)body->data, isSigned = !isLeft && !onnxIsUnsigned(body->node->in[0]->type);
  MlirValue bits = onnxNumber(body, x[1], width), zero = onnxNumber(body, x[0], 0);
  MlirValue fits = onnxCompareI(body, ArithCmpI_Ult, x[1], bits);
  MlirValue by = onnxSelect(body, fits, x[1], isSigned ? onnxNumber(body, x[1], width - 1) : zero);
  MlirValue shifted = ONNX_OP(isLeft ? ArithOp_ShLI : isSigned ? ArithOp_ShRSI : ArithOp_ShRUI, x[0], by);
  return isSigned ? shifted : onnxSelect(body, fits, shifted, zero);
}
bool onnxEmitBitShift(Node *node) {
  bool isLeft = onnxWord(node, "direction", "LEFT", false);
  if (!isLeft && !onnxWord(node, "direction", "RIGHT", false))
    return onnxError(node, "attribute direction is neither LEFT nor RIGHT");
  return sameTypes(node, 0, 2) && map(node, 2, shift, &isLeft);
}

static MlirValue bitwise(Body *body, const MlirValue *x) { return ONNX_OP(body->node->kind, x[0], x[1]); }
bool onnxEmitBitwise(Node *node) { return alignSecond(node) && sameTypes(node, 0, 2) && map(node, 2, bitwise, NULL); }

static MlirValue compare(Body *body, const MlirValue *x) {
  static const int floats[] = {ArithCmpF_Oeq, ArithCmpF_Olt, ArithCmpF_Ole, ArithCmpF_Ogt, ArithCmpF_Oge};
  static const int integers[] = {ArithCmpI_Eq, ArithCmpI_Slt, ArithCmpI_Sle, ArithCmpI_Sgt, ArithCmpI_Sge};
  static const int naturals[] = {ArithCmpI_Eq, ArithCmpI_Ult, ArithCmpI_Ule, ArithCmpI_Ugt, ArithCmpI_Uge};
  int kind = body->node->kind;
  if (isFloat(x[0]))
    return onnxCompareF(body, floats[kind], x[0], x[1]);
  OnnxType type = body->node->in[0]->type;
  bool isNatural = onnxIsUnsigned(type) || type == Onnx_Bool;
  return onnxCompareI(body, isNatural ? naturals[kind] : integers[kind], x[0], x[1]);
}
bool onnxEmitCompare(Node *node) {
  return alignSecond(node) && sameTypes(node, 0, 2) &&
         onnxReturn(node, onnxMap(node, Onnx_Bool, 2, node->in, compare, NULL));
}

static MlirValue choose(Body *body, const MlirValue *x) { return onnxSelect(body, x[0], x[1], x[2]); }
bool onnxEmitWhere(Node *node) {
  return sameTypes(node, 1, 3) && onnxReturn(node, onnxMap(node, node->in[1]->type, 3, node->in, choose, NULL));
}

static TileUpstream variadicOp(int kind, OnnxType type) {
  bool isMax = kind == OnnxVariadic_Max;
  if (onnxIsFloat(type))
    return kind >= OnnxVariadic_Sum ? ArithOp_AddF : isMax ? ArithOp_MaximumF : ArithOp_MinimumF;
  if (onnxIsUnsigned(type))
    return isMax ? ArithOp_MaxUI : ArithOp_MinUI;
  return isMax ? ArithOp_MaxSI : ArithOp_MinSI;
}

static MlirValue variadic(Body *body, const MlirValue *x) {
  Node *node = body->node;
  MlirValue result = x[0];
  for (int i = 1; i < node->numIn; ++i)
    result = ONNX_OP(variadicOp(node->kind, node->in[0]->type), result, x[i]);
  return node->kind == OnnxVariadic_Mean ? ONNX_OP(ArithOp_DivF, result, onnxNumber(body, result, node->numIn))
                                         : result;
}
bool onnxEmitVariadic(Node *node) {
  for (int i = 0; i < node->numIn; ++i)
    if (!node->in[i])
      return onnxError(node, "input %d is missing", i + 1);
  return sameTypes(node, 0, node->numIn) && map(node, node->numIn, variadic, NULL);
}

typedef struct Limits {
  bool hasLow, hasHigh, areNumbers;
  double low, high;
} Limits;

static MlirValue clip(Body *body, const MlirValue *x) {
  const Limits *limits = body->data;
  OnnxType type = body->node->in[0]->type;
  int at = 1;
  MlirValue result = x[0];
  if (limits->hasLow)
    result = ONNX_OP(variadicOp(OnnxVariadic_Max, type), result,
                     limits->areNumbers ? onnxNumber(body, x[0], limits->low) : x[at++]);
  if (limits->hasHigh)
    result = ONNX_OP(variadicOp(OnnxVariadic_Min, type), result,
                     limits->areNumbers ? onnxNumber(body, x[0], limits->high) : x[at++]);
  return result;
}

bool onnxEmitClip(Node *node) {
  Limits limits = {.areNumbers = node->opset < 11};
  OnnxValue *inputs[3] = {node->in[0]};
  int count = 1;
  if (limits.areNumbers) {
    limits.hasLow = onnxAttribute(node, "min") != NULL;
    limits.hasHigh = onnxAttribute(node, "max") != NULL;
    limits.low = onnxReal(node, "min", 0);
    limits.high = onnxReal(node, "max", 0);
  } else {
    limits.hasLow = node->in[1] != NULL;
    limits.hasHigh = node->in[2] != NULL;
    if (limits.hasLow)
      inputs[count++] = node->in[1];
    if (limits.hasHigh)
      inputs[count++] = node->in[2];
    for (int i = 1; i < count; ++i)
      if (onnxCount(inputs[i]) != 1 || inputs[i]->rank > node->in[0]->rank)
        return onnxError(node, "a limit is no scalar");
  }
  return sameTypes(node, 0, 3) && onnxReturn(node, onnxMap(node, node->in[0]->type, count, inputs, clip, &limits));
}

//===--- casts ----------------------------------------------------------------===//

typedef struct Conversion {
  OnnxType from, to;
  double largest; // of a type that saturates; 0: none
} Conversion;

static MlirValue saturate(Body *body, const MlirValue *x) {
  const Conversion *by = body->data;
  OnnxType wide = by->from == Onnx_F64 ? Onnx_F64 : Onnx_F32;
  MlirValue value = onnxConvert(body, x[0], by->from, wide), high = onnxNumber(body, value, by->largest);
  MlirValue low = onnxNumber(body, value, -by->largest);
  value = onnxSelect(body, onnxCompareF(body, ArithCmpF_Ogt, value, high), high, value);
  value = onnxSelect(body, onnxCompareF(body, ArithCmpF_Olt, value, low), low, value);
  if (by->to == Onnx_F4E2M1) // has no nan; the onnx package makes it -0
    value = onnxSelect(body, onnxCompareF(body, ArithCmpF_Uno, value, value), onnxNumber(body, value, -0.0), value);
  return onnxConvert(body, value, wide, by->to);
}

typedef struct Power {
  OnnxType from;
  OnnxPowerRounding rounding;
  bool saturates;
} Power;

static MlirValue toPower(Body *body, const MlirValue *x) {
  const Power *by = body->data;
  return onnxToPower(body, x[0], by->from, by->rounding, by->saturates);
}

bool onnxEmitCast(Node *node) {
  OnnxValue *x = node->in[0];
  int64_t to = node->kind ? node->in[1]->type : onnxInt(node, "to", 0);
  if (to < 0 || to > 1000 || onnxTypeKind((OnnxType)to) == OnnxType_Other)
    return onnxError(node, "casts to type %s (%lld) are not supported", onnxTypeName((OnnxType)to), (long long)to);
  if (to == Onnx_F8E8M0 && x->type != Onnx_F8E8M0) {
    OnnxPowerRounding rounding = onnxWord(node, "round_mode", "down", false)      ? OnnxPower_Down
                                 : onnxWord(node, "round_mode", "nearest", false) ? OnnxPower_Nearest
                                                                                  : OnnxPower_Up;
    const Power power = {x->type, rounding, onnxInt(node, "saturate", 1) != 0};
    return onnxReturn(node, onnxMap(node, (OnnxType)to, 1, &x, toPower, &power));
  }
  Conversion by = {.from = x->type, .to = (OnnxType)to, .largest = onnxTypeLargest((OnnxType)to)};
  if (!by.largest || x->type == by.to)
    return onnxReturn(node, onnxCast(node, x, by.to));
  if (onnxInt(node, "saturate", 1) == 0 && to != Onnx_F4E2M1)
    by.largest = INFINITY;
  return onnxReturn(node, onnxMap(node, by.to, 1, &x, saturate, &by));
}

static MlirValue bits(Body *body, const MlirValue *x) {
  return tileBuildCast(body->b, ArithOp_Bitcast, x[0], onnxElementType(body->node, *(const OnnxType *)body->data));
}

bool onnxEmitBitCast(Node *node) {
  OnnxValue *x = node->in[0];
  int64_t to = onnxInt(node, "to", 0);
  OnnxType type = to > 0 && to < 1000 ? (OnnxType)to : 0;
  if (onnxTypeBits(type) == 0 || onnxTypeBits(type) != onnxTypeBits(x->type))
    return onnxError(node, "the bits of %s as %s are not supported", onnxTypeName(x->type), onnxTypeName(type));
  bool isTruth = x->type == Onnx_Bool; // a byte of 0 or 1 in ONNX, a bit in the program
  if (isTruth != (type == Onnx_Bool) && onnxIsInteger(isTruth ? type : x->type))
    return onnxReturn(node, onnxCast(node, x, type));
  if (isTruth != (type == Onnx_Bool))
    return onnxError(node, "the bits of %s as %s are not supported", onnxTypeName(x->type), onnxTypeName(type));
  if (mlirTypeEqual(onnxElementType(node, x->type), onnxElementType(node, type)))
    return onnxReturn(node, onnxRetype(node, x, type));
  return onnxReturn(node, onnxMap(node, type, 1, &x, bits, &type));
}

bool onnxEmitDropout(Node *node) {
  bool trains = node->opset < 7 && onnxInt(node, "is_test", 0) == 0;
  if (node->in[2]) {
    int64_t training;
    int count;
    if (!onnxConstantInts(node, node->in[2], "training_mode", 1, &training, &count))
      return false;
    double ratio = 0.5;
    if (node->in[1] && !onnxConstantReals(node, node->in[1], "ratio", 1, &ratio, &count))
      return false;
    trains = training != 0 && ratio != 0;
  }
  if (trains)
    return onnxError(node, "training is not supported");
  if (node->numOut > 1)
    onnxSetOut(node, 1, onnxFill(node, Onnx_Bool, node->in[0]->rank, node->in[0]->sizes, 1));
  return onnxReturn(node, node->in[0]);
}
