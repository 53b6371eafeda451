// arrays.h - arrays of Python lent to a program, and memory of a program lent to Python, both without a copy.
//
//   borrowed_t x;
//   if (!array_borrow(object, type, "argument 0", &place_cpu, 0, &x)) return NULL;   // an exception is set
//   … x.data, x.shape …
//   array_give_back(&x);
//
// Arrays come by DLPack; where a library refuses that (numpy: what is read-only, and types that DLPack lacks) by
// numpy's array interface; else by the buffer protocol. All functions need the GIL.
#pragma once

#include "lib/support/signature.h"
#include "python/runtime/source/devices.h"

#define Py_LIMITED_API 0x03090000
#include <Python.h>

//===--- from Python ------------------------------------------------------------===//

// Python's Py_buffer, which the limited API has since 3.11 only: every Python since 3.3 has it so.
typedef struct python_buffer_t {
  void *memory;
  PyObject *owner;
  Py_ssize_t bytes, item_bytes;
  int is_read_only, rank;
  char *format;
  Py_ssize_t *shape, *strides, *suboffsets; // strides in bytes
  void *internal;
} python_buffer_t;

typedef struct borrowed_t {
  PyObject *holder; // keeps the memory; NULL: a scalar, whose bits are in `scalar`
  void *data;
  int64_t shape[TESSERA_MAX_RANK];
  size_t bytes;
  bool is_read_only;
  // Who reaches the memory: the program's GPU, and the host.
  bool device_reaches, host_reaches;
  int64_t scalar;
  bool has_buffer; // by the buffer protocol
  python_buffer_t buffer;
} borrowed_t;

// Borrows `object` for a value of type `type` at `place`; `stream` of that device will use it (0: none). False, with a
// TypeError (kind of object, element, device, read-only) or a ValueError (sizes, strides, alignment, a number out of
// range), each with `name` in front. The memory is in C order.
bool array_borrow(PyObject *object, const tessera_value_t *type, const char *name, const place_t *place,
                  tessera_stream_t stream, borrowed_t *out_borrowed);
void array_give_back(borrowed_t *borrowed);

//===--- to Python --------------------------------------------------------------===//

// An arena that a program's results lie in: it lives as long as the program or one of them.
typedef struct shared_arena_t {
  tessera_arena_t *arena;
  const place_t *place;
  int64_t references;
} shared_arena_t;

shared_arena_t *shared_arena_create(const place_t *place); // NULL, with a MemoryError, when out of memory
void shared_arena_release(shared_arena_t *shared);

// A tensor in memory of the arena as an object with __dlpack__, __dlpack_device__ and __array_interface__, or, with
// `is_on_device`, as one of the arena's GPU, which `stream` may still write. `words` are a memref's descriptor. Takes
// the memory over; NULL, with an exception, when out of memory (the memory is released).
PyObject *memory_create(shared_arena_t *shared, tessera_element_t element, int rank, const int64_t *words,
                        bool is_on_device, tessera_stream_t stream);
bool memory_add_type(PyObject *module);
