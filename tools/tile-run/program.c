// Loads and compiles the program. See program.h.
#include "tools/tile-run/program.h"

#include "lib/target/cpu/cpu.h"
#include "lib/target/entry.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

// Code for this machine, or for the interpreter only what the passes of --pass-pipeline make of it.
static bool compile(Program *program, const tessera_run_options_t *options, tessera_error_t *error) {
  double start = milliseconds();
  char symbol[512];
  if (programIsInterpreted(options))
    return !options->pipeline || tileSessionRun(&program->session, options->pipeline, error);
  const char *pipeline = options->pipeline ? options->pipeline : "builtin.module(tile-to-cpu-pipeline)";
  if (!tileSessionRun(&program->session, pipeline, error))
    return false;
  program->jit = tileCpuCompile(mlirModuleGetOperation(program->session.module), options->entry, error);
  if (!program->jit)
    return false;
  snprintf(symbol, sizeof symbol, "tessera_packed_%s", options->entry);
  program->entry = (void (*)(void **))tileJitLookup(program->jit, symbol, error);
  program->compileMs = milliseconds() - start;
  return program->entry != NULL;
}

bool programIsInterpreted(const tessera_run_options_t *options) { return strcmp(options->target, "interpret") == 0; }

bool programLoad(Program *program, const tessera_run_options_t *options, tessera_error_t *error) {
  *program = (Program){.jit = NULL};
  if (!tileSessionOpen(&program->session, options->file, error))
    return false;
  MlirOperation entry = tileEntryFind(program->session.module, options->entry);
  if (mlirOperationIsNull(entry))
    return tessera_fail(error, "%s: has no function '%s'", options->file, options->entry);
  return tileEntrySignature(entry, &program->signature, error) && compile(program, options, error);
}

void programDestroy(Program *program) {
  tileJitDestroy(program->jit);
  tileSessionClose(&program->session);
}
