// Convolutions, pools, and images in other sizes: windows that slide over the spatial axes. See operators.def.
#include "lib/import/torch_export/operators.h"

#include "lib/import/onnx/operators.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>
#include <string.h>

// One number stands for all axes.
static bool window(Aten *aten, const char *name, int rank, int64_t otherwise, int64_t *items) {
  int count;
  if (!torchInts(aten, name, OnnxMaxRank, items, &count))
    return false;
  if (count > 1 && count != rank)
    return onnxError(&aten->node, "argument '%s' has %d numbers for %d axes", name, count, rank);
  for (int i = 0; i < rank; ++i)
    items[i] = count <= 0 ? otherwise : count == 1 ? items[0] : items[i];
  return true;
}

// The image with a batch, which it may lack. Null after an error.
static OnnxValue *imageOf(Aten *aten, const char *name, int spatial) {
  OnnxValue *x = torchTensor(aten, name);
  if (x && x->rank != spatial + 2 && x->rank != spatial + 1) {
    onnxError(&aten->node, "an image of rank %d; %d, or %d with a batch, is required", x->rank, spatial + 1,
              spatial + 2);
    return NULL;
  }
  return x && x->rank == spatial + 1 ? onnxUnsqueeze(&aten->node, x, 1, x->rank + 1) : x;
}

// A result without the batch that the argument lacks.
static OnnxValue *asGiven(Aten *aten, const char *name, int spatial, OnnxValue *result) {
  OnnxValue *x = torchTensor(aten, name);
  return x && result && x->rank == spatial + 1 ? onnxSqueeze(&aten->node, result, 1) : result;
}

//===--- convolution ------------------------------------------------------------===//

// kind 1: transposed.
bool torchEmitConv(Aten *aten) {
  OnnxValue *weight = torchTensor(aten, "weight");
  int s = weight ? weight->rank - 2 : 0;
  if (!weight || s < 1)
    return weight && onnxError(&aten->node, "weights of rank %d", weight->rank);
  OnnxValue *in[] = {imageOf(aten, "input", s), weight, torchOptional(aten, "bias")};
  int64_t strides[OnnxMaxRank], dilations[OnnxMaxRank], pads[2 * OnnxMaxRank], more[OnnxMaxRank];
  const char *padding = torchText(aten, "padding", NULL);
  if (!in[0] || !window(aten, "stride", s, 1, strides) || !window(aten, "dilation", s, 1, dilations) ||
      !window(aten, "output_padding", s, 0, more) || (!padding && !window(aten, "padding", s, 0, pads)))
    return false;
  bool isTransposed = aten->row->kind == 1 || torchInt(aten, "transposed", 0);
  OnnxAttribute attributes[] = {TORCH_INTS("strides", s, strides), TORCH_INTS("dilations", s, dilations),
                                TORCH_INT("group", torchInt(aten, "groups", 1)),
                                padding ? (OnnxAttribute)TORCH_TEXT("auto_pad", "SAME_UPPER")
                                        : (OnnxAttribute)TORCH_INTS("pads", 2 * s, pads),
                                TORCH_INTS("output_padding", s, more)};
  if (padding && strcmp(padding, "valid") == 0)
    attributes[3] = (OnnxAttribute)TORCH_TEXT("auto_pad", "VALID");
  for (int i = 0; i < s && !padding; ++i)
    pads[s + i] = pads[i];
  OnnxValue *result =
      torchOnnx(aten, isTransposed ? "ConvTranspose" : "Conv", in[2] ? 3 : 2, in, isTransposed ? 5 : 4, attributes);
  return torchReturn(aten, asGiven(aten, "input", s, result));
}

//===--- pools ------------------------------------------------------------------===//

// Places in the whole tensor as places in a plane of the spatial axes.
static OnnxValue *inPlane(Node *node, OnnxValue *places, const OnnxValue *image) {
  MlirValue size = tileBuildIndex(node->b, 1);
  for (int d = 2; d < image->rank; ++d)
    size = tileBuildMul(node->b, size, image->sizes[d]);
  return places ? onnxBinary(node, ArithOp_RemSI, places, onnxOfIndex(node, size)) : NULL;
}

