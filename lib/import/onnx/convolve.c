// Convolutions and pools: windows that slide over the spatial axes. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/operators.h"

#include "lib/import/onnx/fold.h"
#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include "mlir-c/AffineExpr.h"

#include <math.h>
#include <string.h>

//===--- windows --------------------------------------------------------------===//

static bool readNumbers(Node *node, const char *name, int count, int64_t least, int64_t otherwise, int64_t *numbers) {
  int seen;
  if (!onnxInts(node, name, OnnxMaxRank, numbers, &seen))
    return false;
  for (int i = 0; i < count && seen < 0; ++i)
    numbers[i] = otherwise;
  if (seen >= 0 && seen != count)
    return onnxError(node, "attribute %s has %d numbers for %d spatial axes", name, seen, count);
  for (int i = 0; i < count; ++i)
    if (numbers[i] < least || numbers[i] > INT32_MAX)
      return onnxError(node, "attribute %s has the number %lld", name, (long long)numbers[i]);
  return true;
}

static MlirValue floorDiv(Node *node, MlirValue x, int64_t by) {
  Body body = {.node = node, .b = node->b, .isFolding = true};
  return by == 1 ? x : onnxOp(&body, ArithOp_FloorDivSI, (MlirValue[]){x, tileBuildIndex(node->b, by)});
}

// The size along axis i, and pads where auto_pad says so.
static bool sizeOfAxis(Node *node, MlirValue in, bool rounds, OnnxWindow *window, int i, const int64_t *pads) {
  TileBuilder *b = node->b;
  Body at = {.node = node, .b = b, .isFolding = true}, *body = &at;
  int64_t stride = window->strides[i], reach = window->dilations[i] * (window->kernel[i] - 1) + 1;
  bool isUpper = onnxWord(node, "auto_pad", "SAME_UPPER", false),
       isLower = onnxWord(node, "auto_pad", "SAME_LOWER", false);
  MlirValue zero = tileBuildIndex(b, 0), one = tileBuildIndex(b, 1);
  if (isUpper || isLower) {
    window->out[i] = onnxFold(b, tileBuildCeilDiv(b, in, tileBuildIndex(b, stride)));
    MlirValue last = tileBuildMul(b, tileBuildSub(b, window->out[i], one), tileBuildIndex(b, stride));
    MlirValue missing = tileBuildSub(b, tileBuildAdd(b, last, tileBuildIndex(b, reach)), in);
    MlirValue total = ONNX_OP(ArithOp_MaxSI, missing, zero), half = floorDiv(node, total, 2);
    window->low[i] = isUpper ? half : tileBuildSub(b, total, half);
    window->high[i] = tileBuildSub(b, total, window->low[i]);
    return true;
  }
  bool isValid = onnxWord(node, "auto_pad", "VALID", false);
  window->low[i] = tileBuildIndex(b, isValid ? 0 : pads[i]);
  window->high[i] = tileBuildIndex(b, isValid ? 0 : pads[i + window->rank]);
  MlirValue padded = tileBuildAdd(b, in, tileBuildAdd(b, window->low[i], window->high[i]));
  MlirValue span = tileBuildSub(b, padded, tileBuildIndex(b, reach));
  MlirValue steps = floorDiv(node, rounds ? tileBuildAdd(b, span, tileBuildIndex(b, stride - 1)) : span, stride);
  window->out[i] = onnxFold(b, tileBuildAdd(b, steps, one));
  if (rounds) { // a window that would start in the padding behind the end is none
    MlirValue start = tileBuildMul(b, steps, tileBuildIndex(b, stride));
    MlirValue end = tileBuildAdd(b, in, window->low[i]);
    MlirValue isBehind = onnxCompareI(body, ArithCmpI_Sge, start, end);
    window->out[i] = onnxSelect(body, isBehind, steps, window->out[i]);
    // The last window may reach beyond the padding.
    MlirValue last = tileBuildMul(b, tileBuildSub(b, window->out[i], one), tileBuildIndex(b, stride));
    MlirValue need = tileBuildSub(b, tileBuildAdd(b, last, tileBuildIndex(b, reach)), end);
    window->high[i] = ONNX_OP(ArithOp_MaxSI, window->high[i], need);
  }
  int64_t known;
  if (tileConstantIndex(window->out[i], &known) && known < 0)
    return onnxError(node, "the window does not fit along spatial axis %d", i);
  return true;
}

