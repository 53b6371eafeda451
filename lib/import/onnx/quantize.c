// Quantized operators: integers that stand for (q - zero point) · scale. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/operators.h"

#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>
#include <string.h>

// A scale or zero point, one for all, for each index of `axis`, or for each block along it, as a value that broadcasts.
typedef struct Blocked {
  OnnxValue *from;
  int axis;
  int64_t block;
} Blocked;

static MlirValue ofBlock(Body *body) {
  const Blocked *by = body->data;
  MlirValue index[OnnxMaxRank];
  memcpy(index, body->index, (size_t)by->from->rank * sizeof *index);
  index[by->axis] = ONNX_OP(ArithOp_DivUI, index[by->axis], tileBuildIndex(body->b, by->block));
  return onnxAt(body, by->from, index);
}

// Whole blocks: the numbers, repeated along an axis of their own. Products see through that (tile-find-low-bit).
static OnnxValue *ofWholeBlocks(Node *node, const Blocked *by, const OnnxValue *like) {
  MlirValue split[OnnxMaxRank];
  int rank = like->rank + 1;
  for (int d = 0; d < rank; ++d)
    split[d] = d == by->axis + 1 ? tileBuildIndex(node->b, by->block) : by->from->sizes[d > by->axis ? d - 1 : d];
  OnnxValue *repeated = onnxBroadcastTo(node, onnxUnsqueeze(node, by->from, 1u << (by->axis + 1), rank), rank, split);
  return repeated ? onnxReshape(node, repeated, like->rank, like->sizes) : NULL;
}

static OnnxValue *spread(Node *node, OnnxValue *x, const OnnxValue *like, int axis) {
  int64_t block = onnxInt(node, "block_size", 0);
  if (x->rank == 0 || (x->rank == 1 && onnxStatic(x->sizes[0]) == 1 && like->rank != 1))
    return x->rank ? onnxSqueeze(node, x, 1) : x;
  if (block > 0) {
    Blocked by = {x, axis, block};
    if (x->rank != like->rank) {
      onnxError(node, "scales of blocks have rank %d, the input has rank %d", x->rank, like->rank);
      return NULL;
    }
    int64_t size = onnxStatic(like->sizes[axis]);
    bool areWhole = size >= 0 && size == block * onnxStatic(x->sizes[axis]) && like->rank < OnnxMaxRank;
    return areWhole ? ofWholeBlocks(node, &by, like)
                    : onnxGenerate(node, x->type, like->rank, like->sizes, ofBlock, &by);
  }
  if (x->rank != 1) {
    onnxError(node, "scale or zero point has rank %d", x->rank);
    return NULL;
  }
  return onnxUnsqueeze(node, x, ((1u << like->rank) - 1) & ~(1u << axis), like->rank);
}

static bool limitsOf(OnnxType type, double *low, double *high) {
  int bits = onnxTypeBits(type);
  bool isUnsigned = onnxIsUnsigned(type);
  *low = isUnsigned ? 0 : -ldexp(1, bits - 1);
  *high = ldexp(1, isUnsigned ? bits : bits - 1) - 1;
  if (onnxTypeLargest(type) > 0) {
    *high = onnxTypeLargest(type);
    *low = -*high;
  }
  return bits > 0 && (onnxIsInteger(type) || onnxTypeLargest(type) > 0);
}

typedef struct Quantization {
  OnnxType from, zero, type;
  double low, high;
} Quantization;

// x[0] is already divided by its scale; x[1] the zero point.
static MlirValue quantized(Body *body, const MlirValue *x) {
  const Quantization *by = body->data;
  OnnxType wide = by->from;
  MlirValue y = onnxIsFloat(by->type) ? x[0] : ONNX_OP(MathOp_RoundEven, x[0]);
  if (by->zero)
    y = ONNX_OP(ArithOp_AddF, y, onnxConvert(body, x[1], by->zero, wide));
  y = ONNX_OP(ArithOp_MinimumF, ONNX_OP(ArithOp_MaximumF, y, onnxNumber(body, y, by->low)),
              onnxNumber(body, y, by->high));
  return onnxConvert(body, y, wide, by->type);
}

