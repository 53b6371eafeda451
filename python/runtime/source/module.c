// module.c - tessera_runtime._runtime: programs as objects that are called on arrays. See docs/python.md.
// Expects: a build with lib/run, lib/runtime and lib/support inside, whose symbols can be found: programs call them.
// Leaves: nothing of a caller's after a call; a program is unloaded with its last reference.
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
} object_t;

//===--- one call ---------------------------------------------------------------------===//

typedef struct descriptor_t {
  int64_t words[3 + 2 * TESSERA_MAX_RANK]; // allocated, aligned, offset, sizes, strides
} descriptor_t;

// Arguments and, where the caller gave buffers, results; the rest is what the program sees of them.
typedef struct call_t {
  const tessera_signature_t *signature;
  bool is_into;
  int count; // of values borrowed so far
  borrowed_t *values;
  descriptor_t *descriptors;
  void **packed;
  char *results; // the struct of results, where the program allocates them
} call_t;

static void call_end(call_t *call) {
  for (int i = 0; i < call->count; ++i)
    array_give_back(&call->values[i]);
  free(call->values);
  free(call->descriptors);
  free(call->packed);
  free(call->results);
}

static bool call_begin(call_t *call, const tessera_signature_t *signature, bool is_into) {
  size_t results = (size_t)signature->num_results, values = (size_t)signature->num_arguments + results + 1;
  *call = (call_t){signature,
                   is_into,
                   0,
                   malloc(values * sizeof(borrowed_t)),
                   malloc(values * sizeof(descriptor_t)),
                   malloc(values * sizeof(void *)),
                   malloc((results + 1) * sizeof(descriptor_t))};
  if (call->values && call->descriptors && call->packed && call->results)
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
    if (!array_borrow(PyTuple_GetItem(tuple, i), &types[i], name, &call->values[call->count]))
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

static void describe(const borrowed_t *value, int rank, descriptor_t *descriptor) {
  int64_t stride = 1;
  descriptor->words[0] = descriptor->words[1] = (int64_t)(intptr_t)value->data;
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
    describe(&call->values[i], type->rank, &call->descriptors[i]);
    call->packed[count++] = type->in_memory ? (void *)&call->descriptors[i] : call->values[i].data;
  }
}

// Without the GIL. What a call that fails had allocated stays in its arena, which therefore ends with it.
static bool run(object_t *self, call_t *call) {
  shared_arena_t *shared = self->shared;
  tessera_error_t error;
  ++shared->references;
  PyThreadState *state = PyEval_SaveThread();
  tessera_arena_t *outer = tessera_arena_enter(shared->arena);
  bool ok = tessera_call(call->is_into ? self->program.entry_into : self->program.entry, call->packed, &error);
  tessera_arena_enter(outer);
  PyEval_RestoreThread(state);
  if (!ok && self->shared == shared) {
    shared_arena_t *fresh = shared_arena_create();
    if (fresh) {
      self->shared = fresh;
      shared_arena_release(shared);
    }
    PyErr_Clear();
  }
  if (!ok)
    PyErr_SetString(runtime_error, error.text);
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

static PyObject *take_result(shared_arena_t *shared, const tessera_value_t *type, const char *memory) {
  if (!type->in_memory)
    return number_from(type->element, memory);
  int64_t words[sizeof(descriptor_t) / sizeof(int64_t)];
  memcpy(words, memory, (size_t)(3 + 2 * type->rank) * sizeof *words);
  if (type->is_memref && !copy_result(shared, type, words))
    return NULL;
  return memory_create(shared, type->element, type->rank, words);
}

static PyObject *take_results(object_t *self, shared_arena_t *shared, const call_t *call) {
  const tessera_signature_t *signature = &self->program.signature;
  PyObject *tuple = PyTuple_New(signature->num_results);
  for (int i = 0; i < signature->num_results && tuple; ++i) {
    PyObject *result = take_result(shared, &signature->results[i], call->results + tessera_result_offset(signature, i));
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
  pack(call);
  return true;
}

// call(arrays, out): both tuples; out may be None.
static PyObject *object_call(PyObject *object, PyObject *arguments) {
  object_t *self = (object_t *)object;
  PyObject *arrays, *outs, *results = NULL;
  if (!PyArg_ParseTuple(arguments, "O!O", &PyTuple_Type, &arrays, &outs))
    return NULL;
  bool is_into = outs != Py_None;
  if (is_into && !self->program.entry_into)
    return PyErr_Format(PyExc_TypeError, "out: the program has no results");
  call_t call;
  shared_arena_t *shared = self->shared;
  ++shared->references;
  if (call_begin(&call, &self->program.signature, is_into) && prepare(self, &call, arrays, is_into ? outs : NULL) &&
      run(self, &call)) {
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

// For the attribute `program` of xla_handler's calls.
static PyObject *object_address(PyObject *self, void *unused) {
  (void)unused;
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
  tessera_program_unload(&self->program);
  PyObject_Free(object);
  Py_DECREF(type);
}

static PyTypeObject *program_type;

static bool add_program_type(PyObject *module) {
  static PyMethodDef methods[] = {{"call", object_call, METH_VARARGS, "call(arrays, out): out may be None."},
                                  {NULL, NULL, 0, NULL}};
  static PyGetSetDef fields[] = {
      {"inputs", object_inputs, NULL, "(element, sizes, is a memref) of each argument.", NULL},
      {"outputs", object_outputs, NULL, "(element, sizes, is a memref) of each result.", NULL},
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

static PyObject *module_load(PyObject *module, PyObject *arguments) {
  (void)module;
  const char *path, *entry;
  if (!PyArg_ParseTuple(arguments, "ss", &path, &entry))
    return NULL;
  object_t *self = PyObject_New(object_t, program_type);
  if (!self)
    return NULL;
  self->program = (tessera_program_t){.library = NULL};
  self->shared = shared_arena_create();
  tessera_error_t error;
  if (self->shared && !tessera_program_load(&self->program, path, entry, &error))
    PyErr_SetString(runtime_error, error.text);
  else if (self->shared && self->program.manifest->images)
    PyErr_Format(runtime_error, "%s: has kernels for GPUs, which tile-exec runs; this package runs programs of CPUs",
                 path);
  if (!PyErr_Occurred())
    return (PyObject *)self;
  Py_DECREF(self);
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
      {"load", module_load, METH_VARARGS, "load(path, entry): a Program."},
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
