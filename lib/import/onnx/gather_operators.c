// Operators that read elements from computed places. See operators.def.
#include "lib/import/onnx/operators.h"
#include "lib/import/onnx/tensors.h"

#include "lib/import/onnx/fold.h"
#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>
#include <string.h>

static MlirValue number(Body *body, int64_t number) { return tileBuildIndex(body->b, number); }

// An index from the end becomes one from the start.
MlirValue onnxFromEnd(Body *body, MlirValue place, MlirValue size) {
  MlirValue at = onnxToIndex(body, place);
  MlirValue isBelow = onnxCompareI(body, ArithCmpI_Slt, at, number(body, 0));
  return onnxSelect(body, isBelow, ONNX_OP(ArithOp_AddI, at, size), at);
}

typedef struct Places {
  OnnxValue *from, *indices, *other;
  int axis, count;
  MlirValue values[2 * OnnxMaxRank];
  int64_t number;
} Places;

static MlirValue gathered(Body *body) {
  const Places *by = body->data;
  MlirValue at[OnnxMaxRank];
  int q = by->indices->rank;
  MlirValue place = onnxAt(body, by->indices, body->index + by->axis);
  for (int d = 0; d < by->from->rank; ++d)
    at[d] = d < by->axis    ? body->index[d]
            : d == by->axis ? onnxFromEnd(body, place, by->from->sizes[d])
                            : body->index[d + q - 1];
  return onnxAt(body, by->from, at);
}

bool onnxEmitGather(Node *node) {
  Places by = {.from = node->in[0], .indices = node->in[1]};
  int rank = by.from->rank + by.indices->rank - 1;
  MlirValue sizes[OnnxMaxRank];
  if (!onnxAxis(node, onnxInt(node, "axis", 0), by.from->rank, &by.axis))
    return false;
  if (rank > OnnxMaxRank)
    return onnxError(node, "the result has rank %d; at most %d is accepted", rank, OnnxMaxRank);
  for (int i = 0; i < rank; ++i)
    sizes[i] = i < by.axis                      ? by.from->sizes[i]
               : i < by.axis + by.indices->rank ? by.indices->sizes[i - by.axis]
                                                : by.from->sizes[i - by.indices->rank + 1];
  return onnxReturn(node, onnxGenerate(node, by.from->type, rank, sizes, gathered, &by));
}

static MlirValue gatheredElement(Body *body) {
  const Places *by = body->data;
  MlirValue at[OnnxMaxRank];
  memcpy(at, body->index, (size_t)by->from->rank * sizeof *at);
  at[by->axis] = onnxFromEnd(body, onnxAt(body, by->indices, body->index), by->from->sizes[by->axis]);
  return onnxAt(body, by->from, at);
}

bool onnxEmitGatherElements(Node *node) {
  Places by = {.from = node->in[0], .indices = node->in[1]};
  if (by.from->rank != by.indices->rank)
    return onnxError(node, "inputs have the ranks %d and %d", by.from->rank, by.indices->rank);
  return onnxAxis(node, onnxInt(node, "axis", 0), by.from->rank, &by.axis) &&
         onnxReturn(node, onnxGenerate(node, by.from->type, by.from->rank, by.indices->sizes, gatheredElement, &by));
}

static MlirValue gatheredSlice(Body *body) {
  const Places *by = body->data;
  MlirValue at[OnnxMaxRank], where[OnnxMaxRank];
  int q = by->indices->rank, r = by->from->rank, batch = by->axis;
  memcpy(where, body->index, (size_t)(q - 1) * sizeof *where);
  for (int d = 0; d < batch; ++d)
    at[d] = body->index[d];
  for (int i = 0; i < by->count; ++i) {
    where[q - 1] = number(body, i);
    at[batch + i] = onnxFromEnd(body, onnxAt(body, by->indices, where), by->from->sizes[batch + i]);
  }
  for (int d = batch + by->count; d < r; ++d)
    at[d] = body->index[q - 1 + d - batch - by->count];
  return onnxAt(body, by->from, at);
}