static OnnxValue *quantize(Node *node, OnnxValue *quotient, OnnxValue *zero, OnnxType type) {
  Quantization by = {quotient ? quotient->type : 0, zero ? zero->type : 0, type, 0, 0};
  if (!quotient)
    return NULL;
  if (!limitsOf(type, &by.low, &by.high)) {
    onnxError(node, "quantization to type %s is not supported", onnxTypeName(type));
    return NULL;
  }
  return onnxMap(node, type, zero ? 2 : 1, (OnnxValue *[]){quotient, zero}, quantized, &by);
}

bool onnxEmitQuantizeLinear(Node *node) {
  OnnxValue *x = node->in[0], *scale = node->in[1], *zero = node->in[2];
  int axis = 0;
  if (x->rank && !onnxAxis(node, onnxInt(node, "axis", 1), x->rank > 1 ? x->rank : 2, &axis))
    return false;
  axis = axis < x->rank ? axis : 0;
  OnnxType type = zero ? zero->type : (OnnxType)onnxInt(node, "output_dtype", Onnx_U8);
  if (type == 0)
    type = Onnx_U8;
  scale = spread(node, scale, x, axis);
  zero = zero ? spread(node, zero, x, axis) : NULL;
  if (!scale || (node->in[2] && !zero))
    return false;
  OnnxValue *quotient = onnxBinary(node, ArithOp_DivF, onnxCast(node, x, Onnx_F32), onnxCast(node, scale, Onnx_F32));
  return onnxReturn(node, quantize(node, quotient, zero, type));
}

bool onnxEmitDequantizeLinear(Node *node) {
  OnnxValue *x = node->in[0], *scale = node->in[1], *zero = node->in[2];
  int axis = 0;
  if (x->rank && !onnxAxis(node, onnxInt(node, "axis", 1), x->rank > 1 ? x->rank : 2, &axis))
    return false;
  axis = axis < x->rank ? axis : 0;
  OnnxType type = (OnnxType)onnxInt(node, "output_dtype", 0);
  type = type ? type : scale->type;
  if (!onnxIsFloat(type))
    return onnxError(node, "type %s of the result is not supported", onnxTypeName(type));
  scale = spread(node, scale, x, axis);
  zero = zero ? spread(node, zero, x, axis) : NULL;
  if (!scale || (node->in[2] && !zero))
    return false;
  OnnxValue *wide;
  if (onnxIsFloat(x->type)) {
    wide = onnxCast(node, x, Onnx_F32);
    wide = zero ? onnxSub(node, wide, onnxCast(node, zero, Onnx_F32)) : wide;
  } else {
    wide = onnxCast(node, x, Onnx_I32);
    wide = zero ? onnxSub(node, wide, onnxCast(node, zero, Onnx_I32)) : wide;
    wide = wide ? onnxCast(node, wide, Onnx_F32) : NULL;
  }
  OnnxValue *result = onnxMul(node, wide, onnxCast(node, scale, Onnx_F32));
  return result && onnxReturn(node, onnxCast(node, result, type));
}

bool onnxEmitDynamicQuantizeLinear(Node *node) {
  OnnxValue *x = node->in[0];
  uint32_t axes = (1u << x->rank) - 1;
  OnnxValue *high = onnxReduce(node, OnnxReduce_Max, x, axes, false),
            *low = onnxReduce(node, OnnxReduce_Min, x, axes, false);
  high = onnxWithNumber(node, ArithOp_MaximumF, high, 0);
  low = onnxWithNumber(node, ArithOp_MinimumF, low, 0);
  OnnxValue *scale = onnxWithNumber(node, ArithOp_DivF, onnxSub(node, high, low), 255);
  OnnxValue *zero =
      low ? onnxBinary(node, ArithOp_DivF, onnxSub(node, onnxScalarValue(node, x->type, 0), low), scale) : NULL;
  zero = quantize(node, zero, NULL, Onnx_U8);
  onnxSetOut(node, 1, scale);
  onnxSetOut(node, 2, zero);
  return zero && onnxReturn(node, quantize(node, onnxBinary(node, ArithOp_DivF, x, scale), zero, Onnx_U8));
}

