// Prepares and calls the program on one target. See run.h.
#include "tools/tile-run/run.h"

#include "lib/support/clock.h"
#include "lib/target/entry.h"
#include "tools/tile-run/emulate.h"
#include "tools/tile-run/gpu.h"

#include <stdlib.h>

static bool lower(Run *run, const tessera_run_options_t *options, tessera_trace_t *trace, tessera_error_t *error) {
  const char *pipeline = options->pipeline ? options->pipeline : run->target->pipeline;
  double start = tessera_milliseconds();
  tessera_trace_phase(trace, "passes");
  bool ok = (!pipeline || tileSessionRun(&run->session, pipeline, error)) &&
            (!run->target->compile || run->target->compile(run, options, trace, error));
  run->compileMs = tessera_milliseconds() - start;
  return ok;
}

bool runPrepare(Run *run, const char *name, const TileSession *parsed, const tessera_run_options_t *options,
                tessera_trace_t *trace, tessera_error_t *error) {
  *run = (Run){.target = runTargetFind(name, error), .chip = runTargetChip(name)};
  if (!run->target)
    return false;
  MlirOperation entry = tileEntryFind(parsed->module, options->entry);
  if (mlirOperationIsNull(entry))
    return tessera_fail(error, "%s: has no function '%s'", options->file, options->entry);
  if (!tileEntrySignature(entry, &run->signature, error))
    return false;
  MlirOperation copy = mlirOperationClone(mlirModuleGetOperation(parsed->module));
  run->session = (TileSession){parsed->context, mlirModuleFromOperation(copy)};
  if (!lower(run, options, trace, error))
    return false;
  tessera_trace_phase(trace, "arguments");
  return tessera_run_data_prepare(&run->data, &run->signature, options, error);
}

bool runCall(Run *run, const tessera_run_options_t *options, tessera_trace_t *trace, tessera_error_t *error) {
  tessera_trace_phase(trace, run->target->isJudge ? "interpretation" : "calls");
  bool ok = run->target->call(run, options, error);
  tessera_trace_phase(trace, NULL);
  return ok;
}

void runDestroy(Run *run) {
  tileJitDestroy(run->jit);
  emulateDestroy(run->emulation);
  gpuDestroy(run->gpu);
  if (!mlirModuleIsNull(run->session.module))
    mlirModuleDestroy(run->session.module);
  for (int i = 0; i < TESSERA_MAX_VALUES; i++) {
    free(run->argumentBounds[i]);
    free(run->resultBounds[i]);
  }
  tessera_calls_destroy(&run->calls);
  tessera_run_data_destroy(&run->data);
  *run = (Run){.target = NULL};
}
