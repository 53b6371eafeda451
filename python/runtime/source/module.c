// module.c - tessera_runtime._runtime: programs as objects that are called on arrays. See docs/python.md.
// Expects: a build with lib/run, lib/runtime and lib/support inside, whose symbols can be found: programs call them.
// Leaves: nothing of a caller's after a call; a program is unloaded with its last reference. (One with code for GPUs
// stays loaded: the device keeps its kernels and constants by their addresses.)
#include "lib/run/program_file.h"
#include "lib/runtime/tessera.h"
#include "lib/support/f16.h"
#include "python/runtime/source/arrays.h"
#include "python/runtime/source/xla.h"

#include <pthread.h>
#include <string.h>

static PyObject *runtime_error; // tessera_runtime.Error
static bool was_forked;         // this is a child: the pool's threads stayed with the parent

typedef struct object_t {
  PyObject_HEAD tessera_program_t program;
  shared_arena_t *shared;
  place_t *place;
} object_t;

//===--- one call ---------------------------------------------------------------------===//

typedef struct descriptor_t {
  int64_t words[3 + 2 * TESSERA_MAX_RANK]; // allocated, aligned, offset, sizes, strides
} descriptor_t;

// Arguments and, where the caller gave buffers, results; the rest is what the program sees of them.
typedef struct call_t {
  const tessera_signature_t *signature;
  place_t *place;
  tessera_stream_t stream; // that a GPU's work goes to; 0: the device's own, and the call waits for it
  bool is_into;
  int count; // of values borrowed so far
  borrowed_t *values;
  void **staged; // of each value its copy in memory that host and device reach; NULL: the value itself is used
  descriptor_t *descriptors;
  void **packed;
  bool is_result_on_device, is_done; // is all work of the call done?
  char *results;                     // the struct of results, where the program allocates them
} call_t;

static void call_end(call_t *call) {
  for (int i = 0; i < call->count; ++i)
    array_give_back(&call->values[i]);
  free(call->values);
  free(call->staged);
  free(call->descriptors);
  free(call->packed);
  free(call->results);
}

static bool call_begin(call_t *call, const object_t *self, tessera_stream_t stream, bool is_into) {
  const tessera_signature_t *signature = &self->program.signature;
  size_t results = (size_t)signature->num_results, values = (size_t)signature->num_arguments + results + 1;
  *call = (call_t){.signature = signature,
                   .place = self->place,
                   .stream = self->place->device ? stream : 0,
                   .is_into = is_into,
                   .values = malloc(values * sizeof(borrowed_t)),
                   .staged = calloc(values, sizeof(void *)),
                   .descriptors = malloc(values * sizeof(descriptor_t)),
                   .packed = malloc(values * sizeof(void *)),
                   .results = malloc((results + 1) * sizeof(descriptor_t))};
  if (call->values && call->staged && call->descriptors && call->packed && call->results)
    return true;
  PyErr_NoMemory();
  return false;
}

static bool count_is(PyObject *tuple, int wanted, const char *what) {
  Py_ssize_t seen = PyTuple_Size(tuple);
  if (seen == wanted)
    return true;
  if (!PyErr_Occurred())
    PyErr_Format(PyExc_TypeError, "the program takes %d %s%s, not %zd", wanted, what, wanted == 1 ? "" : "s", seen);
  return false;
}

static bool borrow_all(call_t *call, PyObject *tuple, const tessera_value_t *types, int count, const char *what) {
  for (int i = 0; i < count; ++i) {
    char name[32];
    snprintf(name, sizeof name, "%s %d", what, i);
    if (!array_borrow(PyTuple_GetItem(tuple, i), &types[i], name, call->place, call->stream,
                      &call->values[call->count]))
      return false;
    ++call->count;
  }
  return true;
}

//===--- memory that the program may write ------------------------------------------------===//

// JAX's arrays do not change, though they lend their memory without saying so.
static bool is_immutable(PyObject *object) {
  PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__module__");
  PyObject *bytes = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8String(module) : NULL;
  const char *name = bytes ? PyBytes_AsString(bytes) : "";
  bool is_it = strncmp(name, "jax", 3) == 0;
  Py_XDECREF(module);
  Py_XDECREF(bytes);
  PyErr_Clear();
  return is_it;
}

