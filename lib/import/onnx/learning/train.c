// Training: losses of classes; steps of the optimizers Adagrad, Adam and Momentum. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/operators.h"

#include "upstream/arith.h"
#include "upstream/math.h"

#include <string.h>

//===--- losses ---------------------------------------------------------------===//

typedef struct Loss {
  OnnxValue *logits, *targets, *weights; // N×C×…, N×…, C
  bool ignores, isWeight;                // isWeight: gives the weight alone
  int64_t ignored;
} Loss;

static MlirValue lossAt(Body *body) {
  const Loss *by = body->data;
  MlirValue at[OnnxMaxRank], target = onnxAt(body, by->targets, body->index), zero = tileBuildIndex(body->b, 0);
  MlirValue isIgnored = {NULL}, place = onnxToIndex(body, target);
  if (by->ignores) {
    isIgnored =
        onnxCompareI(body, ArithCmpI_Eq, target, tileBuildInteger(body->b, mlirValueGetType(target), by->ignored));
    place = onnxSelect(body, isIgnored, zero, place);
  }
  at[0] = body->index[0];
  at[1] = place;
  for (int d = 2; d < by->logits->rank; ++d)
    at[d] = body->index[d - 1];
  MlirType type = onnxElementType(body->node, by->logits->type);
  MlirValue weight = by->weights ? onnxAt(body, by->weights, &place) : tileBuildFloat(body->b, type, 1),
            result = weight;
  if (!by->isWeight)
    result = ONNX_OP(ArithOp_MulF, ONNX_OP(ArithOp_NegF, onnxAt(body, by->logits, at)), weight);
  return by->ignores ? onnxSelect(body, isIgnored, tileBuildFloat(body->b, type, 0), result) : result;
}

static OnnxValue *lossOf(Node *node, OnnxValue *logits) {
  Loss by = {.logits = logits, .targets = node->in[1], .weights = node->in[2]};
  if (logits->rank < 2 || by.targets->rank != logits->rank - 1) {
    onnxError(node, "scores have rank %d and labels rank %d", logits->rank, by.targets->rank);
    return NULL;
  }
  by.ignores = onnxAttribute(node, "ignore_index") != NULL;
  by.ignored = onnxInt(node, "ignore_index", 0);
  int rank = by.targets->rank;
  uint32_t axes = (1u << rank) - 1;
  OnnxValue *loss = onnxGenerate(node, logits->type, rank, by.targets->sizes, lossAt, &by);
  if (!loss || onnxWord(node, "reduction", "none", false))
    return loss;
  if (onnxWord(node, "reduction", "sum", false))
    return onnxReduce(node, OnnxReduce_Sum, loss, axes, false);
  if (!onnxWord(node, "reduction", "mean", true)) {
    onnxError(node, "attribute reduction is none of none, sum and mean");
    return NULL;
  }
  by.isWeight = true;
  OnnxValue *weights = onnxGenerate(node, logits->type, rank, by.targets->sizes, lossAt, &by);
  return onnxBinary(node, ArithOp_DivF, onnxReduce(node, OnnxReduce_Sum, loss, axes, false),
                    onnxReduce(node, OnnxReduce_Sum, weights, axes, false));
}

bool onnxEmitNegativeLogLikelihood(Node *node) { return onnxReturn(node, lossOf(node, node->in[0])); }

bool onnxEmitSoftmaxCrossEntropy(Node *node) {
  OnnxValue *x = node->in[0];
  if (x->rank < 2)
    return onnxError(node, "scores have rank %d", x->rank);
  OnnxValue *most = onnxReduce(node, OnnxReduce_Max, x, 2, true), *shifted = onnxSub(node, x, most);
  OnnxValue *exponentials = onnxUnary(node, MathOp_Exp, shifted);
  OnnxValue *sum = exponentials ? onnxReduce(node, OnnxReduce_Sum, exponentials, 2, true) : NULL;
  OnnxValue *logits = onnxSub(node, shifted, onnxUnary(node, MathOp_Log, sum));
  onnxSetOut(node, 1, logits);
  return logits && onnxReturn(node, lossOf(node, logits));
}

//===--- optimizers -----------------------------------------------------------===//

// Each parameter has a gradient and accumulators. Their new values are computed element by element.
// Inputs of all bodies: the parameter, its gradient, the two accumulators, the rate, the number of the step.
enum { Parameter, Gradient, First, Second, Rate, Step, NumInputs };

typedef struct Optimizer {
  OnnxType type;
  double alpha, beta, epsilon, norm, normPost, decay;
  bool isNesterov;
} Optimizer;

#define ADD(a, b) ONNX_OP(ArithOp_AddF, a, b)
#define SUB(a, b) ONNX_OP(ArithOp_SubF, a, b)
#define MUL(a, b) ONNX_OP(ArithOp_MulF, a, b)
#define DIV(a, b) ONNX_OP(ArithOp_DivF, a, b)
#define NUMBER(number) onnxNumber(body, x[Parameter], number)

static MlirValue stepNumber(Body *body, const MlirValue *x) {
  return onnxConvert(body, x[Step], Onnx_I64, ((const Optimizer *)body->data)->type);
}

static MlirValue isLaterStep(Body *body, const MlirValue *x) {
  return onnxCompareI(body, ArithCmpI_Sgt, x[Step], onnxNumber(body, x[Step], 0));
}

static MlirValue regularized(Body *body, const MlirValue *x) {
  const Optimizer *by = body->data;
  return ADD(MUL(NUMBER(by->norm), x[Parameter]), x[Gradient]);
}

