// Chooses the constants that stay out of a program. See program_weights.h.
#include "lib/target/cpu/program_weights.h"

#include "lib/target/prepared_weights.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

//===--- which -----------------------------------------------------------------===//

static bool isInFile(const TileCpuWeight *weight, void *userData) {
  tessera_weights_source_t source;
  (void)userData;
  return tessera_weights_find(weight->data, weight->bytes, &source);
}

// In the file that it came from, if code can read it there, else in that of prepared weights.
static bool findSource(const TileTranslation *translation, const TileCpuWeight *weight,
                       tessera_weights_source_t *source, tessera_error_t *error) {
  bool isInFile = tessera_weights_find(weight->data, weight->bytes, source);
  if (isInFile && (!translation->prepared || source->offset % weight->alignment == 0))
    return true;
  return tilePreparedAdd(translation->prepared, weight->data, weight->bytes, source, error);
}

//===--- paths -----------------------------------------------------------------===//

// The folder of a path that may not exist yet, without links. Null where the folder is missing.
static char *folderOf(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash == path ? strdup("/") : slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
  char *real = folder ? realpath(folder, NULL) : NULL;
  free(folder);
  return real;
}

// As the manifest names a file: from the program's folder if it lies below, else from the root.
static char *pathFrom(const char *file, const char *program, tessera_error_t *error) {
  char *folder = folderOf(file), *base = strcmp(program, "-") == 0 ? NULL : folderOf(program), path[PATH_MAX];
  const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file, *from = path;
  if (!folder) {
    tessera_fail(error, "%s: its folder is missing", file);
    free(base);
    return NULL;
  }
  snprintf(path, sizeof path, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
  size_t length = base ? strlen(base) : 0;
  if (length > 1 && strncmp(path, base, length) == 0 && path[length] == '/')
    from += length + 1;
  free(folder);
  free(base);
  char *copy = strdup(from);
  if (!copy)
    tessera_fail(error, "out of memory");
  return copy;
}

//===--- taking ----------------------------------------------------------------===//

bool tileProgramTakeWeights(const TileTranslation *translation, TileProgramWeights *weights, tessera_error_t *error) {
  *weights = (TileProgramWeights){.items = NULL};
  if (translation->embedsWeights || translation->numVariants > 1)
    return true;
  bool ok =
      tileCpuTakeWeights(translation->module, translation->prepared ? NULL : isInFile, NULL, &weights->taken, error);
  weights->items = ok ? calloc((size_t)weights->taken.count + 1, sizeof *weights->items) : NULL;
  ok = ok && (weights->items || tessera_fail(error, "out of memory"));
  for (int i = 0; i < weights->taken.count && ok; ++i) {
    TileProgramWeight *item = &weights->items[i];
    ok = findSource(translation, &weights->taken.items[i], &item->source, error) &&
         (item->file = pathFrom(item->source.file, translation->output, error));
  }
  return ok;
}

void tileProgramFreeWeights(TileProgramWeights *weights) {
  for (int i = 0; i < weights->taken.count && weights->items; ++i)
    free(weights->items[i].file);
  free(weights->items);
  tileCpuFreeWeights(&weights->taken);
  *weights = (TileProgramWeights){.items = NULL};
}

//===--- mapping ---------------------------------------------------------------===//

typedef struct Entries {
  LLVMContextRef context;
  LLVMTypeRef pointer, integer, needType, spoilType;
  LLVMValueRef need, spoil, manifest;
} Entries;

static Entries declareCallees(LLVMModuleRef module) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  Entries entries = {.context = context,
                     .pointer = LLVMPointerTypeInContext(context, 0),
                     .integer = LLVMInt64TypeInContext(context),
                     .manifest = LLVMGetNamedGlobal(module, "tessera_manifest")};
  LLVMTypeRef parameters[] = {entries.pointer, entries.integer, entries.integer};
  entries.needType = LLVMFunctionType(LLVMInt1TypeInContext(context), parameters, 1, false);
  entries.spoilType = LLVMFunctionType(LLVMVoidTypeInContext(context), parameters, 3, false);
  entries.need = LLVMAddFunction(module, "tessera_need_weights", entries.needType);
  entries.spoil = LLVMAddFunction(module, "tessera_spoil", entries.spoilType);
  unsigned zeroExtended = LLVMGetEnumAttributeKindForName("zeroext", 7); // as C returns a bool
  LLVMAddAttributeAtIndex(entries.need, LLVMAttributeReturnIndex, LLVMCreateEnumAttribute(context, zeroExtended, 0));
  return entries;
}

