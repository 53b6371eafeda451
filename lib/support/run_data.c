// run_data.c - what goes into a program and what comes out, between .npy files and arrays. See run_data.h.
// Expects: a signature. Leaves: arrays that the caller destroys, whatever failed.
#include "lib/support/run_data.h"

#include "lib/support/npy.h"
#include "lib/support/npz.h"
#include "lib/support/random.h"
#include "lib/support/sparse_npz.h"

static bool is_dynamic(const tessera_value_t *value) {
  for (int i = 0; i < value->rank; ++i)
    if (value->shape[i] < 0)
      return true;
  return false;
}

// Takes the array out of the list.
static bool take_value(const char *name, const tessera_value_t *value, tessera_named_array_t *from,
                       tessera_array_t *out_array, tessera_error_t *out_error) {
  char full[512];
  snprintf(full, sizeof full, "%s (%s)", name, from->name);
  *out_array = from->array;
  from->array.data = NULL;
  return tessera_array_expect(out_array, full, value->element, value->rank, value->shape, out_error);
}

typedef struct taken_t {
  int values, tensors; // so far; a sparse tensor is several values. Of those given beyond the last only the number
} taken_t;

// The arrays of a file for the values that are next.
static bool take_arrays(const char *what, const char *path, int num_values, const tessera_value_t *values,
                        tessera_array_t *out_arrays, taken_t *taken, tessera_error_t *out_error) {
  tessera_arrays_t arrays = {0, NULL};
  bool ok = tessera_arrays_read(&arrays, path, out_error);
  for (int i = 0; i < arrays.count && ok; ++i, ++taken->tensors, ++taken->values) {
    char name[64];
    const tessera_value_t *value = &values[taken->values];
    if (taken->values >= num_values)
      continue;
    snprintf(name, sizeof name, "%s %d", what, taken->tensors);
    ok = value->sparse.num_values ? tessera_fail(out_error, "%s is a tensor of %s: wanted a .npz of its own, not %s",
                                                 name, value->sparse.encoding, arrays.items[i].name)
                                  : take_value(name, value, &arrays.items[i], &out_arrays[taken->values], out_error);
  }
  tessera_arrays_destroy(&arrays);
  return ok;
}

bool tessera_values_read(const char *what, int num_files, const char *const *files, int num_values,
                         const tessera_value_t *values, tessera_array_t *out_arrays, int *out_tensors,
                         tessera_error_t *out_error) {
  taken_t taken = {0, 0};
  bool ok = true;
  for (int i = 0; i < num_files && ok; ++i) {
    const tessera_value_t *value = &values[taken.values];
    if (taken.values >= num_values || !value->sparse.num_values) {
      ok = take_arrays(what, files[i], num_values, values, out_arrays, &taken, out_error);
      continue;
    }
    char name[64];
    snprintf(name, sizeof name, "%s %d", what, taken.tensors++);
    ok = tessera_sparse_read(files[i], name, value, &out_arrays[taken.values], out_error);
    taken.values += value->sparse.num_values;
  }
  *out_tensors = taken.tensors;
  return ok;
}

static int count_tensors(int num_values, const tessera_value_t *values) {
  int count = 0;
  for (int i = 0; i < num_values; i += tessera_value_span(&values[i]))
    ++count;
  return count;
}

static bool read_arguments(tessera_run_data_t *data, const tessera_run_options_t *options, tessera_error_t *out_error) {
  const tessera_signature_t *signature = data->signature;
  int given, wanted = count_tensors(signature->num_arguments, signature->arguments);
  return tessera_values_read("argument", options->num_inputs, options->inputs, signature->num_arguments,
                             signature->arguments, data->arguments, &given, out_error) &&
         (given == wanted ||
          tessera_fail(out_error, "'%s' takes %d arguments, --in gives %d", options->entry, wanted, given));
}

static bool make_argument(const tessera_value_t *value, int index, int64_t seed, tessera_array_t *out_array,
                          tessera_error_t *out_error) {
  if (value->sparse.num_values)
    return tessera_fail(out_error, "argument %d is sparse: give every argument with --in", index);
  if (is_dynamic(value))
    return tessera_fail(out_error, "argument %d has dynamic sizes: give every argument with --in", index);
  if (!tessera_array_create(value->element, value->rank, value->shape, out_array, out_error))
    return false;
  tessera_random_fill(out_array, (uint64_t)seed, (uint64_t)index);
  return true;
}

//===--- outputs ----------------------------------------------------------------===//

