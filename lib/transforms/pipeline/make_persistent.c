// tile-make-persistent: programs that stay on their core and walk over the tiles that programs of their own had.
//
//   tile.launch @k grid(%c32, %c16) …      →     tile.launch @k grid(%c132) …        as many programs as cores hold
//   partition "load" { a tile }                  partition "load" { for n { tile number program + n x programs } }
//
// Why: a program's first copies wait for memory, and the end of a tile leaves the products idle. The partition that
//   loads runs ahead into the next tile meanwhile, and a tile's way out of the chip ends under the next tile's
//   products.
// Expects: private kernels that tile-specialize-warps brought into partitions, each with at most one loop of rounds of
//   one number in all programs; all launches have one constant grid of more programs than the cores hold.
// Leaves: the same partitions around a loop over tiles. Rounds of barriers count on from tile to tile. Tiles are walked
//   in the order of the grid.
// A kernel stays as it is where its programs ask how many they are, or wait for each other, or where what is loaded
//   once in a program would be overwritten.
// Sources: CUTLASS's persistent kernels (sm90_tile_scheduler.hpp). Cost: linear in the ops.
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
#include "lib/ir/table.h"
#include "lib/machine/machine.h"
#include "lib/support/integer.h"
#include "lib/transforms/pipeline/create_partitions.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/scf.h"

#include <stdint.h>
#include <stdlib.h>

enum { GridRank = 3, MostPartitions = 4, OneGroupWarps = 8 };

static const char *const statistics[] = {"persistent: kernels whose programs walk over tiles", NULL};

typedef struct Walk {
  MlirOperation kernel, partitions; // the tile.warp_specialize
  TileOps launches;
  int64_t grid[GridRank], tiles, programs;
  MlirValue program; // the number of this program
  int64_t rounds;    // of a tile
} Walk;

//===--- questions ----------------------------------------------------------------------------===//

static MlirBlock bodyOf(MlirOperation kernel) { return mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel)); }

static TileOps launchesOf(MlirOperation kernel, const TileOps *all) {
  TileOps launches = {NULL};
  for (intptr_t i = 0; i < all->count; ++i)
    if (mlirStringRefEqual(tileLaunchOpGetKernelValue(all->items[i]), tileKernelOpGetSymNameValue(kernel)))
      tileOpsAppend(&launches, all->items[i]);
  return launches;
}

// One constant grid of all launches.
static bool readGrid(Walk *walk) {
  walk->tiles = 1;
  for (int d = 0; d < GridRank; ++d) {
    walk->grid[d] = 1;
    for (intptr_t l = 0; l < walk->launches.count; ++l) {
      MlirOperation launch = walk->launches.items[l];
      int64_t size = 1;
      if (d < tileLaunchOpGetNumGrid(launch) && !tileConstantIndex(tileLaunchOpGetGrid(launch, d), &size))
        return false;
      if (size < 1 || size > INT32_MAX || (l && size != walk->grid[d]))
        return false;
      walk->grid[d] = size;
    }
    if (walk->tiles > INT32_MAX / walk->grid[d])
      return false;
    walk->tiles *= walk->grid[d];
  }
  return walk->launches.count > 0;
}

static bool isPartOfRounds(MlirOperation op) {
  return tileBarrierWaitOpIsA(op) || tileBarrierArriveOpIsA(op) || tileSlotOpIsA(op) || tileCopyAsyncOpIsA(op);
}

// The loop of rounds of a partition; null where there is none or more than one.
static MlirOperation loopOf(MlirBlock partition) {
  MlirOperation loop = {NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(partition); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!mlirOperationGetNumRegions(op) || tileReduceOpIsA(op))
      continue;
    if (!scfForOpIsA(op) || !mlirOperationIsNull(loop))
      return (MlirOperation){NULL};
    loop = op;
  }
  return loop;
}

