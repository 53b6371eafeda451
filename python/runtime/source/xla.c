// xla.c - a handler of XLA's foreign function interface. The structs below are those of its stable C interface, version
// 0.1 and later (xla/ffi/api/c_api.h of openxla/xla): what follows a struct's last member here is not read.
#include "python/runtime/source/xla.h"

#include "lib/runtime/tessera.h"

#include <stdio.h>

//===--- XLA's structs ------------------------------------------------------------------===//

enum {
  MetadataExtension = 1,
  InvalidArgument = 3,
  Internal = 13,
  Execute = 3,
  Buffer = 1,
  ScalarAttribute = 3,
  S64 = 5
};

typedef struct extension_t {
  size_t size;
  int type;
  struct extension_t *next;
} extension_t;

typedef struct version_t {
  size_t size;
  extension_t *extensions;
  int major, minor;
} version_t;

typedef struct metadata_t {
  size_t size;
  version_t version;
  uint32_t traits;
} metadata_t;

typedef struct metadata_extension_t {
  extension_t base;
  metadata_t *metadata;
} metadata_extension_t;

typedef struct create_error_t {
  size_t size;
  extension_t *extensions;
  const char *message;
  int code;
} create_error_t;

typedef struct api_t {
  size_t size;
  extension_t *extensions;
  version_t version;
  const void *internal;
  void *(*create_error)(create_error_t *arguments);
} api_t;

typedef struct buffer_t {
  size_t size;
  extension_t *extensions;
  int type;
  void *data;
  int64_t rank, *dims;
} buffer_t;

typedef struct values_t { // arguments or results
  size_t size;
  extension_t *extensions;
  int64_t count;
  int *kinds;
  void **values;
} values_t;

typedef struct span_t {
  const char *data;
  size_t length;
} span_t;

typedef struct attributes_t {
  size_t size;
  extension_t *extensions;
  int64_t count;
  int *kinds;
  span_t **names;
  void **values;
} attributes_t;

typedef struct scalar_t {
  int type;
  void *value;
} scalar_t;

typedef struct frame_t {
  size_t size;
  extension_t *extensions;
  const api_t *api;
  void *context;
  int stage;
  values_t arguments, results;
  attributes_t attributes;
} frame_t;

// XLA's number of an element type; 0: it has none that programs have.
static int type_of(tessera_element_t element) {
  switch (element) {
#define ROW(element, number)                                                                                           \
  case element:                                                                                                        \
    return number;
    ROW(TESSERA_BOOL, 1)
    ROW(TESSERA_I8, 2)
    ROW(TESSERA_I16, 3)
    ROW(TESSERA_I32, 4)
    ROW(TESSERA_I64, 5)
    ROW(TESSERA_F16, 10)
    ROW(TESSERA_F32, 11)
    ROW(TESSERA_F64, 12)
    ROW(TESSERA_BF16, 16)
    ROW(TESSERA_F8E5M2, 19)
    ROW(TESSERA_F8E4M3FN, 20)
    ROW(TESSERA_F8E8M0FNU, 33)
#undef ROW
  default:
    return 0;
  }
}

//===--- a call -------------------------------------------------------------------------===//

static void *fail(const frame_t *frame, int code, const char *text) {
  create_error_t error = {.size = sizeof error, .message = text, .code = code};
  return frame->api->create_error(&error);
}

static const tessera_program_t *program_of(const frame_t *frame) {
  const attributes_t *attributes = &frame->attributes;
  for (int64_t i = 0; i < attributes->count; ++i) {
    const span_t *name = attributes->names[i];
    const scalar_t *scalar = attributes->values[i];
    if (name->length == 7 && memcmp(name->data, "program", 7) == 0 && attributes->kinds[i] == ScalarAttribute &&
        scalar->type == S64)
      return (const tessera_program_t *)(intptr_t)*(const int64_t *)scalar->value;
  }
  return NULL;
}

