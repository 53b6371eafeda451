// One target running the program: its own copy of the module, what it compiled, its arguments, what came out.
//
//   Run run;
//   bool ok = runPrepare(&run, target, &session, &options, trace, &error) && runCall(&run, &options, trace, &error);
//   … run.data.results, run.bounds …
//   runDestroy(&run);   // also after a failure
//
// A new target is a row in targets.c.
#pragma once

#include "lib/jit/jit.h"
#include "lib/pipelines/session.h"
#include "lib/run/call.h"
#include "lib/run/program_file.h"
#include "lib/run/trace.h"

typedef struct RunTarget RunTarget;

typedef struct Run {
  const RunTarget *target;
  const char *chip;              // of a target like emulate:sm_80; or null
  struct Emulation *emulation;   // emulate.h's
  struct GpuRun *gpu;            // gpu.h's
  char *pipeline;                // that the module went through; owned; null: none
  TileSession session;           // the context is the parsed program's
  tessera_signature_t signature; // owned
  tessera_run_data_t data;
  double **argumentBounds, **resultBounds;            // the interpreter's, one for each value; owned, one allocation
  int64_t undecided, viewBytesRead, viewBytesWritten; // the interpreter's
  bool unknown;                                       // the interpreter's
  bool (*stop)(void *user, int64_t number, intptr_t count, const tessera_array_t *values); // the interpreter's
  void *stopUser;
  bool isQuiet; // a judge beside another target: what the program prints, that target prints
  tessera_calls_t calls;
  TileJit *jit;
  tessera_program_t program; // in place of `jit`: one that was kept
  tessera_packed_t entry;
  double compileMs;
} Run;

struct RunTarget {
  const char *name;     // one that ends with ':' takes a chip
  const char *pipeline; // by name; NULL: takes the module as it is
  bool isJudge;         // gives bounds with its answers, and says where a program is wrong
  // The module has been through the pipeline (or --pass-pipeline); may be NULL.
  bool (*compile)(Run *run, const tessera_run_options_t *options, tessera_trace_t *trace, tessera_error_t *error);
  // Fills run->data.results and memref arguments.
  bool (*call)(Run *run, const tessera_run_options_t *options, tessera_error_t *error);
  // What the target knows of the run, into the open object; may be NULL.
  void (*writeStatistics)(const Run *run, tessera_json_t *json);
  // In place of the tool's own trace; may be NULL.
  bool (*writeTrace)(const Run *run, const char *path, tessera_error_t *error);
  // Takes the program from where compiled ones are kept (kept.h), in place of the pipeline and `compile`; may be NULL.
  bool (*takeKept)(Run *run, const TileSession *parsed, const tessera_run_options_t *options, tessera_trace_t *trace,
                   bool *isDone, tessera_error_t *error);
  bool countsKernels; // writeStatistics writes "kernels"; else the trace's are written
};

// Null after an error that lists the known ones.
const RunTarget *runTargetFind(const char *name, tessera_error_t *error);
// "sm_80" of "emulate:sm_80"; null if the name has none.
const char *runTargetChip(const char *name);

// What options->entry takes and gives; the caller destroys it.
bool runFindEntry(const TileSession *parsed, const tessera_run_options_t *options, tessera_signature_t *signature,
                  tessera_error_t *error);
// Brings a copy of the module to the target; run->data must be filled before the first runCall.
bool runCompile(Run *run, const char *name, const TileSession *parsed, const tessera_signature_t *signature,
                const tessera_run_options_t *options, tessera_trace_t *trace, tessera_error_t *error);
// Finds the entry, brings a copy of the module to the target, reads or makes the arguments.
// `name` is the target's as the user wrote it.
bool runPrepare(Run *run, const char *name, const TileSession *parsed, const tessera_run_options_t *options,
                tessera_trace_t *trace, tessera_error_t *error);
// As above, for a module in which `options->entry` may have been lowered already: `signature` tells what it was.
bool runPrepareWith(Run *run, const char *name, const TileSession *parsed, const tessera_signature_t *signature,
                    const tessera_run_options_t *options, tessera_trace_t *trace, tessera_error_t *error);
bool runCall(Run *run, const tessera_run_options_t *options, tessera_trace_t *trace, tessera_error_t *error);
// The arguments, results, times and counts of the calls so far go; the code stays. Then fill run->data again.
void runForgetCall(Run *run);
void runDestroy(Run *run);
