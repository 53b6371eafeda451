// arrays.c - DLPack, numpy's array interface and the buffer protocol. See arrays.h.
// Expects: the GIL. Leaves: nothing borrowed after array_give_back.
#include "python/runtime/source/arrays.h"

#include "lib/support/f16.h"
#include "python/runtime/source/dlpack.h"

#include <string.h>

// numpy's type string of every element, which for bf16 and f8 is that of the bits.
static const char *const type_strings[] = {
#define X(name, enumerator, bytes, npy) npy,
    TESSERA_ELEMENT_TYPES(X)
#undef X
};

static uint8_t code_of(tessera_element_t element) {
  switch (element) {
  case TESSERA_BF16:
    return DL_BFLOAT;
  case TESSERA_F8E4M3FN:
    return DL_F8E4M3FN;
  case TESSERA_F8E5M2:
    return DL_F8E5M2;
  case TESSERA_F8E8M0FNU:
    return DL_F8E8M0FNU;
  default:
    switch (type_strings[element][1]) {
    case 'b':
      return DL_BOOL;
    case 'u':
      return DL_UINT;
    case 'f':
      return DL_FLOAT;
    default:
      return DL_INT;
    }
  }
}

static bool is_carried(tessera_element_t element) { return element >= TESSERA_BF16; }

static bool is_f8(tessera_element_t element) { return element >= TESSERA_F8E4M3FN; }

// What ml_dtypes and PyTorch call the elements that numpy lacks.
static const char *name_in_libraries(tessera_element_t element) {
  return element == TESSERA_BF16        ? "bfloat16"
         : element == TESSERA_F8E4M3FN  ? "float8_e4m3fn"
         : element == TESSERA_F8E5M2    ? "float8_e5m2"
         : element == TESSERA_F8E8M0FNU ? "float8_e8m0fnu"
                                        : "";
}

// The text of `object` in UTF-8, for PyBytes_AsString; NULL, without an exception, where it has none.
static PyObject *text_of(PyObject *object) {
  PyObject *text = object ? PyObject_Str(object) : NULL, *bytes = text ? PyUnicode_AsUTF8String(text) : NULL;
  Py_XDECREF(text);
  PyErr_Clear();
  return bytes;
}

//===--- what every borrowed array must fulfil ------------------------------------===//

static bool refuse_type(const char *name, const char *seen, const tessera_value_t *type) {
  PyErr_Format(PyExc_TypeError, "%s has elements of type %s; the program takes %s%s%s", name, seen,
               tessera_element_name(type->element), is_carried(type->element) ? " or its bits, " : "",
               is_carried(type->element) ? type_strings[type->element] + 1 : "");
  return false;
}

// Rank and static sizes as in the type, strides (in elements, NULL: C order) that are those of C order.
static bool check_shape(const char *name, const tessera_value_t *type, int64_t rank, const int64_t *shape,
                        const int64_t *strides, borrowed_t *borrowed) {
  if (rank != type->rank) {
    PyErr_Format(PyExc_ValueError, "%s has %lld dimensions; the program takes %d", name, (long long)rank, type->rank);
    return false;
  }
  int64_t count = 1;
  for (int i = 0; i < type->rank; ++i) {
    if (shape[i] < 0 || (type->shape[i] >= 0 && shape[i] != type->shape[i])) {
      PyErr_Format(PyExc_ValueError, "%s: dimension %d has size %lld; the program takes %lld", name, i,
                   (long long)shape[i], (long long)type->shape[i]);
      return false;
    }
    borrowed->shape[i] = shape[i];
    count *= shape[i];
  }
  int64_t wanted = 1;
  for (int i = type->rank - 1; i >= 0 && strides && count; --i) {
    if (shape[i] != 1 && strides[i] != wanted) {
      PyErr_Format(PyExc_ValueError,
                   "%s is not in C order: dimension %d has a stride of %lld elements, expected %lld "
                   "(numpy.ascontiguousarray copies it)",
                   name, i, (long long)strides[i], (long long)wanted);
      return false;
    }
    wanted *= shape[i];
  }
  borrowed->bytes = (size_t)count * (size_t)tessera_element_bytes(type->element);
  return true;
}

