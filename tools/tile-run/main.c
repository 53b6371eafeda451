// tile-run: compiles a program at any level and runs one of its functions on .npy files. --help lists the flags.
#include "lib/pipelines/statistics.h"
#include "lib/run/call.h"
#include "lib/runtime/tessera.h"
#include "tools/tile-run/judged.h"

#include <string.h>

//===--- statistics -----------------------------------------------------------===//

static bool writeStatistics(const Program *program, const tessera_calls_t *calls, const JudgedRun *judged,
                            const tessera_run_options_t *options, tessera_error_t *error) {
  tessera_json_t *json = tessera_json_create();
  tessera_json_begin_object(json, NULL);
  if (calls->count)
    tessera_calls_write_times(calls, json);
  tessera_json_number(json, "compile_ms", program->compileMs);
  tessera_run_check_write(&judged->check, json);
  tileStatisticsWrite(json);
  tessera_calls_write_manifest(options, options->pipeline ? options->pipeline : "tile-to-cpu-pipeline", json);
  tessera_json_end(json);
  bool ok = tessera_json_write(json, options->stats, error);
  tessera_json_destroy(json);
  return ok;
}

//===--- the tool -------------------------------------------------------------===//

// The compiled code, --repeat times; the interpreter once.
static bool call(const Program *program, tessera_run_data_t *data, tessera_calls_t *calls,
                 const tessera_run_options_t *options, tessera_error_t *error) {
  return programIsInterpreted(options) ? judgedRun(program, options, data, error)
                                       : tessera_calls_run(calls, program->entry, data, options->repeat, error);
}

static bool run(const tessera_run_options_t *options, tessera_error_t *error) {
  if (strcmp(options->target, "cpu") != 0 && !programIsInterpreted(options))
    return tessera_fail(error, "--target=%s: unknown target; known: cpu, interpret", options->target);
  if (options->threads && !tessera_set_threads((int)options->threads))
    return tessera_fail(error, "--threads=%lld: cannot be set", (long long)options->threads);
  Program program;
  tessera_run_data_t data = {.signature = NULL};
  tessera_calls_t calls = {.times_ms = NULL};
  JudgedRun judged = {.check = {.asked = false}};
  bool ok = programLoad(&program, options, error) &&
            tessera_run_data_prepare(&data, &program.signature, options, error) &&
            judgedPrepare(&judged, options, &data, error) && call(&program, &data, &calls, options, error) &&
            judgedCompare(&judged, options, &data, error) && tessera_run_data_write(&data, options, error) &&
            (!options->stats || writeStatistics(&program, &calls, &judged, options, error)) &&
            (judged.check.right || tessera_fail(error, "the check failed: the outputs differ from what is expected"));
  tessera_run_check_destroy(&judged.check);
  tessera_calls_destroy(&calls);
  tessera_run_data_destroy(&data);
  programDestroy(&program);
  return ok;
}

int main(int argc, char **argv) {
  tessera_run_options_t options;
  tessera_error_t error;
  if (!tessera_run_options_parse(argc, argv, &options, &error)) {
    fprintf(stderr, "tile-run: error: %s\n", error.text);
    return 1;
  }
  bool ok = true;
  if (options.help)
    printf("tile-run FILE [flags]: compiles a program and runs one of its functions\n\n%s", tessera_run_options_help);
  else if (!(ok = run(&options, &error)))
    fprintf(stderr, "tile-run: error: %s\n", error.text);
  tessera_run_options_destroy(&options);
  return ok ? 0 : 1;
}
