// Reads the ops of a group as a graph. See group_graph.h.
#include "lib/analysis/group/group_graph.h"

#include "dialects/tile/group.h"
#include "dialects/tile/ops.h"
#include "lib/analysis/reduction.h"
#include "lib/analysis/tiling.h"
#include "lib/ir/op_query.h"
#include "lib/support/integer.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <string.h>

//===--- nodes --------------------------------------------------------------===//

static bool isPlain(const TileStructured *s) {
  for (int i = 0; i < s->numInputs + s->numOutputs; ++i)
    if (!tileOperandIsPlain(&s->operands[i]))
      return false;
  return !tileStructuredHasTerms(s);
}

static bool readsOutput(const TileStructured *s) {
  for (int i = s->numInputs; i < s->numInputs + s->numOutputs; ++i)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(s->body, i))))
      return true;
  return false;
}

static const char *classifyFold(TileGroupNode *node) {
  const TileStructured *s = &node->s;
  for (int o = 0; o < s->numOutputs; ++o) {
    MlirValue folded;
    if (!tileStructuredMatchReduction(s, o, &folded) || !tileStructuredAccumulates(s, &s->operands[s->numInputs + o]))
      return "an op folds step by step, without a combiner";
    if (mlirAttributeIsNull(s->operands[s->numInputs + o].initial))
      return "a fold starts from a tensor; a group accepts folds that start from a constant";
  }
  node->kind = TileGroupKind_Fold;
  return NULL;
}

static int numReductions(const TileStructured *s) {
  int count = 0;
  for (int d = 0; d < s->numDims; ++d)
    count += s->dims[d].isReduction;
  return count;
}

// The product that was read of the op itself, its sides such that m comes before n.
static void orderProduct(TileGroupNode *node) {
  TileProduct *p = &node->product, old = *p;
  bool isTurned = node->from[old.m] > node->from[old.n];
  *p = (TileProduct){.lhs = isTurned ? old.rhs : old.lhs,
                     .rhs = isTurned ? old.lhs : old.rhs,
                     .m = node->from[isTurned ? old.n : old.m],
                     .n = node->from[isTurned ? old.m : old.n],
                     .k = node->from[old.k]};
}

static const char *classify(TileGroupNode *node) {
  TileStructured *s = &node->s;
  if (node->kind == TileGroupKind_Online)
    orderProduct(node);
  if (node->kind == TileGroupKind_Softmax || node->kind == TileGroupKind_Online)
    return NULL;
  if (!isPlain(s))
    return "an op indexes a tensor by more than one dimension for each axis";
  if (!tileStructuredHasReduction(s)) {
    node->kind = TileGroupKind_Map;
    return readsOutput(s) ? "an elementwise op reads what its output held" : NULL;
  }
  TileProduct *p = &node->product;
  bool isProduct =
      numReductions(s) == 1 && (tileStructuredMatchMatrixProduct(s, p) || tileStructuredMatchProduct(s, p));
  if (!isProduct || p->m < 0 || p->n < 0)
    return classifyFold(node);
  node->kind = TileGroupKind_Product;
  return mlirAttributeIsNull(s->operands[s->numInputs].initial)
             ? "a product starts from a tensor; a group accepts products that start from a constant"
             : NULL;
}

//===--- edges --------------------------------------------------------------===//

static void findMaker(const TileGroupGraph *graph, MlirValue value, int before, int *node, int *output) {
  *node = *output = -1;
  for (int i = 0; i < before; ++i)
    for (int o = 0; o < graph->nodes[i].s.numOutputs; ++o)
      if (mlirValueEqual(mlirOperationGetResult(graph->nodes[i].s.op, o), value)) {
        *node = i;
        *output = o;
      }
}

static void findMakers(TileGroupGraph *graph) {
  for (int n = 0; n < graph->numNodes; ++n) {
    TileGroupNode *node = &graph->nodes[n];
    for (int i = 0; i < node->s.numInputs; ++i)
      findMaker(graph, node->s.operands[i].value, n, &node->makers[i], &node->outputs[i]);
  }
}

bool tileGroupIsAmong(const MlirOperation *ops, intptr_t count, MlirOperation op) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op))
    for (intptr_t i = 0; i < count; ++i)
      if (mlirOperationEqual(ops[i], op))
        return true;
  return false;
}

