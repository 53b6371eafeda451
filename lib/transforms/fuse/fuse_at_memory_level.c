// tile-fuse-at-memory-level{chip=NAME}: chooses which ops one kernel computes, and the memory level at which the tiles
// of each inner edge meet.
//
// Expects: linalg.generic and linalg.softmax on tensors in func.func (named ops generalized, elementwise ops composed).
// Leaves: tile.group around each set of ops that one kernel computes and that the model (lib/search/tile_graph.h) finds
// better than separate kernels. A set grows from an op by its users. The group says `meets`, and a #tile.schedule of
// the kind `group` with blocks, traffic and footprint. What something outside uses is a result of the group.
// Legal: lib/analysis/group/group_graph.h reads the set as a graph; no path leaves the set and comes back; users of
// what leaves stand after the set's last op. On a CPU, products keep their own kernels, and on a GPU without a matrix
// instruction for the types the objective `time` does not let a product take a factor from the group: the factor would
// reach its lanes by shuffles. With products=false, groups have no products, and what another kernel computes at its
// end stays there.
// Source: Welder (Shi et al., OSDI 2023). Cost: ops × 16 graphs, a search of at most 2000 visits for each.
#include "dialects/tile/group.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/fusion.h"
#include "lib/analysis/group/group_launch.h"
#include "lib/analysis/low_bit/converted.h"
#include "lib/analysis/low_bit/scaled.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/analysis/tiling.h"
#include "lib/ir/enclosing.h"
#include "lib/ir/pass.h"
#include "lib/search/construct.h"
#include "lib/transforms/fuse/fuse.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/linalg.h"

#include <math.h>
#include <string.h>

enum { MostOps = 16 }; // of a set

typedef struct Fusion {
  const TileTarget *target;
  TileGraphOptions options;
  bool remarks, products; // products: they may be in a group
  TileGroupGraph *graph;
  TileGraph *described;
} Fusion;

typedef struct Set {
  MlirOperation ops[MostOps]; // in the order of the block
  intptr_t count;
} Set;

typedef struct Choice {
  Set set;
  TileGraphChoice blocks;
  double gain; // seconds or bytes
} Choice;

//===--- sets ------------------------------------------------------------------------===//

static bool isIn(const Set *set, MlirOperation op) {
  for (intptr_t i = 0; i < set->count; ++i)
    if (mlirOperationEqual(set->ops[i], op))
      return true;
  return false;
}

// Fills are none: each kernel makes its own.
static bool takesTensor(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) - mlirOperationGetNumResults(op); ++i)
    if (mlirTypeIsATensor(tileOperandType(op, i)))
      return true;
  return false;
}

static bool takesCodes(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) - mlirOperationGetNumResults(op); ++i)
    if (mlirTypeIsATensor(tileOperandType(op, i)) &&
        tileElementWidth(mlirShapedTypeGetElementType(tileOperandType(op, i))) <= 8)
      return true;
  return false;
}

// A product on codes has a kernel of its own, whose matrix instructions no group has.
static bool isConverted(const Fusion *f, MlirOperation op) {
  TileStructured s;
  TileConverted converted;
  TileScaledProduct scaled;
  return linalgGenericOpIsA(op) && !tileGenericIsParallel(op) && takesCodes(op) &&
         tileStructuredRead(op, f->target, &s) &&
         (tileStructuredMatchConverted(&s, &converted) || tileStructuredMatchScaledProduct(&s, &scaled));
}

static bool isCandidate(MlirOperation op) {
  return (linalgGenericOpIsA(op) || linalgSoftmaxOpIsA(op)) && takesTensor(op) &&
         !tileGroupOpIsA(mlirOperationGetParentOperation(op)) &&
         !mlirOperationIsNull(tileParentOp(op, funcFuncOpIsA)) && mlirOperationGetNumResults(op) > 0;
}

static bool isFollowed(MlirOperation op) { return linalgGenericOpIsA(op) && tileGenericIsParallel(op); }