// Pads the ends so that the last windows, which ceil_mode adds, lie within: all then have as many elements.
static bool padToWindows(Node *node, const OnnxValue *x, int spatial, const int64_t *kernel, const int64_t *strides,
                         int64_t *pads) {
  for (int i = 0; i < spatial; ++i) {
    int64_t size = onnxStatic(x->sizes[2 + i]), given = size + 2 * pads[i];
    if (size < 0 || given < kernel[i] || strides[i] < 1)
      return onnxError(node, "argument 'divisor_override' requires constant sizes with ceil_mode");
    int64_t steps = (given - kernel[i] + strides[i] - 1) / strides[i];
    if (steps * strides[i] >= size + pads[i]) // a window must begin within the image or the pad before it
      --steps;
    int64_t more = steps * strides[i] + kernel[i] - given;
    pads[spatial + i] += more > 0 ? more : 0;
  }
  return true;
}

// kind: spatial axes, and TorchPool_Mean for the mean of the elements instead of the greatest. The second result are
// the places of the greatest.
bool torchEmitPool(Aten *aten) {
  Node *node = &aten->node;
  int s = aten->row->kind & ~TorchPool_Mean;
  bool isMean = (aten->row->kind & TorchPool_Mean) != 0, isCeil = torchInt(aten, "ceil_mode", 0) != 0;
  OnnxValue *x = imageOf(aten, "self", s);
  int64_t kernel[OnnxMaxRank], strides[OnnxMaxRank], dilations[OnnxMaxRank], pads[2 * OnnxMaxRank], area = 1;
  if (!x || !window(aten, "kernel_size", s, 1, kernel) || !window(aten, "stride", s, 0, strides) ||
      !window(aten, "dilation", s, 1, dilations) || !window(aten, "padding", s, 0, pads))
    return false;
  double divisor = torchReal(aten, "divisor_override", 0);
  for (int i = 0; i < s; ++i) {
    strides[i] = strides[i] ? strides[i] : kernel[i];
    pads[s + i] = pads[i];
    area *= kernel[i] > 0 && kernel[i] < 4096 ? kernel[i] : 1;
  }
  if (divisor != 0 && isCeil && !padToWindows(node, x, s, kernel, strides, pads))
    return false;
  isCeil &= divisor == 0;
  bool countsPads = divisor != 0 || torchInt(aten, "count_include_pad", 1) != 0;
  const OnnxAttribute attributes[] = {
      TORCH_INTS("kernel_shape", s, kernel), TORCH_INTS("strides", s, strides),
      TORCH_INTS("dilations", s, dilations), TORCH_INTS("pads", 2 * s, pads),
      TORCH_INT("ceil_mode", isCeil),        TORCH_INT("count_include_pad", countsPads)};
  if (isMean) {
    OnnxValue *mean = torchOnnx(aten, "AveragePool", 1, &x, 6, attributes);
    if (mean && divisor != 0)
      mean = onnxWithNumber(node, ArithOp_MulF, mean, (double)area / divisor);
    return torchReturn(aten, asGiven(aten, "self", s, mean));
  }
  bool givesPlaces = aten->numTensors > 1 && area <= 256; // ONNX's row finds no more; seldom does anyone read them
  node->numOut = givesPlaces ? 2 : 1;
  OnnxValue *greatest = torchOnnx(aten, "MaxPool", 1, &x, 5, attributes);
  OnnxValue *places = greatest && givesPlaces ? inPlane(node, node->out[1], x) : NULL;
  node->out[1] = asGiven(aten, "self", s, places);
  node->out[0] = asGiven(aten, "self", s, greatest);
  return node->out[0] && (!givesPlaces || node->out[1]);
}

static OnnxValue *flatPlanes(Node *node, OnnxValue *x) {
  MlirValue sizes[OnnxMaxRank];
  memcpy(sizes, x->sizes, sizeof sizes);
  sizes[x->rank - 2] = tileBuildMul(node->b, x->sizes[x->rank - 2], x->sizes[x->rank - 1]);
  return onnxReshape(node, x, x->rank - 1, sizes);
}