bool onnxReadWindow(Node *node, const OnnxValue *x, const MlirValue *kernel, bool rounds, OnnxWindow *window) {
  int64_t pads[2 * OnnxMaxRank];
  int count;
  window->rank = x->rank - 2;
  if (window->rank < 1)
    return onnxError(node, "requires rank 3 or more");
  if (!onnxInts(node, "pads", 2 * OnnxMaxRank, pads, &count))
    return false;
  if (count >= 0 && count != 2 * window->rank)
    return onnxError(node, "%d pads for %d spatial axes", count, window->rank);
  for (int i = 0; i < 2 * window->rank; ++i) {
    pads[i] = count < 0 ? 0 : pads[i];
    if (pads[i] < 0 || pads[i] > INT32_MAX)
      return onnxError(node, "attribute pads has the number %lld", (long long)pads[i]);
  }
  if (kernel) {
    for (int i = 0; i < window->rank; ++i)
      if ((window->kernel[i] = onnxStatic(kernel[i])) < 1)
        return onnxError(node, "the weights have dynamic spatial sizes, or none");
  } else if (!onnxAttribute(node, "kernel_shape")) {
    return onnxError(node, "attribute kernel_shape is missing");
  } else if (!readNumbers(node, "kernel_shape", window->rank, 1, 1, window->kernel)) {
    return false;
  }
  if (!readNumbers(node, "strides", window->rank, 1, 1, window->strides) ||
      !readNumbers(node, "dilations", window->rank, 1, 1, window->dilations))
    return false;
  for (int i = 0; i < window->rank; ++i)
    if (!sizeOfAxis(node, x->sizes[i + 2], rounds, window, i, pads))
      return false;
  return true;
}

static OnnxValue *padWindow(Node *node, OnnxValue *x, const OnnxWindow *window, double number) {
  MlirValue low[OnnxMaxRank], high[OnnxMaxRank];
  for (int d = 0; d < x->rank; ++d) {
    low[d] = d < 2 ? tileBuildIndex(node->b, 0) : window->low[d - 2];
    high[d] = d < 2 ? tileBuildIndex(node->b, 0) : window->high[d - 2];
  }
  return onnxPad(node, x, low, high, onnxElements(node, onnxScalarValue(node, x->type, number))[0]);
}

// d·stride + k·dilation
static MlirAffineExpr slide(MlirContext context, int d, int64_t stride, int k, int64_t dilation) {
  MlirAffineExpr out = mlirAffineDimExprGet(context, d), in = mlirAffineDimExprGet(context, k);
  if (stride != 1)
    out = mlirAffineMulExprGet(out, mlirAffineConstantExprGet(context, stride));
  if (dilation != 1)
    in = mlirAffineMulExprGet(in, mlirAffineConstantExprGet(context, dilation));
  return mlirAffineAddExprGet(out, in);
}

//===--- convolution ----------------------------------------------------------===//

static MlirValue multiplyAdd(Body *body, const MlirValue *x) {
  OnnxType from = ((const OnnxType *)body->data)[0], type = ((const OnnxType *)body->data)[1];
  bool isFloat = onnxIsFloat(type);
  MlirValue a = onnxConvert(body, x[0], from, type), b = onnxConvert(body, x[1], from, type);
  return ONNX_OP(isFloat ? ArithOp_AddF : ArithOp_AddI, x[2], ONNX_OP(isFloat ? ArithOp_MulF : ArithOp_MulI, a, b));
}

