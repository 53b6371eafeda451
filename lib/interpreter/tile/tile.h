// The meanings of the Tile ops, one function each, by the table in tile.c; what the files tile_*.c share.
#pragma once

#include "dialects/tile/tile.h"
#include "lib/interpreter/machine/machine.h"
#include "lib/interpreter/tile/asynchronous.h"
#include "lib/interpreter/tile/packing.h"

// The meaning of each op of ops.def is interpretTile<CName>. The linker finds an op without one.
#define HOOKS(...)
#define TESSERA_OP(cname, ...)                                                                                         \
  bool interpretTile##cname(Machine *machine, Frame *frame, const Instruction *instruction);
#include "dialects/tile/ops.def"
#undef TESSERA_OP
#undef HOOKS

//===--- places in memory (tile_places.c) ---------------------------------------===//

typedef enum Bounds { BoundsPad, BoundsTrap, BoundsClamp, BoundsDrop } Bounds;

// What an op reaches and how it indexes it: a view (tile indices, or tiles of element numbers), a memref (an index per
// dimension), a tile of addresses, a buffer (whole), or a tile.
typedef struct Reach {
  Machine *machine;
  const Instruction *instruction;
  InterpretValue base;
  int count;
  InterpretValue indices[InterpreterMaxRank];
  Bounds bounds;
  const Format *format; // of what lies at addresses; null: no addresses
} Reach;

typedef struct InterpretPlace {
  Storage *storage; // null: outside; reads give the padding, writes nothing
  int64_t at;
  const InterpretPacking *packing; // not null: element `position` of the word there
  int position;
  const Format *stored, *seen; // not null: the memory's elements are another type of the same width
} InterpretPlace;

Element interpretPlacePeek(const InterpretPlace *place); // what is there, missing or not
bool interpretPlaceTouch(Machine *machine, const Instruction *instruction, const InterpretPlace *place,
                         AccessKind kind);
bool interpretPlaceRead(Machine *machine, const Instruction *instruction, const InterpretPlace *place, Element *x);
bool interpretPlaceWrite(Machine *machine, const Instruction *instruction, const InterpretPlace *place, Element x);
void interpretPlacePut(const InterpretPlace *place, Element x); // without any check

Reach interpretReachOf(Machine *machine, const Frame *frame, const Instruction *instruction, intptr_t base,
                       intptr_t begin, intptr_t count);
// Where element `index` of the tile lies; `number` is its row-major position.
bool interpretReachPlace(const Reach *reach, const int64_t *index, int64_t number, InterpretPlace *place);
Element interpretReachPadding(const Reach *reach); // of a view; else missing
// Reads the tile that the type of the array says.
bool interpretReachRead(const Reach *reach, Array *to);
bool interpretReachWrite(const Reach *reach, const Array *from);

// Combines an element with memory, atomically (store, scatter): `terms` bounds how many are combined there.
bool interpretCombineAt(Machine *machine, const Instruction *instruction, const char *operation, const Format *format,
                        InterpretPlace place, Element x, double terms, Element *old);
// What `add`, `max`, … of an attribute mean on a format: a row of arith; null for an exchange.
const Row *interpretCombineRow(MlirStringRef kind, const Format *format);

//===--- numbers of attributes ----------------------------------------------------===//
int64_t interpretIntegerOf(const Instruction *instruction, const char *name);
int64_t interpretNumberIn(const Instruction *instruction, const char *name, intptr_t index); // of an i64 array
intptr_t interpretCountIn(const Instruction *instruction, const char *name);                 // 0 when absent
MlirStringRef interpretWordOf(const Instruction *instruction, const char *name);             // empty when absent
bool interpretHasAttribute(const Instruction *instruction, const char *name);
// A tile as an array: a scalar becomes one of rank 0. The caller releases it.
Array *tileOperand(Machine *machine, const Frame *frame, const Instruction *instruction, intptr_t index);
// Every element of the tile is a number, or an error.
bool interpretExpectNumbers(Machine *machine, const Instruction *instruction, const Array *array);
// acc + lhs * rhs, [batch,] M x K times K x N: what mma and mma_async share. `scales`: lhs's and rhs's, or nulls.
Array *interpretMultiplied(Machine *machine, const Instruction *instruction, const Array *lhs, const Array *rhs,
                           const Array *accumulator, const Array *const *scales, int64_t block);
