// One run of a compiled program. See one_run.h.
#include "tools/tile-exec/one_run.h"

#include "lib/run/program_file.h"
#include "lib/run/progress.h"
#include "lib/run/run_check.h"
#include "lib/run/timeout.h"
#include "lib/runtime/tessera.h"
#include "lib/support/file.h"
#include "lib/support/grow.h"
#include "lib/support/guard.h"

#include <stdlib.h>
#include <string.h>

// All of one run of the tool.
typedef struct session_t {
  const tessera_run_options_t *options;
  bool into;
  tessera_trace_t *trace;
  tessera_timeout_t *timeout;
  tessera_progress_t *progress;
  tessera_program_t program;
  tessera_run_data_t data;
  tessera_calls_t calls;
  char subject[512];        // what is run, for messages
  tessera_device_t *device; // of a program with device code
  tessera_run_check_t check;
} session_t;

static bool write_statistics(session_t *session, tessera_error_t *error) {
  const tessera_manifest_t *manifest = session->program.manifest;
  tessera_json_t *json = tessera_json_create();
  tessera_json_begin_object(json, NULL);
  tessera_calls_write_times(&session->calls, json);
  tessera_run_check_write(&session->check, json);
  tessera_json_integer(json, "fallback_ops", manifest->fallback_ops);
  tessera_trace_write_kernels(session->trace, session->calls.count, json);
  tessera_calls_write_manifest(session->options, manifest->pipeline, manifest->compiler, json);
  tessera_json_end(json);
  bool ok = tessera_json_write(json, session->options->stats, error);
  tessera_json_destroy(json);
  return ok;
}

static bool check_options(const tessera_run_options_t *options, tessera_error_t *error) {
  for (int i = 0; i < options->num_targets; ++i)
    if (strcmp(options->targets[i], "cpu") != 0 && strcmp(options->targets[i], "cuda") != 0 &&
        strcmp(options->targets[i], "rocm") != 0)
      return tessera_fail(error, "--target=%s: a compiled program has its target; known: cpu, cuda, rocm",
                          options->targets[i]);
  if (options->pipeline)
    return tessera_fail(error, "--pass-pipeline: the program is compiled already; tile-run accepts modules");
  if (options->predict || options->allow_races)
    return tessera_fail(error, "%s: there is no emulator here (tile-run has it)",
                        options->predict ? "--predict" : "--allow-races");
  if (options->weights)
    return tessera_fail(error, "--weights: the program names its weights (tile-run and tile-translate take modules)");
  const char *choice = tessera_choice_name(tessera_choices_first(&options->choices));
  if (choice)
    return tessera_fail(error, "--%s: a program has its tiles already (tile-run and tile-translate take modules)",
                        choice);
  if (tessera_run_check_wants_interpreter(options))
    return tessera_fail(error, "--check-against=interpret: there is no interpreter here (tile-run has it); give files");
  if (options->threads && !tessera_set_threads((int)options->threads))
    return tessera_fail(error, "--threads=%lld: cannot be set", (long long)options->threads);
  return true;
}

static void expire(void *context) {
  const session_t *session = context;
  tessera_error_t error;
  tessera_timeout_describe(session->options, session->trace, &error);
  fprintf(stderr, "%stile-exec: error: %s\n", session->progress ? "\033[K" : "", error.text);
  tessera_guard_end(1);
}

static bool start(session_t *session, tessera_error_t *error) {
  const tessera_run_options_t *options = session->options;
  session->trace = tessera_trace_create(options->stats || options->trace);
  if (!session->trace)
    return tessera_fail(error, "out of memory");
  if (options->timeout > 0 && !(session->timeout = tessera_timeout_start(options->timeout, expire, session)))
    return tessera_fail(error, "--timeout: no thread for it can be started");
  session->progress = tessera_progress_start("tile-exec", session->trace);
  return true;
}

static bool call(session_t *session, tessera_error_t *error) {
  const tessera_run_options_t *options = session->options;
  const tessera_program_t *program = &session->program;
  if (!session->into)
    return tessera_calls_run(&session->calls, program->entry, &session->data, options->repeat, error);
  if (!program->entry_into)
    return tessera_fail(error, "--into: entry '%s' has no results to write into buffers", options->entry);
  return tessera_calls_run_into(&session->calls, program->entry, program->entry_into, &session->data, options->repeat,
                                error);
}