// x is padded: N×G×C×spatial, w: G×M×C×window; axes of size 1 that are known (groups, channels of a group) are left
// out.
OnnxValue *onnxConvolve(Node *node, OnnxValue *x, OnnxValue *w, int64_t groups, const OnnxWindow *window) {
  int s = window->rank;
  int64_t channels = onnxStatic(x->sizes[1]), filters = onnxStatic(w->sizes[0]), inner = onnxStatic(w->sizes[1]);
  if (channels < 0 && inner > 0 && groups > 0 && groups < INT32_MAX) { // the weights know
    MlirValue sizes[OnnxMaxRank];
    memcpy(sizes, x->sizes, sizeof sizes);
    sizes[1] = tileBuildIndex(node->b, inner * groups);
    if (!onnxCheckSame(node, x->sizes[1], sizes[1], "the channels of an image and its weights"))
      return NULL;
    x = onnxOfTensor(node, x->type, onnxTensor(node, x), sizes);
    channels = inner * groups;
  }
  if (w->rank != s + 2 || groups < 1 || channels < 0 || filters < 0 || inner * groups != channels || filters % groups) {
    onnxError(node, "%lld channels, %lld filters of %lld channels and %lld groups do not fit", (long long)channels,
              (long long)filters, (long long)inner, (long long)groups);
    return NULL;
  }
  bool hasGroup = groups > 1, hasFilter = !hasGroup || filters > groups, hasChannel = !hasGroup || inner > 1;
  MlirContext context = node->b->context;
  MlirValue xs[OnnxMaxRank], ws[OnnxMaxRank], outs[OnnxMaxRank], sizes[OnnxMaxRank];
  int xr = 0, wr = 0, or = 0, dims = 0;
  MlirAffineExpr xe[OnnxMaxRank], we[OnnxMaxRank], oe[OnnxMaxRank];
  if (s + 3 > OnnxMaxRank) {
    onnxError(node, "too many spatial axes");
    return NULL;
  }
#define AXIS(list, exprs, count, size, expr) ((list)[count] = (size), (exprs)[(count)++] = (expr))
  MlirAffineExpr n = mlirAffineDimExprGet(context, dims++), g = n, f = n;
  AXIS(xs, xe, xr, x->sizes[0], n);
  AXIS(outs, oe, or, x->sizes[0], n);
  if (hasGroup) {
    g = mlirAffineDimExprGet(context, dims++);
    MlirValue size = tileBuildIndex(node->b, groups);
    AXIS(xs, xe, xr, size, g);
    AXIS(ws, we, wr, size, g);
    AXIS(outs, oe, or, size, g);
  }
  if (hasFilter) {
    f = mlirAffineDimExprGet(context, dims++);
    MlirValue size = tileBuildIndex(node->b, filters / groups);
    AXIS(ws, we, wr, size, f);
    AXIS(outs, oe, or, size, f);
  }
  int firstPixel = dims;
  for (int i = 0; i < s; ++i)
    AXIS(outs, oe, or, window->out[i], mlirAffineDimExprGet(context, dims++));
  uint32_t reduced = 0;
  if (hasChannel) {
    MlirAffineExpr c = mlirAffineDimExprGet(context, dims);
    reduced |= 1u << dims++;
    MlirValue size = tileBuildIndex(node->b, inner);
    AXIS(xs, xe, xr, size, c);
    AXIS(ws, we, wr, size, c);
  }
  for (int i = 0; i < s; ++i) {
    AXIS(xs, xe, xr, x->sizes[i + 2], slide(context, firstPixel + i, window->strides[i], dims, window->dilations[i]));
    AXIS(ws, we, wr, w->sizes[i + 2], mlirAffineDimExprGet(context, dims));
    reduced |= 1u << dims++;
  }
#undef AXIS
  OnnxType types[] = {x->type, onnxSumType(x->type)};
  OnnxValue *image = onnxReshape(node, x, xr, xs), *weights = onnxReshape(node, w, wr, ws);
  if (!image || !weights)
    return NULL;
  OnnxGeneric generic = {.count = 2, .dims = dims, .element = multiplyAdd, .data = types, .reduced = reduced};
  generic.inputs[0] = onnxTensor(node, image);
  generic.inputs[1] = onnxTensor(node, weights);
  generic.maps[0] = mlirAffineMapGet(context, dims, 0, xr, xe);
  generic.maps[1] = mlirAffineMapGet(context, dims, 0, wr, we);
  generic.maps[2] = mlirAffineMapGet(context, dims, 0, or, oe);
  MlirValue zero = tileBuildConstant(node->b, onnxZero(node, types[1]));
  generic.init = onnxFilled(node, types[1], or, outs, zero);
  OnnxValue *sum = onnxOfTensor(node, types[1], onnxGeneric(node, &generic), outs);
  sizes[0] = x->sizes[0];
  sizes[1] = tileBuildIndex(node->b, filters);
  for (int i = 0; i < s; ++i)
    sizes[i + 2] = window->out[i];
  OnnxValue *result = onnxReshape(node, sum, s + 2, sizes);
  return result ? onnxCast(node, result, x->type) : NULL;
}

OnnxValue *onnxAddBias(Node *node, OnnxValue *x, OnnxValue *bias) {
  if (!x || !bias)
    return x;
  return onnxAdd(node, x, onnxUnsqueeze(node, bias, ~2u & ((1u << x->rank) - 1), x->rank));
}