static MlirValue ringOf(MlirOperation op) {
  return tileBarrierWaitOpIsA(op)     ? tileBarrierWaitOpGetBarrier(op)
         : tileBarrierArriveOpIsA(op) ? tileBarrierArriveOpGetBarrier(op)
         : tileSlotOpIsA(op)          ? tileSlotOpGetBuffer(op)
                                      : tileCopyAsyncOpGetBarrier(op);
}

static MlirWalkResult findRing(MlirOperation op, void *ring) {
  MlirValue *wanted = ring;
  bool signals = tileMmaAsyncOpIsA(op) && mlirValueEqual(tileMmaAsyncOpGetBarrier(op), *wanted);
  if (!signals && !(isPartOfRounds(op) && mlirValueEqual(ringOf(op), *wanted)))
    return MlirWalkResultAdvance;
  *wanted = (MlirValue){NULL};
  return MlirWalkResultInterrupt;
}

// Whether the loop of a partition uses the captured barrier or buffer: a round of the loop is one of the ring. Else it
// has one round for a tile.
static bool hasLoopsRounds(MlirOperation partitions, intptr_t capture) {
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(partitions); ++i) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(partitions, i));
    MlirOperation loop = loopOf(block);
    MlirValue ring = mlirBlockGetArgument(block, capture);
    if (!mlirOperationIsNull(loop))
      mlirOperationWalk(loop, findRing, &ring, MlirWalkPreOrder);
    if (mlirValueIsNull(ring))
      return true;
  }
  return false;
}

static bool isWithoutLoop(MlirBlock partition) {
  for (MlirOperation op = mlirBlockGetFirstOperation(partition); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (mlirOperationGetNumRegions(op) && !tileReduceOpIsA(op))
      return false;
  return true;
}

// Rounds are a constant number, 0 in a partition without a loop. Outside of the loops stand only arrivals for the last
// round of rings that the loops go round.
static bool readRounds(MlirOperation partitions, MlirBlock partition, int64_t *rounds) {
  int64_t first, last, step;
  MlirOperation loop = loopOf(partition);
  for (MlirOperation op = mlirBlockGetFirstOperation(partition); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    bool isInside = tileBarrierWaitOpIsA(op) || tileSlotOpIsA(op);
    if ((tileCopyAsyncOpIsA(op) && mlirOperationGetNumResults(op) == 0) ||
        (isInside && !mlirValueIsABlockArgument(ringOf(op))) ||
        (isInside && hasLoopsRounds(partitions, mlirBlockArgumentGetArgNumber(ringOf(op)))))
      return false;
  }
  *rounds = 0;
  if (isWithoutLoop(partition))
    return true;
  if (mlirOperationIsNull(loop) || !tileConstantIndex(scfForOpGetLowerBound(loop), &first) ||
      !tileConstantIndex(scfForOpGetUpperBound(loop), &last) || !tileConstantIndex(scfForOpGetStep(loop), &step))
    return false;
  *rounds = last;
  return first == 0 && step == 1 && last >= 1;
}

static bool isPlainOutside(MlirOperation op) { return tileAllocOpIsA(op) || mlirExtOperationIsPure(op); }

static bool readKernel(Walk *walk) {
  MlirOperation end = mlirBlockGetTerminator(bodyOf(walk->kernel));
  TileOps counts = tileCollectOps(walk->kernel, tileNumProgramsOpIsA);
  bool asks = counts.count > 0;
  tileOpsFree(&counts);
  if (asks || !mlirAttributeIsNull(tileOpAttribute(walk->kernel, "cooperative")))
    return false;
  for (MlirOperation op = mlirBlockGetFirstOperation(bodyOf(walk->kernel)); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op))
    if (tileWarpSpecializeOpIsA(op) && mlirOperationEqual(mlirOperationGetNextInBlock(op), end))
      walk->partitions = op;
    else if (!isPlainOutside(op))
      return false;
  if (mlirOperationIsNull(walk->partitions) || mlirOperationGetNumRegions(walk->partitions) > MostPartitions)
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(walk->partitions); ++i) {
    int64_t rounds;
    if (!readRounds(walk->partitions, mlirRegionGetFirstBlock(mlirOperationGetRegion(walk->partitions, i)), &rounds) ||
        (rounds && walk->rounds && rounds != walk->rounds))
      return false;
    walk->rounds = rounds ? rounds : walk->rounds;
  }
  return walk->rounds > 0;
}

