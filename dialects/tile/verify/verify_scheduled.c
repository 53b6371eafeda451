// Verifiers of the scheduled level: slot, convert_layout, copies, waits, barriers, fence; and of print.
// Why: what moves must fit where it lands; what is asynchronous must say how it ends.
// Expects: the row's own checks done. Leaves: true, or a diagnostic with value seen and value wanted, and false.
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"

#include <string.h>

//===--- alloc, slot, convert_layout ---------------------------------===//

enum { OffsetAlign = 16 }; // bytes of the widest access of a thread

bool tileAllocOpVerify(MlirOperation op) {
  int64_t offset = 0;
  tileIntegerOf(op, "offset", &offset);
  return tileExpectInteger(op, "the offset", offset, 0, INT64_MAX) &&
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
         tileExpectElementOf(op, "the destination", to, "the source", source);
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

//===--- print --------------------------------------------------------------===//

bool tilePrintOpVerify(MlirOperation op) {
  MlirStringRef text = mlirStringAttrGetValue(tileOpAttribute(op, "message"));
  intptr_t places = 0, values = mlirOperationGetNumOperands(op);
  for (size_t i = 0; i + 1 < text.length; ++i)
    places += !memcmp(text.data + i, "{}", 2);
  return places == values ||
         tileError(op, "has %d values for %d places {}, expected one each", (int)values, (int)places);
}
