// Operators that combine elements along axes. See operators.def.
#include "lib/import/torch_export/operators.h"

#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>
#include <string.h>

// The axes of `dim`; all where it is not given or empty.
static bool axesOf(Aten *aten, int rank, uint32_t *axes) {
  int64_t items[OnnxMaxRank];
  int count, axis;
  *axes = 0;
  if (!torchInts(aten, "dim", OnnxMaxRank, items, &count))
    return false;
  for (int i = 0; i < count; ++i) {
    if (rank == 0 && (items[i] == 0 || items[i] == -1))
      continue;
    if (!onnxAxis(&aten->node, items[i], rank, &axis))
      return false;
    *axes |= 1u << axis;
  }
  if (count <= 0)
    *axes = (1u << rank) - 1;
  return true;
}

// Narrow floats are added up in f32 by onnxReduce; sums of integers in the declared type. Truth values: any, all.
bool torchEmitReduce(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  uint32_t axes;
  if (!x || !axesOf(aten, x->rank, &axes))
    return false;
  bool isTruth = aten->type == Onnx_Bool;
  x = onnxCast(&aten->node, x, isTruth ? Onnx_Bool : aten->type);
  if (isTruth)
    x = onnxCast(&aten->node, x, Onnx_I8);
  if (!axes)
    return torchReturn(aten, x);
  return torchReturn(
      aten, onnxReduce(&aten->node, (OnnxReduction)aten->row->kind, x, axes, torchInt(aten, "keepdim", 0) != 0));
}

OnnxValue *torchNormOf(Aten *aten, OnnxValue *x, uint32_t axes, bool keeps, double order) {
  Node *node = &aten->node;
  if (!x || order == 1 || order == 2)
    return x ? onnxReduce(node, order == 1 ? OnnxReduce_L1 : OnnxReduce_L2, x, axes, keeps) : NULL;
  x = onnxUnary(node, MathOp_AbsF, x);
  if (isinf(order))
    return x ? onnxReduce(node, order > 0 ? OnnxReduce_Max : OnnxReduce_Min, x, axes, keeps) : NULL;
  OnnxType type = x ? onnxSumType(x->type) : 0, narrow = x ? x->type : 0;
  x = x ? onnxCast(node, x, type) : NULL;
  OnnxValue *terms = order == 0 ? (x ? onnxCast(node, onnxCast(node, x, Onnx_Bool), type) : NULL)
                                : onnxWithNumber(node, MathOp_PowF, x, order);
  OnnxValue *sum = terms ? onnxReduce(node, OnnxReduce_Sum, terms, axes, keeps) : NULL;
  sum = order == 0 ? sum : onnxWithNumber(node, MathOp_PowF, sum, 1 / order);
  return sum ? onnxCast(node, sum, narrow) : NULL;
}

// `ord` of the one, `p` of the other form.
bool torchEmitNorm(Aten *aten) {
  OnnxValue *x = torchOperand(aten, "self", aten->type);
  uint32_t axes;
  double order = torchReal(aten, aten->row->kind ? "p" : "ord", 2);
  return x && axesOf(aten, x->rank, &axes) &&
         torchReturn(aten, torchNormOf(aten, x, axes, torchInt(aten, "keepdim", 0) != 0, order));
}

// The norm of a difference.
bool torchEmitDist(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *apart = onnxSub(node, torchOperand(aten, "self", aten->type), torchOperand(aten, "other", aten->type));
  return apart && torchReturn(aten, torchNormOf(aten, apart, (1u << apart->rank) - 1, false, torchReal(aten, "p", 2)));
}

static OnnxValue *placeOf(Aten *aten, OnnxValue *x, int axis, bool keeps, bool isLeast) {
  const OnnxAttribute attributes[] = {TORCH_INT("axis", axis), TORCH_INT("keepdims", keeps)};
  return torchOnnx(aten, isLeast ? "ArgMin" : "ArgMax", 1, &x, 2, attributes);
}

bool torchEmitExtreme(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *x = torchTensor(aten, "self");
  int axis;
  bool keeps = torchInt(aten, "keepdim", 0) != 0, isLeast = aten->row->kind == 1;
  if (!x || !torchAxis(aten, "dim", 0, x->rank ? x->rank : 1, &axis))
    return false;
  bool isTruth = x->type == Onnx_Bool;
  OnnxValue *numbers = isTruth ? onnxCast(node, x, Onnx_U8) : x;
  OnnxValue *place = x->rank ? placeOf(aten, numbers, axis, keeps, isLeast) : onnxScalarValue(node, Onnx_I64, 0);
  OnnxValue *value =
      x->rank ? onnxReduce(node, isLeast ? OnnxReduce_Min : OnnxReduce_Max, numbers, 1u << axis, keeps) : x;
  node->out[0] = value && isTruth ? onnxCast(node, value, Onnx_Bool) : value;
  node->out[1] = place;
  return value && place;
}

