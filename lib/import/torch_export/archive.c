// The archive: a zip of stored members. The program is <name>/models/model.json, the weights lie beside it as they are
// in memory. Pickles, which can hold code, are never opened.
#include "lib/import/torch_export/state.h"

#include "lib/support/grow.h"
#include "lib/support/npy/npz.h"

#include <stdlib.h>
#include <string.h>

enum { MaxBytes = 1 << 30 }; // of a tensor whose elements must be gathered

static bool keep(void *data, const char *name, const void *bytes, uint64_t size, tessera_error_t *error) {
  Torch *torch = data;
  const char *slash = strchr(name, '/'); // below the archive's own folder
  if (torch->numMembers == torch->membersCapacity) {
    size_t more = torch->membersCapacity ? 2 * torch->membersCapacity : 64;
    const unsigned char **grown = realloc(torch->data, more * sizeof *grown);
    torch->data = grown ? grown : torch->data;
    size_t *sizes = grown ? realloc(torch->sizes, more * sizeof *sizes) : NULL;
    if (!sizes)
      return tessera_fail(error, "out of memory");
    torch->sizes = sizes;
    torch->membersCapacity = more;
  }
  torch->data[torch->numMembers] = bytes;
  torch->sizes[torch->numMembers] = size;
  json_object_set_new(torch->members, slash ? slash + 1 : name, json_integer((json_int_t)torch->numMembers++));
  return true;
}

static const unsigned char *find(const Torch *torch, const char *name, size_t *size) {
  const json_t *index = json_object_get(torch->members, name);
  if (!json_is_integer(index))
    return NULL;
  *size = torch->sizes[json_integer_value(index)];
  return torch->data[json_integer_value(index)];
}

static json_t *parse(const Torch *torch, const char *name, tessera_error_t *error) {
  size_t size;
  json_error_t why;
  const unsigned char *bytes = find(torch, name, &size);
  json_t *json = bytes ? json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, &why) : NULL;
  if (!bytes)
    tessera_fail(error, "%s: has no member %s: it is no program of torch.export", torch->path, name);
  else if (!json)
    tessera_fail(error, "%s: %s:%d:%d: %s", torch->path, name, why.line, why.column, why.text);
  return json;
}

static bool expectOrder(const Torch *torch, tessera_error_t *error) {
  size_t size;
  const unsigned char *order = find(torch, "byteorder", &size);
  return !order || (size == 6 && memcmp(order, "little", 6) == 0) ||
         tessera_fail(error, "%s: its bytes are in the order '%.*s'; little is accepted", torch->path,
                      (int)(size < 20 ? size : 20), (const char *)order);
}

bool torchOpenArchive(Torch *torch, tessera_error_t *error) {
  torch->members = json_object();
  torch->names = json_object();
  if (!torch->members || !torch->names)
    return tessera_fail(error, "out of memory");
  if (!tessera_zip_visit(torch->path, torch->import.mapping->data, torch->import.mapping->size, keep, torch, error) ||
      !expectOrder(torch, error) || !(torch->program = parse(torch, "models/model.json", error)) ||
      !(torch->weights = parse(torch, "data/weights/model_weights_config.json", error)) ||
      !(torch->constants = parse(torch, "data/constants/model_constants_config.json", error)))
    return false;
  const json_t *major = json_object_get(json_object_get(torch->program, "schema_version"), "major");
  return (json_is_integer(major) && json_integer_value(major) == 8) ||
         tessera_fail(error, "%s: schema version %lld of torch.export; 8 is accepted", torch->path,
                      (long long)json_integer_value(major));
}

void torchCloseArchive(Torch *torch) {
  json_decref(torch->program);
  json_decref(torch->weights);
  json_decref(torch->constants);
  json_decref(torch->members);
  json_decref(torch->names);
  free(torch->data);
  free(torch->sizes);
}

//===--- tensors ----------------------------------------------------------------===//

static bool readSizes(const json_t *list, int most, int64_t *items, int *count) {
  *count = (int)json_array_size(list);
  if (!json_is_array(list) || json_array_size(list) > (size_t)most)
    return false;
  for (int i = 0; i < *count; ++i) {
    const json_t *number = json_object_get(json_array_get(list, (size_t)i), "as_int");
    items[i] = json_integer_value(number);
    if (!json_is_integer(number) || items[i] < 0)
      return false;
  }
  return true;
}

