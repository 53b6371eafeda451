// Products, normalizations, attention, recurrent layers. See operators.def.
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

// beta · self + alpha · product; kind 1: of batches, 2: of batches, added up, 3: of a matrix and a vector.
bool torchEmitAddMm(Aten *aten) {
  static const char *const names[][2] = {{"mat1", "mat2"}, {"batch1", "batch2"}, {"batch1", "batch2"}, {"mat", "vec"}};
  Node *node = &aten->node;
  int kind = aten->row->kind;
  OnnxValue *c = torchTensor(aten, "self"), *a = torchTensor(aten, names[kind][0]),
            *b = torchTensor(aten, names[kind][1]);
  OnnxValue *product = NULL;
  if (a && b)
    product = kind == 2 ? onnxSumOfProducts(node, a, "bik", b, "bkj", "ij") : onnxMatMulOf(node, a, b);
  if (product && torchReal(aten, "alpha", 1) != 1)
    product = onnxMul(node, product, typed(aten, "alpha"));
  if (c && torchReal(aten, "beta", 1) == 0)
    return product && torchReturn(aten, product); // what self holds does not count, nan neither
  if (c && torchReal(aten, "beta", 1) != 1)
    c = onnxMul(node, c, typed(aten, "beta"));
  return c && product && torchReturn(aten, onnxAdd(node, c, product));
}

// Σ x1[…, i] weight[o, i, j] x2[…, j] + bias[o]
bool torchEmitBilinear(Aten *aten) {
  OnnxValue *in[] = {torchTensor(aten, "input1"), torchTensor(aten, "weight"), torchTensor(aten, "input2")};
  const OnnxAttribute attributes[] = {TORCH_TEXT("equation", "...i,oij,...j->...o")};
  OnnxValue *result = in[0] && in[1] && in[2] ? torchOnnx(aten, "Einsum", 3, in, 1, attributes) : NULL;
  if (result && torchHas(aten, "bias"))
    result = onnxAdd(&aten->node, result, typed(aten, "bias"));
  return torchReturn(aten, result);
}

// The decomposed form: the sum, over some axes, of the product of three tensors with more axes of size 1.
bool torchEmitTrilinear(Aten *aten) {
  static const char *const names[][2] = {{"i1", "expand1"}, {"i2", "expand2"}, {"i3", "expand3"}};
  Node *node = &aten->node;
  OnnxValue *product = NULL;
  uint32_t summed = 0;
  int64_t axes[OnnxMaxRank];
  int count;
  for (int i = 0; i < 3; ++i) {
    OnnxValue *x = torchTensor(aten, names[i][0]);
    if (!x || !torchInts(aten, names[i][1], OnnxMaxRank, axes, &count))
      return false;
    uint32_t more = 0;
    int rank = x->rank + (count > 0 ? count : 0);
    for (int k = 0; k < count; ++k) {
      if (axes[k] < 0 || axes[k] >= rank || rank > OnnxMaxRank)
        return onnxError(node, "axis %lld is outside a tensor of rank %d", (long long)axes[k], rank);
      more |= 1u << axes[k];
    }
    x = more ? onnxUnsqueeze(node, x, more, rank) : x;
    product = i ? onnxMul(node, product, x) : x;
  }
  if (!product || !torchInts(aten, "sumdim", OnnxMaxRank, axes, &count))
    return false;
  for (int k = 0; k < count; ++k) {
    int axis;
    if (!onnxAxis(node, axes[k], product->rank, &axis))
      return false;
    summed |= 1u << axis;
  }
  return torchReturn(aten, summed ? onnxReduce(node, OnnxReduce_Sum, product, summed, false) : product);
}

// The norm of the difference of each row of x1 and each of x2.
bool torchEmitDistances(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *x[] = {torchTensor(aten, "x1"), torchTensor(aten, "x2")};
  if (!x[0] || !x[1])
    return false;
  for (int i = 0; i < 2; ++i) {
    int rank = x[i]->rank;
    if (rank < 2 || rank == OnnxMaxRank)
      return onnxError(node, "rows of a tensor of rank %d", rank);
    x[i] = onnxUnsqueeze(node, x[i], 1u << (i ? rank - 2 : rank - 1), rank + 1);
  }
  OnnxValue *apart = onnxSub(node, x[0], x[1]);
  return apart && torchReturn(aten, torchNormOf(aten, apart, 1u << (apart->rank - 1), false, torchReal(aten, "p", 2)));
}

