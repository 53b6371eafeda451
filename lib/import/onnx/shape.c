// Constants, shapes and views: operators that compute sizes or show a tensor otherwise. See operators.def.
#include "lib/import/onnx/operators.h"
#include "lib/import/onnx/state.h"
#include "lib/import/onnx/tensors.h"

#include "lib/import/onnx/fold.h"
#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <stdlib.h>
#include <string.h>

static Body here(Node *node) { return (Body){.node = node, .b = node->b, .isFolding = true}; }
static MlirValue number(Node *node, int64_t at) { return tileBuildIndex(node->b, at); }

//===--- constants ------------------------------------------------------------===//

static bool returnNumbers(Node *node, OnnxType type, const OnnxNumbers *numbers) {
  MlirType element = onnxElementType(node, type);
  MlirValue *elements = onnxAllocate(node, (size_t)(numbers->count + 1) * sizeof *elements);
  if (!elements)
    return onnxOutOfMemory(node);
  for (int64_t i = 0; i < numbers->count; ++i) {
    float real;
    memcpy(&real, &numbers->items[i], sizeof real);
    elements[i] = type == Onnx_F32 ? tileBuildFloat(node->b, element, real)
                                   : tileBuildInteger(node->b, element, numbers->items[i]);
  }
  MlirValue size = number(node, numbers->count);
  return onnxReturn(node, onnxOfElements(node, type, 1, &size, elements, numbers->count));
}

bool onnxEmitConstant(Node *node) {
  const OnnxAttribute *value;
  if ((value = onnxAttribute(node, "value")) && value->tensor)
    return onnxReturn(node, onnxValueOfTensor(node, value->tensor));
  if ((value = onnxAttribute(node, "value_float")))
    return onnxReturn(node, onnxScalarValue(node, Onnx_F32, value->real));
  if ((value = onnxAttribute(node, "value_int"))) {
    MlirValue number = tileBuildInteger(node->b, onnxElementType(node, Onnx_I64), value->number);
    return onnxReturn(node, onnxOfElements(node, Onnx_I64, 0, NULL, &number, 1));
  }
  if ((value = onnxAttribute(node, "value_floats")))
    return returnNumbers(node, Onnx_F32, &value->reals);
  if ((value = onnxAttribute(node, "value_ints")))
    return returnNumbers(node, Onnx_I64, &value->numbers);
  return onnxError(node, "the constant is a text, sparse, or missing; none of them is supported");
}

static MlirValue firstElement(Body *body) { return *(const MlirValue *)body->data; }

bool onnxEmitConstantOfShape(Node *node) {
  const OnnxAttribute *attribute = onnxAttribute(node, "value");
  OnnxValue *number =
      attribute && attribute->tensor ? onnxValueOfTensor(node, attribute->tensor) : onnxScalarValue(node, Onnx_F32, 0);
  MlirValue sizes[OnnxMaxRank], *elements = number && onnxCount(number) == 1 ? onnxElements(node, number) : NULL;
  int rank;
  if (!elements)
    return number ? onnxError(node, "attribute value has not one element") : false;
  if (!onnxReadIndices(node, node->in[0], OnnxMaxRank, sizes, &rank))
    return false;
  int64_t count = onnxCount(onnxValue(node, number->type, rank, sizes));
  if (count < 0 || count > OnnxMaxElements)
    return onnxReturn(
        node, onnxOfTensor(node, number->type, onnxFilled(node, number->type, rank, sizes, elements[0]), sizes));
  return onnxReturn(node, onnxGenerate(node, number->type, rank, sizes, firstElement, &elements[0]));
}

//===--- sizes ----------------------------------------------------------------===//