bool onnxEmitGatherNd(Node *node) {
  Places by = {.from = node->in[0], .indices = node->in[1]};
  int q = by.indices->rank, r = by.from->rank;
  int64_t batch = onnxInt(node, "batch_dims", 0), count = q ? onnxStatic(by.indices->sizes[q - 1]) : -1;
  if (q == 0 || batch < 0 || batch >= q || count < 1 || batch + count > r || q - 1 + r - batch - count > OnnxMaxRank)
    return onnxError(node, "batch_dims %lld and %lld indices for each slice do not fit a tensor of rank %d",
                     (long long)batch, (long long)count, r);
  by.axis = (int)batch;
  by.count = (int)count;
  MlirValue sizes[OnnxMaxRank];
  int rank = 0;
  for (int i = 0; i < q - 1; ++i)
    sizes[rank++] = by.indices->sizes[i];
  for (int d = by.axis + by.count; d < r; ++d)
    sizes[rank++] = by.from->sizes[d];
  return onnxReturn(node, onnxGenerate(node, by.from->type, rank, sizes, gatheredSlice, &by));
}

static MlirValue tiled(Body *body) {
  const Places *by = body->data;
  MlirValue at[OnnxMaxRank];
  for (int d = 0; d < by->from->rank; ++d)
    at[d] =
        onnxStatic(by->values[d]) == 1 ? body->index[d] : ONNX_OP(ArithOp_RemUI, body->index[d], by->from->sizes[d]);
  return onnxAt(body, by->from, at);
}

bool onnxEmitTile(Node *node) {
  Places by = {.from = node->in[0]};
  MlirValue sizes[OnnxMaxRank];
  int count;
  if (!onnxReadIndices(node, node->in[1], OnnxMaxRank, by.values, &count))
    return false;
  if (count != by.from->rank)
    return onnxError(node, "%d repeats for a tensor of rank %d", count, by.from->rank);
  for (int d = 0; d < count; ++d)
    sizes[d] = tileBuildMul(node->b, by.from->sizes[d], by.values[d]);
  return onnxReturn(node, onnxGenerate(node, by.from->type, by.from->rank, sizes, tiled, &by));
}

//===--- pad ------------------------------------------------------------------===//

typedef enum PadMode { Pad_Constant, Pad_Edge, Pad_Reflect, Pad_Wrap } PadMode;
typedef struct Padding {
  OnnxValue *from;
  MlirValue low[OnnxMaxRank], high[OnnxMaxRank], number;
  PadMode mode;
} Padding;

static MlirValue modulo(Body *body, MlirValue x, MlirValue by) {
  MlirValue rest = ONNX_OP(ArithOp_RemSI, x, by);
  return onnxSelect(body, onnxCompareI(body, ArithCmpI_Slt, rest, number(body, 0)), ONNX_OP(ArithOp_AddI, rest, by),
                    rest);
}

static MlirValue paddedPlace(Body *body, PadMode mode, MlirValue at, MlirValue size) {
  MlirValue zero = number(body, 0), one = number(body, 1), last = ONNX_OP(ArithOp_SubI, size, one);
  if (mode == Pad_Wrap)
    return modulo(body, at, size);
  if (mode == Pad_Reflect) { // 0 1 … n-1 n-2 … 1, again and again; of one element always 0
    MlirValue period = ONNX_OP(ArithOp_MaxSI, ONNX_OP(ArithOp_AddI, last, last), one);
    MlirValue place = modulo(body, at, period);
    return ONNX_OP(ArithOp_MinSI, place, ONNX_OP(ArithOp_SubI, period, place));
  }
  return ONNX_OP(ArithOp_MinSI, ONNX_OP(ArithOp_MaxSI, at, zero), last);
}

static MlirValue padded(Body *body) {
  const Padding *by = body->data;
  MlirValue at[OnnxMaxRank], inside = tileBuildInteger(body->b, mlirIntegerTypeGet(body->b->context, 1), 1);
  for (int d = 0; d < by->from->rank; ++d) {
    MlirValue place = ONNX_OP(ArithOp_SubI, body->index[d], by->low[d]), size = by->from->sizes[d];
    bool isWhole = onnxStatic(by->low[d]) == 0 && onnxStatic(by->high[d]) == 0;
    at[d] = isWhole ? place : paddedPlace(body, by->mode, place, size);
    if (by->mode != Pad_Constant || isWhole)
      continue;
    // As unsigned numbers, places before the start are large.
    inside = ONNX_OP(ArithOp_AndI, inside, onnxCompareI(body, ArithCmpI_Ult, place, size));
  }
  MlirValue element = onnxAt(body, by->from, at);
  return by->mode == Pad_Constant ? onnxSelect(body, inside, element, by->number) : element;
}

static bool padMode(Node *node, PadMode *mode) {
  static const char *const names[] = {"constant", "edge", "reflect", "wrap"};
  *mode = Pad_Constant;
  if (!onnxAttribute(node, "mode"))
    return true;
  for (int i = 0; i < 4; ++i)
    if (onnxWord(node, "mode", names[i], false)) {
      *mode = (PadMode)i;
      return true;
    }
  return onnxError(node, "attribute mode is none of constant, edge, reflect and wrap");
}

