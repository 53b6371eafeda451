// tile-specialize-sizes{buckets=16,256,4096 loops=false chip=NAME}: kernels for small, middle and large sizes where a
// size is known only at run time; with loops=true only of ops that a loop repeats, as recurrent cells do. Expects:
// linalg.generic on tensors in func.func (run tile-generalize-named-ops and tile-group-ops first). Leaves, for an op
// whose best tile depends on the bucket, a chain of scf.if over its unknown sizes with a copy of the op for each
// bucket, which says in `tile.extents` what its unknown sizes are planned for; a size above the last bucket but one
// takes the last. Buckets for which a larger one's tile is as good, by a tenth, share its copy. Every copy is right for
// any size. Elementwise ops that alone use the result come along, so that they still end as epilogues. Left alone: ops
// that have a schedule or extents, for which one tile does in all buckets, and what no tile is constructed for. Two
// unknown sizes at most are asked for. Cost: a construction for each combination of buckets. Source: BitBLAS's buckets
// of M (Ladder, OSDI 2024), here by comparing what Roller constructs.
#include "lib/transforms/schedule/schedule.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/tiling.h"
#include "lib/ir/pass.h"
#include "lib/search/construct.h"

#include "lib/analysis/target_of_pass.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/scf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MostBuckets = 8, MostSizes = 2, MostChain = 4 };
enum { Specialized, Versions };

static const char *const statistics[] = {
    "specialized: ops that became a choice by sizes",
    "versions: copies of them, all together",
    NULL,
};

typedef struct Run {
  MlirExtPass pass;
  TileTarget target;
  int count;
  int64_t buckets[MostBuckets];
  bool keepsTiles; // the chosen tile is the one that tile-construct-tiles would choose
} Run;

// An op, the elementwise ops behind it, and the sizes that decide.
typedef struct Choice {
  const Run *run;
  const TileStructured *s;
  int numSizes, sizes[MostSizes]; // dimensions
  MlirValue values[MostSizes];
  int length;
  MlirOperation chain[MostChain]; // the op first
  int taken[MostSizes];           // buckets of the version that is being made
  const TileTiling *tiling;
  TileSearchCandidate best[MostBuckets * MostBuckets]; // of each combination of buckets, the first size's fastest
} Choice;

//===--- questions -------------------------------------------------------------------===//

static bool isUnknown(const TileStructured *s, int dim) { return mlirShapedTypeIsDynamicSize(s->dims[dim].extent); }

// Asked before an op is read: there is nothing to choose between.
static bool hasKnownSizes(MlirOperation op) {
  bool isKnown = true;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    isKnown =
        isKnown && (!mlirTypeIsAShaped(tileOperandType(op, i)) || mlirShapedTypeHasStaticShape(tileOperandType(op, i)));
  return isKnown;
}

static bool readsTensors(const TileStructured *s) {
  for (int i = 0; i < s->numInputs; ++i)
    if (s->operands[i].isTensor)
      return true;
  return false;
}

static int combinations(const Choice *choice) {
  return choice->numSizes < 2 ? choice->run->count : choice->run->count * choice->run->count;
}

// The bucket of size number `size` in a combination.
static int bucketIn(const Choice *choice, int combination, int size) {
  return (size ? combination / choice->run->count : combination) % choice->run->count;
}

static TileOperator describe(const Choice *choice, int combination, TileSearchTarget *target) {
  TileStructured planned = tileStructuredCopy(choice->s, 0);
  for (int i = 0; i < choice->numSizes; ++i)
    planned.dims[choice->sizes[i]].planned = choice->run->buckets[bucketIn(choice, combination, i)];
  TileOperator op = tileStructuredDescribe(&planned, choice->tiling, TileUnknownExtent);
  *target = tileStructuredTargetFor(&choice->run->target, &op);
  return op;
}

// The best tile of each combination; false where none fits.
static bool constructAll(Choice *choice) {
  TileSearchOptions options = tileSearchDefaults();
  for (int i = 0; i < combinations(choice); ++i) {
    TileSearchTarget target;
    TileSearchResult result;
    TileOperator op = describe(choice, i, &target);
    tileSearchConstruct(&op, &target, &options, &result);
    if (!result.count)
      return false;
    choice->best[i] = result.best[0];
  }
  return true;
}

// Whether the tile of the largest combination does for all with these buckets of the sizes before `size`, and of it
// `bucket` or a later one: nowhere a tenth slower than the tile of its own.
static bool servesAll(const Choice *choice, int size, int bucket) {
  const TileSearchTile *tile = NULL;
  for (int i = combinations(choice) - 1; i >= 0; --i) {
    bool isOfThem = size >= choice->numSizes || bucketIn(choice, i, size) >= bucket;
    for (int before = 0; before < size; ++before)
      isOfThem = isOfThem && bucketIn(choice, i, before) == choice->taken[before];
    if (!isOfThem)
      continue;
    TileSearchTarget target;
    TileOperator op = describe(choice, i, &target);
    tile = tile ? tile : &choice->best[i].tile;
    TilePrediction p = tilePredict(&op, &target, tile);
    if (p.misfit || tileSearchGains(&target, choice->best[i].prediction.seconds, p.seconds))
      return false;
  }
  return true;
}

