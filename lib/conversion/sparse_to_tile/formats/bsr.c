// #sparse.bsr: rows of dense blocks.
#include "lib/conversion/sparse_to_tile/formats/formats.h"

//===--- lists and lines --------------------------------------------------------===//

static SparseList list(SparseLowering *lowering, const SparseMatrix *matrix) {
  MlirAttribute encoding = sparseTypeGetEncoding(matrix->type);
  const TilePlacesBsr places = {.P = sparseElement(matrix->parts[0]),
                                .I = sparseElement(matrix->parts[1]),
                                .HEIGHT = sparseEncodingGetSize(encoding, "block", 0),
                                .WIDTH = sparseEncodingGetSize(encoding, "block", 1)};
  const MlirValue inputs[] = {matrix->parts[0], matrix->parts[1], matrix->sizes[0], matrix->sizes[1]};
  MlirValue lines = sparseCountCells(lowering, matrix->sizes, 0, places.HEIGHT);
  return sparseListFrom(lowering, matrix, tileUsePlacesBsr(places), 0, 1, &lines, 4, inputs);
}

// A dense matrix marks the blocks that hold an entry; packed as csr, it gives positions and coordinates.
static bool fromLines(SparseLowering *lowering, const SparseLines *lines, MlirType type, SparseResult *result) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  TileBuilder *b = &lowering->builder;
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  int64_t height = sparseEncodingGetSize(encoding, "block", 0), width = sparseEncodingGetSize(encoding, "block", 1);
  MlirType i32 = mlirIntegerTypeGet(b->context, 32);
  MlirType p = sparseElement(lines->positions), c = sparseElement(lines->coordinates);
  sparseTypeGetComponents(type, parts);
  const TileMarkBlocks marked = {.P = p, .I = c, .HEIGHT = height, .WIDTH = width};
  const TileFillBlocks fills = {.P = p,
                                .I = c,
                                .E = sparseElement(lines->values),
                                .BP = mlirShapedTypeGetElementType(parts[0].type),
                                .BI = mlirShapedTypeGetElementType(parts[1].type),
                                .HEIGHT = height,
                                .WIDTH = width};
  MlirValue sizes[] = {sparseCountCells(lowering, lines->sizes, 0, height),
                       sparseCountCells(lowering, lines->sizes, 1, width)};
  const int64_t open[] = {mlirShapedTypeGetDynamicSize(), mlirShapedTypeGetDynamicSize()};
  MlirType marksType = mlirRankedTensorTypeGet(2, open, i32, mlirAttributeGetNull());
  MlirType slotsType = mlirRankedTensorTypeGet(2, open, mlirIntegerTypeGet(b->context, 64), mlirAttributeGetNull());
  MlirValue marks =
      sparseLaunch(lowering, tileUseMarkBlocks(marked), 1, sizes, 2,
                   (MlirValue[]){lines->positions, lines->coordinates}, sparseEmpty(lowering, marksType, 2, sizes));
  SparseComponent pattern[3] = {parts[0], parts[1], {"values", sparseVectorOf(i32)}};
  if (mlirValueIsNull(marks) || !sparsePackSegments(lowering, marks, pattern, result))
    return false;
  MlirValue blocks = tileBuildSize(&lowering->builder, result->values[1], 0);
  const MlirValue inputs[] = {lines->positions, lines->coordinates, lines->values, result->values[0],
                              result->values[1]};
  MlirValue made[] = {sparseEmpty(lowering, slotsType, 2, sizes), sparseZeros(lowering, parts[2].type, 1, &blocks)};
  if (!sparseLaunchAll(lowering, tileUseFillBlocks(fills), 1, sizes, 5, inputs, 2, made))
    return false;
  result->values[2] = made[1];
  return true;
}

//===--- products ---------------------------------------------------------------===//

enum { TurnedAtOnce = 16 }; // rows and columns of a block

