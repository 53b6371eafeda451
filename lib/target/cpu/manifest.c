// The manifest of a program as a constant of its LLVM module: field by field what lib/runtime/manifest.h declares.
#include "lib/target/cpu/ahead_of_time.h"
#include "lib/target/cpu/program_weights.h"

#include "dialects/tile/discardable.h"
#include "lib/runtime/tessera.h"
#include "lib/support/version.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/llvm.h"

#include <stdlib.h>
#include <string.h>

typedef struct Constants {
  LLVMModuleRef module;
  LLVMContextRef context;
  LLVMTypeRef i64, pointer;
} Constants;

static LLVMValueRef integer(const Constants *constants, int64_t value) {
  return LLVMConstInt(constants->i64, (unsigned long long)value, true);
}

static LLVMValueRef null(const Constants *constants) { return LLVMConstNull(constants->pointer); }

// An unnamed constant holding `value`, by its address.
static LLVMValueRef address(const Constants *constants, LLVMValueRef value) {
  LLVMValueRef global = LLVMAddGlobal(constants->module, LLVMTypeOf(value), "");
  LLVMSetInitializer(global, value);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  return global;
}

static LLVMValueRef string(const Constants *constants, const char *text) {
  return address(constants, LLVMConstStringInContext2(constants->context, text, strlen(text), false));
}

static LLVMValueRef structure(const Constants *constants, LLVMValueRef *fields, unsigned count) {
  return LLVMConstStructInContext(constants->context, fields, count, false);
}

// The address of an array, or null for none. All `items` have the type of the first.
static LLVMValueRef array(const Constants *constants, LLVMValueRef *items, int count) {
  if (!count)
    return null(constants);
  return address(constants, LLVMConstArray2(LLVMTypeOf(items[0]), items, (uint64_t)count));
}

static LLVMValueRef sizesOf(const Constants *constants, const int64_t *shape, int rank) {
  LLVMValueRef sizes[TESSERA_MAX_RANK];
  for (int i = 0; i < rank; ++i)
    sizes[i] = integer(constants, shape[i]);
  return array(constants, sizes, rank);
}

static LLVMValueRef sparseType(const Constants *constants, const tessera_sparse_t *sparse) {
  if (!sparse->num_values)
    return null(constants);
  LLVMValueRef fields[] = {string(constants, sparse->format),        string(constants, sparse->encoding),
                           integer(constants, sparse->num_values),   integer(constants, sparse->num_components),
                           integer(constants, sparse->rank),         sizesOf(constants, sparse->shape, sparse->rank),
                           integer(constants, sparse->cell[0]),      integer(constants, sparse->cell[1]),
                           integer(constants, sparse->axis),         integer(constants, sparse->places),
                           integer(constants, sparse->is_unordered), integer(constants, sparse->scheme)};
  return address(constants, structure(constants, fields, sizeof fields / sizeof *fields));
}

static LLVMValueRef valueType(const Constants *constants, const tessera_value_t *value) {
  int64_t kind = value->is_memref ? TESSERA_MEMREF : value->in_memory ? TESSERA_TENSOR : TESSERA_SCALAR;
  LLVMValueRef fields[] = {string(constants, tessera_element_name(value->element)), integer(constants, kind),
                           integer(constants, value->rank), sizesOf(constants, value->shape, value->rank),
                           sparseType(constants, &value->sparse)};
  return structure(constants, fields, 5);
}

static LLVMValueRef valueTypes(const Constants *constants, const tessera_value_t *values, int count) {
  LLVMValueRef *types = calloc((size_t)count + 1, sizeof *types);
  for (int i = 0; types && i < count; ++i)
    types[i] = valueType(constants, &values[i]);
  LLVMValueRef all = types ? array(constants, types, count) : null(constants);
  free(types);
  return all;
}

// The packed function of NAME followed by `suffix`, or null.
static LLVMValueRef packedFunction(const Constants *constants, const char *name, const char *suffix) {
  char symbol[512];
  snprintf(symbol, sizeof symbol, "tessera_packed_%s%s", name, suffix);
  LLVMValueRef function = LLVMGetNamedFunction(constants->module, symbol);
  return function ? function : null(constants);
}

