// call.c - packs arguments, calls, unpacks and releases results. See call.h.
// Expects: arrays that fit the signature. Leaves: nothing allocated but what it returns.
#include "lib/run/call.h"

#include "lib/runtime/tessera.h"
#include "lib/support/clock.h"
#include "lib/support/version.h"

#include <stdlib.h>
#include <string.h>

// A memref descriptor of any rank: allocated, aligned, offset, sizes, strides.
typedef struct descriptor_t {
  int64_t words[3 + 2 * TESSERA_MAX_RANK];
} descriptor_t;

static void describe(const tessera_array_t *array, descriptor_t *out_descriptor) {
  int64_t stride = 1;
  out_descriptor->words[0] = out_descriptor->words[1] = (int64_t)(intptr_t)array->data;
  out_descriptor->words[2] = 0;
  for (int i = array->rank - 1; i >= 0; --i) {
    out_descriptor->words[3 + i] = array->shape[i];
    out_descriptor->words[3 + array->rank + i] = stride;
    stride *= array->shape[i];
  }
}

//===--- results --------------------------------------------------------------===//

size_t tessera_result_offset(const tessera_signature_t *signature, int index) {
  size_t at = 0;
  for (int i = 0;; ++i) {
    const tessera_value_t *value = &signature->results[i];
    size_t align = value->in_memory ? 8 : (size_t)tessera_element_bytes(value->element);
    at = (at + align - 1) / align * align;
    if (i == index)
      return at;
    at += value->in_memory ? (size_t)(3 + 2 * value->rank) * 8 : align;
  }
}

static bool take_result(const tessera_value_t *value, const char *memory, tessera_array_t *out_array,
                        tessera_error_t *out_error) {
  int bytes = tessera_element_bytes(value->element);
  if (!value->in_memory) {
    if (!tessera_array_create(value->element, 0, NULL, out_array, out_error))
      return false;
    memcpy(out_array->data, memory, (size_t)bytes);
    return true;
  }
  int64_t words[sizeof(descriptor_t) / sizeof(int64_t)];
  memcpy(words, memory, (size_t)(3 + 2 * value->rank) * sizeof *words);
  if (!tessera_array_create(value->element, value->rank, words + 3, out_array, out_error))
    return false;
  out_array->packing = value->packing;
  tessera_copy_strided(out_array->data, (const char *)(intptr_t)words[1] + words[2] * bytes, value->rank, words + 3,
                       words + 3 + value->rank, bytes);
  return true;
}

static bool take_results(tessera_run_data_t *data, const char *memory, tessera_error_t *out_error) {
  for (int i = 0; i < data->signature->num_results; ++i) {
    tessera_array_destroy(&data->results[i]);
    if (!take_result(&data->signature->results[i], memory + tessera_result_offset(data->signature, i),
                     &data->results[i], out_error))
      return false;
  }
  return true;
}

// Releases what the call allocated. A program in buffers may return its argument, one buffer twice, or memory of
// another allocator: the arena's own list tells which results are to be released.
static void release_results(const tessera_signature_t *signature, const char *memory) {
  for (int i = 0; i < signature->num_results; ++i)
    if (signature->results[i].in_memory) {
      int64_t allocated;
      memcpy(&allocated, memory + tessera_result_offset(signature, i), sizeof allocated);
      tessera_arena_release(tessera_arena_entered(), (void *)(intptr_t)allocated);
    }
}

//===--- the calls ------------------------------------------------------------===//

static bool call_once(tessera_calls_t *calls, tessera_packed_t entry, void **packed, tessera_error_t *out_error) {
  int64_t launches = tessera_launch_count(), waits = tessera_host_waits();
  double start = tessera_milliseconds();
  bool ok = tessera_call(entry, packed, out_error);
  calls->times_ms[calls->count++] = tessera_milliseconds() - start;
  calls->launches = tessera_launch_count() - launches;
  calls->host_waits = tessera_host_waits() - waits;
  return ok;
}

static void forget_copies(const tessera_run_data_t *data, tessera_array_t *copies) {
  for (int i = 0; copies && i < data->signature->num_arguments; ++i)
    tessera_array_destroy(&copies[i]);
  free(copies);
}

// Memref arguments as they are before the first call, so that every call starts from the same.
static bool keep_arguments(const tessera_run_data_t *data, tessera_array_t **out_copies, tessera_error_t *out_error) {
  tessera_array_t *copies = *out_copies = calloc((size_t)data->signature->num_arguments + 1, sizeof *copies);
  if (!copies)
    return tessera_fail(out_error, "out of memory");
  for (int i = 0; i < data->signature->num_arguments; ++i) {
    const tessera_array_t *from = &data->arguments[i];
    if (!data->signature->arguments[i].is_memref)
      continue;
    if (!tessera_array_create(from->element, from->rank, from->shape, &copies[i], out_error))
      return false;
    memcpy(copies[i].data, from->data, (size_t)(from->count * tessera_element_bytes(from->element)));
  }
  return true;
}

