// Two products in tensor memory, as in attention, in three partitions of warps. See specialize_warps.h.
//
//   load        one thread: factors, by an engine, into rings
//   multiply    one thread: scores of round k + 1; then, once `given`, weights times values of round k
//   finish      four warps, a row in each thread: takes the scores, computes weights, and gives them
//
// Weights lie in tensor memory, where a product reads its left factor. So do the sums of the second product: the warps
// rescale them there, once the product of the round before is done and before the next one starts. The scores of the
// next round and the second product of the round before run while the warps compute.
// Source: FlashAttention-4 (Dao et al., 2025) for the order; its second group of rows and its warps that only rescale
//   are left out.
#include "lib/transforms/pipeline/specialize_warps.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

enum { Scores, Outs, Rows = 128, WeightBits = 16 };

static const MlirValue none;

static MlirBlock bodyOf(MlirOperation loop) { return mlirRegionGetFirstBlock(scfForOpGetRegion(loop)); }

//===--- questions ----------------------------------------------------------------------------===//

// Which of the loop's values are the second product's sums: only rescaled and added to. -1: none.
static intptr_t sumsOf(const SpecializePlan *plan, MlirOperation *rescale) {
  MlirValue sums = tileMmaOpGetAccumulator(plan->products[Outs].op);
  *rescale = tileDefiningOp(sums);
  if (!mlirOperationIsNull(*rescale)) {
    if (!arithMulFOpIsA(*rescale) || !tileHasOneUse(sums) ||
        !mlirBlockEqual(mlirOperationGetBlock(*rescale), bodyOf(plan->loop)))
      return -1;
    bool isRight = mlirValueIsABlockArgument(tileBinaryRhs(*rescale));
    sums = isRight ? tileBinaryRhs(*rescale) : tileBinaryLhs(*rescale);
  }
  if (!mlirValueIsABlockArgument(sums) || !tileHasOneUse(sums) ||
      !mlirBlockEqual(mlirBlockArgumentGetOwner(sums), bodyOf(plan->loop)))
    return -1;
  intptr_t at = mlirBlockArgumentGetArgNumber(sums) - 1;
  MlirValue result = tileMmaOpGetResult(plan->products[Outs].op);
  MlirOperation end = mlirBlockGetTerminator(bodyOf(plan->loop));
  return at >= 0 && tileHasOneUse(result) && mlirValueEqual(scfYieldOpGetResults(end, at), result) ? at : -1;
}

bool tileSpecializeSuitsTensor(SpecializePlan *plan) {
  const SpecializeProduct *scores = &plan->products[Scores], *outs = &plan->products[Outs];
  if (plan->isSum || plan->count != 2 || !mlirOperationIsNull(plan->tail.loop) ||
      mlirOperationIsNull(scores->factors[0].load) || !mlirOperationIsNull(outs->factors[0].load))
    return false;
  MlirType weights = tileMmaOpGetLhsType(outs->op);
  intptr_t sums = sumsOf(plan, &plan->rescale);
  return tileTypeGetSize(weights, 0) == Rows && tileElementWidth(tileTypeGetElement(weights)) == WeightBits &&
         tileSpecializeIsZero(tileMmaOpGetAccumulator(scores->op)) && sums >= 0 &&
         tileSpecializeIsZero(scfForOpGetInitArgs(plan->loop, sums));
}

//===--- memory -------------------------------------------------------------------------------===//

void tileSpecializeTensorMemory(SpecializeMade *made, TileBuilder *builder) {
  const SpecializePlan *plan = made->plan;
  MlirType barrier = tileBarrierTypeGet(builder->context, 1, 1);
  made->weights = tileSpecializeTensor(builder, tileMmaOpGetLhsType(plan->products[Outs].op), 0);
  made->outs = tileSpecializeTensor(builder, plan->products[Outs].sums, 0);
  made->given = tileAllocOpBuild(builder, barrier);
  made->added = tileAllocOpBuild(builder, barrier);
}

//===--- the thread that multiplies -----------------------------------------------------------===//

