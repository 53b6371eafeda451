// RNN, GRU and LSTM: the input's product for all steps at once, then a loop over the steps. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/control_flow.h"
#include "lib/import/onnx/operators.h"

#include "upstream/arith.h"
#include "upstream/math.h"

#include <string.h>

enum { Kind_Rnn, Kind_Gru, Kind_Lstm };
enum { MaxActivations = 6 };

typedef struct Activation {
  OnnxText name;
  double alpha, beta;
} Activation;

typedef struct Cell {
  int kind, direction;
  bool isBack, forgetsByInput, resetsAfter;
  double clip;
  int64_t hidden;
  Activation activations[3];
  OnnxValue *steps, *recurrent, *last, *bias, *lengths, *peepholes; // steps: S×B×gates; last: of a GRU's gate h
  MlirValue count;
} Cell;

static MlirValue activate(Body *body, const MlirValue *in) {
  const Activation *by = body->data;
  MlirValue x = in[0], zero = onnxNumber(body, x, 0), one = onnxNumber(body, x, 1);
  MlirValue alpha = onnxNumber(body, x, by->alpha), beta = onnxNumber(body, x, by->beta);
  MlirValue isPositive = onnxCompareF(body, ArithCmpF_Ogt, x, zero);
  if (onnxTextIs(by->name, "Sigmoid"))
    return ONNX_OP(ArithOp_DivF, one, ONNX_OP(ArithOp_AddF, one, ONNX_OP(MathOp_Exp, ONNX_OP(ArithOp_NegF, x))));
  if (onnxTextIs(by->name, "Tanh"))
    return ONNX_OP(MathOp_Tanh, x);
  if (onnxTextIs(by->name, "Relu"))
    return ONNX_OP(ArithOp_MaximumF, x, zero);
  if (onnxTextIs(by->name, "Affine"))
    return ONNX_OP(ArithOp_AddF, ONNX_OP(ArithOp_MulF, alpha, x), beta);
  if (onnxTextIs(by->name, "LeakyRelu"))
    return onnxSelect(body, isPositive, x, ONNX_OP(ArithOp_MulF, alpha, x));
  if (onnxTextIs(by->name, "ThresholdedRelu"))
    return onnxSelect(body, onnxCompareF(body, ArithCmpF_Oge, x, alpha), x, zero);
  if (onnxTextIs(by->name, "ScaledTanh"))
    return ONNX_OP(ArithOp_MulF, alpha, ONNX_OP(MathOp_Tanh, ONNX_OP(ArithOp_MulF, beta, x)));
  if (onnxTextIs(by->name, "HardSigmoid")) {
    MlirValue line = ONNX_OP(ArithOp_AddF, ONNX_OP(ArithOp_MulF, alpha, x), beta);
    return ONNX_OP(ArithOp_MinimumF, ONNX_OP(ArithOp_MaximumF, line, zero), one);
  }
  if (onnxTextIs(by->name, "Elu"))
    return onnxSelect(body, isPositive, x, ONNX_OP(ArithOp_MulF, alpha, ONNX_OP(MathOp_ExpM1, x)));
  MlirValue size = ONNX_OP(MathOp_AbsF, x);
  if (onnxTextIs(by->name, "Softsign"))
    return ONNX_OP(ArithOp_DivF, x, ONNX_OP(ArithOp_AddF, one, size));
  MlirValue rest = ONNX_OP(MathOp_Log1p, ONNX_OP(MathOp_Exp, ONNX_OP(ArithOp_NegF, size))); // Softplus
  return ONNX_OP(ArithOp_AddF, ONNX_OP(ArithOp_MaximumF, x, zero), rest);
}

static OnnxValue *activated(Node *node, const Cell *cell, int which, OnnxValue *x) {
  if (x && cell->clip > 0) {
    x = onnxWithNumber(node, ArithOp_MinimumF, x, cell->clip);
    x = onnxWithNumber(node, ArithOp_MaximumF, x, -cell->clip);
  }
  return x ? onnxMap(node, x->type, 1, &x, activate, &cell->activations[which]) : NULL;
}

// Columns [hidden·at, hidden·(at + 1)) of a matrix, or that part of a vector.
static OnnxValue *part(Node *node, OnnxValue *x, int64_t hidden, int at, int count) {
  MlirValue offsets[2], sizes[2];
  int last = x->rank - 1;
  for (int d = 0; d < x->rank; ++d) {
    offsets[d] = tileBuildIndex(node->b, d == last ? hidden * at : 0);
    sizes[d] = d == last ? tileBuildIndex(node->b, hidden * count) : x->sizes[d];
  }
  return onnxSlice(node, x, offsets, sizes, (const int64_t[]){1, 1});
}

