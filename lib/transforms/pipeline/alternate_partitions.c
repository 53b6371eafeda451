// tile-alternate-partitions: two groups of warps multiply tiles of their own, in turn.
//
//   partition "multiply" { for n { for k { product }; tile out } }   →
//   partition "multiply"   { for n = 0, 2, … { wait %turn[n - 1]; for k { product }; arrive %turn[n]; tile out } }
//   partition "multiply_2" { for n = 1, 3, … { the same } }
//
// Why: while one group rounds and stores its tile, the other one multiplies the next tile. With one group, or two that
//   share a tile, the tensor cores rest meanwhile.
// Expects: kernels whose schedule says `specialize = [4, 4, 4]`, after tile-make-persistent, tile-assign-layouts and
//   tile-specialize-stores: one partition walks over tiles and multiplies in an inner loop.
// Leaves: that partition twice, with four more warps in the kernel. The barrier `turn` lets a group begin its products
//   when the other one has started all of its own. Rings and the result's buffer are shared: their uses are counted by
//   tiles, so that each use has one group. A wait names the parity of a round, which says whether a round is over only
//   to who knows that the round before it is: `turn` tells that of the ring's rounds, and has a stage for each group.
// A schedule that a kernel cannot obey is an error at the kernel: where no partition walks over tiles, or where both
//   groups would use shared memory that no barrier passes on.
// Sources: CUTLASS's ping-pong kernels (sm90_gemm_tma_warpspecialized_pingpong.hpp), whose order barrier `turn` is.
// Cost: linear in the ops.
#include "lib/transforms/pipeline/pipeline.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "lib/transforms/pipeline/create_partitions.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

static const char *const statistics[] = {"alternated: kernels of which two groups multiply in turn", NULL};

enum { Groups = 2, LowerBound = 0, Step = 2 };

typedef struct Turns {
  MlirOperation kernel, partitions; // the tile.warp_specialize
  intptr_t walker;                  // the partition that multiplies
  MlirOperation walk, rounds;       // its loop over tiles, and the loop of products in that
} Turns;

//===--- questions ----------------------------------------------------------------------------===//

static MlirBlock bodyOf(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

// The only loop of the walk's body; null: none, or several.
static MlirOperation roundsOf(MlirOperation walk) {
  MlirOperation rounds = {NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(bodyOf(walk, 0)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (scfForOpIsA(op)) {
      if (!mlirOperationIsNull(rounds))
        return (MlirOperation){NULL};
      rounds = op;
    }
  return rounds;
}

static MlirWalkResult findProduct(MlirOperation op, void *found) {
  *(bool *)found |= tileMmaAsyncOpIsA(op);
  return MlirWalkResultAdvance;
}

static bool findWalker(Turns *turns) {
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(turns->partitions); ++i) {
    bool multiplies = false;
    turns->walker = i;
    turns->walk = tilePartitionWalk(bodyOf(turns->partitions, i));
    turns->rounds = mlirOperationIsNull(turns->walk) ? turns->walk : roundsOf(turns->walk);
    if (!mlirOperationIsNull(turns->rounds))
      mlirOperationWalk(turns->rounds, findProduct, &multiplies, MlirWalkPreOrder);
    if (multiplies)
      return true;
  }
  return false;
}

// The op before this one in its block; null: none.
static MlirOperation opBefore(MlirOperation op) {
  MlirOperation before = {NULL};
  for (MlirOperation other = mlirBlockGetFirstOperation(mlirOperationGetBlock(op)); !mlirOperationEqual(other, op);
       other = mlirOperationGetNextInBlock(other))
    before = other;
  return before;
}

static bool isSharedMemory(MlirType type) { return tileTypeIsABuffer(type) || mlirTypeIsAMemRef(type); }

// Shared memory that the group accesses by its own threads or copies out, and that no wait for a barrier gives to it.
static MlirWalkResult findUnguarded(MlirOperation op, void *found) {
  bool isKept = tileSlotOpIsA(op) || tileMmaAsyncOpIsA(op) || mlirOperationGetNumRegions(op) || tileViewOpIsA(op);
  bool isStore = tileStoreOpIsA(op) && tileTypeIsABuffer(tileStoreOpGetDestinationType(op));
  MlirOperation before = isStore ? opBefore(op) : (MlirOperation){NULL};
  if (isKept || (!mlirOperationIsNull(before) && tileBarrierWaitOpIsA(before)))
    return MlirWalkResultAdvance;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue memory = mlirOperationGetOperand(op, i);
    if (isSharedMemory(mlirValueGetType(memory)) && tileAllocOpIsA(tileDefiningOp(tileRootOf(memory)))) {
      *(MlirOperation *)found = op;
      return MlirWalkResultInterrupt;
    }
  }
  return MlirWalkResultAdvance;
}

static bool readKernel(Turns *turns) {
  MlirOperation unguarded = {NULL};
  turns->partitions = tilePartitionsOf(turns->kernel);
  if (mlirOperationIsNull(turns->partitions) || !findWalker(turns))
    return tileError(turns->kernel,
                     "schedule: `specialize` names groups that multiply in turn, but no partition walks over tiles; "
                     "that takes a constant grid of more tiles than the machine has cores");
  if (mlirOperationGetNumRegions(turns->partitions) >= TileMostPartitions ||
      tileArrayCount(turns->partitions, "threads"))
    return tileError(turns->partitions, "schedule: `specialize` names groups that multiply in turn, but the kernel has "
                                        "partitions of its own already");
  mlirOperationWalk(turns->walk, findUnguarded, &unguarded, MlirWalkPreOrder);
  return mlirOperationIsNull(unguarded) ||
         tileError(unguarded, "uses shared memory that no barrier passes from one group to the other; "
                              "schedule: `specialize` cannot name groups that multiply in turn here");
}

//===--- changes ------------------------------------------------------------------------------===//

static MlirWalkResult replaceOperands(MlirOperation op, void *table) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    void *known = tileTableFind(table, mlirOperationGetOperand(op, i).ptr);
    if (known)
      mlirOperationSetOperand(op, i, (MlirValue){known});
  }
  return MlirWalkResultAdvance;
}

