// Operands of launches at places that data decide, such as a row of a table: their views become part of the kernel.
//
//   %row = memref.subview %x[%i, 0] [1, 24] [1, 1]           tile.launch @k_0 ins(%x, %slot_of_i) outs(%y)
//   tile.launch @k ins(%row) outs(%y)                   →    tile.kernel @k_0(%x, %slot, %y): loads %i from the slot,
//                                                              takes the row, then as @k
//
// All operands of the launch then lie at known places, so lanes can go through it (launch_program.h). A place outside
// of the memory is found where the kernel accesses it, as for other kernels.
#pragma once

#include "lib/ir/builder.h"

// A launch that is to be made.
typedef struct TileDataLaunch {
  MlirOperation kernel; // not part of the module yet; becomes part of it
  const char *name;     // that it gets
  intptr_t numGrid, numInputs, numOutputs;
  const MlirValue *grid, *operands; // operands: inputs, then outputs
  MlirAttribute overwrites;         // of the launch that this one replaces, or null
} TileDataLaunch;

// Asked for a scalar that decides about a place: the buffer of one i64 that holds it.
typedef MlirValue TileSlotOf(void *userData, MlirValue scalar);
typedef void TileScalarVisit(void *userData, MlirValue scalar);
typedef void TileOpVisit(void *userData, MlirOperation op);

bool tileDataPlaceIs(MlirValue memref); // its place is not known to the compiler
// Why a kernel cannot find the place by itself; null: it can. Views that the place depends on stand in `flow`.
const char *tileDataPlaceWhyStays(MlirValue memref, MlirOperation flow);
// The elements lie side by side, wherever they begin.
bool tileDataPlaceIsContiguous(MlirValue memref);
// Calls visit for each scalar that decides about the place and is no constant.
void tileDataPlaceVisit(MlirValue memref, TileScalarVisit *visit, void *userData);
// The contiguous elements as one dimension: a view of `line`, which is the memory of known place as one dimension. The
// arithmetic of its offset is built in front of the view; `visit` gets each of these ops that is no constant.
MlirValue tileDataPlaceLine(TileBuilder *b, MlirValue memref, MlirValue line, TileOpVisit *visit, void *userData);
MlirValue tileDataPlaceBase(MlirValue memref); // the memory of known place that it views
// Makes the kernel and its launch. False after a diagnostic.
bool tileDataPlaceLaunch(TileBuilder *host, MlirOperation module, const TileDataLaunch *launch, TileSlotOf *slotOf,
                         void *userData);
