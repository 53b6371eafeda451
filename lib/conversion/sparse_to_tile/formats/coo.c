// #sparse.coo: entries with all their coordinates.
#include "lib/conversion/sparse_to_tile/formats/formats.h"

static SparseList list(SparseLowering *lowering, const SparseMatrix *matrix) {
  const TilePlacesCoo places = {.I = sparseElement(matrix->parts[0])};
  MlirValue entries = tileBuildSize(&lowering->builder, matrix->parts[1], 0);
  SparseList result = sparseListFrom(lowering, matrix, tileUsePlacesCoo(places), 0, 1, &entries, 1, matrix->parts);
  result.isRowMajor = !sparseMayRepeat(matrix->type);
  return result;
}

static bool fromLines(SparseLowering *lowering, const SparseLines *lines, MlirType type, SparseResult *result) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  sparseTypeGetComponents(type, parts);
  MlirValue count = tileBuildSize(&lowering->builder, lines->values, 0);
  const TileCoordinates both = {.P = sparseElement(lines->positions),
                                .I = sparseElement(lines->coordinates),
                                .TO = mlirShapedTypeGetElementType(parts[0].type)};
  const MlirValue inputs[] = {lines->positions, lines->coordinates};
  MlirValue made = sparseLaunch(lowering, tileUseCoordinates(both), 1, &lines->sizes[0], 2, inputs,
                                sparseEmpty(lowering, parts[0].type, 1, &count));
  *result = (SparseResult){{made, sparseCast(lowering, lines->values, parts[1].type)}, 2};
  return !mlirValueIsNull(made);
}

const SparseFormatLowering sparseCooLowering = {.list = list, .fromLines = fromLines};