bool torchEmitArg(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  int axis = 0;
  if (!x)
    return false;
  if (!torchHas(aten, "dim")) {
    MlirValue count = tileBuildIndex(aten->node.b, 1);
    for (int d = 0; d < x->rank; ++d)
      count = tileBuildMul(aten->node.b, count, x->sizes[d]);
    x = onnxReshape(&aten->node, x, 1, &count);
  } else if (!torchAxis(aten, "dim", 0, x->rank ? x->rank : 1, &axis)) {
    return false;
  } else if (x->rank == 0) {
    return torchReturn(aten, onnxScalarValue(&aten->node, Onnx_I64, 0));
  }
  bool keeps = torchHas(aten, "dim") && torchInt(aten, "keepdim", 0) != 0;
  return x && torchReturn(aten, placeOf(aten, x, axis, keeps, aten->row->kind == 1));
}

// The mean of the squares of the distances from the mean, over count - correction; kind 1: its root, 2: and the mean.
bool torchEmitVariance(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *x = torchTensor(aten, "self");
  uint32_t axes;
  if (!x || !axesOf(aten, x->rank, &axes))
    return false;
  double correction = torchReal(aten, "correction", torchInt(aten, "unbiased", 1) != 0);
  MlirValue count = tileBuildIndex(node->b, 1);
  for (int d = 0; d < x->rank; ++d)
    if (axes >> d & 1)
      count = tileBuildMul(node->b, count, x->sizes[d]);
  OnnxValue *mean = onnxReduce(node, OnnxReduce_Mean, x, axes, true), *apart = onnxSub(node, x, mean);
  OnnxValue *squares = onnxMul(node, apart, apart);
  if (!squares)
    return false;
  OnnxValue *sum = onnxReduce(node, OnnxReduce_Sum, squares, axes, torchInt(aten, "keepdim", 0) != 0);
  OnnxValue *divisor = onnxCast(node, onnxOfIndex(node, count), x->type);
  divisor = divisor ? onnxSub(node, divisor, onnxScalarValue(node, x->type, correction)) : NULL;
  OnnxValue *variance = sum && divisor ? onnxBinary(node, ArithOp_DivF, sum, divisor) : NULL;
  if (aten->row->kind < 2)
    return torchReturn(aten, aten->row->kind ? onnxUnary(node, MathOp_Sqrt, variance) : variance);
  aten->node.out[0] = variance;
  aten->node.out[1] = mean && !torchInt(aten, "keepdim", 0) ? onnxSqueeze(node, mean, axes) : mean;
  return variance && aten->node.out[1];
}

bool torchEmitCumulate(Aten *aten) {
  OnnxValue *x = torchOperand(aten, "self", aten->type);
  int axis;
  if (!x || !torchAxis(aten, "dim", 0, x->rank ? x->rank : 1, &axis))
    return false;
  if (x->rank == 0)
    return torchReturn(aten, x);
  OnnxValue *in[] = {x, onnxOfIndex(&aten->node, tileBuildIndex(aten->node.b, axis))};
  return torchReturn(aten, torchOnnx(aten, aten->row->kind ? "CumProd" : "CumSum", 2, in, 0, NULL));
}

bool torchEmitSoftmax(Aten *aten) {
  OnnxValue *x = torchOperand(aten, "self", aten->type);
  int axis;
  if (!x || !torchAxis(aten, "dim", 0, x->rank ? x->rank : 1, &axis))
    return false;
  if (x->rank == 0) { // one element: its share is 1, or nan
    OnnxValue *row = onnxUnsqueeze(&aten->node, x, 1, 1);
    const OnnxAttribute first[] = {TORCH_INT("axis", 0)};
    row = row ? torchOnnx(aten, aten->row->kind ? "LogSoftmax" : "Softmax", 1, &row, 1, first) : NULL;
    return torchReturn(aten, row ? onnxSqueeze(&aten->node, row, 1) : NULL);
  }
  const OnnxAttribute attributes[] = {TORCH_INT("axis", axis)};
  return torchReturn(aten, torchOnnx(aten, aten->row->kind ? "LogSoftmax" : "Softmax", 1, &x, 1, attributes));
}