// Tells one barrier that the round's stage is free, and one that the sums are there.
static void buildProduct(const SpecializeMade *made, TileBuilder *builder, int number, MlirValue left, MlirValue round,
                         MlirValue sums, MlirValue adds, MlirValue done) {
  const SpecializeRing *ring = &made->rings[number];
  MlirValue right = tileSlotOpBuild(builder, ring->buffers[1], round);
  tileBarrierWaitOpBuild(builder, ring->full, round);
  tileMmaAsyncOpCreate(builder, (MlirType){NULL}, left, right, sums, ring->empty, round, adds,
                       mlirStringAttrGet(builder->context, tileString(made->plan->products[number].name)));
  MlirOperation arrival = tileBarrierArriveOpBuild(builder, done, round, none);
  tileBarrierArriveOpSetProducts(arrival, mlirUnitAttrGet(builder->context));
}

static MlirValue isBelow(TileBuilder *builder, MlirValue a, MlirValue b) {
  return arithCmpIOpBuild(builder, a, b, ArithCmpI_Slt);
}

// Into the other place than the scores before. Its scores were taken when the weights made of them were given.
static void buildScores(const SpecializeMade *made, TileBuilder *builder, MlirValue round, MlirValue rounds) {
  const SpecializePlan *plan = made->plan;
  MlirRegion regions[] = {{NULL}, mlirRegionCreate()};
  TileBuilder inner = tileBuilderInRegion(builder, &regions[0], 0, NULL);
  const SpecializeFactor *left = &plan->products[Scores].factors[0];
  MlirValue queries = made->rings[Scores].buffers[0];
  buildProduct(made, &inner, Scores, left->isKept ? queries : tileSlotOpBuild(&inner, queries, round), round,
               tileSlotOpBuild(&inner, made->sums, round),
               tileBuildInteger(&inner, mlirIntegerTypeGet(inner.context, 1), 0), made->done);
  tileBuildYield(&inner, 0, NULL);
  scfIfOpBuild(builder, 0, NULL, isBelow(builder, round, rounds), regions[0], regions[1]);
}

static MlirValue roundsOf(const SpecializeMade *made, TileBuilder *builder) {
  return tileSpecializeRound(builder, made->plan, made->plan->loop, scfForOpGetUpperBound(made->plan->loop));
}

void tileSpecializeTensorProducts(const SpecializeMade *made, TileBuilder builder) {
  const SpecializePlan *plan = made->plan;
  MlirValue zero = tileBuildIndex(&builder, 0), one = tileBuildIndex(&builder, 1), rounds = roundsOf(made, &builder);
  MlirBlock body;
  if (plan->kept)
    tileBarrierWaitOpBuild(&builder, made->kept, zero);
  buildScores(made, &builder, zero, rounds);
  tileBuildFor(&builder, zero, rounds, one, 0, NULL, &body);
  TileBuilder inner = tileBuilderAtEnd(body, builder.location);
  MlirValue round = mlirBlockGetArgument(body, 0);
  buildScores(made, &inner, tileBuildAdd(&inner, round, tileBuildIndex(&inner, 1)), rounds);
  tileBarrierWaitOpBuild(&inner, made->given, round);
  buildProduct(made, &inner, Outs, made->weights, round, made->outs, isBelow(&inner, tileBuildIndex(&inner, 0), round),
               made->added);
  tileBuildYield(&inner, 0, NULL);
  tileYieldOpCreate(&builder, 0, NULL);
}

//===--- the warps that compute ---------------------------------------------------------------===//

static void takeScores(const SpecializeMade *made, MlirValue round) {
  MlirOperation op = made->plan->products[Scores].op;
  TileBuilder before = tileBuilderBefore(op);
  tileBarrierWaitOpBuild(&before, made->done, round);
  MlirValue scores =
      tileLoadOpBuild(&before, made->plan->products[Scores].sums, tileSlotOpBuild(&before, made->sums, round), 0, NULL);
  mlirValueReplaceAllUsesOfWith(tileMmaOpGetResult(op), scores);
  mlirOperationDestroy(op);
}

