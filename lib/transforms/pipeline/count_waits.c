// tile-count-waits{chip=NAME}: how many groups of asynchronous copies each wait leaves under way, how many arrivals
//   complete a round of a barrier, and how many threads and registers partitions have.
// Expects: scheduled kernels. Leaves, for the conversion to obey, where the kernel does not say it already:
//   `pending N` on each tile.wait. cp.async's wait names how many of the newest groups may still be under way, so each
//   token needs its age: the least number of groups that can have been committed after its own on any path. The group
//   of a copy ends at the join that takes its token, or at the copy itself. In a loop ages only fall from one round to
//   the next, so they settle; an argument of a loop is as old as the youngest token that comes in. A wait whose tokens
//   are not known waits for all groups.
//   `read` on each tile.wait for an engine's copies to memory that the kernel does not read afterwards: the buffers are
//   free once the engine has read them.
//   `threads(1)` on a partition that neither holds tiles nor divides copies among threads.
//   `arrivals` on barriers: the type's number of partitions times the most warps of one that arrives, which the warps
//   of the others divide.
//   `reads` on an arrival at barriers of other programs, if only engines (products and copies) use the memory that the
//   barrier frees. Such an arrival orders memory within its own program only.
//   The kernel's `registers` if partitions change theirs: an equal share, because the machine moves only what is free.
// Cost: linear in the ops, for each round until the ages of a loop settle, and for each barrier in its uses.
#include "lib/analysis/accesses.h"
#include "lib/transforms/pipeline/pipeline.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/ir/enclosing.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/search/target.h"
#include "lib/support/grow.h"
#include "lib/support/integer.h"
#include "upstream/scf.h"

#include <stdlib.h>

static const char *const statistics[] = {"waits: waits that got a number", "partial: waits that leave groups under way",
                                         NULL};

enum { Oldest = 1 << 20, MostPartitions = 16 };

typedef struct Age {
  MlirValue token;
  int64_t age;
} Age;

typedef struct Wait {
  MlirOperation op;
  int64_t pending;
} Wait;

typedef struct Tokens {
  Age *ages;
  intptr_t numAges;
  Wait *waits;
  intptr_t numWaits;
} Tokens;

//===--- the tables -------------------------------------------------------------------------===//

static Age *ageOf(Tokens *tokens, MlirValue token) {
  for (intptr_t i = 0; i < tokens->numAges; ++i)
    if (mlirValueEqual(tokens->ages[i].token, token))
      return &tokens->ages[i];
  return NULL;
}

static void setAge(Tokens *tokens, MlirValue token, int64_t age) {
  Age *known = ageOf(tokens, token);
  if (known) {
    known->age = age;
    return;
  }
  tokens->ages = tessera_grow(tokens->ages, tokens->numAges, sizeof *tokens->ages);
  tokens->ages[tokens->numAges++] = (Age){token, age};
}

static int64_t getAge(Tokens *tokens, MlirValue token) {
  Age *known = ageOf(tokens, token);
  return known ? known->age : 0;
}

static void commit(Tokens *tokens) {
  for (intptr_t i = 0; i < tokens->numAges; ++i)
    tokens->ages[i].age += tokens->ages[i].age < Oldest;
}

static Wait *waitOf(Tokens *tokens, MlirOperation op) {
  for (intptr_t i = 0; i < tokens->numWaits; ++i)
    if (mlirOperationEqual(tokens->waits[i].op, op))
      return &tokens->waits[i];
  return NULL;
}

// The last visit counts: ages have settled by then.
static void setWait(Tokens *tokens, MlirOperation op, int64_t pending) {
  Wait *known = waitOf(tokens, op);
  if (known) {
    known->pending = pending;
    return;
  }
  tokens->waits = tessera_grow(tokens->waits, tokens->numWaits, sizeof *tokens->waits);
  tokens->waits[tokens->numWaits++] = (Wait){op, pending};
}

//===--- ops ------------------------------------------------------------------------------------===//

static int64_t youngest(Tokens *tokens, MlirOperation op, intptr_t first) {
  int64_t age = Oldest;
  for (intptr_t i = first; i < mlirOperationGetNumOperands(op); ++i)
    if (tileTypeIsAToken(tileOperandType(op, i))) {
      int64_t one = getAge(tokens, mlirOperationGetOperand(op, i));
      age = one < age ? one : age;
    }
  return age;
}

