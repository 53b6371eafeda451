// Writes down which ops one kernel computes: wraps them in a tile.group whose tiles meet in registers.
//
// ops=elementwise: groups of elementwise ops of one block, where one alone uses the result of another; their bodies are
// composed at once, so that what follows sees one op. Temporaries vanish. With compose=false the groups stay.
// ops=attention: groups of two products with a softmax between them (group_attention.c).
// ops=kernels: expects linalg.generic on tensors and tile.launch in func.func (named ops generalized, elementwise ops
// composed). Leaves groups of
//   - a product or a reduction that starts from a constant, and the elementwise op that alone uses it;
//   - a launch whose kernel marks its last stores (tile.final), and the elementwise ops that alone use its result;
//   - a launch whose kernel marks its first loads (tile.initial), and the fill that its output starts from.
// convert-linalg-to-tile makes one kernel of each. What starts a kernel (constants, empty tensors, fills) is copied
// into the group. Cost: linear in the ops.
#include "dialects/tile/group.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/group/group_launch.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/ir/pass.h"
#include "lib/transforms/fuse/fuse.h"
#include "lib/transforms/fuse/group_attention.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/linalg.h"

// A launch and what its kernel can compute around it, producers first; none where there is nothing. The fill is copied.
static void findAroundLaunch(MlirOperation op, const TileTarget *target, TileOps *group) {
  TileGroupLaunch launch;
  if (tileGroupOpIsA(mlirOperationGetParentOperation(op)) || !tileGroupLaunchRead(op, target, &launch))
    return;
  if (!mlirOperationIsNull(launch.expand))
    tileOpsAppend(group, launch.expand);
  tileOpsAppend(group, op);
  if (!mlirOperationIsNull(launch.collapse))
    tileOpsAppend(group, launch.collapse);
  for (int n = 1; n < launch.graph.numNodes; ++n)
    tileOpsAppend(group, launch.graph.nodes[n].s.op);
}

// An elementwise op behind the product or the reduction whose kernel can compute it; none where there is nothing.
static void findBehindProduct(MlirOperation op, const TileTarget *target, TileOps *group) {
  TileStructured elementwise, producer;
  TileEpilogue epilogue;
  if (tileGroupOpIsA(mlirOperationGetParentOperation(op)) || mlirOperationGetNumResults(op) == 0 ||
      mlirOpOperandIsNull(mlirValueGetFirstUse(linalgGenericOpGetResultTensors(op, 0))) || !tileGenericIsParallel(op) ||
      !tileStructuredRead(op, target, &elementwise) || !tileEpilogueFind(&elementwise, &producer, &epilogue))
    return;
  tileOpsAppend(group, producer.op);
  tileOpsAppend(group, op);
}

typedef void (*FindGroup)(MlirOperation op, const TileTarget *target, TileOps *group);

static uint64_t groupEach(MlirOperation module, const TileTarget *target, bool (*isA)(MlirOperation), FindGroup find) {
  TileOps ops = tileCollectOps(module, isA);
  uint64_t groups = 0;
  for (intptr_t i = ops.count - 1; i >= 0; --i) { // users first
    TileOps group = {0};
    if (!mlirOperationIsNull(tileParentOp(ops.items[i], funcFuncOpIsA)))
      find(ops.items[i], target, &group);
    if (group.count)
      tileGroupWrap(group.items, group.count, "register", mlirAttributeGetNull());
    groups += group.count > 0;
    tileOpsFree(&group);
  }
  tileOpsFree(&ops);
  return groups;
}

static uint64_t groupKernels(MlirOperation module, const TileTarget *target) {
  uint64_t launches = groupEach(module, target, tileLaunchOpIsA, findAroundLaunch);
  return launches + groupEach(module, target, linalgGenericOpIsA, findBehindProduct);
}

//===--- elementwise ops ----------------------------------------------------===//

// The op and all that it may be composed with, producers first.
static void appendChain(TileOps *chain, MlirOperation op) {
  for (intptr_t i = 0; i < linalgGenericOpGetNumInputs(op); ++i)
    if (tileGroupCanCompose(op, i))
      appendChain(chain, tileDefiningOp(mlirOperationGetOperand(op, i)));
  tileOpsAppend(chain, op);
}

static uint64_t groupElementwise(MlirOperation function) {
  TileOps ops = tileCollectOps(function, linalgGenericOpIsA);
  uint64_t groups = 0;
  for (intptr_t i = ops.count - 1; i >= 0; --i) { // users first
    TileOps chain = {0};
    if (!tileGroupOpIsA(mlirOperationGetParentOperation(ops.items[i])))
      appendChain(&chain, ops.items[i]);
    if (chain.count > 1)
      tileGroupWrap(chain.items, chain.count, "register", mlirAttributeGetNull());
    groups += chain.count > 1;
    tileOpsFree(&chain);
  }
  tileOpsFree(&ops);
  return groups;
}

// Groups of one op are that op.
static bool compose(MlirOperation function) {
  bool ok = tileGroupCompose(function);
  TileOps groups = tileCollectOps(function, tileGroupOpIsA);
  for (intptr_t i = 0; i < groups.count; ++i)
    if (tileGroupNumKernels(groups.items[i]) < 2)
      tileGroupInline(groups.items[i]);
  tileOpsFree(&groups);
  return ok;
}

//===--- the pass -----------------------------------------------------------===//

static bool runElementwise(MlirOperation module, MlirExtPass pass) {
  TileOps functions = tileCollectOps(module, funcFuncOpIsA);
  bool ok = true, composes = mlirExtPassGetBool(pass, "compose");
  for (intptr_t i = 0; ok && i < functions.count; ++i) {
    mlirExtPassAddStatistic(pass, 0, groupElementwise(functions.items[i]));
    ok = !composes || compose(functions.items[i]);
  }
  tileOpsFree(&functions);
  return ok;
}

static bool runAttention(MlirOperation module, MlirExtPass pass) {
  uint64_t groups = 0;
  bool ok = tileGroupAttention(module, pass, &groups);
  mlirExtPassAddStatistic(pass, 0, groups);
  mlirExtPassAddStatistic(pass, 1, groups);
  return ok;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  TileTarget target;
  MlirStringRef ops = mlirExtPassGetString(pass, "ops");
  if (tileStringEquals(ops, "elementwise"))
    return runElementwise(module, pass);
  if (tileStringEquals(ops, "attention"))
    return runAttention(module, pass);
  if (!tileStringEquals(ops, "kernels"))
    return tileError(module, "ops: unknown '%.*s'; expected elementwise, attention or kernels", (int)ops.length,
                     ops.data);
  if (!tileTargetOfPass(module, pass, &target))
    return false;
  mlirExtPassAddStatistic(pass, 0, groupKernels(module, &target));
  tileTargetFree(&target);
  return true;
}

const MlirExtPassDefinition tileGroupOpsPass = {
    .argument = "tile-group-ops",
    .summary = "Group the ops that one kernel computes",
    .anchor = builtinModuleOpName,
    .options =
        (const MlirExtPassOption[]){
            TILE_CHIP_OPTION,
            {"ops", "elementwise, attention or kernels: what is grouped", MlirExtOption_String, "kernels"},
            {"compose", "elementwise ops of a group become one op", MlirExtOption_Bool, "true"},
            {"remarks", "says which attention is grouped, and why another one is not", MlirExtOption_Bool, "false"},
            {NULL}},
    .statistics =
        (const char *const[]){"groups: tile.group ops written", "attentions: of these, groups of attention", NULL},
    .dialects = (const char *const[]){"arith", "tensor", "linalg", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
