// #sparse.nm: so many of each window of neighbours.
#include "lib/conversion/sparse_to_tile/formats/formats.h"

static SparseWindows windowsOf(MlirType type) { return sparseEncodingGetWindows(sparseTypeGetEncoding(type)); }

static MlirType coordinatesOf(MlirType type) {
  return sparseEncodingGetType(sparseTypeGetEncoding(type), "coordinates");
}

// The numbers of groups and of windows in a matrix of these sizes.
static void countWindows(SparseLowering *lowering, const SparseWindows *w, const MlirValue sizes[2],
                         MlirValue grid[2]) {
  grid[0] = sparseCountCells(lowering, sizes, 1 - w->axis, w->lines);
  grid[1] = sparseCountCells(lowering, sizes, w->axis, w->m);
}

//===--- lists and lines --------------------------------------------------------===//

static SparseList list(SparseLowering *lowering, const SparseMatrix *matrix) {
  SparseWindows w = windowsOf(matrix->type);
  const TilePlacesNm places = {.I = coordinatesOf(matrix->type),
                               .UNITS = w.n / w.together,
                               .TOGETHER = w.together,
                               .KEPT = w.n,
                               .WINDOW = w.m,
                               .ROWS = w.lines};
  const MlirValue inputs[] = {matrix->parts[0], matrix->sizes[1 - w.axis], matrix->sizes[w.axis]};
  MlirValue grid[2];
  countWindows(lowering, &w, matrix->sizes, grid);
  return sparseListFrom(lowering, matrix, tileUsePlacesNm(places), (int)(1 - w.axis), 2, grid, 3, inputs);
}

static bool pack(SparseLowering *lowering, MlirValue dense, MlirType type, SparseResult *result) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  SparseWindows w = windowsOf(type);
  MlirType coordinates = coordinatesOf(type);
  unsigned width = mlirIntegerTypeGetWidth(coordinates);
  const TilePackNm packs = {.E = mlirShapedTypeGetElementType(type),
                            .I = coordinates,
                            .NARROW = width < 32    ? ArithOp_TruncI
                                      : width == 32 ? ArithOp_Bitcast
                                                    : ArithOp_ExtUI,
                            .UNITS = w.n / w.together,
                            .KEPT = w.n,
                            .ROWS = w.lines,
                            .PLACES = w.m / w.together,
                            .WINDOW = w.m,
                            .ACROSS = 1 - w.axis,
                            .ALONG = w.axis,
                            .TOGETHER = w.together,
                            .differs = sparseHookDiffers};
  const MlirValue sizes[] = {tileBuildSize(&lowering->builder, dense, 0), tileBuildSize(&lowering->builder, dense, 1)};
  MlirValue grid[2];
  sparseTypeGetComponents(type, parts);
  countWindows(lowering, &w, sizes, grid);
  *result = (SparseResult){.count = 2};
  for (int i = 0; i < 2; ++i) {
    MlirValue open[2];
    intptr_t count = 0;
    for (intptr_t axis = 0; axis < 2; ++axis)
      if (mlirShapedTypeIsDynamicDim(parts[i].type, axis))
        open[count++] = grid[axis];
    result->values[i] = sparseEmpty(lowering, parts[i].type, count, open);
  }
  return sparseLaunchAll(lowering, tileUsePackNm(packs), 2, grid, 1, &dense, 2, result->values);
}

static MlirValue unpack(SparseLowering *lowering, const SparseMatrix *matrix, MlirValue zeros) {
  SparseWindows w = windowsOf(matrix->type);
  int isAlongRows = 1 - (int)w.axis;
  const TileUnpackNm unpacks = {.E = mlirShapedTypeGetElementType(matrix->type),
                                .I = coordinatesOf(matrix->type),
                                .UNITS = w.n / w.together,
                                .KEPT = w.n,
                                .ROWS = w.lines,
                                .WINDOW = w.m,
                                .TOGETHER = w.together,
                                .ACROSS = 1 - w.axis,
                                .ALONG = w.axis,
                                .put = sparseHookPut(&isAlongRows)};
  MlirValue grid[2];
  countWindows(lowering, &w, matrix->sizes, grid);
  return sparseLaunch(lowering, tileUseUnpackNm(unpacks), 2, grid, 2, matrix->parts, zeros);
}

