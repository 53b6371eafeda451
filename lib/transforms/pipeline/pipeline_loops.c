// tile-pipeline-loops{stages=n}: loops copy what they will need n - 1 rounds later while they compute.
// Expects: scheduled kernels after tile-stage-in-shared-memory: an scf.for whose body copies views into buffers.
// Leaves, for asynchronous copies: rings of n stages indexed by the round, a prologue of n - 1 rounds of copies, a body
//   that waits for its own round, syncs once, starts the copies of round + n - 1, and waits behind the loop for what is
//   still under way. For copies through registers (load, store): the loads of the next round stand before the products
//   of this one and are carried in registers; one buffer stays enough.
// The kernel's schedule may state the stages: a number that a loop's copies cannot have is an error at the loop. The
//   option is an upper limit in place of that. Without both, loops get two stages, or one where two do not fit.
// Rounds past the end copy too: a view gives its padding past the edge, and nobody reads it. Loops are left alone whose
//   copies depend on what earlier rounds computed, or that write memory others may read.
// Source: multistage pipelines of Triton and CUTLASS; rings after OPS.md, so that no arithmetic on stages is needed.
#include "lib/transforms/pipeline/pipeline.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/analysis/scratch.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_format.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/machine/machine.h"
#include "lib/transforms/pipeline/loops.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

#include <stdlib.h>

enum { Pipelined, Rings, RingBytes, Prefetched };

static const char *const statistics[] = {
    "pipelined: loops with rings of asynchronous copies",
    "rings: buffers that became rings",
    "ring_bytes: bytes of these rings, all stages",
    "prefetched: loops that load the next round into registers",
    NULL,
};

enum { MostCopies = 16, MostStages = 32 };

typedef struct Loop {
  MlirExtPass pass;
  MlirOperation op;
  MlirBlock body;
  MlirOperation copies[MostCopies], waits[MostCopies];
  intptr_t copyCount, waitCount;
  int64_t stages;
  bool isStated;       // somebody wrote the stages
  MlirOperation stuck; // a copy that nobody pipelined yet and that cannot run ahead; null: none
  bool hasOwnPipeline; // the program itself copies ahead, or into rings
} Loop;

//===--- questions: what may be moved ahead ------------------------------------------------===//

static MlirValue inductionOf(const Loop *loop) { return mlirBlockGetArgument(loop->body, 0); }

// A load that may run as many rounds ahead as the copies do.
static bool mayRunAhead(const Loop *loop, MlirOperation op) {
  MlirAttribute rounds = tileOpGetRoundsAhead(op);
  return !mlirAttributeIsNull(rounds) && mlirIntegerAttrGetValueInt(rounds) >= loop->stages - 1;
}

// Known before the round begins: made of the induction variable and of what stands outside, by pure ops.
static bool isKnownAhead(const Loop *loop, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op)) {
    MlirBlock block = mlirBlockArgumentGetOwner(value);
    return mlirValueEqual(value, inductionOf(loop)) || !tileIsWithin(mlirBlockGetParentOperation(block), loop->op);
  }
  if (!tileIsWithin(op, loop->op))
    return true;
  if ((!mlirExtOperationIsPure(op) && !mayRunAhead(loop, op)) || mlirOperationGetNumRegions(op) ||
      !mlirBlockEqual(mlirOperationGetBlock(op), loop->body))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!isKnownAhead(loop, mlirOperationGetOperand(op, i)))
      return false;
  return true;
}

// Whether the loop itself runs more than once.
static bool isRepeated(const Loop *loop) {
  MlirOperation op = mlirOperationGetParentOperation(loop->op);
  while (!tileKernelOpIsA(op) && !scfForOpIsA(op) && !scfWhileOpIsA(op))
    op = mlirOperationGetParentOperation(op);
  return !tileKernelOpIsA(op);
}

// Reading ahead is right as long as the loop writes nothing but its buffers.
static void checkEffect(MlirOperation op, TileEffect effect, void *data) {
  (void)op;
  bool *ok = data, isBuffer = !mlirValueIsNull(effect.value) && tileTypeIsABuffer(mlirValueGetType(effect.value));
  bool isMemory = effect.resource == MlirExtResource_Memory;
  bool isHarmless = isMemory ? effect.kind == MlirExtEffect_Read || (effect.kind == MlirExtEffect_Write && isBuffer)
                             : effect.resource == MlirExtResource_Order;
  *ok = *ok && isHarmless && !effect.isUnknown;
}

