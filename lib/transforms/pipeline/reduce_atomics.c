// tile-reduce-atomics: what every round of a loop adds to the same tile of memory is summed in registers and added
// once. Expects: kernels at either level, with tile.store combine(add) of a view in an scf.for, to a place that is the
// same in
//   all rounds, in memory the loop does not touch otherwise. Leaves: the sum carried round the loop and one store
//   behind it: S rounds of M x N atomics become M x N. Sums are taken in another order, as docs/numerics.md allows for
//   combine.
// Source: KNYFE. Cost: linear in the ops of loops.
#include "lib/transforms/pipeline/pipeline.h"

#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "lib/transforms/pipeline/loops.h"
#include "mlir-c/BuiltinAttributes.h"

static const char *const statistics[] = {"reduced: combining stores moved behind a loop", NULL};

//===--- questions ----------------------------------------------------------------------===//

static bool adds(MlirOperation op) {
  MlirAttribute combine = tileOpAttribute(op, "combine");
  return !mlirAttributeIsNull(combine) && tileStringEquals(mlirStringAttrGetValue(combine), "add");
}

typedef struct Others {
  MlirOperation loop, store;
  bool found;
} Others;

// Any other op that reaches memory might see a sum too early.
static MlirWalkResult findOther(MlirOperation op, void *data) {
  static const char *const harmless[] = {"scf.for", "scf.if", "scf.yield", "scf.while", "scf.condition", "tile.load"};
  Others *others = data;
  bool ok = mlirOperationEqual(op, others->loop) || mlirOperationEqual(op, others->store) || mlirExtOperationIsPure(op);
  for (size_t i = 0; !ok && i < sizeof harmless / sizeof *harmless; ++i)
    ok = tileOpIs(op, harmless[i]);
  others->found = !ok;
  return ok ? MlirWalkResultAdvance : MlirWalkResultInterrupt;
}

// The memref that a view shows, behind what only describes it; null if it is none of the kernel's parameters.
static MlirValue rootOf(MlirValue memory) {
  for (MlirOperation op = tileDefiningOp(memory); !mlirOperationIsNull(op); op = tileDefiningOp(memory)) {
    if (!tileOpIs(op, "tile.view") && !tileOpIs(op, "tile.assume") && !tileOpIs(op, "memref.cast"))
      return (MlirValue){NULL};
    memory = mlirOperationGetOperand(op, 0);
  }
  return memory;
}

typedef struct Loads {
  MlirValue root;
  bool found;
} Loads;

static MlirWalkResult findLoad(MlirOperation op, void *data) {
  Loads *loads = data;
  if (!tileOpIs(op, "tile.load") || !tileTypeIsAView(tileOperandType(op, 0)))
    return MlirWalkResultAdvance;
  MlirValue root = rootOf(mlirOperationGetOperand(op, 0));
  loads->found = mlirValueIsNull(root) || tileParametersMayOverlap(root, loads->root);
  return loads->found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

static bool isAlone(MlirOperation loop, MlirOperation store) {
  Others others = {loop, store, false};
  Loads loads = {rootOf(mlirOperationGetOperand(store, 1)), false};
  if (mlirValueIsNull(loads.root))
    return false;
  mlirOperationWalk(loop, findOther, &others, MlirWalkPreOrder);
  mlirOperationWalk(loop, findLoad, &loads, MlirWalkPreOrder);
  return !others.found && !loads.found;
}

static bool mayReduce(MlirOperation loop, MlirOperation op) {
  if (!tileOpIs(op, "tile.store") || !adds(op) || !tileTypeIsAView(tileOperandType(op, 1)) ||
      !tileTypeIsATile(tileOperandType(op, 0)))
    return false;
  for (intptr_t i = 1; i < mlirOperationGetNumOperands(op); ++i)
    if (!tileIsInvariant(loop, mlirOperationGetOperand(op, i)))
      return false;
  return isAlone(loop, op);
}

//===--- the rewrite ----------------------------------------------------------------------===//

// -0.0 is what adds nothing, even to -0.0.
static MlirValue neutral(TileBuilder *builder, MlirType type) {
  MlirType element = tileTypeGetElement(type);
  MlirAttribute zero = mlirTypeIsAFloat(element) ? mlirFloatAttrDoubleGet(builder->context, element, -0.0)
                                                 : mlirIntegerAttrGet(element, 0);
  TileAttributeEntry attributes[] = {{"value", mlirDenseElementsAttrSplatGet(type, zero)}, {NULL}};
  return tileBuildValue(builder, "arith.constant", type, 0, NULL, attributes);
}

static MlirOperation reduce(MlirOperation loop, MlirOperation store) {
  MlirType type = tileOperandType(store, 0);
  TileBuilder before = tileBuilderBefore(loop);
  MlirValue start = neutral(&before, type);
  intptr_t number = mlirOperationGetNumResults(loop);
  MlirOperation made = tileLoopCarryMore(loop, 1, &start);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(made, 0));
  TileBuilder at = tileBuilderBefore(store);
  const char *add = mlirTypeIsAFloat(tileTypeGetElement(type)) ? "arith.addf" : "arith.addi";
  MlirValue terms[] = {mlirBlockGetArgument(body, number + 1), mlirOperationGetOperand(store, 0)};
  MlirValue sum = tileBuildValue(&at, add, type, 2, terms, NULL);
  mlirOperationRemoveFromParent(store);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(made), made, store);
  mlirOperationSetOperand(store, 0, mlirOperationGetResult(made, number));
  tileLoopYieldMore(made, 1, &sum);
  return made;
}

//===--- the pass -------------------------------------------------------------------------===//

static bool run(MlirOperation kernel, MlirExtPass pass) {
  // Post order: a sum that leaves an inner loop may leave the next one too.
  TileOps loops = tileCollect(kernel, "scf.for");
  for (intptr_t i = 0; i < loops.count; ++i) {
    MlirOperation loop = loops.items[i], found = {NULL};
    do {
      MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 0));
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

static void dependentDialects(MlirDialectRegistry registry) {
  tileInsertDialects(registry, (const char *const[]){"arith", NULL});
}

const MlirExtPassDefinition tileReduceAtomicsPass = {
    .argument = "tile-reduce-atomics",
    .summary = "Sum in registers what every round of a loop adds to the same tile of memory",
    .anchor = "tile.kernel",
    .statistics = statistics,
    .dependentDialects = dependentDialects,
    .run = run,
};
