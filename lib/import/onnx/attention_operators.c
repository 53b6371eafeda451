// Attention, rotary embedding, and operators that carry a state from position to position: LinearAttention,
// CausalConvWithState. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/control_flow.h"
#include "lib/import/onnx/operators.h"

#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>
#include <string.h>

static MlirValue number(Node *node, int64_t at) { return tileBuildIndex(node->b, at); }

// B×S×(H·D) becomes B×H×S×D.
static OnnxValue *splitHeads(Node *node, OnnxValue *x, int64_t heads) {
  int64_t width = onnxStatic(x->sizes[2]);
  if (heads < 1 || width < 0 || width % heads) {
    onnxError(node, "%lld heads do not divide a width of %lld", (long long)heads, (long long)width);
    return NULL;
  }
  const MlirValue sizes[] = {x->sizes[0], x->sizes[1], number(node, heads), number(node, width / heads)};
  OnnxValue *split = onnxReshape(node, x, 4, sizes);
  return split ? onnxTranspose(node, split, (int[]){0, 2, 1, 3}) : NULL;
}

//===--- masks ----------------------------------------------------------------===//

typedef struct Mask {
  OnnxValue *scores, *mask, *lengths; // B×H×S×T; broadcast from the right; B
  bool isCausal, offsetsByLength;
  int64_t left, right;
  MlirValue past;
} Mask;

static MlirValue andIf(Body *body, MlirValue a, MlirValue b) {
  return mlirValueIsNull(a) ? b : ONNX_OP(ArithOp_AndI, a, b);
}

// Is key j seen by query i? Null: always.
static MlirValue isSeen(Body *body, const Mask *by) {
  MlirValue i = body->index[2], j = body->index[3], offset = by->past, seen = {NULL};
  if (by->lengths) {
    MlirValue length = onnxToIndex(body, onnxAt(body, by->lengths, &body->index[0]));
    seen = onnxCompareI(body, ArithCmpI_Slt, j, length);
    if (by->offsetsByLength)
      offset = ONNX_OP(ArithOp_SubI, length, by->scores->sizes[2]);
  }
  MlirValue place = ONNX_OP(ArithOp_AddI, i, offset);
  if (by->isCausal)
    seen = andIf(body, seen, onnxCompareI(body, ArithCmpI_Sle, j, place));
  if (by->left >= 0) {
    MlirValue first = ONNX_OP(ArithOp_SubI, place, tileBuildIndex(body->b, by->left));
    seen = andIf(body, seen, onnxCompareI(body, ArithCmpI_Sge, j, first));
  }
  if (by->right >= 0) {
    MlirValue last = ONNX_OP(ArithOp_AddI, place, tileBuildIndex(body->b, by->right));
    seen = andIf(body, seen, onnxCompareI(body, ArithCmpI_Sle, j, last));
  }
  return seen;
}

static MlirValue masked(Body *body) {
  const Mask *by = body->data;
  MlirValue x = onnxAt(body, by->scores, body->index), none = onnxNumber(body, x, -INFINITY);
  MlirValue seen = isSeen(body, by);
  if (by->mask) {
    int rank = by->mask->rank;
    MlirValue at[4], zero = tileBuildIndex(body->b, 0);
    for (int d = 0; d < rank; ++d)
      at[d] = onnxStatic(by->mask->sizes[d]) == 1 ? zero : body->index[d + 4 - rank];
    // A mask that is shorter than the keys hides the rest.
    MlirValue width = by->mask->sizes[rank - 1];
    if (onnxStatic(width) != 1 && !onnxIsSame(width, by->scores->sizes[3])) {
      MlirValue isWithin = onnxCompareI(body, ArithCmpI_Slt, body->index[3], width);
      at[rank - 1] = onnxSelect(body, isWithin, at[rank - 1], zero);
      seen = andIf(body, seen, isWithin);
    }
    MlirValue mask = onnxAt(body, by->mask, at);
    if (by->mask->type == Onnx_Bool)
      seen = andIf(body, seen, mask);
    else
      x = ONNX_OP(ArithOp_AddF, x, onnxConvert(body, mask, by->mask->type, by->scores->type));
  }
  return mlirValueIsNull(seen) ? x : onnxSelect(body, seen, x, none);
}

static MlirValue finiteOrZero(Body *body, const MlirValue *x) {
  MlirValue zero = onnxNumber(body, x[0], 0), least = onnxNumber(body, x[0], -INFINITY);
  return onnxSelect(body, onnxCompareF(body, ArithCmpF_Oeq, x[0], least), zero, x[0]);
}

