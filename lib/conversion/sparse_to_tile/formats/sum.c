// #sparse.sum: the entries of all terms, one list after another.
#include "lib/conversion/sparse_to_tile/formats/formats.h"

// Vectors one after another.
static MlirValue concatenate(SparseLowering *lowering, intptr_t count, const MlirValue *vectors) {
  TileBuilder *b = &lowering->builder;
  MlirValue sizes[SPARSE_MAX_TERMS], total = tileBuildIndex(b, 0), offset = total;
  const int64_t open[] = {mlirShapedTypeGetDynamicSize()}, one[] = {1};
  for (intptr_t i = 0; i < count; ++i) {
    sizes[i] = sparseDenseSize(lowering, vectors[i], 0);
    total = tileBuildAdd(b, total, sizes[i]);
  }
  MlirType type = sparseVectorOf(sparseElement(vectors[0]));
  MlirValue result = sparseEmpty(lowering, type, 1, &total);
  const TileAttributeEntry attributes[] = {
      {"static_offsets", mlirDenseI64ArrayGet(b->context, 1, open)},
      {"static_sizes", mlirDenseI64ArrayGet(b->context, 1, open)},
      {"static_strides", mlirDenseI64ArrayGet(b->context, 1, one)},
      {"operandSegmentSizes", mlirDenseI32ArrayGet(b->context, 5, (const int32_t[]){1, 1, 1, 1, 0})},
      {NULL}};
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue vector = sparseCast(lowering, vectors[i], type);
    result =
        tileBuildValue(b, "tensor.insert_slice", type, 4, (MlirValue[]){vector, result, offset, sizes[i]}, attributes);
    offset = tileBuildAdd(b, offset, sizes[i]);
  }
  return result;
}

static SparseList list(SparseLowering *lowering, const SparseMatrix *matrix) {
  SparseMatrix terms[SPARSE_MAX_TERMS];
  MlirValue rows[SPARSE_MAX_TERMS], columns[SPARSE_MAX_TERMS], values[SPARSE_MAX_TERMS];
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
const SparseFormatLowering sparseSumLowering = {.format = "sum", .list = list};