static bool writesOnlyBuffers(const Loop *loop) {
  bool ok = true;
  tileOpVisitAllEffects(loop->op, checkEffect, &ok);
  return ok;
}

static bool operandsAreKnown(const Loop *loop, MlirOperation op, intptr_t except) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (i != except && !isKnownAhead(loop, mlirOperationGetOperand(op, i)))
      return false;
  return true;
}

// The wait in the body that alone takes the copy's token; null otherwise.
static MlirOperation waitOf(const Loop *loop, MlirOperation copy) {
  MlirValue token = tileCopyAsyncOpGetToken(copy);
  MlirOperation user =
      tileHasOneUse(token) ? mlirOpOperandGetOwner(mlirValueGetFirstUse(token)) : (MlirOperation){NULL};
  bool fits = tileWaitOpIsA(user) && mlirBlockEqual(mlirOperationGetBlock(user), loop->body);
  return fits ? user : (MlirOperation){NULL};
}

static bool isPlainBuffer(MlirValue buffer) {
  return tileAllocOpIsA(tileDefiningOp(buffer)) && tileBufferTypeGetStages(mlirValueGetType(buffer)) == 0;
}

// A copy of this round that this round waits for: not yet part of a pipeline.
static bool isOfOneRound(const Loop *loop, MlirOperation copy) {
  return mlirOperationGetNumResults(copy) == 1 && isPlainBuffer(tileCopyAsyncOpGetDestination(copy)) &&
         !mlirOperationIsNull(waitOf(loop, copy));
}

// All asynchronous copies of the body, or none if one cannot move.
static bool findCopies(Loop *loop) {
  for (MlirOperation op = mlirBlockGetFirstOperation(loop->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!tileCopyAsyncOpIsA(op))
      continue;
    bool isFree = isOfOneRound(loop, op);
    if (!isFree || loop->copyCount == MostCopies || !operandsAreKnown(loop, op, 1)) {
      loop->stuck = isFree ? op : (MlirOperation){NULL};
      loop->hasOwnPipeline = !isFree;
      return false;
    }
    MlirOperation wait = waitOf(loop, op);
    loop->copies[loop->copyCount++] = op;
    if (!loop->waitCount || !mlirOperationEqual(loop->waits[loop->waitCount - 1], wait))
      loop->waits[loop->waitCount++] = wait;
  }
  return loop->copyCount > 0;
}

//===--- copying ahead -------------------------------------------------------------------===//

typedef struct Renamed {
  MlirValue from, to;
} Renamed;

typedef struct Names {
  Renamed *items;
  intptr_t count;
} Names;

static void renameValue(Names *names, MlirValue from, MlirValue to) {
  names->items = realloc(names->items, (size_t)(names->count + 1) * sizeof *names->items);
  names->items[names->count++] = (Renamed){from, to};
}

static MlirValue renamed(const Loop *loop, Names *names, TileBuilder *builder, MlirValue value);

// What is assumed of a round's numbers does not hold of rounds past the end, whose copies the edges of views mask.
static MlirOperation cloneAhead(const Loop *loop, Names *names, TileBuilder *builder, MlirOperation op) {
  MlirOperation copy = mlirOperationClone(op);
  if (tileAssumeOpIsA(op))
    mlirOperationRemoveAttributeByName(copy, tileString("range"));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirOperationSetOperand(copy, i, renamed(loop, names, builder, mlirOperationGetOperand(op, i)));
  return tileBuilderInsert(builder, copy);
}

