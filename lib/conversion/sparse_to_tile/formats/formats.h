// How each sparse format is lowered: a row for each, in a file of its own, found through sparseLoweringOf.
#pragma once

#include "lib/conversion/sparse_to_tile/lists.h"

typedef struct SparseFormatLowering {
  // The stored entries as a list.
  SparseList (*list)(SparseLowering *lowering, const SparseMatrix *matrix);
  // The components of `type` made from lines.
  bool (*fromLines)(SparseLowering *lowering, const SparseLines *lines, MlirType type, SparseResult *result);
  // The components of a dense matrix. Null: packed as csr first, then made from its lines.
  bool (*pack)(SparseLowering *lowering, MlirValue dense, MlirType type, SparseResult *result);
  // The entries in a dense matrix of zeros. Null: by lines.
  MlirValue (*unpack)(SparseLowering *lowering, const SparseMatrix *matrix, MlirValue zeros);
  // The matrix times a dense one, added to `init`. Null, or refused by `multiplies`: by lines.
  bool (*multiplies)(MlirType type, bool isTransposed);
  MlirValue (*multiply)(SparseLowering *lowering, const SparseMatrix *matrix, MlirValue dense, MlirValue init);
} SparseFormatLowering;

#define SPARSE_DECLARE_LOWERING(Name, text) extern const SparseFormatLowering sparse##Name##Lowering;
SPARSE_FORMATS(SPARSE_DECLARE_LOWERING)
const SparseFormatLowering *sparseLoweringOf(MlirType type);

// A list from a kernel that gives each entry's places: `first` is the axis of the kernel's first output.
SparseList sparseListFrom(SparseLowering *lowering, const SparseMatrix *matrix, TileTemplateUse places, int first,
                          intptr_t numGrid, const MlirValue *grid, intptr_t numInputs, const MlirValue *inputs);
// How many cells of that size lie along an axis.
MlirValue sparseCountCells(SparseLowering *lowering, const MlirValue sizes[2], int64_t axis, int64_t cell);
// Zeros of a type whose open sizes are some of `sizes`, by axis.
MlirValue sparseZerosLike(SparseLowering *lowering, MlirType type, const MlirValue *sizes);
// Integers of another width.
MlirValue sparseResize(SparseLowering *lowering, MlirValue from, MlirType element);
// i64 or another element, of one open size.
MlirType sparseVectorOf(MlirType element);
