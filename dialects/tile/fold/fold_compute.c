// Folds of mma, reduce and random; canonicalizations of mma and reduce.
// Why: zero products and repeated elements come out of tiling and fusion; what is left should be work.
// Expects: verified ops. Leaves: equal values. On floats a fold happens only where it is exact for every input (nan,
// infinities and signed zeros included) or where the program allows it by fastmath<reassoc>.
#include "dialects/tile/combiner.h"
#include "dialects/tile/fold/fold.h"
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_format.h"
#include "lib/ir/pass.h"
#include "upstream/arith.h"

#include <stdlib.h>
#include <string.h>

static MlirLogicalResult replaceBy(MlirPatternRewriter rewriter, MlirOperation op, MlirValue value) {
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op, 1, &value);
  return mlirLogicalResultSuccess();
}

// The one element of a splat or scalar constant; null otherwise.
static MlirAttribute elementOf(MlirAttribute constant) {
  if (tileAttributeIsSplat(constant))
    return mlirDenseElementsAttrGetSplatValue(constant);
  bool isScalar =
      !mlirAttributeIsNull(constant) && (mlirAttributeIsAInteger(constant) || mlirAttributeIsAFloat(constant));
  return isScalar ? constant : mlirAttributeGetNull();
}

static bool isZero(MlirAttribute constant) {
  MlirAttribute element = elementOf(constant);
  if (mlirAttributeIsNull(element))
    return false;
  return mlirAttributeIsAInteger(element) ? mlirIntegerAttrGetValueInt(element) == 0
                                          : mlirFloatAttrGetValueDouble(element) == 0.0;
}

//===--- mma ----------------------------------------------------------------===//

// Integers only: with floats 0 * inf is nan, and 0 + -0 is not -0.
bool tileMmaOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  bool isInteger = tileTypeIsIntegral(tileMmaOpGetResultType(op));
  return isInteger && (isZero(operands[0]) || isZero(operands[1])) &&
         tileFoldToValue(results, tileMmaOpGetAccumulator(op));
}

// Floats: only with leave to add in another order.
static bool mayReorder(MlirOperation add) {
  return !arithAddFOpIsA(add) || tileOpAllows(add, TileFastMath_Reassociate);
}

// The product on this side of `add`, started from zero and used here only; null otherwise.
static MlirOperation productFromZero(MlirOperation add, intptr_t side) {
  MlirValue value = mlirOperationGetOperand(add, side);
  MlirOperation mma = tileDefiningOp(value);
  bool fits =
      tileMmaOpIsA(mma) && tileHasOneUse(value) && isZero(mlirExtValueGetConstant(tileMmaOpGetAccumulator(mma)));
  return fits ? mma : (MlirOperation){0};
}

// add(mma(a, b, 0), c) is mma(a, b, c).
static MlirLogicalResult accumulate(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                    void *data) {
  for (intptr_t side = 0; side < 2; ++side) {
    MlirOperation mma = productFromZero(op, side);
    if (mlirOperationIsNull(mma) || !mayReorder(op))
      continue;
    TileBuilder builder = tileBuilderInPattern(rewriter, op);
    MlirValue other = side ? tileBinaryLhs(op) : tileBinaryRhs(op);
    MlirOperation sum = tileMmaOpCreate(&builder, tileMmaOpGetLhs(mma), tileMmaOpGetRhs(mma), other,
                                        tileMmaOpGetPrecision(mma), tileMmaOpGetAtom(mma));
    return replaceBy(rewriter, op, tileMmaOpGetResult(sum));
  }
  return mlirLogicalResultFailure();
}

void tileMmaOpCanonicalize(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, arithAddIOpName, 1, accumulate);
  tileAddPattern(patterns, context, arithAddFOpName, 1, accumulate);
}

//===--- reduce -------------------------------------------------------------===//

static const TileCombiner *combinerOf(MlirOperation op) {
  return tileHas(op, "operation") ? tileCombinerFind(tileKeywordOf(op, "operation")) : NULL;
}

// x op x is x, so a tile of equal elements gives that element; so does one of neutral elements (x op e is x).
static bool keepsElement(const TileCombiner *combiner, MlirAttribute constant) {
  MlirAttribute element = elementOf(constant);
  return combiner->isIdempotent ||
         (!mlirAttributeIsNull(element) &&
          mlirAttributeEqual(element, tileCombinerNeutral(combiner, mlirAttributeGetType(element))));
}