static MlirValue adagradSquares(Body *body, const MlirValue *x) {
  MlirValue gradient = regularized(body, x);
  return ADD(x[First], MUL(gradient, gradient));
}

static MlirValue adagradParameter(Body *body, const MlirValue *x) {
  const Optimizer *by = body->data;
  MlirValue rate = DIV(x[Rate], ADD(NUMBER(1), MUL(stepNumber(body, x), NUMBER(by->decay))));
  MlirValue scale = ADD(ONNX_OP(MathOp_Sqrt, adagradSquares(body, x)), NUMBER(by->epsilon));
  return SUB(x[Parameter], DIV(MUL(rate, regularized(body, x)), scale));
}

static MlirValue adamMomentum(Body *body, const MlirValue *x) {
  const Optimizer *by = body->data;
  return ADD(MUL(NUMBER(by->alpha), x[First]), MUL(NUMBER(1 - by->alpha), regularized(body, x)));
}

static MlirValue adamSquares(Body *body, const MlirValue *x) {
  const Optimizer *by = body->data;
  MlirValue gradient = regularized(body, x);
  return ADD(MUL(NUMBER(by->beta), x[Second]), MUL(NUMBER(1 - by->beta), MUL(gradient, gradient)));
}

static MlirValue adamParameter(Body *body, const MlirValue *x) {
  const Optimizer *by = body->data;
  MlirValue step = stepNumber(body, x), one = NUMBER(1);
  MlirValue ofSquares = SUB(one, ONNX_OP(MathOp_PowF, NUMBER(by->beta), step));
  MlirValue ofMomentum = SUB(one, ONNX_OP(MathOp_PowF, NUMBER(by->alpha), step));
  MlirValue corrected = DIV(MUL(x[Rate], ONNX_OP(MathOp_Sqrt, ofSquares)), ofMomentum);
  MlirValue rate = onnxSelect(body, isLaterStep(body, x), corrected, x[Rate]);
  MlirValue scale = ADD(ONNX_OP(MathOp_Sqrt, adamSquares(body, x)), NUMBER(by->epsilon));
  MlirValue result = SUB(x[Parameter], MUL(rate, DIV(adamMomentum(body, x), scale)));
  return MUL(NUMBER(1 - by->normPost), result);
}

static MlirValue momentum(Body *body, const MlirValue *x) {
  const Optimizer *by = body->data;
  MlirValue beta = onnxSelect(body, isLaterStep(body, x), NUMBER(by->beta), NUMBER(1));
  return ADD(MUL(NUMBER(by->alpha), x[First]), MUL(beta, regularized(body, x)));
}

static MlirValue momentumParameter(Body *body, const MlirValue *x) {
  const Optimizer *by = body->data;
  MlirValue change = momentum(body, x);
  if (by->isNesterov)
    change = ADD(regularized(body, x), MUL(NUMBER(by->alpha), change));
  return SUB(x[Parameter], MUL(x[Rate], change));
}

// What an optimizer computes: the parameter, then its accumulators.
static OnnxElement *const bodies[][3] = {[OnnxOptimizer_Adagrad] = {adagradParameter, adagradSquares, NULL},
                                         [OnnxOptimizer_Adam] = {adamParameter, adamMomentum, adamSquares},
                                         [OnnxOptimizer_Momentum] = {momentumParameter, momentum, NULL}};

bool onnxEmitOptimizer(Node *node) {
  OnnxElement *const *body = bodies[node->kind];
  int results = body[2] ? 3 : 2, count = (node->numIn - 2) / (results + 1);
  Optimizer by = {.alpha = onnxReal(node, "alpha", 0.9),
                  .beta = onnxReal(node, "beta", 0.999),
                  .epsilon = onnxReal(node, "epsilon", 1e-6),
                  .norm = onnxReal(node, "norm_coefficient", 0),
                  .normPost = onnxReal(node, "norm_coefficient_post", 0),
                  .decay = onnxReal(node, "decay_factor", 0),
                  .isNesterov = onnxWord(node, "mode", "nesterov", false)};
  if (count < 1 || node->numIn != 2 + count * (results + 1) || node->numOut > count * results ||
      onnxCount(node->in[0]) != 1 || onnxCount(node->in[1]) != 1 || node->in[1]->type != Onnx_I64)
    return onnxError(node, "requires one rate, one step, and for each parameter a gradient and %d accumulators",
                     results - 1);
  OnnxValue *rate = onnxReshape(node, node->in[0], 0, NULL), *step = onnxReshape(node, node->in[1], 0, NULL);
  for (int i = 0; i < count; ++i) {
    OnnxValue *inputs[NumInputs] = {[Rate] = rate, [Step] = step};
    for (int k = 0; k < Rate; ++k) {
      inputs[k] = node->in[2 + i + count * (k < results + 1 ? k : First)];
      if (!inputs[k] || !onnxIsFloat(inputs[k]->type) || inputs[k]->type != node->in[2 + i]->type)
        return onnxError(node, "input %d is missing or no tensor of the parameter's type", 3 + i + count * k);
    }
    by.type = inputs[Parameter]->type;
    inputs[Rate] = onnxCast(node, rate, by.type);
    for (int r = 0; r < results; ++r)
      if (!onnxSetOut(node, i + count * r, onnxMap(node, by.type, NumInputs, inputs, body[r], &by)))
        return false;
  }
  return true;
}
