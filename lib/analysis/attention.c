// Recognizes attention: what a node of the kind Online (group_graph.h) takes, and from which product. See attention.h.
//
// Expects: linalg.generic (named ops generalized, elementwise chains fused) and linalg.softmax. Each product has one
// summed dimension, starts from zeros, and its operands' axes stand in any order; a transpose or broadcast that makes
// one of them is seen through. Keys that several heads share (GQA) are dimensions that Q has and K has not.
#include "lib/analysis/attention.h"

#include "lib/analysis/fusion.h"
#include "lib/analysis/reduction.h"
#include "lib/analysis/tiling.h"
#include "lib/ir/op_arena.h"
#include "upstream/linalg.h"

//===--- the ops ------------------------------------------------------------===//

// The op makes a value beside `root`.
static bool isBeside(MlirOperation op, MlirOperation root) {
  return !mlirOperationIsNull(op) && mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(root));
}

// Producers first: what lies between `of` and the value.
static void appendFrom(MlirValue of, MlirValue value, TileOps *ops) {
  MlirOperation op = tileDefiningOp(value);
  bool isKnown = mlirValueEqual(of, value);
  for (intptr_t i = 0; i < ops->count; ++i)
    isKnown |= mlirOperationEqual(ops->items[i], op);
  if (isKnown)
    return;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) - mlirOperationGetNumResults(op); ++i) // outputs are last
    appendFrom(of, mlirOperationGetOperand(op, i), ops);
  tileOpsAppend(ops, op);
}

// The elementwise op that alone uses the result and may follow.
static void appendFollower(MlirOperation op, const TileTarget *target, TileOps *ops) {
  TileStructured s, producer;
  TileEpilogue epilogue;
  MlirValue result = tileOnlyResult(op);
  if (!tileHasOneUse(result) || !tileStructuredRead(mlirOpOperandGetOwner(mlirValueGetFirstUse(result)), target, &s) ||
      !tileEpilogueCanFollow(&s))
    return;
  for (int i = 0; i < s.numInputs; ++i)
    if (mlirValueEqual(s.operands[i].value, result) && tileEpilogueRead(&s, i, &producer, &epilogue)) {
      tileOpsAppend(ops, s.op);
      return;
    }
}

bool tileAttentionFind(MlirOperation op, const TileTarget *target, TileOps *ops) {
  TileStructured s, map;
  TileOperand weights;
  TileSoftmax softmax;
  int input;
  if (!tileStructuredRead(op, target, &s) || !tileStructuredFindWeights(&s, &input, &weights, &softmax))
    return false;
  MlirOperation scores = tileDefiningOp(softmax.of);
  if (!isBeside(tileDefiningOp(s.operands[input].value), op) || !isBeside(scores, op))
    return false;
  if (tileStructuredRead(scores, target, &map) && tileStructuredIsMap(&map))
    for (int i = 0; i < map.numInputs && !ops->count; ++i) {
      MlirOperation product = tileDefiningOp(map.operands[i].value);
      if (isBeside(product, op) && tileHasOneUse(map.operands[i].value) && linalgGenericOpIsA(product) &&
          !tileGenericIsParallel(product))
        tileOpsAppend(ops, product);
    }
  tileOpsAppend(ops, scores);
  appendFrom(softmax.of, s.operands[input].value, ops);
  tileOpsAppend(ops, op);
  appendFollower(op, target, ops);
  return true;
}

//===--- the roles ----------------------------------------------------------===//

// The longest dimension that one operand of a node has and another one has not; -1: none. Queries may have heads that
// keys have not. An unknown extent is the longest.
static int longestOf(const TileAttention *a, int node, int in, int notIn) {
  int found = -1;
  for (int d = 0; d < a->graph->numDims; ++d)
    if (tileGroupNodeUses(&a->graph->nodes[node], in, d) && !tileGroupNodeUses(&a->graph->nodes[node], notIn, d) &&
        (found < 0 || (uint64_t)a->graph->dims[d].extent >= (uint64_t)a->graph->dims[found].extent))
      found = d;
  return found;
}

