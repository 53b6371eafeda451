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
  bool isUnsigned[2];       // left and right integers
  bool isAlongDepth;        // lanes along k; rhs by columns
  const VecAccess *grouped; // of rhs: its axis k counts groups, whose members are neighbours in memory
  VecTileShape tiles;       // of a dot by tile registers
  bool isBiased, isSwapped; // vpdpbusd, beside an instruction on tile registers: see products/groups.c
} VecMma;

typedef struct VecBlock {
  VecCoord row, column;
  int64_t rows, vectors, width, lastWidth; // width of all vectors but the last of a row
  bool hasBias;                            // behind the last row stands one for what biased left factors add
  MlirValue values[MaxRegisters];
} VecBlock;

void vecMmaCoords(const VecMma *mma, VecCoord row, VecCoord column, VecCoord *coords);

// True, with operands ready, where the product takes groups along k: it names a dot instruction, or its right operand
// lies as one wants it.
bool vecPrepareGroups(VecMma *mma, MlirOperation op, VecRecord *lhs, VecRecord *rhs);
// Calls `visit` for blocks of `size` along an axis of `total`, then for the rest.
typedef void (*VecBlockVisitor)(const VecMma *mma, const VecAccess *target, VecCoord outer, int64_t outerSize,
                                VecCoord at, int64_t size);
void vecEachBlock(const VecMma *mma, const VecAccess *target, int64_t total, int64_t size, VecCoord outer,
                  int64_t outerSize, VecBlockVisitor visit);
// Products on tile registers (products/tiles.c), of operands that vecPrepareGroups has made ready. False, nothing
// emitted, where the shape does not suit the registers.
bool vecPrepareTiles(VecMma *mma);
MlirValue vecMayUseTiles(const VecMma *mma);                       // i1: this process may
void vecBeginTiles(VecMma *mma, const VecAccess *target);          // brings the sums' start values into `target`
void vecMultiplyTiles(const VecMma *mma, const VecAccess *target); // target += lhs * rhs, of one batch
void vecEndTiles(VecMma *mma);
// Adds up the two sums that FP16 arithmetic has for each column.
MlirValue vecSumOfHalves(const VecMma *mma, MlirValue sums);
MlirValue vecMultiplyAdd(const VecMma *mma, MlirValue a, MlirValue b, MlirValue c); // a * b + c
void vecStepGroup(const VecMma *mma, VecBlock *block, VecCoord group);              // values += one group's products