static bool check_address(const char *name, const tessera_value_t *type, const borrowed_t *borrowed) {
  uintptr_t bytes = (uintptr_t)tessera_element_bytes(type->element);
  if (borrowed->bytes && !borrowed->data) {
    PyErr_Format(PyExc_ValueError, "%s has no memory", name);
    return false;
  }
  if (borrowed->bytes && (uintptr_t)borrowed->data % bytes) {
    PyErr_Format(PyExc_ValueError, "%s is not aligned to its elements of %d bytes", name, (int)bytes);
    return false;
  }
  return true;
}

//===--- DLPack -------------------------------------------------------------------===//

static bool check_element(const char *name, const tessera_value_t *type, const dl_tensor_t *tensor) {
  int bits = 8 * tessera_element_bytes(type->element);
  bool is_it = tensor->code == code_of(type->element) || (is_carried(type->element) && tensor->code == DL_UINT);
  if (is_it && tensor->bits == bits && tensor->lanes == 1)
    return true;
  static const char *const codes[] = {"i", "ui", "f", "opaque", "bf", "complex", "bool"};
  char seen[32];
  snprintf(seen, sizeof seen, "%s%d", tensor->code < sizeof codes / sizeof *codes ? codes[tensor->code] : "f8, code ",
           tensor->code < sizeof codes / sizeof *codes ? tensor->bits : tensor->code);
  return refuse_type(name, seen, type);
}

// Who reaches the memory; no program copies from a device that is not its own.
static bool check_device(const dl_tensor_t *tensor, const char *name, const place_t *place, borrowed_t *borrowed) {
  bool is_pinned = tensor->device_type == DL_CUDA_HOST || tensor->device_type == DL_ROCM_HOST;
  bool is_managed = tensor->device_type == DL_CUDA_MANAGED;
  bool is_on_it = place->device && tensor->device_type == place->type && tensor->device_id == place->ordinal;
  borrowed->host_reaches = tensor->device_type == DL_CPU || is_pinned || is_managed;
  borrowed->device_reaches = is_on_it || is_managed;
  if (borrowed->host_reaches || borrowed->device_reaches)
    return true;
  if (place->device)
    PyErr_Format(PyExc_TypeError, "%s lies on device %d of DLPack's type %d; this program runs on %s:%d", name,
                 (int)tensor->device_id, (int)tensor->device_type, place_kind(place), place->ordinal);
  else
    PyErr_Format(PyExc_TypeError, "%s lies in the memory of a device (DLPack's type %d); this program runs on the CPU",
                 name, (int)tensor->device_type);
  return false;
}

static bool take_tensor(const dl_tensor_t *tensor, const tessera_value_t *type, const char *name, const place_t *place,
                        borrowed_t *borrowed) {
  if (!check_device(tensor, name, place, borrowed))
    return false;
  borrowed->data = (char *)tensor->data + tensor->byte_offset;
  return check_element(name, type, tensor) &&
         check_shape(name, type, tensor->rank, tensor->shape, tensor->strides, borrowed) &&
         check_address(name, type, borrowed);
}

// PyTorch's method is Python code and takes longer than all else of a call; its function in C makes the same capsule of
// a tensor that has neither gradients nor signs to come. Both stay null until a program has imported PyTorch.
static PyObject *torch_tensor, *torch_to_dlpack;

static void find_torch(void) {
  PyObject *modules = PySys_GetObject("modules");
  bool is_dict = modules && PyDict_Check(modules);
  PyObject *torch = is_dict ? PyDict_GetItemString(modules, "torch") : NULL;
  PyObject *dlpack = torch ? PyDict_GetItemString(modules, "torch.utils.dlpack") : NULL;
  if (!dlpack)
    return;
  PyObject *tensor = PyObject_GetAttrString(torch, "Tensor"), *convert = PyObject_GetAttrString(dlpack, "to_dlpack");
  if (tensor && convert) {
    torch_tensor = tensor;
    torch_to_dlpack = convert;
    return;
  }
  PyErr_Clear();
  Py_XDECREF(tensor);
  Py_XDECREF(convert);
}