static void visitBlock(Tokens *tokens, MlirBlock block);

static void visitToken(Tokens *tokens, MlirOperation op) {
  if (tileWaitOpIsA(op)) {
    setWait(tokens, op, youngest(tokens, op, 0));
    return;
  }
  bool ends = tileEndsCopyGroup(op);
  int64_t age = ends ? 0 : youngest(tokens, op, 0);
  if (ends)
    commit(tokens);
  if (mlirOperationGetNumResults(op))
    setAge(tokens, tileOnlyResult(op), age == Oldest ? 0 : age);
}

//===--- control flow -----------------------------------------------------------------------------===//

// Tokens of `op`'s operands from `first` on go to the values `to` gives; true if one became younger than it was.
typedef MlirValue (*Receiver)(const void *op, intptr_t index);

static MlirValue argumentOf(const void *block, intptr_t index) {
  return mlirBlockGetArgument(*(const MlirBlock *)block, index);
}

static MlirValue resultOf(const void *op, intptr_t index) {
  return mlirOperationGetResult(*(const MlirOperation *)op, index);
}

static bool forward(Tokens *tokens, MlirOperation op, intptr_t first, Receiver to, const void *whose, intptr_t offset) {
  bool changed = false;
  for (intptr_t i = first; i < mlirOperationGetNumOperands(op); ++i) {
    if (!tileTypeIsAToken(tileOperandType(op, i)))
      continue;
    MlirValue receiver = to(whose, i - first + offset);
    const Age *known = ageOf(tokens, receiver);
    int64_t age = getAge(tokens, mlirOperationGetOperand(op, i));
    if (!known || age < known->age) {
      setAge(tokens, receiver, age);
      changed = true;
    }
  }
  return changed;
}

static MlirBlock blockOf(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

// What holds at a loop's head must hold each time it is reached: all known ages, not those of arguments alone.
static void lower(Tokens *tokens, const Age *before, intptr_t count, bool *changed) {
  for (intptr_t i = 0; i < count; ++i)
    if (tokens->ages[i].age > before[i].age)
      tokens->ages[i].age = before[i].age;
    else if (tokens->ages[i].age < before[i].age)
      *changed = true;
}

static Age *copyAges(const Tokens *tokens) {
  Age *ages = malloc((size_t)(tokens->numAges + 1) * sizeof *ages);
  for (intptr_t i = 0; i < tokens->numAges; ++i)
    ages[i] = tokens->ages[i];
  return ages;
}

static void visitLoop(Tokens *tokens, MlirOperation op) {
  bool isFor = scfForOpIsA(op), changed = true;
  MlirBlock head = blockOf(op, 0), last = blockOf(op, isFor ? 0 : 1);
  forward(tokens, op, isFor ? 3 : 0, argumentOf, &head, isFor);
  while (changed) {
    changed = false;
    intptr_t count = tokens->numAges;
    Age *before = copyAges(tokens);
    visitBlock(tokens, head);
    if (!isFor) {
      MlirOperation condition = mlirBlockGetTerminator(head);
      forward(tokens, condition, 1, argumentOf, &last, 0);
      forward(tokens, condition, 1, resultOf, &op, 0);
      visitBlock(tokens, last);
    }
    Age *after = copyAges(tokens);
    intptr_t numAfter = tokens->numAges;
    lower(tokens, before, count, &changed);
    // The arguments take the ages of what the body's end yields.
    MlirOperation yield = mlirBlockGetTerminator(last);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(yield); ++i)
      for (intptr_t j = 0; j < numAfter; ++j)
        if (mlirValueEqual(after[j].token, mlirOperationGetOperand(yield, i))) {
          Age *argument = ageOf(tokens, mlirBlockGetArgument(head, i + isFor));
          if (argument && after[j].age < argument->age) {
            argument->age = after[j].age;
            changed = true;
          }
          if (isFor) {
            MlirValue result = mlirOperationGetResult(op, i);
            const Age *known = ageOf(tokens, result);
            if (!known || after[j].age < known->age)
              setAge(tokens, result, after[j].age);
          }
        }
    free(before);
    free(after);
  }
  if (isFor)
    forward(tokens, op, 3, resultOf, &op, 0);
}

