// #sparse.mask: a dense matrix and which of its tiles are not zero.
#include "lib/conversion/sparse_to_tile/formats/formats.h"
#include "lib/conversion/sparse_to_tile/named_tiles.h"

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

MlirValue sparseCountNamed(SparseLowering *lowering, MlirValue mask, MlirValue lines) {
  TileBuilder *b = &lowering->builder;
  MlirType i32 = mlirIntegerTypeGet(b->context, 32);
  MlirValue ends = tileBuildAdd(b, lines, tileBuildIndex(b, 1));
  const TileCountRows counts = {.E = sparseElement(mask),
                                .P = i32,
                                .COLUMNS = lowering->target->search.model.sparseRow,
                                .differs = sparseHookDiffers};
  MlirValue count = sparseLaunch(lowering, tileUseCountRows(counts), 1, &lines, 1, &mask,
                                 sparseEmpty(lowering, sparseVectorOf(i32), 1, &lines));
  return mlirValueIsNull(count) ? count
                                : sparseSumUp(lowering, count, sparseEmpty(lowering, sparseVectorOf(i32), 1, &ends));
}

// With the positions bsr's coordinates, without a sort.
MlirValue sparseListNamed(SparseLowering *lowering, MlirValue mask, MlirValue positions, MlirValue lines) {
  MlirType i32 = mlirIntegerTypeGet(lowering->builder.context, 32);
  const TileListTiles lists = {.P = i32, .I = i32};
  MlirValue entries = tileBuildAdd(&lowering->builder, sparseTotal(lowering, positions, lines), lines);
  return sparseLaunch(lowering, tileUseListTiles(lists), 1, &lines, 2, (MlirValue[]){mask, positions},
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

// The named tiles are gathered once in memory, and multiplied as blocks.
static MlirValue multiplyBlocks(SparseLowering *lowering, const SparseMatrix *matrix, int64_t height, int64_t width,
                                MlirValue dense, MlirValue init) {
  MlirAttribute bsr =
      sparseEncodingMake(lowering->builder.context, "bsr", (SparseKeyValue[]){{"block", {height, width}}, {NULL}});
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  MlirValue values[3] = {{NULL}}, lines = sparseCountCells(lowering, matrix->sizes, 0, height);
  SparseMatrix blocks = {sparseTypeWithEncoding(matrix->type, bsr), values, {matrix->sizes[0], matrix->sizes[1]}};
  sparseTypeGetComponents(blocks.type, parts);
  if (mlirValueIsNull(values[0] = sparseCountNamed(lowering, matrix->parts[0], lines)) ||
      mlirValueIsNull(values[1] = sparseListNamed(lowering, matrix->parts[0], values[0], lines)) ||
      mlirValueIsNull(values[2] = gatherTiles(lowering, matrix, values, height, width, parts[2].type)))
    return (MlirValue){NULL};
  return sparseBsrLowering.multiply(lowering, &blocks, dense, init);
}

static MlirValue multiply(SparseLowering *lowering, const SparseMatrix *matrix, MlirValue dense, MlirValue init) {
  enum { DenseAbove = 80 }; // percent: the dense product takes as long (4096² by 256 columns, Zen 5)
  MlirAttribute encoding = sparseTypeGetEncoding(matrix->type);
  int64_t height = sparseEncodingGetSize(encoding, "tile", 0), width = sparseEncodingGetSize(encoding, "tile", 1);
  SparseMicroTiles tiles;
  if (!sparseMicroTilesOf(lowering->op, &tiles))
    tiles = (SparseMicroTiles){.axis = 1, .by = width, .lines = height, .denseAbove = DenseAbove};
  MlirType element = sparseElement(matrix->parts[1]), result = mlirValueGetType(init);
  if (sparseMultipliesListed(lowering, &tiles, (const int64_t[]){height, width}, element, result))
    return sparseMultiplyListed(lowering, matrix, &tiles, dense, init);
  return sparseMultipliesNamed(lowering, &tiles, element, result)
             ? sparseMultiplyNamed(lowering, matrix, &tiles, dense, init)
             : multiplyBlocks(lowering, matrix, height, width, dense, init);
}

const SparseFormatLowering sparseMaskLowering = {
    .list = list, .fromLines = fromLines, .multiplies = multiplies, .multiply = multiply};