static MlirValue renamed(const Loop *loop, Names *names, TileBuilder *builder, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  for (intptr_t i = 0; i < names->count; ++i)
    if (mlirValueEqual(names->items[i].from, value))
      return names->items[i].to;
  if (mlirOperationIsNull(op) || !tileIsWithin(op, loop->op))
    return value;
  MlirOperation copy = cloneAhead(loop, names, builder, op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    renameValue(names, mlirOperationGetResult(op, i), mlirOperationGetResult(copy, i));
  return renamed(loop, names, builder, value);
}

static MlirValue slotOf(TileBuilder *builder, MlirValue ring, MlirValue use) {
  MlirValue operands[] = {ring, use};
  return tileSlotOpBuild(builder, operands[0], operands[1]);
}

// One round's copies into the rings' slots of that use; one token for all.
static MlirValue copyRound(const Loop *loop, TileBuilder *builder, const MlirValue *rings, MlirValue induction,
                           MlirValue use) {
  MlirValue tokens[MostCopies], token;
  for (intptr_t i = 0; i < loop->copyCount; ++i) {
    Names names = {.items = NULL};
    renameValue(&names, inductionOf(loop), induction);
    renameValue(&names, tileCopyAsyncOpGetDestination(loop->copies[i]), slotOf(builder, rings[i], use));
    tokens[i] = tileOnlyResult(cloneAhead(loop, &names, builder, loop->copies[i]));
    free(names.items);
  }
  token = tokens[0];
  if (loop->copyCount > 1)
    token = tileJoinOpBuild(builder, mlirValueGetType(token), loop->copyCount, tokens);
  return token;
}

static void buildWait(TileBuilder *builder, intptr_t count, const MlirValue *tokens) {
  tileWaitOpBuild(builder, count, tokens);
}

static void buildSync(TileBuilder *builder) { tileSyncOpBuild(builder); }

//===--- rings ------------------------------------------------------------------------------===//

static MlirValue makeRing(const Loop *loop, MlirValue buffer) {
  MlirType type = mlirValueGetType(buffer);
  int64_t shape[TILE_LAYOUT_MAX_AXES];
  intptr_t rank = tileBufferTypeGetRank(type);
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = tileBufferTypeGetSize(type, i);
  MlirType ring = tileBufferTypeGet(rank, shape, tileBufferTypeGetElementType(type), tileBufferTypeGetLayout(type),
                                    "shared", loop->stages);
  TileBuilder builder = tileBuilderAfter(tileDefiningOp(buffer));
  mlirExtPassAddStatistic(loop->pass, Rings, 1);
  mlirExtPassAddStatistic(loop->pass, RingBytes, (uint64_t)tileBufferBytes(ring));
  return tileAllocOpBuild(&builder, ring);
}

// The most stages up to those asked for that leave room for all else; 1: none.
static int64_t stagesThatFit(const Loop *loop, int64_t left) {
  int64_t staged = 0, stages = loop->stages;
  for (intptr_t i = 0; i < loop->copyCount; ++i)
    staged += tileBufferBytes(mlirValueGetType(tileCopyAsyncOpGetDestination(loop->copies[i])));
  while (stages > 1 && staged * (stages - 1) > left)
    --stages;
  return stages;
}

//===--- the new loop -------------------------------------------------------------------------===//

static MlirOperation neighbourWithEffect(MlirOperation op, bool before) {
  MlirBlock block = mlirOperationGetBlock(op);
  if (!before) {
    do
      op = mlirOperationGetNextInBlock(op);
    while (!mlirOperationIsNull(op) && mlirExtOperationIsPure(op));
    return op;
  }
  MlirOperation last = {NULL};
  for (MlirOperation at = mlirBlockGetFirstOperation(block); !mlirOperationEqual(at, op);
       at = mlirOperationGetNextInBlock(at))
    if (!mlirExtOperationIsPure(at))
      last = at;
  return last;
}

static bool isOurs(const MlirOperation *ops, intptr_t count, MlirOperation op) {
  for (intptr_t i = 0; i < count; ++i)
    if (!mlirOperationIsNull(op) && mlirOperationEqual(ops[i], op))
      return true;
  return false;
}

// The syncs around the copies: the one of the new body stands for all of them.
static void dropSyncs(const Loop *loop) {
  for (MlirOperation op = mlirBlockGetFirstOperation(loop->body), next; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (tileSyncOpIsA(op) && (isOurs(loop->copies, loop->copyCount, neighbourWithEffect(op, false)) ||
                              isOurs(loop->waits, loop->waitCount, neighbourWithEffect(op, true))))
      mlirOperationDestroy(op);
  }
}

// (induction - lower) / step: the number of the round.
static MlirValue roundOf(const Loop *loop, TileBuilder *builder) {
  MlirValue lower = scfForOpGetLowerBound(loop->op), step = scfForOpGetStep(loop->op);
  MlirValue distance = tileBuildSub(builder, inductionOf(loop), lower);
  int64_t constant;
  if (tileConstantIndex(step, &constant) && constant == 1)
    return distance;
  MlirValue operands[] = {distance, step};
  return arithDivUIOpBuild(builder, operands[0], operands[1]);
}

// What stood in the body for a buffer is the slot of this round.
static void useSlots(const Loop *loop, TileBuilder *builder, const MlirValue *rings, MlirValue use) {
  for (intptr_t i = 0; i < loop->copyCount; ++i) {
    MlirValue buffer = tileCopyAsyncOpGetDestination(loop->copies[i]), slot = {NULL};
    for (MlirOpOperand operand = mlirValueGetFirstUse(buffer), next; !mlirOpOperandIsNull(operand); operand = next) {
      MlirOperation user = mlirOpOperandGetOwner(operand);
      intptr_t number = mlirOpOperandGetOperandNumber(operand);
      next = mlirOpOperandGetNextUse(operand);
      if (!tileIsWithin(user, loop->op) || isOurs(loop->copies, loop->copyCount, user))
        continue;
      if (mlirValueIsNull(slot))
        slot = slotOf(builder, rings[i], use);
      mlirOperationSetOperand(user, number, slot);
    }
  }
}

static MlirOperation withCarried(Loop *loop, intptr_t count, const MlirValue *initial) {
  loop->op = tileLoopCarryMore(loop->op, count, initial);
  loop->body = mlirRegionGetFirstBlock(scfForOpGetRegion(loop->op));
  return loop->op;
}

static void eraseCopies(const Loop *loop) {
  for (intptr_t i = 0; i < loop->waitCount; ++i)
    mlirOperationDestroy(loop->waits[i]);
  for (intptr_t i = 0; i < loop->copyCount; ++i) {
    MlirOperation alloc = tileDefiningOp(tileCopyAsyncOpGetDestination(loop->copies[i]));
    mlirOperationDestroy(loop->copies[i]);
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(alloc))))
      mlirOperationDestroy(alloc);
  }
}

