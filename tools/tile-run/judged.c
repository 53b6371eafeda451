// The interpreter as target and as judge of a run. See judged.h.
#include "tools/tile-run/judged.h"

#include "lib/support/npy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool interpret(MlirModule module, const tessera_run_options_t *options, const tessera_signature_t *signature,
                      TileAnswer *arguments, TileAnswer *results, TileInterpretation *outcome, tessera_error_t *error) {
  return tileInterpret(mlirModuleGetOperation(module), options->entry, signature->num_arguments, arguments,
                       signature->num_results, results, NULL, outcome, error);
}

bool judgedRun(const Program *program, const tessera_run_options_t *options, tessera_run_data_t *data,
               tessera_error_t *error) {
  TileAnswer arguments[TESSERA_MAX_VALUES], results[TESSERA_MAX_VALUES] = {{.bounds = NULL}};
  TileInterpretation outcome;
  for (int i = 0; i < program->signature.num_arguments; i++)
    arguments[i] = (TileAnswer){.array = data->arguments[i]};
  bool ok = interpret(program->session.module, options, &program->signature, arguments, results, &outcome, error);
  for (int i = 0; i < program->signature.num_arguments; i++)
    free(arguments[i].bounds);
  for (int i = 0; i < program->signature.num_results; i++) {
    data->results[i] = results[i].array;
    free(results[i].bounds);
  }
  return ok;
}

//===--- what to expect -----------------------------------------------------------===//

static bool isInterpreter(const tessera_run_options_t *options) {
  return options->num_checks == 1 && strcmp(options->checks[0], "interpret") == 0;
}

static bool copyArray(const tessera_array_t *from, tessera_array_t *to, tessera_error_t *error) {
  if (!tessera_array_create(from->element, from->rank, from->shape, to, error))
    return false;
  memcpy(to->data, from->data, (size_t)(from->count * tessera_element_bytes(from->element)));
  return true;
}

// On a module of its own: compiling changes the other one.
static bool prepareByInterpreter(JudgedRun *judged, const tessera_run_options_t *options,
                                 const tessera_run_data_t *data, tessera_error_t *error) {
  bool ok = true;
  for (int i = 0; i < data->signature->num_arguments && ok; i++)
    ok = copyArray(&data->arguments[i], &judged->arguments[i].array, error);
  TileSession session;
  ok = ok && tileSessionOpen(&session, options->file, error);
  if (!ok)
    return false;
  ok = interpret(session.module, options, data->signature, judged->arguments, judged->results, &judged->outcome, error);
  tileSessionClose(&session);
  return ok;
}

static bool readExpected(const char *path, int number, const tessera_value_t *value, TileAnswer *answer,
                         tessera_error_t *error) {
  char name[512];
  snprintf(name, sizeof name, "expected output %d (%s)", number, path);
  return tessera_npy_read(path, &answer->array, error) &&
         tessera_array_expect(&answer->array, name, value->element, value->rank, value->shape, error);
}

// Output `number` of a program: results in order, then memref arguments; null past the last.
static const tessera_value_t *outputValue(const tessera_signature_t *signature, int number, bool *isArgument,
                                          int *index) {
  *isArgument = number >= signature->num_results;
  *index = number;
  if (!*isArgument)
    return &signature->results[number];
  number -= signature->num_results;
  for (int i = 0; i < signature->num_arguments; i++)
    if (signature->arguments[i].is_memref && number-- == 0) {
      *index = i;
      return &signature->arguments[i];
    }
  return NULL;
}

static bool prepareByFiles(JudgedRun *judged, const tessera_run_options_t *options, const tessera_run_data_t *data,
                           tessera_error_t *error) {
  for (int i = 0; i < options->num_checks; i++) {
    bool isArgument;
    int index;
    const tessera_value_t *value = outputValue(data->signature, i, &isArgument, &index);
    if (!value)
      return tessera_fail(error, "--check-against is given %d times, '%s' gives %d outputs", options->num_checks,
                          options->entry, i);
    if (!readExpected(options->checks[i], i, value, isArgument ? &judged->arguments[index] : &judged->results[index],
                      error))
      return false;
  }
  return true;
}

