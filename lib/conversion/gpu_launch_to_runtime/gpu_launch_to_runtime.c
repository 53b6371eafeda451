// convert-gpu-launch-to-runtime: gpu.launch_func on memrefs becomes a call of tessera_launch_device (lib/runtime).
//
// Expects: host functions on memrefs and scalars, bufferized and with their deallocations; linalg that is left is fine.
// Kernels are llvm.funcs of gpu.modules (convert-tile-to-nvvm's, or hand-written). Leaves: no launch; the gpu.modules
// as they are; `tessera_device_images`, a table of their code that is empty until a program fills it; waits before the
// host touches memory (order.c), assertions of memref.assume_alignment (alignment.c). The parameters follow
// docs/gpu.md: of a memref its address, then dynamic sizes, then dynamic strides of one that is not contiguous. Slots
// stand at the function's entry: a launch in a loop must not grow the stack. Cost: linear in the host's ops.
#include "lib/conversion/gpu_launch_to_runtime/gpu_launch_to_runtime.h"

#include "lib/capi/op.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/support/array.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/func.h"
#include "upstream/gpu.h"
#include "upstream/llvm.h"
#include "upstream/memref.h"

#include "upstream/arith.h"
#include "upstream/builtin.h"
#include <stdio.h>
#include <stdlib.h>

static const char launchFunction[] = "tessera_launch_device", constantFunction[] = "tessera_device_constant",
                  imagesName[] = "tessera_device_images";

enum { Statistic_Launches, Statistic_Waits, Statistic_Checks };

//===--- questions ----------------------------------------------------------------===//

enum { MaxRank = TESSERA_MAX_RANK };

static bool isContiguous(MlirType memref) { return mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(memref)); }

int64_t launchBytesOf(MlirType element) { return mlirTypeIsAIndex(element) ? 8 : (tileElementWidth(element) + 7) / 8; }

// How many parameters of the device function an operand becomes: two counts, by the conventions.
typedef struct Parameters {
  intptr_t ours, upstreams;
} Parameters;

// By ours; 0 when it cannot be one.
static intptr_t parametersOf(MlirType type) {
  int64_t strides[MaxRank], offset;
  if (!mlirTypeIsAMemRef(type))
    return launchBytesOf(type) != 0;
  intptr_t rank = mlirShapedTypeGetRank(type), count = 1;
  if (rank > MaxRank || !launchBytesOf(mlirShapedTypeGetElementType(type)) ||
      mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)))
    return 0;
  for (intptr_t d = 0; d < rank; ++d)
    count += mlirShapedTypeIsDynamicDim(type, d) +
             (!isContiguous(type) && mlirShapedTypeIsDynamicStrideOrOffset(strides[d]));
  return count;
}

static bool countOperands(MlirOperation launch, Parameters *parameters) {
  char text[256];
  *parameters = (Parameters){0, 0};
  for (intptr_t i = 0; i < gpuLaunchFuncOpGetNumKernelOperands(launch); ++i) {
    MlirType type = mlirValueGetType(gpuLaunchFuncOpGetKernelOperands(launch, i));
    intptr_t more = parametersOf(type);
    if (!more)
      return tileError(launch, "gives the kernel a %s, expected memrefs with strides and scalars",
                       tileTypeText(type, text, sizeof text));
    parameters->ours += more;
    parameters->upstreams += mlirTypeIsAMemRef(type) ? 3 + 2 * mlirShapedTypeGetRank(type) : 1;
  }
  return true;
}

static MlirType functionTypeOf(MlirOperation kernel) {
  return mlirTypeAttrGetValue(tileOpAttribute(kernel, "function_type"));
}

static intptr_t takenBy(MlirOperation launch, MlirOperation kernel) {
  return mlirLLVMFunctionTypeGetNumInputs(functionTypeOf(kernel)) - launchTensorMaps(launch);
}

static bool checkKernel(MlirOperation launch, Parameters given) {
  MlirOperation kernel = mlirExtSymbolLookup(launch, tileOpAttribute(launch, "kernel"));
  if (!llvmLLVMFuncOpIsA(kernel))
    return tileError(launch, "launches a kernel that is not an llvm.func yet: lower its gpu.module first");
  intptr_t taken = takenBy(launch, kernel);
  return given.ours == taken || given.upstreams == taken ||
         tileErrorWithNote(launch, mlirOperationGetLocation(kernel), "the kernel is here",
                           "gives %lld parameters (a memref is its address, dynamic sizes, dynamic strides) or %lld "
                           "(a memref is upstream's descriptor), the kernel takes %lld",
                           (long long)given.ours, (long long)given.upstreams, (long long)taken);
}

