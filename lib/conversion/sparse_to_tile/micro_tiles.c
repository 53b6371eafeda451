// detect, sread and swrite: lists of run-time micro-tiles and matrices packed by them. After PIT (SOSP 2023), whose
// index is built by atomics in any order; here which micro-tiles hold something is marked first and the marks packed as
// csr, so that lists ascend and sums repeat bit by bit. A coordinate of no slice reads zeros and writes nothing.
// Cost: detect once over the matrix; sread and swrite once over what is listed.
#include "dialects/sparse/ops.h"
#include "lib/conversion/sparse_to_tile/lowerings.h"

enum {
  RowsAtOnce = 8,   // whose columns one look at the list serves
  MarkedTile = 256, // those of a group of rows that are looked at together
  UnitsAtOnce = 64, // micro-tiles of a group that a program marks, where these lie along a row
  MostTogether = 16 // columns of a micro-tile, for rows to be looked at whole
};

//===--- detect -----------------------------------------------------------------===//

// The micro-tiles of a matrix.
typedef struct MicroTiles {
  int64_t axis, by;
  MlirValue sizes[2], extent[2], count[2]; // of the matrix; of one of them; how many along each axis
} MicroTiles;

static MicroTiles microTilesOf(SparseLowering *lowering) {
  TileBuilder *b = &lowering->builder;
  MicroTiles tiles = {.axis = sparseDetectOpGetAxisValue(lowering->op), .by = sparseDetectOpGetByValue(lowering->op)};
  MlirAttribute lines = sparseDetectOpGetLines(lowering->op); // null: all
  int64_t axis = tiles.axis, other = 1 - axis;
  for (intptr_t i = 0; i < 2; ++i)
    tiles.sizes[i] = sparseSize(lowering, 0, i);
  tiles.extent[axis] = tileBuildIndex(b, tiles.by);
  tiles.extent[other] =
      !mlirAttributeIsNull(lines) ? tileBuildIndex(b, mlirIntegerAttrGetValueInt(lines)) : tiles.sizes[other];
  tiles.count[axis] = tileBuildCeilDiv(b, tiles.sizes[axis], tiles.extent[axis]);
  tiles.count[other] =
      !mlirAttributeIsNull(lines) ? tileBuildCeilDiv(b, tiles.sizes[other], tiles.extent[other]) : tileBuildIndex(b, 1);
  return tiles;
}

// Groups by micro-tiles, i32: 1 where there is something. Rows of a dense matrix are looked at whole where micro-tiles
// are columns; otherwise element by element, or by the tiles that #sparse.mask stores.
static MlirValue markTiles(SparseLowering *lowering, const MicroTiles *tiles, MlirType type) {
  TileBuilder *b = &lowering->builder;
  MlirAttribute encoding = sparseTypeGetEncoding(sparseDetectOpGetInputType(lowering->op));
  MlirValue cells = lowering->operands[0].values[0]; // a mask is the first component
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(cells));
  bool isMask = !mlirAttributeIsNull(encoding), isWhole = !isMask && tiles->axis == 1 && tiles->by <= MostTogether;
  int64_t units = isWhole ? MarkedTile / tiles->by : UnitsAtOnce;
  int axis = 1 - (int)tiles->axis;
  const MlirValue shape[] = {tiles->count[1 - tiles->axis], tiles->count[tiles->axis]};
  const MlirValue grid[] = {tiles->count[0], tileBuildCeilDiv(b, tiles->count[1], tileBuildIndex(b, units))};
  const MlirValue inputs[] = {cells,          tiles->sizes[0], tiles->sizes[1], tiles->extent[0], tiles->extent[1],
                              tiles->count[1]};
  const MlirValue rows[] = {cells, tiles->sizes[0], tiles->extent[0]};
  MlirValue marks = sparseEmpty(lowering, type, 2, shape);
  if (isWhole)
    return sparseLaunch(
        lowering,
        tileUseMarkColumns((TileMarkColumns){
            .E = element, .COLUMNS = units * tiles->by, .UNITS = units, .BY = tiles->by, .differs = sparseHookDiffers}),
        2, grid, 3, rows, marks);
  const TileMarkTiles cellwise = {.E = element,
                                  .HEIGHT = isMask ? sparseEncodingGetSize(encoding, "tile", 0) : 1,
                                  .WIDTH = isMask ? sparseEncodingGetSize(encoding, "tile", 1) : 1,
                                  .UNITS = units,
                                  .differs = sparseHookDiffers,
                                  .put = sparseHookPut(&axis)};
  return sparseLaunch(lowering, tileUseMarkTiles(cellwise), 2, grid, 6, inputs, marks);
}

