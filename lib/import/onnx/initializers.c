// Tensors of the file as values: raw data where it lies, typed data as bytes, data of other files in the model's
// folder.
#include "lib/import/onnx/state.h"
#include "lib/import/onnx/tensors.h"

#include "upstream/arith.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Data {
  const unsigned char *bytes;
  size_t size;
  const char *file; // that holds the bytes, null: none
  const unsigned char *start;
} Data;

// Elements of fewer than 8 bits follow each other without gaps, the first one in the lowest bits.
static int64_t bytesOf(OnnxType type, int64_t count) { return (count * onnxTypeBits(type) + 7) / 8; }

// float_data, int32_data, … hold one number for each element, or for each byte of elements that share bytes; narrow
// types lie in int32_data.
static bool typedData(Node *node, const OnnxTensor *tensor, int64_t count, Data *data) {
  const OnnxNumbers *numbers = &tensor->ints;
  if (tensor->type == Onnx_F32)
    numbers = &tensor->floats;
  else if (tensor->type == Onnx_F64)
    numbers = &tensor->doubles;
  else if (tensor->type == Onnx_I64)
    numbers = &tensor->longs;
  else if (tensor->type == Onnx_U64 || tensor->type == Onnx_U32)
    numbers = &tensor->unsignedLongs;
  int each = onnxTypeBytes(tensor->type);
  count = onnxTypeBits(tensor->type) < 8 ? bytesOf(tensor->type, count) : count;
  if (numbers->count != count)
    return onnxError(node, "tensor '%.*s' has %lld elements of data; its shape has %lld", ONNX_SHOWN(tensor->name),
                     (long long)numbers->count, (long long)count);
  unsigned char *bytes = onnxAllocate(node, (size_t)(count * each) + 1);
  if (!bytes)
    return onnxOutOfMemory(node);
  for (int64_t i = 0; i < count; ++i)
    memcpy(bytes + i * each, &numbers->items[i], (size_t)each); // the low bytes come first
  *data = (Data){bytes, (size_t)(count * each), NULL, NULL};
  return true;
}

static bool numberOf(OnnxText text, size_t *number) {
  char digits[32];
  if (text.length == 0 || text.length >= sizeof digits)
    return false;
  memcpy(digits, text.data, text.length);
  digits[text.length] = 0;
  char *end;
  *number = strtoull(digits, &end, 10);
  return !*end && digits[0] >= '0' && digits[0] <= '9';
}

// A path below the model's folder, without links on the way out of it.
static bool pathOf(Node *node, const OnnxTensor *tensor, OnnxText location, char *path) {
  const char *model = node->import->path, *slash = strrchr(model, '/');
  int folder = slash ? (int)(slash - model) : 1;
  char root[PATH_MAX], real[PATH_MAX];
  bool fits = location.length > 0 && location.length + (size_t)folder + 2 < PATH_MAX &&
              !memchr(location.data, 0, location.length) && location.data[0] != '/';
  if (!fits)
    return onnxError(node, "tensor '%.*s' names the data file '%.*s'; a file in the model's folder is accepted",
                     ONNX_SHOWN(tensor->name), ONNX_SHOWN(location));
  snprintf(path, PATH_MAX, "%.*s/%.*s", folder, slash ? model : ".", (int)location.length, location.data);
  snprintf(root, sizeof root, "%.*s/", folder, slash ? model : ".");
  char *realRoot = realpath(root, NULL);
  bool found = realRoot && realpath(path, real);
  bool inside = found && strncmp(real, realRoot, strlen(realRoot)) == 0 &&
                (real[strlen(realRoot)] == '/' || strcmp(realRoot, "/") == 0);
  struct stat about;
  bool isLink = found && lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
  free(realRoot);
  if (!found)
    return onnxError(node, "tensor '%.*s': its data file '%.*s' is missing", ONNX_SHOWN(tensor->name),
                     ONNX_SHOWN(location));
  return (inside && !isLink) ||
         onnxError(node, "tensor '%.*s': its data file '%.*s' is outside the model's folder, or a link",
                   ONNX_SHOWN(tensor->name), ONNX_SHOWN(location));
}

static bool externalData(Node *node, const OnnxTensor *tensor, size_t wanted, Data *data) {
  OnnxText location = {"", 0};
  size_t offset = 0, length = 0;
  bool hasLength = false, ok = true;
  for (int64_t i = 0; i < tensor->keys.count; ++i) {
    OnnxText key = tensor->keys.items[i], text = tensor->values.items[i];
    if (onnxTextIs(key, "location"))
      location = text;
    else if (onnxTextIs(key, "offset"))
      ok &= numberOf(text, &offset);
    else if (onnxTextIs(key, "length"))
      ok &= hasLength = numberOf(text, &length);
  }
  char path[PATH_MAX];
  if (!ok)
    return onnxError(node, "tensor '%.*s': offset or length of its data is no number", ONNX_SHOWN(tensor->name));
  if (!pathOf(node, tensor, location, path))
    return false;
  tessera_error_t why;
  const OnnxFile *file = onnxImportMap(node->import, path, &why);
  if (!file)
    return onnxError(node, "tensor '%.*s': %s", ONNX_SHOWN(tensor->name), why.text);
  length = hasLength ? length : wanted;
  const tessera_mapping_t *mapping = file->mapping;
  if (offset > mapping->size || length > mapping->size - offset)
    return onnxError(node, "tensor '%.*s' has %zu bytes of data at %zu; the file has %zu bytes",
                     ONNX_SHOWN(tensor->name), length, offset, mapping->size);
  *data = (Data){mapping->data + offset, length, file->path, mapping->data};
  return true;
}