static void visitIf(Tokens *tokens, MlirOperation op) {
  intptr_t count = tokens->numAges;
  Age *before = copyAges(tokens), *then = NULL;
  bool ignored = false;
  for (int i = 0; i < 2; ++i) {
    MlirBlock block = blockOf(op, i);
    for (intptr_t j = 0; i && j < count; ++j)
      tokens->ages[j].age = before[j].age;
    if (!mlirBlockIsNull(block)) {
      visitBlock(tokens, block);
      forward(tokens, mlirBlockGetTerminator(block), 0, resultOf, &op, 0);
    }
    if (!i)
      then = copyAges(tokens);
  }
  lower(tokens, then, count, &ignored);
  free(before);
  free(then);
}

static void visitBlock(Tokens *tokens, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (scfForOpIsA(op) || scfWhileOpIsA(op))
      visitLoop(tokens, op);
    else if (scfIfOpIsA(op))
      visitIf(tokens, op);
    else if (tileWarpSpecializeOpIsA(op)) // each partition commits and waits for groups of its own
      for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
        visitBlock(tokens, blockOf(op, i));
    else if (tileCopyAsyncOpIsA(op) || tileJoinOpIsA(op) || tileWaitOpIsA(op))
      visitToken(tokens, op);
}

//===--- copies to memory that nobody reads -------------------------------------------------------------------===//

// Whether the op may run after the wait: it stands behind the wait, in a loop around both, or in another partition.
static bool mayFollow(MlirOperation op, MlirOperation wait) {
  for (MlirOperation around = wait; !tileKernelOpIsA(around); around = mlirOperationGetParentOperation(around)) {
    MlirOperation other = tileAncestorIn(mlirOperationGetBlock(around), op);
    bool isLoop = scfForOpIsA(around) || scfWhileOpIsA(around);
    if (!mlirOperationIsNull(other) && mlirOperationEqual(other, around) && isLoop)
      return true;
    if (!mlirOperationIsNull(other) && !mlirOperationEqual(other, around) &&
        mlirOperationIsBeforeInBlock(around, other))
      return true;
    if (mlirOperationIsNull(other) && tileWarpSpecializeOpIsA(mlirOperationGetParentOperation(around)))
      return true;
  }
  return false;
}

typedef struct Reading {
  MlirOperation wait;
  MlirValue written;
  bool isFound;
} Reading;

static void findRead(MlirOperation op, TileEffect effect, void *data) {
  Reading *reading = data;
  if (effect.kind != MlirExtEffect_Read || effect.resource != MlirExtResource_Memory)
    return;
  MlirValue root = mlirValueIsNull(effect.value) ? effect.value : tileRootOf(effect.value);
  bool isOnChip = !mlirValueIsNull(root) && tileAllocOpIsA(tileDefiningOp(root));
  bool isParameter = !mlirValueIsNull(root) && mlirValueIsABlockArgument(root);
  bool isElsewhere = isOnChip || (isParameter && !tileParametersMayOverlap(root, reading->written));
  reading->isFound |= !isElsewhere && mayFollow(op, reading->wait);
}

static MlirWalkResult findReads(MlirOperation op, void *data) {
  if (!mlirOperationGetNumRegions(op))
    tileOpVisitEffects(op, findRead, data);
  return MlirWalkResultAdvance;
}

// All tokens are of copies by an engine, out of buffers, to parameters that the kernel does not read afterwards.
static bool isForReads(MlirOperation kernel, MlirOperation wait) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(wait); ++i) {
    MlirOperation copy = tileDefiningOp(mlirOperationGetOperand(wait, i));
    if (!tileIsCopyOfBoxes(copy))
      return false;
    Reading reading = {.wait = wait, .written = tileRootOf(tileCopyAsyncOpGetDestination(copy))};
    if (mlirValueIsNull(reading.written) || !mlirValueIsABlockArgument(reading.written))
      return false;
    mlirOperationWalk(kernel, findReads, &reading, MlirWalkPreOrder);
    if (reading.isFound)
      return false;
  }
  return mlirOperationGetNumOperands(wait) > 0;
}

//===--- threads of partitions ------------------------------------------------------------------------------===//

