// Products, convolutions, normalizations, attention, recurrent layers. See operators.def.
#include "lib/import/torch_export/operators.h"

#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>
#include <string.h>

static OnnxValue *typed(Aten *aten, const char *name) { return torchOperand(aten, name, aten->type); }

//===--- products ---------------------------------------------------------------===//

bool torchEmitLinear(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *x = torchTensor(aten, "input"), *w = torchTensor(aten, "weight");
  char labels[OnnxMaxRank + 1] = "", results[OnnxMaxRank + 1] = "";
  if (!x || !w)
    return false;
  if (x->rank < 1 || w->rank != 2)
    return onnxError(node, "requires a tensor and a matrix");
  for (int d = 0; d + 1 < x->rank; ++d)
    labels[d] = results[d] = (char)('a' + d);
  labels[x->rank - 1] = 'y';
  results[x->rank - 1] = 'z';
  OnnxValue *product = onnxSumOfProducts(node, x, labels, w, "zy", results);
  if (product && torchHas(aten, "bias"))
    product = onnxAdd(node, product, typed(aten, "bias"));
  return torchReturn(aten, product);
}

bool torchEmitMatMul(Aten *aten) {
  static const char *const second[] = {"other", "mat2", "vec", "tensor"};
  OnnxValue *a = torchTensor(aten, "self"), *b = torchTensor(aten, second[aten->row->kind]);
  return a && b && torchReturn(aten, onnxMatMulOf(&aten->node, a, b));
}

bool torchEmitAddMm(Aten *aten) {
  Node *node = &aten->node;
  bool isBatched = aten->row->kind == 1;
  OnnxValue *c = torchTensor(aten, "self"), *a = torchTensor(aten, isBatched ? "batch1" : "mat1"),
            *b = torchTensor(aten, isBatched ? "batch2" : "mat2");
  OnnxValue *product = a && b ? onnxMatMulOf(node, a, b) : NULL;
  if (product && torchReal(aten, "alpha", 1) != 1)
    product = onnxMul(node, product, typed(aten, "alpha"));
  if (c && torchReal(aten, "beta", 1) != 1)
    c = onnxMul(node, c, typed(aten, "beta"));
  return c && product && torchReturn(aten, onnxAdd(node, c, product));
}

bool torchEmitEinsum(Aten *aten) {
  OnnxValue *items[OnnxMaxInputs];
  int count = torchTensors(aten, "tensors", items);
  const OnnxAttribute attributes[] = {TORCH_TEXT("equation", torchText(aten, "equation", ""))};
  return count > 0 && torchReturn(aten, torchOnnx(aten, "Einsum", count, items, 1, attributes));
}

//===--- windows ----------------------------------------------------------------===//

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