// The gradient of each window goes to the place of its greatest element in the plane.
bool torchEmitPoolBackward(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *x = torchTensor(aten, "self"), *places = torchTensor(aten, "indices");
  OnnxValue *gradient = torchTensor(aten, "grad_output");
  if (!x || !places || !gradient)
    return false;
  if (x->rank < 3 || gradient->rank != x->rank || places->rank != x->rank)
    return onnxError(node, "images of rank %d; 3 or 4 is required", x->rank);
  OnnxValue *in[] = {flatPlanes(node, onnxFill(node, gradient->type, x->rank, x->sizes, 0)), flatPlanes(node, places),
                     flatPlanes(node, gradient)};
  const OnnxAttribute attributes[] = {TORCH_INT("axis", -1), TORCH_TEXT("reduction", "add")};
  OnnxValue *sum = in[0] && in[1] && in[2] ? torchOnnx(aten, "ScatterElements", 3, in, 2, attributes) : NULL;
  return torchReturn(aten, sum ? onnxReshape(node, sum, x->rank, x->sizes) : NULL);
}

//===--- pools whose windows fit the result -------------------------------------===//

// Window i of `out` begins at i·size / out and ends, rounded up, at (i + 1)·size / out.
static int64_t startOf(int64_t i, int64_t size, int64_t out) { return i * size / out; }
static int64_t endOf(int64_t i, int64_t size, int64_t out) { return ((i + 1) * size + out - 1) / out; }

// The elements along an axis that each window reads, as two axes: the window, and the place in it. A window that is
// shorter than the longest one reads its last element again.
static OnnxValue *spread(Aten *aten, OnnxValue *x, int axis, int64_t out) {
  Node *node = &aten->node;
  int64_t size = onnxStatic(x->sizes[axis]), longest = 0;
  for (int64_t i = 0; i < out; ++i)
    longest =
        endOf(i, size, out) - startOf(i, size, out) > longest ? endOf(i, size, out) - startOf(i, size, out) : longest;
  if (out * longest > OnnxMaxElements || x->rank == OnnxMaxRank) {
    onnxError(node, "%lld windows of %lld elements along an axis; at most %d elements are supported", (long long)out,
              (long long)longest, OnnxMaxElements);
    return NULL;
  }
  MlirValue places[OnnxMaxElements], sizes[] = {tileBuildIndex(node->b, out), tileBuildIndex(node->b, longest)};
  for (int64_t i = 0; i < out; ++i)
    for (int64_t k = 0; k < longest; ++k) {
      int64_t at = startOf(i, size, out) + k, last = endOf(i, size, out) - 1;
      places[i * longest + k] = tileBuildInteger(node->b, onnxElementType(node, Onnx_I64), at < last ? at : last);
    }
  OnnxValue *in[] = {x, onnxOfElements(node, Onnx_I64, 2, sizes, places, out * longest)};
  const OnnxAttribute attributes[] = {TORCH_INT("axis", axis)};
  return torchOnnx(aten, "Gather", 2, in, 1, attributes);
}

// The windows of all spatial axes, the elements of each along the last axis.
static OnnxValue *windowsOf(Aten *aten, OnnxValue *x, int spatial, const int64_t *out) {
  Node *node = &aten->node;
  MlirValue sizes[OnnxMaxRank];
  int order[OnnxMaxRank] = {0, 1}, rank = spatial + 3;
  for (int i = 0; i < spatial && x; ++i) {
    x = spread(aten, x, 2 * i + 2, out[i]);
    order[i + 2] = 2 * i + 2;
    order[i + 2 + spatial] = 2 * i + 3;
  }
  x = x ? onnxTranspose(node, x, order) : NULL;
  if (!x)
    return NULL;
  memcpy(sizes, x->sizes, sizeof sizes);
  for (int i = 1; i < spatial; ++i)
    sizes[rank - 1] = tileBuildMul(node->b, sizes[rank - 1], x->sizes[rank - 1 + i]);
  return onnxReshape(node, x, rank, sizes);
}