static bool check(MlirOperation launch) {
  Parameters parameters;
  bool hasToken =
      mlirOperationGetNumResults(launch) && !mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(launch)));
  if (gpuLaunchFuncOpGetNumAsyncDependencies(launch) || hasToken)
    return tileError(launch, "has tokens: launches run in the order of the program here");
  if (!mlirValueIsNull(gpuLaunchFuncOpGetClusterSizeX(launch)))
    return tileError(launch, "has clusters, which the runtime does not launch yet");
  if (mlirOperationIsNull(tileParentOp(launch, funcFuncOpIsA)))
    return tileError(launch, "must stand in a func.func to be lowered to the runtime");
  return countOperands(launch, &parameters) && checkKernel(launch, parameters);
}

//===--- one launch -----------------------------------------------------------------===//

// `slots` builds at the function's entry, `code` before the launch.
typedef struct Lowering {
  TileBuilder slots, code;
  MlirType pointer, i64, i8, index, function;
  MlirValue params;
  int32_t count;
} Lowering;

static void buildStore(Lowering *lowering, MlirValue value, MlirValue pointer) {
  llvmStoreOpBuild(&lowering->code, value, pointer);
}

static void addParameter(Lowering *lowering, MlirValue value) {
  MlirValue slot = tileBuildAlloca(&lowering->slots, mlirValueGetType(value));
  buildStore(lowering, value, slot);
  buildStore(lowering, slot,
             tileBuildElementAddress(&lowering->code, lowering->params, lowering->pointer, lowering->count++));
}

static MlirValue toWord(Lowering *lowering, MlirValue index) {
  return arithIndexCastOpBuild(&lowering->code, lowering->i64, index);
}

// An i1 or a narrow integer travels as a byte, a narrow float as its bits.
static void addScalar(Lowering *lowering, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  MlirContext context = lowering->code.context;
  if (mlirTypeIsAIndex(type)) { // upstream's conversions may make it an i32
    MlirType taken = mlirLLVMFunctionTypeGetInput(lowering->function, lowering->count);
    bool isInteger = mlirTypeIsAInteger(taken);
    addParameter(lowering, isInteger ? arithIndexCastOpBuild(&lowering->code, taken, value) : toWord(lowering, value));
    return;
  }
  if (mlirTypeIsAFloat(type) && mlirFloatTypeGetWidth(type) <= 8) {
    type = mlirIntegerTypeGet(context, mlirFloatTypeGetWidth(type));
    value = arithBitcastOpBuild(&lowering->code, type, value);
  }
  if (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) < 8)
    value = arithExtUIOpBuild(&lowering->code, lowering->i8, value);
  addParameter(lowering, value);
}

static MlirValue addressOf(Lowering *lowering, MlirValue memref, MlirOperation parts) {
  MlirValue base = memrefExtractAlignedPointerAsIndexOpBuild(&lowering->code, memref);
  int64_t bytes = launchBytesOf(mlirShapedTypeGetElementType(mlirValueGetType(memref)));
  MlirValue offset = tileBuildMul(&lowering->code, memrefExtractStridedMetadataOpGetOffset(parts),
                                  tileBuildIndex(&lowering->code, bytes));
  return tileBuildAdd(&lowering->code, base, offset);
}

static void addMemref(Lowering *lowering, MlirValue memref) {
  MlirType type = mlirValueGetType(memref);
  int64_t strides[MaxRank], offset;
  MlirOperation parts = memrefExtractStridedMetadataOpBuild(&lowering->code, memref);
  intptr_t rank = mlirShapedTypeGetRank(type);
  mlirMemRefTypeGetStridesAndOffset(type, strides, &offset);
  addParameter(lowering, toWord(lowering, addressOf(lowering, memref, parts)));
  for (intptr_t d = 0; d < rank; ++d)
    if (mlirShapedTypeIsDynamicDim(type, d))
      addParameter(lowering, toWord(lowering, memrefExtractStridedMetadataOpGetSizes(parts, d)));
  for (intptr_t d = 0; d < rank && !isContiguous(type); ++d)
    if (mlirShapedTypeIsDynamicStrideOrOffset(strides[d]))
      addParameter(lowering, toWord(lowering, memrefExtractStridedMetadataOpGetStrides(parts, d)));
}

