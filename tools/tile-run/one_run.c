// One run of a program on its targets. See one_run.h.
// The interpreter, where it judges, runs first: what it says of a wrong program names the place, compiled code may die.
#include "tools/tile-run/one_run.h"

#include "lib/execution/compare.h"
#include "lib/execution/statistics.h"
#include "lib/pipelines/bind_by_name.h"
#include "lib/pipelines/pass_statistics.h"
#include "lib/run/progress.h"
#include "lib/run/timeout.h"
#include "lib/runtime/tessera.h"
#include "lib/support/file.h"
#include "lib/support/guard.h"

#include <stdlib.h>
#include <string.h>

// All of one run of the tool. Runs: the first target's, the judge's, that of another target at a time.
typedef struct Session {
  const tessera_run_options_t *options;
  tessera_trace_t *trace;
  tessera_timeout_t *timeout;
  tessera_progress_t *progress;
  char subject[512]; // what is run, for messages
  TileSession parsed;
  Run first, judge, other;
  tessera_run_check_t files, check; // check: whether targets agree
} Session;

//===--- statistics -----------------------------------------------------------===//

static bool writeStatistics(Session *session, tessera_error_t *error) {
  const tessera_run_options_t *options = session->options;
  tessera_json_t *json = tessera_json_create();
  tessera_json_begin_object(json, NULL);
  runWriteStatistics(&session->first, options, session->trace, &session->check, json);
  tileStatisticsWrite(json);
  runWriteManifest(&session->first, options, json);
  tessera_json_end(json);
  bool ok = tessera_json_write(json, options->stats, error);
  tessera_json_destroy(json);
  return ok;
}

//===--- the judge and the other targets --------------------------------------===//

// --check-against=interpret, or a judge among several targets.
static const RunTarget *findJudge(const Session *session) {
  if (tessera_run_check_wants_interpreter(session->options))
    return runTargetFind("interpret", NULL);
  for (int i = 1; i < session->options->num_targets; ++i) {
    const RunTarget *target = runTargetFind(session->options->targets[i], NULL);
    if (target && target->isJudge)
      return target;
  }
  return NULL;
}

static bool runOne(Session *session, Run *run, const char *target, tessera_error_t *error) {
  return runPrepare(run, target, &session->parsed, session->options, session->trace, error) &&
         runCall(run, session->options, session->trace, error);
}

static bool runJudge(Session *session, tessera_error_t *error) {
  const RunTarget *judge = findJudge(session);
  Run *run = &session->judge;
  if (!judge)
    return true;
  bool ok = runPrepare(run, judge->name, &session->parsed, session->options, session->trace, error);
  run->isQuiet = true;
  return ok && runCall(run, session->options, session->trace, error);
}

static bool compareOther(Session *session, const char *name, tessera_error_t *error) {
  const RunTarget *target = runTargetFind(name, error);
  if (!target)
    return false;
  if (target->isJudge) // has run, and the first was compared with it
    return true;
  const Run *expected = session->judge.target ? &session->judge : &session->first;
  bool ok = runOne(session, &session->other, name, error) &&
            runCompare(&session->check, &session->other, expected, session->options, error);
  runDestroy(&session->other);
  return ok;
}

static bool compareWithFiles(Session *session, tessera_error_t *error) {
  if (!session->files.asked)
    return true;
  bool ok = tessera_run_check_compare(&session->files, session->options, &session->first.data, error);
  session->check.asked = true;
  session->check.right = session->check.right && session->files.right;
  session->check.max_absolute = session->files.max_absolute;
  session->check.max_relative = session->files.max_relative;
  return ok;
}

static bool compareAll(Session *session, tessera_error_t *error) {
  bool ok = compareWithFiles(session, error);
  if (session->judge.target)
    ok = ok && runCompare(&session->check, &session->first, &session->judge, session->options, error);
  for (int i = 1; i < session->options->num_targets && ok; ++i)
    ok = compareOther(session, session->options->targets[i], error);
  return ok;
}

//===--- the tool -------------------------------------------------------------===//

static void expire(void *context) {
  const Session *session = context;
  tessera_error_t error;
  tessera_timeout_describe(session->options, session->trace, &error);
  fprintf(stderr, "%stile-run: error: %s\n", session->progress ? "\033[K" : "", error.text);
  tessera_guard_end(1);
}

