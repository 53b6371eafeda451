// tile-fuse-attention: two products with a softmax between them become one kernel with online softmax.
//
// Expects: linalg on tensors in func.func, named ops generalized, elementwise chains fused. Leaves: a tile.kernel and a
// tile.launch in place of each chain that it recognizes (attention.c says which) and that the model (lib/search/
// attention.h) finds faster so; all other ops as they were. With `remarks` it says why a chain stayed.
// Cost: linear in the ops. Papers: FlashAttention (Dao et al., NeurIPS 2022); online softmax (Milakov and Gimelshein,
// 2018).
#include "lib/conversion/linalg_to_tile/attention.h"
#include "lib/conversion/linalg_to_tile/linalg_to_tile.h"

#include "dialects/tile/tile.h"
#include "lib/analysis/target.h"
#include "lib/ir/pass.h"
#include "lib/search/attention.h"
#include "lib/search/construct.h"

#include <math.h>

static MlirWalkResult collect(MlirOperation op, void *userData) {
  if (tileOpIs(op, "linalg.generic") && !mlirOperationIsNull(tileParentOfName(op, "func.func")))
    tileOpsAppend(userData, op);
  return MlirWalkResultAdvance;
}

static void forget(TileOps *ops, const TileAttention *a) {
  for (intptr_t i = 0; i < ops->count; ++i)
    for (int k = 0; k < a->numOps; ++k)
      if (mlirOperationEqual(ops->items[i], a->ops[k]))
        ops->items[i] = (MlirOperation){NULL};
}

//===--- does it pay? -------------------------------------------------------------------===//

static int64_t planned(const TileDim *dim) {
  return mlirShapedTypeIsDynamicSize(dim->extent) ? TileUnknownExtent : dim->extent > 1 ? dim->extent : 1;
}

// Predicted seconds of a product by itself.
static double secondsOf(const TileStructured *product) {
  TileTiling tiling;
  TileSearchResult result;
  if (!tileStructuredFindTiling(product, &tiling))
    return INFINITY;
  TileOperator op = tileStructuredDescribe(product, &tiling, TileUnknownExtent);
  TileSearchTarget target = tileStructuredTargetFor(product->target, &op);
  TileSearchOptions options = tileSearchDefaults();
  tileSearchConstruct(&op, &target, &options, &result);
  return result.count ? result.best[0].prediction.seconds : INFINITY;
}

static TileAttentionSizes sizesOf(const TileAttention *a) {
  const TileStructured *s = &a->structured;
  MlirType element = tileOperandElementType(&s->operands[AttentionQ]);
  TileAttentionSizes sizes = {.heads = 1,
                              .queries = planned(&s->dims[a->queries]),
                              .keys = planned(&s->dims[a->keys]),
                              .depth = planned(&s->dims[a->depth]),
                              .channels = planned(&s->dims[a->channels]),
                              .bytes = mlirTypeIsAF32(element) ? 4 : 2};
  for (int d = 0; d < s->numDims; ++d)
    if (d != a->queries && d != a->keys && d != a->depth && d != a->channels)
      sizes.heads *= planned(&s->dims[d]);
  TileKeyRange keys = tileAttentionKeyRange(a);
  for (int i = 0; i < keys.numBounds && sizes.numBounds < TileAttentionBounds; ++i)
    if (!keys.bounds[i].numTerms) // what a program knows late may hide nothing
      sizes.bounds[sizes.numBounds++] =
          (TileAttentionBound){keys.bounds[i].isUpper, keys.bounds[i].slope, keys.bounds[i].constant};
  return sizes;
}

// Chooses the kernel's tiles; false where the ops by themselves are faster.
static bool chooseTiles(TileAttention *a, TileSearchAttention *best) {
  TileStructured *s = &a->structured;
  TileTiling tiling;
  TileAttentionSizes sizes = sizesOf(a);
  TileSearchTarget target = s->target->search;
  if (tileStructuredFindTiling(&a->products[0], &tiling)) {
    TileOperator op = tileStructuredDescribe(&a->products[0], &tiling, TileUnknownExtent);
    target = tileStructuredTargetFor(s->target, &op);
  }
  *best = tileSearchAttention(&target, &sizes, secondsOf(&a->products[0]) + secondsOf(&a->products[1]));
  bool isGpu = target.isGpu;
  s->dims[a->depth].tile = isGpu ? tileSearchBucket(sizes.depth) : sizes.depth;
  s->dims[a->channels].tile = isGpu ? tileSearchBucket(sizes.channels) : sizes.channels;
  s->dims[a->queries].tile = best->queries;
  s->dims[a->keys].tile = best->keys;
  return best->queries && best->fused < best->apart;
}

//===--- the pass -----------------------------------------------------------------------===//

static bool run(MlirOperation module, MlirExtPass pass) {
  TileTarget target;
  if (!tileTargetOfPass(module, pass, &target))
    return false;
  TileOps ops = {0};
  uint64_t fused = 0;
  bool remarks = mlirExtPassGetBool(pass, "remarks");
  mlirOperationWalk(module, collect, &ops, MlirWalkPostOrder);
  // Users first: an op that became part of a kernel is gone when its turn comes.
  for (intptr_t i = ops.count - 1; i >= 0; --i) {
    TileAttention attention;
    TileSearchAttention best;
    const char *reason;
    if (mlirOperationIsNull(ops.items[i]))
      continue;
    if (!tileAttentionMatch(ops.items[i], &target, &attention, &reason)) {
      if (remarks && reason)
        tileRemark(ops.items[i], "is no fused attention: %s", reason);
      continue;
    }
    if (!chooseTiles(&attention, &best)) {
      if (remarks)
        tileRemark(ops.items[i], "is no fused attention: one kernel would take %.3g us, its ops %.3g us",
                   best.fused * 1e6, best.apart * 1e6);
      continue;
    }
    if (remarks)
      tileRemark(ops.items[i], "is fused: %d queries by %d keys, %.3g us, its ops %.3g us", (int)best.queries,
                 (int)best.keys, best.fused * 1e6, best.apart * 1e6);
    forget(&ops, &attention);
    tileAttentionEmit(&attention);
    ++fused;
  }
  tileOpsFree(&ops);
  tileMachineDestroy(target.machine);
  mlirExtPassAddStatistic(pass, 0, fused);
  return true;
}

static void dependents(MlirDialectRegistry registry) {
  tileRegisterDialect(registry);
  tileInsertDialects(registry, (const char *const[]){"arith", "math", "scf", "memref", "tensor", "linalg", NULL});
}

static const MlirExtPassOption options[] = {
    TILE_CHIP_OPTION,
    {"remarks", "say what was fused, and why what looks like attention was not", MlirExtOption_Bool, "false"},
};

const MlirExtPassDefinition tileFuseAttentionPass = {
    .argument = "tile-fuse-attention",
    .summary = "Fuse two products with a softmax between them into one kernel",
    .anchor = "builtin.module",
    .numOptions = 2,
    .options = options,
    .statistics = (const char *const[]){"fused: attentions that became one kernel", NULL},
    .dependentDialects = dependents,
    .run = run,
};
