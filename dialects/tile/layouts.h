// What an op demands of the layouts of its tiles and buffers, and layouts over more warps. All hold trivially where a
// layout is missing: that a kernel has either all layouts or none is checked once, in verify_kernel.c.
#pragma once

#include "lib/capi/common.h"

// reduce, broadcast: `narrow` has the layout of `wide` with the op's `axes` freed, and no data moves.
bool tileExpectFreedLayout(MlirOperation op, MlirValue wide, MlirValue narrow);
// transpose: `result` has the layout of `source` with axes in the op's `permutation`.
bool tileExpectPermutedLayout(MlirOperation op, MlirValue result, MlirValue source);
// reshape: `result` has the layout of `source` seen in its own shape, row-major. Where the change of shape is not
// linear (5x48 to 24x10) there is no such layout: any will do, and the elements move.
bool tileExpectReshapedLayout(MlirOperation op, MlirValue result, MlirValue source);

// Gives each tile in `root` a layout over `warps` warps, a power of two: the warps that it did not have hold copies.
// Tiles without a layout, and layouts over as many warps or more, stay. No element changes its thread.
void tileCopyTilesToWarps(MlirOperation root, int64_t warps);