bool onnxEmitConv(Node *node) {
  OnnxValue *x = node->in[0], *w = node->in[1];
  OnnxWindow window;
  if (w->rank != x->rank)
    return onnxError(node, "inputs have the ranks %d and %d", x->rank, w->rank);
  if (!onnxReadWindow(node, x, w->sizes + 2, false, &window))
    return false;
  OnnxValue *result = onnxConvolve(node, padWindow(node, x, &window, 0), w, onnxInt(node, "group", 1), &window);
  return onnxReturn(node, onnxAddBias(node, result, node->in[2]));
}

//===--- transposed convolution -----------------------------------------------===//

// The image with stride - 1 zeros between its pixels and padding around: what a convolution with the mirrored window
// turns into the transposed one.
typedef struct Spread {
  OnnxValue *from;
  int64_t strides[OnnxMaxRank];
  MlirValue low[OnnxMaxRank];
} Spread;

static MlirValue spread(Body *body) {
  const Spread *by = body->data;
  MlirValue at[OnnxMaxRank] = {body->index[0], body->index[1]}, zero = tileBuildIndex(body->b, 0);
  MlirValue isInside = tileBuildInteger(body->b, mlirIntegerTypeGet(body->b->context, 1), 1);
  for (int d = 2; d < by->from->rank; ++d) {
    MlirValue stride = tileBuildIndex(body->b, by->strides[d - 2]);
    MlirValue place = ONNX_OP(ArithOp_SubI, body->index[d], by->low[d - 2]);
    MlirValue isBehind = onnxCompareI(body, ArithCmpI_Sge, place, zero);
    MlirValue pixel = ONNX_OP(ArithOp_DivUI, place, stride);
    MlirValue isPixel = onnxCompareI(body, ArithCmpI_Eq, ONNX_OP(ArithOp_MulI, pixel, stride), place);
    MlirValue isBefore = onnxCompareI(body, ArithCmpI_Ult, pixel, by->from->sizes[d]);
    MlirValue is = ONNX_OP(ArithOp_AndI, isBehind, ONNX_OP(ArithOp_AndI, isPixel, isBefore));
    at[d] = onnxSelect(body, is, pixel, zero);
    isInside = ONNX_OP(ArithOp_AndI, isInside, is);
  }
  MlirValue x = onnxAt(body, by->from, at);
  return onnxSelect(body, isInside, x, onnxNumber(body, x, 0));
}

typedef struct Mirror {
  OnnxValue *from;
  int64_t groups;
} Mirror;

// G·M × C × window of C·G × M × window, the window backwards.
static MlirValue mirrored(Body *body) {
  const Mirror *by = body->data;
  MlirValue at[OnnxMaxRank], filters = by->from->sizes[1];
  MlirValue inner = tileBuildIndex(body->b, onnxStatic(by->from->sizes[0]) / by->groups);
  MlirValue group = ONNX_OP(ArithOp_DivUI, body->index[0], filters);
  at[0] = ONNX_OP(ArithOp_AddI, ONNX_OP(ArithOp_MulI, group, inner), body->index[1]);
  at[1] = ONNX_OP(ArithOp_RemUI, body->index[0], filters);
  for (int d = 2; d < by->from->rank; ++d)
    at[d] = ONNX_OP(ArithOp_SubI, tileBuildIndex(body->b, onnxStatic(by->from->sizes[d]) - 1), body->index[d]);
  return onnxAt(body, by->from, at);
}