// Behind the product of the round before, which also reads the weights: the sums are multiplied where they are.
static void rescaleSums(const SpecializeMade *made, TileBuilder *builder, MlirValue round) {
  MlirOperation rescale = made->plan->rescale;
  MlirRegion regions[] = {{NULL}, mlirRegionCreate()};
  TileBuilder inner = tileBuilderInRegion(builder, &regions[0], 0, NULL);
  MlirValue zero = tileBuildIndex(builder, 0);
  tileBarrierWaitOpBuild(&inner, made->added, arithSubIOpBuild(&inner, round, tileBuildIndex(&inner, 1)));
  if (!mlirOperationIsNull(rescale)) {
    MlirOperation product = mlirOperationClone(rescale);
    MlirValue sums = tileLoadOpBuild(&inner, made->plan->products[Outs].sums, made->outs, 0, NULL);
    mlirOperationSetOperand(product, mlirValueIsABlockArgument(tileBinaryRhs(rescale)), sums);
    tileBuilderInsert(&inner, product);
    tileStoreOpBuild(&inner, tileOnlyResult(product), made->outs, 0, NULL);
  }
  tileBuildYield(&inner, 0, NULL);
  scfIfOpBuild(builder, 0, NULL, isBelow(builder, zero, round), regions[0], regions[1]);
}

static void giveWeights(const SpecializeMade *made, MlirValue round, intptr_t sums) {
  MlirOperation op = made->plan->products[Outs].op, rescale = made->plan->rescale;
  TileBuilder before = tileBuilderBefore(op);
  rescaleSums(made, &before, round);
  tileStoreOpBuild(&before, tileMmaOpGetLhs(op), made->weights, 0, NULL);
  tileBarrierArriveOpBuild(&before, made->given, round, none);
  // The loop carries what it began with: the sums are elsewhere.
  mlirValueReplaceAllUsesOfWith(tileMmaOpGetResult(op), mlirBlockGetArgument(bodyOf(made->plan->loop), sums + 1));
  mlirOperationDestroy(op);
  if (!mlirOperationIsNull(rescale))
    mlirOperationDestroy(rescale);
}

// Without a round the sums are what they began with.
static void takeSums(const SpecializeMade *made, TileBuilder *builder, intptr_t sums) {
  MlirOperation loop = made->plan->loop;
  MlirType type = made->plan->products[Outs].sums;
  MlirValue rounds = roundsOf(made, builder), start = scfForOpGetInitArgs(loop, sums);
  MlirRegion regions[2];
  TileBuilder some = tileBuilderInRegion(builder, &regions[0], 0, NULL),
              nothing = tileBuilderInRegion(builder, &regions[1], 0, NULL);
  tileBarrierWaitOpBuild(&some, made->added, arithSubIOpBuild(&some, rounds, tileBuildIndex(&some, 1)));
  MlirValue loaded = tileLoadOpBuild(&some, type, made->outs, 0, NULL);
  tileBuildYield(&some, 1, &loaded);
  tileBuildYield(&nothing, 1, &start);
  MlirValue any = isBelow(builder, tileBuildIndex(builder, 0), rounds);
  mlirValueReplaceAllUsesOfWith(scfForOpGetResults(loop, sums),
                                tileOnlyResult(scfIfOpBuild(builder, 1, &type, any, regions[0], regions[1])));
}

void tileSpecializeTensorLoop(const SpecializeMade *made, TileBuilder *builder) {
  MlirOperation loop = made->plan->loop, rescale;
  intptr_t sums = sumsOf(made->plan, &rescale);
  mlirOperationRemoveFromParent(loop);
  mlirBlockAppendOwnedOperation(builder->block, loop);
  TileBuilder first = tileBuilderBefore(mlirBlockGetFirstOperation(bodyOf(loop)));
  MlirValue round = tileSpecializeRound(&first, made->plan, loop, mlirBlockGetArgument(bodyOf(loop), 0));
  takeScores(made, round);
  giveWeights(made, round, sums);
  takeSums(made, builder, sums);
}
