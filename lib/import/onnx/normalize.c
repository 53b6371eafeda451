// Normalizations. Narrow floats are summed in f32. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/operators.h"

#include "upstream/arith.h"
#include "upstream/math.h"

// A vector of channels as 1×C×1×…
static OnnxValue *perChannel(Node *node, OnnxValue *vector, int rank) {
  if (!vector || vector->rank != 1)
    return vector ? (onnxError(node, "a vector of channels has rank %d", vector->rank), NULL) : NULL;
  return onnxUnsqueeze(node, vector, ~2u & ((1u << rank) - 1), rank);
}

typedef struct Moments {
  OnnxValue *centered, *mean, *variance; // sizes 1 along the axes
} Moments;

static Moments momentsOf(Node *node, OnnxValue *x, uint32_t axes) {
  Moments moments = {.mean = onnxReduce(node, OnnxReduce_Mean, x, axes, true)};
  moments.centered = onnxSub(node, x, moments.mean);
  OnnxValue *square = onnxMul(node, moments.centered, moments.centered);
  moments.variance = square ? onnxReduce(node, OnnxReduce_Mean, square, axes, true) : NULL;
  return moments;
}

// 1 / sqrt(variance + epsilon)
static OnnxValue *inverse(Node *node, OnnxValue *variance, double epsilon) {
  OnnxValue *root = onnxUnary(node, MathOp_Sqrt, onnxWithNumber(node, ArithOp_AddF, variance, epsilon));
  return root ? onnxBinary(node, ArithOp_DivF, onnxScalarValue(node, root->type, 1), root) : NULL;
}

static OnnxValue *castBack(Node *node, OnnxValue *x, OnnxType type) { return x ? onnxCast(node, x, type) : NULL; }

bool onnxEmitLayerNormalization(Node *node) {
  OnnxValue *x = node->in[0];
  int axis;
  bool isRms = node->kind != 0;
  if (!onnxAxis(node, onnxInt(node, "axis", -1), x->rank, &axis))
    return false;
  uint32_t axes = ((1u << x->rank) - 1) & ~((1u << axis) - 1);
  OnnxType type = onnxSumType(x->type);
  OnnxValue *wide = onnxCast(node, x, type);
  Moments moments = {.centered = wide};
  if (isRms)
    moments.variance = onnxReduce(node, OnnxReduce_Mean, onnxMul(node, wide, wide), axes, true);
  else
    moments = momentsOf(node, wide, axes);
  OnnxValue *scale = inverse(node, moments.variance, onnxReal(node, "epsilon", 1e-5));
  OnnxValue *normalized = castBack(node, onnxMul(node, moments.centered, scale), x->type);
  OnnxValue *result = onnxMul(node, normalized, onnxCast(node, node->in[1], x->type));
  if (node->in[2] && !isRms)
    result = onnxAdd(node, result, node->in[2]);
  if (node->numOut > 1)
    onnxSetOut(node, 1, moments.mean);
  if (node->numOut > 2)
    onnxSetOut(node, 2, scale);
  return onnxReturn(node, castBack(node, result, x->type));
}

