// The ops of a tile.group, or of one to be, as a graph: which op computes what, and which dimensions of different ops
// are one. The pass that writes groups and the conversion that makes a kernel of a group ask it alike.
//
//   TileGroupGraph graph;
//   const char *reason;
//   if (!tileGroupGraphRead(ops, count, &target, &graph, &reason)) … one kernel cannot compute these ops
//   graph.dims[0].block = 16; …                       // or tileGroupGraphTakeBlock(&graph, block)
//   const char *fault = tileGroupGraphFault(&graph);  // null: a kernel can have these blocks
//
// Dimensions: where an op takes a tensor that another op of the group makes, or takes too, the dimensions that index
// the tensor are the same in both. The group's dimensions are numbered in the order of the ops and of each op's own
// dimensions; one that an earlier op has is that op's. A program owns a block of the dimensions that no op folds; a
// dimension that some op folds is whole, if its block is at least its extent, or else the kernel walks it in a loop.
#pragma once

#include "lib/analysis/fusion.h"
#include "lib/analysis/product.h"
#include "lib/analysis/reduction.h"
#include "lib/analysis/structured.h"
#include "lib/search/tile_graph.h"

enum { MaxGroupNodes = 24, MaxGroupResults = 8 };

typedef enum TileGroupKind {
  TileGroupKind_Map,     // all dimensions are parallel
  TileGroupKind_Fold,    // one combiner for each output
  TileGroupKind_Product, // by tile.mma
  TileGroupKind_Softmax,
  TileGroupKind_Online, // a product of a softmax along its k, which it takes block by block (group_online.c)
  TileGroupKind_Launch  // of a kernel that is there already (group_launch.h)
} TileGroupKind;

typedef struct TileGroupNode {
  TileGroupKind kind;
  TileStructured s;                              // its dimensions are in the order of the group's
  int dims[MaxDims];                             // the group's dimension for each of them
  int from[MaxDims];                             // its number for each dimension of the op itself
  int makers[MaxOperands], outputs[MaxOperands]; // for each input the node and output that make it; -1: none
  TileProduct product;                           // Online: m comes before n; known in graphs of the form Whole
  int scores;                                    // Online: the input that the softmax is of
  bool isExact;                                  // Online: exp is the program's own math.exp, not softmax's
} TileGroupNode;

typedef struct TileGroupDim {
  int64_t extent; // mlirShapedTypeGetDynamicSize() when unknown
  int64_t block;  // 0: not chosen yet
  bool isFolded;  // by some op, or each program has all of it
  bool isMatrix;  // m, n or k of a product: tiles have an axis for it, be it of one element
  bool isOne;     // of a product, but none of m, n and k: the block is 1
  bool isWhole;   // a softmax goes along it: plain blocks and those of the search have all of it
} TileGroupDim;

typedef struct TileGroupGraph {
  const TileTarget *target;
  int numNodes, numDims, numResults;
  TileGroupNode nodes[MaxGroupNodes]; // producers first
  TileGroupDim dims[MaxDims];
  struct {
    int node, output;
  } results[MaxOperands]; // what is used outside, in the order of the ops
} TileGroupGraph;

// What is read of the ops. Whole: all of them. Chain, for attention: of a node of the kind Online the product before
// the softmax, the elementwise op between them, and what follows; all else that they take comes from outside. Apart: a
// node for each op that has a kernel of its own without a group, none of the kind Online.
typedef enum TileGroupForm { TileGroupForm_Whole, TileGroupForm_Chain, TileGroupForm_Apart } TileGroupForm;

// Reads the ops, producers first, all of one block. False, with the reason, where one kernel cannot compute them all.
// Ops that only begin something (constants, tensor.empty, fills that a fold starts from) are no nodes. A product of a
// softmax along its k becomes one node with the softmax, of the kind Online.
bool tileGroupGraphRead(const MlirOperation *ops, intptr_t count, const TileTarget *target, TileGroupForm form,
                        TileGroupGraph *graph, const char **reason);