static MlirValue quotientOrZero(Body *body, const MlirValue *x) {
  MlirValue zero = onnxNumber(body, x[1], 0), one = onnxNumber(body, x[1], 1);
  MlirValue isZero = onnxCompareF(body, ArithCmpF_Oeq, x[1], zero);
  return ONNX_OP(ArithOp_DivF, x[0], onnxSelect(body, isZero, one, x[1]));
}

// A query that sees no key has no weights: zeros.
static OnnxValue *softmaxOrZero(Node *node, OnnxValue *x) {
  uint32_t last = 1u << (x->rank - 1);
  OnnxValue *most = onnxReduce(node, OnnxReduce_Max, x, last, true);
  most = most ? onnxMap(node, x->type, 1, &most, finiteOrZero, NULL) : NULL;
  OnnxValue *weights = onnxUnary(node, MathOp_Exp, onnxSub(node, x, most));
  OnnxValue *sum = weights ? onnxReduce(node, OnnxReduce_Sum, weights, last, true) : NULL;
  return sum ? onnxMap(node, x->type, 2, (OnnxValue *[]){weights, sum}, quotientOrZero, NULL) : NULL;
}

//===--- attention ------------------------------------------------------------===//

// Keys of fewer heads than queries serve several of them.
static OnnxValue *grouped(Node *node, OnnxValue *x, const char *xLabels, OnnxValue *y, const char *yLabels,
                          const char *labels) {
  int64_t heads = onnxStatic(x->sizes[1]), fewer = onnxStatic(y->sizes[1]);
  if (heads < 0 || fewer < 1 || heads % fewer) {
    onnxError(node, "%lld heads of queries and %lld of keys do not fit", (long long)heads, (long long)fewer);
    return NULL;
  }
  const MlirValue sizes[] = {x->sizes[0], number(node, fewer), number(node, heads / fewer), x->sizes[2], x->sizes[3]};
  OnnxValue *split = onnxReshape(node, x, 5, sizes);
  OnnxValue *product = split ? onnxSumOfProducts(node, split, xLabels, y, yLabels, labels) : NULL;
  const MlirValue whole[] = {x->sizes[0], x->sizes[1], x->sizes[2], product ? product->sizes[4] : x->sizes[3]};
  return product ? onnxReshape(node, product, 4, whole) : NULL;
}

static bool checkWindow(Node *node, const char *name, int64_t *size) {
  *size = onnxInt(node, name, -1);
  return *size >= -1 || onnxError(node, "attribute %s is %lld", name, (long long)*size);
}

