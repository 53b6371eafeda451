// Fuses chains of elementwise linalg ops into one, so that a chain becomes one kernel and its temporaries vanish.
//
// Expects: linalg.generic on tensors in func.func. Leaves: the same program with fewer ops. Only an op whose result has
// one user is fused, and only into an op without reductions: inside a matrix product it would be computed again for
// every use of its element. Both stand in one block: fused into a loop body it would be computed again in every step.
// Source: upstream's elementwise fusion patterns; ours is the question when it pays.
#include "lib/capi/patterns.h"
#include "lib/ir/pass.h"
#include "lib/transforms/fuse/fuse.h"

#include <string.h>

static bool isElementwise(MlirOperation op) {
  MlirAttribute types = tileOpAttribute(op, "iterator_types");
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(types); i++) {
    char text[64];
    if (strstr(tileAttributeText(mlirArrayAttrGetElement(types, i), text, sizeof text), "parallel") == NULL)
      return false;
  }
  return true;
}

static bool mayFuse(MlirOperation consumer, intptr_t operand) {
  MlirValue value = mlirOperationGetOperand(consumer, operand);
  MlirOperation producer = tileDefiningOp(value);
  return tileOpIs(producer, "linalg.generic") && tileOpIs(consumer, "linalg.generic") && tileHasOneUse(value) &&
         mlirBlockEqual(mlirOperationGetBlock(producer), mlirOperationGetBlock(consumer)) && isElementwise(producer) &&
         isElementwise(consumer);
}

static void populate(MlirRewritePatternSet patterns, MlirContext context) {
  mlirExtPopulateElementwiseFusion(patterns, mayFuse);
}

static bool run(MlirOperation function, MlirExtPass pass) { return tileApplyPatterns(function, populate); }

const MlirExtPassDefinition tileFuseElementwisePass = {
    .argument = "tile-fuse-elementwise",
    .summary = "Fuse chains of elementwise linalg ops into one",
    .anchor = "func.func",
    .run = run,
};
