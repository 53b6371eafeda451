// run_check.c - reads what is expected, compares it with what came out. See run_check.h.
// Expects: a signature and arrays that fit it. Leaves: one line for each output compared.
#include "lib/support/run_check.h"

#include "lib/support/npz.h"

#include <math.h>
#include <string.h>

bool tessera_run_check_wants_interpreter(const tessera_run_options_t *options) {
  return options->num_checks == 1 && strcmp(options->checks[0], "interpret") == 0;
}

//===--- what to expect -------------------------------------------------------===//

// Takes the array out of the list.
static bool take_expected(tessera_named_array_t *from, int number, const tessera_value_t *value,
                          tessera_answer_t *answer, tessera_error_t *out_error) {
  char name[512];
  snprintf(name, sizeof name, "expected output %d (%s)", number, from->name);
  answer->array = from->array;
  from->array.data = NULL;
  return tessera_array_expect(&answer->array, name, value->element, value->rank, value->shape, out_error);
}

// Output `number` of a program: results in order, then memref arguments; null past the last.
static const tessera_value_t *output_value(const tessera_signature_t *signature, int number, bool *is_argument,
                                           int *index) {
  *is_argument = number >= signature->num_results;
  *index = number;
  if (!*is_argument)
    return &signature->results[number];
  number -= signature->num_results;
  for (int i = 0; i < signature->num_arguments; i++)
    if (signature->arguments[i].is_memref && number-- == 0) {
      *index = i;
      return &signature->arguments[i];
    }
  return NULL;
}

static bool take_all_expected(tessera_run_check_t *check, const tessera_run_options_t *options,
                              const tessera_run_data_t *data, tessera_arrays_t *arrays, tessera_error_t *out_error) {
  for (int i = 0; i < arrays->count; i++) {
    bool is_argument;
    int index;
    const tessera_value_t *value = output_value(data->signature, i, &is_argument, &index);
    if (!value)
      return tessera_fail(out_error, "--check-against gives %d arrays, '%s' gives %d outputs", arrays->count,
                          options->entry, i);
    if (!take_expected(&arrays->items[i], i, value, is_argument ? &check->arguments[index] : &check->results[index],
                       out_error))
      return false;
  }
  return true;
}

bool tessera_run_check_read(tessera_run_check_t *check, const tessera_run_options_t *options,
                            const tessera_run_data_t *data, tessera_error_t *out_error) {
  tessera_arrays_t arrays = {0, NULL};
  bool ok = true;
  for (int i = 0; i < options->num_checks && ok; i++)
    ok = tessera_arrays_read(&arrays, options->checks[i], out_error);
  ok = ok && take_all_expected(check, options, data, &arrays, out_error);
  tessera_arrays_destroy(&arrays);
  return ok;
}

//===--- comparing ------------------------------------------------------------===//

// "[2, 5]"
static void describe_index(const tessera_array_t *array, int64_t at, char *text, size_t size) {
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

static bool compare_output(tessera_run_check_t *check, const tessera_run_options_t *options, const char *what,
                           int number, const tessera_array_t *seen, const tessera_answer_t *expected,
                           tessera_error_t *out_error) {
  tessera_judgement_t judgement;
  char reason[512], where[256];
  bool by_default = !check->by_bounds;
  double rtol = options->rtol < 0 && by_default ? 1e-5 : options->rtol;
  double atol = options->atol < 0 && by_default ? 1e-8 : options->atol;
  if (!tessera_judge(seen, expected, rtol, atol, &judgement, out_error)) {
    snprintf(reason, sizeof reason, "%s", out_error->text);
    return tessera_fail(out_error, "%s %d %s", what, number, reason);
  }
  printf("%s%s%s %d: %s, largest error %.3g (relative %.3g)", check->label ? check->label : "",
         check->label ? ": " : "", what, number, judgement.right ? "right" : "wrong", judgement.max_absolute,
         judgement.max_relative);
  if (seen->count) {
    describe_index(seen, judgement.at, where, sizeof where);
    printf(", closest to its bound at %s: %.3g of %.3g", where, judgement.error_there, judgement.allowed);
  }
  printf("; %lld of %lld elements wrong\n", (long long)judgement.wrong, (long long)seen->count);
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
  for (int i = 0; output_value(data->signature, i, &is_argument, &index); i++) {
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
  for (int i = 0; check->asked && i < TESSERA_MAX_VALUES; i++) {
    tessera_answer_destroy(&check->arguments[i]);
    tessera_answer_destroy(&check->results[i]);
  }
}