static bool overlap(const borrowed_t *a, const borrowed_t *b) {
  const char *x = a->data, *y = b->data;
  return a->holder && b->holder && x < y + b->bytes && y < x + a->bytes;
}

// "argument 2" or "out 0".
static const char *name_of(const call_t *call, int index, char *text, size_t size) {
  int arguments = call->signature->num_arguments;
  snprintf(text, size, "%s %d", index < arguments ? "argument" : "out", index < arguments ? index : index - arguments);
  return text;
}

static bool check_written(const call_t *call, int index, PyObject *object) {
  char name[32], other[32];
  if (call->values[index].is_read_only || is_immutable(object)) {
    PyErr_Format(PyExc_TypeError, "%s is read-only; the program writes it", name_of(call, index, name, sizeof name));
    return false;
  }
  for (int i = 0; i < call->count; ++i)
    if (i != index && overlap(&call->values[index], &call->values[i])) {
      PyErr_Format(PyExc_ValueError, "%s, which the program writes, overlaps %s",
                   name_of(call, index, name, sizeof name), name_of(call, i, other, sizeof other));
      return false;
    }
  return true;
}

static bool check_all_written(const call_t *call, PyObject *arrays, PyObject *outs) {
  int arguments = call->signature->num_arguments;
  for (int i = 0; i < arguments; ++i)
    if (call->signature->arguments[i].is_memref && !check_written(call, i, PyTuple_GetItem(arrays, i)))
      return false;
  for (int i = arguments; i < call->count; ++i)
    if (!check_written(call, i, PyTuple_GetItem(outs, i - arguments)))
      return false;
  return true;
}

//===--- calling --------------------------------------------------------------------------===//

static void describe(const borrowed_t *value, void *data, int rank, descriptor_t *descriptor) {
  int64_t stride = 1;
  descriptor->words[0] = descriptor->words[1] = (int64_t)(intptr_t)data;
  descriptor->words[2] = 0;
  for (int i = rank - 1; i >= 0; --i) {
    descriptor->words[3 + i] = value->shape[i];
    descriptor->words[3 + rank + i] = stride;
    stride *= value->shape[i];
  }
}

static void pack(call_t *call) {
  const tessera_signature_t *signature = call->signature;
  int count = 0;
  if (!call->is_into && signature->num_results)
    call->packed[count++] = call->results;
  for (int i = 0; i < call->count; ++i) {
    bool is_argument = i < signature->num_arguments;
    const tessera_value_t *type =
        is_argument ? &signature->arguments[i] : &signature->results[i - signature->num_arguments];
    describe(&call->values[i], call->staged[i] ? call->staged[i] : call->values[i].data, type->rank,
             &call->descriptors[i]);
    call->packed[count++] = type->in_memory ? (void *)&call->descriptors[i] : call->values[i].data;
  }
}

static bool pack_and_call(call_t *call, tessera_packed_t entry, tessera_error_t *error) {
  pack(call);
  return tessera_call(entry, call->packed, error);
}

//===--- on a GPU -------------------------------------------------------------------------===//

// Is value `index` written by the program?
static bool is_written(const call_t *call, int index) {
  return index >= call->signature->num_arguments || call->signature->arguments[index].is_memref;
}

// Copies in what the device does not reach, and what the host's part touches and does not reach.
static bool stage(call_t *call, bool host_touches, tessera_error_t *error) {
  for (int i = 0; i < call->count; ++i) {
    const borrowed_t *value = &call->values[i];
    if (!value->holder || (value->device_reaches && (value->host_reaches || !host_touches)))
      continue;
    call->staged[i] = _mlir_memref_to_llvm_alloc(value->bytes); // no stream is entered: nobody uses it any more
    if (!call->staged[i])
      return tessera_fail(error, "out of memory on the device: %zu bytes", value->bytes);
    if (value->host_reaches)
      memcpy(call->staged[i], value->data, value->bytes);
  }
  return true;
}

