// tile-form-clusters: programs beside each other that load the same tiles share one copy.
//
//   tile.launch @k grid(%c132) …                →   tile.launch @k grid(%c132) cluster [2] …
//   tile.copy_async %B[%k, %j] … %full[%k]      →   scf.if (%k mod 2 = place) { … multicast [0] signals %full[%k] }
//   tile.barrier_arrive %empty[%k]              →   tile.barrier_arrive %empty[%k] multicast [0]
//
// Why: programs of a cluster run at the same time. What all of them need crosses the second-level cache's port once.
// Expects: private kernels of partitions (tile-specialize-warps, tile-make-persistent) whose schedule has
//   `cluster = [C]`, launched with a grid whose first size C divides.
// Leaves: C programs along axis 0 of the grid in a cluster. The programs take turns to copy each tile that all of them
//   need; one copy writes the tile into every program. Before a copy, the partitions of all programs arrive at the
//   barrier that the copy waits for. tile-insert-barriers writes the cluster's own barriers.
//   A kernel stays as it is if no copy is provably the same in all programs, if the programs might run different
//   numbers of rounds, or if nothing tells the copy that its place is free. The option `remarks` reports the reason.
// Method: each value has a Kind: all programs of a cluster have the same value, or the values differ by the program's
//   place in the cluster, or nothing is known. A multiple of C plus the place, divided by a multiple of C, is the same
//   in all programs again.
// Sources: CUTLASS's multicast mainloops (sm90_mma_tma_gmma_ss_warpspecialized.hpp). Cost: linear in the ops, times the
//   depth of index arithmetic.
#include "lib/analysis/accesses.h"
#include "lib/transforms/pipeline/pipeline.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/facts.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/ir/support.h"
#include "lib/machine/machine.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/scf.h"

#include <stdlib.h>

static const char *const statistics[] = {"clusters: kernels whose programs form clusters",
                                         "shared: copies that one program makes for its cluster", NULL};

typedef struct Forming {
  MlirOperation kernel, partitions; // the tile.warp_specialize
  TileOps launches;
  int64_t blocks; // of a cluster
  TileOps copies; // that all programs of a cluster need
  const char *reason;
} Forming;

//===--- what the programs of a cluster know alike --------------------------------------------===//

// What is known of a value v in the program at place r of its cluster; s is the same in all programs.
typedef enum Kind {
  Same,      // v = s
  Beside,    // v = s + r
  Multiple,  // v = s + r, s a multiple of the cluster's blocks
  Before,    // v = s - r, s + 1 a multiple of them
  Different, // not known
} Kind;

static Kind kindOf(const Forming *f, MlirValue value);

static bool isMultiple(const Forming *f, MlirValue value) { return tileIndexFacts(value).multiple % f->blocks == 0; }

static Kind kindOfSum(const Forming *f, MlirValue left, MlirValue right) {
  Kind a = kindOf(f, left), b = kindOf(f, right);
  if (a == Same && b == Same)
    return Same;
  MlirValue same = a == Same ? left : right;
  Kind other = a == Same ? b : a;
  if ((a != Same && b != Same) || (other != Beside && other != Multiple))
    return Different;
  return other == Multiple && isMultiple(f, same) ? Multiple : Beside;
}

static Kind kindOfDifference(const Forming *f, MlirValue left, MlirValue right) {
  Kind a = kindOf(f, left), b = kindOf(f, right);
  int64_t constant;
  if (b == Same)
    return a == Multiple && !isMultiple(f, right) ? Beside : a == Before ? Different : a;
  bool ends = tileConstantIndex(left, &constant) && (constant + 1) % f->blocks == 0;
  return b == Multiple && ends ? Before : Different;
}

static Kind kindOfQuotient(const Forming *f, MlirOperation op) {
  int64_t divisor;
  Kind kind = kindOf(f, tileBinaryLhs(op));
  bool isDivided = tileConstantIndex(tileBinaryRhs(op), &divisor) && divisor > 0 && divisor % f->blocks == 0;
  if (kind == Same || !isDivided)
    return kind == Same ? kindOf(f, tileBinaryRhs(op)) : Different;
  if (arithDivUIOpIsA(op))
    return kind == Multiple || kind == Before ? Same : Different;
  return kind == Multiple ? Multiple : Different;
}

