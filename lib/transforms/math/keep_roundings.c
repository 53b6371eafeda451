// tile-keep-roundings: every arith.truncf rounds. Takes its permission `contract`, by which extf(truncf(x)) folds to x.
// Why: upstream's passes that compute narrow floats in f32 put it on the roundings they make, and so `a * b * c` of
// bf16 would be rounded once instead of twice (docs/numerics.md §1 and §2). Whoever wrote the flag loses nothing but
// speed. Expects: any function; runs before anything folds. Leaves: the same ops. Cost: linear.
#include "lib/transforms/math/keep_roundings.h"

#include "lib/ir/support.h"
#include "upstream/arith.h"

static bool run(MlirOperation op, MlirExtPass pass) {
  MlirAttribute none = tileFastMathAttr(mlirOperationGetContext(op), TileFastMath_None);
  TileOps roundings = tileCollectOps(op, arithTruncFOpIsA);
  for (intptr_t i = 0; i < roundings.count; ++i)
    if (!mlirAttributeIsNull(arithTruncFOpGetFastmath(roundings.items[i])))
      arithTruncFOpSetFastmath(roundings.items[i], none);
  tileOpsFree(&roundings);
  return !mlirAttributeIsNull(none);
}

const MlirExtPassDefinition tileKeepRoundingsPass = {
    .argument = "tile-keep-roundings",
    .summary = "Take the permission to contract from arith.truncf, so that narrow floats round at every op",
    .dialects = (const char *const[]){"arith", NULL},
    .needs = (const char *const[]){arithTruncFOpName, NULL},
    .run = run,
};