static bool isUsedOutside(const MlirOperation *ops, intptr_t count, MlirValue value) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (!tileGroupIsAmong(ops, count, mlirOpOperandGetOwner(use)))
      return true;
  return false;
}

// Ops that no result comes from are dropped: fills that folds start from, and what is unused.
static const char *keepNeeded(TileGroupGraph *graph, const MlirOperation *ops, intptr_t count) {
  bool isNeeded[MaxGroupNodes] = {false};
  int to[MaxGroupNodes], kept = 0;
  for (int n = graph->numNodes - 1; n >= 0; --n) {
    const TileGroupNode *node = &graph->nodes[n];
    for (int o = 0; o < node->s.numOutputs; ++o)
      isNeeded[n] |= isUsedOutside(ops, count, mlirOperationGetResult(node->s.op, o));
    for (int i = 0; isNeeded[n] && i < node->s.numInputs; ++i)
      if (node->makers[i] >= 0)
        isNeeded[node->makers[i]] = true;
  }
  for (int n = 0; n < graph->numNodes; ++n) {
    to[n] = kept;
    if (isNeeded[n])
      graph->nodes[kept++] = graph->nodes[n];
  }
  graph->numNodes = kept;
  for (int n = 0; n < kept; ++n)
    for (int i = 0; i < graph->nodes[n].s.numInputs; ++i)
      if (graph->nodes[n].makers[i] >= 0)
        graph->nodes[n].makers[i] = to[graph->nodes[n].makers[i]];
  for (int n = 0; n < kept; ++n)
    for (int o = 0; o < graph->nodes[n].s.numOutputs; ++o) {
      if (!isUsedOutside(ops, count, mlirOperationGetResult(graph->nodes[n].s.op, o)))
        continue;
      if (graph->numResults == MaxGroupResults)
        return "more than 8 tensors leave the group";
      graph->results[graph->numResults].node = n;
      graph->results[graph->numResults++].output = o;
    }
  return kept ? NULL : "no op of the group is computed by a kernel";
}

//===--- dimensions ---------------------------------------------------------===//

// Classes of (node, dimension) pairs, by union and find.
typedef struct Classes {
  int parent[MaxGroupNodes * MaxDims];
} Classes;

static int classOf(const Classes *c, int pair) {
  while (c->parent[pair] != pair)
    pair = c->parent[pair];
  return pair;
}

static void join(Classes *c, int a, int b) {
  a = classOf(c, a);
  b = classOf(c, b);
  c->parent[a > b ? a : b] = a > b ? b : a;
}

// No op has two dimensions of one class.
static bool areSeparate(const TileGroupGraph *graph, const Classes *c) {
  for (int n = 0; n < graph->numNodes; ++n)
    for (int d = 0; d < graph->nodes[n].s.numDims; ++d)
      for (int other = 0; other < d; ++other)
        if (classOf(c, n * MaxDims + d) == classOf(c, n * MaxDims + other))
          return false;
  return true;
}

static const char *joinEdges(const TileGroupGraph *graph, Classes *c) {
  for (int n = 0; n < graph->numNodes; ++n) {
    const TileGroupNode *node = &graph->nodes[n];
    for (int i = 0; i < node->s.numInputs; ++i) {
      if (node->makers[i] < 0)
        continue;
      const TileGroupNode *maker = &graph->nodes[node->makers[i]];
      const TileOperand *made = &maker->s.operands[maker->s.numInputs + node->outputs[i]];
      for (int axis = 0; axis < made->rank; ++axis) {
        if (node->s.operands[i].results[axis] < 0)
          return "an op takes one place of a tensor that another op makes";
        join(c, n * MaxDims + node->s.operands[i].results[axis], node->makers[i] * MaxDims + made->results[axis]);
      }
    }
  }
  return areSeparate(graph, c) ? NULL : "an op takes two different parts of one tensor of the group";
}

// A tensor from outside that two ops take: its dimensions are one, so that a program reads one part of it once. Not
// where an op would have two dimensions that are one, as in the product of a matrix with itself.
static void joinShared(const TileGroupGraph *graph, Classes *c, int n, int i) {
  const TileOperand *operand = &graph->nodes[n].s.operands[i];
  for (int m = 0; m <= n; ++m)
    for (int j = 0; j < graph->nodes[m].s.numInputs; ++j) {
      const TileOperand *other = &graph->nodes[m].s.operands[j];
      Classes before = *c;
      if (graph->nodes[m].makers[j] >= 0 || !mlirValueEqual(operand->value, other->value))
        continue;
      for (int axis = 0; axis < operand->rank; ++axis)
        if (operand->results[axis] >= 0 && other->results[axis] >= 0)
          join(c, n * MaxDims + operand->results[axis], m * MaxDims + other->results[axis]);
      if (!areSeparate(graph, c))
        *c = before;
    }
}