static OnnxValue *rows(Node *node, OnnxValue *x, int64_t hidden, int at, int count) {
  const MlirValue offsets[] = {tileBuildIndex(node->b, hidden * at), tileBuildIndex(node->b, 0)};
  const MlirValue sizes[] = {tileBuildIndex(node->b, hidden * count), x->sizes[1]};
  return onnxSlice(node, x, offsets, sizes, (const int64_t[]){1, 1});
}

static OnnxValue *product(Node *node, OnnxValue *h, OnnxValue *weights) {
  return h && weights ? onnxSumOfProducts(node, h, "bh", weights, "gh", "bg") : NULL;
}

static OnnxValue *peephole(Node *node, const Cell *cell, int at, OnnxValue *gate, OnnxValue *c) {
  return cell->peepholes ? onnxAdd(node, gate, onnxMul(node, part(node, cell->peepholes, cell->hidden, at, 1), c))
                         : gate;
}

static OnnxValue *stepOfRnn(Node *node, const Cell *cell, OnnxValue *x, OnnxValue *h) {
  return activated(node, cell, 0, onnxAdd(node, x, product(node, h, cell->recurrent)));
}

// Gates z, r, h. `bias`: the recurrent one of h, where the reset gate stands after the product.
static OnnxValue *stepOfGru(Node *node, const Cell *cell, OnnxValue *x, OnnxValue *h) {
  int64_t n = cell->hidden;
  OnnxValue *gates = onnxAdd(node, part(node, x, n, 0, 2), product(node, h, cell->recurrent));
  if (!gates)
    return NULL;
  OnnxValue *z = activated(node, cell, 0, part(node, gates, n, 0, 1)),
            *r = activated(node, cell, 0, part(node, gates, n, 1, 1));
  OnnxValue *inner;
  if (cell->resetsAfter) {
    inner = product(node, h, cell->last);
    inner = cell->bias ? onnxAdd(node, inner, cell->bias) : inner;
    inner = onnxMul(node, r, inner);
  } else {
    inner = product(node, onnxMul(node, r, h), cell->last);
  }
  OnnxValue *candidate = activated(node, cell, 1, onnxAdd(node, part(node, x, n, 2, 1), inner));
  // (1 - z) h' + z h
  OnnxValue *rest = z ? onnxSub(node, onnxScalarValue(node, z->type, 1), z) : NULL;
  return onnxAdd(node, onnxMul(node, rest, candidate), onnxMul(node, z, h));
}

// Gates i, o, f, c.
static OnnxValue *stepOfLstm(Node *node, const Cell *cell, OnnxValue *x, OnnxValue *h, OnnxValue **c) {
  int64_t n = cell->hidden;
  OnnxValue *gates = onnxAdd(node, x, product(node, h, cell->recurrent));
  if (!gates)
    return NULL;
  OnnxValue *i = activated(node, cell, 0, peephole(node, cell, 0, part(node, gates, n, 0, 1), *c));
  OnnxValue *f = cell->forgetsByInput
                     ? onnxSub(node, onnxScalarValue(node, gates->type, 1), i)
                     : activated(node, cell, 0, peephole(node, cell, 2, part(node, gates, n, 2, 1), *c));
  OnnxValue *candidate = activated(node, cell, 1, part(node, gates, n, 3, 1));
  OnnxValue *next = onnxAdd(node, onnxMul(node, f, *c), onnxMul(node, i, candidate));
  if (!next)
    return NULL;
  OnnxValue *o = activated(node, cell, 0, peephole(node, cell, 1, part(node, gates, n, 1, 1), next));
  *c = next;
  return onnxMul(node, o, activated(node, cell, 2, next));
}

typedef struct Masked {
  OnnxValue *lengths, *now, *before; // before null: zeros
  MlirValue at;
} Masked;

static MlirValue withinLength(Body *body) {
  const Masked *by = body->data;
  MlirValue length = onnxToIndex(body, onnxAt(body, by->lengths, body->index));
  MlirValue isWithin = onnxCompareI(body, ArithCmpI_Slt, by->at, length), now = onnxAt(body, by->now, body->index);
  MlirValue other = by->before ? onnxAt(body, by->before, body->index) : onnxNumber(body, now, 0);
  return onnxSelect(body, isWithin, now, other);
}

// Past a sequence's length its state stays and its output is 0.
static OnnxValue *masked(Node *node, const Cell *cell, MlirValue at, OnnxValue *now, OnnxValue *before) {
  if (!cell->lengths || !now)
    return now;
  Masked by = {cell->lengths, now, before, at};
  return onnxGenerate(node, now->type, 2, now->sizes, withinLength, &by);
}