static bool readPads(Node *node, MlirValue *pads, int *count) {
  int64_t numbers[2 * OnnxMaxRank];
  if (node->opset >= 11)
    return onnxReadIndices(node, node->in[1], 2 * OnnxMaxRank, pads, count);
  if (!onnxInts(node, "pads", 2 * OnnxMaxRank, numbers, count))
    return false;
  for (int i = 0; i < *count; ++i)
    pads[i] = tileBuildIndex(node->b, numbers[i]);
  return true;
}

bool onnxEmitPad(Node *node) {
  Padding by = {.from = node->in[0]};
  MlirValue pads[2 * OnnxMaxRank], sizes[OnnxMaxRank];
  int64_t axes[OnnxMaxRank];
  int count, numAxes = -1, rank = by.from->rank;
  if (!padMode(node, &by.mode) || !readPads(node, pads, &count) ||
      (node->in[3] && !onnxConstantInts(node, node->in[3], "the input axes", OnnxMaxRank, axes, &numAxes)))
    return false;
  int each = numAxes >= 0 ? numAxes : rank;
  if (count != 2 * each)
    return onnxError(node, "%d pads for %d axes", count, each);
  bool isPlain = by.mode == Pad_Constant;
  for (int d = 0; d < rank; ++d)
    by.low[d] = by.high[d] = tileBuildIndex(node->b, 0);
  for (int i = 0; i < each; ++i) {
    int axis;
    if (!onnxAxis(node, numAxes >= 0 ? axes[i] : i, rank, &axis))
      return false;
    by.low[axis] = pads[i];
    by.high[axis] = pads[i + each];
    isPlain &= onnxStatic(pads[i]) >= 0 && onnxStatic(pads[i + each]) >= 0;
  }
  if (node->opset < 11) {
    by.number = onnxElements(node, onnxScalarValue(node, by.from->type, onnxReal(node, "value", 0)))[0];
  } else if (node->in[2] && onnxCount(node->in[2]) != 0) {
    MlirValue *elements = onnxCount(node->in[2]) == 1 ? onnxRead(node, node->in[2]) : NULL;
    if (!elements || node->in[2]->type != by.from->type)
      return onnxError(node, "the value to pad with is no scalar of type %s", onnxTypeName(by.from->type));
    by.number = elements[0];
  } else {
    by.number = onnxElements(node, onnxScalarValue(node, by.from->type, 0))[0];
  }
  if (isPlain && !onnxElements(node, by.from))
    return onnxReturn(node, onnxPad(node, by.from, by.low, by.high, by.number));
  bool isEmpty = false;
  for (int d = 0; d < rank; ++d) {
    sizes[d] =
        onnxFold(node->b, tileBuildAdd(node->b, by.from->sizes[d], tileBuildAdd(node->b, by.low[d], by.high[d])));
    if (onnxStatic(sizes[d]) < 0 && tileConstantIndex(sizes[d], &axes[0]))
      return onnxError(node, "pads remove more than there is");
    isEmpty |= onnxStatic(by.from->sizes[d]) == 0;
  }
  if (isEmpty && by.mode == Pad_Constant)
    return onnxReturn(
        node, onnxOfTensor(node, by.from->type, onnxFilled(node, by.from->type, rank, sizes, by.number), sizes));
  return onnxReturn(node, onnxGenerate(node, by.from->type, rank, sizes, padded, &by));
}

//===--- from places alone ----------------------------------------------------===//

static MlirValue triangle(Body *body) {
  const Places *by = body->data;
  int rank = by->from->rank;
  MlirValue column = body->index[rank - 1], shifted = ONNX_OP(ArithOp_AddI, body->index[rank - 2], by->values[0]);
  MlirValue keeps = onnxCompareI(body, by->number ? ArithCmpI_Sge : ArithCmpI_Sle, column, shifted);
  MlirValue element = onnxAt(body, by->from, body->index);
  return onnxSelect(body, keeps, element, onnxNumber(body, element, 0));
}

bool onnxEmitTrilu(Node *node) {
  Places by = {.from = node->in[0], .number = onnxInt(node, "upper", 1) != 0};
  int count = 0;
  by.values[0] = tileBuildIndex(node->b, 0);
  if (node->in[1] && !onnxReadIndices(node, node->in[1], 1, by.values, &count))
    return false;
  if (by.from->rank < 2)
    return onnxError(node, "requires rank 2 or more");
  return onnxReturn(node, onnxGenerate(node, by.from->type, by.from->rank, by.from->sizes, triangle, &by));
}

