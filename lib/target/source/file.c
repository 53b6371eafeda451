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
static void joinParts(SourceWriter *w, tessera_text_t *types, const tessera_text_t *functions, FILE *out) {
  bool hasTypes = types->size > 0;
  tessera_text_append(types, functions->data, functions->size);
  fputs(w->language->comment, out);
  tileSourceWritePrelude(w->language, types->data, out);
  fprintf(out, "%s%s", hasTypes ? "\n" : "", types->data);
}

bool tileSourceWriteFile(SourceWriter *w, bool (*write)(void *userData), void *userData, TileArtifact *artifact,
                         tessera_error_t *error) {
  tessera_text_t functions, types, text;
  w->out = tessera_text_open(&functions);
  w->types = tessera_text_open(&types);
  FILE *out = tessera_text_open(&text);
  bool isOpen = w->out && w->types && out, isWritten = isOpen && write(userData);
  bool isWhole = tessera_text_close(&functions, w->out);
  isWhole = tessera_text_close(&types, w->types) && isWhole;
  if (isWritten && isWhole)
    joinParts(w, &types, &functions, out);
  isWhole = tessera_text_close(&text, out) && isWhole && !types.failed;
  bool ok = isWritten && isWhole && tileArtifactCopy(artifact, text.data, text.size, error);
  if (!isWhole)
    tessera_fail(error, "out of memory");
  else if (!isWritten)
    tessera_fail(error, "the program cannot be written in %s", w->language->name);
  tessera_text_free(&functions);
  tessera_text_free(&types);
  tessera_text_free(&text);
  return ok;
}

void tileSourceFreeWriter(SourceWriter *w) {
  tileTableFree(&w->texts);
  tileTableFree(&w->symbols);
  tileTableFree(&w->arrays);
  tileTableFree(&w->kernels);
  tileArenaFree(&w->arena);
}
