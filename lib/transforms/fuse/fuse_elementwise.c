// Fuses chains of elementwise linalg ops into one, so that a chain becomes one kernel and its temporaries vanish.
//
// Expects: linalg.generic on tensors in func.func. Leaves: the same program with fewer ops. Only an op whose result has
// one user is fused, and only into an op without reductions: inside a matrix product it would be computed again for
// every use of its element. Both stand in one block: fused into a loop body it would be computed again in every step.
// Source: upstream's elementwise fusion patterns; ours is the question when it pays.
#include "lib/analysis/structured.h"
#include "lib/capi/patterns.h"
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "lib/transforms/fuse/fuse.h"
#include "upstream/builtin.h"
#include "upstream/linalg.h"

static bool mayFuse(MlirOperation consumer, intptr_t operand) {
  MlirValue value = mlirOperationGetOperand(consumer, operand);
  MlirOperation producer = tileDefiningOp(value);
  return linalgGenericOpIsA(producer) && linalgGenericOpIsA(consumer) && tileHasOneUse(value) &&
         mlirBlockEqual(mlirOperationGetBlock(producer), mlirOperationGetBlock(consumer)) &&
         tileGenericIsParallel(producer) && tileGenericIsParallel(consumer);
}

static void populate(MlirRewritePatternSet patterns, MlirContext context) {
  mlirExtPopulateElementwiseFusion(patterns, mayFuse);
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

static void onReductions(MlirOperation function, void (*apply)(MlirOperation)) {
  TileOps generics = tileCollectOps(function, linalgGenericOpIsA);
  for (intptr_t i = 0; i < generics.count; ++i)
    if (!tileGenericIsParallel(generics.items[i]))
      apply(generics.items[i]);
  tileOpsFree(&generics);
}

//===--- the pass -------------------------------------------------------------===//

static bool run(MlirOperation function, MlirExtPass pass) {
  onReductions(function, guardOutputs);
  bool ok = tileApplyPatterns(function, populate);
  onReductions(function, releaseOutputs);
  return ok;
}

const MlirExtPassDefinition tileFuseElementwisePass = {
    .argument = "tile-fuse-elementwise",
    .summary = "Fuse chains of elementwise linalg ops into one",
    .anchor = "func.func",
    .run = run,
};