static MlirRegion copyRegion(const TileBuilder *builder, MlirRegion region) {
  MlirRegion copy;
  TileTable table = {0};
  TileBuilder inside = tileBuilderInRegion(builder, &copy, 0, NULL);
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(region)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirOperation clone = mlirOperationClone(op);
    mlirOperationWalk(clone, replaceOperands, &table, MlirWalkPreOrder);
    tileBuilderInsert(&inside, clone);
    for (intptr_t r = 0; r < mlirOperationGetNumResults(op); ++r)
      tileTableSet(&table, mlirOperationGetResult(op, r).ptr, (void *)mlirOperationGetResult(clone, r).ptr);
  }
  tileTableFree(&table);
  return copy;
}

static void addTurn(const Turns *turns, MlirValue turn) {
  MlirValue tile = mlirBlockGetArgument(bodyOf(turns->walk, 0), 0), none = {NULL};
  TileBuilder before = tileBuilderBefore(turns->rounds), after = tileBuilderAfter(turns->rounds);
  tileBarrierWaitOpBuild(&before, turn, arithSubIOpBuild(&before, tile, tileBuildIndex(&before, 1)));
  tileBarrierArriveOpBuild(&after, turn, tile, none);
}

// Every second tile, from this one on.
static void walkFrom(MlirRegion region, int64_t first) {
  MlirOperation walk = tilePartitionWalk(mlirRegionGetFirstBlock(region));
  TileBuilder builder = tileBuilderBefore(walk);
  mlirOperationSetOperand(walk, LowerBound, tileBuildIndex(&builder, first));
  mlirOperationSetOperand(walk, Step, tileBuildIndex(&builder, Groups));
}

// The list with the walker's entry a second time, behind it.
static MlirAttribute listWith(const Turns *turns, const char *name) {
  int64_t list[TileMostPartitions];
  intptr_t count = tileArrayCount(turns->partitions, name), j = 0;
  for (intptr_t i = 0; i < count; ++i)
    for (int copy = 0; copy <= (i == turns->walker); ++copy)
      list[j++] = tileArrayAt(turns->partitions, name, i);
  return count ? mlirDenseI64ArrayGet(mlirOperationGetContext(turns->kernel), j, list) : (MlirAttribute){NULL};
}

static MlirAttribute namesWith(const Turns *turns) {
  MlirAttribute old = tileWarpSpecializeOpGetNames(turns->partitions), names[TileMostPartitions];
  MlirContext context = mlirOperationGetContext(turns->kernel);
  intptr_t j = 0;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(old); ++i) {
    names[j++] = mlirArrayAttrGetElement(old, i);
    if (i == turns->walker)
      names[j++] = mlirStringAttrGet(context, tileString("multiply_2"));
  }
  return mlirArrayAttrGet(context, j, names);
}

static void alternate(const Turns *turns) {
  MlirOperation old = turns->partitions;
  MlirRegion taken[TileMostPartitions], regions[TileMostPartitions];
  intptr_t count = mlirOperationGetNumRegions(old), j = 0;
  int64_t warps = tileWarpsOf(turns->kernel) + tileArrayAt(old, "warps", turns->walker);
  MlirValue turn = tilePartitionsAddBarrier(turns->kernel, old, Groups);
  TileBuilder builder = tileBuilderBefore(old);
  builder.location = mlirOperationGetLocation(old);
  addTurn(turns, turn);
  tilePartitionsTake(old, taken);
  for (intptr_t i = 0; i < count; ++i) {
    regions[j++] = taken[i];
    if (i != turns->walker)
      continue;
    regions[j] = copyRegion(&builder, taken[i]);
    walkFrom(taken[i], 0);
    walkFrom(regions[j++], 1);
  }
  tilePartitionsCreate(&builder, namesWith(turns), listWith(turns, "warps"), listWith(turns, "registers"),
                       (MlirAttribute){NULL}, (int)j, regions);
  mlirOperationDestroy(old);
  mlirOperationSetAttributeByName(turns->kernel, tileString("warps"),
                                  mlirIntegerAttrGet(mlirIntegerTypeGet(builder.context, 32), warps));
}

//===--- the pass -----------------------------------------------------------------------------===//

static bool run(MlirOperation kernel, MlirExtPass pass) {
  Turns turns = {.kernel = kernel};
  if (mlirBlockIsNull(bodyOf(kernel, 0)) || tileKernelOpHasOrdered(kernel) || !tileSchedulesTurns(kernel))
    return true;
  if (!readKernel(&turns))
    return false;
  alternate(&turns);
  mlirExtPassAddStatistic(pass, 0, 1);
  return true;
}

const MlirExtPassDefinition tileAlternatePartitionsPass = {
    .argument = "tile-alternate-partitions",
    .summary = "Let two groups of warps multiply tiles of their own in turn, where the schedule says so",
    .anchor = tileKernelOpName,
    .statistics = statistics,
    .dialects = (const char *const[]){"arith", "scf", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
