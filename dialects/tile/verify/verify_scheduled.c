// Verifiers of the scheduled level: slot, convert_layout, copies, waits, barriers, fence, partitions of warps; and of
// print.
// Why: what moves must fit where it lands; what is asynchronous must say how it ends; partitions are isolated, run side
// by side with warps of their own, and see only what is captured.
// Expects: the row's own checks done. Leaves: true, or a diagnostic with value seen and value wanted, and false.
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"

#include <string.h>

//===--- alloc, slot, convert_layout ---------------------------------===//

enum { OffsetAlign = 16 };       // bytes of the widest access of a thread
enum { MostArrivals = 1048575 }; // PTX ISA, mbarrier: 2^20 - 1

// Ordered by the kernel's own tile.sync, or in program order.
static bool isSpace(MlirAttribute space) {
  return mlirAttributeIsNull(space) ||
         (mlirAttributeIsAString(space) && tileStringEquals(mlirStringAttrGetValue(space), "shared"));
}

// A memref of tile.alloc has its elements side by side, and as many as its type says.
static bool expectContiguous(MlirOperation op, MlirType memref) {
  MlirAttribute layout = mlirMemRefTypeGetLayout(memref);
  bool isPlain = mlirShapedTypeHasStaticShape(memref) && isSpace(mlirMemRefTypeGetMemorySpace(memref)) &&
                 mlirAttributeIsAAffineMap(layout) && mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(layout));
  return isPlain ||
         tileError(op,
                   "makes %s, expected a contiguous memref of static shape, without a memory space or in \"shared\"",
                   TILE_TYPE_TEXT(memref));
}

// Arrivals complete a round of the machine's barrier; each partition of the type has an equal share.
static bool verifyArrivals(MlirOperation op, MlirType type) {
  int64_t arrivals = 0;
  if (!tileIntegerOf(op, "arrivals", &arrivals))
    return true;
  if (!tileTypeIsABarrier(type))
    return tileError(op, "arrivals: %s has none; the attribute applies to barriers", TILE_TYPE_TEXT(type));
  int64_t partitions = tileBarrierTypeGetArrivals(type);
  return (arrivals >= 1 && arrivals <= MostArrivals && arrivals % partitions == 0) ||
         tileError(op, "arrivals: %lld; the accepted values are multiples of %lld, which is in the type, up to %d",
                   (long long)arrivals, (long long)partitions, MostArrivals);
}

bool tileAllocOpVerify(MlirOperation op) {
  int64_t offset = 0;
  MlirType type = tileAllocOpGetResultType(op);
  tileIntegerOf(op, "offset", &offset);
  if (mlirTypeIsAMemRef(type) && !expectContiguous(op, type))
    return false;
  for (intptr_t d = 0; mlirTypeIsAMemRef(type) && d < mlirShapedTypeGetRank(type); ++d)
    if (mlirShapedTypeGetDimSize(type, d) == 0)
      return tileError(op, "allocates %s, which has no elements", TILE_TYPE_TEXT(type));
  return verifyArrivals(op, type) && tileExpectInteger(op, "the offset", offset, 0, INT64_MAX) &&
         (offset % OffsetAlign == 0 ||
          tileError(op, "begins at byte %lld; the offset must be a multiple of %d", (long long)offset, OffsetAlign));
}

bool tileSlotOpVerify(MlirOperation op) {
  MlirValue buffer = tileSlotOpGetBuffer(op);
  return tileBufferTypeGetStages(mlirValueGetType(buffer)) > 0 ||
         tileErrorWithNote(op, mlirValueGetLocation(buffer), "the buffer is defined here",
                           "takes a slot of %s, expected a ring: a buffer with stages",
                           TILE_TYPE_TEXT(mlirValueGetType(buffer)));
}

bool tileSlotOpInferTypes(const MlirExtInference *inference, MlirExtTypeList types) {
  MlirType buffer = inference->numOperands ? mlirValueGetType(inference->operands[0]) : (MlirType){0};
  if (mlirTypeIsNull(buffer) || !tileTypeIsABuffer(buffer))
    return tileErrorAt(inference->location, "tile.slot takes a slot of something that is not a buffer");
  mlirExtTypeListAppend(types, tileBufferTypeGetStages(buffer) ? tileBufferTypeGetSlot(buffer) : buffer);
  return true;
}