// kind 1: transposed.
bool torchEmitConv(Aten *aten) {
  OnnxValue *in[] = {torchTensor(aten, "input"), torchTensor(aten, "weight"), torchOptional(aten, "bias")};
  int64_t strides[OnnxMaxRank], dilations[OnnxMaxRank], pads[2 * OnnxMaxRank], more[OnnxMaxRank];
  const char *padding = torchText(aten, "padding", NULL);
  if (!in[0] || !in[1])
    return false;
  int s = in[0]->rank - 2;
  if (s < 1 || in[1]->rank != in[0]->rank)
    return onnxError(&aten->node, "requires an image with batch and channels, and weights of its rank");
  if (!window(aten, "stride", s, 1, strides) || !window(aten, "dilation", s, 1, dilations) ||
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
  return torchReturn(aten, torchOnnx(aten, isTransposed ? "ConvTranspose" : "Conv", in[2] ? 3 : 2, in,
                                     isTransposed ? 5 : 4, attributes));
}

// kind 0: the largest, 1: the mean.
bool torchEmitPool(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  int64_t kernel[OnnxMaxRank], strides[OnnxMaxRank], dilations[OnnxMaxRank], pads[2 * OnnxMaxRank];
  if (!x || x->rank < 3)
    return x && onnxError(&aten->node, "requires an image with batch and channels");
  int s = x->rank - 2, isMean = aten->row->kind;
  if (!window(aten, "kernel_size", s, 1, kernel) || !window(aten, "stride", s, 0, strides) ||
      !window(aten, "dilation", s, 1, dilations) || !window(aten, "padding", s, 0, pads))
    return false;
  if (torchHas(aten, "divisor_override"))
    return onnxError(&aten->node, "argument 'divisor_override' is not supported");
  for (int i = 0; i < s; ++i) {
    strides[i] = strides[i] ? strides[i] : kernel[i];
    pads[s + i] = pads[i];
  }
  const OnnxAttribute attributes[] = {TORCH_INTS("kernel_shape", s, kernel),
                                      TORCH_INTS("strides", s, strides),
                                      TORCH_INTS("dilations", s, dilations),
                                      TORCH_INTS("pads", 2 * s, pads),
                                      TORCH_INT("ceil_mode", torchInt(aten, "ceil_mode", 0)),
                                      TORCH_INT("count_include_pad", torchInt(aten, "count_include_pad", 1))};
  return torchReturn(aten, torchOnnx(aten, isMean ? "AveragePool" : "MaxPool", 1, &x, isMean ? 6 : 5, attributes));
}

// kind: spatial axes. Where the sizes of the result divide those of the image, windows of one size.
bool torchEmitAdaptivePool(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  int s = aten->row->kind;
  int64_t sizes[OnnxMaxRank], kernel[OnnxMaxRank];
  bool isOne = true;
  if (!x || !window(aten, "output_size", s, 1, sizes))
    return false;
  if (x->rank != s + 2)
    return onnxError(&aten->node, "requires an image with batch and channels");
  for (int i = 0; i < s; ++i)
    isOne &= sizes[i] == 1;
  if (isOne)
    return torchReturn(aten, onnxReduce(&aten->node, OnnxReduce_Mean, x, ((1u << s) - 1) << 2, true));
  for (int i = 0; i < s; ++i) {
    int64_t size = onnxStatic(x->sizes[i + 2]);
    if (size < 0 || sizes[i] < 1 || size % sizes[i])
      return onnxError(&aten->node, "a size of %lld of the result does not divide the image's", (long long)sizes[i]);
    kernel[i] = size / sizes[i];
  }
  const OnnxAttribute attributes[] = {TORCH_INTS("kernel_shape", s, kernel), TORCH_INTS("strides", s, kernel)};
  return torchReturn(aten, torchOnnx(aten, "AveragePool", 1, &x, 2, attributes));
}

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

//===--- normalizations ---------------------------------------------------------===//

static OnnxValue *parameter(Aten *aten, const char *name, int rank, const MlirValue *sizes, OnnxType type,
                            double otherwise) {
  OnnxValue *given = torchHas(aten, name) ? torchOperand(aten, name, type) : NULL;
  return given || torchHas(aten, name) ? given : onnxFill(&aten->node, type, rank, sizes, otherwise);
}

bool torchEmitBatchNorm(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "input");
  const OnnxAttribute attributes[] = {TORCH_REAL("epsilon", torchReal(aten, "eps", 1e-5))};
  if (!x || x->rank < 2)
    return x && onnxError(&aten->node, "requires batch and channels");
  if (torchInt(aten, "training", 0))
    return onnxError(&aten->node, "training is not supported");
  OnnxValue *in[] = {x, parameter(aten, "weight", 1, &x->sizes[1], x->type, 1),
                     parameter(aten, "bias", 1, &x->sizes[1], x->type, 0),
                     parameter(aten, "running_mean", 1, &x->sizes[1], x->type, 0),
                     parameter(aten, "running_var", 1, &x->sizes[1], x->type, 1)};
  for (int i = 0; i < 5; ++i)
    if (!in[i])
      return false;
  return torchReturn(aten, torchOnnx(aten, "BatchNormalization", 5, in, 1, attributes));
}

