// The interpreter as target and as judge of a run. See judged.h.
#include "tools/tile-run/judged.h"

#include <stdlib.h>
#include <string.h>

static bool interpret(MlirModule module, const tessera_run_options_t *options, const tessera_signature_t *signature,
                      tessera_answer_t *arguments, tessera_answer_t *results, TileInterpretation *outcome,
                      tessera_error_t *error) {
  TileInterpretOptions limits = {.stepBudget = (uint64_t)options->max_steps};
  return tileInterpret(mlirModuleGetOperation(module), options->entry, signature->num_arguments, arguments,
                       signature->num_results, results, &limits, outcome, error);
}

bool judgedRun(const Program *program, const tessera_run_options_t *options, tessera_run_data_t *data,
               tessera_error_t *error) {
  tessera_answer_t arguments[TESSERA_MAX_VALUES], results[TESSERA_MAX_VALUES] = {{.bounds = NULL}};
  TileInterpretation outcome;
  for (int i = 0; i < program->signature.num_arguments; i++)
    arguments[i] = (tessera_answer_t){.array = data->arguments[i]};
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
    ok = copyArray(&data->arguments[i], &judged->check.arguments[i].array, error);
  TileSession session = {.context = {NULL}};
  ok = ok && tileSessionOpen(&session, options->file, error) &&
       interpret(session.module, options, data->signature, judged->check.arguments, judged->check.results,
                 &judged->outcome, error);
  tileSessionClose(&session);
  return ok;
}

bool judgedPrepare(JudgedRun *judged, const tessera_run_options_t *options, const tessera_run_data_t *data,
                   tessera_error_t *error) {
  *judged = (JudgedRun){.check = {.asked = options->num_checks > 0, .right = true}};
  if (!judged->check.asked)
    return true;
  return tessera_run_check_wants_interpreter(options) ? prepareByInterpreter(judged, options, data, error)
                                                      : tessera_run_check_read(&judged->check, options, data, error);
}

bool judgedCompare(JudgedRun *judged, const tessera_run_options_t *options, const tessera_run_data_t *data,
                   tessera_error_t *error) {
  if (!tessera_run_check_compare(&judged->check, options, data, error))
    return false;
  if (judged->outcome.undecided)
    printf("%lld comparisons or conversions were undecided: either outcome is right\n",
           (long long)judged->outcome.undecided);
  return true;
}
