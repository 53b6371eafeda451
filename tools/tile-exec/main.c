// tile-exec: runs a program that tile-translate --tile-to-program made, as tile-run runs a module. Needs neither MLIR
// nor LLVM; builds with any C compiler:
//   cc -std=c11 -D_GNU_SOURCE -O2 -I. -rdynamic tools/tile-exec/*.c lib/run/*.c lib/runtime/*.c lib/support/*.c
//      -o tile-exec -pthread -ldl -lm
#include "lib/runtime/tessera.h"
#include "tools/tile-exec/program.h"

#include <string.h>

static bool write_statistics(const program_t *program, const tessera_calls_t *calls,
                             const tessera_run_options_t *options, tessera_error_t *error) {
  tessera_json_t *json = tessera_json_create();
  tessera_json_begin_object(json, NULL);
  tessera_calls_write_times(calls, json);
  tessera_json_integer(json, "fallback_ops", program->manifest->fallback_ops);
  tessera_calls_write_manifest(options, program->manifest->pipeline, json);
  tessera_json_end(json);
  bool ok = tessera_json_write(json, options->stats, error);
  tessera_json_destroy(json);
  return ok;
}

static bool check_options(const tessera_run_options_t *options, tessera_error_t *error) {
  if (strcmp(options->target, "cpu") != 0)
    return tessera_fail(error, "--target=%s: a compiled program has its target; known: cpu", options->target);
  if (options->pipeline)
    return tessera_fail(error, "--pass-pipeline: a program is compiled already (tile-run takes modules)");
  if (options->threads && !tessera_set_threads((int)options->threads))
    return tessera_fail(error, "--threads=%lld: cannot be set", (long long)options->threads);
  return true;
}

static bool run(const tessera_run_options_t *options, tessera_error_t *error) {
  program_t program = {.library = NULL};
  tessera_run_data_t data = {.signature = NULL};
  tessera_calls_t calls = {.times_ms = NULL};
  bool ok = check_options(options, error) && program_load(&program, options->file, options->entry, error) &&
            tessera_run_data_prepare(&data, &program.signature, options, error) &&
            tessera_calls_run(&calls, program.entry, &data, options->repeat, error) &&
            tessera_run_data_write(&data, options, error) &&
            (!options->stats || write_statistics(&program, &calls, options, error));
  tessera_calls_destroy(&calls);
  tessera_run_data_destroy(&data);
  program_unload(&program);
  return ok;
}

int main(int argc, char **argv) {
  tessera_run_options_t options;
  tessera_error_t error;
  if (!tessera_run_options_parse(argc, argv, &options, &error)) {
    fprintf(stderr, "tile-exec: error: %s\n", error.text);
    return 1;
  }
  bool ok = true;
  if (options.help)
    printf("tile-exec PROGRAM.so [flags]: runs a compiled program\n\n%s", tessera_run_options_help);
  else if (!(ok = run(&options, &error)))
    fprintf(stderr, "tile-exec: error: %s\n", error.text);
  tessera_run_options_destroy(&options);
  return ok ? 0 : 1;
}
