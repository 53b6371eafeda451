// tile-reduce-atomics: what every round of a loop adds to the same tile of memory is summed in registers and added
// once. Expects: kernels at either level, with tile.store combine(add) of a view in an scf.for, to a place that is the
// same in
//   all rounds, in memory the loop does not touch otherwise. Leaves: the sum carried round the loop and one store
//   behind it: S rounds of M x N atomics become M x N. Sums are taken in another order, as docs/numerics.md allows for
//   combine.
// Source: KNYFE. Cost: linear in the ops of loops.
#include "lib/transforms/pipeline/pipeline.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/enclosing.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/transforms/pipeline/loops.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

static const char *const statistics[] = {"reduced: combining stores moved behind a loop", NULL};

//===--- questions ----------------------------------------------------------------------===//

static bool adds(MlirOperation op) {
  MlirAttribute combine = tileOpAttribute(op, "combine");
  return !mlirAttributeIsNull(combine) && tileStringEquals(mlirStringAttrGetValue(combine), "add");
}

typedef struct Others {
  MlirOperation store;
  MlirValue root; // of what it adds to
  bool found;
} Others;

// Any other op that writes, or reads the same memory, might see a sum too early.
static void findOther(MlirOperation op, TileEffect effect, void *data) {
  Others *others = data;
  if (mlirOperationEqual(op, others->store))
    return;
  bool isRead = effect.kind == MlirExtEffect_Read && effect.resource == MlirExtResource_Memory;
  MlirValue root = tileMemoryRoot(effect.value);
  bool isKnown = !mlirValueIsNull(root) && mlirValueIsABlockArgument(root);
  bool isBuffer = !mlirValueIsNull(effect.value) && tileTypeIsABuffer(mlirValueGetType(effect.value));
  others->found |= !isRead || (!isBuffer && (!isKnown || tileParametersMayOverlap(root, others->root)));
}

static bool isAlone(MlirOperation loop, MlirOperation store) {
  Others others = {store, tileMemoryRoot(tileStoreOpGetDestination(store)), false};
  if (mlirValueIsNull(others.root) || !mlirValueIsABlockArgument(others.root))
    return false;
  tileOpVisitAllEffects(loop, findOther, &others);
  return !others.found;
}

static bool mayReduce(MlirOperation loop, MlirOperation op) {
  if (!tileStoreOpIsA(op) || !adds(op) || !tileTypeIsAView(tileStoreOpGetDestinationType(op)) ||
      !tileTypeIsATile(tileStoreOpGetValueType(op)))
    return false;
  for (intptr_t i = 1; i < mlirOperationGetNumOperands(op); ++i)
    if (!tileIsOutside(loop, mlirOperationGetOperand(op, i)))
      return false;
  return isAlone(loop, op);
}

//===--- the rewrite ----------------------------------------------------------------------===//

// -0.0 is what adds nothing, even to -0.0.
static MlirValue neutral(TileBuilder *builder, MlirType type) {
  MlirType element = tileTypeGetElement(type);
  MlirAttribute zero = mlirTypeIsAFloat(element) ? mlirFloatAttrDoubleGet(builder->context, element, -0.0)
                                                 : mlirIntegerAttrGet(element, 0);
  return tileBuildConstant(builder, mlirDenseElementsAttrSplatGet(type, zero));
}

static MlirOperation reduce(MlirOperation loop, MlirOperation store) {
  MlirType type = tileStoreOpGetValueType(store);
  TileBuilder before = tileBuilderBefore(loop);
  MlirValue start = neutral(&before, type);
  intptr_t number = mlirOperationGetNumResults(loop);
  MlirOperation made = tileLoopCarryMore(loop, 1, &start);
  MlirBlock body = mlirRegionGetFirstBlock(scfForOpGetRegion(made));
  TileBuilder at = tileBuilderBefore(store);
  TileUpstream add = mlirTypeIsAFloat(tileTypeGetElement(type)) ? ArithOp_AddF : ArithOp_AddI;
  MlirValue sum = tileBuildBinary(&at, add, mlirBlockGetArgument(body, number + 1), tileStoreOpGetValue(store));
  mlirOperationRemoveFromParent(store);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(made), made, store);
  tileStoreOpSetValue(store, mlirOperationGetResult(made, number));
  tileLoopYieldMore(made, 1, &sum);
  return made;
}

//===--- the pass -------------------------------------------------------------------------===//

static bool run(MlirOperation kernel, MlirExtPass pass) {
  // Post order: a sum that leaves an inner loop may leave the next one too.
  TileOps loops = tileCollectOps(kernel, scfForOpIsA);
  for (intptr_t i = 0; i < loops.count; ++i) {
    MlirOperation loop = loops.items[i], found = {NULL};
    do {
      MlirBlock body = mlirRegionGetFirstBlock(scfForOpGetRegion(loop));
      found = (MlirOperation){NULL};
      for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op) && mlirOperationIsNull(found);
           op = mlirOperationGetNextInBlock(op))
        found = mayReduce(loop, op) ? op : found;
      if (!mlirOperationIsNull(found)) {
        loop = reduce(loop, found);
        mlirExtPassAddStatistic(pass, 0, 1);
      }
    } while (!mlirOperationIsNull(found));
  }
  tileOpsFree(&loops);
  return true;
}

const MlirExtPassDefinition tileReduceAtomicsPass = {
    .argument = "tile-reduce-atomics",
    .summary = "Sum in registers what every round of a loop adds to the same tile of memory",
    .anchor = tileKernelOpName,
    .statistics = statistics,
    .dialects = (const char *const[]){"arith", NULL},
    .run = run,
};