// The op repeats its source along the same axes: the reduction takes them away again.
static bool repeatsAlong(MlirOperation broadcast, MlirOperation reduce) {
  return tileBroadcastOpIsA(broadcast) &&
         mlirTypeEqual(tileBroadcastOpGetInputType(broadcast), mlirValueGetType(tileReduceOpGetResults(reduce, 0))) &&
         (tileTypeIsAScalar(tileBroadcastOpGetInputType(broadcast)) ||
          mlirAttributeEqual(tileOpAttribute(broadcast, "axes"), tileOpAttribute(reduce, "axes")));
}

bool tileReduceOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  const TileCombiner *combiner = combinerOf(op);
  if (!combiner || count != 1)
    return false;
  if (keepsElement(combiner, operands[0]) &&
      tileFoldToSplat(results, mlirValueGetType(tileReduceOpGetResults(op, 0)), operands[0]))
    return true;
  MlirOperation broadcast = tileDefiningOp(tileReduceOpGetInputs(op, 0));
  return combiner->isIdempotent && repeatsAlong(broadcast, op) &&
         tileFoldToValue(results, tileBroadcastOpGetInput(broadcast));
}

// Over axes of size 1 nothing is combined. Regions are left alone: they may see their neutral element.
static MlirLogicalResult reduceToReshape(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                         void *data) {
  MlirType type = mlirValueGetType(tileReduceOpGetInputs(op, 0)),
           result = mlirValueGetType(tileReduceOpGetResults(op, 0));
  if (!combinerOf(op) || tileTypeGetCount(type) != tileTypeGetCount(result) ||
      !mlirAttributeIsNull(tileTypeGetLayout(type)))
    return mlirLogicalResultFailure();
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirValue source = tileReduceOpGetInputs(op, 0);
  return replaceBy(rewriter, op, tileReshapeOpBuild(&builder, result, source));
}

void tileReduceOpCanonicalize(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, tileReduceOpName, 1, reduceToReshape);
}

//===--- random: Philox4x32-10 ----------------------------------------------===//

// Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC 2011).
static void philox(uint64_t seed, uint64_t counter, uint32_t words[4]) {
  uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  uint32_t c[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
  for (int round = 0; round < 10; ++round) {
    uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
    uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ key[0], (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ key[1],
                        (uint32_t)a};
    memcpy(c, next, sizeof c);
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  memcpy(words, c, sizeof c);
}

enum { RandomFoldLimit = 1024 }; // counters: a larger constant costs more than the computation

// Element i of an integer constant, as unsigned. False for widths that are not read here.
static bool counterAt(MlirAttribute constant, MlirType element, intptr_t i, uint64_t *counter) {
  MlirAttribute one = elementOf(constant);
  unsigned width = tileMemoryBits(element);
  if (width != 64 && width != 32)
    return false;
  if (!mlirAttributeIsNull(one))
    *counter = (uint64_t)mlirIntegerAttrGetValueInt(one);
  else if (mlirTypeIsAIndex(element))
    *counter = mlirDenseElementsAttrGetIndexValue(constant, i);
  else if (width == 64)
    *counter = (uint64_t)mlirDenseElementsAttrGetInt64Value(constant, i);
  else
    *counter = (uint64_t)mlirDenseElementsAttrGetInt32Value(constant, i);
  *counter &= UINT64_MAX >> (64 - width);
  return true;
}

bool tileRandomOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  MlirType type = tileRandomOpGetCounterType(op), result = tileRandomOpGetResultType(op);
  int64_t counters = tileTypeGetCount(type);
  if (mlirAttributeIsNull(operands[0]) || mlirAttributeIsNull(operands[1]) || counters > RandomFoldLimit)
    return false;
  uint32_t *words = malloc(sizeof *words * 4 * (size_t)counters);
  bool isKnown = true;
  for (intptr_t i = 0; isKnown && i < counters; ++i) {
    uint64_t counter;
    isKnown = counterAt(operands[1], tileTypeGetElement(type), i, &counter);
    if (isKnown)
      philox((uint64_t)mlirIntegerAttrGetValueInt(operands[0]), counter, words + 4 * i);
  }
  if (isKnown)
    mlirExtFoldResultsAddAttribute(
        results, mlirDenseElementsAttrInt32Get(result, (intptr_t)(4 * counters), (const int32_t *)words));
  free(words);
  return isKnown;
}
