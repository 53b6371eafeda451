// Operators that compute each element from those at its place. See operators.def.
#include "lib/import/torch_export/operators.h"

#include "lib/import/onnx/operators.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool torchReturn(Aten *aten, OnnxValue *value) {
  if (value && aten->type && value->type != aten->type)
    value = onnxCast(&aten->node, value, aten->type);
  memset(aten->node.out, 0, OnnxMaxInputs * sizeof *aten->node.out); // what operators of ONNX left
  aten->node.out[0] = value;
  return value != NULL;
}

static OnnxValue *typed(Aten *aten, const char *name) { return torchOperand(aten, name, aten->type); }

//===--- one input --------------------------------------------------------------===//

// kind: whether truth values become their complements. Their size and their sign are themselves.
bool torchEmitOne(Aten *aten) {
  OnnxValue *x = torchTensor(aten, aten->row->inputs);
  bool isTruth = x && x->type == Onnx_Bool;
  if (isTruth && !aten->row->kind)
    return torchReturn(aten, x);
  return torchReturn(aten, torchOnnx(aten, isTruth ? "Not" : aten->row->onnx, 1, &x, 0, NULL));
}

bool torchEmitMath(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  bool isWhole = x && !onnxIsFloat(x->type) && !onnxIsFloat(aten->type); // rounding integers
  return torchReturn(aten, isWhole ? x : onnxUnary(&aten->node, aten->row->kind, typed(aten, "self")));
}

// scale · (max(x, 0) + alpha · (exp(inner · min(x, 0)) - 1))
static OnnxValue *scaledElu(Node *node, OnnxValue *x, double alpha, double scale, double inner) {
  OnnxValue *exponent = onnxWithNumber(node, ArithOp_MulF, onnxWithNumber(node, ArithOp_MinimumF, x, 0), inner);
  OnnxValue *below = onnxWithNumber(node, ArithOp_MulF, onnxUnary(node, MathOp_ExpM1, exponent), alpha);
  OnnxValue *sum = onnxAdd(node, onnxWithNumber(node, ArithOp_MaximumF, x, 0), below);
  return onnxWithNumber(node, ArithOp_MulF, sum, scale);
}

bool torchEmitSelu(Aten *aten) {
  return torchReturn(aten, scaledElu(&aten->node, typed(aten, "self"), 1.6732632423543772, 1.0507009873554805, 1));
}

bool torchEmitActivation(Aten *aten) {
  static const char *const names[] = {
      [TorchActivation_Sigmoid] = "Sigmoid",
      [TorchActivation_Silu] = "Swish",
      [TorchActivation_Gelu] = "Gelu",
      [TorchActivation_HardSigmoid] = "HardSigmoid",
      [TorchActivation_HardSwish] = "HardSwish",
      [TorchActivation_LeakyRelu] = "LeakyRelu",
      [TorchActivation_Elu] = "Elu",
      [TorchActivation_Softplus] = "Softplus",
      [TorchActivation_Mish] = "Mish",
  };
  OnnxValue *x = typed(aten, "self");
  OnnxAttribute attributes[2] = {TORCH_REAL("alpha", 1)};
  int kind = aten->row->kind, count = 0;
  if (kind == TorchActivation_Gelu) {
    attributes[0] = (OnnxAttribute)TORCH_TEXT("approximate", torchText(aten, "approximate", "none"));
    count = 1;
  } else if (kind == TorchActivation_LeakyRelu) {
    attributes[0] = (OnnxAttribute)TORCH_REAL("alpha", torchReal(aten, "negative_slope", 0.01));
    count = 1;
  } else if (kind == TorchActivation_Elu) {
    if (torchReal(aten, "scale", 1) != 1 || torchReal(aten, "input_scale", 1) != 1)
      return torchReturn(aten, scaledElu(&aten->node, x, torchReal(aten, "alpha", 1), torchReal(aten, "scale", 1),
                                         torchReal(aten, "input_scale", 1)));
    attributes[0] = (OnnxAttribute)TORCH_REAL("alpha", torchReal(aten, "alpha", 1));
    count = 1;
  } else if (kind == TorchActivation_HardSigmoid) {
    attributes[0] = (OnnxAttribute)TORCH_REAL("alpha", 1.0 / 6);
    attributes[1] = (OnnxAttribute)TORCH_REAL("beta", 0.5);
    count = 2;
  } else if (kind == TorchActivation_Softplus && torchReal(aten, "beta", 1) != 1) {
    return onnxError(&aten->node, "a beta other than 1 is not supported");
  }
  return torchReturn(aten, torchOnnx(aten, names[kind], 1, &x, count, attributes));
}

