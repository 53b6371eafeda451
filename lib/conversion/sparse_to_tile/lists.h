// The two forms to which all formats are converted and from which all are made: a list of entries, and lines of
// entries. So each format has one way in and one way out instead of a kernel for each pair of formats.
//
//   SparseMatrix matrix = sparseMatrixOf(lowering, 0);
//   SparseLines rows = sparseLinesOf(lowering, &matrix, /*axis=*/0);           // csr of it, whatever it is stored as
//   sparseFromLines(lowering, &rows, type, &result);                           // stored as another type
//
// Every function that launches gives a null value (of a struct its first) after a diagnostic.
#pragma once

#include "lib/conversion/sparse_to_tile/lowerings.h"

typedef struct SparseMatrix {
  MlirType type;
  const MlirValue *parts; // its components
  MlirValue sizes[2];
} SparseMatrix;

// N entries in the order in which the format keeps values; `at[0]` their rows, `at[1]` their columns (N x i64), -1 for
// what is not stored or lies beyond the matrix.
typedef struct SparseList {
  MlirValue at[2], values, sizes[2];
  bool isRowMajor; // but for those of -1
} SparseList;

// Lines along an axis (rows of 0): entries positions[i] to positions[i + 1] - 1 are those of line i, in ascending order
// of where they are in it.
typedef struct SparseLines {
  MlirValue positions, coordinates, values, sizes[2]; // of the matrix
  int axis;
} SparseLines;

SparseMatrix sparseMatrixOf(SparseLowering *lowering, intptr_t operand);
// The terms of a sum, or the matrix itself for another format; returns their number.
enum { SparseMaxTerms = 4 };
intptr_t sparseTermsOf(const SparseMatrix *matrix, SparseMatrix terms[SparseMaxTerms]);
// The list of a sum is the concatenation of its terms' lists.
SparseList sparseListOf(SparseLowering *lowering, const SparseMatrix *matrix);
// Entries at one place are kept apart.
SparseLines sparseLinesOfList(SparseLowering *lowering, const SparseList *list, int axis);
// Lines of the other axis, by counting; their values, or with `areNumbers` where each entry stands in `lines`.
SparseLines sparseTurnLines(SparseLowering *lowering, const SparseLines *lines, bool areNumbers);
// Free for a matrix that is stored so.
SparseLines sparseLinesOf(SparseLowering *lowering, const SparseMatrix *matrix, int axis);
// Adds up the entries at one place; without mayAdd they are a run-time error. Positions and coordinates are i64.
SparseLines sparseMerge(SparseLowering *lowering, const SparseLines *lines, bool mayAdd);
// Whether two entries may stand at one place (unordered coo, sum).
bool sparseMayRepeat(MlirType type);
// The lines as i64, where they are not.
SparseLines sparseWideLines(SparseLowering *lowering, const SparseLines *lines);

// The axis of the lines that a format is made from.
int sparseAxisOfLines(MlirType type);
// The components of `type` and its open sizes.
bool sparseFromLines(SparseLowering *lowering, const SparseLines *lines, MlirType type, SparseResult *result);

// The lines' entries in a dense matrix, `zeros` before; with axis 1 lines are columns.
MlirValue sparseUnpackLines(SparseLowering *lowering, const SparseLines *lines, int axis, MlirValue zeros);
// Where lines of `counts` entries begin, and the last ends, in place of `positions`.
MlirValue sparseSumUp(SparseLowering *lowering, MlirValue counts, MlirValue positions);
// `count` uninitialized elements of i64. The number of entries: the last of the positions of that many lines.
MlirValue sparseNumbers(SparseLowering *lowering, MlirValue count);
MlirValue sparseTotal(SparseLowering *lowering, MlirValue positions, MlirValue lines);
// A value of any rank as one of rank 1, and back.
MlirValue sparseFlatten(SparseLowering *lowering, MlirValue value);
MlirValue sparseUnflatten(SparseLowering *lowering, MlirValue flat, MlirValue like);
// The index of the component with the values. A sum has none: its terms have their own.
intptr_t sparseValuesIndex(MlirType type);

//===--- entries.c ----------------------------------------------------------===//

// The lines of an operand, with the entries at one place added up.
SparseLines sparseLinesWithoutRepeats(SparseLowering *lowering, intptr_t operand, int axis);

//===--- products.c ---------------------------------------------------------===//

// Lines, about `entries` of them (a size that is open: unknown), times a dense matrix, added to `init`.
MlirValue sparseMultiplyLines(SparseLowering *lowering, const SparseLines *lines, int64_t entries, MlirValue dense,
                              MlirValue init);

//===--- attend_lines.c, attend_heads.c -------------------------------------===//

// The ops that make the weights of a product. Only the next one reads each of them: scores of `terms` terms, their
// maps, maps[0] first, and a softmax along rows.
enum { SparseMostMaps = 4 };
typedef struct SparseAttention {
  MlirOperation sddmm, maps[SparseMostMaps];
  int numMaps;
  int64_t terms;
} SparseAttention;
// Whether sparse.spmm `product` multiplies by weights of attention, in types that the kernels have.
bool sparseFindAttention(MlirOperation product, SparseAttention *attention);
// Loops over the heads of attention become a launch for all heads, before ops are converted one by one. False after a
// diagnostic.
bool sparseAttendHeads(MlirOperation module, SparseKernels *kernels, const TileTarget *target);

// Whether the product's sparse factor, on the left, holds the weights of attention that one kernel computes too; then
// `*result` is the product, null after a diagnostic.
bool sparseAttends(SparseLowering *lowering, const SparseMatrix *weights, MlirValue dense, MlirValue init,
                   MlirValue *result);

//===--- marked_products.c --------------------------------------------------===//

// Whether a product of two sparse matrices goes by rows of its pattern.
bool sparseMultipliesMarked(const SparseLowering *lowering);
// False after a diagnostic.
bool sparseMultiplyMarked(SparseLowering *lowering, const SparseLines *a, SparseResult *result);

//===--- formats/mask.c -----------------------------------------------------===//

// Where the tiles that a mask names begin, row by row of `lines` rows of tiles. Null after a diagnostic.
MlirValue sparseCountNamed(SparseLowering *lowering, MlirValue mask, MlirValue lines);
// Their coordinates; behind them a place for each line.
MlirValue sparseListNamed(SparseLowering *lowering, MlirValue mask, MlirValue positions, MlirValue lines);
