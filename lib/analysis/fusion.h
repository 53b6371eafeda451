// Which ops one kernel can compute: questions that the pass that writes tile.group and the conversion that makes a
// kernel of it ask alike.
#pragma once

#include "lib/analysis/structured.h"

//===--- an elementwise op behind a product or a reduction ------------------===//

// An elementwise op that takes a producer's result as its argument: the second node of its kernel's group graph.
typedef struct TileEpilogue {
  const TileStructured *elementwise;
  int argument;
} TileEpilogue;

// All dimensions are parallel; one output, which is not read; operands by plain maps.
bool tileStructuredIsMap(const TileStructured *structured);
// True if the op may run on finished tiles of another: such a map that asks for no positions.
bool tileEpilogueCanFollow(const TileStructured *elementwise);
// Reads the op that makes input `index`, if nothing else uses it, it stands in the same block, and the dimensions of
// both correspond one to one.
bool tileEpilogueRead(const TileStructured *elementwise, int index, TileStructured *producer, TileEpilogue *epilogue);
// Finds the product, else the reduction, whose kernel can compute the elementwise op too. It starts from a constant.
bool tileEpilogueFind(const TileStructured *elementwise, TileStructured *producer, TileEpilogue *epilogue);

// The source of an operand that a map of one input makes: a copy (a transpose or a broadcast) or, unless `isCopy`, a
// rounding.
bool tileOperandSource(const TileOperand *operand, const TileTarget *target, bool isCopy, TileOperand *source);

//===--- an elementwise op behind a launch, a fill before one ---------------===//

// What a kernel does with an output. Its kernel says where others may join:
//   tile.final     on a store (tile.store, memref.store): each element of that output is stored by exactly one such
//                  store, as its last value, and not read after it
//   tile.initial   on a load (tile.load, memref.load): what the output held before the launch
typedef struct TileOutputUses {
  MlirValue parameter;
  TileOps stores, loads; // marked ones
  bool isRead;           // by a load that is not marked
  bool isPlain;          // nothing else is done with it that matters here
} TileOutputUses;
TileOutputUses tileOutputUses(MlirOperation kernel, intptr_t parameter); // freed by tileOutputUsesFree
void tileOutputUsesFree(TileOutputUses *uses);

// A launch with one output of a kernel that can be copied with more parameters.
typedef struct TileJoinedLaunch {
  MlirOperation op, kernel, reshape; // reshape: between a column and its vector, after or before the launch; or null
  intptr_t grid, inputs;
} TileJoinedLaunch;

// The elementwise op may run on what a launch stores in place of input `argument`, or of what its output holds.
bool tileJoinCanFollow(const TileStructured *elementwise, int argument);
// The launch that makes input `argument` of the elementwise op (or, of an op without inputs, what its output holds)
// and whose kernel can compute the op on the values it stores.
bool tileJoinFindLaunch(const TileStructured *elementwise, int *argument, TileJoinedLaunch *launch);
// `user` of the op's result (or of it as a column) is a launch whose kernel can start from the scalar, a value of the
// host, that the op fills its result with.
bool tileJoinFindFill(const TileStructured *fill, MlirOperation user, MlirValue *scalar, TileJoinedLaunch *launch);
