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
#include "lib/analysis/fusion.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/ir/pass.h"
#include "lib/transforms/fuse/fuse.h"
#include "lib/transforms/fuse/group_attention.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

// The reshape between a fill and the launch whose kernel can start from the fill's constant; `op` is the launch.
static bool findFill(MlirOperation op, const TileTarget *target, MlirOperation *reshape) {
  TileStructured fill;
  TileJoinedLaunch launch;
  MlirValue scalar, output = tileLaunchOpGetOutputs(op, 0);
  MlirOperation maker = tileDefiningOp(output), user = op;
  *reshape = (MlirOperation){NULL};
  if (tensorExpandShapeOpIsA(maker)) {
    *reshape = user = maker;
    maker = tileDefiningOp(tensorExpandShapeOpGetSrc(maker));
  }
  return linalgGenericOpIsA(maker) && tileStructuredRead(maker, target, &fill) &&
         tileJoinFindFill(&fill, user, &scalar, &launch) && mlirOperationEqual(launch.op, op);
}

static void appendLaunch(TileOps *group, const TileTarget *target, MlirOperation launch) {
  MlirOperation reshape;
  if (findFill(launch, target, &reshape) && !mlirOperationIsNull(reshape))
    tileOpsAppend(group, reshape);
  tileOpsAppend(group, launch);
}

// The op behind `elementwise` that might stand behind a launch too: it takes one of its inputs from that.
static bool readBefore(const TileStructured *elementwise, TileStructured *before) {
  for (int i = 0; i < elementwise->numInputs + (elementwise->numInputs == 0); ++i) {
    MlirOperation maker = tileDefiningOp(elementwise->operands[i].value);
    if (linalgGenericOpIsA(maker) && tileJoinCanFollow(elementwise, i) &&
        mlirBlockEqual(mlirOperationGetBlock(maker), mlirOperationGetBlock(elementwise->op)) &&
        tileStructuredRead(maker, elementwise->target, before))
      return true;
  }
  return false;
}

// A launch and the elementwise ops that follow it, `last` the last one. Producers first.
static void findBehindLaunch(const TileStructured *last, TileOps *group) {
  TileOps behind = {0};
  TileJoinedLaunch launch;
  TileStructured s = *last, before;
  int argument;
  bool isFound;
  for (;; s = before) {
    tileOpsAppend(&behind, s.op);
    isFound = tileJoinFindLaunch(&s, &argument, &launch);
    if (isFound || !readBefore(&s, &before))
      break;
  }
  if (isFound) {
    appendLaunch(group, last->target, launch.op);
    if (!mlirOperationIsNull(launch.reshape))
      tileOpsAppend(group, launch.reshape);
    for (intptr_t i = behind.count - 1; i >= 0; --i)
      tileOpsAppend(group, behind.items[i]);
  }
  tileOpsFree(&behind);
}

static void findBehindProduct(const TileStructured *elementwise, TileOps *group) {
  TileStructured producer;
  TileEpilogue epilogue;
  if (!tileEpilogueFind(elementwise, &producer, &epilogue))
    return;
  tileOpsAppend(group, producer.op);
  tileOpsAppend(group, elementwise->op);
}

// The ops that one kernel computes and that end with `op`; none where there is nothing to fuse.
static void findGroup(MlirOperation op, const TileTarget *target, TileOps *group) {
  MlirOperation reshape;
  TileStructured structured;
  if (tileGroupOpIsA(mlirOperationGetParentOperation(op)))
    return;
  if (tileLaunchOpIsA(op)) {
    if (tileLaunchOpGetNumOutputs(op) == 1 && findFill(op, target, &reshape))
      appendLaunch(group, target, op);
    return;
  }
  if (mlirOpOperandIsNull(mlirValueGetFirstUse(linalgGenericOpGetResultTensors(op, 0))) || !tileGenericIsParallel(op) ||
      !tileStructuredRead(op, target, &structured))
    return;
  findBehindLaunch(&structured, group);
  if (!group->count)
    findBehindProduct(&structured, group);
}

static MlirWalkResult collect(MlirOperation op, void *userData) {
  if ((linalgGenericOpIsA(op) || tileLaunchOpIsA(op)) && mlirOperationGetNumResults(op) > 0 &&
      !mlirOperationIsNull(tileParentOp(op, funcFuncOpIsA)))
    tileOpsAppend(userData, op);
  return MlirWalkResultAdvance;
}

static uint64_t groupKernels(MlirOperation module, const TileTarget *target) {
  TileOps ops = {0};
  uint64_t groups = 0;
  mlirOperationWalk(module, collect, &ops, MlirWalkPostOrder);
  for (intptr_t i = ops.count - 1; i >= 0; --i) { // users first
    TileOps group = {0};
    findGroup(ops.items[i], target, &group);
    if (group.count)
      tileGroupWrap(group.items, group.count, "register", mlirAttributeGetNull());
    groups += group.count > 0;
    tileOpsFree(&group);
  }
  tileOpsFree(&ops);
  return groups;
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