static bool step(Node *node, MlirValue at, OnnxValue **state, const void *data) {
  const Cell *cell = data; // state: h, y, c
  MlirValue time = at;
  if (cell->isBack)
    time = tileBuildSub(node->b, tileBuildSub(node->b, cell->count, tileBuildIndex(node->b, 1)), at);
  OnnxValue *x = onnxRow(node, cell->steps, 0, time), *h = state[0], *c = state[2], *next;
  if (cell->kind == Kind_Rnn)
    next = stepOfRnn(node, cell, x, h);
  else
    next = cell->kind == Kind_Gru ? stepOfGru(node, cell, x, h) : stepOfLstm(node, cell, x, h, &c);
  OnnxValue *out = masked(node, cell, time, next, NULL);
  state[0] = masked(node, cell, time, next, h);
  state[2] = cell->kind == Kind_Lstm ? masked(node, cell, time, c, state[2]) : state[2];
  state[1] = out ? onnxWithRow(node, state[1], 0, time, out) : NULL;
  return state[0] && state[1] && state[2];
}

//===--- the node -------------------------------------------------------------===//

static bool readActivations(Node *node, int directions, Activation *activations) {
  static const char *const defaults[3][3] = {{"Tanh"}, {"Sigmoid", "Tanh"}, {"Sigmoid", "Tanh", "Tanh"}};
  static const int counts[] = {1, 2, 3};
  static const struct {
    const char *name;
    double alpha, beta;
  } known[] = {{"Sigmoid"},
               {"Tanh"},
               {"Relu"},
               {"Affine", 1, 0},
               {"LeakyRelu", 0.01},
               {"ThresholdedRelu", 1},
               {"ScaledTanh", 1, 1},
               {"HardSigmoid", 0.2, 0.5},
               {"Elu", 1},
               {"Softsign"},
               {"Softplus"}};
  const OnnxAttribute *names = onnxAttribute(node, "activations"), *alphas = onnxAttribute(node, "activation_alpha"),
                      *betas = onnxAttribute(node, "activation_beta");
  int each = counts[node->kind], alpha = 0, beta = 0;
  if (names && names->texts.count != each * directions)
    return onnxError(node, "attribute activations has %lld names, not %d", (long long)names->texts.count,
                     each * directions);
  for (int i = 0; i < each * directions; ++i) {
    const char *otherwise = defaults[node->kind][i % each];
    OnnxText name = names ? names->texts.items[i] : (OnnxText){otherwise, strlen(otherwise)};
    size_t k = 0;
    while (k < sizeof known / sizeof *known && !onnxTextIs(name, known[k].name))
      ++k;
    if (k == sizeof known / sizeof *known)
      return onnxError(node, "activation '%.*s' is not known", ONNX_SHOWN(name));
    activations[i] = (Activation){name, known[k].alpha, known[k].beta};
    float real;
    if (known[k].alpha != 0 && alphas && alpha < alphas->reals.count) {
      memcpy(&real, &alphas->reals.items[alpha++], sizeof real);
      activations[i].alpha = real;
    }
    if ((known[k].beta != 0 || onnxTextIs(name, "Affine")) && betas && beta < betas->reals.count) {
      memcpy(&real, &betas->reals.items[beta++], sizeof real);
      activations[i].beta = real;
    }
  }
  return true;
}

static OnnxValue *zeros(Node *node, OnnxType type, int rank, const MlirValue *sizes) {
  return onnxFill(node, type, rank, sizes, 0);
}

// What a direction takes of an input that has one row for each.
static OnnxValue *ofDirection(Node *node, OnnxValue *x, int direction) {
  return x ? onnxRow(node, x, 0, tileBuildIndex(node->b, direction)) : NULL;
}

// The input's part of all gates, for all steps: X Wᵀ and the biases that need no state.
static bool inputGates(Node *node, Cell *cell, OnnxValue *x, OnnxValue *w, OnnxValue *b) {
  static const int counts[] = {1, 3, 4};
  int gates = counts[cell->kind];
  int64_t n = cell->hidden;
  cell->steps = onnxSumOfProducts(node, x, "sbi", w, "gi", "sbg");
  if (!b || !cell->steps)
    return cell->steps != NULL;
  OnnxValue *first = part(node, b, n, 0, gates), *second = part(node, b, n, gates, gates);
  if (cell->resetsAfter) { // the recurrent bias of h waits for the reset gate
    cell->bias = part(node, second, n, 2, 1);
    OnnxValue *both[] = {part(node, second, n, 0, 2),
                         zeros(node, b->type, 1, (MlirValue[]){tileBuildIndex(node->b, n)})};
    second = onnxConcat(node, 2, both, 0);
  }
  cell->steps = onnxAdd(node, cell->steps, onnxAdd(node, first, second));
  return cell->steps != NULL;
}