bool onnxEmitShape(Node *node) {
  OnnxValue *x = node->in[0];
  int64_t start = onnxInt(node, "start", 0), end = onnxInt(node, "end", x->rank);
  start = start < 0 ? start + x->rank : start;
  end = end < 0 ? end + x->rank : end;
  start = start < 0 ? 0 : start > x->rank ? x->rank : start;
  end = end > x->rank ? x->rank : end < start ? start : end;
  MlirValue elements[OnnxMaxRank];
  Body body = here(node);
  for (int64_t i = start; i < end; ++i)
    elements[i - start] = onnxFromIndex(&body, x->sizes[i], onnxElementType(node, Onnx_I64));
  MlirValue count = number(node, end - start);
  return onnxReturn(node, onnxOfElements(node, Onnx_I64, 1, &count, elements, end - start));
}

bool onnxEmitSize(Node *node) {
  MlirValue count = number(node, 1);
  Body body = here(node);
  for (int i = 0; i < node->in[0]->rank; ++i)
    count = tileBuildMul(node->b, count, node->in[0]->sizes[i]);
  count = onnxFromIndex(&body, count, onnxElementType(node, Onnx_I64));
  return onnxReturn(node, onnxOfElements(node, Onnx_I64, 0, NULL, &count, 1));
}

//===--- reshapes -------------------------------------------------------------===//

// The size that makes as many elements as there are: equal sizes on both sides cancel.
MlirValue onnxInferSize(Node *node, const OnnxValue *x, int rank, const MlirValue *sizes, int except) {
  bool used[OnnxMaxRank] = {false};
  int64_t above = 1, below = 1;
  MlirValue rest = number(node, 1), divisor = number(node, 1);
  for (int i = 0; i < rank; ++i) {
    bool found = i == except;
    for (int j = 0; j < x->rank && !found; ++j)
      if (!used[j] && onnxStatic(sizes[i]) < 0 && onnxIsSame(sizes[i], x->sizes[j]))
        found = used[j] = true;
    if (!found && onnxStatic(sizes[i]) >= 0)
      below *= onnxStatic(sizes[i]);
    else if (!found)
      divisor = tileBuildMul(node->b, divisor, sizes[i]);
  }
  for (int j = 0; j < x->rank; ++j)
    if (!used[j] && onnxStatic(x->sizes[j]) >= 0)
      above *= onnxStatic(x->sizes[j]);
    else if (!used[j])
      rest = tileBuildMul(node->b, rest, x->sizes[j]);
  if (below == 0)
    return number(node, 0);
  if (onnxStatic(divisor) == 1 && above % below == 0)
    return tileBuildMul(node->b, rest, number(node, above / below));
  rest = tileBuildMul(node->b, rest, number(node, above));
  divisor = tileBuildMul(node->b, divisor, number(node, below));
  Body body = here(node);
  if (onnxStatic(divisor) > 0)
    return ((void)body, onnxOp(&body, ArithOp_DivUI, (MlirValue[]){rest, divisor}));
  MlirValue one = number(node, 1);
  MlirValue isZero = onnxCompareI(&body, ArithCmpI_Eq, divisor, number(node, 0));
  return onnxOp(&body, ArithOp_DivUI, (MlirValue[]){rest, onnxSelect(&body, isZero, one, divisor)});
}

