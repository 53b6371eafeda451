// Turns linalg on tensors into the tile graph: one tile.kernel and one tile.launch per op.
//
// Expects: linalg.generic (run linalg-generalize-named-ops first), linalg.softmax, linalg.pack and unpack in func.func,
// on tensors. Leaves: tile.launch in destination style and private kernels; linalg ops that no kernel covers yet stay
// as they are and go by upstream's route (tile-bufferize-host counts them as fallback_ops). Host arithmetic, scf and
// func stay. A reduction whose output starts from a constant (linalg.fill) starts from that constant and never reads
// the fill. For a GPU (the option chip, or the module's tile.machine) tiles follow from its description
// (lib/machine/gpu_blocking.h), products read their operands from memory, and kernels say machine and warps.
#include "lib/conversion/linalg_to_tile/linalg_to_tile.h"

#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/ir/pass.h"

#include <stdio.h>
#include <string.h>

// If `value` is a tensor filled with one constant, that constant and the tensor that was filled.
static bool matchFill(MlirValue value, MlirAttribute *constant, MlirValue *destination) {
  TileStructured fill;
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op) || !tileStructuredRead(op, &fill) || fill.numOutputs != 1)
    return false;
  MlirValue yielded = mlirOperationGetOperand(mlirBlockGetTerminator(fill.body), 0);
  if (mlirValueIsABlockArgument(yielded) && mlirBlockEqual(mlirBlockArgumentGetOwner(yielded), fill.body)) {
    intptr_t argument = mlirBlockArgumentGetArgNumber(yielded);
    if (argument >= fill.numInputs || fill.operands[argument].isTensor)
      return false;
    yielded = fill.operands[argument].value;
  }
  MlirOperation source = tileDefiningOp(yielded);
  if (!tileOpIs(source, "arith.constant"))
    return false;
  *constant = tileOpAttribute(source, "value");
  *destination = fill.operands[fill.numInputs].value;
  return true;
}

void tileStructuredStartFromConstants(TileStructured *s) {
  if (!tileStructuredHasReduction(s))
    return;
  for (int i = s->numInputs; i < s->numInputs + s->numOutputs; i++)
    if (tileStructuredAccumulates(s, &s->operands[i]))
      matchFill(s->operands[i].value, &s->operands[i].initial, &s->operands[i].value);
}

static bool isUnused(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, i))))
      return false;
  return mlirOperationGetNumResults(op) > 0;
}

// True if the op became a kernel (or vanished because nobody reads it).
static bool lower(MlirOperation op, const TileTarget *target) {
  TileStructured structured;
  if (tileOpIs(op, "linalg.softmax"))
    return tileLowerSoftmax(op, target);
  if (tileOpIs(op, "linalg.pack") || tileOpIs(op, "linalg.unpack"))
    return tileLowerRelayout(op, target);
  if (!tileStructuredRead(op, &structured))
    return false;
  structured.target = target;
  if (isUnused(op)) {
    mlirOperationDestroy(op);
    return true;
  }
  tileStructuredStartFromConstants(&structured);
  return tileLowerContraction(&structured) || tileLowerContractionWithEpilogue(&structured) ||
         tileLowerWithEpilogue(&structured) || tileLowerProduct(&structured, NULL) ||
         tileLowerReduction(&structured, NULL) || tileLowerExtremum(&structured) || tileLowerFold(&structured) ||
         tileLowerElementwise(&structured);
}

static MlirWalkResult collect(MlirOperation op, void *userData) {
  bool isLinalg = tileOpIs(op, "linalg.generic") || tileOpIs(op, "linalg.softmax") || tileOpIs(op, "linalg.pack") ||
                  tileOpIs(op, "linalg.unpack");
  if (isLinalg && !mlirOperationIsNull(tileParentOfName(op, "func.func")))
    tileOpsAppend(userData, op);
  return MlirWalkResultAdvance;
}

// What the option or the module names; null without an error if neither does.
static TileMachine *loadMachine(MlirOperation module, MlirExtPass pass, MlirAttribute *attribute, TileError *error) {
  MlirStringRef chip = mlirExtPassGetString(pass, "chip");
  char name[64];
  *attribute = tileOpAttribute(module, "tile.machine");
  if (!chip.length)
    return mlirAttributeIsNull(*attribute) ? NULL : tileMachineAttrLoad(*attribute, error);
  snprintf(name, sizeof name, "%.*s", (int)chip.length, chip.data);
  TileMachine *machine = tileMachineLoad(name, NULL, NULL, 0, error);
  if (machine) // the attribute of an unknown machine would be a second error
    *attribute = tileMachineAttrGet(mlirOperationGetContext(module), chip, mlirAttributeGetNull());
  return machine;
}

// A CPU where no machine is named.
static bool readTarget(MlirOperation module, MlirExtPass pass, TileTarget *target) {
  TileError error = {.text = ""};
  *target = (TileTarget){.gpu = {.lanes = 0}};
  TileMachine *machine = loadMachine(module, pass, &target->machine, &error);
  if (!machine)
    return !*error.text || tileError(module, "%s", error.text);
  const char *kind = tileMachineGetText(machine, "kind");
  bool isCpu = kind && !strcmp(kind, "cpu");
  bool ok = isCpu || tileMachineReadGpuBlocking(machine, &target->gpu, &error);
  tileMachineDestroy(machine);
  return ok || tileError(module, "%s", error.text);
}

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps ops = {0};
  TileTarget target;
  if (!readTarget(module, pass, &target))
    return false;
  mlirOperationWalk(module, collect, &ops, MlirWalkPostOrder);
  uint64_t kernels = 0;
  // Consumers first: a fill that its reader starts from is unused when its turn comes.
  for (intptr_t i = ops.count - 1; i >= 0; i--)
    kernels += lower(ops.items[i], &target);
  tileOpsFree(&ops);
  mlirExtPassAddStatistic(pass, 0, kernels);
  return true;
}

static void dependents(MlirDialectRegistry registry) {
  tileRegisterDialect(registry);
  tileInsertDialects(registry, (const char *const[]){"arith", "math", "scf", "memref", "tensor", "linalg", NULL});
}

static const MlirExtPassOption options[] = {
    {"chip", "the machine, as lib/machine names it; default: the module's tile.machine, else a CPU",
     MlirExtOption_String, ""},
};

const MlirExtPassDefinition tileLinalgToTilePass = {
    .argument = "convert-linalg-to-tile",
    .summary = "Turn linalg on tensors into tile kernels and launches",
    .anchor = "builtin.module",
    .numOptions = 1,
    .options = options,
    .statistics = (const char *const[]){"kernels: linalg ops that became kernels", NULL},
    .dependentDialects = dependents,
    .run = run,
};
