// What every file of source text has: names, comments, and the order of its parts. See source.h.
#include "lib/target/source/source.h"

#include "dialects/tile/discardable.h"
#include "lib/ir/support.h"

#include "mlir-c/BuiltinAttributes.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// Words of C, and the form of our names of variables: p12.
static bool isWord(const char *name) {
  static const char words[] =
      " auto bool break case char const continue default do double else enum extern false float "
      "for goto if inline int long register restrict return short signed sizeof static struct "
      "switch true typedef union unsigned void volatile while begin end ";
  const char *found = strstr(words, name);
  if (found && *name && found[-1] == ' ' && found[strlen(name)] == ' ')
    return true;
  return isalpha((unsigned char)*name) && name[1] && strspn(name + 1, "0123456789") == strlen(name + 1);
}

const char *tileSourceFunctionName(SourceWriter *w, MlirOperation function, const char *otherwise) {
  MlirStringRef symbol = mlirStringAttrGetValue(tileOpAttribute(function, "sym_name"));
  char *name = (char *)tileArenaString(&w->arena, symbol.data, symbol.length);
  for (char *at = name; *at; ++at)
    *at = isalnum((unsigned char)*at) ? *at : '_';
  void *library = dlopen("libm.so.6", RTLD_NOLOAD | RTLD_NOW); // and the C library, which it depends on
  bool isTaken = strcmp(name, "main") == 0 || isdigit((unsigned char)*name) || isWord(name) ||
                 (library && dlsym(library, name)) || (w->language->isC && tileSourceHasHelper(w->language, name));
  if (library)
    dlclose(library);
  return isTaken ? tileArenaPrintf(&w->arena, "%s%s_%s", isdigit((unsigned char)*name) ? "_" : "", name, otherwise)
                 : name;
}

void tileSourceWriteKernelText(SourceWriter *w, MlirOperation module, const char *kernel) {
  MlirAttribute texts = tileOpGetKernelTexts(module);
  MlirAttribute text =
      mlirAttributeIsNull(texts) ? texts : mlirDictionaryAttrGetElementByName(texts, tileString(kernel));
  if (mlirAttributeIsNull(text))
    return;
  MlirStringRef lines = mlirStringAttrGetValue(text);
  for (const char *at = lines.data, *end = at + lines.length; at < end;) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop ? stop : end;
    fprintf(w->out, "// %.*s\n", (int)(stop - at), at);
    at = stop + 1;
  }
}

// Puts the parts behind each other; the helpers are those that the rest uses.
static void joinParts(SourceWriter *w, const char *types, size_t numTypes, const char *functions, size_t numFunctions,
                      FILE *out) {
  char *all = malloc(numTypes + numFunctions + 1);
  if (!all)
    return;
  memcpy(all, types, numTypes);
  memcpy(all + numTypes, functions, numFunctions + 1);
  fputs(w->language->comment, out);
  tileSourceWritePrelude(w->language, all, out);
  fprintf(out, "%s%s", numTypes ? "\n" : "", all);
  free(all);
}

bool tileSourceWriteFile(SourceWriter *w, bool (*write)(void *userData), void *userData, TileArtifact *artifact,
                         tessera_error_t *error) {
  char *functions = NULL, *types = NULL, *text = NULL;
  size_t numFunctions = 0, numTypes = 0, size = 0;
  w->out = open_memstream(&functions, &numFunctions);
  w->types = open_memstream(&types, &numTypes);
  FILE *out = open_memstream(&text, &size);
  bool ok = w->out && w->types && out;
  if (!ok)
    tessera_fail(error, "out of memory");
  bool isWritten = ok && write(userData);
  if (ok && !isWritten)
    tessera_fail(error, "the program cannot be written in %s", w->language->name);
  if (w->out)
    fclose(w->out);
  if (w->types)
    fclose(w->types);
  if (isWritten)
    joinParts(w, types, numTypes, functions, numFunctions, out);
  if (out)
    fclose(out);
  ok = isWritten && tileArtifactCopy(artifact, text, size, error);
  free(functions);
  free(types);
  free(text);
  return ok;
}

void tileSourceFreeWriter(SourceWriter *w) {
  tileTableFree(&w->texts);
  tileTableFree(&w->symbols);
  tileTableFree(&w->arrays);
  tileTableFree(&w->kernels);
  tileArenaFree(&w->arena);
}