// As upstream's conversions pass it: allocated and aligned address, offset, sizes, strides.
static void addDescriptor(Lowering *lowering, MlirValue memref) {
  MlirOperation parts = memrefExtractStridedMetadataOpBuild(&lowering->code, memref);
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(memref));
  MlirValue base = toWord(lowering, memrefExtractAlignedPointerAsIndexOpBuild(&lowering->code, memref));
  addParameter(lowering, base);
  addParameter(lowering, base);
  addScalar(lowering, memrefExtractStridedMetadataOpGetOffset(parts));
  for (intptr_t d = 0; d < rank; ++d)
    addScalar(lowering, memrefExtractStridedMetadataOpGetSizes(parts, d));
  for (intptr_t d = 0; d < rank; ++d)
    addScalar(lowering, memrefExtractStridedMetadataOpGetStrides(parts, d));
}

// int64_t[7]: grid, block, bytes of shared memory.
static MlirValue packSizes(Lowering *lowering, MlirOperation launch) {
  MlirValue shared = gpuLaunchFuncOpGetDynamicSharedMemorySize(launch);
  const MlirValue sizes[] = {
      gpuLaunchFuncOpGetGridSizeX(launch),
      gpuLaunchFuncOpGetGridSizeY(launch),
      gpuLaunchFuncOpGetGridSizeZ(launch),
      gpuLaunchFuncOpGetBlockSizeX(launch),
      gpuLaunchFuncOpGetBlockSizeY(launch),
      gpuLaunchFuncOpGetBlockSizeZ(launch),
      mlirValueIsNull(shared) ? tileBuildIndex(&lowering->code, 0) : shared,
  };
  enum { Sizes = sizeof sizes / sizeof *sizes };
  MlirValue slot = tileBuildAlloca(&lowering->slots, mlirLLVMArrayTypeGet(lowering->i64, Sizes));
  for (int32_t i = 0; i < Sizes; ++i) {
    MlirValue size = sizes[i];
    MlirType type = mlirValueGetType(size);
    if (mlirTypeIsAIndex(type))
      size = toWord(lowering, size);
    else if (mlirIntegerTypeGetWidth(type) < 64)
      size = arithExtSIOpBuild(&lowering->code, lowering->i64, size);
    buildStore(lowering, size, tileBuildElementAddress(&lowering->code, slot, lowering->i64, i));
  }
  return slot;
}

//===--- names and tables of the module -----------------------------------------------===//

static bool isThere(MlirOperation module, const char *symbol) {
  return !mlirOperationIsNull(tileFindSymbol(module, symbol));
}

// The address of a constant text, one global for each.
static MlirValue textAddress(Lowering *lowering, MlirOperation module, const char *prefix, MlirStringRef text) {
  char value[512], symbol[544];
  snprintf(value, sizeof value, "%.*s", (int)text.length, text.data);
  snprintf(symbol, sizeof symbol, "%s_%s", prefix, value);
  if (!isThere(module, symbol)) {
    TileBuilder top = tileBuilderAtTop(module);
    tileBuildText(&top, symbol, value);
  }
  return tileBuildTextAddress(&lowering->code, symbol);
}

void launchBuildRuntimeCall(TileBuilder *builder, const char *function, intptr_t count, const MlirValue *operands) {
  tileBuildLlvmCall(builder, function, (MlirType){NULL}, count, operands);
}

static void declare(MlirOperation module, const char *function, MlirType result, intptr_t count, MlirType *inputs) {
  if (isThere(module, function))
    return;
  TileBuilder top = tileBuilderAtTop(module);
  tileBuildLlvmDeclaration(&top, function, mlirLLVMFunctionTypeGet(result, count, inputs, false));
}

// The table is zero here: a program's device code is known after the host's (lib/target).
static void declareImages(MlirOperation module) {
  if (isThere(module, imagesName))
    return;
  TileBuilder top = tileBuilderAtTop(module);
  MlirContext context = top.context;
  MlirType fields[] = {mlirIntegerTypeGet(context, 64), mlirLLVMPointerTypeGet(context, 0)};
  MlirOperation images =
      llvmGlobalOpBuild(&top, mlirTypeAttrGet(mlirLLVMStructTypeLiteralGet(context, 2, fields, false)),
                        mlirStringAttrGet(context, tileString(imagesName)),
                        mlirLLVMLinkageAttrGet(context, MlirLLVMLinkageInternal), mlirRegionCreate());
  llvmGlobalOpSetValue(images, llvmZeroAttr(&top));
}

