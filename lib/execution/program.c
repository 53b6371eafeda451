// A program compiled once and called on a host's arrays. See program.h.
#include "lib/execution/program.h"

#include "lib/capi/pass.h"
#include "lib/execution/emulate.h"
#include "lib/execution/statistics.h"
#include "lib/pipelines/pass_statistics.h"
#include "lib/runtime/tessera.h"
#include "lib/support/judge.h"

#include <stdlib.h>
#include <string.h>

struct TesseraProgram {
  tessera_run_options_t options; // points into `texts`
  char **texts;                  // "tessera", the flags, the name
  intptr_t numTexts;
  Run run;
  TesseraStop stop;
  bool wasCalled;
  char *passStatistics, *statistics;
};

//===--- creating -------------------------------------------------------------===//

static bool readFlags(TesseraProgram *program, const char *name, intptr_t count, const char *const *flags,
                      tessera_error_t *error) {
  program->numTexts = count + 2;
  program->texts = calloc((size_t)program->numTexts + 1, sizeof *program->texts);
  if (!program->texts)
    return tessera_fail(error, "out of memory");
  bool copied = true;
  for (intptr_t i = 0; i < program->numTexts; ++i) {
    const char *text = i == 0 ? "tessera" : i <= count ? flags[i - 1] : name;
    copied = (program->texts[i] = strdup(text)) && copied;
  }
  if (!copied)
    return tessera_fail(error, "out of memory");
  tessera_run_options_t *options = &program->options;
  if (!tessera_run_options_parse((int)program->numTexts, program->texts, options, error))
    return false;
  if (options->num_inputs || options->num_outputs || options->num_checks || options->stats || options->trace ||
      options->timeout > 0 || options->help || options->num_targets != 1)
    return tessera_fail(error, "only --target (one), --entry, --pass-pipeline, --threads, --max-steps and the choices "
                               "of a pipeline say what is compiled; the other flags are tile-run's");
  return !options->threads || tessera_set_threads((int)options->threads) ||
         tessera_fail(error, "--threads=%lld: cannot be set", (long long)options->threads);
}

static char *takeText(tessera_json_t *json, tessera_error_t *error) {
  const char *text = tessera_json_text(json, error);
  char *copy = text ? strdup(text) : NULL;
  if (text && !copy)
    tessera_fail(error, "out of memory");
  tessera_json_destroy(json);
  return copy;
}

static bool keepPassStatistics(TesseraProgram *program, tessera_error_t *error) {
  tessera_json_t *json = tessera_json_create();
  tessera_json_begin_object(json, NULL);
  tileStatisticsWrite(json);
  tessera_json_end(json);
  return (program->passStatistics = takeText(json, error)) != NULL;
}

TesseraProgram *tesseraProgramCreate(MlirModule module, const char *name, intptr_t numFlags, const char *const *flags,
                                     tessera_error_t *error) {
  TesseraProgram *program = calloc(1, sizeof *program);
  if (!program) {
    tessera_fail(error, "out of memory");
    return NULL;
  }
  TileSession parsed = {mlirModuleGetContext(module),
                        mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(module)))};
  mlirExtStatisticsReset();
  mlirContextLoadAllAvailableDialects(parsed.context); // translations of dialects that no op names yet
  const tessera_run_options_t *options = &program->options;
  tessera_signature_t signature = {.arguments = NULL};
  tessera_trace_t *trace = tessera_trace_create(false);
  bool ok = (trace || tessera_fail(error, "out of memory")) && readFlags(program, name, numFlags, flags, error) &&
            tileSessionTakeForeign(&parsed, error) && tileSessionTakeSparseEntries(&parsed, options->entry, error) &&
            runFindEntry(&parsed, options, &signature, error) &&
            runCompile(&program->run, options->targets[0], &parsed, &signature, options, trace, error) &&
            keepPassStatistics(program, error);
  tessera_trace_destroy(trace);
  mlirModuleDestroy(parsed.module);
  tessera_signature_destroy(&signature);
  if (ok)
    return program;
  tesseraProgramDestroy(program);
  return NULL;
}

void tesseraProgramDestroy(TesseraProgram *program) {
  if (!program)
    return;
  runDestroy(&program->run);
  if (program->options.targets)
    tessera_run_options_destroy(&program->options);
  for (intptr_t i = 0; program->texts && i < program->numTexts; ++i)
    free(program->texts[i]);
  free(program->texts);
  free(program->passStatistics);
  free(program->statistics);
  free(program);
}