// The elementwise op that alone uses what this one makes; null: there is none.
static MlirOperation followerOf(MlirOperation op) {
  MlirOperation none = {NULL};
  if (mlirOperationGetNumResults(op) != 1 || !tileHasOneUse(tileOnlyResult(op)))
    return none;
  MlirOperation user = mlirOpOperandGetOwner(mlirValueGetFirstUse(tileOnlyResult(op)));
  bool follows = linalgGenericOpIsA(user) && tileGenericIsParallel(user) &&
                 mlirBlockEqual(mlirOperationGetBlock(user), mlirOperationGetBlock(op)) &&
                 mlirAttributeIsNull(tileOpGetSchedule(user));
  return follows ? user : none;
}

static bool findSizes(Choice *choice, const TileTiling *tiling) {
  for (int d = 0; d < choice->s->numDims && choice->numSizes < MostSizes; ++d)
    if (isUnknown(choice->s, d) && tiling->tiled >> d & 1)
      choice->sizes[choice->numSizes++] = d;
  return choice->numSizes > 0;
}

//===--- the versions ------------------------------------------------------------------===//

// Copies of the chain at the builder, for the buckets taken; gives the last one.
static MlirOperation buildVersion(const Choice *choice, TileBuilder *b) {
  MlirOperation copies[MostChain];
  for (int i = 0; i < choice->length; ++i) {
    copies[i] = tileBuilderInsert(b, mlirOperationClone(choice->chain[i]));
    for (intptr_t o = 0; i && o < mlirOperationGetNumOperands(copies[i]); ++o)
      if (mlirValueEqual(mlirOperationGetOperand(copies[i], o), tileOnlyResult(choice->chain[i - 1])))
        mlirOperationSetOperand(copies[i], o, tileOnlyResult(copies[i - 1]));
  }
  int64_t extents[MaxDims];
  const TileStructured *s = choice->s;
  for (int d = 0; d < s->numDims; ++d)
    extents[d] = isUnknown(s, d) ? TileUnknownExtent : s->dims[d].extent < 1 ? 1 : s->dims[d].extent;
  for (int i = 0; i < choice->numSizes; ++i)
    extents[choice->sizes[i]] = choice->run->buckets[choice->taken[i]];
  tileOpSetExtents(copies[0], mlirDenseI64ArrayGet(b->context, s->numDims, extents));
  int combination = choice->taken[0] + (choice->numSizes > 1 ? choice->taken[1] * choice->run->count : 0);
  TileSearchTarget target;
  TileOperator op = describe(choice, combination, &target);
  if (choice->run->keepsTiles)
    tileOpSetSchedule(copies[0], tileScheduleOfTile(b->context, &op, &choice->best[combination]));
  mlirExtPassAddStatistic(choice->run->pass, Versions, 1);
  return copies[choice->length - 1];
}

// size <= bucket
static MlirValue buildTest(TileBuilder *b, MlirValue size, int64_t bucket) {
  return arithCmpIOpBuild(b, size, tileBuildIndex(b, bucket), ArithCmpI_Ule);
}

static MlirOperation buildChoice(Choice *choice, TileBuilder *b, int size, int bucket);

// A region that yields what is chosen from there on.
static MlirRegion buildBranch(Choice *choice, const TileBuilder *b, int size, int bucket) {
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(b, &region, 0, NULL);
  MlirOperation chosen = buildChoice(choice, &inside, size, bucket);
  MlirValue results[MaxOperands];
  for (intptr_t r = 0; r < mlirOperationGetNumResults(chosen); ++r)
    results[r] = mlirOperationGetResult(chosen, r);
  tileBuildYield(&inside, mlirOperationGetNumResults(chosen), results);
  return region;
}

// The op that chooses between the versions for the sizes from number `size` on, whose bucket is `bucket` at least.
static MlirOperation buildChoice(Choice *choice, TileBuilder *b, int size, int bucket) {
  bool isLast = bucket + 1 == choice->run->count;
  if (size == choice->numSizes)
    return buildVersion(choice, b);
  if (isLast || servesAll(choice, size, bucket)) {
    bool isForAll = servesAll(choice, size, bucket);
    for (int i = size; i < choice->numSizes; ++i)
      choice->taken[i] = choice->run->count - 1;
    return isForAll ? buildVersion(choice, b) : buildChoice(choice, b, size + 1, 0);
  }
  MlirOperation last = choice->chain[choice->length - 1];
  MlirType types[MaxOperands];
  intptr_t count = mlirOperationGetNumResults(last);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = tileResultType(last, i);
  MlirValue isSmall = buildTest(b, choice->values[size], choice->run->buckets[bucket]);
  choice->taken[size] = bucket;
  MlirRegion small = buildBranch(choice, b, size + 1, 0);
  MlirRegion large = buildBranch(choice, b, size, bucket + 1);
  return scfIfOpBuild(b, count, types, isSmall, small, large);
}

