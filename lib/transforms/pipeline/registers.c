// Registers of a loop by counting what is alive. See registers.h.
#include "lib/transforms/pipeline/registers.h"

#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/ir/support.h"
#include "lib/machine/machine.h"
#include "lib/transforms/pipeline/loops.h"

// For addresses, indices and the fragments of one step of a product.
enum { Others = 40 };

//===--- values ---------------------------------------------------------------------===//

static bool isFragmentLoad(MlirOperation op) {
  if (!tileOpIs(op, "tile.load") || !tileTypeIsABuffer(tileOperandType(op, 0)) ||
      !tileHasOneUse(mlirOperationGetResult(op, 0)))
    return false;
  MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, 0));
  return tileOpIs(mlirOpOperandGetOwner(use), "tile.mma") && mlirOpOperandGetOperandNumber(use) < 2;
}

static bool isCheap(MlirOperation op) {
  return tileOpIs(op, "arith.constant") || tileOpIs(op, "tile.iota") || tileOpIs(op, "tile.broadcast");
}

static int64_t registersOf(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (!tileTypeIsATile(type) || !tileTypeGetLayout(type).ptr || isCheap(tileDefiningOp(value)))
    return 0;
  TileLayout layout = tileLayoutAttrGetLayout(tileTypeGetLayout(type));
  unsigned bits = tileElementWidth(tileTypeGetElement(type));
  int64_t count = (int64_t)tileLayoutDimSize(&layout, TileLayoutReg);
  return bits == 1 ? 0 : (count * (bits ? bits : 64) + 31) / 32;
}

//===--- a round ----------------------------------------------------------------------===//

static MlirBlock bodyOf(MlirOperation loop) { return mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 0)); }

// The op of the block that is `op` or holds it; null when it is elsewhere.
static MlirOperation ancestorIn(MlirBlock block, MlirOperation op) {
  while (!mlirOperationIsNull(op) && !mlirBlockEqual(mlirOperationGetBlock(op), block))
    op = mlirOperationGetParentOperation(op);
  return op;
}

static bool isUsedAfter(MlirValue value, MlirOperation op) {
  MlirBlock block = mlirOperationGetBlock(op);
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = ancestorIn(block, mlirOpOperandGetOwner(use));
    if (!mlirOperationIsNull(user) && mlirOperationIsBeforeInBlock(op, user))
      return true;
  }
  return false;
}

static bool isIn(MlirBlock block, MlirValue value) {
  return mlirValueIsAOpResult(value) ? mlirBlockEqual(mlirOperationGetBlock(mlirOpResultGetOwner(value)), block)
                                     : mlirBlockEqual(mlirBlockArgumentGetOwner(value), block);
}

typedef struct Outside {
  MlirOperation loop;
  TileOps seen; // ops whose results are counted
  int64_t registers;
} Outside;

static bool isSeen(const TileOps *ops, MlirOperation op) {
  for (intptr_t i = 0; i < ops->count; ++i)
    if (mlirOperationEqual(ops->items[i], op))
      return true;
  return false;
}

static MlirWalkResult addOutside(MlirOperation op, void *data) {
  Outside *outside = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && !mlirOperationEqual(op, outside->loop); ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    if (!mlirValueIsAOpResult(value) || !registersOf(value) || !tileIsInvariant(outside->loop, value) ||
        isSeen(&outside->seen, mlirOpResultGetOwner(value)))
      continue;
    tileOpsAppend(&outside->seen, mlirOpResultGetOwner(value));
    outside->registers += registersOf(value);
  }
  return MlirWalkResultAdvance;
}

// Counts each value once: an op may take one twice.
static int64_t dying(MlirOperation op) {
  int64_t registers = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    bool isFirst = true;
    for (intptr_t j = 0; j < i; ++j)
      isFirst &= !mlirValueEqual(value, mlirOperationGetOperand(op, j));
    bool isFragment = mlirValueIsAOpResult(value) && isFragmentLoad(mlirOpResultGetOwner(value));
    if (isFirst && !isFragment && isIn(mlirOperationGetBlock(op), value) && !isUsedAfter(value, op))
      registers += registersOf(value);
  }
  return registers;
}

int64_t tileLoopRegisters(MlirOperation loop) {
  Outside outside = {.loop = loop};
  MlirBlock body = bodyOf(loop);
  mlirOperationWalk(loop, addOutside, &outside, MlirWalkPreOrder);
  tileOpsFree(&outside.seen);
  int64_t alive = outside.registers;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i)
    alive += registersOf(mlirBlockGetArgument(body, i));
  int64_t most = alive;
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op) && !isFragmentLoad(op); ++i)
      alive += registersOf(mlirOperationGetResult(op, i));
    alive -= dying(op);
    most = alive > most ? alive : most;
  }
  return most;
}

//===--- fragments ------------------------------------------------------------------------===//

static MlirOperation loopIn(MlirOperation op) {
  for (op = mlirOperationGetParentOperation(op); !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op))
    if (tileOpIs(op, "scf.for"))
      return op;
  return (MlirOperation){NULL};
}

// Nothing in the loop, or in one around it that the load stands before, touches the buffer.
static bool isLeftAlone(MlirValue buffer, MlirOperation load) {
  MlirBlock block = mlirOperationGetBlock(load);
  if (!tileOpIs(tileDefiningOp(buffer), "tile.alloc")) // a slot of a ring is written as the ring goes round
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
  int64_t limit = 0, moved = 0;
  if (!tileIntegerOf(kernel, "registers", &limit) && !tileMachineGetInteger(machine, "registers.per_thread", &limit))
    return 0;
  TileOps loads = tileCollect(kernel, "tile.load");
  for (intptr_t i = 0; i < loads.count; ++i) {
    MlirOperation load = loads.items[i];
    if (!isFragmentLoad(load) || !isLeftAlone(mlirOperationGetOperand(load, 0), load))
      continue;
    MlirOperation product = mlirOpOperandGetOwner(mlirValueGetFirstUse(mlirOperationGetResult(load, 0)));
    MlirOperation loop = loopIn(product);
    if (mlirOperationIsNull(loop) || !tileIsInvariant(loop, mlirOperationGetResult(load, 0)) ||
        tileLoopRegisters(loop) + Others <= limit)
      continue;
    mlirOperationMoveBefore(load, product);
    ++moved;
  }
  tileOpsFree(&loads);
  return moved;
}