static void pipeline(Loop *loop) {
  MlirValue rings[MostCopies], tokens[MostStages];
  intptr_t ahead = (intptr_t)loop->stages - 1;
  TileBuilder before = tileBuilderBefore(loop->op);
  MlirValue lower = scfForOpGetLowerBound(loop->op), step = scfForOpGetStep(loop->op);
  for (intptr_t i = 0; i < loop->copyCount; ++i)
    rings[i] = makeRing(loop, tileCopyAsyncOpGetDestination(loop->copies[i]));
  if (isRepeated(loop))
    buildSync(&before); // all have read what the rings held when the loop ran last
  for (intptr_t s = 0; s < ahead; ++s) {
    MlirValue distance = tileBuildMul(&before, tileBuildIndex(&before, s), step);
    tokens[s] = copyRound(loop, &before, rings, tileBuildAdd(&before, lower, distance), tileBuildIndex(&before, s));
  }
  dropSyncs(loop);
  intptr_t kept = mlirOperationGetNumResults(loop->op);
  MlirOperation made = withCarried(loop, ahead, tokens);
  TileBuilder start = tileBuilderBefore(mlirBlockGetFirstOperation(loop->body));
  MlirValue carried[MostStages];
  for (intptr_t s = 0; s < ahead; ++s)
    carried[s] = mlirBlockGetArgument(loop->body, kept + 1 + s);
  buildWait(&start, 1, carried);
  buildSync(&start); // all copies of this round are there, and all have read the round before
  MlirValue round = roundOf(loop, &start), distance = tileBuildIndex(&start, ahead);
  MlirValue later = tileBuildAdd(&start, inductionOf(loop), tileBuildMul(&start, distance, step));
  MlirValue next = copyRound(loop, &start, rings, later, tileBuildAdd(&start, round, distance));
  useSlots(loop, &start, rings, round);
  eraseCopies(loop);
  for (intptr_t s = 0; s + 1 < ahead; ++s)
    carried[s] = carried[s + 1];
  carried[ahead - 1] = next;
  tileLoopYieldMore(loop->op, ahead, carried);
  TileBuilder after = tileBuilderAfter(made);
  for (intptr_t s = 0; s < ahead; ++s)
    tokens[s] = mlirOperationGetResult(made, kept + s);
  buildWait(&after, ahead, tokens); // a buffer may not die before its copies
  mlirExtPassAddStatistic(loop->pass, Pipelined, 1);
}

