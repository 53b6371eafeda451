// tile-exec: runs a program that tile-translate --tile-to-program made, as tile-run runs a module. Needs neither MLIR
// nor LLVM; builds with any C compiler:
//   cc -std=c11 -D_GNU_SOURCE -O2 -I. -rdynamic tools/tile-exec/*.c lib/run/*.c lib/runtime/*.c lib/support/*.c
//      -o tile-exec -pthread -ldl -lm
#include "lib/runtime/tessera.h"
#include "lib/support/run_check.h"
#include "tools/tile-exec/program.h"

#include <string.h>

static bool write_statistics(const program_t *program, const tessera_calls_t *calls, const tessera_run_check_t *check,
                             const tessera_run_options_t *options, tessera_error_t *error) {
  tessera_json_t *json = tessera_json_create();
  tessera_json_begin_object(json, NULL);
  tessera_calls_write_times(calls, json);
  tessera_run_check_write(check, json);
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
  if (tessera_run_check_wants_interpreter(options))
    return tessera_fail(error, "--check-against=interpret: there is no interpreter here (tile-run has it); give files");
  if (options->threads && !tessera_set_threads((int)options->threads))
    return tessera_fail(error, "--threads=%lld: cannot be set", (long long)options->threads);
  return true;
}

static bool call(const program_t *program, bool into, tessera_run_data_t *data, tessera_calls_t *calls,
                 const tessera_run_options_t *options, tessera_error_t *error) {
  if (!into)
    return tessera_calls_run(calls, program->entry, data, options->repeat, error);
  if (!program->entry_into)
    return tessera_fail(error, "--into: entry '%s' has no results to write into buffers", options->entry);
  return tessera_calls_run_into(calls, program->entry, program->entry_into, data, options->repeat, error);
}

static bool run(const tessera_run_options_t *options, bool into, tessera_error_t *error) {
  program_t program = {.library = NULL};
  tessera_run_data_t data = {.signature = NULL};
  tessera_calls_t calls = {.times_ms = NULL};
  tessera_run_check_t check = {.asked = options->num_checks > 0, .right = true};
  bool ok = check_options(options, error) && program_load(&program, options->file, options->entry, error) &&
            tessera_run_data_prepare(&data, &program.signature, options, error) &&
            tessera_run_check_read(&check, options, &data, error) &&
            call(&program, into, &data, &calls, options, error) &&
            tessera_run_check_compare(&check, options, &data, error) && tessera_run_data_write(&data, options, error) &&
            (!options->stats || write_statistics(&program, &calls, &check, options, error)) &&
            (check.right || tessera_fail(error, "the check failed: the outputs differ from what is expected"));
  tessera_run_check_destroy(&check);
  tessera_calls_destroy(&calls);
  tessera_run_data_destroy(&data);
  program_unload(&program);
  return ok;
}

// Takes --into, the one flag that tile-run does not have, out of the arguments. Returns how many are left.
static int take_into(int argc, char **argv, bool *out_into) {
  int count = 0;
  for (int i = 0; i < argc; i++)
    if (i && strcmp(argv[i], "--into") == 0)
      *out_into = true;
    else
      argv[count++] = argv[i];
  return count;
}

int main(int argc, char **argv) {
  bool into = false;
  argc = take_into(argc, argv, &into);
  tessera_run_options_t options;
  tessera_error_t error;
  if (!tessera_run_options_parse(argc, argv, &options, &error)) {
    fprintf(stderr, "tile-exec: error: %s\n", error.text);
    return 1;
  }
  bool ok = true;
  if (options.help)
    printf("tile-exec PROGRAM.so [flags]: runs a compiled program\n\n%s%s", tessera_run_options_help,
           "  --into                calls the form that writes the caller's buffers\n");
  else if (!(ok = run(&options, into, &error)))
    fprintf(stderr, "tile-exec: error: %s\n", error.text);
  tessera_run_options_destroy(&options);
  return ok ? 0 : 1;
}