bool onnxEmitQLinearMatMul(Node *node) {
  OnnxValue *a = node->in[0], *b = node->in[3];
  OnnxValue *left = onnxCentered(node, a, node->in[2], a->rank - 2),
            *right = onnxCentered(node, b, node->in[5], b->rank - 1);
  OnnxValue *sum = left && right ? onnxMatMulOf(node, left, right) : NULL;
  if (!sum)
    return false;
  OnnxValue *aScale = onnxCast(node, node->in[1], Onnx_F32), *bScale = onnxCast(node, node->in[4], Onnx_F32);
  OnnxValue *scaled[] = {aScale, bScale};
  OnnxValue *real = onnxCast(node, sum, Onnx_F32);
  for (int i = 0; i < 2; ++i) {
    if (scaled[i]->rank == 1 && onnxStatic(scaled[i]->sizes[0]) == 1)
      scaled[i] = onnxSqueeze(node, scaled[i], 1);
    else if (scaled[i]->rank == 1)
      scaled[i] =
          onnxUnsqueeze(node, scaled[i], ((1u << real->rank) - 1) & ~(1u << (real->rank - (i ? 1 : 2))), real->rank);
  }
  // The scales' product first, as the accumulator is an exact integer.
  real = onnxMul(node, onnxMul(node, real, scaled[0]), scaled[1]);
  OnnxValue *quotient = onnxBinary(node, ArithOp_DivF, real, onnxCast(node, node->in[6], Onnx_F32));
  return quotient && onnxReturn(node, quantize(node, quotient, node->in[7], node->in[7]->type));
}

static OnnxValue *convolveIntegers(Node *node, OnnxValue *x, OnnxValue *xZero, OnnxValue *w, OnnxValue *wZero) {
  OnnxWindow window;
  MlirValue low[OnnxMaxRank], high[OnnxMaxRank];
  if (w->rank != x->rank) {
    onnxError(node, "inputs have the ranks %d and %d", x->rank, w->rank);
    return NULL;
  }
  if (!onnxReadWindow(node, x, w->sizes + 2, false, &window))
    return NULL;
  OnnxValue *image = onnxCentered(node, x, xZero, 1), *weights = onnxCentered(node, w, wZero, 0);
  if (!image || !weights)
    return NULL;
  for (int d = 0; d < x->rank; ++d) {
    low[d] = d < 2 ? tileBuildIndex(node->b, 0) : window.low[d - 2];
    high[d] = d < 2 ? tileBuildIndex(node->b, 0) : window.high[d - 2];
  }
  image = onnxPad(node, image, low, high, onnxElements(node, onnxScalarValue(node, Onnx_I32, 0))[0]);
  return onnxConvolve(node, image, weights, onnxInt(node, "group", 1), &window);
}

bool onnxEmitConvInteger(Node *node) {
  return onnxReturn(node, convolveIntegers(node, node->in[0], node->in[2], node->in[1], node->in[3]));
}

bool onnxEmitQLinearConv(Node *node) {
  OnnxValue *sum = convolveIntegers(node, node->in[0], node->in[2], node->in[3], node->in[5]);
  if (!sum)
    return false;
  OnnxValue *bias = node->in[8], *wScale = onnxCast(node, node->in[4], Onnx_F32);
  uint32_t others = ((1u << sum->rank) - 1) & ~2u;
  if (bias)
    sum = onnxAdd(node, sum, onnxUnsqueeze(node, bias, others, sum->rank));
  if (wScale->rank == 1 && onnxStatic(wScale->sizes[0]) == 1)
    wScale = onnxSqueeze(node, wScale, 1);
  else if (wScale->rank == 1)
    wScale = onnxUnsqueeze(node, wScale, others, sum->rank);
  OnnxValue *scale = onnxMul(node, onnxCast(node, node->in[1], Onnx_F32), wScale);
  OnnxValue *real = sum ? onnxMul(node, onnxCast(node, sum, Onnx_F32), scale) : NULL;
  OnnxValue *quotient = onnxBinary(node, ArithOp_DivF, real, onnxCast(node, node->in[6], Onnx_F32));
  return quotient && onnxReturn(node, quantize(node, quotient, node->in[7], node->in[7]->type));
}

