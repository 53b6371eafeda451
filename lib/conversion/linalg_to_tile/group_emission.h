// What the files share that build the kernel of a group: group_kernel.c walks its graph, online_softmax.c builds its
// nodes of the kind Online. The kernel of one op is that of a group, too: of the op and of the elementwise op, if any,
// that follows it. Kinds of products with loops of their own compute the first node and ask for the result.
//
//   TileGroupEmission *k = tileGroupOpen(graph, group, &reason);   // null: one kernel cannot compute the graph
//   … k->unit.s.warps = 4 …
//   tileKernelBegin(&k->e, &k->unit.s, "group");
//   tileGroupBuild(k);
//   tileKernelEnd(&k->e);
//
//   TileOpKernel kernel;
//   TileKernelEmission *e = tileOpKernelBegin(&kernel, &structured, epilogue, "matmul");
//   … tileKernelStore(e, output, tileKernelResult(e, sum));     // or tileKernelBuildNode(e, …)
//   tileKernelEnd(e);
#pragma once

#include "lib/analysis/group/group_graph.h"
#include "lib/conversion/linalg_to_tile/kernel.h"

typedef struct TileGroupValues {
  MlirValue of[MaxGroupNodes][MaxOperands]; // by node and output; null: not computed here
  // What is made once ahead of loops: of a product its factors from outside, of a softmax the rows' maxima and sums.
  MlirValue ahead[MaxGroupNodes][2];
} TileGroupValues;

// A product that makes its factors itself: a left and a right matrix for the current step of its loops, whose sums are
// f32's, and the scales of both where it has some.
enum { TileMostFactors = 4 };
typedef struct TileNodeFactors {
  void (*build)(TileKernelEmission *emission, const void *data, MlirValue *factors);
  const void *data;
  uint32_t unrolled; // reductions whose steps follow each other without a loop, as bits
  int64_t block;     // elements along k that share a scale; 0: there are no scales
} TileNodeFactors;

typedef struct TileGroupEmission {
  TileGroupGraph *graph;
  TileGroupUnit unit;
  TileKernelEmission e;                                            // of the node that is computed now
  MlirValue parameters[MaxOperands + MaxCaptures], index[MaxDims]; // of the whole kernel
  bool isOp;                                                       // of one op, and of what follows it
  TileGroupValues values;
  uint32_t open;                                // walked dimensions whose loops are open
  const TileNodeFactors *factors;               // of one op; null: products take operands where they lie
  struct TileOnline *online;                    // in a node of the kind Online: the walk over its keys
  TileBodyMap given;                            // tiles that stand for arguments of the body that is built next
  MlirValue packed[MaxGroupNodes][MaxOperands]; // attention: local buffers that hold inputs from outside
} TileGroupEmission;

// The launch's operands are those of the group. The graph has blocks. Null: with the reason.
TileGroupEmission *tileGroupOpen(TileGroupGraph *graph, MlirOperation group, const char **reason);
void tileGroupBuild(TileGroupEmission *emission);

typedef struct TileOpKernel {
  TileGroupGraph graph;
  TileGroupEmission emission;
} TileOpKernel;
// The kernel of an op that has its tiles, and of the elementwise op that follows it (null: none). The emission builds
// for the op, whose output becomes the kernel's (tileGroupGraphOfOp).
TileKernelEmission *tileOpKernelBegin(TileOpKernel *kernel, TileStructured *structured, const TileEpilogue *epilogue,
                                      const char *kind);
// What the op computes as a node of this kind, and the stores of the result. `product`: of a product; else null.
// `factors`: null where a product takes operands where they lie.
void tileKernelBuildNode(TileKernelEmission *emission, TileGroupKind kind, const TileProduct *product,
                         const TileNodeFactors *factors);
// The result's tile, where the op's tile is `value`: what the nodes behind the op make of it.
MlirValue tileKernelResult(TileKernelEmission *emission, MlirValue value);
bool tileKernelIsFollowed(const TileKernelEmission *emission); // some node is behind the op

// The emission builds for this node from here on; for the group as one op.
void tileGroupEnter(TileGroupEmission *emission, int node);
void tileGroupEnterWhole(TileGroupEmission *emission);
// The tile of a node's output, which is built where it is not known here.
MlirValue tileGroupEvaluate(TileGroupEmission *emission, int node, int output);
// A factor of a product from outside as the matrix that tile.mma takes.
MlirValue tileGroupLoadMatrix(TileGroupEmission *emission, int node, int input);

// A walk along a dimension whose loop the caller makes: what the node needs and the dimension does not index is
// computed ahead; what is computed inside is forgotten at the end.
typedef struct TileGroupWalk {
  TileGroupValues outer;
  MlirValue index[MaxDims];
  uint32_t open;
} TileGroupWalk;
void tileGroupOpenWalk(TileGroupEmission *emission, int node, int dim, TileGroupWalk *walk);
void tileGroupCloseWalk(TileGroupEmission *emission, const TileGroupWalk *walk);

MlirValue tileGroupBuildOnline(TileGroupEmission *emission, int node); // online_softmax.c
