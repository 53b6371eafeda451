// The gpu.module around the device functions, and what becomes of the kernels. See gpu.h.
#include "lib/conversion/tile_to_gpu/engine.h"

#include "dialects/tile/questions.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/ir/op_format.h"
#include "upstream/gpu.h"

#include "dialects/tile/ops.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <stdlib.h>
#include <string.h>

static const char moduleName[] = "kernels";

//===--- chips -------------------------------------------------------------------------------===//

// What the first kernel that names a machine says; null if none does.
static TileMachine *machineOfKernels(MlirOperation module, MlirExtPass pass, MlirAttribute *attribute) {
  TileOps kernels = tileCollectOps(module, tileKernelOpIsA);
  TileMachine *machine = NULL;
  for (intptr_t i = 0; i < kernels.count && mlirAttributeIsNull(*attribute); ++i) {
    tileMachineDestroy(machine);
    machine = tileMachineOf(kernels.items[i], pass, attribute);
  }
  tileOpsFree(&kernels);
  return machine;
}

static TileMachine *machineOf(MlirOperation module, MlirExtPass pass, const GpuVocabulary *vocabulary) {
  TileError error = {.text = ""};
  MlirAttribute attribute;
  TileMachine *machine = tileMachineOf(module, pass, &attribute);
  if (machine && mlirAttributeIsNull(attribute)) {
    tileMachineDestroy(machine);
    machine = machineOfKernels(module, pass, &attribute);
  }
  if (mlirAttributeIsNull(attribute)) {
    tileMachineDestroy(machine);
    machine = tileMachineLoad(vocabulary->chip, NULL, NULL, 0, &error);
  }
  const char *has = machine ? tileMachineGetText(machine, "isa") : "";
  if (!machine || strcmp(has, vocabulary->isa) == 0)
    return machine;
  tileError(module, "chip %s has instruction set %s; this conversion accepts chips of %s", tileMachineGetName(machine),
            has, vocabulary->isa);
  tileMachineDestroy(machine);
  return NULL;
}

//===--- the module -----------------------------------------------------------------------===//

static MlirOperation moduleOf(MlirOperation module, const TileMachine *machine, const GpuVocabulary *vocabulary) {
  MlirContext context = mlirOperationGetContext(module);
  MlirOperation found = tileFindSymbol(module, moduleName);
  if (gpuGPUModuleOpIsA(found))
    return found;
  TileBuilder builder =
      tileBuilderAtEnd(mlirModuleGetBody(mlirModuleFromOperation(module)), mlirOperationGetLocation(module));
  MlirAttribute target = vocabulary->target(&builder, machine);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, mlirBlockCreate(0, NULL, NULL));
  mlirOperationSetAttributeByName(module, tileString("gpu.container_module"), mlirUnitAttrGet(context));
  MlirOperation made = gpuGPUModuleOpBuild(&builder, mlirStringAttrGet(context, tileString(moduleName)), region);
  gpuGPUModuleOpSetTargets(made, mlirArrayAttrGet(context, 1, &target));
  return made;
}

//===--- launches -------------------------------------------------------------------------===//

static MlirAttribute nameInModule(MlirContext context, MlirStringRef kernel) {
  MlirAttribute inner = mlirFlatSymbolRefAttrGet(context, kernel);
  return mlirSymbolRefAttrGet(context, tileString(moduleName), 1, &inner);
}

