// The dialect StableHLO put together: rows, attributes; and its registration. Tools register it; the plugin does not,
// because its host may have the real one.
#include "dialects/foreign/stablehlo/forms.h"
#include "dialects/foreign/stablehlo/ops.h"
#include "dialects/foreign/stablehlo/parts.h"
#include "dialects/foreign/stablehlo/stablehlo.h"
#include "lib/ir/op_dialect.h"

#define TESSERA_OP TESSERA_OP_ROW
#define HOOKS TESSERA_HOOKS
static const TileOpRow rows[] = {
#include "dialects/foreign/stablehlo/ops.def"
};

static const TileDialectTable table = {
    .name = "stablehlo",
    .numRows = sizeof rows / sizeof *rows,
    .rows = rows,
    .constraints = stablehloConstraints,
    .kinds = stablehloAttributeKinds,
    .directives = stablehloDirectives,
};

static MlirOperation materializeConstant(MlirAttribute value, MlirType type, MlirLocation location) {
  MlirOperationState state = mlirOperationStateGet(tileString(stablehloConstantOpName), location);
  MlirContext context = mlirTypeGetContext(type);
  MlirNamedAttribute attribute = mlirNamedAttributeGet(mlirIdentifierGet(context, tileString("value")), value);
  mlirOperationStateAddAttributes(&state, 1, &attribute);
  mlirOperationStateAddResults(&state, 1, &type);
  return mlirOperationCreate(&state);
}

void stablehloRegisterDialect(MlirDialectRegistry registry) {
  const MlirExtDialectDefinition base = {
      .numAttributes = stablehloNumAttributeDefinitions,
      .attributes = stablehloAttributeDefinitions,
      .materializeConstant = materializeConstant,
      .inlinable = true,
  };
  tileDialectRegister(&table, base, registry);
}
