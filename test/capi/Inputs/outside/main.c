// A program outside the tree: parses a module from the file named, verifies it, counts its ops by dialect and prints
// it. Exits 1 when the file cannot be read or does not parse or verify (MLIR prints why).
#include "lib/pipelines/register.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *readFile(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(*size + 1);
  *size = text ? fread(text, 1, *size, file) : 0;
  if (text)
    text[*size] = 0; // MLIR's lexer wants a string that ends with 0
  fclose(file);
  return text;
}

static MlirContext createContext(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  tesseraRegisterAllDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  return context;
}

static MlirWalkResult countTileOp(MlirOperation op, void *count) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  *(int *)count += name.length > 5 && !memcmp(name.data, "tile.", 5);
  return MlirWalkResultAdvance;
}

static void printText(MlirStringRef text, void *file) { fwrite(text.data, 1, text.length, file); }

static bool parseAndPrint(MlirContext context, MlirStringRef text, MlirStringRef name) {
  MlirOperation module = mlirOperationCreateParse(context, text, name);
  if (mlirOperationIsNull(module))
    return false;
  bool valid = mlirOperationVerify(module);
  int count = 0;
  mlirOperationWalk(module, countTileOp, &count, MlirWalkPreOrder);
  printf("%d ops of the Tile dialect\n", count);
  mlirOperationPrint(module, printText, stdout);
  mlirOperationDestroy(module);
  return valid;
}

int main(int argc, char **argv) {
  size_t size = 0;
  char *text = argc == 2 ? readFile(argv[1], &size) : NULL;
  if (!text)
    return fprintf(stderr, "usage: outside FILE.mlir (a readable file)\n"), 1;
  MlirContext context = createContext();
  bool done = parseAndPrint(context, mlirStringRefCreate(text, size), mlirStringRefCreateFromCString(argv[1]));
  mlirContextDestroy(context);
  free(text);
  return done ? 0 : 1;
}