static void restore_arguments(tessera_run_data_t *data, const tessera_array_t *copies) {
  for (int i = 0; i < data->signature->num_arguments; ++i)
    if (data->signature->arguments[i].is_memref)
      memcpy(data->arguments[i].data, copies[i].data,
             (size_t)(copies[i].count * tessera_element_bytes(copies[i].element)));
}

// What is called: `results` is the memory of a result struct, NULL when the results are buffers among `packed`.
typedef struct callee_t {
  tessera_packed_t entry;
  void **packed;
  void *results;
} callee_t;

static bool call_all(tessera_calls_t *calls, callee_t *callee, tessera_run_data_t *data, int64_t repeat,
                     tessera_error_t *out_error) {
  tessera_array_t *copies = NULL;
  bool ok = repeat == 1 || keep_arguments(data, &copies, out_error);
  while (calls->count < repeat && ok) {
    if (calls->count)
      restore_arguments(data, copies);
    ok = call_once(calls, callee->entry, callee->packed, out_error);
    if (ok && callee->results && calls->count == repeat)
      ok = take_results(data, callee->results, out_error);
    if (ok && callee->results)
      release_results(data->signature, callee->results);
  }
  forget_copies(data, copies);
  return ok;
}

// `descriptors`: one for each argument, then one for each result.
static void pack(const tessera_run_data_t *data, descriptor_t *descriptors, callee_t *callee) {
  const tessera_signature_t *signature = data->signature;
  int count = 0;
  if (callee->results && signature->num_results)
    callee->packed[count++] = callee->results;
  for (int i = 0; i < signature->num_arguments; ++i) {
    describe(&data->arguments[i], &descriptors[i]);
    callee->packed[count++] = signature->arguments[i].in_memory ? (void *)&descriptors[i] : data->arguments[i].data;
  }
  for (int i = 0; !callee->results && i < signature->num_results; ++i) {
    descriptor_t *descriptor = &descriptors[signature->num_arguments + i];
    describe(&data->results[i], descriptor);
    callee->packed[count++] = descriptor;
  }
}

//===--- memory of a device -----------------------------------------------------===//

// Arrays while they lie in the entered arena: where the caller has them.
typedef struct placed_t {
  void **arguments, **results; // one allocation
} placed_t;

static size_t bytes_of(const tessera_array_t *array) {
  return (size_t)array->count * (size_t)tessera_element_bytes(array->element);
}

static bool place_array(tessera_array_t *array, void **out_original, tessera_error_t *out_error) {
  void *memory = _mlir_memref_to_llvm_alloc(bytes_of(array));
  if (!memory)
    return tessera_fail(out_error, "the device has no memory for the arguments");
  memcpy(memory, array->data, bytes_of(array));
  *out_original = array->data;
  array->data = memory;
  return true;
}

// What the program may write goes back.
static void take_back(tessera_array_t *array, void *original, bool is_written) {
  if (!original)
    return;
  if (is_written)
    memcpy(original, array->data, bytes_of(array));
  _mlir_memref_to_llvm_free(array->data);
  array->data = original;
}

static bool place(tessera_run_data_t *data, bool places_results, placed_t *out_placed, tessera_error_t *out_error) {
  size_t arguments = (size_t)data->signature->num_arguments, results = (size_t)data->signature->num_results;
  out_placed->arguments = calloc(arguments + results + 1, sizeof *out_placed->arguments);
  out_placed->results = out_placed->arguments + (out_placed->arguments ? arguments : 0);
  bool ok = out_placed->arguments || tessera_fail(out_error, "out of memory");
  for (int i = 0; i < data->signature->num_arguments && ok; ++i)
    if (data->signature->arguments[i].in_memory)
      ok = place_array(&data->arguments[i], &out_placed->arguments[i], out_error);
  for (int i = 0; i < data->signature->num_results && ok && places_results; ++i)
    ok = place_array(&data->results[i], &out_placed->results[i], out_error);
  return ok;
}

static void take_all_back(tessera_run_data_t *data, placed_t *placed) {
  for (int i = 0; placed->arguments && i < data->signature->num_arguments; ++i)
    take_back(&data->arguments[i], placed->arguments[i], data->signature->arguments[i].is_memref);
  for (int i = 0; placed->arguments && i < data->signature->num_results; ++i)
    take_back(&data->results[i], placed->results[i], true);
  free(placed->arguments);
}

// On a thread that entered a device: everything in memory that both reach, and the device done at the end.
static bool call_on_device(tessera_device_t *device, tessera_calls_t *calls, callee_t *callee, tessera_run_data_t *data,
                           descriptor_t *descriptors, int64_t repeat, tessera_error_t *out_error) {
  placed_t placed = {NULL, NULL};
  bool ok = place(data, !callee->results, &placed, out_error);
  if (ok) {
    pack(data, descriptors, callee);
    ok = call_all(calls, callee, data, repeat, out_error);
  }
  ok = tessera_device_wait(device, ok ? out_error : NULL) && ok;
  take_all_back(data, &placed);
  return ok;
}