static MlirValue turnBlocks(SparseLowering *lowering, MlirValue values) {
  MlirType type = mlirValueGetType(values), element = mlirShapedTypeGetElementType(type);
  int64_t rows = mlirShapedTypeGetDimSize(type, 1), depth = mlirShapedTypeGetDimSize(type, 2);
  int64_t high = sparseLargestDivisor(rows, rows < TurnedAtOnce ? rows : TurnedAtOnce);
  int64_t wide = sparseLargestDivisor(depth, depth < TurnedAtOnce ? depth : TurnedAtOnce);
  const int64_t shape[] = {mlirShapedTypeGetDimSize(type, 0), depth, rows};
  MlirType turned = mlirRankedTensorTypeGet(3, shape, element, mlirAttributeGetNull());
  const TileTurnBlocks turns = {.E = element,
                                .ROWS = rows,
                                .DEPTH = depth,
                                .HIGH = high,
                                .WIDE = wide,
                                .DOWN = rows / high,
                                .ACROSS = depth / wide};
  MlirValue blocks = tileBuildSize(&lowering->builder, values, 0);
  MlirValue empty = sparseEmpty(lowering, turned, mlirShapedTypeIsDynamicSize(shape[0]), &blocks);
  return sparseLaunch(lowering, tileUseTurnBlocks(turns), 1, &blocks, 1, &values, empty);
}

// Whether the blocks are transposed first. A kernel reads a block column by column, once for each tile of columns; with
// transposed blocks these reads are contiguous (4096² of 32x32 blocks, 256 columns: 12 ms instead of 22).
static bool turns(const SparseBlockTile *tile, int64_t depth, MlirType result) {
  int64_t all = mlirShapedTypeGetDimSize(result, 1);
  return depth > 1 && tile->lines > 1 && (mlirShapedTypeIsDynamicSize(all) || all > tile->columns);
}

// A column of a block's lines: contiguous where the blocks are turned.
static MlirValue buildColumn(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  bool isTurned = *(const bool *)data;
  MlirValue values = operands[0], indices[] = {operands[1], operands[2]}, part = operands[3];
  return sparseBuildLoad(b, result, values, 2, isTurned ? (int64_t[]){0, 1} : (int64_t[]){0, 2}, indices, part);
}

static bool multiplies(MlirType type, bool isTransposed) { return !isTransposed; }

static MlirValue multiply(SparseLowering *lowering, const SparseMatrix *matrix, MlirValue dense, MlirValue init) {
  MlirAttribute encoding = sparseTypeGetEncoding(matrix->type);
  MlirType element = mlirShapedTypeGetElementType(matrix->type), result = mlirValueGetType(init);
  MlirType sum = mlirShapedTypeGetElementType(result);
  int64_t rows = sparseEncodingGetSize(encoding, "block", 0), depth = sparseEncodingGetSize(encoding, "block", 1);
  const SparseGroups groups = {.lines = rows, .together = depth, .kept = 1, .areBlocks = true};
  SparseSemiring semiring = sparseSemiring(lowering->op, sum);
  SparseBlockTile tile = sparseBlockTileOf(lowering, rows, result);
  bool isGathered = sparseMultipliesGathered(lowering, &groups, element, result);
  bool isTurned = isGathered || turns(&tile, depth, result);
  MlirValue inputs[] = {matrix->parts[0], matrix->parts[1], matrix->parts[2], dense};
  if (isTurned && mlirValueIsNull(inputs[2] = turnBlocks(lowering, inputs[2])))
    return inputs[2];
  if (isGathered)
    return sparseMultiplyGathered(lowering, &groups, inputs, dense, init);
  const int64_t blocks[] = {mlirShapedTypeGetDynamicSize(), isTurned ? depth : rows, isTurned ? rows : depth};
  const TileSpmmBsr product = {
      .E = element,
      .A = sum,
      .P = sparseElement(inputs[0]),
      .I = sparseElement(inputs[1]),
      .BLOCKS = mlirMemRefTypeGet(element, 3, blocks, mlirAttributeGetNull(), mlirAttributeGetNull()),
      .WIDEN = sparseWidenOp(element, sum),
      .LINES = tile.lines,
      .COLUMNS = tile.columns,
      .DEPTH = depth,
      .PARTS = rows / tile.lines,
      .step = sparseHookStep(&semiring),
      .column = {buildColumn, &isTurned},
  };
  MlirValue grid[2];
  sparseGridOf(lowering, init, rows, tile.columns, grid);
  return sparseLaunch(lowering, tileUseSpmmBsr(product), 2, grid, 4, inputs, init);
}

const SparseFormatLowering sparseBsrLowering = {
    .list = list, .fromLines = fromLines, .multiplies = multiplies, .multiply = multiply};
