// Fragments that are read again instead of being held. See registers.h.
#include "lib/transforms/pipeline/registers.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/registers.h"
#include "lib/ir/support.h"
#include "lib/machine/machine.h"
#include "lib/transforms/pipeline/loops.h"
#include "upstream/scf.h"

// The op of the block that is `op` or holds it; null when it is elsewhere.
static MlirOperation ancestorIn(MlirBlock block, MlirOperation op) {
  while (!mlirOperationIsNull(op) && !mlirBlockEqual(mlirOperationGetBlock(op), block))
    op = mlirOperationGetParentOperation(op);
  return op;
}

// A load of a buffer whose only reader is a product, as an operand to multiply.
static bool isFragmentLoad(MlirOperation op) {
  if (!tileTypeIsABuffer(tileLoadOpGetSourceType(op)) || !tileHasOneUse(tileLoadOpGetResult(op)))
    return false;
  MlirOpOperand use = mlirValueGetFirstUse(tileLoadOpGetResult(op));
  return tileIsFactor(use);
}

static MlirOperation loopIn(MlirOperation op) {
  for (op = mlirOperationGetParentOperation(op); !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op))
    if (scfForOpIsA(op))
      return op;
  return (MlirOperation){NULL};
}

// Nothing in the loop, or in one around it that the load stands before, touches the buffer.
static bool isLeftAlone(MlirValue buffer, MlirOperation load) {
  MlirBlock block = mlirOperationGetBlock(load);
  if (!tileAllocOpIsA(tileDefiningOp(buffer))) // a slot of a ring is written as the ring goes round
    return false;
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = ancestorIn(block, mlirOpOperandGetOwner(use));
    if (mlirOperationIsNull(user) || mlirOperationIsBeforeInBlock(load, user))
      return false;
  }
  return true;
}

int64_t tileReadFragmentsInLoops(MlirOperation kernel, const TileMachine *machine) {
  int64_t limit = 0, others = 0, moved = 0;
  const TileRegisterCount count = {.registersOf = NULL};
  if (!tileIntegerOf(kernel, "registers", &limit) && !tileMachineGetInteger(machine, "registers.per_thread", &limit))
    return 0;
  tileMachineGetInteger(machine, "model.registers.step", &others);
  TileOps loads = tileCollectOps(kernel, tileLoadOpIsA);
  for (intptr_t i = 0; i < loads.count; ++i) {
    MlirOperation load = loads.items[i];
    if (!isFragmentLoad(load) || !isLeftAlone(tileLoadOpGetSource(load), load))
      continue;
    MlirOperation product = mlirOpOperandGetOwner(mlirValueGetFirstUse(tileLoadOpGetResult(load)));
    MlirOperation loop = loopIn(product);
    if (mlirOperationIsNull(loop) || !tileIsInvariant(loop, tileLoadOpGetResult(load)) ||
        tileLoopRegisters(&count, loop) + others <= limit)
      continue;
    mlirOperationMoveBefore(load, product);
    ++moved;
  }
  tileOpsFree(&loads);
  return moved;
}
