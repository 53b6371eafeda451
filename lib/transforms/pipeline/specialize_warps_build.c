// The kernel with partitions of warps: one loads both factors of a product into rings, the others multiply and do all
// that follows. See specialize_warps.h.
// How: the partitions are made of ops that use values from outside, which create_partitions.h makes captures of.
#include "lib/transforms/pipeline/specialize_warps.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/facts.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/enclosing.h"
#include "lib/transforms/pipeline/create_partitions.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <stdlib.h>

enum { Load, Multiply, Finish };

//===--- buffers and barriers -----------------------------------------------------------------===//

static MlirValue buildBuffer(TileBuilder *builder, MlirType tile, const TileLayout *layout, int64_t stages) {
  int64_t shape[] = {tileTypeGetSize(tile, 0), tileTypeGetSize(tile, 1)};
  MlirType type = tileBufferTypeGet(2, shape, tileTypeGetElement(tile), tileLayoutAttrGet(builder->context, layout),
                                    "shared", stages);
  return tileAllocOpBuild(builder, type);
}

MlirValue tileSpecializeTensor(TileBuilder *builder, MlirType tile, int64_t stages) {
  enum { Lanes = 128 };
  int64_t shape[] = {tileTypeGetSize(tile, 0), tileTypeGetSize(tile, 1)};
  TileLayout layout = tileLayoutEmpty(TileLayoutMemory);
  tileLayoutAppendWalk(&layout, TileLayoutOffset, (uint64_t)shape[1], 1, 1, NULL);
  tileLayoutAppendWalk(&layout, TileLayoutOffset, (uint64_t)shape[0] / Lanes, 0, Lanes, NULL);
  tileLayoutAppendWalk(&layout, TileLayoutOffset, Lanes, 0, 1, NULL);
  return tileAllocOpBuild(builder, tileBufferTypeGet(2, shape, tileTypeGetElement(tile),
                                                     tileLayoutAttrGet(builder->context, &layout), "tmem", stages));
}

static void buildSums(SpecializeMade *made, TileBuilder *builder) {
  const SpecializePlan *plan = made->plan;
  made->sums = tileSpecializeTensor(builder, plan->products[0].sums, plan->sumStages);
  made->done = tileAllocOpBuild(builder, tileBarrierTypeGet(builder->context, plan->sumStages, 1));
  if (plan->isSum)
    made->taken = tileAllocOpBuild(builder, tileBarrierTypeGet(builder->context, plan->sumStages, 1));
  else
    tileSpecializeTensorMemory(made, builder);
}

static void buildRows(SpecializeMade *made, TileBuilder *builder, MlirType barrier) {
  const SpecializePlan *plan = made->plan;
  for (int i = 0; i < plan->rowCount; ++i) {
    MlirType tile = tileLoadOpGetResultType(plan->rows[i]);
    int64_t size = tileTypeGetSize(tile, 0);
    TileLayout layout = tileLayoutEmpty(TileLayoutMemory);
    tileLayoutAppendWalk(&layout, TileLayoutOffset, (uint64_t)size, 0, 1, NULL);
    made->rows[i] = tileAllocOpBuild(builder, tileBufferTypeGet(1, &size, tileTypeGetElement(tile),
                                                                tileLayoutAttrGet(builder->context, &layout), "shared",
                                                                plan->stages));
  }
  if (!plan->rowCount)
    return;
  made->rowsFull = tileAllocOpBuild(builder, barrier);
  made->rowsEmpty = tileAllocOpBuild(builder, barrier);
}

static void buildMemory(SpecializeMade *made, TileBuilder *builder) {
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
  buildRows(made, builder, barrier);
  if (plan->isTensor)
    buildSums(made, builder);
  if (plan->kept)
    made->kept = tileAllocOpBuild(builder, tileBarrierTypeGet(builder->context, 1, 1));
  if (mlirOperationIsNull(plan->tail.loop))
    return;
  const int64_t one = 1;
  MlirType index = mlirIndexTypeGet(builder->context);
  made->told = tileAllocOpBuild(builder, tileBarrierTypeGet(builder->context, 1, 1));
  made->end = tileAllocOpBuild(builder, mlirMemRefTypeContiguousGet(index, 1, &one, mlirAttributeGetNull()));
}