// One block of two groups that multiply holds all registers of a core; with one group, two blocks share a core.
static bool choosePrograms(Walk *walk, const TileMachine *machine, int64_t wanted) {
  int64_t cores = 0;
  tileMachineGetInteger(machine, "cores", &cores);
  walk->programs = cores * (tileWarpsOf(walk->kernel) <= OneGroupWarps && !tileSchedulesTurns(walk->kernel) ? 2 : 1);
  walk->programs = wanted > 0 ? wanted : walk->programs;
  return cores > 0 && walk->tiles > walk->programs;
}

//===--- what depends on the tile -------------------------------------------------------------===//

static bool dependsOnProgram(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  bool depends = !mlirOperationIsNull(op) && tileProgramIdOpIsA(op);
  for (intptr_t i = 0; !mlirOperationIsNull(op) && !depends && i < mlirOperationGetNumOperands(op); ++i)
    depends = dependsOnProgram(mlirOperationGetOperand(op, i));
  return depends;
}

static MlirValue assumeBelow(TileBuilder *builder, MlirValue value, int64_t end) {
  MlirAttribute none = {NULL};
  return tileOnlyResult(tileAssumeOpCreate(builder, value, none, none, none, none,
                                           mlirDenseI64ArrayGet(builder->context, 2, (int64_t[]){0, end - 1})));
}

// The position of a tile along an axis of the grid.
static MlirValue buildId(const Walk *walk, TileBuilder *builder, MlirValue tile, int64_t axis) {
  int64_t inner = 1, outer = 1;
  for (int d = 0; d < GridRank; ++d)
    *(d < axis ? &inner : &outer) *= d == axis ? 1 : walk->grid[d];
  MlirValue id = tile;
  if (walk->grid[axis] == 1)
    return tileBuildIndex(builder, 0);
  if (inner > 1)
    id = arithDivUIOpBuild(builder, id, tileBuildIndex(builder, inner));
  if (outer > 1)
    id = arithRemUIOpBuild(builder, id, tileBuildIndex(builder, walk->grid[axis]));
  return assumeBelow(builder, id, walk->grid[axis]);
}

typedef struct Rebuilding {
  const Walk *walk;
  TileBuilder *builder;
  MlirValue tile;
  TileTable copies;
} Rebuilding;

// A value of the kernel as it is for this tile.
static MlirValue rebuild(Rebuilding *r, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  void *known = tileTableFind(&r->copies, value.ptr);
  if (known)
    return (MlirValue){known};
  if (!dependsOnProgram(value))
    return value;
  MlirValue made;
  if (tileProgramIdOpIsA(op)) {
    made = buildId(r->walk, r->builder, r->tile, tileProgramIdOpGetAxisValue(op));
  } else {
    MlirOperation clone = mlirOperationClone(op);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
      mlirOperationSetOperand(clone, i, rebuild(r, mlirOperationGetOperand(op, i)));
    tileBuilderInsert(r->builder, clone);
    made = mlirOperationGetResult(clone, mlirOpResultGetResultNumber(value));
  }
  tileTableSet(&r->copies, value.ptr, (void *)made.ptr);
  return made;
}

//===--- rounds -------------------------------------------------------------------------------===//

static intptr_t useOperand(MlirOperation op) {
  return tileCopyAsyncOpIsA(op) ? mlirOperationGetNumOperands(op) - 1 : 1;
}

