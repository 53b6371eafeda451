// A matrix product being lowered: what mma.c (blocks, loops) and dot.c (steps of several k) share.
#ifndef TESSERA_CONVERSION_TILE_TO_VECTOR_MMA_H
#define TESSERA_CONVERSION_TILE_TO_VECTOR_MMA_H

#include "dialects/tile/questions.h"
#include "lib/conversion/tile_to_vector/lowering.h"

typedef struct Mma {
  Lowering *lowering;
  Record *lhs, *rhs, *accumulator;
  MlirType element;  // of the result
  intptr_t batch;    // leading dimensions
  Coord at[MaxRank]; // batch coordinates
  int64_t rows, columns, depth;
  int64_t group;         // k per step
  const TileDot *dot;    // null: multiply-adds
  bool isAlongDepth;     // lanes along k; rhs by columns
  const Access *grouped; // of rhs: its axis k counts groups, whose members are neighbours in memory
} Mma;

typedef struct Block {
  Coord row, column;
  int64_t rows, vectors, width, lastWidth; // width of all vectors but the last of a row
  MlirValue values[MaxRegisters];
} Block;

void mmaCoords(const Mma *mma, Coord row, Coord column, Coord *coords);

// True, with operands ready, where the product takes groups along k: it names a dot instruction, or its right operand
// lies as one wants it.
bool prepareGroups(Mma *mma, MlirOperation op, Record *lhs, Record *rhs);
void stepGroup(const Mma *mma, Block *block, Coord group); // values += one group's products

#endif