// Without products in groups, a product keeps its epilogue, and so does a launch.
static bool isPartOfOther(const Fusion *f, const Set *set, MlirOperation op) {
  TileStructured s, producer;
  TileEpilogue epilogue;
  return !f->products && isFollowed(op) && tileStructuredRead(op, f->target, &s) &&
         ((tileEpilogueFind(&s, &producer, &epilogue) && !isIn(set, producer.op)) ||
          tileGroupLaunchPrecedes(op, f->target));
}

static bool hasProduct(const TileGroupGraph *graph) {
  for (int n = 0; n < graph->numNodes; ++n)
    if (tileGroupNodeIsProduct(&graph->nodes[n]))
      return true;
  return false;
}

// The first user of the set's results after the op `after` in the block that is not in the set.
static MlirOperation nextUser(const Set *set, MlirOperation after) {
  MlirOperation first = {NULL};
  MlirBlock block = mlirOperationGetBlock(after);
  for (intptr_t i = 0; i < set->count; ++i)
    for (intptr_t r = 0; r < mlirOperationGetNumResults(set->ops[i]); ++r) {
      MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(set->ops[i], r));
      for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = tileAncestorIn(block, mlirOpOperandGetOwner(use));
        if (!mlirOperationIsNull(user) && mlirOperationIsBeforeInBlock(after, user) &&
            (mlirOperationIsNull(first) || mlirOperationIsBeforeInBlock(user, first)))
          first = user;
      }
    }
  return first;
}

// All users outside of what the set makes stand after its last op. So no path leaves the set and comes back, either.
static bool isClosed(const Set *set) {
  MlirOperation last = set->ops[set->count - 1];
  for (intptr_t i = 0; i < set->count; ++i)
    for (intptr_t r = 0; r < mlirOperationGetNumResults(set->ops[i]); ++r) {
      MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(set->ops[i], r));
      for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = tileAncestorIn(mlirOperationGetBlock(last), mlirOpOperandGetOwner(use));
        if (!mlirOperationIsNull(user) && !isIn(set, user) && mlirOperationIsBeforeInBlock(user, last))
          return false;
      }
    }
  return true;
}

//===--- apart ------------------------------------------------------------------------===//

typedef struct Apart {
  double seconds, bytes;
  int launches;
} Apart;

// The elementwise op becomes a part of the kernel of the set's op before it, as tile-group-ops does.
static bool isEpilogue(const Set *set, const TileGroupNode *node, double *saved) {
  TileStructured producer;
  TileEpilogue epilogue;
  TileStructured s;
  if (node->kind != TileGroupKind_Map || !tileStructuredRead(node->s.op, node->s.target, &s) ||
      !tileEpilogueFind(&s, &producer, &epilogue) || !isIn(set, producer.op))
    return false;
  MlirType type = mlirValueGetType(s.operands[epilogue.argument].value);
  *saved = 2 * (double)tileMemoryBits(mlirShapedTypeGetElementType(type)) / 8;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i) {
    int64_t size = mlirShapedTypeGetDimSize(type, i);
    *saved *= mlirShapedTypeIsDynamicSize(size) ? TileUnknownExtent : (double)size;
  }
  return true;
}

// One kernel for each op, and what its best tile takes. The graph that the set has as one kernel is lost.
static Apart weighApart(const Fusion *f, const Set *set) {
  Apart apart = {.seconds = 0};
  TileSearchOptions options = tileSearchDefaults();
  const char *reason;
  if (!tileGroupGraphRead(set->ops, set->count, f->target, TileGroupForm_Apart, f->graph, &reason))
    return apart;
  tileGroupGraphDescribe(f->graph, TileUnknownExtent, f->described);
  for (int n = 0; n < f->graph->numNodes; ++n) {
    const TileGroupNode *node = &f->graph->nodes[n];
    TileOperator op = f->described->nodes[n].op;
    TileSearchTarget target = tileStructuredTargetFor(f->target, &op);
    TileSearchResult found = {.count = 0};
    TileStructured s;
    TileTiling tiling;
    double saved = 0, least = 0;
    bool isPart = isEpilogue(set, node, &saved);
    if (node->kind != TileGroupKind_Softmax && tileStructuredRead(node->s.op, f->target, &s)) {
      tileStructuredStartFromConstants(&s);
      if (tileStructuredFindTiling(&s, &tiling)) {
        op = tileStructuredDescribe(&s, &tiling, TileUnknownExtent);
        tileSearchConstruct(&op, &target, &options, &found);
      }
    }
    for (int i = 0; i < op.numOperands; ++i)
      if (op.operands[i].isRead || op.operands[i].isOutput)
        least += (double)tileOperandCount(&op.operands[i]) * (double)op.operands[i].bits / 8;
    const TilePrediction *p = &found.best[0].prediction;
    apart.bytes += (found.count ? p->read + p->written : least) - saved;
    double seconds = found.count ? p->seconds : least / target.levels[target.numLevels - 1].bandwidth;
    apart.seconds += isPart ? 0 : seconds + target.model.launchSeconds;
    apart.launches += !isPart;
  }
  return apart;
}