static bool transposedPads(Node *node, const OnnxValue *x, const OnnxWindow *window, const int64_t *more,
                           MlirValue *low, MlirValue *high, MlirValue *out) {
  int s = window->rank, count;
  int64_t pads[2 * OnnxMaxRank], shape[OnnxMaxRank];
  TileBuilder *b = node->b;
  bool isSame = onnxWord(node, "auto_pad", "SAME_UPPER", false) || onnxWord(node, "auto_pad", "SAME_LOWER", false);
  bool isLower = onnxWord(node, "auto_pad", "SAME_LOWER", false);
  if (!onnxInts(node, "pads", 2 * OnnxMaxRank, pads, &count))
    return false;
  int numPads = count;
  if (!onnxInts(node, "output_shape", OnnxMaxRank, shape, &count))
    return false;
  if ((numPads >= 0 && numPads != 2 * s) || (count >= 0 && count < s))
    return onnxError(node, "pads or output_shape do not fit %d spatial axes", s);
  for (int i = 0; i < s; ++i) {
    int64_t reach = window->dilations[i] * (window->kernel[i] - 1) + 1;
    MlirValue last =
        tileBuildMul(b, tileBuildSub(b, x->sizes[i + 2], tileBuildIndex(b, 1)), tileBuildIndex(b, window->strides[i]));
    MlirValue whole = tileBuildAdd(b, last, tileBuildIndex(b, reach + more[i]));
    MlirValue start, end;
    if (count >= 0 || isSame) {
      out[i] = count >= 0 ? tileBuildIndex(b, shape[count - s + i])
                          : tileBuildMul(b, x->sizes[i + 2], tileBuildIndex(b, window->strides[i]));
      Body body = {.node = node, .b = b, .isFolding = true};
      MlirValue total = tileBuildSub(b, whole, out[i]), half = floorDiv(node, total, 2);
      total = onnxOp(&body, ArithOp_MaxSI, (MlirValue[]){total, tileBuildIndex(b, 0)});
      half = floorDiv(node, total, 2);
      start = isLower || (!isSame && count >= 0 && !onnxWord(node, "auto_pad", "SAME_UPPER", false))
                  ? tileBuildSub(b, total, half)
                  : half;
      end = tileBuildSub(b, total, start);
    } else {
      start = tileBuildIndex(b, numPads >= 0 ? pads[i] : 0);
      end = tileBuildIndex(b, numPads >= 0 ? pads[i + s] : 0);
      out[i] = tileBuildSub(b, whole, tileBuildAdd(b, start, end));
    }
    low[i] = tileBuildSub(b, tileBuildIndex(b, reach - 1), start);
    high[i] = end;
  }
  return true;
}

// Windows that neither overlap nor leave gaps: each pixel becomes the window's pixels, which are channels of a
// convolution by a window of 1 until they go to their places.
static OnnxValue *convolveApart(Node *node, OnnxValue *x, OnnxValue *w) {
  int s = x->rank - 2, order[OnnxMaxRank] = {1, 0}, places[OnnxMaxRank] = {0, 1};
  OnnxWindow one = {.rank = s};
  MlirValue flat[OnnxMaxRank] = {w->sizes[0]}, split[OnnxMaxRank] = {x->sizes[0], w->sizes[1]},
            sizes[OnnxMaxRank] = {x->sizes[0], w->sizes[1]};
  flat[1] = w->sizes[1];
  for (int i = 0; i < s; ++i) {
    flat[1] = tileBuildMul(node->b, flat[1], w->sizes[i + 2]);
    one.kernel[i] = one.strides[i] = one.dilations[i] = 1;
    one.out[i] = x->sizes[i + 2];
    split[i + 2] = w->sizes[i + 2];
    split[i + 2 + s] = x->sizes[i + 2];
    places[2 * i + 2] = i + 2 + s;
    places[2 * i + 3] = i + 2;
    sizes[i + 2] = tileBuildMul(node->b, x->sizes[i + 2], w->sizes[i + 2]);
  }
  OnnxValue *weights = onnxReshape(node, w, 2, flat);
  weights = weights ? onnxTranspose(node, weights, order) : NULL;
  weights = weights ? onnxUnsqueeze(node, weights, ((1u << s) - 1) << 2, s + 2) : NULL;
  OnnxValue *pixels = weights ? onnxConvolve(node, x, weights, 1, &one) : NULL;
  pixels = pixels ? onnxReshape(node, pixels, 2 * s + 2, split) : NULL;
  pixels = pixels ? onnxTranspose(node, pixels, places) : NULL;
  return pixels ? onnxReshape(node, pixels, s + 2, sizes) : NULL;
}

// Nothing is padded: element `low` of the spread image is the window's last.
static bool isApart(const Node *node, const OnnxWindow *window, int64_t groups, const int64_t *more,
                    const MlirValue *low, const MlirValue *high) {
  bool is = groups == 1 && 2 * window->rank + 3 <= OnnxMaxRank && onnxStatic(node->in[1]->sizes[1]) > 0;
  for (int i = 0; i < window->rank; ++i)
    is = is && window->kernel[i] == window->strides[i] && window->dilations[i] == 1 && more[i] == 0 &&
         onnxStatic(low[i]) == window->kernel[i] - 1 && onnxStatic(high[i]) == 0;
  return is;
}