// The nodes and the roles of their dimensions. False where the scores are no product's.
static bool findRoles(TileAttention *a) {
  TileGroupGraph *graph = a->graph;
  int sides[2], sum;
  for (a->weighted = graph->numNodes - 1; a->weighted >= 0; --a->weighted)
    if (graph->nodes[a->weighted].kind == TileGroupKind_Online)
      break;
  const TileGroupNode *weighted = a->weighted < 0 ? NULL : &graph->nodes[a->weighted];
  if (!weighted || (a->scores = weighted->makers[weighted->scores]) < 0)
    return false;
  a->masked = -1;
  for (int i = 0; i < graph->nodes[a->scores].s.numInputs; ++i)
    if (graph->nodes[a->scores].makers[i] >= 0)
      a->masked = i;
  if (a->masked >= 0) {
    int product = graph->nodes[a->scores].makers[a->masked];
    a->masked = a->scores;
    a->scores = product;
  }
  const TileGroupNode *scores = &graph->nodes[a->scores];
  if (!tileStructuredIsSumOfProducts(&scores->s, sides, &sum))
    return false;
  a->depth = scores->dims[sum];
  tileStructuredIsSumOfProducts(&weighted->s, sides, &sum);
  a->keys = weighted->dims[sum];
  a->k = tileGroupNodeUses(scores, 0, a->keys) ? 0 : 1;
  a->q = 1 - a->k;
  a->v = 1 - weighted->scores;
  a->queries = longestOf(a, a->scores, a->q, a->k);
  a->channels = longestOf(a, a->weighted, a->v, weighted->scores);
  return true;
}

// The sums are f32's, and the factors of types that tile.mma adds in f32.
static bool isOfF32(MlirOperation product) {
  MlirType types[3];
  for (int i = 0; i < 3; ++i)
    types[i] = tileTypeGetElement(tileOperandType(product, i));
  return mlirTypeIsAF32(types[2]) && mlirTypeEqual(types[0], types[1]) &&
         (mlirTypeIsAF32(types[0]) || mlirTypeIsAF16(types[0]) || mlirTypeIsABF16(types[0]));
}

static bool hasRoom(const TileGroupGraph *graph) {
  int captures = 0;
  for (int n = 0; n < graph->numNodes; ++n)
    captures += graph->nodes[n].s.numCaptures;
  return tileGroupGraphFitsKernel(graph) && captures <= MaxCaptures;
}

// What a kernel can be made for: null, or why it cannot.
static const char *check(const TileAttention *a) {
  TileGroupNode *scores = &a->graph->nodes[a->scores], *weighted = &a->graph->nodes[a->weighted];
  const TileOperand *q = &scores->s.operands[a->q], *k = &scores->s.operands[a->k], *v = &weighted->s.operands[a->v],
                    *x = &weighted->s.operands[weighted->scores];
  const TileGroupDim *dims = a->graph->dims;
  const struct {
    bool holds;
    const char *otherwise;
  } needs[] = {
      {hasRoom(a->graph), "it has too many operands"},
      {a->graph->numResults == 1, "something else uses a part of it"},
      {tileGroupNodeUses(scores, a->k, a->keys) && !tileGroupNodeUses(scores, a->q, a->keys) &&
           tileGroupNodeUses(weighted, a->v, a->keys),
       "keys are not a dimension of one operand alone"},
      {a->queries >= 0, "no dimension of queries that keys have not"},
      {tileGroupNodeUses(scores, a->q, a->depth) && tileGroupNodeUses(scores, a->k, a->depth),
       "no dimension that queries and keys share"},
      {a->channels >= 0 && weighted->s.numDims == x->rank + 1, "values do not have exactly one dimension of their own"},
      {tileOperandIsPlain(q) && tileOperandIsPlain(k) && tileOperandIsPlain(v),
       "an operand of a product is not a plain matrix"},
      {!tileGroupNodeUses(weighted, a->v, a->queries), "values differ by query"},
      {dims[a->depth].extent > 0 && a->channels >= 0 && dims[a->channels].extent > 0,
       "the sizes of a head are not known"},
      {dims[a->keys].extent != 0, "there are no keys"},
      {isOfF32(scores->s.op) && isOfF32(weighted->s.op) &&
           mlirTypeIsAF32(mlirShapedTypeGetElementType(mlirValueGetType(x->value))),
       "its sums are not of f32, or its factors not of f32, f16 or bf16"},
      {tileStructuredStartsFrom(&scores->s, 0, 0) && tileStructuredStartsFrom(&weighted->s, 0, 0),
       "a product adds to what is there already"},
  };
  for (size_t i = 0; i < sizeof needs / sizeof *needs; ++i)
    if (!needs[i].holds)
      return needs[i].otherwise;
  return NULL;
}