// In the order of the stream.
static bool copy_staged(call_t *call, bool back, tessera_error_t *error) {
  for (int i = 0; i < call->count; ++i) {
    const borrowed_t *value = &call->values[i];
    bool is_copied = call->staged[i] && !value->host_reaches && (!back || is_written(call, i));
    void *to = back ? value->data : call->staged[i], *from = back ? call->staged[i] : value->data;
    if (is_copied && !tessera_device_copy(call->place->device, to, from, value->bytes, error))
      return false;
  }
  return true;
}

static void give_to_host(call_t *call) {
  for (int i = 0; i < call->count; ++i)
    if (call->staged[i] && call->values[i].host_reaches && is_written(call, i))
      memcpy(call->values[i].data, call->staged[i], call->values[i].bytes);
}

// Does the caller look at memory that the host reaches when the call returns?
static bool must_wait(const call_t *call) {
  bool waits = !call->stream || (call->signature->num_results && !call->is_into && !call->is_result_on_device);
  for (int i = 0; i < call->count; ++i)
    waits |= call->staged[i] && call->values[i].host_reaches && is_written(call, i);
  return waits;
}

static bool call_on_stream(object_t *self, call_t *call, tessera_packed_t entry, tessera_error_t *error) {
  tessera_device_t *outer = tessera_device_enter(call->place->device);
  bool ok = copy_staged(call, false, error) && pack_and_call(call, entry, error) && copy_staged(call, true, error);
  if (!ok || must_wait(call)) {
    tessera_error_t second;
    ok = tessera_device_wait(call->place->device, ok ? error : &second) && ok;
    tessera_stream_done(self->shared->arena, call->stream);
    call->is_done = true;
  }
  tessera_device_enter(outer);
  return ok;
}

static bool run_on_device(object_t *self, call_t *call, tessera_packed_t entry, tessera_error_t *error) {
  const tessera_entry_t *record = self->program.record;
  pthread_mutex_lock(&call->place->lock);
  bool ok = stage(call, call->is_into ? record->host_access_into : record->host_access, error);
  tessera_stream_t outer = tessera_stream_enter(call->stream);
  ok = ok && call_on_stream(self, call, entry, error);
  if (ok)
    give_to_host(call);
  tessera_stream_enter(call->is_done ? 0 : call->stream);
  for (int i = 0; i < call->count; ++i)
    if (call->staged[i])
      tessera_release(call->staged[i]);
  tessera_stream_enter(outer);
  pthread_mutex_unlock(&call->place->lock);
  return ok;
}

// A call that fails may leave what it had allocated, so the arena ends with it.
static void replace_arena(object_t *self, shared_arena_t *shared) {
  shared_arena_t *fresh = self->shared == shared ? shared_arena_create(self->place) : NULL;
  if (fresh) {
    self->shared = fresh;
    shared_arena_release(shared);
  }
  PyErr_Clear();
}

// Without the GIL.
static bool run(object_t *self, call_t *call) {
  shared_arena_t *shared = self->shared;
  tessera_packed_t entry = call->is_into ? self->program.entry_into : self->program.entry;
  tessera_error_t error;
  ++shared->references;
  PyThreadState *state = PyEval_SaveThread();
  tessera_arena_t *outer = tessera_arena_enter(shared->arena);
  bool ok = call->place->device ? run_on_device(self, call, entry, &error) : pack_and_call(call, entry, &error);
  tessera_arena_enter(outer);
  PyEval_RestoreThread(state);
  if (!ok) {
    replace_arena(self, shared);
    PyErr_SetString(runtime_error, error.text);
  }
  shared_arena_release(shared);
  return ok;
}

//===--- results --------------------------------------------------------------------------===//