static bool isDescriptor(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMStructTypeKind && LLVMCountStructElementTypes(type) &&
         LLVMGetTypeKind(LLVMStructGetTypeAtIndex(type, 0)) == LLVMPointerTypeKind;
}

// What nobody takes for a result: no data, NaN, all bits set.
static LLVMValueRef noResult(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
  case LLVMIntegerTypeKind:
    return LLVMConstAllOnes(type);
  case LLVMHalfTypeKind:
  case LLVMBFloatTypeKind:
  case LLVMFloatTypeKind:
  case LLVMDoubleTypeKind:
    return LLVMConstRealOfString(type, "nan");
  default:
    break;
  }
  unsigned count = LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMCountStructElementTypes(type) : 0;
  LLVMValueRef *fields = isDescriptor(type) ? NULL : calloc(count, sizeof *fields);
  if (!count || !fields)
    return LLVMConstNull(type);
  for (unsigned i = 0; i < count; ++i)
    fields[i] = noResult(LLVMStructGetTypeAtIndex(type, i));
  LLVMValueRef all = LLVMConstStructInContext(LLVMGetTypeContext(type), fields, count, LLVMIsPackedStruct(type));
  free(fields);
  return all;
}

// What the entry stores to its first parameter in the end: its results. Null: it has none there.
static LLVMValueRef findStoredResults(LLVMValueRef function) {
  LLVMValueRef first = LLVMCountParams(function) ? LLVMGetParam(function, 0) : NULL;
  LLVMUseRef use = first ? LLVMGetFirstUse(first) : NULL;
  for (; use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == first)
      return LLVMGetOperand(user, 0);
  }
  return NULL;
}

static void spoilBuffers(const Entries *entries, LLVMBuilderRef builder, LLVMValueRef function,
                         const tessera_signature_t *signature) {
  unsigned first = LLVMCountParams(function) - (unsigned)signature->num_results;
  for (int i = 0; i < signature->num_results; ++i) {
    const tessera_value_t *value = &signature->results[i];
    LLVMValueRef arguments[] = {
        LLVMGetParam(function, first + (unsigned)i), LLVMConstInt(entries->integer, (unsigned long long)value->rank, 0),
        LLVMConstInt(entries->integer, (unsigned long long)tessera_element_bytes(value->element), 0)};
    LLVMBuildCall2(builder, entries->spoilType, entries->spoil, arguments, 3, "");
  }
}

// Before all else the entry asks for its weights. Where they are missing and nobody takes the error, it returns at
// once.
static void guardEntry(const Entries *entries, LLVMValueRef function, const tessera_signature_t *signature,
                       bool isInto) {
  LLVMBasicBlockRef body = LLVMGetEntryBasicBlock(function);
  LLVMBasicBlockRef ask = LLVMInsertBasicBlockInContext(entries->context, body, "");
  LLVMBasicBlockRef missing = LLVMAppendBasicBlockInContext(entries->context, function, "");
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(entries->context);
  LLVMPositionBuilderAtEnd(builder, ask);
  LLVMValueRef manifest = entries->manifest, stored = isInto ? NULL : findStoredResults(function);
  LLVMBuildCondBr(builder, LLVMBuildCall2(builder, entries->needType, entries->need, &manifest, 1, ""), body, missing);
  LLVMPositionBuilderAtEnd(builder, missing);
  if (isInto)
    spoilBuffers(entries, builder, function, signature);
  if (stored)
    LLVMBuildStore(builder, noResult(LLVMTypeOf(stored)), LLVMGetParam(function, 0));
  LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(function));
  if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
    LLVMBuildRetVoid(builder);
  else
    LLVMBuildRet(builder, noResult(type));
  LLVMDisposeBuilder(builder);
}

void tileProgramNeedWeights(LLVMModuleRef module, const TileTranslation *translation,
                            const TileProgramWeights *weights) {
  if (!weights->taken.count)
    return;
  Entries callees = declareCallees(module);
  static const char *const forms[] = {"_mlir_ciface_%s", "_mlir_ciface_%s_into"};
  for (int i = 0; i < translation->entries.count; ++i)
    for (int form = 0; form < 2; ++form) {
      char symbol[512];
      snprintf(symbol, sizeof symbol, forms[form], translation->entries.items[i].name);
      LLVMValueRef function = LLVMGetNamedFunction(module, symbol);
      if (function && !LLVMIsDeclaration(function))
        guardEntry(&callees, function, &translation->entries.items[i].signature, form == 1);
    }
}