bool onnxEmitRecurrent(Node *node) {
  static const int gates[] = {1, 3, 4};
  OnnxValue *x = node->in[0], *w = node->in[1], *r = node->in[2], *b = node->in[3], *h0 = node->in[5],
            *c0 = node->in[6];
  bool isBoth = onnxWord(node, "direction", "bidirectional", false),
       isBack = onnxWord(node, "direction", "reverse", false);
  bool isBatchFirst = onnxInt(node, "layout", 0) != 0, isLstm = node->kind == Kind_Lstm;
  int directions = isBoth ? 2 : 1;
  Activation activations[MaxActivations];
  if (x->rank != 3 || w->rank != 3 || r->rank != 3 || onnxStatic(r->sizes[2]) < 1 ||
      onnxStatic(w->sizes[0]) != directions || onnxStatic(r->sizes[1]) != gates[node->kind] * onnxStatic(r->sizes[2]))
    return onnxError(node, "input, weights and recurrent weights do not fit each other or the directions");
  if (!readActivations(node, directions, activations))
    return false;
  if (isBatchFirst) {
    x = onnxTranspose(node, x, (int[]){1, 0, 2});
    h0 = h0 ? onnxTranspose(node, h0, (int[]){1, 0, 2}) : NULL;
    c0 = c0 && isLstm ? onnxTranspose(node, c0, (int[]){1, 0, 2}) : c0;
  }
  int64_t hidden = onnxStatic(r->sizes[2]);
  MlirValue size = tileBuildIndex(node->b, hidden);
  const MlirValue state[] = {x->sizes[1], size}, all[] = {x->sizes[0], x->sizes[1], size};
  OnnxValue *ys[2], *hs[2], *cs[2];
  for (int d = 0; d < directions; ++d) {
    Cell cell = {
        .kind = node->kind, .direction = d, .isBack = isBack || d == 1, .hidden = hidden, .count = x->sizes[0]};
    cell.clip = onnxReal(node, "clip", 0);
    cell.forgetsByInput = onnxInt(node, "input_forget", 0) != 0;
    cell.resetsAfter = node->kind == Kind_Gru && onnxInt(node, "linear_before_reset", 0) != 0;
    memcpy(cell.activations, &activations[d * (node->kind + 1)], (size_t)(node->kind + 1) * sizeof *activations);
    cell.lengths = node->in[4];
    cell.peepholes = isLstm ? ofDirection(node, node->in[7], d) : NULL;
    cell.recurrent = ofDirection(node, r, d);
    if (node->kind == Kind_Gru) {
      cell.last = rows(node, cell.recurrent, hidden, 2, 1);
      cell.recurrent = rows(node, cell.recurrent, hidden, 0, 2);
    }
    if (!inputGates(node, &cell, x, ofDirection(node, w, d), ofDirection(node, b, d)))
      return false;
    OnnxValue *carried[] = {h0 ? ofDirection(node, h0, d) : zeros(node, x->type, 2, state),
                            zeros(node, x->type, 3, all),
                            isLstm && c0 ? ofDirection(node, c0, d) : zeros(node, x->type, 2, state)};
    for (int i = 0; i < 3; i += 2)
      if (!onnxCheckSame(node, carried[i]->sizes[0], state[0], "the batch of the initial state") ||
          !onnxCheckSame(node, carried[i]->sizes[1], state[1], "the size of the initial state"))
        return false;
    carried[0] = onnxOfTensor(node, x->type, onnxTensor(node, carried[0]), state);
    carried[2] = onnxOfTensor(node, x->type, onnxTensor(node, carried[2]), state);
    if (!onnxFor(node, x->sizes[0], 3, carried, step, &cell))
      return false;
    hs[d] = onnxUnsqueeze(node, carried[0], 1, 3);
    ys[d] = onnxUnsqueeze(node, carried[1], 2, 4);
    cs[d] = onnxUnsqueeze(node, carried[2], 1, 3);
  }
  OnnxValue *y = onnxConcat(node, directions, ys, 1), *h = onnxConcat(node, directions, hs, 0);
  OnnxValue *c = onnxConcat(node, directions, cs, 0);
  if (isBatchFirst) {
    y = onnxTranspose(node, y, (int[]){2, 0, 1, 3});
    h = onnxTranspose(node, h, (int[]){1, 0, 2});
    c = onnxTranspose(node, c, (int[]){1, 0, 2});
  }
  onnxSetOut(node, 0, y);
  onnxSetOut(node, 1, h);
  if (isLstm)
    onnxSetOut(node, 2, c);
  return true;
}