// Outside of training: the slope is the mean of those that it draws from. kind 1: the second result is the noise.
bool torchEmitRandomRelu(Aten *aten) {
  OnnxValue *x = typed(aten, "self");
  double slope = (torchReal(aten, "lower", 0.125) + torchReal(aten, "upper", 1.0 / 3)) / 2;
  if (torchInt(aten, "training", 0))
    return onnxError(&aten->node, "training is not supported: its slopes are random");
  const OnnxAttribute attributes[] = {TORCH_REAL("alpha", slope)};
  OnnxValue *noise = aten->row->kind ? torchTensor(aten, "noise") : NULL;
  if (!torchReturn(aten, torchOnnx(aten, "LeakyRelu", 1, &x, 1, attributes)))
    return false;
  aten->node.out[1] = noise;
  return true;
}

// The greater or the smaller one; of truth values that is "or" and "and".
static OnnxValue *extreme(Aten *aten, bool isMax, OnnxValue *x, OnnxValue *y) {
  if (!x || !y)
    return NULL;
  const char *onnx = x->type == Onnx_Bool ? (isMax ? "Or" : "And") : (isMax ? "Max" : "Min");
  return torchOnnx(aten, onnx, 2, (OnnxValue *[]){x, y}, 0, NULL);
}

// kind 0: min and max; 6: from 0 to 6; 1: min_val and max_val, or -1 and 1.
bool torchEmitClamp(Aten *aten) {
  OnnxValue *x = typed(aten, "self");
  if (aten->row->kind == 0) {
    if (x && torchHas(aten, "min"))
      x = extreme(aten, true, x, typed(aten, "min"));
    if (x && torchHas(aten, "max"))
      x = extreme(aten, false, x, typed(aten, "max"));
    return torchReturn(aten, x);
  }
  bool isSix = aten->row->kind == 6;
  double low = isSix ? 0 : torchReal(aten, "min_val", -1), high = isSix ? 6 : torchReal(aten, "max_val", 1);
  x = x ? extreme(aten, true, x, onnxScalarValue(&aten->node, x->type, low)) : NULL;
  return torchReturn(aten, x ? extreme(aten, false, x, onnxScalarValue(&aten->node, x->type, high)) : NULL);
}

bool torchEmitReciprocal(Aten *aten) {
  OnnxValue *x = typed(aten, "self");
  return torchReturn(aten, torchOnnx(aten, "Reciprocal", 1, &x, 0, NULL));
}

bool torchEmitSquare(Aten *aten) {
  OnnxValue *x = typed(aten, "self");
  return torchReturn(aten, onnxMul(&aten->node, x, x));
}

static OnnxValue *truth(Aten *aten, const char *name) { return torchOperand(aten, name, Onnx_Bool); }

bool torchEmitLogicalNot(Aten *aten) {
  OnnxValue *x = truth(aten, "self");
  return torchReturn(aten, torchOnnx(aten, "Not", 1, &x, 0, NULL));
}

bool torchEmitIs(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  if (x && !onnxIsFloat(x->type))
    return torchReturn(aten, onnxFill(&aten->node, Onnx_Bool, x->rank, x->sizes, 0));
  return torchReturn(aten, torchOnnx(aten, aten->row->kind ? "IsInf" : "IsNaN", 1, &x, 0, NULL));
}