typedef struct descriptor_t {
  int64_t words[3 + 2 * TESSERA_MAX_RANK]; // allocated, aligned, offset, sizes, strides
} descriptor_t;

// Packs one buffer. False, with `text` filled, where it is not what the program takes.
static bool pack(const buffer_t *buffer, const tessera_value_t *type, const char *what, int64_t number,
                 descriptor_t *descriptor, void **packed, char *text, size_t size) {
  if (buffer->type != type_of(type->element) || buffer->rank != type->rank) {
    snprintf(text, size, "%s %lld of the program is of another element type or rank: %s and rank %d", what,
             (long long)number, tessera_element_name(type->element), type->rank);
    return false;
  }
  int64_t stride = 1;
  descriptor->words[0] = descriptor->words[1] = (int64_t)(intptr_t)buffer->data;
  descriptor->words[2] = 0;
  for (int i = type->rank - 1; i >= 0; --i) {
    if (type->shape[i] >= 0 && buffer->dims[i] != type->shape[i]) {
      snprintf(text, size, "%s %lld of the program has the size %lld along axis %d, not %lld", what, (long long)number,
               (long long)type->shape[i], i, (long long)buffer->dims[i]);
      return false;
    }
    descriptor->words[3 + i] = buffer->dims[i];
    descriptor->words[3 + type->rank + i] = stride;
    stride *= buffer->dims[i];
  }
  *packed = type->in_memory ? (void *)descriptor : buffer->data;
  return true;
}

static bool pack_all(const values_t *values, const tessera_value_t *types, int count, const char *what,
                     descriptor_t *descriptors, void **packed, char *text, size_t size) {
  if (values->count != count) {
    snprintf(text, size, "the program has %d %ss, not %lld", count, what, (long long)values->count);
    return false;
  }
  for (int64_t i = 0; i < count; ++i)
    if (values->kinds[i] != Buffer ||
        !pack(values->values[i], &types[i], what, i, &descriptors[i], &packed[i], text, size))
      return false;
  return true;
}

static void *run(const frame_t *frame, const tessera_program_t *program) {
  const tessera_signature_t *signature = &program->signature;
  size_t count = (size_t)signature->num_arguments + (size_t)signature->num_results;
  descriptor_t *descriptors = malloc((count + 1) * sizeof *descriptors);
  void **packed = malloc((count + 1) * sizeof *packed);
  tessera_arena_t *arena = tessera_arena_create();
  tessera_error_t error = {.text = "out of memory"};
  int code = Internal;
  bool ok = descriptors && packed && arena;
  if (ok) {
    code = InvalidArgument;
    ok = pack_all(&frame->arguments, signature->arguments, signature->num_arguments, "argument", descriptors, packed,
                  error.text, sizeof error.text) &&
         pack_all(&frame->results, signature->results, signature->num_results, "result",
                  descriptors + signature->num_arguments, packed + signature->num_arguments, error.text,
                  sizeof error.text);
  }
  if (ok) {
    code = Internal;
    tessera_arena_t *outer = tessera_arena_enter(arena);
    ok = tessera_call(program->entry_into, packed, &error);
    tessera_arena_enter(outer);
  }
  tessera_arena_destroy(arena); // with all that a failed call had allocated
  free(descriptors);
  free(packed);
  return ok ? NULL : fail(frame, code, error.text);
}

static void *handle(frame_t *frame) {
  for (extension_t *extension = frame->extensions; extension; extension = extension->next)
    if (extension->type == MetadataExtension) { // which version is this?
      metadata_t *metadata = ((metadata_extension_t *)extension)->metadata;
      metadata->version.major = 0;
      metadata->version.minor = 1;
      metadata->traits = 0;
      return NULL;
    }
  if (frame->stage != Execute)
    return NULL;
  const tessera_program_t *program = program_of(frame);
  return program ? run(frame, program) : fail(frame, InvalidArgument, "the call has no attribute 'program'");
}

void *xla_handler(void) { return (void *)(uintptr_t)handle; }
