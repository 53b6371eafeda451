// Nodes of the kind Online, and the kernel of a group that is attention. templates/online_softmax.mlir is the walk over
// the keys; here is what its hooks build: scores with their mask, values, and which blocks of keys the mask leaves. The
// products and the elementwise ops are nodes of the group.
//
// In a group at a memory level the scores are what another node makes, or lie in memory: a walk without a mask. Weights
// and sums of a GPU have the types of attention, f32 but for the weights as factors.
//
// Attention's program owns one head's block of queries; scores never reach memory that is shared. On a CPU every tile
// has the queries as its columns: maxima and sums are taken without going across lanes, keys and values are read where
// they lie, and queries, biases and results alone are turned. On a GPU rows are queries, as tensor cores want it.
#include "dialects/tile/group.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/attention.h"
#include "lib/conversion/linalg_to_tile/attention_blocks.h"
#include "lib/conversion/linalg_to_tile/group_emission.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/conversion/linalg_to_tile/templates.h"
#include "lib/support/integer.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <assert.h>
#include <float.h>
#include <math.h>

typedef struct Range {
  MlirValue first, end, blocks; // blocks that are not hidden; all of them
} Range;

typedef struct TileOnline {
  TileGroupEmission *k;
  const TileAttention *attention;
  bool isGpu, isNode; // isNode: in a group that is not attention
  // Where scores are compared before they are scaled: the product in f's body, and its factor times log2 e; else null.
  MlirValue scaled;
  double scale;
  TileKeyRange keys;
  Range range;
  // With a run-time mask: the input of f that is the mask, the program's lists, the column where the walked one begins
  // (null: no list is walked), and whether its blocks are shown whole.
  int listed;
  TileBlockLists lists;
  MlirValue column;
  bool isListWhole, splitsSeen; // splitsSeen: blocks that are shown whole have a list of their own
} Online;

//===--- tiles -----------------------------------------------------------------------===//

static int64_t blockOf(const Online *o, int dim) { return o->attention->graph->dims[dim].block; }

// A tile over two dimensions, in the order of their numbers.
static MlirType typeOver(const Online *o, int dim, int other, MlirType element) {
  const int64_t shape[] = {blockOf(o, tessera_min(dim, other)), blockOf(o, tessera_max(dim, other))};
  return tileTileTypeGet(2, shape, element, mlirAttributeGetNull());
}

// The axis of the keys in a tile of scores, and whether the weights are the product's left factor.
static int across(const Online *o) { return o->attention->keys > o->attention->queries; }
static bool isLeft(const Online *o) {
  const TileGroupNode *node = &o->attention->graph->nodes[o->attention->weighted];
  return node->product.lhs == node->scores;
}

// A buffer for a node's input from outside, with these dimensions as rows and queries as columns.
static void makeBuffer(Online *o, int number, int input, int rows) {
  const TileAttention *a = o->attention;
  MlirType element = tileOperandElementType(&a->graph->nodes[number].s.operands[input]);
  MlirType type = tileKernelBufferType(&o->k->e, blockOf(o, rows), blockOf(o, a->queries), element);
  o->k->packed[number][input] = tileAllocOpBuild(&o->k->e.body, type);
}

static void pack(Online *o, int number, int input, int rows) {
  const TileGroupNode *node = &o->attention->graph->nodes[number];
  int dims[2] = {tileGroupNodeDim(node, rows), tileGroupNodeDim(node, o->attention->queries)};
  tileGroupEnter(o->k, number);
  tileKernelPack(&o->k->e, input, dims, o->k->packed[number][input]);
}

//===--- scores ----------------------------------------------------------------------===//

// An input of f has the queries' rows in memory: a CPU turns it by squares, in a copy.
static bool isTurned(const Online *o, int input) {
  const TileAttention *a = o->attention;
  const TileGroupNode *masked = &a->graph->nodes[a->masked];
  int keys = tileOperandAxisOf(&masked->s.operands[input], tileGroupNodeDim(masked, a->keys)),
      queries = tileOperandAxisOf(&masked->s.operands[input], tileGroupNodeDim(masked, a->queries));
  return !o->isGpu && masked->makers[input] < 0 && queries >= 0 && keys > queries;
}

