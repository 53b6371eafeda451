// Which register of an operand holds the element that a register of the result wants. Where the answer is the same in
// every lane and warp, the op renames registers; elsewhere its elements go through shared memory.
//
//   intptr_t *table = malloc(registersOfResult * sizeof *table);
//   if (tileMovesOf(op, 0, 0, lanes, warps, table)) … result[r] = operand[table[r]]; -1: no element of this operand …
#pragma once

#include "lib/capi/common.h"
#include "lib/layout/layout.h"

// For two layouts of one tile: entry r of `table` (null: not wanted) is the register of `from` that holds the element
// of register r of `to`. False if that register differs between threads.
bool tileMovesBetween(const TileLayout *from, const TileLayout *to, uint32_t lanes, uint32_t warps, intptr_t *table);

// As above, for an operand of an op that moves elements: broadcast, transpose, reshape, slice, insert, cat, bitcast and
// the products of the atom fma. `part`: of a bitcast to wider elements, which of the narrow ones; of a product, the
// step along k. False also where the op has dynamic offsets.
bool tileMovesOf(MlirOperation op, intptr_t operand, int64_t part, uint32_t lanes, uint32_t warps, intptr_t *table);

// A tile.insert at offset 0 whose tiles all have one layout: each register is that of the part if the part has its
// element, else that of the destination. This may depend on the thread.
bool tileInsertsInPlace(MlirOperation insert);

// How many elements of the wider type one of the narrower type is apart: the factor between the widths of a bitcast.
typedef struct TileCast {
  bool narrows;   // the result's elements are the narrower ones
  int64_t factor; // 0: neither width is a power of two times the other
} TileCast;
TileCast tileCastOf(MlirOperation bitcast);