bool onnxEmitConvTranspose(Node *node) {
  OnnxValue *x = node->in[0], *w = node->in[1];
  OnnxWindow window = {.rank = x->rank - 2};
  int s = window.rank;
  int64_t more[OnnxMaxRank], groups = onnxInt(node, "group", 1), channels = onnxStatic(w->sizes[0]);
  MlirValue high[OnnxMaxRank], sizes[OnnxMaxRank], filters[OnnxMaxRank];
  if (s < 1 || w->rank != x->rank || groups < 1 || channels < 0 || channels % groups)
    return onnxError(node, "requires rank 3 or more, weights of the same rank, and groups that divide the channels");
  for (int i = 0; i < s; ++i)
    if ((window.kernel[i] = onnxStatic(w->sizes[i + 2])) < 1)
      return onnxError(node, "the weights have dynamic spatial sizes, or none");
  Spread by = {.from = x};
  if (!readNumbers(node, "strides", s, 1, 1, by.strides) ||
      !readNumbers(node, "dilations", s, 1, 1, window.dilations) || !readNumbers(node, "output_padding", s, 0, 0, more))
    return false;
  memcpy(window.strides, by.strides, sizeof window.strides);
  if (!transposedPads(node, x, &window, more, by.low, high, window.out))
    return false;
  if (isApart(node, &window, groups, more, by.low, high))
    return onnxReturn(node, onnxAddBias(node, convolveApart(node, x, w), node->in[2]));
  sizes[0] = x->sizes[0];
  sizes[1] = x->sizes[1];
  filters[0] = tileBuildMul(node->b, w->sizes[1], tileBuildIndex(node->b, groups));
  filters[1] = tileBuildIndex(node->b, channels / groups);
  for (int i = 0; i < s; ++i) {
    window.strides[i] = 1;
    int64_t reach = window.dilations[i] * (window.kernel[i] - 1);
    sizes[i + 2] = tileBuildAdd(node->b, window.out[i], tileBuildIndex(node->b, reach));
    filters[i + 2] = w->sizes[i + 2];
  }
  Mirror turn = {w, groups};
  OnnxValue *image = onnxGenerate(node, x->type, x->rank, sizes, spread, &by);
  OnnxValue *weights = image ? onnxGenerate(node, w->type, w->rank, filters, mirrored, &turn) : NULL;
  OnnxValue *result = weights ? onnxConvolve(node, image, weights, groups, &window) : NULL;
  return onnxReturn(node, onnxAddBias(node, result, node->in[2]));
}

//===--- pools ----------------------------------------------------------------===//

static MlirValue takeFirst(Body *body, const MlirValue *x) {
  return onnxOp(body, *(const int *)body->data, (MlirValue[]){x[2], x[0]});
}

// Combines the elements of each window; the padding has `number`, the result starts from it.
static OnnxValue *pool(Node *node, OnnxValue *x, const OnnxWindow *window, TileUpstream op, double number) {
  MlirContext context = node->b->context;
  int s = window->rank, dims = 2 * s + 2;
  OnnxValue *padded = padWindow(node, x, window, number);
  MlirAffineExpr from[OnnxMaxRank], in[OnnxMaxRank];
  MlirValue sizes[OnnxMaxRank] = {x->sizes[0], x->sizes[1]}, kernel[OnnxMaxRank];
  int axes[OnnxMaxRank];
  if (dims > OnnxMaxRank) {
    onnxError(node, "too many spatial axes");
    return NULL;
  }
  OnnxGeneric generic = {.count = 2, .dims = dims, .element = takeFirst, .data = &op};
  for (int d = 0; d < s + 2; ++d)
    axes[d] = d;
  from[0] = mlirAffineDimExprGet(context, 0);
  from[1] = mlirAffineDimExprGet(context, 1);
  for (int i = 0; i < s; ++i) {
    from[i + 2] = slide(context, i + 2, window->strides[i], s + 2 + i, window->dilations[i]);
    in[i] = mlirAffineDimExprGet(context, s + 2 + i);
    kernel[i] = tileBuildIndex(node->b, window->kernel[i]);
    sizes[i + 2] = window->out[i];
    generic.reduced |= 1u << (s + 2 + i);
  }
  MlirValue initial = onnxElements(node, onnxScalarValue(node, x->type, number))[0];
  generic.inputs[0] = onnxTensor(node, padded);
  generic.inputs[1] = onnxEmpty(node, x->type, s, kernel); // gives the extents alone
  generic.maps[0] = mlirAffineMapGet(context, dims, 0, s + 2, from);
  generic.maps[1] = mlirAffineMapGet(context, dims, 0, s, in);
  generic.maps[2] = onnxProjection(context, dims, s + 2, axes);
  generic.init = onnxFilled(node, x->type, s + 2, sizes, initial);
  return onnxOfTensor(node, x->type, onnxGeneric(node, &generic), sizes);
}