// What stands for values of f's body.
static void give(Online *o, MlirValue scores) {
  const TileAttention *a = o->attention;
  const TileStructured *s = &a->graph->nodes[a->masked].s;
  TileGroupEmission *k = o->k;
  for (int i = 0; i < s->numInputs; ++i) {
    MlirValue argument = mlirBlockGetArgument(s->body, i);
    if (o->isListWhole && mlirValueEqual(argument, o->keys.mask)) {
      MlirType bits = typeOver(o, a->keys, a->queries, mlirValueGetType(argument));
      tileBodyMapSet(&k->given, argument, tileBuildInteger(&k->e.body, bits, o->keys.shows));
    } else if (isTurned(o, i)) {
      pack(o, a->masked, i, a->keys);
      tileBodyMapSet(&k->given, argument, tileKernelLoadBuffer(&k->e, k->packed[a->masked][i]));
    }
  }
  if (!mlirValueIsNull(o->scaled))
    tileBodyMapSet(&k->given, o->scaled, scores);
}

// What stands before the softmax, in the type of sums.
static MlirValue buildNodeScores(Online *o) {
  const TileAttention *a = o->attention;
  TileGroupEmission *k = o->k;
  const TileGroupNode *node = &a->graph->nodes[a->weighted];
  int queries = tileGroupNodeDim(node, a->queries), keys = tileGroupNodeDim(node, a->keys);
  if (a->scores >= 0)
    return tileKernelCast(&k->e, tileGroupEvaluate(k, a->scores, node->outputs[node->scores]), a->sum);
  tileGroupEnter(k, a->weighted);
  return tileKernelCast(
      &k->e,
      tileKernelLoadMatrix(&k->e, node->scores, (int[2]){tessera_min(queries, keys), tessera_max(queries, keys)}),
      a->sum);
}

// f of the scores; keys past the last one are hidden.
static MlirValue buildScores(Online *o) {
  const TileAttention *a = o->attention;
  TileGroupEmission *k = o->k;
  MlirValue scores = o->isNode ? buildNodeScores(o) : tileGroupEvaluate(k, a->scores, 0);
  if (a->masked >= 0) {
    give(o, scores);
    scores = tileGroupEvaluate(k, a->masked, 0);
    k->given.count = 0;
  }
  tileGroupEnterWhole(k);
  return tileKernelFillPastEnd(&k->e, scores, a->keys, across(o),
                               mlirFloatAttrDoubleGet(k->e.body.context, a->sum, -INFINITY));
}

//===--- scores that are scaled with their difference -------------------------------------===//

// On a GPU and where exp may be approximate: 2^(x scale - m scale) by one multiply-add and one exp2. A scale of 1 at
// most keeps the least maximum finite.
static void findScale(Online *o) {
  double factor = 0;
  MlirValue scaled = tileAttentionScaledScore(o->attention, &factor);
  o->scale = (double)(float)(factor * M_LOG2E);
  if (o->isGpu && !o->attention->isExact && o->scale >= 0x1p-60 && o->scale <= 1)
    o->scaled = scaled;
}

//===--- blocks that the mask hides ------------------------------------------------------===//

// A value of f's body that is equal for all pairs of a head, as a number.
static MlirValue buildPerHead(Online *o, MlirValue value) {
  const TileAttention *a = o->attention;
  const TileGroupNode *masked = &a->graph->nodes[a->masked];
  TileKernelEmission *e = &o->k->e;
  TileBodyMap map = {0};
  TileStructured view = tileStructuredOver(&masked->s, -1, -1);
  tileGroupEnter(o->k, a->masked);
  e->structured = &view;
  for (int i = 0; i < masked->s.numInputs; ++i)
    if (masked->makers[i] < 0 && !tileGroupNodeUses(masked, i, a->keys) && !tileGroupNodeUses(masked, i, a->queries))
      tileBodyMapSet(&map, mlirBlockGetArgument(masked->s.body, i), tileKernelLoad(e, i, NULL, false));
  value = tileKernelCloneValue(e, &map, value);
  tileGroupEnterWhole(o->k);
  MlirType index = mlirIndexTypeGet(e->body.context);
  return mlirTypeIsAIndex(mlirValueGetType(value)) ? value : arithIndexCastOpBuild(&e->body, index, value);
}