//===--- together ----------------------------------------------------------------------===//

// Why the objective does not want the graph; null: it may.
static const char *declined(const Fusion *f) {
  bool isGpu = f->target->search.isGpu;
  for (int n = 0; n < f->graph->numNodes; ++n) {
    const TileGroupNode *node = &f->graph->nodes[n];
    if (!tileGroupNodeIsProduct(node))
      continue;
    if (!isGpu)
      return "on a CPU products have kernels of their own";
    TileSearchTarget target = tileStructuredTargetFor(f->target, &f->described->nodes[n].op);
    bool isInner = node->kind == TileGroupKind_Online || node->makers[node->product.lhs] >= 0 ||
                   node->makers[node->product.rhs] >= 0;
    if (f->options.objective == TileGraphObjective_Time && isInner && !target.hasAtom)
      return "a factor would reach the lanes of its product by shuffles, as the machine has no matrix instruction for "
             "the types";
  }
  return NULL;
}

// Rates of the set: those of its first product, else of its first op.
static TileSearchTarget targetOf(const Fusion *f) {
  int of = 0;
  for (int n = f->graph->numNodes - 1; n >= 0; --n)
    of = tileGroupNodeIsProduct(&f->graph->nodes[n]) ? n : of;
  return tileStructuredTargetFor(f->target, &f->described->nodes[of].op);
}

// Null, or what a kernel with the chosen blocks cannot do. The search takes unknown extents for TileUnknownExtent.
static const char *faultOf(const Fusion *f, const TileGraphChoice *choice) {
  for (int d = 0; d < f->graph->numDims; ++d)
    f->graph->dims[d].block = choice->block[d];
  return tileGroupGraphFault(f->graph);
}

// What the set gains as one kernel; false, with the reason, where that is nothing.
static bool weigh(const Fusion *f, const Set *set, Choice *choice, const char **reason) {
  *reason = NULL;
  if (!tileGroupGraphRead(set->ops, set->count, f->target, TileGroupForm_Whole, f->graph, reason))
    return false;
  if (!tileGroupGraphFitsKernel(f->graph)) {
    *reason = "its kernel would have more than 16 operands";
    return false;
  }
  tileGroupGraphDescribe(f->graph, TileUnknownExtent, f->described);
  if ((*reason = declined(f)))
    return false;
  TileSearchTarget target = targetOf(f);
  choice->set = *set;
  choice->blocks = tileGraphSearch(f->described, &target, &f->options);
  if (choice->blocks.cost.misfit) {
    *reason = "no blocks fit the machine";
    return false;
  }
  if ((*reason = faultOf(f, &choice->blocks)))
    return false;
  Apart apart = weighApart(f, set);
  const TileGraphCost *cost = &choice->blocks.cost;
  double seconds = cost->seconds + target.model.launchSeconds, bytes = cost->read + cost->written;
  bool isTime = f->options.objective == TileGraphObjective_Time;
  choice->gain = isTime ? apart.seconds - seconds : apart.bytes - bytes;
  bool isBetter = isTime ? tileSearchGains(&target, seconds, apart.seconds) : bytes < apart.bytes;
  if (!isBetter || apart.launches < 2)
    *reason = "one kernel gains nothing over separate ones";
  return !*reason;
}