// One thread can do for all what involves no tile, whose elements the threads share, and no copy that they divide.
static void chooseThreads(MlirOperation partitions) {
  int64_t threads[MostPartitions] = {0}, any = 0;
  intptr_t count = mlirOperationGetNumRegions(partitions);
  if (tileArrayCount(partitions, "threads") || count > MostPartitions)
    return;
  for (intptr_t i = 0; i < count; ++i)
    any |= threads[i] = mlirOperationIsNull(tilePartitionDividedOp(partitions, i));
  if (any)
    tileWarpSpecializeOpSetThreads(partitions,
                                   mlirDenseI64ArrayGet(mlirOperationGetContext(partitions), count, threads));
}

//===--- arrivals -----------------------------------------------------------------------------===//

static int64_t arrivingWarps(MlirOperation op) {
  intptr_t partition;
  MlirOperation partitions = tilePartitionAround(op, &partition);
  bool isOneThread =
      partition >= 0 && tileArrayCount(partitions, "threads") && tileArrayAt(partitions, "threads", partition) == 1;
  return isOneThread ? 1 : tessera_max(tileWarpsOf(op), 1);
}

static int64_t mostArriving(MlirValue barrier) {
  int64_t most = 1;
  for (MlirOpOperand use = mlirValueGetFirstUse(barrier); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    intptr_t number = mlirOpOperandGetOperandNumber(use);
    if (tileBarrierArriveOpIsA(user))
      most = tessera_max(most, arrivingWarps(user));
    for (intptr_t i = 0; tileWarpSpecializeOpIsA(user) && i < mlirOperationGetNumRegions(user); ++i) {
      MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(user, i));
      most = tessera_max(most, mostArriving(mlirBlockGetArgument(block, number)));
    }
  }
  return most;
}

static void countBarrier(MlirOperation alloc) {
  MlirType type = tileAllocOpGetResultType(alloc), i64 = mlirIntegerTypeGet(mlirOperationGetContext(alloc), 64);
  if (tileTypeIsABarrier(type) && mlirAttributeIsNull(tileAllocOpGetArrivals(alloc)))
    tileAllocOpSetArrivals(
        alloc, mlirIntegerAttrGet(i64, tileBarrierTypeGetArrivals(type) * mostArriving(tileAllocOpGetResult(alloc))));
}

//===--- what engines have read ---------------------------------------------------------------===//

static bool isForOthers(MlirOperation op) {
  return tileBarrierArriveOpIsA(op) && (!mlirValueIsNull(tileBarrierArriveOpGetRank(op)) || tileHas(op, "multicast"));
}

// Copies into the buffer and products use it, here, in stages of it, and in partitions that it is given to.
static bool isForEngines(MlirValue buffer) {
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    intptr_t number = mlirOpOperandGetOperandNumber(use);
    bool isCopied = tileIsCopyOfBoxes(user);
    if (tileSlotOpIsA(user) ? !isForEngines(tileSlotOpGetResult(user))
                            : !isCopied && !tileMmaAsyncOpIsA(user) && !tileWarpSpecializeOpIsA(user))
      return false;
    for (intptr_t i = 0; tileWarpSpecializeOpIsA(user) && i < mlirOperationGetNumRegions(user); ++i)
      if (!isForEngines(mlirBlockGetArgument(blockOf(user, i), number)))
        return false;
  }
  return true;
}

typedef struct GivenBack {
  MlirValue barrier; // where it was made
  bool isForEngines;
} GivenBack;

static MlirWalkResult visitCopyAfterWait(MlirOperation op, void *data) {
  GivenBack *given = data;
  if (tileCopyAsyncOpIsA(op) && tileTypeIsABuffer(mlirValueGetType(tileCopyAsyncOpGetDestination(op))))
    given->isForEngines &= isForEngines(tileRootOf(tileCopyAsyncOpGetDestination(op)));
  return MlirWalkResultAdvance;
}

// All that may be copied once the barrier was waited for: what stands in the wait's block.
static MlirWalkResult visitWaitFor(MlirOperation op, void *data) {
  GivenBack *given = data;
  if (!tileBarrierWaitOpIsA(op) || !mlirValueEqual(tileRootOf(tileBarrierWaitOpGetBarrier(op)), given->barrier))
    return MlirWalkResultAdvance;
  for (MlirOperation next = op; !mlirOperationIsNull(next); next = mlirOperationGetNextInBlock(next)) {
    given->isForEngines &= !tileStoreOpIsA(next) && !tileLoadOpIsA(next);
    mlirOperationWalk(next, visitCopyAfterWait, given, MlirWalkPreOrder);
  }
  return MlirWalkResultAdvance;
}

