// convert-gpu-memory-to-host: what a host function does with a device's memory becomes what it does with its own.
//
//   gpu.alloc → memref.alloc, gpu.memcpy → memref.copy, gpu.memset → linalg.fill, gpu.dealloc → memref.dealloc
//   gpu.host_register, gpu.host_unregister, gpu.wait → nothing; mgpuMemGetDeviceMemRef… gives its argument
//   async.execute → its body in its place
//
// Why: host and device share one memory here (docs/gpu.md), launches run in the order of the program, and
// convert-gpu-launch-to-runtime waits before the host touches memory. Tokens only ask for less order than that.
// Expects: host functions on memrefs, before gpu-kernel-outlining or after. Leaves: launches without tokens to wait
// for. Not followed: tokens that blocks or loops pass on, groups of async. Cost: linear.
#include "lib/conversion/gpu_memory_to_host/gpu_memory_to_host.h"

#include "lib/ir/builder.h"
#include "lib/ir/op_format.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/Linalg.h"
#include "upstream/async.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/gpu.h"
#include "upstream/linalg.h"
#include "upstream/memref.h"

#include <stdlib.h>

enum { Statistic_Ops, Statistic_Tasks };

//===--- tasks of async ---------------------------------------------------------===//

static void inlineTask(MlirOperation task) {
  MlirBlock body = mlirRegionGetFirstBlock(asyncExecuteOpGetBodyRegion(task));
  for (intptr_t i = 0; i < asyncExecuteOpGetNumBodyOperands(task); ++i)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, i), asyncExecuteOpGetBodyOperands(task, i));
  MlirBlock around = mlirOperationGetBlock(task);
  MlirOperation yield = mlirBlockGetTerminator(body), next;
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, yield); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    mlirBlockInsertOwnedOperationBefore(around, task, op);
  }
  for (intptr_t i = 0; i < asyncExecuteOpGetNumBodyResults(task); ++i)
    mlirValueReplaceAllUsesOfWith(asyncExecuteOpGetBodyResults(task, i), mlirOperationGetOperand(yield, i));
}

// In the order of the program: a task's values are there when the next one starts.
static bool inlineTasks(MlirOperation module, MlirExtPass pass) {
  TileOps tasks = tileCollectOps(module, asyncExecuteOpIsA), awaits = tileCollectOps(module, asyncAwaitOpIsA);
  bool ok = true;
  for (intptr_t i = 0; i < tasks.count && ok; ++i) {
    MlirBlock first = mlirRegionGetFirstBlock(asyncExecuteOpGetBodyRegion(tasks.items[i]));
    ok = mlirBlockIsNull(mlirBlockGetNextInRegion(first)) ||
         tileError(tasks.items[i], "has a body of several blocks, expected one");
  }
  for (intptr_t i = 0; i < tasks.count && ok; ++i)
    inlineTask(tasks.items[i]);
  for (intptr_t i = 0; i < awaits.count && ok; ++i) {
    if (mlirOperationGetNumResults(awaits.items[i]))
      mlirValueReplaceAllUsesOfWith(tileOnlyResult(awaits.items[i]), asyncAwaitOpGetOperand(awaits.items[i]));
    mlirOperationDestroy(awaits.items[i]);
  }
  for (intptr_t i = tasks.count; i-- > 0 && ok;)
    mlirOperationDestroy(tasks.items[i]);
  mlirExtPassAddStatistic(pass, Statistic_Tasks, (uint64_t)tasks.count);
  tileOpsFree(&tasks);
  tileOpsFree(&awaits);
  return ok;
}

//===--- tokens -----------------------------------------------------------------===//

static bool isOrdered(MlirOperation op) {
  return gpuLaunchOpIsA(op) || gpuLaunchFuncOpIsA(op) || gpuAllocOpIsA(op) || gpuDeallocOpIsA(op) ||
         gpuMemcpyOpIsA(op) || gpuMemsetOpIsA(op) || gpuWaitOpIsA(op);
}

// The first group of operands of all these ops is the tokens that they wait for.
static void dropTokens(MlirOperation op) {
  MlirAttribute segments = tileOpAttribute(op, tileOperandSegmentsName);
  intptr_t count = mlirOperationGetNumOperands(op), groups = 0, tokens = count;
  int32_t sizes[32] = {0};
  if (!mlirAttributeIsNull(segments)) {
    tokens = mlirDenseI32ArrayGetElement(segments, 0);
    groups = mlirDenseArrayGetNumElements(segments);
  } else if (gpuDeallocOpIsA(op)) {
    tokens = gpuDeallocOpGetNumAsyncDependencies(op);
  } else if (gpuMemcpyOpIsA(op) || gpuMemsetOpIsA(op)) {
    tokens = count - 2;
  }
  if (!tokens)
    return;
  MlirValue *left = calloc((size_t)count + 1, sizeof *left);
  for (intptr_t i = tokens; left && i < count; ++i)
    left[i - tokens] = mlirOperationGetOperand(op, i);
  if (left)
    mlirOperationSetOperands(op, count - tokens, left);
  free(left);
  for (intptr_t i = 1; i < groups && i < 32; ++i)
    sizes[i] = mlirDenseI32ArrayGetElement(segments, i);
  if (groups)
    mlirOperationSetInherentAttributeByName(op, tileString(tileOperandSegmentsName),
                                            mlirDenseI32ArrayGet(mlirOperationGetContext(op), groups, sizes));
}