bool judgedPrepare(JudgedRun *judged, const tessera_run_options_t *options, const tessera_run_data_t *data,
                   tessera_error_t *error) {
  *judged = (JudgedRun){.isAsked = options->num_checks > 0, .isRight = true};
  if (!judged->isAsked)
    return true;
  for (int i = 0; i < data->signature->num_arguments; i++)
    if (options->repeat > 1 && data->signature->arguments[i].is_memref)
      return tessera_fail(error, "--check-against with --repeat=%lld: the calls would write argument %d repeatedly",
                          (long long)options->repeat, i);
  return isInterpreter(options) ? prepareByInterpreter(judged, options, data, error)
                                : prepareByFiles(judged, options, data, error);
}

//===--- comparing ------------------------------------------------------------------===//

// "[2, 5]"
static void describeIndex(const tessera_array_t *array, int64_t at, char *text, size_t size) {
  int64_t below = array->count;
  size_t length = (size_t)snprintf(text, size, "[");
  for (int i = 0; i < array->rank && length < size; i++) {
    below /= array->shape[i] ? array->shape[i] : 1;
    length += (size_t)snprintf(text + length, size - length, "%s%lld", i ? ", " : "", (long long)(at / below));
    at %= below;
  }
  if (length < size)
    snprintf(text + length, size - length, "]");
}

static bool compareOutput(JudgedRun *judged, const tessera_run_options_t *options, const char *what, int number,
                          const tessera_array_t *seen, const TileAnswer *expected, tessera_error_t *error) {
  TileJudgement judgement;
  char reason[512], where[256];
  bool byFile = !isInterpreter(options);
  double rtol = options->rtol < 0 && byFile ? 1e-5 : options->rtol;
  double atol = options->atol < 0 && byFile ? 1e-8 : options->atol;
  if (!tileJudge(seen, expected, rtol, atol, &judgement, error)) {
    snprintf(reason, sizeof reason, "%s", error->text);
    return tessera_fail(error, "%s %d %s", what, number, reason);
  }
  printf("%s %d: %s, largest error %.3g (relative %.3g)", what, number, judgement.isRight ? "right" : "wrong",
         judgement.maxAbsolute, judgement.maxRelative);
  if (seen->count) {
    describeIndex(seen, judgement.at, where, sizeof where);
    printf(", closest to its bound at %s: %.3g of %.3g", where, judgement.errorThere, judgement.allowed);
  }
  printf("; %lld of %lld elements wrong\n", (long long)judgement.wrong, (long long)seen->count);
  judged->isRight &= judgement.isRight;
  judged->maxAbsoluteError = fmax(judged->maxAbsoluteError, judgement.maxAbsolute);
  judged->maxRelativeError = fmax(judged->maxRelativeError, judgement.maxRelative);
  return true;
}

bool judgedCompare(JudgedRun *judged, const tessera_run_options_t *options, const tessera_run_data_t *data,
                   tessera_error_t *error) {
  if (!judged->isAsked)
    return true;
  bool isArgument;
  int index;
  for (int i = 0; outputValue(data->signature, i, &isArgument, &index); i++) {
    const TileAnswer *expected = isArgument ? &judged->arguments[index] : &judged->results[index];
    const tessera_array_t *seen = isArgument ? &data->arguments[index] : &data->results[index];
    if (expected->array.data &&
        !compareOutput(judged, options, isArgument ? "argument" : "result", index, seen, expected, error))
      return false;
  }
  if (judged->outcome.undecided)
    printf("%lld comparisons or conversions were undecided: either outcome is right\n",
           (long long)judged->outcome.undecided);
  return true;
}

void judgedDestroy(JudgedRun *judged) {
  for (int i = 0; judged->isAsked && i < TESSERA_MAX_VALUES; i++) {
    tileAnswerDestroy(&judged->arguments[i]);
    tileAnswerDestroy(&judged->results[i]);
  }
}
