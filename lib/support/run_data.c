// run_data.c - what goes into a program and what comes out, between .npy files and arrays. See run_data.h.
// Expects: a signature. Leaves: arrays that the caller destroys, whatever failed.
#include "lib/support/run_data.h"

#include "lib/support/npy.h"
#include "lib/support/npz.h"
#include "lib/support/random.h"

static bool is_dynamic(const tessera_value_t *value) {
  for (int i = 0; i < value->rank; i++)
    if (value->shape[i] < 0)
      return true;
  return false;
}

// Takes the array out of the list.
static bool take_argument(const tessera_value_t *value, int index, tessera_named_array_t *from,
                          tessera_array_t *out_array, tessera_error_t *out_error) {
  char name[512];
  snprintf(name, sizeof name, "argument %d (%s)", index, from->name);
  *out_array = from->array;
  from->array.data = NULL;
  return tessera_array_expect(out_array, name, value->element, value->rank, value->shape, out_error);
}

static bool read_arguments(tessera_run_data_t *data, const tessera_run_options_t *options, tessera_error_t *out_error) {
  const tessera_signature_t *signature = data->signature;
  tessera_arrays_t arrays = {0, NULL};
  bool ok = true;
  for (int i = 0; i < options->num_inputs && ok; i++)
    ok = tessera_arrays_read(&arrays, options->inputs[i], out_error);
  if (ok && arrays.count != signature->num_arguments)
    ok = tessera_fail(out_error, "'%s' takes %d arguments, --in gives %d", options->entry, signature->num_arguments,
                      arrays.count);
  for (int i = 0; i < signature->num_arguments && ok; i++)
    ok = take_argument(&signature->arguments[i], i, &arrays.items[i], &data->arguments[i], out_error);
  tessera_arrays_destroy(&arrays);
  return ok;
}

static bool make_argument(const tessera_value_t *value, int index, int64_t seed, tessera_array_t *out_array,
                          tessera_error_t *out_error) {
  if (is_dynamic(value))
    return tessera_fail(out_error, "argument %d has dynamic sizes: give every argument with --in", index);
  if (!tessera_array_create(value->element, value->rank, value->shape, out_array, out_error))
    return false;
  tessera_random_fill(out_array, (uint64_t)seed, (uint64_t)index);
  return true;
}

static bool check_outputs(const tessera_signature_t *signature, const tessera_run_options_t *options,
                          tessera_error_t *out_error) {
  int outputs = signature->num_results;
  for (int i = 0; i < signature->num_arguments; i++)
    outputs += signature->arguments[i].is_memref;
  if (options->num_outputs > outputs)
    return tessera_fail(out_error, "'%s' gives %d outputs, --out asks for %d", options->entry, outputs,
                        options->num_outputs);
  for (int i = 0; i + 1 < options->num_outputs; i++)
    if (tessera_path_is_npz(options->outputs[i]))
      return tessera_fail(out_error, "--out=%s takes all outputs that are left: it must be the last --out",
                          options->outputs[i]);
  return true;
}

bool tessera_run_data_prepare(tessera_run_data_t *out_data, const tessera_signature_t *signature,
                              const tessera_run_options_t *options, tessera_error_t *out_error) {
  *out_data = (tessera_run_data_t){.signature = signature};
  bool ok = check_outputs(signature, options, out_error);
  if (ok && options->num_inputs)
    return read_arguments(out_data, options, out_error);
  for (int i = 0; i < signature->num_arguments && ok; i++)
    ok = make_argument(&signature->arguments[i], i, options->seed, &out_data->arguments[i], out_error);
  return ok;
}

typedef struct outputs_t {
  int count;
  char names[2 * TESSERA_MAX_VALUES][24];
  const char *name[2 * TESSERA_MAX_VALUES];
  const tessera_array_t *array[2 * TESSERA_MAX_VALUES];
} outputs_t;

static void add_output(outputs_t *outputs, const char *what, int index, const tessera_array_t *array) {
  int i = outputs->count++;
  snprintf(outputs->names[i], sizeof outputs->names[i], "%s%d", what, index);
  outputs->name[i] = outputs->names[i];
  outputs->array[i] = array;
}

bool tessera_run_data_write(const tessera_run_data_t *data, const tessera_run_options_t *options,
                            tessera_error_t *out_error) {
  const tessera_signature_t *signature = data->signature;
  outputs_t outputs = {.count = 0};
  for (int i = 0; i < signature->num_results; i++)
    add_output(&outputs, "result", i, &data->results[i]);
  for (int i = 0; i < signature->num_arguments; i++)
    if (signature->arguments[i].is_memref)
      add_output(&outputs, "argument", i, &data->arguments[i]);
  bool ok = true;
  for (int i = 0; i < options->num_outputs && ok; i++)
    ok = tessera_path_is_npz(options->outputs[i])
             ? tessera_npz_write(options->outputs[i], outputs.count - i, outputs.name + i, outputs.array + i, out_error)
             : tessera_npy_write(options->outputs[i], outputs.array[i], out_error);
  return ok;
}

void tessera_run_data_destroy(tessera_run_data_t *data) {
  for (int i = 0; i < TESSERA_MAX_VALUES; i++) {
    tessera_array_destroy(&data->arguments[i]);
    tessera_array_destroy(&data->results[i]);
  }
}
