// The targets of tile-run, one row each: the CPU, by compiled code, the interpreter, by definition, the GPU emulator,
// GPUs.
#include "lib/execution/device.h"
#include "lib/execution/emulate.h"
#include "lib/execution/gpu.h"
#include "lib/execution/kept.h"
#include "lib/interpreter/interpreter.h"
#include "lib/support/grow.h"

#include <stdlib.h>
#include <string.h>

//===--- cpu --------------------------------------------------------------------===//

static bool callOnCpu(Run *run, const tessera_run_options_t *options, tessera_error_t *error) {
  return tessera_calls_run(&run->calls, run->entry, &run->data, options->repeat, error);
}

//===--- interpret --------------------------------------------------------------===//

static bool callInterpreter(Run *run, const tessera_run_options_t *options, tessera_error_t *error) {
  const tessera_signature_t *signature = &run->signature;
  size_t values = (size_t)signature->num_arguments + (size_t)signature->num_results;
  tessera_answer_t *arguments = calloc(values + 1, sizeof *arguments);
  if (!arguments)
    return tessera_fail(error, "out of memory");
  tessera_answer_t *results = arguments + signature->num_arguments;
  TileInterpretOptions limits = {.stepBudget = (uint64_t)options->max_steps, .stop = run->stop, .user = run->stopUser};
  TileInterpretation outcome = {.steps = 0};
  FILE *nowhere = run->isQuiet ? fopen("/dev/null", "w") : NULL;
  limits.print = nowhere;
  for (int i = 0; i < signature->num_arguments; ++i)
    arguments[i] = (tessera_answer_t){.array = run->data.arguments[i]};
  bool ok = tileInterpret(mlirModuleGetOperation(run->session.module), options->entry, arguments, results, &limits,
                          &outcome, error);
  if (nowhere)
    fclose(nowhere);
  run->undecided = outcome.undecided;
  run->viewBytesRead = outcome.viewBytesRead;
  run->viewBytesWritten = outcome.viewBytesWritten;
  run->unknown = outcome.unknown;
  for (int i = 0; i < signature->num_arguments; ++i)
    run->argumentBounds[i] = arguments[i].bounds;
  for (int i = 0; i < signature->num_results; ++i) {
    run->data.results[i] = results[i].array;
    run->resultBounds[i] = results[i].bounds;
  }
  free(arguments);
  return ok;
}

static void writeInterpreterStatistics(const Run *run, tessera_json_t *json) {
  tessera_json_integer(json, "view_bytes_read", run->viewBytesRead);
  tessera_json_integer(json, "view_bytes_written", run->viewBytesWritten);
}

//===--- the table --------------------------------------------------------------===//

static const RunTarget targets[] = {
    {"cpu", "tile-to-cpu-pipeline", false, runDeviceCompileHost, callOnCpu, NULL, NULL, .takeKept = runTakeKept},
    {"interpret", NULL, true, NULL, callInterpreter, writeInterpreterStatistics, NULL},
    {"emulate:", NULL, false, runEmulatorCompile, runEmulatorCall, runEmulatorWriteStatistics, runEmulatorWriteTrace,
     .countsKernels = true},
    {"cuda", NULL, false, runGpuCompile, runGpuCall, runGpuWriteStatistics, NULL},
    {"rocm", NULL, false, runGpuCompile, runGpuCall, runGpuWriteStatistics, NULL},
};

const RunTarget *runTargetFind(const char *name, tessera_error_t *error) {
  TESSERA_LIST(known);
  for (size_t i = 0; i < sizeof targets / sizeof *targets; ++i) {
    bool hasChip = strchr(targets[i].name, ':') != NULL;
    if (hasChip ? strncmp(targets[i].name, name, strlen(targets[i].name)) == 0 : strcmp(targets[i].name, name) == 0)
      return &targets[i];
    tessera_list_add(&known, "%s%s", targets[i].name, hasChip ? "CHIP" : "");
  }
  tessera_fail(error, "--target=%s: unknown target; known: %s", name, known.text);
  return NULL;
}

const char *runTargetChip(const char *name) {
  const char *colon = strchr(name, ':');
  return colon ? colon + 1 : NULL;
}
