// tessera-opgen-DIALECT header|page|agreement|python OUTPUT: writes the dialect's generated header, its reference page,
// the header by which a test compares builders with the parser, or the builders for Python.
// Its rows come from OPGEN_ROWS (dialects/tile/ops.def), where HOOKS(…) is kept as text.
#include "tools/tessera-opgen/opgen.h"
#include <stdlib.h>
#include <string.h>

#define TESSERA_OP TESSERA_OP_ROW
#define HOOKS(...) .hooksText = #__VA_ARGS__
static const TileOpRow rows[] = {
#include OPGEN_ROWS
};
static const TileDialectTable table = {.name = OPGEN_DIALECT, .numRows = sizeof rows / sizeof *rows, .rows = rows};

static bool compile(TileArena *arena, TileOpSpec *specs) {
  char text[512];
  TileSpecError error = {text, sizeof text};
  bool ok = true;
  for (intptr_t i = 0; i < table.numRows; ++i)
    if (!tileSpecCompileText(arena, &table, i, &specs[i], &error)) {
      fprintf(stderr, "%s: error: %s\n", OPGEN_ROWS, text);
      ok = false;
    }
  return ok;
}

static int write(const char *mode, const char *path, const Opgen *opgen) {
  FILE *out = opgenOpen(path);
  if (!out)
    return 1;
  if (!strcmp(mode, "python"))
    opgenWritePythonHead(out);
  (!strcmp(mode, "header")   ? opgenWriteHeader
   : !strcmp(mode, "page")   ? opgenWritePage
   : !strcmp(mode, "python") ? opgenWritePython
                             : opgenWriteAgreement)(out, opgen);
  return !opgenClose(out, path, true);
}

int main(int argc, char **argv) {
  if (argc != 3 || (strcmp(argv[1], "header") && strcmp(argv[1], "page") && strcmp(argv[1], "agreement") &&
                    strcmp(argv[1], "python"))) {
    fprintf(stderr, "usage: %s header|page|agreement|python OUTPUT\n", argv[0]);
    return 1;
  }
  TileArena arena = {0};
  TileOpSpec *specs = tileArenaAllocate(&arena, sizeof *specs * (size_t)table.numRows);
  Opgen opgen = {.dialect = OPGEN_DIALECT, .specs = specs, .numSpecs = table.numRows};
  opgenCamel(OPGEN_DIALECT, false, opgen.prefix, sizeof opgen.prefix);
  opgenCamel(OPGEN_DIALECT, true, opgen.capital, sizeof opgen.capital);
  int status = compile(&arena, specs) ? write(argv[1], argv[2], &opgen) : 1;
  tileArenaFree(&arena);
  return status;
}
