// Functions of tt as functions of upstream, whose passes then lift branches to scf and inline calls.
#include "lib/conversion/tt_to_tile/triton.h"

#include "dialects/foreign/tt/ops.h"
#include "lib/ir/pass.h"
#include "upstream/func.h"

static void replaceReturn(MlirOperation op) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue values[64];
  intptr_t count = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < count && i < 64; ++i)
    values[i] = mlirOperationGetOperand(op, i);
  funcReturnOpCreate(&b, count, values);
  mlirOperationDestroy(op);
}

static bool replaceCall(MlirOperation op) {
  enum { Most = 256 };
  TileBuilder b = tileBuilderBefore(op);
  MlirValue operands[Most];
  MlirType results[Most];
  intptr_t numOperands = mlirOperationGetNumOperands(op), numResults = mlirOperationGetNumResults(op);
  if (numOperands > Most || numResults > Most)
    return tileError(op, "has more than %d operands or results", (int)Most);
  for (intptr_t i = 0; i < numOperands; ++i)
    operands[i] = mlirOperationGetOperand(op, i);
  for (intptr_t i = 0; i < numResults; ++i)
    results[i] = tileResultType(op, i);
  MlirOperation call = funcCallOpBuild(&b, numResults, results, numOperands, operands, ttCallOpGetCallee(op));
  for (intptr_t i = 0; i < numResults; ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), mlirOperationGetResult(call, i));
  mlirOperationDestroy(op);
  return true;
}

static bool replaceFunction(MlirOperation op) {
  TileBuilder b = tileBuilderBefore(op);
  MlirRegion body = mlirRegionCreate();
  if (mlirFunctionTypeGetNumResults(mlirTypeAttrGetValue(ttFuncOpGetFunctionType(op))) > 64)
    return tileError(op, "has more than 64 results");
  mlirRegionTakeBody(body, ttFuncOpGetBody(op));
  MlirBlock block = mlirRegionGetFirstBlock(body);
  if (mlirBlockIsNull(block)) {
    mlirRegionDestroy(body);
    return tileError(op, "has no body: expected functions of this module");
  }
  for (; !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block)) {
    MlirOperation end = mlirBlockGetTerminator(block);
    if (!mlirOperationIsNull(end) && ttReturnOpIsA(end))
      replaceReturn(end);
  }
  funcFuncOpCreate(&b, ttFuncOpGetSymName(op), ttFuncOpGetFunctionType(op), ttFuncOpGetSymVisibility(op),
                   ttFuncOpGetArgAttrs(op), mlirAttributeGetNull(), mlirAttributeGetNull(), body);
  mlirOperationDestroy(op);
  return true;
}

// A region with branches, outside of loops, is lifted; what another dialect's region holds stays.
static bool hasOneBlock(MlirOperation function) {
  MlirBlock block = mlirRegionGetFirstBlock(funcFuncOpGetBody(function));
  return !mlirBlockIsNull(block) && mlirBlockIsNull(mlirBlockGetNextInRegion(block));
}

static bool each(TileOps ops, bool (*replace)(MlirOperation op)) {
  bool ok = true;
  for (intptr_t i = 0; ok && i < ops.count; ++i)
    ok = replace(ops.items[i]);
  tileOpsFree(&ops);
  return ok;
}

static bool checkFunction(MlirOperation function) {
  return hasOneBlock(function) || tileError(function, "branches in a way that does not become loops and conditions");
}

static bool checkCall(MlirOperation call) {
  return !tileSymbolIsPublic(tileParentOp(call, funcFuncOpIsA)) ||
         tileError(call, "is a call that cannot be inlined: recursion does not become a kernel");
}

bool tritonStructure(MlirOperation module) {
  return each(tileCollectOps(module, ttCallOpIsA), replaceCall) &&
         each(tileCollectOps(module, ttFuncOpIsA), replaceFunction) &&
         tileRunPipeline(module, "lift-cf-to-scf,inline") && each(tileCollectOps(module, funcCallOpIsA), checkCall) &&
         each(tileCollectOps(module, funcFuncOpIsA), checkFunction);
}
