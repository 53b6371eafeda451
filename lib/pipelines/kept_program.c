// Looks for the program of a model before the model is compiled. See kept_program.h.
#include "lib/pipelines/kept_program.h"

#include <stdlib.h>

static void append(MlirStringRef piece, void *stream) { fwrite(piece.data, 1, piece.length, stream); }

// With locations: messages of the program name them. The caller frees the text; null: out of memory.
static char *print(MlirModule module, size_t *size) {
  char *text = NULL;
  FILE *stream = open_memstream(&text, size);
  if (!stream)
    return NULL;
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
  mlirOperationPrintWithFlags(mlirModuleGetOperation(module), flags, append, stream);
  mlirOpPrintingFlagsDestroy(flags);
  if (fclose(stream) == 0)
    return text;
  free(text);
  return NULL;
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
  size_t size;
  char *text = print(session->module, &size);
  kept->isWanted = text && tileProgramCacheKey(text, (intptr_t)size, pipeline, NULL, others, kept->key) &&
                   tileProgramCachePath(kept->folder, kept->key, kept->path, sizeof kept->path);
  free(text);
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
