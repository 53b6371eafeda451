// A plugin of passes that are broken on purpose, each in one way, for --tile-validate-each to find: each changes the
// first op that it knows how to spoil, once, and is right otherwise.
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"

//===--- what they share --------------------------------------------------------===//

// The bodies of named linalg ops (linalg.matmul) are what the name says: they are left alone.
static bool isInNamedOp(MlirOperation op) {
  MlirOperation parent = mlirOperationGetParentOperation(op);
  return tileOpIsOfDialect(parent, "linalg") && !tileOpIs(parent, "linalg.generic");
}

static MlirOperation firstOf(MlirOperation module, const char *name) {
  TileOps ops = tileCollect(module, name);
  MlirOperation op = {NULL};
  for (intptr_t i = ops.count - 1; i >= 0; --i)
    op = isInNamedOp(ops.items[i]) ? op : ops.items[i];
  tileOpsFree(&ops);
  return op;
}

static void swapOperands(MlirOperation op, intptr_t a, intptr_t b) {
  MlirValue kept = mlirOperationGetOperand(op, a);
  mlirOperationSetOperand(op, a, mlirOperationGetOperand(op, b));
  mlirOperationSetOperand(op, b, kept);
}

// The first op of one name becomes one of another, with the same operands and types.
static void renameFirst(MlirOperation module, const char *from, const char *to) {
  MlirOperation op = firstOf(module, from);
  if (mlirOperationIsNull(op))
    return;
  TileBuilder builder = tileBuilderBefore(op);
  MlirValue operands[] = {mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1)};
  MlirValue value = tileBuildValue(&builder, to, tileResultType(op, 0), 2, operands, NULL);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), value);
  mlirOperationDestroy(op);
}

//===--- the defects ------------------------------------------------------------===//

static bool swapSubtraction(MlirOperation module, MlirExtPass pass) {
  MlirOperation op = firstOf(module, "arith.subf");
  if (!mlirOperationIsNull(op))
    swapOperands(op, 0, 1);
  return true;
}

static bool addForMultiply(MlirOperation module, MlirExtPass pass) {
  renameFirst(module, "arith.mulf", "arith.addf");
  return true;
}

static bool minimumForMaximum(MlirOperation module, MlirExtPass pass) {
  renameFirst(module, "arith.maximumf", "arith.minimumf");
  return true;
}

static bool swapSelection(MlirOperation module, MlirExtPass pass) {
  MlirOperation op = firstOf(module, "arith.select");
  if (!mlirOperationIsNull(op))
    swapOperands(op, 1, 2);
  return true;
}

static bool flipComparison(MlirOperation module, MlirExtPass pass) {
  MlirOperation op = firstOf(module, "arith.cmpf");
  if (mlirOperationIsNull(op))
    return true;
  TileBuilder builder = tileBuilderBefore(op);
  mlirOperationSetInherentAttributeByName(op, tileString("predicate"),
                                          tileBuildAttribute(&builder, "4 : i64")); // olt, whatever it was
  return true;
}

static bool dropStore(MlirOperation module, MlirExtPass pass) {
  MlirOperation op = firstOf(module, "memref.store");
  if (!mlirOperationIsNull(op))
    mlirOperationDestroy(op);
  return true;
}

// One iteration more than there are.
static bool lengthenLoop(MlirOperation module, MlirExtPass pass) {
  MlirOperation op = firstOf(module, "scf.for");
  if (mlirOperationIsNull(op))
    return true;
  TileBuilder builder = tileBuilderBefore(op);
  MlirValue operands[] = {mlirOperationGetOperand(op, 1), mlirOperationGetOperand(op, 2)};
  mlirOperationSetOperand(op, 1,
                          tileBuildValue(&builder, "arith.addi", mlirIndexTypeGet(builder.context), 2, operands, NULL));
  return true;
}

