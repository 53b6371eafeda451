// convert-gpu-reduce-to-threads: a uniform gpu.all_reduce becomes a tree over the block's threads, with barriers.
//
//   %sum = gpu.all_reduce add %x uniform {} : (f32) -> (f32)
//   →  store %x; barrier; in rounds 1, 2, 4, …: every second one adds its neighbour's, barrier; load the first; barrier
//
// Why: upstream's lowering (LLVM 22.1, AllReduceLowering.cpp) counts on warps of 32 threads, lets several threads of
// the first warp write the result while one of them still reads there, and shuffles where AMD's lanes are switched off.
// Expects: gpu.modules before their structured control flow is lowered. Leaves: an all_reduce that is not uniform.
// Cost: 2 + log2(threads) barriers of a block; its values in shared memory.
#include "lib/conversion/gpu_reduce_to_threads/gpu_reduce_to_threads.h"

#include "lib/conversion/gpu_reduce_to_threads/templates.h"
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "lib/ir/template.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/gpu.h"
#include "upstream/memref.h"

//===--- what combines ------------------------------------------------------------===//

typedef struct Kind {
  ArithOp ofIntegers, ofFloats;
} Kind;

static ArithOp opOf(MlirAttribute attribute, bool isFloat) {
  static const Kind kinds[] = {
      [GpuAllReduceOperation_Add] = {ArithOp_AddI, ArithOp_AddF},
      [GpuAllReduceOperation_Mul] = {ArithOp_MulI, ArithOp_MulF},
      [GpuAllReduceOperation_Minui] = {ArithOp_MinUI, ArithOp_None},
      [GpuAllReduceOperation_Minsi] = {ArithOp_MinSI, ArithOp_None},
      [GpuAllReduceOperation_Maxui] = {ArithOp_MaxUI, ArithOp_None},
      [GpuAllReduceOperation_Maxsi] = {ArithOp_MaxSI, ArithOp_None},
      [GpuAllReduceOperation_And] = {ArithOp_AndI, ArithOp_None},
      [GpuAllReduceOperation_Or] = {ArithOp_OrI, ArithOp_None},
      [GpuAllReduceOperation_Xor] = {ArithOp_XOrI, ArithOp_None},
      [GpuAllReduceOperation_Minnumf] = {ArithOp_None, ArithOp_MinNumF},
      [GpuAllReduceOperation_Maxnumf] = {ArithOp_None, ArithOp_MaxNumF},
      [GpuAllReduceOperation_Minimumf] = {ArithOp_None, ArithOp_MinimumF},
      [GpuAllReduceOperation_Maximumf] = {ArithOp_None, ArithOp_MaximumF},
  };
  int word = gpuAllReduceOperationOf(attribute);
  return word < 0 ? ArithOp_None : isFloat ? kinds[word].ofFloats : kinds[word].ofIntegers;
}

static MlirValue buildOp(TileBuilder *builder, MlirType result, const MlirValue *operands, const void *data) {
  (void)result;
  return tileBuildBinary(builder, *(const ArithOp *)data, operands[0], operands[1]);
}

// The region's ops, one after the other, with these arguments.
static MlirValue buildRegion(TileBuilder *builder, MlirType result, const MlirValue *operands, const void *data) {
  MlirOperation copy = mlirOperationClone(*(const MlirOperation *)data), next;
  MlirBlock body = mlirRegionGetFirstBlock(gpuAllReduceOpGetBody(copy));
  (void)result;
  for (intptr_t i = 0; i < 2; ++i)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, i), operands[i]);
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, yield); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    tileBuilderInsert(builder, op);
  }
  MlirValue combined = gpuYieldOpGetValues(yield, 0);
  mlirOperationDestroy(copy);
  return combined;
}

//===--- one reduction ------------------------------------------------------------===//

// As many as the kernel says, else as any block has at most.
static int64_t threadsOf(MlirOperation op) {
  MlirOperation function = tileParentOp(op, gpuGPUFuncOpIsA);
  MlirAttribute sizes =
      mlirOperationIsNull(function) ? (MlirAttribute){NULL} : tileOpAttribute(function, "known_block_size");
  int64_t threads = 1;
  if (mlirAttributeIsNull(sizes))
    return 1024;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(sizes); ++i)
    threads *= mlirDenseI32ArrayGetElement(sizes, i);
  return threads;
}

// A global of the module for this reduction alone.
static MlirValue addMemory(TileBuilder *builder, MlirOperation module, MlirType element, int64_t threads) {
  TileBuilder top = tileBuilderAtTop(module);
  MlirAttribute space = gpuAddressSpaceAttr(&top, GpuAddressSpace_Workgroup);
  MlirType type = mlirMemRefTypeContiguousGet(element, 1, &threads, space);
  MlirAttribute symbol = tileFreshSymbol(module, "reduce_block");
  MlirOperation global = memrefGlobalOpBuild(&top, symbol, mlirTypeAttrGet(type));
  memrefGlobalOpSetSymVisibility(global, mlirStringAttrGet(top.context, tileString("private")));
  return memrefGetGlobalOpBuild(builder, type, mlirFlatSymbolRefAttrGet(top.context, mlirStringAttrGetValue(symbol)));
}

static bool isUniform(MlirOperation op) {
  return gpuAllReduceOpIsA(op) && !mlirAttributeIsNull(tileOpAttribute(op, "uniform"));
}

static bool lower(MlirOperation op, MlirOperation module) {
  MlirAttribute named = tileOpAttribute(op, "op");
  MlirType type = tileOnlyResultType(op);
  bool isNamed = !mlirAttributeIsNull(named);
  ArithOp kind = isNamed ? opOf(named, mlirTypeIsAFloat(type)) : ArithOp_None;
  if (isNamed && kind == ArithOp_None)
    return tileError(op, "reduces in a way that its type does not have");
  MlirBlock body = mlirRegionGetFirstBlock(gpuAllReduceOpGetBody(op));
  if (!isNamed && !mlirBlockIsNull(mlirBlockGetNextInRegion(body)))
    return tileError(op, "has a body of several blocks, expected one");
  int64_t threads = threadsOf(op);
  TileReduceBlock parameters = {.E = type, .THREADS = threads};
  parameters.combine = isNamed ? (TileHook){buildOp, &kind} : (TileHook){buildRegion, &op};
  TileTemplateUse use = tileUseReduceBlock(parameters);
  TileBuilder builder = tileBuilderBefore(op);
  MlirValue operands[] = {gpuAllReduceOpGetValue(op), addMemory(&builder, module, type, threads)}, result;
  if (!tileTemplateInline(&builder, &use, operands, &result))
    return false;
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), result);
  mlirOperationDestroy(op);
  return true;
}

//===--- the pass -----------------------------------------------------------------===//

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps reductions = tileCollectOps(module, isUniform);
  bool ok = true;
  for (intptr_t i = 0; i < reductions.count && ok; ++i)
    ok = lower(reductions.items[i], module);
  mlirExtPassAddStatistic(pass, 0, (uint64_t)reductions.count);
  tileOpsFree(&reductions);
  return ok;
}

const MlirExtPassDefinition gpuReduceToThreadsPass = {
    .argument = "convert-gpu-reduce-to-threads",
    .summary = "Lower reductions over the threads of a block in upstream's dialect gpu to shared memory and barriers",
    .anchor = gpuGPUModuleOpName,
    .statistics = (const char *const[]){"reductions: ops lowered", NULL},
    .dialects = (const char *const[]){"memref", "arith", "scf", "func", NULL},
    .run = run,
};
