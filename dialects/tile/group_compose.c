// A tile.group of elementwise ops whose tiles meet in registers is one op: their bodies are composed.
//
// Only an op whose results have one user is composed, and only into an op without reductions: inside a matrix product
// it would be computed again for every use of its element. Source: upstream's elementwise fusion patterns, which also
// take constants and fills into the bodies that read them, in groups or not.
#include "dialects/tile/group.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/capi/patterns.h"
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "upstream/builtin.h"
#include "upstream/linalg.h"

// The op alone reads the value, once; that the value is also an output that the body does not read does not count.
static bool readsAlone(MlirOperation op, MlirValue value) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  int reads = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    intptr_t operand = mlirOpOperandGetOperandNumber(use);
    if (!mlirOperationEqual(mlirOpOperandGetOwner(use), op))
      return false;
    reads += operand < linalgGenericOpGetNumInputs(op) ||
             !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(body, operand)));
  }
  return reads == 1;
}

// Where another op reads another result of the producer, the producer stays, and the consumer would compute the value
// again: a chain of states through many steps from its start, in every step.
static bool isOnlyFor(MlirOperation producer, MlirOperation consumer) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(producer); ++i)
    for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(producer, i)); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
      if (!mlirOperationEqual(mlirOpOperandGetOwner(use), consumer))
        return false;
  return true;
}

bool tileGroupCanCompose(MlirOperation consumer, intptr_t operand) {
  MlirValue value = mlirOperationGetOperand(consumer, operand);
  MlirOperation producer = tileDefiningOp(value);
  return linalgGenericOpIsA(producer) && linalgGenericOpIsA(consumer) && readsAlone(consumer, value) &&
         isOnlyFor(producer, consumer) &&
         mlirBlockEqual(mlirOperationGetBlock(producer), mlirOperationGetBlock(consumer)) &&
         tileGenericIsParallel(producer) && tileGenericIsParallel(consumer);
}

static bool mayCompose(MlirOperation consumer, intptr_t operand) {
  MlirOperation group = mlirOperationGetParentOperation(consumer);
  return tileGroupOpIsA(group) && tileGroupMeetsInRegisters(group) && tileGroupCanCompose(consumer, operand);
}

// While the patterns run: they make an output empty that is not read.
static bool mayComposeNow(MlirOperation consumer, intptr_t operand) {
  return tileHasOneUse(mlirOperationGetOperand(consumer, operand)) && mayCompose(consumer, operand);
}

static void populate(MlirRewritePatternSet patterns, MlirContext context) {
  mlirExtPopulateElementwiseFusion(patterns, mayComposeNow);
}

//===--- reductions that do not look at their output --------------------------===//

// Upstream's set also makes an output empty that the body does not read: wrong of a reduction over nothing, whose
// result is that output. While the patterns run, such a body yields its value through a cast that names the output too.
static void guardOutputs(MlirOperation op) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirOperation yield = mlirBlockGetTerminator(body);
  intptr_t outputs = mlirOperationGetNumOperands(yield), first = mlirBlockGetNumArguments(body) - outputs;
  TileBuilder builder = tileBuilderBefore(yield);
  for (intptr_t i = 0; i < outputs; ++i) {
    MlirValue values[] = {mlirOperationGetOperand(yield, i), mlirBlockGetArgument(body, first + i)};
    MlirType type = mlirValueGetType(values[0]);
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(values[1])))
      mlirOperationSetOperand(yield, i,
                              tileOnlyResult(builtinUnrealizedConversionCastOpBuild(&builder, 1, &type, 2, values)));
  }
}

static void releaseOutputs(MlirOperation op) {
  MlirOperation yield = mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(yield); ++i) {
    MlirOperation cast = tileDefiningOp(mlirOperationGetOperand(yield, i));
    if (!builtinUnrealizedConversionCastOpIsA(cast) || mlirOperationGetNumOperands(cast) != 2)
      continue;
    mlirOperationSetOperand(yield, i, builtinUnrealizedConversionCastOpGetInputs(cast, 0));
    mlirOperationDestroy(cast);
  }
}

static void onReductions(MlirOperation root, void (*apply)(MlirOperation)) {
  TileOps generics = tileCollectOps(root, linalgGenericOpIsA);
  for (intptr_t i = 0; i < generics.count; ++i)
    if (!tileGenericIsParallel(generics.items[i]))
      apply(generics.items[i]);
  tileOpsFree(&generics);
}

//===--- groups ---------------------------------------------------------------===//

static MlirWalkResult findPair(MlirOperation op, void *isFound) {
  for (intptr_t i = 0; linalgGenericOpIsA(op) && !*(bool *)isFound && i < linalgGenericOpGetNumInputs(op); ++i)
    *(bool *)isFound = mayCompose(op, i);
  return *(bool *)isFound ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

bool tileGroupIsComposed(MlirOperation group) {
  bool isFound = false;
  mlirOperationWalk(group, findPair, &isFound, MlirWalkPreOrder);
  return !isFound;
}

bool tileGroupCompose(MlirOperation root) {
  onReductions(root, guardOutputs);
  bool ok = tileApplyPatterns(root, populate);
  onReductions(root, releaseOutputs);
  TileOps groups = tileCollectOps(root, tileGroupOpIsA);
  for (intptr_t i = 0; i < groups.count; ++i)
    if (!mlirAttributeIsNull(tileGroupOpGetMeets(groups.items[i])) && tileGroupMeetsInRegisters(groups.items[i]))
      tileGroupMeetAt(groups.items[i], "register"); // composed ops have fewer edges
  tileOpsFree(&groups);
  return ok;
}