bool onnxEmitReshape(Node *node) {
  OnnxValue *x = node->in[0];
  MlirValue given[OnnxMaxRank], sizes[OnnxMaxRank];
  int rank, unknown = -1;
  bool allowsZero = onnxInt(node, "allowzero", 0) != 0, mayInfer = false;
  if (!onnxReadIndices(node, node->in[1], OnnxMaxRank, given, &rank))
    return false;
  Body body = here(node);
  MlirValue isInferred[OnnxMaxRank], minus = number(node, -1), zero = number(node, 0), one = number(node, 1);
  for (int i = 0; i < rank; ++i) {
    sizes[i] = given[i];
    if (!allowsZero && i < x->rank)
      sizes[i] = onnxSelect(&body, onnxCompareI(&body, ArithCmpI_Eq, given[i], zero), x->sizes[i], given[i]);
    isInferred[i] = onnxCompareI(&body, ArithCmpI_Eq, given[i], minus);
    int64_t known;
    if (!tileConstantIndex(isInferred[i], &known)) {
      // A size of the tensor itself is no -1.
      mayInfer |= arithIndexCastOpIsA(tileDefiningOp(given[i]));
    } else if (known) {
      if (unknown >= 0)
        return onnxError(node, "two sizes are -1");
      unknown = i;
      sizes[i] = one;
    } else if (onnxStatic(sizes[i]) < -1 && onnxStatic(given[i]) >= 0 ? false : onnxStatic(given[i]) < -1) {
      return onnxError(node, "size %lld is negative", (long long)onnxStatic(given[i]));
    }
  }
  if (mayInfer && unknown < 0) { // any of them may be -1 when the program runs
    for (int i = 0; i < rank; ++i)
      sizes[i] = onnxSelect(&body, isInferred[i], one, sizes[i]);
    MlirValue rest = onnxInferSize(node, x, rank, sizes, -1);
    for (int i = 0; i < rank; ++i)
      sizes[i] = onnxSelect(&body, isInferred[i], rest, sizes[i]);
  } else if (unknown >= 0) {
    sizes[unknown] = onnxInferSize(node, x, rank, sizes, unknown);
  }
  return onnxReturn(node, onnxReshape(node, x, rank, sizes));
}

bool onnxEmitFlatten(Node *node) {
  OnnxValue *x = node->in[0];
  int64_t axis = onnxInt(node, "axis", 1);
  if (axis < -x->rank || axis > x->rank)
    return onnxError(node, "axis %lld is outside a tensor of rank %d", (long long)axis, x->rank);
  axis = axis < 0 ? axis + x->rank : axis;
  MlirValue sizes[2] = {number(node, 1), number(node, 1)};
  for (int i = 0; i < x->rank; ++i)
    sizes[i >= axis] = tileBuildMul(node->b, sizes[i >= axis], x->sizes[i]);
  return onnxReturn(node, onnxReshape(node, x, 2, sizes));
}

// Axes by attribute, or by an input from opset 13 on. Bits; `has` tells whether they are given.
bool onnxAxes(Node *node, int input, int sinceInput, int rank, uint32_t *axes, bool *has) {
  int64_t items[OnnxMaxRank];
  int count = -1, axis;
  *axes = 0;
  if (node->opset < sinceInput
          ? !onnxInts(node, "axes", OnnxMaxRank, items, &count)
          : node->in[input] && !onnxConstantInts(node, node->in[input], "the input axes", OnnxMaxRank, items, &count))
    return false;
  *has = count >= 0;
  for (int i = 0; i < count; ++i) {
    if (!onnxAxis(node, items[i], rank, &axis))
      return false;
    if (*axes >> axis & 1)
      return onnxError(node, "axis %d is given twice", axis);
    *axes |= 1u << axis;
  }
  return true;
}

bool onnxEmitSqueeze(Node *node) {
  OnnxValue *x = node->in[0];
  uint32_t axes;
  bool has;
  if (!onnxAxes(node, 1, 13, x->rank, &axes, &has))
    return false;
  for (int d = 0; d < x->rank && !has; ++d) {
    if (onnxStatic(x->sizes[d]) < 0)
      return onnxError(node, "without axes it requires sizes that are known; size %d is dynamic", d);
    axes |= (uint32_t)(onnxStatic(x->sizes[d]) == 1) << d;
  }
  return onnxReturn(node, onnxSqueeze(node, x, axes));
}