static void readSizes(Choice *choice, TileBuilder *b) {
  for (int i = 0; i < choice->numSizes; ++i) {
    const TileDim *d = &choice->s->dims[choice->sizes[i]];
    choice->values[i] = tileBuildDim(b, choice->s->operands[d->operand].value, d->result);
  }
}

static void replace(Choice *choice) {
  MlirOperation last = choice->chain[choice->length - 1];
  TileBuilder b = tileBuilderBefore(last);
  readSizes(choice, &b);
  MlirOperation chosen = buildChoice(choice, &b, 0, 0);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(last); ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(last, i), mlirOperationGetResult(chosen, i));
  for (int i = choice->length - 1; i >= 0; --i)
    mlirOperationDestroy(choice->chain[i]);
}

static void forget(TileOps *ops, MlirOperation op) {
  for (intptr_t i = 0; i < ops->count; ++i)
    if (mlirOperationEqual(ops->items[i], op))
      ops->items[i] = (MlirOperation){NULL};
}

static bool specialize(const Run *run, TileOps *ops, MlirOperation op) {
  TileStructured s;
  TileTiling tiling;
  if (mlirOperationIsNull(op) || hasKnownSizes(op) || !tileStructuredRead(op, &run->target, &s))
    return true;
  if (!tileStructuredCheckExtents(&s))
    return false;
  tileStructuredStartFromConstants(&s);
  Choice choice = {.run = run, .s = &s, .tiling = &tiling, .length = 1, .chain = {op}};
  bool isDecided = !mlirAttributeIsNull(s.schedule) || !mlirAttributeIsNull(tileOpGetExtents(op));
  if (isDecided || !readsTensors(&s) || !tileStructuredFindTiling(&s, &tiling) ||
      !(tileStructuredGpu(&s) || tiling.isMatrix) || !findSizes(&choice, &tiling) || !constructAll(&choice) ||
      servesAll(&choice, 0, 0))
    return true;
  for (MlirOperation next = followerOf(op); !mlirOperationIsNull(next) && choice.length < MostChain;
       next = followerOf(next)) {
    choice.chain[choice.length++] = next;
    forget(ops, next);
  }
  replace(&choice);
  mlirExtPassAddStatistic(run->pass, Specialized, 1);
  return true;
}

//===--- the pass -------------------------------------------------------------------------===//

static bool readBuckets(MlirOperation function, Run *run) {
  MlirStringRef text = mlirExtPassGetString(run->pass, "buckets");
  char copy[128], *rest = copy, *end;
  snprintf(copy, sizeof copy, "%.*s", (int)text.length, text.data);
  for (bool more = text.length > 0 && text.length < sizeof copy; more; rest = end + 1) {
    long long bucket = strtoll(rest, &end, 10);
    bool isRising = bucket > (run->count ? run->buckets[run->count - 1] : 0) && bucket <= 1 << 30;
    if (end == rest || !isRising || run->count == MostBuckets || (*end && *end != ','))
      break;
    run->buckets[run->count++] = bucket;
    if (!*end)
      return run->count > 1 || tileError(function, "cannot choose between buckets '%s', expected two at least", copy);
  }
  return tileError(function, "cannot read buckets '%.*s', expected two to %d rising sizes: 16,256,4096",
                   (int)text.length, text.data, MostBuckets);
}

static bool isLoop(MlirOperation op) { return scfForOpIsA(op) || scfWhileOpIsA(op); }

static bool isRepeated(MlirOperation op) {
  return !mlirOperationIsNull(op) && !mlirOperationIsNull(tileParentOp(op, isLoop));
}

static bool run(MlirOperation function, MlirExtPass pass) {
  Run r = {.pass = pass, .keepsTiles = tileStringEquals(mlirExtPassGetString(pass, "policy"), "construct")};
  if (!readBuckets(function, &r) || !tileTargetOfPass(function, pass, &r.target))
    return false;
  bool ok = true, inLoops = mlirExtPassGetBool(pass, "loops");
  TileOps generics = tileStructuredCollect(function);
  for (intptr_t i = 0; ok && i < generics.count; ++i)
    if (!inLoops || isRepeated(generics.items[i]))
      ok = specialize(&r, &generics, generics.items[i]);
  tileOpsFree(&generics);
  tileTargetFree(&r.target);
  return ok;
}

const MlirExtPassDefinition tileSpecializeSizesPass = {
    .argument = "tile-specialize-sizes",
    .summary = "Make kernels for small and large sizes where a size is known only at run time, chosen there",
    .anchor = funcFuncOpName,
    .options = (const MlirExtPassOption[]){{"buckets", "sizes that kernels are made for, rising", MlirExtOption_String,
                                            "16,256,4096"},
                                           {"loops", "only ops that a loop repeats", MlirExtOption_Bool, "false"},
                                           TILE_CHIP_OPTION,
                                           TILE_POLICY_OPTION,
                                           {NULL}},
    .statistics = statistics,
    .dialects = (const char *const[]){"arith", "scf", "tensor", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