static bool is_plain_tensor(PyObject *object) {
  if (!torch_tensor)
    find_torch();
  if ((PyObject *)Py_TYPE(object) != torch_tensor)
    return false;
  PyObject *gradient = PyObject_GetAttrString(object, "requires_grad");
  PyObject *sign = gradient == Py_False ? PyObject_CallMethod(object, "is_neg", NULL) : NULL;
  bool is_plain = sign == Py_False;
  Py_XDECREF(gradient);
  Py_XDECREF(sign);
  PyErr_Clear();
  return is_plain;
}

// Does the object say that it lies on the device?
static bool is_on_device(PyObject *object, const place_t *place) {
  PyObject *pair = place->device ? PyObject_CallMethod(object, "__dlpack_device__", NULL) : NULL;
  PyObject *type = pair && PyTuple_Check(pair) ? PyTuple_GetItem(pair, 0) : NULL;
  bool is_it = type && PyLong_AsLong(type) == place->type;
  Py_XDECREF(pair);
  PyErr_Clear();
  return is_it;
}

// The library makes the array ready for the stream. (DLPack's default stream of AMD's devices is 0.)
static PyObject *call_with_stream(PyObject *method, const place_t *place, tessera_stream_t stream) {
  stream = stream == TESSERA_DEFAULT_STREAM && place->type == DL_ROCM ? 0 : stream;
  PyObject *none = PyTuple_New(0), *named = Py_BuildValue("{s:K}", "stream", (unsigned long long)stream);
  PyObject *capsule = none && named ? PyObject_Call(method, none, named) : NULL;
  Py_XDECREF(none);
  Py_XDECREF(named);
  return capsule;
}

// What the library says of why it lends nothing, as a text; NULL where the exception is another matter, and stays.
static PyObject *take_refusal(void) {
  if (!PyErr_ExceptionMatches(PyExc_AttributeError) && !PyErr_ExceptionMatches(PyExc_BufferError) &&
      !PyErr_ExceptionMatches(PyExc_RuntimeError))
    return NULL;
  PyObject *kind, *value, *traceback;
  PyErr_Fetch(&kind, &value, &traceback);
  PyObject *text = value ? PyObject_Str(value) : NULL;
  PyErr_Clear();
  Py_XDECREF(kind);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return text ? text : PyUnicode_FromString("it is refused");
}

// The method's capsule, whose own destructor gives the memory back; NULL where the library refuses, which
// `out_refusal` then says.
static PyObject *ask_capsule(PyObject *object, const place_t *place, tessera_stream_t stream, PyObject **out_refusal) {
  PyObject *capsule = NULL, *method = NULL;
  *out_refusal = NULL;
  if (!stream && is_plain_tensor(object)) // that function makes nothing ready for a stream
    capsule = PyObject_CallFunctionObjArgs(torch_to_dlpack, object, NULL);
  else if ((method = PyObject_GetAttrString(object, "__dlpack__")))
    capsule = stream && is_on_device(object, place) ? call_with_stream(method, place, stream)
                                                    : PyObject_CallObject(method, NULL);
  if (!capsule && !method && PyErr_ExceptionMatches(PyExc_AttributeError))
    PyErr_Clear(); // it lends by other ways
  else if (!capsule)
    *out_refusal = take_refusal();
  Py_XDECREF(method);
  return capsule;
}

// PyTorch lends no f8 by DLPack: the tensor's bits, of the element that is wanted. A new reference in *out_bits, or
// NULL where the object is no such tensor.
static bool ask_bits(PyObject *object, const tessera_value_t *type, const char *name, PyObject **out_bits) {
  *out_bits = NULL;
  PyObject *dtype = is_f8(type->element) ? PyObject_GetAttrString(object, "dtype") : NULL, *text = text_of(dtype);
  const char *seen = text ? PyBytes_AsString(text) : "";
  bool is_torchs = strncmp(seen, "torch.float8_", strlen("torch.float8_")) == 0;
  bool ok = !is_torchs || strcmp(seen + strlen("torch."), name_in_libraries(type->element)) == 0;
  PyErr_Clear();
  if (!ok)
    refuse_type(name, seen, type);
  else if (is_torchs) {
    PyObject *modules = PySys_GetObject("modules"); // borrowed
    PyObject *torch = modules ? PyDict_GetItemString(modules, "torch") : NULL;
    PyObject *bits = torch ? PyObject_GetAttrString(torch, "uint8") : NULL;
    *out_bits = bits ? PyObject_CallMethod(object, "view", "O", bits) : NULL;
    Py_XDECREF(bits);
    ok = *out_bits != NULL;
  }
  Py_XDECREF(text);
  Py_XDECREF(dtype);
  return ok;
}

