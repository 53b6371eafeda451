// Recognizes attention: a softmax (reduction.h) between two products. An elementwise op may follow each product
// (fusion.h). See attention.h.
//
// Expects: linalg.generic (named ops generalized, elementwise chains fused) and linalg.softmax. Each product has one
// summed dimension, starts from zeros, and its operands' axes stand in any order; a transpose or broadcast that makes
// one of them is seen through. Keys that several heads share (GQA) are dimensions that Q has and K has not.
#include "lib/analysis/attention.h"

#include "lib/analysis/fusion.h"
#include "lib/analysis/reduction.h"
#include "lib/analysis/tiling.h"
#include "lib/ir/op_arena.h"

// A sum of products along one dimension, with the elementwise op behind it.
typedef struct Part {
  TileStructured product, map;
  int taken;           // the input of `map` that is the sum; -1: there is no map
  int sides[2], depth; // operands of the product, its summed dimension
  bool isOfF32;        // its sums are, and its factors are of types that tile.mma adds in f32
} Part;

typedef struct Match {
  TileAttention *attention;
  const TileTarget *target;
  const char *reason;
  Part first, second;
  TileSoftmax softmax;
  int weights; // the operand of the second product
} Match;

static bool fail(Match *m, const char *reason) {
  m->reason = reason;
  return false;
}

//===--- the chain ----------------------------------------------------------===//

static bool isProduct(Part *p) {
  const TileStructured *s = &p->product;
  MlirType sum = tileOperandElementType(&s->operands[s->numInputs]);
  int sums = 0;
  for (int d = 0; d < s->numDims; ++d)
    if (s->dims[d].isReduction && ++sums)
      p->depth = d;
  if (sums != 1 || !tileStructuredMatchMultiplyAdd(s, &p->sides[0], &p->sides[1]))
    return false;
  p->isOfF32 = tileStructuredHasMmaTypes(s) && mlirTypeIsAF32(sum);
  return mlirTypeIsAFloat(sum);
}

// What makes the value: a product, or the elementwise op, which may ask for positions, behind one.
static bool readPart(const Match *m, MlirOperation op, bool (*canFollow)(const TileStructured *), Part *p) {
  TileEpilogue epilogue;
  p->taken = -1;
  if (!tileStructuredRead(op, m->target, &p->product) || p->product.numOutputs != 1)
    return false;
  if (isProduct(p))
    return true;
  p->map = p->product;
  for (p->taken = 0; canFollow(&p->map) && p->taken < p->map.numInputs; ++p->taken)
    if (tileEpilogueRead(&p->map, p->taken, &p->product, &epilogue) && isProduct(p))
      return true;
  return false;
}

static bool isBeside(MlirValue value, MlirOperation root) {
  return !mlirOperationIsNull(tileDefiningOp(value)) && tileIsDefinedIn(value, mlirOperationGetBlock(root));
}

// From the root up to Q and K.
static bool matchChain(Match *m, MlirOperation root) {
  TileOperand weights;
  bool isFound = false;
  if (!readPart(m, root, tileEpilogueCanFollow, &m->second))
    return false;
  for (int i = 0; i < 2 && !isFound; ++i) {
    m->weights = m->second.sides[i];
    TileOperand *operand = &m->second.product.operands[m->weights];
    if (!tileHasOneUse(operand->value) || !tileOperandSource(operand, m->target, false, &weights))
      weights = *operand;
    isFound = tileSoftmaxMatch(weights.value, m->target, &m->softmax);
  }
  if (!isFound || !isBeside(weights.value, root) || !isBeside(m->softmax.of, root))
    return false;
  if (!tileHasOneUse(weights.value))
    return fail(m, "its weights have another user");
  weights.value = m->softmax.of;
  m->second.product.operands[m->weights] = weights;
  return readPart(m, tileDefiningOp(m->softmax.of), tileStructuredIsMap, &m->first) &&
         (tileHasUses(m->softmax.of, m->softmax.uses) || fail(m, "its scores have another user"));
}

//===--- the graph ----------------------------------------------------------===//

static int addNode(TileGroupGraph *graph, TileGroupKind kind, const TileStructured *s, int input, int maker) {
  TileGroupNode *node = &graph->nodes[graph->numNodes];
  *node = (TileGroupNode){.kind = kind, .s = *s};
  for (int i = 0; i < s->numInputs; ++i)
    node->makers[i] = i == input ? maker : -1;
  return graph->numNodes++;
}

