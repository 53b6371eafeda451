// Tensors and buffers whose elements have 2 to 7 bits, as bytes in memory, and back. Rows (the last axis) begin with a
// byte, and the first element has the lowest bits.
//
//   tensor<3x5xi4>  <->  tensor<3x3xi8>      the upper half of each row's last byte is 0
#pragma once

#include "lib/ir/builder.h"
#include "lib/ir/support.h"

// Asked before the type is read: most elements are wider.
static inline bool tileHasNarrowElements(MlirType type) {
  unsigned bits = mlirTypeIsAShaped(type) ? tileElementWidth(mlirShapedTypeGetElementType(type)) : 0;
  return bits > 1 && bits < 8;
}

// The type that holds a tensor or a memref of such elements; null for any other type, and for unknown sizes. A memref
// is contiguous, a tensor has no encoding.
MlirType tilePackedRowsOf(MlirType type);

// Elements of 2 and 4 bits by shifts, others by a tile.bitcast of the rows (lib/analysis/low_bit/packed_elements.h).
MlirValue tileBuildUnpackedTensor(TileBuilder *builder, MlirValue packed, MlirType type);
// What such a tile.bitcast to `type` makes, by shifts.
MlirValue tileBuildShiftedTensor(TileBuilder *builder, MlirValue packed, MlirType type);
MlirValue tileBuildPackedTensor(TileBuilder *builder, MlirValue tensor);
// Loops that fill one buffer from the other.
void tileBuildUnpackBuffer(TileBuilder *builder, MlirValue packed, MlirValue buffer);
void tileBuildPackBuffer(TileBuilder *builder, MlirValue buffer, MlirValue packed);