static PyObject *number_from(tessera_element_t element, const void *memory) {
  int64_t bits = 0;
  memcpy(&bits, memory, (size_t)tessera_element_bytes(element));
  float narrow;
  memcpy(&narrow, &bits, sizeof narrow);
  double wide;
  memcpy(&wide, &bits, sizeof wide);
  switch (element) {
  case TESSERA_BOOL:
    return PyBool_FromLong(bits != 0);
  case TESSERA_I8:
    return PyLong_FromLong((int8_t)bits);
  case TESSERA_I16:
    return PyLong_FromLong((int16_t)bits);
  case TESSERA_I32:
    return PyLong_FromLong((int32_t)bits);
  case TESSERA_I64:
    return PyLong_FromLongLong(bits);
  case TESSERA_F16:
    return PyFloat_FromDouble(tessera_f16_to_f32((uint16_t)bits));
  case TESSERA_BF16:
    return PyFloat_FromDouble(tessera_bf16_to_f32((uint16_t)bits));
  case TESSERA_F32:
    return PyFloat_FromDouble(narrow);
  case TESSERA_F64:
    return PyFloat_FromDouble(wide);
  default: // unsigned integers, and the bits of f8
    return PyLong_FromUnsignedLongLong((uint64_t)bits);
  }
}

// A program in buffers may return its argument, one buffer twice, or memory of another allocator: such a result is
// copied, and released only where the arena has it.
static bool copy_result(shared_arena_t *shared, const tessera_value_t *type, int64_t *words) {
  int64_t count = 1, stride = 1, bytes = tessera_element_bytes(type->element);
  for (int i = 0; i < type->rank; ++i)
    count *= words[3 + i];
  tessera_arena_t *outer = tessera_arena_enter(shared->arena);
  char *copy = _mlir_memref_to_llvm_alloc((size_t)(count * bytes));
  tessera_arena_enter(outer);
  if (!copy) {
    PyErr_NoMemory();
    return false;
  }
  tessera_copy_strided(copy, (const char *)(intptr_t)words[1] + words[2] * bytes, type->rank, words + 3,
                       words + 3 + type->rank, (int)bytes);
  tessera_arena_release(shared->arena, (void *)(intptr_t)words[0]);
  words[0] = words[1] = (int64_t)(intptr_t)copy;
  words[2] = 0;
  for (int i = type->rank - 1; i >= 0; --i) {
    words[3 + type->rank + i] = stride;
    stride *= words[3 + i];
  }
  return true;
}

static PyObject *take_result(shared_arena_t *shared, const call_t *call, const tessera_value_t *type,
                             const char *memory) {
  if (!type->in_memory)
    return number_from(type->element, memory);
  int64_t words[sizeof(descriptor_t) / sizeof(int64_t)];
  memcpy(words, memory, (size_t)(3 + 2 * type->rank) * sizeof *words);
  if (type->is_memref && !copy_result(shared, type, words))
    return NULL;
  return memory_create(shared, type->element, type->rank, words, call->is_result_on_device,
                       call->is_done ? 0 : call->stream);
}

static PyObject *take_results(object_t *self, shared_arena_t *shared, const call_t *call) {
  const tessera_signature_t *signature = &self->program.signature;
  PyObject *tuple = PyTuple_New(signature->num_results);
  for (int i = 0; i < signature->num_results && tuple; ++i) {
    PyObject *result =
        take_result(shared, call, &signature->results[i], call->results + tessera_result_offset(signature, i));
    if (!result || PyTuple_SetItem(tuple, i, result) < 0) {
      Py_DECREF(tuple);
      tuple = NULL;
    }
  }
  return tuple;
}

//===--- Program -----------------------------------------------------------------------------===//

static bool prepare(object_t *self, call_t *call, PyObject *arrays, PyObject *outs) {
  const tessera_signature_t *signature = &self->program.signature;
  if (was_forked) {
    PyErr_SetString(runtime_error, "this process was forked after tessera_runtime was imported, and the threads that "
                                   "run programs stayed with its parent; start processes by 'spawn'");
    return false;
  }
  if (!count_is(arrays, signature->num_arguments, "argument") ||
      (outs && !count_is(outs, signature->num_results, "array in out")) ||
      !borrow_all(call, arrays, signature->arguments, signature->num_arguments, "argument") ||
      (outs && !borrow_all(call, outs, signature->results, signature->num_results, "out")) ||
      !check_all_written(call, arrays, outs))
    return false;
  return true;
}