//===--- codes of few bits ------------------------------------------------------------------------------===//

// x[0] a byte that holds several codes, x[1] the place of one.
static MlirValue cutOut(Body *body, const MlirValue *x) {
  const int64_t *bits = body->data;
  return ONNX_OP(ArithOp_AndI, ONNX_OP(ArithOp_ShRUI, x[0], x[1]), onnxNumber(body, x[0], (double)((1 << *bits) - 1)));
}

// The codes of bytes, the lowest bits first: the last axis becomes longer.
static OnnxValue *unpack(Node *node, OnnxValue *bytes, int64_t bits) {
  enum { MostCodes = 4 };
  int64_t perByte = 8 / bits;
  MlirValue shifts[MostCodes], sizes[OnnxMaxRank], count = tileBuildIndex(node->b, perByte);
  if (perByte == 1)
    return bytes;
  for (int64_t i = 0; i < perByte; ++i)
    shifts[i] = tileBuildInteger(node->b, onnxElementType(node, Onnx_U8), i * bits);
  memcpy(sizes, bytes->sizes, (size_t)bytes->rank * sizeof *sizes);
  sizes[bytes->rank - 1] = tileBuildMul(node->b, sizes[bytes->rank - 1], count);
  OnnxValue *inputs[] = {onnxUnsqueeze(node, bytes, 1u << bytes->rank, bytes->rank + 1),
                         onnxOfElements(node, Onnx_U8, 1, &count, shifts, perByte)};
  OnnxValue *codes = onnxMap(node, Onnx_U8, 2, inputs, cutOut, &bits);
  return codes ? onnxReshape(node, codes, bytes->rank, sizes) : NULL;
}

// Zero points: numbers, or codes whose rows begin with a byte. As columns × groups × 1 of f32.
static OnnxValue *zerosOf(Node *node, OnnxValue *zeros, int64_t bits, const MlirValue sizes[3]) {
  int64_t columns = onnxStatic(sizes[0]), groups = onnxStatic(sizes[1]), perByte = 8 / bits;
  int64_t bytes = (groups + perByte - 1) / perByte;
  bool isPacked = zeros->type == Onnx_U8;
  if (onnxCount(zeros) != columns * (isPacked ? bytes : groups)) {
    onnxError(node, "zero points have %lld elements; %lld columns of %lld blocks need %lld",
              (long long)onnxCount(zeros), (long long)columns, (long long)groups,
              (long long)(columns * (isPacked ? bytes : groups)));
    return NULL;
  }
  if (isPacked) {
    MlirValue zero = tileBuildIndex(node->b, 0), shape[2] = {sizes[0], tileBuildIndex(node->b, bytes)};
    zeros = unpack(node, onnxReshape(node, zeros, 2, shape), bits);
    zeros = zeros ? onnxSlice(node, zeros, (MlirValue[]){zero, zero}, sizes, (int64_t[]){1, 1}) : NULL;
  }
  return zeros ? onnxCast(node,
                          onnxReshape(node, zeros, 3, (MlirValue[]){sizes[0], sizes[1], tileBuildIndex(node->b, 1)}),
                          Onnx_F32)
               : NULL;
}

typedef struct ByOrder {
  OnnxValue *groups, *order;
} ByOrder;

static MlirValue numberByOrder(Body *body) {
  const ByOrder *by = body->data;
  MlirValue group = onnxToIndex(body, onnxAt(body, by->order, body->index + 1));
  return onnxAt(body, by->groups, (MlirValue[]){body->index[0], group});
}

// Numbers of columns × groups × 1; with an order (g_idx), of columns × depth.
static OnnxValue *ofGroups(Node *node, OnnxValue *numbers, OnnxValue *order, int64_t depth) {
  if (!order)
    return numbers;
  ByOrder by = {onnxReshape(node, numbers, 2, numbers->sizes), order};
  MlirValue sizes[2] = {numbers->sizes[0], tileBuildIndex(node->b, depth)};
  return onnxGenerate(node, by.groups->type, 2, sizes, numberByOrder, &by);
}