// A number as mantissa and power of two, by the bits in f64, where no number of the type but those of f64 is subnormal.
typedef struct Parts {
  OnnxType type;
  bool isExponent;
} Parts;

static MlirValue partOf(Body *body, const MlirValue *in) {
  const Parts *by = body->data;
  MlirContext context = body->b->context;
  MlirType f64 = mlirF64TypeGet(context), i64 = mlirIntegerTypeGet(context, 64);
  MlirValue x = onnxConvert(body, in[0], by->type, Onnx_F64), zero = onnxNumber(body, x, 0);
  MlirValue size = ONNX_OP(MathOp_AbsF, x);
  MlirValue isTiny = onnxCompareF(body, ArithCmpF_Olt, size, onnxNumber(body, x, 0x1p-1022));
  MlirValue large = onnxSelect(body, isTiny, ONNX_OP(ArithOp_MulF, x, onnxNumber(body, x, 0x1p54)), x);
  MlirValue bits = tileBuildCast(body->b, ArithOp_Bitcast, large, i64);
  MlirValue field = tileBuildInteger(body->b, i64, 0x7ffll << 52);
  MlirValue isNumber = ONNX_OP(ArithOp_AndI, onnxCompareF(body, ArithCmpF_One, size, zero),
                               onnxCompareF(body, ArithCmpF_Olt, size, onnxNumber(body, x, INFINITY)));
  if (by->isExponent) {
    MlirValue power = ONNX_OP(ArithOp_ShRUI, ONNX_OP(ArithOp_AndI, bits, field), tileBuildInteger(body->b, i64, 52));
    MlirValue bias =
        onnxSelect(body, isTiny, tileBuildInteger(body->b, i64, 1022 + 54), tileBuildInteger(body->b, i64, 1022));
    MlirValue exponent =
        onnxSelect(body, isNumber, ONNX_OP(ArithOp_SubI, power, bias), tileBuildInteger(body->b, i64, 0));
    return onnxConvert(body, exponent, Onnx_I64, Onnx_I32);
  }
  MlirValue rest = ONNX_OP(ArithOp_AndI, bits, tileBuildInteger(body->b, i64, ~(0x7ffll << 52)));
  MlirValue half = ONNX_OP(ArithOp_OrI, rest, tileBuildInteger(body->b, i64, 1022ll << 52));
  MlirValue mantissa = tileBuildCast(body->b, ArithOp_Bitcast, half, f64);
  return onnxConvert(body, onnxSelect(body, isNumber, mantissa, x), Onnx_F64, by->type);
}

bool torchEmitFrexp(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  if (!x || !onnxIsFloat(x->type))
    return x && onnxError(&aten->node, "type %s is not supported", onnxTypeName(x->type));
  aten->node.out[0] = onnxMap(&aten->node, x->type, 1, &x, partOf, &(Parts){x->type, false});
  aten->node.out[1] = onnxMap(&aten->node, Onnx_I32, 1, &x, partOf, &(Parts){x->type, true});
  return aten->node.out[0] && aten->node.out[1];
}

static MlirValue hasSign(Body *body, const MlirValue *x) {
  if (!mlirTypeIsAFloat(mlirValueGetType(x[0])))
    return onnxCompareI(body, ArithCmpI_Slt, x[0], onnxNumber(body, x[0], 0));
  return onnxCompareF(body, ArithCmpF_Olt, ONNX_OP(MathOp_CopySign, onnxNumber(body, x[0], 1), x[0]),
                      onnxNumber(body, x[0], 0));
}

bool torchEmitSignBit(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  if (x && (x->type == Onnx_Bool || onnxIsUnsigned(x->type)))
    return torchReturn(aten, onnxFill(&aten->node, Onnx_Bool, x->rank, x->sizes, 0));
  return torchReturn(aten, x ? onnxMap(&aten->node, Onnx_Bool, 1, &x, hasSign, NULL) : NULL);
}