// The least of a lower bound, or the greatest of an upper one, over the program's queries.
static MlirValue buildBound(Online *o, const TileKeyRange *keys, const TileKeyBound *bound) {
  TileBuilder *b = &o->k->e.body;
  int queries = o->attention->queries;
  MlirValue query = tileBuildMul(b, o->k->index[queries], tileBuildIndex(b, blockOf(o, queries)));
  if ((bound->sum.query > 0) == bound->isUpper) // the last query
    query = tileBuildAdd(b, query, tileBuildIndex(b, blockOf(o, queries) - 1));
  MlirValue sum = tileBuildMul(b, query, tileBuildIndex(b, bound->sum.query));
  sum = tileBuildAdd(b, sum, tileBuildIndex(b, bound->sum.constant));
  for (int i = 0; i < keys->numTerms; ++i) {
    int64_t factor = bound->sum.terms[i];
    if (factor)
      sum = tileBuildAdd(b, sum, tileBuildMul(b, buildPerHead(o, keys->terms[i]), tileBuildIndex(b, factor)));
  }
  return sum;
}

static bool hasBound(const TileKeyRange *keys, bool isUpper) {
  for (int i = 0; i < keys->numBounds; ++i)
    if (keys->bounds[i].isUpper == isUpper)
      return true;
  return false;
}

static Range buildRange(Online *o, const TileKeyRange *keys) {
  const TileAttention *a = o->attention;
  TileKernelEmission *e = &o->k->e;
  MlirValue zero = tileBuildIndex(&e->body, 0), tile = tileBuildIndex(&e->body, blockOf(o, a->keys));
  Range range = {.first = zero};
  tileGroupEnterWhole(o->k);
  range.end = range.blocks = tileKernelNumTiles(e, &e->body, a->keys, tileKernelExtent(e, a->keys));
  for (int i = 0; i < keys->numBounds; ++i) {
    MlirValue bound = tileBuildMax(&e->body, buildBound(o, keys, &keys->bounds[i]), zero);
    if (keys->bounds[i].isUpper)
      range.end = tileBuildMin(&e->body, range.end, tileBuildCeilDiv(&e->body, bound, tile));
    else
      range.first = tileBuildMax(&e->body, range.first, arithDivUIOpBuild(&e->body, bound, tile));
  }
  if (hasBound(keys, false))
    range.first = tileBuildMin(&e->body, range.first, range.end);
  return range;
}

//===--- blocks that a run-time mask hides --------------------------------------------------===//

static MlirValue buildBlock(Online *o, const MlirValue *operands) {
  tileGroupEnterWhole(o->k);
  return mlirValueIsNull(o->column) ? operands[0]
                                    : tileAttentionListedBlock(&o->lists, o->column, operands[0], &o->k->e);
}

// Listed blocks are visited where comparisons of positions leave them.
static MlirValue buildVisits(Online *o, const MlirValue *operands) {
  TileBuilder *b = &o->k->e.body;
  if (mlirValueIsNull(o->column) || !o->keys.numBounds)
    return tileBuildInteger(b, mlirIntegerTypeGet(b->context, 1), 1);
  MlirValue isBehind = arithCmpIOpBuild(b, operands[0], o->range.first, ArithCmpI_Sge);
  return arithAndIOpBuild(b, isBehind, arithCmpIOpBuild(b, operands[0], o->range.end, ArithCmpI_Slt));
}

//===--- hooks of the template -----------------------------------------------------------===//

// What a hook computes is known in its round alone.
static MlirValue buildHook(TileBuilder *b, Online *o, MlirValue (*build)(Online *o, const MlirValue *operands),
                           const MlirValue *operands) {
  TileBuilder outer = o->k->e.body;
  TileGroupValues known = o->k->values;
  o->k->e.body = *b;
  MlirValue value = build(o, operands);
  o->k->e.body = outer;
  o->k->values = known;
  return value;
}

