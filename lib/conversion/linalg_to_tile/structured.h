// What convert-linalg-to-tile knows of one linalg op: a loop nest over dimensions d0, d1, …, each parallel or a
// reduction, and how every operand is indexed by them.
//
//   TileStructured s;
//   if (tileStructuredRead(op, &s)) … s.dims[0].isReduction, s.operands[1].results[0] …
//
// Only what a tile can hold is read: maps whose results are single dimensions or constants (no i + j), bodies of
// elementwise arith and math ops. Everything else stays linalg.
#ifndef TESSERA_CONVERSION_LINALG_TO_TILE_STRUCTURED_H
#define TESSERA_CONVERSION_LINALG_TO_TILE_STRUCTURED_H

#include "lib/ir/builder.h"
#include "lib/ir/support.h"

// A body larger than MaxBodyValues operands and operations stays linalg.
enum { MaxDims = 8, MaxOperands = 16, MaxCaptures = 8, MaxBodyValues = 1024 };

typedef struct TileDim {
  bool isReduction;
  int64_t extent;      // mlirShapedTypeGetDynamicSize() when unknown
  int64_t tile;        // chosen size; 1: one index at a time
  int64_t panels;      // tiles one program takes along it
  int axis;            // axis of the iteration tile, or -1 when tile == 1
  int operand, result; // an operand's dimension that has this extent
} TileDim;

typedef struct TileOperand {
  MlirValue value; // tensor or scalar on the host
  bool isTensor;
  int rank;
  int results[MaxDims]; // dimension that indexes axis i, or -1 for the constant
  int64_t constants[MaxDims];
  MlirAttribute initial; // outputs: the constant every element starts from; null: read it from memory
} TileOperand;

typedef struct TileStructured {
  MlirOperation op;
  MlirBlock body;
  int numDims, numInputs, numOutputs; // operands: inputs first
  TileDim dims[MaxDims];
  TileOperand operands[MaxOperands];
  int numCaptures;
  MlirValue captures[MaxCaptures]; // scalars from outside that the body uses
} TileStructured;

// False if `op` is not a linalg.generic on tensors that fits (no diagnostic: it then takes another way).
bool tileStructuredRead(MlirOperation op, TileStructured *structured);
bool tileStructuredHasReduction(const TileStructured *structured);
// True if the body asks for the position of its element (linalg.index).
bool tileStructuredUsesIndex(const TileStructured *structured);

#endif