// The places of an image's elements in their plane.
static OnnxValue *placesIn(Aten *aten, const OnnxValue *x) {
  Node *node = &aten->node;
  MlirValue sizes[OnnxMaxRank], count = tileBuildIndex(node->b, 1);
  for (int d = 0; d < x->rank; ++d) {
    sizes[d] = d < 2 ? tileBuildIndex(node->b, 1) : x->sizes[d];
    count = tileBuildMul(node->b, count, sizes[d]);
  }
  OnnxValue *in[] = {onnxScalarValue(node, Onnx_I64, 0), onnxOfIndex(node, count), onnxScalarValue(node, Onnx_I64, 1)};
  OnnxValue *all = torchOnnx(aten, "Range", 3, in, 0, NULL),
            *plane = all ? onnxReshape(node, all, x->rank, sizes) : NULL;
  return plane ? onnxBroadcastTo(node, plane, x->rank, x->sizes) : NULL;
}

static bool greatestOfWindows(Aten *aten, OnnxValue *x, int spatial, const int64_t *out) {
  Node *node = &aten->node;
  OnnxValue *windows = windowsOf(aten, x, spatial, out), *plane = windows ? placesIn(aten, x) : NULL;
  OnnxValue *places = plane ? windowsOf(aten, plane, spatial, out) : NULL;
  if (!places)
    return false;
  const OnnxAttribute attributes[] = {TORCH_INT("axis", -1), TORCH_INT("keepdims", 1)};
  OnnxValue *at = torchOnnx(aten, "ArgMax", 1, &windows, 2, attributes), *in[] = {places, at};
  OnnxValue *chosen = at ? torchOnnx(aten, "GatherElements", 2, in, 1, attributes) : NULL;
  uint32_t last = 1u << (windows->rank - 1);
  OnnxValue *greatest = onnxReduce(node, OnnxReduce_Max, windows, last, false);
  node->out[0] = asGiven(aten, "self", spatial, greatest);
  node->out[1] = chosen ? asGiven(aten, "self", spatial, onnxSqueeze(node, chosen, last)) : NULL;
  return node->out[0] && node->out[1];
}

// The mean along one axis: a product with the share that each element has in each window.
static OnnxValue *meanOfWindows(Aten *aten, OnnxValue *x, int axis, int64_t out) {
  Node *node = &aten->node;
  int64_t size = onnxStatic(x->sizes[axis]);
  char labels[OnnxMaxRank + 1] = "", results[OnnxMaxRank + 1] = "";
  if (out > OnnxMaxElements / size) {
    onnxError(node, "means of %lld of %lld elements along an axis are not supported", (long long)out, (long long)size);
    return NULL;
  }
  MlirValue shares[OnnxMaxElements], sizes[] = {tileBuildIndex(node->b, out), x->sizes[axis]};
  MlirType type = onnxElementType(node, Onnx_F32);
  for (int64_t i = 0; i < out; ++i)
    for (int64_t k = 0; k < size; ++k) {
      int64_t start = startOf(i, size, out), end = endOf(i, size, out);
      shares[i * size + k] = tileBuildFloat(node->b, type, k >= start && k < end ? 1.0 / (double)(end - start) : 0);
    }
  for (int d = 0; d < x->rank; ++d) {
    labels[d] = (char)('a' + d);
    results[d] = d == axis ? 'z' : labels[d];
  }
  const char ofShares[] = {'z', labels[axis], 0};
  OnnxValue *share = onnxOfElements(node, Onnx_F32, 2, sizes, shares, out * size);
  return onnxSumOfProducts(node, x, labels, onnxCast(node, share, x->type), ofShares, results);
}

// kind: as torchEmitPool's. Where the sizes of the result divide those of the image, windows of one size.
bool torchEmitAdaptivePool(Aten *aten) {
  Node *node = &aten->node;
  int s = aten->row->kind & ~TorchPool_Mean;
  bool isMean = (aten->row->kind & TorchPool_Mean) != 0, isOne = true, divides = true;
  OnnxValue *x = imageOf(aten, "self", s);
  int64_t sizes[OnnxMaxRank], kernel[OnnxMaxRank];
  if (!x || !window(aten, "output_size", s, 1, sizes))
    return false;
  for (int i = 0; i < s; ++i)
    isOne &= sizes[i] == 1;
  if (isOne && isMean) {
    OnnxValue *mean = onnxReduce(node, OnnxReduce_Mean, x, ((1u << s) - 1) << 2, true);
    return torchReturn(aten, asGiven(aten, "self", s, mean));
  }
  for (int i = 0; i < s; ++i) {
    int64_t size = onnxStatic(x->sizes[i + 2]);
    if (size < 1 || sizes[i] < 1)
      return onnxError(node, "a size of %lld from a size of %lld is not supported", (long long)sizes[i],
                       (long long)size);
    divides &= size % sizes[i] == 0;
    kernel[i] = size / sizes[i];
  }
  if (!isMean)
    return greatestOfWindows(aten, x, s, sizes);
  if (divides) {
    const OnnxAttribute attributes[] = {TORCH_INTS("kernel_shape", s, kernel), TORCH_INTS("strides", s, kernel)};
    x = torchOnnx(aten, "AveragePool", 1, &x, 2, attributes);
  } else {
    x = onnxCast(node, x, onnxSumType(x->type));
    for (int i = 0; i < s && x; ++i)
      x = meanOfWindows(aten, x, i + 2, sizes[i]);
  }
  return torchReturn(aten, asGiven(aten, "self", s, x));
}