static bool is_asked(const tessera_run_options_t *options, const char *driver) {
  return !options->num_targets || strcmp(options->targets[0], "cpu") == 0 || strcmp(options->targets[0], driver) == 0;
}

// The driver's first device, if the program has code for it; else `why` says what is wrong.
static tessera_device_t *try_driver(const char *driver, const tessera_images_t *images, tessera_error_t *why) {
  tessera_device_t *device = tessera_device_open(tessera_driver_find(driver, NULL), 0, NULL, why);
  if (!device || tessera_device_takes(device, images))
    return device;
  tessera_fail(why, "no code for %s (%s)", tessera_device_info(device)->chip, tessera_device_info(device)->name);
  tessera_device_close(device);
  return NULL;
}

// "sm_80, gfx942": what GPUs the program has code for.
static void list_chips(const tessera_images_t *images, tessera_list_t *list) {
  for (int64_t i = 0; i < images->count; ++i) {
    bool is_new = true;
    for (int64_t k = 0; k < i; ++k)
      is_new &= strcmp(images->items[k].chip, images->items[i].chip) != 0;
    if (is_new)
      tessera_list_add(list, "%s", images->items[i].chip);
  }
}

// A program with device code runs on the first GPU that it has code for; --target names the driver.
static bool open_device(session_t *session, tessera_error_t *error) {
  static const char *const drivers[] = {"cuda", "rocm"};
  const tessera_images_t *images = session->program.manifest->images;
  tessera_error_t why[2] = {{""}, {""}};
  for (int i = 0; images && i < 2 && !session->device; ++i)
    if (is_asked(session->options, drivers[i]))
      session->device = try_driver(drivers[i], images, &why[i]);
  TESSERA_LIST(chips);
  if (images)
    list_chips(images, &chips);
  if (images && !session->device)
    return tessera_fail(error, "the program's kernels are for %s: %.350s%s%.350s", chips.text, why[0].text,
                        why[0].text[0] && why[1].text[0] ? "; " : "", why[1].text);
  tessera_device_enter(session->device);
  return true;
}

static bool execute(session_t *session, tessera_error_t *error) {
  const tessera_run_options_t *options = session->options;
  tessera_trace_phase(session->trace, "loading the program");
  if (!tessera_program_load(&session->program, options->file, options->entry, error))
    return false;
  if (!open_device(session, error))
    return false;
  tessera_trace_phase(session->trace, "arguments");
  if (!tessera_run_data_prepare(&session->data, &session->program.signature, options, error) ||
      !tessera_run_check_read(&session->check, options, &session->data, error))
    return false;
  tessera_run_data_note_sizes(&session->data, options, "tile-exec");
  tessera_trace_phase(session->trace, "calls");
  bool ok = call(session, error);
  tessera_trace_phase(session->trace, NULL);
  return ok && tessera_run_check_compare(&session->check, options, &session->data, error);
}

static bool write_all(session_t *session, tessera_error_t *error) {
  const tessera_run_options_t *options = session->options;
  tessera_files_t files;
  tessera_files_begin(&files);
  bool ok = tessera_run_data_write(&session->data, options, error) &&
            (!options->stats || write_statistics(session, error)) &&
            (!options->trace || tessera_trace_write(session->trace, options->trace, error));
  return tessera_files_end(&files, ok, error) &&
         (session->check.right || tessera_fail(error, "the check failed: the outputs differ from what is expected"));
}

bool tessera_exec_run(const tessera_run_options_t *options, bool into, tessera_error_t *error) {
  session_t *session = calloc(1, sizeof *session);
  if (!session)
    return tessera_fail(error, "out of memory");
  *session = (session_t){.options = options, .into = into, .check = {.asked = options->num_checks > 0, .right = true}};
  snprintf(session->subject, sizeof session->subject, "'%s' of %s", options->entry, options->file);
  tessera_guard_subject(session->subject);
  bool ok = check_options(options, error) && start(session, error) && execute(session, error);
  tessera_progress_stop(session->progress);
  tessera_timeout_stop(session->timeout); // before files are written: they come wholly or not at all
  ok = ok && write_all(session, error);
  tessera_run_check_destroy(&session->check);
  tessera_calls_destroy(&session->calls);
  tessera_run_data_destroy(&session->data);
  tessera_trace_destroy(session->trace);
  tessera_device_close(session->device);
  tessera_program_unload(&session->program);
  tessera_guard_subject(NULL);
  free(session);
  return ok;
}
