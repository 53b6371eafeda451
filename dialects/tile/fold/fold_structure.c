// Folds of launch, transfer and assume; canonicalization of launch and assert.
// Why: what does nothing should not be there when schedulers count launches and copies.
// Expects: verified ops. Leaves: equal values; nothing here computes on floats.
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"
#include "lib/ir/pass.h"

#include <stdlib.h>

//===--- launch: an empty grid writes nothing -------------------------------===//

static bool hasEmptyGrid(MlirOperation op) {
  intptr_t begin, count;
  int64_t size;
  tileOpOperands(op, "grid", &begin, &count);
  for (intptr_t i = begin; i < begin + count; ++i)
    if (tileConstantIndex(mlirOperationGetOperand(op, i), &size) && size == 0)
      return true;
  return false;
}

// Results stand for the outs that are tensors, in order.
bool tileLaunchOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  intptr_t begin, outputs;
  if (mlirOperationGetNumResults(op) == 0 || !hasEmptyGrid(op))
    return false;
  tileOpOperands(op, "outputs", &begin, &outputs);
  for (intptr_t i = begin; i < begin + outputs; ++i)
    if (mlirTypeIsATensor(tileOperandType(op, i)))
      mlirExtFoldResultsAddValue(results, mlirOperationGetOperand(op, i));
  return true;
}

static MlirLogicalResult eraseEmptyLaunch(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                          void *data) {
  if (mlirOperationGetNumResults(op) || !hasEmptyGrid(op))
    return mlirLogicalResultFailure();
  mlirRewriterBaseEraseOp(mlirPatternRewriterAsBase(rewriter), op);
  return mlirLogicalResultSuccess();
}

void tileLaunchOpCanonicalize(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, tileLaunchOpName, 1, eraseEmptyLaunch);
}

//===--- transfer -----------------------------------------------------------===//

// To the device it is on already.
bool tileTransferOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  MlirOperation before = tileDefiningOp(tileTransferOpGetSource(op));
  if (!tileTransferOpIsA(before) ||
      !mlirAttributeEqual(tileOpAttribute(before, "device"), tileOpAttribute(op, "device")))
    return false;
  mlirExtFoldResultsAddValue(results, tileTransferOpGetSource(op));
  return true;
}

//===--- assume -------------------------------------------------------------===//

static bool isKnownDivisor(int64_t divisor, int64_t known) {
  bool saysNothing = mlirShapedTypeIsDynamicSize(divisor) || divisor == 1;
  return saysNothing || (!mlirShapedTypeIsDynamicSize(known) && known % divisor == 0);
}

static bool areSizesKnown(MlirOperation op, MlirType memref) {
  for (intptr_t i = 0, count = tileArrayCount(op, "sizes"); i < count; ++i)
    if (!isKnownDivisor(tileArrayAt(op, "sizes", i), mlirShapedTypeGetDimSize(memref, i)))
      return false;
  return true;
}

static bool areStridesKnown(MlirOperation op, MlirType memref) {
  intptr_t count = tileArrayCount(op, "strides");
  int64_t offset, *strides = malloc(sizeof *strides * (size_t)(count + 1));
  bool isKnown = count == 0 || mlirLogicalResultIsSuccess(mlirMemRefTypeGetStridesAndOffset(memref, strides, &offset));
  for (intptr_t i = 0; isKnown && i < count; ++i)
    isKnown = isKnownDivisor(tileArrayAt(op, "strides", i), strides[i]);
  free(strides);
  return isKnown;
}

// Every clause follows from the type or, the verifier having compared them, from the constant.
static bool isKnown(MlirOperation op) {
  MlirType type = tileAssumeOpGetValueType(op);
  int64_t align = 1, divisible = 1, constant;
  if (mlirTypeIsAMemRef(type)) {
    tileIntegerOf(op, "align", &align);
    return align == 1 && areSizesKnown(op, type) && areStridesKnown(op, type);
  }
  tileIntegerOf(op, "divisible", &divisible);
  return tileConstantIndex(tileAssumeOpGetValue(op), &constant) || (divisible == 1 && !tileHas(op, "range"));
}

bool tileAssumeOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  MlirValue value = tileAssumeOpGetValue(op);
  MlirOperation before = tileDefiningOp(value);
  bool isRepeated = tileAssumeOpIsA(before) && tileOpsEqualAttributes(op, before);
  if (!isRepeated && !isKnown(op))
    return false;
  mlirExtFoldResultsAddValue(results, value);
  return true;
}

//===--- assert -------------------------------------------------------------===//

static MlirLogicalResult eraseTrueAssert(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                         void *data) {
  if (!tileConstantIsTrue(mlirExtValueGetConstant(tileOnlyOperand(op))))
    return mlirLogicalResultFailure();
  mlirRewriterBaseEraseOp(mlirPatternRewriterAsBase(rewriter), op);
  return mlirLogicalResultSuccess();
}

void tileAssertOpCanonicalize(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, tileAssertOpName, 1, eraseTrueAssert);
}