// Results are the first array's kind: on the device where that is.
static bool is_first_on_device(const call_t *call) {
  const borrowed_t *first = NULL;
  for (int i = 0; i < call->count && !first; ++i)
    first = call->values[i].holder ? &call->values[i] : NULL;
  return call->place->device && call->stream && (!first || first->device_reaches);
}

// call(arrays, out, stream): both tuples; out may be None, the stream is 0 or a handle.
static PyObject *object_call(PyObject *object, PyObject *arguments) {
  object_t *self = (object_t *)object;
  PyObject *arrays, *outs, *results = NULL;
  unsigned long long stream = 0;
  if (!PyArg_ParseTuple(arguments, "O!O|K", &PyTuple_Type, &arrays, &outs, &stream))
    return NULL;
  bool is_into = outs != Py_None;
  if (is_into && !self->program.entry_into)
    return PyErr_Format(PyExc_TypeError, "out: the program has no results");
  call_t call;
  shared_arena_t *shared = self->shared;
  ++shared->references;
  bool ok = call_begin(&call, self, stream, is_into) && prepare(self, &call, arrays, is_into ? outs : NULL);
  call.is_result_on_device = ok && is_first_on_device(&call);
  if (ok && run(self, &call)) {
    results = is_into ? outs : take_results(self, shared, &call);
    if (is_into)
      Py_INCREF(results);
  }
  call_end(&call);
  shared_arena_release(shared);
  return results;
}

// (element, sizes with None where dynamic, is a memref) of each.
static PyObject *types_from(const tessera_value_t *types, int count) {
  PyObject *tuple = PyTuple_New(count);
  for (int i = 0; i < count && tuple; ++i) {
    PyObject *sizes = PyTuple_New(types[i].rank);
    for (int k = 0; k < types[i].rank && sizes; ++k) {
      PyObject *size = types[i].shape[k] < 0 ? Py_BuildValue("") : PyLong_FromLongLong(types[i].shape[k]);
      PyTuple_SetItem(sizes, k, size);
    }
    PyObject *type =
        Py_BuildValue("(sNO)", tessera_element_name(types[i].element), sizes, types[i].is_memref ? Py_True : Py_False);
    if (!type || PyTuple_SetItem(tuple, i, type) < 0) {
      Py_DECREF(tuple);
      return NULL;
    }
  }
  return tuple;
}

static PyObject *sizes_tuple(const int64_t *sizes, int count) {
  PyObject *tuple = PyTuple_New(count);
  for (int i = 0; i < count && tuple; ++i) {
    PyObject *size = PyLong_FromLongLong(sizes[i]);
    if (!size || PyTuple_SetItem(tuple, i, size) < 0) {
      Py_DECREF(tuple);
      return NULL;
    }
  }
  return tuple;
}

// (index of the first value, format, components, sizes, block, unordered) of each sparse tensor.
static PyObject *sparse_from(const tessera_value_t *types, int count) {
  PyObject *list = PyList_New(0);
  for (int i = 0; i < count && list; i += tessera_value_span(&types[i])) {
    const tessera_sparse_t *sparse = &types[i].sparse;
    if (!sparse->num_values)
      continue;
    PyObject *one =
        Py_BuildValue("(isiNNO)", i, sparse->format, sparse->num_components, sizes_tuple(sparse->shape, sparse->rank),
                      sizes_tuple(sparse->cell, 2), sparse->is_unordered ? Py_True : Py_False);
    if (!one || PyList_Append(list, one) < 0) {
      Py_DECREF(list);
      list = NULL;
    }
    Py_XDECREF(one);
  }
  return list;
}

static PyObject *object_sparse_inputs(PyObject *self, void *unused) {
  (void)unused;
  const tessera_signature_t *signature = &((object_t *)self)->program.signature;
  return sparse_from(signature->arguments, signature->num_arguments);
}