// Arguments of a partition are what it captures; loops go through the same rounds everywhere (areRoundsAlike).
static Kind kindOfArgument(const Forming *f, MlirValue argument) {
  MlirBlock block = mlirBlockArgumentGetOwner(argument);
  MlirOperation parent = mlirBlockGetParentOperation(block);
  intptr_t number = mlirBlockArgumentGetArgNumber(argument);
  if (tileWarpSpecializeOpIsA(parent))
    return kindOf(f, mlirOperationGetOperand(parent, number));
  if (scfForOpIsA(parent) && number == 0)
    return kindOf(f, scfForOpGetLowerBound(parent)) == Same && kindOf(f, scfForOpGetStep(parent)) == Same ? Same
                                                                                                          : Different;
  return tileKernelOpIsA(parent) ? Same : Different;
}

static bool areOperandsSame(const Forming *f, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (kindOf(f, mlirOperationGetOperand(op, i)) != Same)
      return false;
  return true;
}

static Kind kindOf(const Forming *f, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op))
    return kindOfArgument(f, value);
  if (tileProgramIdOpIsA(op))
    return tileProgramIdOpGetAxisValue(op) == 0 ? Multiple : Same;
  if (tileAssumeOpIsA(op))
    return kindOf(f, tileFirstOperand(op));
  if (arithAddIOpIsA(op))
    return kindOfSum(f, tileBinaryLhs(op), tileBinaryRhs(op));
  if (arithSubIOpIsA(op))
    return kindOfDifference(f, tileBinaryLhs(op), tileBinaryRhs(op));
  if (arithDivUIOpIsA(op) || arithRemUIOpIsA(op))
    return kindOfQuotient(f, op);
  bool isPure = mlirExtOperationIsPure(op) && !mlirOperationGetNumRegions(op);
  return isPure && areOperandsSame(f, op) ? Same : Different;
}

//===--- the kernel ---------------------------------------------------------------------------===//

static bool decline(Forming *f, const char *reason) {
  f->reason = reason;
  return false;
}

static MlirBlock bodyOf(MlirOperation kernel) { return mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel)); }

static bool isCopyIn(MlirOperation op) {
  return tileIsCopyOfBoxes(op) && !mlirOperationGetNumResults(op) && !tileHas(op, "multicast");
}

static bool isOfRounds(MlirOperation op) {
  return isCopyIn(op) || tileBarrierWaitOpIsA(op) || tileBarrierArriveOpIsA(op);
}

// A loop that all programs of a cluster go through equally often, a choice that they make alike.
static bool isAlike(const Forming *f, MlirOperation op) {
  if (scfIfOpIsA(op))
    return kindOf(f, scfIfOpGetCondition(op)) == Same;
  return scfForOpIsA(op) && kindOf(f, scfForOpGetLowerBound(op)) == Same &&
         kindOf(f, scfForOpGetUpperBound(op)) == Same && kindOf(f, scfForOpGetStep(op)) == Same;
}

static bool areRoundsAlike(const Forming *f, MlirOperation op) {
  for (MlirOperation around = mlirOperationGetParentOperation(op); !tileWarpSpecializeOpIsA(around);
       around = mlirOperationGetParentOperation(around))
    if (!isAlike(f, around))
      return false;
  return true;
}

// The wait ahead of the copy in its block, after which its place is free; null: there is none.
static MlirOperation waitBefore(MlirOperation copy) {
  MlirOperation found = {NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirOperationGetBlock(copy)); !mlirOperationEqual(op, copy);
       op = mlirOperationGetNextInBlock(op))
    if (tileBarrierWaitOpIsA(op))
      found = op;
  return found;
}

