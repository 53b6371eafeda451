// run_data.c - arguments and outputs of a run, between files and arrays. See run_data.h.
// Expects: a signature. Leaves: arrays that the caller destroys, also after an error.
#include "lib/support/run_data.h"

#include "lib/support/npy/npy.h"
#include "lib/support/npy/npz.h"
#include "lib/support/npy/sparse_npz.h"
#include "lib/support/random.h"

static int count_dynamic(const tessera_value_t *value) {
  int count = 0;
  for (int i = 0; i < value->rank; ++i)
    count += value->shape[i] < 0;
  return count;
}

// Takes the array out of the list.
static bool take_value(const char *name, const tessera_value_t *value, tessera_named_array_t *from,
                       tessera_array_t *out_array, tessera_error_t *out_error) {
  char full[512];
  snprintf(full, sizeof full, "%s (%s)", name, from->name);
  *out_array = from->array;
  from->array.data = NULL;
  return tessera_array_expect(out_array, full, value->element, value->rank, value->shape, &value->packing, out_error);
}

typedef struct taken_t {
  int values, tensors; // so far; a sparse tensor is several values. `tensors` also counts those beyond the last value
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
    ok = value->sparse.num_values
             ? tessera_fail(out_error, "%s is a tensor of %s; it requires a .npz of its own, not %s", name,
                            value->sparse.encoding, arrays.items[i].name)
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
          tessera_fail(out_error, "'%s' has %d arguments; --in gives %d", options->entry, wanted, given));
}

//===--- random arguments ---===//

static bool check_sizes(const tessera_signature_t *signature, const tessera_run_options_t *options,
                        tessera_error_t *out_error) {
  int count = 0;
  for (int i = 0; i < signature->num_arguments; ++i)
    count += count_dynamic(&signature->arguments[i]);
  return options->num_sizes <= 1 || options->num_sizes == count ||
         tessera_fail(out_error, "--size is given %d times; the arguments of '%s' have %d dynamic sizes: give 1 or %d",
                      options->num_sizes, options->entry, count, count);
}

// The shape of a random argument. `*next` counts the dynamic sizes so far.
static void choose_shape(const tessera_value_t *value, const tessera_run_options_t *options, int *next,
                         int64_t *out_shape) {
  for (int i = 0; i < value->rank; ++i) {
    out_shape[i] = value->shape[i];
    if (value->shape[i] >= 0)
      continue;
    int position = options->num_sizes > 1 ? *next : 0;
    out_shape[i] = options->num_sizes ? options->sizes[position] : options->default_size;
    ++*next;
  }
}

static bool make_argument(const tessera_value_t *value, int index, const tessera_run_options_t *options, int *next,
                          tessera_array_t *out_array, tessera_error_t *out_error) {
  int64_t shape[TESSERA_MAX_RANK];
  if (value->sparse.num_values)
    return tessera_fail(out_error, "argument %d is sparse: give every argument with --in", index);
  if (count_dynamic(value) && !options->num_sizes && !options->default_size)
    return tessera_fail(out_error, "argument %d has dynamic sizes: give every argument with --in, or --size", index);
  choose_shape(value, options, next, shape);
  if (!tessera_array_create(value->element, value->rank, shape, out_array, out_error))
    return false;
  out_array->packing = value->packing;
  tessera_random_fill(out_array, (uint64_t)options->seed, (uint64_t)index);
  return true;
}

static bool make_arguments(tessera_run_data_t *data, const tessera_run_options_t *options, tessera_error_t *out_error) {
  const tessera_signature_t *signature = data->signature;
  int next = 0;
  bool ok = check_sizes(signature, options, out_error);
  for (int i = 0; i < signature->num_arguments && ok; ++i)
    ok = make_argument(&signature->arguments[i], i, options, &next, &data->arguments[i], out_error);
  data->num_default_sizes = options->num_sizes ? 0 : next;
  return ok;
}

void tessera_run_data_note_sizes(const tessera_run_data_t *data, const tessera_run_options_t *options,
                                 const char *tool) {
  if (data->num_default_sizes)
    fprintf(stderr, "%s: note: %d dynamic size%s of the arguments: %lld (--size=N changes this)\n", tool,
            data->num_default_sizes, data->num_default_sizes == 1 ? "" : "s", (long long)options->default_size);
}

//===--- outputs ----------------------------------------------------------------===//

// Results in order, then memref arguments.
typedef struct outputs_t {
  int count;
  char (*names)[24];
  const char **name;
  const tessera_value_t **value;
  const tessera_array_t **array; // a sparse tensor has several: the first
} outputs_t;

static void forget_outputs(outputs_t *outputs) {
  free(outputs->names);
  free(outputs->name);
  free(outputs->value);
  free(outputs->array);
}