static MlirValue buildDistance(TileBuilder *builder, MlirValue index, MlirValue from) {
  int64_t first;
  return tileConstantIndex(from, &first) && first == 0 ? index : arithSubIOpBuild(builder, index, from);
}

// The number of a loop's round. Those of the second loop follow those of the first one.
MlirValue tileSpecializeRound(TileBuilder *builder, const SpecializePlan *plan, MlirOperation loop, MlirValue index) {
  MlirValue round = buildDistance(builder, index, scfForOpGetLowerBound(loop));
  if (mlirOperationEqual(loop, plan->loop))
    return round;
  MlirValue before = buildDistance(builder, scfForOpGetUpperBound(plan->loop), scfForOpGetLowerBound(plan->loop));
  return tileBuildAdd(builder, tileBuildMax(builder, before, tileBuildIndex(builder, 0)), round);
}

static MlirOperation loadOf(const SpecializePlan *plan, MlirOperation loop, int product, int side) {
  bool isTail = side && mlirOperationEqual(loop, plan->tail.loop);
  return isTail ? plan->tail.loads[product] : plan->products[product].factors[side].load;
}

// Sums in tensor memory that no product has written are not zero. A loop without rounds therefore gets one round, whose
// factors lie outside of their tensors: the engine brings their padding, zero.
static void buildRounds(SpecializeMade *made, TileBuilder *builder) {
  made->rounds = scfForOpGetUpperBound(made->plan->loop);
  if (!made->plan->isTensor || !made->plan->isSum || tileIndexFacts(made->rounds).low >= 1)
    return;
  made->any = arithCmpIOpBuild(builder, made->rounds, tileBuildIndex(builder, 0), ArithCmpI_Sgt);
  made->rounds = tileBuildMax(builder, made->rounds, tileBuildIndex(builder, 1));
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

// The index along an axis that does not change from round to round, if there is one, lies ahead of the tensor where
// there are no rounds.
static void leaveTensor(const SpecializeMade *made, TileBuilder *builder, MlirOperation loop, MlirOperation load,
                        MlirValue *indices) {
  intptr_t axis = 0;
  for (intptr_t i = 0; i < tileLoadOpGetNumIndices(load); ++i)
    if (tileIsOutside(loop, tileLoadOpGetIndices(load, i)))
      axis = i;
  if (!mlirValueIsNull(made->any))
    indices[axis] = arithSelectOpBuild(builder, made->any, indices[axis], tileBuildIndex(builder, -1));
}

static void buildCopy(const SpecializeMade *made, TileBuilder *builder, MlirOperation loop, MlirOperation load,
                      MlirValue buffer, MlirValue barrier, MlirValue round, Copies *copies) {
  MlirBlock body = mlirRegionGetFirstBlock(scfForOpGetRegion(loop));
  MlirValue indices[TILE_LAYOUT_MAX_AXES], source = cloneScalar(builder, body, tileLoadOpGetSource(load), copies);
  intptr_t count = tileLoadOpGetNumIndices(load);
  for (intptr_t i = 0; i < count; ++i)
    indices[i] = cloneScalar(builder, body, tileLoadOpGetIndices(load, i), copies);
  leaveTensor(made, builder, loop, load, indices);
  MlirOperation copy = tileCopyAsyncOpBuild(builder, (MlirType){NULL}, source, buffer, count, indices, barrier, round);
  tileCopyAsyncOpSetEngine(copy, mlirStringAttrGet(builder->context, tileString("tma")));
}

static void buildExpect(TileBuilder *builder, MlirValue barrier, MlirValue round, int64_t bytes) {
  MlirOperation arrival = tileBarrierArriveOpBuild(builder, barrier, round, (MlirValue){NULL});
  tileBarrierArriveOpSetExpect(arrival, mlirIntegerAttrGet(mlirIntegerTypeGet(builder->context, 64), bytes));
}

static void buildKept(const SpecializeMade *made, TileBuilder *builder, Copies *copies) {
  const SpecializePlan *plan = made->plan;
  MlirValue zero = tileBuildIndex(builder, 0);
  if (plan->kept)
    buildExpect(builder, made->kept, zero, plan->kept);
  for (int i = 0; i < 2 * plan->count; ++i) {
    const SpecializeFactor *factor = &plan->products[i / 2].factors[i % 2];
    if (factor->isKept)
      buildCopy(made, builder, plan->loop, factor->load, made->rings[i / 2].buffers[i % 2], made->kept, zero, copies);
  }
}

// Round k waits until round k - stages has been multiplied, and fills its place.
static void buildLoop(SpecializeMade *made, TileBuilder *builder, MlirOperation loop, MlirValue end, Copies *copies) {
  const SpecializePlan *plan = made->plan;
  MlirBlock old = mlirRegionGetFirstBlock(scfForOpGetRegion(loop)), body;
  tileBuildFor(builder, scfForOpGetLowerBound(loop), end, tileBuildIndex(builder, 1), 0, NULL, &body);
  TileBuilder inner = tileBuilderAtEnd(body, builder->location);
  MlirValue index = mlirBlockGetArgument(body, 0), round = tileSpecializeRound(&inner, plan, loop, index);
  MlirValue before = arithSubIOpBuild(&inner, round, tileBuildIndex(&inner, plan->stages));
  remember(copies, mlirBlockGetArgument(old, 0), index);
  if (plan->rowCount) {
    tileBarrierWaitOpBuild(&inner, made->rowsEmpty, before);
    buildExpect(&inner, made->rowsFull, round, plan->rowBytes);
  }
  for (int i = 0; i < plan->rowCount; ++i)
    buildCopy(made, &inner, loop, plan->rows[i], tileSlotOpBuild(&inner, made->rows[i], round), made->rowsFull, round,
              copies);
  for (int i = 0; i < plan->count; ++i) {
    const SpecializeProduct *product = &plan->products[i];
    if (!product->expected)
      continue;
    tileBarrierWaitOpBuild(&inner, made->rings[i].empty, before);
    buildExpect(&inner, made->rings[i].full, round, product->expected);
    for (int side = 0; side < 2; ++side)
      if (!mlirOperationIsNull(product->factors[side].load) && !product->factors[side].isKept)
        buildCopy(made, &inner, loop, loadOf(plan, loop, i, side),
                  tileSlotOpBuild(&inner, made->rings[i].buffers[side], round), made->rings[i].full, round, copies);
  }
  tileBuildYield(&inner, 0, NULL);
}

static void buildLoads(SpecializeMade *made, TileBuilder builder) {
  const SpecializePlan *plan = made->plan;
  Copies copies = {.count = 0};
  buildKept(made, &builder, &copies);
  buildLoop(made, &builder, plan->loop, made->rounds, &copies);
  if (!mlirOperationIsNull(plan->tail.loop)) {
    MlirValue zero = tileBuildIndex(&builder, 0);
    tileBarrierWaitOpBuild(&builder, made->told, zero);
    buildLoop(made, &builder, plan->tail.loop, memrefLoadOpBuild(&builder, made->end, 1, &zero), &copies);
  }
  tileYieldOpCreate(&builder, 0, NULL);
  free(copies.from);
  free(copies.to);
}

//===--- the partition that multiplies --------------------------------------------------------===//

static MlirValue buildProduct(const SpecializeMade *made, TileBuilder *builder, int number, MlirOperation op,
                              MlirValue round, MlirValue sums) {
  const SpecializeProduct *product = &made->plan->products[number];
  MlirValue factors[] = {tileMmaOpGetLhs(op), tileMmaOpGetRhs(op)}, none = {NULL};
  for (int side = 0; side < 2; ++side)
    if (!mlirOperationIsNull(product->factors[side].load)) {
      factors[side] = made->rings[number].buffers[side];
      if (!product->factors[side].isKept)
        factors[side] = tileSlotOpBuild(builder, factors[side], round);
    }
  if (product->expected)
    tileBarrierWaitOpBuild(builder, made->rings[number].full, round);
  MlirOperation started =
      tileMmaAsyncOpCreate(builder, mlirValueGetType(sums), factors[0], factors[1], sums, none, none, none,
                           mlirStringAttrGet(builder->context, tileString(product->name)));
  return tileMmaAsyncOpGetResult(started);
}

static MlirValue buildWait(TileBuilder *builder, MlirValue sums, int64_t pending) {
  return tileMmaWaitOpBuild(builder, sums, mlirIntegerAttrGet(mlirIntegerTypeGet(builder->context, 64), pending));
}

// At most one product is under way when a round ends: the place of the round before is free.
static MlirValue buildSum(const SpecializeMade *made, TileBuilder *builder) {
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
  MlirValue sums = buildProduct(made, &inner, 0, plan->products[0].op, round, mlirBlockGetArgument(body, 1));
  sums = buildWait(&inner, sums, 1);
  MlirValue before = arithSubIOpBuild(&inner, round, tileBuildIndex(&inner, 1));
  tileBarrierArriveOpBuild(&inner, made->rings[0].empty, before, none);
  tileBuildYield(&inner, 1, &sums);
  MlirValue done = buildWait(builder, scfForOpGetResults(loop, 0), 0);
  MlirValue last = arithSubIOpBuild(builder, scfForOpGetUpperBound(plan->loop), tileBuildIndex(builder, 1));
  tileBarrierArriveOpBuild(builder, made->rings[0].empty, last, none);
  return isWider ? arithTruncFOpBuild(builder, narrow, done) : done;
}

// One thread multiplies: a round's stage is free once its product is done, and the sums are there once all are.
static void buildTensorSum(const SpecializeMade *made, TileBuilder builder) {
  const SpecializePlan *plan = made->plan;
  const SpecializeRing *ring = &made->rings[0];
  MlirValue zero = tileBuildIndex(&builder, 0), none = {NULL};
  MlirBlock body;
  tileBarrierWaitOpBuild(&builder, made->taken,
                         arithSubIOpBuild(&builder, zero, tileBuildIndex(&builder, plan->sumStages)));
  MlirValue sums = tileSlotOpBuild(&builder, made->sums, zero);
  tileBuildFor(&builder, zero, made->rounds, tileBuildIndex(&builder, 1), 0, NULL, &body);
  TileBuilder inner = tileBuilderAtEnd(body, builder.location);
  MlirValue round = mlirBlockGetArgument(body, 0);
  MlirValue factors[] = {tileSlotOpBuild(&inner, ring->buffers[0], round),
                         tileSlotOpBuild(&inner, ring->buffers[1], round)};
  tileBarrierWaitOpBuild(&inner, ring->full, round);
  tileMmaAsyncOpCreate(&inner, (MlirType){NULL}, factors[0], factors[1], sums, ring->empty, round,
                       arithCmpIOpBuild(&inner, round, tileBuildIndex(&inner, 0), ArithCmpI_Sgt),
                       mlirStringAttrGet(inner.context, tileString(plan->products[0].name)));
  tileBuildYield(&inner, 0, NULL);
  MlirOperation arrival = tileBarrierArriveOpBuild(&builder, made->done, zero, none);
  tileBarrierArriveOpSetProducts(arrival, mlirUnitAttrGet(builder.context));
  tileYieldOpCreate(&builder, 0, NULL);
}

bool tileSpecializeIsZero(MlirValue tile) {
  MlirOperation op = tileDefiningOp(tile);
  MlirAttribute value =
      !mlirOperationIsNull(op) && arithConstantOpIsA(op) ? arithConstantOpGetValue(op) : mlirAttributeGetNull();
  if (mlirAttributeIsNull(value) || !mlirAttributeIsADenseElements(value) || !mlirDenseElementsAttrIsSplat(value))
    return false;
  MlirAttribute number = mlirDenseElementsAttrGetSplatValue(value);
  return mlirAttributeIsAFloat(number) ? mlirFloatAttrGetValueDouble(number) == 0
                                       : mlirIntegerAttrGetValueInt(number) == 0;
}

static MlirValue buildTakenSum(const SpecializeMade *made, TileBuilder *builder) {
  const SpecializePlan *plan = made->plan;
  MlirValue start = scfForOpGetInitArgs(plan->loop, 0), zero = tileBuildIndex(builder, 0), none = {NULL};
  MlirType narrow = mlirValueGetType(start), wide = plan->products[0].sums;
  bool isWider = !mlirTypeEqual(narrow, wide);
  tileBarrierWaitOpBuild(builder, made->done, zero);
  MlirValue sums = tileLoadOpBuild(builder, wide, tileSlotOpBuild(builder, made->sums, zero), 0, NULL);
  tileBarrierArriveOpBuild(builder, made->taken, zero, none);
  if (!tileSpecializeIsZero(start) && isWider)
    start = arithExtFOpBuild(builder, wide, start);
  if (!tileSpecializeIsZero(start))
    sums = mlirTypeIsAInteger(tileTypeGetElement(wide)) ? arithAddIOpBuild(builder, sums, start)
                                                        : arithAddFOpBuild(builder, sums, start);
  return isWider ? arithTruncFOpBuild(builder, narrow, sums) : sums;
}

// Rows are loaded from shared memory once they have landed, and their places given back at once.
static void takeRows(const SpecializeMade *made, MlirValue round) {
  const SpecializePlan *plan = made->plan;
  for (int i = 0; i < plan->rowCount; ++i) {
    MlirOperation load = plan->rows[i];
    TileBuilder before = tileBuilderBefore(load);
    if (!i)
      tileBarrierWaitOpBuild(&before, made->rowsFull, round);
    MlirValue row = tileLoadOpBuild(&before, tileLoadOpGetResultType(load),
                                    tileSlotOpBuild(&before, made->rows[i], round), 0, NULL);
    if (i == plan->rowCount - 1)
      tileBarrierArriveOpBuild(&before, made->rowsEmpty, round, (MlirValue){NULL});
    mlirValueReplaceAllUsesOfWith(tileLoadOpGetResult(load), row);
    mlirOperationDestroy(load);
  }
}

// The loop as it is, each product in its place: started once its factors are there, and done when the next op runs.
static void buildChain(const SpecializeMade *made, TileBuilder *builder, MlirOperation loop) {
  const SpecializePlan *plan = made->plan;
  bool isTail = mlirOperationEqual(loop, plan->tail.loop);
  MlirValue none = {NULL};
  if (plan->kept && !isTail)
    tileBarrierWaitOpBuild(builder, made->kept, tileBuildIndex(builder, 0));
  if (isTail) {
    MlirValue zero = tileBuildIndex(builder, 0);
    memrefStoreOpBuild(builder, scfForOpGetUpperBound(loop), made->end, 1, &zero);
    tileBarrierArriveOpBuild(builder, made->told, zero, none);
  }
  mlirOperationRemoveFromParent(loop);
  mlirBlockAppendOwnedOperation(builder->block, loop);
  MlirBlock body = mlirRegionGetFirstBlock(scfForOpGetRegion(loop));
  TileBuilder first = tileBuilderBefore(mlirBlockGetFirstOperation(body));
  MlirValue round = tileSpecializeRound(&first, plan, loop, mlirBlockGetArgument(body, 0));
  takeRows(made, round);
  for (int i = 0; i < plan->count; ++i) {
    MlirOperation op = isTail ? plan->tail.products[i] : plan->products[i].op;
    TileBuilder before = tileBuilderBefore(op);
    MlirValue sums = buildWait(&before, buildProduct(made, &before, i, op, round, tileMmaOpGetAccumulator(op)), 0);
    if (plan->products[i].expected)
      tileBarrierArriveOpBuild(&before, made->rings[i].empty, round, none);
    mlirValueReplaceAllUsesOfWith(tileMmaOpGetResult(op), sums);
    mlirOperationDestroy(op);
  }
}

// Through shared memory, from where the engine copies it.
static void buildStore(const SpecializeMade *made) {
  MlirOperation store = made->plan->store;
  TileBuilder builder = tileBuilderBefore(store);
  MlirValue indices[TILE_LAYOUT_MAX_AXES], none = {NULL};
  intptr_t count = tileStoreOpGetNumIndices(store);
  for (intptr_t i = 0; i < count; ++i)
    indices[i] = tileStoreOpGetIndices(store, i);
  tileStoreOpBuild(&builder, tileStoreOpGetValue(store), made->result, 0, NULL);
  tileFenceOpBuild(&builder, mlirStringAttrGet(builder.context, tileString("async")));
  tileSyncOpBuild(&builder);
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
  for (int i = 0; i < plan->count && !mlirOperationIsNull(plan->tail.loop); ++i)
    mlirOperationDestroy(plan->tail.loads[i]);
}

static void moveInside(SpecializeMade *made, TileBuilder builder) {
  const SpecializePlan *plan = made->plan;
  for (intptr_t i = 0; i < plan->inside.count; ++i) {
    MlirOperation op = plan->inside.items[i];
    if (mlirOperationEqual(op, plan->loop) && plan->isSum) {
      mlirValueReplaceAllUsesOfWith(scfForOpGetResults(op, 0),
                                    plan->isTensor ? buildTakenSum(made, &builder) : buildSum(made, &builder));
      MlirOperation start = tileDefiningOp(scfForOpGetInitArgs(op, 0));
      mlirOperationDestroy(op);
      if (plan->isTensor && !mlirOperationIsNull(start) && arithConstantOpIsA(start) &&
          mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(start))))
        mlirOperationDestroy(start);
    } else if (mlirOperationEqual(op, plan->loop) && plan->isTensor) {
      tileSpecializeTensorLoop(made, &builder);
    } else if (mlirOperationEqual(op, plan->loop) || mlirOperationEqual(op, plan->tail.loop)) {
      buildChain(made, &builder, op);
    } else {
      mlirOperationRemoveFromParent(op);
      mlirBlockAppendOwnedOperation(builder.block, op);
    }
  }
  if (!plan->isSum)
    destroyLoads(plan);
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
    if (mlirExtOperationIsPure(op) && !tileOpHasTiles(op) && !scfYieldOpIsA(op) && tileAreOperandsOutside(loop, op))
      mlirOperationMoveBefore(op, loop);
  }
}

