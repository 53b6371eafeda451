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

//===--- products ---------------------------------------------------------------===//

enum { GatheredAtOnce = 16, GatheredLines = 8 }; // tiles of one column, and their rows

// Where the tiles that the mask names begin, row by row of tiles. Null after a diagnostic.
static MlirValue countTiles(SparseLowering *lowering, const SparseMatrix *matrix, MlirValue lines) {
  TileBuilder *b = &lowering->builder;
  MlirType i32 = mlirIntegerTypeGet(b->context, 32);
  MlirValue mask = matrix->parts[0], ends = tileBuildAdd(b, lines, tileBuildIndex(b, 1));
  const TileCountRows counts = {.E = sparseElement(mask),
                                .P = i32,
                                .COLUMNS = lowering->target->search.model.sparseRow,
                                .differs = sparseHookDiffers};
  MlirValue count = sparseLaunch(lowering, tileUseCountRows(counts), 1, &lines, 1, &mask,
                                 sparseEmpty(lowering, sparseVectorOf(i32), 1, &lines));
  return mlirValueIsNull(count) ? count
                                : sparseSumUp(lowering, count, sparseEmpty(lowering, sparseVectorOf(i32), 1, &ends));
}

// Their coordinates: with the positions bsr's, without a sort; behind them a place for each line.
static MlirValue listTiles(SparseLowering *lowering, const SparseMatrix *matrix, MlirValue positions, MlirValue lines) {
  MlirType i32 = mlirIntegerTypeGet(lowering->builder.context, 32);
  const TileListTiles lists = {.P = i32, .I = i32};
  MlirValue entries = tileBuildAdd(&lowering->builder, sparseTotal(lowering, positions, lines), lines);
  return sparseLaunch(lowering, tileUseListTiles(lists), 1, &lines, 2, (MlirValue[]){matrix->parts[0], positions},
                      sparseEmpty(lowering, sparseVectorOf(i32), 1, &entries));
}

// The listed tiles of the values, as bsr stores blocks.
static MlirValue gatherTiles(SparseLowering *lowering, const SparseMatrix *matrix, const MlirValue listed[2],
                             int64_t height, int64_t width, MlirType blocks) {
  MlirType element = mlirShapedTypeGetElementType(blocks);
  const TileGatherBlocks tiles = {
      .E = element, .P = sparseElement(listed[0]), .I = sparseElement(listed[1]), .HEIGHT = height, .WIDTH = width};
  int64_t rows = sparseLargestDivisor(height, height < GatheredLines ? height : GatheredLines);
  const TileGatherColumns columns = {.E = element,
                                     .P = tiles.P,
                                     .I = tiles.I,
                                     .HEIGHT = height,
                                     .LINES = rows,
                                     .PARTS = height / rows,
                                     .STEP = GatheredAtOnce};
  MlirValue lines = sparseCountCells(lowering, matrix->sizes, 0, height);
  MlirValue count = sparseTotal(lowering, listed[0], lines);
  const MlirValue inputs[] = {listed[0], listed[1], matrix->parts[1]};
  return sparseLaunch(lowering, width == 1 ? tileUseGatherColumns(columns) : tileUseGatherBlocks(tiles), 1, &lines, 3,
                      inputs, sparseEmpty(lowering, blocks, 1, &count));
}

static bool multiplies(MlirType type, bool isTransposed) { return !isTransposed; }

// The named tiles are gathered once, and multiplied as blocks.
static MlirValue multiplyBlocks(SparseLowering *lowering, const SparseMatrix *matrix, const MlirValue listed[2],
                                MlirValue dense, MlirValue init) {
  MlirAttribute encoding = sparseTypeGetEncoding(matrix->type);
  int64_t height = sparseEncodingGetSize(encoding, "tile", 0), width = sparseEncodingGetSize(encoding, "tile", 1);
  MlirAttribute bsr =
      sparseEncodingMake(lowering->builder.context, "bsr", (SparseKeyValue[]){{"block", {height, width}}, {NULL}});
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  MlirValue values[3] = {listed[0], listed[1]};
  SparseMatrix blocks = {sparseTypeWithEncoding(matrix->type, bsr), values, {matrix->sizes[0], matrix->sizes[1]}};
  sparseTypeGetComponents(blocks.type, parts);
  values[2] = gatherTiles(lowering, matrix, values, height, width, parts[2].type);
  return mlirValueIsNull(values[2]) ? values[2] : sparseBsrLowering.multiply(lowering, &blocks, dense, init);
}

static MlirValue multiply(SparseLowering *lowering, const SparseMatrix *matrix, MlirValue dense, MlirValue init) {
  int64_t height = sparseEncodingGetSize(sparseTypeGetEncoding(matrix->type), "tile", 0);
  MlirValue lines = sparseCountCells(lowering, matrix->sizes, 0, height), listed[2] = {{NULL}};
  bool isNamed = sparseMultipliesNamed(lowering, height, sparseElement(matrix->parts[1]), mlirValueGetType(init));
  SparseDense choice = {.isMade = false};
  if (mlirValueIsNull(listed[0] = countTiles(lowering, matrix, lines)) ||
      (isNamed && !sparseBeginDense(lowering, matrix, listed[0], lines, dense, init, &choice)))
    return (MlirValue){NULL};
  listed[1] = listTiles(lowering, matrix, listed[0], lines);
  MlirValue product = mlirValueIsNull(listed[1]) ? listed[1]
                      : isNamed                  ? sparseMultiplyNamed(lowering, matrix, listed, dense, init)
                                                 : multiplyBlocks(lowering, matrix, listed, dense, init);
  return sparseEndDense(lowering, &choice, product);
}

const SparseFormatLowering sparseMaskLowering = {
    .list = list, .fromLines = fromLines, .multiplies = multiplies, .multiply = multiply};