static const char *numberDims(TileGroupGraph *graph, const Classes *c) {
  int number[MaxGroupNodes * MaxDims];
  for (int n = 0; n < graph->numNodes; ++n)
    for (int d = 0; d < graph->nodes[n].s.numDims; ++d) {
      int pair = n * MaxDims + d, class = classOf(c, pair);
      const TileDim *dim = &graph->nodes[n].s.dims[d];
      if (class == pair) {
        if (graph->numDims == MaxDims)
          return "the group has more than 12 dimensions";
        number[pair] = graph->numDims;
        graph->dims[graph->numDims++].extent = dim->extent;
      }
      TileGroupDim *of = &graph->dims[number[class]];
      if (mlirShapedTypeIsDynamicSize(of->extent))
        of->extent = dim->extent;
      of->isFolded |= dim->isReduction;
      graph->nodes[n].dims[d] = number[class];
    }
  return NULL;
}

static const char *connect(TileGroupGraph *graph, bool joinsShared) {
  Classes c;
  for (int i = 0; i < MaxGroupNodes * MaxDims; ++i)
    c.parent[i] = i;
  const char *reason = joinEdges(graph, &c);
  for (int n = 0; n < graph->numNodes && joinsShared && !reason; ++n)
    for (int i = 0; i < graph->nodes[n].s.numInputs; ++i)
      if (graph->nodes[n].makers[i] < 0 && graph->nodes[n].s.operands[i].isTensor)
        joinShared(graph, &c, n, i);
  return reason ? reason : numberDims(graph, &c);
}

const char *tileGroupGraphConnect(TileGroupGraph *graph) { return connect(graph, false); }

// An op's dimensions come in the order of the group's, so that tiles of different ops have their axes in one order.
static void sortDims(TileGroupNode *node) {
  int sorted[MaxDims];
  for (int d = 0; d < node->s.numDims; ++d) {
    node->from[d] = 0;
    for (int other = 0; other < node->s.numDims; ++other)
      node->from[d] += node->dims[other] < node->dims[d];
    sorted[node->from[d]] = node->dims[d];
  }
  memcpy(node->dims, sorted, sizeof sorted);
  tileStructuredRenumber(&node->s, node->from);
}

void tileGroupGraphOrder(TileGroupGraph *graph, const int *to) {
  TileGroupDim dims[MaxDims];
  memcpy(dims, graph->dims, sizeof dims);
  for (int d = 0; d < graph->numDims; ++d)
    graph->dims[to[d]] = dims[d];
  for (int n = 0; n < graph->numNodes; ++n) {
    for (int d = 0; d < graph->nodes[n].s.numDims; ++d)
      graph->nodes[n].dims[d] = to[graph->nodes[n].dims[d]];
    sortDims(&graph->nodes[n]);
  }
}

static void noteRoles(TileGroupGraph *graph, TileGroupNode *node) {
  for (int d = 0; d < node->s.numDims; ++d) {
    TileGroupDim *dim = &graph->dims[node->dims[d]];
    const TileProduct *p = &node->product;
    bool isMatrix = tileGroupNodeIsProduct(node) && (d == p->m || d == p->n || d == p->k);
    dim->isMatrix |= isMatrix;
    dim->isOne |= tileGroupNodeIsProduct(node) && !isMatrix;
    dim->isWhole |= node->kind == TileGroupKind_Softmax && node->s.dims[d].isReduction;
  }
}

//===--- the graph ----------------------------------------------------------===//

static const char *readNode(TileGroupGraph *graph, MlirOperation op) {
  TileGroupNode *node = &graph->nodes[graph->numNodes];
  if (arithConstantOpIsA(op) || tensorEmptyOpIsA(op) || tensorDimOpIsA(op) || tileOpIsElementwise(op))
    return NULL;
  if (graph->numNodes == MaxGroupNodes)
    return "the group has more than 24 ops";
  *node = (TileGroupNode){.kind = TileGroupKind_Map};
  if (tileStructuredReadSoftmax(op, graph->target, &node->s))
    node->kind = TileGroupKind_Softmax;
  else if (!linalgGenericOpIsA(op) || !tileStructuredRead(op, graph->target, &node->s))
    return "an op is none that kernels compute";
  else
    tileStructuredStartFromConstants(&node->s);
  ++graph->numNodes;
  return NULL;
}