typedef struct Count {
  const OnnxWindow *window;
  int axis;
  MlirValue low, end; // places of the window that count: from low (of the padded axis) to end
  OnnxType type;
} Count;

static MlirValue countPlaces(Body *body) {
  const Count *by = body->data;
  MlirType type = onnxElementType(body->node, by->type);
  MlirValue sum = tileBuildFloat(body->b, type, 0), one = tileBuildFloat(body->b, type, 1), none = sum;
  MlirValue start = ONNX_OP(ArithOp_MulI, body->index[0], tileBuildIndex(body->b, by->window->strides[by->axis]));
  for (int64_t k = 0; k < by->window->kernel[by->axis]; ++k) {
    MlirValue at = ONNX_OP(ArithOp_AddI, start, tileBuildIndex(body->b, k * by->window->dilations[by->axis]));
    MlirValue isBehind = onnxCompareI(body, ArithCmpI_Sge, at, by->low);
    MlirValue isBefore = onnxCompareI(body, ArithCmpI_Slt, at, by->end);
    sum = ONNX_OP(ArithOp_AddF, sum, onnxSelect(body, ONNX_OP(ArithOp_AndI, isBehind, isBefore), one, none));
  }
  return sum;
}

bool onnxEmitAveragePool(Node *node) {
  OnnxValue *x = node->in[0];
  OnnxWindow window;
  if (!onnxReadWindow(node, x, NULL, onnxInt(node, "ceil_mode", 0) != 0, &window))
    return false;
  OnnxType type = onnxSumType(x->type);
  bool countsPads = onnxInt(node, "count_include_pad", 0) != 0;
  int64_t pads[2 * OnnxMaxRank] = {0};
  int numPads;
  if (!onnxInts(node, "pads", 2 * OnnxMaxRank, pads, &numPads))
    return false;
  bool isSame = onnxWord(node, "auto_pad", "SAME_UPPER", false) || onnxWord(node, "auto_pad", "SAME_LOWER", false);
  OnnxValue *result = pool(node, onnxCast(node, x, type), &window, ArithOp_AddF, 0);
  for (int i = 0; i < window.rank && result; ++i) {
    MlirValue end = tileBuildAdd(node->b, window.low[i], x->sizes[i + 2]);
    // What a last window reaches beyond the padding does not count.
    MlirValue high = isSame ? window.high[i] : tileBuildIndex(node->b, numPads > 0 ? pads[i + window.rank] : 0);
    Count by = {&window, i, countsPads ? tileBuildIndex(node->b, 0) : window.low[i],
                countsPads ? tileBuildAdd(node->b, end, high) : end, type};
    if (window.kernel[i] > 4096)
      return onnxError(node, "the window has size %lld; at most 4096 is accepted", (long long)window.kernel[i]);
    OnnxValue *count = onnxGenerate(node, type, 1, &window.out[i], countPlaces, &by);
    count = onnxUnsqueeze(node, count, ((1u << x->rank) - 1) & ~(1u << (i + 2)), x->rank);
    result = onnxBinary(node, ArithOp_DivF, result, count);
  }
  return result && onnxReturn(node, onnxCast(node, result, x->type));
}

// The place of the greatest element of a window, as a place in the whole tensor.
typedef struct Greatest {
  OnnxValue *from;
  const OnnxWindow *window;
  bool isColumnMajor;
} Greatest;