// The angle of a real number is π where it is negative, nan where it is nan.
static MlirValue angle(Body *body, const MlirValue *x) {
  MlirValue zero = onnxNumber(body, x[0], 0), isBelow = onnxCompareF(body, ArithCmpF_Olt, x[0], zero);
  MlirValue angle = onnxSelect(body, isBelow, onnxNumber(body, x[0], 3.14159265358979323846), zero);
  return onnxSelect(body, onnxCompareF(body, ArithCmpF_Uno, x[0], x[0]), x[0], angle);
}

bool torchEmitAngle(Aten *aten) {
  OnnxValue *x = typed(aten, "self");
  return torchReturn(aten, x ? onnxMap(&aten->node, x->type, 1, &x, angle, NULL) : NULL);
}

// To so many decimals: scaled, rounded, and back. Negative ones are places before the point.
bool torchEmitRoundDecimals(Aten *aten) {
  OnnxValue *x = typed(aten, "self");
  int64_t decimals = torchInt(aten, "decimals", 0);
  double scale = pow(10, (double)llabs(decimals));
  if (x && !onnxIsFloat(x->type))
    return onnxError(&aten->node, "type %s is not supported", onnxTypeName(x->type));
  x = onnxWithNumber(&aten->node, decimals < 0 ? ArithOp_DivF : ArithOp_MulF, x, scale);
  x = onnxUnary(&aten->node, MathOp_RoundEven, x);
  return torchReturn(aten, onnxWithNumber(&aten->node, decimals < 0 ? ArithOp_MulF : ArithOp_DivF, x, scale));
}

//===--- two inputs -------------------------------------------------------------===//

OnnxType torchCommonType(Aten *aten, const char *a, const char *b) {
  OnnxValue *x = torchOptional(aten, a), *y = torchOptional(aten, b);
  OnnxType one = x ? x->type : y ? y->type : Onnx_F32, other = y ? y->type : one;
  bool oneIsFloat = torchIsFloat(aten, a), otherIsFloat = torchIsFloat(aten, b);
  if (!x || !y)
    return (oneIsFloat || otherIsFloat) && !onnxIsFloat(one) ? Onnx_F32 : one;
  if (oneIsFloat != otherIsFloat)
    return oneIsFloat ? one : other;
  if (x->rank == 0 && y->rank > 0)
    return other;
  if (y->rank == 0 && x->rank > 0)
    return one;
  if (oneIsFloat && one != other && onnxTypeBytes(one) == onnxTypeBytes(other))
    return Onnx_F32; // f16 and bf16
  if (one == Onnx_Bool)
    return other;
  if (onnxTypeBytes(one) == onnxTypeBytes(other) && onnxIsUnsigned(one) != onnxIsUnsigned(other))
    return Onnx_I16; // u8 and i8
  return onnxTypeBytes(one) > onnxTypeBytes(other) || other == Onnx_Bool ? one : other;
}

static OnnxValue *rounded(Aten *aten, OnnxValue *quotient, const char *mode) {
  if (!quotient || !*mode)
    return quotient;
  return onnxUnary(&aten->node, strcmp(mode, "floor") == 0 ? MathOp_Floor : MathOp_Trunc, quotient);
}

static OnnxValue *isNegative(Aten *aten, OnnxValue *x) {
  OnnxValue *in[] = {x, onnxScalarValue(&aten->node, x->type, 0)};
  return torchOnnx(aten, "Less", 2, in, 0, NULL);
}

