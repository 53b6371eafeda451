// tile.warp_specialize: its verifier and its control flow (RegionBranchOpInterface).
// Why: partitions are isolated, run side by side with warps of their own, and see only what is captured.
// Expects: the row's own checks done. Leaves: true, or a diagnostic with value seen and value wanted, and false.
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"

//===--- questions ----------------------------------------------------------===//

static bool expectOnePerPartition(MlirOperation op, const char *name, intptr_t seen) {
  intptr_t wanted = mlirOperationGetNumRegions(op);
  return seen == wanted ||
         tileError(op, "%s has %d entries, expected %d, one per partition", name, (int)seen, (int)wanted);
}

// A tile lives in the registers of the warps that made it; a token belongs to the partition that made it.
static bool verifyCaptures(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirType type = tileOperandType(op, i);
    if (!mlirTypeIsARankedTensor(type) && !tileTypeIsAToken(type))
      continue;
    return tileErrorWithNote(op, mlirValueGetLocation(mlirOperationGetOperand(op, i)), "it is defined here",
                             "captures %s, expected scalars, memrefs, views, buffers and barriers only",
                             TILE_TYPE_TEXT(type));
  }
  return true;
}

static bool verifyNames(MlirOperation op) {
  MlirAttribute names = tileOpAttribute(op, "names");
  intptr_t count = mlirArrayAttrGetNumElements(names);
  for (intptr_t i = 0; i < count; ++i)
    for (intptr_t j = 0; j < i; ++j) {
      MlirStringRef name = mlirStringAttrGetValue(mlirArrayAttrGetElement(names, i));
      if (mlirStringRefEqual(name, mlirStringAttrGetValue(mlirArrayAttrGetElement(names, j))))
        return tileError(op, "has two partitions \"%.*s\", expected different names", (int)name.length, name.data);
    }
  return expectOnePerPartition(op, "names", count);
}

static bool verifyWarps(MlirOperation op, MlirOperation kernel) {
  int64_t sum = 0, whole;
  intptr_t count = tileArrayCount(op, "warps");
  for (intptr_t i = 0; i < count; ++i) {
    if (!tileExpectInteger(op, "warps of a partition", tileArrayAt(op, "warps", i), 1, 64))
      return false;
    sum += tileArrayAt(op, "warps", i);
  }
  if (!expectOnePerPartition(op, "warps", count))
    return false;
  if (!tileIntegerOf(kernel, "warps", &whole) || sum <= whole)
    return true;
  return tileErrorWithNote(op, mlirOperationGetLocation(kernel), "the kernel's warps are said here",
                           "its partitions have %lld warps together, expected at most the kernel's %lld",
                           (long long)sum, (long long)whole);
}

// 0: not specified; the partition keeps its registers.
static bool verifyRegisters(MlirOperation op) {
  intptr_t count = tileArrayCount(op, "registers");
  for (intptr_t i = 0; i < count; ++i)
    if (!tileExpectInteger(op, "registers of a partition", tileArrayAt(op, "registers", i), 0, 512))
      return false;
  return count == 0 || expectOnePerPartition(op, "registers", count);
}

static bool verifyArguments(MlirOperation op, intptr_t index) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, index));
  intptr_t captures = mlirOperationGetNumOperands(op);
  intptr_t seen = mlirBlockIsNull(block) ? 0 : mlirBlockGetNumArguments(block);
  if (mlirBlockIsNull(block))
    return tileError(op, "partition #%d is empty, expected a body", (int)index);
  if (seen != captures)
    return tileError(op, "partition #%d has %d arguments, expected %d, one per capture", (int)index, (int)seen,
                     (int)captures);
  for (intptr_t i = 0; i < seen; ++i) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(block, i));
    if (!mlirTypeEqual(type, tileOperandType(op, i)))
      return tileError(op, "argument #%d of partition #%d is %s, expected the capture's type, %s", (int)i, (int)index,
                       TILE_TYPE_TEXT(type), TILE_TYPE_TEXT(tileOperandType(op, i)));
  }
  return true;
}

//===--- hooks --------------------------------------------------------------===//

bool tileWarpSpecializeOpVerify(MlirOperation op) {
  MlirOperation parent = mlirOperationGetParentOperation(op);
  if (!tileKernelOpIsA(parent))
    return tileError(op, "stands in '%.*s', expected it directly in a tile.kernel", (int)tileOpName(parent).length,
                     tileOpName(parent).data);
  if (mlirOperationGetNumRegions(op) == 0)
    return tileError(op, "has no partition, expected at least one");
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
    if (!verifyArguments(op, i))
      return false;
  return verifyCaptures(op) && verifyNames(op) && verifyWarps(op, parent) && verifyRegisters(op);
}

// All partitions run. For data flow that is: control may go from the op to any of them, and from each to the end.
void tileWarpSpecializeOpRegionSuccessors(MlirOperation op, int from, MlirExtSuccessors successors) {
  if (from >= 0) {
    mlirExtSuccessorsAddParent(successors, op);
    return;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
    mlirExtSuccessorsAddRegion(successors, op, i, 0);
}

void tileWarpSpecializeOpEntryOperands(MlirOperation op, intptr_t *begin, intptr_t *count) {
  *begin = 0;
  *count = mlirOperationGetNumOperands(op);
}
