// What the files share that build the kernel of a group: group_kernel.c walks its graph, online_softmax.c builds its
// nodes of the kind Online.
//
//   TileGroupEmission *k = tileGroupOpen(graph, group, &reason);   // null: one kernel cannot compute the graph
//   … k->unit.s.warps = 4 …
//   tileKernelBegin(&k->e, &k->unit.s, "group");
//   tileGroupBuild(k);
//   tileKernelEnd(&k->e);
#pragma once

#include "lib/analysis/group_graph.h"
#include "lib/conversion/linalg_to_tile/kernel.h"

typedef struct TileGroupValues {
  MlirValue of[MaxGroupNodes][MaxOperands]; // by node and output; null: not computed here
  // What is made once ahead of loops: of a product its factors from outside, of a softmax the rows' maxima and sums.
  MlirValue ahead[MaxGroupNodes][2];
} TileGroupValues;

typedef struct TileGroupEmission {
  TileGroupGraph *graph;
  TileGroupUnit unit;
  TileKernelEmission e;                                            // of the node that is computed now
  MlirValue parameters[MaxOperands + MaxCaptures], index[MaxDims]; // of the whole kernel
  TileGroupValues values;
  uint32_t open;                  // walked dimensions whose loops are open
  const TileNodeFactors *factors; // of the only node; null: products take operands where they lie
  // Of a graph with a node of the kind Online: the walk over its keys; the tiles that stand for values of f's body in a
  // round; the local buffers that hold inputs from outside.
  struct TileOnline *online;
  TileBodyMap given;
  MlirValue packed[MaxGroupNodes][MaxOperands];
} TileGroupEmission;

// The launch's operands are those of the group. The graph has blocks. Null: with the reason.
TileGroupEmission *tileGroupOpen(TileGroupGraph *graph, MlirOperation group, const char **reason);
void tileGroupBuild(TileGroupEmission *emission);

// The emission builds for this node from here on; for the group as one op.
void tileGroupEnter(TileGroupEmission *emission, int node);
void tileGroupEnterWhole(TileGroupEmission *emission);
// The tile of a node's output, which is built where it is not known here.
MlirValue tileGroupEvaluate(TileGroupEmission *emission, int node, int output);
// A value of a node's body. Its positions are those of the op's own dimensions.
MlirValue tileGroupBuildBody(TileGroupEmission *emission, int node, TileBodyMap *map, MlirValue value);
// A factor of a product from outside as the matrix that tile.mma takes.
MlirValue tileGroupLoadMatrix(TileGroupEmission *emission, int node, int input);

MlirValue tileGroupBuildOnline(TileGroupEmission *emission, int node); // online_softmax.c