bool onnxEmitBatchNormalization(Node *node) {
  OnnxValue *x = node->in[0], *mean = node->in[3], *variance = node->in[4];
  OnnxType type = onnxSumType(x->type);
  bool trains = onnxInt(node, "training_mode", 0) != 0;
  if (onnxInt(node, "spatial", 1) != 1 || x->rank < 2)
    return onnxError(node, x->rank < 2 ? "requires rank 2 or more" : "attribute spatial is not 1");
  if (node->opset < 7 && onnxInt(node, "is_test", 0) == 0)
    return onnxError(node, "training is not supported at opset 6");
  uint32_t axes = ~2u & ((1u << x->rank) - 1);
  OnnxValue *wide = onnxCast(node, x, type);
  OnnxValue *means = perChannel(node, onnxCast(node, mean, type), x->rank);
  OnnxValue *variances = perChannel(node, onnxCast(node, variance, type), x->rank);
  if (trains) {
    Moments moments = momentsOf(node, wide, axes);
    double momentum = onnxReal(node, "momentum", 0.9);
    OnnxValue *news[] = {moments.mean, moments.variance}, *olds[] = {mean, variance};
    for (int i = 0; i < 2 && i + 1 < node->numOut; ++i) {
      OnnxValue *now = news[i] ? onnxCast(node, onnxSqueeze(node, news[i], axes), olds[i]->type) : NULL;
      onnxSetOut(node, i + 1,
                 onnxAdd(node, onnxWithNumber(node, ArithOp_MulF, olds[i], momentum),
                         onnxWithNumber(node, ArithOp_MulF, now, 1 - momentum)));
    }
    means = moments.mean;
    variances = moments.variance;
  } else if (node->numOut > 1) {
    return onnxError(node, "has more than one output outside training");
  }
  OnnxValue *scale = onnxMul(node, inverse(node, variances, onnxReal(node, "epsilon", 1e-5)),
                             perChannel(node, onnxCast(node, node->in[1], type), x->rank));
  OnnxValue *result = onnxAdd(node, onnxMul(node, onnxSub(node, wide, means), scale),
                              perChannel(node, onnxCast(node, node->in[2], type), x->rank));
  return onnxReturn(node, castBack(node, result, x->type));
}

bool onnxEmitInstanceNormalization(Node *node) {
  OnnxValue *x = node->in[0];
  OnnxType type = onnxSumType(x->type);
  if (x->rank < 3)
    return onnxError(node, "requires rank 3 or more");
  Moments moments = momentsOf(node, onnxCast(node, x, type), ~3u & ((1u << x->rank) - 1));
  OnnxValue *normalized =
      onnxMul(node, moments.centered, inverse(node, moments.variance, onnxReal(node, "epsilon", 1e-5)));
  OnnxValue *scaled = onnxMul(node, normalized, perChannel(node, onnxCast(node, node->in[1], type), x->rank));
  OnnxValue *result = onnxAdd(node, scaled, perChannel(node, onnxCast(node, node->in[2], type), x->rank));
  return onnxReturn(node, castBack(node, result, x->type));
}

// Before opset 21 scale and bias are per group.
bool onnxEmitGroupNormalization(Node *node) {
  OnnxValue *x = node->in[0];
  OnnxType type = onnxSumType(x->type);
  int64_t groups = onnxInt(node, "num_groups", 0), channels = x->rank > 1 ? onnxStatic(x->sizes[1]) : -1;
  if (x->rank < 3 || groups < 1 || channels < 0 || channels % groups || x->rank + 1 > OnnxMaxRank)
    return onnxError(node, "requires rank 3 or more, and channels that num_groups %lld divides", (long long)groups);
  MlirValue sizes[OnnxMaxRank] = {x->sizes[0], tileBuildIndex(node->b, groups),
                                  tileBuildIndex(node->b, channels / groups)};
  for (int d = 2; d < x->rank; ++d)
    sizes[d + 1] = x->sizes[d];
  OnnxValue *grouped = onnxReshape(node, onnxCast(node, x, type), x->rank + 1, sizes);
  Moments moments = momentsOf(node, grouped, ~3u & ((2u << x->rank) - 1));
  OnnxValue *result = onnxMul(node, moments.centered, inverse(node, moments.variance, onnxReal(node, "epsilon", 1e-5)));
  OnnxValue *factors[] = {onnxCast(node, node->in[1], type), onnxCast(node, node->in[2], type)};
  bool isPerGroup = node->opset < 21;
  if (result && !isPerGroup)
    result = onnxReshape(node, result, x->rank, x->sizes);
  for (int i = 0; i < 2 && result; ++i) {
    OnnxValue *factor = perChannel(node, factors[i], result->rank);
    result = i ? onnxAdd(node, result, factor) : onnxMul(node, result, factor);
  }
  return result && onnxReturn(node, castBack(node, onnxReshape(node, result, x->rank, x->sizes), x->type));
}