static MlirValue buildBlockScores(Online *o, const MlirValue *operands) {
  o->k->index[o->attention->keys] = operands[0];
  return buildScores(o);
}

static MlirValue buildOffset(Online *o, const MlirValue *operands) {
  MlirType type = mlirValueGetType(operands[0]);
  if (mlirValueIsNull(o->scaled))
    return operands[0];
  return arithMulFOpBuild(&o->k->e.body, operands[0], tileBuildFloat(&o->k->e.body, type, o->scale));
}

static MlirValue buildDifference(Online *o, const MlirValue *operands) {
  TileBuilder *b = &o->k->e.body;
  MlirType type = mlirValueGetType(operands[0]);
  if (mlirValueIsNull(o->scaled))
    return arithSubFOpBuild(b, operands[0], operands[1]);
  MlirValue negated = arithNegFOpBuild(b, operands[1]);
  return mathFmaOpBuild(b, operands[0], tileBuildFloat(b, type, o->scale), negated);
}

// exp of f32 on a CPU. A weight below 2^-100 is 0: its product with a value could be subnormal, and some processors
// take hundreds of cycles for each of those.
static MlirValue buildWeight(TileBuilder *b, MlirValue d, MlirAttribute flags) {
  MlirType type = mlirValueGetType(d);
  MlirValue least = tileBuildFloat(b, type, -100 * M_LN2);
  MlirValue isNothing = arithCmpFOpBuild(b, d, least, ArithCmpF_Olt);
  MlirValue weight = mathExpOpGetResult(mathExpOpCreate(b, arithSelectOpBuild(b, isNothing, least, d), flags));
  return arithSelectOpBuild(b, isNothing, tileBuildFloat(b, type, 0), weight);
}

// exp of differences from the maximum, 0 at most. On a GPU by its instruction for exp2, where the program permits an
// approximate one: the product with log2 e is off by 2^-24 of itself, so that e^d is off by |d| e^d 2^-24 or less.
static MlirValue buildExponential(Online *o, const MlirValue *operands) {
  MlirValue d = operands[0];
  TileBuilder *b = &o->k->e.body;
  bool isExact = o->attention->isExact;
  MlirAttribute fast = tileFastMathAttr(b->context, isExact ? TileFastMath_None : TileFastMath_Approximate);
  if (!o->isGpu)
    return buildWeight(b, d, fast);
  if (isExact)
    return mathExpOpGetResult(mathExpOpCreate(b, d, fast));
  if (mlirValueIsNull(o->scaled))
    d = arithMulFOpBuild(b, d, tileBuildFloat(b, mlirValueGetType(d), M_LOG2E));
  return mathExp2OpGetResult(mathExp2OpCreate(b, d, fast));
}

// A GPU's product takes them in V's type. The left factor has the queries as rows, the right one as columns.
static MlirValue buildWeights(Online *o, const MlirValue *operands) {
  MlirValue weights = o->isGpu ? tileKernelCast(&o->k->e, operands[0], o->attention->weight) : operands[0];
  return isLeft(o) == across(o) ? weights : tileKernelSwapped(&o->k->e, weights);
}

static MlirValue buildValues(Online *o, const MlirValue *operands) {
  const TileAttention *a = o->attention;
  const TileGroupNode *node = &a->graph->nodes[a->weighted];
  o->k->index[a->keys] = operands[0];
  if (node->makers[a->v] >= 0)
    tileGroupEvaluate(o->k, node->makers[a->v], node->outputs[a->v]);
  tileGroupEnter(o->k, a->weighted);
  MlirValue values = tileGroupLoadMatrix(o->k, a->weighted, a->v);
  return o->isGpu ? values : tileKernelCast(&o->k->e, values, a->sum);
}

static MlirValue buildProduct(Online *o, const MlirValue *operands) {
  return tileMmaOpBuild(&o->k->e.body, operands[isLeft(o) ? 0 : 1], operands[isLeft(o) ? 1 : 0], operands[2]);
}

