// The kernel with partitions of warps: one loads both factors of a product into rings, the others multiply and do all
// that follows. See specialize_warps.h.
// How: the partitions are made of ops that use values from outside, which create_partitions.h makes captures of.
#include "lib/transforms/pipeline/specialize_warps.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/transforms/pipeline/create_partitions.h"
#include "lib/transforms/pipeline/loops.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

#include <stdlib.h>

// What one product's loaded factors go through.
typedef struct Ring {
  MlirValue buffers[2], full, empty;
} Ring;

typedef struct Made {
  const SpecializePlan *plan;
  Ring rings[SpecializeProducts];
  MlirValue kept, result; // the barrier of what is loaded once; the result's buffer
  MlirRegion regions[2];  // load, multiply
} Made;

enum { Load, Multiply };

//===--- buffers and barriers -----------------------------------------------------------------===//

static MlirValue buildBuffer(TileBuilder *builder, MlirType tile, const TileLayout *layout, int64_t stages) {
  int64_t shape[] = {tileTypeGetSize(tile, 0), tileTypeGetSize(tile, 1)};
  MlirType type = tileBufferTypeGet(2, shape, tileTypeGetElement(tile), tileLayoutAttrGet(builder->context, layout),
                                    "shared", stages);
  return tileAllocOpBuild(builder, type);
}

static void buildMemory(Made *made, TileBuilder *builder) {
  const SpecializePlan *plan = made->plan;
  for (int i = 0; i < 2 * plan->count; ++i) {
    const SpecializeFactor *factor = &plan->products[i / 2].factors[i % 2];
    if (!mlirOperationIsNull(factor->load))
      made->rings[i / 2].buffers[i % 2] = buildBuffer(builder, tileLoadOpGetResultType(factor->load), &factor->layout,
                                                      factor->isKept ? 0 : plan->stages);
  }
  if (!mlirOperationIsNull(plan->store))
    made->result = buildBuffer(builder, tileStoreOpGetValueType(plan->store), &plan->result, 0);
  MlirType barrier = tileBarrierTypeGet(builder->context, plan->stages, 1);
  for (int i = 0; i < plan->count; ++i) {
    if (!plan->products[i].expected)
      continue;
    made->rings[i].full = tileAllocOpBuild(builder, barrier);
    made->rings[i].empty = tileAllocOpBuild(builder, barrier);
  }
  if (plan->kept)
    made->kept = tileAllocOpBuild(builder, tileBarrierTypeGet(builder->context, 1, 1));
}

// The number of a loop's round: its index, where it begins at 0.
static MlirValue buildRound(TileBuilder *builder, const SpecializePlan *plan, MlirValue index) {
  int64_t first;
  if (tileConstantIndex(scfForOpGetLowerBound(plan->loop), &first) && first == 0)
    return index;
  return arithSubIOpBuild(builder, index, scfForOpGetLowerBound(plan->loop));
}

//===--- the partition that loads -------------------------------------------------------------===//

typedef struct Copies {
  MlirValue *from, *to;
  intptr_t count;
} Copies;

static MlirValue copyOf(const Copies *copies, MlirValue value) {
  for (intptr_t i = 0; i < copies->count; ++i)
    if (mlirValueEqual(copies->from[i], value))
      return copies->to[i];
  return value;
}

static void remember(Copies *copies, MlirValue from, MlirValue to) {
  copies->from = realloc(copies->from, (size_t)(copies->count + 1) * sizeof *copies->from);
  copies->to = realloc(copies->to, (size_t)(copies->count + 1) * sizeof *copies->to);
  copies->from[copies->count] = from;
  copies->to[copies->count++] = to;
}