// Unpacks into a dense matrix and packs that one.
static bool fromLines(SparseLowering *lowering, const SparseLines *lines, MlirType type, SparseResult *result) {
  MlirType dense = sparseTypeWithEncoding(type, mlirAttributeGetNull());
  MlirValue value = sparseUnpackLines(lowering, lines, 0, sparseZerosLike(lowering, dense, lines->sizes));
  return !mlirValueIsNull(value) && pack(lowering, value, type, result);
}

//===--- products ---------------------------------------------------------------===//

typedef struct Taken {
  int64_t together;
  bool isWhole; // no window reaches beyond the matrix
} Taken;

// How many elements of a unit lie inside the matrix.
static MlirValue buildTaken(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const Taken *taken = data;
  return taken->isWhole ? tileBuildIndex(b, taken->together) : tileBuildMax(b, operands[0], tileBuildIndex(b, 0));
}

static bool multiplies(MlirType type, bool isTransposed) { return windowsOf(type).axis == (isTransposed ? 0 : 1); }

static MlirValue multiply(SparseLowering *lowering, const SparseMatrix *matrix, MlirValue dense, MlirValue init) {
  MlirType type = matrix->type, element = mlirShapedTypeGetElementType(type), result = mlirValueGetType(init);
  MlirType sum = mlirShapedTypeGetElementType(result);
  SparseWindows w = windowsOf(type);
  const SparseGroups groups = {.lines = w.lines, .together = w.together, .window = w.m, .kept = w.n};
  const MlirValue coordinates = matrix->parts[0], values = matrix->parts[1];
  if (sparseMultipliesGathered(lowering, &groups, element, result)) {
    MlirValue flat = sparseCollapse(lowering, coordinates, 0, 3);
    return sparseMultiplyGathered(lowering, &groups, (MlirValue[]){flat, flat, values}, dense, init);
  }
  if (sparseMultipliesByInstruction(lowering, type, result))
    return sparseMultiplyByInstruction(lowering, type, matrix->parts, dense, init);
  int64_t inner = mlirShapedTypeGetDimSize(type, w.axis);
  Taken taken = {w.together, !mlirShapedTypeIsDynamicSize(inner) && inner % w.m == 0};
  SparseSemiring semiring = sparseSemiring(lowering->op, sum);
  const SparseWindowed windowed = {&w, {buildTaken, &taken}, sparseHookStep(&semiring)};
  MlirValue product;
  if (sparseMultiplyColumn(lowering, &windowed, matrix->parts, dense, init, &product) ||
      sparseMultiplyWindows(lowering, &windowed, matrix->parts, dense, init, &product))
    return product;
  SparseBlockTile tile = sparseBlockTileOf(lowering, w.lines, result);
  const TileSpmmNm walks = {.E = element,
                            .A = sum,
                            .I = sparseElement(coordinates),
                            .WIDEN = sparseWidenOp(element, sum),
                            .UNITS = w.n / w.together,
                            .KEPT = w.n,
                            .ROWS = w.lines,
                            .LINES = tile.lines,
                            .COLUMNS = tile.columns,
                            .WINDOW = w.m,
                            .TOGETHER = w.together,
                            .PARTS = w.lines / tile.lines,
                            .step = windowed.step,
                            .taken = windowed.taken};
  const MlirValue inputs[] = {coordinates, values, dense};
  MlirValue grid[2];
  sparseGridOf(lowering, init, w.lines, tile.columns, grid);
  return sparseLaunch(lowering, tileUseSpmmNm(walks), 2, grid, 3, inputs, init);
}

const SparseFormatLowering sparseNmLowering = {.list = list,
                                               .fromLines = fromLines,
                                               .pack = pack,
                                               .unpack = unpack,
                                               .multiplies = multiplies,
                                               .multiply = multiply};