static bool countOf(Node *node, const OnnxTensor *tensor, int64_t *count) {
  *count = 1;
  if (tensor->dims.count > OnnxMaxRank)
    return onnxError(node, "tensor '%.*s' has rank %lld; at most %d is accepted", ONNX_SHOWN(tensor->name),
                     (long long)tensor->dims.count, OnnxMaxRank);
  for (int64_t i = 0; i < tensor->dims.count; ++i)
    if (tensor->dims.items[i] < 0 || __builtin_mul_overflow(*count, tensor->dims.items[i], count) ||
        *count > INT64_MAX / 16)
      return onnxError(node, "tensor '%.*s' has the size %lld", ONNX_SHOWN(tensor->name),
                       (long long)tensor->dims.items[i]);
  return true;
}

static int64_t codeAt(OnnxType type, const unsigned char *bytes, int64_t i) {
  int bits = onnxTypeBits(type), each = 8 / bits;
  int64_t code = bytes[i / each] >> (i % each * bits) & ((1 << bits) - 1);
  bool isNegative = onnxTypeKind(type) == OnnxType_Signed && code >> (bits - 1);
  return isNegative ? code - (1 << bits) : code;
}

static MlirValue codeOf(Body *body, const MlirValue *x) { // and what lies above it
  return ONNX_OP(ArithOp_ShRUI, x[0], x[1]);
}

// Rows that begin with a byte stay in the file: the program takes the codes out of the bytes, as it takes those of
// MatMulNBits, so that products can read the bytes (tile-find-low-bit).
static OnnxValue *unpacked(Node *node, const OnnxTensor *tensor, const Data *data, const MlirValue *sizes) {
  int rank = (int)tensor->dims.count, bits = onnxTypeBits(tensor->type), each = 8 / bits;
  MlirValue bytes[OnnxMaxRank], shifts[8], number = tileBuildIndex(node->b, each);
  memcpy(bytes, sizes, (size_t)rank * sizeof *bytes);
  bytes[rank - 1] = tileBuildIndex(node->b, tensor->dims.items[rank - 1] / each);
  bytes[rank] = tileBuildIndex(node->b, 1);
  OnnxValue *packed = onnxValue(node, Onnx_U8, rank + 1, bytes);
  packed->bytes = data->bytes;
  onnxNoteWeight(node, packed, data->file, data->start, tensor->name);
  for (int i = 0; i < each; ++i)
    shifts[i] = tileBuildInteger(node->b, onnxElementType(node, Onnx_U8), i * bits);
  OnnxValue *inputs[] = {packed, onnxOfElements(node, Onnx_U8, 1, &number, shifts, each)};
  OnnxValue *shifted = onnxMap(node, Onnx_U8, 2, inputs, codeOf, NULL);
  OnnxValue *codes = shifted ? onnxOfCodes(node, shifted, tensor->type) : NULL;
  return codes ? onnxReshape(node, codes, rank, sizes) : NULL;
}

static OnnxValue *narrowTensor(Node *node, const OnnxTensor *tensor, int64_t count, const Data *data,
                               const MlirValue *sizes) {
  enum { Large = 1024 };
  int rank = (int)tensor->dims.count;
  bool fillsRows = rank > 0 && rank < OnnxMaxRank && tensor->dims.items[rank - 1] * onnxTypeBits(tensor->type) % 8 == 0;
  if (count > Large && fillsRows && data->file)
    return unpacked(node, tensor, data, sizes);
  unsigned char *bytes = onnxAllocate(node, (size_t)count + 1);
  if (!bytes) {
    onnxOutOfMemory(node);
    return NULL;
  }
  for (int64_t i = 0; i < count; ++i)
    bytes[i] = (unsigned char)codeAt(tensor->type, data->bytes, i);
  OnnxValue *value = onnxValue(node, tensor->type, rank, sizes);
  value->bytes = bytes;
  return value;
}

OnnxValue *onnxValueOfTensor(Node *node, const OnnxTensor *tensor) {
  int64_t count;
  int each = onnxTypeBytes(tensor->type);
  if (!each) {
    onnxError(node, "tensor '%.*s' has type %s, which is not supported", ONNX_SHOWN(tensor->name),
              onnxTypeName(tensor->type));
    return NULL;
  }
  if (!countOf(node, tensor, &count))
    return NULL;
  size_t wanted = (size_t)bytesOf(tensor->type, count);
  Data data = {(const unsigned char *)tensor->raw.data, tensor->raw.length, node->import->path,
               node->import->mapping->data};
  if (tensor->isExternal ? !externalData(node, tensor, wanted, &data)
                         : !tensor->hasRaw && !typedData(node, tensor, count, &data))
    return NULL;
  if (data.size != wanted) {
    onnxError(node, "tensor '%.*s' has %zu bytes of data; its shape and type make %zu", ONNX_SHOWN(tensor->name),
              data.size, wanted);
    return NULL;
  }
  MlirValue sizes[OnnxMaxRank];
  for (int64_t i = 0; i < tensor->dims.count; ++i)
    sizes[i] = tileBuildIndex(node->b, tensor->dims.items[i]);
  if (onnxTypeBits(tensor->type) < 8)
    return narrowTensor(node, tensor, count, &data, sizes);
  OnnxValue *value = onnxValue(node, tensor->type, (int)tensor->dims.count, sizes);
  value->bytes = data.bytes ? data.bytes : (const unsigned char *)"";
  if (data.file && data.bytes)
    onnxNoteWeight(node, value, data.file, data.start, tensor->name);
  return value;
}