static void replaceLaunch(MlirOperation launch, MlirOperation kernel, int64_t threads) {
  TileBuilder builder = tileBuilderBefore(launch);
  intptr_t rank = tileLaunchOpGetNumGrid(launch), inputs = tileLaunchOpGetNumInputs(launch);
  intptr_t count = inputs + tileLaunchOpGetNumOutputs(launch);
  MlirValue one = tileBuildIndex(&builder, 1), grid[3] = {one, one, one}, none = {NULL};
  for (intptr_t i = 0; i < rank; ++i)
    grid[i] = tileLaunchOpGetGrid(launch, i);
  MlirValue *operands = malloc((size_t)(count + 1) * sizeof *operands);
  for (intptr_t i = 0; i < count; ++i)
    operands[i] = i < inputs ? tileLaunchOpGetInputs(launch, i) : tileLaunchOpGetOutputs(launch, i - inputs);
  MlirAttribute name = nameInModule(builder.context, tileKernelOpGetSymNameValue(kernel));
  gpuLaunchFuncOpBuild(&builder, (MlirType){NULL}, 0, NULL, grid[0], grid[1], grid[2],
                       tileBuildIndex(&builder, threads), one, one, none, none, none, none, count, operands, none,
                       name);
  free(operands);
  mlirOperationDestroy(launch);
}

// Launches of memrefs become the GPU's; while one on tensors names the kernel, its declaration stays.
static void leaveKernel(MlirOperation module, MlirOperation kernel, int64_t width) {
  TileOps all = tileCollectOps(module, tileLaunchOpIsA);
  int64_t warps = 1;
  bool isNamed = false;
  tileIntegerOf(kernel, "warps", &warps);
  for (intptr_t i = 0; i < all.count; ++i) {
    if (!tileLaunches(all.items[i], kernel))
      continue;
    bool isOnTensors = mlirOperationGetNumResults(all.items[i]) > 0;
    isNamed |= isOnTensors;
    if (!isOnTensors)
      replaceLaunch(all.items[i], kernel, warps * width);
  }
  tileOpsFree(&all);
  if (!isNamed) {
    mlirOperationDestroy(kernel);
    return;
  }
  MlirBlock block = mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel));
  mlirBlockDetach(block);
  mlirBlockDestroy(block);
}

static void eraseDeviceFunctions(MlirOperation module) {
  TileOps functions = tileCollectOps(module, tileFuncOpIsA);
  for (intptr_t i = 0; i < functions.count; ++i)
    mlirOperationDestroy(functions.items[i]);
  tileOpsFree(&functions);
}

static bool hasBody(MlirOperation kernel) {
  return !mlirBlockIsNull(mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel)));
}

const char *const gpuStatistics[] = {
    "kernels: kernels converted",
    "shared_bytes: shared memory that a block of each needs, all kernels together",
    "shared_bytes_apart: the same if every buffer had memory of its own",
    NULL,
};

static bool checkLaunches(MlirOperation module) {
  TileOps launches = tileCollectOps(module, tileLaunchOpIsA);
  bool ok = true;
  for (intptr_t i = 0; i < launches.count; ++i)
    ok &= tileLaunchExpectMeetsInGlobal(launches.items[i]);
  tileOpsFree(&launches);
  return ok;
}

bool tileKernelsToGpu(MlirOperation module, MlirExtPass pass, const GpuVocabulary *vocabulary) {
  TileMachine *machine = machineOf(module, pass, vocabulary);
  if (!machine)
    return false;
  TileOps kernels = tileCollectOps(module, tileKernelOpIsA);
  GpuCounts counts = {.kernels = 0};
  bool ok = checkLaunches(module);
  int64_t width = 1;
  tileMachineGetInteger(machine, "warp.width", &width);
  for (intptr_t i = 0; i < kernels.count && ok; ++i)
    if (hasBody(kernels.items[i]))
      ok = gpuConvertKernel(kernels.items[i], moduleOf(module, machine, vocabulary), machine, vocabulary, &counts);
  for (intptr_t i = 0; i < kernels.count && ok; ++i)
    if (hasBody(kernels.items[i]))
      leaveKernel(module, kernels.items[i], width);
  tileOpsFree(&kernels);
  if (ok)
    eraseDeviceFunctions(module);
  mlirExtPassAddStatistic(pass, 0, (uint64_t)counts.kernels);
  mlirExtPassAddStatistic(pass, 1, (uint64_t)counts.sharedBytes);
  mlirExtPassAddStatistic(pass, 2, (uint64_t)counts.apartBytes);
  tileMachineDestroy(machine);
  return ok;
}
