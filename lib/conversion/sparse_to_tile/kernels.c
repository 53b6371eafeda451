// Texts with their words put in, parsed and put into the module. See kernels.h.
#include "lib/conversion/sparse_to_tile/kernels.h"

#include <stdlib.h>
#include <string.h>

typedef struct SparseKernelMade {
  char *text;
  MlirAttribute symbol;
  struct SparseKernelMade *next;
} SparseKernelMade;

typedef struct Text {
  char *data;
  size_t length, capacity;
} Text;

static void append(Text *text, const char *data, size_t length) {
  if (text->length + length + 1 > text->capacity) {
    text->capacity = 2 * (text->length + length + 1);
    text->data = realloc(text->data, text->capacity);
  }
  memcpy(text->data + text->length, data, length);
  text->length += length;
  text->data[text->length] = '\0';
}

static bool isLetter(char c) { return c >= 'A' && c <= 'Z'; }

// The longest name that begins at `at`: $COLUMNSxf32 is $COLUMNS, then xf32.
static const SparseWord *wordAt(const SparseWord *words, const char *at, const char *end) {
  size_t length = 0;
  while (at + length < end && isLetter(at[length]))
    ++length;
  for (; words->name; ++words)
    if (strlen(words->name) == length && !strncmp(words->name, at, length))
      return words;
  return NULL;
}

// What has no word stays, and does not parse.
static void expand(Text *text, const char *from, size_t length, const SparseWord *words) {
  const char *end = from + length;
  while (from < end) {
    const char *dollar = memchr(from, '$', (size_t)(end - from));
    append(text, from, (size_t)((dollar ? dollar : end) - from));
    if (!dollar)
      return;
    const SparseWord *word = wordAt(words, dollar + 1, end);
    if (word)
      expand(text, word->text, strlen(word->text), words);
    else
      append(text, "$", 1);
    from = dollar + 1 + (word ? strlen(word->name) : 0);
  }
}

static MlirWalkResult relocate(MlirOperation op, void *location) {
  mlirOperationSetLocation(op, *(MlirLocation *)location);
  return MlirWalkResultAdvance;
}

// The one kernel of the text, named `name` or, where that is taken, like it.
static MlirAttribute insert(MlirOperation module, const char *name, const char *text, MlirLocation location) {
  MlirContext context = mlirOperationGetContext(module);
  MlirModule parsed = mlirModuleCreateParse(context, tileString(text));
  if (mlirModuleIsNull(parsed))
    return mlirAttributeGetNull();
  MlirOperation kernel = mlirBlockGetFirstOperation(mlirModuleGetBody(parsed));
  mlirOperationRemoveFromParent(kernel);
  mlirModuleDestroy(parsed);
  mlirOperationWalk(kernel, relocate, &location, MlirWalkPreOrder);
  mlirOperationSetAttributeByName(kernel, tileString("sym_name"), mlirStringAttrGet(context, tileString(name)));
  mlirOperationSetAttributeByName(kernel, tileString("sym_visibility"),
                                  mlirStringAttrGet(context, tileString("private")));
  MlirSymbolTable symbols = mlirSymbolTableCreate(module);
  MlirAttribute unique = mlirSymbolTableInsert(symbols, kernel);
  mlirSymbolTableDestroy(symbols);
  return mlirFlatSymbolRefAttrGet(context, mlirStringAttrGetValue(unique));
}

SparseKernels sparseKernelsBegin(MlirOperation module) { return (SparseKernels){.module = module}; }

void sparseKernelsEnd(SparseKernels *kernels) {
  while (kernels->made) {
    SparseKernelMade *made = kernels->made;
    kernels->made = made->next;
    free(made->text);
    free(made);
  }
}

MlirAttribute sparseKernelGet(SparseKernels *kernels, const char *name, const SparseWord *words,
                              MlirLocation location) {
  Text text = {NULL};
  for (size_t i = 0; i < sparseEmbeddedKernelsCount; ++i)
    if (!strcmp(sparseEmbeddedKernels[i].name, name))
      expand(&text, (const char *)sparseEmbeddedKernels[i].text, sparseEmbeddedKernels[i].length, words);
  if (!text.data) {
    tileErrorAt(location, "there is no kernel '%s' in kernels/", name);
    return mlirAttributeGetNull();
  }
  for (const SparseKernelMade *made = kernels->made; made; made = made->next)
    if (!strcmp(made->text, text.data)) {
      free(text.data);
      return made->symbol;
    }
  SparseKernelMade *made = calloc(1, sizeof *made);
  *made = (SparseKernelMade){text.data, insert(kernels->module, name, text.data, location), kernels->made};
  kernels->made = made;
  ++kernels->count;
  return made->symbol;
}