// A body that takes elements of a tensor by their places takes them from memory: a tile of this group is not there.
static const char *findPickedTiles(const TileGroupGraph *graph) {
  for (int n = 0; n < graph->numNodes; ++n)
    for (int c = 0; c < graph->nodes[n].s.numCaptures; ++c)
      for (int maker = 0; maker < graph->numNodes; ++maker)
        if (mlirOperationEqual(tileDefiningOp(graph->nodes[n].s.captures[c]), graph->nodes[maker].s.op))
          return "an op takes elements of another op's result by their places";
  return NULL;
}

static const char *read(const MlirOperation *ops, intptr_t count, TileGroupForm form, TileGroupGraph *graph) {
  const char *reason = NULL;
  for (intptr_t i = 0; i < count && !reason; ++i)
    reason = readNode(graph, ops[i]);
  if (reason)
    return reason;
  if ((reason = findPickedTiles(graph)) || (reason = tileGroupGraphFormOnline(graph, form, ops, count)))
    return reason;
  findMakers(graph);
  if (form == TileGroupForm_Chain)
    tileGroupGraphKeepChains(graph);
  if ((reason = keepNeeded(graph, ops, count)) || (reason = connect(graph, form != TileGroupForm_Chain)))
    return reason;
  for (int n = 0; n < graph->numNodes; ++n) {
    sortDims(&graph->nodes[n]);
    if ((reason = classify(&graph->nodes[n])))
      return reason;
    noteRoles(graph, &graph->nodes[n]);
  }
  return NULL;
}

bool tileGroupGraphRead(const MlirOperation *ops, intptr_t count, const TileTarget *target, TileGroupForm form,
                        TileGroupGraph *graph, const char **reason) {
  *graph = (TileGroupGraph){.target = target};
  *reason = read(ops, count, form, graph);
  return !*reason;
}

int tileGroupGraphResultOf(const TileGroupGraph *graph, int node, int output) {
  for (int r = 0; r < graph->numResults; ++r)
    if (graph->results[r].node == node && graph->results[r].output == output)
      return r;
  return -1;
}

//===--- blocks -------------------------------------------------------------===//

bool tileGroupGraphTakeBlock(TileGroupGraph *graph, MlirAttribute block) {
  if (mlirAttributeIsNull(block) || mlirDenseArrayGetNumElements(block) != graph->numDims)
    return false;
  for (int d = 0; d < graph->numDims; ++d)
    graph->dims[d].block = mlirDenseI64ArrayGetElement(block, d);
  return true;
}

// The dimensions of a program that are neither folded nor a matrix's: the innermost one has the widest block.
static int64_t plainBlock(const TileGroupGraph *graph, int d, bool isLast) {
  const TileGroupDim *dim = &graph->dims[d];
  const TileSearchModel *model = &graph->target->search.model;
  int64_t most = dim->isOne ? 1 : dim->isMatrix ? 32 : dim->isFolded ? model->wholeRow : isLast ? model->columns : 1;
  if (mlirShapedTypeIsDynamicSize(dim->extent) || dim->isOne)
    return tessera_max(1, most);
  if (dim->isWhole)
    most = dim->extent;
  bool isGpu = tileStructuredGpu(&graph->nodes[0].s);
  int64_t block = tessera_max(1, tessera_min(most, dim->extent));
  return isGpu ? tessera_max(tessera_bucket(block), dim->isMatrix ? 16 : 1) : block;
}

void tileGroupGraphPlainBlock(TileGroupGraph *graph) {
  for (int d = 0; d < graph->numDims; ++d) {
    bool isLast = true;
    for (int r = 0; r < graph->numResults; ++r) {
      const TileGroupNode *node = &graph->nodes[graph->results[r].node];
      for (int later = d + 1; later < graph->numDims; ++later)
        isLast &= !tileGroupNodeHas(node, graph->results[r].output, later);
      // A program that stores a result has all of what does not index the result.
      if (!tileGroupNodeHas(node, graph->results[r].output, d) && !graph->dims[d].isFolded)
        graph->dims[d].isWhole = true;
    }
    graph->dims[d].block = plainBlock(graph, d, isLast);
  }
}