typedef struct Stored {
  OnnxType type;
  int rank, each;
  int64_t sizes[OnnxMaxRank], strides[OnnxMaxRank], offset, count;
} Stored;

// False where the description is not whole, or an element would lie outside the data.
static bool describe(const json_t *meta, size_t size, Stored *stored) {
  int strides;
  const json_t *offset = json_object_get(json_object_get(meta, "storage_offset"), "as_int");
  stored->type = torchType(json_integer_value(json_object_get(meta, "dtype")));
  stored->each = stored->type ? onnxTypeBytes(stored->type) : 0;
  stored->offset = json_integer_value(offset);
  stored->count = 1;
  if (!stored->each || stored->offset < 0 ||
      !readSizes(json_object_get(meta, "sizes"), OnnxMaxRank, stored->sizes, &stored->rank) ||
      !readSizes(json_object_get(meta, "strides"), OnnxMaxRank, stored->strides, &strides) || strides != stored->rank)
    return false;
  int64_t last = stored->offset, reach;
  for (int d = 0; d < stored->rank; ++d) {
    if (__builtin_mul_overflow(stored->count, stored->sizes[d], &stored->count))
      return false;
    if (stored->sizes[d] > 0 && (__builtin_mul_overflow(stored->sizes[d] - 1, stored->strides[d], &reach) ||
                                 __builtin_add_overflow(last, reach, &last)))
      return false;
  }
  return stored->count == 0 || last < (int64_t)(size / (size_t)stored->each);
}

static bool isInRows(const Stored *stored) {
  int64_t stride = 1;
  for (int d = stored->rank; d-- > 0; stride *= stored->sizes[d])
    if (stored->sizes[d] != 1 && stored->strides[d] != stride)
      return false;
  return true;
}

static void gather(const Stored *stored, const unsigned char *from, unsigned char *to) {
  for (int64_t i = 0; i < stored->count; ++i) {
    int64_t at = stored->offset, rest = i;
    for (int d = stored->rank; d-- > 0; rest /= stored->sizes[d])
      at += rest % stored->sizes[d] * stored->strides[d];
    memcpy(to + (size_t)i * (size_t)stored->each, from + (size_t)at * (size_t)stored->each, (size_t)stored->each);
  }
}

OnnxValue *torchWeight(Node *node, Torch *torch, const json_t *config, const char *folder, const char *name) {
  const json_t *entry = json_object_get(json_object_get(config, "config"), name);
  const char *path = torchString(entry, "path_name");
  char member[320];
  size_t size = 0;
  Stored stored;
  OnnxValue *none = NULL;
  if (!entry)
    return onnxError(node, "the file has no data for tensor '%.200s'", name), none;
  if (json_is_true(json_object_get(entry, "use_pickle")))
    return onnxError(node, "tensor '%.200s' is a pickle, which is not opened", name), none;
  if (snprintf(member, sizeof member, "data/%s/%s", folder, path) >= (int)sizeof member)
    return onnxError(node, "tensor '%.200s' names a file with a long name", name), none;
  const unsigned char *bytes = find(torch, member, &size);
  if (!bytes)
    return onnxError(node, "the file has no member '%s' for tensor '%.200s'", member, name), none;
  if (!describe(json_object_get(entry, "tensor_meta"), size, &stored))
    return onnxError(node, "tensor '%.200s': its type or sizes are not supported, or do not fit its %zu bytes", name,
                     size),
           none;
  MlirValue sizes[OnnxMaxRank];
  for (int d = 0; d < stored.rank; ++d)
    sizes[d] = tileBuildIndex(node->b, stored.sizes[d]);
  OnnxValue *value = onnxValue(node, stored.type, stored.rank, sizes);
  value->bytes = bytes + (size_t)stored.offset * (size_t)stored.each;
  onnxNoteWeight(node, value, torch->path, torch->import.mapping->data, (OnnxText){name, strlen(name)});
  if (!isInRows(&stored)) {
    if (stored.count > MaxBytes / stored.each)
      return onnxError(node, "tensor '%.200s' does not lie in rows, and has more than 1 GB", name), none;
    unsigned char *copy = onnxAllocate(node, (size_t)(stored.count * stored.each) + 1);
    if (!copy)
      return onnxOutOfMemory(node), none;
    gather(&stored, bytes, copy);
    value->bytes = copy;
    value->weight = NULL;
  }
  return value;
}
