// A fact about each element of a tensor, stored once for all elements that share it. The indices of each axis are
// grouped into classes. One cell holds the fact of all elements whose indices are in the same classes. A weight with
// many zero rows has two classes of rows and one cell for each.
//
//   SparseCells *cells = sparseCellsCreate(type, SparseMay_Anything);
//   … sparseCellsAt(cells, (int64_t[]){3, 5}) == SparseMay_Zero …
//
// A fact is a set of bits. Fewer bits say more; two facts are joined by `or`. Expects: ranked tensors. An axis of
// dynamic size, or of more than SparseMaxIndices indices, has one class. Cost: linear in the sizes of the axes and in
// the cells. There are at most SparseMaxCells cells: sparseCellsCompress gives up what does not fit.
#pragma once

#include "lib/capi/common.h"

enum { SparseMaxFactRank = 8, SparseMaxCells = 1 << 16, SparseMaxIndices = 1 << 24 };

// What an element may be. None of these: it is zero, of either sign.
typedef enum SparseMay {
  SparseMay_Zero = 0,
  SparseMay_NonZero = 1,
  SparseMay_Nan = 2,
  SparseMay_Inf = 4,
  SparseMay_MinusInf = 8,
  SparseMay_Special = SparseMay_Nan | SparseMay_Inf | SparseMay_MinusInf,
  SparseMay_Anything = SparseMay_NonZero | SparseMay_Special,
} SparseMay;
// What a reader needs of an element. None of these: it may have any finite value instead.
typedef enum SparseNeed {
  SparseNeed_Nothing = 0,
  SparseNeed_Value = 1,
  SparseNeed_Sign = 2, // the sign of a zero too
  SparseNeed_All = SparseNeed_Value | SparseNeed_Sign,
} SparseNeed;

typedef struct SparseCells {
  intptr_t rank;
  int64_t sizes[SparseMaxFactRank];      // -1: dynamic
  int32_t *classOf[SparseMaxFactRank];   // of each index; null: all indices are in class 0
  int64_t numClasses[SparseMaxFactRank]; // 0: the axis has no indices
  uint8_t *cells;                        // row-major
} SparseCells;

// All elements have the fact. Null for a type that is no ranked tensor of rank at most SparseMaxFactRank.
SparseCells *sparseCellsCreate(MlirType type, uint8_t fact);
SparseCells *sparseCellsCreateOfSizes(intptr_t rank, const int64_t *sizes, uint8_t fact); // a size of -1: dynamic
SparseCells *sparseCellsCopy(const SparseCells *cells);
void sparseCellsDestroy(SparseCells *cells); // null too
bool sparseCellsEqual(const SparseCells *a, const SparseCells *b);
int64_t sparseCellsCount(const SparseCells *cells);
uint8_t sparseCellsAt(const SparseCells *cells, const int64_t *index); // of a dynamic axis: any index
bool sparseCellsIsAll(const SparseCells *cells, uint8_t fact);         // every element has just this fact

// Splits the classes of an axis so that indices of different classes of `classOf` (one for each index of the axis) are
// in different classes. Facts stay.
void sparseCellsSplit(SparseCells *cells, intptr_t axis, const int32_t *classOf);
// Makes one class of an axis, which joins the facts.
void sparseCellsMerge(SparseCells *cells, intptr_t axis);
// Merges classes whose facts are the same, and numbers classes by their first index: equal facts, equal cells. If more
// than `most` cells remain, indices of each axis are grouped by the join of all their elements: whole rows and columns
// of zeros stay known, single zeros do not.
void sparseCellsCompress(SparseCells *cells, int64_t most);
// a |= b and a &= b, for tensors of one shape.
void sparseCellsJoin(SparseCells *a, const SparseCells *b);
void sparseCellsMeet(SparseCells *a, const SparseCells *b);

// The first index of each class of an axis. The caller frees the list.
int64_t *sparseCellsFirsts(const SparseCells *cells, intptr_t axis);
// Sets each cell to what `factAt` says of its first element.
typedef uint8_t (*SparseFactAt)(const int64_t *index, void *data);
void sparseCellsFill(SparseCells *cells, SparseFactAt factAt, void *data);

// What the elements of a constant may be; null if the attribute holds no bytes.
SparseCells *sparseCellsOfConstant(MlirAttribute attribute);
// Finds an element that is not zero where `said` says zero. False: there is none, or the attribute holds no bytes.
bool sparseConstantContradicts(MlirAttribute attribute, const SparseCells *said, int64_t *index);