#define HOOK(name, build)                                                                                              \
  static MlirValue name(TileBuilder *b, MlirType type, const MlirValue *operands, const void *online) {                \
    return buildHook(b, *(Online *const *)online, build, operands);                                                    \
  }
HOOK(blockHook, buildBlock)
HOOK(visitsHook, buildVisits)
HOOK(scoresHook, buildBlockScores)
HOOK(offsetHook, buildOffset)
HOOK(differenceHook, buildDifference)
HOOK(exponentialHook, buildExponential)
HOOK(weightsHook, buildWeights)
HOOK(valuesHook, buildValues)
HOOK(productHook, buildProduct)
#undef HOOK

//===--- the node ------------------------------------------------------------------------===//

// Queries are read once. On a CPU they are packed, for each round to read them from there.
static void loadQueries(Online *o) {
  const TileAttention *a = o->attention;
  if (o->isGpu) {
    tileGroupEnter(o->k, a->scores);
    o->k->values.ahead[a->scores][a->q] = tileGroupLoadMatrix(o->k, a->scores, a->q);
    return;
  }
  makeBuffer(o, a->scores, a->q, a->depth);
  pack(o, a->scores, a->q, a->depth);
  for (int i = 0; a->masked >= 0 && i < a->graph->nodes[a->masked].s.numInputs; ++i)
    if (isTurned(o, i))
      makeBuffer(o, a->masked, i, a->keys);
}

// Without keys the result is a sum of nothing: 0, not 0 / 0.
static MlirValue leastTotal(Online *o, MlirType perQuery) {
  const TileAttention *a = o->attention;
  TileKernelEmission *e = &o->k->e;
  if (!mlirShapedTypeIsDynamicSize(a->graph->dims[a->keys].extent))
    return tileBuildFloat(&e->body, perQuery, 0.0);
  MlirValue extent = tileKernelExtent(e, a->keys);
  MlirValue isNone = arithCmpIOpBuild(&e->body, extent, tileBuildIndex(&e->body, 0), ArithCmpI_Eq);
  MlirValue one = tileBuildFloat(&e->body, a->sum, 1.0), zero = tileBuildFloat(&e->body, a->sum, 0.0);
  return tileKernelSplat(e, arithSelectOpBuild(&e->body, isNone, one, zero), perQuery);
}

// The sums, maxima and totals of all queries.
enum { Sums, Maxima, Totals, NumStates };

static void walk(Online *o, const TileOnlineSoftmax *program, const Range *range, MlirValue state[NumStates]) {
  MlirValue operands[] = {range->first, range->end, range->blocks, state[Sums], state[Maxima], state[Totals]};
  TileTemplateUse use = tileUseOnlineSoftmax(*program);
  bool isRight = tileTemplateInline(&o->k->e.body, &use, operands, state);
  assert(isRight && "the test ir/templates parses it");
  (void)isRight;
}

// Did a query see nothing, or only what weighs as little as what is hidden?
static MlirValue buildMore(Online *o, MlirValue maxima, double enough) {
  TileKernelEmission *e = &o->k->e;
  MlirType f32 = mlirShapedTypeGetElementType(mlirValueGetType(maxima));
  MlirValue least = tileKernelFold(e, tileUpstreamName(ArithOp_MinimumF), maxima, f32, 1, (int64_t[]){0});
  return arithCmpFOpBuild(&e->body, least, tileBuildFloat(&e->body, f32, enough), ArithCmpF_Ult);
}