// A product's left factor is the one whose rows come first among the dimensions.
static void setProduct(const TileAttention *a, int number, int left, int rows, int columns, int sum) {
  TileGroupNode *node = &a->graph->nodes[number];
  int m = tileGroupNodeDim(node, rows), n = tileGroupNodeDim(node, columns);
  node->product = m < n ? (TileProduct){.lhs = left, .rhs = 1 - left, .m = m, .n = n}
                        : (TileProduct){.lhs = 1 - left, .rhs = left, .m = n, .n = m};
  node->product.k = tileGroupNodeDim(node, sum);
  node->kind = number == a->scores ? TileGroupKind_Product : TileGroupKind_Online;
}

// Heads in the order of the scores, then the others. On a CPU queries come last, as the columns of every tile, so that
// maxima and sums go across no lanes.
static void orderDims(TileAttention *a) {
  TileGroupGraph *graph = a->graph;
  const TileGroupNode *scores = &graph->nodes[a->scores];
  const TileOperand *output = &scores->s.operands[scores->s.numInputs];
  int *const onCpu[] = {&a->channels, &a->keys, &a->depth, &a->queries};
  int *const onGpu[] = {&a->queries, &a->depth, &a->keys, &a->channels};
  int *const *order = graph->target->search.isGpu ? onGpu : onCpu;
  int to[MaxDims], next = 0;
  for (int i = 0; i < output->rank; ++i) {
    int d = scores->dims[output->results[i]];
    if (d != a->queries && d != a->keys)
      to[d] = next++;
  }
  for (int i = 0; i < 4; ++i) {
    to[*order[i]] = next;
    *order[i] = next++;
  }
  tileGroupGraphOrder(graph, to);
  for (int i = 0; i < 4; ++i)
    graph->dims[*order[i]].isMatrix = true;
  graph->dims[a->channels].isFolded = true;
}

bool tileAttentionRead(const TileOps *ops, const TileTarget *target, TileAttention *a, const char **reason) {
  *a = (TileAttention){.graph = tileArenaAllocate(target->arena, sizeof *a->graph)};
  if (!tileGroupGraphRead(ops->items, ops->count, target, TileGroupForm_Chain, a->graph, reason) || !findRoles(a) ||
      (*reason = check(a)))
    return false;
  const TileGroupNode *weighted = &a->graph->nodes[a->weighted];
  a->sum = tileOperandElementType(&weighted->s.operands[weighted->s.numInputs]);
  a->weight = tileOperandElementType(&weighted->s.operands[a->v]);
  a->isExact = weighted->isExact;
  orderDims(a);
  setProduct(a, a->scores, a->q, a->queries, a->keys, a->depth);
  setProduct(a, a->weighted, weighted->scores, a->queries, a->channels, a->keys);
  return true;
}

//===--- questions ----------------------------------------------------------===//

bool tileAttentionHasGroupProducts(const TileAttention *a) {
  enum { Size = 64 }; // any: the types alone matter
  char type[32];
  MlirType element = tileOperandElementType(&a->graph->nodes[a->scores].s.operands[a->k]);
  TileOperator product = tileOperatorProduct(Size, Size, Size, tileTypeText(element, type, sizeof type),
                                             tileElementWidth(element), tileElementWidth(a->sum));
  return tileStructuredTargetFor(a->graph->target, &product).hasGroupAtom;
}

MlirBlock tileAttentionBody(const TileAttention *a) {
  return a->masked < 0 ? (MlirBlock){NULL} : a->graph->nodes[a->masked].s.body;
}

int tileAttentionInputOf(const TileAttention *a, MlirValue value) {
  const TileGroupNode *masked = &a->graph->nodes[a->masked];
  int input = tileStructuredInputOf(&masked->s, value);
  return input >= 0 && masked->makers[input] < 0 ? input : -1;
}
