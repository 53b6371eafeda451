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