// The quotient rounded down where the signs differ and it is not whole: the operator of ONNX rounds toward zero.
OnnxValue *torchFloorQuotient(Aten *aten, OnnxValue *x, OnnxValue *y) {
  Node *node = &aten->node;
  OnnxValue *quotient = torchOnnx(aten, "Div", 2, (OnnxValue *[]){x, y}, 0, NULL);
  OnnxValue *rest = quotient ? onnxSub(node, x, onnxMul(node, quotient, y)) : NULL;
  if (!rest)
    return NULL;
  OnnxValue *same = torchOnnx(aten, "Equal", 2, (OnnxValue *[]){rest, onnxScalarValue(node, x->type, 0)}, 0, NULL);
  OnnxValue *differ = torchOnnx(aten, "Xor", 2, (OnnxValue *[]){isNegative(aten, rest), isNegative(aten, y)}, 0, NULL);
  OnnxValue *less = onnxSub(node, quotient, onnxScalarValue(node, x->type, 1));
  OnnxValue *down = torchOnnx(aten, "Where", 3, (OnnxValue *[]){differ, less, quotient}, 0, NULL);
  return same && down ? torchOnnx(aten, "Where", 3, (OnnxValue *[]){same, quotient, down}, 0, NULL) : NULL;
}

static OnnxValue *divide(Aten *aten, const char *mode) {
  if (onnxIsFloat(aten->type)) {
    OnnxValue *in[] = {typed(aten, "self"), typed(aten, "other")};
    return in[0] && in[1] ? rounded(aten, torchOnnx(aten, "Div", 2, in, 0, NULL), mode) : NULL;
  }
  OnnxValue *x = typed(aten, "self"), *y = typed(aten, "other");
  if (!x || !y)
    return NULL;
  return strcmp(mode, "floor") == 0 ? torchFloorQuotient(aten, x, y)
                                    : torchOnnx(aten, "Div", 2, (OnnxValue *[]){x, y}, 0, NULL);
}

static OnnxValue *binary(Aten *aten, const char *onnx, const char *first, const char *second, OnnxType type) {
  OnnxValue *in[] = {torchOperand(aten, first, type), torchOperand(aten, second, type)};
  return in[0] && in[1] ? torchOnnx(aten, onnx, 2, in, 0, NULL) : NULL;
}

// first ± alpha · second
static OnnxValue *sum(Aten *aten, const char *onnx, const char *first, const char *second) {
  OnnxValue *x = typed(aten, first), *y = typed(aten, second);
  if (y && torchHas(aten, "alpha") && torchReal(aten, "alpha", 1) != 1)
    y = onnxMul(&aten->node, y, typed(aten, "alpha"));
  if (!x || !y)
    return NULL;
  if (x->type == Onnx_Bool) // the sum of truth values is "or"
    return torchOnnx(aten, "Or", 2, (OnnxValue *[]){x, y}, 0, NULL);
  return torchOnnx(aten, onnx, 2, (OnnxValue *[]){x, y}, 0, NULL);
}

static OnnxValue *ofFloats(Aten *aten, TileUpstream op) { // the declared type is a float's
  return onnxBinary(&aten->node, op, typed(aten, "self"), typed(aten, "other"));
}

