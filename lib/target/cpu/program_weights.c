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

static void callFirst(LLVMValueRef function, LLVMTypeRef type, LLVMValueRef callee, LLVMValueRef manifest) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(type));
  LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
  LLVMBuildCall2(builder, type, callee, &manifest, 1, "");
  LLVMDisposeBuilder(builder);
}

void tileProgramNeedWeights(LLVMModuleRef module, const TileTranslation *translation,
                            const TileProgramWeights *weights) {
  if (!weights->taken.count)
    return;
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), &pointer, 1, false);
  LLVMValueRef callee = LLVMAddFunction(module, "tessera_need_weights", type),
               manifest = LLVMGetNamedGlobal(module, "tessera_manifest");
  static const char *const forms[] = {"_mlir_ciface_%s", "_mlir_ciface_%s_into"};
  for (int i = 0; i < translation->entries.count; ++i)
    for (int form = 0; form < 2; ++form) {
      char symbol[512];
      snprintf(symbol, sizeof symbol, forms[form], translation->entries.items[i].name);
      LLVMValueRef function = LLVMGetNamedFunction(module, symbol);
      if (function && !LLVMIsDeclaration(function))
        callFirst(function, type, callee, manifest);
    }
}