// The weights, columns × depth of f32; null after an error.
static OnnxValue *weightsOfBits(Node *node, int64_t columns, int64_t depth, int64_t bits, int64_t block) {
  int64_t groups = depth / block;
  OnnxValue *bytes = node->in[1], *scales = node->in[2], *zeros = node->in[3];
  MlirValue sizes[3] = {tileBuildIndex(node->b, columns), tileBuildIndex(node->b, groups),
                        tileBuildIndex(node->b, block * bits / 8)},
            one = tileBuildIndex(node->b, 1);
  if (bytes->type != Onnx_U8 || onnxCount(bytes) != columns * depth * bits / 8 ||
      onnxCount(scales) != columns * groups) {
    onnxError(node, "%lld bytes of codes and %lld scales; K, N, bits and block_size need %lld and %lld",
              (long long)onnxCount(bytes), (long long)onnxCount(scales), (long long)(columns * depth * bits / 8),
              (long long)(columns * groups));
    return NULL;
  }
  OnnxValue *codes = unpack(node, onnxReshape(node, bytes, 3, sizes), bits);
  OnnxValue *weights = codes ? onnxCast(node, codes, Onnx_F32) : NULL;
  OnnxValue *zero = weights && zeros ? zerosOf(node, zeros, bits, sizes) : NULL, *order = node->in[4];
  if (!weights || (zeros && !zero))
    return NULL;
  if (order && (onnxCount(order) != depth || order->type != Onnx_I32)) {
    onnxError(node, "the order of groups (g_idx) has %lld elements; K = %lld numbers of i32 are accepted",
              (long long)onnxCount(order), (long long)depth);
    return NULL;
  }
  MlirValue whole[2] = {sizes[0], tileBuildIndex(node->b, depth)};
  weights = order ? onnxReshape(node, weights, 2, whole) : weights;
  zero = zero ? ofGroups(node, zero, order, depth) : NULL;
  weights =
      zero ? onnxSub(node, weights, zero) : onnxWithNumber(node, ArithOp_SubF, weights, (double)(1 << (bits - 1)));
  scales = onnxCast(node, onnxReshape(node, scales, 3, (MlirValue[]){sizes[0], sizes[1], one}), Onnx_F32);
  scales = ofGroups(node, scales, order, depth);
  weights = onnxMul(node, weights, scales);
  return weights ? onnxReshape(node, weights, 2, (MlirValue[]){sizes[0], tileBuildIndex(node->b, depth)}) : NULL;
}

bool onnxEmitMatMulNBits(Node *node) {
  int64_t depth = onnxInt(node, "K", 0), columns = onnxInt(node, "N", 0), bits = onnxInt(node, "bits", 4);
  int64_t block = onnxInt(node, "block_size", 0);
  OnnxValue *a = node->in[0];
  char left[OnnxMaxRank + 2] = "", out[OnnxMaxRank + 2] = "";
  if (bits != 2 && bits != 4 && bits != 8)
    return onnxError(node, "attribute 'bits' is %lld; accepted are 2, 4 and 8", (long long)bits);
  if (block <= 0 || depth <= 0 || columns <= 0 || depth % block || block * bits % 8)
    return onnxError(node, "K = %lld is no whole number of blocks of %lld in whole bytes", (long long)depth,
                     (long long)block);
  if (!a->rank || onnxStatic(a->sizes[a->rank - 1]) != depth)
    return onnxError(node, "the last axis of input 1 is not K = %lld", (long long)depth);
  OnnxValue *weights = weightsOfBits(node, columns, depth, bits, block);
  weights = weights ? onnxCast(node, weights, a->type) : NULL;
  for (int d = 0; d < a->rank - 1; ++d)
    left[d] = out[d] = (char)('A' + d);
  strcat(left, "k");
  strcat(out, "n");
  OnnxValue *product = weights ? onnxSumOfProducts(node, a, left, weights, "nk", out) : NULL;
  return product && onnxReturn(node, node->in[5] ? onnxAdd(node, product, node->in[5]) : product);
}