static void add_output(outputs_t *outputs, const char *what, int index, const tessera_value_t *value,
                       const tessera_array_t *array) {
  int i = outputs->count++;
  snprintf(outputs->names[i], sizeof outputs->names[i], "%s%d", what, index);
  outputs->name[i] = outputs->names[i];
  outputs->value[i] = value;
  outputs->array[i] = array;
}

// The caller forgets them, also after an error.
static bool list_outputs(const tessera_run_data_t *data, outputs_t *out_outputs, tessera_error_t *out_error) {
  const tessera_signature_t *signature = data->signature;
  size_t most = (size_t)signature->num_results + (size_t)signature->num_arguments + 1;
  *out_outputs = (outputs_t){.names = calloc(most, sizeof *out_outputs->names),
                             .name = calloc(most, sizeof *out_outputs->name),
                             .value = calloc(most, sizeof *out_outputs->value),
                             .array = calloc(most, sizeof *out_outputs->array)};
  if (!out_outputs->names || !out_outputs->name || !out_outputs->value || !out_outputs->array)
    return tessera_fail(out_error, "out of memory");
  for (int i = 0; i < signature->num_results; i += tessera_value_span(&signature->results[i]))
    add_output(out_outputs, "result", out_outputs->count, &signature->results[i], &data->results[i]);
  for (int i = 0, number = 0; i < signature->num_arguments; i += tessera_value_span(&signature->arguments[i]), ++number)
    if (signature->arguments[i].is_memref)
      add_output(out_outputs, "argument", number, &signature->arguments[i], &data->arguments[i]);
  return true;
}

// A .npz takes all remaining outputs, or one sparse tensor.
static bool check_output(const outputs_t *outputs, const tessera_run_options_t *options, int number,
                         tessera_error_t *out_error) {
  const char *path = options->outputs[number];
  if (outputs->value[number]->sparse.num_values)
    return tessera_path_is_npz(path) ||
           tessera_fail(out_error, "--out=%s: %s is a tensor of %s; it requires a .npz", path, outputs->name[number],
                        outputs->value[number]->sparse.encoding);
  if (!tessera_path_is_npz(path))
    return true;
  for (int i = number + 1; i < outputs->count; ++i)
    if (outputs->value[i]->sparse.num_values)
      return tessera_fail(out_error,
                          "--out=%s takes all remaining outputs; %s is sparse and requires a .npz of its own", path,
                          outputs->name[i]);
  return number + 1 == options->num_outputs ||
         tessera_fail(out_error, "--out=%s takes all remaining outputs; it must be the last --out", path);
}

static bool check_outputs(const tessera_run_data_t *data, const tessera_run_options_t *options,
                          tessera_error_t *out_error) {
  outputs_t outputs;
  bool ok =
      list_outputs(data, &outputs, out_error) &&
      (options->num_outputs <= outputs.count || tessera_fail(out_error, "'%s' gives %d outputs, --out asks for %d",
                                                             options->entry, outputs.count, options->num_outputs));
  for (int i = 0; i < options->num_outputs && ok; ++i)
    ok = check_output(&outputs, options, i, out_error);
  forget_outputs(&outputs);
  return ok;
}

bool tessera_run_data_create(tessera_run_data_t *out_data, const tessera_signature_t *signature,
                             tessera_error_t *out_error) {
  size_t arguments = (size_t)signature->num_arguments, results = (size_t)signature->num_results;
  tessera_array_t *arrays = calloc(arguments + results + 1, sizeof *arrays);
  *out_data = (tessera_run_data_t){signature, arrays, arrays ? arrays + arguments : NULL, 0};
  return arrays || tessera_fail(out_error, "out of memory");
}

bool tessera_run_data_prepare(tessera_run_data_t *out_data, const tessera_signature_t *signature,
                              const tessera_run_options_t *options, tessera_error_t *out_error) {
  bool ok = tessera_run_data_create(out_data, signature, out_error) && check_outputs(out_data, options, out_error);
  if (ok && options->num_inputs && options->num_sizes)
    return tessera_fail(out_error, "--size applies only to random arguments; --in gives the arguments of '%s'",
                        options->entry);
  if (ok && options->num_inputs)
    return read_arguments(out_data, options, out_error);
  return ok && make_arguments(out_data, options, out_error);
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
  bool ok = list_outputs(data, &outputs, out_error);
  for (int i = 0; i < options->num_outputs && ok; ++i)
    ok = write_output(&outputs, i, options->outputs[i], out_error);
  forget_outputs(&outputs);
  return ok;
}

void tessera_run_data_destroy(tessera_run_data_t *data) {
  for (int i = 0; data->arguments && i < data->signature->num_arguments; ++i)
    tessera_array_destroy(&data->arguments[i]);
  for (int i = 0; data->arguments && i < data->signature->num_results; ++i)
    tessera_array_destroy(&data->results[i]);
  free(data->arguments);
  data->arguments = data->results = NULL;
}