static bool isSameTile(const Forming *f, MlirOperation copy) {
  intptr_t first, count;
  tileOpOperands(copy, "indices", &first, &count);
  for (intptr_t i = first; i < first + count; ++i)
    if (kindOf(f, mlirOperationGetOperand(copy, i)) != Same)
      return false;
  return kindOf(f, tileCopyAsyncOpGetSource(copy)) == Same;
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  Forming *f = data;
  if (tileMmaAsyncOpIsA(op) && !mlirOperationGetNumResults(op)) {
    decline(f, "its products in tensor memory tell barriers of their own program only");
    return MlirWalkResultInterrupt;
  }
  if (!isOfRounds(op))
    return MlirWalkResultAdvance;
  if (!tileWarpSpecializeOpIsA(f->partitions) || !areRoundsAlike(f, op)) {
    decline(f, "its programs may go through different rounds");
    return MlirWalkResultInterrupt;
  }
  if (isCopyIn(op) && isSameTile(f, op) && !mlirOperationIsNull(waitBefore(op)))
    tileOpsAppend(&f->copies, op);
  return MlirWalkResultAdvance;
}

static bool findCopies(Forming *f) {
  MlirOperation op = mlirBlockGetFirstOperation(bodyOf(f->kernel));
  while (!mlirOperationIsNull(op) && !tileWarpSpecializeOpIsA(op))
    op = mlirOperationGetNextInBlock(op);
  if (mlirOperationIsNull(op))
    return decline(f, "it has no partition that loads by an engine");
  f->partitions = op;
  mlirOperationWalk(op, visit, f, MlirWalkPreOrder);
  if (f->reason)
    return false;
  return f->copies.count || decline(f, "no copy is known to be the same in neighbouring programs");
}

//===--- launches -----------------------------------------------------------------------------===//

static bool readLaunches(Forming *f, const TileOps *all) {
  for (intptr_t i = 0; i < all->count; ++i)
    if (tileLaunches(all->items[i], f->kernel))
      tileOpsAppend(&f->launches, all->items[i]);
  for (intptr_t i = 0; i < f->launches.count; ++i) {
    if (tileIndexFacts(tileLaunchOpGetGrid(f->launches.items[i], 0)).multiple % f->blocks)
      return decline(f, "its grid is not known to be a multiple of the cluster");
    if (!mlirAttributeIsNull(tileLaunchOpGetCluster(f->launches.items[i])))
      return decline(f, "it is launched in clusters already");
  }
  return f->launches.count > 0;
}

static bool readCluster(Forming *f, const TileMachine *machine) {
  MlirAttribute schedule = tileKernelOpGetSchedule(f->kernel);
  int64_t most = 1;
  MlirAttribute entry = mlirAttributeIsNull(schedule) ? schedule : tileScheduleAttrGetEntry(schedule, "cluster");
  tileMachineGetInteger(machine, "cluster.blocks", &most);
  f->blocks = mlirAttributeIsNull(entry) ? 1 : mlirDenseI64ArrayGetElement(entry, 0);
  return f->blocks > 1 && (f->blocks <= most || decline(f, "the machine has no clusters of so many programs"));
}

//===--- changes ------------------------------------------------------------------------------===//

// Where the barrier was made.
static MlirValue allocOf(MlirValue barrier) {
  while (mlirValueIsABlockArgument(barrier)) {
    MlirOperation parent = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(barrier));
    barrier = mlirOperationGetOperand(parent, mlirBlockArgumentGetArgNumber(barrier));
  }
  return barrier;
}

static MlirAttribute alongFirst(MlirContext context) {
  const int64_t axis = 0;
  return mlirDenseI64ArrayGet(context, 1, &axis);
}

// In all partitions that have it: arrivals go to all programs.
static void reach(MlirValue barrier, MlirType type) {
  for (MlirOpOperand use = mlirValueGetFirstUse(barrier); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (tileBarrierArriveOpIsA(user))
      tileBarrierArriveOpSetMulticast(user, alongFirst(mlirOperationGetContext(user)));
    for (intptr_t i = 0; tileWarpSpecializeOpIsA(user) && i < mlirOperationGetNumRegions(user); ++i)
      reach(mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(user, i)),
                                 mlirOpOperandGetOperandNumber(use)),
            type);
  }
  mlirValueSetType(barrier, type);
}

