// A constant sparse matrix as the list of its entries, whatever it is stored as, and back to any format. Why: one way
// in and one way out of each format, as lib/conversion/sparse_to_tile/lists.h has it for what is known at run time.
//
//   SparseConstant matrix;
//   if (sparseConstantRead(value, &matrix) && sparseConstantMerge(op, &matrix, true))
//     count = sparseConstantStore(op, &matrix, type, components);
//   sparseConstantFree(&matrix);
#pragma once

#include "lib/transforms/sparsify/weights.h"

typedef struct SparseConstantEntry {
  int64_t at[2], number; // of the entry, in the order it came in
  uint64_t bits;         // of its value
} SparseConstantEntry;

typedef struct SparseConstant {
  MlirType element;
  int64_t sizes[2], count;
  SparseConstantEntry *entries; // inside the matrix
} SparseConstant;

// Reads the nonzero elements of a dense constant, or the stored entries of a sparse.assemble of constants. Sizes are
// static and elements have 8 to 64 bits. False for any other value; free `constant` in either case.
bool sparseConstantRead(MlirValue value, SparseConstant *constant);
void sparseConstantFree(SparseConstant *constant);

void sparseConstantTranspose(SparseConstant *constant);
// Sorts entries in row-major order and adds up those at one place; without mayAdd these are an error at `op`.
bool sparseConstantMerge(MlirOperation op, SparseConstant *constant, bool mayAdd);

// Stores merged entries as the components of `type`, which is no sum; nm drops zeros. Returns the number of
// components, 0 after a diagnostic at `op`.
intptr_t sparseConstantStore(MlirOperation op, const SparseConstant *constant, MlirType type,
                             MlirAttribute *components);
// The entries as one dense constant; null without memory.
MlirAttribute sparseConstantToDense(const SparseConstant *constant);