//===--- other sizes ------------------------------------------------------------===//

static OnnxValue *resize(Aten *aten, OnnxValue *x, OnnxValue *scales, OnnxValue *sizes) {
  bool isLinear = aten->row->kind == 1, alignsCorners = torchInt(aten, "align_corners", 0) != 0;
  const OnnxAttribute attributes[] = {TORCH_TEXT("mode", isLinear ? "linear" : "nearest"),
                                      TORCH_TEXT("nearest_mode", "floor"),
                                      TORCH_TEXT("coordinate_transformation_mode", !isLinear       ? "asymmetric"
                                                                                   : alignsCorners ? "align_corners"
                                                                                                   : "half_pixel")};
  OnnxValue *in[] = {x, NULL, scales, sizes};
  return torchOnnx(aten, "Resize", 4, in, 3, attributes);
}

static MlirValue scaledSize(Node *node, MlirValue size, double scale) {
  Body at = {.node = node, .b = node->b}, *body = &at;
  int64_t known = onnxStatic(size);
  if (known >= 0)
    return tileBuildIndex(node->b, (int64_t)floor((double)known * scale));
  MlirValue whole = onnxFromIndex(body, size, mlirIntegerTypeGet(node->b->context, 64));
  MlirValue exact = ONNX_OP(ArithOp_MulF, onnxConvert(body, whole, Onnx_I64, Onnx_F64),
                            tileBuildFloat(node->b, mlirF64TypeGet(node->b->context), scale));
  return onnxToIndex(body, onnxConvert(body, ONNX_OP(MathOp_Floor, exact), Onnx_F64, Onnx_I64));
}

// kind 0: nearest, 1: bilinear. Corners that align are those of whole pixels, whatever the scales leave over: ONNX
// aligns the fraction of a pixel.
bool torchEmitUpsample(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *x = torchTensor(aten, "input");
  MlirValue sizes[4], elements[4], four = tileBuildIndex(node->b, 4);
  int count;
  if (!x || x->rank != 4)
    return x && onnxError(node, "requires an image with batch and channels");
  sizes[0] = x->sizes[0];
  sizes[1] = x->sizes[1];
  if (torchHas(aten, "output_size")) {
    if (!torchSizes(aten, "output_size", 2, sizes + 2, &count))
      return false;
    if (count != 2)
      return onnxError(node, "%d sizes for an image", count);
    return torchReturn(aten, resize(aten, x, NULL, torchOfIndices(aten, 4, sizes)));
  }
  double scales[2];
  if (!torchReals(aten, "scale_factors", 2, scales))
    return onnxError(node, "has neither two sizes nor two scales");
  if (torchInt(aten, "align_corners", 0)) {
    for (int i = 2; i < 4; ++i)
      sizes[i] = scaledSize(node, x->sizes[i], scales[i - 2]);
    return torchReturn(aten, resize(aten, x, NULL, torchOfIndices(aten, 4, sizes)));
  }
  for (int i = 0; i < 4; ++i)
    elements[i] = tileBuildFloat(node->b, onnxElementType(node, Onnx_F32), i < 2 ? 1 : scales[i - 2]);
  return torchReturn(aten, resize(aten, x, onnxOfElements(node, Onnx_F32, 1, &four, elements, 4), NULL));
}
