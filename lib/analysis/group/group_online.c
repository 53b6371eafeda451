// Online softmax in a group's graph: a product of a softmax along its k becomes a node of the kind Online, whose input
// is the softmax's. See group_graph.h.
//
// Expects: nodes of all ops. Leaves: nodes of the kind Online in place of products. In a graph of the form Chain, once
// makers are known: of two products the first one, the elementwise op behind it, the node of the kind Online and what
// follows it; everything else that they take comes from outside, and transposes and broadcasts that make a factor are
// seen through. Source: Milakov and Gimelshein, 2018.
#include "lib/analysis/fusion.h"
#include "lib/analysis/group/group_graph.h"
#include "lib/analysis/reduction.h"
#include "lib/ir/op_query.h"

bool tileStructuredIsSumOfProducts(const TileStructured *s, int sides[2], int *depth) {
  int sums = 0;
  for (int d = 0; d < s->numDims; ++d)
    if (s->dims[d].isReduction && ++sums)
      *depth = d;
  return sums == 1 && s->numOutputs == 1 && tileStructuredMatchMultiplyAdd(s, &sides[0], &sides[1]) &&
         mlirTypeIsAFloat(tileOperandElementType(&s->operands[s->numInputs]));
}

bool tileStructuredFindWeights(const TileStructured *s, int *input, TileOperand *weights, TileSoftmax *softmax) {
  int sides[2], depth;
  if (!tileStructuredIsSumOfProducts(s, sides, &depth))
    return false;
  for (int i = 0; i < 2; ++i) {
    const TileOperand *operand = &s->operands[ *input = sides[i]];
    if (!tileHasOneUse(operand->value) || !tileOperandSource(operand, s->target, false, weights))
      *weights = *operand;
    if (tileSoftmaxMatch(weights->value, s->target, softmax))
      return true;
  }
  return false;
}

// The softmax that a node multiplies, and the dimension that the product sums over.
typedef struct Weights {
  TileOperand operand; // as what the softmax is read
  TileSoftmax softmax;
  int input, depth;
} Weights;

static bool findWeights(const TileGroupNode *node, Weights *w) {
  int sides[2];
  return node->kind != TileGroupKind_Softmax &&
         tileStructuredFindWeights(&node->s, &w->input, &w->operand, &w->softmax) &&
         tileStructuredIsSumOfProducts(&node->s, sides, &w->depth);
}

static void take(TileGroupNode *node, const Weights *w) {
  node->kind = TileGroupKind_Online;
  node->isExact = w->softmax.isExact;
  node->scores = w->input;
  node->s.operands[w->input] = w->operand;
  node->s.operands[w->input].value = w->softmax.of;
}

// Null, or why the node cannot be the softmax's only user, or walk the softmax's rows.
static const char *faultOf(const Weights *w) {
  return !tileHasOneUse(w->operand.value)                  ? "its weights have another user"
         : w->operand.results[w->softmax.axis] != w->depth ? "the second product does not sum over the keys"
                                                           : NULL;
}

static bool isNarrow(const TileOperand *operand) { return tileMemoryBits(tileOperandElementType(operand)) <= 32; }

// All ops of the softmax are among these, and the sums of the product can be scaled from block to block.
static bool canWalk(TileGroupNode *node, const Weights *w, const MlirOperation *ops, intptr_t count) {
  TileStructured *s = &node->s;
  bool isRight = tileGroupIsAmong(ops, count, tileDefiningOp(w->operand.value)) &&
                 tileStructuredMatchProduct(s, &node->product) && tileStructuredStartsFrom(s, 0, 0) &&
                 isNarrow(&s->operands[s->numInputs]) && isNarrow(&w->operand);
  for (MlirOpOperand use = mlirValueGetFirstUse(w->softmax.of); !mlirOpOperandIsNull(use) && w->softmax.uses > 1;
       use = mlirOpOperandGetNextUse(use))
    isRight &= tileGroupIsAmong(ops, count, mlirOpOperandGetOwner(use));
  for (int i = 0; isRight && i < s->numInputs + s->numOutputs; ++i)
    isRight = tileOperandIsPlain(&s->operands[i]);
  if (!isRight || !tileOperandIsPlain(&w->operand))
    node->product = (TileProduct){0};
  return isRight && tileOperandIsPlain(&w->operand);
}

const char *tileGroupGraphFormOnline(TileGroupGraph *graph, TileGroupForm form, const MlirOperation *ops,
                                     intptr_t count) {
  for (int n = 0; n < graph->numNodes && form != TileGroupForm_Apart; ++n) {
    TileGroupNode *node = &graph->nodes[n];
    Weights w;
    if (!findWeights(node, &w))
      continue;
    const char *fault = faultOf(&w);
    if (form == TileGroupForm_Whole) {
      if (!fault && canWalk(node, &w, ops, count))
        take(node, &w);
      continue;
    }
    if (fault || !tileHasUses(w.softmax.of, w.softmax.uses))
      return fault ? fault : "its scores have another user";
    take(node, &w);
  }
  return NULL;
}

// The input of an elementwise node that the first product makes; -1: none.
static int productOf(const TileGroupGraph *graph, int number) {
  const TileGroupNode *node = &graph->nodes[number];
  int sides[2], depth;
  for (int i = 0; i < node->s.numInputs && !tileStructuredHasReduction(&node->s); ++i)
    if (node->makers[i] >= 0 && tileStructuredIsSumOfProducts(&graph->nodes[node->makers[i]].s, sides, &depth))
      return i;
  return -1;
}

void tileGroupGraphKeepChains(TileGroupGraph *graph) {
  int kept[MaxGroupNodes]; // the input whose maker is a node of a chain; -1: none
  bool isFactor[MaxGroupNodes] = {false};
  for (int n = 0; n < graph->numNodes; ++n)
    kept[n] = -1;
  for (int n = 0; n < graph->numNodes; ++n) {
    const TileGroupNode *node = &graph->nodes[n];
    for (int i = 0; i < node->s.numInputs; ++i)
      if (node->makers[i] >= 0 && graph->nodes[node->makers[i]].kind == TileGroupKind_Online)
        kept[n] = i;
    if (node->kind != TileGroupKind_Online || node->makers[node->scores] < 0)
      continue;
    int before = node->makers[kept[n] = node->scores], input = productOf(graph, before);
    kept[before] = input;
    isFactor[n] = isFactor[input < 0 ? before : graph->nodes[before].makers[input]] = true;
  }
  for (int n = 0; n < graph->numNodes; ++n)
    for (int i = 0; i < graph->nodes[n].s.numInputs; ++i) {
      TileOperand *operand = &graph->nodes[n].s.operands[i];
      if (i == kept[n])
        continue;
      graph->nodes[n].makers[i] = -1;
      while (isFactor[n] && tileOperandSource(operand, graph->target, true, operand))
        ;
    }
}
