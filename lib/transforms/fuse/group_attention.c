// Groups of attention, of tile-group-ops{ops=attention}: two products with a softmax between them become one
// tile.group, whose kernel has online softmax.
//
// Expects: linalg on tensors in func.func, named ops generalized, elementwise ops composed. Leaves: a tile.group around
// each chain that lib/analysis/attention.h recognizes and that the model (lib/search/attention.h) finds faster as one
// kernel. The group's schedule says how many queries, keys, channels of Q and channels of V a program takes at once,
// and, where programs of later queries see more keys, how many heads are visited side by side (`group`), or how many
// programs of a head share copies of keys and values (`cluster`).
// With `remarks` the pass says why a chain stayed. Cost: linear in the ops. Papers: FlashAttention (Dao et al., NeurIPS
// 2022), online softmax (Milakov and Gimelshein, 2018).
#include "lib/transforms/fuse/group_attention.h"
#include "dialects/tile/group.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/attention.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/analysis/tiling.h"
#include "lib/ir/pass.h"
#include "lib/search/attention.h"
#include "lib/search/construct.h"
#include "lib/support/integer.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/math.h"

#include <math.h>

enum { MaskedKeys = 64 }; // the block of masks by blocks (block-sparse attention), which programs should not exceed

static MlirWalkResult collect(MlirOperation op, void *userData) {
  if (linalgGenericOpIsA(op) && !mlirOperationIsNull(tileParentOp(op, funcFuncOpIsA)) &&
      mlirOperationIsNull(tileParentOp(op, tileGroupOpIsA)))
    tileOpsAppend(userData, op);
  return MlirWalkResultAdvance;
}

static MlirWalkResult findSoftmax(MlirOperation op, void *isFound) {
  *(bool *)isFound = linalgSoftmaxOpIsA(op) || mathExpOpIsA(op);
  return *(bool *)isFound ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

//===--- does it pay? -------------------------------------------------------------------===//

static int64_t planned(int64_t extent) {
  return mlirShapedTypeIsDynamicSize(extent) ? TileUnknownExtent : tessera_max(extent, 1);
}

// Predicted seconds of a product by itself, and the machine for it.
static double secondsOf(MlirOperation product, const TileTarget *machine, TileSearchTarget *target) {
  TileStructured s;
  TileTiling tiling;
  TileSearchResult result;
  *target = machine->search;
  tileStructuredRead(product, machine, &s);
  tileStructuredStartFromConstants(&s);
  if (!tileStructuredFindTiling(&s, &tiling))
    return INFINITY;
  TileOperator op = tileStructuredDescribe(&s, &tiling, TileUnknownExtent);
  *target = tileStructuredTargetFor(machine, &op);
  TileSearchOptions options = tileSearchDefaults();
  tileSearchConstruct(&op, target, &options, &result);
  return result.count ? result.best[0].prediction.seconds : INFINITY;
}

static TileAttentionSizes sizesOf(const TileAttention *a) {
  const TileGroupGraph *graph = a->graph;
  MlirType element = tileOperandElementType(&graph->nodes[a->scores].s.operands[a->q]);
  TileAttentionSizes sizes = {.heads = 1,
                              .queries = planned(graph->dims[a->queries].extent),
                              .keys = planned(graph->dims[a->keys].extent),
                              .depth = planned(graph->dims[a->depth].extent),
                              .channels = planned(graph->dims[a->channels].extent),
                              .bytes = mlirTypeIsAF32(element) ? 4 : 2};
  for (int d = 0; d < graph->numDims; ++d) {
    sizes.isOpen |= mlirShapedTypeIsDynamicSize(graph->dims[d].extent);
    sizes.heads *= graph->dims[d].isMatrix ? 1 : planned(graph->dims[d].extent);
  }
  TileKeyRange keys = tileAttentionKeyRange(a);
  sizes.mostKeys = mlirValueIsNull(keys.mask) ? 0 : MaskedKeys;
  for (int i = 0; i < keys.numBounds && sizes.numBounds < TileAttentionBounds; ++i)
    if (!tileKeySumHasTerms(&keys.bounds[i].sum)) // what a program knows late may hide nothing
      sizes.bounds[sizes.numBounds++] =
          (TileAttentionBound){keys.bounds[i].isUpper, keys.bounds[i].sum.query, keys.bounds[i].sum.constant};
  return sizes;
}

// The best block of one kernel, and what its ops would take.
static TileSearchAttention choose(const TileAttention *a) {
  TileAttentionSizes sizes = sizesOf(a);
  TileSearchTarget target, second;
  double products = secondsOf(a->graph->nodes[a->scores].s.op, a->graph->target, &target);
  products += secondsOf(a->graph->nodes[a->weighted].s.op, a->graph->target, &second);
  return tileSearchAttention(&target, &sizes, products);
}

//===--- the group ----------------------------------------------------------------------===//

static bool isFromOutside(const TileGroupGraph *graph, MlirValue value) {
  for (int n = 0; n < graph->numNodes; ++n)
    for (int i = 0; i < graph->nodes[n].s.numInputs; ++i)
      if (graph->nodes[n].makers[i] < 0 && mlirValueEqual(graph->nodes[n].s.operands[i].value, value))
        return true;
  return mlirOperationIsNull(tileDefiningOp(value));
}

// The ops between the value and what the attention reads, producers first.
static void appendMakers(const TileGroupGraph *graph, MlirValue value, TileOps *ops) {
  MlirOperation op = tileDefiningOp(value);
  bool isKnown = isFromOutside(graph, value);
  for (intptr_t i = 0; i < ops->count; ++i)
    isKnown |= mlirOperationEqual(ops->items[i], op);
  if (isKnown)
    return;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) - mlirOperationGetNumResults(op); ++i) // outputs are last
    appendMakers(graph, mlirOperationGetOperand(op, i), ops);
  tileOpsAppend(ops, op);
}