// The barrier that the copy waits for completes when all programs have arrived; once for all copies that wait for it.
static void shareBarrier(const Forming *f, MlirOperation copy) {
  MlirValue barrier = allocOf(tileBarrierWaitOpGetBarrier(waitBefore(copy)));
  MlirType type = mlirValueGetType(barrier);
  for (intptr_t i = 0; !mlirOperationEqual(f->copies.items[i], copy); ++i)
    if (mlirValueEqual(barrier, allocOf(tileBarrierWaitOpGetBarrier(waitBefore(f->copies.items[i])))))
      return;
  reach(barrier, tileBarrierTypeGet(mlirOperationGetContext(copy), tileBarrierTypeGetCount(type),
                                    tileBarrierTypeGetArrivals(type) * f->blocks));
}

// Round n is copied by the program at place n mod C.
static void shareCopy(const Forming *f, MlirOperation copy) {
  TileBuilder builder = tileBuilderBefore(copy);
  MlirContext context = builder.context;
  MlirAttribute axis = mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), 0);
  MlirValue blocks = tileBuildIndex(&builder, f->blocks);
  MlirValue place = arithRemUIOpBuild(&builder, tileProgramIdOpBuild(&builder, axis), blocks);
  MlirValue turn = arithRemUIOpBuild(&builder, tileCopyAsyncOpGetUse(copy), blocks);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, mlirBlockCreate(0, NULL, NULL));
  TileBuilder inner = tileBuilderAtEnd(mlirRegionGetFirstBlock(region), builder.location);
  scfIfOpBuild(&builder, 0, NULL, arithCmpIOpBuild(&builder, turn, place, ArithCmpI_Eq), region, mlirRegionCreate());
  mlirOperationRemoveFromParent(copy);
  tileBuilderInsert(&inner, copy);
  tileBuildYield(&inner, 0, NULL);
  tileCopyAsyncOpSetMulticast(copy, alongFirst(context));
}

static void formClusters(const Forming *f) {
  MlirContext context = mlirOperationGetContext(f->kernel);
  for (intptr_t i = 0; i < f->copies.count; ++i)
    shareBarrier(f, f->copies.items[i]);
  for (intptr_t i = 0; i < f->copies.count; ++i)
    shareCopy(f, f->copies.items[i]);
  for (intptr_t i = 0; i < f->launches.count; ++i) {
    int64_t sizes[] = {f->blocks, 1, 1};
    intptr_t rank = tileLaunchOpGetNumGrid(f->launches.items[i]);
    tileLaunchOpSetCluster(f->launches.items[i], mlirDenseI64ArrayGet(context, rank, sizes));
  }
}

//===--- the pass -----------------------------------------------------------------------------===//

static bool runOn(MlirOperation kernel, MlirExtPass pass, const TileOps *launches) {
  MlirAttribute attribute;
  Forming f = {.kernel = kernel};
  TileMachine *machine = tileMachineOf(kernel, pass, &attribute);
  if (!machine)
    return false;
  if (readCluster(&f, machine) && !tileSymbolIsPublic(kernel) && readLaunches(&f, launches) && findCopies(&f)) {
    formClusters(&f);
    mlirExtPassAddStatistic(pass, 0, 1);
    mlirExtPassAddStatistic(pass, 1, (uint64_t)f.copies.count);
  } else if (f.reason && mlirExtPassGetBool(pass, "remarks")) {
    tileRemark(kernel, "forms no clusters: %s", f.reason);
  }
  tileOpsFree(&f.launches);
  tileOpsFree(&f.copies);
  tileMachineDestroy(machine);
  return true;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps kernels = tileCollectOps(module, tileKernelOpIsA), launches = tileCollectOps(module, tileLaunchOpIsA);
  bool ok = true;
  for (intptr_t i = 0; ok && i < kernels.count; ++i)
    if (!mlirBlockIsNull(bodyOf(kernels.items[i])))
      ok = runOn(kernels.items[i], pass, &launches);
  tileOpsFree(&kernels);
  tileOpsFree(&launches);
  return ok;
}

const MlirExtPassDefinition tileFormClustersPass = {
    .argument = "tile-form-clusters",
    .summary = "Let neighbouring programs form clusters that share their copies",
    .anchor = builtinModuleOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION,
                                           {"remarks", "say why a kernel whose schedule has clusters forms none",
                                            MlirExtOption_Bool, "false"},
                                           {NULL}},
    .statistics = statistics,
    .dialects = (const char *const[]){"arith", "scf", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
