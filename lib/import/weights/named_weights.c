// Reads the directories of .safetensors and .npz files. See named_weights.h.
#include "lib/import/weights/named_weights.h"

#include "lib/ir/support.h"
#include "lib/support/array.h"
#include "lib/support/grow.h"
#include "lib/support/npy/npy.h"
#include "lib/support/npy/npz.h"
#include "mlir-c/BuiltinTypes.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reading {
  MlirContext context;
  const char *path;
  NamedWeights *weights;
} Reading;

//===--- types ------------------------------------------------------------------===//

static MlirType integer(MlirContext context, unsigned bits) { return mlirIntegerTypeGet(context, bits); }

// By safetensors' name; null: programs have no such elements, or not one byte each.
static MlirType elementOf(MlirContext context, const char *name) {
  static const struct {
    const char *name;
    MlirType (*type)(MlirContext context);
  } floats[] = {{"F64", mlirF64TypeGet},
                {"F32", mlirF32TypeGet},
                {"F16", mlirF16TypeGet},
                {"BF16", mlirBF16TypeGet},
                {"F8_E4M3", mlirFloat8E4M3FNTypeGet},
                {"F8_E5M2", mlirFloat8E5M2TypeGet}};
  for (size_t i = 0; i < sizeof floats / sizeof *floats; ++i)
    if (strcmp(name, floats[i].name) == 0)
      return floats[i].type(context);
  bool isInteger = (name[0] == 'I' || name[0] == 'U') && name[1] && strspn(name + 1, "123468") == strlen(name + 1);
  long bits = isInteger ? strtol(name + 1, NULL, 10) : 0;
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? integer(context, (unsigned)bits) : (MlirType){NULL};
}

static bool add(Reading *reading, const char *name, size_t length, MlirType element, int64_t rank, const int64_t *sizes,
                const unsigned char *data, uint64_t bytes, tessera_error_t *error) {
  uint64_t wanted = mlirTypeIsNull(element) ? 0 : tileElementWidth(element) / 8;
  bool fits = true;
  for (int64_t d = 0; d < rank; ++d)
    fits &= sizes[d] >= 0 && !__builtin_mul_overflow(wanted, (uint64_t)sizes[d], &wanted);
  if (!fits || (!mlirTypeIsNull(element) && wanted != bytes))
    return tessera_fail(error, "%s: tensor '%.*s' has %llu bytes of data, which are not those of its sizes",
                        reading->path, (int)length, name, (unsigned long long)bytes);
  NamedWeights *weights = reading->weights;
  NamedWeight *grown = tessera_grow(weights->items, weights->count, sizeof *grown);
  char *copy = strndup(name, length);
  if (grown)
    weights->items = grown;
  if (!grown || !copy) {
    free(copy);
    return tessera_fail(error, "out of memory");
  }
  MlirType type =
      mlirTypeIsNull(element) ? element : mlirRankedTensorTypeGet(rank, sizes, element, mlirAttributeGetNull());
  weights->items[weights->count++] = (NamedWeight){copy, type, (uint64_t)(data - weights->file->data), bytes};
  return true;
}

//===--- safetensors --------------------------------------------------------------===//
// Eight bytes: the length of a JSON object, which follows. {"name": {"dtype": "F32", "shape": [3, 4], "data_offsets":
// [begin, end]}, …}: bytes behind the object.

static bool addSafetensor(Reading *reading, const char *name, const json_t *entry, uint64_t start,
                          tessera_error_t *error) {
  const json_t *shape = json_object_get(entry, "shape"), *places = json_object_get(entry, "data_offsets");
  const char *dtype = json_string_value(json_object_get(entry, "dtype"));
  const tessera_mapping_t *file = reading->weights->file;
  int64_t sizes[TESSERA_MAX_RANK];
  size_t rank = json_array_size(shape);
  json_int_t begin = json_integer_value(json_array_get(places, 0)), end = json_integer_value(json_array_get(places, 1));
  if (!dtype || !json_is_array(shape) || rank > TESSERA_MAX_RANK || json_array_size(places) != 2 || begin < 0 ||
      end < begin || (uint64_t)end > file->size - start)
    return tessera_fail(error, "%s: tensor '%s' has no type, sizes or data in the file", reading->path, name);
  for (size_t d = 0; d < rank; ++d)
    sizes[d] = json_is_integer(json_array_get(shape, d)) ? json_integer_value(json_array_get(shape, d)) : -1;
  return add(reading, name, strlen(name), elementOf(reading->context, dtype), (int64_t)rank, sizes,
             file->data + start + begin, (uint64_t)(end - begin), error);
}

