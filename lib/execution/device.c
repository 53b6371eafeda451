// The way of a program with kernels to a device. See device.h.
#include "lib/execution/device.h"

#include "dialects/tile/ops.h"
#include "lib/ir/support.h"
#include "lib/pipelines/pipeline.h"
#include "lib/target/cpu/cpu.h"
#include "upstream/func.h"
#include "upstream/gpu.h"

#include <string.h>

static bool has(const Run *run, bool (*isA)(MlirOperation op)) {
  TileOps ops = tileCollectOps(mlirModuleGetOperation(run->session.module), isA);
  bool some = ops.count > 0;
  tileOpsFree(&ops);
  return some;
}

// Host functions of upstream's dialect gpu, or kernels that are not a GPU's yet.
static bool isOfGpuDialect(MlirOperation op) {
  return tileOpIsOfDialect(op, "gpu") && !gpuGPUModuleOpIsA(op) && !gpuLaunchFuncOpIsA(op);
}

bool runDeviceLower(Run *run, const tessera_run_options_t *options, tessera_error_t *error) {
  bool isOfTile = has(run, tileKernelOpIsA), isOfGpu = !isOfTile && has(run, isOfGpuDialect);
  if (options->pipeline || (!isOfGpu && !isOfTile && has(run, gpuGPUModuleOpIsA)))
    return true;
  TilePipelineCall call = {
      .pipeline = tilePipelineOfChip(run->chip), .choices = &options->choices, .values = {{"chip", run->chip}}};
  if (isOfGpu)
    call = (TilePipelineCall){.pipeline = tilePipelineOfGpuPrograms(run->chip), .values = {{"chip", run->chip}}};
  if (!call.pipeline)
    return tessera_fail(error, "no pipeline makes code for %s yet: its kernels must be in gpu.modules", run->chip);
  run->pipeline = tilePipelineCallPrint(&call, error);
  return run->pipeline && tileSessionRun(&run->session, run->pipeline, error);
}

bool runDeviceCompileHost(Run *run, const tessera_run_options_t *options, tessera_trace_t *trace,
                          tessera_error_t *error) {
  char symbol[512];
  snprintf(symbol, sizeof symbol, "tessera_packed_%s", options->entry);
  if (has(run, gpuGPUModuleOpIsA) && has(run, funcFuncOpIsA) &&
      !tileSessionRun(&run->session, "builtin.module(tile-to-host-pipeline)", error))
    return false;
  tessera_trace_phase(trace, "translation and optimization");
  run->jit = tileCpuCompile(mlirModuleGetOperation(run->session.module), options->entry, error);
  if (!run->jit)
    return false;
  tessera_trace_phase(trace, "code generation");
  run->entry = (tessera_packed_t)(uintptr_t)tileJitLookup(run->jit, symbol, error);
  return run->entry != NULL;
}
