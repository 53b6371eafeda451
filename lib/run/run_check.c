// run_check.c - reads what is expected, compares it with what came out. See run_check.h.
// Expects: a signature and arrays that fit it. Leaves: one line for each output compared.
#include "lib/run/run_check.h"

#include <math.h>
#include <string.h>

bool tessera_run_check_wants_interpreter(const tessera_run_options_t *options) {
  return options->num_checks == 1 && strcmp(options->checks[0], "interpret") == 0;
}

//===--- what to expect -------------------------------------------------------===//

// Output `number` of a program: results in order, then memref arguments; null past the last.
static const tessera_value_t *output_value(const tessera_signature_t *signature, int number, bool *is_argument,
                                           int *index) {
  *is_argument = number >= signature->num_results;
  *index = number;
  if (!*is_argument)
    return &signature->results[number];
  number -= signature->num_results;
  for (int i = 0; i < signature->num_arguments; ++i)
    if (signature->arguments[i].is_memref && number-- == 0) {
      *index = i;
      return &signature->arguments[i];
    }
  return NULL;
}

bool tessera_run_check_create(tessera_run_check_t *check, const tessera_signature_t *signature,
                              tessera_error_t *out_error) {
  check->num_answers = 0;
  check->arguments =
      calloc((size_t)signature->num_arguments + (size_t)signature->num_results + 1, sizeof *check->arguments);
  if (!check->arguments)
    return tessera_fail(out_error, "out of memory");
  check->results = check->arguments + signature->num_arguments;
  check->num_answers = signature->num_arguments + signature->num_results;
  return true;
}

// `values` and `arrays` have room for all outputs.
static bool read_answers(tessera_run_check_t *check, const tessera_run_options_t *options,
                         const tessera_run_data_t *data, tessera_value_t *values, tessera_array_t *arrays,
                         tessera_error_t *out_error) {
  const tessera_value_t *value;
  bool is_argument;
  int count = 0, tensors = 0, index, given;
  while ((value = output_value(data->signature, count, &is_argument, &index)))
    values[count++] = *value;
  for (int i = 0; i < count; i += tessera_value_span(&values[i]))
    ++tensors;
  bool ok = tessera_values_read("expected output", options->num_checks, options->checks, count, values, arrays, &given,
                                out_error);
  for (int i = 0; i < count; ++i) {
    output_value(data->signature, i, &is_argument, &index);
    *(is_argument ? &check->arguments[index].array : &check->results[index].array) = arrays[i];
  }
  return ok && (given <= tensors || tessera_fail(out_error, "--check-against gives %d arrays, '%s' gives %d outputs",
                                                 given, options->entry, tensors));
}

bool tessera_run_check_read(tessera_run_check_t *check, const tessera_run_options_t *options,
                            const tessera_run_data_t *data, tessera_error_t *out_error) {
  if (!tessera_run_check_create(check, data->signature, out_error))
    return false;
  tessera_value_t *values = calloc((size_t)check->num_answers + 1, sizeof *values);
  tessera_array_t *arrays = calloc((size_t)check->num_answers + 1, sizeof *arrays);
  bool ok = values && arrays ? read_answers(check, options, data, values, arrays, out_error)
                             : tessera_fail(out_error, "out of memory");
  free(values);
  free(arrays);
  return ok;
}

//===--- comparing ------------------------------------------------------------===//

static bool compare_output(tessera_run_check_t *check, const tessera_run_options_t *options, const char *what,
                           int number, const tessera_array_t *seen, const tessera_answer_t *expected,
                           tessera_error_t *out_error) {
  tessera_judgement_t judgement;
  char where[256];
  tessera_error_t reason;
  bool by_default = !check->by_bounds;
  double rtol = options->rtol < 0 && by_default ? 1e-5 : options->rtol;
  double atol = options->atol < 0 && by_default ? 1e-8 : options->atol;
  if (!tessera_judge(seen, expected, rtol, atol, &judgement, &reason))
    return tessera_fail(out_error, "%s %d %s", what, number, reason.text);
  printf("%s%s%s %d: %s, largest error %.3g (relative %.3g)", check->label ? check->label : "",
         check->label ? ": " : "", what, number, judgement.right ? "right" : "wrong", judgement.max_absolute,
         judgement.max_relative);
  if (seen->count) {
    tessera_array_describe_index(seen, judgement.at, where, sizeof where);
    printf(", closest to its bound at %s: %.3g of %.3g", where, judgement.error_there, judgement.allowed);
  }
  printf("; %lld of %lld elements wrong", (long long)judgement.wrong, (long long)tessera_array_elements(seen));
  if (judgement.wrong_zeros)
    printf(" (%lld by the sign of zero)", (long long)judgement.wrong_zeros);
  printf("\n");
  check->right &= judgement.right;
  check->max_absolute = fmax(check->max_absolute, judgement.max_absolute);
  check->max_relative = fmax(check->max_relative, judgement.max_relative);
  return true;
}

bool tessera_run_check_compare(tessera_run_check_t *check, const tessera_run_options_t *options,
                               const tessera_run_data_t *data, tessera_error_t *out_error) {
  if (!check->asked)
    return true;
  bool is_argument;
  int index;
  for (int i = 0; output_value(data->signature, i, &is_argument, &index); ++i) {
    const tessera_answer_t *expected = is_argument ? &check->arguments[index] : &check->results[index];
    const tessera_array_t *seen = is_argument ? &data->arguments[index] : &data->results[index];
    if (expected->array.data &&
        !compare_output(check, options, is_argument ? "argument" : "result", index, seen, expected, out_error))
      return false;
  }
  return true;
}

void tessera_run_check_write(const tessera_run_check_t *check, tessera_json_t *json) {
  if (!check->asked)
    return;
  tessera_json_number(json, "max_abs_error", check->max_absolute);
  tessera_json_number(json, "max_rel_error", check->max_relative);
}

void tessera_run_check_destroy(tessera_run_check_t *check) {
  for (int i = 0; i < check->num_answers; ++i)
    tessera_answer_destroy(&check->arguments[i]); // the results follow
  free(check->arguments);
  *check = (tessera_run_check_t){.num_answers = 0};
}