// What the loop computes of scalars, for where its tiles lie.
static MlirValue cloneScalar(TileBuilder *builder, MlirBlock body, MlirValue value, Copies *copies) {
  MlirOperation op = tileDefiningOp(value);
  MlirValue copy = copyOf(copies, value);
  if (mlirOperationIsNull(op) || !mlirValueEqual(copy, value) || !mlirBlockEqual(mlirOperationGetBlock(op), body))
    return copy;
  MlirOperation clone = mlirOperationClone(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirOperationSetOperand(clone, i, cloneScalar(builder, body, mlirOperationGetOperand(op, i), copies));
  tileBuilderInsert(builder, clone);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    remember(copies, mlirOperationGetResult(op, i), mlirOperationGetResult(clone, i));
  return copyOf(copies, value);
}

static void buildCopy(const Made *made, TileBuilder *builder, MlirOperation load, MlirValue buffer, MlirValue barrier,
                      MlirValue round, Copies *copies) {
  MlirBlock body = mlirRegionGetFirstBlock(scfForOpGetRegion(made->plan->loop));
  MlirValue indices[TILE_LAYOUT_MAX_AXES], source = cloneScalar(builder, body, tileLoadOpGetSource(load), copies);
  intptr_t count = tileLoadOpGetNumIndices(load);
  for (intptr_t i = 0; i < count; ++i)
    indices[i] = cloneScalar(builder, body, tileLoadOpGetIndices(load, i), copies);
  MlirOperation copy = tileCopyAsyncOpBuild(builder, (MlirType){NULL}, source, buffer, count, indices, barrier, round);
  tileCopyAsyncOpSetEngine(copy, mlirStringAttrGet(builder->context, tileString("tma")));
}

static void buildExpect(TileBuilder *builder, MlirValue barrier, MlirValue round, int64_t bytes) {
  tileBarrierArriveOpCreate(builder, barrier, round, (MlirValue){NULL},
                            mlirIntegerAttrGet(mlirIntegerTypeGet(builder->context, 64), bytes));
}

static void buildKept(const Made *made, TileBuilder *builder, Copies *copies) {
  const SpecializePlan *plan = made->plan;
  MlirValue zero = tileBuildIndex(builder, 0);
  if (plan->kept)
    buildExpect(builder, made->kept, zero, plan->kept);
  for (int i = 0; i < 2 * plan->count; ++i) {
    const SpecializeFactor *factor = &plan->products[i / 2].factors[i % 2];
    if (factor->isKept)
      buildCopy(made, builder, factor->load, made->rings[i / 2].buffers[i % 2], made->kept, zero, copies);
  }
}

// Round k waits until round k - stages has been multiplied, and fills its place.
static void buildLoads(Made *made, TileBuilder builder) {
  const SpecializePlan *plan = made->plan;
  MlirBlock old = mlirRegionGetFirstBlock(scfForOpGetRegion(plan->loop)), body;
  Copies copies = {.count = 0};
  buildKept(made, &builder, &copies);
  tileBuildFor(&builder, scfForOpGetLowerBound(plan->loop), scfForOpGetUpperBound(plan->loop),
               tileBuildIndex(&builder, 1), 0, NULL, &body);
  TileBuilder inner = tileBuilderAtEnd(body, builder.location);
  MlirValue index = mlirBlockGetArgument(body, 0), round = buildRound(&inner, plan, index);
  MlirValue before = arithSubIOpBuild(&inner, round, tileBuildIndex(&inner, plan->stages));
  remember(&copies, mlirBlockGetArgument(old, 0), index);
  for (int i = 0; i < plan->count; ++i) {
    const SpecializeProduct *product = &plan->products[i];
    if (!product->expected)
      continue;
    tileBarrierWaitOpBuild(&inner, made->rings[i].empty, before);
    buildExpect(&inner, made->rings[i].full, round, product->expected);
    for (int side = 0; side < 2; ++side)
      if (!mlirOperationIsNull(product->factors[side].load) && !product->factors[side].isKept)
        buildCopy(made, &inner, product->factors[side].load,
                  tileSlotOpBuild(&inner, made->rings[i].buffers[side], round), made->rings[i].full, round, &copies);
  }
  tileBuildYield(&inner, 0, NULL);
  tileYieldOpCreate(&builder, 0, NULL);
  free(copies.from);
  free(copies.to);
}

//===--- the partition that multiplies --------------------------------------------------------===//

static MlirValue buildProduct(const Made *made, TileBuilder *builder, int number, MlirValue round, MlirValue sums) {
  const SpecializeProduct *product = &made->plan->products[number];
  MlirValue factors[] = {tileMmaOpGetLhs(product->op), tileMmaOpGetRhs(product->op)}, none = {NULL};
  for (int side = 0; side < 2; ++side)
    if (!mlirOperationIsNull(product->factors[side].load)) {
      factors[side] = made->rings[number].buffers[side];
      if (!product->factors[side].isKept)
        factors[side] = tileSlotOpBuild(builder, factors[side], round);
    }
  if (product->expected)
    tileBarrierWaitOpBuild(builder, made->rings[number].full, round);
  MlirOperation started = tileMmaAsyncOpCreate(builder, mlirValueGetType(sums), factors[0], factors[1], sums, none,
                                               none, mlirStringAttrGet(builder->context, tileString(product->name)));
  return tileMmaAsyncOpGetResult(started);
}

static MlirValue buildWait(TileBuilder *builder, MlirValue sums, int64_t pending) {
  return tileMmaWaitOpBuild(builder, sums, mlirIntegerAttrGet(mlirIntegerTypeGet(builder->context, 64), pending));
}

// At most one product is under way when a round ends: the place of the round before is free.
static MlirValue buildSum(const Made *made, TileBuilder *builder) {
  const SpecializePlan *plan = made->plan;
  MlirValue start = scfForOpGetInitArgs(plan->loop, 0), none = {NULL};
  MlirType narrow = mlirValueGetType(start), wide = plan->products[0].sums;
  bool isWider = !mlirTypeEqual(narrow, wide);
  MlirBlock body;
  if (isWider)
    start = arithExtFOpBuild(builder, wide, start);
  MlirOperation loop = tileBuildFor(builder, tileBuildIndex(builder, 0), scfForOpGetUpperBound(plan->loop),
                                    tileBuildIndex(builder, 1), 1, &start, &body);
  TileBuilder inner = tileBuilderAtEnd(body, builder->location);
  MlirValue round = mlirBlockGetArgument(body, 0);
  MlirValue sums = buildProduct(made, &inner, 0, round, mlirBlockGetArgument(body, 1));
  sums = buildWait(&inner, sums, 1);
  MlirValue before = arithSubIOpBuild(&inner, round, tileBuildIndex(&inner, 1));
  tileBarrierArriveOpBuild(&inner, made->rings[0].empty, before, none);
  tileBuildYield(&inner, 1, &sums);
  MlirValue done = buildWait(builder, scfForOpGetResults(loop, 0), 0);
  MlirValue last = arithSubIOpBuild(builder, scfForOpGetUpperBound(plan->loop), tileBuildIndex(builder, 1));
  tileBarrierArriveOpBuild(builder, made->rings[0].empty, last, none);
  return isWider ? arithTruncFOpBuild(builder, narrow, done) : done;
}

// The loop as it is, each product in its place: started once its factors are there, and done when the next op runs.
static void buildChain(const Made *made, TileBuilder *builder) {
  const SpecializePlan *plan = made->plan;
  if (plan->kept)
    tileBarrierWaitOpBuild(builder, made->kept, tileBuildIndex(builder, 0));
  mlirOperationRemoveFromParent(plan->loop);
  mlirBlockAppendOwnedOperation(builder->block, plan->loop);
  MlirBlock body = mlirRegionGetFirstBlock(scfForOpGetRegion(plan->loop));
  TileBuilder first = tileBuilderBefore(mlirBlockGetFirstOperation(body));
  MlirValue round = buildRound(&first, plan, mlirBlockGetArgument(body, 0)), none = {NULL};
  for (int i = 0; i < plan->count; ++i) {
    MlirOperation op = plan->products[i].op;
    TileBuilder before = tileBuilderBefore(op);
    MlirValue sums = buildWait(&before, buildProduct(made, &before, i, round, tileMmaOpGetAccumulator(op)), 0);
    if (plan->products[i].expected)
      tileBarrierArriveOpBuild(&before, made->rings[i].empty, round, none);
    mlirValueReplaceAllUsesOfWith(tileMmaOpGetResult(op), sums);
    mlirOperationDestroy(op);
  }
}

// Through shared memory, from where the engine copies it.
static void buildStore(const Made *made) {
  MlirOperation store = made->plan->store;
  TileBuilder builder = tileBuilderBefore(store);
  MlirValue indices[TILE_LAYOUT_MAX_AXES], none = {NULL};
  intptr_t count = tileStoreOpGetNumIndices(store);
  for (intptr_t i = 0; i < count; ++i)
    indices[i] = tileStoreOpGetIndices(store, i);
  tileStoreOpBuild(&builder, tileStoreOpGetValue(store), made->result, 0, NULL);
  tileFenceOpBuild(&builder, mlirStringAttrGet(builder.context, tileString("async")));
  tileSyncOpCreate(&builder);
  MlirOperation copy = tileCopyAsyncOpBuild(&builder, tileTokenTypeGet(builder.context), made->result,
                                            tileStoreOpGetDestination(store), count, indices, none, none);
  tileCopyAsyncOpSetEngine(copy, mlirStringAttrGet(builder.context, tileString("tma")));
  MlirValue token = tileCopyAsyncOpGetToken(copy);
  tileWaitOpBuild(&builder, 1, &token);
  mlirOperationDestroy(store);
}

static void destroyLoads(const SpecializePlan *plan) {
  for (int i = 0; i < 2 * plan->count; ++i)
    if (!mlirOperationIsNull(plan->products[i / 2].factors[i % 2].load))
      mlirOperationDestroy(plan->products[i / 2].factors[i % 2].load);
}

static void moveInside(Made *made, TileBuilder builder) {
  const SpecializePlan *plan = made->plan;
  for (intptr_t i = 0; i < plan->inside.count; ++i) {
    MlirOperation op = plan->inside.items[i];
    if (mlirOperationEqual(op, plan->loop) && plan->isSum) {
      mlirValueReplaceAllUsesOfWith(scfForOpGetResults(op, 0), buildSum(made, &builder));
      mlirOperationDestroy(op);
    } else if (mlirOperationEqual(op, plan->loop)) {
      buildChain(made, &builder);
      destroyLoads(plan);
    } else {
      mlirOperationRemoveFromParent(op);
      mlirBlockAppendOwnedOperation(builder.block, op);
    }
  }
  if (!mlirOperationIsNull(plan->store))
    buildStore(made);
  tileYieldOpCreate(&builder, 0, NULL);
}

//===--- the kernel ---------------------------------------------------------------------------===//

// What does not change from round to round stands before the loop, where both partitions can take it.
static void hoistInvariants(MlirOperation loop) {
  MlirBlock body = mlirRegionGetFirstBlock(scfForOpGetRegion(loop));
  for (MlirOperation op = mlirBlockGetFirstOperation(body), next; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (mlirExtOperationIsPure(op) && !tileOpHasTiles(op) && !scfYieldOpIsA(op) && tileAreOperandsInvariant(loop, op))
      mlirOperationMoveBefore(op, loop);
  }
}

static void buildPartitions(Made *made, TileBuilder *builder) {
  const SpecializePlan *plan = made->plan;
  MlirContext context = builder->context;
  const int64_t warps[] = {SpecializeGroupWarps, SpecializeGroupWarps * plan->groups};
  MlirAttribute names[] = {mlirStringAttrGet(context, tileString("load")),
                           mlirStringAttrGet(context, tileString("multiply"))};
  MlirAttribute registers = {NULL};
  if (plan->registers[Multiply])
    registers = mlirDenseI64ArrayGet(context, 2, plan->registers);
  tilePartitionsCreate(builder, mlirArrayAttrGet(context, 2, names), mlirDenseI64ArrayGet(context, 2, warps), registers,
                       2, made->regions);
  mlirOperationRemoveAttributeByName(plan->kernel, tileString("registers")); // of the warps as they were
  mlirOperationSetAttributeByName(plan->kernel, tileString("warps"),
                                  mlirIntegerAttrGet(mlirIntegerTypeGet(context, 32), warps[0] + warps[1]));
}

void tileSpecializeBuild(const SpecializePlan *plan) {
  Made made = {.plan = plan};
  MlirBlock body = mlirOperationGetBlock(plan->loop);
  TileBuilder builder = tileBuilderBefore(mlirBlockGetTerminator(body));
  builder.location = mlirOperationGetLocation(plan->loop);
  hoistInvariants(plan->loop);
  buildMemory(&made, &builder);
  buildLoads(&made, tileBuilderInRegion(&builder, &made.regions[Load], 0, NULL));
  moveInside(&made, tileBuilderInRegion(&builder, &made.regions[Multiply], 0, NULL));
  buildPartitions(&made, &builder);
}
