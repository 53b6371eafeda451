// The meanings of the Tile ops, one function each, by the table in tile.c; what the files tile_*.c share.
#ifndef TESSERA_INTERPRETER_TILE_H
#define TESSERA_INTERPRETER_TILE_H

#include "dialects/tile/tile.h"
#include "lib/interpreter/asynchronous.h"
#include "lib/interpreter/machine.h"
#include "lib/interpreter/packing.h"

#define TILE_MEANINGS(X)                                                                                               \
  X(executeTileCall)                                                                                                   \
  X(executeTileReturn)                                                                                                 \
  X(executeTileLaunch)                                                                                                 \
  X(executeTileGroup)                                                                                                  \
  X(executeTileTransfer)                                                                                               \
  X(executeTileProgramId)                                                                                              \
  X(executeTileNumPrograms)                                                                                            \
  X(executeTileAssume)                                                                                                 \
  X(executeTilePrint)                                                                                                  \
  X(executeTileAssert)                                                                                                 \
  X(executeTileView)                                                                                                   \
  X(executeTileNumTiles)                                                                                               \
  X(executeTileInBounds)                                                                                               \
  X(executeTileMemrefAt)                                                                                               \
  X(executeTileLoad)                                                                                                   \
  X(executeTileStore)                                                                                                  \
  X(executeTileGather)                                                                                                 \
  X(executeTileScatter)                                                                                                \
  X(executeTileAtomicRmw)                                                                                              \
  X(executeTileAtomicCas)                                                                                              \
  X(executeTileAtomicLoad)                                                                                             \
  X(executeTileAtomicStore)                                                                                            \
  X(executeTileMma)                                                                                                    \
  X(executeTileMmaSparse)                                                                                              \
  X(executeTileMmaScaled)                                                                                              \
  X(executeTileReduce)                                                                                                 \
  X(executeTileScan)                                                                                                   \
  X(executeTileSort)                                                                                                   \
  X(executeTileTopk)                                                                                                   \
  X(executeTileHistogram)                                                                                              \
  X(executeTileRandom)                                                                                                 \
  X(executeTileConvertType)                                                                                            \
  X(executeTileIota)                                                                                                   \
  X(executeTileBroadcast)                                                                                              \
  X(executeTileReshape)                                                                                                \
  X(executeTileTranspose)                                                                                              \
  X(executeTileSlice)                                                                                                  \
  X(executeTileInsert)                                                                                                 \
  X(executeTileCat)                                                                                                    \
  X(executeTileBitcast)                                                                                                \
  X(executeTileAlloc)                                                                                                  \
  X(executeTileSlot)                                                                                                   \
  X(executeTileSame)                                                                                                   \
  X(executeTileCopy)                                                                                                   \
  X(executeTileNothing)                                                                                                \
  X(executeTileCopyAsync)                                                                                              \
  X(executeTileJoin)                                                                                                   \
  X(executeTileWait)                                                                                                   \
  X(executeTileBarrierArrive)                                                                                          \
  X(executeTileBarrierWait)                                                                                            \
  X(executeTileMmaAsync)                                                                                               \
  X(executeTileWarpSpecialize)

#define X(function) bool function(Machine *machine, Frame *frame, const Instruction *instruction);
TILE_MEANINGS(X)
#undef X

//===--- places in memory (tile_places.c) ---------------------------------------===//

typedef enum Bounds { BoundsPad, BoundsTrap, BoundsClamp, BoundsDrop } Bounds;

// What an op reaches and how it indexes it: a view (tile indices, or tiles of element numbers), a memref (an index per
// dimension), a tile of addresses, a buffer (whole), or a tile.
typedef struct Reach {
  Machine *machine;
  const Instruction *instruction;
  Value base;
  int count;
  Value indices[InterpreterMaxRank];
  Bounds bounds;
  unsigned bytes; // of an element, for addresses
} Reach;

typedef struct Place {
  Storage *storage; // null: outside; reads give the padding, writes nothing
  int64_t at;
  const Packing *packing; // not null: element `position` of the word there
  int position;
} Place;

Element placePeek(const Place *place); // what is there, missing or not
bool placeTouch(Machine *machine, const Instruction *instruction, const Place *place, AccessKind kind);
bool placeRead(Machine *machine, const Instruction *instruction, const Place *place, Element *x);
bool placeWrite(Machine *machine, const Instruction *instruction, const Place *place, Element x);
void placePut(const Place *place, Element x); // without any check

Reach reachOf(Machine *machine, const Frame *frame, const Instruction *instruction, intptr_t base, intptr_t begin,
              intptr_t count);
// Where element `index` of the tile lies; `number` is its row-major position.
bool reachPlace(const Reach *reach, const int64_t *index, int64_t number, Place *place);
Element reachPadding(const Reach *reach); // of a view; else missing
// Reads the tile that the type of the array says.
bool reachRead(const Reach *reach, Array *to);
bool reachWrite(const Reach *reach, const Array *from);

// Combines an element with memory, atomically (store, scatter): `terms` bounds how many are combined there.
bool combineAt(Machine *machine, const Instruction *instruction, const char *operation, const Format *format,
               Place place, Element x, double terms, Element *old);
// What `add`, `max`, … of an attribute mean on a format: a row of arith; null for an exchange.
const Row *combineRow(MlirStringRef kind, const Format *format);

//===--- numbers of attributes ----------------------------------------------------===//
int64_t integerOf(const Instruction *instruction, const char *name);
int64_t numberIn(const Instruction *instruction, const char *name, intptr_t index); // of an i64 array
intptr_t countIn(const Instruction *instruction, const char *name);                 // 0 when absent
MlirStringRef wordOf(const Instruction *instruction, const char *name);             // empty when absent
bool hasAttribute(const Instruction *instruction, const char *name);
// A tile as an array: a scalar becomes one of rank 0. The caller releases it.
Array *tileOperand(Machine *machine, const Frame *frame, const Instruction *instruction, intptr_t index);
// Every element of the tile is a number, or an error.
bool expectNumbers(Machine *machine, const Instruction *instruction, const Array *array);
// acc + lhs * rhs, [batch,] M x K times K x N: what mma and mma_async share. `scales`: lhs's and rhs's, or nulls.
Array *multiplied(Machine *machine, const Instruction *instruction, const Array *lhs, const Array *rhs,
                  const Array *accumulator, const Array *const *scales, int64_t block);

#endif