// kind 1: by the root of the mean of squares.
bool torchEmitLayerNorm(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "input");
  int64_t shape[OnnxMaxRank];
  int count;
  bool isRms = aten->row->kind == 1;
  double least = x && x->type == Onnx_F16 ? 0x1p-10 : x && x->type == Onnx_BF16 ? 0x1p-7 : 0x1p-23;
  if (!x || !torchInts(aten, "normalized_shape", OnnxMaxRank, shape, &count))
    return false;
  if (count < 1 || count > x->rank)
    return onnxError(&aten->node, "normalizes %d axes of a tensor of rank %d", count, x->rank);
  const MlirValue *sizes = &x->sizes[x->rank - count];
  const OnnxAttribute attributes[] = {TORCH_INT("axis", x->rank - count),
                                      TORCH_REAL("epsilon", torchReal(aten, "eps", isRms ? least : 1e-5))};
  OnnxValue *in[] = {x, parameter(aten, "weight", count, sizes, x->type, 1), torchOptional(aten, "bias")};
  return in[1] && torchReturn(aten, torchOnnx(aten, isRms ? "RMSNormalization" : "LayerNormalization",
                                              !isRms && in[2] ? 3 : 2, in, 2, attributes));
}

// kind 1: the native form, which names its arguments differently.
bool torchEmitGroupNorm(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "input");
  const OnnxAttribute attributes[] = {
      TORCH_INT("num_groups", torchInt(aten, aten->row->kind ? "group" : "num_groups", 1)),
      TORCH_REAL("epsilon", torchReal(aten, "eps", 1e-5))};
  if (!x || x->rank < 2)
    return x && onnxError(&aten->node, "requires batch and channels");
  OnnxValue *in[] = {x, parameter(aten, "weight", 1, &x->sizes[1], x->type, 1),
                     parameter(aten, "bias", 1, &x->sizes[1], x->type, 0)};
  return in[1] && in[2] && torchReturn(aten, torchOnnx(aten, "GroupNormalization", 3, in, 2, attributes));
}

//===--- attention --------------------------------------------------------------===//

bool torchEmitAttention(Aten *aten) {
  OnnxValue *in[] = {torchTensor(aten, "query"), torchTensor(aten, "key"), torchTensor(aten, "value"),
                     torchOptional(aten, "attn_mask")};
  OnnxAttribute attributes[] = {TORCH_INT("is_causal", torchInt(aten, "is_causal", 0)),
                                TORCH_REAL("scale", torchReal(aten, "scale", 0))};
  if (!in[0] || !in[1] || !in[2])
    return false;
  if (torchReal(aten, "dropout_p", 0) != 0)
    return onnxError(&aten->node, "dropout in training is not supported");
  bool lacksHeads = in[0]->rank == 3;
  if ((in[0]->rank != 4 && !lacksHeads) || in[1]->rank != in[0]->rank || in[2]->rank != in[0]->rank)
    return onnxError(&aten->node, "requires query, key and value of rank 3 or 4");
  for (int i = 0; i < 3 && lacksHeads; ++i)
    in[i] = onnxUnsqueeze(&aten->node, in[i], 2, 4);
  if (in[3] && lacksHeads && in[3]->rank == 3)
    in[3] = onnxUnsqueeze(&aten->node, in[3], 2, 4);
  OnnxValue *result = torchOnnx(aten, "Attention", in[3] ? 4 : 3, in, torchHas(aten, "scale") ? 2 : 1, attributes);
  return torchReturn(aten, result && lacksHeads ? onnxSqueeze(&aten->node, result, 2) : result);
}

//===--- recurrent layers -------------------------------------------------------===//

enum { MaxGates = 4 };