bool torchEmitEinsum(Aten *aten) {
  OnnxValue *items[OnnxMaxInputs];
  int count = torchTensors(aten, "tensors", items);
  const OnnxAttribute attributes[] = {TORCH_TEXT("equation", torchText(aten, "equation", ""))};
  return count > 0 && torchReturn(aten, torchOnnx(aten, "Einsum", count, items, 1, attributes));
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

// Mean and 1 / √(variance + eps) over some axes, which stay with size 1.
typedef struct Statistics {
  OnnxValue *mean, *variance, *scale;
} Statistics;

static bool statisticsOf(Node *node, OnnxValue *x, uint32_t axes, double epsilon, Statistics *of) {
  of->mean = onnxReduce(node, OnnxReduce_Mean, x, axes, true);
  OnnxValue *apart = onnxSub(node, x, of->mean), *squares = onnxMul(node, apart, apart);
  of->variance = squares ? onnxReduce(node, OnnxReduce_Mean, squares, axes, true) : NULL;
  of->scale = onnxUnary(node, MathOp_Rsqrt, onnxWithNumber(node, ArithOp_AddF, of->variance, epsilon));
  return of->scale;
}

static OnnxValue *mixed(Node *node, OnnxValue *old, OnnxValue *fresh, double share) {
  return onnxAdd(node, onnxWithNumber(node, ArithOp_MulF, old, 1 - share),
                 onnxWithNumber(node, ArithOp_MulF, fresh, share));
}

// How many elements have their statistics together, less `less`, as a number of that type.
static OnnxValue *countOf(Node *node, const OnnxValue *x, uint32_t axes, int64_t less, OnnxType type) {
  MlirValue count = tileBuildIndex(node->b, 1);
  for (int d = 0; d < x->rank; ++d)
    if (axes >> d & 1)
      count = tileBuildMul(node->b, count, x->sizes[d]);
  return onnxCast(node, onnxOfIndex(node, tileBuildSub(node->b, count, tileBuildIndex(node->b, less))), type);
}

// The forms that give what training needs: the result, mean and scale of the batch (of none where the running ones are
// used), and the running mean and variance. kind 1: an empty tensor stands between them; 2: no running ones.
bool torchEmitBatchNormStatistics(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *x = torchTensor(aten, "input"), *results[6] = {NULL};
  int kind = aten->row->kind, count = 0;
  bool trains = kind == 1 || torchInt(aten, "training", 0);
  double epsilon = torchReal(aten, "eps", 1e-5), momentum = torchReal(aten, "momentum", 0.1);
  if (!x || x->rank < 2)
    return x && onnxError(node, "requires batch and channels");
  OnnxType type = onnxSumType(x->type);
  uint32_t axes = ((1u << x->rank) - 1) & ~2u, behind = axes & ~1u;
  OnnxValue *running[] = {NULL, NULL}, *wide = onnxCast(node, x, type);
  if (kind != 2) {
    running[0] = torchOperand(aten, "running_mean", type);
    running[1] = torchOperand(aten, "running_var", type);
    if (!running[0] || !running[1])
      return false;
  }
  Statistics of;
  if (trains && !statisticsOf(node, wide, axes, epsilon, &of))
    return false;
  if (!trains) {
    if (!running[0])
      return onnxError(node, "has neither a batch's nor running statistics");
    of.mean = onnxUnsqueeze(node, running[0], axes, x->rank);
    of.variance = onnxUnsqueeze(node, running[1], axes, x->rank);
    of.scale = onnxUnary(node, MathOp_Rsqrt, onnxWithNumber(node, ArithOp_AddF, of.variance, epsilon));
  }
  OnnxValue *y = onnxMul(node, onnxSub(node, wide, of.mean), of.scale);
  const char *const names[] = {"weight", "bias"};
  for (int i = 0; i < 2; ++i)
    if (torchHas(aten, names[i])) {
      OnnxValue *by = torchOperand(aten, names[i], type);
      by = by ? onnxUnsqueeze(node, by, behind >> 1, x->rank - 1) : NULL;
      y = i ? onnxAdd(node, y, by) : onnxMul(node, y, by);
    }
  MlirValue none = tileBuildIndex(node->b, 0);
  results[count++] = y ? onnxCast(node, y, x->type) : NULL;
  results[count++] = trains ? onnxSqueeze(node, of.mean, axes) : onnxFill(node, type, 1, &none, 0);
  results[count++] = trains ? onnxSqueeze(node, of.scale, axes) : onnxFill(node, type, 1, &none, 0);
  if (kind == 1)
    results[count++] = onnxFill(node, Onnx_U8, 1, &none, 0);
  if (kind != 2 && trains) { // the running variance is that of a sample
    OnnxValue *number = countOf(node, x, axes, 0, type), *less = countOf(node, x, axes, 1, type);
    OnnxValue *sample = number && less ? onnxMul(node, onnxSqueeze(node, of.variance, axes),
                                                 onnxBinary(node, ArithOp_DivF, number, less))
                                       : NULL;
    running[0] = mixed(node, running[0], results[1], momentum);
    running[1] = sample ? mixed(node, running[1], sample, momentum) : NULL;
  }
  for (int i = 0; i < 2 && kind != 2; ++i)
    results[count++] = running[i];
  for (int i = 0; i < count; ++i)
    if (!(node->out[i] = results[i]))
      return false;
  return true;
}

// The native forms give mean and scale as results 2 and 3.
static bool addStatistics(Aten *aten, OnnxValue *x, uint32_t axes) {
  Statistics of;
  if (aten->numTensors < 3)
    return true;
  if (!statisticsOf(&aten->node, onnxCast(&aten->node, x, onnxSumType(x->type)), axes, torchReal(aten, "eps", 1e-5),
                    &of))
    return false;
  aten->node.out[1] = of.mean;
  aten->node.out[2] = of.scale;
  return true;
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
  uint32_t axes = ((1u << count) - 1) << (x->rank - count);
  return in[1] &&
         torchReturn(aten, torchOnnx(aten, isRms ? "RMSNormalization" : "LayerNormalization", !isRms && in[2] ? 3 : 2,
                                     in, 2, attributes)) &&
         addStatistics(aten, x, axes);
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
  if (!in[1] || !in[2] || !torchReturn(aten, torchOnnx(aten, "GroupNormalization", 3, in, 2, attributes)))
    return false;
  if (aten->numTensors < 3)
    return true;
  // Groups×elements: a row of each group.
  OnnxValue *result = aten->node.out[0];
  MlirValue groups = tileBuildIndex(aten->node.b, torchInt(aten, "group", 1)), sizes[3] = {x->sizes[0], groups};
  sizes[2] = tileBuildIndex(aten->node.b, 1);
  sizes[2] = onnxInferSize(&aten->node, x, 3, sizes, 2);
  OnnxValue *rows = onnxReshape(&aten->node, x, 3, sizes);
  if (!rows || !addStatistics(aten, rows, 4))
    return false;
  for (int i = 1; i < 3; ++i)
    aten->node.out[i] = onnxSqueeze(&aten->node, aten->node.out[i], 4);
  aten->node.out[0] = result;
  return aten->node.out[1] && aten->node.out[2];
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

//===--- determinants -----------------------------------------------------------===//

// kind 1: its logarithm; 2: its sign and the logarithm of its size. The decomposition, which some give too, is left
// out.
bool torchEmitDet(Aten *aten) {
  OnnxValue *x = torchTensor(aten, torchHas(aten, "A") ? "A" : "self");
  OnnxValue *result = x ? torchOnnx(aten, "Det", 1, &x, 0, NULL) : NULL;
  if (aten->row->kind < 2)
    return torchReturn(aten, aten->row->kind ? onnxUnary(&aten->node, MathOp_Log, result) : result);
  OnnxValue *sign = result ? torchOnnx(aten, "Sign", 1, &result, 0, NULL) : NULL;
  OnnxValue *size = onnxUnary(&aten->node, MathOp_Log, onnxUnary(&aten->node, MathOp_AbsF, result));
  if (!size || !torchReturn(aten, sign))
    return false;
  aten->node.out[1] = size;
  return true;
}