static bool start(Session *session, tessera_error_t *error) {
  const tessera_run_options_t *options = session->options;
  for (int i = 0; i < options->num_targets; ++i)
    if (!runTargetFind(options->targets[i], error))
      return false;
  if (options->threads && !tessera_set_threads((int)options->threads))
    return tessera_fail(error, "--threads=%lld: cannot be set", (long long)options->threads);
  session->trace = tessera_trace_create(options->stats || options->trace);
  if (!session->trace)
    return tessera_fail(error, "out of memory");
  if (options->timeout > 0 && !(session->timeout = tessera_timeout_start(options->timeout, expire, session)))
    return tessera_fail(error, "--timeout: no thread for it can be started");
  session->progress = tessera_progress_start("tile-run", session->trace);
  tessera_trace_phase(session->trace, "reading the program");
  return true;
}

static bool prepareFirst(Session *session, tessera_error_t *error) {
  const tessera_run_options_t *options = session->options;
  bool ok = runPrepare(&session->first, options->targets[0], &session->parsed, options, session->trace, error);
  if (ok)
    tessera_run_data_note_sizes(&session->first.data, options, "tile-run");
  return ok;
}

// The chip that source code is compiled for: of the first target that names one.
static const char *findChip(const tessera_run_options_t *options) {
  for (int i = 0; i < options->num_targets; ++i)
    if (runTargetChip(options->targets[i]))
      return runTargetChip(options->targets[i]);
  return NULL;
}

static bool execute(Session *session, tessera_error_t *error) {
  const tessera_run_options_t *options = session->options;
  Run *first = &session->first;
  session->files = (tessera_run_check_t){.asked = options->num_checks && !tessera_run_check_wants_interpreter(options),
                                         .right = true};
  return tileSessionOpen(&session->parsed, options->file, findChip(options), error) &&
         (!options->weights || tileBindWeightsByName(session->parsed.module, options->weights, error)) &&
         tileSessionTakeSparseEntries(&session->parsed, options->entry, error) && prepareFirst(session, error) &&
         (!session->files.asked || tessera_run_check_read(&session->files, options, &first->data, error)) &&
         runJudge(session, error) && runCall(first, options, session->trace, error) && compareAll(session, error);
}

static bool writeTrace(Session *session, const char *path, tessera_error_t *error) {
  const RunTarget *target = session->first.target;
  return target->writeTrace ? target->writeTrace(&session->first, path, error)
                            : tessera_trace_write(session->trace, path, error);
}

static bool writeAll(Session *session, tessera_error_t *error) {
  const tessera_run_options_t *options = session->options;
  return tessera_run_data_write(&session->first.data, options, error) &&
         (!options->stats || writeStatistics(session, error)) &&
         (!options->trace || writeTrace(session, options->trace, error));
}

static void destroy(Session *session) {
  tessera_run_check_destroy(&session->files);
  runDestroy(&session->judge);
  runDestroy(&session->first);
  tileSessionClose(&session->parsed);
  tessera_trace_destroy(session->trace);
  tessera_guard_subject(NULL);
  free(session);
}

// The flags that only the emulator obeys.
static bool expectEmulator(const tessera_run_options_t *options, tessera_error_t *error) {
  bool emulates = false;
  for (int i = 0; i < options->num_targets; ++i)
    emulates |= strncmp(options->targets[i], "emulate:", 8) == 0;
  return ((emulates || !options->predict) || tessera_fail(error, "--predict requires --target=emulate:CHIP")) &&
         ((emulates || !options->allow_races) || tessera_fail(error, "--allow-races requires --target=emulate:CHIP"));
}

bool runSession(const tessera_run_options_t *options, tessera_error_t *error) {
  if (!expectEmulator(options, error))
    return false;
  Session *session = calloc(1, sizeof *session);
  if (!session)
    return tessera_fail(error, "out of memory");
  *session = (Session){.options = options, .check = {.right = true}};
  snprintf(session->subject, sizeof session->subject, "'%s' of %s", options->entry, options->file);
  tessera_guard_subject(session->subject);
  bool ok = start(session, error) && execute(session, error);
  tessera_progress_stop(session->progress);
  tessera_timeout_stop(session->timeout); // before files are written: they come wholly or not at all
  tessera_files_t files;
  tessera_files_begin(&files);
  ok = ok && writeAll(session, error);
  bool isRight = session->check.right;
  destroy(session); // may run out of memory, too: files have no names until then
  return tessera_files_end(&files, ok, error) &&
         (isRight || tessera_fail(error, "the check failed: the outputs differ from what is expected"));
}