static bool borrow_capsule(PyObject *capsule, const tessera_value_t *type, const char *name, const place_t *place,
                           borrowed_t *borrowed) {
  borrowed->holder = capsule;
  if (!PyCapsule_IsValid(capsule, "dltensor")) {
    PyErr_Format(PyExc_ValueError, "%s: what its __dlpack__ gives is no capsule, or one that was consumed", name);
    return false;
  }
  const dl_managed_t *managed = PyCapsule_GetPointer(capsule, "dltensor");
  return take_tensor(&managed->tensor, type, name, place, borrowed);
}

//===--- numpy's array interface -----------------------------------------------------===//

// A tuple of integers. False, without an exception, where it is none.
static bool read_sizes(PyObject *tuple, int64_t *sizes, int64_t *out_rank) {
  Py_ssize_t rank = tuple && PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
  for (Py_ssize_t i = 0; i < rank && i < TESSERA_MAX_RANK; ++i)
    sizes[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
  *out_rank = rank;
  return rank >= 0 && rank <= TESSERA_MAX_RANK && !PyErr_Occurred();
}

// ml_dtypes' types look like bytes without a meaning there, or like numpy's floats: their names tell.
static bool check_type_string(const char *name, const tessera_value_t *type, PyObject *text, PyObject *object) {
  PyObject *bytes = text_of(text);
  const char *seen = bytes ? PyBytes_AsString(bytes) : "none";
  bool ok = strcmp(seen, type_strings[type->element]) == 0;
  PyObject *dtype = ok || !is_carried(type->element) ? NULL : PyObject_GetAttrString(object, "dtype");
  PyObject *called = dtype ? PyObject_GetAttrString(dtype, "name") : NULL, *known = text_of(called);
  PyErr_Clear();
  ok = ok || (known && strcmp(PyBytes_AsString(known), name_in_libraries(type->element)) == 0);
  if (!ok)
    refuse_type(name, known ? PyBytes_AsString(known) : seen, type);
  Py_XDECREF(known);
  Py_XDECREF(called);
  Py_XDECREF(dtype);
  Py_XDECREF(bytes);
  return ok;
}

static bool take_interface(PyObject *interface, PyObject *object, const tessera_value_t *type, const char *name,
                           borrowed_t *borrowed) {
  int64_t shape[TESSERA_MAX_RANK], strides[TESSERA_MAX_RANK], rank, num_strides = 0;
  PyObject *data = PyDict_GetItemString(interface, "data"), *steps = PyDict_GetItemString(interface, "strides");
  bool has_strides = steps && steps != Py_None;
  if (!data || !PyTuple_Check(data) || PyTuple_Size(data) != 2 ||
      !read_sizes(PyDict_GetItemString(interface, "shape"), shape, &rank) ||
      (has_strides && (!read_sizes(steps, strides, &num_strides) || num_strides != rank))) {
    PyErr_Format(PyExc_TypeError, "%s has an __array_interface__ that cannot be read", name);
    return false;
  }
  if (!check_type_string(name, type, PyDict_GetItemString(interface, "typestr"), object))
    return false;
  int64_t bytes = tessera_element_bytes(type->element);
  for (int64_t i = 0; i < num_strides; ++i)
    strides[i] = strides[i] % bytes ? 0 : strides[i] / bytes; // 0: no stride of C order
  borrowed->data = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
  borrowed->is_read_only = PyObject_IsTrue(PyTuple_GetItem(data, 1)) != 0;
  return !PyErr_Occurred() && check_shape(name, type, rank, shape, has_strides ? strides : NULL, borrowed) &&
         check_address(name, type, borrowed);
}

// The dictionary, or NULL without an exception.
static PyObject *ask_interface(PyObject *object, const char *name) {
  PyObject *interface = PyObject_GetAttrString(object, name);
  if (interface && PyDict_Check(interface))
    return interface;
  PyErr_Clear();
  Py_XDECREF(interface);
  return NULL;
}

// Work that another stream still has to do on the array, by numba's convention, is waited for.
static bool wait_for_producer(PyObject *interface, const place_t *place, tessera_stream_t stream) {
  PyObject *producer = PyDict_GetItemString(interface, "stream");
  unsigned long long other = producer && producer != Py_None ? PyLong_AsUnsignedLongLong(producer) : 0;
  tessera_error_t error;
  if (PyErr_Occurred())
    return false;
  if (!other || other == stream)
    return true;
  tessera_stream_t outer = tessera_stream_enter(other);
  bool ok = tessera_device_wait(place->device, &error);
  tessera_stream_enter(outer);
  if (!ok)
    PyErr_SetString(PyExc_RuntimeError, error.text);
  return ok;
}

// False, without an exception, where the object has no interface.
static bool borrow_interface(PyObject *object, const tessera_value_t *type, const char *name, const place_t *place,
                             tessera_stream_t stream, borrowed_t *borrowed) {
  PyObject *interface = place->device ? ask_interface(object, "__cuda_array_interface__") : NULL;
  borrowed->device_reaches = interface != NULL;
  borrowed->host_reaches = !interface;
  if (!interface)
    interface = ask_interface(object, "__array_interface__");
  borrowed->holder = interface; // the caller's reference to the array keeps the memory
  return interface && take_interface(interface, object, type, name, borrowed) &&
         (borrowed->host_reaches || wait_for_producer(interface, place, stream));
}

//===--- the buffer protocol ------------------------------------------------------------===//

int PyObject_CheckBuffer(PyObject *object);
int PyObject_GetBuffer(PyObject *object, python_buffer_t *view, int flags);
void PyBuffer_Release(python_buffer_t *view);

enum { BUFFER_WITH_STRIDES = 0x18, BUFFER_WITH_FORMAT = 0x4 };

// One letter of the module `struct`, in the machine's order of bytes.
static bool check_format(const char *name, const tessera_value_t *type, const python_buffer_t *buffer) {
  const char *format = buffer->format ? buffer->format : "B", *letter = format + (strchr("@=<", *format) && *format);
  char kind = !*letter                    ? 0
              : strchr("bhilqn", *letter) ? 'i'
              : strchr("BHILQN", *letter) ? 'u'
              : strchr("efd", *letter)    ? 'f'
              : *letter == '?'            ? 'b'
                                          : 0;
  return (kind == type_strings[type->element][1] && !letter[1] &&
          buffer->item_bytes == tessera_element_bytes(type->element)) ||
         refuse_type(name, format, type);
}

// False, without an exception, where the object has no buffer.
static bool borrow_buffer(PyObject *object, const tessera_value_t *type, const char *name, borrowed_t *borrowed) {
  if (!PyObject_CheckBuffer(object) ||
      PyObject_GetBuffer(object, &borrowed->buffer, BUFFER_WITH_STRIDES | BUFFER_WITH_FORMAT) != 0)
    return false;
  const python_buffer_t *buffer = &borrowed->buffer;
  int64_t shape[TESSERA_MAX_RANK], strides[TESSERA_MAX_RANK];
  borrowed->has_buffer = borrowed->host_reaches = true;
  borrowed->device_reaches = false;
  borrowed->is_read_only = buffer->is_read_only;
  borrowed->data = buffer->memory;
  borrowed->holder = object;
  Py_INCREF(object);
  if (!check_format(name, type, buffer))
    return false;
  for (int i = 0; i < buffer->rank && i < TESSERA_MAX_RANK; ++i) {
    shape[i] = buffer->shape[i];
    strides[i] = buffer->strides[i] % buffer->item_bytes ? 0 : buffer->strides[i] / buffer->item_bytes;
  }
  return check_shape(name, type, buffer->rank, shape, strides, borrowed) && check_address(name, type, borrowed);
}

//===--- scalars ------------------------------------------------------------------------===//

static bool borrow_float(PyObject *object, tessera_element_t element, borrowed_t *borrowed) {
  double value = PyFloat_AsDouble(object);
  float narrow = (float)value;
  uint16_t half = element == TESSERA_F16 ? tessera_f16_from_f32(narrow) : tessera_bf16_from_f32(narrow);
  const void *bits = element == TESSERA_F64 ? (const void *)&value : element == TESSERA_F32 ? (void *)&narrow : &half;
  memcpy(&borrowed->scalar, bits, (size_t)tessera_element_bytes(element));
  return !PyErr_Occurred();
}

static bool borrow_integer(PyObject *object, const tessera_value_t *type, const char *name, borrowed_t *borrowed) {
  PyObject *number = PyNumber_Index(object);
  if (!number && type->element == TESSERA_BOOL) { // numpy's bools are no integers
    PyErr_Clear();
    number = PyObject_CallMethod(object, "item", NULL);
    if (!number || !PyBool_Check(number)) {
      Py_XDECREF(number);
      PyErr_SetNone(PyExc_TypeError);
      return false;
    }
  }
  if (!number)
    return false;
  bool is_signed = type_strings[type->element][1] == 'i';
  int bits = type->element == TESSERA_BOOL ? 1 : 8 * tessera_element_bytes(type->element);
  int64_t low = is_signed ? INT64_MIN >> (64 - bits) : 0;
  bool fits;
  if (bits == 64 && !is_signed) {
    borrowed->scalar = (int64_t)PyLong_AsUnsignedLongLong(number);
    fits = true;
  } else {
    borrowed->scalar = PyLong_AsLongLong(number);
    int64_t high = bits == 64 ? INT64_MAX : is_signed ? -(low + 1) : (int64_t)(((uint64_t)1 << bits) - 1);
    fits = borrowed->scalar >= low && borrowed->scalar <= high;
  }
  Py_DECREF(number);
  if (PyErr_Occurred())
    PyErr_Clear();
  else if (fits)
    return true;
  PyErr_Format(PyExc_ValueError, "%s is beyond %s", name, tessera_element_name(type->element));
  return false;
}

static bool borrow_scalar(PyObject *object, const tessera_value_t *type, const char *name, borrowed_t *borrowed) {
  if (type->element >= TESSERA_F8E4M3FN) {
    PyErr_Format(PyExc_TypeError, "%s is a number of type %s, which Python has not", name,
                 tessera_element_name(type->element));
    return false;
  }
  bool is_float = type_strings[type->element][1] == 'f' || type->element == TESSERA_BF16;
  bool ok = is_float ? borrow_float(object, type->element, borrowed) : borrow_integer(object, type, name, borrowed);
  if (!ok && PyErr_ExceptionMatches(PyExc_TypeError))
    PyErr_Format(PyExc_TypeError, "%s is no number of type %s", name, tessera_element_name(type->element));
  borrowed->data = &borrowed->scalar;
  return ok;
}

//===--- from Python, in all -----------------------------------------------------------===//

bool array_borrow(PyObject *object, const tessera_value_t *type, const char *name, const place_t *place,
                  tessera_stream_t stream, borrowed_t *out_borrowed) {
  out_borrowed->holder = NULL;
  out_borrowed->has_buffer = out_borrowed->is_read_only = false;
  out_borrowed->bytes = 0;
  if (!type->in_memory)
    return borrow_scalar(object, type, name, out_borrowed);
  PyObject *bits, *refusal;
  if (!ask_bits(object, type, name, &bits))
    return false;
  PyObject *capsule = ask_capsule(bits ? bits : object, place, stream, &refusal);
  Py_XDECREF(bits); // the capsule keeps the memory
  if (!capsule && PyErr_Occurred())
    return false;
  bool ok = capsule ? borrow_capsule(capsule, type, name, place, out_borrowed)
                    : borrow_interface(object, type, name, place, stream, out_borrowed) ||
                          (!PyErr_Occurred() && borrow_buffer(object, type, name, out_borrowed));
  if (!ok && !PyErr_Occurred() && refusal)
    PyErr_Format(PyExc_TypeError, "%s lends no memory: %S", name, refusal);
  else if (!ok && !PyErr_Occurred())
    PyErr_Format(PyExc_TypeError, "%s is no array: it has neither __dlpack__ nor __array_interface__, and no buffer",
                 name);
  Py_XDECREF(refusal);
  if (!ok)
    array_give_back(out_borrowed);
  return ok;
}

void array_give_back(borrowed_t *borrowed) {
  if (borrowed->has_buffer)
    PyBuffer_Release(&borrowed->buffer);
  borrowed->has_buffer = false;
  Py_XDECREF(borrowed->holder);
  borrowed->holder = NULL;
}

//===--- to Python --------------------------------------------------------------------===//

shared_arena_t *shared_arena_create(const place_t *place) {
  shared_arena_t *shared = calloc(1, sizeof *shared);
  tessera_arena_t *arena = place->device ? tessera_device_arena(place->device) : tessera_arena_create();
  if (shared && arena) {
    *shared = (shared_arena_t){arena, place, 1};
    return shared;
  }
  tessera_arena_destroy(arena);
  free(shared);
  PyErr_NoMemory();
  return NULL;
}

void shared_arena_release(shared_arena_t *shared) {
  if (!shared || --shared->references)
    return;
  tessera_arena_destroy(shared->arena);
  free(shared);
}

typedef struct memory_t {
  PyObject_HEAD shared_arena_t *shared;
  void *allocated, *data;
  bool is_on_device;
  tessera_stream_t stream;
  tessera_element_t element;
  int rank;
  int64_t shape[TESSERA_MAX_RANK], strides[TESSERA_MAX_RANK]; // strides in elements
} memory_t;

static PyTypeObject *memory_type;

static void memory_delete(PyObject *self) {
  memory_t *memory = (memory_t *)self;
  PyTypeObject *type = Py_TYPE(self);
  tessera_stream_t outer = tessera_stream_enter(memory->stream);
  tessera_release(memory->allocated);
  tessera_stream_enter(outer);
  shared_arena_release(memory->shared);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject *memory_create(shared_arena_t *shared, tessera_element_t element, int rank, const int64_t *words,
                        bool is_on_device, tessera_stream_t stream) {
  memory_t *memory = PyObject_New(memory_t, memory_type);
  void *allocated = (void *)(intptr_t)words[0];
  if (!memory) {
    tessera_release(allocated);
    return NULL;
  }
  memory->shared = shared;
  memory->allocated = allocated;
  memory->is_on_device = is_on_device;
  memory->stream = stream;
  memory->data = (char *)(intptr_t)words[1] + words[2] * tessera_element_bytes(element);
  memory->element = element;
  memory->rank = rank;
  memcpy(memory->shape, words + 3, (size_t)rank * sizeof *words);
  memcpy(memory->strides, words + 3 + rank, (size_t)rank * sizeof *words);
  ++shared->references;
  return (PyObject *)memory;
}

static PyObject *tuple_of(int rank, const int64_t *numbers, int64_t factor) {
  PyObject *tuple = PyTuple_New(rank);
  for (int i = 0; i < rank && tuple; ++i) {
    PyObject *number = PyLong_FromLongLong(numbers[i] * factor);
    if (!number || PyTuple_SetItem(tuple, i, number) < 0) {
      Py_DECREF(tuple);
      return NULL;
    }
  }
  return tuple;
}

// numpy's and numba's interface, each of memory that its library reaches.
static PyObject *memory_interface(PyObject *self, void *is_of_device) {
  const memory_t *memory = (const memory_t *)self;
  if (memory->is_on_device == !is_of_device) {
    PyErr_SetString(PyExc_AttributeError, "the array lies in memory of another kind");
    return NULL;
  }
  PyObject *shape = tuple_of(memory->rank, memory->shape, 1);
  PyObject *strides = tuple_of(memory->rank, memory->strides, tessera_element_bytes(memory->element));
  if (!shape || !strides) {
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return NULL;
  }
  PyObject *interface =
      Py_BuildValue("{s:i,s:s,s:N,s:N,s:(N,O)}", "version", 3, "typestr", type_strings[memory->element], "shape", shape,
                    "strides", strides, "data", PyLong_FromVoidPtr(memory->data), Py_False);
  PyObject *stream = interface && memory->stream ? PyLong_FromUnsignedLongLong(memory->stream) : NULL;
  if (stream)
    PyDict_SetItemString(interface, "stream", stream);
  Py_XDECREF(stream);
  return interface;
}

static PyObject *memory_element(PyObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(tessera_element_name(((const memory_t *)self)->element));
}

// The taker may call this on any thread, with or without the GIL.
static void delete_managed(dl_managed_t *managed) {
  PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF((PyObject *)managed->context);
  PyGILState_Release(state);
  free(managed);
}

static void delete_capsule(PyObject *capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor"))
    return; // taken: its taker calls the deleter
  dl_managed_t *managed = PyCapsule_GetPointer(capsule, "dltensor");
  managed->deleter(managed);
}

// Waits for the work of its own stream that another stream, by DLPack's convention, shall not overtake.
static bool make_ready(const memory_t *memory, PyObject *keywords) {
  PyObject *asked = keywords ? PyDict_GetItemString(keywords, "stream") : NULL;
  long long stream = asked && asked != Py_None ? PyLong_AsLongLong(asked) : 0;
  tessera_error_t error;
  if (PyErr_Occurred())
    return false;
  if (!memory->stream || stream == -1 || (tessera_stream_t)stream == memory->stream)
    return true;
  tessera_stream_t outer = tessera_stream_enter(memory->stream);
  bool ok = tessera_device_wait(memory->shared->place->device, &error);
  tessera_stream_enter(outer);
  if (!ok)
    PyErr_SetString(PyExc_RuntimeError, error.text);
  return ok;
}

static PyObject *memory_dlpack(PyObject *self, PyObject *arguments, PyObject *keywords) {
  (void)arguments; // max_version, …: all but the stream ask for less than what is given, and `bits` for f8 as integers
  memory_t *memory = (memory_t *)self;
  bool as_bits = keywords && PyDict_GetItemString(keywords, "bits") && is_f8(memory->element);
  if (!make_ready(memory, keywords))
    return NULL;
  dl_managed_t *managed = malloc(sizeof *managed);
  if (!managed)
    return PyErr_NoMemory();
  *managed = (dl_managed_t){.tensor = {.data = memory->data,
                                       .device_type = memory->is_on_device ? memory->shared->place->type : DL_CPU,
                                       .device_id = memory->is_on_device ? memory->shared->place->ordinal : 0,
                                       .rank = memory->rank,
                                       .code = as_bits ? DL_UINT : code_of(memory->element),
                                       .bits = (uint8_t)(8 * tessera_element_bytes(memory->element)),
                                       .lanes = 1,
                                       .shape = memory->shape,
                                       .strides = memory->strides},
                            .context = self,
                            .deleter = delete_managed};
  PyObject *capsule = PyCapsule_New(managed, "dltensor", delete_capsule);
  if (capsule)
    Py_INCREF(self);
  else
    free(managed);
  return capsule;
}

static PyObject *memory_device(PyObject *self, PyObject *unused) {
  (void)unused;
  const memory_t *memory = (const memory_t *)self;
  const place_t *place = memory->is_on_device ? memory->shared->place : &place_cpu;
  return Py_BuildValue("(ii)", place->type, place->ordinal);
}

bool memory_add_type(PyObject *module) {
  static PyMethodDef methods[] = {
      {"__dlpack__", (PyCFunction)(void (*)(void))memory_dlpack, METH_VARARGS | METH_KEYWORDS, "A DLPack capsule."},
      {"__dlpack_device__", memory_device, METH_NOARGS, "DLPack's device."},
      {NULL, NULL, 0, NULL}};
  static char device_mark;
  static PyGetSetDef fields[] = {{"__array_interface__", memory_interface, NULL, "numpy's array interface.", NULL},
                                 {"__cuda_array_interface__", memory_interface, NULL, "numba's.", &device_mark},
                                 {"element", memory_element, NULL, "The type of the elements: \"f32\".", NULL},
                                 {NULL, NULL, NULL, NULL, NULL}};
  static PyType_Slot slots[] = {{Py_tp_doc, "A result of a program, for libraries of arrays."},
                                {Py_tp_dealloc, memory_delete},
                                {Py_tp_methods, methods},
                                {Py_tp_getset, fields},
                                {0, NULL}};
  static PyType_Spec spec = {"tessera_runtime._runtime.Memory", sizeof(memory_t), 0, Py_TPFLAGS_DEFAULT, slots};
  memory_type = (PyTypeObject *)PyType_FromSpec(&spec);
  if (!memory_type)
    return false;
  Py_INCREF(memory_type);
  return PyModule_AddObject(module, "Memory", (PyObject *)memory_type) == 0;
}
