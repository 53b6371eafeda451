// #sparse.csr and #sparse.csc: lines as they are.
#include "lib/conversion/sparse_to_tile/formats/formats.h"

static SparseList list(SparseLowering *lowering, const SparseMatrix *matrix) {
  int axis = sparseAxisOfLines(matrix->type);
  const TilePlacesCsr places = {.P = sparseElement(matrix->parts[0]), .I = sparseElement(matrix->parts[1])};
  SparseList result =
      sparseListFrom(lowering, matrix, tileUsePlacesCsr(places), axis, 1, &matrix->sizes[axis], 2, matrix->parts);
  result.isRowMajor = axis == 0;
  return result;
}

static bool fromLines(SparseLowering *lowering, const SparseLines *lines, MlirType type, SparseResult *result) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  const MlirValue values[] = {lines->positions, lines->coordinates, lines->values};
  sparseTypeGetComponents(type, parts);
  result->count = 3;
  for (intptr_t i = 0; i < 3; ++i) {
    MlirType element = mlirShapedTypeGetElementType(parts[i].type);
    result->values[i] =
        sparseCast(lowering, i == 2 ? values[i] : sparseResize(lowering, values[i], element), parts[i].type);
  }
  return true;
}

static bool pack(SparseLowering *lowering, MlirValue dense, MlirType type, SparseResult *result) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  sparseTypeGetComponents(type, parts);
  dense = sparseAxisOfLines(type) ? tileBuildSwapped(&lowering->builder, dense) : dense;
  return sparsePackSegments(lowering, dense, parts, result);
}

const SparseFormatLowering sparseCsrLowering = {.list = list, .fromLines = fromLines, .pack = pack};
const SparseFormatLowering sparseCscLowering = {.list = list, .fromLines = fromLines, .pack = pack};