static MlirValue diagonal(Body *body) {
  const Places *by = body->data;
  MlirValue shifted = ONNX_OP(ArithOp_AddI, body->index[0], number(body, by->number));
  MlirValue one = onnxElements(body->node, by->from)[0], zero = onnxElements(body->node, by->other)[0];
  return onnxSelect(body, onnxCompareI(body, ArithCmpI_Eq, body->index[1], shifted), one, zero);
}

bool onnxEmitEyeLike(Node *node) {
  OnnxType type = (OnnxType)onnxInt(node, "dtype", node->in[0]->type);
  if (node->in[0]->rank != 2 || onnxTypeKind(type) == OnnxType_Other)
    return onnxError(node, "requires rank 2 and a type of numbers (%s)", onnxTypeName(type));
  Places by = {.from = onnxScalarValue(node, type, 1), .other = onnxScalarValue(node, type, 0)};
  by.number = onnxInt(node, "k", 0);
  return onnxReturn(node, onnxGenerate(node, type, 2, node->in[0]->sizes, diagonal, &by));
}

static MlirValue oneHot(Body *body) {
  const Places *by = body->data;
  MlirValue at[OnnxMaxRank];
  for (int d = 0, i = 0; i < by->indices->rank; ++d)
    if (d != by->axis)
      at[i++] = body->index[d];
  OnnxType type = by->indices->type;
  MlirValue place = onnxConvert(body, onnxAt(body, by->indices, at), type, Onnx_I64);
  MlirValue index = onnxFromEnd(body, place, by->values[0]);
  MlirValue isHot = onnxCompareI(body, ArithCmpI_Eq, index, body->index[by->axis]);
  MlirValue zero = tileBuildIndex(body->b, 0), one = tileBuildIndex(body->b, 1);
  return onnxSelect(body, isHot, onnxAt(body, by->from, &one), onnxAt(body, by->from, &zero));
}

bool onnxEmitOneHot(Node *node) {
  Places by = {.from = node->in[2], .indices = node->in[0]};
  int rank = by.indices->rank + 1;
  MlirValue *depth = onnxCount(node->in[1]) == 1 ? onnxRead(node, node->in[1]) : NULL, sizes[OnnxMaxRank];
  if (!depth || onnxCount(by.from) != 2 || rank > OnnxMaxRank)
    return onnxError(node, "requires one depth and two values");
  Body body = {.node = node, .b = node->b, .isFolding = true};
  by.values[0] = onnxToIndex(&body, onnxConvert(&body, depth[0], node->in[1]->type, Onnx_I64));
  if (!onnxAxis(node, onnxInt(node, "axis", -1), rank, &by.axis))
    return false;
  for (int d = 0, i = 0; d < rank; ++d)
    sizes[d] = d == by.axis ? by.values[0] : by.indices->sizes[i++];
  return onnxReturn(node, onnxGenerate(node, by.from->type, rank, sizes, oneHot, &by));
}

static MlirValue counted(Body *body) {
  const Places *by = body->data;
  MlirValue start = by->values[0], delta = by->values[1], at = body->index[0];
  MlirType type = mlirValueGetType(start), i64 = mlirIntegerTypeGet(body->b->context, 64);
  MlirValue number = onnxFromIndex(body, at, i64);
  number = onnxConvert(body, number, Onnx_I64, body->node->in[0]->type);
  if (mlirTypeIsAFloat(type))
    return ONNX_OP(ArithOp_AddF, start, ONNX_OP(ArithOp_MulF, number, delta));
  return ONNX_OP(ArithOp_AddI, start, ONNX_OP(ArithOp_MulI, number, delta));
}

