// run_data.c - what goes into a program and what comes out, between .npy files and arrays. See run_data.h.
// Expects: a signature. Leaves: arrays that the caller destroys, whatever failed.
#include "lib/support/run_data.h"

#include "lib/support/npy.h"
#include "lib/support/random.h"

static bool is_dynamic(const tessera_value_t *value) {
  for (int i = 0; i < value->rank; i++)
    if (value->shape[i] < 0)
      return true;
  return false;
}

static bool read_argument(const tessera_value_t *value, int index, const char *path, tessera_array_t *out_array,
                          tessera_error_t *out_error) {
  char name[512];
  snprintf(name, sizeof name, "argument %d (%s)", index, path);
  if (!tessera_npy_read(path, out_array, out_error))
    return false;
  return tessera_array_expect(out_array, name, value->element, value->rank, value->shape, out_error);
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

static bool check_counts(const tessera_signature_t *signature, const tessera_run_options_t *options,
                         tessera_error_t *out_error) {
  if (options->num_inputs && options->num_inputs != signature->num_arguments)
    return tessera_fail(out_error, "'%s' takes %d arguments, --in gives %d", options->entry, signature->num_arguments,
                        options->num_inputs);
  int outputs = signature->num_results;
  for (int i = 0; i < signature->num_arguments; i++)
    outputs += signature->arguments[i].is_memref;
  if (options->num_outputs > outputs)
    return tessera_fail(out_error, "'%s' gives %d outputs, --out asks for %d", options->entry, outputs,
                        options->num_outputs);
  return true;
}

bool tessera_run_data_prepare(tessera_run_data_t *out_data, const tessera_signature_t *signature,
                              const tessera_run_options_t *options, tessera_error_t *out_error) {
  *out_data = (tessera_run_data_t){.signature = signature};
  bool ok = check_counts(signature, options, out_error);
  for (int i = 0; i < signature->num_arguments && ok; i++) {
    const tessera_value_t *value = &signature->arguments[i];
    tessera_array_t *array = &out_data->arguments[i];
    ok = options->num_inputs ? read_argument(value, i, options->inputs[i], array, out_error)
                             : make_argument(value, i, options->seed, array, out_error);
  }
  return ok;
}

bool tessera_run_data_write(const tessera_run_data_t *data, const tessera_run_options_t *options,
                            tessera_error_t *out_error) {
  const tessera_signature_t *signature = data->signature;
  int written = 0;
  for (int i = 0; i < signature->num_results && written < options->num_outputs; i++)
    if (!tessera_npy_write(options->outputs[written++], &data->results[i], out_error))
      return false;
  for (int i = 0; i < signature->num_arguments && written < options->num_outputs; i++)
    if (signature->arguments[i].is_memref &&
        !tessera_npy_write(options->outputs[written++], &data->arguments[i], out_error))
      return false;
  return true;
}

void tessera_run_data_destroy(tessera_run_data_t *data) {
  for (int i = 0; i < TESSERA_MAX_VALUES; i++) {
    tessera_array_destroy(&data->arguments[i]);
    tessera_array_destroy(&data->results[i]);
  }
}