bool torchEmitBinary(Aten *aten) {
  static const char *const compare[] = {"Equal", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"};
  int kind = aten->row->kind;
  if (kind >= TorchBinary_Eq) {
    OnnxType type = torchCommonType(aten, "self", "other");
    if (type == Onnx_Bool && kind > TorchBinary_Ne)
      type = Onnx_I8;
    OnnxValue *is = binary(aten, compare[kind - TorchBinary_Eq], "self", "other", type);
    return torchReturn(aten, kind == TorchBinary_Ne ? torchOnnx(aten, "Not", 1, &is, 0, NULL) : is);
  }
  switch (kind) {
  case TorchBinary_Add:
    return torchReturn(aten, sum(aten, "Add", "self", "other"));
  case TorchBinary_Sub:
    return torchReturn(aten, sum(aten, "Sub", "self", "other"));
  case TorchBinary_ReversedSub:
    return torchReturn(aten, sum(aten, "Sub", "other", "self"));
  case TorchBinary_Mul:
    return torchReturn(aten, binary(aten, aten->type == Onnx_Bool ? "And" : "Mul", "self", "other", aten->type));
  case TorchBinary_Div:
    return torchReturn(aten, divide(aten, torchText(aten, "rounding_mode", "")));
  case TorchBinary_FloorDiv:
    return torchReturn(aten, divide(aten, "floor"));
  case TorchBinary_Remainder: {
    OnnxValue *x = typed(aten, "self"), *y = typed(aten, "other");
    if (!x || !y || !onnxIsFloat(x->type)) // ONNX's Mod has the divisor's sign, as PyTorch's remainder
      return x && y && torchReturn(aten, torchOnnx(aten, "Mod", 2, (OnnxValue *[]){x, y}, 0, NULL));
    OnnxValue *floor = onnxUnary(&aten->node, MathOp_Floor, onnxBinary(&aten->node, ArithOp_DivF, x, y));
    return torchReturn(aten, onnxSub(&aten->node, x, onnxMul(&aten->node, floor, y)));
  }
  case TorchBinary_FMax:
  case TorchBinary_FMin:
    if (onnxIsFloat(aten->type))
      return torchReturn(aten, ofFloats(aten, kind == TorchBinary_FMax ? ArithOp_MaxNumF : ArithOp_MinNumF));
    return torchReturn(aten, extreme(aten, kind == TorchBinary_FMax, typed(aten, "self"), typed(aten, "other")));
  case TorchBinary_Max:
  case TorchBinary_Min:
    return torchReturn(aten, extreme(aten, kind == TorchBinary_Max, typed(aten, "self"), typed(aten, "other")));
  case TorchBinary_ShiftLeft:
  case TorchBinary_ShiftRight: {
    OnnxValue *in[] = {typed(aten, "self"), typed(aten, "other")};
    const OnnxAttribute attributes[] = {TORCH_TEXT("direction", kind == TorchBinary_ShiftLeft ? "LEFT" : "RIGHT")};
    return in[0] && in[1] && torchReturn(aten, torchOnnx(aten, "BitShift", 2, in, 1, attributes));
  }
  case TorchBinary_FMod: {
    OnnxValue *in[] = {typed(aten, "self"), typed(aten, "other")};
    const OnnxAttribute attributes[] = {TORCH_INT("fmod", 1)};
    return in[0] && in[1] && torchReturn(aten, torchOnnx(aten, "Mod", 2, in, 1, attributes));
  }
  case TorchBinary_Atan2:
    return torchReturn(aten, ofFloats(aten, MathOp_Atan2));
  case TorchBinary_CopySign:
    return torchReturn(aten, ofFloats(aten, MathOp_CopySign));
  default: {
    static const char *const names[] = {"And", "Or", "Xor"}, *const bits[] = {"BitwiseAnd", "BitwiseOr", "BitwiseXor"};
    int at = kind - TorchBinary_And;
    return torchReturn(aten, binary(aten, aten->type == Onnx_Bool ? names[at] : bits[at], "self", "other", aten->type));
  }
  }
}

bool torchEmitPow(Aten *aten) {
  OnnxValue *x = typed(aten, "self");
  double exponent = torchReal(aten, "exponent", -1);
  if (x && torchHas(aten, "exponent") && exponent == 2)
    return torchReturn(aten, onnxMul(&aten->node, x, x));
  if (x && exponent == 0.5 && onnxIsFloat(x->type))
    return torchReturn(aten, onnxUnary(&aten->node, MathOp_Sqrt, x));
  return torchReturn(aten, binary(aten, "Pow", "self", "exponent", aten->type));
}

bool torchEmitLogical(Aten *aten) {
  static const char *const names[] = {"And", "Or", "Xor"};
  return torchReturn(aten, binary(aten, names[aten->row->kind], "self", "other", Onnx_Bool));
}

// kind 1: masked_fill.
bool torchEmitWhere(Aten *aten) {
  bool isMasked = aten->row->kind == 1;
  OnnxValue *in[] = {truth(aten, isMasked ? "mask" : "condition"), typed(aten, isMasked ? "value" : "self"),
                     typed(aten, isMasked ? "self" : "other")};
  return in[0] && in[1] && in[2] && torchReturn(aten, torchOnnx(aten, "Where", 3, in, 0, NULL));
}
