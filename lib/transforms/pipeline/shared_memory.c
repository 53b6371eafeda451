// Shared memory that a kernel has left. See shared_memory.h.
#include "lib/transforms/pipeline/shared_memory.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/scratch.h"
#include "lib/ir/op_query.h"
#include "lib/machine/machine.h"
#include "upstream/scf.h"

MlirOperation tileOutermostLoop(MlirOperation op) {
  MlirOperation loop = {NULL};
  for (; !tileKernelOpIsA(op); op = mlirOperationGetParentOperation(op))
    if (scfForOpIsA(op) || scfWhileOpIsA(op))
      loop = op;
  return loop;
}

typedef struct Use {
  MlirOperation loop; // null: all the time
  int64_t buffers, scratch;
} Use;

// Whether all uses of the buffer are in loops other than this one.
static bool isOfOtherLoops(MlirValue buffer, MlirOperation loop) {
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation around = tileOutermostLoop(mlirOpOperandGetOwner(use));
    if (mlirOperationIsNull(around) || mlirOperationEqual(around, loop))
      return false;
  }
  return !mlirOpOperandIsNull(mlirValueGetFirstUse(buffer));
}

static int64_t tileBytes(MlirType type) {
  unsigned width = tileTypeIsATile(type) ? tileElementWidth(tileTypeGetElement(type)) : 8;
  return tileTypeIsATile(type) ? tileTypeGetCount(type) * (width == 0 ? 8 : (width + 7) / 8) : 0;
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  Use *use = data;
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

int64_t tileSharedMemoryLeft(MlirOperation kernel, const struct TileMachine *machine, MlirOperation loop) {
  TileMachineLevel shared = {.bytes = 0};
  Use use = {loop, 0, 0};
  tileMachineGetLevel(machine, "shared", &shared);
  int64_t limit = shared.bytes;
  tileMachineGetInteger(machine, "shared.per_block.bytes", &limit);
  mlirOperationWalk(kernel, visit, &use, MlirWalkPreOrder);
  return limit - use.buffers - use.scratch;
}
