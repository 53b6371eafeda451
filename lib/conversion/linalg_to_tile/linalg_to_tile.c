// Turns linalg on tensors into the tile graph: one tile.kernel and one tile.launch per op.
//
// Expects: linalg.generic (run tile-generalize-named-ops first), linalg.softmax, linalg.pack and unpack in func.func,
// on tensors. Leaves: tile.launch in destination style and private kernels; linalg ops that no kernel covers yet stay
// as they are and go by upstream's route (tile-bufferize-host counts them as fallback_ops). Host arithmetic, scf and
// func stay. A reduction whose output starts from a constant (linalg.fill) starts from that constant and never reads
// the fill. The ops of a tile.group become one kernel: elementwise ops, whose bodies are composed; a product or a
// reduction with the elementwise op that follows it (fusion.h), or a launch with elementwise ops around it whose kernel
// says how (launch_kernel.c); private kernels that nobody launches then go. A group that no kernel computes becomes a
// kernel for each op, with a remark. The kind of kernel and its sizes are those of the op's tile.schedule, which
// tile-construct-tiles writes; a schedule that the kernel cannot have is an error at the op. Without a schedule a
// kernel takes plain sizes: those of tileKindPlainTile (lib/search/kind.h) for products, rows and columns of the
// machine file (`model.tile.*`) elsewhere. For a GPU (the option chip, or the module's tile.machine) products read
// their operands from memory, and kernels say machine and warps.
#include "lib/conversion/linalg_to_tile/linalg_to_tile.h"

#include "dialects/tile/group.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/low_bit/packed_elements.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/ir/pass.h"
#include "mlir-c/AffineMap.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

static bool isUnused(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, i))))
      return false;
  return mlirOperationGetNumResults(op) > 0;
}

// An op of a group with the product or reduction that it follows.
static bool lowerWithEpilogue(const TileStructured *elementwise, bool *isRight) {
  TileStructured s;
  TileEpilogue epilogue;
  if (!tileGroupOpIsA(mlirOperationGetParentOperation(elementwise->op)) ||
      !tileEpilogueFind(elementwise, &s, &epilogue) || !(*isRight = tileStructuredCheckSchedule(&s)))
    return false;
  return tileLowerContraction(&s, &epilogue) || tileLowerProduct(&s, &epilogue) || tileLowerConverted(&s, &epilogue) ||
         tileLowerScaledProduct(&s, &epilogue) || tileLowerScaledDots(&s, &epilogue) || tileLowerNode(&s, &epilogue);
}

// True if the op became a kernel (or vanished because nobody reads it). `isRight` becomes false after an error.
static bool lower(MlirOperation op, const TileTarget *target, bool *isRight) {
  TileStructured s;
  if (linalgSoftmaxOpIsA(op))
    return tileStructuredReadSoftmax(op, target, &s) && (*isRight = tileStructuredCheckSchedule(&s)) &&
           tileLowerNode(&s, NULL);
  if (linalgPackOpIsA(op) || linalgUnPackOpIsA(op))
    return tileStructuredReadRelayout(op, target, &s) && (*isRight = tileStructuredCheckSchedule(&s)) &&
           tileLowerNode(&s, NULL);
  if (isUnused(op)) {
    mlirOperationDestroy(op);
    return true;
  }
  if (!tileStructuredRead(op, target, &s) || !(*isRight = tileStructuredCheckSchedule(&s)))
    return false;
  tileStructuredStartFromConstants(&s);
  if (tileStructuredHasTerms(&s))
    return tileLowerContraction(&s, NULL);
  if (tileLowerContraction(&s, NULL) || lowerWithEpilogue(&s, isRight))
    return true;
  return *isRight &&
         (tileLowerProduct(&s, NULL) || tileLowerConverted(&s, NULL) || tileLowerScaledProduct(&s, NULL) ||
          tileLowerScaledDots(&s, NULL) || tileLowerNode(&s, NULL) || tileLowerExtremum(&s) || tileLowerFold(&s));
}