static void markReads(MlirOperation kernel) {
  TileOps arrivals = tileCollectOps(kernel, isForOthers);
  for (intptr_t i = 0; i < arrivals.count; ++i) {
    GivenBack given = {tileRootOf(tileBarrierArriveOpGetBarrier(arrivals.items[i])), true};
    mlirOperationWalk(kernel, visitWaitFor, &given, MlirWalkPreOrder);
    if (given.isForEngines)
      tileBarrierArriveOpSetReads(arrivals.items[i], mlirUnitAttrGet(mlirOperationGetContext(kernel)));
  }
  tileOpsFree(&arrivals);
}

//===--- registers ----------------------------------------------------------------------------===//

static bool chooseRegisters(MlirOperation kernel, const TileMachine *machine) {
  TileSearchTarget target;
  TileError error;
  if (!tileSearchReadTarget(machine, &target, &error))
    return tileError(kernel, "%s", error.text);
  MlirType i32 = mlirIntegerTypeGet(mlirOperationGetContext(kernel), 32);
  int64_t registers = tileSearchEqualRegisters(&target, tessera_max(tileWarpsOf(kernel), 1));
  mlirOperationSetAttributeByName(kernel, tileString("registers"), mlirIntegerAttrGet(i32, registers));
  return true;
}

static bool countPartitions(MlirOperation kernel, MlirExtPass pass, const TileOps *partitions) {
  bool changesRegisters = false;
  for (intptr_t i = 0; i < partitions->count; ++i) {
    chooseThreads(partitions->items[i]);
    changesRegisters |= tileArrayCount(partitions->items[i], "registers") > 0;
  }
  if (!changesRegisters || tileHas(kernel, "registers"))
    return true;
  TileMachine *machine = tileNamedMachineOf(kernel, pass, NULL);
  bool ok = machine && chooseRegisters(kernel, machine);
  tileMachineDestroy(machine);
  return ok;
}

static bool countArrivals(MlirOperation kernel, MlirExtPass pass) {
  TileOps partitions = tileCollectOps(kernel, tileWarpSpecializeOpIsA), allocs = tileCollectOps(kernel, tileAllocOpIsA);
  bool ok = countPartitions(kernel, pass, &partitions);
  for (intptr_t i = 0; ok && i < allocs.count; ++i)
    countBarrier(allocs.items[i]);
  tileOpsFree(&partitions);
  tileOpsFree(&allocs);
  return ok;
}

//===--- the pass -------------------------------------------------------------------------------------===//

static bool run(MlirOperation kernel, MlirExtPass pass) {
  Tokens tokens = {.ages = NULL};
  MlirBlock body = mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel));
  if (mlirBlockIsNull(body))
    return true;
  visitBlock(&tokens, body);
  for (intptr_t i = 0; i < tokens.numWaits; ++i) {
    const Wait *wait = &tokens.waits[i];
    if (isForReads(kernel, wait->op))
      tileWaitOpSetRead(wait->op, mlirUnitAttrGet(mlirOperationGetContext(kernel)));
    if (!mlirAttributeIsNull(tileWaitOpGetPending(wait->op)))
      continue;
    int64_t pending = wait->pending < Oldest ? wait->pending : 0;
    MlirType i64 = mlirIntegerTypeGet(mlirOperationGetContext(kernel), 64);
    tileWaitOpSetPending(wait->op, mlirIntegerAttrGet(i64, pending));
    mlirExtPassAddStatistic(pass, 0, 1);
    mlirExtPassAddStatistic(pass, 1, pending > 0);
  }
  free(tokens.ages);
  free(tokens.waits);
  markReads(kernel);
  return countArrivals(kernel, pass);
}

const MlirExtPassDefinition tileCountWaitsPass = {
    .argument = "tile-count-waits",
    .summary = "Count the groups of copies that each wait leaves under way, and the arrivals at each barrier",
    .anchor = tileKernelOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION, {NULL}},
    .statistics = statistics,
    .run = run,
};
