// The scheduled level as far as one thread has it: a copy that may land any time before its wait lands at once, so that
// tokens say nothing; layouts are nothing, as a tile's elements lie where the function holds them. Barriers, partitions
// and units that copy or multiply by themselves are refused.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"

#include "mlir-c/BuiltinAttributes.h"

bool vecLowerCopyAsync(VecLowering *lowering, MlirOperation op) {
  if (mlirOperationGetNumResults(op) == 0)
    return tileError(op, "not lowered to the CPU yet: a copy that signals a barrier");
  if (tileOpAttribute(op, "multicast").ptr || tileOpAttribute(op, "engine").ptr)
    return tileError(op, "not lowered to the CPU yet: a copy by an engine, or to several blocks");
  return vecLowerCopy(lowering, op) && vecLowerJoin(lowering, op);
}

// The token: any value.
bool vecLowerJoin(VecLowering *lowering, MlirOperation op) {
  MlirType bit = mlirIntegerTypeGet(lowering->context, 1);
  vecRecordScalar(lowering, mlirOperationGetResult(op, 0), tileBuildInteger(&lowering->builder, bit, 1));
  return true;
}

bool vecLowerNothing(VecLowering *lowering, MlirOperation op) {
  (void)lowering, (void)op;
  return true;
}

// For engines that copy by themselves there is nothing to order; other threads see LLVM's fence.
bool vecLowerFence(VecLowering *lowering, MlirOperation op) {
  static const struct {
    const char *kind;
    int64_t ordering; // LLVM's number
  } fences[] = {{"acquire", 4}, {"release", 5}, {"acq_rel", 6}};
  MlirType word = mlirIntegerTypeGet(lowering->context, 64);
  for (size_t i = 0; i < sizeof fences / sizeof *fences; ++i)
    if (tileKeywordIs(op, "kind", fences[i].kind)) {
      TileAttributeEntry attributes[] = {{"ordering", mlirIntegerAttrGet(word, fences[i].ordering)}, {0}};
      tileBuild(&lowering->builder, "llvm.fence", 0, NULL, 0, NULL, attributes, 0, NULL);
    }
  return true;
}

static bool needsOthers(MlirOperation op) {
  static const char *const names[] = {"tile.warp_specialize", "tile.barrier_arrive", "tile.barrier_wait",
                                      "tile.mma_async", "tile.mma_wait"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (tileOpIs(op, names[i]))
      return true;
  return false;
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  bool *ok = data;
  if (tileOpIs(op, "tile.convert_layout"))
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), mlirOperationGetOperand(op, 0));
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
