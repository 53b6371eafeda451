// The scheduled level on one thread. An asynchronous copy lands at once, so tokens mean nothing. Layouts mean nothing,
// because the function decides where the elements of a tile lie. Barriers, partitions, and units that copy or multiply
// by themselves are refused.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "upstream/llvm.h"

#include "mlir-c/BuiltinAttributes.h"

// The token: any value.
static bool recordToken(VecLowering *lowering, MlirValue token) {
  MlirType bit = mlirIntegerTypeGet(lowering->context, 1);
  vecRecordScalar(lowering, token, tileBuildInteger(&lowering->builder, bit, 1));
  return true;
}

bool vecLowerCopyAsync(VecLowering *lowering, MlirOperation op) {
  if (mlirValueIsNull(tileCopyAsyncOpGetToken(op)))
    return tileError(op, "not lowered to the CPU yet: a copy that signals a barrier");
  if (!mlirAttributeIsNull(tileCopyAsyncOpGetMulticast(op)) || !mlirAttributeIsNull(tileCopyAsyncOpGetEngine(op)))
    return tileError(op, "not lowered to the CPU yet: a copy by an engine, or to several blocks");
  return vecCopy(lowering, op, tileCopyAsyncOpGetSource(op), tileCopyAsyncOpGetDestination(op),
                 tileCopyAsyncOpGetIndicesBegin(op)) &&
         recordToken(lowering, tileCopyAsyncOpGetToken(op));
}

bool vecLowerJoin(VecLowering *lowering, MlirOperation op) { return recordToken(lowering, tileJoinOpGetToken(op)); }

bool vecLowerNothing(VecLowering *lowering, MlirOperation op) {
  (void)lowering, (void)op;
  return true;
}

// For engines that copy by themselves there is nothing to order; other threads see LLVM's fence.
bool vecLowerFence(VecLowering *lowering, MlirOperation op) {
  static const struct {
    const char *kind;
    LlvmAtomicOrdering ordering;
  } fences[] = {{"acquire", LlvmAtomicOrdering_Acquire},
                {"release", LlvmAtomicOrdering_Release},
                {"acq_rel", LlvmAtomicOrdering_AcqRel}};
  for (size_t i = 0; i < sizeof fences / sizeof *fences; ++i)
    if (vecKeywordIs(tileFenceOpGetKind(op), fences[i].kind))
      llvmFenceOpBuild(&lowering->builder, fences[i].ordering);
  return true;
}

static bool needsOthers(MlirOperation op) {
  switch (tileOpKind(op)) {
  case TileOp_WarpSpecialize:
  case TileOp_BarrierArrive:
  case TileOp_BarrierWait:
  case TileOp_MmaAsync:
  case TileOp_MmaWait:
    return true;
  default:
    return false;
  }
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  bool *ok = data;
  if (tileConvertLayoutOpIsA(op))
    mlirValueReplaceAllUsesOfWith(tileConvertLayoutOpGetResult(op), tileConvertLayoutOpGetInput(op));
  if (!needsOthers(op))
    return MlirWalkResultAdvance;
  MlirStringRef name = tileOpName(op);
  *ok = tileError(op, "not lowered to the CPU yet: '%.*s', which needs other threads or units", (int)name.length,
                  name.data);
  return MlirWalkResultInterrupt;
}

bool vecScheduleForOne(MlirOperation kernel) {
  bool ok = true;
  mlirOperationWalk(kernel, visit, &ok, MlirWalkPreOrder);
  return ok;
}