//===--- types ----------------------------------------------------------------===//

static TesseraArray typeOf(const tessera_value_t *values, int count, intptr_t index) {
  if (index < 0 || index >= count)
    return (TesseraArray){.element = NULL};
  const tessera_value_t *value = &values[index];
  return (TesseraArray){.element = tessera_element_name(value->element),
                        .rank = value->rank,
                        .sizes = value->shape,
                        .isMemref = value->is_memref};
}

intptr_t tesseraProgramGetNumArguments(const TesseraProgram *program) { return program->run.signature.num_arguments; }
intptr_t tesseraProgramGetNumResults(const TesseraProgram *program) { return program->run.signature.num_results; }

TesseraArray tesseraProgramGetArgumentType(const TesseraProgram *program, intptr_t index) {
  return typeOf(program->run.signature.arguments, program->run.signature.num_arguments, index);
}
TesseraArray tesseraProgramGetResultType(const TesseraProgram *program, intptr_t index) {
  return typeOf(program->run.signature.results, program->run.signature.num_results, index);
}

//===--- calling --------------------------------------------------------------===//

static bool stopWith(void *user, int64_t number, intptr_t count, const tessera_array_t *values) {
  const TesseraProgram *program = user;
  TesseraArray *seen = calloc((size_t)count + 1, sizeof *seen);
  for (intptr_t i = 0; seen && i < count; ++i)
    seen[i] = (TesseraArray){.element = values[i].rank < 0 ? NULL : tessera_element_name(values[i].element),
                             .rank = values[i].rank,
                             .sizes = values[i].shape,
                             .data = values[i].data};
  bool goesOn = seen && program->stop(number, count, seen);
  free(seen);
  return goesOn;
}

void tesseraProgramOnStop(TesseraProgram *program, TesseraStop stop) {
  program->stop = stop;
  program->run.stop = stop ? stopWith : NULL;
  program->run.stopUser = program;
}

static bool findElement(const char *name, tessera_element_t *element) {
  for (int i = 0; name && i < TESSERA_ELEMENT_COUNT; ++i)
    if (strcmp(tessera_element_name((tessera_element_t)i), name) == 0) {
      *element = (tessera_element_t)i;
      return true;
    }
  return false;
}

// The caller's array as ours, its data still the caller's.
static bool borrow(const TesseraArray *from, tessera_array_t *array, tessera_error_t *error) {
  *array = (tessera_array_t){.rank = (int)from->rank, .count = 1, .data = from->data};
  if (!findElement(from->element, &array->element))
    return tessera_fail(error, "'%s' is not an element type of arrays", from->element ? from->element : "");
  if (from->rank < 0 || from->rank > TESSERA_MAX_RANK)
    return tessera_fail(error, "rank %lld: expected 0 to %d", (long long)from->rank, TESSERA_MAX_RANK);
  for (int i = 0; i < array->rank; ++i) {
    array->shape[i] = from->sizes[i];
    if (from->sizes[i] < 0 || __builtin_mul_overflow(array->count, from->sizes[i], &array->count))
      return tessera_fail(error, "size %lld of dimension %d cannot be", (long long)from->sizes[i], i);
  }
  return array->data || !array->count || tessera_fail(error, "an array without data");
}

static bool copyArgument(const TesseraArray *from, int index, const tessera_value_t *value, tessera_array_t *to,
                         tessera_error_t *error) {
  tessera_array_t borrowed;
  char name[32];
  snprintf(name, sizeof name, "argument %d", index);
  if (!borrow(from, &borrowed, error) ||
      !tessera_array_expect(&borrowed, name, value->element, value->rank, value->shape, &value->packing, error) ||
      !tessera_array_create(borrowed.element, borrowed.rank, borrowed.shape, to, error))
    return false;
  to->packing = borrowed.packing;
  if (borrowed.count)
    memcpy(to->data, borrowed.data, (size_t)borrowed.count * (size_t)tessera_element_bytes(borrowed.element));
  return true;
}

