// Which ops of a block must stay in order, by the values and the memory that they use.
//
//   TileLaunchOrder order = tileLaunchOrderOf(block);
//   for (intptr_t i = 0; i < order.count; ++i)
//     … order.steps[i].depth …                      // launches on the longest path to the op
//   tileLaunchOrderFree(&order);
//
// Expects: a block of a host function on buffers. An op with regions is one step with what all ops in it do. Two steps
// are in order if one uses a value of the other, or if both access memory that may be one and one of them writes it. An
// op that does not say what it does is in order with all others. Memory: an allocation that no other value may stand
// for overlaps nothing else; views of one memory by constant sizes overlap where their boxes do.
// Cost: linear in the ops and the pairs in order; accesses of one memory that do not overlap are compared in pairs.
#pragma once

#include "lib/ir/support.h"
#include "lib/ir/table.h"

typedef struct TileStep {
  MlirOperation op;
  int64_t depth;
  intptr_t count; // of `before`: steps that must be done before, ascending or not, some more than once
  intptr_t *before;
} TileStep;

typedef struct TileLaunchOrder {
  TileStep *steps; // the block's ops without its terminator
  intptr_t count;
  TileTable numbers; // of ops: their step, counted from 1
} TileLaunchOrder;

TileLaunchOrder tileLaunchOrderOf(MlirBlock block);
void tileLaunchOrderFree(TileLaunchOrder *order);
// The step of the op or of the op of the block around it; -1: it is in another block.
intptr_t tileLaunchOrderStepOf(const TileLaunchOrder *order, MlirOperation op);

// Puts the block's ops in an order in which each set of steps is one step: nodes[i] is the last step of the set of step
// i, or i. Only the last op of a set is moved; the others stay ahead of all, for the caller to remove. No path may
// leave a set and come back. Else the ops keep their order.
void tileLaunchOrderContract(const TileLaunchOrder *order, const intptr_t *nodes);

// Whether the memory of two memrefs may be one, in part. Null: any memory.
bool tileMemoryMayOverlap(MlirValue a, MlirValue b);
// The allocation is seen whole: no value but views of it stands for its memory.
bool tileAllocationIsPrivate(MlirOperation alloc);