// In any of the host's parts: is NAME followed by `suffix` marked?
static LLVMValueRef hostAccess(const Constants *constants, const TileTranslation *translation, const char *name,
                               const char *suffix) {
  char symbol[512];
  bool touches = false;
  snprintf(symbol, sizeof symbol, "%s%s", name, suffix);
  for (int v = 0; v < translation->numVariants; ++v) {
    MlirAttribute wanted = mlirStringAttrGet(mlirOperationGetContext(translation->module), tileString(symbol));
    TileOps functions = tileCollectOps(translation->variants[v].module, llvmLLVMFuncOpIsA);
    for (intptr_t i = 0; i < functions.count; ++i)
      touches |= mlirAttributeEqual(tileOpAttribute(functions.items[i], "sym_name"), wanted) &&
                 !mlirAttributeIsNull(tileOpGetHostAccess(functions.items[i]));
    tileOpsFree(&functions);
  }
  return integer(constants, touches);
}

static LLVMValueRef entry(const Constants *constants, const TileTranslation *translation, const TileEntry *entry) {
  const tessera_signature_t *signature = &entry->signature;
  LLVMValueRef fields[] = {string(constants, entry->name),
                           packedFunction(constants, entry->name, ""),
                           packedFunction(constants, entry->name, "_into"),
                           integer(constants, signature->num_arguments),
                           valueTypes(constants, signature->arguments, signature->num_arguments),
                           integer(constants, signature->num_results),
                           valueTypes(constants, signature->results, signature->num_results),
                           hostAccess(constants, translation, entry->name, ""),
                           hostAccess(constants, translation, entry->name, "_into")};
  return structure(constants, fields, sizeof fields / sizeof *fields);
}

static LLVMValueRef imagesOf(const Constants *constants, const TileTranslation *translation) {
  LLVMValueRef images = LLVMGetNamedGlobal(constants->module, TILE_IMAGES_TABLE);
  return images && translation->numVariants ? images : null(constants);
}

//===--- images -----------------------------------------------------------------===//

static LLVMValueRef bytes(const Constants *constants, const void *data, int64_t size) {
  // Texts end with a zero, which the size does not count.
  return address(constants, LLVMConstStringInContext2(constants->context, data, (size_t)size, false));
}

static LLVMValueRef imageKernels(const Constants *constants, const tessera_image_t *image) {
  LLVMValueRef *kernels = calloc((size_t)image->num_kernels + 1, sizeof *kernels);
  for (int64_t i = 0; kernels && i < image->num_kernels; ++i) {
    LLVMValueRef fields[] = {string(constants, image->kernels[i].name),
                             integer(constants, image->kernels[i].dynamic_shared_bytes),
                             integer(constants, image->kernels[i].cooperative)};
    kernels[i] = structure(constants, fields, 3);
  }
  LLVMValueRef all = kernels ? array(constants, kernels, (int)image->num_kernels) : null(constants);
  free(kernels);
  return all;
}

static LLVMValueRef imageRecord(const Constants *constants, const tessera_image_t *image) {
  LLVMValueRef fields[] = {string(constants, image->module), string(constants, image->chip),
                           string(constants, image->form),   bytes(constants, image->data, image->size),
                           integer(constants, image->size),  integer(constants, image->num_kernels),
                           imageKernels(constants, image)};
  return structure(constants, fields, 7);
}

static void fillTable(const Constants *constants, LLVMValueRef table, LLVMValueRef items, int64_t first,
                      int64_t count) {
  LLVMValueRef at = integer(constants, first);
  LLVMTypeRef record = LLVMGetElementType(LLVMGlobalGetValueType(items));
  LLVMValueRef fields[] = {integer(constants, count), LLVMConstGEP2(record, items, &at, 1)};
  LLVMSetInitializer(table, structure(constants, fields, 2));
  LLVMSetGlobalConstant(table, true);
}

// The records of all parts, one behind the other.
static LLVMValueRef allImages(const Constants *constants, const TileTranslation *translation, int64_t *count) {
  *count = 0;
  for (int v = 0; v < translation->numVariants; ++v)
    *count += translation->variants[v].images.count;
  LLVMValueRef *records = calloc((size_t)*count + 1, sizeof *records);
  for (int64_t v = 0, at = 0; records && v < translation->numVariants; ++v)
    for (int64_t i = 0; i < translation->variants[v].images.count; ++i)
      records[at++] = imageRecord(constants, &translation->variants[v].images.items[i]);
  LLVMValueRef items = records && *count ? array(constants, records, (int)*count) : NULL;
  free(records);
  return items;
}

