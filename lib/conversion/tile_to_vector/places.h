// Places of gathers, scatters and atomics: what a data-dependent op reaches, element by element.
#ifndef TESSERA_CONVERSION_TILE_TO_VECTOR_PLACES_H
#define TESSERA_CONVERSION_TILE_TO_VECTOR_PLACES_H

#include "lib/conversion/tile_to_vector/lowering.h"

typedef struct Reached {
  MlirOperation op;
  MlirValue base; // view, memref, or addresses; in the kernel
  intptr_t first; // operand number of the first index
  Access *access; // null: addresses
  bool isView;    // else every dimension of `access` is numbered, one element wide
  MlirType element;
} Reached;

typedef struct Place {
  const Reached *reached;
  Access access;              // one element
  MlirValue address;          // i64
  MlirValue numbered, inside; // the numbers, and all dimensions, are inside; null: always
} Place;

// Fills `out` for `base` at the op's `indices`; false after a diagnostic.
bool reach(Lowering *lowering, MlirOperation op, MlirValue base, MlirType element, Reached *out);
Place placeReached(Body *body, const Reached *reached, const Coord *coords);
// Where a number is outside the program fails; what follows must not reach there all the same (Place.inside).
void trapOutside(Lowering *lowering, const Place *place);
MlirValue placeLoad(Lowering *lowering, const Place *place);
void placeStore(Lowering *lowering, const Place *place, MlirValue value);
// The integer in memory that holds an element, from bit `shift` (a `word`; null: 0) on.
typedef struct Cell {
  MlirValue pointer; // !llvm.ptr
  MlirType word;
  MlirValue shift;
} Cell;
Cell placeCell(TileBuilder *builder, const Place *place);

// Gathers that read where they stand: from addresses, under a mask with bounds(trap), dropping with an `other`.
bool gathersNow(MlirOperation gather);
bool gatherNow(Lowering *lowering, MlirOperation gather);
// Fails where a number of a gather with bounds(trap) is outside.
bool trapNumbers(Lowering *lowering, MlirOperation gather);

// Elements in words that the machine's atomics know: 8, 16, 32 or 64 bits. False after a diagnostic.
bool expectAtomic(const Reached *reached);
// The element of `access` at `coords`, which are inside: combined with `value`, as other instances may do too.
void combineInMemory(TileBuilder *builder, const Access *access, const Coord *coords, MlirStringRef kind,
                     MlirValue value);
// Combines with memory in one step; `kind` is a combination of tile.scatter or a kind of tile.atomic_rmw.
MlirValue combineAtomically(TileBuilder *builder, MlirStringRef kind, MlirStringRef order, const Cell *cell,
                            MlirValue value);
#endif
