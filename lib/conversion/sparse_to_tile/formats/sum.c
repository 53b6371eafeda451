// #sparse.sum: the entries of all terms, one list after another.
#include "lib/conversion/sparse_to_tile/formats/formats.h"

// Vectors one after another.
static MlirValue concatenate(SparseLowering *lowering, intptr_t count, const MlirValue *vectors) {
  TileBuilder *b = &lowering->builder;
  MlirValue sizes[SparseMaxTerms], total = tileBuildIndex(b, 0), offset = total;
  const int64_t open[] = {mlirShapedTypeGetDynamicSize()}, one[] = {1};
  for (intptr_t i = 0; i < count; ++i) {
    sizes[i] = tileBuildSize(&lowering->builder, vectors[i], 0);
    total = tileBuildAdd(b, total, sizes[i]);
  }
  MlirType type = sparseVectorOf(sparseElement(vectors[0]));
  MlirValue result = sparseEmpty(lowering, type, 1, &total);
  MlirAttribute unknown = mlirDenseI64ArrayGet(b->context, 1, open), ones = mlirDenseI64ArrayGet(b->context, 1, one);
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue vector = sparseCast(lowering, vectors[i], type);
    result = tensorInsertSliceOpBuild(b, vector, result, 1, &offset, 1, &sizes[i], 0, NULL, unknown, unknown, ones);
    offset = tileBuildAdd(b, offset, sizes[i]);
  }
  return result;
}

static SparseList list(SparseLowering *lowering, const SparseMatrix *matrix) {
  SparseMatrix terms[SparseMaxTerms];
  MlirValue rows[SparseMaxTerms], columns[SparseMaxTerms], values[SparseMaxTerms];
  intptr_t count = sparseTermsOf(matrix, terms);
  for (intptr_t i = 0; i < count; ++i) {
    SparseList term = sparseListOf(lowering, &terms[i]);
    if (mlirValueIsNull(term.at[0]))
      return (SparseList){0};
    rows[i] = term.at[0];
    columns[i] = term.at[1];
    values[i] = term.values;
  }
  return (SparseList){.at = {concatenate(lowering, count, rows), concatenate(lowering, count, columns)},
                      .values = concatenate(lowering, count, values),
                      .sizes = {matrix->sizes[0], matrix->sizes[1]}};
}

// No op makes a sum from lines: which term takes what is a decision (sparse.assemble states it).
const SparseFormatLowering sparseSumLowering = {.list = list};