// The number of a node's result among the graph's; -1: nothing outside uses it.
int tileGroupGraphResultOf(const TileGroupGraph *graph, int node, int output);
// The kernel walks the dimension in a loop: some op folds it, and its block has not all of it.
static inline bool tileGroupDimIsWalked(const TileGroupDim *dim) {
  bool isWhole = !mlirShapedTypeIsDynamicSize(dim->extent) && dim->extent > 0 && dim->block >= dim->extent;
  return dim->isFolded && !isWhole;
}
// The node's dimension that is the group's dimension; -1: none.
static inline int tileGroupNodeDim(const TileGroupNode *node, int dim) {
  int own = node->s.numDims - 1;
  while (own >= 0 && node->dims[own] != dim)
    --own;
  return own;
}
// Operand `operand` of the node (inputs first) is indexed by the group's dimension.
static inline bool tileGroupNodeUses(const TileGroupNode *node, int operand, int dim) {
  int own = tileGroupNodeDim(node, dim);
  return own >= 0 && tileOperandUses(&node->s.operands[operand], own);
}
// Output `output` of the node is indexed by the group's dimension.
static inline bool tileGroupNodeHas(const TileGroupNode *node, int output, int dim) {
  return tileGroupNodeUses(node, node->s.numInputs + output, dim);
}

// A step of tileGroupGraphRead (group_online.c): forms nodes of the kind Online. Null, or, for a chain, the reason why
// the product of a softmax does not become one. In a whole graph the product and the softmax then stay two nodes.
const char *tileGroupGraphFormOnline(TileGroupGraph *graph, TileGroupForm form, const MlirOperation *ops,
                                     intptr_t count);
// Drops the edges outside of chains.
void tileGroupGraphKeepChains(TileGroupGraph *graph);
// The node multiplies: its product is known.
static inline bool tileGroupNodeIsProduct(const TileGroupNode *node) {
  return node->kind == TileGroupKind_Product ||
         (node->kind == TileGroupKind_Online && node->product.m != node->product.n);
}
// Some of the ops is the op, or has it inside.
bool tileGroupIsAmong(const MlirOperation *ops, intptr_t count, MlirOperation op);
// The op sums products of floats along one dimension: the factors, and the dimension.
bool tileStructuredIsSumOfProducts(const TileStructured *structured, int sides[2], int *depth);
// A factor of such an op that is a softmax, perhaps rounded or transposed: its number, and as what the softmax is read.
bool tileStructuredFindWeights(const TileStructured *structured, int *input, TileOperand *weights,
                               TileSoftmax *softmax);

// For a graph whose nodes and makers are there already. Joins the dimensions along the edges and numbers them in the
// order of the nodes. Null, or the reason why one kernel cannot compute the nodes.
const char *tileGroupGraphConnect(TileGroupGraph *graph);
// Dimension d of the graph becomes to[d]. The dimensions of each node are in the order of the graph's from then on.
void tileGroupGraphOrder(TileGroupGraph *graph, const int *to);

// Blocks for every dimension: those of a schedule, else plain ones.
bool tileGroupGraphTakeBlock(TileGroupGraph *graph, MlirAttribute block);
void tileGroupGraphPlainBlock(TileGroupGraph *graph);
// What lib/search knows of the graph; unknown extents are planned for as `unknown`.
void tileGroupGraphDescribe(const TileGroupGraph *graph, int64_t unknown, TileGraph *described);
// Null where a kernel can have the blocks; else what is wrong with them.
const char *tileGroupGraphFault(const TileGroupGraph *graph);

// One kernel may have as many operands as the graph's launch needs.
bool tileGroupGraphFitsKernel(const TileGroupGraph *graph);

// The group as one op: the launch's operands and the group's dimensions; the numbers in it of each node's operands and
// captures.
typedef struct TileGroupUnit {
  TileStructured s;
  int operands[MaxGroupNodes][MaxOperands], captures[MaxGroupNodes][MaxCaptures];
} TileGroupUnit;
// The place of the parameter that tells the extent of a node's dimension, behind all of the node's.
static inline int tileGroupExtentPlace(int dim) { return MaxOperands + MaxCaptures + dim; }
// Once the graph has blocks: orders the graph's results as the group's, gives the nodes' dimensions their tiles and
// axes, and makes the unit. Its values are those of the group's body. Null, or the reason why one kernel cannot be
// made.
const char *tileGroupGraphUnite(TileGroupGraph *graph, MlirOperation group, TileGroupUnit *unit);
// The graph of an op that has its tiles already, and of the elementwise op that follows it (null: none), which has the
// same tiles. Sums that wait in memory wait where the result goes: the op's output becomes that of the unit.
void tileGroupGraphOfOp(TileStructured *structured, const TileEpilogue *epilogue, TileGroupGraph *graph,
                        TileGroupUnit *unit);
// An elementwise node has the tiles of `structured`, whose dimensions are the graph's.
void tileGroupNodeTakeTiles(TileGroupNode *node, const TileStructured *structured);
