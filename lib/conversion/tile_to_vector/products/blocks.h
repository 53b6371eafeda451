// A matrix product being lowered: what products/blocks.c (blocks, loops) and products/groups.c (steps of several k)
// share.
#pragma once

#include "dialects/tile/questions.h"
#include "lib/conversion/tile_to_vector/lowering.h"

typedef struct VecMma {
  VecLowering *lowering;
  VecRecord *lhs, *rhs, *accumulator;
  MlirType element;     // of the result
  intptr_t batch;       // leading dimensions
  VecCoord at[MaxRank]; // batch coordinates
  int64_t rows, columns, depth;
  int64_t group;            // k per step
  const TileDot *dot;       // null: multiply-adds
  bool isAlongDepth;        // lanes along k; rhs by columns
  const VecAccess *grouped; // of rhs: its axis k counts groups, whose members are neighbours in memory
} VecMma;

typedef struct VecBlock {
  VecCoord row, column;
  int64_t rows, vectors, width, lastWidth; // width of all vectors but the last of a row
  MlirValue values[MaxRegisters];
} VecBlock;

void vecMmaCoords(const VecMma *mma, VecCoord row, VecCoord column, VecCoord *coords);

// True, with operands ready, where the product takes groups along k: it names a dot instruction, or its right operand
// lies as one wants it.
bool vecPrepareGroups(VecMma *mma, MlirOperation op, VecRecord *lhs, VecRecord *rhs);
// Adds up the two sums that FP16 arithmetic has for each column.
MlirValue vecSumOfHalves(const VecMma *mma, MlirValue sums);
void vecStepGroup(const VecMma *mma, VecBlock *block, VecCoord group); // values += one group's products