// The first iteration is left out.
static bool shortenLoop(MlirOperation module, MlirExtPass pass) {
  MlirOperation op = firstOf(module, "scf.for");
  if (!mlirOperationIsNull(op))
    mlirOperationSetOperand(op, 0, mlirOperationGetOperand(op, 2));
  return true;
}

// All program instances are the first one: they write the same elements.
static bool addRace(MlirOperation module, MlirExtPass pass) {
  MlirOperation op = firstOf(module, "tile.program_id");
  if (mlirOperationIsNull(op))
    return true;
  TileBuilder builder = tileBuilderBefore(op);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), tileBuildIndex(&builder, 0));
  return true;
}

// Reads what nobody has written.
static bool dropFill(MlirOperation module, MlirExtPass pass) {
  MlirOperation op = firstOf(module, "linalg.fill");
  if (mlirOperationIsNull(op))
    return true;
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), mlirOperationGetOperand(op, 1));
  mlirOperationDestroy(op);
  return true;
}

static bool transposeOperand(MlirOperation module, MlirExtPass pass) {
  MlirOperation op = firstOf(module, "linalg.matmul");
  if (!mlirOperationIsNull(op))
    swapOperands(op, 0, 1);
  return true;
}

// Rounds to bf16 in between: the types stay, digits go.
static bool loseDigits(MlirOperation module, MlirExtPass pass) {
  MlirOperation op = firstOf(module, "arith.mulf");
  if (mlirOperationIsNull(op) || !mlirTypeIsAF32(tileResultType(op, 0)))
    return true;
  TileBuilder builder = tileBuilderBefore(op);
  MlirValue wide = mlirOperationGetOperand(op, 0);
  MlirValue narrow = tileBuildValue(&builder, "arith.truncf", mlirBF16TypeGet(builder.context), 1, &wide, NULL);
  mlirOperationSetOperand(op, 0,
                          tileBuildValue(&builder, "arith.extf", mlirF32TypeGet(builder.context), 1, &narrow, NULL));
  return true;
}

// The right answer, computed twice: what a kernel moves is moved again.
static bool launchTwice(MlirOperation module, MlirExtPass pass) {
  MlirOperation op = firstOf(module, "tile.launch");
  if (mlirOperationIsNull(op) || mlirOperationGetNumResults(op))
    return true;
  TileBuilder builder = tileBuilderAfter(op);
  tileBuilderInsert(&builder, mlirOperationClone(op));
  return true;
}

//===--- the table --------------------------------------------------------------===//

#define BROKEN(name, does)                                                                                             \
  {.argument = "broken-" name, .summary = "Broken on purpose", .anchor = "builtin.module", .run = does}

static const MlirExtPassDefinition passes[] = {
    BROKEN("swap-subtraction", swapSubtraction),
    BROKEN("add-for-multiply", addForMultiply),
    BROKEN("minimum-for-maximum", minimumForMaximum),
    BROKEN("swap-selection", swapSelection),
    BROKEN("flip-comparison", flipComparison),
    BROKEN("drop-store", dropStore),
    BROKEN("lengthen-loop", lengthenLoop),
    BROKEN("shorten-loop", shortenLoop),
    BROKEN("add-race", addRace),
    BROKEN("drop-fill", dropFill),
    BROKEN("transpose-operand", transposeOperand),
    BROKEN("lose-digits", loseDigits),
    BROKEN("launch-twice", launchTwice),
};

typedef struct PassPluginInfo {
  uint32_t apiVersion;
  const char *name, *version;
  void (*registerPasses)(void);
} PassPluginInfo;

static void registerPasses(void) {
  for (size_t i = 0; i < sizeof passes / sizeof *passes; ++i)
    mlirExtPassRegister(&passes[i]);
}

PassPluginInfo mlirGetPassPluginInfo(void);
PassPluginInfo mlirGetPassPluginInfo(void) { return (PassPluginInfo){1, "broken-passes", "0", registerPasses}; }