//===--- through registers ------------------------------------------------------------------===//

// Loads of views that only stores into buffers use: `copies` holds the loads, `waits` the stores.
static bool findStores(Loop *loop) {
  loop->copyCount = loop->waitCount = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(loop->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    bool isStore = tileStoreOpIsA(op) && tileTypeIsABuffer(tileStoreOpGetDestinationType(op));
    MlirOperation load = isStore ? tileDefiningOp(tileStoreOpGetValue(op)) : (MlirOperation){NULL};
    if (!isStore)
      continue;
    if (loop->copyCount == MostCopies || !tileLoadOpIsA(load) || !tileTypeIsAView(tileLoadOpGetSourceType(load)) ||
        !tileHasOneUse(tileLoadOpGetResult(load)) || !mlirBlockEqual(mlirOperationGetBlock(load), loop->body) ||
        !operandsAreKnown(loop, load, -1))
      return false;
    loop->copies[loop->copyCount++] = load;
    loop->waits[loop->waitCount++] = op;
  }
  return loop->copyCount > 0;
}

static void prefetch(Loop *loop) {
  MlirValue first[MostCopies], next[MostCopies];
  TileBuilder before = tileBuilderBefore(loop->op);
  intptr_t kept = mlirOperationGetNumResults(loop->op), count = loop->copyCount;
  for (intptr_t i = 0; i < count; ++i) {
    Names names = {.items = NULL};
    renameValue(&names, inductionOf(loop), scfForOpGetLowerBound(loop->op));
    first[i] = tileOnlyResult(cloneAhead(loop, &names, &before, loop->copies[i]));
    free(names.items);
  }
  withCarried(loop, count, first);
  for (intptr_t i = 0; i < count; ++i) {
    // Behind the sync that follows the store: from there on the products hide the load.
    MlirOperation sync = loop->waits[i];
    while (!mlirOperationIsNull(sync) && !tileSyncOpIsA(sync))
      sync = mlirOperationGetNextInBlock(sync);
    TileBuilder behind = tileBuilderAfter(mlirOperationIsNull(sync) ? loop->waits[i] : sync);
    Names names = {.items = NULL};
    MlirValue step = scfForOpGetStep(loop->op);
    renameValue(&names, inductionOf(loop), tileBuildAdd(&behind, inductionOf(loop), step));
    next[i] = tileOnlyResult(cloneAhead(loop, &names, &behind, loop->copies[i]));
    free(names.items);
    tileStoreOpSetValue(loop->waits[i], mlirBlockGetArgument(loop->body, kept + 1 + i));
    mlirOperationDestroy(loop->copies[i]);
  }
  tileLoopYieldMore(loop->op, count, next);
  mlirExtPassAddStatistic(loop->pass, Prefetched, 1);
}

//===--- the pass -------------------------------------------------------------------------------===//

// The schedule's stages, unless the option limits them; 0: nobody stated any.
static int64_t stagesStated(MlirOperation kernel, MlirExtPass pass) {
  MlirAttribute schedule = tileOpAttribute(kernel, "schedule");
  if (mlirAttributeIsNull(schedule) || mlirExtPassGetInteger(pass, "stages"))
    return 0;
  return tileScheduleAttrGetInteger(schedule, "stages", 0);
}

static int64_t sharedLeft(MlirOperation kernel, const TileMachine *machine, MlirOperation loop) {
  return machine ? tileSharedMemoryLeft(kernel, machine, loop) : INT64_MAX;
}