bool onnxEmitAttention(Node *node) {
  OnnxValue *q = node->in[0], *k = node->in[1], *v = node->in[2];
  bool isPacked = q->rank == 3;
  if (q->rank != k->rank || q->rank != v->rank || (q->rank != 3 && q->rank != 4) || k->type != q->type)
    return onnxError(node, "queries, keys and values have other ranks or types");
  if (isPacked) {
    q = splitHeads(node, q, onnxInt(node, "q_num_heads", 0));
    k = splitHeads(node, k, onnxInt(node, "kv_num_heads", 0));
    v = splitHeads(node, v, onnxInt(node, "kv_num_heads", 0));
    if (!q || !k || !v)
      return false;
  }
  Mask by = {.mask = node->in[3],
             .lengths = node->in[6],
             .past = number(node, 0),
             .isCausal = onnxInt(node, "is_causal", 0) != 0};
  if (node->in[4]) {
    if (!node->in[5])
      return onnxError(node, "a past key has no past value");
    by.past = node->in[4]->sizes[2];
    k = onnxConcat(node, 2, (OnnxValue *[]){node->in[4], k}, 2);
    v = onnxConcat(node, 2, (OnnxValue *[]){node->in[5], v}, 2);
    if (!k || !v)
      return false;
  }
  by.offsetsByLength = by.lengths && !node->in[4];
  onnxSetOut(node, 1, k);
  onnxSetOut(node, 2, v);
  int64_t width = onnxStatic(q->sizes[3]);
  double scale = onnxReal(node, "scale", 0), softcap = onnxReal(node, "softcap", 0);
  if (!checkWindow(node, "left_window_size", &by.left) || !checkWindow(node, "right_window_size", &by.right))
    return false;
  if (width < 1)
    return onnxError(node, "the size of a head is dynamic");
  scale = sqrt(onnxAttribute(node, "scale") ? scale : 1 / sqrt((double)width));
  OnnxValue *scores = grouped(node, onnxWithNumber(node, ArithOp_MulF, q, scale), "bhrsd",
                              onnxWithNumber(node, ArithOp_MulF, k, scale), "bhtd", "bhrst");
  OnnxValue *shown = scores;
  if (softcap > 0) {
    scores = onnxUnary(node, MathOp_Tanh, onnxWithNumber(node, ArithOp_DivF, scores, softcap));
    scores = onnxWithNumber(node, ArithOp_MulF, scores, softcap);
    shown = scores;
  }
  if (!scores)
    return false;
  by.scores = scores;
  int64_t mode = onnxInt(node, "qk_matmul_output_mode", 0);
  bool isMasked = by.mask || by.lengths || by.isCausal || by.left >= 0 || by.right >= 0;
  if (by.mask && by.mask->rank > 4)
    return onnxError(node, "the mask has rank %d", by.mask->rank);
  if (isMasked)
    scores = onnxGenerate(node, scores->type, 4, scores->sizes, masked, &by);
  shown = mode == 2 ? scores : shown;
  OnnxType type = (OnnxType)onnxInt(node, "softmax_precision", scores->type);
  if (!onnxIsFloat(type))
    return onnxError(node, "softmax_precision is %s", onnxTypeName(type));
  scores = onnxCast(node, scores, type);
  OnnxValue *weights =
      isMasked ? softmaxOrZero(node, onnxCast(node, scores, onnxSumType(type))) : onnxSoftmaxOf(node, scores, 3);
  weights = weights ? onnxCast(node, weights, q->type) : NULL;
  onnxSetOut(node, 3, mode == 3 ? weights : shown);
  OnnxValue *result = weights ? grouped(node, weights, "bhrst", onnxCast(node, v, q->type), "bhtd", "bhrsd") : NULL;
  result = result ? onnxCast(node, result, v->type) : NULL;
  if (!result || !isPacked)
    return onnxReturn(node, result);
  OnnxValue *turned = onnxTranspose(node, result, (int[]){0, 2, 1, 3});
  const MlirValue sizes[] = {turned->sizes[0], turned->sizes[1],
                             tileBuildMul(node->b, turned->sizes[2], turned->sizes[3])};
  return onnxReturn(node, onnxReshape(node, turned, 3, sizes));
}

//===--- attention with graphs ------------------------------------------------===//

// A graph of one tensor that gives one of the same shape; no graph: the tensor itself.
static OnnxValue *modified(Node *node, const char *name, OnnxValue *x) {
  const OnnxAttribute *attribute = onnxAttribute(node, name);
  OnnxValue *result = x, *outputs[OnnxMaxInputs];
  if (!attribute || !x)
    return x;
  if (!attribute->graph || attribute->graph->numOutputs != 1) {
    onnxError(node, "attribute %s is no graph with one output", name);
    return NULL;
  }
  if (!onnxEmitTensors(node, attribute->graph, 1, &x, outputs))
    return NULL;
  result = outputs[0];
  bool isSame = result->rank == x->rank && onnxIsFloat(result->type);
  for (int d = 0; d < x->rank && isSame; ++d)
    if (!onnxCheckSame(node, x->sizes[d], result->sizes[d], "sizes before and after a graph of attention"))
      return NULL;
  if (!isSame) {
    onnxError(node, "the graph %s changes the rank or the type", name);
    return NULL;
  }
  return onnxCast(node, result, x->type);
}

bool onnxEmitFlexAttention(Node *node) {
  OnnxValue *q = node->in[0], *k = node->in[1], *v = node->in[2];
  if (q->rank != 4 || k->rank != 4 || v->rank != 4 || k->type != q->type)
    return onnxError(node, "queries, keys and values have other ranks or types");
  int64_t width = onnxStatic(q->sizes[3]);
  OnnxType type = (OnnxType)onnxInt(node, "softmax_precision", onnxSumType(q->type));
  if (width < 1 || !onnxIsFloat(type))
    return onnxError(node, "the size of a head is dynamic, or softmax_precision is %s", onnxTypeName(type));
  double scale = sqrt(onnxReal(node, "scale", 1 / sqrt((double)width)));
  OnnxValue *scores = grouped(node, onnxWithNumber(node, ArithOp_MulF, q, scale), "bhrsd",
                              onnxWithNumber(node, ArithOp_MulF, k, scale), "bhtd", "bhrst");
  scores = scores ? modified(node, "score_mod", onnxCast(node, scores, type)) : NULL;
  OnnxValue *weights = scores ? modified(node, "prob_mod", onnxSoftmaxOf(node, scores, 3)) : NULL;
  OnnxValue *result = weights ? grouped(node, weights, "bhrst", onnxCast(node, v, type), "bhtd", "bhrsd") : NULL;
  return result && onnxReturn(node, onnxCast(node, result, v->type));
}