bool onnxEmitUnsqueeze(Node *node) {
  OnnxValue *x = node->in[0];
  uint32_t axes;
  bool has;
  int64_t items[OnnxMaxRank];
  int count = 0;
  if (node->opset < 13
          ? !onnxInts(node, "axes", OnnxMaxRank, items, &count)
          : !node->in[1] || !onnxConstantInts(node, node->in[1], "the input axes", OnnxMaxRank, items, &count))
    return false;
  int rank = x->rank + (count < 0 ? 0 : count);
  if (rank > OnnxMaxRank)
    return onnxError(node, "the result has rank %d; at most %d is accepted", rank, OnnxMaxRank);
  return onnxAxes(node, 1, 13, rank, &axes, &has) && onnxReturn(node, onnxUnsqueeze(node, x, axes, rank));
}

bool onnxEmitTranspose(Node *node) {
  OnnxValue *x = node->in[0];
  int64_t items[OnnxMaxRank];
  int count, permutation[OnnxMaxRank];
  uint32_t seen = 0;
  if (!onnxInts(node, "perm", OnnxMaxRank, items, &count))
    return false;
  for (int i = 0; i < x->rank; ++i) {
    int64_t axis = count < 0 ? x->rank - 1 - i : i < count ? items[i] : -1;
    if (axis < 0 || axis >= x->rank || (seen >> axis & 1) || (count >= 0 && count != x->rank))
      return onnxError(node, "perm is no permutation of %d axes", x->rank);
    seen |= 1u << axis;
    permutation[i] = (int)axis;
  }
  return onnxReturn(node, onnxTranspose(node, x, permutation));
}

bool onnxEmitConcat(Node *node) {
  int axis;
  for (int i = 0; i < node->numIn; ++i)
    if (!node->in[i])
      return onnxError(node, "input %d is missing", i + 1);
  return onnxAxis(node, onnxInt(node, "axis", node->opset < 4), node->in[0]->rank, &axis) &&
         onnxReturn(node, onnxConcat(node, node->numIn, node->in, axis));
}

bool onnxEmitExpand(Node *node) {
  MlirValue sizes[OnnxMaxRank];
  int rank;
  if (!onnxReadIndices(node, node->in[1], OnnxMaxRank, sizes, &rank))
    return false;
  OnnxValue *shape = onnxValue(node, node->in[0]->type, rank, sizes), *inputs[] = {node->in[0], shape};
  return onnxBroadcastSizes(node, 2, inputs, &rank, sizes) &&
         onnxReturn(node, onnxBroadcastTo(node, node->in[0], rank, sizes));
}

//===--- slices ---------------------------------------------------------------===//

// A place counted from the end becomes one from the start, then lies within [low, high].
static MlirValue clampPlace(Node *node, MlirValue place, MlirValue size, MlirValue low, MlirValue high) {
  Body body = here(node);
  int64_t known = onnxStatic(place), extent = onnxStatic(size);
  bool isKnown = tileConstantIndex(place, &known);
  if (isKnown && known == 0)
    return place;
  if (isKnown && known >= INT32_MAX && extent < 0)
    return high;
  MlirValue zero = number(node, 0), isBelow = onnxCompareI(&body, ArithCmpI_Slt, place, zero);
  MlirValue fromStart = onnxSelect(&body, isBelow, onnxOp(&body, ArithOp_AddI, (MlirValue[]){place, size}), place);
  MlirValue least = onnxOp(&body, ArithOp_MaxSI, (MlirValue[]){fromStart, low});
  return onnxOp(&body, ArithOp_MinSI, (MlirValue[]){least, high});
}

static bool sliceAxis(Node *node, MlirValue size, MlirValue start, MlirValue end, int64_t step, MlirValue *offset,
                      MlirValue *length) {
  MlirValue zero = number(node, 0), last = tileBuildSub(node->b, size, number(node, 1)), minus = number(node, -1);
  if (step == 0)
    return onnxError(node, "a step is 0");
  Body body = here(node);
  *offset = clampPlace(node, start, size, step > 0 ? zero : minus, step > 0 ? size : last);
  MlirValue to = clampPlace(node, end, size, step > 0 ? zero : minus, step > 0 ? size : last);
  MlirValue span = step > 0 ? tileBuildSub(node->b, to, *offset) : tileBuildSub(node->b, *offset, to);
  int64_t stride = step > 0 ? step : step == INT64_MIN ? INT64_MAX : -step;
  MlirValue positive = onnxOp(&body, ArithOp_MaxSI, (MlirValue[]){span, zero});
  if (mlirValueEqual(span, size)) // a whole axis
    positive = size;
  *length = stride == 1 ? positive : tileBuildCeilDiv(node->b, positive, number(node, stride));
  return true;
}

