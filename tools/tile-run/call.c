// Packs arguments, calls, unpacks results. See call.h; the packed form is lib/jit/jit.h's.
#include "tools/tile-run/call.h"

#include "lib/runtime/tessera.h"
#include "lib/support/npy.h"
#include "lib/support/random.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DescriptorWords = 3 + 2 * TESSERA_MAX_RANK };

// A memref descriptor of any rank: allocated, aligned, offset, sizes, strides.
typedef struct Descriptor {
  int64_t words[DescriptorWords];
} Descriptor;

//===--- arguments ------------------------------------------------------------===//

static bool isDynamic(const ProgramValue *value) {
  for (int i = 0; i < value->rank; i++)
    if (value->shape[i] < 0)
      return true;
  return false;
}

static bool makeArgument(const ProgramValue *value, int index, const tessera_run_options_t *options,
                         tessera_array_t *out_array, tessera_error_t *error) {
  if (options->num_inputs) {
    char name[512];
    snprintf(name, sizeof name, "argument %d (%s)", index, options->inputs[index]);
    if (!tessera_npy_read(options->inputs[index], out_array, error))
      return false;
    return tessera_array_expect(out_array, name, value->element, value->rank, value->shape, error);
  }
  if (isDynamic(value))
    return tessera_fail(error, "argument %d has dynamic sizes: give every argument with --in", index);
  if (!tessera_array_create(value->element, value->rank, value->shape, out_array, error))
    return false;
  tessera_random_fill(out_array, (uint64_t)options->seed, (uint64_t)index);
  return true;
}

bool callPrepare(Call *call, const Program *program, const tessera_run_options_t *options, tessera_error_t *error) {
  *call = (Call){.program = program};
  if (options->num_inputs && options->num_inputs != program->numArguments)
    return tessera_fail(error, "'%s' takes %d arguments, --in gives %d", options->entry, program->numArguments,
                        options->num_inputs);
  int outputs = program->numResults;
  for (int i = 0; i < program->numArguments; i++)
    outputs += program->arguments[i].isMemref;
  if (options->num_outputs > outputs)
    return tessera_fail(error, "'%s' gives %d outputs, --out asks for %d", options->entry, outputs,
                        options->num_outputs);
  for (int i = 0; i < program->numArguments; i++)
    if (!makeArgument(&program->arguments[i], i, options, &call->arguments[i], error))
      return false;
  return true;
}

static void describe(const tessera_array_t *array, Descriptor *descriptor) {
  int64_t stride = 1;
  descriptor->words[0] = descriptor->words[1] = (int64_t)(intptr_t)array->data;
  descriptor->words[2] = 0;
  for (int i = array->rank - 1; i >= 0; i--) {
    descriptor->words[3 + i] = array->shape[i];
    descriptor->words[3 + array->rank + i] = stride;
    stride *= array->shape[i];
  }
}

//===--- results --------------------------------------------------------------===//

// Where result `index` lies in the struct of results, as C lays it out.
static size_t resultOffset(const Program *program, int index) {
  size_t at = 0;
  for (int i = 0;; i++) {
    const ProgramValue *value = &program->results[i];
    size_t align = value->isInMemory ? 8 : (size_t)tessera_element_bytes(value->element);
    at = (at + align - 1) / align * align;
    if (i == index)
      return at;
    at += value->isInMemory ? (size_t)(3 + 2 * value->rank) * 8 : align;
  }
}

static bool takeResult(const ProgramValue *value, const char *memory, tessera_array_t *out_array,
                       tessera_error_t *error) {
  int bytes = tessera_element_bytes(value->element);
  if (!value->isInMemory) {
    if (!tessera_array_create(value->element, 0, NULL, out_array, error))
      return false;
    memcpy(out_array->data, memory, (size_t)bytes);
    return true;
  }
  const int64_t *words = (const int64_t *)(const void *)memory;
  if (!tessera_array_create(value->element, value->rank, words + 3, out_array, error))
    return false;
  tessera_copy_strided(out_array->data, (const char *)(intptr_t)words[1] + words[2] * bytes, value->rank, words + 3,
                       words + 3 + value->rank, bytes);
  return true;
}

static bool takeResults(Call *call, const char *memory, tessera_error_t *error) {
  for (int i = 0; i < call->program->numResults; i++)
    if (!takeResult(&call->program->results[i], memory + resultOffset(call->program, i), &call->results[i], error))
      return false;
  return true;
}

static void releaseResults(const Program *program, const char *memory) {
  for (int i = 0; i < program->numResults; i++)
    if (program->results[i].isInMemory) {
      int64_t allocated;
      memcpy(&allocated, memory + resultOffset(program, i), sizeof allocated);
      tessera_release((void *)(intptr_t)allocated);
    }
}

//===--- the calls ------------------------------------------------------------===//

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

bool callRun(Call *call, int64_t repeat, tessera_error_t *error) {
  const Program *program = call->program;
  Descriptor *descriptors = calloc((size_t)program->numArguments + 1, sizeof *descriptors);
  char *results = calloc((size_t)program->numResults + 1, sizeof(Descriptor));
  call->timesMs = calloc((size_t)repeat, sizeof *call->timesMs);
  void *packed[MaxValues + 1];
  int count = 0;
  bool ok = (descriptors && results && call->timesMs) || tessera_fail(error, "out of memory");
  if (ok && program->numResults)
    packed[count++] = results;
  for (int i = 0; i < program->numArguments && ok; i++) {
    describe(&call->arguments[i], &descriptors[i]);
    packed[count++] = program->arguments[i].isInMemory ? (void *)&descriptors[i] : call->arguments[i].data;
  }
  // An arena of its own: what a call that fails had allocated goes with it.
  tessera_arena_t *arena = ok ? tessera_arena_create() : NULL, *outer = arena ? tessera_arena_enter(arena) : NULL;
  ok = ok && (arena || tessera_fail(error, "out of memory"));
  for (int64_t i = 0; i < repeat && ok; i++) {
    int64_t launches = tessera_launch_count();
    double start = milliseconds();
    ok = tessera_call(program->entry, packed, error);
    call->timesMs[i] = milliseconds() - start;
    call->launches = tessera_launch_count() - launches;
    if (ok && i == repeat - 1)
      ok = takeResults(call, results, error);
    if (ok)
      releaseResults(program, results);
  }
  if (arena) {
    tessera_arena_enter(outer);
    tessera_arena_destroy(arena);
  }
  free(descriptors);
  free(results);
  return ok;
}

bool callWriteOutputs(const Call *call, const tessera_run_options_t *options, tessera_error_t *error) {
  int written = 0;
  for (int i = 0; i < call->program->numResults && written < options->num_outputs; i++)
    if (!tessera_npy_write(options->outputs[written++], &call->results[i], error))
      return false;
  for (int i = 0; i < call->program->numArguments && written < options->num_outputs; i++)
    if (call->program->arguments[i].isMemref &&
        !tessera_npy_write(options->outputs[written++], &call->arguments[i], error))
      return false;
  return true;
}

void callDestroy(Call *call) {
  for (int i = 0; i < MaxValues; i++) {
    tessera_array_destroy(&call->arguments[i]);
    tessera_array_destroy(&call->results[i]);
  }
  free(call->timesMs);
}