// Lists one behind the other. Copies of the hidden ones run ahead of the decision to visit them, and read nothing where
// none is visited.
static void walkLists(Online *o, TileOnlineSoftmax *program, double enough, MlirValue state[NumStates]) {
  TileBuilder *b = &o->k->e.body;
  MlirValue zero = tileBuildIndex(b, 0);
  program->ROUNDS = program->AFTER = 1;
  program->BEFORE = program->BEHIND = 0;
  for (int list = o->splitsSeen ? BlockList_Whole : BlockList_Part; list < NumBlockLists; ++list) {
    MlirValue count = o->lists.counts[list];
    o->column = o->lists.columns[list];
    o->isListWhole = list == BlockList_Whole;
    if (list == BlockList_Hidden && o->keys.isInfinite)
      break;
    if (list == BlockList_Hidden) {
      MlirValue more = buildMore(o, state[Maxima], enough);
      count = arithSelectOpBuild(b, more, count, zero);
      if (o->splitsSeen) // else the warps that copy learn only where the walk ends
        o->column = arithSelectOpBuild(b, more, o->column, o->lists.noBlocks);
    }
    walk(o, program, &(Range){zero, count, count}, state);
  }
}

static MlirType matrix(int64_t rows, int64_t columns, MlirType element) {
  return tileTileTypeGet(2, (int64_t[]){rows, columns}, element, mlirAttributeGetNull());
}

static MlirValue buildWalk(Online *o) {
  TileGroupEmission *k = o->k;
  const TileAttention *a = o->attention;
  const TileKeyRange keys = o->keys;
  if (!o->isNode) {
    loadQueries(o);
    findScale(o);
  }
  o->range = buildRange(o, &keys);
  bool visitsHidden = keys.numBounds && !keys.isInfinite;
  int before = visitsHidden && hasBound(&keys, false), after = visitsHidden && hasBound(&keys, true);
  double enough = keys.hidden + fmax(256, fabs(keys.hidden) / 1024); // exp(hidden - enough) is 0
  MlirType factor = o->isGpu ? a->weight : a->sum;
  TileOnlineSoftmax program = {
      .SCORES = typeOver(o, a->keys, a->queries, a->sum),
      .ROW = tileTileTypeGet(1, &a->graph->dims[a->queries].block, a->sum, mlirAttributeGetNull()),
      .SUMS = typeOver(o, a->queries, a->channels, a->sum),
      .WEIGHTS = isLeft(o) ? matrix(blockOf(o, a->queries), blockOf(o, a->keys), factor)
                           : matrix(blockOf(o, a->keys), blockOf(o, a->queries), factor),
      .VALUES = isLeft(o) ? matrix(blockOf(o, a->keys), blockOf(o, a->channels), factor)
                          : matrix(blockOf(o, a->channels), blockOf(o, a->keys), factor),
      .ACROSS = across(o),
      .OVER = a->channels > a->queries,
      .ROUNDS = 1 + before + after,
      .AFTER = 1 + before,
      .BEFORE = before,
      .BEHIND = after,
      .ENOUGH = mlirFloatAttrDoubleGet(k->e.body.context, a->sum, visitsHidden ? enough : 0),
      .block = {blockHook, &o},
      .visits = {visitsHook, &o},
      .scores = {scoresHook, &o},
      .offset = {offsetHook, &o},
      .difference = {differenceHook, &o},
      .exponentials = {exponentialHook, &o},
      .decay = {exponentialHook, &o},
      .weights = {weightsHook, &o},
      .values = {valuesHook, &o},
      .product = {productHook, &o}};
  MlirValue total = leastTotal(o, program.ROW);
  MlirValue state[NumStates] = {tileBuildFloat(&k->e.body, program.SUMS, 0),
                                tileBuildFloat(&k->e.body, program.ROW, -FLT_MAX), total};
  if (mlirValueIsNull(keys.mask)) {
    walk(o, &program, &o->range, state);
  } else {
    const TileStructured *s = &k->unit.s;
    MlirValue list = k->parameters[s->numInputs + s->numOutputs + s->numCaptures - 1];
    o->lists = tileAttentionLists(a, o->listed, list, &k->e);
    walkLists(o, &program, enough, state);
  }
  total = tileKernelBroadcast(&k->e, state[Totals], program.SUMS, 1, (int64_t[]){program.OVER});
  return arithDivFOpBuild(&k->e.body, state[Sums], total);
}