// The best set that begins with the op. It may grow over sets that gain nothing.
static bool grow(const Fusion *f, MlirOperation op, Choice *best, const char **why) {
  Set set = {.ops = {op}, .count = 1};
  MlirOperation at = op;
  bool isFound = false;
  *why = NULL;
  while (set.count < MostOps && !mlirOperationIsNull(at = nextUser(&set, at))) {
    Set wider = set;
    const char *reason = NULL;
    Choice choice;
    if (!isCandidate(at) || isConverted(f, at) || isPartOfOther(f, &set, at))
      continue;
    wider.ops[wider.count++] = at;
    if (!tileGroupGraphRead(wider.ops, wider.count, f->target, TileGroupForm_Whole, f->graph, &reason)) {
      *why = reason;
      continue;
    }
    if (!f->products && hasProduct(f->graph)) {
      *why = "products are to have kernels of their own";
      continue;
    }
    set = wider;
    if (!isClosed(&set) || !weigh(f, &set, &choice, &reason)) {
      *why = reason ? reason : *why;
      continue;
    }
    if (!isFound || choice.gain >= best->gain)
      *best = choice;
    isFound = true;
  }
  return isFound;
}

//===--- the group ----------------------------------------------------------------------===//

// Elementwise ops take values as they lie in registers. Folds and products exchange them between the lanes and warps of
// a program, on a CPU by its caches.
static const char *levelOf(MlirOperation op) {
  return linalgGenericOpIsA(op) && tileGenericIsParallel(op) ? "register" : "shared";
}

static MlirAttribute scheduleOf(const Fusion *f, const TileGraphChoice *blocks, int numDims, MlirContext context) {
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  const TileGraphCost *cost = &blocks->cost;
  int64_t warps = cost->warps, traffic = (int64_t)(cost->read + cost->written);
  double nanoseconds = cost->seconds * 1e9;
  const struct {
    const char *key;
    MlirAttribute value;
  } entries[] = {{"kind", mlirStringAttrGet(context, tileString("group"))},
                 {"block", mlirDenseI64ArrayGet(context, numDims, blocks->block)},
                 {"warps", f->target->search.isGpu ? mlirDenseI64ArrayGet(context, 1, &warps) : mlirAttributeGetNull()},
                 {"time", mlirIntegerAttrGet(i64, nanoseconds < 1 ? 1 : (int64_t)nanoseconds)},
                 {"traffic", mlirDenseI64ArrayGet(context, 1, &traffic)},
                 {"footprint", mlirIntegerAttrGet(i64, cost->footprint < 1 ? 1 : (int64_t)cost->footprint)},
                 {"evaluations", mlirIntegerAttrGet(i64, blocks->visits)}};
  MlirNamedAttribute named[sizeof entries / sizeof *entries];
  intptr_t count = 0;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; ++i)
    if (!mlirAttributeIsNull(entries[i].value))
      named[count++] = mlirNamedAttributeGet(mlirIdentifierGet(context, tileString(entries[i].key)), entries[i].value);
  return tileScheduleAttrGet(context, mlirDictionaryAttrGet(context, count, named));
}

// The group's body has tensors of constants that the ops take. They are nodes too, and dimensions are numbered in the
// order of the body's ops: the blocks are chosen for the body as it is.
static void setSchedule(const Fusion *f, MlirOperation group) {
  TileOps ops = {0};
  const char *reason = NULL;
  MlirOperation yield = mlirBlockGetTerminator(tileGroupBody(group));
  for (MlirOperation op = mlirBlockGetFirstOperation(tileGroupBody(group)); !mlirOperationEqual(op, yield);
       op = mlirOperationGetNextInBlock(op))
    tileOpsAppend(&ops, op);
  if (tileGroupGraphRead(ops.items, ops.count, f->target, TileGroupForm_Whole, f->graph, &reason)) {
    tileGroupGraphDescribe(f->graph, TileUnknownExtent, f->described);
    TileSearchTarget target = targetOf(f);
    TileGraphChoice blocks = tileGraphSearch(f->described, &target, &f->options);
    tileGroupOpSetSchedule(group, scheduleOf(f, &blocks, f->graph->numDims, mlirOperationGetContext(group)));
  }
  tileOpsFree(&ops);
}

