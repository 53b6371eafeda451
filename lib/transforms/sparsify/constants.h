// A constant sparse matrix as the list of its entries, whatever it is stored as, and back to any format. Why: one way
// in and one way out of each format, as lib/conversion/sparse_to_tile/lists.h has it for what is known at run time.
//
//   SparseConstant matrix;
//   if (sparseConstantRead(value, &matrix) && sparseConstantMerge(op, &matrix, true))
//     count = sparseConstantStore(op, &matrix, type, components);
//   sparseConstantFree(&matrix);
#ifndef TESSERA_TRANSFORMS_SPARSIFY_CONSTANTS_H
#define TESSERA_TRANSFORMS_SPARSIFY_CONSTANTS_H

#include "lib/transforms/sparsify/weights.h"

typedef struct SparseConstantEntry {
  int64_t at[2], number; // of the entry, in the order it came in
  uint64_t bits;         // of its value
} SparseConstantEntry;

typedef struct SparseConstant {
  MlirType element;
  int64_t sizes[2], count, capacity;
  SparseConstantEntry *entries; // inside the matrix
} SparseConstant;

// Of a dense constant (what is not zero) or of sparse.assemble of constants (what is stored, each part of a sum in
// turn), of static sizes and elements of 8 to 64 bits. False for any other value; free it in either case.
bool sparseConstantRead(MlirValue value, SparseConstant *constant);
void sparseConstantFree(SparseConstant *constant);

void sparseConstantTranspose(SparseConstant *constant);
// Row-major order, entries at one place added up; where they may not be, false after a diagnostic at `op`.
bool sparseConstantMerge(MlirOperation op, SparseConstant *constant, bool mayAdd);

// Merged entries as the components of `type`, no sum: how many; 0 after a diagnostic at `op`. Of nm zeros go.
intptr_t sparseConstantStore(MlirOperation op, const SparseConstant *constant, MlirType type,
                             MlirAttribute *components);
// As one dense constant; null without memory.
MlirAttribute sparseConstantToDense(const SparseConstant *constant);

#endif
