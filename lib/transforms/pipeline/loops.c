// A loop with more results, and the shared memory that a loop has left. See loops.h.
#include "lib/transforms/pipeline/loops.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/scratch.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/support.h"
#include "lib/machine/machine.h"
#include "upstream/scf.h"

#include <stdlib.h>

static MlirBlock bodyOf(MlirOperation loop) { return mlirRegionGetFirstBlock(scfForOpGetRegion(loop)); }

MlirOperation tileLoopCarryMore(MlirOperation loop, intptr_t count, const MlirValue *initial) {
  intptr_t before = mlirOperationGetNumResults(loop);
  MlirValue *all = calloc((size_t)(before + count), sizeof *all);
  TileBuilder builder = tileBuilderBefore(loop);
  MlirBlock body, old = bodyOf(loop);
  for (intptr_t i = 0; i < before + count; ++i)
    all[i] = i < before ? scfForOpGetInitArgs(loop, i) : initial[i - before];
  MlirOperation made = tileBuildFor(&builder, scfForOpGetLowerBound(loop), scfForOpGetUpperBound(loop),
                                    scfForOpGetStep(loop), before + count, all, &body);
  for (intptr_t i = 0; i <= before; ++i)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(old, i), mlirBlockGetArgument(body, i));
  for (MlirOperation op = mlirBlockGetFirstOperation(old), next; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    mlirBlockAppendOwnedOperation(body, op);
  }
  for (intptr_t i = 0; i < before; ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(loop, i), mlirOperationGetResult(made, i));
  mlirOperationDestroy(loop);
  free(all);
  return made;
}

void tileLoopYieldMore(MlirOperation loop, intptr_t count, const MlirValue *values) {
  MlirOperation end = mlirBlockGetTerminator(bodyOf(loop));
  intptr_t before = mlirOperationGetNumOperands(end);
  MlirValue *all = calloc((size_t)(before + count), sizeof *all);
  TileBuilder builder = tileBuilderBefore(end);
  for (intptr_t i = 0; i < before + count; ++i)
    all[i] = i < before ? mlirOperationGetOperand(end, i) : values[i - before];
  tileBuildYield(&builder, before + count, all);
  mlirOperationDestroy(end);
  free(all);
}

//===--- shared memory --------------------------------------------------------===//

MlirOperation tileOutermostLoop(MlirOperation op) {
  MlirOperation loop = {NULL};
  for (; !tileKernelOpIsA(op); op = mlirOperationGetParentOperation(op))
    if (scfForOpIsA(op) || scfWhileOpIsA(op))
      loop = op;
  return loop;
}

typedef struct Use {
  MlirOperation op, loop; // loop: around the op; null: all the time
  int64_t buffers, scratch;
} Use;

typedef enum Time { Before, After, Apart, Meanwhile } Time;

static int depthOf(MlirOperation op) {
  int depth = 0;
  for (; !tileKernelOpIsA(op); op = mlirOperationGetParentOperation(op))
    ++depth;
  return depth;
}

// When the op runs, seen from an outermost loop: in a branch that the loop is not in, the two never meet.
static Time timeOf(MlirOperation op, MlirOperation loop) {
  int depth = depthOf(op), other = depthOf(loop);
  MlirOperation here = op, there = loop, branch = {NULL};
  for (; depth > other; --depth)
    here = mlirOperationGetParentOperation(here);
  for (; other > depth; --other)
    there = mlirOperationGetParentOperation(there);
  while (!mlirBlockEqual(mlirOperationGetBlock(here), mlirOperationGetBlock(there))) {
    here = mlirOperationGetParentOperation(here);
    there = mlirOperationGetParentOperation(there);
    branch = here;
    if (mlirOperationEqual(here, there))
      return scfIfOpIsA(branch) || scfIndexSwitchOpIsA(branch) ? Apart : Meanwhile;
  }
  return mlirOperationEqual(here, there) ? Meanwhile : mlirOperationIsBeforeInBlock(here, there) ? Before : After;
}

bool tileAreInOtherBranches(MlirOperation a, MlirOperation b) { return timeOf(a, b) == Apart; }

typedef struct Times {
  MlirOperation loop;
  bool is[Meanwhile + 1];
} Times;

// Those of its slots and of copies' tokens too: a copy uses its buffer until its token is taken.
static void addUses(Times *times, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    times->is[timeOf(user, times->loop)] = true;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(user); ++i)
      if (tileTypeIsABuffer(tileResultType(user, i)) || tileTypeIsAToken(tileResultType(user, i)))
        addUses(times, mlirOperationGetResult(user, i));
  }
}

// Whether the buffer holds nothing while the loop runs: all its uses come before the loop, or all behind it, or in
// another branch.
static bool isOfOtherLoops(MlirValue buffer, MlirOperation loop) {
  Times times = {.loop = loop};
  addUses(&times, buffer);
  return !mlirOpOperandIsNull(mlirValueGetFirstUse(buffer)) && !times.is[Meanwhile] &&
         !(times.is[Before] && times.is[After]);
}

static int64_t tileBytes(MlirType type) {
  unsigned width = tileTypeIsATile(type) ? tileElementWidth(tileTypeGetElement(type)) : 8;
  return tileTypeIsATile(type) ? tileTypeGetCount(type) * (width == 0 ? 8 : (width + 7) / 8) : 0;
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  Use *use = data;
  if (tileAreInOtherBranches(op, use->op))
    return MlirWalkResultSkip;
  bool isShared = tileAllocOpIsA(op) && tileTypeIsABuffer(tileAllocOpGetResultType(op)) &&
                  tileStringEquals(tileBufferTypeGetLevel(tileAllocOpGetResultType(op)), "shared");
  bool isElsewhere = !mlirOperationIsNull(use->loop) && !mlirOperationEqual(tileOutermostLoop(op), use->loop);
  if (isShared && (mlirOperationIsNull(use->loop) || !isOfOtherLoops(tileAllocOpGetResult(op), use->loop)))
    use->buffers += tileBufferBytes(tileAllocOpGetResultType(op));
  for (intptr_t i = 0; tileOpExchangesElements(op) && !isElsewhere && i < mlirOperationGetNumOperands(op); ++i) {
    int64_t bytes = tileBytes(tileOperandType(op, i));
    use->scratch = bytes > use->scratch ? bytes : use->scratch;
  }
  return MlirWalkResultAdvance;
}

int64_t tileSharedMemoryLeft(MlirOperation kernel, const struct TileMachine *machine, MlirOperation op) {
  TileMachineLevel shared = {.bytes = 0};
  Use use = {op, tileOutermostLoop(op), 0, 0};
  tileMachineGetLevel(machine, "shared", &shared);
  int64_t limit = shared.bytes;
  tileMachineGetInteger(machine, "shared.per_block.bytes", &limit);
  mlirOperationWalk(kernel, visit, &use, MlirWalkPreOrder);
  return limit - use.buffers - use.scratch;
}
