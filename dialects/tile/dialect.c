// The Tile dialect put together: rows, types, attributes, constants, discardable attributes; and its registration.
#include <stdio.h>
#include <stdlib.h>

#include "dialects/tile/definitions.h"
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

static bool isExtents(MlirAttribute attribute) {
  if (!mlirAttributeIsADenseI64Array(attribute))
    return false;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(attribute); ++i)
    if (mlirDenseI64ArrayGetElement(attribute, i) < 1)
      return false;
  return true;
}

static bool isScratch(MlirAttribute attribute) {
  return mlirAttributeIsADenseI64Array(attribute) && mlirDenseArrayGetNumElements(attribute) == 2 &&
         mlirDenseI64ArrayGetElement(attribute, 0) >= 0 && mlirDenseI64ArrayGetElement(attribute, 0) % 16 == 0 &&
         mlirDenseI64ArrayGetElement(attribute, 1) > 0;
}

// What other dialects' ops may carry under our name. A pass that leaves a new one adds a row.
static const Discardable discardables[] = {
    {"tile.schedule", tileAttributeIsASchedule, "a #tile.schedule"},
    {"tile.schedules", isSchedules, "an array of #tile.schedule, the best first"},
    {"tile.extents", isExtents, "an array of positive i64: what the op's dimensions are planned for where unknown"},
    {"tile.machine", tileAttributeIsAMachine, "a #tile.machine"},
    {"tile.cache", mlirAttributeIsAString, "a string: how a load or store uses the caches"},
    {"tile.latency", isPositive, "a positive integer: cycles that a load is expected to take"},
    {"tile.overwrites", isNumbers, "an array of integers: the outs of a launch whose old value nobody reads"},
    {"tile.scratch", isScratch,
     "array<i64: OFFSET, BYTES>: where in shared memory the op exchanges elements; OFFSET is a multiple of 16, BYTES "
     "is "
     "positive"},
    {"tile.initial", mlirAttributeIsAUnit, "nothing: a load of what an output held before the launch"},
    {"tile.final", mlirAttributeIsAUnit,
     "nothing: a store of an output's last value, the only such one of its element"},
    {NULL},
};

static bool verifyOpAttribute(MlirOperation op, MlirNamedAttribute attribute) {
  MlirStringRef name = mlirIdentifierStr(attribute.name);
  char text[256];
  for (const Discardable *known = discardables; known->name; ++known)
    if (tileStringEquals(name, known->name))
      return known->isMet(attribute.attribute) ||
             tileError(op, "attribute '%s' is %s, expected %s", known->name,
                       tileAttributeText(attribute.attribute, text, sizeof text), known->wanted);
  return tileError(
      op,
      "unknown attribute '%.*s', expected tile.schedule, tile.schedules, tile.extents, tile.machine, tile.cache, "
      "tile.latency, tile.overwrites, tile.scratch, tile.initial or tile.final",
      (int)name.length, name.data);
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
  char error[TILE_MESSAGE_SIZE];
  const MlirExtDialectDefinition *definition = tileDialectFromTable(&table, base, error, sizeof error);
  if (definition)
    mlirExtDialectRegistryInsert(registry, definition);
  else
    fprintf(stderr, "error in the table of the tile dialect: %s\n", error);
}