static void group(const TileAttention *a, const TileSearchAttention *best) {
  TileOps ops = {0};
  const TileGroupGraph *graph = a->graph;
  bool isGpu = graph->target->search.isGpu;
  int64_t depth = graph->dims[a->depth].extent, channels = graph->dims[a->channels].extent;
  const int64_t block[] = {best->queries, best->keys, isGpu ? tessera_bucket(depth) : depth,
                           isGpu ? tessera_bucket(channels) : channels};
  MlirOperation last = graph->nodes[graph->results[0].node].s.op;
  appendMakers(graph, tileOnlyResult(last), &ops);
  tileGroupWrap(ops.items, ops.count, "register",
                tileScheduleOfGroupedBlock(mlirOperationGetContext(last), 4, block, best->heads, best->cluster));
  tileOpsFree(&ops);
}

//===--- all of a module ----------------------------------------------------------------===//

// What ends in the second product, with the elementwise op that follows it or (one kernel cannot compute both) without.
static bool read(MlirOperation product, const TileTarget *target, TileAttention *a, MlirOperation *last,
                 const char **reason) {
  TileOps ops = {0};
  *reason = NULL;
  bool isRead = false, isFound = tileAttentionFind(product, target, &ops);
  while (isFound && !isRead) {
    *last = ops.items[ops.count - 1];
    isRead = tileAttentionRead(&ops, target, a, reason);
    isFound = !mlirOperationEqual(*last, product);
    ops.count -= isFound;
  }
  tileOpsFree(&ops);
  return isRead;
}

bool tileGroupAttention(MlirOperation module, MlirExtPass pass, uint64_t *groups) {
  TileTarget target;
  bool hasSoftmax = false, remarks = mlirExtPassGetBool(pass, "remarks");
  mlirOperationWalk(module, findSoftmax, &hasSoftmax, MlirWalkPreOrder);
  if (!hasSoftmax)
    return true;
  if (!tileTargetOfPass(module, pass, &target))
    return false;
  TileOps ops = {0};
  mlirOperationWalk(module, collect, &ops, MlirWalkPostOrder);
  // Users first: they take the ops before them into their groups.
  for (intptr_t i = ops.count - 1; i >= 0; --i) {
    const char *reason;
    TileAttention attention;
    MlirOperation last;
    if (!mlirOperationIsNull(tileParentOp(ops.items[i], tileGroupOpIsA)))
      continue;
    if (!read(ops.items[i], &target, &attention, &last, &reason)) {
      if (remarks && reason)
        tileRemark(ops.items[i], "is not fused as attention: %s", reason);
      continue;
    }
    TileSearchAttention best = choose(&attention);
    bool isFaster = best.queries && best.fused < best.apart;
    if (remarks && isFaster)
      tileRemark(last, "is fused: %d queries by %d keys, %.3g us, its ops %.3g us", (int)best.queries, (int)best.keys,
                 best.fused * 1e6, best.apart * 1e6);
    else if (remarks)
      tileRemark(last, "is not fused as attention: one kernel would take %.3g us, its ops %.3g us", best.fused * 1e6,
                 best.apart * 1e6);
    if (isFaster)
      group(&attention, &best);
    *groups += isFaster;
  }
  tileOpsFree(&ops);
  tileTargetFree(&target);
  return true;
}
