// The Tile dialect put together: rows, types, attributes, constants, discardable attributes; and its registration.
#include <stdio.h>
#include <stdlib.h>

#include "dialects/tile/definitions.h"
#include "dialects/tile/extern_weights.h"
#include "dialects/tile/forms.h"
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "lib/ir/op_dialect.h"
#include "mlir-c/Dialect/Arith.h"
#include "upstream/arith.h"

#define TESSERA_OP TESSERA_OP_ROW
#define HOOKS TESSERA_HOOKS
static const TileOpRow rows[] = {
#include "dialects/tile/ops.def"
};

static const TileDialectTable table = {
    .name = "tile",
    .numRows = sizeof rows / sizeof *rows,
    .rows = rows,
    .constraints = tileConstraints,
    .kinds = tileAttributeKinds,
    .directives = tileDirectives,
};

//===--- constants ----------------------------------------------------------===//

// What folds give: arith.constant holds numbers and tiles of numbers, with or without a layout.
static MlirOperation materializeConstant(MlirAttribute value, MlirType type, MlirLocation location) {
  bool isConstant = mlirAttributeIsAInteger(value) || mlirAttributeIsAFloat(value) ||
                    mlirAttributeIsADenseElements(value) || mlirAttributeIsADenseResourceElements(value);
  if (!isConstant || !mlirTypeEqual(mlirAttributeGetType(value), type))
    return (MlirOperation){NULL};
  MlirContext context = mlirTypeGetContext(type);
  MlirNamedAttribute named = mlirNamedAttributeGet(mlirIdentifierGet(context, tileString("value")), value);
  MlirOperationState state = mlirOperationStateGet(tileString(arithConstantOpName), location);
  mlirOperationStateAddAttributes(&state, 1, &named);
  mlirOperationStateAddResults(&state, 1, &type);
  return mlirOperationCreate(&state);
}

//===--- discardable attributes ----------------------------------------------===//

typedef struct Discardable {
  const char *name;
  bool (*isMet)(MlirAttribute attribute);
  const char *wanted;
} Discardable;

static bool isPositive(MlirAttribute attribute) {
  return mlirAttributeIsAInteger(attribute) && mlirIntegerAttrGetValueInt(attribute) > 0;
}

static bool isSchedules(MlirAttribute attribute) {
  if (!mlirAttributeIsAArray(attribute))
    return false;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attribute); ++i)
    if (!tileAttributeIsASchedule(mlirArrayAttrGetElement(attribute, i)))
      return false;
  return true;
}

static bool isNumbers(MlirAttribute attribute) {
  if (!mlirAttributeIsAArray(attribute))
    return false;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attribute); ++i)
    if (!mlirAttributeIsAInteger(mlirArrayAttrGetElement(attribute, i)))
      return false;
  return true;
}

static bool isTensorMaps(MlirAttribute attribute) {
  if (!mlirAttributeIsAArray(attribute))
    return false;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attribute); ++i)
    if (!mlirAttributeIsADenseI64Array(mlirArrayAttrGetElement(attribute, i)))
      return false;
  return true;
}

static bool isExtents(MlirAttribute attribute) {
  if (!mlirAttributeIsADenseI64Array(attribute))
    return false;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(attribute); ++i)
    if (mlirDenseI64ArrayGetElement(attribute, i) < 1)
      return false;
  return true;
}

static const Discardable discardables[] = {
#define TILE_DISCARDABLE(Name, text, predicate, words) {text, predicate, words},
#include "dialects/tile/discardable.def"
#undef TILE_DISCARDABLE
};
enum { NumDiscardables = sizeof discardables / sizeof *discardables };

static bool verifyOpAttribute(MlirOperation op, MlirNamedAttribute attribute) {
  MlirStringRef name = mlirIdentifierStr(attribute.name);
  char text[256];
  for (int i = 0; i < NumDiscardables; ++i)
    if (tileStringEquals(name, discardables[i].name))
      return discardables[i].isMet(attribute.attribute) ||
             tileError(op, "attribute '%s' is %s, expected %s", discardables[i].name,
                       tileAttributeText(attribute.attribute, text, sizeof text), discardables[i].wanted);
  for (int i = 0, used = 0; i < NumDiscardables; ++i)
    used += snprintf(text + used, sizeof text - (size_t)used, "%s%s",
                     !i                        ? ""
                     : i + 1 < NumDiscardables ? ", "
                                               : " or ",
                     discardables[i].name);
  return tileError(op, "unknown attribute '%.*s', expected %s", (int)name.length, name.data, text);
}

//===--- registration --------------------------------------------------------===//

static void registerDependents(MlirDialectRegistry registry) {
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__arith__(), registry);
}

static const char *const dependents[] = {"arith", NULL};

void tileRegisterDialect(MlirDialectRegistry registry) {
  const MlirExtDialectDefinition base = {
      .numTypes = tileNumTypeDefinitions,
      .types = tileTypeDefinitions,
      .numAttributes = tileNumAttributeDefinitions,
      .attributes = tileAttributeDefinitions,
      .dependents = dependents,
      .registerDependents = registerDependents,
      .materializeConstant = materializeConstant,
      .verifyOpAttribute = verifyOpAttribute,
      .inlinable = true,
  };
  tileDialectRegister(&table, base, registry);
}
