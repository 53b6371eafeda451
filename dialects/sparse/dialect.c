// The Sparse dialect put together: rows, encodings, constants; and its registration.
#include "dialects/sparse/definitions.h"
#include "dialects/sparse/hooks.h"
#include "dialects/sparse/ops.h"
#include "lib/ir/op_dialect.h"

#define TESSERA_OP TESSERA_OP_ROW
#define HOOKS TESSERA_HOOKS
static const TileOpRow rows[] = {
#include "dialects/sparse/ops.def"
};

static const TileDialectTable table = {
    .name = "sparse",
    .numRows = sizeof rows / sizeof *rows,
    .rows = rows,
    .constraints = sparseConstraints,
    .kinds = sparseAttributeKinds,
    .directives = (const TileDirective[]){{NULL}},
};

void sparseRegisterDialect(MlirDialectRegistry registry) {
  const MlirExtDialectDefinition base = {
      .numAttributes = sparseNumAttributeDefinitions,
      .attributes = sparseAttributeDefinitions,
      .verifyOpAttribute = sparseVerifyOpAttribute,
      .inlinable = true,
  };
  tileDialectRegister(&table, base, registry);
}