static void declareRuntime(MlirOperation module) {
  MlirContext context = mlirOperationGetContext(module);
  MlirType pointer = mlirLLVMPointerTypeGet(context, 0), i64 = mlirIntegerTypeGet(context, 64);
  declare(module, launchFunction, mlirLLVMVoidTypeGet(context), 6,
          (MlirType[]){pointer, pointer, pointer, pointer, pointer, i64});
  declare(module, launchWaitFunction, mlirLLVMVoidTypeGet(context), 0, NULL);
  declare(module, launchFinishFunction, mlirLLVMVoidTypeGet(context), 0, NULL);
  declare(module, constantFunction, pointer, 2, (MlirType[]){pointer, i64});
  declare(module, launchTensorMapFunction, mlirLLVMVoidTypeGet(context), 2, (MlirType[]){pointer, pointer});
}

static void lower(MlirOperation launch, MlirOperation module) {
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(tileParentOp(launch, funcFuncOpIsA), 0));
  MlirContext context = mlirOperationGetContext(launch);
  Lowering lowering = {.slots = tileBuilderAtStart(entry, mlirOperationGetLocation(launch)),
                       .code = tileBuilderBefore(launch),
                       .pointer = mlirLLVMPointerTypeGet(context, 0),
                       .i64 = mlirIntegerTypeGet(context, 64),
                       .i8 = mlirIntegerTypeGet(context, 8),
                       .index = mlirIndexTypeGet(context)};
  Parameters given;
  MlirOperation function = mlirExtSymbolLookup(launch, tileOpAttribute(launch, "kernel"));
  countOperands(launch, &given);
  bool isOurs = given.ours == takenBy(launch, function);
  intptr_t parameters = (isOurs ? given.ours : given.upstreams) + launchTensorMaps(launch);
  lowering.function = functionTypeOf(function);
  lowering.params = tileBuildAlloca(&lowering.slots, mlirLLVMArrayTypeGet(lowering.pointer, (unsigned)parameters));
  for (intptr_t i = 0; i < gpuLaunchFuncOpGetNumKernelOperands(launch); ++i) {
    MlirValue operand = gpuLaunchFuncOpGetKernelOperands(launch, i);
    bool isMemref = mlirTypeIsAMemRef(mlirValueGetType(operand));
    (!isMemref ? addScalar : isOurs ? addMemref : addDescriptor)(&lowering, operand);
  }
  for (intptr_t i = 0; i < launchTensorMaps(launch); ++i)
    buildStore(&lowering, launchBuildTensorMap(&lowering.slots, &lowering.code, launch, i),
               tileBuildElementAddress(&lowering.code, lowering.params, lowering.pointer, lowering.count++));
  MlirAttribute kernel = tileOpAttribute(launch, "kernel");
  MlirValue operands[] = {tileBuildTextAddress(&lowering.code, imagesName),
                          textAddress(&lowering, module, "tessera_module", mlirSymbolRefAttrGetRootReference(kernel)),
                          textAddress(&lowering, module, "tessera_kernel", mlirSymbolRefAttrGetLeafReference(kernel)),
                          packSizes(&lowering, launch),
                          lowering.params,
                          tileBuildInteger(&lowering.code, lowering.i64, parameters)};
  launchBuildRuntimeCall(&lowering.code, launchFunction, 6, operands);
  mlirOperationDestroy(launch);
}

//===--- the pass ---------------------------------------------------------------------===//

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps launches = tileCollectOps(module, gpuLaunchFuncOpIsA);
  bool ok = true;
  for (intptr_t i = 0; i < launches.count && ok; ++i)
    ok = check(launches.items[i]);
  if (ok)
    mlirExtPassAddStatistic(pass, Statistic_Checks, launchCheckAlignments(module));
  if (ok && launches.count) {
    declareImages(module);
    declareRuntime(module);
    launchMarkHostAccesses(module);
    mlirExtPassAddStatistic(pass, Statistic_Waits, launchOrderHostAccesses(module));
    launchCopyGlobals(module);
  }
  for (intptr_t i = 0; i < launches.count && ok; ++i)
    lower(launches.items[i], module);
  mlirExtPassAddStatistic(pass, Statistic_Launches, ok ? (uint64_t)launches.count : 0);
  tileOpsFree(&launches);
  return ok;
}

const MlirExtPassDefinition gpuLaunchToRuntimePass = {
    .argument = "convert-gpu-launch-to-runtime",
    .summary = "Lower gpu.launch_func to calls of the runtime, with waits before the host touches memory",
    .anchor = builtinModuleOpName,
    .statistics = (const char *const[]){"launches: launch ops lowered", "waits: places where the host waits",
                                        "checks: alignments that are asserted", NULL},
    .dialects = (const char *const[]){"tile", "llvm", "arith", "memref", "cf", NULL},
    .run = run,
};
