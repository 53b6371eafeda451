// Looks for the program of a model before the model is compiled. See kept_program.h.
#include "lib/pipelines/kept_program.h"

#include "lib/ir/support.h"

// With locations: messages of the program name them.
static tessera_text_t print(MlirModule module) {
  tessera_text_t text = {NULL};
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
  mlirOperationPrintWithFlags(mlirModuleGetOperation(module), flags, tileTextAppend, &text);
  mlirOpPrintingFlagsDestroy(flags);
  return text;
}

static void warn(const char *tool, const char *why) {
  if (*why)
    fprintf(stderr, "%s: warning: the compiled program is not kept: %s\n", tool, why);
}

bool tileKeptProgramFind(TileKeptProgram *kept, const TileSession *session, const char *pipeline, const char *others,
                         const char *tool) {
  tessera_error_t error;
  *kept = (TileKeptProgram){.isWanted = false};
  if (!session->isModel)
    return false;
  if (!tileProgramCacheFolder(kept->folder, sizeof kept->folder, &error)) {
    warn(tool, error.text);
    return false;
  }
  tessera_text_t text = print(session->module);
  kept->isWanted = !text.failed &&
                   tileProgramCacheKey(text.data, (intptr_t)text.size, pipeline, NULL, others, kept->key) &&
                   tileProgramCachePath(kept->folder, kept->key, kept->path, sizeof kept->path);
  tessera_text_free(&text);
  return kept->isWanted && tileProgramCacheFind(kept->folder, kept->key, kept->path, sizeof kept->path);
}

bool tileKeptProgramStore(TileKeptProgram *kept, const void *data, size_t size, const char *tool) {
  tessera_error_t error;
  if (!kept->isWanted || tileProgramCacheStore(kept->folder, kept->key, data, (intptr_t)size, TILE_PROGRAM_CACHE_BYTES,
                                               kept->path, sizeof kept->path, &error))
    return kept->isWanted;
  warn(tool, error.text);
  return false;
}
