// The way of a program with kernels to a device. See device.h.
#include "lib/execution/device.h"

#include "lib/ir/support.h"
#include "lib/machine/machine.h"
#include "lib/target/cpu/cpu.h"

#include <string.h>

static bool has(const Run *run, const char *op) {
  TileOps ops = tileCollect(mlirModuleGetOperation(run->session.module), op);
  bool some = ops.count > 0;
  tileOpsFree(&ops);
  return some;
}

// "nvvm" of sm_80, by its machine file; null for a chip that has no pipeline.
static const char *pipelineOf(const char *chip) {
  TileMachine *machine = tileMachineLoad(chip ? chip : "", NULL, NULL, 0, NULL);
  const char *isa = machine ? tileMachineGetText(machine, "isa") : NULL;
  const char *pipeline = isa && strcmp(isa, "ptx") == 0      ? "tile-to-nvvm-pipeline"
                         : isa && strcmp(isa, "amdgcn") == 0 ? "tile-to-rocdl-pipeline"
                                                             : NULL;
  tileMachineDestroy(machine);
  return pipeline;
}

bool deviceLower(Run *run, const tessera_run_options_t *options, tessera_error_t *error) {
  if (options->pipeline || (has(run, "gpu.module") && !has(run, "tile.kernel")))
    return true;
  const char *pipeline = pipelineOf(run->chip);
  if (!pipeline)
    return tessera_fail(error, "no pipeline makes code for %s yet: its kernels must be in gpu.modules", run->chip);
  snprintf(run->pipeline, sizeof run->pipeline, "builtin.module(%s{chip=%s})", pipeline, run->chip);
  return tileSessionRun(&run->session, run->pipeline, error);
}

bool deviceCompileHost(Run *run, const tessera_run_options_t *options, tessera_trace_t *trace, tessera_error_t *error) {
  char symbol[512];
  snprintf(symbol, sizeof symbol, "tessera_packed_%s", options->entry);
  if (has(run, "gpu.module") && has(run, "func.func") &&
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