bool tileConvertLayoutOpVerify(MlirOperation op) {
  MlirValue input = tileConvertLayoutOpGetInput(op);
  MlirType type = mlirValueGetType(input), result = tileConvertLayoutOpGetResultType(op);
  if (mlirAttributeIsNull(tileTypeGetLayout(type)) || mlirAttributeIsNull(tileTypeGetLayout(result)))
    return tileError(op, "converts %s to %s, expected tiles with layouts", TILE_TYPE_TEXT(type),
                     TILE_TYPE_TEXT(result));
  return tileExpectShapeOf(op, "the result", result, "the input", input) &&
         tileExpectElementOf(op, "the result", result, "the input", input);
}

//===--- copies -------------------------------------------------------------===//

// `threads` deals out the elements of the buffer, each to one register at least.
static bool verifyThreads(MlirOperation op, MlirType buffer) {
  MlirAttribute attribute = tileOpAttribute(op, "threads");
  int64_t shape[TILE_LAYOUT_MAX_AXES], rank = tileTypeGetRank(buffer);
  TileError error;
  if (mlirAttributeIsNull(attribute))
    return true;
  if (tileHas(op, "engine") && tileKeywordIs(op, "engine", "tma"))
    return tileError(op, "has `threads`, but engine \"tma\" copies by itself");
  for (int64_t axis = 0; axis < rank; ++axis)
    shape[axis] = tileTypeGetSize(buffer, axis);
  TileLayout layout = tileLayoutAttrGetLayout(attribute);
  return tileLayoutHolds(&layout, shape, (uint32_t)rank, NULL, &error) ||
         tileError(op, "`threads` does not fit %s: %s", TILE_TYPE_TEXT(buffer), error.text);
}

// Between a view, which is indexed, and one stage of a buffer, in either direction.
static bool verifyCopy(MlirOperation op) {
  MlirValue source = tileOpOperand(op, "source"), destination = tileOpOperand(op, "destination");
  MlirType from = mlirValueGetType(source), to = mlirValueGetType(destination);
  intptr_t begin, indices;
  tileOpOperands(op, "indices", &begin, &indices);
  bool fromView = tileTypeIsAView(from);
  if (fromView == tileTypeIsAView(to))
    return tileError(op, "copies %s to %s, expected a view and a buffer, in either direction", TILE_TYPE_TEXT(from),
                     TILE_TYPE_TEXT(to));
  return tileExpectIndices(op, fromView ? source : destination, indices) &&
         tileExpectNoRing(op, "the buffer", fromView ? destination : source) &&
         tileExpectShapeOf(op, "the destination", to, "the source", source) &&
         tileExpectElementOf(op, "the destination", to, "the source", source) &&
         tileExpectVector(op, fromView ? to : from) && verifyThreads(op, fromView ? to : from);
}

bool tileCopyOpVerify(MlirOperation op) { return verifyCopy(op); }

bool tilePrefetchOpVerify(MlirOperation op) {
  return tileExpectIndices(op, tilePrefetchOpGetView(op), mlirOperationGetNumOperands(op) - 1);
}

static bool verifyMulticast(MlirOperation op) {
  for (intptr_t i = 0, count = tileArrayCount(op, "multicast"); i < count; ++i)
    if (!tileExpectInteger(op, "an axis of multicast", tileArrayAt(op, "multicast", i), 0, 2))
      return false;
  return tileExpectAxes(op, "multicast", 3);
}

// The row specifies that the copy ends at a token or signals a barrier, and not both.
bool tileCopyAsyncOpVerify(MlirOperation op) { return verifyCopy(op) && verifyMulticast(op); }

//===--- tokens -------------------------------------------------------------===//

static bool expectTokens(MlirOperation op) {
  return mlirOperationGetNumOperands(op) > 0 || tileError(op, "has no token, expected at least one");
}

bool tileJoinOpVerify(MlirOperation op) { return expectTokens(op); }

bool tileWaitOpVerify(MlirOperation op) {
  int64_t pending = 0;
  tileIntegerOf(op, "pending", &pending);
  return expectTokens(op) && tileExpectInteger(op, "pending", pending, 0, INT64_MAX);
}

//===--- barriers -----------------------------------------------------------===//

static int64_t bytesOf(MlirType type) {
  return (tileTypeGetCount(type) * (int64_t)tileElementWidth(tileTypeGetElement(type)) + 7) / 8;
}

