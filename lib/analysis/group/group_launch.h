// A launch as the first node of a group graph: the elementwise ops behind it are nodes that its kernel computes where
// it stores its last values, and a fill ahead of it is the constant that its output starts from. The pass that writes
// groups and the conversion that makes a kernel of them ask alike.
//
// The launch's kernel, which somebody wrote or which computes a sparse product, says where others may join:
//   tile.final     on a store (tile.store, memref.store): each element of that output is stored by exactly one such
//                  store, as its last value, and not read after it
//   tile.initial   on a load (tile.load, memref.load): what the output held before the launch
//
//   TileGroupLaunch launch;
//   if (tileGroupLaunchRead(op, &target, &launch)) … launch.graph.nodes[1] is the first op behind it
#pragma once

#include "lib/analysis/group/group_graph.h"

// What a kernel does with an output.
typedef struct TileOutputUses {
  MlirValue parameter;
  TileOps stores, loads; // marked ones
  bool isRead;           // by a load that is not marked
  bool isPlain;          // nothing else is done with it that matters here
} TileOutputUses;
TileOutputUses tileOutputUses(MlirOperation kernel, intptr_t parameter); // freed by tileOutputUsesFree
void tileOutputUsesFree(TileOutputUses *uses);

// A launch with one output, of a kernel that can be copied with more parameters.
typedef struct TileGroupLaunch {
  MlirOperation op, kernel;
  intptr_t grid, inputs;
  MlirOperation fill, expand; // null: its output starts from a tensor; a fill's vector may become a column
  MlirValue start;            // the scalar, a value of the host, that the fill fills its output with
  MlirOperation collapse;     // from a column to its vector, between the launch and the first op behind it; or null
  TileGroupGraph graph;       // node 0 is the launch, each other one takes the result of the node before it
} TileGroupLaunch;

// False where nothing stands around the launch that its kernel can compute.
bool tileGroupLaunchRead(MlirOperation op, const TileTarget *target, TileGroupLaunch *launch);
// A kernel of a launch can compute the op behind it.
bool tileGroupLaunchPrecedes(MlirOperation elementwise, const TileTarget *target);
// The launch's operands beside its own ones, and the numbers in it of each node's.
void tileGroupLaunchUnite(TileGroupLaunch *launch, TileGroupUnit *unit);