bool onnxEmitRange(Node *node) {
  MlirValue scalars[3];
  OnnxType type = node->in[0]->type;
  for (int i = 0; i < 3; ++i) {
    MlirValue *element = onnxCount(node->in[i]) == 1 ? onnxRead(node, node->in[i]) : NULL;
    if (!element || node->in[i]->type != type)
      return onnxError(node, "start, limit and delta must be scalars of one type");
    scalars[i] = element[0];
  }
  Body at = {.node = node, .b = node->b, .isFolding = true}, *body = &at;
  MlirType i64 = mlirIntegerTypeGet(node->b->context, 64);
  MlirValue count;
  if (onnxIsFloat(type)) {
    MlirValue span = ONNX_OP(ArithOp_SubF, scalars[1], scalars[0]);
    MlirValue number = ONNX_OP(MathOp_Ceil, ONNX_OP(ArithOp_DivF, span, scalars[2]));
    count = onnxToIndex(body, onnxConvert(body, number, type, Onnx_I64));
  } else {
    MlirValue start = onnxConvert(body, scalars[0], type, Onnx_I64),
              limit = onnxConvert(body, scalars[1], type, Onnx_I64);
    MlirValue delta = onnxConvert(body, scalars[2], type, Onnx_I64), zero = tileBuildInteger(node->b, i64, 0);
    int64_t known;
    if (tileConstantIndex(delta, &known) && known == 0)
      return onnxError(node, "delta is 0");
    if (!onnxCheck(node, onnxCompareI(body, ArithCmpI_Ne, delta, zero), "delta is 0"))
      return false;
    count =
        onnxToIndex(body, onnxOp(body, ArithOp_CeilDivSI, (MlirValue[]){ONNX_OP(ArithOp_SubI, limit, start), delta}));
  }
  MlirValue size = ONNX_OP(ArithOp_MaxSI, count, tileBuildIndex(node->b, 0));
  Places by = {.values = {scalars[0], scalars[2]}};
  return onnxReturn(node, onnxGenerate(node, type, 1, &size, counted, &by));
}

static MlirValue reversed(Body *body) {
  const Places *by = body->data;
  MlirValue at[OnnxMaxRank];
  int time = by->axis, batch = by->count;
  memcpy(at, body->index, (size_t)by->from->rank * sizeof *at);
  MlirValue length = onnxToIndex(body, onnxAt(body, by->indices, &body->index[batch]));
  MlirValue last = ONNX_OP(ArithOp_SubI, length, number(body, 1));
  MlirValue mirrored = ONNX_OP(ArithOp_SubI, last, at[time]);
  at[time] = onnxSelect(body, onnxCompareI(body, ArithCmpI_Slt, at[time], length), mirrored, at[time]);
  return onnxAt(body, by->from, at);
}

bool onnxEmitReverseSequence(Node *node) {
  Places by = {.from = node->in[0], .indices = node->in[1]};
  if (by.indices->rank != 1)
    return onnxError(node, "the lengths have rank %d, not 1", by.indices->rank);
  return onnxAxis(node, onnxInt(node, "time_axis", 0), by.from->rank, &by.axis) &&
         onnxAxis(node, onnxInt(node, "batch_axis", 1), by.from->rank, &by.count) &&
         onnxReturn(node, onnxGenerate(node, by.from->type, by.from->rank, by.from->sizes, reversed, &by));
}

// Centers: crops or pads evenly, the odd one at the end.
bool onnxEmitCenterCropPad(Node *node) {
  Padding by = {.from = node->in[0]};
  MlirValue shape[OnnxMaxRank], sizes[OnnxMaxRank];
  int64_t axes[OnnxMaxRank];
  int count, numAxes, rank = by.from->rank;
  if (!onnxReadIndices(node, node->in[1], OnnxMaxRank, shape, &count) ||
      !onnxInts(node, "axes", OnnxMaxRank, axes, &numAxes))
    return false;
  if (count != (numAxes >= 0 ? numAxes : rank))
    return onnxError(node, "%d sizes for %d axes", count, numAxes >= 0 ? numAxes : rank);
  Body at = {.node = node, .b = node->b, .isFolding = true}, *body = &at;
  for (int d = 0; d < rank; ++d) {
    by.low[d] = by.high[d] = tileBuildIndex(node->b, 0);
    sizes[d] = by.from->sizes[d];
  }
  for (int i = 0; i < count; ++i) {
    int axis;
    if (!onnxAxis(node, numAxes >= 0 ? axes[i] : i, rank, &axis))
      return false;
    MlirValue more = ONNX_OP(ArithOp_SubI, shape[i], by.from->sizes[axis]), two = tileBuildIndex(node->b, 2);
    // Cropping starts at floor((old - new) / 2), padding with floor((new - old) / 2) zeros.
    by.low[axis] = ONNX_OP(ArithOp_DivSI, more, two);
    by.high[axis] = tileBuildSub(node->b, more, by.low[axis]);
    sizes[axis] = shape[i];
  }
  by.number = onnxElements(node, onnxScalarValue(node, by.from->type, 0))[0];
  return onnxReturn(node, onnxGenerate(node, by.from->type, rank, sizes, padded, &by));
}
