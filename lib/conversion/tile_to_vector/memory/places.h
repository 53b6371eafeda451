// Places of gathers, scatters and atomics: what a data-dependent op reaches, element by element.
#pragma once

#include "lib/conversion/tile_to_vector/lowering.h"

typedef struct VecReached {
  MlirOperation op;
  MlirValue base;    // view, memref, or addresses; in the kernel
  intptr_t first;    // operand number of the first index
  VecAccess *access; // null: addresses
  bool isView;       // else every dimension of `access` is numbered, one element wide
  MlirType element;
} VecReached;

typedef struct VecPlace {
  const VecReached *reached;
  VecAccess access;           // one element
  MlirValue address;          // i64
  MlirValue numbered, inside; // the numbers, and all dimensions, are inside; null: always
} VecPlace;

// Completes `reached`, whose op, base, element and first index are known; false after a diagnostic.
bool vecReach(VecLowering *lowering, VecReached *reached);
VecPlace vecPlaceReached(VecBody *body, const VecReached *reached, const VecCoord *coords);
// Where a number is outside the program fails; what follows must not reach there all the same (Place.inside).
void vecTrapOutside(VecLowering *lowering, const VecPlace *place);
MlirValue vecPlaceLoad(VecLowering *lowering, const VecPlace *place);
void vecPlaceStore(VecLowering *lowering, const VecPlace *place, MlirValue value);
// The integer in memory that holds an element, from bit `shift` (a `word`; null: 0) on.
typedef struct VecCell {
  MlirValue pointer; // !llvm.ptr
  MlirType word;
  MlirValue shift;
} VecCell;
VecCell vecPlaceCell(TileBuilder *builder, const VecPlace *place);

// Gathers that read where they stand: from addresses, under a mask with bounds(trap), dropping with an `other`.
bool vecGathersNow(MlirOperation gather);
bool vecGatherNow(VecLowering *lowering, MlirOperation gather);
// Fails where a number of a gather with bounds(trap) is outside.
bool vecTrapNumbers(VecLowering *lowering, MlirOperation gather);

// Elements in words that the machine's atomics know: 8, 16, 32 or 64 bits. False after a diagnostic.
bool vecExpectAtomic(const VecReached *reached);
// The element of `access` at `coords`, which are inside: combined with `value`, as other instances may do too.
void vecCombineInMemory(TileBuilder *builder, const VecAccess *access, const VecCoord *coords, MlirStringRef kind,
                        MlirValue value);
// Combines with memory in one step; `kind` is a combination of tile.scatter or a kind of tile.atomic_rmw.
MlirValue vecCombineAtomically(TileBuilder *builder, MlirStringRef kind, MlirStringRef order, const VecCell *cell,
                               MlirValue value);