//===--- rotary embedding -----------------------------------------------------===//

typedef struct Rotation {
  OnnxValue *x, *cos, *sin, *places; // B×S×H×D
  int64_t width;
  bool isInterleaved;
} Rotation;

static MlirValue rotated(Body *body) {
  const Rotation *by = body->data;
  MlirValue d = body->index[3], half = tileBuildIndex(body->b, by->width / 2), two = tileBuildIndex(body->b, 2);
  MlirValue zero = tileBuildIndex(body->b, 0), x = onnxAt(body, by->x, body->index);
  MlirValue isTurned = onnxCompareI(body, ArithCmpI_Ult, d, tileBuildIndex(body->b, by->width));
  MlirValue angle = by->isInterleaved ? ONNX_OP(ArithOp_DivUI, d, two) : ONNX_OP(ArithOp_RemUI, d, half);
  MlirValue isSecond =
      by->isInterleaved ? onnxCompareI(body, ArithCmpI_Eq, ONNX_OP(ArithOp_RemUI, d, two), tileBuildIndex(body->b, 1))
                        : onnxCompareI(body, ArithCmpI_Uge, d, half);
  angle = onnxSelect(body, isTurned, angle, zero);
  MlirValue step = by->isInterleaved ? tileBuildIndex(body->b, 1) : half;
  MlirValue other = onnxSelect(body, isSecond, ONNX_OP(ArithOp_SubI, d, step), ONNX_OP(ArithOp_AddI, d, step));
  other = onnxSelect(body, isTurned, other, zero);
  MlirValue cos, sin;
  if (by->places) {
    MlirValue at[] = {onnxToIndex(body, onnxAt(body, by->places, body->index)), angle};
    cos = onnxAt(body, by->cos, at);
    sin = onnxAt(body, by->sin, at);
  } else {
    const MlirValue at[] = {body->index[0], body->index[1], angle};
    cos = onnxAt(body, by->cos, at);
    sin = onnxAt(body, by->sin, at);
  }
  const MlirValue there[] = {body->index[0], body->index[1], body->index[2], other};
  MlirValue y = ONNX_OP(ArithOp_MulF, sin, onnxAt(body, by->x, there)), own = ONNX_OP(ArithOp_MulF, cos, x);
  MlirValue turned = onnxSelect(body, isSecond, ONNX_OP(ArithOp_AddF, own, y), ONNX_OP(ArithOp_SubF, own, y));
  return onnxSelect(body, isTurned, turned, x);
}

bool onnxEmitRotaryEmbedding(Node *node) {
  OnnxValue *x = node->in[0];
  Rotation by = {.cos = node->in[1],
                 .sin = node->in[2],
                 .places = node->in[3],
                 .isInterleaved = onnxInt(node, "interleaved", 0) != 0};
  if (x->rank == 4) {
    by.x = onnxTranspose(node, x, (int[]){0, 2, 1, 3});
  } else {
    int64_t heads = onnxInt(node, "num_heads", 0), width = x->rank == 3 ? onnxStatic(x->sizes[2]) : -1;
    if (heads < 1 || width < 0 || width % heads)
      return onnxError(node, "requires rank 4, or rank 3 and num_heads that divides the last size");
    const MlirValue sizes[] = {x->sizes[0], x->sizes[1], number(node, heads), number(node, width / heads)};
    by.x = onnxReshape(node, x, 4, sizes);
  }
  by.width = onnxInt(node, "rotary_embedding_dim", 0);
  if (!by.width)
    by.width = onnxStatic(by.x->sizes[3]);
  int rank = by.places ? 2 : 3;
  if (by.width < 2 || by.width % 2 || by.width > onnxStatic(by.x->sizes[3]) || by.cos->rank != rank ||
      by.sin->rank != rank)
    return onnxError(node, "the caches or rotary_embedding_dim do not fit the input");
  OnnxValue *result = onnxGenerate(node, x->type, 4, by.x->sizes, rotated, &by);
  if (!result)
    return false;
  return onnxReturn(node, x->rank == 4 ? onnxTranspose(node, result, (int[]){0, 2, 1, 3})
                                       : onnxReshape(node, result, 3, x->sizes));
}