bool onnxEmitSlice(Node *node) {
  OnnxValue *x = node->in[0];
  MlirValue starts[OnnxMaxRank], ends[OnnxMaxRank], offsets[OnnxMaxRank], sizes[OnnxMaxRank];
  int64_t axes[OnnxMaxRank], steps[OnnxMaxRank], strides[OnnxMaxRank], numbers[OnnxMaxRank];
  int count, numEnds, numAxes = -1, numSteps = -1;
  if (node->opset < 10) {
    if (!onnxInts(node, "starts", OnnxMaxRank, numbers, &count))
      return false;
    for (int i = 0; i < count; ++i)
      starts[i] = number(node, numbers[i]);
    if (!onnxInts(node, "ends", OnnxMaxRank, numbers, &numEnds) || !onnxInts(node, "axes", OnnxMaxRank, axes, &numAxes))
      return false;
    for (int i = 0; i < numEnds; ++i)
      ends[i] = number(node, numbers[i]);
  } else if (node->numIn < 3 || !onnxReadIndices(node, node->in[1], OnnxMaxRank, starts, &count) ||
             !onnxReadIndices(node, node->in[2], OnnxMaxRank, ends, &numEnds) ||
             (node->in[3] && !onnxConstantInts(node, node->in[3], "the input axes", OnnxMaxRank, axes, &numAxes)) ||
             (node->in[4] && !onnxConstantInts(node, node->in[4], "the input steps", OnnxMaxRank, steps, &numSteps))) {
    return node->numIn < 3 ? onnxError(node, "starts or ends are missing") : false;
  }
  if (count < 0 || count != numEnds || (numAxes >= 0 && numAxes != count) || (numSteps >= 0 && numSteps != count) ||
      count > x->rank)
    return onnxError(node, "starts, ends, axes and steps have other lengths, or more than the rank %d", x->rank);
  for (int d = 0; d < x->rank; ++d) {
    offsets[d] = number(node, 0);
    sizes[d] = x->sizes[d];
    strides[d] = 1;
  }
  for (int i = 0; i < count; ++i) {
    int axis;
    if (!onnxAxis(node, numAxes >= 0 ? axes[i] : i, x->rank, &axis))
      return false;
    strides[axis] = numSteps >= 0 ? steps[i] : 1;
    if (!sliceAxis(node, x->sizes[axis], starts[i], ends[i], strides[axis], &offsets[axis], &sizes[axis]))
      return false;
  }
  return onnxReturn(node, onnxSlice(node, x, offsets, sizes, strides));
}

