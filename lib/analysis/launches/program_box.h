// Which elements of a parameter one program of a kernel reads and writes.
//
//   TileProgramPlace place = {.kernel = kernel, .grid = {8, 4, 1}, .ids = {3, 0, 0}};
//   TileProgramBox box = tileProgramBoxOf(&place, 0, false);   // what program (3, 0) reads of the first parameter
//
// Expects: a kernel at kernel level, of one block. Leaves: a box that holds all elements; `isKnown` is false where an
// access is no view, load or store at places that follow from the program's numbers and the bounds of loops. Branches
// that this program does not take are left out.
// Cost: a walk over the uses of the parameter, and over what their indices are made of.
#pragma once

#include "lib/ir/support.h"

enum { TileProgramBoxRank = 8 };

typedef struct TileProgramPlace {
  MlirOperation kernel;
  int64_t grid[3], ids[3];
} TileProgramPlace;

typedef struct TileProgramBox {
  bool isKnown, isEmpty;
  intptr_t rank;
  int64_t first[TileProgramBoxRank], end[TileProgramBoxRank]; // of the parameter's dimensions, cut at its sizes
} TileProgramBox;

TileProgramBox tileProgramBoxOf(const TileProgramPlace *place, intptr_t parameter, bool isWrite);