// The roles of a node's dimensions, as attention has them.
static TileAttention rolesOf(TileGroupGraph *graph, int number, MlirType sum) {
  const TileGroupNode *node = &graph->nodes[number];
  const TileProduct *p = &node->product;
  bool isLeft = p->lhs == node->scores;
  return (TileAttention){.graph = graph,
                         .scores = node->makers[node->scores],
                         .masked = -1,
                         .weighted = number,
                         .v = isLeft ? p->rhs : p->lhs,
                         .queries = node->dims[isLeft ? p->m : p->n],
                         .channels = node->dims[isLeft ? p->n : p->m],
                         .keys = node->dims[p->k],
                         .sum = sum,
                         .weight = tileOperandElementType(&node->s.operands[isLeft ? p->rhs : p->lhs]),
                         .isExact = node->isExact};
}

MlirValue tileGroupBuildOnline(TileGroupEmission *k, int number) {
  Online *outer = k->online;
  if (outer && !outer->isNode)
    return buildWalk(outer);
  const TileStructured *s = &k->graph->nodes[number].s;
  TileAttention roles = rolesOf(k->graph, number, mlirF32TypeGet(k->e.body.context));
  Online online = {.k = k, .attention = &roles, .isGpu = k->graph->target->search.isGpu, .isNode = true};
  TileGroupWalk walk;
  tileGroupOpenWalk(k, number, roles.keys, &walk);
  k->online = &online;
  MlirValue result = buildWalk(&online);
  k->online = outer;
  tileGroupCloseWalk(k, &walk);
  return tileKernelCast(&k->e, result, tileOperandElementType(&s->operands[s->numInputs]));
}

//===--- the order of programs -----------------------------------------------------------===//

static MlirValue tilesAlong(TileKernelEmission *e, int dim) {
  return tileKernelNumTiles(e, &e->body, dim, tileKernelExtent(e, dim));
}

static void setIndex(TileKernelEmission *e, int dim, MlirValue index) {
  e->index[dim] = tileKernelAssumeTile(e, index, dim, e->structured->dims[dim].tile);
}

// Sections of `side` heads, one behind the other; in each the heads' last queries, then the ones before. Programs of
// the last queries are the longest: they begin first, and short ones fill the end. The heads are the parallel
// dimensions but the queries.
static void orderPrograms(TileKernelEmission *e, int queries, int64_t numSide) {
  const TileStructured *s = e->structured;
  MlirValue blocks = tilesAlong(e, queries), one = tileBuildIndex(&e->body, 1), head = {NULL};
  int64_t heads = 1;
  for (int d = 0; d < s->numDims; ++d)
    if (!s->dims[d].isReduction && d != queries) {
      heads *= mlirShapedTypeIsDynamicSize(s->dims[d].extent) ? 0 : s->dims[d].extent;
      head = mlirValueIsNull(head)
                 ? e->index[d]
                 : tileBuildAdd(&e->body, tileBuildMul(&e->body, head, tilesAlong(e, d)), e->index[d]);
    }
  MlirValue query = e->index[queries];
  if (numSide > 1 && heads > 0 && heads % numSide == 0) {
    MlirValue side = tileBuildIndex(&e->body, numSide), all = tileBuildMul(&e->body, side, blocks);
    MlirValue program = tileBuildAdd(&e->body, tileBuildMul(&e->body, head, blocks), query);
    MlirValue inside = arithRemUIOpBuild(&e->body, program, all);
    MlirValue section = tileBuildMul(&e->body, arithDivUIOpBuild(&e->body, program, all), side);
    head = tileBuildAdd(&e->body, section, arithRemUIOpBuild(&e->body, inside, side));
    query = arithDivUIOpBuild(&e->body, inside, side);
    for (int d = s->numDims - 1; d >= 0; --d)
      if (!s->dims[d].isReduction && d != queries) {
        setIndex(e, d, arithRemUIOpBuild(&e->body, head, tilesAlong(e, d)));
        head = arithDivUIOpBuild(&e->body, head, tilesAlong(e, d));
      }
  }
  setIndex(e, queries, tileBuildSub(&e->body, tileBuildSub(&e->body, blocks, one), query));
}

//===--- attention -----------------------------------------------------------------------===//