static int addPart(const Match *m, TileGroupKind kind, Part *part, int input, int maker) {
  TileGroupGraph *graph = m->attention->graph;
  for (int i = 0; i < 2; ++i)
    while (i != input && tileOperandSource(&part->product.operands[i], m->target, true, &part->product.operands[i]))
      ;
  int node = addNode(graph, kind, &part->product, input, maker);
  if (part->taken >= 0)
    addNode(graph, TileGroupKind_Map, &part->map, part->taken, node);
  return node;
}

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

static void findDims(Match *m) {
  TileAttention *a = m->attention;
  const TileGroupNode *scores = &a->graph->nodes[a->scores], *weighted = &a->graph->nodes[a->weighted];
  a->depth = scores->dims[m->first.depth];
  a->keys = weighted->dims[m->second.depth];
  a->k = tileGroupNodeUses(scores, 0, a->keys) ? 0 : 1;
  a->q = 1 - a->k;
  a->v = 1 - m->weights;
  a->queries = longestOf(a, a->scores, a->q, a->k);
  a->channels = longestOf(a, a->weighted, a->v, m->weights);
}

static bool hasRoom(const TileGroupGraph *graph) {
  int inputs = 0, captures = 0;
  for (int n = 0; n < graph->numNodes; ++n) {
    inputs += graph->nodes[n].s.numInputs;
    captures += graph->nodes[n].s.numCaptures;
  }
  return inputs - (graph->numNodes - 1) < MaxOperands && captures <= MaxCaptures;
}

// What a kernel can be made for.
static bool check(Match *m) {
  const TileAttention *a = m->attention;
  TileGroupNode *scores = &a->graph->nodes[a->scores], *weighted = &a->graph->nodes[a->weighted];
  const TileOperand *q = &scores->s.operands[a->q], *k = &scores->s.operands[a->k], *v = &weighted->s.operands[a->v],
                    *x = &weighted->s.operands[m->weights];
  const TileGroupDim *dims = a->graph->dims;
  const struct {
    bool holds;
    const char *otherwise;
  } needs[] = {
      {hasRoom(a->graph), "it has too many operands"},
      {x->results[m->softmax.axis] == m->second.depth, "the second product does not sum over the keys"},
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
      {m->first.isOfF32 && m->second.isOfF32 &&
           mlirTypeIsAF32(mlirShapedTypeGetElementType(mlirValueGetType(x->value))),
       "its sums are not of f32, or its factors not of f32, f16 or bf16"},
      {tileStructuredStartsFrom(&scores->s, 0, 0) && tileStructuredStartsFrom(&weighted->s, 0, 0),
       "a product adds to what is there already"},
  };
  for (size_t i = 0; i < sizeof needs / sizeof *needs; ++i)
    if (!needs[i].holds)
      return fail(m, needs[i].otherwise);
  return true;
}

// A product's left factor is the one whose rows come first among the dimensions.
static void setProduct(const TileAttention *a, int number, int left, int rows, int columns, int sum) {
  TileGroupNode *node = &a->graph->nodes[number];
  int m = tileGroupNodeDim(node, rows), n = tileGroupNodeDim(node, columns);
  node->product = m < n ? (TileProduct){.lhs = left, .rhs = 1 - left, .m = m, .n = n}
                        : (TileProduct){.lhs = 1 - left, .rhs = left, .m = n, .n = m};
  node->product.k = tileGroupNodeDim(node, sum);
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

static bool buildGraph(Match *m) {
  TileAttention *a = m->attention;
  a->graph = tileArenaAllocate(m->target->arena, sizeof *a->graph);
  *a->graph = (TileGroupGraph){.target = m->target, .numResults = 1};
  a->scores = addPart(m, TileGroupKind_Product, &m->first, -1, -1);
  a->masked = m->first.taken < 0 ? -1 : a->graph->numNodes - 1;
  a->weighted = addPart(m, TileGroupKind_Online, &m->second, m->weights, a->graph->numNodes - 1);
  a->graph->results[0].node = a->graph->numNodes - 1;
  if ((m->reason = tileGroupGraphConnect(a->graph)))
    return false;
  findDims(m);
  if (!check(m))
    return false;
  orderDims(a);
  setProduct(a, a->scores, a->q, a->queries, a->keys, a->depth);
  setProduct(a, a->weighted, m->weights, a->queries, a->channels, a->keys);
  return true;
}

bool tileAttentionMatch(MlirOperation root, const TileTarget *target, TileAttention *a, const char **reason) {
  Match match = {.attention = a, .target = target}, *m = &match;
  *a = (TileAttention){.sum = mlirF32TypeGet(mlirOperationGetContext(root))};
  bool ok = matchChain(m, root) && buildGraph(m);
  a->weight = ok ? tileOperandElementType(&a->graph->nodes[a->weighted].s.operands[a->v]) : a->sum;
  a->isExact = m->softmax.isExact;
  *reason = m->reason;
  return ok;
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
