// Operators that compute each element from those at its place. See operators.def.
#include "lib/import/torch_export/operators.h"

#include "lib/import/onnx/operators.h"
#include "upstream/arith.h"
#include "upstream/math.h"

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

static OnnxValue *extreme(Aten *aten, const char *onnx, OnnxValue *x, OnnxValue *y) {
  return x && y ? torchOnnx(aten, onnx, 2, (OnnxValue *[]){x, y}, 0, NULL) : NULL;
}

// kind 0: min and max; 6: from 0 to 6; 1: min_val and max_val, or -1 and 1.
bool torchEmitClamp(Aten *aten) {
  OnnxValue *x = typed(aten, "self");
  if (aten->row->kind == 0) {
    if (x && torchHas(aten, "min"))
      x = extreme(aten, "Max", x, typed(aten, "min"));
    if (x && torchHas(aten, "max"))
      x = extreme(aten, "Min", x, typed(aten, "max"));
    return torchReturn(aten, x);
  }
  bool isSix = aten->row->kind == 6;
  double low = isSix ? 0 : torchReal(aten, "min_val", -1), high = isSix ? 6 : torchReal(aten, "max_val", 1);
  x = x ? extreme(aten, "Max", x, onnxScalarValue(&aten->node, x->type, low)) : NULL;
  return torchReturn(aten, x ? extreme(aten, "Min", x, onnxScalarValue(&aten->node, x->type, high)) : NULL);
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

//===--- two inputs -------------------------------------------------------------===//

// What PyTorch compares two arguments as: a number has the tensor's type, unless it is a float and the tensor is none.
static OnnxType commonType(Aten *aten, const char *a, const char *b) {
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
static OnnxValue *floorQuotient(Aten *aten, OnnxValue *x, OnnxValue *y) {
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
  return strcmp(mode, "floor") == 0 ? floorQuotient(aten, x, y)
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

// Floats by `op`, other numbers by ONNX's operator.
static OnnxValue *ofFloats(Aten *aten, TileUpstream op, const char *onnx) {
  OnnxValue *in[] = {typed(aten, "self"), typed(aten, "other")};
  if (!in[0] || !in[1])
    return NULL;
  return onnxIsFloat(in[0]->type) ? onnxBinary(&aten->node, op, in[0], in[1]) : torchOnnx(aten, onnx, 2, in, 0, NULL);
}

bool torchEmitBinary(Aten *aten) {
  static const char *const compare[] = {"Equal", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"};
  int kind = aten->row->kind;
  if (kind >= TorchBinary_Eq) {
    OnnxType type = commonType(aten, "self", "other");
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
  case TorchBinary_Max:
    return torchReturn(aten, binary(aten, "Max", "self", "other", aten->type));
  case TorchBinary_Min:
    return torchReturn(aten, binary(aten, "Min", "self", "other", aten->type));
  case TorchBinary_FMax:
    return torchReturn(aten, ofFloats(aten, ArithOp_MaxNumF, "Max"));
  case TorchBinary_FMin:
    return torchReturn(aten, ofFloats(aten, ArithOp_MinNumF, "Min"));
  case TorchBinary_FMod: {
    OnnxValue *in[] = {typed(aten, "self"), typed(aten, "other")};
    const OnnxAttribute attributes[] = {TORCH_INT("fmod", 1)};
    return in[0] && in[1] && torchReturn(aten, torchOnnx(aten, "Mod", 2, in, 1, attributes));
  }
  case TorchBinary_Atan2: // the declared type is a float's
    return torchReturn(aten, ofFloats(aten, MathOp_Atan2, NULL));
  case TorchBinary_CopySign:
    return torchReturn(aten, ofFloats(aten, MathOp_CopySign, NULL));
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