bool sparseLowerDetect(SparseLowering *lowering, SparseResult *result) {
  MlirType mark = mlirIntegerTypeGet(lowering->builder.context, 32);
  const int64_t open[] = {mlirShapedTypeGetDynamicSize(), mlirShapedTypeGetDynamicSize()};
  MicroTiles tiles = microTilesOf(lowering);
  MlirValue marks = markTiles(lowering, &tiles, mlirRankedTensorTypeGet(2, open, mark, mlirAttributeGetNull()));
  const SparseComponent parts[] = {
      {"positions", sparseDetectOpGetPositionsType(lowering->op)},
      {"coordinates", sparseDetectOpGetCoordinatesType(lowering->op)},
      {"values", mlirRankedTensorTypeGet(1, open, mark, mlirAttributeGetNull())},
  };
  bool ok = !mlirValueIsNull(marks) && sparsePackSegments(lowering, marks, parts, result);
  result->count = 2; // how the marks themselves are packed is not asked for
  return ok;
}

//===--- sread and swrite -------------------------------------------------------===//

bool sparseLowerSread(SparseLowering *lowering, SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  MlirType type = sparseSreadOpGetResultType(lowering->op);
  const MlirValue inputs[] = {lowering->operands[0].values[0], lowering->operands[1].values[0]};
  int64_t axis = sparseSreadOpGetAxisValue(lowering->op), by = sparseSreadOpGetByValue(lowering->op);
  MlirValue sizes[2], open[2];
  intptr_t count = 0;
  sizes[axis] = tileBuildMul(b, tileBuildSize(&lowering->builder, inputs[1], 0), tileBuildIndex(b, by));
  sizes[1 - axis] = tileBuildSize(&lowering->builder, inputs[0], 1 - axis);
  for (intptr_t i = 0; i < 2; ++i)
    if (mlirShapedTypeIsDynamicDim(type, i))
      open[count++] = sizes[i];
  MlirValue grid = axis ? tileBuildCeilDiv(b, sizes[0], tileBuildIndex(b, RowsAtOnce)) : sizes[0];
  MlirType element = sparseElement(inputs[0]), i = sparseElement(inputs[1]);
  const TileSreadColumns columns = {
      .E = element, .I = i, .BY = by, .COLUMNS = lowering->target->search.model.sparseRow, .ROWS = RowsAtOnce};
  const TileSreadRows rows = {.E = element, .I = i, .BY = by, .COLUMNS = lowering->target->search.model.sparseRow};
  MlirValue packed = sparseLaunch(lowering, axis ? tileUseSreadColumns(columns) : tileUseSreadRows(rows), 1, &grid, 2,
                                  inputs, sparseEmpty(lowering, type, count, open));
  *result = (SparseResult){{packed}, 1};
  return !mlirValueIsNull(packed);
}

// A program for some rows of packed, or for each one that the list names: no more than it does, should they disagree.
bool sparseLowerSwrite(SparseLowering *lowering, SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  const MlirValue inputs[] = {lowering->operands[0].values[0], lowering->operands[2].values[0]};
  int64_t axis = sparseSwriteOpGetAxisValue(lowering->op), by = sparseSwriteOpGetByValue(lowering->op);
  MlirValue grid = tileBuildSize(&lowering->builder, inputs[0], 0);
  grid = axis ? tileBuildCeilDiv(b, grid, tileBuildIndex(b, RowsAtOnce))
              : tileBuildMin(b, grid,
                             tileBuildMul(b, tileBuildSize(&lowering->builder, inputs[1], 0), tileBuildIndex(b, by)));
  MlirType element = sparseElement(inputs[0]), i = sparseElement(inputs[1]);
  const TileSwriteColumns columns = {
      .E = element, .I = i, .BY = by, .COLUMNS = lowering->target->search.model.sparseRow, .ROWS = RowsAtOnce};
  const TileSwriteRows rows = {.E = element, .I = i, .BY = by, .COLUMNS = lowering->target->search.model.sparseRow};
  MlirValue written = sparseLaunch(lowering, axis ? tileUseSwriteColumns(columns) : tileUseSwriteRows(rows), 1, &grid,
                                   2, inputs, lowering->operands[1].values[0]);
  *result = (SparseResult){{written}, 1};
  return !mlirValueIsNull(written);
}