//===--- LinearAttention ------------------------------------------------------===//

// All values in f32, heads before positions: B×H×T×D.
typedef struct Recurrence {
  OnnxValue *query, *key, *value, *decay, *beta; // null: no such step
  double scale;
} Recurrence;

static OnnxValue *headsOf(Node *node, OnnxValue *x, int64_t heads) {
  OnnxValue *split = x->rank == 3 ? splitHeads(node, x, heads) : NULL;
  return split ? onnxCast(node, split, Onnx_F32) : NULL;
}

// o = scale · q · S, where queries of several heads read one state.
static OnnxValue *readState(Node *node, OnnxValue *query, OnnxValue *state, double scale) {
  int64_t heads = onnxStatic(query->sizes[1]), states = onnxStatic(state->sizes[1]);
  const MlirValue split[] = {query->sizes[0], state->sizes[1], tileBuildIndex(node->b, heads / states),
                             query->sizes[2]};
  const MlirValue whole[] = {query->sizes[0], query->sizes[1], state->sizes[3]};
  OnnxValue *queries = onnxReshape(node, query, 4, split);
  OnnxValue *read = queries ? onnxSumOfProducts(node, queries, "bhgd", state, "bhdm", "bhgm") : NULL;
  read = read ? onnxReshape(node, read, 3, whole) : NULL;
  return onnxWithNumber(node, ArithOp_MulF, read, scale);
}

// carried: the state, B×H×D×M; the result, B×heads×T×M.
static bool recur(Node *node, MlirValue at, OnnxValue **carried, const void *data) {
  const Recurrence *by = data;
  OnnxValue *state = carried[0], *key = onnxRow(node, by->key, 2, at), *value = onnxRow(node, by->value, 2, at);
  if (by->decay) {
    OnnxValue *decay = onnxUnary(node, MathOp_Exp, onnxRow(node, by->decay, 2, at));
    state = decay ? onnxMul(node, state, onnxUnsqueeze(node, decay, 8, 4)) : NULL;
  }
  if (by->beta && state) {
    OnnxValue *known = onnxSumOfProducts(node, state, "bhdm", key, "bhd", "bhm");
    value = known ? onnxMul(node, onnxRow(node, by->beta, 2, at), onnxSub(node, value, known)) : NULL;
  }
  OnnxValue *change = value ? onnxMul(node, onnxUnsqueeze(node, key, 8, 4), onnxUnsqueeze(node, value, 4, 4)) : NULL;
  state = onnxAdd(node, state, change);
  OnnxValue *read = state ? readState(node, onnxRow(node, by->query, 2, at), state, by->scale) : NULL;
  if (!read)
    return false;
  carried[0] = state;
  carried[1] = onnxWithRow(node, carried[1], 2, at, read);
  return true;
}

static bool readRule(Node *node, bool *decays, bool *corrects) {
  bool isBoth = onnxWord(node, "update_rule", "gated_delta", true);
  *decays = isBoth || onnxWord(node, "update_rule", "gated", false);
  *corrects = isBoth || onnxWord(node, "update_rule", "delta", false);
  if (!*decays && !*corrects && !onnxWord(node, "update_rule", "linear", false))
    return onnxError(node, "attribute update_rule is none of linear, gated, delta and gated_delta");
  bool hasDecay = node->in[4], hasBeta = node->in[5];
  return (*decays == hasDecay && *corrects == hasBeta) ||
         onnxError(node, "decay and beta do not fit the attribute update_rule");
}

