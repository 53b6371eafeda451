// Online softmax in a group's graph: a product of a softmax along its k becomes a node of the kind Online, whose input
// is the softmax's. See group_graph.h.
//
// Expects: nodes whose makers are known. Leaves: of the chain of two products the first one, the elementwise op behind
// it, the node of the kind Online and what follows it; everything else that they take comes from outside, and
// transposes and broadcasts that make a factor are seen through. Source: Milakov and Gimelshein, 2018.
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

// What the node takes, and what of it another op takes as well.
static const char *form(TileGroupNode *node) {
  TileOperand weights;
  TileSoftmax softmax;
  int sides[2], depth;
  if (node->kind == TileGroupKind_Softmax || !tileStructuredFindWeights(&node->s, &node->scores, &weights, &softmax))
    return NULL;
  tileStructuredIsSumOfProducts(&node->s, sides, &depth);
  if (!tileHasOneUse(weights.value))
    return "its weights have another user";
  if (!tileHasUses(softmax.of, softmax.uses))
    return "its scores have another user";
  if (weights.results[softmax.axis] != depth)
    return "the second product does not sum over the keys";
  node->kind = TileGroupKind_Online;
  node->isExact = softmax.isExact;
  node->s.operands[node->scores] = weights;
  node->s.operands[node->scores].value = softmax.of;
  return NULL;
}

const char *tileGroupGraphFormOnline(TileGroupGraph *graph) {
  const char *reason = NULL;
  for (int n = 0; n < graph->numNodes && !reason; ++n)
    reason = form(&graph->nodes[n]);
  return reason;
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