static void buildPartitions(SpecializeMade *made, TileBuilder *builder) {
  const SpecializePlan *plan = made->plan;
  MlirContext context = builder->context;
  // Partitions of one thread share a group of warps.
  const int64_t group = SpecializeGroupWarps, half = group / 2, most = group * plan->groups;
  const int64_t warps[2][3] = {{group, most}, {half, half, most}};
  const int64_t registers[2][3] = {{plan->registers[0], plan->registers[1]},
                                   {plan->registers[0], plan->registers[0], plan->registers[1]}};
  static const char *const texts[] = {"load", "multiply", "finish"};
  int count = plan->isTensor ? 3 : 2;
  MlirAttribute names[3], limits = {NULL};
  for (int i = 0; i < count; ++i)
    names[i] = mlirStringAttrGet(context, tileString(texts[i]));
  if (plan->registers[Multiply])
    limits = mlirDenseI64ArrayGet(context, count, registers[plan->isTensor]);
  tilePartitionsCreate(builder, mlirArrayAttrGet(context, count, names),
                       mlirDenseI64ArrayGet(context, count, warps[plan->isTensor]), limits, (MlirAttribute){NULL},
                       count, made->regions);
  mlirOperationRemoveAttributeByName(plan->kernel, tileString("registers")); // of the warps as they were
  mlirOperationSetAttributeByName(plan->kernel, tileString("warps"),
                                  mlirIntegerAttrGet(mlirIntegerTypeGet(context, 32), group + most));
}

void tileSpecializeBuild(const SpecializePlan *plan) {
  SpecializeMade made = {.plan = plan};
  MlirBlock body = mlirOperationGetBlock(plan->loop);
  TileBuilder builder = tileBuilderBefore(mlirBlockGetTerminator(body));
  builder.location = mlirOperationGetLocation(plan->loop);
  hoistInvariants(plan->loop);
  if (!mlirOperationIsNull(plan->tail.loop))
    hoistInvariants(plan->tail.loop);
  buildMemory(&made, &builder);
  buildRounds(&made, &builder);
  buildLoads(&made, tileBuilderInRegion(&builder, &made.regions[Load], 0, NULL));
  if (plan->isTensor)
    (plan->isSum ? buildTensorSum : tileSpecializeTensorProducts)(
        &made, tileBuilderInRegion(&builder, &made.regions[Multiply], 0, NULL));
  moveInside(&made, tileBuilderInRegion(&builder, &made.regions[plan->isTensor ? Finish : Multiply], 0, NULL));
  buildPartitions(&made, &builder);
}