// Round `use` of a tile as one of all tiles. A wait for a round before the first one waits for the tile before; nobody
// arrives there, because that tile has done it.
static MlirValue shift(TileBuilder *builder, MlirOperation op, MlirValue use, MlirValue before) {
  MlirOperation maker = tileDefiningOp(use);
  int64_t below;
  bool isBelow =
      !mlirOperationIsNull(maker) && arithSubIOpIsA(maker) && tileConstantIndex(tileBinaryRhs(maker), &below);
  if (tileIndexFacts(use).low >= 0)
    return tileBuildAdd(builder, use, before);
  if (tileConstantIndex(use, &below) && tileBarrierWaitOpIsA(op))
    return arithSubIOpBuild(builder, before, tileBuildIndex(builder, -below));
  if (tileBarrierArriveOpIsA(op)) {
    MlirValue none = tileBuildIndex(builder, -1), left = isBelow ? tileBinaryLhs(maker) : use;
    MlirValue right = isBelow ? tileBinaryRhs(maker) : tileBuildIndex(builder, 0);
    return arithSelectOpBuild(builder, arithCmpIOpBuild(builder, left, right, ArithCmpI_Slt), none,
                              tileBuildAdd(builder, use, before));
  }
  if (isBelow)
    return arithSubIOpBuild(builder, tileBuildAdd(builder, tileBinaryLhs(maker), before), tileBinaryRhs(maker));
  return tileBuildAdd(builder, use, before);
}

// What rounds of tiles before this one a ring has had.
typedef struct Shift {
  const TileTable *single;  // rings of one round a tile
  MlirValue number, before; // of the tile; its rounds before
} Shift;

static MlirWalkResult shiftRounds(MlirOperation op, void *data) {
  const Shift *s = data;
  TileBuilder builder = tileBuilderBefore(op);
  if (tileMmaAsyncOpIsA(op) && !mlirValueIsNull(tileMmaAsyncOpGetBarrier(op))) {
    intptr_t first, count;
    tileOpOperands(op, "use", &first, &count);
    mlirOperationSetOperand(op, first, tileBuildAdd(&builder, tileMmaAsyncOpGetUse(op), s->before));
  }
  if (isPartOfRounds(op) && !(tileCopyAsyncOpIsA(op) && mlirOperationGetNumResults(op))) {
    intptr_t at = useOperand(op);
    MlirValue before = tileTableFind(s->single, ringOf(op).ptr) ? s->number : s->before;
    mlirOperationSetOperand(op, at, shift(&builder, op, mlirOperationGetOperand(op, at), before));
  }
  return MlirWalkResultAdvance;
}

//===--- the kernel ---------------------------------------------------------------------------===//

// The copy out of the tile before has read a buffer, as far as the thread knows that waited for it: the others learn it
// ahead of their next stores.
static void orderStores(MlirBlock partition) {
  for (MlirOperation op = mlirBlockGetFirstOperation(partition); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (tileStoreOpIsA(op) && tileTypeIsABuffer(tileStoreOpGetDestinationType(op))) {
      TileBuilder builder = tileBuilderBefore(op);
      tileSyncOpBuild(&builder);
    }
}

// for n: tile number program + n x programs
static void wrap(const Walk *walk, MlirBlock partition, MlirLocation location, const TileTable *single) {
  MlirOperation end = mlirBlockGetTerminator(partition), first = mlirBlockGetFirstOperation(partition);
  TileBuilder builder = tileBuilderBefore(first); // partitions begin with no store
  MlirBlock body;
  builder.location = location;
  orderStores(partition);
  MlirValue zero = tileBuildIndex(&builder, 0), one = tileBuildIndex(&builder, 1);
  MlirValue programs = tileBuildIndex(&builder, walk->programs);
  MlirValue left = tileBuildSub(&builder, tileBuildIndex(&builder, walk->tiles + walk->programs - 1), walk->program);
  MlirValue count = arithDivUIOpBuild(&builder, left, programs);
  tileBuildFor(&builder, zero, count, one, 0, NULL, &body);
  TileBuilder inner = tileBuilderAtEnd(body, location);
  MlirValue number = assumeBelow(&inner, mlirBlockGetArgument(body, 0), walk->tiles);
  MlirValue tile = tileBuildAdd(&inner, walk->program, tileBuildMul(&inner, number, programs));
  MlirValue before = tileBuildMul(&inner, number, tileBuildIndex(&inner, walk->rounds));
  Shift shift = {single, number, before};
  Rebuilding rebuilding = {.walk = walk, .builder = &inner, .tile = assumeBelow(&inner, tile, walk->tiles)};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(walk->partitions); ++i) {
    MlirValue captured = mlirOperationGetOperand(walk->partitions, i);
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(partition, i), rebuild(&rebuilding, captured));
  }
  tileTableFree(&rebuilding.copies);
  for (MlirOperation op = first, next; !mlirOperationEqual(op, end); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    tileBuilderInsert(&inner, op);
    mlirOperationWalk(op, shiftRounds, &shift, MlirWalkPostOrder);
  }
  tileBuildYield(&inner, 0, NULL);
  while (mlirBlockGetNumArguments(partition))
    mlirBlockEraseArgument(partition, (unsigned)mlirBlockGetNumArguments(partition) - 1);
}