bool onnxEmitSplit(Node *node) {
  OnnxValue *x = node->in[0];
  MlirValue parts[OnnxMaxInputs], offsets[OnnxMaxRank], sizes[OnnxMaxRank];
  int64_t ones[OnnxMaxRank], numbers[OnnxMaxInputs];
  int axis, count = -1;
  if (!onnxAxis(node, onnxInt(node, "axis", 0), x->rank, &axis))
    return false;
  if (node->opset >= 13 && node->in[1]) {
    if (!onnxReadIndices(node, node->in[1], OnnxMaxInputs, parts, &count))
      return false;
  } else if (node->opset < 13 && onnxAttribute(node, "split")) {
    if (!onnxInts(node, "split", OnnxMaxInputs, numbers, &count))
      return false;
    for (int i = 0; i < count; ++i)
      parts[i] = number(node, numbers[i]);
  }
  int64_t total = onnxInt(node, "num_outputs", node->numOut);
  if (total != node->numOut || (count >= 0 && count != node->numOut))
    return onnxError(node, "is split into %lld parts, but has %d outputs", (long long)(count >= 0 ? count : total),
                     node->numOut);
  MlirValue each = tileBuildCeilDiv(node->b, x->sizes[axis], number(node, node->numOut)), at = number(node, 0);
  Body body = here(node);
  for (int d = 0; d < x->rank; ++d) {
    offsets[d] = number(node, 0);
    sizes[d] = x->sizes[d];
    ones[d] = 1;
  }
  for (int i = 0; i < node->numOut; ++i) {
    MlirValue rest = tileBuildSub(node->b, x->sizes[axis], at);
    MlirValue size = count >= 0 ? parts[i] : onnxOp(&body, ArithOp_MinSI, (MlirValue[]){each, rest});
    offsets[axis] = at;
    sizes[axis] = size;
    at = tileBuildAdd(node->b, at, size);
    if (!onnxSetOut(node, i, onnxSlice(node, x, offsets, sizes, ones)))
      return false;
  }
  return onnxCheckSame(node, at, x->sizes[axis], "the sum of the parts and the size that is split");
}

//===--- blocks of channels ---------------------------------------------------===//

bool onnxEmitDepthToSpace(Node *node) {
  OnnxValue *x = node->in[0];
  int64_t block = onnxInt(node, "blocksize", 0), channels = x->rank == 4 ? onnxStatic(x->sizes[1]) : -1;
  bool isDcr = onnxWord(node, "mode", "DCR", true);
  if (x->rank != 4 || block < 1 || block > 1 << 15 || channels < 0 || channels % (block * block))
    return onnxError(node, "requires rank 4, and channels that the square of blocksize %lld divides", (long long)block);
  MlirValue n = x->sizes[0], h = x->sizes[2], w = x->sizes[3], b = number(node, block),
            c = number(node, channels / (block * block));
  const MlirValue inside[] = {n, isDcr ? b : c, b, isDcr ? c : b, h, w};
  OnnxValue *blocks = onnxReshape(node, x, 6, inside);
  OnnxValue *moved =
      blocks ? onnxTranspose(node, blocks, isDcr ? (int[]){0, 3, 4, 1, 5, 2} : (int[]){0, 1, 4, 2, 5, 3}) : NULL;
  const MlirValue sizes[] = {n, c, tileBuildMul(node->b, h, b), tileBuildMul(node->b, w, b)};
  return moved && onnxReturn(node, onnxReshape(node, moved, 4, sizes));
}

bool onnxEmitSpaceToDepth(Node *node) {
  OnnxValue *x = node->in[0];
  int64_t block = onnxInt(node, "blocksize", 0);
  int64_t height = x->rank == 4 ? onnxStatic(x->sizes[2]) : -1, width = x->rank == 4 ? onnxStatic(x->sizes[3]) : -1;
  if (x->rank != 4 || block < 1 || height < 0 || width < 0 || height % block || width % block)
    return onnxError(node, "requires rank 4, and sizes that blocksize %lld divides", (long long)block);
  MlirValue n = x->sizes[0], c = x->sizes[1], b = number(node, block);
  const MlirValue inside[] = {n, c, number(node, height / block), b, number(node, width / block), b};
  OnnxValue *blocks = onnxReshape(node, x, 6, inside);
  bool isDcr = onnxWord(node, "mode", "DCR", true);
  OnnxValue *moved =
      blocks ? onnxTranspose(node, blocks, isDcr ? (int[]){0, 3, 5, 1, 2, 4} : (int[]){0, 1, 3, 5, 2, 4}) : NULL;
  const MlirValue sizes[] = {n, tileBuildMul(node->b, c, number(node, block * block)), inside[2], inside[4]};
  return moved && onnxReturn(node, onnxReshape(node, moved, 4, sizes));
}
