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

#include <stdio.h>
#include <string.h>

//===--- what combines ------------------------------------------------------------===//

typedef struct Kind {
  const char *name;
  ArithOp ofIntegers, ofFloats;
} Kind;

static const Kind kinds[] = {
    {"add", ArithOp_AddI, ArithOp_AddF},          {"mul", ArithOp_MulI, ArithOp_MulF},
    {"minui", ArithOp_MinUI, ArithOp_None},       {"minsi", ArithOp_MinSI, ArithOp_None},
    {"maxui", ArithOp_MaxUI, ArithOp_None},       {"maxsi", ArithOp_MaxSI, ArithOp_None},
    {"and", ArithOp_AndI, ArithOp_None},          {"or", ArithOp_OrI, ArithOp_None},
    {"xor", ArithOp_XOrI, ArithOp_None},          {"minnumf", ArithOp_None, ArithOp_MinNumF},
    {"maxnumf", ArithOp_None, ArithOp_MaxNumF},   {"minimumf", ArithOp_None, ArithOp_MinimumF},
    {"maximumf", ArithOp_None, ArithOp_MaximumF},
};

// "#gpu<all_reduce_op add>"
static ArithOp opOf(MlirAttribute attribute, bool isFloat) {
  char text[64];
  tileAttributeText(attribute, text, sizeof text);
  char *name = strrchr(text, ' '), *end = strchr(text, '>');
  if (!name || !end)
    return ArithOp_None;
  *end = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (strcmp(kinds[i].name, name + 1) == 0)
      return isFloat ? kinds[i].ofFloats : kinds[i].ofIntegers;
  return ArithOp_None;
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
  char name[64];
  int number = 0;
  do
    snprintf(name, sizeof name, "reduce_block_%d", number++);
  while (!mlirOperationIsNull(tileFindSymbol(module, name)));
  MlirAttribute space = mlirAttributeParseGet(top.context, tileString("#gpu.address_space<workgroup>"));
  MlirType type = mlirMemRefTypeContiguousGet(element, 1, &threads, space);
  MlirAttribute symbol = mlirStringAttrGet(top.context, tileString(name));
  MlirOperation global = memrefGlobalOpBuild(&top, symbol, mlirTypeAttrGet(type));
  memrefGlobalOpSetSymVisibility(global, mlirStringAttrGet(top.context, tileString("private")));
  return memrefGetGlobalOpBuild(builder, type, mlirFlatSymbolRefAttrGet(top.context, tileString(name)));
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
