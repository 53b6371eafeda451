// Which elements of memory one instruction may move, and how a fragment is best read from shared memory: pure questions
// about a scheduled kernel. tile-choose-accesses writes the answers into the kernel, and the conversions to GPUs ask
// again whether what an op says is allowed.
// Expects: kernels in which every tile has a layout; tile-plan-shared-memory has placed the buffers. Leaves: numbers.
//
//   TileRuns runs = tileRunsInMemory(load, tileLoadOpGetSource(load));     // what the memory allows
//   int64_t vector = tileWidestRun(&runs, type, &layout, NULL);            // what the layout of the tile leaves of
//   that
#pragma once

#include "lib/capi/common.h"
#include "lib/layout/access.h"

struct TileMachine;
struct TileMachineAtom;
struct TileDescriptorPlan;

enum { TileWidestAccess = 16 }; // bytes of the widest instruction of any GPU

//===--- views ----------------------------------------------------------------------------------------===//

// Elements that lie side by side in memory, from coordinates of the tile that are multiples of `length`: aligned, and
// never half outside.
typedef struct TileRuns {
  intptr_t axis;  // of the tile; -1: none
  int64_t length; // elements, a power of two; 1 where there is no axis
} TileRuns;

// For the tile that the indices of `access` name; `memory` is a view or a slice of a buffer.
TileRuns tileRunsInMemory(MlirOperation access, MlirValue memory);
// Elements of a run that one thread holds in registers, for a tile of the view. `slots` (null: not wanted) receives the
// register bits: the i-th moves by 2^i elements.
int64_t tileWidestRun(const TileRuns *runs, MlirType view, const TileLayout *layout, uint32_t *slots);

//===--- buffers --------------------------------------------------------------------------------------===//

// How far the layout of the buffer reaches along each axis: as far as its shape, or beyond. Returns the rank.
uint32_t tileBufferExtents(MlirType buffer, const TileLayout *layout, int64_t *extents);

// Whether a load from a buffer may be carried out step by step, just before the product that takes it as a factor:
// nothing between the two ends a copy, lets other warps go on, or writes memory.
bool tileMayLoadLate(MlirOperation load);

// Reading and writing by matrices of 8x8 elements. `third`: the bit of registers that counts pairs of matrices of one
// instruction; 2 is the order of the layout.
typedef struct TileMatrixPlan {
  TileMatrixAccess access;
  TileLayout rows; // where a row lies whose address a lane holds, as a layout of offsets
  uint32_t third;
} TileMatrixPlan;
// For a fragment in `layout` that `access`, a load or store, moves between registers and a buffer whose offsets are
// `memory`. False where the machine has no such instruction, or the layouts do not allow it; also for a store of
// elements that several threads have.
bool tilePlanMatrices(const struct TileMachine *machine, MlirOperation access, MlirType buffer,
                      const TileLayout *memory, const TileLayout *layout, uint32_t third, TileMatrixPlan *plan);
// The third bit that serves a late load best: where the layout's order would bring fragments of two steps of the
// product, one that brings two of the same step.
uint32_t tileThirdBitOf(const struct TileMachine *machine, MlirOperation load);

//===--- copies ---------------------------------------------------------------------------------------===//

// Elements of the longest piece that both sides of a tile.copy or tile.copy_async move at once; 1 for a slice of a
// buffer.
int64_t tilePieceOfCopy(MlirOperation copy);
// The offsets of the copy's buffer dealt out to threads: `vector` elements each, then lanes, warps, and rounds of
// registers. False where an odd factor stands in the way.
bool tileDealOutCopy(MlirOperation copy, int64_t vector, uint32_t lanes, uint32_t warps, TileLayout *layout);
// Whether the machine's cp.async can carry out the copy in pieces of `vector` elements.
bool tileCopiesAsynchronously(const struct TileMachine *machine, MlirOperation copy, int64_t vector);

// The op is a tile.copy_async by an engine that copies boxes of tensors (TMA); null: no.
bool tileIsCopyOfBoxes(MlirOperation op);
// Whether an engine that copies boxes of tensors (TMA) can take tiles of the tile.view: the memory is a parameter of
// the kernel as it came, contiguous and aligned for all that is known, and a tile is neighbours. An error says why not.
bool tileSuitsBoxEngine(const struct TileMachine *machine, MlirOperation view, TileError *error);
// How the atom's instruction (wgmma) finds a factor of the product in shared memory: `side` 0 is the left one, whose
// rows are m, 1 the right one, whose rows are n. An error says why the layout does not suit it.
bool tilePlanFactorDescriptor(const struct TileMachineAtom *atom, int side, MlirType tile, const TileLayout *layout,
                              struct TileDescriptorPlan *plan, TileError *error);
// Elements along each axis of a box at most.
uint32_t tileLargestBox(const struct TileMachine *machine);