static bool fuseFrom(const Fusion *f, MlirOperation op) {
  Choice best;
  const char *why;
  if (!grow(f, op, &best, &why)) {
    if (f->remarks && why)
      tileRemark(op, "is not fused with what follows it: %s", why);
    return false;
  }
  if (f->remarks)
    tileRemark(op, "is fused with %d ops that follow it: %.0f bytes, %.3g us", (int)best.set.count - 1,
               best.blocks.cost.read + best.blocks.cost.written, best.blocks.cost.seconds * 1e6);
  setSchedule(f, tileGroupWrapAll(best.set.ops, best.set.count, levelOf, mlirAttributeGetNull()));
  return true;
}

//===--- the pass -----------------------------------------------------------------------===//

static MlirWalkResult collect(MlirOperation op, void *ops) {
  if (tileGroupOpIsA(op))
    return MlirWalkResultSkip;
  if (isCandidate(op))
    tileOpsAppend(ops, op);
  return MlirWalkResultAdvance;
}

static bool readOptions(MlirOperation module, MlirExtPass pass, Fusion *f) {
  MlirStringRef objective = mlirExtPassGetString(pass, "objective"), search = mlirExtPassGetString(pass, "search");
  static const char *const objectives[] = {"time", "total-traffic", "waves"};
  f->options = tileGraphDefaults();
  f->remarks = mlirExtPassGetBool(pass, "remarks");
  f->products = mlirExtPassGetBool(pass, "products");
  f->options.isExhaustive = tileStringEquals(search, "exhaustive-model");
  if (!f->options.isExhaustive && !tileStringEquals(search, "construct"))
    return tileError(module, "search: unknown '%.*s'; accepts construct and exhaustive-model", (int)search.length,
                     search.data);
  for (int i = 0; i < 3; ++i)
    if (tileStringEquals(objective, objectives[i])) {
      f->options.objective = (TileGraphObjective)i;
      return true;
    }
  return tileError(module, "objective: unknown '%.*s'; accepts time, total-traffic and waves", (int)objective.length,
                   objective.data);
}

static bool run(MlirOperation module, MlirExtPass pass) {
  Fusion f;
  TileTarget target;
  TileOps ops = {0};
  uint64_t groups = 0;
  if (!readOptions(module, pass, &f) || !tileTargetOfPass(module, pass, &target))
    return false;
  f.target = &target;
  f.graph = tileArenaAllocate(target.arena, sizeof *f.graph);
  f.described = tileArenaAllocate(target.arena, sizeof *f.described);
  mlirOperationWalk(module, collect, &ops, MlirWalkPreOrder);
  for (intptr_t i = 0; i < ops.count; ++i)
    if (isCandidate(ops.items[i]) && !isConverted(&f, ops.items[i]) &&
        !isPartOfOther(&f, &(Set){.count = 0}, ops.items[i]))
      groups += fuseFrom(&f, ops.items[i]);
  tileOpsFree(&ops);
  tileTargetFree(&target);
  mlirExtPassAddStatistic(pass, 0, groups);
  return true;
}

const MlirExtPassDefinition tileFuseAtMemoryLevelPass = {
    .argument = "tile-fuse-at-memory-level",
    .summary = "Choose which ops one kernel computes and where their tiles meet",
    .anchor = builtinModuleOpName,
    .options =
        (const MlirExtPassOption[]){
            TILE_CHIP_OPTION,
            {"objective", "what decides: time, total-traffic or waves", MlirExtOption_String, "time"},
            {"search", "construct, or exhaustive-model: every block", MlirExtOption_String, "construct"},
            {"products", "groups may have products; false: only sums of rows and what surrounds them",
             MlirExtOption_Bool, "true"},
            {"remarks", "says what is fused, and why other ops are not", MlirExtOption_Bool, "false"},
            {NULL}},
    .statistics = (const char *const[]){"groups: tile.group ops written", NULL},
    .dialects = (const char *const[]){"arith", "tensor", "linalg", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