static MlirValue quotientOrZero(Body *body, const MlirValue *x) {
  MlirValue zero = onnxNumber(body, x[0], 0);
  MlirValue isZero = onnxCompareF(body, ArithCmpF_Oeq, x[1], zero);
  return onnxSelect(body, isZero, zero, ONNX_OP(ArithOp_DivF, x[0], x[1]));
}

bool onnxEmitLpNormalization(Node *node) {
  OnnxValue *x = node->in[0];
  int axis;
  int64_t p = onnxInt(node, "p", 2);
  if (!onnxAxis(node, onnxInt(node, "axis", -1), x->rank, &axis))
    return false;
  if (p != 1 && p != 2)
    return onnxError(node, "p is %lld; 1 and 2 are accepted", (long long)p);
  OnnxValue *norm = onnxReduce(node, p == 1 ? OnnxReduce_L1 : OnnxReduce_L2, x, 1u << axis, true);
  return norm && onnxReturn(node, onnxMap(node, x->type, 2, (OnnxValue *[]){x, norm}, quotientOrZero, NULL));
}

bool onnxEmitMeanVarianceNormalization(Node *node) {
  OnnxValue *x = node->in[0];
  int64_t items[OnnxMaxRank] = {0, 2, 3};
  int count, axis;
  uint32_t axes = 0;
  if (!onnxInts(node, "axes", OnnxMaxRank, items, &count))
    return false;
  for (int i = 0; i < (count < 0 ? 3 : count); ++i) {
    if (!onnxAxis(node, items[i], x->rank, &axis))
      return false;
    axes |= 1u << axis;
  }
  Moments moments = momentsOf(node, x, axes);
  OnnxValue *deviation = onnxWithNumber(node, ArithOp_AddF, onnxUnary(node, MathOp_Sqrt, moments.variance), 1e-9);
  return onnxReturn(node, onnxBinary(node, ArithOp_DivF, moments.centered, deviation));
}

typedef struct Neighbors {
  OnnxValue *from;
  int64_t size;
} Neighbors;

static MlirValue sumOfSquares(Body *body) {
  const Neighbors *by = body->data;
  MlirValue at[OnnxMaxRank], sum = {NULL}, zero = tileBuildIndex(body->b, 0);
  for (int d = 0; d < by->from->rank; ++d)
    at[d] = body->index[d];
  for (int64_t k = 0; k < by->size; ++k) {
    MlirValue place = ONNX_OP(ArithOp_AddI, body->index[1], tileBuildIndex(body->b, k - (by->size - 1) / 2));
    MlirValue isInside = onnxCompareI(body, ArithCmpI_Ult, place, by->from->sizes[1]);
    at[1] = onnxSelect(body, isInside, place, zero);
    MlirValue x = onnxAt(body, by->from, at), none = onnxNumber(body, x, 0);
    MlirValue square = onnxSelect(body, isInside, ONNX_OP(ArithOp_MulF, x, x), none);
    sum = mlirValueIsNull(sum) ? square : ONNX_OP(ArithOp_AddF, sum, square);
  }
  return sum;
}

bool onnxEmitLrn(Node *node) {
  OnnxValue *x = node->in[0];
  Neighbors by = {x, onnxInt(node, "size", 0)};
  if (x->rank < 2 || by.size < 1 || by.size > 64)
    return onnxError(node, "requires rank 2 or more and a size of 1 to 64 (%lld)", (long long)by.size);
  OnnxValue *sums = onnxGenerate(node, x->type, x->rank, x->sizes, sumOfSquares, &by);
  OnnxValue *scaled = onnxWithNumber(node, ArithOp_MulF, sums, onnxReal(node, "alpha", 1e-4) / (double)by.size);
  OnnxValue *base = onnxWithNumber(node, ArithOp_AddF, scaled, onnxReal(node, "bias", 1));
  OnnxValue *power = onnxWithNumber(node, MathOp_PowF, base, onnxReal(node, "beta", 0.75));
  return onnxReturn(node, onnxBinary(node, ArithOp_DivF, x, power));
}