typedef struct Layers {
  int kind, gates, directions; // kind: 0 RNN, 1 GRU, 2 LSTM
  bool hasBiases;
  OnnxValue *params[OnnxMaxInputs];
  MlirValue hidden;
} Layers;

// PyTorch's gates are r z n and i f g o, ONNX's z r h and i o f c: the rows of x in ONNX's order.
static OnnxValue *reorder(Node *node, const Layers *layers, OnnxValue *x) {
  static const int orders[][MaxGates] = {{0}, {1, 0, 2}, {0, 3, 1, 2}};
  OnnxValue *parts[MaxGates];
  const int64_t strides[] = {1, 1};
  for (int g = 0; g < layers->gates; ++g) {
    MlirValue at = tileBuildMul(node->b, layers->hidden, tileBuildIndex(node->b, orders[layers->kind][g]));
    const MlirValue offsets[] = {at, tileBuildIndex(node->b, 0)};
    const MlirValue sizes[] = {layers->hidden, x->rank > 1 ? x->sizes[1] : layers->hidden};
    parts[g] = onnxSlice(node, x, offsets, sizes, strides);
  }
  return onnxConcat(node, layers->gates, parts, 0);
}

// Parameter `which` (input weights, recurrent weights, their biases) of a layer, its directions one above the other.
static OnnxValue *ofLayer(Node *node, const Layers *layers, int layer, int which) {
  OnnxValue *rows[2];
  int each = layers->hasBiases ? 4 : 2;
  for (int d = 0; d < layers->directions; ++d) {
    OnnxValue *x = reorder(node, layers, layers->params[(layer * layers->directions + d) * each + which]);
    rows[d] = x ? onnxUnsqueeze(node, x, 1, x->rank + 1) : NULL;
    if (!rows[d])
      return NULL;
  }
  return layers->directions == 1 ? rows[0] : onnxConcat(node, 2, rows, 0);
}

static OnnxValue *stateOf(Node *node, OnnxValue *all, int layer, int directions) {
  MlirValue zero = tileBuildIndex(node->b, 0);
  const MlirValue offsets[] = {tileBuildIndex(node->b, (int64_t)layer * directions), zero, zero};
  const MlirValue sizes[] = {tileBuildIndex(node->b, directions), all->sizes[1], all->sizes[2]};
  return onnxSlice(node, all, offsets, sizes, (const int64_t[]){1, 1, 1});
}

// One layer: x is T×B×width; leaves the states in lasts.
static OnnxValue *layer(Aten *aten, const Layers *layers, int number, OnnxValue *x, OnnxValue *const *states,
                        OnnxValue **lasts) {
  static const char *const names[] = {"RNN", "GRU", "LSTM"};
  Node *node = &aten->node;
  const OnnxAttribute attributes[] = {TORCH_TEXT("direction", layers->directions == 2 ? "bidirectional" : "forward"),
                                      TORCH_INT("linear_before_reset", 1)};
  OnnxValue *in[8] = {x, ofLayer(node, layers, number, 0), ofLayer(node, layers, number, 1)};
  if (layers->hasBiases) {
    OnnxValue *biases[] = {ofLayer(node, layers, number, 2), ofLayer(node, layers, number, 3)};
    in[3] = biases[0] && biases[1] ? onnxConcat(node, 2, biases, 1) : NULL;
  }
  in[5] = stateOf(node, states[0], number, layers->directions);
  in[6] = layers->kind == 2 ? stateOf(node, states[1], number, layers->directions) : NULL;
  if (!in[1] || !in[2] || !in[5] || (layers->hasBiases && !in[3]))
    return NULL;
  OnnxValue *y =
      torchOnnx(aten, names[layers->kind], layers->kind == 2 ? 7 : 6, in, layers->kind == 1 ? 2 : 1, attributes);
  lasts[0] = node->out[1];
  lasts[1] = node->out[2];
  if (!y)
    return NULL;
  y = onnxTranspose(node, y, (int[]){0, 2, 1, 3});
  const MlirValue sizes[] = {y->sizes[0], y->sizes[1], tileBuildMul(node->b, y->sizes[2], y->sizes[3])};
  return onnxReshape(node, y, 3, sizes);
}