// Results in order, then memref arguments.
typedef struct outputs_t {
  int count;
  char names[2 * TESSERA_MAX_VALUES][24];
  const char *name[2 * TESSERA_MAX_VALUES];
  const tessera_value_t *value[2 * TESSERA_MAX_VALUES];
  const tessera_array_t *array[2 * TESSERA_MAX_VALUES]; // of a sparse tensor the first of several
} outputs_t;

static void add_output(outputs_t *outputs, const char *what, int index, const tessera_value_t *value,
                       const tessera_array_t *array) {
  int i = outputs->count++;
  snprintf(outputs->names[i], sizeof outputs->names[i], "%s%d", what, index);
  outputs->name[i] = outputs->names[i];
  outputs->value[i] = value;
  outputs->array[i] = array;
}

static void list_outputs(const tessera_run_data_t *data, outputs_t *out_outputs) {
  const tessera_signature_t *signature = data->signature;
  out_outputs->count = 0;
  for (int i = 0; i < signature->num_results; i += tessera_value_span(&signature->results[i]))
    add_output(out_outputs, "result", out_outputs->count, &signature->results[i], &data->results[i]);
  for (int i = 0, number = 0; i < signature->num_arguments; i += tessera_value_span(&signature->arguments[i]), ++number)
    if (signature->arguments[i].is_memref)
      add_output(out_outputs, "argument", number, &signature->arguments[i], &data->arguments[i]);
}

// A .npz takes all that are left, but for a sparse tensor only that.
static bool check_output(const outputs_t *outputs, const tessera_run_options_t *options, int number,
                         tessera_error_t *out_error) {
  const char *path = options->outputs[number];
  if (outputs->value[number]->sparse.num_values)
    return tessera_path_is_npz(path) ||
           tessera_fail(out_error, "--out=%s: %s is a tensor of %s, which travels as .npz", path, outputs->name[number],
                        outputs->value[number]->sparse.encoding);
  if (!tessera_path_is_npz(path))
    return true;
  for (int i = number + 1; i < outputs->count; ++i)
    if (outputs->value[i]->sparse.num_values)
      return tessera_fail(out_error,
                          "--out=%s takes all outputs that are left, but %s is sparse: it needs a .npz of its own",
                          path, outputs->name[i]);
  return number + 1 == options->num_outputs ||
         tessera_fail(out_error, "--out=%s takes all outputs that are left: it must be the last --out", path);
}

static bool check_outputs(const tessera_run_data_t *data, const tessera_run_options_t *options,
                          tessera_error_t *out_error) {
  outputs_t outputs;
  list_outputs(data, &outputs);
  bool ok = options->num_outputs <= outputs.count || tessera_fail(out_error, "'%s' gives %d outputs, --out asks for %d",
                                                                  options->entry, outputs.count, options->num_outputs);
  for (int i = 0; i < options->num_outputs && ok; ++i)
    ok = check_output(&outputs, options, i, out_error);
  return ok;
}

bool tessera_run_data_prepare(tessera_run_data_t *out_data, const tessera_signature_t *signature,
                              const tessera_run_options_t *options, tessera_error_t *out_error) {
  *out_data = (tessera_run_data_t){.signature = signature};
  bool ok = check_outputs(out_data, options, out_error);
  if (ok && options->num_inputs)
    return read_arguments(out_data, options, out_error);
  for (int i = 0; i < signature->num_arguments && ok; ++i)
    ok = make_argument(&signature->arguments[i], i, options->seed, &out_data->arguments[i], out_error);
  return ok;
}

static bool write_output(const outputs_t *outputs, int number, const char *path, tessera_error_t *out_error) {
  if (outputs->value[number]->sparse.num_values)
    return tessera_sparse_write(path, outputs->value[number], outputs->array[number], out_error);
  if (!tessera_path_is_npz(path))
    return tessera_npy_write(path, outputs->array[number], out_error);
  return tessera_npz_write(path, outputs->count - number, outputs->name + number, outputs->array + number, out_error);
}

bool tessera_run_data_write(const tessera_run_data_t *data, const tessera_run_options_t *options,
                            tessera_error_t *out_error) {
  outputs_t outputs;
  bool ok = true;
  list_outputs(data, &outputs);
  for (int i = 0; i < options->num_outputs && ok; ++i)
    ok = write_output(&outputs, i, options->outputs[i], out_error);
  return ok;
}

void tessera_run_data_destroy(tessera_run_data_t *data) {
  for (int i = 0; i < TESSERA_MAX_VALUES; ++i) {
    tessera_array_destroy(&data->arguments[i]);
    tessera_array_destroy(&data->results[i]);
  }
}