bool onnxEmitLinearAttention(Node *node) {
  int64_t heads = onnxInt(node, "q_num_heads", 0), states = onnxInt(node, "kv_num_heads", 0);
  bool decays, corrects;
  if (heads < 1 || states < 1 || heads % states)
    return onnxError(node, "%lld heads of queries and %lld of keys do not fit", (long long)heads, (long long)states);
  if (!readRule(node, &decays, &corrects))
    return false;
  Recurrence by = {.query = headsOf(node, node->in[0], heads), .key = headsOf(node, node->in[1], states)};
  by.value = by.key ? headsOf(node, node->in[2], states) : NULL;
  if (!by.query || !by.value)
    return onnxError(node, "requires queries, keys and values of rank 3");
  int64_t width = onnxStatic(by.query->sizes[3]);
  by.scale = onnxReal(node, "scale", 0) != 0 ? onnxReal(node, "scale", 0) : 1 / sqrt((double)width);
  if (decays && !(by.decay = headsOf(node, node->in[4], states)))
    return false;
  if (corrects) {
    int64_t own = node->in[5]->rank == 3 ? onnxStatic(node->in[5]->sizes[2]) : 0;
    if ((own != 1 && own != states) || !(by.beta = headsOf(node, node->in[5], own)))
      return onnxError(node, "beta has not one number for each head, or one for all");
  }
  const MlirValue *q = by.query->sizes, *v = by.value->sizes;
  const MlirValue stateSizes[] = {q[0], v[1], q[3], v[3]}, resultSizes[] = {q[0], q[1], q[2], v[3]};
  OnnxValue *past = node->in[3];
  for (int d = 0; past && d < 4; ++d)
    if (past->rank != 4 || !onnxCheckSame(node, past->sizes[d], stateSizes[d], "sizes of past_state"))
      return past->rank == 4 ? false : onnxError(node, "past_state has rank %d, not 4", past->rank);
  OnnxValue *carried[] = {past ? onnxCast(node, past, Onnx_F32) : onnxFill(node, Onnx_F32, 4, stateSizes, 0),
                          onnxFill(node, Onnx_F32, 4, resultSizes, 0)};
  if (!onnxFor(node, q[2], 2, carried, recur, &by))
    return false;
  onnxSetOut(node, 1, onnxCast(node, carried[0], past ? past->type : node->in[0]->type));
  OnnxValue *turned = onnxTranspose(node, onnxCast(node, carried[1], node->in[0]->type), (int[]){0, 2, 1, 3});
  const MlirValue sizes[] = {q[0], q[2], tileBuildMul(node->b, q[1], v[3])};
  return turned && onnxReturn(node, onnxReshape(node, turned, 3, sizes));
}

//===--- CausalConvWithState --------------------------------------------------===//

static OnnxValue *swished(Node *node, OnnxValue *x) {
  OnnxValue *wide = x ? onnxCast(node, x, onnxSumType(x->type)) : NULL;
  OnnxValue *denominator =
      onnxWithNumber(node, ArithOp_AddF, onnxUnary(node, MathOp_Exp, onnxUnary(node, ArithOp_NegF, wide)), 1);
  OnnxValue *result = onnxBinary(node, ArithOp_DivF, wide, denominator);
  return result ? onnxCast(node, result, x->type) : NULL;
}

bool onnxEmitCausalConvWithState(Node *node) {
  OnnxValue *x = node->in[0], *w = node->in[1], *past = node->in[3];
  int64_t channels = x->rank == 3 ? onnxStatic(x->sizes[1]) : -1, width = w->rank == 3 ? onnxStatic(w->sizes[2]) : -1;
  if (channels < 1 || width < 1 || onnxStatic(w->sizes[1]) != 1)
    return onnxError(node, "requires B×C×L numbers and C×1×K weights, with constant C and K");
  const MlirValue before[] = {x->sizes[0], x->sizes[1], tileBuildIndex(node->b, width - 1)};
  past = past ? past : onnxFill(node, x->type, 3, before, 0);
  OnnxValue *whole = onnxConcat(node, 2, (OnnxValue *[]){past, x}, 2);
  if (!whole || !onnxCheckSame(node, past->sizes[2], before[2], "sizes of past_state"))
    return false;
  OnnxWindow window = {.rank = 1, .kernel = {width}, .strides = {1}, .dilations = {1}, .out = {x->sizes[2]}};
  OnnxValue *result = onnxAddBias(node, onnxConvolve(node, whole, w, channels, &window), node->in[2]);
  bool isSwish = onnxWord(node, "activation", "silu", false) || onnxWord(node, "activation", "swish", false);
  if (!isSwish && !onnxWord(node, "activation", "none", true))
    return onnxError(node, "attribute activation is none of none, silu and swish");
  MlirValue zero = tileBuildIndex(node->b, 0);
  const MlirValue offsets[] = {zero, zero, x->sizes[2]};
  onnxSetOut(node, 1, onnxSlice(node, whole, offsets, before, (const int64_t[]){1, 1, 1}));
  return onnxReturn(node, isSwish ? swished(node, result) : result);
}