static bool readLayers(Aten *aten, Layers *layers, int64_t count) {
  int each, found;
  static const int gates[] = {1, 3, 4};
  *layers = (Layers){.kind = aten->row->kind,
                     .gates = gates[aten->row->kind],
                     .directions = torchInt(aten, "bidirectional", 0) ? 2 : 1,
                     .hasBiases = torchInt(aten, "has_biases", 1) != 0};
  found = torchTensors(aten, "params", layers->params);
  each = layers->hasBiases ? 4 : 2;
  if (found < 0)
    return false;
  if (count < 1 || count > OnnxMaxInputs || found != count * layers->directions * each)
    return onnxError(&aten->node, "%d parameters for %lld layers are not supported", found, (long long)count);
  for (int i = 0; i < found; ++i)
    if (!layers->params[i] || layers->params[i]->rank != (i % each < 2 ? 2 : 1) ||
        onnxStatic(layers->params[i]->sizes[0]) < layers->gates ||
        onnxStatic(layers->params[i]->sizes[0]) % layers->gates)
      return onnxError(&aten->node, "parameter %d has another shape", i + 1);
  layers->hidden = tileBuildIndex(aten->node.b, onnxStatic(layers->params[0]->sizes[0]) / layers->gates);
  for (int i = 0; i < found; ++i)
    if (!onnxIsSame(layers->params[i]->sizes[0], layers->params[0]->sizes[0]) ||
        (i % each == 1 && !onnxIsSame(layers->params[i]->sizes[1], layers->hidden)))
      return onnxError(&aten->node, "parameter %d has another size", i + 1);
  return true;
}

bool torchEmitRecurrent(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *x = torchTensor(aten, "input"), *states[OnnxMaxInputs] = {NULL}, *lasts[2][OnnxMaxInputs];
  int64_t count = torchInt(aten, "num_layers", 1);
  int numStates = aten->row->kind == 2 ? 2 : 1;
  bool isBatchFirst = torchInt(aten, "batch_first", 0) != 0;
  Layers layers;
  if (!x || !readLayers(aten, &layers, count))
    return false;
  if (torchInt(aten, "train", 0) && torchReal(aten, "dropout", 0) != 0)
    return onnxError(node, "dropout in training is not supported");
  if (aten->row->kind == 2 ? torchTensors(aten, "hx", states) != 2 : !(states[0] = torchTensor(aten, "hx")))
    return onnxError(node, "lacks its initial state");
  if (x->rank != 3 || !states[0] || states[0]->rank != 3 || (numStates == 2 && (!states[1] || states[1]->rank != 3)))
    return onnxError(node, "requires a batch of sequences and states of rank 3");
  if (onnxStatic(states[0]->sizes[0]) != count * layers.directions)
    return onnxError(node, "its initial state is not one row for each layer and direction");
  x = isBatchFirst ? onnxTranspose(node, x, (int[]){1, 0, 2}) : x;
  for (int i = 0; i < (int)count && x; ++i) {
    OnnxValue *last[2];
    x = layer(aten, &layers, i, x, states, last);
    lasts[0][i] = last[0];
    lasts[1][i] = last[1];
  }
  if (!x)
    return false;
  x = isBatchFirst ? onnxTranspose(node, x, (int[]){1, 0, 2}) : x;
  memset(node->out, 0, OnnxMaxInputs * sizeof *node->out);
  node->out[0] = x;
  for (int s = 0; s < numStates; ++s)
    node->out[s + 1] = count == 1 ? lasts[s][0] : onnxConcat(node, (int)count, lasts[s], 0);
  return true;
}
