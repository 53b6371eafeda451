// One element in memory: what gather, scatter, the atomics and packed views act on. It is a stored element of its own,
// or some bits of a word that others share (packed.c).
//
//   GpuCell cell = gpuCell(g, address, f32);                 // or gpuPackedCell, gpuPlaceOf(…).cell
//   gpuCellStore(g, &cell, inside, value);                   // of shared bits: atomically
//   MlirValue old = gpuCellUpdate(g, &cell, relaxed, ArithOp_AddI, value);
#pragma once

#include "lib/conversion/tile_to_gpu/engine.h"
#include "lib/ir/emit/atomic.h"

typedef struct GpuCell {
  MlirValue address;
  MlirType element, word; // word: what memory holds there, an integer where shift is given
  MlirValue shift;        // of the word's type: where in it the element's bits begin; null: the word is the element
} GpuCell;

typedef struct Ordering {
  LlvmAtomicOrdering order;
  const char *scope; // LLVM's
} Ordering;
Ordering gpuRelaxed(Gpu *g); // on the device

GpuCell gpuCell(Gpu *g, MlirValue address, MlirType element);
// For the element at `positions` (index, by axis of the view, in its elements): packed or not.
// `rest`: elements behind that, of a view that is not packed.
GpuCell gpuCellInView(Gpu *g, const View *view, const MlirValue *positions, MlirValue rest);
// Where `condition` holds (null: always); elsewhere `otherwise`.
MlirValue gpuCellLoad(Gpu *g, const GpuCell *cell, MlirValue condition, MlirValue otherwise);
// A load in two steps, for several elements of one word: the word (0 elsewhere), and an element of it.
MlirValue gpuCellLoadWord(Gpu *g, const GpuCell *cell, MlirValue condition);
MlirValue gpuCellElement(Gpu *g, const GpuCell *cell, MlirValue word, MlirValue condition, MlirValue otherwise);
void gpuCellStore(Gpu *g, const GpuCell *cell, MlirValue condition, MlirValue value);
// Whether memory can be told to do it by one instruction of LLVM: the element is the whole word, an integer or float
// of 8, 16, 32 or 64 bits that is no 8-bit float.
bool gpuCellIsPlain(const GpuCell *cell);
// By a loop of compare-and-swap on the word. The new value is `op` (an op of arith on two; TileUpstream_None: `value`)
// of the old one and `value`; with `expected`, `value` where the old one has expected's bits. Returns the old value.
MlirValue gpuCellUpdate(Gpu *g, const GpuCell *cell, Ordering ordering, TileUpstream op, MlirValue expected,
                        MlirValue value);
// If several threads store to one place, one whole value stays; the order is open.
void gpuCellStoreOneOf(Gpu *g, const GpuCell *cell, MlirValue value);
TileWord gpuCellWord(const GpuCell *cell, Ordering ordering); // as an integer
