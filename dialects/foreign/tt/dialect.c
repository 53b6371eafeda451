// The dialect tt put together: rows, types, attributes; and its registration. Tools register it; the plugin does not,
// because its host may have the real one.
#include "dialects/foreign/tt/ops.h"
#include "dialects/foreign/tt/parts.h"
#include "dialects/foreign/tt/tt.h"
#include "lib/ir/op_dialect.h"

#define TESSERA_OP TESSERA_OP_ROW
#define HOOKS TESSERA_HOOKS
static const TileOpRow rows[] = {
#include "dialects/foreign/tt/ops.def"
};

static const TileDialectTable table = {
    .name = "tt",
    .numRows = sizeof rows / sizeof *rows,
    .rows = rows,
    .constraints = ttConstraints,
    .kinds = ttAttributeKinds,
    .directives = ttDirectives,
    .rules = ttRules,
};

void ttRegisterDialect(MlirDialectRegistry registry) {
  const MlirExtDialectDefinition base = {
      .numTypes = ttNumTypeDefinitions,
      .types = ttTypeDefinitions,
      .numAttributes = ttNumAttributeDefinitions,
      .attributes = ttAttributeDefinitions,
      .inlinable = true,
  };
  tileDialectRegister(&table, base, registry);
}
