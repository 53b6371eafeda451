// Finds entries and reads their signatures. See entry.h.
#include "lib/target/entry.h"

#include "dialects/sparse/sparse.h"
#include "dialects/tile/quantized.h"
#include "lib/ir/support.h"
#include "upstream/func.h"

#include <stdlib.h>
#include <string.h>

MlirOperation tileEntryFind(MlirModule module, const char *name) {
  MlirBlock body = mlirModuleGetBody(module);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute symbol = tileOpAttribute(op, "sym_name");
    if (funcFuncOpIsA(op) && mlirAttributeIsAString(symbol) && tileStringEquals(mlirStringAttrGetValue(symbol), name))
      return op;
  }
  return (MlirOperation){NULL};
}

static bool readElement(MlirType type, tessera_element_t *out_element) {
  char text[64];
  tileTypeText(type, text, sizeof text);
  if (strcmp(text, "index") == 0) {
    *out_element = TESSERA_I64;
    return true;
  }
  for (int i = 0; i < TESSERA_ELEMENT_COUNT; ++i)
    if (strcmp(text, tessera_element_name((tessera_element_t)i)) == 0) {
      *out_element = (tessera_element_t)i;
      return true;
    }
  return false;
}

// Elements of 2 to 7 bits: the caller's array has bytes, and each row begins with one.
static bool readPacked(const char *element, tessera_value_t *value) {
  value->packing.type = tessera_packed_type(element);
  if (!value->packing.type || value->rank < 1)
    return false;
  for (int i = 0; i < value->rank; ++i)
    if (value->shape[i] < 0)
      return false;
  value->element = TESSERA_U8;
  value->packing.columns = value->shape[value->rank - 1];
  value->shape[value->rank - 1] = tessera_packed_row_bytes(&value->packing);
  return true;
}

static bool readValue(MlirType type, const char *what, intptr_t index, tessera_value_t *value, tessera_error_t *error) {
  char text[256];
  *value = (tessera_value_t){.is_memref = mlirTypeIsAMemRef(type)};
  value->in_memory = value->is_memref || mlirTypeIsARankedTensor(type);
  if (value->in_memory) {
    value->rank = (int)mlirShapedTypeGetRank(type);
    for (int i = 0; i < value->rank && i < TESSERA_MAX_RANK; ++i)
      value->shape[i] = mlirShapedTypeIsDynamicDim(type, i) ? -1 : mlirShapedTypeGetDimSize(type, i);
  }
  MlirType element = value->in_memory ? mlirShapedTypeGetElementType(type) : type;
  // The caller's arrays are contiguous; a result may have any strides.
  bool isPlain = value->is_memref ? what[0] == 'r' || mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type))
                                  : !value->in_memory || mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type));
  bool isRead = isPlain && value->rank <= TESSERA_MAX_RANK &&
                (readElement(element, &value->element) || readPacked(tileTypeText(element, text, sizeof text), value));
  if (!isRead && value->packing.type)
    return tessera_fail(error,
                        "%s %ld of the entry function has type %s, which cannot be passed: elements of fewer than 8 "
                        "bits need an axis, and known sizes",
                        what, (long)index, tileTypeText(type, text, sizeof text));
  if (!isRead)
    return tessera_fail(error, "%s %ld of the entry function has type %s, which cannot be passed", what, (long)index,
                        tileTypeText(type, text, sizeof text));
  return true;
}

_Static_assert((int)TESSERA_SPARSE_PARTS == (int)SparseScheme_Parts, "the schemes stand in one order");

// What its .npz file and whoever checks it need to know of a sparse tensor.
static void describeSparse(MlirType type, tessera_sparse_t *sparse) {
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  SparseStorage storage = sparseEncodingGetStorage(encoding);
  snprintf(sparse->format, sizeof sparse->format, "%s", sparseEncodingGetFormat(encoding)->name);
  tileAttributeText(encoding, sparse->encoding, sizeof sparse->encoding);
  sparse->rank = (int)mlirShapedTypeGetRank(type);
  for (int i = 0; i < sparse->rank; ++i)
    sparse->shape[i] = mlirShapedTypeIsDynamicDim(type, i) ? -1 : mlirShapedTypeGetDimSize(type, i);
  for (int i = 0; i < 2; ++i)
    sparse->cell[i] = storage.cell[i];
  sparse->scheme = (tessera_sparse_scheme_t)storage.scheme;
  sparse->axis = storage.major;
  sparse->is_unordered = storage.isUnordered;
  if (storage.scheme == SparseScheme_Windows) {
    sparse->axis = storage.windows.axis;
    sparse->places = storage.windows.m / storage.windows.together;
  }
}

// The components of a sparse tensor, then its open sizes.
static bool readSparse(MlirType type, const char *what, intptr_t index, tessera_value_t *values, int *count,
                       tessera_error_t *error) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  int components = (int)sparseTypeGetComponents(type, parts), at = *count;
  char text[256];
  if (sparseEncodingIs(sparseTypeGetEncoding(type), SparseScheme_Parts))
    return tessera_fail(error, "%s %ld of the entry function has type %s, which cannot be passed: pass its parts", what,
                        (long)index, tileTypeText(type, text, sizeof text));
  for (int i = 0; i < components; ++i)
    if (!readValue(parts[i].type, what, index, &values[at + i], error))
      return false;
  tessera_sparse_t *sparse = &values[at].sparse;
  describeSparse(type, sparse);
  sparse->num_components = sparse->num_values = components;
  for (int i = 0; i < sparse->rank; ++i)
    if (sparse->shape[i] < 0)
      values[at + sparse->num_values++] = (tessera_value_t){.element = TESSERA_I64};
  *count = at + sparse->num_values;
  return true;
}