static MlirWalkResult collect(MlirOperation op, void *userData) {
  bool isLinalg = linalgGenericOpIsA(op) || linalgSoftmaxOpIsA(op) || linalgPackOpIsA(op) || linalgUnPackOpIsA(op);
  if (isLinalg && !mlirOperationIsNull(tileParentOp(op, funcFuncOpIsA)))
    tileOpsAppend(userData, op);
  return MlirWalkResultAdvance;
}

//===--- groups -----------------------------------------------------------------===//

// The kernel of a group whose schedule is of the kind `group`, or whose tiles meet below registers. Where there is
// none, the group is given up, and the reason is a remark. False after an error.
static bool lowerGroup(MlirOperation group, const TileTarget *target) {
  const char *reason = "some of its tiles meet in global memory";
  bool isRight = true;
  if (!tileGroupMeetsAt(group, "global") && (tileLowerGroup(group, target, &reason, &isRight) || !isRight))
    return isRight;
  tileRemark(group, "becomes one kernel for each op: %s", reason);
  tileGroupInline(group);
  return true;
}

static bool isKindGroup(MlirAttribute schedule) {
  MlirAttribute kind = mlirAttributeIsNull(schedule) ? schedule : tileScheduleAttrGetEntry(schedule, "kind");
  return !mlirAttributeIsNull(kind) && tileStringEquals(mlirStringAttrGetValue(kind), "group");
}

// Returns how many linalg ops became nodes of launches' kernels.
static uint64_t lowerLaunches(MlirOperation group, const TileTarget *target) {
  TileOps launches = tileCollectOps(group, tileLaunchOpIsA);
  uint64_t joined = 0;
  for (intptr_t i = 0; i < launches.count; ++i)
    joined += tileLowerLaunch(launches.items[i], target);
  tileOpsFree(&launches);
  return joined;
}

// Attention and groups of the kind `group` become kernels; groups whose kernels this conversion does not make fall back
// to their bodies. False after an error.
static bool openGroups(MlirOperation module, const TileTarget *target, TileOps *groups, uint64_t *joined) {
  *groups = tileCollectOps(module, tileGroupOpIsA);
  intptr_t left = 0;
  bool ok = true;
  for (intptr_t i = 0; ok && i < groups->count; ++i) {
    MlirOperation group = groups->items[i];
    MlirAttribute schedule = tileGroupOpGetSchedule(group);
    bool hasSchedule = !mlirAttributeIsNull(schedule), meetsInRegisters = tileGroupMeetsInRegisters(group);
    if (isKindGroup(schedule) || (!hasSchedule && !meetsInRegisters)) {
      ok = lowerGroup(group, target);
      continue;
    }
    *joined += lowerLaunches(group, target);
    if (!tileGroupIsComposed(group))
      tileGroupCompose(group);
    if (hasSchedule && meetsInRegisters && tileLowerAttention(group, target))
      continue;
    if (!hasSchedule) {
      groups->items[left++] = group;
    } else {
      tileRemark(group, "becomes one kernel for each op: its schedule is for attention, block = [queries, keys, depth, "
                        "channels]; the body is not attention");
      tileGroupInline(group);
    }
  }
  groups->count = left;
  return ok;
}

// What is left of the groups: launches, and ops that no kernel covers.
static void closeGroups(TileOps *groups) {
  for (intptr_t i = 0; i < groups->count; ++i) {
    int kernels = (int)tileGroupNumKernels(groups->items[i]);
    if (kernels > 1)
      tileRemark(groups->items[i], "becomes %d kernels: no kernel computes all ops of its body", kernels);
    tileGroupInline(groups->items[i]);
  }
  tileOpsFree(groups);
}

//===--- packed elements --------------------------------------------------------===//

static bool isTensorCast(MlirOperation op) {
  return tileBitcastOpIsA(op) && mlirOperationIsNull(tileParentOp(op, tileKernelOpIsA));
}