static bool readSafetensors(Reading *reading, tessera_error_t *error) {
  const tessera_mapping_t *file = reading->weights->file;
  uint64_t length = UINT64_MAX;
  json_error_t why;
  if (file->size >= 8)
    memcpy(&length, file->data, 8);
  if (file->size < 8 || length > file->size - 8)
    return tessera_fail(error, "%s: is cut off, or no file of safetensors", reading->path);
  json_t *directory = json_loadb((const char *)file->data + 8, length, JSON_REJECT_DUPLICATES, &why), *entry;
  if (!json_is_object(directory)) {
    json_decref(directory);
    return tessera_fail(error, "%s: its directory is no JSON object: %s", reading->path, directory ? "" : why.text);
  }
  const char *name;
  bool ok = true;
  json_object_foreach(directory, name, entry) ok =
      ok && (strcmp(name, "__metadata__") == 0 || addSafetensor(reading, name, entry, 8 + length, error));
  json_decref(directory);
  return ok;
}

//===--- npz ----------------------------------------------------------------------===//

// "f32" is F32 there, "ui8" is U8.
static MlirType elementOfArray(MlirContext context, tessera_element_t element) {
  const char *name = tessera_element_name(element);
  char other[16];
  snprintf(other, sizeof other, "%c%s", name[0] - 'a' + 'A', name + (name[0] == 'u' ? 2 : 1));
  return element == TESSERA_BOOL ? (MlirType){NULL} : elementOf(context, other);
}

static bool addMember(void *data, const char *name, const void *bytes, uint64_t size, tessera_error_t *error) {
  Reading *reading = data;
  size_t length = strlen(name);
  if (length > 4 && strcmp(name + length - 4, ".npy") == 0)
    length -= 4;
  tessera_array_t array;
  FILE *stream = fmemopen((void *)(uintptr_t)bytes, size ? size : 1, "r");
  bool ok = (stream || tessera_fail(error, "out of memory")) &&
            tessera_npy_read_from(stream, name, (int64_t)size, &array, error);
  if (stream)
    fclose(stream);
  if (!ok)
    return false;
  uint64_t held = (uint64_t)array.count * (uint64_t)tessera_element_bytes(array.element);
  // The elements are the end of the member, in the order of the file.
  const unsigned char *start = (const unsigned char *)bytes + (size - held);
  ok = memcmp(start, array.data, held) == 0 ||
       tessera_fail(error, "%s: array '%s' does not lie in rows", reading->path, name);
  ok = ok && add(reading, name, length, elementOfArray(reading->context, array.element), array.rank, array.shape, start,
                 held, error);
  tessera_array_destroy(&array);
  return ok;
}

static bool readNpz(Reading *reading, tessera_error_t *error) {
  const tessera_mapping_t *file = reading->weights->file;
  return tessera_zip_visit(reading->path, file->data, file->size, addMember, reading, error);
}

//===--- the file -------------------------------------------------------------------===//

static bool endsWith(const char *path, const char *end) {
  size_t length = strlen(path), more = strlen(end);
  return length > more && strcmp(path + length - more, end) == 0;
}

bool tileNamedWeightsIsFile(const char *path) { return endsWith(path, ".safetensors") || endsWith(path, ".npz"); }

bool tileNamedWeightsRead(MlirContext context, const char *path, NamedWeights *weights, tessera_error_t *error) {
  *weights = (NamedWeights){.file = tessera_mapping_open(path, error)};
  Reading reading = {context, path, weights};
  return weights->file && (endsWith(path, ".npz") ? readNpz : readSafetensors)(&reading, error);
}

const NamedWeight *tileNamedWeightsFind(const NamedWeights *weights, MlirStringRef name) {
  for (int64_t i = 0; i < weights->count; ++i)
    if (tileStringEquals(name, weights->items[i].name))
      return &weights->items[i];
  return NULL;
}

void tileNamedWeightsFree(NamedWeights *weights) {
  for (int64_t i = 0; i < weights->count; ++i)
    free(weights->items[i].name);
  free(weights->items);
  tessera_mapping_release(weights->file);
  *weights = (NamedWeights){NULL};
}
