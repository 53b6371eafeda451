// tile.call: a copy of the callee's body is lowered in place of the call, so that each call has values of its own.
#include "lib/capi/op.h"
#include "lib/conversion/tile_to_vector/lowering.h"

enum { DeepestCall = 32 };

static void passArguments(VecLowering *lowering, MlirOperation call, MlirBlock body) {
  for (intptr_t i = 0; i < tileCallOpGetNumArguments(call); ++i) {
    VecRecord *argument = vecRecordOf(lowering, tileCallOpGetArguments(call, i));
    argument->isShared = true;
    vecRecordAlias(lowering, mlirBlockGetArgument(body, i), argument);
  }
}

static void takeResults(VecLowering *lowering, MlirOperation call, MlirOperation leave) {
  for (intptr_t i = 0; i < tileCallOpGetNumResults(call); ++i) {
    VecRecord *result = vecRecordOf(lowering, tileReturnOpGetValues(leave, i));
    result->isShared = true;
    vecRecordAlias(lowering, tileCallOpGetResults(call, i), result);
  }
}

bool vecLowerCall(VecLowering *lowering, MlirOperation op) {
  MlirOperation callee = mlirExtSymbolLookup(lowering->kernel, tileCallOpGetCallee(op));
  if (mlirOperationIsNull(callee) || mlirBlockIsNull(mlirRegionGetFirstBlock(tileFuncOpGetBody(callee))))
    return tileError(op, "not lowered to the CPU yet: a call of a function without a body");
  if (lowering->callDepth == DeepestCall)
    return tileError(op, "not lowered to the CPU yet: calls nested more than %d deep", DeepestCall);
  MlirOperation copy = mlirOperationClone(callee);
  tileOpsAppend(&lowering->inlined, copy);
  MlirBlock body = mlirRegionGetFirstBlock(tileFuncOpGetBody(copy));
  passArguments(lowering, op, body);
  ++lowering->callDepth;
  bool ok = vecLowerBlock(lowering, body);
  --lowering->callDepth;
  if (ok)
    takeResults(lowering, op, mlirBlockGetTerminator(body));
  return ok;
}