static PyObject *object_sparse_outputs(PyObject *self, void *unused) {
  (void)unused;
  const tessera_signature_t *signature = &((object_t *)self)->program.signature;
  return sparse_from(signature->results, signature->num_results);
}

static PyObject *object_inputs(PyObject *self, void *unused) {
  (void)unused;
  const tessera_signature_t *signature = &((object_t *)self)->program.signature;
  return types_from(signature->arguments, signature->num_arguments);
}

static PyObject *object_outputs(PyObject *self, void *unused) {
  (void)unused;
  const tessera_signature_t *signature = &((object_t *)self)->program.signature;
  return types_from(signature->results, signature->num_results);
}

// "cuda:0"; None: it runs on the CPU.
static PyObject *object_device(PyObject *self, void *unused) {
  (void)unused;
  const place_t *place = ((object_t *)self)->place;
  return place->device ? PyUnicode_FromFormat("%s:%d", place_kind(place), place->ordinal) : Py_BuildValue("");
}

// For the attribute `program` of xla_handler's calls.
static PyObject *object_address(PyObject *self, void *unused) {
  (void)unused;
  if (((object_t *)self)->place->device)
    return PyErr_Format(runtime_error, "the program has kernels for GPUs; XLA's calls are of programs for the CPU");
  return PyLong_FromVoidPtr(&((object_t *)self)->program);
}

static PyObject *object_manifest(PyObject *self, void *unused) {
  (void)unused;
  const tessera_manifest_t *manifest = ((object_t *)self)->program.manifest;
  return Py_BuildValue("{s:s,s:s,s:s,s:s,s:s,s:L}", "compiler", manifest->compiler, "target", manifest->target, "chip",
                       manifest->chip, "needs", manifest->needs, "pipeline", manifest->pipeline, "fallback_ops",
                       (long long)manifest->fallback_ops);
}

static void object_delete(PyObject *object) {
  object_t *self = (object_t *)object;
  PyTypeObject *type = Py_TYPE(object);
  shared_arena_release(self->shared);
  if (!self->place->device)
    tessera_program_unload(&self->program);
  PyObject_Free(object);
  Py_DECREF(type);
}

static PyTypeObject *program_type;

static bool add_program_type(PyObject *module) {
  static PyMethodDef methods[] = {{"call", object_call, METH_VARARGS, "call(arrays, out, stream=0): out may be None."},
                                  {NULL, NULL, 0, NULL}};
  static PyGetSetDef fields[] = {
      {"inputs", object_inputs, NULL, "(element, sizes, is a memref) of each argument.", NULL},
      {"outputs", object_outputs, NULL, "(element, sizes, is a memref) of each result.", NULL},
      {"sparse_inputs", object_sparse_inputs, NULL, "What sparse arguments are, in order.", NULL},
      {"sparse_outputs", object_sparse_outputs, NULL, "What sparse results are, in order.", NULL},
      {"device", object_device, NULL, "The GPU that it runs on, or None.", NULL},
      {"address", object_address, NULL, "Where the program is, for xla_handler.", NULL},
      {"manifest", object_manifest, NULL, "What the program says of itself.", NULL},
      {NULL, NULL, NULL, NULL, NULL}};
  static PyType_Slot slots[] = {{Py_tp_doc, "An entry of a compiled program."},
                                {Py_tp_dealloc, object_delete},
                                {Py_tp_methods, methods},
                                {Py_tp_getset, fields},
                                {0, NULL}};
  static PyType_Spec spec = {"tessera_runtime._runtime.Program", sizeof(object_t), 0, Py_TPFLAGS_DEFAULT, slots};
  program_type = (PyTypeObject *)PyType_FromSpec(&spec);
  if (!program_type)
    return false;
  Py_INCREF(program_type);
  return PyModule_AddObject(module, "Program", (PyObject *)program_type) == 0;
}

//===--- the module ------------------------------------------------------------------------------===//

// Results in buffers of a GPU's program could be anybody's memory, which the host may not reach.
static bool returns_memref(const tessera_signature_t *signature) {
  for (int i = 0; i < signature->num_results; ++i)
    if (signature->results[i].is_memref)
      return true;
  return false;
}