// Bytes of the copies beside `op` that signal the same barrier in the same round. -1 when that cannot be told: copies
// stand elsewhere too, or reach other programs of the cluster.
static int64_t signalledBytes(MlirOperation op) {
  MlirValue barrier = tileBarrierArriveOpGetBarrier(op), use = tileBarrierArriveOpGetUse(op);
  MlirBlock block = mlirOperationGetBlock(op);
  int64_t bytes = 0;
  for (MlirOpOperand at = mlirValueGetFirstUse(barrier); !mlirOpOperandIsNull(at); at = mlirOpOperandGetNextUse(at)) {
    MlirOperation user = mlirOpOperandGetOwner(at);
    if (!tileCopyAsyncOpIsA(user))
      continue;
    if (!mlirBlockEqual(mlirOperationGetBlock(user), block) || tileHas(user, "multicast") || tileHas(op, "cluster"))
      return -1;
    if (mlirValueEqual(tileOpOperand(user, "use"), use))
      bytes += bytesOf(tileCopyAsyncOpGetSourceType(user));
  }
  return bytes ? bytes : -1;
}

bool tileBarrierArriveOpVerify(MlirOperation op) {
  int64_t expected;
  bool isForOthers = !mlirValueIsNull(tileBarrierArriveOpGetRank(op));
  if (tileHas(op, "multicast") && (isForOthers || tileHas(op, "expect")))
    return tileError(op, "arrives at several blocks' barriers and %s; expected one of them",
                     isForOthers ? "names one block" : "expects bytes");
  if (tileHas(op, "products") && (isForOthers || tileHas(op, "multicast") || tileHas(op, "expect")))
    return tileError(op, "arrives once products are done, and %s; expected one of them",
                     tileHas(op, "expect") ? "expects bytes" : "at barriers of other blocks");
  if (!verifyMulticast(op))
    return false;
  if (!tileIntegerOf(op, "expect", &expected))
    return true;
  int64_t bytes = signalledBytes(op);
  if (!tileExpectInteger(op, "expect", expected, 0, INT64_MAX))
    return false;
  return bytes < 0 || bytes == expected ||
         tileError(op, "expects %lld bytes, expected %lld: what the copies beside it bring in this round",
                   (long long)expected, (long long)bytes);
}

bool tileFenceOpVerify(MlirOperation op) {
  bool isAsync = tileKeywordIs(op, "kind", "async");
  if (isAsync == tileHas(op, "scope"))
    return tileError(op, isAsync ? "has a scope, expected none for async: it orders this program's own engines"
                                 : "has no scope, expected block, cluster, device or system");
  return true;
}

bool tileSyncOpVerify(MlirOperation op) {
  MlirOperation around = mlirOperationGetParentOperation(op);
  if (!tileHas(op, "scope"))
    return true;
  if (!tileKeywordIs(op, "scope", "cluster")) {
    MlirStringRef scope = tileKeywordOf(op, "scope");
    return tileError(op, "has scope %.*s, expected cluster or none", (int)scope.length, scope.data);
  }
  return !tileWarpSpecializeOpIsA(around) ||
         tileError(op, "waits for the cluster in a partition of warps, expected outside of one");
}

//===--- print --------------------------------------------------------------===//

static bool isDense(MlirType memref) {
  MlirAttribute layout = mlirMemRefTypeGetLayout(memref);
  return mlirShapedTypeHasStaticShape(memref) && mlirAttributeIsAAffineMap(layout) &&
         mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(layout));
}

bool tilePrintOpVerify(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (mlirTypeIsAMemRef(tileOperandType(op, i)) && !isDense(tileOperandType(op, i)))
      return tileError(op, "prints value #%d of type %s, expected a memref of known sizes that is dense", (int)i,
                       TILE_TYPE_TEXT(tileOperandType(op, i)));
  MlirStringRef text = mlirStringAttrGetValue(tileOpAttribute(op, "message"));
  intptr_t places = 0, values = mlirOperationGetNumOperands(op);
  for (size_t i = 0; i + 1 < text.length; ++i)
    places += !memcmp(text.data + i, "{}", 2);
  return places == values ||
         tileError(op, "has %d values for %d places {}, expected one each", (int)values, (int)places);
}

//===--- partitions of warps: the verifier and the control flow (RegionBranchOpInterface) -------===//

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

// 0: all threads of the partition.
static bool verifyPartitionThreads(MlirOperation op) {
  intptr_t count = tileArrayCount(op, "threads");
  for (intptr_t i = 0; i < count; ++i)
    if (tileArrayAt(op, "threads", i) != 0 && tileArrayAt(op, "threads", i) != 1)
      return tileError(op, "threads: partition #%d has %lld; the accepted values are 1, and none for all threads",
                       (int)i, (long long)tileArrayAt(op, "threads", i));
  return count == 0 || expectOnePerPartition(op, "threads", count);
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
  return verifyCaptures(op) && verifyNames(op) && verifyWarps(op, parent) && verifyRegisters(op) &&
         verifyPartitionThreads(op);
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
