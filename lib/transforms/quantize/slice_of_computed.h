// A slice of a tensor that ops compute, computed from slices of what they read.
#pragma once

#include "lib/ir/builder.h"
#include "lib/support/array.h"

enum { TileSliceMaxRank = TESSERA_MAX_RANK };

// [from, from + size) along each axis of a tensor of known sizes.
typedef struct TileSliceBox {
  int64_t from[TileSliceMaxRank], size[TileSliceMaxRank];
} TileSliceBox;

TileSliceBox tileSliceBoxOfWhole(MlirType tensor);

// The elements of `value` in `range`. Elementwise ops, reshapes, padding, slices and packed elements are built again on
// slices of their operands, where the range stays a box; elsewhere a tensor.extract_slice takes the elements. Padding
// that lies outside the range is gone. The ops that compute `value` stay as they are.
MlirValue tileBuildSliceOfComputed(TileBuilder *builder, MlirValue value, const TileSliceBox *range);

// The dimension of an elementwise linalg.generic, which a slice goes ahead of, that indexes an axis of an operand
// alone; -1: none, or another op.
int tileSliceableDim(MlirOperation op, intptr_t operand, int axis);
