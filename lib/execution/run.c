// Prepares and calls the program on one target. See run.h.
#include "lib/execution/run.h"

#include "lib/execution/emulate.h"
#include "lib/execution/gpu.h"
#include "lib/ir/support.h"
#include "lib/pipelines/pipeline.h"
#include "lib/support/clock.h"
#include "lib/target/entry.h"
#include "upstream/gpu.h"

#include <stdlib.h>
#include <string.h>

// The user's passes, else the target's.
static bool choosePipeline(Run *run, const tessera_run_options_t *options, tessera_error_t *error) {
  TilePipelineCall call = {.pipeline = run->target->pipeline, .choices = &options->choices};
  if (options->pipeline)
    run->pipeline = strdup(options->pipeline);
  else if (call.pipeline)
    run->pipeline = tilePipelineCallPrint(&call, error);
  return run->pipeline || (!options->pipeline && !call.pipeline);
}

static bool launchesOnGpu(MlirOperation op) { return gpuLaunchOpIsA(op) || gpuLaunchFuncOpIsA(op); }

static bool expectNoLaunch(Run *run, tessera_error_t *error) {
  TileOps launches = tileCollectOps(mlirModuleGetOperation(run->session.module), launchesOnGpu);
  bool ok = launches.count == 0;
  if (!ok) {
    tileError(launches.items[0], "runs on a GPU: choose --target=emulate:CHIP, cuda or rocm");
    tessera_fail(error, "--target=%s: the program launches kernels of a GPU", run->target->name);
  }
  tileOpsFree(&launches);
  return ok;
}

// The interpreter takes elements as they are.
static bool expandEntries(Run *run, const tessera_run_options_t *options, tessera_error_t *error) {
  return !options->pipeline || run->target->isJudge || tileSessionExpandEntries(&run->session, error);
}

static bool compile(Run *run, const tessera_run_options_t *options, tessera_trace_t *trace, tessera_error_t *error) {
  return (!run->pipeline || tileSessionRun(&run->session, run->pipeline, error)) &&
         (!run->target->compile || run->target->compile(run, options, trace, error));
}

static bool lower(Run *run, const TileSession *parsed, const tessera_run_options_t *options, tessera_trace_t *trace,
                  tessera_error_t *error) {
  double start = tessera_milliseconds();
  bool isDone = false;
  tessera_trace_phase(trace, "passes");
  bool ok = choosePipeline(run, options, error) && expandEntries(run, options, error) &&
            (options->pipeline || !run->target->pipeline || expectNoLaunch(run, error)) &&
            (!run->target->takeKept || run->target->takeKept(run, parsed, options, trace, &isDone, error)) &&
            (isDone || compile(run, options, trace, error));
  run->compileMs = tessera_milliseconds() - start;
  return ok;
}

bool runCompile(Run *run, const char *name, const TileSession *parsed, const tessera_signature_t *signature,
                const tessera_run_options_t *options, tessera_trace_t *trace, tessera_error_t *error) {
  *run = (Run){.target = runTargetFind(name, error), .chip = runTargetChip(name)};
  if (!run->target || !tessera_signature_copy(signature, &run->signature, error))
    return false;
  size_t arguments = (size_t)signature->num_arguments, results = (size_t)signature->num_results;
  run->argumentBounds = calloc(arguments + results + 1, sizeof *run->argumentBounds);
  if (!run->argumentBounds)
    return tessera_fail(error, "out of memory");
  run->resultBounds = run->argumentBounds + arguments;
  MlirOperation copy = mlirOperationClone(mlirModuleGetOperation(parsed->module));
  run->session = (TileSession){.context = parsed->context, .module = mlirModuleFromOperation(copy)};
  return lower(run, parsed, options, trace, error);
}

bool runPrepareWith(Run *run, const char *name, const TileSession *parsed, const tessera_signature_t *signature,
                    const tessera_run_options_t *options, tessera_trace_t *trace, tessera_error_t *error) {
  if (!runCompile(run, name, parsed, signature, options, trace, error))
    return false;
  tessera_trace_phase(trace, "arguments");
  return tessera_run_data_prepare(&run->data, &run->signature, options, error);
}

bool runFindEntry(const TileSession *parsed, const tessera_run_options_t *options, tessera_signature_t *signature,
                  tessera_error_t *error) {
  MlirOperation entry = tileEntryFind(parsed->module, options->entry);
  if (mlirOperationIsNull(entry))
    return tessera_fail(error, "%s: has no function '%s'", options->file, options->entry);
  return tileEntrySignature(entry, signature, error);
}

bool runPrepare(Run *run, const char *name, const TileSession *parsed, const tessera_run_options_t *options,
                tessera_trace_t *trace, tessera_error_t *error) {
  *run = (Run){.target = runTargetFind(name, error)};
  tessera_signature_t signature;
  if (!run->target || !runFindEntry(parsed, options, &signature, error))
    return false;
  bool ok = runPrepareWith(run, name, parsed, &signature, options, trace, error);
  tessera_signature_destroy(&signature);
  return ok;
}

bool runCall(Run *run, const tessera_run_options_t *options, tessera_trace_t *trace, tessera_error_t *error) {
  tessera_trace_phase(trace, run->target->isJudge ? "interpretation" : "calls");
  bool ok = run->target->call(run, options, error);
  tessera_trace_phase(trace, NULL);
  return ok;
}

void runForgetCall(Run *run) {
  runEmulatorForgetCall(run->emulation);
  for (int i = 0; run->argumentBounds && i < run->signature.num_arguments + run->signature.num_results; ++i) {
    free(run->argumentBounds[i]); // the results' follow
    run->argumentBounds[i] = NULL;
  }
  tessera_calls_destroy(&run->calls);
  tessera_run_data_destroy(&run->data);
}

void runDestroy(Run *run) {
  runForgetCall(run);
  free(run->argumentBounds);
  tessera_signature_destroy(&run->signature);
  tileJitDestroy(run->jit);
  tessera_program_unload(&run->program);
  runEmulatorDestroy(run->emulation);
  runGpuDestroy(run->gpu);
  free(run->pipeline);
  if (!mlirModuleIsNull(run->session.module))
    mlirModuleDestroy(run->session.module);
  *run = (Run){.target = NULL};
}