static MlirValue placeOfGreatest(Body *body) {
  const Greatest *by = body->data;
  const OnnxWindow *window = by->window;
  int s = window->rank;
  MlirType i64 = mlirIntegerTypeGet(body->b->context, 64);
  MlirValue best = {NULL}, bestAt = {NULL}, zero = tileBuildIndex(body->b, 0), isNone = {NULL};
  int64_t total = 1;
  for (int i = 0; i < s; ++i)
    total *= window->kernel[i];
  for (int64_t t = 0; t < total; ++t) {
    MlirValue at[OnnxMaxRank] = {body->index[0], body->index[1]}, place, isInside = {NULL};
    int64_t rest = t;
    for (int i = s; i-- > 0;) {
      MlirValue offset = tileBuildIndex(body->b, rest % window->kernel[i] * window->dilations[i]);
      MlirValue start = ONNX_OP(ArithOp_MulI, body->index[i + 2], tileBuildIndex(body->b, window->strides[i]));
      rest /= window->kernel[i];
      place = ONNX_OP(ArithOp_SubI, ONNX_OP(ArithOp_AddI, start, offset), window->low[i]);
      MlirValue is = onnxCompareI(body, ArithCmpI_Ult, place, by->from->sizes[i + 2]);
      at[i + 2] = onnxSelect(body, is, place, zero);
      isInside = mlirValueIsNull(isInside) ? is : ONNX_OP(ArithOp_AndI, isInside, is);
    }
    MlirValue x = onnxAt(body, by->from, at);
    MlirValue flat = ONNX_OP(ArithOp_AddI, ONNX_OP(ArithOp_MulI, at[0], by->from->sizes[1]), at[1]);
    for (int i = 0; i < s; ++i) {
      int d = by->isColumnMajor ? s - 1 - i + 2 : i + 2;
      flat = ONNX_OP(ArithOp_AddI, ONNX_OP(ArithOp_MulI, flat, by->from->sizes[d]), at[d]);
    }
    if (mlirValueIsNull(best)) {
      best = x;
      bestAt = flat;
      isNone = tileBuildInteger(body->b, mlirIntegerTypeGet(body->b->context, 1), 1);
    }
    bool isFloat = mlirTypeIsAFloat(mlirValueGetType(x));
    MlirValue isBetter =
        isFloat
            ? ONNX_OP(ArithOp_OrI, onnxCompareF(body, ArithCmpF_Ogt, x, best), onnxCompareF(body, ArithCmpF_Uno, x, x))
            : onnxCompareI(body, onnxIsUnsigned(by->from->type) ? ArithCmpI_Ugt : ArithCmpI_Sgt, x, best);
    isBetter = ONNX_OP(ArithOp_AndI, ONNX_OP(ArithOp_OrI, isBetter, isNone), isInside);
    best = onnxSelect(body, isBetter, x, best);
    bestAt = onnxSelect(body, isBetter, flat, bestAt);
    isNone = onnxSelect(body, isInside, tileBuildInteger(body->b, mlirValueGetType(isNone), 0), isNone);
  }
  return onnxFromIndex(body, bestAt, i64);
}

bool onnxEmitMaxPool(Node *node) {
  OnnxValue *x = node->in[0];
  OnnxWindow window;
  if (!onnxReadWindow(node, x, NULL, onnxInt(node, "ceil_mode", 0) != 0, &window))
    return false;
  if (node->numOut > 1) {
    int64_t total = 1;
    MlirValue sizes[OnnxMaxRank] = {x->sizes[0], x->sizes[1]};
    for (int i = 0; i < window.rank; ++i) {
      total = total > 4096 ? total : total * window.kernel[i];
      sizes[i + 2] = window.out[i];
    }
    if (total > 256)
      return onnxError(node, "places of the greatest are supported for windows of at most 256 elements");
    Greatest by = {x, &window, onnxInt(node, "storage_order", 0) != 0};
    if (!onnxSetOut(node, 1, onnxGenerate(node, Onnx_I64, x->rank, sizes, placeOfGreatest, &by)))
      return false;
  }
  if (onnxIsFloat(x->type))
    return onnxReturn(node, pool(node, x, &window, ArithOp_MaximumF, -INFINITY));
  bool isUnsigned = onnxIsUnsigned(x->type);
  return onnxReturn(node, pool(node, x, &window, isUnsigned ? ArithOp_MaxUI : ArithOp_MaxSI,
                               isUnsigned ? 0 : -ldexp(1, 8 * onnxTypeBytes(x->type) - 1)));
}

bool onnxEmitLpPool(Node *node) {
  OnnxValue *x = node->in[0];
  OnnxWindow window;
  double p = (double)onnxInt(node, "p", 2);
  if (!onnxReadWindow(node, x, NULL, onnxInt(node, "ceil_mode", 0) != 0, &window))
    return false;
  OnnxValue *power = onnxWithNumber(node, MathOp_PowF, onnxUnary(node, MathOp_AbsF, x), p);
  OnnxValue *sum = power ? pool(node, power, &window, ArithOp_AddF, 0) : NULL;
  return onnxReturn(node, onnxWithNumber(node, MathOp_PowF, sum, 1 / p));
}

bool onnxEmitGlobalPool(Node *node) {
  OnnxValue *x = node->in[0];
  if (x->rank < 3)
    return onnxError(node, "requires rank 3 or more");
  uint32_t axes = ((1u << x->rank) - 1) & ~3u;
  return onnxReturn(node, onnxReduce(node, (OnnxReduction)node->kind, x, axes, true));
}