static bool takeArguments(TesseraProgram *program, const TesseraArray *arguments, tessera_error_t *error) {
  Run *run = &program->run;
  if (!arguments)
    return tessera_run_data_prepare(&run->data, &run->signature, &program->options, error);
  if (!tessera_run_data_create(&run->data, &run->signature, error))
    return false;
  for (int i = 0; i < run->signature.num_arguments; ++i)
    if (!copyArgument(&arguments[i], i, &run->signature.arguments[i], &run->data.arguments[i], error))
      return false;
  return true;
}

static bool keepStatistics(TesseraProgram *program, tessera_trace_t *trace, tessera_error_t *error) {
  tessera_json_t *json = tessera_json_create();
  tessera_json_begin_object(json, NULL);
  runWriteStatistics(&program->run, &program->options, trace, NULL, json);
  runWriteManifest(&program->run, &program->options, json);
  tessera_json_end(json);
  return (program->statistics = takeText(json, error)) != NULL;
}

bool tesseraProgramCall(TesseraProgram *program, const TesseraArray *arguments, int64_t seed, int64_t repeat,
                        tessera_error_t *error) {
  if (repeat < 1 || repeat > 1000000000)
    return tessera_fail(error, "repeat %lld: expected 1 to 1000000000", (long long)repeat);
  program->options.seed = seed;
  program->options.repeat = repeat;
  runForgetCall(&program->run);
  free(program->statistics);
  program->statistics = NULL;
  program->wasCalled = false;
  tessera_trace_t *trace = tessera_trace_create(true);
  bool ok = (trace || tessera_fail(error, "out of memory")) && takeArguments(program, arguments, error) &&
            runCall(&program->run, &program->options, trace, error) && keepStatistics(program, trace, error);
  tessera_trace_destroy(trace);
  program->wasCalled = ok;
  return ok;
}

//===--- what a call left -----------------------------------------------------===//

static TesseraArray lend(const TesseraProgram *program, const tessera_array_t *arrays, int count, intptr_t index) {
  if (!program->wasCalled || index < 0 || index >= count)
    return (TesseraArray){.element = NULL};
  const tessera_array_t *array = &arrays[index];
  return (TesseraArray){
      .element = tessera_element_name(array->element), .rank = array->rank, .sizes = array->shape, .data = array->data};
}

TesseraArray tesseraProgramGetArgument(const TesseraProgram *program, intptr_t index) {
  return lend(program, program->run.data.arguments, program->run.signature.num_arguments, index);
}
TesseraArray tesseraProgramGetResult(const TesseraProgram *program, intptr_t index) {
  return lend(program, program->run.data.results, program->run.signature.num_results, index);
}

// A byte of packed elements has no bound: it is right when it is equal.
static bool hasBounds(const TesseraProgram *program, const tessera_value_t *values, int count, intptr_t index) {
  return program->wasCalled && index >= 0 && index < count && !values[index].packing.type;
}

const double *tesseraProgramGetArgumentBounds(const TesseraProgram *program, intptr_t index) {
  const tessera_signature_t *signature = &program->run.signature;
  bool is = hasBounds(program, signature->arguments, signature->num_arguments, index);
  return is ? program->run.argumentBounds[index] : NULL;
}
const double *tesseraProgramGetResultBounds(const TesseraProgram *program, intptr_t index) {
  const tessera_signature_t *signature = &program->run.signature;
  bool is = hasBounds(program, signature->results, signature->num_results, index);
  return is ? program->run.resultBounds[index] : NULL;
}

const char *tesseraProgramGetPassStatistics(const TesseraProgram *program) { return program->passStatistics; }
const char *tesseraProgramGetStatistics(const TesseraProgram *program) {
  return program->statistics ? program->statistics : "";
}

//===--- judging --------------------------------------------------------------===//

bool tesseraJudge(const TesseraArray *seen, const TesseraArray *expected, const double *bounds, double rtol,
                  double atol, TesseraJudgement *judgement, tessera_error_t *error) {
  tessera_array_t ours;
  tessera_answer_t answer = {.bounds = (double *)(uintptr_t)bounds}; // read only
  tessera_judgement_t found;
  if (!borrow(seen, &ours, error) || !borrow(expected, &answer.array, error) ||
      !tessera_judge(&ours, &answer, rtol, atol, &found, error))
    return false;
  *judgement = (TesseraJudgement){found.right, found.wrong, found.at, found.max_absolute, found.max_relative};
  return true;
}