static void changeKernel(Walk *walk) {
  MlirOperation old = walk->partitions;
  TileBuilder builder = tileBuilderBefore(old);
  MlirRegion regions[MostPartitions];
  int count = (int)mlirOperationGetNumRegions(old);
  MlirAttribute axis = mlirIntegerAttrGet(mlirIntegerTypeGet(builder.context, 64), 0);
  builder.location = mlirOperationGetLocation(old);
  TileTable single = {0};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(old); ++i)
    if (!hasLoopsRounds(old, i))
      tileTableSet(&single, mlirOperationGetOperand(old, i).ptr, (void *)mlirOperationGetOperand(old, i).ptr);
  walk->program = assumeBelow(&builder, tileProgramIdOpBuild(&builder, axis), walk->programs);
  for (int i = 0; i < count; ++i) {
    regions[i] = mlirRegionCreate();
    mlirRegionTakeBody(regions[i], mlirOperationGetRegion(old, i));
    wrap(walk, mlirRegionGetFirstBlock(regions[i]), builder.location, &single);
  }
  tileTableFree(&single);
  tilePartitionsCreate(&builder, tileWarpSpecializeOpGetNames(old), tileWarpSpecializeOpGetWarps(old),
                       tileWarpSpecializeOpGetRegisters(old), tileWarpSpecializeOpGetThreads(old), count, regions);
  mlirOperationDestroy(old);
}

static void changeLaunches(const Walk *walk) {
  for (intptr_t l = 0; l < walk->launches.count; ++l) {
    MlirOperation launch = walk->launches.items[l];
    TileBuilder builder = tileBuilderBefore(launch);
    for (intptr_t d = 0; d < tileLaunchOpGetNumGrid(launch); ++d)
      mlirOperationSetOperand(launch, tileLaunchOpGetGridBegin(launch) + d,
                              tileBuildIndex(&builder, d ? 1 : walk->programs));
  }
}

//===--- the pass -----------------------------------------------------------------------------===//

static bool runOn(MlirOperation kernel, MlirExtPass pass, const TileOps *launches) {
  MlirAttribute attribute;
  Walk walk = {.kernel = kernel};
  TileMachine *machine = tileMachineOf(kernel, pass, &attribute);
  if (!machine)
    return false;
  walk.launches = launchesOf(kernel, launches);
  if (!tileSymbolIsPublic(kernel) && readGrid(&walk) && readKernel(&walk) &&
      choosePrograms(&walk, machine, mlirExtPassGetInteger(pass, "programs"))) {
    changeKernel(&walk);
    changeLaunches(&walk);
    mlirExtPassAddStatistic(pass, 0, 1);
  }
  tileOpsFree(&walk.launches);
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

const MlirExtPassDefinition tileMakePersistentPass = {
    .argument = "tile-make-persistent",
    .summary = "Let programs of partitions walk over the tiles of several programs",
    .anchor = builtinModuleOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION,
                                           {"programs", "of a launch; 0: as many as the cores hold",
                                            MlirExtOption_Integer, "0"},
                                           {NULL}},
    .statistics = statistics,
    .dialects = (const char *const[]){"arith", "scf", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