const char *tileGroupGraphFault(const TileGroupGraph *graph) {
  bool isGpu = tileStructuredGpu(&graph->nodes[0].s);
  for (int d = 0; d < graph->numDims; ++d) {
    const TileGroupDim *dim = &graph->dims[d];
    bool isAll = !mlirShapedTypeIsDynamicSize(dim->extent) && dim->block >= dim->extent;
    if (dim->extent == 0)
      return "a dimension has no elements";
    if (dim->block < 1)
      return "a block is less than 1";
    if (isGpu && dim->block & (dim->block - 1))
      return "a block is no power of two, which a GPU's kernel requires";
    if (dim->isOne && dim->block > 1)
      return "a dimension that a product has beside m, n and k has a block above 1";
    if (dim->isOne && dim->isMatrix)
      return "a dimension is a matrix's in one product and counts matrices in another";
    for (int r = 0; r < graph->numResults && !dim->isFolded && !isAll; ++r)
      if (!tileGroupNodeHas(&graph->nodes[graph->results[r].node], graph->results[r].output, d))
        return "several programs would store one result: a dimension that does not index the result has a block that "
               "is less than its extent";
  }
  return NULL;
}

//===--- what it costs --------------------------------------------------------===//

static TileTiling tilingOf(const TileGroupNode *node) {
  TileTiling tiling = {.whole = -1};
  const TileProduct *p = &node->product;
  // The types of an instruction's factors are those of the side that is no softmax.
  bool isTurned = node->kind == TileGroupKind_Online && p->lhs == node->scores;
  if (tileGroupNodeIsProduct(node))
    return (TileTiling){
        .whole = -1, .isProduct = true, .product = isTurned ? (TileProduct){p->rhs, p->lhs, p->n, p->m, p->k} : *p};
  if (node->kind == TileGroupKind_Softmax || !tileStructuredFindTiling(&node->s, &tiling))
    return (TileTiling){.whole = -1};
  tiling.isProduct = false;
  return tiling;
}

// The number of a tensor from outside: that of the first operand that is it.
static int tensorOf(const TileGroupGraph *graph, MlirValue value) {
  for (int n = 0, number = 0; n < graph->numNodes; ++n) {
    const TileStructured *s = &graph->nodes[n].s;
    for (int i = 0; i < s->numInputs; ++i, ++number)
      if (graph->nodes[n].makers[i] < 0 && mlirValueEqual(s->operands[i].value, value))
        return number;
  }
  return -1;
}

void tileGroupGraphDescribe(const TileGroupGraph *graph, int64_t unknown, TileGraph *described) {
  *described = (TileGraph){.numNodes = graph->numNodes, .numDims = graph->numDims};
  for (int d = 0; d < graph->numDims; ++d) {
    const TileGroupDim *dim = &graph->dims[d];
    bool isKnown = !mlirShapedTypeIsDynamicSize(dim->extent);
    described->dims[d] = (TileGraphDim){.extent = isKnown ? tessera_max(dim->extent, 1) : unknown,
                                        .isFolded = dim->isFolded,
                                        .isMatrix = dim->isMatrix,
                                        .isOne = dim->isOne,
                                        .isWhole = dim->isWhole};
  }
  for (int n = 0, gathered = MaxGroupNodes * MaxOperands; n < graph->numNodes; ++n) {
    const TileGroupNode *node = &graph->nodes[n];
    TileGraphNode *to = &described->nodes[n];
    TileTiling tiling = tilingOf(node);
    to->op = tileStructuredDescribe(&node->s, &tiling, unknown);
    to->isOnline = node->kind == TileGroupKind_Online;
    to->scores = node->scores;
    memcpy(to->dims, node->dims, sizeof node->dims);
    for (int i = 0; i < to->op.numOperands; ++i) {
      bool isInput = i < node->s.numInputs, isOutput = to->op.operands[i].isOutput;
      to->op.operands[i].isRead &= !isOutput; // folds start from constants
      to->makers[i] = isInput ? node->makers[i] : -1;
      to->outputs[i] =
          isInput && node->makers[i] >= 0 ? graph->nodes[node->makers[i]].s.numInputs + node->outputs[i] : 0;
      to->tensors[i] = isInput ? tensorOf(graph, node->s.operands[i].value) : gathered++;
      to->isStored[i] = isOutput && tileGroupGraphResultOf(graph, n, i - node->s.numInputs) >= 0;
    }
  }
}
