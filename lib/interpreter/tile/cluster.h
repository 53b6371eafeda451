// Clusters: blocks (program instances) that run together and reach each other's buffers and barriers.
// Which of a neighbour's is meant: the one that the same tile.alloc made there, in the same turn of its loop.
// Blocks are numbered with axis 0 running fastest (docs/numerics.md §6).
#pragma once

#include "lib/interpreter/machine/machine.h"

typedef struct Allocation {
  MlirOperation op;
  InterpretValue value;
} Allocation;

typedef struct ClusterBlock {
  struct Cluster *cluster;
  int64_t position[MaxGridRank];
  Allocation *allocations; // in the order made
  int count;
  int64_t syncs; // at which it has arrived: tile.sync cluster
} ClusterBlock;

typedef struct Cluster {
  int64_t sizes[MaxGridRank];
  int count;
  ClusterBlock *blocks;
} Cluster;

// Remembers what the running block allocates; nothing outside of clusters.
bool interpretClusterNote(Machine *machine, const Instruction *instruction, InterpretValue value);
// What `block` has instead of the running block's buffer (or part of one) or barrier, with a reference of its own. The
// block runs until it has allocated it. No object after an error.
InterpretValue interpretClusterPeer(Machine *machine, const Instruction *instruction, int block, InterpretValue own);
// The blocks, in the running one's row along `axes`, that a multicast reaches; its own only, outside of clusters.
int interpretClusterRow(const Machine *machine, const Instruction *instruction, int *blocks);

// Runs a grid cluster by cluster, the blocks of each together.
bool interpretRunClusters(Machine *machine, const Instruction *instruction, const InterpretBody *body, int count,
                          const InterpretValue *arguments);