// The schedule's block: queries, keys, depth and channels that a program takes at once.
static bool takeBlock(const TileAttention *a, MlirAttribute schedule) {
  MlirAttribute block = tileScheduleAttrGetEntry(schedule, "block");
  TileGroupDim *dims = a->graph->dims;
  const int numbers[] = {a->queries, a->keys, a->depth, a->channels};
  if (mlirAttributeIsNull(block) || mlirDenseArrayGetNumElements(block) != 4)
    return false;
  for (int d = 0; d < a->graph->numDims; ++d)
    dims[d].block = 1;
  for (int i = 0; i < 4; ++i)
    dims[numbers[i]].block = mlirDenseI64ArrayGetElement(block, i);
  return dims[a->depth].block >= dims[a->depth].extent && dims[a->channels].block >= dims[a->channels].extent;
}

// The kernel says which programs form clusters: it is done with the rest of the schedule.
static MlirAttribute clusterOf(MlirAttribute schedule) {
  MlirAttribute cluster = tileScheduleAttrGetEntry(schedule, "cluster");
  MlirContext context = mlirAttributeGetContext(schedule);
  if (mlirAttributeIsNull(cluster))
    return cluster;
  MlirNamedAttribute entry = mlirNamedAttributeGet(mlirIdentifierGet(context, tileString("cluster")), cluster);
  return tileScheduleAttrGet(context, mlirDictionaryAttrGet(context, 1, &entry));
}

// Which blocks of keys the mask leaves. The kernel walks lists that another kernel makes, and has them as a capture.
static bool findKeys(Online *o) {
  const TileAttention *a = o->attention;
  TileGroupUnit *unit = &o->k->unit;
  o->keys = tileAttentionKeyRange(a);
  // Bounds and a mask that hide by a finite number would need a walk for each: then the bounds serve. A GPU's copies
  // run ahead through all of a list, so that no bound can shorten it.
  bool canList = !o->keys.numBounds || (o->keys.isInfinite && !o->isGpu);
  if (!canList || unit->s.numCaptures == MaxCaptures || !tileAttentionMaskToList(a, o->keys.mask, &o->listed))
    o->keys.mask = (MlirValue){NULL};
  if (mlirValueIsNull(o->keys.mask))
    return true;
  // Specialized warps bear one walk behind the first (tile-specialize-warps): that of the hidden blocks, if there is
  // one.
  o->splitsSeen = o->keys.isInfinite || !o->isGpu || !tileAttentionHasGroupProducts(a);
  TileBuilder host = tileBuilderBefore(unit->s.op);
  MlirValue mask = unit->s.operands[unit->operands[a->masked][o->listed]].value;
  MlirValue list = tileAttentionListBlocks(a, o->listed, mask, o->keys.shows, o->splitsSeen, &host);
  unit->s.captures[unit->s.numCaptures++] = list;
  return !mlirValueIsNull(list);
}

bool tileLowerAttention(MlirOperation group, const TileTarget *target) {
  const char *reason;
  MlirAttribute schedule = tileGroupOpGetSchedule(group);
  TileOps ops = tileGroupOps(group);
  TileAttention a;
  bool isRead = tileAttentionRead(&ops, target, &a, &reason);
  tileOpsFree(&ops);
  if (!isRead || !takeBlock(&a, schedule))
    return false;
  Online online = {.k = tileGroupOpen(a.graph, group, &reason), .attention = &a, .isGpu = target->search.isGpu};
  TileGroupEmission *k = online.k;
  if (!k || !findKeys(&online))
    return false;
  k->online = &online;
  k->unit.s.schedule = clusterOf(schedule);
  tileKernelBegin(&k->e, &k->unit.s, "attention");
  MlirAttribute side = tileScheduleAttrGetEntry(schedule, "group");
  int64_t heads = mlirAttributeIsNull(side) ? 0 : mlirDenseI64ArrayGetElement(side, 0);
  if (online.isGpu && heads > 0)
    orderPrograms(&k->e, a.queries, heads);
  tileGroupBuild(k);
  tileKernelEnd(&k->e);
  return true;
}