void tileCpuAddImages(LLVMModuleRef module, const TileTranslation *translation) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  Constants constants = {module, context, LLVMInt64TypeInContext(context), LLVMPointerTypeInContext(context, 0)};
  int64_t all, first = 0;
  LLVMValueRef items = allImages(&constants, translation, &all);
  for (int v = 0; v < translation->numVariants && items; ++v) {
    char name[64];
    int64_t count = translation->variants[v].images.count;
    snprintf(name, sizeof name, translation->numVariants > 1 ? TILE_IMAGES_TABLE ".%d" : TILE_IMAGES_TABLE, v);
    LLVMValueRef table = LLVMGetNamedGlobal(module, name);
    if (table)
      fillTable(&constants, table, items, first, count);
    first += count;
  }
  if (items && translation->numVariants > 1) { // for whoever asks what the program has
    LLVMTypeRef fields[] = {constants.i64, constants.pointer};
    LLVMTypeRef type = LLVMStructTypeInContext(context, fields, 2, false);
    LLVMValueRef table = LLVMAddGlobal(module, type, TILE_IMAGES_TABLE);
    LLVMSetLinkage(table, LLVMInternalLinkage);
    fillTable(&constants, table, items, 0, all);
  }
}

//===--- constants in files -----------------------------------------------------===//

static LLVMValueRef weight(const Constants *constants, const TileCpuWeight *taken, const TileProgramWeight *where) {
  LLVMValueRef fields[] = {string(constants, where->file),
                           integer(constants, (int64_t)where->source.offset),
                           integer(constants, (int64_t)where->source.bytes),
                           integer(constants, (int64_t)where->source.checksum),
                           integer(constants, (int64_t)taken->alignment),
                           LLVMGetNamedGlobal(constants->module, taken->symbol)};
  return structure(constants, fields, sizeof fields / sizeof *fields);
}

static LLVMValueRef allWeights(const Constants *constants, const TileProgramWeights *weights) {
  int count = weights->taken.count;
  LLVMValueRef *items = calloc((size_t)count + 1, sizeof *items);
  for (int i = 0; items && i < count; ++i)
    items[i] = weight(constants, &weights->taken.items[i], &weights->items[i]);
  LLVMValueRef all = items ? array(constants, items, count) : null(constants);
  free(items);
  return all;
}

//===--- the whole ----------------------------------------------------------------===//

bool tileCpuAddManifest(LLVMModuleRef module, const TileTranslation *translation, const TileCpuChip *chip,
                        const TileProgramWeights *weights, tessera_error_t *error) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  Constants constants = {module, context, LLVMInt64TypeInContext(context), LLVMPointerTypeInContext(context, 0)};
  int count = translation->entries.count;
  LLVMValueRef *entries = calloc((size_t)count + 1, sizeof *entries);
  if (!entries)
    return tessera_fail(error, "out of memory");
  for (int i = 0; i < count; ++i)
    entries[i] = entry(&constants, translation, &translation->entries.items[i]);
  LLVMValueRef fields[] = {integer(&constants, TESSERA_MANIFEST_VERSION),
                           string(&constants, "Tessera " TESSERA_VERSION),
                           string(&constants, "cpu"),
                           string(&constants, chip->name),
                           string(&constants, chip->needs),
                           string(&constants, translation->pipeline),
                           integer(&constants, translation->fallbackOps),
                           integer(&constants, count),
                           array(&constants, entries, count),
                           imagesOf(&constants, translation),
                           integer(&constants, weights->taken.count),
                           allWeights(&constants, weights)};
  free(entries);
  LLVMValueRef value = structure(&constants, fields, sizeof fields / sizeof *fields);
  LLVMValueRef global = LLVMAddGlobal(module, LLVMTypeOf(value), "tessera_manifest");
  LLVMSetInitializer(global, value);
  LLVMSetGlobalConstant(global, true);
  return true;
}
