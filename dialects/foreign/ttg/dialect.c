// The dialect ttg: one op of Triton's GPU dialect, which TTIR holds. Tools register it, as tt.
#include "dialects/foreign/tt/tt.h"
#include "dialects/foreign/ttg/ops.h"
#include "lib/ir/op_dialect.h"

#define TESSERA_OP TESSERA_OP_ROW
#define HOOKS TESSERA_HOOKS
static const TileOpRow rows[] = {
#include "dialects/foreign/ttg/ops.def"
};

static const TileDialectTable table = {
    .name = "ttg",
    .numRows = sizeof rows / sizeof *rows,
    .rows = rows,
    .constraints = (const TileConstraint[]){{NULL}},
    .kinds = (const TileAttributeKind[]){{NULL}},
    .directives = (const TileDirective[]){{NULL}},
};

void ttgRegisterDialect(MlirDialectRegistry registry) {
  const MlirExtDialectDefinition base = {.inlinable = true};
  tileDialectRegister(&table, base, registry);
}