// Where it runs; false with an exception.
static bool find_place(object_t *self, const char *path, const char *device) {
  const tessera_manifest_t *manifest = self->program.manifest;
  tessera_error_t error;
  place_t *place = manifest->images ? place_for(manifest, device, &error) : &place_cpu;
  if (!place)
    PyErr_Format(runtime_error, "%s: %s", path, error.text);
  else if (device && place == &place_cpu)
    PyErr_Format(runtime_error, "%s: has no code for GPUs; load it without a device", path);
  else if (place->device && returns_memref(&self->program.signature))
    PyErr_Format(runtime_error,
                 "%s: entry '%s' returns a memref, which programs for GPUs cannot do here; return a tensor", path,
                 self->program.record->name);
  else
    self->place = place;
  return !PyErr_Occurred();
}

static PyObject *module_load(PyObject *module, PyObject *arguments) {
  (void)module;
  const char *path, *entry, *device;
  if (!PyArg_ParseTuple(arguments, "ssz", &path, &entry, &device))
    return NULL;
  object_t *self = PyObject_New(object_t, program_type);
  if (!self)
    return NULL;
  tessera_error_t error;
  self->program = (tessera_program_t){.library = NULL};
  self->shared = NULL;
  self->place = &place_cpu;
  if (!tessera_program_load(&self->program, path, entry, &error))
    PyErr_SetString(runtime_error, error.text);
  else if (find_place(self, path, device) && (self->shared = shared_arena_create(self->place)))
    return (PyObject *)self;
  Py_DECREF(self);
  return NULL;
}

static PyObject *module_chip(PyObject *module, PyObject *arguments) {
  (void)module;
  const char *device;
  tessera_error_t error;
  if (!PyArg_ParseTuple(arguments, "s", &device))
    return NULL;
  const place_t *place = place_open(device, &error);
  if (place)
    return PyUnicode_FromString(tessera_device_info(place->device)->chip);
  PyErr_SetString(runtime_error, error.text);
  return NULL;
}

static PyObject *module_set_threads(PyObject *module, PyObject *arguments) {
  (void)module;
  int threads;
  if (!PyArg_ParseTuple(arguments, "i", &threads))
    return NULL;
  PyThreadState *state = PyEval_SaveThread(); // waits for running grids
  bool ok = tessera_set_threads(threads);
  PyEval_RestoreThread(state);
  return ok ? Py_BuildValue("") : PyErr_Format(runtime_error, "the number of threads cannot be set to %d", threads);
}

static PyObject *module_xla_handler(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyCapsule_New(xla_handler(), "xla._CUSTOM_CALL_TARGET", NULL);
}

static void note_fork(void) { was_forked = true; }

PyMODINIT_FUNC PyInit__runtime(void);

PyMODINIT_FUNC PyInit__runtime(void) {
  static PyMethodDef functions[] = {
      {"load", module_load, METH_VARARGS, "load(path, entry, device): a Program; device may be None."},
      {"chip", module_chip, METH_VARARGS, "chip(device): \"sm_90\" of \"cuda:0\"."},
      {"xla_handler", module_xla_handler, METH_NOARGS, "A capsule for jax.ffi.register_ffi_target."},
      {"set_threads", module_set_threads, METH_VARARGS, "set_threads(count): 0 is all that the process may use."},
      {NULL, NULL, 0, NULL}};
  static struct PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "_runtime", "Compiled programs.", -1, functions, NULL, NULL, NULL, NULL};
  PyObject *module = PyModule_Create(&definition);
  if (!module)
    return NULL;
  runtime_error = PyErr_NewException("tessera_runtime.Error", NULL, NULL);
  Py_XINCREF(runtime_error);
  if (pthread_atfork(NULL, NULL, note_fork) != 0)
    PyErr_NoMemory();
  else if (runtime_error && PyModule_AddObject(module, "Error", runtime_error) == 0 && add_program_type(module) &&
           memory_add_type(module))
    return module;
  Py_DECREF(module);
  return NULL;
}
