// The dialect `poly`: its rows, and what they cannot say.
#include "lib/ir/op_dialect.h"
#include "lib/ir/support.h"
#include "poly.h"

#include <stdio.h>

static bool verifyHorner(MlirOperation op) {
  MlirType type = tileOperandType(op, 0);
  MlirType element = mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type;
  MlirAttribute coefficients = tileOpAttribute(op, "coefficients");
  char text[64];
  if (!mlirTypeIsAFloat(element))
    return tileError(op, "evaluates at a '%s', expected a float", tileTypeText(element, text, sizeof text));
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(coefficients); ++i)
    if (!mlirAttributeIsAFloat(mlirArrayAttrGetElement(coefficients, i)))
      return tileError(op, "coefficient %td is not a float", i);
  return mlirArrayAttrGetNumElements(coefficients) > 0 || tileError(op, "has no coefficients, expected one at least");
}

#define TESSERA_OP TESSERA_OP_ROW
#define HOOKS TESSERA_HOOKS
static const TileOpRow rows[] = {
#include "ops.def"
};

static const TileConstraint constraints[] = {{NULL}}; // none of our own beyond the builtin ones
static const TileAttributeKind kinds[] = {{NULL}};
static const TileDirective directives[] = {{NULL}};
static const TileDialectTable table = {.name = "poly",
                                       .numRows = sizeof rows / sizeof *rows,
                                       .rows = rows,
                                       .constraints = constraints,
                                       .kinds = kinds,
                                       .directives = directives};

const MlirExtDialectDefinition *polyDialect(void) {
  static const char *const dependents[] = {"arith", NULL}; // of what polyHornerExpand builds
  char error[512];
  const MlirExtDialectDefinition *dialect =
      tileDialectFromTable(&table, (MlirExtDialectDefinition){.dependents = dependents}, error, sizeof error);
  if (!dialect)
    fprintf(stderr, "%s\n", error);
  return dialect;
}
