// The ops of upstream dialects that the interpreter knows: one row each. Tile ops are in tile.c.
#include "lib/interpreter/scalars.h"
#include "lib/interpreter/upstream.h"

static const Row rows[] = {
#define X(name, function) {name, executeElementwise, function, NULL},
    TESSERA_SCALARS(X)
#undef X
#define X(name, function, stripe) {name, executeElementwise, function, stripe},
        TESSERA_STRIPES(X)
#undef X
#define X(name, function) {name, function, NULL, NULL},
            TESSERA_UPSTREAM_OPS(X)
#undef X
};

const Row *rowFind(MlirStringRef name) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (tileStringEquals(name, rows[i].name))
      return &rows[i];
  return NULL;
}
