// Every token reaches a wait on every path, every product under way is waited for before it is used (async.h).
// Why: a copy nobody waits for lands in memory that has another use by then; an accumulator read early is garbage.
// Expects: structured control flow (scf, partitions), ops verified by themselves. Leaves: true, or a diagnostic at the
// op that makes the value, with a note at the offending use, and false.
// Cost: uses of tokens and accumulators only. A body of scf.for may run zero times, so a wait in it alone is not
// enough; calls are not looked into: tokens are no function values.
#include "dialects/tile/async.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/op_query.h"
#include "upstream/scf.h"

//===--- structure ----------------------------------------------------------===//

// The op in `block` that is or holds `op`; null when `op` stands elsewhere.
static MlirOperation ancestorIn(MlirBlock block, MlirOperation op) {
  while (!mlirOperationIsNull(op) && !mlirBlockEqual(mlirOperationGetBlock(op), block))
    op = mlirOperationGetParentOperation(op);
  return op;
}

static bool isTakenIn(MlirValue token, MlirBlock block);

static bool isTakenInRegion(MlirValue token, MlirOperation op, intptr_t region) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
  return !mlirBlockIsNull(block) && isTakenIn(token, block);
}

static bool isTakenInAllRegions(MlirValue token, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
    if (!isTakenInRegion(token, op, i))
      return false;
  return mlirOperationGetNumRegions(op) > 0;
}

// Whatever way control takes through `op`, some op inside takes the token.
static bool isTakenThrough(MlirValue token, MlirOperation op) {
  if (scfIfOpIsA(op) || scfIndexSwitchOpIsA(op))
    return isTakenInAllRegions(token, op);
  bool runsFirstRegion = scfWhileOpIsA(op) || scfExecuteRegionOpIsA(op);
  return runsFirstRegion && isTakenInRegion(token, op, 0);
}

// An op that takes the token (waits, joins, yields, or carries it on as another value, which is checked by itself)
// runs whenever `block` does.
static bool isTakenIn(MlirValue token, MlirBlock block) {
  for (MlirOpOperand use = mlirValueGetFirstUse(token); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use), ancestor = ancestorIn(block, user);
    if (mlirOperationIsNull(ancestor))
      continue;
    if (mlirOperationEqual(ancestor, user) || isTakenThrough(token, ancestor))
      return true;
  }
  return false;
}

//===--- tokens -------------------------------------------------------------===//

static bool verifyToken(MlirOperation op, MlirValue token, MlirBlock scope) {
  if (!tileTypeIsAToken(mlirValueGetType(token)) || isTakenIn(token, scope))
    return true;
  MlirOpOperand use = mlirValueGetFirstUse(token);
  if (mlirOpOperandIsNull(use))
    return tileError(op, "makes a token that nothing waits for, expected a tile.wait on every path");
  return tileErrorWithNote(op, mlirOperationGetLocation(mlirOpOperandGetOwner(use)), "this use may not be reached",
                           "makes a token that reaches a wait on some paths only, expected a tile.wait on every path");
}

static bool verifyTokens(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!verifyToken(op, mlirOperationGetResult(op, i), mlirOperationGetBlock(op)))
      return false;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    for (intptr_t i = 0; !mlirBlockIsNull(block) && i < mlirBlockGetNumArguments(block); ++i)
      if (!verifyToken(op, mlirBlockGetArgument(block, i), block))
        return false;
  }
  return true;
}

//===--- a buffer outlives its tokens ---------------------------------------===//

// The alloc behind a buffer, through slots and reinterpretations; null for an argument.
static MlirOperation allocationOf(MlirValue buffer) {
  MlirOperation op = tileDefiningOp(tileMemoryRoot(buffer));
  return tileAllocOpIsA(op) ? op : (MlirOperation){0};
}

// Whether the token, itself or joined, is yielded by the terminator of `block`.
static MlirOperation yieldOf(MlirValue token, MlirBlock block, int depth) {
  for (MlirOpOperand use = mlirValueGetFirstUse(token); depth && !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (mlirOperationEqual(user, mlirBlockGetTerminator(block)))
      return user;
    MlirOperation yield =
        tileJoinOpIsA(user) ? yieldOf(tileJoinOpGetToken(user), block, depth - 1) : (MlirOperation){0};
    if (!mlirOperationIsNull(yield))
      return yield;
  }
  return (MlirOperation){0};
}

static bool verifyLifetime(MlirOperation op) {
  if (!tileCopyAsyncOpIsA(op) || mlirOperationGetNumResults(op) == 0)
    return true;
  bool toBuffer = tileTypeIsABuffer(tileCopyAsyncOpGetDestinationType(op));
  MlirOperation allocation = allocationOf(mlirOperationGetOperand(op, toBuffer ? 1 : 0));
  if (mlirOperationIsNull(allocation))
    return true;
  MlirOperation yield = yieldOf(tileCopyAsyncOpGetToken(op), mlirOperationGetBlock(allocation), 8);
  return mlirOperationIsNull(yield) ||
         tileErrorWithNote(op, mlirOperationGetLocation(yield), "the token leaves the scope of the buffer here",
                           "is still under way when its buffer dies, expected a tile.wait in the scope of the buffer");
}

//===--- products under way -------------------------------------------------===//

static bool isPending(MlirOperation op) {
  int64_t pending = 0;
  if (tileMmaWaitOpIsA(op))
    return tileIntegerOf(op, "pending", &pending) && pending > 0;
  return tileMmaAsyncOpIsA(op);
}

static bool mayTakePending(MlirOperation user, intptr_t operand) {
  return tileMmaWaitOpIsA(user) || scfYieldOpIsA(user) || (tileMmaAsyncOpIsA(user) && operand == 2);
}

static bool verifyUnderWay(MlirOperation op) {
  if (mlirOperationGetNumResults(op) == 0 || !isPending(op))
    return true;
  MlirValue value = tileOnlyResult(op);
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    MlirStringRef name = tileOpName(user);
    if (!mayTakePending(user, mlirOpOperandGetOperandNumber(use)))
      return tileErrorWithNote(
          op, mlirOperationGetLocation(user), "it is used here",
          "is still under way when '%.*s' uses it, expected it as an accumulator of tile.mma_async, "
          "in tile.mma_wait or in scf.yield",
          (int)name.length, name.data);
  }
  return true;
}

bool tileVerifyAsyncValues(MlirOperation op) { return verifyTokens(op) && verifyLifetime(op) && verifyUnderWay(op); }