// The parts of a quantized tensor, each an array of its own.
static bool readQuantized(MlirType type, const char *what, intptr_t index, tessera_value_t *values, int *count,
                          tessera_error_t *error) {
  TileQuantizedPart parts[TileQuantizedMaxParts];
  intptr_t number = tileQuantizedTypeGetParts(type, parts);
  for (intptr_t i = 0; i < number; ++i)
    if (!readValue(parts[i].type, what, index, &values[(*count)++], error))
      return false;
  return true;
}

typedef MlirType (*TypeAt)(MlirType function, intptr_t index);

// Room for all values of the types.
static intptr_t countValues(MlirType function, TypeAt typeAt, intptr_t number) {
  intptr_t count = 0;
  for (intptr_t i = 0; i < number; ++i) {
    bool isSparse = !mlirAttributeIsNull(sparseTypeGetEncoding(typeAt(function, i)));
    count += isSparse ? SPARSE_MAX_COMPONENTS + mlirShapedTypeGetRank(typeAt(function, i)) : TileQuantizedMaxParts;
  }
  return count;
}

static bool readValues(MlirType function, TypeAt typeAt, intptr_t number, const char *what, tessera_value_t *values,
                       int *count, tessera_error_t *error) {
  *count = 0;
  for (intptr_t i = 0; i < number; ++i) {
    MlirType type = typeAt(function, i);
    if (!mlirAttributeIsNull(sparseTypeGetEncoding(type))) {
      if (!readSparse(type, what, i, values, count, error))
        return false;
    } else if (tileTypeIsQuantized(type)) {
      if (!readQuantized(type, what, i, values, count, error))
        return false;
    } else if (!readValue(type, what, i, &values[(*count)++], error)) {
      return false;
    }
  }
  return true;
}

// A function the caller can reach: with a body, and not private to the module.
static bool checkReachable(MlirOperation function, tessera_error_t *error) {
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(function, "sym_name"));
  if (mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0))))
    return tessera_fail(error, "function '%.*s' has no body", (int)name.length, name.data);
  if (!tileSymbolIsPublic(function))
    return tessera_fail(error, "function '%.*s' is private: an entry must be public", (int)name.length, name.data);
  return true;
}

bool tileEntrySignature(MlirOperation function, tessera_signature_t *signature, tessera_error_t *error) {
  *signature = (tessera_signature_t){.arguments = NULL};
  if (!checkReachable(function, error))
    return false;
  MlirType type = mlirTypeAttrGetValue(tileOpAttribute(function, "function_type"));
  intptr_t arguments = mlirFunctionTypeGetNumInputs(type), results = mlirFunctionTypeGetNumResults(type);
  if (arguments > TESSERA_MAX_VALUES || results > TESSERA_MAX_VALUES)
    return tessera_fail(error, "the entry function has %ld arguments and %ld results; at most %d of each",
                        (long)arguments, (long)results, TESSERA_MAX_VALUES);
  if (!tessera_signature_create(signature, (int)countValues(type, mlirFunctionTypeGetInput, arguments),
                                (int)countValues(type, mlirFunctionTypeGetResult, results), error))
    return false;
  bool ok = readValues(type, mlirFunctionTypeGetInput, arguments, "argument", signature->arguments,
                       &signature->num_arguments, error) &&
            readValues(type, mlirFunctionTypeGetResult, results, "result", signature->results, &signature->num_results,
                       error);
  if (!ok)
    tessera_signature_destroy(signature);
  return ok;
}

//===--- all entries of a module ------------------------------------------------===//

static bool isEntry(MlirOperation op) {
  return funcFuncOpIsA(op) && tileSymbolIsPublic(op) &&
         !mlirBlockIsNull(mlirRegionGetFirstBlock(funcFuncOpGetBody(op)));
}

static bool addEntry(MlirOperation function, TileEntries *entries, tessera_error_t *error) {
  TileEntry *grown = realloc(entries->items, ((size_t)entries->count + 1) * sizeof *grown);
  if (!grown)
    return tessera_fail(error, "out of memory");
  entries->items = grown;
  TileEntry *entry = &grown[entries->count];
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(function, "sym_name"));
  *entry = (TileEntry){.name = strndup(name.data, name.length)};
  ++entries->count;
  entry->isPassable = tileEntrySignature(function, &entry->signature, NULL);
  return entry->name || tessera_fail(error, "out of memory");
}

bool tileEntriesCollect(MlirModule module, TileEntries *entries, tessera_error_t *error) {
  *entries = (TileEntries){NULL, 0};
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (isEntry(op) && !addEntry(op, entries, error))
      return false;
  return true;
}

void tileEntriesDestroy(TileEntries *entries) {
  for (int i = 0; i < entries->count; ++i) {
    free(entries->items[i].name);
    tessera_signature_destroy(&entries->items[i].signature);
  }
  free(entries->items);
  *entries = (TileEntries){NULL, 0};
}