// A linalg.generic that yields the elements, with a tensor of its own, whoever reads them.
static MlirOperation buildCopy(MlirOperation cast) {
  TileBuilder b = tileBuilderAfter(cast);
  MlirValue packed = tileOnlyResult(cast);
  MlirType type = mlirValueGetType(packed), element = mlirShapedTypeGetElementType(type);
  intptr_t rank = mlirShapedTypeGetRank(type);
  MlirValue empty = tensorEmptyOpBuild(&b, type, 0, NULL);
  MlirAttribute same = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(b.context, rank)), none = {NULL};
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(&b, &region, 2, (MlirType[]){element, element});
  MlirValue value = mlirBlockGetArgument(inside.block, 0);
  linalgYieldOpBuild(&inside, 1, &value);
  MlirOperation copy = linalgGenericOpCreate(&b, 1, &type, 1, &packed, 1, &empty,
                                             mlirArrayAttrGet(b.context, 2, (MlirAttribute[]){same, same}),
                                             tileBuildIteratorTypes(&b, rank, 0), none, none, region);
  mlirValueReplaceAllUsesExcept(packed, tileOnlyResult(copy), 1, &copy);
  return copy;
}

// Casts that kernels have taken to their loads go. Others become kernels that unpack: their users are no kernels that
// read bytes. Returns the number of these.
static uint64_t unpackRest(MlirOperation module, const TileTarget *target, bool *isRight) {
  TileOps casts = tileCollectOps(module, isTensorCast);
  uint64_t kernels = 0;
  for (intptr_t i = 0; i < casts.count; ++i) { // back to the bytes
    MlirOperation before = tileDefiningOp(tileBitcastOpGetInput(casts.items[i]));
    if (!mlirOperationIsNull(before) && tileBitcastOpIsA(before) &&
        mlirTypeEqual(tileBitcastOpGetInputType(before), tileOnlyResultType(casts.items[i])))
      mlirValueReplaceAllUsesOfWith(tileOnlyResult(casts.items[i]), tileBitcastOpGetInput(before));
  }
  for (intptr_t i = casts.count - 1; i >= 0; --i)
    if (isUnused(casts.items[i]))
      mlirOperationDestroy(casts.items[i]);
    else if (!mlirValueIsNull(tilePackedBytesOf(tileOnlyResult(casts.items[i])))) {
      kernels += lower(buildCopy(casts.items[i]), target, isRight);
      if (isUnused(casts.items[i]))
        mlirOperationDestroy(casts.items[i]);
    }
  tileOpsFree(&casts);
  return kernels;
}

//===--- the pass ---------------------------------------------------------------===//

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps ops = {0};
  TileTarget target;
  if (!tileTargetOfPass(module, pass, &target))
    return false;
  TileOps groups;
  uint64_t panels = 0, joined = 0;
  bool ok = openGroups(module, &target, &groups, &joined);
  mlirOperationWalk(module, collect, &ops, MlirWalkPostOrder);
  target.constantPanels = &panels;
  uint64_t kernels = 0;
  // Consumers first: a fill that its reader starts from is unused when its turn comes.
  for (intptr_t i = ops.count - 1; ok && i >= 0; --i)
    kernels += lower(ops.items[i], &target, &ok);
  tileOpsFree(&ops);
  closeGroups(&groups);
  kernels += ok ? unpackRest(module, &target, &ok) : 0;
  tileTargetFree(&target);
  mlirExtPassAddStatistic(pass, 0, kernels);
  mlirExtPassAddStatistic(pass, 1, joined);
  mlirExtPassAddStatistic(pass, 2, panels);
  if (joined)
    tileDropUnlaunched(module);
  return ok;
}

const MlirExtPassDefinition tileLinalgToTilePass = {
    .argument = "convert-linalg-to-tile",
    .summary = "Turn linalg on tensors into tile kernels and launches",
    .anchor = builtinModuleOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION, {NULL}},
    .statistics = (const char *const[]){"kernels: linalg ops that became kernels",
                                        "joined: linalg ops that became part of a launch's kernel",
                                        "panels: constant operands of products that were packed", NULL},
    .dialects = (const char *const[]){"arith", "math", "scf", "memref", "tensor", "linalg", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