static bool isUsed(MlirValue value) { return !mlirOpOperandIsNull(mlirValueGetFirstUse(value)); }

static MlirValue tokenOf(MlirOperation op) {
  intptr_t count = mlirOperationGetNumResults(op), memory = gpuAllocOpIsA(op) ? 1 : 0;
  return count > memory ? mlirOperationGetResult(op, count - 1) : (MlirValue){NULL};
}

//===--- memory -----------------------------------------------------------------===//

static MlirValue allocate(MlirOperation op) {
  TileBuilder b = tileBuilderBefore(op);
  enum { Most = 64 };
  MlirValue sizes[Most], symbols[Most];
  intptr_t numSizes = gpuAllocOpGetNumDynamicSizes(op), numSymbols = gpuAllocOpGetNumSymbolOperands(op);
  for (intptr_t i = 0; i < numSizes && i < Most; ++i)
    sizes[i] = gpuAllocOpGetDynamicSizes(op, i);
  for (intptr_t i = 0; i < numSymbols && i < Most; ++i)
    symbols[i] = gpuAllocOpGetSymbolOperands(op, i);
  return memrefAllocOpBuild(&b, mlirValueGetType(gpuAllocOpGetMemref(op)), numSizes, sizes, numSymbols, symbols);
}

static void fill(TileBuilder *b, MlirValue value, MlirValue memory) {
  mlirLinalgFillBuiltinNamedOpRegion(linalgFillOpBuild(b, 0, NULL, 1, &value, 1, &memory, mlirRegionCreate()));
}

static void replace(MlirOperation op) {
  TileBuilder b = tileBuilderBefore(op);
  if (gpuAllocOpIsA(op))
    mlirValueReplaceAllUsesOfWith(gpuAllocOpGetMemref(op), allocate(op));
  else if (gpuMemcpyOpIsA(op))
    memrefCopyOpBuild(&b, gpuMemcpyOpGetSrc(op), gpuMemcpyOpGetDst(op));
  else if (gpuMemsetOpIsA(op))
    fill(&b, gpuMemsetOpGetValue(op), gpuMemsetOpGetDst(op));
  else if (gpuDeallocOpIsA(op))
    memrefDeallocOpBuild(&b, gpuDeallocOpGetMemref(op));
  mlirOperationDestroy(op);
}

static bool isRegistration(MlirOperation op) { return gpuHostRegisterOpIsA(op) || gpuHostUnregisterOpIsA(op); }

// mgpuMemGetDeviceMemRef1dFloat and its siblings of upstream's runtime: where the device sees the host's memory.
static bool isDeviceAddress(MlirOperation op) {
  if (!funcCallOpIsA(op) || mlirOperationGetNumOperands(op) != 1 || mlirOperationGetNumResults(op) != 1)
    return false;
  MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(tileOpAttribute(op, "callee"));
  return tileStringStartsWith(callee, "mgpuMemGetDeviceMemRef") &&
         mlirTypeEqual(mlirValueGetType(tileOnlyOperand(op)), tileOnlyResultType(op));
}

static bool isReplaced(MlirOperation op) { return isRegistration(op) || isOrdered(op) || isDeviceAddress(op); }

//===--- the pass ---------------------------------------------------------------===//

static bool run(MlirOperation module, MlirExtPass pass) {
  if (!inlineTasks(module, pass))
    return false;
  TileOps ops = tileCollectOps(module, isReplaced);
  bool ok = true;
  for (intptr_t i = 0; i < ops.count; ++i)
    if (isOrdered(ops.items[i]))
      dropTokens(ops.items[i]);
  for (intptr_t i = 0; i < ops.count && ok; ++i) {
    MlirOperation op = ops.items[i];
    MlirValue token = isOrdered(op) ? tokenOf(op) : (MlirValue){NULL};
    if (!mlirValueIsNull(token) && isUsed(token))
      ok = tileError(op, "gives a token to an op that is not of the dialect gpu, which is not followed");
    else if (gpuLaunchOpIsA(op) || gpuLaunchFuncOpIsA(op))
      continue;
    if (ok && isDeviceAddress(op))
      mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), tileOnlyOperand(op));
    if (ok)
      replace(op);
  }
  mlirExtPassAddStatistic(pass, Statistic_Ops, (uint64_t)ops.count);
  tileOpsFree(&ops);
  return ok;
}

const MlirExtPassDefinition gpuMemoryToHostPass = {
    .argument = "convert-gpu-memory-to-host",
    .summary = "Lower memory and tokens of the dialect gpu on the host, which shares its memory with the device",
    .anchor = builtinModuleOpName,
    .statistics = (const char *const[]){"ops: ops lowered", "tasks: tasks of async put in their place", NULL},
    .dialects = (const char *const[]){"memref", "linalg", "arith", NULL},
    .run = run,
};
