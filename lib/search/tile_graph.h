// A graph of tiles: what several operators cost as one kernel. Pure C: the caller that reads a program fills it in.
//
//   TileGraph graph = …                               // nodes, producers first, and the graph's dimensions
//   TileGraphOptions options = tileGraphDefaults();
//   TileGraphChoice choice = tileGraphSearch(&graph, &target, &options);
//   if (choice.cost.misfit) … no blocks fit … else choice.block[d], choice.cost.read, choice.cost.seconds
//
// A node is an operator; an edge is a producer's output in a consumer's operand and has the memory level at which the
// tiles of both meet. A program owns a block of the dimensions that no node folds, and computes on demand what its
// results need, in loops over folded dimensions that are wider than their blocks: the kernel that
// lib/conversion/linalg_to_tile/group_kernel.c makes. Counts of bytes are exact for that kernel, unless several warps
// load one element each for itself. Source: Welder's tile graph (Shi et al., OSDI 2023). Ours differs in this: time
// decides, not traffic times waves, which moves more bytes than separate kernels where there are few programs; loops
// inside of a kernel count; no candidate is compiled.
#pragma once

#include "lib/search/kind.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TileGraphNodes = 24, TileGraphTensors = 64 };

typedef enum TileGraphLevel { TileGraphLevel_Register, TileGraphLevel_Shared, TileGraphLevel_Global } TileGraphLevel;

typedef struct TileGraphNode {
  TileOperator op;
  int dims[TileOperatorDims];          // the graph's dimension for each of the operator's
  int makers[TileOperatorOperands];    // of an input: the node that makes it, or -1: it is in global memory
  int outputs[TileOperatorOperands];   // of such an input: the maker's operand
  int tensors[TileOperatorOperands];   // of any other operand: which tensor it is; equal ones are read once
  bool isStored[TileOperatorOperands]; // of an output: something outside uses it
  TileGraphLevel level;                // at which its outputs meet what takes them
  bool isOnline;                       // a product of the softmax of its operand `scores`, block by block
  int scores;
} TileGraphNode;

typedef struct TileGraphDim {
  int64_t extent;
  bool isFolded; // by some node
  bool isMatrix; // m, n or k of a product
  bool isOne;    // its block is 1
  bool isWhole;  // its block has all of it
} TileGraphDim;

typedef struct TileGraph {
  int numNodes, numDims;
  TileGraphNode nodes[TileGraphNodes]; // producers first
  TileGraphDim dims[TileOperatorDims];
} TileGraph;

//===--- boxes --------------------------------------------------------------------===//

// Indices begin[d] ≤ i < end[d]; empty where an end is not above its begin.
typedef struct TileBox {
  int64_t begin[TileOperatorDims], end[TileOperatorDims];
} TileBox;

// The hull of what the operand holds at the points of a box of the operator's dimensions, inside the tensor.
TileBox tileOperandHull(const TileOperatorOperand *operand, int numDims, const TileBox *points);
// boxes[n]: the points of node n that a program computes. The caller sets those of nodes that are stored, empty boxes
// elsewhere; all others become the hulls over all uses, halos included. Folded dimensions are whole.
void tileGraphPropagate(const TileGraph *graph, TileBox *boxes);

//===--- cost ---------------------------------------------------------------------===//

typedef struct TileGraphCost {
  const char *misfit;   // what the blocks exceed, or what rules them out; null: they fit
  double read, written; // bytes of global memory
  double again;         // bytes of `read` that a GPU's caches give
  double footprint;     // bytes of a program's tiles that live at once, by best fit
  double operations;    // all programs', what is computed again included
  double seconds;
  int64_t programs, warps;
  int64_t resident; // programs that a GPU's core holds at once
} TileGraphCost;

TileGraphCost tileGraphCost(const TileGraph *graph, const TileSearchTarget *target, const int64_t *block);

//===--- search --------------------------------------------------------------------===//

typedef enum TileGraphObjective {
  TileGraphObjective_Time,
  TileGraphObjective_Traffic, // the fewest bytes; among equals the fastest
  TileGraphObjective_Waves    // the original's: (traffic of a program + 1) × waves
} TileGraphObjective;

typedef struct TileGraphOptions {
  TileGraphObjective objective;
  bool isExhaustive; // every combination of sizes: the judge of the search
  int64_t visits;    // the most
} TileGraphOptions;

TileGraphOptions tileGraphDefaults(void); // time, 2000 visits

typedef struct TileGraphChoice {
  int64_t block[TileOperatorDims];
  TileGraphCost cost;
  int64_t visits;
} TileGraphChoice;

// Starts from the smallest blocks, folded dimensions whole, and moves to the best neighbour that doubles or halves one
// block, from several starts.
TileGraphChoice tileGraphSearch(const TileGraph *graph, const TileSearchTarget *target,
                                const TileGraphOptions *options);

#ifdef __cplusplus
}
#endif