static bool run_in_arena(tessera_calls_t *calls, callee_t *callee, tessera_run_data_t *data, descriptor_t *descriptors,
                         int64_t repeat, tessera_error_t *out_error) {
  tessera_device_t *device = tessera_device_entered();
  // An arena of its own: what a call that fails had allocated goes with it.
  tessera_arena_t *arena = device ? tessera_device_arena(device) : tessera_arena_create();
  if (!arena)
    return tessera_fail(out_error, "out of memory");
  tessera_arena_t *outer = tessera_arena_enter(arena);
  bool ok;
  if (device) {
    ok = call_on_device(device, calls, callee, data, descriptors, repeat, out_error);
  } else {
    pack(data, descriptors, callee);
    ok = call_all(calls, callee, data, repeat, out_error);
  }
  tessera_arena_enter(outer);
  int64_t twice = tessera_arena_statistics(arena).double_releases;
  tessera_arena_destroy(arena);
  if (ok && twice)
    return tessera_fail(out_error, "the program released memory twice (%lld time%s)", (long long)twice,
                        twice == 1 ? "" : "s");
  return ok;
}

static bool run_callee(tessera_calls_t *out_calls, callee_t *callee, tessera_run_data_t *data, int64_t repeat,
                       tessera_error_t *out_error) {
  size_t values = (size_t)data->signature->num_arguments + (size_t)data->signature->num_results;
  *out_calls = (tessera_calls_t){.times_ms = calloc((size_t)repeat, sizeof *out_calls->times_ms)};
  descriptor_t *descriptors = calloc(values + 1, sizeof *descriptors);
  callee->packed = calloc(values + 1, sizeof *callee->packed);
  bool ok = (out_calls->times_ms && descriptors && callee->packed) || tessera_fail(out_error, "out of memory");
  ok = ok && run_in_arena(out_calls, callee, data, descriptors, repeat, out_error);
  free(callee->packed);
  free(descriptors);
  return ok;
}

bool tessera_calls_run(tessera_calls_t *out_calls, tessera_packed_t entry, tessera_run_data_t *data, int64_t repeat,
                       tessera_error_t *out_error) {
  callee_t callee = {entry, NULL, calloc((size_t)data->signature->num_results + 1, sizeof(descriptor_t))};
  bool ok = callee.results ? run_callee(out_calls, &callee, data, repeat, out_error)
                           : tessera_fail(out_error, "out of memory");
  free(callee.results);
  return ok;
}

// Gives the results their sizes, by one call of the other form; their contents go.
static bool size_results(tessera_packed_t entry, tessera_run_data_t *data, tessera_error_t *out_error) {
  tessera_calls_t calls = {.times_ms = NULL};
  tessera_array_t *copies = NULL;
  bool ok = keep_arguments(data, &copies, out_error) && tessera_calls_run(&calls, entry, data, 1, out_error);
  if (ok)
    restore_arguments(data, copies);
  for (int i = 0; i < data->signature->num_results && ok; ++i)
    memset(data->results[i].data, 0xff,
           (size_t)(data->results[i].count * tessera_element_bytes(data->results[i].element)));
  forget_copies(data, copies);
  tessera_calls_destroy(&calls);
  return ok;
}

bool tessera_calls_run_into(tessera_calls_t *out_calls, tessera_packed_t entry, tessera_packed_t entry_into,
                            tessera_run_data_t *data, int64_t repeat, tessera_error_t *out_error) {
  callee_t callee = {.entry = entry_into};
  return size_results(entry, data, out_error) && run_callee(out_calls, &callee, data, repeat, out_error);
}

void tessera_calls_destroy(tessera_calls_t *calls) {
  free(calls->times_ms);
  *calls = (tessera_calls_t){.times_ms = NULL};
}

//===--- statistics -----------------------------------------------------------===//

static int compare_times(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void tessera_calls_write_times(const tessera_calls_t *calls, tessera_json_t *json) {
  qsort(calls->times_ms, (size_t)calls->count, sizeof *calls->times_ms, compare_times);
  tessera_json_number(json, "time_ms_median", calls->times_ms[calls->count / 2]);
  tessera_json_number(json, "time_ms_min", calls->times_ms[0]);
  tessera_json_integer(json, "launches", calls->launches);
  tessera_json_integer(json, "host_waits", calls->host_waits);
}

void tessera_calls_write_manifest(const tessera_run_options_t *options, const char *pipeline, const char *compiler,
                                  tessera_json_t *json) {
  tessera_json_begin_object(json, "manifest");
  tessera_json_string(json, "file", options->file);
  tessera_json_string(json, "entry", options->entry);
  tessera_json_string(json, "target", options->targets[0]);
  if (pipeline)
    tessera_json_string(json, "pipeline", pipeline);
  tessera_json_integer(json, "seed", options->seed);
  tessera_json_integer(json, "repeat", options->repeat);
  tessera_json_integer(json, "threads", tessera_threads());
  tessera_version_write(json);
  tessera_json_string(json, "compiler", compiler);
  tessera_json_end(json);
}