// Makes the rings, as deep as stated. Without a stated number two stages are a wish.
static bool pipelineCopies(Loop *loop, MlirOperation kernel, const TileMachine *machine) {
  int64_t fit = stagesThatFit(loop, sharedLeft(kernel, machine, loop->op));
  if (loop->isStated && fit < loop->stages)
    return tileError(loop->op,
                     "tile-pipeline-loops: `stages` is %lld; rings of at most %lld stages fit the shared memory of %s",
                     (long long)loop->stages, (long long)fit, tileMachineGetName(machine));
  loop->stages = fit;
  if (fit > 1)
    pipeline(loop);
  return true;
}

static bool refuseCopies(const Loop *loop) {
  if (mlirOperationIsNull(loop->stuck))
    return tileError(loop->op,
                     "tile-pipeline-loops: `stages` is %lld; the loop writes memory that its copies may read, so that "
                     "no copy runs ahead; 1 is accepted",
                     (long long)loop->stages);
  if (loop->copyCount == MostCopies)
    return tileError(loop->op,
                     "tile-pipeline-loops: `stages` is %lld; the loop has more than %d copies, so that none runs "
                     "ahead; 1 is accepted",
                     (long long)loop->stages, MostCopies);
  return tileError(loop->stuck,
                   "tile-pipeline-loops: `stages` is %lld; what this copies is known only when the round before was "
                   "computed, so that it cannot run ahead; 1 is accepted",
                   (long long)loop->stages);
}

static bool runOnLoop(MlirOperation kernel, MlirExtPass pass, const TileMachine *machine, MlirOperation op) {
  int64_t stated = stagesStated(kernel, pass), most = mlirExtPassGetInteger(pass, "stages");
  Loop loop = {.pass = pass, .op = op, .stages = stated ? stated : most ? most : 2, .isStated = stated != 0};
  loop.body = mlirRegionGetFirstBlock(scfForOpGetRegion(op));
  if (loop.stages < 2)
    return true;
  bool canMove = findCopies(&loop), isAlone = writesOnlyBuffers(&loop);
  if (loop.hasOwnPipeline)
    return true;
  if (canMove && isAlone)
    return pipelineCopies(&loop, kernel, machine);
  if (canMove || !mlirOperationIsNull(loop.stuck))
    return !loop.isStated || refuseCopies(&loop);
  if (isAlone && findStores(&loop))
    prefetch(&loop);
  return true;
}

static bool runOnLoops(MlirOperation kernel, MlirExtPass pass, const TileMachine *machine) {
  TileOps loops = tileCollectOps(kernel, scfForOpIsA);
  bool ok = true;
  for (intptr_t i = 0; ok && i < loops.count; ++i)
    ok = runOnLoop(kernel, pass, machine, loops.items[i]);
  tileOpsFree(&loops);
  return ok;
}

static bool run(MlirOperation kernel, MlirExtPass pass) {
  MlirAttribute attribute;
  int64_t stated = stagesStated(kernel, pass), most = mlirExtPassGetInteger(pass, "stages");
  stated = stated > most ? stated : most;
  if (stated > MostStages)
    return tileError(kernel, "tile-pipeline-loops: `stages` is %lld; at most %d are accepted", (long long)stated,
                     MostStages);
  TileMachine *machine = tileMachineOf(kernel, pass, &attribute);
  bool ok = runOnLoops(kernel, pass, machine && !mlirAttributeIsNull(attribute) ? machine : NULL);
  tileMachineDestroy(machine);
  return ok;
}

const MlirExtPassDefinition tilePipelineLoopsPass = {
    .argument = "tile-pipeline-loops",
    .summary = "Copy ahead of use: rings of asynchronous copies, or loads of the next round in registers",
    .anchor = tileKernelOpName,
    .options =
        (const MlirExtPassOption[]){{"stages", "the most stages of a ring; 0: exactly the schedule's, or at most 2",
                                     MlirExtOption_Integer, "0"},
                                    {NULL}},
    .statistics = statistics,
    .registerDialects = tileRegisterDialect,
    .run = run,
};
