// #sparse.mask: a dense matrix and which of its tiles are not zero.
#include "lib/conversion/sparse_to_tile/formats/formats.h"

static SparseList list(SparseLowering *lowering, const SparseMatrix *matrix) {
  MlirAttribute encoding = sparseTypeGetEncoding(matrix->type);
  const TilePlacesMask places = {.HEIGHT = sparseEncodingGetSize(encoding, "tile", 0),
                                 .WIDTH = sparseEncodingGetSize(encoding, "tile", 1)};
  const MlirValue inputs[] = {matrix->parts[0], matrix->sizes[1]};
  SparseList result = sparseListFrom(lowering, matrix, tileUsePlacesMask(places), 0, 1, &matrix->sizes[0], 2, inputs);
  result.isRowMajor = true;
  return result;
}

static bool fromLines(SparseLowering *lowering, const SparseLines *lines, MlirType type, SparseResult *result) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  sparseTypeGetComponents(type, parts);
  const TileFillMask fills = {.P = sparseElement(lines->positions),
                              .I = sparseElement(lines->coordinates),
                              .E = sparseElement(lines->values),
                              .HEIGHT = sparseEncodingGetSize(encoding, "tile", 0),
                              .WIDTH = sparseEncodingGetSize(encoding, "tile", 1)};
  const MlirValue tiles[] = {sparseCountCells(lowering, lines->sizes, 0, fills.HEIGHT),
                             sparseCountCells(lowering, lines->sizes, 1, fills.WIDTH)};
  const MlirValue inputs[] = {lines->positions, lines->coordinates, lines->values};
  result->values[0] = sparseZerosLike(lowering, parts[0].type, tiles);
  result->values[1] = sparseZerosLike(lowering, parts[1].type, lines->sizes);
  result->count = 2;
  return sparseLaunchAll(lowering, tileUseFillMask(fills), 1, tiles, 3, inputs, 2, result->values);
}

const SparseFormatLowering sparseMaskLowering = {.list = list, .fromLines = fromLines};
