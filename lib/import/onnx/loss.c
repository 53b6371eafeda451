// Losses of classes. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/operators.h"

#include "upstream/arith.h"
#include "upstream/math.h"

#include <string.h>

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
